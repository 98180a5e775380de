//! Lookups in code that have a merge of their own, and the functions of Hiera 3.
//!
//! `hiera`, `hiera_array`, `hiera_hash` and `hiera_include` return the same in Puppet 7, 8 and OpenVox 9, and all three
//! warn once for each of them (`hiera/puppet_function.rb`). They differ from `lookup` in this: `hiera` has the merge
//! `first` whatever `lookup_options` say; without a hierarchy of the environment they ask the global layer only; their
//! third argument names a level of Hiera 3.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::analysis::{LackingCache, RootView, is_site_manifest};
use crate::ide::compare::changes;
use crate::ide::hover::merge_of;
use crate::ide::matrix::{Row, SourceLine, row_by_any};
use crate::lookup::Request;
use crate::page::yaml;
use crate::scope::KnownNodes;
use crate::text::{TextEdit, TextRange};
use crate::value::Value;
use crate::workspace::{
    CodeFacts, DefinitionKind, File, Language, LookupFact, LookupFunction, LookupKey, Snapshot,
    Within, language_of,
};

/// Maximum width of a merge, in characters.
const WIDEST: usize = 40;

/// A call in code that looks a key up with a merge of its own.
pub(super) struct CallWithMerge {
    pub(super) key: Arc<str>,
    pub(super) merge: Value,
    /// The merge for people.
    pub(super) written: Arc<str>,
    pub(super) place: SourceLine,
}

/// A call of a function of Hiera 3.
#[derive(Debug)]
pub struct HieraCall {
    /// The function.
    pub function: Arc<str>,
    /// The key, if it is literal.
    pub key: Option<Arc<str>>,
    /// The file.
    pub path: Arc<str>,
    /// The place of the call.
    pub place: SourceLine,
    /// The known nodes whose catalogs certainly make the call.
    pub nodes: Vec<Arc<str>>,
    /// The edit that replaces it by `lookup`, for every node with the same value; or why there is none.
    pub edits: Result<Vec<TextEdit>, WhyKept>,
}

/// Why a call of a function of Hiera 3 is not replaced.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum WhyKept {
    /// The environment has no hierarchy, or one of version 3: the function asks the global layer only.
    GlobalOnly,
    /// It is Ruby code.
    Ruby,
    /// Its key is computed.
    Computed,
    /// It has a third argument, the name of a level.
    Level,
    /// Its result is used, and would be another one.
    Result,
    /// It is written as a method, without brackets, or with an argument that is not read.
    Form,
}

/// The calls of some files that have a merge of their own, ordered by key and merge. O(calls).
pub(super) fn with_merge(snapshot: &Snapshot, is_own: &dyn Fn(&str) -> bool) -> Vec<CallWithMerge> {
    let calls = calls_of(snapshot, is_own).filter_map(|(file, _, lookup)| {
        let LookupKey::Literal(key) = &lookup.key else {
            return None;
        };
        let merge = merge_of(lookup, file.text())?;
        Some(CallWithMerge {
            key: key.clone(),
            written: Arc::from(yaml::inline(&merge, WIDEST)),
            merge,
            place: place_of(file, lookup),
        })
    });
    let mut calls: Vec<CallWithMerge> = calls.collect();
    calls.sort_by(|one, other| (&one.key, &one.written).cmp(&(&other.key, &other.written)));
    calls
}

/// The literal keys that some files look up.
pub(super) fn named_keys(snapshot: &Snapshot, is_own: &dyn Fn(&str) -> bool) -> BTreeSet<Arc<str>> {
    let keys = calls_of(snapshot, is_own).filter_map(|(_, _, lookup)| match &lookup.key {
        LookupKey::Literal(key) => Some(key.clone()),
        LookupKey::Partly(_) | LookupKey::Computed => None,
    });
    keys.collect()
}

/// The calls of functions of Hiera 3 in some files of an environment.
pub(super) fn of_hiera(
    view: &RootView<'_>,
    known: &KnownNodes,
    is_own: &dyn Fn(&str) -> bool,
) -> Vec<HieraCall> {
    let snapshot = view.analysis.snapshot;
    let calls = calls_of(snapshot, is_own);
    let calls: Vec<_> = calls
        .filter_map(|(file, code, lookup)| Some((file, code, lookup, name_of(lookup.function)?)))
        .collect();
    if calls.is_empty() {
        return Vec::new();
    }
    let order = view.analysis.evaluation_order(view.root);
    let included =
        view.analysis
            .certain_inclusions(view.root, (known, &LackingCache::default()), &order);
    let has_hierarchy = has_own_hierarchy(view);
    let calls = calls.into_iter().map(|(file, code, lookup, function)| {
        let members = (0..known.len()).filter(|member| match lookup.within {
            Within::Top => is_site_manifest(snapshot, view.root, file),
            Within::Definition(at) => code.definitions.get(at as usize).is_some_and(|it| {
                it.kind == DefinitionKind::Class && included.has(&it.name, *member)
            }),
            Within::Node(_) => false,
        });
        let edits = match has_hierarchy {
            true => edits_of(view, file, lookup, function),
            false => Err(WhyKept::GlobalOnly),
        };
        HieraCall {
            function: Arc::from(function),
            key: match &lookup.key {
                LookupKey::Literal(key) => Some(key.clone()),
                LookupKey::Partly(_) | LookupKey::Computed => None,
            },
            path: file.path().clone(),
            place: place_of(file, lookup),
            nodes: match lookup.is_conditional {
                true => Vec::new(),
                false => members.map(|member| known.shared_name(member)).collect(),
            },
            edits,
        }
    });
    calls.collect()
}

