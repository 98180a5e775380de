//! Replaces parts of one text. It must not know files or their versions.

use super::TextRange;

/// One replacement: the bytes of `range` become `new_text`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextEdit {
    /// The replaced range.
    pub range: TextRange,
    /// The replacement.
    pub new_text: String,
}

impl TextEdit {
    /// Replaces a range by `new_text`.
    #[must_use]
    pub fn replace(range: TextRange, new_text: impl Into<String>) -> TextEdit {
        TextEdit {
            range,
            new_text: new_text.into(),
        }
    }

    /// Inserts `new_text` before the byte at `offset`.
    #[must_use]
    pub fn insert(offset: usize, new_text: impl Into<String>) -> TextEdit {
        TextEdit::replace(TextRange::empty(offset), new_text)
    }

    /// Deletes a range.
    #[must_use]
    pub fn delete(range: TextRange) -> TextEdit {
        TextEdit::replace(range, "")
    }

    /// The text after all edits, whose ranges refer to the text before. `None` if two edits overlap
    /// or one does not fit the text.
    #[must_use]
    pub fn apply(edits: &[TextEdit], text: &str) -> Option<String> {
        let mut ordered: Vec<&TextEdit> = edits.iter().collect();
        ordered.sort_by_key(|edit| edit.range);
        let mut edited = String::with_capacity(text.len());
        let mut end = 0;
        for edit in ordered {
            edited.push_str(text.get(end..edit.range.start as usize)?);
            edited.push_str(&edit.new_text);
            end = edit.range.end as usize;
        }
        edited.push_str(text.get(end..)?);
        Some(edited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_apply_together() {
        let edits = [
            TextEdit::delete(TextRange::new(4, 5)),
            TextEdit::replace(TextRange::new(0, 1), "b"),
            TextEdit::insert(3, "["),
        ];
        assert_eq!(TextEdit::apply(&edits, "a: xy"), Some("b: [x".to_owned()));
    }

    #[test]
    fn edits_that_overlap_or_do_not_fit_give_nothing() {
        let twice = [
            TextEdit::delete(TextRange::new(0, 3)),
            TextEdit::delete(TextRange::new(2, 4)),
        ];
        assert_eq!(TextEdit::apply(&twice, "abcdef"), None);
        let inside_a_letter = [TextEdit::insert(1, "x")];
        assert_eq!(TextEdit::apply(&inside_a_letter, "é"), None);
        let behind = [TextEdit::delete(TextRange::new(1, 9))];
        assert_eq!(TextEdit::apply(&behind, "a"), None);
    }
}
