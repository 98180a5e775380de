//! `dotted-top-key`: a key has dots, at which a lookup would split it.

use super::{FileContext, Findings};
use crate::workspace::KeyFact;

rule!("dotted-top-key", Hint, [Key(check)]);

fn check(file: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    let name = &*key.name;
    let Some((root, _)) = name.split_once('.') else {
        return;
    };
    // A name such as '.defaults' holds an anchor, and is not meant to be looked up.
    let holds_anchor = root.is_empty() && key.value.slice(file.file.text()).starts_with('&');
    if name.contains("%{") || holds_anchor {
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
