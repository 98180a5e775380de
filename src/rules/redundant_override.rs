//! `redundant-override`: a key is set to what a lower level sets it to.

use super::proof::{files_with_touched_keys, inherited, is_first_found};
use super::{Depends, Facts, FileContext, Findings, Fix, Hook, Rule, Safety, Severity, Tag};
use crate::text::{TextEdit, TextRange};
use crate::workspace::{Format, KeyFact};

pub(super) const RULE: &Rule = &Rule {
    code: "redundant-override",
    severity: Severity::Hint,
    summary: "a key is set to what a lower level sets it to",
    page: include_str!("../../docs/rules/redundant-override.md"),
    depends: Depends {
        on: Facts::VALUES.and(Facts::OPTIONS),
        files: files_with_touched_keys,
    },
    hooks: &[Hook::Key(check)],
};

fn check(file: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    if !is_first_found(file, key) || !file.checker.sees_all_for(file.readers()) {
        return;
    }
    let mut same = None;
    for reader in file.readers() {
        for reach in &reader.reached {
            let Some(heir) = inherited(file, reader, reach, &key.name) else {
                return;
            };
            same = Some(heir);
        }
    }
    let Some(same) = same else { return };
    let finding = findings.report(
        key.key,
        format!(
            "'{}' has this value without this entry too, for every node: '{}' sets the same",
            key.name,
            file.snapshot().short_name(same.path())
        ),
    );
    finding.tags.push(Tag::Unnecessary);
    if file.format() == Format::Yaml
        && let Some(edit) = removal(file.file.text(), key)
    {
        let title = format!("Remove '{}'", key.name);
        let fix = Fix::new(Safety::Unsafe, title, edit);
        finding.fixes.push(fix.resting_on(same, &key.name));
    }
}

/// Takes an entry of a block mapping away, with its lines.
pub(super) fn removal(text: &str, key: &KeyFact) -> Option<TextEdit> {
    let start = key.key.start as usize;
    let starts_line = start == 0 || text[..start].ends_with('\n');
    let end = (key.key.end.max(key.value.end)) as usize;
    let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    // What follows in the line may only be a comment.
    let rest = text[end..line_end].trim();
    let is_alone = rest.is_empty() || rest == ":" || rest.starts_with('#');
    (starts_line && is_alone).then(|| TextEdit::delete(TextRange::new(start, line_end)))
}
