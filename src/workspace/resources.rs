//! Resources of defined types that manifests make from data: facts of one text.

use std::sync::Arc;

use super::code::Within;
use crate::text::TextRange;

/// What a text says about resources of defined types.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ResourceFacts {
    /// Hashes whose entries become resources, in the order of the text.
    pub of_data: Box<[ResourcesOfData]>,
    /// The types whose resources get parameters from elsewhere: defaults, overrides, collectors.
    pub changed: Box<[Arc<str>]>,
}

/// A hash of which each entry becomes a resource: `create_resources('my::type', $things)`, or
/// `$things.each |$name, $all| { my::type { $name: * => $all } }`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResourcesOfData {
    /// The type, without colons before it, in lower case.
    pub type_name: Arc<str>,
    /// The hash.
    pub source: ResourceSource,
    /// The parameters that code gives each of them, or that have a default there.
    pub given: Box<[Arc<str>]>,
    /// The range of the call.
    pub place: TextRange,
    /// The enclosing definition.
    pub within: Within,
    /// Whether it is conditional, as far as the manifest shows.
    pub is_conditional: bool,
}

/// Where the hash comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ResourceSource {
    /// The result of the lookup at this range.
    Lookup(TextRange),
    /// This parameter of the enclosing class.
    Parameter(Arc<str>),
}
