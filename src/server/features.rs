//! What the server asks of the rooms below: the one place where features are plugged in.
//!
//! The server takes order, stops and converts; what an answer says is decided behind this trait.
//! Tests of the transport plug in features that are slow, or panic, on purpose.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use serde_json::{Value, json};

use super::capabilities::{REVEAL, VALUE};
use super::context::Context;
use super::convert;
use super::jobs::Stop;
use super::lenses;
use super::pages::{self, House};
use crate::analysis::NodeCache;
use crate::ide::call_hierarchy::CallItem;
use crate::ide::document::Document;
use crate::ide::{hover, symbols};
use crate::lookup::ConfigCache;
use crate::rules::{Checker, Finding};
use crate::text::{Position, TextRange};
use crate::workspace::Snapshot;

/// What is under a cursor.
/// Only the form that the context names has to be there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hover {
    /// What the answer is about.
    pub range: TextRange,
    /// For clients that show Markdown.
    pub markdown: String,
    /// For clients that show Markdown but draw no tables.
    pub aligned: String,
    /// For the others.
    pub plain: String,
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

/// The findings of one file after another, over one snapshot; nothing for a file that no hierarchy
/// reads: nobody knows what it means.
pub type Check<'a> = Box<dyn Fn(&str) -> Option<Vec<Finding>> + 'a>;

/// Answers from a snapshot and a context. Everything runs as a job, may be slow, and
/// should look at its [`Stop`] in long loops; an answer given after a stop is thrown away.
pub trait Features: Send + Sync + 'static {
    /// What is under the byte at `offset` of the file at `path`.
    fn hover(
        &self,
        snapshot: &Snapshot,
        path: &str,
        offset: usize,
        context: &Context,
        stop: &Stop,
    ) -> Option<Hover>;

    /// A check of files of one snapshot, in the order in which their problems are to be shown.
    /// What many files' findings need is computed once.
    fn check<'a>(&'a self, snapshot: &'a Snapshot, context: &'a Context, stop: &Stop) -> Check<'a>;

    /// The keys of one file that a hierarchy reads.
    fn symbols(&self, snapshot: &Snapshot, path: &str, context: &Context) -> Vec<Symbol>;

    /// Keys of all files that a hierarchy reads and that match what somebody typed, best first,
    /// at most `limit`.
    fn search(
        &self,
        snapshot: &Snapshot,
        context: &Context,
        typed: &str,
        limit: usize,
        stop: &Stop,
    ) -> Vec<(Arc<str>, Symbol)>;

    /// Certnames of the nodes that are known for a file or folder, in the order of their files.
    fn nodes(&self, _: &Snapshot, _: &Context, _: &str) -> Vec<Arc<str>> {
        Vec::new()
    }

    /// The names of the environments of the workspace, each once.
    fn environments(&self, _: &Snapshot) -> Vec<Arc<str>> {
        Vec::new()
    }

    /// What is to be said above keys of a file that a hierarchy reads, in its order.
    fn lenses(&self, _: &Snapshot, _: &str, _: &Context, _: &Stop) -> Vec<Lens> {
        Vec::new()
    }

    /// What the lens above the first line of an unsaved file says, where it came as
    /// `LensKind::LaterImpact`.
    fn impact_lens(&self, _: &Snapshot, _: &str, _: &Context, _: &Stop) -> LensKind {
        LensKind::AnyImpact
    }

    /// What is to be said beside keys and tokens of a part of a file that a hierarchy reads, in its
    /// order.
    fn hints(&self, _: &Snapshot, _: &str, _: TextRange, _: &Context, _: &Stop) -> Vec<Hint> {
        Vec::new()
    }

    /// The key around the byte at `offset` of a file that a hierarchy reads.
    fn call_at(&self, _: &Snapshot, _: &str, _: usize, _: &Context) -> Option<CallItem> {
        None
    }

    /// A read-only document.
    ///
    /// # Errors
    /// Why there is none, for people.
    fn document(
        &self,
        _: &Snapshot,
        _: &Context,
        _: &Question,
        _: &Work<'_>,
    ) -> Result<Told, String> {
        Err("nothing can be told here".to_owned())
    }
}

/// What is said above a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lens {
    /// The key, or the start of the file.
    pub range: TextRange,
    /// What it says.
    pub kind: LensKind,
    /// The key as it is looked up, for what is about one.
    pub key: Option<Arc<str>>,
}

/// What a lens says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LensKind {
    /// Other files set the key too.
    Overrides {
        /// Those of levels above.
        above: usize,
        /// Those of levels below.
        below: usize,
    },
    /// So many tokens look the key up.
    Uses(usize),
    /// The unsaved edit changes effective values.
    Impact {
        /// Of how many keys, for the whole file; else of this one.
        keys: Option<usize>,
        /// For how many nodes.
        nodes: usize,
        /// How many nodes are known.
        of: usize,
    },
    /// The unsaved edit may change any key.
    AnyImpact,
    /// What the unsaved edit changes takes a while to find out: asked for by
    /// [`Features::impact_lens`].
    LaterImpact,
    /// The unsaved edit changes no effective value.
    NoImpact,
}

