//! Completion in `hiera.yaml`: keys, data functions, folders and files.

use super::cursor::{Cursor, Slot};
use super::options::words;
use super::{Item, ItemKind, TypingPlace, facts};
use crate::analysis::RootView;
use crate::hierarchy::{DEFAULTS_KEYS, LEVEL_KEYS, join, locate};
use crate::ide::hover::meaning_of_value;
use crate::text::TextRange;
use crate::workspace::{FileKind, Files as _, Format, RootKind, path};

/// Top-level keys.
const TOP: [&str; 3] = ["version", "defaults", "hierarchy"];

/// Options of Puppet's own functions.
const OPTIONS: [&str; 3] = ["pkcs7_private_key", "pkcs7_public_key", "gpg_gnupghome"];

/// Maximum depth of folders with functions.
const DEEPEST: usize = 3;

/// Maximum number of functions in one answer.
const MAX_FUNCTIONS: usize = 500;

/// The items for a place in `hiera.yaml`.
pub(super) fn items(typing: &TypingPlace<'_>, cursor: &Cursor) -> Vec<Item> {
    let Some(view) = typing.analysis.answering(typing.file.path()) else {
        return Vec::new();
    };
    let steps = cursor.steps_as_words();
    let steps: Vec<&str> = steps.map(|word| word.trim_start_matches(':')).collect();
    match (cursor.slot, steps.as_slice()) {
        (Slot::Key, []) => {
            let mut top = TOP.to_vec();
            if matches!(view.root.kind, RootKind::Module { .. }) {
                top.push("default_hierarchy");
            }
            words(typing, cursor, &top)
        }
        (Slot::Key, ["defaults"]) => words(typing, cursor, &DEFAULTS_KEYS),
        (Slot::Key, ["hierarchy" | "default_hierarchy", "-"]) => words(typing, cursor, &LEVEL_KEYS),
        (Slot::Key, ["hierarchy" | "default_hierarchy"]) => vec![level(cursor)],
        (Slot::Key, [.., "options"]) => words(typing, cursor, &OPTIONS),
        (Slot::Value, ["version"]) => vec![Item::new("5", ItemKind::Word)],
        (Slot::Value, [.., "datadir"]) => entries(&view, cursor, &view.root.dir, false),
        (_, [.., "path" | "glob"] | [.., "paths" | "globs", "-"]) => {
            entries(&view, cursor, &datadir(typing, &view), true)
        }
        (_, [.., "mapped_paths", "-"]) => match mapped_before(typing).len() {
            0 => facts::items(typing, &cursor.typed),
            2 => entries(&view, cursor, &datadir(typing, &view), true),
            _ => Vec::new(),
        },
        (Slot::Value, [.., option @ ("data_hash" | "lookup_key" | "data_dig")]) => {
            functions(&view, option)
        }
        (Slot::Key | Slot::Value, _) => Vec::new(),
    }
}

/// The elements before the cursor in a list of `mapped_paths`.
fn mapped_before<'t>(typing: &TypingPlace<'t>) -> Vec<&'t str> {
    let Some((_, written)) = typing.before().rsplit_once("mapped_paths") else {
        return Vec::new();
    };
    let written = written.trim_start_matches(['"', '\'', ':', ' ']);
    let bare = |element: &'t str| element.trim().trim_matches(['"', '\'']);
    let mut found: Vec<&str> = match written.strip_prefix('[') {
        Some(inner) if inner.contains(']') => return Vec::new(),
        Some(inner) => inner.split(',').map(bare).collect(),
        None => {
            let lines = written.lines().map(str::trim_start);
            let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
            let elements: Option<Vec<&str>> = lines.map(|line| line.strip_prefix('-')).collect();
            let elements = elements.unwrap_or_default().into_iter();
            elements.map(bare).collect()
        }
    };
    // The last one is half typed.
    found.pop();
    found
}

/// The name of an element in `mapped_paths`, if the cursor is in the template.
pub(super) fn mapped_element(typing: &TypingPlace<'_>) -> Option<String> {
    match mapped_before(typing)[..] {
        [_, element] => Some(element.to_owned()),
        _ => None,
    }
}

