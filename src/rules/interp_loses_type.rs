//! `interp-loses-type`: a string consists of a lookup of a value that is not a string.

use super::looked_up::{Held, held};
use super::{FileContext, Findings, Fix, Safety, Severity, TokenAt};
use crate::interpolation::{Method, TokenKind};
use crate::text::TextEdit;
use crate::workspace::ValueKind;

rule!("interp-loses-type", Hint, [Token(check)], WORKSPACE);

fn check(file: &FileContext<'_>, at: &TokenAt<'_>, findings: &mut Findings<'_>) {
    let TokenKind::Call { method, .. } = &at.token.kind else {
        return;
    };
    if *method == Method::Alias || at.token.range.len() != at.text.len() || at.is_key {
        return;
    }
    let Some((looked_up, Held::Values(values))) = held(file, at) else {
        return;
    };
    if file.checker.has_option(&looked_up.root, "convert_to") {
        return;
    }
    let all = |kind| values.iter().all(|one| *one == kind);
    let printed = "the text that Ruby prints for it";
    let (severity, kind, effect) = if all(ValueKind::Hash) {
        (Severity::Warning, "a hash", printed)
    } else if all(ValueKind::List) {
        (Severity::Warning, "a list", printed)
    } else if file.checker.is_merged(&looked_up.root) {
        // Merged scalars become a list.
        return;
    } else if all(ValueKind::Boolean) {
        let effect = "a string, and even \"false\" counts as true";
        (Severity::Information, "true or false", effect)
    } else if all(ValueKind::Number) {
        (Severity::Hint, "a number", "a string")
    } else {
        return;
    };
    let finding = findings.report_as(
        severity,
        at.range,
        format!(
            "'{}' is {kind}: Puppet puts {effect} here; use alias() to keep the type",
            looked_up.key.text
        ),
    );
    if let Some(function) = at.token.function {
        let range = file.places(at.node).source_range(function);
        let edit = TextEdit::replace(range, "alias");
        finding
            .fixes
            .push(Fix::new(Safety::Unsafe, "Call 'alias'", edit));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::marked::check_levels;

    #[test]
    fn a_key_of_a_hash_is_a_text_anyway() {
        check_levels(
            RULE,
            "n: 5\nl: [1]\na: \"%{lookup('n')}\" #~ interp-loses-type\n\
             b: {\"%{lookup('n')}\": \"%{lookup('n')}\"} #~ interp-loses-type\n\
             c: {\"%{lookup('l')}\": 1}\n",
        );
    }
}
