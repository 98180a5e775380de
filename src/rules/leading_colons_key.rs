//! `leading-colons-key`: the name of a key starts with colons.

use super::{Depends, FileContext, Findings, Fix, Hook, Rule, Safety, Severity};
use crate::text::{TextEdit, TextRange};
use crate::workspace::KeyFact;

pub(super) const RULE: &Rule = &Rule {
    code: "leading-colons-key",
    severity: Severity::Warning,
    summary: "the name of a key starts with colons",
    page: include_str!("../../docs/rules/leading-colons-key.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Key(check)],
};

fn check(file: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    let name = key.name.trim_start_matches(':');
    // In a module's data such a key is dropped, which is another rule's matter.
    let mut readers = file.readers().iter();
    if !key.name.starts_with(':')
        || name.is_empty()
        || readers.any(|reader| reader.layer().module_name().is_some())
    {
        return;
    }
    let written = key.key.slice(file.file.text());
    let is_symbol = written.starts_with("::") && !key.name.starts_with("::");
    let what = match is_symbol {
        // Psych takes the first colon for the sign of a symbol.
        true => format!(
            "'{written}' is read as a symbol: the name of the key is '{}'",
            key.name
        ),
        false => format!("'{}' starts with a colon", key.name),
    };
    let finding = findings.report(
        key.key,
        format!("{what}; the parameter of a class is only found by '{name}'"),
    );
    let Some(at) = written.find(':').filter(|at| *at <= 1) else {
        return;
    };
    let colons = written[at..].len() - written[at..].trim_start_matches(':').len();
    let start = key.key.start as usize + at;
    let edit = TextEdit::delete(TextRange::new(start, start + colons));
    let fix = Fix::new(Safety::Unsafe, "Remove the colons in front", edit);
    finding.fixes.push(fix.renaming(key.key, name));
}