fn level(cursor: &Cursor) -> Item {
    Item {
        insert: "- name: \n    path: ".to_owned(),
        snippet: Some("- name: ${1:Common}\n    path: ${2:common.yaml}".to_owned()),
        documentation: Some("a level; the first has the highest priority".to_owned()),
        label: if cursor.typed.is_empty() {
            "level".to_owned()
        } else {
            cursor.typed.clone()
        },
        ..Item::new("level", ItemKind::Word)
    }
}

/// The base folder of paths at the cursor.
fn datadir(typing: &TypingPlace<'_>, view: &RootView<'_>) -> String {
    let text = typing.file.text();
    let snapshot = typing.analysis.snapshot;
    let parse = snapshot.parse_of(typing.file, Format::Yaml);
    let spans = locate(&parse.tree);
    let levels = spans.levels();
    let mut around = levels.filter(|level| level.range.touches(typing.offset));
    let around = around.find_map(|level| level.datadir);
    let written = around.or(spans.defaults.datadir);
    let written = written.map_or("data", |range: TextRange| range.slice(text));
    join(&view.root.dir, written.trim_matches(['"', '\'']))
}

/// The folders, and files, in the half-typed folder.
fn entries(view: &RootView<'_>, cursor: &Cursor, from: &str, with_files: bool) -> Vec<Item> {
    let (folder, _) = cursor.typed.rsplit_once('/').unwrap_or_default();
    if folder.contains("%{") {
        return Vec::new();
    }
    let before = if folder.is_empty() {
        String::new()
    } else {
        format!("{folder}/")
    };
    let snapshot = view.analysis.snapshot;
    let folder = path::normalise(&join(from, folder));
    let folder = snapshot.map_deployed_for(Some(view.root), &folder);
    let listed = view.files().list(&folder).into_iter();
    let listed = listed.filter(|(name, _)| !name.starts_with('.'));
    let items = listed.filter_map(|(name, kind)| match kind {
        FileKind::Directory => Some(Item {
            // A path continues inside the folder; a data directory ends with it.
            insert: format!("{before}{name}{}", if with_files { "/" } else { "" }),
            ..Item::new(format!("{before}{name}/"), ItemKind::Folder)
        }),
        FileKind::File => with_files.then(|| Item::new(format!("{before}{name}"), ItemKind::File)),
    });
    items.collect()
}

/// Puppet's own data functions for an option, and those of the environment and its modules.
fn functions(view: &RootView<'_>, option: &str) -> Vec<Item> {
    let own: &[&str] = match option {
        "data_hash" => &["yaml_data", "json_data", "hocon_data"],
        "lookup_key" => &["eyaml_lookup_key"],
        _ => &[],
    };
    let own = own.iter().map(|name| Item {
        documentation: meaning_of_value(name).map(str::to_owned),
        ..Item::new(*name, ItemKind::Function)
    });
    let mut items: Vec<Item> = own.collect();
    let mut names: Vec<String> = Vec::new();
    for (module, dir) in &view.environment.modules {
        for (folder, end, before) in [
            (format!("{dir}/lib/puppet/functions"), ".rb", String::new()),
            (format!("{dir}/functions"), ".pp", format!("{module}::")),
        ] {
            search(view, &folder, end, &before, DEEPEST, &mut names);
        }
    }
    names.sort();
    names.dedup();
    items.extend(names.into_iter().map(|name| Item {
        detail: Some("function of a module".to_owned()),
        ..Item::new(name, ItemKind::Function)
    }));
    items
}

fn search(
    view: &RootView<'_>,
    folder: &str,
    end: &str,
    before: &str,
    depth: usize,
    names: &mut Vec<String>,
) {
    for (name, kind) in view.files().list(folder) {
        if names.len() >= MAX_FUNCTIONS {
            return;
        }
        match kind {
            FileKind::File => {
                names.extend(name.strip_suffix(end).map(|name| format!("{before}{name}")));
            }
            FileKind::Directory if depth > 0 => {
                let (folder, inner) = (format!("{folder}/{name}"), format!("{before}{name}::"));
                search(view, &folder, end, &inner, depth - 1, names);
            }
            FileKind::Directory => {}
        }
    }
}
