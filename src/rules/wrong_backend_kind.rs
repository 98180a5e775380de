//! `wrong-backend-kind`: a Puppet function is under the key of another kind.

use super::config_level::levels;
use super::{FileContext, Findings, Fix, RootContext, Safety};

rule!("wrong-backend-kind", Error, [Configuration(check)]);

fn check(file: &FileContext<'_>, _: &RootContext<'_>, findings: &mut Findings<'_>) {
    for level in levels(file) {
        // The function of `defaults` is reported once, if some level uses it.
        let Some(function) = level.function else {
            continue;
        };
        let Some(kind) = function.built_in().filter(|kind| *kind != function.kind) else {
            continue;
        };
        let range = function.key.cover(function.value);
        if findings.has(range) {
            continue;
        }
        let finding = findings.report(
            range,
            format!(
                "'{}' is a function for '{}', not for '{}': every lookup that reaches this level fails",
                function.name,
                kind.key(),
                function.kind.key()
            ),
        );
        let fix = Fix::write(Safety::Safe, function.key, kind.key());
        finding.fixes.push(fix);
    }
}
