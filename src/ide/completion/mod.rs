//! Completion, also in half-typed text: keys, nested keys and values from other levels; functions,
//! facts and keys in tokens; `lookup_options`; words, functions, folders and files in `hiera.yaml`;
//! anchors.
//!
//! One module for each kind of place. The documentation of an item is only created on request
//! ([`described`](super::hover::described)).

mod config;
mod cursor;
mod dotted;
mod facts;
mod flow;
mod keys;
mod manifest;
mod options;
mod parameters;
mod token;
mod values;

use std::sync::Arc;

use self::cursor::{Cursor, CursorStep, DocumentStyle, Slot};
use super::code_names::{class, is_class};
use super::hover::Described;
use super::target::is_config;
use crate::analysis::{Analysis, HieraFiles};
use crate::text::TextRange;
use crate::workspace::{File, Format, LOOKUP_OPTIONS};

/// Maximum number of items in one answer; with more, clients send another request after the next character.
pub const MAX_ITEMS: usize = 300;

/// The result of a completion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The items, the best first.
    pub items: Vec<Item>,
    /// The range that an item replaces.
    pub replace: TextRange,
    /// Whether there are more items.
    pub is_incomplete: bool,
}

/// A suggestion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    /// The name.
    pub label: String,
    /// The kind.
    pub kind: ItemKind,
    /// A short text beside the name.
    pub detail: Option<String>,
    /// The documentation, unless [`Item::about`] leads to more.
    pub documentation: Option<String>,
    /// The subject of further documentation.
    pub about: Option<Described>,
    /// The text to insert.
    pub insert: String,
    /// The same with tab stops, for clients that support snippets.
    pub snippet: Option<String>,
}

/// The kind of an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ItemKind {
    /// A key of data.
    Key,
    /// A value of data.
    Value,
    /// A function of a token, or a data function.
    Function,
    /// A fact or another variable.
    Variable,
    /// A word of `hiera.yaml` or `lookup_options`.
    Word,
    /// A data type.
    Type,
    /// A pattern of keys.
    Pattern,
    /// A file.
    File,
    /// A folder.
    Folder,
    /// An anchor.
    Anchor,
}

impl Item {
    /// An item that inserts its label.
    pub(super) fn new(label: impl Into<String>, kind: ItemKind) -> Item {
        let label = label.into();
        Item {
            insert: label.clone(),
            label,
            kind,
            detail: None,
            documentation: None,
            about: None,
            snippet: None,
        }
    }
}

struct TypingPlace<'a> {
    analysis: Analysis<'a>,
    file: &'a Arc<File>,
    offset: usize,
    /// The files that nodes read together with this one.
    related: HieraFiles<'a>,
}

impl<'a> TypingPlace<'a> {
    /// The text before the cursor.
    fn before(&self) -> &'a str {
        self.file.text().get(..self.offset).unwrap_or_default()
    }

    /// The text behind the cursor.
    fn behind(&self) -> &'a str {
        self.file.text().get(self.offset..).unwrap_or_default()
    }

    fn style(&self) -> DocumentStyle {
        match self.file.format() {
            Some(Format::Json | Format::Hocon) => DocumentStyle::Json,
            Some(Format::Yaml) | None => DocumentStyle::Yaml,
        }
    }
}

/// The completion at the byte at `offset` of a file; `None` if there is nothing to suggest. Costs
/// O(items), and a scan of all keys if few of them start with the typed part.
#[must_use]
pub fn complete(analysis: Analysis<'_>, path: &str, offset: usize) -> Option<Completion> {
    let file = analysis.snapshot.file(path)?;
    let is_config = is_config(analysis.snapshot, path);
    let is_data = || {
        let view = analysis.governing(path);
        analysis.reads(path) || view.is_some_and(|view| view.lies_among_data(path))
    };
    let is_code = file.facts().code.is_some();
    if !is_config && !is_code && !is_data() {
        return None;
    }
    let typing = TypingPlace {
        analysis,
        file,
        offset,
        related: HieraFiles::related_to(analysis, path),
    };
    let text: &str = file.text();
    if is_code {
        return manifest::complete(&typing);
    }
    if let Some(open) = token::open_token(text, offset) {
        return Some(token::complete(&typing, &open, is_config));
    }
    let cursor = cursor::cursor_at(text, offset, typing.style())?;
    let items = if is_config {
        config::items(&typing, &cursor)
    } else {
        in_data(&typing, &cursor)
    };
    Some(answer(&cursor.typed, cursor.replace, items))
}

fn in_data(typing: &TypingPlace<'_>, cursor: &Cursor) -> Vec<Item> {
    if cursor.typed.starts_with('*') && cursor.quote.is_none() {
        return values::anchors(typing);
    }
    if let Some(CursorStep::Key(root)) = cursor.steps.first()
        && root == LOOKUP_OPTIONS
    {
        return options::items(typing, cursor);
    }
    match (cursor.slot, cursor.steps.split_first()) {
        (Slot::Key, None) => keys::top_level(typing, cursor),
        (Slot::Key, Some((CursorStep::Key(root), rest))) => {
            let mut items = keys::nested(typing, cursor, root, rest);
            if let Some(CursorStep::Element) = rest.last() {
                items.extend(values::items(typing, cursor, root, rest));
                let snapshot = typing.analysis.snapshot;
                let is_class = |item: &Item| is_class(snapshot, &class(&item.label));
                // If the list contains other strings, they are no classes.
                if items.is_empty() || items.iter().any(is_class) {
                    items.extend(parameters::classes(typing, &cursor.typed));
                }
            }
            items
        }
        (Slot::Value, Some((CursorStep::Key(root), rest))) => {
            values::items(typing, cursor, root, rest)
        }
        (Slot::Key | Slot::Value, Some((CursorStep::Element, _)) | None) => Vec::new(),
    }
}

/// The items that match the typed part, the best first.
fn answer(typed: &str, replace: TextRange, items: Vec<Item>) -> Completion {
    let ranked = items.into_iter();
    let ranked = ranked.filter_map(|item| Some((fit(&item.label, typed)?, item)));
    let mut ranked: Vec<(Fit, Item)> = ranked.collect();
    ranked.sort_by_key(|(fit, _)| *fit);
    // Matching letters are only used if there is nothing better.
    if ranked.first().is_some_and(|(fit, _)| *fit < Fit::Letters) {
        ranked.retain(|(fit, _)| *fit < Fit::Letters);
    }
    let is_incomplete = ranked.len() > MAX_ITEMS;
    ranked.truncate(MAX_ITEMS);
    Completion {
        items: ranked.into_iter().map(|(_, item)| item).collect(),
        replace,
        is_incomplete,
    }
}

/// How well a name matches the typed part, the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Fit {
    /// The name starts with it.
    Start,
    /// The name contains it.
    Part,
    /// The name contains its letters, in order.
    Letters,
}

/// Matches a name, ignoring case in ASCII. O(length of the name).
pub(super) fn fit(name: &str, typed: &str) -> Option<Fit> {
    let (name, typed) = (name.as_bytes(), typed.as_bytes());
    let starts = |at: usize| {
        let part = name.get(at..at + typed.len());
        part.is_some_and(|part| part.eq_ignore_ascii_case(typed))
    };
    if starts(0) {
        return Some(Fit::Start);
    }
    let mut letters = name.iter();
    let in_order = |wanted: &u8| letters.any(|letter| letter.eq_ignore_ascii_case(wanted));
    if !typed.iter().all(in_order) {
        return None;
    }
    let is_part = (1..name.len()).any(starts);
    Some(if is_part { Fit::Part } else { Fit::Letters })
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod token_tests;
