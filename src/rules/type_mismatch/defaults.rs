//! The part about manifests: defaults of parameters that nodes certainly get, and that Puppet refuses.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::analysis::{Touched, WrongDefaultValue};
use crate::datatype::capitalized;
use crate::puppet::WrongDefault;
use crate::rules::parameters::concerns_values;
use crate::rules::{FileContext, Findings};
use crate::workspace::{CodeFacts, DefinitionKind, File, FileDelta, Snapshot};

/// Reports the wrong defaults of classes in a manifest.
pub(super) fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    if !has_defaults(at.file) {
        return;
    }
    for root in at.snapshot().roots().environments() {
        let Some(site) = at.checker.site_nodes(root) else {
            continue;
        };
        let wrong = at.checker.certain_inclusions(root, &site).wrong_defaults();
        let here = wrong.iter().filter(|it| it.default.path == *at.file.path());
        for value in here {
            if !findings.has(value.default.range) {
                findings.report(value.default.range, message(value));
            }
        }
    }
}

fn message(value: &WrongDefaultValue) -> String {
    let WrongDefaultValue {
        class,
        parameter,
        affected,
        ..
    } = value;
    match &value.wrong {
        WrongDefault::Type(mismatch) => format!(
            "Class[{}]: parameter '{parameter}' {mismatch}{affected}: this default is used, as no \
             level sets '{class}::{parameter}'",
            capitalized(class)
        ),
        WrongDefault::Fails(message) => format!(
            "class '{class}' cannot be included{affected}: no level sets '{class}::{parameter}', and \
             this default fails: {message}"
        ),
    }
}

/// The manifests with defaults, if a change affects classes, their keys or lists.
pub(super) fn concerned(touched: &Touched<'_>, keys: &BTreeSet<Arc<str>>) -> BTreeSet<Arc<str>> {
    if concerns_values(touched, keys) {
        with_defaults(touched.snapshot)
    } else {
        children(touched)
    }
}

/// The manifests with classes that inherit from one in a changed manifest.
fn children(touched: &Touched<'_>) -> BTreeSet<Arc<str>> {
    let codes = touched.files.iter().flat_map(FileDelta::codes).flatten();
    let changed = codes.flat_map(|code| code.definitions.iter());
    let changed: BTreeSet<&str> = changed.map(|it| &*it.name).collect();
    if changed.is_empty() {
        return BTreeSet::new();
    }
    let inherits = |file: &&Arc<File>| {
        let code = file.facts().code.iter();
        let mut definitions = code.flat_map(|code| code.definitions.iter());
        definitions.any(|it| {
            let parent = it.parent.as_ref();
            parent.is_some_and(|(parent, _)| changed.contains(&**parent))
        })
    };
    let files = touched.snapshot.files().filter(inherits);
    files.map(|file| Arc::clone(file.path())).collect()
}

/// The manifests with classes that have defaults.
pub(super) fn with_defaults(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
    let files = snapshot.files().filter(|file| has_defaults(file));
    files.map(|file| Arc::clone(file.path())).collect()
}

fn has_defaults(file: &File) -> bool {
    let in_code = |code: &CodeFacts| {
        code.definitions.iter().any(|it| {
            let mut parameters = it.parameters.iter();
            it.kind == DefinitionKind::Class && parameters.any(|it| it.default.is_some())
        })
    };
    file.facts().code.as_deref().is_some_and(in_code)
}

#[cfg(test)]
#[path = "defaults_tests.rs"]
mod tests;
