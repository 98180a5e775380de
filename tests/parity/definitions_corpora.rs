//! In a real control repository every key leads to its parameter, and every token to its
//! definition; or its hover says why not.
//!
//! The manifests of the corpus are only known by the parameters of their classes. If `LSST_CONTROL`
//! names a checkout of the same repository (with or without the modules of its Puppetfile), that is
//! used instead.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use hiera_ls::analysis::{Analysis, NoParameter, NodeCache, NodeFile, NodeInputs};
use hiera_ls::disk;
use hiera_ls::ide::definition::{declaration, definition};
use hiera_ls::ide::hover::{HoverOptions, hover};
use hiera_ls::interpolation::{TokenKind, tokens};
use hiera_ls::lookup::{ConfigCache, PuppetVersion, Settings};
use hiera_ls::workspace::{File, Format, Snapshot};
use serde_json::{Map, Value, json};

use crate::corpora::{Corpus, copy_tree, corpora};

/// The number of keys or tokens of each kind, with the first ones without any explanation.
#[derive(Default)]
struct Counts {
    kinds: BTreeMap<&'static str, usize>,
    unmentioned: Vec<String>,
    seen: BTreeSet<String>,
}

impl Counts {
    fn add(&mut self, kind: &'static str) {
        *self.kinds.entry(kind).or_default() += 1;
    }

    fn all(&self) -> usize {
        self.kinds.values().sum()
    }
}

/// Writes the classes of the corpus as manifests without bodies.
fn write_manifests(environment: &Path) {
    let text = fs::read_to_string(corpora().unwrap().join("lsst-control/class_params.json"));
    let known: Value = serde_json::from_str(&text.unwrap()).unwrap();
    for class in known["classes"].as_array().unwrap() {
        let shown = class["params"].as_array().unwrap().iter().map(|parameter| {
            let name = parameter["name"].as_str().unwrap();
            let expected = parameter["type"].as_str().unwrap_or("Any");
            match parameter["default"].as_str() {
                Some(default) => format!("  {expected} ${name} = {default},\n"),
                None => format!("  {expected} ${name},\n"),
            }
        });
        let parameters: String = shown.collect();
        let [kind, name] = ["kind", "name"].map(|field| class[field].as_str().unwrap());
        let at = environment.join(class["file"].as_str().unwrap());
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        let before = fs::read_to_string(&at).unwrap_or_default();
        fs::write(at, format!("{before}{kind} {name}(\n{parameters}) {{ }}\n")).unwrap();
    }
    fs::create_dir_all(environment.join("manifests")).unwrap();
    let site = "lookup('classes', Array[String], 'unique').include\n\
                $files = lookup('files', {default_value => undef})\n\
                $packages = lookup('packages', {default_value => undef})\n";
    fs::write(environment.join("manifests/site.pp"), site).unwrap();
}

/// The nodes of the corpus as a nodes file.
fn write_nodes(corpus: &Corpus, environment: &Path) {
    let nodes: Map<String, Value> = corpus
        .nodes
        .iter()
        .map(|node| {
            let part = |name: &str| node.scope.get(name).cloned().unwrap_or_default();
            let own = json!({
                "facts": part("facts"), "trusted": part("trusted"), "variables": part("variables"),
            });
            (node.name.clone(), own)
        })
        .collect();
    let text = Value::Object(nodes).to_string();
    fs::write(environment.join("nodes.json"), text).unwrap();
}

