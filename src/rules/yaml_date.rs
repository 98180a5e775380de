//! `yaml-date`: an unquoted date or time makes Puppet refuse the whole file.

use super::{FileContext, Findings, Fix, Safety};
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::syntax::{Scalar, ScalarStyle, TreeNode};
use crate::value::LoadErrorKind;

rule!("yaml-date", Error, [Node(check), File(check_rest)]);

fn check(at: &FileContext<'_>, node: &TreeNode, findings: &mut Findings<'_>) {
    let is_plain = |scalar: &&Scalar| scalar.style == ScalarStyle::Plain && node.tag.is_none();
    let Some(scalar) = node.as_scalar().filter(is_plain) else {
        return;
    };
    if at.refusal_of(LoadErrorKind::YamlDate).is_none() {
        return;
    }
    let resolved = resolve_plain(&scalar.text);
    let what = if resolved == Resolved::Date {
        "date"
    } else if resolved == Resolved::Time {
        "time"
    } else {
        return;
    };
    let finding = findings.report(
        node.range,
        format!(
            "'{}' is read as a {what}, which Puppet does not allow: it refuses the whole \
             file; quote it",
            scalar.text
        ),
    );
    finding.fixes.extend(Fix::quote(Safety::Safe, node));
}

/// Reports the error if its date is not in the tree.
fn check_rest(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    at.report_refusal(LoadErrorKind::YamlDate, findings);
}
