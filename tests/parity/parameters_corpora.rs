//! The classes, defined types and parameters of real manifests equal those from Puppet's own parser
//! (`class_params.json` of the corpora): kind, name, parent, types, defaults and lines.
//!
//! The corpora have no manifests: `LSST_CONTROL` and `MAGIC_CASTLE` name checkouts of the same
//! repositories.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hiera_ls::text::TextRange;
use hiera_ls::workspace::{Change, CodeFacts, DefinitionKind, File, Workspace};
use serde_json::{Value, json};

use crate::corpora::corpora;

/// A definition in the form of `class_params.json`, without its file.
fn shown(file: &File, code: &CodeFacts) -> Vec<Value> {
    let text = file.text();
    let line = |range: TextRange| file.lines().line(range.start as usize) + 1;
    let written = |range: Option<TextRange>| range.map(|range| range.slice(text).to_owned());
    let mut found = Vec::new();
    for one in &code.definitions {
        let kind = match one.kind {
            DefinitionKind::Class => "class",
            DefinitionKind::DefinedType => "define",
            _ => continue,
        };
        let parameters = one.parameters.iter().map(|parameter| {
            json!({
                "name": &*parameter.name,
                "type": written(parameter.expected),
                "default": written(parameter.default),
                "line": line(parameter.place),
            })
        });
        found.push(json!({
            "kind": kind,
            "name": &*one.name,
            "parent": one.parent.as_ref().map(|(name, _)| &**name),
            "line": line(one.range),
            "params": parameters.collect::<Vec<Value>>(),
        }));
    }
    found
}

/// The differences between the manifests of a checkout and Puppet's parser; with the number of
/// compared definitions.
fn differences(corpus: &str, checkout: &Path) -> (usize, Vec<String>) {
    let known = corpora()
        .expect("the corpora")
        .join(corpus)
        .join("class_params.json");
    let known: Value = serde_json::from_str(&std::fs::read_to_string(known).unwrap()).unwrap();
    let mut files: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for class in known["classes"].as_array().unwrap() {
        let mut class = class.as_object().unwrap().clone();
        let file = class.remove("file").unwrap();
        let file = file.as_str().unwrap().to_owned();
        files.entry(file).or_default().push(Value::Object(class));
    }
    let (mut compared, mut wrong) = (0, Vec::new());
    for (path, mut expected) in files {
        let Ok(text) = std::fs::read_to_string(checkout.join(&path)) else {
            continue;
        };
        let at: Arc<str> = format!("/repo/{path}").into();
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec!["/repo".into()]));
        let snapshot = workspace.apply(Change::open(Arc::clone(&at), text.as_str()));
        let file = snapshot.file(&at).unwrap();
        let facts = file.facts();
        let mut found = facts
            .code
            .as_deref()
            .map_or(Vec::new(), |code| shown(file, code));
        let name = |one: &Value| one["name"].to_string();
        expected.sort_by_key(name);
        found.sort_by_key(name);
        compared += expected.len();
        for (expected, found) in expected.iter().zip(&found) {
            if expected != found {
                wrong.push(format!("{path}\n  Puppet {expected}\n  here   {found}"));
            }
        }
        if expected.len() != found.len() {
            wrong.push(format!("{path}: {} of {}", found.len(), expected.len()));
        }
    }
    (compared, wrong)
}

#[test]
fn parameters_are_those_that_puppets_parser_names() {
    if corpora().is_none() {
        return;
    }
    for (corpus, variable) in [
        ("lsst-control", "LSST_CONTROL"),
        ("magic_castle", "MAGIC_CASTLE"),
    ] {
        let Some(checkout) = std::env::var_os(variable).map(PathBuf::from) else {
            eprintln!("SKIPPED: {variable} names no checkout: its manifests were not compared");
            continue;
        };
        let (compared, wrong) = differences(corpus, &checkout);
        assert!(
            compared > 0,
            "{} has no manifests of {corpus}",
            checkout.display()
        );
        assert!(
            wrong.is_empty(),
            "{} differ:\n{}",
            wrong.len(),
            wrong.join("\n")
        );
        eprintln!(
            "{corpus}: {compared} classes and defined types are as Puppet's parser names them"
        );
    }
}
