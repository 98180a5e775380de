//! The edits that an editor offers for a part of a file: fixes of findings. It knows no rule.

use crate::rules::{Finding, Fix, Safety};
use crate::text::TextRange;

/// One edit to offer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Action<'a> {
    /// What it does away with.
    pub finding: &'a Finding,
    /// The edit.
    pub fix: &'a Fix,
    /// Whether it is the one to take without a choice.
    pub is_preferred: bool,
}

/// The fixes of the findings that touch a range, in the findings' order.
pub fn actions(findings: &[Finding], range: TextRange) -> impl Iterator<Item = Action<'_>> {
    let here = findings.iter().filter(move |finding| {
        finding.range.start <= range.end && range.start <= finding.range.end
    });
    here.flat_map(|finding| {
        let is_only = finding.fixes.len() == 1;
        finding.fixes.iter().map(move |fix| Action {
            finding,
            fix,
            is_preferred: is_only && fix.safety == Safety::Safe,
        })
    })
}
