//! `--format json` and `--format json-lines`, described in `docs/check-formats.md`.

use std::io::{self, Write};

use super::record::Record;

/// Prints all records as one array.
pub(super) fn write(records: &[Record], out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, records)?;
    writeln!(out)
}

/// Prints one object per line.
pub(super) fn write_lines(records: &[Record], out: &mut dyn Write) -> io::Result<()> {
    records.iter().try_for_each(|record| {
        serde_json::to_writer(&mut *out, record)?;
        writeln!(out)
    })
}
