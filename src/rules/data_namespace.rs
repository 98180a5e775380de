//! `data-namespace`: a module's data has keys outside of the module's namespace.

use super::checker::Found;
use super::{Checked, Reads, Rule, Severity};
use crate::hierarchy::FunctionKind;
use crate::lookup::PuppetVersion;

pub(super) const RULE: &Rule = &Rule {
    code: "data-namespace",
    severity: Severity::Warning,
    summary: "a module's data has keys outside of the module's namespace",
    page: include_str!("../../docs/rules/data-namespace.md"),
    reads: Reads::File,
    check,
};

fn check(at: &Checked<'_>, found: &mut Found<'_>) {
    for reader in at.readers() {
        let Some(module) = reader.layer().module_name() else {
            continue;
        };
        // Only hashes are validated; a lookup_key function is never asked for such a key.
        let as_hash =
            |reach: &crate::lookup::Reach| reach.place.function.kind == FunctionKind::DataHash;
        if !reader.reached.iter().any(as_hash) {
            continue;
        }
        let prefix = format!("{module}::");
        let effect = match at.settings().puppet_version {
            PuppetVersion::V8 => "Puppet warns and drops it",
            PuppetVersion::V7 => "Puppet warns, and no lookup finds it",
        };
        for key in &at.facts().keys {
            if key.name.starts_with(&prefix) || &*key.name == "lookup_options" {
                continue;
            }
            found.report(
                key.key,
                format!(
                    "'{}' is outside of the module's namespace '{prefix}': {effect}",
                    key.name
                ),
            );
        }
    }
}
