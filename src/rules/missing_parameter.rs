//! `missing-parameter`: a class that data includes needs a value that no level sets.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Depends, Facts, FileContext, Findings, Hook, Reader, Related, Rule, Severity};
use crate::analysis::{Analysis, Defined, included_lists};
use crate::lookup::LookupError;
use crate::scope::Scope;
use crate::text::TextRange;
use crate::workspace::{FileDelta, IncludeKind, KeyFact, KeyState, ParameterFact, Root, Snapshot};

pub(super) const RULE: &Rule = &Rule {
    code: "missing-parameter",
    severity: Severity::Error,
    summary: "a class that data includes needs a value that no level sets",
    page: include_str!("../../docs/rules/missing-parameter.md"),
    depends: Depends {
        on: Facts::MANIFESTS.and(Facts::VALUES).and(Facts::OPTIONS),
        files: concerned,
    },
    hooks: &[Hook::Key(check)],
};

fn check(at: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    let snapshot = at.snapshot();
    if key.state != KeyState::Read || snapshot.files_looking_up(&key.name).next().is_none() {
        return;
    }
    let Some((_, list)) = at.top_level(&key.name) else {
        return;
    };
    let tree = at.tree();
    let Some(elements) = tree.node(tree.resolve(list)).as_sequence() else {
        return;
    };
    for reader in at.readers() {
        let analysis = at.checker.analysis();
        let root = reader.root.root;
        if !analysis.includes_list(root, &key.name) {
            continue;
        }
        let Some(scope) = scope_of(analysis, reader, &key.name) else {
            continue;
        };
        for &element in elements {
            let element = tree.resolve(element);
            let Some(text) = tree.scalar_text(element) else {
                continue;
            };
            let name = text.trim_start_matches("::").to_lowercase();
            let Some(class) = analysis.autoloaded(root, &name) else {
                continue;
            };
            if is_declared(snapshot, &name) {
                continue;
            }
            let missing = missing(analysis, root, class, &scope);
            if !missing.is_empty() && may_declare_any(snapshot) {
                return;
            }
            for parameter in missing {
                report(class, parameter, tree.node(element).range, findings);
            }
        }
    }
}

/// The scope of the nodes that read a file, if these surely include all classes of a list in it.
fn scope_of(analysis: Analysis<'_>, reader: &Reader<'_>, list: &str) -> Option<Scope> {
    let reach = reader.reached.first()?;
    let scope = reach.scope();
    let view = analysis.at(reader.root.root);
    let has_options = view.in_scope(&scope).options_entry(list).is_some();
    (!has_options).then_some(scope)
}

/// Whether a manifest declares a class with values of its own.
fn is_declared(snapshot: &Snapshot, class: &str) -> bool {
    let mut files = snapshot.files_naming_class(class);
    files.any(|file| {
        let includes = file
            .facts()
            .code
            .iter()
            .flat_map(|code| code.includes.iter());
        let mut declared = includes.filter(|it| it.kind == IncludeKind::Declaration);
        declared.any(|it| it.class.as_deref() == Some(class))
    })
}

/// Whether a manifest declares classes whose names are computed. O(files).
fn may_declare_any(snapshot: &Snapshot) -> bool {
    let codes = snapshot.files().flat_map(|file| &file.facts().code);
    let mut includes = codes.flat_map(|code| code.includes.iter());
    includes.any(|it| it.kind == IncludeKind::Declaration && it.class.is_none())
}

/// The parameters of a class that need a value, for which a lookup surely finds none.
fn missing<'a>(
    analysis: Analysis<'a>,
    root: &'a Root,
    class: Defined<'a>,
    scope: &Scope,
) -> Vec<&'a ParameterFact> {
    let code = class.file.facts().code.as_deref();
    if code.is_none_or(|code| code.is_broken) {
        return Vec::new();
    }
    let parameters = class.definition.parameters.iter();
    let needed = parameters.filter(|it| it.default.is_none() && !it.captures_rest);
    let is_missing = |parameter: &&ParameterFact| {
        let key = format!("{}::{}", class.definition.name, parameter.name);
        let survey = analysis.at(root).survey(&key, scope);
        let not_found = |error: &LookupError| error.is_not_found();
        survey.answer.result.as_ref().is_err_and(not_found)
            && survey.unknowns(&analysis, &[]).is_empty()
            && survey.outside().is_empty()
    };
    needed.filter(is_missing).collect()
}

fn report(
    class: Defined<'_>,
    parameter: &ParameterFact,
    range: TextRange,
    findings: &mut Findings<'_>,
) {
    let (class_name, name) = (&class.definition.name, &parameter.name);
    let finding = findings.report(
        range,
        format!(
            "class '{class_name}' needs a value for its parameter '{name}', and no level sets \
             '{class_name}::{name}': Puppet refuses the catalog"
        ),
    );
    finding.related.push(Related {
        path: Arc::clone(class.file.path()),
        range: parameter.place,
        message: format!("parameter '{name}' is declared here"),
    });
}

/// The files with lists of classes, where a class or a key of one came, went or has other options.
fn concerned(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
    let touches = |delta: &FileDelta| {
        let mut versions = [&delta.before, &delta.after].into_iter().flatten();
        let is_code = versions.any(|facts| facts.code.is_some());
        let keys = delta.keys();
        let mut names = keys.added.iter().chain(&keys.removed);
        is_code || names.any(|key| key.contains("::")) || !keys.lookup_options.is_empty()
    };
    let mut files = BTreeSet::new();
    if snapshot.delta().files.iter().any(touches) {
        for root in snapshot.roots().environments() {
            for key in included_lists(snapshot, root) {
                let holders = snapshot.iter_files_with(&key);
                files.extend(holders.map(|file| Arc::clone(file.path())));
            }
        }
    }
    files
}
