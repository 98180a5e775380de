//! The variables that a lookup sees, as in Puppet's scopes.
//!
//! A [`Scope`] is either *closed* (everything is known, as for a real node: missing variables are
//! undefined) or *open* (missing variables are unknown). Nothing here looks anything up in data.
//!
//! ```
//! use hiera_ls::scope::{Scope, Variable};
//! use hiera_ls::value::Value;
//!
//! let mut scope = Scope::open();
//! scope.bind("facts.os.family", "Debian");
//! assert_eq!(scope.variable("facts.os.family"), Variable::Known(Value::from("Debian")));
//! assert_eq!(scope.variable("role"), Variable::Unknown);
//! ```

mod assigned;
mod bindings;
mod column;
mod completeness;
mod core_facts;
mod facts;
mod facts_file;
mod fleet;
mod imported;
mod json_sources;
mod legacy;
mod looked_up;
mod naming;
mod node;
mod nodes;
mod share;
mod sources;
mod variable;

pub use assigned::{
    Assigned, Assignment, Assignments, ClassVariable, CompileFailure, EvaluatedClass, Manifests,
};
pub use column::Column;
pub use completeness::{Completeness, Told, written};
pub use core_facts::{CoreFact, core_fact, is_structured_fact, os_family};
pub use facts::Facts;
pub use facts_file::{name_of, refused_facts, refused_variables};
pub use fleet::{DEFAULT_ENVIRONMENT, KnownNodes};
pub use imported::{IMPORT, IMPORT_BEGIN, Imported, OWN_HOSTS, nodes_file};
pub use json_sources::{json_names_nodes, read_json_nodes};
pub use looked_up::{KeyReads, LookupRecord, Observed, read_catalog_inputs};
pub use naming::NameRule;
pub use node::{Authenticated, Knowledge, Node, deep_merge_facts, default_trusted};
pub use nodes::{Nodes, NodesError};
pub use sources::{
    FACTS_OF_TESTS, NODES_FILES, NodesForm, certname, form_of, names_nodes, plain_yaml, read_nodes,
};
pub use variable::{ClassScope, NOT_IN_PLANS, Scope, Undefined, Variable, top_name};
