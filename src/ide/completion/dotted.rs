//! The half-typed segment of a dotted key in a lookup; names with dots need quotes.

use std::sync::Arc;

use super::keys::names;
use super::{Completion, Item, ItemKind, TypingPlace, answer, token};
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
    pub(super) fn rest(&self, typing: &TypingPlace<'_>) -> usize {
        let behind = typing.behind();
        let rest = behind.trim_start_matches(token::is_part);
        let end = behind.len() - rest.len();
        let is_closed = self.typed.starts_with(self.quote) && rest.starts_with(self.mark);
        end + if is_closed { self.mark.len() } else { 0 }
    }

    /// The items for the segment: keys of data, or keys below the key before the dot.
    pub(super) fn items(&self, typing: &TypingPlace<'_>) -> Vec<Item> {
        let items: Vec<Option<Item>> = match &self.above {
            Some(above) => {
                let found = token::sub_keys(typing, above).into_iter();
                found.map(|name| self.item(&name, None)).collect()
            }
            None => {
                let typed = self.typed.trim_start_matches(self.quote);
                let found = names(typing, typed, &|_| false).into_iter();
                let about = |name: &Arc<str>| Some(Described::Key(name.clone()));
                found.map(|name| self.item(&name, about(&name))).collect()
            }
        };
        items.into_iter().flatten().collect()
    }

    /// An item, in quotes if its name needs them or one is typed; `None` if quotes do not help.
    fn item(&self, name: &str, about: Option<Described>) -> Option<Item> {
        let mut item = Item {
            about,
            ..Item::new(name, ItemKind::Key)
        };
        if crate::analysis::quoted(name) != name || self.typed.starts_with(self.quote) {
            if name.contains(['\'', '"', '\\']) {
                return None;
            }
            let (quote, mark) = (self.quote, self.mark);
            item.label = format!("{quote}{name}{quote}");
            item.insert = format!("{mark}{name}{mark}");
        }
        Some(item)
    }

    /// The answer that replaces the segment by an item.
    pub(super) fn answer(&self, typing: &TypingPlace<'_>, items: Vec<Item>) -> Completion {
        let start = typing.offset.saturating_sub(self.written.len());
        let replace = TextRange::new(start, typing.offset + self.rest(typing));
        answer(&self.typed, replace, items)
    }
}
