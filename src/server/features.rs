//! What the server asks of the rooms below: the one place where features are plugged in.
//!
//! The server takes order, stops and converts; what an answer says is decided behind this trait.
//! Tests of the transport plug in features that are slow, or panic, on purpose.

use std::sync::Arc;

use super::convert;
use super::jobs::Stop;
use super::settings::{PuppetVersion, Settings, Strict};
use crate::ide::hover::{self, HoverOptions};
use crate::ide::{KnownNodes, symbols};
use crate::lookup::{self, ConfigCache};
use crate::rules::{self, Checker, Part};
use crate::text::TextRange;
use crate::workspace::Snapshot;

/// What is under a cursor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hover {
    /// What the answer is about.
    pub range: TextRange,
    /// For clients that show Markdown.
    pub markdown: String,
    /// For the others.
    pub plain: String,
}

/// A problem in a file.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Finding {
    /// The rule's stable code.
    pub code: String,
    /// How bad it is.
    pub severity: Severity,
    /// Where it is.
    pub range: TextRange,
    /// What is wrong, what Puppet does, what to do.
    pub message: String,
    /// Other places that belong to it.
    pub related: Vec<(Arc<str>, TextRange, String)>,
}

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Severity {
    /// Worth knowing.
    Hint,
    /// Worth a look.
    Information,
    /// Probably wrong.
    Warning,
    /// Puppet fails.
    Error,
}

/// A key, for outlines and searches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// The key.
    pub name: String,
    /// The key and its value.
    pub range: TextRange,
    /// The key alone.
    pub selection: TextRange,
    /// Keys within the value.
    pub children: Vec<Symbol>,
}

/// Answers from a snapshot. Everything runs on the blocking pool, may be slow, and should look at
/// its [`Stop`] in long loops; an answer given after a stop is thrown away.
pub trait Features: Send + Sync + 'static {
    /// What is under the byte at `offset` of the file at `path`.
    fn hover(
        &self,
        snapshot: &Snapshot,
        path: &str,
        offset: usize,
        settings: &Settings,
        stop: &Stop,
    ) -> Option<Hover>;

    /// The problems of one file, in the order in which they are to be shown.
    fn check(
        &self,
        snapshot: &Snapshot,
        path: &str,
        settings: &Settings,
        stop: &Stop,
    ) -> Vec<Finding>;

    /// The files of the workspace that have diagnostics.
    fn files(&self, snapshot: &Snapshot) -> Vec<Arc<str>>;

    /// The keys of one file.
    fn symbols(&self, snapshot: &Snapshot, path: &str) -> Vec<Symbol>;

    /// Keys of the whole workspace that match what somebody typed, best first, at most `limit`.
    fn search(
        &self,
        snapshot: &Snapshot,
        typed: &str,
        limit: usize,
        stop: &Stop,
    ) -> Vec<(Arc<str>, Symbol)>;
}

/// The rooms of this house as features.
#[derive(Default)]
pub(crate) struct Rooms {
    configs: ConfigCache,
    nodes: KnownNodes,
}

/// Puppet's settings as the editor's settings have them.
fn lookup_settings(settings: &Settings) -> lookup::Settings {
    let version = match settings.puppet_version {
        PuppetVersion::Seven => lookup::PuppetVersion::V7,
        PuppetVersion::Eight => lookup::PuppetVersion::V8,
    };
    let mut puppet = lookup::Settings::for_version(version).for_editor();
    match settings.strict {
        None => {}
        Some(Strict::Off) => puppet.strict = lookup::Strict::Off,
        Some(Strict::Warning) => puppet.strict = lookup::Strict::Warning,
        Some(Strict::Error) => puppet.strict = lookup::Strict::Error,
    }
    puppet.strict_variables = settings.strict_variables.unwrap_or(puppet.strict_variables);
    puppet
}

impl Features for Rooms {
    fn hover(
        &self,
        snapshot: &Snapshot,
        path: &str,
        offset: usize,
        settings: &Settings,
        _: &Stop,
    ) -> Option<Hover> {
        let puppet = lookup_settings(settings);
        let link = |path: &str, line: u32| match convert::uri(path) {
            Some(uri) => format!("{}#L{line}", uri.as_str()),
            None => String::new(),
        };
        let options = HoverOptions {
            max_lines: settings.hover_max_lines,
            link: Some(&link),
            ..HoverOptions::new(&puppet, &self.configs, &self.nodes)
        };
        let found = hover::hover(snapshot, path, offset, &options)?;
        Some(Hover {
            range: found.range,
            markdown: found.markdown,
            plain: found.plain,
        })
    }

    fn check(
        &self,
        snapshot: &Snapshot,
        path: &str,
        settings: &Settings,
        _: &Stop,
    ) -> Vec<Finding> {
        let checker = Checker::with_settings(snapshot, lookup_settings(settings));
        let found = checker.file(path, Part::All).unwrap_or_default();
        found.into_iter().map(Finding::from).collect()
    }

    fn files(&self, snapshot: &Snapshot) -> Vec<Arc<str>> {
        snapshot.files().map(|file| file.path().clone()).collect()
    }

    fn symbols(&self, snapshot: &Snapshot, path: &str) -> Vec<Symbol> {
        let symbols = symbols::document_symbols(snapshot, path);
        symbols.into_iter().map(Symbol::from).collect()
    }

    fn search(
        &self,
        snapshot: &Snapshot,
        typed: &str,
        limit: usize,
        stop: &Stop,
    ) -> Vec<(Arc<str>, Symbol)> {
        let is_stopped = || stop.requested();
        let found = symbols::workspace_symbols(snapshot, typed, limit, &is_stopped);
        let found = found.into_iter();
        found
            .map(|(file, symbol)| (file.path().clone(), symbol.into()))
            .collect()
    }
}

impl From<rules::Finding> for Finding {
    fn from(finding: rules::Finding) -> Finding {
        Finding {
            code: finding.code.to_string(),
            severity: match finding.severity {
                rules::Severity::Error => Severity::Error,
                rules::Severity::Warning => Severity::Warning,
                rules::Severity::Information => Severity::Information,
                rules::Severity::Hint => Severity::Hint,
            },
            range: finding.range,
            message: finding.message,
            related: finding
                .related
                .into_iter()
                .map(|related| (related.path, related.range, related.message))
                .collect(),
        }
    }
}

impl From<symbols::Symbol> for Symbol {
    fn from(symbol: symbols::Symbol) -> Symbol {
        Symbol {
            name: symbol.name.to_string(),
            range: symbol.range,
            selection: symbol.selection,
            children: symbol.children.into_iter().map(Symbol::from).collect(),
        }
    }
}
