//! Standard output and standard error for people: colours, width, progress, and one form for all
//! messages. It must not know what the commands print.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use clap::ValueEnum;

use super::console::{self, ConsoleOutput, print_message};
use crate::disk;
use crate::text::cut;
use crate::workspace::path;

/// Whether texts are coloured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The choice of the command line.
static COLOR: OnceLock<Color> = OnceLock::new();

/// Sets the colours of this process; only the first call has an effect.
pub(super) fn choose_color(color: Color) {
    let _ = COLOR.set(color);
}

/// Whether standard output is coloured.
pub(super) fn is_coloured() -> bool {
    is_wanted(console::is_output_seen())
}

#[allow(clippy::disallowed_methods, reason = "cli/ reads the environment")]
fn is_wanted(is_terminal: bool) -> bool {
    let is_refused = || std::env::var("NO_COLOR").is_ok_and(|value| !value.is_empty());
    match COLOR.get().copied().unwrap_or_default() {
        Color::Always => console::call().is_none(),
        Color::Never => false,
        Color::Auto => is_terminal && !is_refused(),
    }
}

/// Width of the terminal of standard output; `None` for a file or a pipe.
pub(super) fn width() -> Option<usize> {
    columns(terminal_size::terminal_size_of(std::io::stdout()))
}

fn columns(size: Option<(terminal_size::Width, terminal_size::Height)>) -> Option<usize> {
    let (width, _) = size?;
    Some(usize::from(width.0)).filter(|width| *width > 0)
}

/// How texts for people are laid out.
#[derive(Clone, Copy, Default)]
pub(super) struct Layout {
    pub(super) is_coloured: bool,
    /// Columns; `None` if lines may have any length.
    pub(super) width: Option<usize>,
}

impl Layout {
    /// The layout for standard output.
    pub(super) fn of_output() -> Layout {
        Layout {
            is_coloured: is_coloured(),
            width: width(),
        }
    }

    /// The layout for standard error.
    fn of_messages() -> Layout {
        Layout {
            is_coloured: is_wanted(console::are_messages_seen()),
            width: columns(terminal_size::terminal_size_of(std::io::stderr()))
                .filter(|_| console::are_messages_seen()),
        }
    }

    /// A word in a colour.
    pub(super) fn word(self, paint: Paint, word: &str) -> String {
        match (self.is_coloured, paint.code()) {
            (true, Some(code)) if !word.is_empty() => format!("\x1b[{code}m{word}\x1b[0m"),
            (_, _) => word.to_owned(),
        }
    }

    /// A page of Markdown: titles and examples are coloured, sentences are wrapped.
    pub(super) fn page(self, page: &str) -> String {
        let mut is_example = false;
        let lines = page.lines().map(|line| {
            let is_fence = line.starts_with("```");
            is_example ^= is_fence;
            match line {
                _ if is_example || is_fence => self.whole_line(Paint::Aside, line),
                _ if line.starts_with('#') => self.whole_line(Paint::Title, line),
                // A wrapped row would break the table.
                _ if line.starts_with('|') => self.whole_line(Paint::Plain, line),
                _ => {
                    let text = line.trim_start();
                    let item = if text.starts_with("- ") { 2 } else { 0 };
                    let indent = line.len() - text.len() + item;
                    let width = self.width.unwrap_or(usize::MAX);
                    hanging(line, width, indent) + "\n"
                }
            }
        });
        lines.collect()
    }

    /// A unified diff.
    pub(super) fn diff(self, diff: &str) -> String {
        let lines = diff.split_terminator('\n').map(|line| {
            let paint = match line.bytes().next() {
                Some(b'-') => Paint::Old,
                Some(b'+') => Paint::New,
                Some(b'@') => Paint::Aside,
                Some(_) | None => Paint::Plain,
            };
            self.whole_line(paint, line)
        });
        lines.collect()
    }

    /// Lines, each wrapped.
    fn text(self, text: &str) -> String {
        let lines = text.lines().map(|line| {
            let indent = line.len() - line.trim_start().len();
            self.paragraph(Paint::Plain, line, indent + 4)
        });
        lines.collect()
    }

