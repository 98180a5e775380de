//! `missing-parameter`: an included class needs a value that no level sets.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::parameters::concerns_values;
use super::{FileContext, Findings, Related};
use crate::analysis::{Affected, MissingValue, Touched, included_lists};
use crate::text::TextRange;
use crate::workspace::{File, KeyFact, KeyState, Means, Snapshot};

rule!(
    "missing-parameter",
    Error,
    [Key(check), Code(check_code)],
    WORKSPACE,
    files: concerned,
    files_of_nodes: including,
);

/// Reports the classes in a list that manifests include.
fn check(at: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    let mut including = at.snapshot().files_looking_up(&key.name);
    if key.state == KeyState::Read && including.next().is_some() {
        report(at, key.value, findings);
    }
}

/// Reports the classes that a manifest includes.
fn check_code(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    let whole = TextRange::new(0, at.file.text().len());
    report(at, whole, findings);
}

/// Reports the classes that a part of a file includes.
fn report(at: &FileContext<'_>, part: TextRange, findings: &mut Findings<'_>) {
    let missing = at.checker.missing_values();
    let here = missing.filter(|it| it.included.path == *at.file.path());
    for value in here {
        let range = value.included_at(at.checker.analysis());
        if part.cover(range) != part {
            continue;
        }
        let MissingValue {
            class, parameter, ..
        } = value;
        let affected = &value.affected;
        let catalogs = match value.affected {
            Affected::Everyone | Affected::Nodes { count: 1, .. } => "the catalog",
            Affected::Nodes { .. } | Affected::Readers(_) => "their catalogs",
        };
        let finding = findings.report(
            range,
            format!(
                "class '{class}' needs a value for its parameter '{parameter}', and no level sets \
                 '{class}::{parameter}'{affected}: Puppet cannot compile {catalogs}"
            ),
        );
        finding.related.push(Related {
            path: Arc::clone(&value.declared.path),
            range: value.declared.range,
            message: format!("parameter '{parameter}' is declared here"),
        });
        finding
            .related
            .extend(value.ways.iter().map(|(class, at)| Related {
                path: Arc::clone(&at.path),
                range: at.range,
                message: format!("class '{class}' is included here"),
            }));
    }
}

/// The files of [`including`], if a change affects classes, their keys or lists.
fn concerned(touched: &Touched<'_>, keys: &BTreeSet<Arc<str>>) -> BTreeSet<Arc<str>> {
    if concerns_values(touched, keys) {
        including(touched.snapshot)
    } else {
        BTreeSet::new()
    }
}

/// The manifests that include classes which need values, and the files with lists of classes; also
/// those that did before the change.
fn including(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
    let needing = needing_values(snapshot);
    let lists = included_lists(snapshot).into_iter();
    let listing = lists.flat_map(|key| {
        let files = snapshot.iter_files_with(&key);
        let files = files.filter(|file| may_list(file, &key, &needing));
        files
            .map(|file| Arc::clone(file.path()))
            .collect::<Vec<_>>()
    });
    let including = snapshot.files().filter(|file| may_include(file, &needing));
    let including = including.map(|file| Arc::clone(file.path()));
    let before = snapshot.delta().files.iter();
    let before = before.map(|delta| Arc::clone(&delta.path));
    listing.chain(including).chain(before).collect()
}

/// The classes that need values, or did before the change. O(definitions).
fn needing_values(snapshot: &Snapshot) -> BTreeSet<&str> {
    let now = snapshot.files().map(|file| file.facts());
    let before = snapshot
        .delta()
        .files
        .iter()
        .flat_map(|delta| &delta.before);
    let codes = now.chain(before).filter_map(|facts| facts.code.as_deref());
    let definitions = codes.flat_map(|code| code.definitions.iter());
    let needing = definitions.filter(|it| {
        let mut parameters = it.parameters.iter();
        parameters.any(|parameter| parameter.default.is_none())
    });
    needing.map(|it| &*it.name).collect()
}

/// Whether a file's value of a key may name one of the classes.
fn may_list(file: &File, key: &str, classes: &BTreeSet<&str>) -> bool {
    let facts = file.facts().keys.iter().filter(|fact| *fact.name == *key);
    let mut texts = facts.map(|fact| fact.value.slice(file.text()));
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':');
    texts.any(|text| {
        let mut words = text.split(|c| !is_name(c));
        // An alias or an escape stands for another text.
        text.contains(['*', '\\'])
            || words.any(|word| classes.contains(&*word.trim_matches(':').to_lowercase()))
    })
}

/// Whether a manifest may include one of the classes.
fn may_include(file: &File, classes: &BTreeSet<&str>) -> bool {
    let codes = || file.facts().code.iter();
    let includes = || codes().flat_map(|code| code.includes.iter());
    let sure = includes().filter(|include| !include.is_conditional);
    let sure = sure.filter_map(|include| include.known_class());
    let defaults = codes().flat_map(|code| code.default_classes.iter());
    let mut included = sure.chain(defaults.map(|it| &it.class));
    includes().any(|include| matches!(include.means, Some(Means::Parts(_))))
        || included.any(|class| classes.contains(&**class))
}

#[cfg(test)]
#[path = "missing_parameter_tests.rs"]
mod tests;