/// What is said beside a key or a token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hint {
    /// The key or the token.
    pub range: TextRange,
    /// Whether it is a token.
    pub is_of_token: bool,
    /// What it says.
    pub label: String,
    /// The file and the line, from 1, that it speaks of.
    pub by: Option<(Arc<str>, u32)>,
}

/// A key that a question is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    /// The file that the question was asked in, or a folder: its hierarchy counts.
    pub path: Arc<str>,
    /// The key; without one, the key at the place.
    pub key: Option<Arc<str>>,
    /// The byte of the file where the question was asked.
    pub offset: Option<usize>,
}

/// What a read-only document is to tell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Question {
    /// How Puppet looks a key up: the text of `puppet lookup --explain`.
    Explain {
        /// The key.
        asked: Asked,
        /// The node; without one, the chosen one; without that, any node.
        node: Option<Arc<str>>,
    },
    /// The whole effective value: for the chosen node, else for the nodes that read the file.
    Value(Asked),
    /// The plain text of the encrypted value at a place.
    Reveal(Asked),
    /// The answers for all nodes.
    Matrix(Asked),
    /// Whose values look the key up.
    Uses(Asked),
    /// What differs between two nodes or two environments.
    Diff {
        /// The file or folder that the question was asked in.
        path: Arc<str>,
        /// Name of the one; without it the chosen node.
        from: Option<Arc<str>>,
        /// Name of the other.
        to: Arc<str>,
        /// The only key to compare.
        key: Option<Arc<str>>,
    },
    /// What an edit changes that is not saved.
    Impact {
        /// The file or folder that the question was asked in.
        path: Arc<str>,
        /// The file whose edit counts; without it, all unsaved edits.
        file: Option<Arc<str>>,
    },
}

/// The answer to a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Told {
    /// A text of its own.
    Document(Document),
    /// A text of its own that holds a secret: for the eyes of whoever asked.
    Secret(Document),
    /// A sentence.
    Message(String),
}

/// How far long work is, and whether it is still wanted.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// Whether the answer is still wanted.
    pub stop: &'a Stop,
    /// Takes how many steps of how many are done.
    pub tell: &'a (dyn Fn(usize, usize) + Sync),
}

impl Work<'_> {
    /// So many steps of so many are done; breaks where nobody wants the answer any more.
    pub fn done(&self, done: usize, of: usize) -> ControlFlow<()> {
        if self.stop.requested() {
            return ControlFlow::Break(());
        }
        (self.tell)(done, of);
        ControlFlow::Continue(())
    }
}

/// The rooms of this house as features, with what they keep from one answer to the next.
#[derive(Default)]
pub(crate) struct Rooms {
    configs: Arc<ConfigCache>,
    nodes: NodeCache,
}

impl Rooms {
    fn checker<'a>(&self, snapshot: &'a Snapshot, context: &Context) -> Checker<'a> {
        Checker::with_configs(snapshot, context.puppet(), Arc::clone(&self.configs))
    }

    fn house<'a>(&'a self, snapshot: &'a Snapshot, context: &'a Context) -> House<'a> {
        House {
            snapshot,
            context,
            configs: &self.configs,
            nodes: &self.nodes,
        }
    }
}

impl Features for Rooms {
    fn hover(
        &self,
        snapshot: &Snapshot,
        path: &str,
        offset: usize,
        context: &Context,
        stop: &Stop,
    ) -> Option<Hover> {
        let is_stopped = || stop.requested();
        let settings = context.puppet();
        let fleet = context.nodes(&self.nodes, snapshot, path);
        let value_link = |key: &str| value_link(path, key);
        let encoding = context.encoding;
        let lines = snapshot.file(path)?.lines();
        let reveal_link = |offset| reveal_link(path, lines.position(offset, encoding));
        let reveal = hover::Reveal {
            command: REVEAL,
            link: context.command_links.then_some(&reveal_link),
        };
        let whole = hover::WholeValue {
            command: VALUE,
            link: context.command_links.then_some(&value_link),
        };
        let options = hover::HoverOptions {
            settings: &settings,
            configs: &self.configs,
            nodes: &fleet.known,
            selected: fleet.selected.as_deref(),
            max_lines: context.settings.hover_max_lines,
            whole: Some(whole),
            reveal: context.keys().is_some().then_some(reveal),
            link: Some(&link),
            form: Some(context.hover_form),
            is_stopped: &is_stopped,
        };
        let found = hover::hover(snapshot, path, offset, &options)?;
        Some(Hover {
            range: found.range,
            markdown: found.markdown,
            aligned: found.aligned,
            plain: found.plain,
        })
    }

