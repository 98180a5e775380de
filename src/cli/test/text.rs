//! `--format text`: failed expectations, with the expected and the found value.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::super::terminal::{Layout, Paint, shown};
use super::{TestOutcome, count_of};
use crate::ide::cell::{audience_text, counted, outcome_text, sources_text};
use crate::ide::expectation::Verdict;
use crate::ide::matrix::Cell;
use crate::lookup::Alternatives;
use crate::text::unified_diff;
use crate::value::{Value, dump_body};

/// Prints what failed or is unknown, then how many of each there are.
pub(super) fn write(outcomes: &[TestOutcome], out: &mut dyn Write) -> io::Result<()> {
    let layout = Layout::of_output();
    for outcome in outcomes {
        let sign = match outcome.judged.verdict {
            Verdict::Passed => continue,
            Verdict::Failed => "FAILED",
            Verdict::Unknown => "UNKNOWN",
        };
        let TestOutcome {
            file, expectation, ..
        } = outcome;
        let sign = layout.word(Paint::Complaint, sign);
        let line = expectation.line;
        writeln!(out, "{file}:{line}: {sign} {}", outcome.title())?;
        for line in explanation(outcome).lines() {
            // A line of a diff starts with its sign, after the indentation.
            let paint = match line.strip_prefix("  ").and_then(|line| line.chars().next()) {
                Some('-') => Paint::Old,
                Some('+') => Paint::New,
                _ => Paint::Plain,
            };
            let line = format!("  {line}");
            write!(out, "{}", layout.whole_line(paint, line.trim_end()))?;
        }
        writeln!(out)?;
    }
    let counts = [
        (Verdict::Passed, "passed"),
        (Verdict::Failed, "failed"),
        (Verdict::Unknown, "unknown"),
    ];
    let counts = counts.map(|(verdict, word)| (count_of(outcomes, verdict), word));
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    if counts.is_empty() {
        writeln!(out, "nothing is expected")
    } else {
        writeln!(out, "{}", counts.join(", "))
    }
}

/// The actual result and its source.
pub(super) fn explanation(outcome: &TestOutcome) -> String {
    let mut text = String::new();
    let differ = outcome.expectation.equal && outcome.judged.answers.len() > 1;
    if differ && outcome.judged.verdict == Verdict::Failed {
        let (nodes, answers) = (outcome.judged.nodes, outcome.judged.answers.len());
        let _ = writeln!(
            text,
            "expected the same for {}, got {answers} answers",
            counted(nodes)
        );
        for cell in &outcome.judged.answers {
            let shown = outcome_text(cell);
            let _ = writeln!(text, "  {}: {shown}  {}", nodes_text(cell), from(cell));
        }
        return text;
    }
    for cell in &outcome.judged.answers {
        wrong(outcome, cell, &mut text);
    }
    if let Some(missing) = outcome.judged.missing {
        let _ = writeln!(text, "{missing}");
    }
    text
}

fn wrong(outcome: &TestOutcome, cell: &Cell, text: &mut String) {
    let _ = writeln!(text, "{}:", nodes_text(cell));
    let expected = &outcome.expectation;
    let from = from(cell);
    let value = match (&cell.unknown, &cell.result) {
        (None, Ok(value)) => value,
        (Some(_), _) | (None, Err(_)) => {
            let wanted = match (&expected.value, &expected.value_type) {
                (Some(value), _) => one_line(value),
                (None, Some(value_type)) => format!("a value of type {value_type}"),
                (None, None) if expected.found == Some(false) => "no value".to_owned(),
                (None, None) => "a value".to_owned(),
            };
            let _ = writeln!(text, "  expected {wanted}");
            let got = outcome_text(cell);
            let mut lines = got.lines().map(str::trim);
            let _ = writeln!(text, "  got      {}", lines.next().unwrap_or_default());
            for line in lines {
                let _ = writeln!(text, "           {line}");
            }
            if !from.is_empty() {
                let _ = writeln!(text, "  from     {from}");
            }
            return;
        }
    };
    match &expected.value {
        None => {
            let _ = writeln!(text, "  expected no value");
            let _ = writeln!(text, "  got      {}  {from}", one_line(value));
        }
        Some(wanted) if is_short(wanted) && is_short(value) => {
            let _ = writeln!(text, "  expected {}", one_line(wanted));
            let _ = writeln!(text, "  got      {}  {from}", one_line(value));
        }
        Some(wanted) => {
            let _ = writeln!(text, "  --- expected\n  +++ got  {from}");
            for line in unified_diff(&yaml(wanted), &yaml(value)).lines() {
                let _ = writeln!(text, "  {line}");
            }
        }
    }
}

/// Whether a value is shown inline.
fn is_short(value: &Value) -> bool {
    match value {
        Value::Array(_) | Value::Hash(_) => false,
        Value::Sensitive(held) => is_short(held),
        _ => !yaml(value).trim_end().contains('\n'),
    }
}

/// A value as YAML without the document marker.
fn yaml(value: &Value) -> String {
    format!("{}\n", dump_body(value).trim_end())
}

fn one_line(value: &Value) -> String {
    if is_short(value) {
        yaml(value).trim_end().to_owned()
    } else {
        value.inspect()
    }
}

fn nodes_text(cell: &Cell) -> String {
    match cell.nodes.as_slice() {
        [first, _, ..] => format!("{} ({first}, …)", counted(cell.nodes.len())),
        [] | [_] => audience_text(cell, cell.condition == Alternatives::None),
    }
}

fn from(cell: &Cell) -> String {
    sources_text(cell.sources(), shown)
}
