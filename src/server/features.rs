//! What the server asks of the rooms below: the one place where features are plugged in.
//!
//! The server takes order, stops and converts; what an answer says is decided behind this trait.
//! Tests of the transport plug in features that are slow, or panic, on purpose.

use std::sync::Arc;

use super::jobs::Stop;
use super::settings::Settings;
use crate::ide::symbols;
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
pub(crate) struct Rooms;

impl Features for Rooms {
    fn hover(&self, _: &Snapshot, _: &str, _: usize, _: &Settings, _: &Stop) -> Option<Hover> {
        None
    }
    fn check(&self, _: &Snapshot, _: &str, _: &Settings, _: &Stop) -> Vec<Finding> {
        Vec::new()
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
