//! Reading facts files and nodes files that the command line names.

use std::sync::Arc;

use crate::disk::{self, DiskFiles};
use crate::scope::{
    FACTS_OF_TESTS, NODES_FILES, Nodes, NodesError, plain_yaml, read_json_nodes, read_nodes,
};
use crate::value::{HashMap, Value, from_json, load_yaml, symbol_keys_to_strings};
use crate::workspace::{FileKind, Files};

/// The text of a file that the command line names.
fn text_of(path: &str) -> Result<Arc<str>, String> {
    let text = DiskFiles::new().text(path);
    text.map_err(|error| error.message(path))
}

/// Reads a file as JSON or YAML, by its name; others are tried as JSON, then as YAML
/// (puppet/application/lookup.rb).
fn read<T>(
    path: &str,
    json: impl FnOnce() -> Result<T, String>,
    yaml: impl FnOnce() -> Result<T, String>,
) -> Result<T, String> {
    if path.ends_with(".json") {
        json()
    } else if path.ends_with(".yml") || path.ends_with(".yaml") {
        yaml()
    } else {
        json().or_else(|_| yaml())
    }
}

/// The value of a JSON or YAML file.
fn read_value(path: &str) -> Result<Value, String> {
    let path = disk::absolute(path);
    let text = text_of(&path)?;
    let json = || from_json(&text).map_err(|error| format!("{path}: {error}"));
    read(&path, json, || yaml_value(&path, &text))
}

fn yaml_value(path: &str, text: &str) -> Result<Value, String> {
    load_yaml(plain_yaml(text).as_bytes())
        .map(symbol_keys_to_strings)
        .map_err(|error| error.message(path))
}

/// A facts file: a hash of facts, or `facter`'s and Puppet's own wrapping of one.
pub(super) fn facts(path: &str) -> Result<HashMap, String> {
    let value = read_value(path)?;
    // `puppet facts` and Puppet's fact cache wrap the facts in `values`.
    let facts = match value.get("values") {
        Some(values @ Value::Hash(_)) if value.get("name").is_some() => values.clone(),
        _ => value,
    };
    match facts.as_hash() {
        Some(hash) => Ok(hash.clone()),
        None => Err(format!(
            "Incorrectly formatted data in {path} given via the --facts flag (only accepts yaml \
             and json files)"
        )),
    }
}

/// A nodes file, or saved facts of any form, over common facts.
pub(super) fn nodes(path: &str, common: &HashMap) -> Result<Nodes, String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = [".json", ".yaml", ".yml", ".facts"]
        .iter()
        .find_map(|end| name.strip_suffix(end));
    let stem = stem.unwrap_or(name);
    let at = disk::absolute(path);
    let text = text_of(&at)?;
    let told = |error: NodesError| format!("{path}: {}", error.message);
    let json = || read_json_nodes(&text, stem, common).map_err(told);
    let yaml = || read_nodes(&yaml_value(&at, &text)?, stem, common).map_err(told);
    read(path, json, yaml)
}

/// The nodes of several files or of all files in a folder, later ones over earlier ones of the
/// same name.
pub(super) fn all_nodes(paths: &[String], common: &HashMap) -> Result<Nodes, String> {
    let disk = DiskFiles::new();
    let mut files = Vec::new();
    for path in paths {
        let folder = disk::absolute(path);
        if disk.kind(&folder) != Some(FileKind::Directory) {
            files.push(path.clone());
            continue;
        }
        let names = disk.list(&folder).into_iter();
        let readable = |name: &str| {
            [".json", ".yaml", ".yml", ".facts"]
                .iter()
                .any(|end| name.ends_with(end))
        };
        let names = names.filter(|(name, kind)| *kind == FileKind::File && readable(name));
        files.extend(names.map(|(name, _)| format!("{folder}/{name}")));
    }
    if let [only] = files.as_slice() {
        return nodes(only, common);
    }
    let mut all = Nodes::default();
    for path in &files {
        for node in nodes(path, common)?.all() {
            all.insert(node.as_ref().clone());
        }
    }
    Ok(all)
}

/// Where nodes are described in folders, the weightiest first, as the language server finds it
/// without a setting; for [`all_nodes`], and so the weightiest last. Nothing where there is none.
pub(super) fn found_in(folders: &[String]) -> Vec<String> {
    let disk = DiskFiles::new();
    let of_kind = |folder: &String, name: &str, kind: FileKind| {
        let at = format!("{folder}/{name}");
        (disk.kind(&at) == Some(kind)).then_some(at)
    };
    let files = folders.iter().flat_map(|folder| {
        let file = move |name: &&str| of_kind(folder, name, FileKind::File);
        NODES_FILES.iter().filter_map(file)
    });
    let mut found: Vec<String> = files.collect();
    if found.is_empty() {
        let facts = |folder| of_kind(folder, FACTS_OF_TESTS, FileKind::Directory);
        found.extend(folders.iter().filter_map(facts));
    }
    found.reverse();
    found
}
