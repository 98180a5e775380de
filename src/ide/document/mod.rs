//! Read-only documents that editors open by commands: one module for each kind.
//!
//! Each is a text for people; some have the same content as JSON for programs. Files are named by
//! their path below the workspace's folder.

mod differences;
pub mod doctor;
mod explain;
mod impact;
pub(crate) mod matrix;
pub(super) mod uses;

use std::sync::Arc;

use super::hover;
use super::matrix::SourceLine;
use super::target::{KeyTarget, key_at};
use super::upgrade::{self, preview::Preview};
use crate::analysis::{Analysis, NodeSet, RootView, quoted};
use crate::interpolation::root_of;
use crate::scope::Node;
use crate::workspace::{LOOKUP_OPTIONS, Snapshot};

/// A read-only text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Document {
    /// The title, for people.
    pub title: String,
    /// The editor's identifier of its language.
    pub language: &'static str,
    /// The text.
    pub content: String,
    /// The same content as JSON, for programs.
    pub data: Option<String>,
    /// The values of a matrix as YAML, in the order of its JSON: first by nodes, then by facts; empty
    /// without a value.
    pub values: Vec<String>,
    /// The two sides of a comparison.
    pub sides: Vec<Document>,
}

impl Document {
    /// Adds a first line about overridden facts.
    fn note_what_if(&mut self, analysis: Analysis<'_>) {
        if !analysis.what_if.is_empty() {
            let note = format!("what if: {}\n", one_line(analysis.what_if));
            self.content.insert_str(0, &note);
        }
    }
}

/// The result of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DocumentAnswer {
    /// A document.
    Document(Document),
    /// A sentence to show instead of a document.
    Message(String),
}

/// The form of an explanation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExplainForm {
    /// For people: the answer, then a line for each level.
    People,
    /// The text of `puppet lookup --explain`.
    Puppet,
}

/// A key by its name, or by its place in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyPlace {
    /// The file, or a folder; it selects the hierarchy.
    pub path: Arc<str>,
    /// The key, by its name in lookups; if `None`, the key at the offset.
    pub key: Option<Arc<str>>,
    /// An offset in the file, in bytes.
    pub offset: Option<usize>,
}

/// A request for a document.
#[derive(Clone, Debug)]
pub enum Question {
    /// How Puppet looks up a key.
    Explain {
        /// The key.
        place: KeyPlace,
        /// The form of the explanation.
        form: ExplainForm,
        /// The node; `None` for any node.
        node: Option<Arc<Node>>,
    },
    /// The whole effective value: for the selected node, else for the nodes that read the file.
    Value(KeyPlace),
    /// The answers for all nodes.
    Matrix(KeyPlace),
    /// The places that look up the key.
    Uses(KeyPlace),
    /// The differences between two nodes or two environments.
    Diff {
        /// The file or folder that selects the hierarchy.
        path: Arc<str>,
        /// The first one's name; `None` for the selected node.
        from: Option<Arc<str>>,
        /// The second one's name.
        to: Arc<str>,
        /// The only key to compare.
        key: Option<Arc<str>>,
    },
    /// The state of the workspace for Hiera, with the most useful improvements.
    Doctor {
        /// The file or folder that selects the hierarchy.
        path: Arc<str>,
        /// The nodes that are known for it.
        nodes: Arc<NodeSet>,
        /// The time, in seconds since 1970, for the age of imported nodes.
        now: Option<i64>,
    },
    /// What an upgrade of Puppet changes.
    Upgrade {
        /// The file or folder that selects the hierarchy.
        path: Arc<str>,
        /// The versions and their settings.
        preview: Box<Preview>,
    },
    /// The effect of unsaved edits.
    Impact {
        /// The file or folder that selects the hierarchy.
        path: Arc<str>,
        /// The edited file; `None` for all unsaved edits.
        file: Option<Arc<str>>,
    },
}

impl Question {
    /// The key that it is about.
    fn place(&self) -> Option<&KeyPlace> {
        match self {
            Question::Explain { place, .. }
            | Question::Value(place)
            | Question::Matrix(place)
            | Question::Uses(place) => Some(place),
            Question::Diff { .. }
            | Question::Doctor { .. }
            | Question::Upgrade { .. }
            | Question::Impact { .. } => None,
        }
    }
}

/// Reports progress: the finished steps and all steps.
pub type OnProgress<'a> = &'a dyn Fn(usize, usize);

