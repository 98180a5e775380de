//! The `%{…}` tokens of Hiera strings: their ranges, kinds, and the names in them.
//!
//! The grammar is that of `puppet/pops/lookup/interpolation.rb`. Nothing is evaluated here, and it
//! must not know scopes; a token that Puppet would refuse has its own kind, so that an editor can
//! report it.
//!
//! ```
//! use hiera_ls::interpolation::{tokens, Method, TokenKind};
//!
//! let found = tokens("http://%{lookup('web::host')}:%{facts.port}");
//! let TokenKind::Call { method: Method::Lookup, argument, .. } = &found[0].kind else { panic!() };
//! assert_eq!(&**argument, "web::host");
//! assert!(matches!(&found[1].kind, TokenKind::Variable { .. }));
//! ```

mod key;
mod token;

pub use key::{Key, KeySyntaxError, Segment, root_of, split_key};
pub use token::{Method, Token, TokenKind, has_tokens, parse_token, tokens};
