//! What the evaluator asks of the outside: data, functions, patterns and types of modules.

use std::sync::Arc;

use super::source::Source;
use super::stop::Evaluated;
use crate::datatype::Aliases;
use crate::regexp::Regexp;
use crate::scope::Scope;
use crate::value::{HashMap, Value};

/// Answers what the evaluator cannot know. Nothing behind it may run code of the workspace.
pub trait Host {
    /// What `lookup` gives in a scope: [`Stop::Failed`](super::Stop::Failed) where Puppet fails, and
    /// [`Stop::Unknown`](super::Stop::Unknown) where the answer is not certain.
    ///
    /// # Errors
    /// There is no such value, or it is not known.
    fn lookup(&self, call: &LookupCall, scope: &Scope) -> Evaluated;

    /// The function of that name that the environment or a module defines.
    fn function(&self, name: &str) -> Callee;

    /// A pattern as Ruby reads it; `None` if Ruby refuses it or no engine here can run it.
    fn pattern(&self, source: &str) -> Option<Regexp>;

    /// The type aliases of modules.
    fn aliases(&self) -> &dyn Aliases;

    /// Whether Puppet fails where a variable is used that does not exist.
    fn strict_variables(&self) -> bool;
}

/// A function that is no part of Puppet.
#[derive(Clone, Debug)]
pub enum Callee {
    /// In the Puppet language: the text that defines it.
    Puppet(Arc<Source>),
    /// In Ruby, which is never run.
    Ruby,
    /// In Ruby, in Puppet's standard library.
    Library,
    /// No visible file defines it.
    Missing,
}

/// The arguments of `lookup` and of Hiera 3's functions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LookupCall {
    /// The names, tried in turn.
    pub names: Vec<Arc<str>>,
    /// The type that the value must have, as an expression.
    pub value_type: Option<Arc<str>>,
    /// How values are merged.
    pub merge: Option<Value>,
    /// The value where no level has one.
    pub default_value: Option<Value>,
    /// Defaults by name.
    pub default_values: Arc<HashMap>,
    /// Values that win over all data.
    pub overrides: Arc<HashMap>,
    /// Whether it is one of Hiera 3's functions, for which the environment may not count.
    pub is_hiera: bool,
}
