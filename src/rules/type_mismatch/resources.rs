//! The part about hashes whose entries become resources of a defined type.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::effective::ReaderLookups;
use super::known::NO_CLASS;
use super::{is_given, leaf};
use crate::analysis::{ClassParameter, Defined, Touched, split_key};
use crate::datatype::{self, MismatchKind, Step, capitalized};
use crate::eyaml;
use crate::interpolation::has_tokens;
use crate::puppet::METAPARAMETERS;
use crate::rules::context::{entry, holds_text};
use crate::rules::parameters::concerns_values;
use crate::rules::recheck::paths;
use crate::rules::{FileContext, Findings, Related, Severity};
use crate::syntax::NodeId;
use crate::text::{TextRange, nearest};
use crate::value::Value;
use crate::workspace::{
    CodeFacts, DefinitionKind, File, KeyFact, LookupFunction, LookupKey, ResourceSource,
    ResourcesOfData, Snapshot, Within,
};

/// A statement that makes resources of the value of a key.
struct ResourceUse<'c> {
    file: &'c Arc<File>,
    fact: &'c ResourcesOfData,
    /// The class around it.
    class: Defined<'c>,
}

/// A mistake in an entry.
struct Wrong {
    range: TextRange,
    message: String,
    suggestion: Option<String>,
    declared: Option<TextRange>,
}

/// Reports the entries of a value that Puppet refuses as parameters of a defined type. O(code that looks
/// the key up); a lookup if something is wrong.
pub(super) fn check_key(
    at: &FileContext<'_>,
    key: &KeyFact,
    readers: &[ReaderLookups<'_>],
    findings: &mut Findings<'_>,
) {
    for lookups in readers {
        for made in uses(lookups, key) {
            let before = findings.list.len();
            check_use(at, key, (lookups, &made), findings);
            if findings.list.len() > before {
                return;
            }
        }
    }
}

/// Whether code makes resources of the values of some key.
pub(super) fn may_be_used(at: &FileContext<'_>, key: &KeyFact) -> bool {
    let snapshot = at.snapshot();
    let makes = |file: &Arc<File>| {
        let code = file.facts().code.as_deref();
        code.is_some_and(|code| !code.resources.of_data.is_empty())
    };
    let of_class = || {
        let (class, _) = split_key(&key.name)?;
        Some(snapshot.files_defining(class).any(makes))
    };
    snapshot.files_looking_up(&key.name).any(makes) || of_class().unwrap_or_default()
}

/// The statements that certainly make resources of a key's value in the classes that a root sees.
fn uses<'c>(lookups: &ReaderLookups<'c>, key: &KeyFact) -> Vec<ResourceUse<'c>> {
    let analysis = lookups.at.checker.analysis();
    let root = lookups.reader.root.root;
    let mut found = Vec::new();
    if let Some((class, parameter)) = split_key(&key.name)
        && let Some(class) = analysis.autoloaded(root, class)
        && let Some(parameter) = class.parameter(parameter)
        && !is_given(lookups.at, root, parameter)
    {
        let is_its = |source: &ResourceSource| match source {
            ResourceSource::Parameter(name) => *name == parameter.parameter.name,
            ResourceSource::Lookup(_) => false,
        };
        add_uses(class, &is_its, &mut found);
    }
    let is_alone = lookups.at.snapshot().count_with(&key.name) == 1;
    for file in lookups.at.snapshot().files_looking_up(&key.name) {
        let Some(code) = file.facts().code.as_deref() else {
            continue;
        };
        let is_its = |source: &ResourceSource| match source {
            ResourceSource::Parameter(_) => false,
            ResourceSource::Lookup(call) => {
                let mut all = code.lookups.iter().filter(|lookup| lookup.call == *call);
                let only = all.next().filter(|_| all.next().is_none());
                // Where another strategy is given, other files could add to the entries.
                only.is_some_and(|lookup| {
                    let is_merged =
                        lookup.merge.is_some() || lookup.function != LookupFunction::Lookup;
                    lookup.key == LookupKey::Literal(Arc::clone(&key.name))
                        && (is_alone || !is_merged)
                })
            }
        };
        let classes = code.definitions.iter();
        for definition in classes.filter(|it| it.kind == DefinitionKind::Class) {
            let loaded = analysis.autoloaded(root, &definition.name);
            let is_loaded = |class: &Defined<'_>| class.file.path() == file.path();
            if let Some(class) = loaded.filter(is_loaded) {
                add_uses(class, &is_its, &mut found);
            }
        }
    }
    found
}

