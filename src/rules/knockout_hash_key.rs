//! `knockout-hash-key`: a hash key has the knock-out prefix, which does not remove keys.

use super::knockout::prefixed;
use super::{FileContext, Findings};
use crate::workspace::KeyFact;

rule!("knockout-hash-key", Warning, [Key(check)], WORKSPACE);

fn check(file: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    let Some((knocking, prefix)) = prefixed(file, key) else {
        return;
    };
    for knockout in knocking.knockouts.iter().filter(|one| !one.is_element) {
        findings.report(
            knockout.range,
            format!(
                "knock-outs only remove list elements: '{}' stays, and '{prefix}{}' is added as \
                 another key",
                knockout.target, knockout.target
            ),
        );
    }
}
