//! Hovers without a cursor: of a key or variable by its name, as data, and as a document.

use std::sync::Arc;

use super::{Context, Hover, HoverOptions, key, mark_what_if, shown, token};
use crate::analysis::{Analysis, without_keys};
use crate::ide::target::{self, KeyTarget};
use crate::lookup::LookupError;
use crate::text::TextRange;
use crate::value::Value;

/// What to describe, by its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Described {
    /// A key, by its name in lookups.
    Key(Arc<str>),
    /// A variable by its dotted path.
    Variable(Arc<str>),
}

/// The hover of a key or variable for the nodes that read a file.
#[must_use]
pub fn described(
    analysis: Analysis<'_>,
    path: &str,
    about: &Described,
    options: &HoverOptions<'_>,
) -> Option<Hover> {
    let settings = without_keys(analysis.settings);
    let analysis = analysis.with_settings(&settings);
    let view = analysis.governing(path)?;
    let context = &Context::new(&view, path, options)?;
    let page = match about {
        Described::Key(name) => key::page(context, &KeyTarget::named(name)?),
        Described::Variable(name) => token::variable_page(context, name),
    };
    Some(shown(&page, TextRange::empty(0), options))
}

/// One answer of a hover on a key.
#[derive(Clone, Debug)]
pub struct Effective {
    /// The value of the key under the cursor; `None` if the effective value of the top-level key
    /// lacks it. Or the error that Puppet raises.
    pub result: Result<Option<Value>, LookupError>,
    /// The known nodes that get it; empty if no known node reads the file.
    pub nodes: Vec<Arc<str>>,
    /// Whether all that it depends on is known.
    pub is_certain: bool,
}

/// The answers of a hover on a key as data, for the nodes that read the file, the most frequent
/// first; one answer for any node if none is known. Nodes beyond [`crate::analysis::MAX_LOOKUPS`]
/// lookups are left out. Empty if the cursor is on no key of a file that a level reads.
#[must_use]
pub fn effective(analysis: Analysis<'_>, path: &str, offset: usize) -> Vec<Effective> {
    let settings = without_keys(analysis.settings);
    let analysis = analysis.with_settings(&settings);
    let options = HoverOptions::default();
    let Some(view) = analysis.governing(path) else {
        return Vec::new();
    };
    let key = target::key_around(analysis.snapshot, path, offset);
    let (Some(key), Some(context)) = (key, Context::new(&view, path, &options)) else {
        return Vec::new();
    };
    key::effective(&context, &key::in_effective_value(&context, &key)).0
}

/// How many answers a document of a key may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DocumentedAnswers {
    /// One.
    One,
    /// Any number; the document has the value of the first.
    Any,
}

/// The whole hover on a key for the nodes that read a file, or for the selected node, as a YAML
/// document: the value, and the rest in comments; for all nodes if the file is no data. `None` if
/// there are too many answers, and if no hierarchy answers.
#[must_use]
pub fn document(
    analysis: Analysis<'_>,
    path: &str,
    key: &str,
    options: &HoverOptions<'_>,
    answers: DocumentedAnswers,
) -> Option<String> {
    let settings = without_keys(analysis.settings);
    let analysis = analysis.with_settings(&settings);
    let options = HoverOptions {
        max_lines: usize::MAX,
        ..*options
    };
    let view = analysis.answering(path)?;
    let context = Context::of_answer(&view, path, &options)?;
    let target = KeyTarget::named(key)?;
    if answers == DocumentedAnswers::One && analysis.selected.is_none() {
        let (found, left) = key::effective(&context, &target);
        if found.len() > 1 || left > 0 {
            return None;
        }
    }
    let mut page = key::page(&context, &target);
    mark_what_if(analysis, &mut page);
    Some(page.document())
}
