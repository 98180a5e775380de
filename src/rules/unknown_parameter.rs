//! `unknown-parameter`: data is set for a parameter that the class does not have.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::touched::FilesWith;
use super::{Depends, Facts, FileContext, Findings, Fix, Hook, Related, Rule, Safety, Severity};
use crate::analysis::{Defined, split_key};
use crate::text::{TextEdit, nearest};
use crate::workspace::{FileDelta, FileFacts, KeyFact, LookupKey, Snapshot, path};

pub(super) const RULE: &Rule = &Rule {
    code: "unknown-parameter",
    severity: Severity::Warning,
    summary: "data is set for a parameter that the class does not have",
    page: include_str!("../../docs/rules/unknown-parameter.md"),
    depends: Depends {
        on: Facts::MANIFESTS.and(Facts::VALUES),
        files: concerned,
    },
    hooks: &[Hook::Key(check)],
};

fn check(at: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    let Some((class, parameter)) = split_key(&key.name) else {
        return;
    };
    let analysis = at.checker.analysis();
    let roots = at.readers().iter().map(|reader| reader.root.root);
    let classes: Option<Vec<Defined<'_>>> =
        roots.map(|root| analysis.autoloaded(root, class)).collect();
    let Some(classes) = classes else {
        return;
    };
    let lacks = |class: &Defined<'_>| {
        let code = class.file.facts().code.as_deref();
        code.is_some_and(|code| !code.is_broken) && class.parameter(parameter).is_none()
    };
    let Some(first) = classes.first().copied() else {
        return;
    };
    if !classes.iter().all(lacks) || may_be_looked_up(at.snapshot(), &key.name, first) {
        return;
    }
    let names = first.definition.parameters.iter().map(|p| &*p.name);
    let meant = nearest(parameter, names);
    let hint = meant.map(|meant| format!("; did you mean '{meant}'"));
    let finding = findings.report(
        key.key,
        format!(
            "class '{class}' has no parameter '{parameter}': Puppet never reads this key{}",
            hint.unwrap_or_default()
        ),
    );
    finding.related.push(Related {
        path: Arc::clone(first.file.path()),
        range: first.definition.place,
        message: format!("class '{class}'"),
    });
    if let Some(meant) = meant
        && *key.key.slice(at.file.text()) == *key.name
    {
        let meant = format!("{class}::{meant}");
        let title = format!("Rename it to '{meant}'");
        let edit = TextEdit::replace(key.key, meant);
        finding.fixes.push(Fix::new(Safety::Unsafe, title, edit));
    }
}

/// Whether manifests or data may look a key up by its name.
pub(super) fn may_be_looked_up(snapshot: &Snapshot, key: &str, class: Defined<'_>) -> bool {
    let dotted = format!("{key}.");
    if snapshot.files_looking_up(key).next().is_some()
        || snapshot.looked_up(&dotted).next().is_some()
        || snapshot.files_that_may_look_up(key).next().is_some()
        || snapshot.references().users(key).next().is_some()
    {
        return true;
    }
    // Keys that are computed are mostly those of the same module.
    let manifests = class.file.path().split("/manifests/").next();
    let mut computed = snapshot.files_that_compute_keys();
    manifests.is_none_or(|module| computed.any(|file| path::within(file.path(), module).is_some()))
}

/// The files with keys of classes that changed, and with keys that manifests or data began or ceased
/// to look up.
fn concerned(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
    let mut concerned = FilesWith::new(snapshot);
    for delta in &snapshot.delta().files {
        for name in classes_of(delta) {
            concerned.keys_below(&format!("{name}::"));
        }
        lookups_that_changed(delta, &mut concerned);
    }
    concerned.files
}

/// Adds the files with keys that a manifest or data began or ceased to look up, or may have.
pub(super) fn lookups_that_changed(delta: &FileDelta, concerned: &mut FilesWith<'_>) {
    let versions = [&delta.before, &delta.after];
    for facts in versions.into_iter().flatten() {
        for reference in facts.references() {
            concerned.key(&reference.key);
        }
        looked_up(facts, concerned);
    }
    let [before, after] = versions.map(|facts| facts.as_deref().is_some_and(computes_keys));
    if before != after {
        concerned.keys_below("");
    }
}

/// Whether a manifest looks keys up of which nothing is known.
fn computes_keys(facts: &FileFacts) -> bool {
    let mut lookups = facts.code.iter().flat_map(|code| code.lookups.iter());
    lookups.any(|lookup| matches!(lookup.key, LookupKey::Computed))
}

/// The classes that a manifest defines or defined.
pub(super) fn classes_of(delta: &FileDelta) -> BTreeSet<Arc<str>> {
    let versions = [&delta.before, &delta.after].into_iter().flatten();
    let codes = versions.filter_map(|facts| facts.code.as_deref());
    let definitions = codes.flat_map(|code| code.definitions.iter());
    definitions.map(|d| Arc::clone(&d.name)).collect()
}

/// Adds the files with keys that a manifest looks up by name.
fn looked_up(facts: &FileFacts, concerned: &mut FilesWith<'_>) {
    let lookups = facts.code.iter().flat_map(|code| code.lookups.iter());
    for lookup in lookups {
        match &lookup.key {
            LookupKey::Literal(key) => concerned.key(key.split('.').next().unwrap_or(key)),
            LookupKey::Prefix(prefix) => concerned.keys_below(prefix),
            LookupKey::Computed => {}
        }
    }
}
