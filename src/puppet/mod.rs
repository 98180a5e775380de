//! The pure part of the Puppet language, evaluated: what site manifests set for a node, and what
//! functions written in Puppet give.
//!
//! Nothing is run but the language itself: data, functions and types of modules come through
//! [`Host`]. What cannot be evaluated is unknown ([`Stop::Unknown`]), and so is what depends on it.
//! Steps, depth and sizes are bounded. It knows no workspace, hierarchy or editor.
//!
//! `evaluator` goes through statements and expressions, `variables` holds their scopes, `conditions`
//! decides and matches, `operators` calculates, `access` reads parts, `calls` calls functions, `context` is what functions that give data get,
//! `builtin` is what functions of Puppet and of its standard library give, `site` runs the manifests
//! of an environment for a node.

mod access;
mod builtin;
mod calls;
mod conditions;
mod context;
mod evaluator;
mod host;
mod operators;
mod site;
mod source;
mod stop;
mod uses;
mod variables;

pub use builtin::may_declare_classes;
pub use calls::{Called, call_function};
pub use context::{Memory, lookup_context};
pub use host::{Callee, Host, LookupCall};
pub use site::{Identity, Site, Subject};
pub use source::Source;
pub use stop::{Evaluated, Stop};
pub use uses::may_leave;
