//! The line-by-line difference of two texts, as `diff -u` prints it or as edits.

use super::{TextEdit, TextRange};

/// Number of context lines around a change.
const CONTEXT: usize = 3;

/// Maximum number of lines that are compared one by one, on either side between the first and the
/// last difference; longer stretches count as changed completely.
const MOST_LINES: usize = 2_000;

/// The hunks of a unified diff, without the file names.
#[must_use]
pub fn unified_diff(before: &str, after: &str) -> String {
    unified_diff_shown([before, after], [before, after])
}

/// The same, printing other texts with the same number of lines.
#[must_use]
pub fn unified_diff_shown(texts: [&str; 2], shown: [&str; 2]) -> String {
    let hunks = hunks_shown(texts, shown).into_iter();
    let texts = hunks.map(|hunk| format!("@@ -{} +{} @@\n{}", hunk.old, hunk.new, hunk.lines));
    texts.collect()
}

/// The edits that turn one text into another, in order: for each differing line, or for several if
/// their number differs, without their common prefix and suffix.
#[must_use]
pub fn edits_between(before: &str, after: &str) -> Vec<TextEdit> {
    let lines = |text| str::split_inclusive(text, '\n').collect::<Vec<&str>>();
    let (old, new) = (lines(before), lines(after));
    let mut edits = Vec::new();
    let (mut start, mut line) = (0, 0);
    for ChangedLines { old: from, new: to } in changes(&old, &new) {
        start += length(&old[line..from.0]);
        let (gone, come) = (&old[from.0..from.1], &new[to.0..to.1]);
        if gone.len() == come.len() {
            for (gone, come) in gone.iter().zip(come) {
                edits.push(edit_at(start, gone, come));
                start += gone.len();
            }
        } else {
            edits.push(edit_at(start, &gone.concat(), &come.concat()));
            start += length(gone);
        }
        line = from.1;
    }
    edits
}

fn length(lines: &[&str]) -> usize {
    lines.iter().map(|line| line.len()).sum()
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
    /// The old text's line range, in the format of the header.
    old: String,
    /// The new text's line range.
    new: String,
}

/// The hunks of a unified diff.
#[must_use]
pub fn hunks(before: &str, after: &str) -> Vec<Hunk> {
    hunks_shown([before, after], [before, after])
}

fn hunks_shown(texts: [&str; 2], shown: [&str; 2]) -> Vec<Hunk> {
    let lines = |text| str::split_inclusive(text, '\n').collect::<Vec<&str>>();
    let ([old, new], [before, after]) = (texts.map(lines), shown.map(lines));
    debug_assert_eq!((old.len(), new.len()), (before.len(), after.len()));
    let changes = changes(&old, &new);
    let (old, new) = (before, after);
    let mut hunks = Vec::new();
    let mut at = 0;
    while at < changes.len() {
        // Changes whose contexts touch share a hunk.
        let mut last = at;
        while last + 1 < changes.len()
            && changes[last + 1].old.0 - changes[last].old.1 <= 2 * CONTEXT
        {
            last += 1;
        }
        hunks.extend(hunk(&old, &new, &changes[at..=last]));
        at = last + 1;
    }
    hunks
}

/// Removed and added lines, as half-open ranges.
struct ChangedLines {
    old: (usize, usize),
    new: (usize, usize),
}

fn hunk(old: &[&str], new: &[&str], changes: &[ChangedLines]) -> Option<Hunk> {
    let (first, last) = (changes.first()?, changes.last()?);
    let before = first.old.0.min(CONTEXT);
    let behind = (old.len() - last.old.1).min(CONTEXT);
    let (old_start, old_end) = (first.old.0 - before, last.old.1 + behind);
    let (new_start, new_end) = (first.new.0 - before, last.new.1 + behind);
    let range = |start: usize, end: usize| match end - start {
        // An empty range is named by the line before it.
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        count => format!("{},{count}", start + 1),
    };
    let mut text = String::new();
    let mut at = old_start;
    for change in changes {
        lines(' ', &old[at..change.old.0], &mut text);
        lines('-', &old[change.old.0..change.old.1], &mut text);
        lines('+', &new[change.new.0..change.new.1], &mut text);
        at = change.old.1;
    }
    lines(' ', &old[at..old_end], &mut text);
    Some(Hunk {
        start: old_start,
        lines: text,
        old: range(old_start, old_end),
        new: range(new_start, new_end),
    })
}

fn lines(sign: char, lines: &[&str], text: &mut String) {
    for line in lines {
        text.push(sign);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// The differing stretches, by the longest common subsequence of lines.
fn changes(old: &[&str], new: &[&str]) -> Vec<ChangedLines> {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - start;
    let backwards = old.iter().rev().zip(new.iter().rev());
    let end = backwards.take(most).take_while(|(a, b)| a == b).count();
    let (old_part, new_part) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    if old_part.is_empty() && new_part.is_empty() {
        return Vec::new();
    }
    if old_part.len().max(new_part.len()) > MOST_LINES {
        return vec![ChangedLines {
            old: (start, start + old_part.len()),
            new: (start, start + new_part.len()),
        }];
    }
    let width = new_part.len() + 1;
    let mut longest = vec![0u16; (old_part.len() + 1) * width];
    for i in (0..old_part.len()).rev() {
        for j in (0..new_part.len()).rev() {
            longest[i * width + j] = match old_part[i] == new_part[j] {
                true => longest[(i + 1) * width + j + 1] + 1,
                false => longest[(i + 1) * width + j].max(longest[i * width + j + 1]),
            };
        }
    }
    let mut changes: Vec<ChangedLines> = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < old_part.len() || j < new_part.len() {
        if i < old_part.len() && j < new_part.len() && old_part[i] == new_part[j] {
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let removes = j == new_part.len()
            || (i < old_part.len() && longest[(i + 1) * width + j] >= longest[i * width + j + 1]);
        let (from, to) = match removes {
            true => ((start + i, start + j), (start + i + 1, start + j)),
            false => ((start + i, start + j), (start + i, start + j + 1)),
        };
        (i, j) = (to.0 - start, to.1 - start);
        match changes.last_mut() {
            Some(last) if last.old.1 == from.0 && last.new.1 == from.1 => {
                (last.old.1, last.new.1) = to;
            }
            Some(_) | None => changes.push(ChangedLines {
                old: (from.0, to.0),
                new: (from.1, to.1),
            }),
        }
    }
    changes
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
