//! The open documents of the editor: texts, versions, incremental edits.
//!
//! A text is shared with the model until its first edit; then it becomes a rope, in which an edit
//! costs the logarithm of the text. The set is persistent: a clone costs a reference count, so that
//! a request can keep the documents as of its place in the stream.

use std::sync::Arc;

use ropey::{Rope, RopeSlice};

use crate::text::{Position, PositionEncoding};
use crate::workspace::Change;

#[derive(Clone, Debug)]
pub(crate) struct OpenDocument {
    /// The URI in the client's own spelling, which answers have to repeat.
    pub(crate) uri: Arc<str>,
    /// The client's version number; increases with every change.
    pub(crate) version: i32,
    pub(crate) text: Text,
}

impl OpenDocument {
    /// The document's text as a change of the model.
    pub(crate) fn change(&self, path: Arc<str>) -> Change {
        Change::Open {
            path,
            text: self.text.whole(),
            version: self.version,
        }
    }
}

/// The text of a document; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) enum Text {
    /// As received from the client.
    Whole(Arc<str>),
    Edited(Rope),
}

impl Text {
    /// The text in one piece: O(bytes) once it is edited, else shared.
    pub(crate) fn whole(&self) -> Arc<str> {
        match self {
            Text::Whole(text) => text.clone(),
            Text::Edited(rope) => rope.to_string().into(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Text::Whole(text) => text.len(),
            Text::Edited(rope) => rope.len_bytes(),
        }
    }
}

/// A change in the protocol's form: a range and its new text, or a whole new text.
#[derive(Clone, Debug)]
pub(crate) struct TextChange {
    /// From and to, counted in the negotiated encoding; `None` for the whole document.
    pub(crate) range: Option<(Position, Position)>,
    pub(crate) text: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Misfit {
    /// The document is not open, so its ranges have no meaning.
    NotOpen,
    /// The version in the change is not newer than the known text's: a message was lost or
    /// repeated.
    OldVersion { have: i32, got: i32 },
}

impl std::fmt::Display for Misfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Misfit::NotOpen => f.write_str("the file is not open"),
            Misfit::OldVersion { have, got } => {
                write!(f, "version {got} came after version {have}")
            }
        }
    }
}

/// All open documents by absolute path. A clone is cheap, and later edits do not change it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Documents {
    open: imbl::OrdMap<Arc<str>, Arc<OpenDocument>>,
}

impl Documents {
    /// Opens a document, or replaces one that was already open.
    pub(crate) fn open(&mut self, path: Arc<str>, document: OpenDocument) {
        self.open.insert(path, Arc::new(document));
    }

    /// Closes a document; false if it was not open.
    pub(crate) fn close(&mut self, path: &str) -> bool {
        self.open.remove(path).is_some()
    }

    pub(crate) fn get(&self, path: &str) -> Option<&Arc<OpenDocument>> {
        self.open.get(path)
    }

    /// The paths of all open documents, sorted.
    pub(crate) fn paths(&self) -> Vec<Arc<str>> {
        self.open.keys().cloned().collect()
    }

    /// Applies the edits of one change in sequence. Positions outside the text are clamped, a
    /// reversed range is swapped; without a version, the next one is assumed.
    ///
    /// # Errors
    /// The change is refused; the documents are unchanged. A change that starts with a whole new
    /// text is always accepted.
    pub(crate) fn change(
        &mut self,
        path: &str,
        version: Option<i32>,
        edits: &[TextChange],
        encoding: PositionEncoding,
    ) -> Result<Arc<OpenDocument>, Misfit> {
        let self_contained = edits.first().is_some_and(|edit| edit.range.is_none());
        let document = self.open.get(path).ok_or(Misfit::NotOpen)?;
        let have = document.version;
        let got = version.unwrap_or_else(|| have.saturating_add(1));
        if got <= have && !self_contained {
            return Err(Misfit::OldVersion { have, got });
        }
        let mut changed = OpenDocument::clone(document);
        changed.version = got;
        for edit in edits {
            apply(&mut changed.text, edit, encoding);
        }
        let changed = Arc::new(changed);
        self.open.insert(Arc::from(path), changed.clone());
        Ok(changed)
    }
}

fn apply(text: &mut Text, edit: &TextChange, encoding: PositionEncoding) {
    let Some((from, to)) = edit.range else {
        *text = Text::Whole(edit.text.as_str().into());
        return;
    };
    let mut rope = match text {
        Text::Whole(whole) => Rope::from_str(whole),
        Text::Edited(rope) => std::mem::take(rope),
    };
    let (from, to) = (from.min(to), from.max(to));
    let start = char_index(&rope, from, encoding);
    let end = char_index(&rope, to, encoding);
    rope.remove(start..end);
    rope.insert(start, &edit.text);
    *text = Text::Edited(rope);
}

