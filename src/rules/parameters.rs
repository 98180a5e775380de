//! The files with values of parameters that a change may affect, in type or in value: for the rules about types.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::recheck::paths;
use crate::analysis::{Touched, declares_from, has_conditions, split_key};
use crate::workspace::{
    CodeFacts, DefinitionKind, File, FileDelta, FileFacts, IncludeFact, IncludeKind, LookupFact,
    LookupFunction, LookupKey, Means, SetParameters, Snapshot, Within, path,
};

/// The files with keys of classes that are evaluated in another way: for other nodes, with other
/// variables, or with other parameters from code.
pub(super) fn files_of_parameters(
    touched: &Touched<'_>,
    keys: &BTreeSet<Arc<str>>,
) -> BTreeSet<Arc<str>> {
    let snapshot = touched.snapshot;
    let Some(classes) = evaluated_otherwise(touched, keys) else {
        return files_of_all_parameters(snapshot);
    };
    let prefixes = classes.iter().map(|class| format!("{class}::"));
    let files = prefixes.flat_map(|prefix| files_with_keys(snapshot, &prefix, |_| true));
    files.collect()
}

/// The files with a key of any class.
pub(super) fn files_of_all_parameters(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
    files_with_keys(snapshot, "", |key| key.contains("::"))
}

/// The files with keys that start with a prefix, and that a test accepts.
fn files_with_keys(
    snapshot: &Snapshot,
    prefix: &str,
    accepts: impl Fn(&str) -> bool,
) -> BTreeSet<Arc<str>> {
    let keys = snapshot.key_names(prefix).filter(|key| accepts(key));
    let files = keys.flat_map(|key| paths(snapshot.iter_files_with(key)));
    files.collect()
}

/// Whether a change affects which nodes have classes, or whether levels set their parameters.
pub(super) fn concerns_values(touched: &Touched<'_>, keys: &BTreeSet<Arc<str>>) -> bool {
    let snapshot = touched.snapshot;
    let is_of_class = |key: &Arc<str>| {
        let class = split_key(key).map(|(class, _)| class);
        class.is_some_and(|class| snapshot.files_defining(class).next().is_some())
    };
    let is_new_data = |file: &FileDelta| {
        let mut names = file.keys().added.iter().chain(&file.keys().removed);
        let has_keys = |facts: &FileFacts| facts.error.is_none() && !facts.keys.is_empty();
        let [before, after] = file.versions().map(|facts| facts.map(has_keys));
        before != after || names.any(is_of_class)
    };
    // Lookups in manifests may decide which variables and classes nodes have.
    let is_looked_up = |key: &Arc<str>| {
        let mut asking = snapshot.files_looking_up(key);
        asking.next().is_some() || snapshot.files_that_compute_keys().next().is_some()
    };
    touched.code().next().is_some()
        || touched.files.iter().any(is_new_data)
        || touched.options.iter().flatten().next().is_some()
        || keys.iter().any(is_looked_up)
}

/// The classes that may be evaluated in another way; `None` if any may be.
fn evaluated_otherwise(
    touched: &Touched<'_>,
    keys: &BTreeSet<Arc<str>>,
) -> Option<BTreeSet<Arc<str>>> {
    let snapshot = touched.snapshot;
    let decides = |key: &Arc<str>| {
        lists_classes(snapshot, key)
            || may_decide_variables(snapshot, key)
            || split_key(key).is_some_and(|(class, name)| {
                declares_from(snapshot, class, Some(name)) || has_conditions(snapshot, class)
            })
    };
    if keys.iter().any(decides) {
        return None;
    }
    let mut found = BTreeSet::new();
    for file in touched.code() {
        found.extend(included_otherwise(snapshot, file)?);
        let versions = || file.codes().into_iter().flatten();
        if versions().any(decides_all)
            || evaluates_otherwise(file) && some_manifest_sets_variables(snapshot)
        {
            return None;
        }
        let includes = versions().flat_map(|code| &code.includes);
        let giving = includes.filter(|include| include.sets != SetParameters::Nothing);
        for class in giving.filter_map(|include| include.class.as_ref()) {
            if declares_from(snapshot, class, None) {
                return None;
            }
            found.insert(Arc::clone(class));
        }
    }
    Some(found)
}

/// Whether code may include the classes in the list of a key.
fn lists_classes(snapshot: &Snapshot, key: &str) -> bool {
    let includes = |file: &Arc<File>| {
        let code = file.facts().code.as_deref();
        code.is_some_and(|code| {
            let is_it = |lookup: &&LookupFact| match &lookup.key {
                LookupKey::Literal(known) => **known == *key,
                LookupKey::Partly(_) | LookupKey::Computed => false,
            };
            let mut lookups = code.lookups.iter().filter(is_it);
            lookups.any(|lookup| {
                let mut includes = code.includes.iter();
                lookup.function == LookupFunction::HieraInclude
                    || includes.any(|include| include.is_of_list(lookup.call))
            })
        })
    };
    snapshot.files_looking_up(key).any(includes)
}

