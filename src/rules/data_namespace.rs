//! `data-namespace`: a module's data has keys outside of the module's namespace.

use super::{FileContext, Findings, Fix, MappingAt, Reader, Safety, Severity, shown};
use crate::hierarchy::FunctionKind;
use crate::lookup::{PuppetVersion, Reach};
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::syntax::{NodeKind, ScalarStyle, TreeNode};
use crate::text::TextEdit;
use crate::workspace::{Format, KeyFact, LOOKUP_OPTIONS};

rule!(
    "data-namespace",
    Warning,
    [Key(check), Mapping(check_mapping)]
);

fn check(at: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    for reader in at.readers() {
        let Some(module) = validating_module(reader) else {
            continue;
        };
        let prefix = format!("{module}::");
        if key.name.starts_with(&prefix) || &*key.name == LOOKUP_OPTIONS {
            continue;
        }
        let effect = match at.settings().puppet_version {
            PuppetVersion::V8 | PuppetVersion::V9 => "Puppet warns and drops it",
            PuppetVersion::V7 => "Puppet warns, and no lookup finds it",
        };
        let finding = findings.report(
            key.key,
            format!(
                "'{}' is outside of the module's namespace '{prefix}': {effect}",
                key.name
            ),
        );
        // A key of another namespace belongs in the environment's data: no fix.
        let new_name = format!("{prefix}{}", key.name);
        if !key.name.contains(':')
            && let Some(place) = at.name_in(key.key, &key.name)
        {
            let edit = TextEdit::insert(place.start as usize, prefix);
            let title = format!("Rename it to '{new_name}'");
            let fix = Fix::new(Safety::Unsafe, title, edit);
            finding.fixes.push(fix.renaming(key.key, new_name));
        }
    }
}

/// The module of a reader, if Puppet checks the namespace of the file's keys. It only checks
/// hashes; a `lookup_key` function is not called with keys of other namespaces.
fn validating_module<'r>(reader: &'r Reader<'_>) -> Option<&'r str> {
    let as_hash = |reach: &Reach| reach.place.function.kind == FunctionKind::DataHash;
    let module = reader.layer().module_name()?;
    reader.reached().iter().any(as_hash).then_some(module)
}

/// Puppet calls `start_with?` on each top-level key, which only strings and symbols have
/// (`pops/lookup/module_data_provider.rb`).
fn check_mapping(at: &FileContext<'_>, mapping: &MappingAt<'_>, findings: &mut Findings<'_>) {
    if !mapping.is_topmost || at.format() != Format::Yaml {
        return;
    }
    let Some(module) = at.readers().iter().find_map(validating_module) else {
        return;
    };
    let tree = at.tree();
    for &(key, _) in mapping.pairs {
        let node = tree.node(tree.resolve(key));
        if is_no_text(node) && at.refusal().is_none() {
            let range = tree.node(key).range;
            findings.report_as(
                Severity::Error,
                range,
                format!(
                    "the key '{}' is not a string: Puppet fails on every lookup of the module '{module}' that \
                     reads this file; write '{module}::' and a name",
                    shown(range.slice(at.file.text()))
                ),
            );
        }
    }
}

/// Whether a key is certainly neither a string nor a symbol.
fn is_no_text(node: &TreeNode) -> bool {
    if node.tag.is_some() {
        return false;
    }
    match &node.kind {
        NodeKind::Sequence(_) | NodeKind::Mapping(_) => true,
        NodeKind::Scalar(scalar) if scalar.style == ScalarStyle::Plain => {
            use Resolved::{BigInt, Bool, Float, Int, Null};
            let resolved = resolve_plain(&scalar.text);
            matches!(resolved, Bool(_) | Null | Int(_) | BigInt(_) | Float(_))
        }
        NodeKind::Scalar(_) | NodeKind::Alias { .. } => false,
    }
}