    /// A line in a colour, cut to the width.
    pub(super) fn line(self, paint: Paint, line: &str) -> String {
        let line = line.trim_end();
        match self.width {
            Some(width) => self.whole_line(paint, &cut(line, width)),
            None => self.whole_line(paint, line),
        }
    }

    /// A line in a colour followed by `behind`; `behind` goes on lines of its own if both together
    /// are wider than the terminal.
    pub(super) fn line_with(self, paint: Paint, line: &str, behind: &str) -> String {
        let together = format!("{line}  {behind}");
        match self.width {
            Some(width) if !behind.is_empty() && together.chars().count() > width => {
                let indented = format!("      {behind}");
                let below = hanging(&indented, width, 6);
                let below = below
                    .lines()
                    .map(|line| self.whole_line(Paint::Aside, line));
                self.line(paint, line) + &below.collect::<String>()
            }
            _ => self.line(paint, &together),
        }
    }

    /// A line in a colour, wrapped; all lines but the first are indented.
    pub(super) fn paragraph(self, paint: Paint, line: &str, indent: usize) -> String {
        let line = hanging(line, self.width.unwrap_or(usize::MAX), indent);
        let lines = line.lines().map(|line| self.whole_line(paint, line));
        lines.collect()
    }

    /// A line in a colour, unchanged down to the last blank: programs read it too.
    pub(super) fn whole_line(self, paint: Paint, line: &str) -> String {
        self.word(paint, line) + "\n"
    }
}

/// The kind of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Paint {
    Title,
    /// The old text.
    Old,
    /// The new text.
    New,
    /// Additional information.
    Aside,
    /// An error.
    Complaint,
    /// A warning.
    Doubt,
    Plain,
}

impl Paint {
    /// The parameters of the control sequence "select graphic rendition".
    fn code(self) -> Option<&'static str> {
        match self {
            Paint::Title => Some("1"),
            Paint::Old => Some("31"),
            Paint::New => Some("32"),
            Paint::Aside => Some("2"),
            Paint::Complaint => Some("1;31"),
            Paint::Doubt => Some("33"),
            Paint::Plain => None,
        }
    }
}

/// A paragraph wrapped at blanks; all lines but the first are indented. A word longer than the
/// width stays whole.
pub(super) fn hanging(line: &str, width: usize, indent: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    for word in line.split_inclusive(' ') {
        let wide = word.trim_end().chars().count();
        if used > indent && used + wide > width {
            out.truncate(out.trim_end().len());
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            used = indent;
        }
        out.push_str(word);
        used += word.chars().count();
    }
    out
}

/// Prints an error on standard error.
pub(super) fn complain(message: &str) {
    /// The prefix of all such messages.
    const NAME: &str = "hiera-ls:";
    let layout = Layout::of_messages();
    let text = layout.text(&format!("{NAME} {message}"));
    let rest = text.strip_prefix(NAME).unwrap_or_default();
    let name = layout.word(Paint::Complaint, NAME);
    print_message(&format!("{name}{rest}"));
}

/// Prints why a command failed, and returns its exit code.
pub(super) fn failed(message: &str) -> ExitCode {
    complain(message);
    ExitCode::FAILURE
}

/// Prints a remark about an answer on standard error, wrapped if that is a terminal.
pub(super) fn remark(message: &str) {
    print_message(&Layout::of_messages().text(message));
}

/// The exit code if the reader closes the output early.
static FOUND: AtomicU8 = AtomicU8::new(0);

/// Records the exit code so far, for a reader that does not wait for the end.
pub(super) fn has_found(code: u8) {
    FOUND.store(code, Ordering::Relaxed);
}

/// Why standard output could not be written. If the reader closed it early, as `head` does, the
/// program ends silently.
pub(super) fn unwritten(error: &std::io::Error) -> String {
    if error.kind() == std::io::ErrorKind::BrokenPipe && console::call().is_none() {
        std::process::exit(FOUND.load(Ordering::Relaxed).into());
    }
    format!("standard output: {}", disk::failure(error))
}