/// Whether a manifest that sets variables of nodes or includes classes under conditions may look up
/// a key.
fn may_decide_variables(snapshot: &Snapshot, key: &str) -> bool {
    let asking = snapshot.files_looking_up(key);
    let asking = asking.chain(snapshot.files_that_may_look_up(key));
    let mut asking = asking.chain(snapshot.files_that_compute_keys());
    let decides = |code: &CodeFacts| sets_variables(code) || code.has_conditions(None);
    asking.any(|file| file.facts().code.as_deref().is_some_and(decides))
}

/// Whether code sets variables of nodes, has node blocks, or has functions that manifests may call for nodes.
fn sets_variables(code: &CodeFacts) -> bool {
    let mut definitions = code.definitions.iter();
    !code.variables.is_empty()
        || !code.nodes.is_empty()
        || definitions.any(|it| it.kind == DefinitionKind::Function)
}

/// Whether a change of the code may affect any parameter.
fn decides_all(code: &CodeFacts) -> bool {
    let gives_any = |it: &IncludeFact| it.class.is_none() && it.sets != SetParameters::Nothing;
    // Types can use other types.
    sets_variables(code)
        || code.has_conditions(None)
        || !code.aliases.is_empty()
        || code.includes.iter().any(gives_any)
}

fn some_manifest_sets_variables(snapshot: &Snapshot) -> bool {
    let mut codes = snapshot
        .files()
        .filter_map(|file| file.facts().code.as_deref());
    codes.any(|code| !code.variables.is_empty())
}

/// Whether a change of the site's code may affect the variables that classes see. Includes in the
/// body of a class only affect the included classes.
fn evaluates_otherwise(delta: &FileDelta) -> bool {
    let [before, after] = delta.codes().map(|code| {
        let is_of_site = |within: Within| !matches!(within, Within::Definition(_));
        let code = code.into_iter();
        let includes = code.clone().flat_map(|code| &code.includes);
        let includes = includes.filter(|it| is_of_site(it.within));
        let includes = includes.map(|it| (it.kind, it.class.as_ref(), it.within));
        let calls = code.clone().flat_map(|code| &code.calls);
        let calls = calls.filter(|it| is_of_site(it.within));
        let calls = calls.map(|it| (&it.function, it.within));
        let variables = code.flat_map(|code| &code.variables);
        let variables = variables.map(|it| (&it.name, it.in_node_block));
        (
            includes.collect::<Vec<_>>(),
            calls.collect::<Vec<_>>(),
            variables.collect::<Vec<_>>(),
        )
    });
    // The effects of a function in Ruby depend on its text.
    before != after || path::extension(&delta.path) == Some("rb")
}

/// The classes that may be evaluated for other nodes after a change of code, if they are named
/// literally; `None` if any class may be.
fn included_otherwise(snapshot: &Snapshot, delta: &FileDelta) -> Option<BTreeSet<Arc<str>>> {
    let [before, after] = delta.codes().map(|code| {
        let code = code.into_iter();
        let includes = code.clone().flat_map(|code| &code.includes);
        let includes = includes.filter(|it| it.kind != IncludeKind::Reference);
        let (known, computed): (Vec<_>, Vec<_>) =
            includes.partition(|it| it.known_class().is_some());
        let computed = computed.iter().map(|it| match &it.means {
            Some(Means::Parts(parts)) => (Some(parts), it.within),
            Some(Means::Class(_) | Means::List(_) | Means::Parameter(_) | Means::Beginning(_))
            | None => (None, it.within),
        });
        let computed: Vec<_> = computed.collect();
        // Lists only matter if code includes the result of a lookup.
        let looking = code.clone().filter(|_| !computed.is_empty());
        let lookups = looking.clone().flat_map(|code| &code.lookups);
        let lookups = lookups.map(|it| (it.function, &it.key, it.within));
        let defaults = looking.flat_map(|code| &code.default_classes);
        let defaults = defaults.map(|it| (&it.key, &it.class));
        let calls = code.flat_map(|code| &code.calls);
        let calls = calls.map(|it| (&it.function, it.within));
        let any = (
            lookups.collect::<Vec<_>>(),
            defaults.collect::<Vec<_>>(),
            calls.collect::<Vec<_>>(),
            computed,
        );
        let known = known.iter();
        let known = known.filter_map(|it| Some((it.known_class()?, it.within)));
        (known.collect::<BTreeSet<_>>(), any)
    });
    if before.1 != after.1 || path::extension(&delta.path) == Some("rb") {
        return None;
    }
    let changed = before.0.symmetric_difference(&after.0);
    let mut open: Vec<Arc<str>> = changed.map(|(class, _)| Arc::clone(class)).collect();
    let mut found = BTreeSet::new();
    while let Some(class) = open.pop() {
        if !found.insert(Arc::clone(&class)) {
            continue;
        }
        for code in snapshot
            .files_defining(&class)
            .filter_map(|it| it.facts().code.as_deref())
        {
            let includes = code.includes.iter();
            open.extend(includes.filter_map(|it| it.known_class().cloned()));
            // Computed includes and calls may include any class.
            let is_computed = |it: &IncludeFact| it.known_class().is_none();
            if code.includes.iter().any(is_computed) || !code.calls.is_empty() {
                return None;
            }
        }
    }
    Some(found)
}
