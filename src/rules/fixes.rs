//! Which fixes can be made together: one for each finding, none of which touches another's text.

use super::finding::{Finding, Safety};
use crate::text::TextEdit;

/// The edits of the findings' first fixes, safe ones alone or all, that don't overlap. The findings
/// are of one file; of two fixes that overlap the earlier finding's is taken.
#[must_use]
pub fn edits_together(findings: &[Finding], most: Safety) -> Vec<TextEdit> {
    let mut edits: Vec<TextEdit> = Vec::new();
    for finding in findings {
        let mut fixes = finding.fixes.iter();
        let wanted = fixes.find(|fix| fix.safety == Safety::Safe || most == Safety::Unsafe);
        let Some(fix) = wanted else { continue };
        let touches = |edit: &TextEdit| {
            let mut others = edits.iter();
            others.any(|other| {
                edit.range.start <= other.range.end && other.range.start <= edit.range.end
            })
        };
        if !fix.edits.iter().any(touches) {
            edits.extend(fix.edits.iter().cloned());
        }
    }
    edits.sort_by_key(|edit| edit.range);
    edits
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::rules::{Fix, Severity};
    use crate::text::TextRange;

    fn finding(safety: Safety, range: TextRange) -> Finding {
        let path: Arc<str> = "/a".into();
        let mut finding = Finding::new("x", Severity::Hint, path, range, "");
        let edit = TextEdit::replace(range, "y");
        finding.fixes.push(Fix::new(safety, "", edit));
        finding
    }

    #[test]
    fn fixes_that_touch_wait_for_the_next_round() {
        let findings = [
            finding(Safety::Safe, TextRange::new(4, 6)),
            finding(Safety::Safe, TextRange::new(6, 7)),
            finding(Safety::Unsafe, TextRange::new(0, 2)),
        ];
        let starts = |most| {
            let edits = edits_together(&findings, most).into_iter();
            edits.map(|edit| edit.range.start).collect::<Vec<_>>()
        };
        assert_eq!(starts(Safety::Safe), [4]);
        assert_eq!(starts(Safety::Unsafe), [0, 4]);
    }
}
