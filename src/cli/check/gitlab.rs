//! `--format gitlab`: a code quality report, which GitLab shows in merge requests.

use std::io::{self, Write};

use serde_json::json;

use super::record::{Record, by_severity};

/// Prints all records as one array.
pub(super) fn write(records: &[Record], out: &mut dyn Write) -> io::Result<()> {
    let issues = records.iter().map(|record| {
        let severity = by_severity(record.level, ["major", "minor", "info"]);
        let region = record.place.region;
        json!({
            "description": format!("{}: {}", record.code, record.message),
            "check_name": record.code,
            "fingerprint": record.fingerprint,
            "severity": severity,
            "location": {
                "path": record.place.path,
                "positions": {
                    "begin": {
                        "line": region.map_or(1, |region| region.line),
                        "column": region.map_or(1, |region| region.column),
                    },
                    "end": {
                        "line": region.map_or(1, |region| region.end_line),
                        "column": region.map_or(1, |region| region.end_column),
                    },
                },
            },
        })
    });
    let report: serde_json::Value = issues.collect();
    writeln!(out, "{report:#}")
}