/// The text of a hover, on one line.
fn hover_at(analysis: Analysis<'_>, file: &File, offset: usize) -> String {
    // A long page says how to see the rest of it.
    let options = HoverOptions {
        max_lines: usize::MAX,
        ..HoverOptions::default()
    };
    let shown = hover(analysis, file.path(), offset, &options);
    let text = shown.map(|shown| shown.plain).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The definitions of each key of a file, or the hover's explanation.
fn count_keys(analysis: Analysis<'_>, file: &File, facts: &[NodeFile], counts: &mut Counts) {
    let Some(view) = analysis.governing(file.path()) else {
        return;
    };
    let snapshot = analysis.snapshot;
    for key in &file.facts().keys {
        // The hover is the same in every file.
        if &*key.name == "lookup_options" || !counts.seen.insert(key.name.to_string()) {
            continue;
        }
        let offset = key.key.start as usize;
        let is_declared = || {
            let declared = declaration(analysis, file.path(), offset, facts);
            let places = declared.into_iter().flat_map(|declared| declared.places);
            places.into_iter().any(|place| place.path.ends_with(".pp"))
        };
        let is_looked_up = || {
            let mut users = snapshot.references().users(&key.name);
            users.next().is_some() || snapshot.files_looking_up(&key.name).next().is_some()
        };
        let hover_contains = |words: &str| hover_at(analysis, file, offset).contains(words);
        let (kind, is_right) = match analysis.no_parameter(view.root, &key.name) {
            None => ("class parameter", is_declared()),
            Some(NoParameter::OtherName) => {
                if is_looked_up() {
                    ("of no class, looked up by its name", true)
                } else {
                    ("of no class, and not looked up in the workspace", true)
                }
            }
            // A missing module is only mentioned if something names it.
            Some(NoParameter::NoModule(_)) => {
                if hover_contains("which is not in this workspace") {
                    ("of a module that is not in the workspace", true)
                } else {
                    ("of a name that may be no module's", true)
                }
            }
            Some(NoParameter::NoManifests(_)) => (
                "of a module whose manifests are not in the workspace",
                hover_contains("whose manifests are not in this workspace"),
            ),
            Some(NoParameter::NoClass(_)) => (
                "of no class that its module has",
                hover_contains("not found in module"),
            ),
            Some(NoParameter::NoSuchParameter) => (
                "of no parameter that the class has",
                hover_contains("has no parameter")
                    || hover_contains("no parameter of that name; looked up in"),
            ),
        };
        counts.add(kind);
        if !is_right {
            let text = hover_at(analysis, file, offset);
            let place = format!("{} {} ({kind}): {text}", file.path(), key.name);
            counts.unmentioned.push(place);
        }
    }
}

/// The definition of each token of a file, or the hover's explanation.
fn count_tokens(analysis: Analysis<'_>, file: &File, facts: &[NodeFile], counts: &mut Counts) {
    let parse = analysis
        .snapshot
        .parse_of(file, file.format().unwrap_or(Format::Yaml));
    for (_, node) in parse
        .tree
        .nodes()
        .filter(|(_, node)| node.as_scalar().is_some())
    {
        for token in tokens(node.range.slice(file.text())) {
            let offset = (node.range.start + token.inner.start) as usize;
            let (kind, reasons): (_, &[&str]) = match token.kind {
                TokenKind::Variable { .. } => (
                    "variable",
                    &[
                        "undefined",
                        "depends on the node",
                        "not known",
                        "not in this workspace",
                    ],
                ),
                TokenKind::Call { .. } => ("lookup", &["not found", "a literal"]),
                TokenKind::Empty => ("empty", &["the empty string"]),
                TokenKind::UnknownMethod { .. } | TokenKind::Malformed | TokenKind::Unclosed => {
                    ("mistake", &["Puppet"])
                }
            };
            let found = definition(analysis, file.path(), offset, facts);
            if found.is_some_and(|found| !found.places.is_empty()) {
                counts.add(kind);
                continue;
            }
            let shown = hover_at(analysis, file, offset);
            counts.add("no definition, which its hover explains");
            if !reasons.iter().any(|reason| shown.contains(reason)) {
                let token = token.range.slice(node.range.slice(file.text()));
                counts
                    .unmentioned
                    .push(format!("{} {token}: {shown}", file.path()));
            }
        }
    }
}

fn report(what: &str, counts: &Counts) {
    println!("lsst-control: {} {what}", counts.all());
    for (kind, count) in &counts.kinds {
        println!("{count:>7} {kind}");
    }
    let unmentioned = &counts.unmentioned;
    assert!(
        unmentioned.is_empty(),
        "nothing is said of {}:\n{}",
        unmentioned.len(),
        unmentioned[..unmentioned.len().min(20)].join("\n")
    );
}

#[test]
fn every_key_and_token_leads_somewhere_or_says_why_not() {
    let Some(corpus) = Corpus::lsst_control() else {
        return;
    };
    let environment = corpus.environment_dir.clone();
    match std::env::var_os("LSST_CONTROL") {
        Some(checkout) => {
            for folder in ["site", "manifests", "modules"] {
                let _ = fs::remove_dir_all(environment.join(folder));
                let from = Path::new(&checkout).join(folder);
                if from.exists() {
                    copy_tree(&from, &environment.join(folder));
                }
            }
        }
        None => write_manifests(&environment),
    }
    write_nodes(&corpus, &environment);
    let folder = environment.to_str().unwrap();
    let snapshot: &Snapshot = &disk::snapshot_with(folder, &Default::default());
    let settings = Settings::for_version(PuppetVersion::V7).for_editor();
    let configs = ConfigCache::default();
    let inputs = NodeInputs::new(&settings, &configs);
    let config = format!("{folder}/hiera.yaml");
    let set = NodeCache::default().nodes(snapshot, &config, &inputs);
    assert_eq!(set.known.len(), corpus.nodes.len());
    let analysis = Analysis::new(snapshot, &settings, &configs, &set.known);
    let (mut keys, mut all_tokens) = (Counts::default(), Counts::default());
    for file in snapshot.files() {
        let is_data = analysis
            .governing(file.path())
            .is_some_and(|view| !view.reach(file.path()).is_empty());
        if is_data {
            count_keys(analysis, file, &set.files, &mut keys);
        }
        if is_data || **file.path() == *config {
            count_tokens(analysis, file, &set.files, &mut all_tokens);
        }
    }
    report("keys", &keys);
    report("tokens", &all_tokens);
    assert!(keys.kinds["class parameter"] > 50, "{:?}", keys.kinds);
    assert!(all_tokens.kinds["lookup"] > 100, "{:?}", all_tokens.kinds);
}
