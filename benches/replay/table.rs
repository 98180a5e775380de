//! What a session measured, one row for each method and kind of file.

use std::fmt::Write as _;

use super::Measure;

/// The costs of one method on one kind of file.
#[derive(Default)]
pub(crate) struct Row {
    method: &'static str,
    kind: &'static str,
    /// The first request, which is checked and not counted.
    first: Option<u64>,
    /// Nanoseconds or instructions.
    costs: Vec<u64>,
    empty: usize,
    errors: usize,
    late: usize,
    /// The first wrong answer.
    example: Option<String>,
}

/// What came of one request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Full,
    /// No answer where one may be missing.
    Empty,
    /// No answer where there must be one.
    Missing,
    Error,
    Late,
}

/// All rows of a program, in the order of their first requests.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

impl Table {
    /// Notes one request. What went wrong counts even in a round that only warms up.
    pub(crate) fn add(
        &mut self,
        (method, kind): (&'static str, &'static str),
        (cost, is_counted): (u64, bool),
        (outcome, what): (Outcome, &dyn Fn() -> String),
    ) {
        let known = self.rows.iter();
        let known = known
            .clone()
            .position(|row| row.method == method && row.kind == kind);
        let at = known.unwrap_or_else(|| {
            self.rows.push(Row {
                method,
                kind,
                ..Row::default()
            });
            self.rows.len() - 1
        });
        let row = &mut self.rows[at];
        if row.first.is_none() {
            row.first = Some(cost);
        }
        if is_counted {
            row.costs.push(cost);
        }
        match outcome {
            Outcome::Full => return,
            Outcome::Empty => {
                row.empty += 1;
                return;
            }
            Outcome::Missing => row.empty += 1,
            Outcome::Error => row.errors += 1,
            Outcome::Late => row.late += 1,
        }
        row.example.get_or_insert_with(|| cut(&what()));
    }

    /// The wrong answers: rows with one, and the first in each.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let wrong = self.rows.iter().filter_map(|row| {
            let example = row.example.as_ref()?;
            Some(format!("{} ({}): {example}", row.method, row.kind))
        });
        wrong.collect()
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }
}

fn cut(text: &str) -> String {
    text.chars().take(600).collect()
}

/// A table for people, in milliseconds or million instructions; with other rows, their costs and the
/// ratios stand beside it.
pub(crate) fn printed(ours: &Table, beside: Option<&Table>, measure: Measure) -> String {
    let unit = match measure {
        Measure::Time => "ms",
        Measure::Work => "million instructions",
    };
    let mut text = format!("{unit:<28} {:<10} {}", "file", head());
    if beside.is_some() {
        let _ = write!(text, "  | {} | {:>6} {:>6}", head(), "p50 ×", "p99 ×");
    }
    text.push('\n');
    for row in &ours.rows {
        let _ = write!(text, "{:<28} {:<10} {}", row.method, row.kind, figures(row));
        if let Some(other) = beside.and_then(|table| table.like(row)) {
            let of = |share| ratio(row.quantile(share), other.quantile(share));
            let _ = write!(text, "  | {}", figures(other));
            let _ = write!(text, " | {:>6.2} {:>6.2}", of(0.5), of(0.99));
        }
        text.push('\n');
    }
    text
}

/// Instructions below which the drawn key decides more than the number of nodes.
const MIN_WORK: f64 = 20e6;

/// Rows of some work whose median is more than so many times that of other rows.
pub(crate) fn grown(more: &Table, less: &Table, bound: f64) -> Vec<String> {
    let grown = more.rows.iter().filter_map(|row| {
        let work = row.quantile(0.5);
        let grown = ratio(work, less.like(row)?.quantile(0.5));
        let what = format!("{} ({}): {grown:.1} times the work", row.method, row.kind);
        (grown > bound && work > MIN_WORK).then_some(what)
    });
    grown.collect()
}

impl Table {
    /// The row of the same method and kind of file.
    fn like(&self, row: &Row) -> Option<&Row> {
        let mut rows = self.rows.iter();
        rows.find(|other| (other.method, other.kind) == (row.method, row.kind))
    }
}

impl Row {
    /// The cost that a share of all does not exceed, 0 without any.
    fn quantile(&self, share: f64) -> f64 {
        let mut costs = self.costs.clone();
        costs.sort_unstable();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let at = ((costs.len() as f64 - 1.0) * share).round() as usize;
        costs.get(at).copied().unwrap_or_default() as f64
    }
}

fn ratio(more: f64, less: f64) -> f64 {
    more / less.max(1.0)
}

fn head() -> String {
    format!(
        "{:>4} {:>9} {:>9} {:>9} {:>9} {:>6} {:>6} {:>5}",
        "n", "first", "p50", "p99", "most", "empty", "errors", "late"
    )
}

fn figures(row: &Row) -> String {
    let [p50, p99, most] = [0.5, 0.99, 1.0].map(|share| row.quantile(share) / 1e6);
    format!(
        "{:>4} {:>9.2} {p50:>9.2} {p99:>9.2} {most:>9.2} {:>6} {:>6} {:>5}",
        row.costs.len(),
        row.first.unwrap_or_default() as f64 / 1e6,
        row.empty,
        row.errors,
        row.late
    )
}
