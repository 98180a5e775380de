//! `yaml-number-lossy`: a number is not read as it is written.

use super::fitting;
use super::parameters::files_of_parameters;
use super::{FileContext, Findings, Fix, Safety, ScalarAt, Severity};
use crate::syntax::psych::Resolved;
use crate::text::TextRange;
use crate::value::float_to_s;

/// Words in keys that have versions as values, not amounts.
const VERSIONS: [&str; 3] = ["version", "release", "ensure"];

rule!(
    "yaml-number-lossy",
    Hint,
    [Scalar(check)],
    WORKSPACE,
    files: files_of_parameters,
);

fn check(file: &FileContext<'_>, at: &ScalarAt<'_>, findings: &mut Findings<'_>) {
    let text = &*at.scalar.text;
    if text.contains(':') {
        return;
    }
    if let Some(before) = joined_before(file, at) {
        let whole = before.cover(at.node.range);
        let written = whole.slice(file.file.text());
        findings.report_as(
            Severity::Warning,
            whole,
            format!("in a list '{written}' is two numbers, not one; write it without the comma, or quote it"),
        );
        return;
    }
    let value = match file.resolved(at) {
        Some(Resolved::Int(value)) if text.contains([',', '_', 'x']) => value.to_string(),
        // `1.0` stays `1.0`, and `0.50` is an amount.
        Some(Resolved::Float(value)) if is_shortened(text) || text.contains(['_', ',']) => {
            float_to_s(*value)
        }
        Some(_) | None => return,
    };
    let key = file.key_around(at.id).map(|key| key.to_lowercase());
    let is_version = key.is_some_and(|key| VERSIONS.iter().any(|word| key.contains(word)));
    let (severity, safety) = if is_version {
        (Severity::Warning, Safety::Safe)
    } else {
        (Severity::Hint, Safety::Unsafe)
    };
    let finding = findings.report_as(
        severity,
        at.node.range,
        format!("'{text}' is read as the number {value}; quote it if a string is meant"),
    );
    finding.fixes.extend(Fix::quote(safety, at.node));
    fitting::keep_fitting(file, finding);
}

/// The number before a scalar that looks like the end of a number with thousands: `[1,000]`. Three
/// digits with a leading zero hardly ever mean anything else.
fn joined_before(file: &FileContext<'_>, at: &ScalarAt<'_>) -> Option<TextRange> {
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let text = &*at.scalar.text;
    if text.len() != 3 || !text.starts_with('0') || !is_digits(text) {
        return None;
    }
    file.resolved(at)?;
    let tree = file.tree();
    let elements = tree.node(tree.parent(at.id)?).as_sequence()?;
    let place = elements.iter().position(|&element| element == at.id)?;
    let before = tree.node(elements[place.checked_sub(1)?]);
    let number = before.as_scalar().filter(|_| !before.is_quoted())?;
    let is_start = matches!(number.text.len(), 1..=3)
        && is_digits(&number.text)
        && !number.text.starts_with('0');
    let between = TextRange::new(before.range.end as usize, at.node.range.start as usize);
    (is_start && between.slice(file.file.text()) == ",").then_some(before.range)
}

/// Whether a number ends in zeros that its value does not have: `1.10`.
fn is_shortened(text: &str) -> bool {
    let Some((whole, part)) = text.split_once('.') else {
        return false;
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole) && digits(part) && whole != "0" && part.len() > 1 && part.ends_with('0')
}
