//! `--format rdjson`: the format of reviewdog, with the edits of safe fixes as suggestions. Its columns
//! count bytes of UTF-8.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::record::{Record, Region, by_severity};

/// Prints all records as one object.
pub(super) fn write(records: &[Record], out: &mut dyn Write) -> io::Result<()> {
    let diagnostics = records.iter().map(|record| {
        let severity = by_severity(record.level, ["ERROR", "WARNING", "INFO"]);
        let mut diagnostic = json!({
            "message": record.message,
            "location": { "path": record.place.path },
            "severity": severity,
            "code": { "value": record.code },
        });
        if let Some(region) = &record.place.region {
            diagnostic["location"]["range"] = range(region);
        }
        if !record.replacements.is_empty() {
            let suggestions = record.replacements.iter().map(|replacement| {
                json!({ "range": range(&replacement.region), "text": replacement.new_text })
            });
            diagnostic["suggestions"] = suggestions.collect();
        }
        diagnostic
    });
    let report = json!({
        "source": { "name": "hiera-ls" },
        "diagnostics": diagnostics.collect::<Value>(),
    });
    writeln!(out, "{report:#}")
}

fn range(region: &Region) -> Value {
    json!({
        "start": { "line": region.line, "column": region.byte_column },
        "end": { "line": region.end_line, "column": region.end_byte_column },
    })
}
