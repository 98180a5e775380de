//! `--format sarif`: SARIF 2.1.0, for code scanning. Paths below the current folder are relative to it, so
//! run it at the repository's root.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::record::{Record, RecordPlace, Region, by_severity};
use crate::disk::{encoded, file_uri};
use crate::rules::{Rule, Severity, Since, rule};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Maximum number of related places of one result: receivers refuse more than a hundred.
const MAX_RELATED: usize = 99;

/// Prints all records as one run. Rules with findings are described, each with its page.
pub(super) fn write(records: &[Record], out: &mut dyn Write) -> io::Result<()> {
    let codes: BTreeSet<&str> = records.iter().map(|record| record.code).collect();
    let rules: Vec<&Rule> = codes.iter().filter_map(|code| rule(code)).collect();
    let described = rules.iter().map(|rule| described(rule)).collect();
    let results = records
        .iter()
        .map(|record| result(record, &rules))
        .collect();
    writeln!(out, "{:#}", log(described, results))
}

/// A log with one run: its rules and results.
pub(in crate::cli) fn log(rules: Value, results: Value) -> Value {
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "hiera-ls",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                },
            },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn described(rule: &Rule) -> Value {
    let mut described = json!({
        "id": rule.code,
        "shortDescription": { "text": rule.summary() },
        "fullDescription": { "text": rule.summary() },
        "help": { "text": rule.page, "markdown": rule.page },
        "defaultConfiguration": { "level": level(rule.severity) },
        "properties": { "tags": ["hiera", "puppet"] },
    });
    if let Some(since) = Since::of(rule.code) {
        described["properties"]["since"] = u8::from(since.version).into();
    }
    described
}

fn level(severity: Severity) -> &'static str {
    by_severity(severity, ["error", "warning", "note"])
}

fn result(record: &Record, rules: &[&Rule]) -> Value {
    let mut result = json!({
        "ruleId": record.code,
        "level": level(record.level),
        "message": { "text": record.message },
        "locations": [location(&record.place)],
        "partialFingerprints": { "hieraLs/v1": record.fingerprint },
    });
    if let Some(index) = rules.iter().position(|rule| rule.code == record.code) {
        result["ruleIndex"] = index.into();
    }
    let related = record.related.iter().take(MAX_RELATED);
    let related: Vec<Value> = related
        .map(|related| {
            let mut location = location(&related.place);
            location["message"] = json!({ "text": related.message });
            location
        })
        .collect();
    if !related.is_empty() {
        result["relatedLocations"] = related.into();
    }
    if let Some(since) = record.since {
        result["properties"] = json!({ "since": u8::from(since) });
    }
    let replacements = record.replacements.iter();
    let replacements: Vec<Value> = replacements
        .map(|replacement| {
            json!({
                "deletedRegion": region(&replacement.region),
                "insertedContent": { "text": replacement.new_text },
            })
        })
        .collect();
    if !replacements.is_empty() {
        result["fixes"] = json!([{
            "artifactChanges": [{
                "artifactLocation": { "uri": uri(&record.place.path) },
                "replacements": replacements,
            }],
        }]);
    }
    result
}

fn location(place: &RecordPlace) -> Value {
    let mut physical = json!({ "artifactLocation": { "uri": uri(&place.path) } });
    if let Some(at) = &place.region {
        physical["region"] = region(at);
    }
    json!({ "physicalLocation": physical })
}

fn region(region: &Region) -> Value {
    json!({
        "startLine": region.line,
        "startColumn": region.column,
        "endLine": region.end_line,
        "endColumn": region.end_column,
    })
}

/// A relative reference, or a `file:` URI for an absolute path.
pub(in crate::cli) fn uri(path: &str) -> String {
    if path.starts_with('/') {
        file_uri(path)
    } else {
        encoded(path)
    }
}
