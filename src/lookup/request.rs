//! Requests to the engine, and its answers.

use std::collections::BTreeSet;
use std::sync::Arc;

use indexmap::IndexSet;

use super::error::LookupError;
use super::options::LookupOptions;
use super::trace::{Possible, TraceNode};
use crate::hierarchy::{Layer, Like};
use crate::interpolation::Key;
use crate::text::few;
use crate::value::{HashMap, Missing, Opaque, Value};
use crate::workspace::LOOKUP_OPTIONS;

/// Maximum number of named levels that could change an answer; more are counted.
const MAX_REASONS: usize = 8;

/// The extent of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tracing {
    /// No trace.
    #[default]
    Off,
    /// All of the lookup, as for `--explain`.
    Full,
    /// The sources of the values: all of the lookup except the search for `lookup_options`, what tokens look up, and
    /// places without a value. These take most of the time of a full trace.
    Sources,
    /// Only the search for `lookup_options`, as for `--explain-options`.
    OptionsOnly,
}

/// The origin of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Asker {
    /// The function `lookup()`.
    #[default]
    Function,
    /// A class parameter (`Puppet::Pops::Lookup.search_and_merge`): overrides and defaults are
    /// ignored, and a missing value is no error.
    ClassParameter,
}

/// One call of `lookup()` (`puppet/functions/lookup.rb`).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Request {
    /// The names, tried in order.
    pub names: Vec<Arc<str>>,
    /// The `merge` argument.
    pub merge: Option<Value>,
    /// The `value_type` argument, as a type expression.
    pub value_type: Option<Arc<str>>,
    /// The default, if one was given; `undef` counts.
    pub default_value: Option<Value>,
    /// The `default_values_hash` argument.
    pub default_values: Arc<HashMap>,
    /// The `override` argument.
    pub overrides: Arc<HashMap>,
    /// The requested trace.
    pub tracing: Tracing,
    /// The origin of the request.
    pub asker: Asker,
}

impl Request {
    /// A plain lookup of one key.
    #[must_use]
    pub fn key(name: &str) -> Request {
        Request {
            names: vec![Arc::from(name)],
            ..Request::default()
        }
    }

    /// The same request with a trace of the values' sources.
    #[must_use]
    pub fn with_sources(self) -> Request {
        Request {
            tracing: Tracing::Sources,
            ..self
        }
    }

    /// The same request with a trace of everything.
    #[must_use]
    pub fn traced(self) -> Request {
        Request {
            tracing: Tracing::Full,
            ..self
        }
    }

    /// The module whose keys' options apply, `Some(None)` for a key without one; `None` if Puppet refuses the key before it
    /// reads options, or if the trace shows how they are found.
    pub(super) fn module_of_options(&self) -> Option<Option<Arc<str>>> {
        if !matches!(self.tracing, Tracing::Off | Tracing::Sources) {
            return None;
        }
        let key = Key::parse(self.names.first()?).ok()?;
        let root = key.root.as_name()?;
        (root != LOOKUP_OPTIONS).then(|| key.module_name().map(Arc::from))
    }
}

/// A warning that Puppet logs on the way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Log {
    /// The message as logged.
    pub message: String,
}

/// An unknown that could change the answer.
#[derive(Clone, PartialEq, Debug)]
pub struct Unknown {
    /// The layer that holds the level.
    pub layer: Layer,
    /// Name of the hierarchy level.
    pub level: Arc<str>,
    /// Index of the level in its hierarchy.
    pub index: usize,
    /// Why it is unknown.
    pub cause: UnknownCause,
    /// Whether the level was searched for `lookup_options` rather than for the key.
    pub for_options: bool,
}

/// Why a level's contribution is unknown.
#[derive(Clone, PartialEq, Debug)]
pub enum UnknownCause {
    /// The data comes from a function that is never run.
    Function {
        /// Name of the function.
        name: Arc<str>,
        /// The top-level key in the call.
        key: Arc<str>,
    },
    /// The file lies in a folder that is not available.
    Absent {
        /// The file.
        path: Arc<str>,
        /// The top-level key that was looked up.
        key: Arc<str>,
    },
    /// The path depends on unknown variables, and some files that it could match have the key.
    Path(Possible),
}

impl std::fmt::Display for Unknown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.cause {
            UnknownCause::Function { name, .. } => {
                write!(
                    f,
                    "level '{}' gets its data from the function '{name}'",
                    self.level
                )
            }
            UnknownCause::Absent { path, .. } => {
                write!(
                    f,
                    "level '{}' reads '{path}', which is not in this workspace",
                    self.level
                )
            }
            UnknownCause::Path(possible) if possible.files.is_empty() => {
                let variables = possible.variables.join("', '");
                write!(f, "level '{}' depends on '{variables}'", self.level)
            }
            UnknownCause::Path(possible) => write!(
                f,
                "level '{}' depends on {}, and {} of its files {} the key '{}'",
                self.level,
                possible.quoted_variables(),
                possible.files.len(),
                if possible.files.len() == 1 {
                    "holds"
                } else {
                    "hold"
                },
                possible.key
            ),
        }
    }
}

