//! `lookup-options-not-hash`: 'lookup_options' is not a hash.

use super::{FileContext, Findings};
use crate::workspace::LOOKUP_OPTIONS;

rule!("lookup-options-not-hash", Error, [File(check)]);

fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    let Some((_, node)) = at.top_level(LOOKUP_OPTIONS) else {
        return;
    };
    let Ok(value) = at.loaded() else { return };
    let Some(options) = value.get(LOOKUP_OPTIONS) else {
        return;
    };
    if at.readers().is_empty() || options.as_hash().is_some() || options.is_undef() {
        return;
    }
    findings.report(
        at.tree().node(node).range,
        "the value of lookup_options must be a hash: every lookup that reads this file fails",
    );
}
