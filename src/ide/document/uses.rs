//! The document of the places that look up a key: values, manifests, and the class parameter that
//! automatic parameter lookup sets.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;

use serde::Serialize;

use super::{Document, DocumentAnswer};
use crate::analysis::{Analysis, HieraFiles, split_key};
use crate::ide::json::json;
use crate::ide::named::Named;
use crate::ide::references::{Role, files_with, in_code, may_refer};
use crate::ide::target::KeyTarget;
use crate::interpolation::root_of;
use crate::text::number_of;
use crate::value::KeyHashing;
use crate::workspace::{Belongs, CodeFacts, DefinitionKind, File, LookupFact, LookupKey};

/// A place that looks up a key.
struct KeyUse {
    at: u32,
    by: String,
    /// The key with the value that looks it up; `None` in a manifest.
    key: Option<Arc<str>>,
}

#[derive(Serialize)]
struct UsesFields<'a> {
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
        data: Some(json(&UsesFields { key, uses: data })),
        ..Document::default()
    })
}

/// The tokens in values of a data file that look up a key.
fn in_values(file: &File, key: &str) -> Vec<KeyUse> {
    let uses = file.facts().uses().filter(|(_, _, to)| ***to == *key);
    let uses = uses.map(|(by, reference, _)| KeyUse {
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
    let used_in = |file: &File| -> Vec<usize> {
        let names = file.facts().uses().map(|(_, _, name)| name);
        names
            .filter_map(|name| places.get(&**name))
            .copied()
            .collect()
    };
    let may_refer = |file: &Arc<File>| may_refer(&related, path, file);
    // The index has the tokens of exactly the files of the workspace.
    if counts.iter().any(|&count| count > 0) {
        let unread = related.unread_files();
        for unrelated in unread.filter(|file| !may_refer(file)) {
            if (analysis.is_cancelled)() {
                return HashMap::new();
            }
            used_in(unrelated)
                .into_iter()
                .for_each(|at| counts[at] -= 1);
        }
    }
    // Files outside the workspace are not in the index.
    let outside = snapshot.open_files();
    let outside = outside.filter(|file| file.belongs() == Belongs::OpenOnly);
    for outside in outside.filter(|file| may_refer(file)) {
        used_in(outside).into_iter().for_each(|at| counts[at] += 1);
    }
    let names = snapshot.looked_up("");
    let names = names.filter(|name| places.contains_key(&*root_of(name)));
    let manifests = names.flat_map(|name| snapshot.files_looking_up(name));
    let manifests: BTreeMap<&Arc<str>, &Arc<File>> =
        manifests.map(|file| (file.path(), file)).collect();
    for manifest in manifests.into_values() {
        if related.has_code(manifest.path())
            && let Some(code) = &manifest.facts().code
        {
            let names = code.lookups.iter().filter_map(looked_up);
            let found = names.filter_map(|name| places.get(&*name));
            found.for_each(|&at| counts[at] += 1);
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

/// The root of the key that a call looks up; `None` if it is computed.
fn looked_up(lookup: &LookupFact) -> Option<Arc<str>> {
    match &lookup.key {
        LookupKey::Literal(key) => Some(root_of(key)),
        LookupKey::Partly(_) | LookupKey::Computed => None,
    }
}

/// The lookups in a manifest, including the parameter of automatic parameter lookup.
fn in_manifest(code: &CodeFacts, target: &KeyTarget) -> Vec<KeyUse> {
    let mut places = in_code(code, target);
    places.sort_by_key(|one| one.name);
    let uses = places.into_iter().map(|one| KeyUse {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{FOLDER, Fixture};
    use crate::ide::fixture_tests::analysed;
    use crate::workspace::{Change, Snapshot};

    /// Two environments with a hundred nodes each, a module with data, a role whose name has a
    /// folder, and a file that no hierarchy reads.
    fn workspace() -> Arc<Snapshot> {
        let mut text = String::new();
        for environment in ["environments/own", "environments/other"] {
            text += &format!(
                "#- {environment}/hiera.yaml\nversion: 5\nhierarchy:\n\
                 - {{name: n, path: 'n/%{{trusted.certname}}.yaml'}}\n\
                 - {{name: r, path: 'r/%{{role}}.yaml'}}\n- {{name: c, path: common.yaml}}\n\
                 - {{name: o, datadir: /outside, path: read.yaml}}\n\
                 #- {environment}/environment.conf\nmodulepath = modules\n\
                 #- {environment}/data/common.yaml\nport: 1\nweb::size: \"%{{lookup('port')}}\"\nunused: 1\n\
                 #- {environment}/data/r/web.yaml\nport: \"%{{lookup('web::size')}} %{{lookup('port')}}\"\n\
                 #- {environment}/data/r/db/main.yaml\nsize: \"%{{lookup('port')}}\"\n\
                 #- {environment}/spec/unread.yaml\nsize: \"%{{lookup('port')}}\"\n\
                 #- {environment}/modules/web/hiera.yaml\nversion: 5\nhierarchy: [{{name: m, path: m.yaml}}]\n\
                 #- {environment}/modules/web/data/m.yaml\nweb::name: \"%{{lookup('port')}}\"\n\
                 #- {environment}/modules/web/manifests/init.pp\n\
                 class web($size) {{ lookup('port.x') lookup('port') lookup(\"'web::size'\") }}\n"
            );
            for node in 0..100 {
                text +=
                    &format!("#- {environment}/data/n/{node}.yaml\nb: \"%{{lookup('port')}}\"\n");
            }
        }
        Fixture::new("environments/own/README.md", &text).opened()
    }

    #[test]
    fn counts_are_those_of_the_documents() {
        let read = workspace();
        let edit =
            |snapshot: &Snapshot, path: &str, text: &str| snapshot.with(Change::open(path, text));
        let use_of_port = "a: \"%{lookup('port')} %{lookup('port')}\"\n";
        let outside = edit(&read, "/outside/unread.yaml", use_of_port);
        let outside = edit(&outside, "/outside/read.yaml", use_of_port);
        let own = format!("{FOLDER}/environments/own/data");
        let edited = edit(&outside, &format!("{own}/n/7.yaml"), "port: 3\n");
        for (snapshot, uses) in [(&*read, 106), (&outside, 108), (&edited, 107)] {
            for file in ["common.yaml", "n/8.yaml", "r/web.yaml", "r/db/main.yaml"] {
                let path = format!("{own}/{file}");
                let file = snapshot.file(&path).unwrap();
                analysed(snapshot, &path, |analysis, _| {
                    let counted = counts(analysis, &path, file);
                    for key in file.facts().sorted() {
                        let listed = match answer(analysis, &path, &key.name) {
                            DocumentAnswer::Document(document) => {
                                document.content.lines().count() - 1
                            }
                            DocumentAnswer::Message(_) => 0,
                        };
                        let count = counted.get(&key.name).copied();
                        assert_eq!(count.unwrap_or_default(), listed, "{path}: {}", key.name);
                    }
                    if let Some(count) = counted.get("port") {
                        assert_eq!(*count, uses, "{path}");
                    }
                });
            }
        }
    }

    #[test]
    fn unread_files_are_those_that_no_hierarchy_contains() {
        let snapshot = workspace();
        let path = format!("{FOLDER}/environments/own/data/common.yaml");
        analysed(&snapshot, &path, |analysis, _| {
            for files in [
                HieraFiles::related_to(analysis, &path),
                HieraFiles::of(analysis),
            ] {
                let unread: Vec<_> = files.unread_files().map(|file| file.path()).collect();
                let all = snapshot.files().filter(|file| !files.contains(file));
                let expected: Vec<_> = all.map(|file| file.path()).collect();
                assert_eq!(unread, expected);
            }
        });
    }
}
