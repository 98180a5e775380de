//! The trace of a lookup: every source that was searched, in order, with its result.
//!
//! The tree has the nodes of `puppet/pops/lookup/explainer.rb`; hovers and diagnostics read it as
//! data, `explain` prints it as Puppet does.

use std::fmt;
use std::sync::Arc;

use super::error::LookupError;
use super::in_place::{Changes, Seen};
use super::merge::Strategy;
use super::request::{Assumed, Tracing};
use crate::datatype;
use crate::hierarchy::Layer;
use crate::interpolation::root_of;
use crate::value::Value;
use crate::workspace::{LOOKUP_OPTIONS, Paths};

/// One node of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceNode {
    /// The kind of the node.
    pub kind: TraceKind,
    /// The event at the node.
    pub event: TraceEvent,
    /// The searches below it, in order.
    pub children: Vec<TraceNode>,
    /// Remarks of backends, conversions and errors.
    pub remarks: Vec<Remark>,
}

/// The kind of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum TraceKind {
    /// The whole trace.
    Root,
    /// The search for a key in data.
    Data(Arc<str>),
    /// The search for `lookup_options`.
    Options,
    /// A key that is never found.
    InvalidKey(Arc<str>),
    /// The merge comes from `lookup_options`.
    MergeSource,
    /// A layer's configuration.
    Provider {
        /// The layer of the configuration.
        layer: Layer,
        /// Version of the configuration, once read.
        version: Option<u8>,
        /// The configuration's file; `None` for Puppet's built-in default.
        config: Option<Arc<str>>,
    },
    /// A hierarchy level.
    Level {
        /// The entry's name; for a legacy data function, the function's.
        name: Arc<str>,
        /// Its index in the hierarchy.
        index: usize,
        /// Whether this is a data function from before version 5.
        legacy_function: bool,
    },
    /// One location of a level.
    Location(TraceLocation),
    /// Several sources are merged.
    Merge(Strategy),
    /// A string with tokens.
    Interpolation(Arc<str>),
    /// The scope of variables, or a phase of a search.
    Scope(TraceScope),
    /// Digging with a dotted key.
    SubKey(String),
    /// One step of digging.
    Segment,
    /// A module that does not exist.
    NoModule(Arc<str>),
    /// A module without `hiera.yaml`.
    NoModuleProvider(Arc<str>),
}

impl TraceKind {
    /// The key that is searched for at the node.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        if let TraceKind::Data(key) | TraceKind::InvalidKey(key) = self {
            return Some(key);
        }
        matches!(self, TraceKind::Options).then_some(LOOKUP_OPTIONS)
    }
}

/// The scopes and phases. `Display` gives the title.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TraceScope {
    /// The variables.
    Variables,
    /// The default hierarchy of a module.
    DefaultHierarchy(Arc<str>),
    /// The search for `lookup_options` in a default hierarchy.
    DefaultOptions,
    /// The search for a key in a default hierarchy.
    DefaultKey(Arc<str>),
    /// The `lookup_options` of the layers above a module.
    OuterOptions,
    /// The `lookup_options` of a module.
    ModuleOptions(Arc<str>),
}

impl fmt::Display for TraceScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceScope::Variables => f.write_str("Global Scope"),
            TraceScope::DefaultHierarchy(module) => {
                write!(f, "Searching default_hierarchy of module \"{module}\"")
            }
            TraceScope::DefaultOptions => f.write_str("Searching for \"lookup_options\""),
            TraceScope::DefaultKey(key) => write!(f, "Searching for \"{key}\""),
            TraceScope::OuterOptions => f.write_str("Global and Environment"),
            TraceScope::ModuleOptions(module) => write!(f, "Module {module}"),
        }
    }
}

/// A remark. `Display` gives the line of an explanation.
#[derive(Clone, PartialEq, Debug)]
pub enum Remark {
    /// A backend of Hiera 3 does not exist.
    NoBackend(Arc<str>),
    /// A value was converted: the arguments of `convert_to`, the type first.
    Converted(Value),
    /// The lookup failed.
    Failed(LookupError),
    /// The declaration of the called function.
    Assumed(Assumed),
    /// An explanation from a function.
    Explained(Arc<str>),
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remark::NoBackend(name) => write!(
                f,
                "Unable to load backend '{name}': cannot load such file -- \
                 hiera/backend/{}_backend",
                name.to_lowercase()
            ),
            Remark::Converted(arguments) => write!(
                f,
                "Applying convert_to lookup_option with arguments {}",
                datatype::puppet_string(arguments)
            ),
            Remark::Failed(error) => write!(f, "{error}"),
            Remark::Assumed(assumed) => write!(f, "Not run: {assumed}"),
            Remark::Explained(text) => write!(f, "{text}"),
        }
    }
}

/// A location that was searched.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceLocation {
    /// The path or URI after interpolation.
    pub place: Arc<str>,
    /// As written in the configuration.
    pub original: Arc<str>,
    /// Whether `place` is a URI.
    pub is_uri: bool,
    /// Set if a variable is unknown: the variables, and the possible files with the key.
    pub possible: Option<Possible>,
}