fn add_uses<'c>(
    class: Defined<'c>,
    is_its: &dyn Fn(&ResourceSource) -> bool,
    found: &mut Vec<ResourceUse<'c>>,
) {
    let Some(code) = class
        .file
        .facts()
        .code
        .as_deref()
        .filter(|it| !it.is_broken)
    else {
        return;
    };
    let is_in = |fact: &ResourcesOfData| match fact.within {
        Within::Definition(at) => {
            let around = code.definitions.get(at as usize);
            around.is_some_and(|it| {
                it.kind == DefinitionKind::Class && it.name == class.definition.name
            })
        }
        Within::Top | Within::Node(_) => false,
    };
    let facts = code.resources.of_data.iter();
    let facts = facts.filter(|fact| is_in(fact) && !fact.is_conditional && is_its(&fact.source));
    found.extend(facts.map(|fact| ResourceUse {
        file: class.file,
        fact,
        class,
    }));
}

fn check_use(
    at: &FileContext<'_>,
    key: &KeyFact,
    (lookups, made): (&ReaderLookups<'_>, &ResourceUse<'_>),
    findings: &mut Findings<'_>,
) {
    let root = lookups.reader.root.root;
    let analysis = at.checker.analysis();
    let Some(defined) = analysis.autoloaded_type(root, &made.fact.type_name) else {
        return;
    };
    let is_broken = |file: &File| {
        let code = file.facts().code.as_deref();
        code.is_none_or(|code| code.is_broken)
    };
    let Ok(Some(value)) = at.loaded().map(|data| data.get(&key.name)) else {
        return;
    };
    let Some((_, node)) = at.top_level(&key.name) else {
        return;
    };
    if is_broken(defined.file) || holds_text(value, has_tokens) {
        return;
    }
    let wrong = wrong_entries((lookups, made), defined, value, node);
    // This is last, as it costs a lookup.
    let is_certain = || {
        let reach = lookups.reader.reached().first();
        !at.checker.has_outside(lookups.reader.root, &key.name)
            && reach.is_some_and(|reach| {
                !at.checker
                    .may_miss_variable(&made.class.definition.name, reach)
                    && lookups.is_effective(&key.name, value)
            })
            && !is_changed_elsewhere(at.snapshot(), &made.fact.type_name)
    };
    if wrong.is_empty() || !is_certain() {
        return;
    }
    let no_class = lookups.no_reader_has(&made.class.definition.name);
    for wrong in wrong {
        let (severity, end) = if no_class {
            (Severity::Warning, NO_CLASS)
        } else {
            (Severity::Error, "")
        };
        let message = format!("{}{end}", wrong.message);
        let finding = findings.report_as(severity, wrong.range, message);
        if let Some(suggestion) = &wrong.suggestion {
            finding.did_you_mean(suggestion);
        }
        finding.related.extend(wrong.declared.map(|range| Related {
            path: Arc::clone(defined.file.path()),
            range,
            message: "the parameter is declared here".to_owned(),
        }));
        finding.related.push(Related {
            path: Arc::clone(made.file.path()),
            range: made.fact.place,
            message: format!(
                "each entry becomes a resource '{}' here",
                made.fact.type_name
            ),
        });
    }
}

/// Whether code gives resources of a type other parameters: defaults, overrides or collectors. O(code).
fn is_changed_elsewhere(snapshot: &Snapshot, type_name: &str) -> bool {
    let mut codes = snapshot
        .files()
        .filter_map(|file| file.facts().code.as_deref());
    codes.any(|code| code.resources.changed.iter().any(|it| **it == *type_name))
}

/// What Puppet says about the entries (`Resource::Type#validate_resource_hash`).
fn wrong_entries(
    (lookups, made): (&ReaderLookups<'_>, &ResourceUse<'_>),
    defined: Defined<'_>,
    value: &Value,
    node: NodeId,
) -> Vec<Wrong> {
    let mut found = Vec::new();
    let entries = value.as_hash().into_iter().flatten();
    for (title, attributes) in entries {
        let Some(title) = title.as_str() else {
            continue;
        };
        let Some((title_node, attributes_node)) = entry(lookups.at.tree(), node, title) else {
            continue;
        };
        let place = (title, title_node, attributes_node);
        let Value::Hash(attributes) = attributes else {
            let has = if attributes.is_undef() {
                "no value"
            } else {
                "another value"
            };
            found.push(Wrong {
                range: lookups.at.tree().node(title_node).range,
                message: format!(
                    "{} the entry must be a hash of parameters, and has {has}: Puppet fails",
                    subject(made, title)
                ),
                suggestion: None,
                declared: None,
            });
            continue;
        };
        let get = |name: &str| {
            let mut all = attributes.iter();
            all.find_map(|(key, value)| (key.as_str() == Some(name)).then_some(value))
        };
        let names = attributes.keys().filter_map(Value::as_str);
        found.extend(unknown(lookups, made, defined, place, names));
        found.extend(of_parameters(lookups, made, defined, place, &get));
    }
    found
}

/// An entry: its title, and the nodes of the title and of the attributes.
type Entry<'e> = (&'e str, NodeId, NodeId);

fn subject(made: &ResourceUse<'_>, title: &str) -> String {
    format!("{}[{title}]:", capitalized(&made.fact.type_name))
}