/// Writes a text to standard output.
///
/// # Errors
/// See [`unwritten`].
pub(super) fn print(text: &str) -> Result<(), String> {
    let mut out = ConsoleOutput;
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| unwritten(&error))
}

/// A file as it can be passed to a command again: relative to the current folder if it lies below
/// it.
pub(super) fn shown(at: &str) -> &str {
    path::within(at, here())
        .filter(|rest| !rest.is_empty())
        .unwrap_or(at)
}

/// A message of Puppet's with paths relative to the current folder.
pub(super) fn with_shown_files(message: &str) -> String {
    match here() {
        "/" => message.to_owned(),
        here => message.replace(&format!("{here}/"), ""),
    }
}

/// The current folder.
fn here() -> &'static str {
    static HERE: OnceLock<String> = OnceLock::new();
    HERE.get_or_init(|| disk::absolute("."))
}

/// A progress line on standard error, if that is a terminal; it is removed at the end.
pub(super) struct ProgressLine {
    is_terminal: bool,
    is_shown: bool,
}

impl ProgressLine {
    pub(super) fn new() -> ProgressLine {
        ProgressLine {
            is_terminal: console::are_messages_seen(),
            is_shown: false,
        }
    }

    /// Replaces the shown text.
    pub(super) fn show(&mut self, text: &str) {
        if self.is_terminal {
            let _ = write!(std::io::stderr(), "\r{text}\x1b[K");
            self.is_shown = true;
        }
    }

    /// Shows from time to time how many of many things are done.
    pub(super) fn count(&mut self, done: usize, total: usize, things: &str) {
        if total > 50 && done.is_multiple_of(20) {
            self.show(&format!("{done} of {total} {things}"));
        }
    }

    /// Removes the line.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_before_they_are_coloured() {
        let layout = |is_coloured, width| Layout { is_coloured, width };
        assert_eq!(layout(false, None).line(Paint::Old, "a b  "), "a b\n");
        assert_eq!(layout(false, Some(3)).line(Paint::Old, "äbcd"), "äb…\n");
        let old = layout(true, Some(3)).line(Paint::Old, "abcd");
        assert_eq!(old, "\x1b[31mab…\x1b[0m\n");
        assert_eq!(layout(true, None).line(Paint::Plain, "a"), "a\n");
    }

    #[test]
    fn text_that_does_not_fit_on_a_line_is_written_below_it() {
        let layout = |width| Layout {
            is_coloured: false,
            width,
        };
        let line = |width, behind| layout(width).line_with(Paint::Plain, "  ab  ", behind);
        assert_eq!(line(None, "d/x.yaml:1"), "  ab    d/x.yaml:1\n");
        assert_eq!(line(Some(20), ""), "  ab\n");
        assert_eq!(line(Some(18), "d/x.yaml:1"), "  ab    d/x.yaml:1\n");
        let below = "  ab\n      d/x.yaml:1\n      d/y.yaml:1\n";
        assert_eq!(line(Some(17), "d/x.yaml:1 d/y.yaml:1"), below);
    }

    #[test]
    fn titles_and_examples_of_a_page_are_highlighted() {
        let page = "# t\n\n- one two three\n  four five six\n\n```yaml\n# one two three\n```\n| a b c d e f g |\n";
        assert_eq!(Layout::default().page(page), page);
        let layout = Layout {
            is_coloured: true,
            width: Some(10),
        };
        let expected = "\x1b[1m# t\x1b[0m\n\n- one two\n  three\n  four\n  five six\n\n\
                        \x1b[2m```yaml\x1b[0m\n\x1b[2m# one two three\x1b[0m\n\x1b[2m```\x1b[0m\n| a b c d e f g |\n";
        assert_eq!(layout.page(page), expected);
    }

    #[test]
    fn paragraphs_are_broken_at_blanks() {
        assert_eq!(hanging("one two three", 40, 4), "one two three");
        let lines = "one two\n    three\n    four";
        assert_eq!(hanging("one two three four", 10, 4), lines);
        let lines = "a-very-long-word\n    b";
        assert_eq!(hanging("a-very-long-word b", 6, 4), lines);
    }
}