impl Unknown {
    /// The condition that would change the answer to a lookup of some top-level keys: `vault_lookup
    /// has the key`.
    #[must_use]
    pub fn condition(&self, requested: &[Arc<str>]) -> String {
        let (who, key) = match &self.cause {
            UnknownCause::Function { name, key } => (name.to_string(), key),
            UnknownCause::Absent { key, .. } => (
                format!("level '{}' (outside this workspace)", self.level),
                key,
            ),
            UnknownCause::Path(possible) => {
                let variables = possible.variables.join(" and ");
                (
                    match possible.files.len() {
                        0 => format!("a file for {variables} that is not in this workspace"),
                        1 => format!("a file for {variables}"),
                        count => format!("one of {count} files for {variables}"),
                    },
                    &possible.key,
                )
            }
        };
        match &**key {
            LOOKUP_OPTIONS => format!("{who} has lookup_options for it"),
            key if requested.iter().any(|requested| **requested == *key) => {
                format!("{who} has the key")
            }
            key => format!("{who} has '{key}'"),
        }
    }
}

/// The first of the distinct texts, and how many more there are.
fn first_distinct(texts: Vec<String>, more: impl FnOnce(usize) -> String) -> Vec<String> {
    let distinct: IndexSet<String> = texts.into_iter().collect();
    let left_out = distinct.len().saturating_sub(MAX_REASONS);
    let mut shown: Vec<String> = distinct.into_iter().take(MAX_REASONS).collect();
    if left_out > 0 {
        shown.push(more(left_out));
    }
    shown
}

/// Maximum number of levels named together.
const MAX_NAMED: usize = 4;

/// The text for levels whose files are not available: `level 'private' (outside this workspace)
/// sets it`. `None` for no level.
#[must_use]
pub fn absent_words(levels: &[Arc<str>], what: &str) -> Option<String> {
    let verb = match levels {
        [_] => "sets",
        [..] => "set",
    };
    Some(format!("{} {verb} {what}", absent_levels(levels)?))
}

/// The names of levels whose files are not available: `level 'private' (outside this workspace)`.
/// `None` for no level.
#[must_use]
pub fn absent_levels(levels: &[Arc<str>]) -> Option<String> {
    let those = match levels {
        [] => return None,
        [_] => "level",
        [..] => "levels",
    };
    let quoted: Vec<String> = levels.iter().map(|name| format!("'{name}'")).collect();
    Some(format!(
        "{those} {} (outside this workspace)",
        few(&quoted, MAX_NAMED)
    ))
}

/// A declaration that an answer depends on: the assumed behaviour of a function that is never run
/// here.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Assumed {
    /// Name of the function.
    pub function: Arc<str>,
    /// Its declared behaviour.
    pub like: Like,
}

impl std::fmt::Display for Assumed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "the function '{}' is declared to {}",
            self.function, self.like
        )
    }
}

/// The inputs of an answer other than data files: if two scopes agree in all of them, and their
/// levels in every file that matters to the keys, their answers are equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reads {
    /// Top-level keys that were looked up, without `lookup_options`.
    pub keys: BTreeSet<Arc<str>>,
    /// Variables used in strings of the data, as written.
    pub variables: BTreeSet<Arc<str>>,
    /// Modules whose data was used.
    pub modules: BTreeSet<Arc<str>>,
}

impl Reads {
    /// Adds those of another answer.
    pub fn add(&mut self, other: &Reads) {
        self.keys.extend(other.keys.iter().cloned());
        self.variables.extend(other.variables.iter().cloned());
        self.modules.extend(other.modules.iter().cloned());
    }
}

/// The answer to one request.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The value, or the error that Puppet raises.
    pub result: Result<Value, LookupError>,
    /// The unknowns that could change it.
    pub unknown: Vec<Unknown>,
    /// The declarations that it depends on, in the order of the search.
    pub assumed: Vec<Assumed>,
    /// Its inputs.
    pub reads: Arc<Reads>,
    /// Whether it may be another one in another version of Puppet, although its inputs are the same.
    pub depends_on_version: bool,
    /// The trace, if requested.
    pub trace: Option<TraceNode>,
    /// Warnings, in order.
    pub logs: Vec<Log>,
    /// The `lookup_options` for keys of the first name's module; `None` if they were not collected,
    /// as those that Puppet refuses.
    pub options: Option<Arc<LookupOptions>>,
}

impl Answer {
    /// An answer that is unknown before anything was looked up.
    #[must_use]
    pub fn unknown(because: &str) -> Answer {
        let unknown = Opaque::Unknown {
            text: String::new(),
            because: Missing::Other(because.to_owned()),
        };
        Answer::of(Ok(Value::Opaque(Arc::new(unknown))))
    }

    /// An error before anything was looked up.
    #[must_use]
    pub fn failed(error: LookupError) -> Answer {
        Answer::of(Err(error))
    }

