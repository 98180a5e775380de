//! The fixes of findings that editors offer for a range of a file.

use crate::rules::{Finding, Fix, Safety};
use crate::text::TextRange;

/// A fix to offer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Action<'a> {
    /// The finding that it fixes.
    pub finding: &'a Finding,
    /// The edit.
    pub fix: &'a Fix,
    /// Whether it is the finding's only fix.
    pub is_preferred: bool,
}

/// The fixes of findings that touch a range, in the order of the findings.
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
