//! `data-namespace`: a module's data has keys outside of the module's namespace.

use super::{Depends, FileContext, Findings, Fix, Hook, Rule, Safety, Severity};
use crate::hierarchy::FunctionKind;
use crate::lookup::{PuppetVersion, Reach};
use crate::text::TextEdit;
use crate::workspace::{KeyFact, LOOKUP_OPTIONS};

pub(super) const RULE: &Rule = &Rule {
    code: "data-namespace",
    severity: Severity::Warning,
    summary: "a module's data has keys outside of the module's namespace",
    page: include_str!("../../docs/rules/data-namespace.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Key(check)],
};

fn check(at: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    for reader in at.readers() {
        let Some(module) = reader.layer().module_name() else {
            continue;
        };
        // Only hashes are validated; a lookup_key function is never asked for such a key.
        let as_hash = |reach: &Reach| reach.place.function.kind == FunctionKind::DataHash;
        if !reader.reached.iter().any(as_hash) {
            continue;
        }
        let prefix = format!("{module}::");
        if key.name.starts_with(&prefix) || &*key.name == LOOKUP_OPTIONS {
            continue;
        }
        let effect = match at.settings().puppet_version {
            PuppetVersion::V8 => "Puppet warns and drops it",
            PuppetVersion::V7 => "Puppet warns, and no lookup finds it",
        };
        let finding = findings.report(
            key.key,
            format!(
                "'{}' is outside of the module's namespace '{prefix}': {effect}",
                key.name
            ),
        );
        // A key of another namespace is meant for the environment's data.
        let meant = format!("{prefix}{}", key.name);
        if !key.name.contains(':')
            && at.facts().key(&meant).is_none()
            && let Some(start) = key.key.slice(at.file.text()).find(&*key.name)
        {
            let edit = TextEdit::insert(key.key.start as usize + start, prefix);
            let title = format!("Rename it to '{meant}'");
            finding.fixes.push(Fix::new(Safety::Unsafe, title, edit));
        }
    }
}
