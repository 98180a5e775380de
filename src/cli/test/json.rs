//! `--format json`, described in `docs/testing-data.md`.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::TestOutcome;
use crate::ide::expectation::Verdict;
use crate::value::TaggedJson;

/// Prints all expectations as one array.
pub(super) fn write(outcomes: &[TestOutcome], out: &mut dyn Write) -> io::Result<()> {
    let outcomes = outcomes.iter().map(outcome);
    let outcomes: Result<Vec<Value>, serde_json::Error> = outcomes.collect();
    serde_json::to_writer_pretty(&mut *out, &outcomes?)?;
    writeln!(out)
}

fn outcome(outcome: &TestOutcome) -> Result<Value, serde_json::Error> {
    let TestOutcome {
        file,
        expectation,
        judged,
    } = outcome;
    let mut expected = Map::new();
    if let Some(value) = &expectation.value {
        expected.insert("value".into(), json!(TaggedJson(value)));
    }
    if let Some(value_type) = &expectation.value_type {
        expected.insert("type".into(), json!(**value_type));
    }
    if let Some(found) = expectation.found {
        expected.insert("found".into(), json!(found));
    }
    if expectation.equal {
        expected.insert("equal".into(), json!(true));
    }
    let answers = judged.answers.iter();
    let answers: Vec<Value> = answers
        .map(serde_json::to_value)
        .collect::<Result<_, _>>()?;
    let status = match judged.verdict {
        Verdict::Passed => "passed",
        Verdict::Failed => "failed",
        Verdict::Unknown => "unknown",
    };
    Ok(json!({
        "file": file,
        "line": expectation.line,
        "name": expectation.name,
        "key": expectation.key,
        "status": status,
        "nodes": judged.nodes,
        "expected": expected,
        "answers": answers,
        "missing": judged.missing,
    }))
}
