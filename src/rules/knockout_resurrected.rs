//! `knockout-resurrected`: a lower level adds back an element that was knocked out.

use std::sync::Arc;

use super::knockout::{has_text_at, prefixed, value_at};
use super::{FileContext, Findings};
use crate::workspace::{File, KeyFact};

rule!("knockout-resurrected", Warning, [Key(check)], WORKSPACE);

fn check(file: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    let Some((knocking, _)) = prefixed(file, key) else {
        return;
    };
    // Every node that reads this file also reads these.
    let always = knocking.lower.iter().filter(|(_, is_always)| *is_always);
    let always: Vec<_> = always.map(|(lower, _)| *lower).collect();
    for knockout in &knocking.knockouts {
        let Some(path) = &knockout.path else {
            continue;
        };
        // A level that has the key without the list does not use up the knock-out.
        let has_list = |lower: &&&Arc<File>| value_at(file, lower, &key.name, path).is_some();
        let holders: Vec<&&Arc<File>> = always.iter().filter(has_list).collect();
        let mut further = holders.iter().skip(1);
        let restoring =
            further.find(|lower| has_text_at(file, lower, &key.name, path, &knockout.target));
        let (Some(restoring), Some(next)) = (restoring, holders.first()) else {
            continue;
        };
        let name = |holder: &Arc<File>| file.snapshot().short_name(holder.path()).to_owned();
        findings.report(
            knockout.range,
            format!(
                "a knock-out only reaches the next level that sets the key, '{}' here: '{}' comes back \
                 from '{}'",
                name(next),
                knockout.target,
                name(restoring)
            ),
        );
    }
}