/// The attributes that are no parameters.
fn unknown<'e>(
    lookups: &ReaderLookups<'_>,
    made: &ResourceUse<'_>,
    defined: Defined<'_>,
    (title, _, attributes): Entry<'_>,
    names: impl Iterator<Item = &'e str>,
) -> Vec<Wrong> {
    let tree = lookups.at.tree();
    let is_unknown =
        |name: &&str| !METAPARAMETERS.contains(name) && defined.parameter(name).is_none();
    let unknown = names.filter(is_unknown).filter_map(|name| {
        let (key, _) = entry(tree, attributes, name)?;
        let parameters = defined.definition.parameters.iter().map(|it| &*it.name);
        Some(Wrong {
            range: tree.node(key).range,
            message: format!("{} has no parameter named '{name}'", subject(made, title)),
            suggestion: nearest(name, parameters).map(str::to_owned),
            declared: None,
        })
    });
    unknown.collect()
}

/// The parameters without a value, and those with a value of another type.
fn of_parameters<'v>(
    lookups: &ReaderLookups<'_>,
    made: &ResourceUse<'_>,
    defined: Defined<'_>,
    (title, title_node, attributes_node): Entry<'_>,
    get: &dyn Fn(&str) -> Option<&'v Value>,
) -> Vec<Wrong> {
    let analysis = lookups.at.checker.analysis();
    let tree = lookups.at.tree();
    let mut found = Vec::new();
    for parameter in &defined.definition.parameters {
        let name = &*parameter.name;
        let declared = Some(parameter.place);
        let is_given = made.fact.given.iter().any(|given| **given == *name);
        let Some(value) = get(name) else {
            if parameter.default.is_none() && !is_given && !METAPARAMETERS.contains(&name) {
                found.push(Wrong {
                    range: tree.node(title_node).range,
                    message: format!(
                        "{} expects a value for parameter '{name}'",
                        subject(made, title)
                    ),
                    suggestion: None,
                    declared,
                });
            }
            continue;
        };
        // Undef selects the default. Puppet refuses what code gives as well.
        let is_default = value.is_undef() && parameter.default.is_some();
        if is_given || is_default || holds_text(value, eyaml::is_encrypted) {
            continue;
        }
        let of_type = ClassParameter {
            class: defined,
            parameter,
        };
        let Some(expected) = analysis.type_of(lookups.reader.root.root, of_type) else {
            continue;
        };
        let Err(mismatches) = datatype::check(&expected, value) else {
            continue;
        };
        for mismatch in &mismatches {
            if matches!(mismatch.kind, MismatchKind::Unresolved(_)) {
                continue;
            }
            let mut path = vec![Step::Entry(name.to_owned())];
            path.extend(mismatch.path.iter().cloned());
            let part = leaf(tree, attributes_node, &path);
            found.push(Wrong {
                range: tree.node(part).range,
                message: format!("{} parameter '{name}' {mismatch}", subject(made, title)),
                suggestion: None,
                declared,
            });
        }
    }
    found
}

/// The files with values that become resources, if a change affects code, or which nodes have classes.
pub(super) fn concerned(touched: &Touched<'_>, keys: &BTreeSet<Arc<str>>) -> BTreeSet<Arc<str>> {
    let mut codes = touched.files.iter().flat_map(|file| file.codes());
    if !codes.any(|code| code.is_some()) && !concerns_values(touched, keys) {
        return BTreeSet::new();
    }
    let before = touched.files.iter().flat_map(|file| file.codes()).flatten();
    let now = touched
        .snapshot
        .files()
        .filter_map(|file| file.facts().code.as_deref());
    let sources: BTreeSet<Arc<str>> = before.chain(now).flat_map(sources).collect();
    let files = sources
        .iter()
        .flat_map(|key| paths(touched.snapshot.iter_files_with(key)));
    files.collect()
}

/// The files with values that become resources.
pub(super) fn with_resources(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
    let codes = snapshot
        .files()
        .filter_map(|file| file.facts().code.as_deref());
    let sources: BTreeSet<Arc<str>> = codes.flat_map(sources).collect();
    let files = sources
        .iter()
        .flat_map(|key| paths(snapshot.iter_files_with(key)));
    files.collect()
}

/// The keys whose values code makes resources of.
fn sources(code: &CodeFacts) -> Vec<Arc<str>> {
    let key = |fact: &ResourcesOfData| match &fact.source {
        ResourceSource::Parameter(name) => match fact.within {
            Within::Definition(at) => {
                let class = code.definitions.get(at as usize)?;
                Some(Arc::from(format!("{}::{name}", class.name)))
            }
            Within::Top | Within::Node(_) => None,
        },
        ResourceSource::Lookup(call) => {
            let lookup = code.lookups.iter().find(|it| it.call == *call)?;
            match &lookup.key {
                LookupKey::Literal(key) => Some(Arc::clone(key)),
                LookupKey::Partly(_) | LookupKey::Computed => None,
            }
        }
    };
    code.resources.of_data.iter().filter_map(key).collect()
}

#[cfg(test)]
#[path = "resources_tests.rs"]
mod tests;
