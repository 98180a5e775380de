//! Evaluates the pure part of the Puppet language: the variables that site manifests set for a
//! node, and the results of functions written in Puppet.
//!
//! Nothing outside the language is run: data, functions and types of modules come through [`Host`].
//! Unsupported code has an unknown value ([`Stop::Unknown`]), and so has everything that depends on
//! it. Steps, depth and sizes are bounded. It must not know workspaces, hierarchies or editors.
//!
//! `evaluator` evaluates statements and expressions, `variables` holds their scopes, `conditions`
//! decides and matches, `operators` calculates, `access` reads parts, `calls` calls functions,
//! `context` is passed to data functions, `builtin` has the functions of Puppet and of its standard
//! library, `site` runs the manifests of an environment for a node, `catalog` evaluates the classes that
//! they include with their `parameters`, and `resources` what they declare, `perhaps` finds the classes that code may include,
//! `reached` follows the conditions around a statement, `default` judges the default of a parameter.

mod access;
mod builtin;
mod calls;
mod catalog;
mod conditions;
mod context;
mod default;
mod evaluator;
mod host;
mod operators;
mod parameters;
mod perhaps;
mod reached;
mod resources;
mod site;
mod source;
mod stop;
mod uses;
mod variables;

pub use builtin::may_declare_classes;
pub use calls::{Called, call_function};
pub use context::{Memory, lookup_context};
pub use default::{ClassText, DefaultOutcome, WrongDefault, default_outcome};
pub use host::{Callee, Defines, DefinitionSource, Host, LookupCall};
pub use parameters::METAPARAMETERS;
pub use reached::{BodyPlace, Reachability, depends_on_node, may_reach};
pub use site::{ClassRun, RunOfSite, Site};
pub use source::CodeFile;
pub use stop::{Evaluated, Stop};
pub use uses::{is_of_class, may_leave};
