//! Tables that commands print: their formats, and their progress.

use std::io::Write as _;

use clap::ValueEnum;
use serde::Serialize;

use super::console::{self, ConsoleOutput};
use super::terminal::{ProgressLine, unwritten};
use crate::ide::json::json;

/// The forms of a table.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TableFormat {
    /// For people
    Text,
    /// One JSON array
    Json,
    /// One JSON object a line
    JsonLines,
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

impl TableFormat {
    /// Whether programs read it, not people.
    pub(super) fn is_for_programs(self) -> bool {
        match self {
            TableFormat::Json | TableFormat::JsonLines | TableFormat::Csv => true,
            TableFormat::Text | TableFormat::Markdown => false,
        }
    }
}

/// Rows on standard output, with progress on standard error if that is a terminal.
pub(super) struct Rows {
    out: std::io::BufWriter<ConsoleOutput>,
    is_terminal: bool,
    progress: ProgressLine,
    format: TableFormat,
    /// How many JSON objects have been printed.
    objects: usize,
}

impl Rows {
    pub(super) fn new(format: TableFormat) -> Rows {
        Rows {
            format,
            objects: 0,
            out: std::io::BufWriter::new(ConsoleOutput),
            is_terminal: console::is_output_seen(),
            progress: ProgressLine::new(),
        }
    }

    /// Prints rows.
    pub(super) fn print(&mut self, text: &str) -> Result<(), String> {
        if console::is_cancelled() {
            return Err(console::CANCELLED.to_owned());
        }
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

    /// Prints one JSON object: an element of the array, or a line.
    pub(super) fn print_object(&mut self, object: &impl Serialize) -> Result<(), String> {
        let object = json(object);
        let text = match (self.format, self.objects) {
            (TableFormat::Json, 0) => format!("[\n{object}"),
            (TableFormat::Json, _) => format!(",\n{object}"),
            _ => format!("{object}\n"),
        };
        self.objects += 1;
        self.print(&text)
    }

    /// Shows the number of finished keys.
    pub(super) fn progress(&mut self, done: usize, total: usize) {
        self.progress.count(done, total, "keys");
    }

    /// Ends the run.
    pub(super) fn end(mut self) -> Result<(), String> {
        match (self.format, self.objects) {
            (TableFormat::Json, 0) => self.print("[]\n")?,
            (TableFormat::Json, _) => self.print("\n]\n")?,
            _ => {}
        }
        self.progress.clear();
        self.out.flush().map_err(|error| unwritten(&error))
    }
}
