//! Parses HOCON as the Ruby `hocon` gem 1.3.1 does, into a tree with ranges.
//!
//! The grammar, its oddities and its messages are the gem's (hocon/impl/tokenizer.rb,
//! config_document_parser.rb and path_parser.rb), since Puppet's `hocon_data` returns the gem's
//! result. Merging and substitutions belong to the room `value`.

mod document;
mod parse;
mod path;
mod ruby;
mod token;
mod tree;

pub(crate) use document::{HoconElement, HoconItem, HoconNode, HoconValue, Separator};
pub(crate) use parse::parse_hocon_document;
pub(crate) use path::{path, render_path, render_string};
pub(crate) use token::{HoconToken, HoconTokenKind, NumberValue};
pub use tree::parse_hocon;