/// The character index of a position: a position after the last line gives the text's end, one
/// after a line that line's end, and one within a character the character's start.
fn char_index(text: &Rope, position: Position, encoding: PositionEncoding) -> usize {
    let line = position.line as usize;
    if line >= text.len_lines() {
        return text.len_chars();
    }
    let start = text.line_to_char(line);
    let content = without_line_break(text.line(line));
    let wanted = position.character as usize;
    let column = match encoding {
        PositionEncoding::Utf8 => content.byte_to_char(wanted.min(content.len_bytes())),
        PositionEncoding::Utf16 => content.utf16_cu_to_char(wanted.min(content.len_utf16_cu())),
        PositionEncoding::Utf32 => wanted.min(content.len_chars()),
    };
    start + column
}

fn without_line_break(line: RopeSlice<'_>) -> RopeSlice<'_> {
    let mut end = line.len_chars();
    if end > 0 && line.char(end - 1) == '\n' {
        end -= 1;
    }
    if end > 0 && line.char(end - 1) == '\r' {
        end -= 1;
    }
    line.slice(..end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::LineIndex;
    use proptest::prelude::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    fn open(text: &str) -> Documents {
        let mut documents = Documents::default();
        documents.open("/f".into(), document(text));
        documents
    }

    fn document(text: &str) -> OpenDocument {
        OpenDocument {
            uri: "file:///f".into(),
            version: 1,
            text: Text::Whole(text.into()),
        }
    }

    fn edit(from: Position, to: Position, text: &str) -> TextChange {
        TextChange {
            range: Some((from, to)),
            text: text.to_owned(),
        }
    }

    fn edited(text: &str, edits: &[TextChange]) -> String {
        let mut documents = open(text);
        let document = documents.change("/f", Some(2), edits, PositionEncoding::Utf16);
        document.unwrap().text.whole().to_string()
    }

    #[test]
    fn edits_of_one_change_follow_each_other() {
        let edits = [
            edit(at(0, 1), at(0, 1), "b\nc"),
            edit(at(1, 1), at(1, 1), "d"),
        ];
        assert_eq!(edited("a", &edits), "ab\ncd");
    }

    #[test]
    fn places_outside_are_clamped_and_ranges_turned_round() {
        let end = at(u32::MAX, u32::MAX);
        assert_eq!(edited("a\nb", &[edit(end, end, "c")]), "a\nbc");
        let behind = edit(at(0, 99), at(0, 99), "!");
        assert_eq!(edited("a\r\nb", &[behind]), "a!\r\nb");
        assert_eq!(edited("abc", &[edit(at(0, 2), at(0, 1), "")]), "ac");
    }

    #[test]
    fn a_surrogate_pair_is_never_split() {
        let edits = [edit(at(0, 2), at(0, 2), "x")];
        assert_eq!(edited("a😀b", &edits), "ax😀b");
        let edits = [edit(at(0, 1), at(0, 3), "x")];
        assert_eq!(edited("a😀b", &edits), "axb");
    }

    #[test]
    fn only_line_breaks_of_the_protocol_are_counted() {
        let edits = [edit(at(1, 0), at(1, 0), "!")];
        assert_eq!(
            edited("a\u{2028}b\u{85}c\u{b}\nd", &edits),
            "a\u{2028}b\u{85}c\u{b}\n!d"
        );
        assert_eq!(edited("a\rb", &edits), "a\r!b");
    }

    #[test]
    fn versions_must_grow_unless_the_text_is_new() {
        let mut documents = open("a");
        let insert = [edit(at(0, 0), at(0, 0), "x")];
        let utf16 = PositionEncoding::Utf16;
        assert_eq!(
            documents.change("/f", Some(1), &insert, utf16).unwrap_err(),
            Misfit::OldVersion { have: 1, got: 1 }
        );
        assert_eq!(&*documents.get("/f").unwrap().text.whole(), "a");
        assert!(documents.change("/f", None, &insert, utf16).is_ok());
        assert_eq!(documents.get("/f").unwrap().version, 2);
        let whole = [TextChange {
            range: None,
            text: "new".to_owned(),
        }];
        assert!(documents.change("/f", Some(1), &whole, utf16).is_ok());
        assert_eq!(
            documents.change("/g", Some(1), &whole, utf16).unwrap_err(),
            Misfit::NotOpen
        );
    }

    proptest! {
        #[test]
        fn rope_and_line_index_agree(
            text in "[aé😀\u{2028}\n\r]{0,30}", line in 0u32..10, character in 0u32..12,
        ) {
            let rope = Rope::from_str(&text);
            let index = LineIndex::new(&text);
            for encoding in [
                PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32,
            ] {
                let place = at(line, character);
                let offset = rope.char_to_byte(char_index(&rope, place, encoding));
                prop_assert_eq!(offset, index.offset(place, encoding));
            }
        }
    }
}
