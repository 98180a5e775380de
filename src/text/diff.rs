//! The line-by-line difference of two texts, as `diff -u` prints it or as edits.

use similar::udiff::UnifiedHunkHeader;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

use super::{TextEdit, TextRange};

/// Number of context lines around a change.
const CONTEXT: usize = 3;

/// The hunks of a unified diff, without the file names.
#[must_use]
pub fn unified_diff(before: &str, after: &str) -> String {
    unified_diff_shown([before, after], [before, after])
}

/// The same, printing other texts with the same number of lines.
#[must_use]
pub fn unified_diff_shown(texts: [&str; 2], shown: [&str; 2]) -> String {
    let hunks = hunks_shown(texts, shown).into_iter();
    let texts = hunks.map(|hunk| format!("{}\n{}", hunk.header, hunk.lines));
    texts.collect()
}

/// The edits that turn one text into another, in order: for each differing line, or for several if
/// their number differs, without their common prefix and suffix.
#[must_use]
pub fn edits_between(before: &str, after: &str) -> Vec<TextEdit> {
    let (old, new) = (lines(before), lines(after));
    let mut edits = Vec::new();
    let mut start = 0;
    for operation in operations(&old, &new) {
        let (gone, come) = (&old[operation.old_range()], &new[operation.new_range()]);
        if gone.len() != come.len() {
            edits.push(edit_at(start, &gone.concat(), &come.concat()));
            start += gone.iter().map(|line| line.len()).sum::<usize>();
            continue;
        }
        for (gone, come) in gone.iter().zip(come) {
            if gone != come {
                edits.push(edit_at(start, gone, come));
            }
            start += gone.len();
        }
    }
    edits
}

/// Replaces the differing part of a text at an offset.
fn edit_at(start: usize, old: &str, new: &str) -> TextEdit {
    let same = |pairs: &mut dyn Iterator<Item = (char, char)>| {
        let same = pairs.take_while(|(old, new)| old == new);
        same.map(|(old, _)| old.len_utf8()).sum::<usize>()
    };
    let front = same(&mut old.chars().zip(new.chars()));
    let (old, new) = (&old[front..], &new[front..]);
    let back = same(&mut old.chars().rev().zip(new.chars().rev()));
    let range = TextRange::new(start + front, start + front + old.len() - back);
    TextEdit::replace(range, &new[..new.len() - back])
}

/// Changed lines with context.
pub struct Hunk {
    /// The number of the first line in the old text, from 0.
    pub start: usize,
    /// The lines, each after its sign.
    pub lines: String,
    /// The line with the ranges of both texts: `@@ -1,7 +1,7 @@`.
    header: String,
}

/// The hunks of a unified diff.
#[must_use]
pub fn hunks(before: &str, after: &str) -> Vec<Hunk> {
    hunks_shown([before, after], [before, after])
}

fn hunks_shown(texts: [&str; 2], shown: [&str; 2]) -> Vec<Hunk> {
    let ([old, new], [before, after]) = (texts.map(lines), shown.map(lines));
    debug_assert_eq!((old.len(), new.len()), (before.len(), after.len()));
    let groups = group_diff_ops(operations(&old, &new), CONTEXT);
    let hunk = |operations: &Vec<DiffOp>| {
        let mut text = String::new();
        for operation in operations {
            let (gone, come) = (
                &before[operation.old_range()],
                &after[operation.new_range()],
            );
            if operation.tag() == DiffTag::Equal {
                add_lines(' ', gone, &mut text);
            } else {
                add_lines('-', gone, &mut text);
                add_lines('+', come, &mut text);
            }
        }
        Hunk {
            start: operations[0].old_range().start,
            lines: text,
            header: UnifiedHunkHeader::new(operations).to_string(),
        }
    };
    groups.iter().map(hunk).collect()
}

fn add_lines(sign: char, lines: &[&str], text: &mut String) {
    for line in lines {
        text.push(sign);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// The equal and the differing stretches of lines, in order.
fn operations(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    capture_diff_slices(Algorithm::Myers, old, new)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{edits_between, unified_diff};
    use crate::text::TextEdit;

    proptest! {
        #[test]
        fn edits_make_one_text_of_another(before in "[ab\n\u{e9}]{0,12}", after in "[ab\n\u{e9}]{0,12}") {
            let edits = edits_between(&before, &after);
            prop_assert_eq!(TextEdit::apply(&edits, &before), Some(after));
        }
    }

    #[test]
    fn lines_that_change_are_edits_of_their_own() {
        let edits = edits_between("a: yes\nb: no\nc: 1\n", "a: true\nb: false\nc: 1\n");
        assert_eq!(edits.len(), 2);
        assert_eq!(&*edits[1].new_text, "false");
    }

    #[test]
    fn hunks_have_three_lines_around_them() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n";
        let after = "a\nb\nC\nd\ne\nf\ng\nh\ni\nj\nl\nm";
        assert_eq!(
            unified_diff(before, after),
            "@@ -1,6 +1,6 @@\n a\n b\n-c\n+C\n d\n e\n f\n\
             @@ -8,5 +8,5 @@\n h\n i\n j\n-k\n l\n+m\n\\ No newline at end of file\n"
        );
        assert_eq!(unified_diff(before, before), "");
        assert_eq!(unified_diff("", "a\n"), "@@ -0,0 +1 @@\n+a\n");
        assert_eq!(unified_diff("a\r\n", "b\r\n"), "@@ -1 +1 @@\n-a\r\n+b\r\n");
    }
}
