//! Tables that commands print: their forms, and how far a long one is.

use std::io::{IsTerminal as _, Write as _};

use clap::ValueEnum;

use super::terminal::{Progress, unwritten};

/// The forms of a table.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TableFormat {
    /// For people
    Text,
    /// One JSON object per line
    Json,
    /// Comma-separated values with a head line
    Csv,
    /// Markdown, as for a comment on a pull request
    Markdown,
}

/// One line of comma-separated values (RFC 4180).
pub(super) fn csv(fields: &[&str]) -> String {
    let quoted = fields.iter().map(|field| {
        if field.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            (*field).to_string()
        }
    });
    quoted.collect::<Vec<_>>().join(",") + "\n"
}

/// Rows on standard output, and how far a long run is on standard error, where that is a terminal.
pub(super) struct Rows {
    out: std::io::BufWriter<std::io::StdoutLock<'static>>,
    is_terminal: bool,
    progress: Progress,
}

impl Rows {
    pub(super) fn new() -> Rows {
        Rows {
            out: std::io::BufWriter::new(std::io::stdout().lock()),
            is_terminal: std::io::stdout().is_terminal(),
            progress: Progress::new(),
        }
    }

    /// Prints rows.
    pub(super) fn print(&mut self, text: &str) -> Result<(), String> {
        if text.is_empty() {
            return Ok(());
        }
        if self.is_terminal {
            self.progress.clear();
        }
        let mut written = self.out.write_all(text.as_bytes());
        if self.is_terminal {
            written = written.and_then(|()| self.out.flush());
        }
        written.map_err(|error| unwritten(&error))
    }

    /// Shows how many of all keys are done.
    pub(super) fn progress(&mut self, done: usize, total: usize) {
        self.progress.count(done, total, "keys");
    }

    /// Ends the run.
    pub(super) fn end(mut self) -> Result<(), String> {
        self.progress.clear();
        self.out.flush().map_err(|error| unwritten(&error))
    }
}
