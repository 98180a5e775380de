//! The half-typed segment of a dotted key in a lookup; names with dots need quotes.

use super::keys::names;
use super::{Completion, Item, ItemKind, Question, answer, token};
use crate::ide::hover::Described;
use crate::text::TextRange;

/// The last segment of a half-typed key.
pub(super) struct LastPart<'t> {
    /// The key before its dot.
    above: Option<String>,
    /// The typed part, as Puppet reads it.
    typed: String,
    /// The typed part in the file.
    written: &'t str,
    /// The quote for names with dots.
    quote: char,
    /// The quote with escapes, as in the file.
    mark: &'static str,
}

impl<'t> LastPart<'t> {
    /// The last segment of a half-typed argument; `call` is the quote around the argument, `text`
    /// the one around the whole string.
    pub(super) fn of(argument: &'t str, call: char, text: Option<char>) -> LastPart<'t> {
        let quote = if call == '"' { '\'' } else { '"' };
        let mark = match (quote, text == Some(quote)) {
            ('"', false) => "\"",
            ('"', true) => "\\\"",
            (_, false) => "'",
            (_, true) => "''",
        };
        let mut at = 0;
        let mut dot = None;
        let mut is_inside = false;
        while let Some(character) = argument[at..].chars().next() {
            if argument[at..].starts_with(mark) {
                is_inside = !is_inside;
                at += mark.len();
                continue;
            }
            if character == '.' && !is_inside {
                dot = Some(at);
            }
            at += character.len_utf8();
        }
        let read = |written: &str| written.replace(mark, quote.encode_utf8(&mut [0; 4]));
        let written = dot.map_or(argument, |dot| &argument[dot + 1..]);
        LastPart {
            above: dot.map(|dot| read(&argument[..dot])),
            typed: read(written),
            written,
            quote,
            mark,
        }
    }

    /// The length of the segment's rest after the cursor.
    pub(super) fn rest(&self, question: &Question<'_>) -> usize {
        let behind = question.file.text().get(question.offset..);
        let behind = behind.unwrap_or_default();
        let rest = behind.trim_start_matches(token::is_part);
        let end = behind.len() - rest.len();
        let is_closed = self.typed.starts_with(self.quote) && rest.starts_with(self.mark);
        end + if is_closed { self.mark.len() } else { 0 }
    }

    /// The items for the segment: keys of data, or keys below the key before the dot.
    pub(super) fn items(&self, question: &Question<'_>) -> Vec<Item> {
        let items = match &self.above {
            Some(above) => {
                let found = token::sub_keys(question, above).into_iter();
                let items = found.map(|name| (Item::new(&*name, ItemKind::Key), name));
                items.collect::<Vec<_>>()
            }
            None => {
                let found = names(question, self.typed.trim_start_matches(self.quote), &|_| {
                    false
                });
                let items = found.into_iter().map(|name| {
                    let item = Item {
                        about: Some(Described::Key(name.clone())),
                        ..Item::new(&*name, ItemKind::Key)
                    };
                    (item, name.to_string())
                });
                items.collect()
            }
        };
        let items = items.into_iter();
        items
            .filter_map(|(item, name)| self.quoted(item, &name))
            .collect()
    }

    /// An item in quotes, if its name needs them or one is typed; `None` if quotes do not help.
    fn quoted(&self, item: Item, name: &str) -> Option<Item> {
        let needs_quotes = crate::analysis::quoted(name) != name;
        if !needs_quotes && !self.typed.starts_with(self.quote) {
            return Some(item);
        }
        let (quote, mark) = (self.quote, self.mark);
        let is_possible = !name.contains(['\'', '"', '\\']);
        is_possible.then(|| Item {
            label: format!("{quote}{name}{quote}"),
            insert: format!("{mark}{name}{mark}"),
            ..item
        })
    }

    /// The answer that replaces the segment by an item.
    pub(super) fn answer(&self, question: &Question<'_>, items: Vec<Item>) -> Completion {
        let start = question.offset.saturating_sub(self.written.len());
        let replace = TextRange::new(start, question.offset + self.rest(question));
        answer(&self.typed, replace, items)
    }
}