/// The calls of some files with literal keys or others.
fn calls_of<'s>(
    snapshot: &'s Snapshot,
    is_own: &dyn Fn(&str) -> bool,
) -> impl Iterator<Item = (&'s Arc<File>, &'s CodeFacts, &'s LookupFact)> {
    let files = snapshot.files().filter(|file| is_own(file.path()));
    let files = files.filter_map(|file| Some((file, file.facts().code.as_deref()?)));
    files.flat_map(|(file, code)| code.lookups.iter().map(move |lookup| (file, code, lookup)))
}

fn place_of(file: &File, lookup: &LookupFact) -> SourceLine {
    SourceLine {
        file: file.path().clone(),
        line: file.line(lookup.call.start as usize) + 1,
    }
}

/// The name of a function of Hiera 3.
fn name_of(function: LookupFunction) -> Option<&'static str> {
    match function {
        LookupFunction::Lookup | LookupFunction::Other => None,
        LookupFunction::Hiera => Some("hiera"),
        LookupFunction::HieraArray => Some("hiera_array"),
        LookupFunction::HieraHash => Some("hiera_hash"),
        LookupFunction::HieraInclude => Some("hiera_include"),
    }
}

/// Whether the environment has a hierarchy that these functions ask
/// (`LookupAdapter#has_environment_data_provider?`).
fn has_own_hierarchy(view: &RootView<'_>) -> bool {
    let at = format!("{}/hiera.yaml", view.root.dir);
    let file = view.analysis.snapshot.file(&at);
    let config = file.and_then(|file| file.facts().config.as_ref());
    config.is_some_and(|config| config.version > 3)
}

/// The edits that replace a call by `lookup`, which has the same merge and the same default. They leave out the key and
/// the default, which may have edits of their own.
fn edits_of(
    view: &RootView<'_>,
    file: &File,
    lookup: &LookupFact,
    function: &str,
) -> Result<Vec<TextEdit>, WhyKept> {
    if !matches!(language_of(file.path()), Some(Language::Puppet(_))) {
        return Err(WhyKept::Ruby);
    }
    // `lookup` accepts lists of keys, which these functions refuse.
    let literal = match &lookup.key {
        LookupKey::Literal(key) => Some(key),
        LookupKey::Partly(_) => None,
        LookupKey::Computed => return Err(WhyKept::Computed),
    };
    let text = file.text();
    let source = lookup.call.slice(text);
    let before_key = &text[lookup.call.start as usize..lookup.place.start as usize];
    let bracket = before_key.strip_prefix(function).map(str::trim);
    let key = lookup.place.slice(text);
    if bracket != Some("(") || !key.starts_with(['\'', '"']) {
        return Err(WhyKept::Form);
    }
    let last = lookup.default.unwrap_or(lookup.place);
    let between = match lookup.default {
        Some(default) => &text[lookup.place.end as usize..default.start as usize],
        None => ",",
    };
    let rest = text[last.end as usize..lookup.call.start as usize + source.len()].trim_start();
    if between.trim() != "," || !rest.starts_with([')', ',']) {
        return Err(WhyKept::Form);
    }
    if rest.starts_with(',') {
        return Err(WhyKept::Level);
    }
    let is_include = lookup.function == LookupFunction::HieraInclude;
    if is_include && (rest.len() > 1 || !is_statement(&text[..lookup.call.start as usize])) {
        return Err(WhyKept::Result);
    }
    let merge = match lookup.function {
        LookupFunction::HieraArray | LookupFunction::HieraInclude => Some("unique"),
        LookupFunction::HieraHash => Some("hash"),
        LookupFunction::Hiera | LookupFunction::Lookup | LookupFunction::Other => {
            let is_plain = literal.is_some_and(|key| is_first_found(view, key));
            (!is_plain).then_some("first")
        }
    };
    let merge = merge.map(|merge| format!("'merge' => '{merge}'"));
    let opened = if is_include {
        "include(lookup("
    } else {
        "lookup("
    };
    let closed = if is_include { ")" } else { "" };
    let (call, place) = (lookup.call, lookup.place);
    let mut edits = vec![TextEdit {
        range: TextRange::new(call.start as usize, place.start as usize),
        new_text: opened.to_owned(),
    }];
    match lookup.default {
        Some(default) => {
            let merge = merge.map_or_else(String::new, |merge| format!("{merge}, "));
            edits.push(TextEdit {
                range: TextRange::new(place.end as usize, default.start as usize),
                new_text: format!(", {{{merge}'default_value' => "),
            });
            edits.push(TextEdit::insert(
                default.end as usize,
                format!("}}{closed}"),
            ));
        }
        None => {
            let options = merge.map_or_else(String::new, |merge| format!(", {{{merge}}}"));
            edits.push(TextEdit::insert(
                place.end as usize,
                format!("{options}{closed}"),
            ));
        }
    }
    edits.retain(|edit| !edit.range.is_empty() || !edit.new_text.is_empty());
    Ok(edits)
}

/// Whether a call behind this text stands alone, so that nothing uses its result.
fn is_statement(before: &str) -> bool {
    let line = before.trim_end_matches([' ', '\t']);
    line.is_empty() || line.ends_with(['\n', '{', '}', ';'])
}

/// Whether a lookup of a key certainly has the value that `first` finds: for every known node, or for all possible
/// facts.
fn is_first_found(view: &RootView<'_>, key: &Arc<str>) -> bool {
    let plain = Request::key(key).with_sources();
    let first = Request {
        merge: Some(Value::from("first")),
        ..plain.clone()
    };
    let rows = [first, plain].map(|request| row_by_any(view, &request));
    let is_sure = |row: &Row| row.answers.iter().all(|cell| cell.unknown.is_none());
    !view.analysis.nodes.is_empty()
        && rows.iter().all(is_sure)
        && changes(&rows[0], &rows[1]).is_empty()
}
