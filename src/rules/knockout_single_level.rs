//! `knockout-single-level`: no lower level sets the key, so a knock-out stays in the value.

use super::knockout::prefixed;
use super::{FileContext, Findings};
use crate::workspace::KeyFact;

rule!("knockout-single-level", Warning, [Key(check)], WORKSPACE);

fn check(file: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    let Some((knocking, _)) = prefixed(file, key) else {
        return;
    };
    if !knocking.is_lowest || !file.checker.has_all_data_for(file.readers(), &key.name) {
        return;
    }
    for knockout in knocking.knockouts.iter().filter(|one| one.is_element) {
        findings.report(
            knockout.range,
            format!(
                "no lower level sets '{}': nothing is removed, and this element itself is in the value",
                key.name
            ),
        );
    }
}
