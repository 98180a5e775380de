//! `--format concise`: one line a finding, for problem matchers and `grep`.

use std::io::{self, Write};

use super::record::Record;

/// Prints `path:line:column: severity[code] message` for each record.
pub(super) fn write(records: &[Record], out: &mut dyn Write) -> io::Result<()> {
    records.iter().try_for_each(|record| {
        let (at, severity) = (record.position(), record.severity);
        let (code, message) = (record.code, one_line(&record.message));
        writeln!(out, "{at}: {severity}[{code}] {message}")
    })
}

/// A message without line breaks.
pub(super) fn one_line(message: &str) -> String {
    message.replace(['\n', '\r'], " ")
}
