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

/// Shows how far a long run is, where standard error is a terminal; where standard output is one
/// too, the rows themselves show it.
pub(super) fn show_progress(done: usize, total: usize) {
    let is_due = total > 50 && (done.is_multiple_of(20) || done == total);
    if is_due && std::io::stderr().is_terminal() && !std::io::stdout().is_terminal() {
        let end = if done == total { "\n" } else { "" };
        let _ = write!(std::io::stderr(), "\r{done} of {total} keys{end}");
    }
}
