//! `type-mismatch`: a value that a class's parameter does not take.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::touched::{FilesWith, options_look_up, touched_answers};
use super::unknown_parameter::classes_of;
use super::{Depends, Facts, FileContext, Findings, Hook, Reader, Related, Rule, Severity, entry};
use crate::datatype::{self, Mismatch, MismatchKind, Step};
use crate::scope::Scope;
use crate::syntax::{NodeId, Tree};
use crate::value::Value;
use crate::workspace::{KeyFact, KeyState, Snapshot};

pub(super) const RULE: &Rule = &Rule {
    code: "type-mismatch",
    severity: Severity::Error,
    summary: "a value has another type than the class's parameter",
    page: include_str!("../../docs/rules/type-mismatch.md"),
    depends: Depends {
        on: Facts::MANIFESTS.and(Facts::VALUES).and(Facts::OPTIONS),
        files: concerned,
    },
    hooks: &[Hook::Key(check)],
};

fn check(at: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    let is_last = at.facts().key(&key.name).is_some_and(|last| last == key);
    if key.state != KeyState::Read || !is_last {
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
    // What Puppet would make of tokens and of encrypted texts is not known.
    let written = value.inspect();
    if *value == Value::Undef || written.contains("%{") || written.contains("ENC[") {
        return;
    }
    for reader in at.readers() {
        if let Some(found) = of_reader(at, reader, key, value, findings)
            && found > 0
        {
            return;
        }
    }
}

/// Reports what is wrong with a value for the nodes of one root: how much.
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
    let mismatches = datatype::check(&expected, value).err()?;
    let is_known = |m: &&Mismatch| !matches!(m.kind, MismatchKind::Unresolved(_));
    let known: Vec<&Mismatch> = mismatches.into_iter().filter(is_known).collect();
    // Only now: a lookup costs more than a comparison of types.
    let scope = reader.reached.first()?.scope();
    if !is_effective(analysis, root, &key.name, value, &scope) {
        return None;
    }
    let (_, node) = at.top_level(&key.name)?;
    let class = title(&found.class.definition.name);
    let name = &found.parameter.name;
    for mismatch in &known {
        let leaf = leaf(at.tree(), node, &mismatch.path);
        let range = at.tree().node(leaf).range;
        let finding = findings.report(
            range,
            format!("Class[{class}]: parameter '{name}' {mismatch}"),
        );
        finding.related.push(Related {
            path: Arc::clone(found.class.file.path()),
            range: found.parameter.place,
            message: format!("parameter '{name}' is declared here"),
        });
    }
    Some(known.len())
}

/// Whether nodes that read the file surely get this value.
fn is_effective(
    analysis: crate::analysis::Analysis<'_>,
    root: &crate::workspace::Root,
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

/// `Ntp::Server`, as a catalog names the class.
fn title(class: &str) -> String {
    let capital = |segment: &str| {
        let mut chars = segment.chars();
        let first = chars.next().map(|c| c.to_ascii_uppercase());
        first.into_iter().chain(chars).collect::<String>()
    };
    let segments: Vec<String> = class.split("::").map(capital).collect();
    segments.join("::")
}

/// The part of a value that a mismatch is about.
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

/// The files with keys of classes that changed, and those that set a class's key which may be answered with
/// something else now.
fn concerned(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
    let mut concerned = FilesWith::new(snapshot);
    let of_classes = |concerned: &mut FilesWith<'_>| {
        let keys = snapshot.key_names("").filter(|key| key.contains("::"));
        keys.for_each(|key| concerned.key(key));
    };
    if options_look_up(snapshot) {
        of_classes(&mut concerned);
    }
    for key in touched_answers(snapshot) {
        if key.contains("::") {
            concerned.key(&key);
        }
    }
    for delta in &snapshot.delta().files {
        for name in classes_of(delta) {
            concerned.keys_below(&format!("{name}::"));
        }
        let versions = [&delta.before, &delta.after].into_iter().flatten();
        let mut codes = versions.filter_map(|facts| facts.code.as_deref());
        if codes.any(|code| !code.aliases.is_empty()) {
            // Types are used by types: any parameter's may be another one.
            of_classes(&mut concerned);
        }
        for option in &delta.keys().lookup_options {
            match option.starts_with('^') {
                true => of_classes(&mut concerned),
                false => concerned.key(option),
            }
        }
    }
    concerned.files
}
