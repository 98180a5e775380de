//! `yaml11-bool`: `yes`, `no`, `on` or `off` is read as true or false.

use super::fitting;
use super::parameters::files_of_parameters;
use super::{FileContext, Findings, Fix, Safety, ScalarAt, Severity};
use crate::syntax::NodeKind;
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::text::TextEdit;

rule!(
    "yaml11-bool",
    Hint,
    [Scalar(check)],
    WORKSPACE,
    files: files_of_parameters,
);

fn check(file: &FileContext<'_>, at: &ScalarAt<'_>, findings: &mut Findings<'_>) {
    let Some(Resolved::Bool(value)) = file.resolved(at) else {
        return;
    };
    let text = &*at.scalar.text;
    if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
        return;
    }
    if is_among_texts(file, at) {
        let message = format!("'{text}' is read as {value}, in a list of strings; quote it");
        let finding = findings.report_as(Severity::Warning, at.node.range, message);
        finding.fixes.extend(Fix::quote(Safety::Safe, at.node));
        fitting::keep_fitting(file, finding);
        return;
    }
    let finding = findings.report(
        at.node.range,
        format!("'{text}' is read as {value}; write {value}, or quote it if a string is meant"),
    );
    let edit = TextEdit::replace(at.node.range, value.to_string());
    let title = format!("Write {value}");
    finding.fixes.push(Fix::new(Safety::Safe, title, edit));
    finding.fixes.extend(Fix::quote(Safety::Unsafe, at.node));
    fitting::keep_fitting(file, finding);
}

/// Whether all other elements in the list of a scalar are strings.
fn is_among_texts(file: &FileContext<'_>, at: &ScalarAt<'_>) -> bool {
    let tree = file.tree();
    let list = tree.parent(at.id).map(|parent| &tree.node(parent).kind);
    let Some(NodeKind::Sequence(elements)) = list else {
        return false;
    };
    let mut others = elements.iter().filter(|id| **id != at.id).peekable();
    others.peek().is_some()
        && others.all(|id| {
            let node = tree.node(*id);
            let text = |text: &str| matches!(resolve_plain(text), Resolved::String);
            node.is_quoted() || node.as_scalar().is_some_and(|scalar| text(&scalar.text))
        })
}