/// Creates a document.
///
/// # Errors
/// Why there is none, for people.
pub fn answer(
    analysis: Analysis<'_>,
    question: &Question,
    progress: OnProgress<'_>,
) -> Result<DocumentAnswer, String> {
    let place = question.place();
    if let Some(pattern) = place.and_then(|place| place.pattern(analysis.snapshot)) {
        return Ok(DocumentAnswer::Message(format!(
            "'{pattern}' is a pattern: choose one of the keys that it matches"
        )));
    }
    let document = match question {
        Question::Explain { place, form, node } => {
            let key = place.key(analysis.snapshot)?;
            let view = place.view(analysis)?;
            if let (ExplainForm::People, Some(message)) = (form, matrix::missing(&view, &key)) {
                return Ok(DocumentAnswer::Message(message));
            }
            match form {
                ExplainForm::People => {
                    explain::for_people(analysis, &view, &place.path, &key, node.as_deref())
                }
                ExplainForm::Puppet => explain::document(&view, &key, node.as_deref()),
            }
        }
        Question::Value(place) => {
            let key = place.key(analysis.snapshot)?;
            if let Some(message) = matrix::missing(&place.view(analysis)?, &key) {
                return Ok(DocumentAnswer::Message(message));
            }
            match value(analysis, &place.path, &key) {
                Some(document) => document,
                None => return Ok(matrix::answer_for(&place.view(analysis)?, &key)),
            }
        }
        Question::Matrix(place) => {
            let key = place.key(analysis.snapshot)?;
            return Ok(matrix::answer_for(&place.view(analysis)?, &key));
        }
        Question::Uses(place) => {
            let key = root_of(&place.key(analysis.snapshot)?);
            return Ok(uses::answer(analysis, &place.path, &key));
        }
        Question::Diff {
            path,
            from,
            to,
            key,
        } => {
            let view = answering(analysis, path)?;
            let Some(from) = from.clone().or_else(|| analysis.selected.map(Arc::from)) else {
                return Err("no node is selected to compare with".to_owned());
            };
            return differences::document(&view, [&from, to], key.as_ref(), progress);
        }
        Question::Doctor { path, nodes, now } => doctor::document(analysis, path, nodes, "", *now),
        Question::Upgrade { path, preview } => {
            upgrade::preview::document(&answering(analysis, path)?, preview, progress)?
        }
        Question::Impact { path, file } => {
            return impact::answer(analysis, path, file.as_ref(), progress);
        }
    };
    Ok(DocumentAnswer::Document(document))
}

/// The value as in a hover, but all of it; `None` if the nodes that read the file get several.
fn value(analysis: Analysis<'_>, path: &str, key: &str) -> Option<Document> {
    let shown = with_short_names(analysis.snapshot, |options| {
        hover::document(analysis, path, key, options, hover::DocumentedAnswers::One)
    });
    Some(Document {
        title: format!("Value of {key}"),
        language: "yaml",
        content: shown?,
        ..Document::default()
    })
}

/// Shows a hover with files named as in all documents, by their path below the workspace's folder.
fn with_short_names<T>(snapshot: &Snapshot, show: impl FnOnce(&hover::HoverOptions<'_>) -> T) -> T {
    show(&hover::HoverOptions {
        name: Some(&|at| snapshot.short_name(at).to_owned()),
        ..hover::HoverOptions::default()
    })
}

impl KeyPlace {
    /// The key's name in lookups; for an entry of `lookup_options`, that of the entry's key.
    fn key(&self, snapshot: &Snapshot) -> Result<Arc<str>, String> {
        let key = self.written(snapshot)?;
        Ok(match entry_of(&key) {
            Some(entry) => Arc::from(quoted(&entry)),
            None => key,
        })
    }

    /// The pattern, if it is one of `lookup_options`.
    fn pattern(&self, snapshot: &Snapshot) -> Option<Arc<str>> {
        let entry = entry_of(&self.written(snapshot).ok()?)?;
        entry.starts_with('^').then_some(entry)
    }

    /// The given key, else the one at the offset.
    fn written(&self, snapshot: &Snapshot) -> Result<Arc<str>, String> {
        match (&self.key, self.offset) {
            (Some(key), _) => Ok(key.clone()),
            (None, Some(offset)) => key_at(snapshot, &self.path, offset)
                .ok_or_else(|| "no key at this position".to_owned()),
            (None, None) => Err("neither a key nor a position was given".to_owned()),
        }
    }

    /// The top-level key: of the given name, else around the offset.
    ///
    /// # Errors
    /// Why there is none, for people.
    pub fn top_key(&self, snapshot: &Snapshot) -> Result<Arc<str>, String> {
        let key = self.written(snapshot)?;
        Ok(match self.key {
            Some(_) => key,
            None => root_of(&key),
        })
    }

    fn view<'a>(&self, analysis: Analysis<'a>) -> Result<RootView<'a>, String> {
        answering(analysis, &self.path)
    }
}

/// The key or pattern of an entry of `lookup_options`, from the name of the entry or a part of it.
fn entry_of(key: &str) -> Option<Arc<str>> {
    let target = KeyTarget::named(key)?;
    let entry = target.steps.first()?.as_str()?;
    (*target.root == *LOOKUP_OPTIONS).then(|| Arc::from(entry))
}

fn answering<'a>(analysis: Analysis<'a>, path: &str) -> Result<RootView<'a>, String> {
    let view = analysis.answering(path);
    view.ok_or_else(|| "no hiera.yaml covers this file".to_owned())
}

/// The error of a cancelled request; clients do not show it.
pub(crate) fn cancelled() -> String {
    "the request was cancelled".to_owned()
}

fn place(source: &SourceLine, snapshot: &Snapshot) -> String {
    format!("{}:{}", snapshot.short_name(&source.file), source.line)
}

/// A text without line breaks, which would end a comment.
fn one_line(text: &str) -> String {
    text.trim().replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests;
