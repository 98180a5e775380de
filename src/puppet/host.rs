//! The evaluator's interface to the outside: data, functions, patterns and types of modules.

use std::sync::Arc;

use super::source::CodeFile;
use super::stop::Evaluated;
use crate::datatype::Aliases;
use crate::regexp::Regexp;
use crate::scope::Scope;
use crate::value::{HashMap, Value};

/// Provides what the evaluator cannot know. An implementation must not run code of the workspace.
pub trait Host {
    /// The result of `lookup` in a scope: [`Stop::Failed`](super::Stop::Failed) if Puppet fails,
    /// and [`Stop::Unknown`](super::Stop::Unknown) if the answer is uncertain.
    ///
    /// # Errors
    /// There is no such value, or it is unknown.
    fn lookup(&self, call: &LookupCall, scope: &Scope) -> Evaluated;

    /// The function of that name in the environment or a module.
    fn function(&self, name: &str) -> Callee;

    /// The class or defined type of that name in a module.
    fn defined(&self, kind: Defines, name: &str) -> DefinitionSource;

    /// A pattern in Ruby's syntax; `None` if Ruby refuses it or no engine here can run it.
    fn pattern(&self, source: &str) -> Option<Regexp>;

    /// The type aliases of modules.
    fn aliases(&self) -> &dyn Aliases;

    /// Whether Puppet fails on undefined variables.
    fn strict_variables(&self) -> bool;

    /// Whether Puppet fails where it converts a text to a number (the setting `strict`).
    fn fails_on_coercion(&self) -> bool;

    /// Whether agents send legacy facts: up to Puppet 7, by default.
    fn has_legacy_facts(&self) -> bool;
}

/// A function that is not part of Puppet.
#[derive(Clone, Debug)]
pub enum Callee {
    /// In the Puppet language: the text that defines it.
    Puppet(Arc<CodeFile>),
    /// In Ruby, which is never run.
    Ruby,
    /// In Ruby, in Puppet's standard library.
    Library,
    /// No visible file defines it, and the standard library is visible.
    Lacking,
    /// No visible file defines it.
    Missing,
}

/// What a definition defines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Defines {
    /// A class.
    Class,
    /// A defined type.
    Type,
}

/// A class or a defined type.
#[derive(Clone, Debug)]
pub enum DefinitionSource {
    /// In this text of this module.
    Here(Arc<CodeFile>, Arc<str>),
    /// In Ruby: a type of resources.
    Ruby,
    /// Its module is visible, and does not define it.
    Missing,
    /// Its module is not visible.
    Unseen,
}

/// The arguments of `lookup` and of Hiera 3's functions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LookupCall {
    /// The names, tried in order.
    pub names: Vec<Arc<str>>,
    /// The type that the value must have, as an expression.
    pub value_type: Option<Arc<str>>,
    /// The merge strategy.
    pub merge: Option<Value>,
    /// The value if no level has one.
    pub default_value: Option<Value>,
    /// Defaults by name.
    pub default_values: Arc<HashMap>,
    /// Values that win over all data.
    pub overrides: Arc<HashMap>,
    /// Whether it is one of Hiera 3's functions, which may ignore the environment.
    pub is_hiera: bool,
    /// Whether it is the automatic lookup of a class's parameter.
    pub is_parameter: bool,
}
