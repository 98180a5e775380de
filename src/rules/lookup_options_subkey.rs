//! `lookup-options-subkey`: an entry of 'lookup_options' is for a part of a key.

use super::{Depends, Facts, FileContext, Findings, Hook, OptionAt, Rule, Severity};

pub(super) const RULE: &Rule = &Rule {
    code: "lookup-options-subkey",
    severity: Severity::Warning,
    summary: "an entry of 'lookup_options' is for a part of a key",
    page: include_str!("../../docs/rules/lookup-options-subkey.md"),
    depends: Depends {
        on: Facts::KEYS.and(Facts::OPTIONS),
        files: Depends::files_with_options,
    },
    hooks: &[Hook::Option(check)],
};

fn check(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    let Some((root, part)) = at.name.split_once('.') else {
        return;
    };
    // Of a text that should have been a pattern another rule speaks.
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.' | b'-');
    if !at.name.bytes().all(fits) || root.is_empty() || part.is_empty() {
        return;
    }
    let has = |key: &str| file.checker.files_with(key).next().is_some();
    if has(at.name) || !has(root) {
        return;
    }
    findings.report(
        at.key,
        format!(
            "options are for topmost keys: those of '{}' do nothing; set them for '{root}'",
            at.name
        ),
    );
}
