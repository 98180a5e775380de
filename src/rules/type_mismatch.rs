//! `type-mismatch`: a value does not fit the type of a class's parameter.

mod effective;

use std::sync::Arc;

use effective::EffectiveKey;

use super::context::holds_text;
use super::parameters::{files_of_all_parameters, files_of_parameters};
use super::{FileContext, Findings, Reader, Related, entry};
use crate::analysis::ClassParameter;
use crate::datatype::{self, Mismatch, MismatchKind, Step, capitalized};
use crate::eyaml;
use crate::interpolation::has_tokens;
use crate::scope::Scope;
use crate::syntax::{NodeId, Tree};
use crate::value::Value;
use crate::workspace::{KeyFact, KeyState, Root};

rule!(
    "type-mismatch",
    Error,
    [Key(check)],
    WORKSPACE,
    files: files_of_parameters,
    files_of_nodes: files_of_all_parameters,
);

fn check(at: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    if key.state != KeyState::Read || !at.is_last(key) {
        return;
    }
    let is_parameter = |reader: &Reader<'_>| {
        let analysis = at.checker.analysis();
        let found = analysis.autoloaded_parameter(reader.root.root, &key.name);
        found.is_some()
    };
    if !at.readers().iter().any(is_parameter) {
        return;
    }
    let Ok(Some(value)) = at.loaded().map(|data| data.get(&key.name)) else {
        return;
    };
    if is_encrypted(value) {
        return;
    }
    let is_literal = !holds_text(value, has_tokens);
    if is_literal {
        for reader in at.readers() {
            if let Some(found) = of_reader(at, reader, key, value, findings)
                && found > 0
            {
                return;
            }
        }
    }
    let is_merged = at.checker.has_option(&key.name, "merge");
    let judged = at
        .readers()
        .iter()
        .filter_map(|it| EffectiveKey::of(at, it, key));
    let mut judged: Vec<EffectiveKey<'_>> = judged.collect();
    let before = findings.list.len();
    if !is_literal || is_merged {
        judged.retain(|judged| {
            findings.list.len() == before && !judged.for_readers(is_merged, findings)
        });
    }
    if findings.list.len() > before {
        return;
    }
    // A value that fits as it is written hardly ever fails for some nodes.
    for judged in judged.iter().filter(|it| !it.fits_as_written()) {
        judged.for_known_nodes(findings);
        if findings.list.len() > before {
            return;
        }
    }
}

/// Whether a parameter gets a value: undef is replaced by the default, if there is one
/// (`Resource::Type#set_resource_parameters`).
fn counts(parameter: ClassParameter<'_>, value: &Value) -> bool {
    *value != Value::Undef || parameter.parameter.default.is_none()
}

/// Whether a value contains an encrypted text.
fn is_encrypted(value: &Value) -> bool {
    holds_text(value, eyaml::is_encrypted)
}

/// Whether a manifest may give the parameter another value.
fn is_given(at: &FileContext<'_>, root: &Root, parameter: ClassParameter<'_>) -> bool {
    let class = &parameter.class.definition.name;
    let analysis = at.checker.analysis();
    analysis.may_be_given(root, class, &parameter.parameter.name)
}

/// Puppet's message.
fn sentence(parameter: ClassParameter<'_>, mismatch: &Mismatch) -> String {
    let class = capitalized(&parameter.class.definition.name);
    let name = &parameter.parameter.name;
    format!("Class[{class}]: parameter '{name}' {mismatch}")
}

fn declared(parameter: ClassParameter<'_>) -> Related {
    let name = &parameter.parameter.name;
    Related {
        path: Arc::clone(parameter.class.file.path()),
        range: parameter.parameter.place,
        message: format!("parameter '{name}' is declared here"),
    }
}

/// Reports the mismatches of a value for the nodes of one root, and returns their number. `None` if
/// the value fits, or if it is not certainly used.
fn of_reader(
    at: &FileContext<'_>,
    reader: &Reader<'_>,
    key: &KeyFact,
    value: &Value,
    findings: &mut Findings<'_>,
) -> Option<usize> {
    let analysis = at.checker.analysis();
    let root = reader.root.root;
    let found = analysis.autoloaded_parameter(root, &key.name)?;
    let expected = analysis.type_of(root, found)?;
    if !counts(found, value) {
        return None;
    }
    let mismatches = datatype::check(&expected, value).err()?;
    let is_known = |m: &&Mismatch| !matches!(m.kind, MismatchKind::Unresolved(_));
    let known: Vec<&Mismatch> = mismatches.into_iter().filter(is_known).collect();
    // This is last, as a lookup costs more than a comparison of types.
    let reach = reader.reached().first()?;
    let scope = reach.scope();
    let class = &found.class.definition.name;
    if at.checker.may_miss_variable(class, reach)
        || !is_effective(analysis, root, &key.name, value, &scope)
        || is_given(at, root, found)
    {
        return None;
    }
    let (_, node) = at.top_level(&key.name)?;
    for mismatch in &known {
        let leaf = leaf(at.tree(), node, &mismatch.path);
        let range = at.tree().node(leaf).range;
        // A null may have no text.
        let range = if range.is_empty() { key.key } else { range };
        let finding = findings.report(range, sentence(found, mismatch));
        finding.related.push(declared(found));
    }
    Some(known.len())
}

/// Whether nodes that read the file certainly get this value.
fn is_effective(
    analysis: crate::analysis::Analysis<'_>,
    root: &Root,
    key: &str,
    value: &Value,
    scope: &Scope,
) -> bool {
    let survey = analysis.at(root).survey(key, scope);
    let is_same = survey
        .answer
        .result
        .as_ref()
        .is_ok_and(|result| result == value);
    is_same && survey.unknowns(&analysis, &[]).is_empty() && survey.outside().is_empty()
}

/// The part of a value that has a mismatch.
fn leaf(tree: &Tree, mut node: NodeId, path: &[Step]) -> NodeId {
    for step in path {
        let resolved = tree.resolve(node);
        let next = match step {
            Step::Entry(key) => entry(tree, resolved, key).map(|(_, value)| value),
            Step::EntryKey(key) => entry(tree, resolved, key).map(|(key, _)| key),
            Step::Index(index) => tree
                .node(resolved)
                .as_sequence()
                .and_then(|elements| elements.get(*index).copied()),
            Step::Parameter(_) | Step::Variant(_) | Step::Signature(_) | Step::Alias(_) => {
                Some(node)
            }
        };
        let Some(next) = next else {
            return node;
        };
        node = next;
    }
    node
}

#[cfg(test)]
#[path = "type_mismatch_tests.rs"]
mod tests;