/// A location with an unknown path.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Possible {
    /// The unknown variables, as written.
    pub variables: Vec<Arc<str>>,
    /// The top-level key that was looked up: that of the request, `lookup_options`, or one in a
    /// token.
    pub key: Arc<str>,
    /// Existing files that the path could match and that have the key, ordered by bytes.
    pub files: Paths,
}

impl Possible {
    /// The variables in quotes, with commas between them.
    pub(super) fn quoted_variables(&self) -> String {
        let quoted = self.variables.iter().map(|name| format!("'{name}'"));
        quoted.collect::<Vec<_>>().join(", ")
    }

    /// Whether only the lookup options were looked up.
    #[must_use]
    pub fn is_of_options(&self) -> bool {
        *self.key == *LOOKUP_OPTIONS
    }
}

/// The event at a node.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum TraceEvent {
    /// No event.
    #[default]
    None,
    /// A value was found.
    Found(String, Value),
    /// The value came from the `override` hash.
    FoundInOverrides(String, Value),
    /// The value came from the `default_values_hash`.
    FoundInDefaults(String, Value),
    /// The key does not exist.
    NotFound(String),
    /// Only this function knows whether the key exists, and its value.
    Unknown(String, Arc<str>),
    /// The result of a merge.
    Result(Value),
    /// The file or URI does not exist.
    LocationNotFound,
}

impl TraceNode {
    pub(super) fn new(kind: TraceKind) -> TraceNode {
        TraceNode {
            kind,
            event: TraceEvent::None,
            children: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// Whether this is a level or a location where nothing was found.
    fn is_without_value(&self) -> bool {
        let is_place = matches!(self.kind, TraceKind::Level { .. } | TraceKind::Location(_));
        let event = &self.event;
        let has_none = matches!(
            event,
            TraceEvent::None | TraceEvent::NotFound(_) | TraceEvent::LocationNotFound
        );
        is_place && has_none && self.children.is_empty() && self.remarks.is_empty()
    }
}

/// Records a trace during a lookup (`Explainer`).
#[derive(Debug)]
pub(super) struct Tracer {
    /// Open nodes, the root first.
    open: Vec<TraceNode>,
    pub(super) wanted: Tracing,
    /// Whether nothing is added now. Changes in place still reach what was recorded.
    pub(super) is_paused: bool,
}

impl Tracer {
    pub(super) fn new(wanted: Tracing) -> Tracer {
        Tracer {
            open: vec![TraceNode::new(TraceKind::Root)],
            wanted,
            is_paused: false,
        }
    }

    pub(super) fn push(&mut self, kind: TraceKind) {
        self.open.push(TraceNode::new(kind));
    }

    pub(super) fn pop(&mut self) {
        if self.open.len() > 1
            && let Some(node) = self.open.pop()
            && !(self.wanted == Tracing::Sources && node.is_without_value())
        {
            self.current().children.push(node);
        }
    }

    pub(super) fn current(&mut self) -> &mut TraceNode {
        let last = self.open.len() - 1;
        &mut self.open[last]
    }

    /// Applies in-place changes of merges: Ruby changes objects that are already in the trace.
    pub(super) fn change(&mut self, changes: &Changes<'_>) {
        let mut seen = Seen::default();
        for node in &mut self.open {
            change_node(node, changes, &mut seen);
        }
    }

    pub(super) fn finish(mut self) -> TraceNode {
        while self.open.len() > 1 {
            self.pop();
        }
        self.open
            .pop()
            .unwrap_or_else(|| TraceNode::new(TraceKind::Root))
    }
}

fn change_node(node: &mut TraceNode, changes: &Changes<'_>, seen: &mut Seen) {
    if let TraceEvent::Found(_, value)
    | TraceEvent::FoundInOverrides(_, value)
    | TraceEvent::FoundInDefaults(_, value)
    | TraceEvent::Result(value) = &mut node.event
        && let Some(changed) = changes.of(value, seen)
    {
        *value = changed;
    }
    for child in &mut node.children {
        change_node(child, changes, seen);
    }
}

/// A source of a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Source {
    /// The file or URI.
    pub place: Arc<str>,
    /// The top-level key that was looked up there.
    pub key: Arc<str>,
}

/// The sources of an answer's values, the highest first, without those of other keys used by
/// strings. Needs a trace.
#[must_use]
pub fn sources(trace: &TraceNode) -> Vec<Source> {
    let mut found = Vec::new();
    for node in &trace.children {
        if let TraceKind::Data(key) = &node.kind {
            collect(node, &root_of(key), &mut found);
        }
    }
    found
}

fn collect(node: &TraceNode, key: &Arc<str>, found: &mut Vec<Source>) {
    match (&node.kind, &node.event) {
        (TraceKind::Interpolation(_) | TraceKind::Options, _) => return,
        (TraceKind::Scope(TraceScope::DefaultOptions), _) => return,
        (TraceKind::Location(location), TraceEvent::Found(..)) => {
            let source = Source {
                place: location.place.clone(),
                key: key.clone(),
            };
            if !found.contains(&source) {
                found.push(source);
            }
        }
        _ => {}
    }
    for child in &node.children {
        collect(child, key, found);
    }
}
