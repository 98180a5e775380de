//! `top-key-interpolated`: a top-level key has a token, which is not interpolated there.

use super::{FileContext, Findings};
use crate::workspace::KeyFact;

rule!("top-key-interpolated", Warning, [Key(check)]);

fn check(_: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    if key.name.contains("%{") {
        findings.report(
            key.key,
            "top-level keys are not interpolated: no lookup finds this one; only nested keys are",
        );
    }
}
