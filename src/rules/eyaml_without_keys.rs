//! `eyaml-without-keys`: a level of encrypted data lacks a key to decrypt with.

use super::config_level::{levels, options};
use super::{
    ConfigurationAt, Depends, FileContext, Findings, Fix, Hook, Rule, Safety, Severity, entry,
};
use crate::hierarchy::FunctionKind;
use crate::syntax::NodeId;
use crate::text::{TextEdit, nearest};

pub(super) const RULE: &Rule = &Rule {
    code: "eyaml-without-keys",
    severity: Severity::Warning,
    summary: "a level of encrypted data lacks a key to decrypt with",
    page: include_str!("../../docs/rules/eyaml-without-keys.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Configuration(check)],
};

/// The options that hold hiera-eyaml's keys, in pairs of which one is enough
/// (`hiera/backend/eyaml/encryptors/pkcs7.rb`).
const KEYS: [[&str; 2]; 2] = [
    ["pkcs7_public_key", "pkcs7_public_key_env_var"],
    ["pkcs7_private_key", "pkcs7_private_key_env_var"],
];

fn check(file: &FileContext<'_>, _: &ConfigurationAt<'_>, findings: &mut Findings<'_>) {
    for level in levels(file) {
        let is_eyaml = |kind: FunctionKind, name: &str| {
            kind == FunctionKind::LookupKey && name == "eyaml_lookup_key"
        };
        let Some(function) = &level.function else {
            continue;
        };
        if !is_eyaml(function.kind, &function.name) {
            continue;
        }
        if let Some((key, value)) = options(file, &level) {
            check_options(file, key, value, findings);
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

/// Reports options that name only one of the two keys, or neither where none are of another method:
/// those of a plugin are its own matter.
fn check_options(file: &FileContext<'_>, key: NodeId, value: NodeId, findings: &mut Findings<'_>) {
    let tree = file.tree();
    let Some(pairs) = tree.node(tree.resolve(value)).as_mapping() else {
        return;
    };
    let has = |names: &&[&str; 2]| names.iter().any(|name| entry(tree, value, name).is_some());
    let missing: Vec<&[&str; 2]> = KEYS.iter().filter(|names| !has(names)).collect();
    let is_known = |name: &str| KEYS.iter().flatten().any(|known| *known == name);
    let misspelt = pairs.iter().find_map(|&(key, _)| {
        let written = tree.scalar_text(key)?;
        let written = written.strip_prefix(':').unwrap_or(written);
        let lacking = missing.iter().copied().flatten().copied();
        let meant = nearest(written, lacking).filter(|_| !is_known(written))?;
        Some((key, meant))
    });
    // A merge key may bring more than stands here.
    let is_merged = entry(tree, value, "<<").is_some();
    let is_of_plugin = missing.len() == KEYS.len() && !pairs.is_empty() && misspelt.is_none();
    if missing.is_empty() || is_of_plugin || is_merged {
        return;
    }
    let lack = missing.iter().map(|names| format!("'{}'", names[0]));
    let lack = lack.collect::<Vec<_>>().join(" and ");
    let message =
        format!("no {lack} in these options: Puppet fails on every encrypted value of the level");
    // Options of `defaults` are those of several levels.
    let range = tree.node(misspelt.map_or(key, |(key, _)| key)).range;
    if findings.has(range) {
        return;
    }
    let Some((at, meant)) = misspelt else {
        findings.report(range, message);
        return;
    };
    let finding = findings.report(range, format!("{message}; did you mean '{meant}'?"));
    if !tree.node(at).is_quoted() {
        let title = format!("Write '{meant}'");
        let edit = TextEdit::replace(range, meant);
        finding.fixes.push(Fix::new(Safety::Unsafe, title, edit));
    }
}
