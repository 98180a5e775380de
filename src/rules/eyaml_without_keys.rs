//! `eyaml-without-keys`: a level of encrypted data has no options, and so no keys.

use super::config_level::{levels, options};
use super::{ConfigurationAt, Depends, FileContext, Findings, Hook, Rule, Severity};
use crate::hierarchy::FunctionKind;

pub(super) const RULE: &Rule = &Rule {
    code: "eyaml-without-keys",
    severity: Severity::Warning,
    summary: "a level of encrypted data has no options, and so no keys",
    page: include_str!("../../docs/rules/eyaml-without-keys.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Configuration(check)],
};

fn check(file: &FileContext<'_>, _: &ConfigurationAt<'_>, findings: &mut Findings<'_>) {
    for level in levels(file) {
        let is_eyaml = |kind: FunctionKind, name: &str| {
            kind == FunctionKind::LookupKey && name == "eyaml_lookup_key"
        };
        let Some(function) = &level.function else {
            continue;
        };
        if !is_eyaml(function.kind, &function.name) || options(file, &level).is_some() {
            continue;
        }
        let own = level.spans.function.map(|(key, value)| key.cover(value));
        findings.report(
            own.or(level.spans.name).unwrap_or(level.spans.range),
            "'eyaml_lookup_key' has no options here, and so no keys: Puppet fails on every encrypted \
             value of this level; name the keys as 'pkcs7_private_key' and 'pkcs7_public_key'",
        );
    }
}
