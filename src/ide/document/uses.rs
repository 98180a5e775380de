//! The document of the places that look up a key: values, manifests, and the class parameter that
//! automatic parameter lookup sets.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde::Serialize;

use super::{Document, DocumentAnswer};
use crate::analysis::{Analysis, HieraFiles, split_key};
use crate::ide::call_hierarchy::root_of;
use crate::ide::json::json;
use crate::ide::named::Named;
use crate::ide::references::{Role, files_with, in_code};
use crate::ide::target::KeyTarget;
use crate::text::number_of;
use crate::value::KeyHashing;
use crate::workspace::{CodeFacts, DefinitionKind, File, LookupKey, Snapshot};

/// A place that looks up a key.
struct Use {
    at: u32,
    by: String,
    /// The key with the value that looks it up; `None` in a manifest.
    key: Option<Arc<str>>,
}

#[derive(Serialize)]
struct Data<'a> {
    key: &'a str,
    uses: Vec<UseFields<'a>>,
}

#[derive(Serialize)]
struct UseFields<'a> {
    key: Option<Arc<str>>,
    file: &'a str,
    /// From 1.
    line: u32,
}

/// The places that look up a key, in files that nodes read together with the one at `path`; a
/// message if there are none.
pub(super) fn answer(analysis: Analysis<'_>, path: &str, key: &str) -> DocumentAnswer {
    let snapshot = analysis.snapshot;
    let target = KeyTarget::of_root(key);
    let mut files = files_with(analysis, path, &Named::Key(KeyTarget::of_root(key)));
    files.sort_by_key(|file| file.path());
    let mut lines: Vec<(String, String)> = Vec::new();
    let mut data: Vec<UseFields<'_>> = Vec::new();
    for file in files {
        let uses = match &file.facts().code {
            Some(code) => in_manifest(code, &target),
            None => in_values(file, key),
        };
        for one in uses {
            let line = file.line(one.at as usize) + 1;
            let place = format!("{}:{line}", snapshot.short_name(file.path()));
            data.push(UseFields {
                key: one.key,
                file: file.path(),
                line,
            });
            lines.push((place, one.by));
        }
    }
    let mut content = match lines.len() {
        0 => return DocumentAnswer::Message(format!("nothing looks up '{key}'")),
        count => format!("{key} — {}\n", number_of(count, "use")),
    };
    let width = lines.iter().map(|(place, _)| place.chars().count()).max();
    for (place, by) in &lines {
        let pad = width.unwrap_or_default() - place.chars().count();
        let _ = writeln!(content, "  {place}{}  {by}", " ".repeat(pad));
    }
    DocumentAnswer::Document(Document {
        title: format!("Uses of {key}"),
        language: "text",
        content,
        data: Some(json(&Data { key, uses: data })),
        ..Document::default()
    })
}

/// The tokens in values of a data file that look up a key.
fn in_values(file: &File, key: &str) -> Vec<Use> {
    let uses = file.facts().uses().filter(|(_, _, to)| ***to == *key);
    let uses = uses.map(|(by, reference, _)| Use {
        at: reference.range.start,
        by: by.name.to_string(),
        key: Some(by.name.clone()),
    });
    uses.collect()
}

/// The number of places that look up each key of the file at `path`, as in the document of uses.
/// O(files that hierarchies read + tokens in other files + lookups in manifests).
pub(in crate::ide) fn counts(
    analysis: Analysis<'_>,
    path: &str,
    file: &File,
) -> HashMap<Arc<str>, usize> {
    let snapshot = analysis.snapshot;
    let related = HieraFiles::related_to(analysis, path);
    let keys: Vec<&Arc<str>> = file.facts().sorted().map(|key| &key.name).collect();
    let tokens = keys.iter().map(|key| snapshot.references().tokens(key));
    let mut counts: Vec<usize> = tokens.collect();
    let places = keys.iter().enumerate().map(|(at, key)| (&***key, at));
    let places: HashMap<&str, usize, KeyHashing> = places.collect();
    if counts.iter().any(|&count| count > 0) {
        let others = related.others();
        for other in others.filter(|other| **other.path() != *path) {
            let names = other.facts().uses().map(|(_, _, name)| name);
            for at in names.filter_map(|name| places.get(&**name)) {
                counts[*at] = counts[*at].saturating_sub(1);
            }
        }
    }
    for name in snapshot.looked_up("") {
        if let Some(&at) = places.get(&*root_of(name)) {
            counts[at] += calls(snapshot, &related, name);
        }
    }
    for (key, count) in keys.iter().zip(&mut counts) {
        let Some((class, parameter)) = split_key(key) else {
            continue;
        };
        let definitions = snapshot.files_defining(class);
        let definitions = definitions.filter(|file| {
            let code = file.facts().code.as_deref();
            let class = code.and_then(|code| code.definition(DefinitionKind::Class, class));
            class.is_some_and(|class| class.parameter(parameter).is_some())
        });
        let definitions = definitions.filter(|file| related.has_code(file.path()));
        *count += definitions.count();
    }
    let counted = keys.into_iter().zip(counts).filter(|(_, count)| *count > 0);
    counted
        .map(|(key, count)| (Arc::clone(key), count))
        .collect()
}

/// The number of calls in manifests that look up a key, exactly as written.
fn calls(snapshot: &Snapshot, related: &HieraFiles<'_>, name: &Arc<str>) -> usize {
    let files = snapshot.files_looking_up(name);
    let files = files.filter(|file| related.has_code(file.path()));
    let codes = files.filter_map(|file| file.facts().code.as_deref());
    let lookups = codes.flat_map(|code| &code.lookups);
    let is_it = |key: &LookupKey| matches!(key, LookupKey::Literal(key) if key == name);
    lookups.filter(|lookup| is_it(&lookup.key)).count()
}

/// The lookups in a manifest, including the parameter of automatic parameter lookup.
fn in_manifest(code: &CodeFacts, target: &KeyTarget) -> Vec<Use> {
    let mut places = in_code(code, target);
    places.sort_by_key(|one| one.name);
    let uses = places.into_iter().map(|one| Use {
        at: one.name.start,
        by: match (one.role, split_key(&target.root)) {
            (Role::Definition, Some((class, parameter))) => {
                format!("parameter ${parameter} of class {class}")
            }
            (Role::Definition | Role::Use | Role::Option, _) => "lookup in a manifest".to_owned(),
        },
        key: None,
    });
    uses.collect()
}
