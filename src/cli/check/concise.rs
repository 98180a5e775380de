//! `--format concise`: one line per finding, for problem matchers and `grep`.

use std::io::{self, Write};

use super::record::{Record, by_severity};
use crate::cli::terminal::{Layout, Paint};

/// Prints `path:line:column: severity[code] message` for each record.
pub(super) fn write(records: &[Record], out: &mut dyn Write) -> io::Result<()> {
    let layout = Layout::of_output();
    records.iter().try_for_each(|record| {
        let at = layout.word(Paint::Title, &one_line(&record.position()));
        let (code, message) = (record.code, one_line(&record.message));
        let paint = by_severity(record.level, [Paint::Complaint, Paint::Doubt, Paint::Aside]);
        let severity = layout.word(paint, &format!("{}[{code}]", record.severity));
        writeln!(out, "{at}: {severity} {message}")
    })
}

/// A message without line breaks and terminal control characters.
pub(super) fn one_line(message: &str) -> String {
    visible(&message.replace(['\n', '\r'], " "))
}

/// A text with its control characters as escapes, such as `\u{1b}`; tabs and line breaks stay.
pub(super) fn visible(text: &str) -> String {
    let is_odd = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\r' | '\t');
    if !text.contains(is_odd) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_odd(letter) {
            shown.extend(letter.escape_unicode())
        } else {
            shown.push(letter)
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn a_line_holds_nothing_that_a_terminal_obeys() {
        assert_eq!(one_line("a\n\u{1b}[31mb\u{7}"), "a \\u{1b}[31mb\\u{7}");
    }
}
