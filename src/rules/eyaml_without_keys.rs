//! `eyaml-without-keys`: a level of encrypted data lacks a key for decryption.

use super::config_level::{levels, options};
use super::{FileContext, Findings, RootContext, Safety, Severity, entry};
use crate::eyaml::{PRIVATE_KEY_OPTIONS, PUBLIC_KEY_OPTIONS};
use crate::hierarchy::FunctionKind;
use crate::syntax::NodeId;
use crate::text::nearest;

rule!("eyaml-without-keys", Warning, [Configuration(check)]);

/// Options with hiera-eyaml's keys; one of each list is enough.
const KEYS: [[&str; 3]; 2] = [PUBLIC_KEY_OPTIONS, PRIVATE_KEY_OPTIONS];

fn check(file: &FileContext<'_>, _: &RootContext<'_>, findings: &mut Findings<'_>) {
    for level in levels(file) {
        let Some(function) = &level.function else {
            continue;
        };
        if function.kind != FunctionKind::LookupKey || function.name != "eyaml_lookup_key" {
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

/// Reports options without a private key, except those of a plugin, which have none of these keys.
/// The public key is only needed by hiera-eyaml before 2024, so it is only reported if it is
/// misspelt.
fn check_options(file: &FileContext<'_>, key: NodeId, value: NodeId, findings: &mut Findings<'_>) {
    let tree = file.tree();
    let Some(pairs) = tree.node(tree.resolve(value)).as_mapping() else {
        return;
    };
    let has = |name: &str| entry(tree, value, name).is_some();
    let has_one = |names: &[&str; 3]| names.iter().any(|name| has(name));
    let [has_public, has_private] = [has_one(&KEYS[0]), has_one(&KEYS[1])];
    let misspelt = pairs.iter().find_map(|&(key, _)| {
        let written = tree.scalar_text(key)?;
        let written = written.strip_prefix(':').unwrap_or(written);
        let is_known = KEYS.as_flattened().contains(&written);
        let lacking = KEYS.iter().filter(|names| !has_one(names));
        let suggestion = nearest(written, lacking.flatten().copied()).filter(|_| !is_known)?;
        Some((key, suggestion))
    });
    let is_of_plugin = !has_public && !pairs.is_empty() && misspelt.is_none();
    // A merge key may add options.
    if has("<<") || has_private && misspelt.is_none() || !has_private && is_of_plugin {
        return;
    }
    let (severity, message) = if has_private {
        (
            Severity::Information,
            "no 'pkcs7_public_key' in these options: hiera-eyaml before 2024 fails on every encrypted \
             value of the level",
        )
    } else {
        (
            Severity::Warning,
            "no 'pkcs7_private_key' in these options: Puppet fails on every encrypted value of the level",
        )
    };
    // Several levels share the options of `defaults`.
    let range = tree.node(misspelt.map_or(key, |(key, _)| key)).range;
    if findings.has(range) {
        return;
    }
    let Some((at, suggestion)) = misspelt else {
        findings.report_as(severity, range, message);
        return;
    };
    let place = (!tree.node(at).is_quoted()).then_some(range);
    let finding = findings.report_as(severity, range, message);
    finding.suggest(Safety::Unsafe, place, suggestion);
}
