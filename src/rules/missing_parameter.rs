//! `missing-parameter`: a class that data includes needs a value that no level sets.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::touched::FilesWith;
use super::unknown_parameter::classes_of;
use super::{Depends, Facts, FileContext, Findings, Hook, Reader, Related, Rule, Severity};
use crate::analysis::{Analysis, Defined, included_lists};
use crate::lookup::LookupError;
use crate::scope::Scope;
use crate::text::TextRange;
use crate::workspace::{
    CodeFacts, FileDelta, IncludeKind, KeyFact, KeyState, ParameterFact, Root, Snapshot, Within,
};

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
        let codes = file.facts().code.iter();
        let mut declared = codes.flat_map(|code| declared(code));
        declared.any(|it| it.as_deref() == Some(class))
    })
}

/// The classes that a manifest declares with values of its own; nothing for one whose name is computed.
fn declared(code: &CodeFacts) -> impl Iterator<Item = &Option<Arc<str>>> {
    let includes = code.includes.iter();
    let declared = includes.filter(|it| it.kind == IncludeKind::Declaration);
    declared.map(|it| &it.class)
}

/// Whether a manifest declares classes whose names are computed. O(files).
fn may_declare_any(snapshot: &Snapshot) -> bool {
    let codes = snapshot.files().flat_map(|file| &file.facts().code);
    let mut declared = codes.flat_map(|code| declared(code));
    declared.any(|it| it.is_none())
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
        let versions = [&delta.before, &delta.after];
        let [before, after] = versions.map(|facts| {
            let codes = facts.iter().flat_map(|facts| &facts.code);
            codes.flat_map(|code| declared(code)).collect::<Vec<_>>()
        });
        let codes = versions.into_iter().flatten();
        let mut codes = codes.flat_map(|facts| &facts.code);
        let keys = delta.keys();
        let mut names = keys.added.iter().chain(&keys.removed);
        before != after
            || codes.any(|code| may_be_of_site(code))
            || !classes_of(delta).is_empty()
            || names.any(|key| key.contains("::"))
            || !keys.lookup_options.is_empty()
    };
    let mut concerned = FilesWith::new(snapshot);
    if snapshot.delta().files.iter().any(touches) {
        for root in snapshot.roots().environments() {
            for key in included_lists(snapshot, root) {
                concerned.key(&key);
            }
        }
    }
    concerned.files
}

/// Whether a manifest does more than to define classes.
fn may_be_of_site(code: &CodeFacts) -> bool {
    let is_outside = |within: Within| !matches!(within, Within::Definition(_));
    let mut lookups = code.lookups.iter().map(|it| it.within);
    let mut includes = code.includes.iter().map(|it| it.within);
    !code.nodes.is_empty() || lookups.any(is_outside) || includes.any(is_outside)
}