    fn of(result: Result<Value, LookupError>) -> Answer {
        Answer {
            result,
            unknown: Vec::new(),
            assumed: Vec::new(),
            reads: Arc::default(),
            depends_on_version: true,
            trace: None,
            logs: Vec::new(),
            options: None,
        }
    }

    /// The condition that would change the answer to a lookup of some names, in words:
    /// `vault_lookup has the key, or level 'b' …`; `None` if it is certain.
    #[must_use]
    pub fn unless(&self, names: &[Arc<str>]) -> Option<String> {
        if self.unknown.is_empty() {
            return None;
        }
        let requested: Vec<Arc<str>> = names
            .iter()
            .filter_map(|name| Key::parse(name).ok()?.root.as_name().map(Arc::from))
            .collect();
        let decides = |known: &Unknown| {
            let (UnknownCause::Function { key, .. } | UnknownCause::Absent { key, .. }) =
                &known.cause
            else {
                return false;
            };
            requested.contains(key)
        };
        let has_key = |option: &Unknown| {
            let mut unknown = self.unknown.iter().filter(|known| decides(known));
            unknown.any(|known| known.layer == option.layer && known.index == option.index)
        };
        let mut conditions: Vec<String> = Vec::new();
        // Conditions on options alone come last.
        let (of_options, of_keys): (Vec<&Unknown>, Vec<&Unknown>) =
            self.unknown.iter().partition(|unknown| unknown.for_options);
        for unknown in of_keys {
            if !matches!(unknown.cause, UnknownCause::Absent { .. }) {
                conditions.push(unknown.condition(&requested));
            }
        }
        conditions.extend(absent_words(&self.absent(decides), "it"));
        let others = self.absent(|unknown| !decides(unknown) && !unknown.for_options);
        conditions.extend(absent_words(&others, "what it looks up"));
        // A level with the key decides, whatever its options are.
        for unknown in &of_options {
            if !has_key(unknown) && !matches!(unknown.cause, UnknownCause::Absent { .. }) {
                conditions.push(unknown.condition(&requested));
            }
        }
        let options = self.absent(|unknown| unknown.for_options && !has_key(unknown));
        conditions.extend(absent_words(&options, "lookup_options for it"));
        let conditions = first_distinct(conditions, |more| format!("{more} more levels do"));
        (!conditions.is_empty()).then(|| conditions.join(", or "))
    }

    /// The distinct names of levels whose files are not available.
    fn absent(&self, wanted: impl Fn(&Unknown) -> bool) -> Vec<Arc<str>> {
        let absent = self.unknown.iter().filter(|unknown| {
            matches!(unknown.cause, UnknownCause::Absent { .. }) && wanted(unknown)
        });
        let names: IndexSet<Arc<str>> = absent.map(|unknown| unknown.level.clone()).collect();
        names.into_iter().collect()
    }

    /// The value of the answer unless an unknown changes it; `None` if there is none, or if a part
    /// of it is unknown.
    #[must_use]
    pub fn possible(&self) -> Option<&Value> {
        let value = self.result.as_ref().ok()?;
        (!self.unknown.is_empty() && !value.has_opaque()).then_some(value)
    }

    /// Whether Puppet answers exactly this: nothing unknown could change it.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        self.unknown.is_empty() && !self.result.as_ref().is_ok_and(Value::has_opaque)
    }

    /// Why the answer is not certain, in words: every level that could change it, in the order of
    /// the search; `None` if it is certain.
    #[must_use]
    pub fn why_uncertain(&self) -> Option<String> {
        let reasons = self.reasons();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    /// The same, as separate reasons.
    #[must_use]
    pub fn reasons(&self) -> Vec<String> {
        if self.unknown.is_empty() {
            let value = self.result.as_ref().ok();
            return value.and_then(Value::opaque_reason).into_iter().collect();
        }
        let reasons = self.unknown.iter().map(|one| self.reason(one));
        first_distinct(reasons.collect(), |left_out| {
            format!("{left_out} more reasons of this kind")
        })
    }

    /// One reason in words: all missing files of a level are one reason.
    fn reason(&self, unknown: &Unknown) -> String {
        let path_of = |one: &Unknown| match &one.cause {
            UnknownCause::Absent { path, .. } => Some(Arc::clone(path)),
            UnknownCause::Function { .. } | UnknownCause::Path(_) => None,
        };
        if path_of(unknown).is_none() {
            return unknown.to_string();
        }
        let of_level = |one: &&Unknown| one.layer == unknown.layer && one.index == unknown.index;
        let level = self.unknown.iter().filter(of_level);
        let paths: IndexSet<Arc<str>> = level.filter_map(path_of).collect();
        match (paths.len(), paths.first()) {
            (2.., Some(first)) => format!(
                "level '{}' would read up to {} files outside this workspace, such as '{first}'",
                unknown.level,
                paths.len()
            ),
            (..2, _) | (_, None) => unknown.to_string(),
        }
    }
}