    fn check<'a>(&'a self, snapshot: &'a Snapshot, context: &'a Context, _: &Stop) -> Check<'a> {
        let checker = self.checker(snapshot, context);
        Box::new(move |path| checker.file(path))
    }

    fn symbols(&self, snapshot: &Snapshot, path: &str, context: &Context) -> Vec<Symbol> {
        if !self.checker(snapshot, context).reads(path) {
            return Vec::new();
        }
        let symbols = symbols::document_symbols(snapshot, path);
        symbols.into_iter().map(Symbol::from).collect()
    }

    fn search(
        &self,
        snapshot: &Snapshot,
        context: &Context,
        typed: &str,
        limit: usize,
        stop: &Stop,
    ) -> Vec<(Arc<str>, Symbol)> {
        let is_stopped = || stop.requested();
        let checker = self.checker(snapshot, context);
        let mut known: HashMap<Arc<str>, bool> = HashMap::new();
        let mut asked = limit;
        loop {
            let found = symbols::workspace_symbols(snapshot, typed, asked, &is_stopped);
            let is_all = found.len() < asked || stop.requested();
            let ours = found.into_iter().filter(|(file, _)| {
                let reads = || checker.reads(file.path());
                *known.entry(file.path().clone()).or_insert_with(reads)
            });
            let ours: Vec<_> = ours
                .take(limit)
                .map(|(file, symbol)| (file.path().clone(), symbol.into()))
                .collect();
            if is_all || ours.len() == limit {
                return ours;
            }
            // Keys of other YAML files took the places.
            asked = asked.saturating_mul(8);
        }
    }

    fn nodes(&self, snapshot: &Snapshot, context: &Context, path: &str) -> Vec<Arc<str>> {
        let fleet = context.nodes(&self.nodes, snapshot, path);
        let nodes = fleet.nodes.all().iter();
        let mut names: Vec<Arc<str>> = nodes.map(|node| node.certname.clone()).collect();
        // Of nodes with a data file nothing else may be known, but they can be chosen.
        let with_files =
            crate::ide::nodes_with_files(snapshot, path, &context.puppet(), &self.configs);
        let known: std::collections::HashSet<Arc<str>> = names.iter().cloned().collect();
        names.extend(with_files.into_iter().filter(|name| !known.contains(name)));
        names
    }

    fn environments(&self, snapshot: &Snapshot) -> Vec<Arc<str>> {
        let environments = pages::environments(snapshot).into_iter();
        environments.map(|(name, _)| Arc::from(name)).collect()
    }

    fn document(
        &self,
        snapshot: &Snapshot,
        context: &Context,
        question: &Question,
        work: &Work<'_>,
    ) -> Result<Told, String> {
        pages::answer(&self.house(snapshot, context), question, work)
    }

    fn lenses(&self, snapshot: &Snapshot, path: &str, context: &Context, stop: &Stop) -> Vec<Lens> {
        lenses::lenses(&self.house(snapshot, context), path, stop)
    }

    fn impact_lens(
        &self,
        snapshot: &Snapshot,
        path: &str,
        context: &Context,
        stop: &Stop,
    ) -> LensKind {
        lenses::impact(&self.house(snapshot, context), path, stop)
    }

    fn hints(
        &self,
        snapshot: &Snapshot,
        path: &str,
        visible: TextRange,
        context: &Context,
        stop: &Stop,
    ) -> Vec<Hint> {
        lenses::hints(&self.house(snapshot, context), path, visible, stop)
    }

    fn call_at(
        &self,
        snapshot: &Snapshot,
        path: &str,
        offset: usize,
        context: &Context,
    ) -> Option<CallItem> {
        lenses::call_at(&self.house(snapshot, context), path, offset)
    }
}

/// The link to a line of a file, as editors follow it.
fn link(path: &str, line: u32) -> String {
    let uri = crate::disk::file_uri(path);
    format!("{uri}#L{line}")
}

/// The link that shows the whole value of a key, for clients that run commands from links.
fn value_link(path: &str, key: &str) -> String {
    command_link(VALUE, path, "key", json!(key))
}

/// The link that shows the plain text of the encrypted value at a place.
fn reveal_link(path: &str, at: Position) -> String {
    let position = json!({ "line": at.line, "character": at.character });
    command_link(REVEAL, path, "position", position)
}

/// A link that runs a command about a file, with one more argument.
fn command_link(command: &str, path: &str, name: &str, argument: Value) -> String {
    let uri = crate::disk::file_uri(path);
    let arguments = json!([{ "uri": uri, name: argument }]);
    format!(
        "command:{command}?{}",
        convert::escaped(&arguments.to_string())
    )
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
