//! `type-mismatch`: a value does not fit the type of a class's parameter.

mod defaults;
mod effective;
mod known;
mod resources;

use std::collections::BTreeSet;
use std::sync::Arc;

use effective::{EffectiveKey, ReaderLookups};

use super::context::holds_text;
use super::parameters::{files_of_all_parameters, files_of_parameters};
use super::{FileContext, Findings, Reader, Related, entry};
use crate::analysis::{ClassParameter, RootView, Touched};
use crate::datatype::{Mismatch, Step, capitalized};
use crate::eyaml;
use crate::interpolation::has_tokens;
use crate::syntax::{NodeId, Tree};
use crate::value::Value;
use crate::workspace::{KeyFact, KeyState, Root, Snapshot};

rule!(
    "type-mismatch",
    Error,
    [File(check), Code(defaults::check)],
    WORKSPACE,
    files: concerned,
    files_of_nodes: of_nodes,
);

fn concerned(touched: &Touched<'_>, keys: &BTreeSet<Arc<str>>) -> BTreeSet<Arc<str>> {
    let mut files = files_of_parameters(touched, keys);
    files.extend(defaults::concerned(touched, keys));
    files.extend(resources::concerned(touched, keys));
    files
}

fn of_nodes(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
    let mut files = files_of_all_parameters(snapshot);
    files.extend(defaults::with_defaults(snapshot));
    files.extend(resources::with_resources(snapshot));
    files
}

/// Costs a comparison for each key that sets a class parameter; a lookup for those that are merged,
/// or whose own text does not fit; and, for a value that does not fit, a survey of its levels.
fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    let is_typed = |key: &&KeyFact| {
        let type_in = |reader: &Reader<'_>| at.checker.type_of_key(reader.root, &key.name);
        let mut types = at.readers().iter().filter_map(type_in);
        types.next().is_some()
    };
    let is_read = |key: &&KeyFact| key.state == KeyState::Read && at.is_last(key);
    let keys = || at.facts().keys.iter().filter(is_read);
    let mut typed = keys().filter(is_typed).peekable();
    let mut used = keys()
        .filter(|key| resources::may_be_used(at, key))
        .peekable();
    if typed.peek().is_none() && used.peek().is_none() {
        return;
    }
    let analysis = at.checker.analysis();
    let roots = at.readers().iter().map(|reader| reader.root.root);
    let views: Vec<RootView<'_>> = roots.map(|root| analysis.at(root)).collect();
    let readers = at.readers().iter().zip(&views);
    let readers: Vec<ReaderLookups<'_>> = readers
        .map(|(reader, view)| ReaderLookups::new(at, reader, view))
        .collect();
    let is_wanted = |_: &&KeyFact| !at.checker.is_cancelled();
    for key in typed.take_while(is_wanted) {
        check_key(at, key, &readers, findings);
    }
    for key in used.take_while(is_wanted) {
        resources::check_key(at, key, &readers, findings);
    }
}

fn check_key<'c>(
    at: &'c FileContext<'c>,
    key: &'c KeyFact,
    readers: &'c [ReaderLookups<'c>],
    findings: &mut Findings<'_>,
) {
    let typed = readers.iter().filter_map(|it| EffectiveKey::of(it, key));
    let typed: Vec<EffectiveKey<'_>> = typed.collect();
    let Ok(Some(value)) = at.loaded().map(|data| data.get(&key.name)) else {
        return;
    };
    if is_encrypted(value) {
        return;
    }
    let is_literal = !holds_text(value, has_tokens);
    if is_literal {
        for typed in &typed {
            if typed.as_written(value, findings) > 0 {
                return;
            }
        }
    }
    let is_merged = at.checker.is_merged(&key.name);
    let is_converted = at.checker.has_option(&key.name, "convert_to");
    let mut judged: Vec<&EffectiveKey<'_>> = typed.iter().collect();
    judged.retain(|it| !it.has_outside());
    let before = findings.list.len();
    if !is_literal || is_merged || is_converted {
        judged.retain(|judged| {
            findings.list.len() == before
                && !judged.for_readers((is_merged, is_converted), findings)
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
    let checker = at.checker;
    checker.may_be_given(root, (class, &parameter.parameter.name))
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
