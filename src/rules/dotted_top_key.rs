//! `dotted-top-key`: a key has dots, at which a lookup would split it.

use super::{FileContext, Findings};
use crate::workspace::KeyFact;

rule!("dotted-top-key", Hint, [Key(check)]);

fn check(_: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    let name = &*key.name;
    let Some((root, _)) = name.split_once('.') else {
        return;
    };
    if name.contains("%{") {
        return;
    }
    findings.report(
        key.key,
        format!(
            "a lookup of '{name}' looks for a part of '{root}'; this key is only found by its \
             quoted name, \"'{name}'\""
        ),
    );
}
