//! Tables that commands print: their forms, and the progress shown beside them.

use std::io::{IsTerminal as _, Write as _};

use clap::ValueEnum;

/// The forms of a table.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TableFormat {
    /// For people
    Text,
    /// One JSON object per line
    Json,
    /// Comma-separated values with a head line
    Csv,
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
    shows_progress: bool,
    is_shown: bool,
}

impl Rows {
    pub(super) fn new() -> Rows {
        Rows {
            out: std::io::BufWriter::new(std::io::stdout().lock()),
            is_terminal: std::io::stdout().is_terminal(),
            shows_progress: std::io::stderr().is_terminal(),
            is_shown: false,
        }
    }

    /// Prints rows.
    pub(super) fn print(&mut self, text: &str) -> Result<(), String> {
        if text.is_empty() {
            return Ok(());
        }
        if self.is_terminal {
            self.clear();
        }
        let mut written = self.out.write_all(text.as_bytes());
        if self.is_terminal {
            written = written.and_then(|()| self.out.flush());
        }
        written.map_err(failed)
    }

    /// Shows how many of all keys are done.
    pub(super) fn progress(&mut self, done: usize, total: usize) {
        if total > 50 && done.is_multiple_of(20) && self.shows_progress {
            let _ = write!(std::io::stderr(), "\r{done} of {total} keys");
            self.is_shown = true;
        }
    }

    /// Ends the run.
    pub(super) fn end(mut self) -> Result<(), String> {
        self.clear();
        self.out.flush().map_err(failed)
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

fn failed(error: std::io::Error) -> String {
    format!("standard output: {error}")
}
