//! HOCON as the Ruby `hocon` gem 1.3.1 reads it, up to a tree with places.
//!
//! The grammar, its oddities and its messages are the gem's (hocon/impl/tokenizer.rb,
//! config_document_parser.rb and path_parser.rb), since Puppet's `hocon_data` shows what the gem
//! makes of a file. What the tree means (merging, substitutions) is `value`'s room.

mod document;
mod parse;
mod path;
mod ruby;
mod token;
mod tree;

pub use document::{
    HoconDocument, HoconElement, HoconField, HoconItem, HoconNode, HoconPath, HoconProblem,
    HoconScalar, HoconValue, Separator,
};
pub use parse::parse_hocon_document;
pub(crate) use path::{path, render_path, render_string};
pub(crate) use token::{NumberValue, Token, TokenKind};
pub use tree::parse_hocon;
