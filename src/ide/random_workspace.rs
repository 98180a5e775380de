//! Random workspaces for tests of edits, and the values of all nodes.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::fixture_tests::with_hierarchy;
use crate::analysis::Analysis;
use crate::fixture::{FOLDER, Fixture};
use crate::lookup::{ConfigCache, PuppetVersion, Request, Settings};
use crate::scope::{KnownNodes, Scope};
use crate::workspace::{Change, Snapshot, Workspace};

pub(crate) const KEYS: [&str; 5] = ["a", "m::b", "m::c", "d", "e"];

const VALUES: [&str; 13] = [
    "1",
    "some text",
    "'some text'",
    "[x, y]",
    "\n  - x\n  - y",
    "\n  - x  # first\n  # second\n  - y  # third",
    "{k: 1, l: {k: 2}}",
    "\n  k: some text\n  o: 4",
    "\"%{lookup('a')}\"",
    "'%{alias(\"m::b\")}'",
    "\"%{alias('m::c')}\"  # why",
    "|\n  two\n  lines",
    "&x [z, '%{lookup(\"m::c\")}']",
];

const ENTRIES: [&str; 4] = [
    "a: {merge: deep}",
    "'m::b': {merge: unique}",
    "'^m::': {merge: hash}",
    "d: {merge: {strategy: deep, knockout_prefix: '--'}}",
];

/// The files besides `hiera.yaml`.
pub(crate) const FILES: [&str; 6] = [
    "data/node/n.yaml",
    "data/role/web.yaml",
    "data/role/db.yaml",
    "data/site/ams.yaml",
    "data/site/lon.yaml",
    "data/common.yaml",
];

prop_compose! {
    pub(crate) fn file()(
        keys in proptest::collection::vec((0..KEYS.len(), 0..VALUES.len()), 0..5),
        entries in proptest::sample::subsequence(ENTRIES.to_vec(), 0..2),
        has_options in proptest::bool::weighted(0.2),
        crlf in proptest::bool::weighted(0.2),
    ) -> String {
        let mut text = String::new();
        for (key, value) in keys {
            text.push_str(&format!("{}: {}\n", KEYS[key], VALUES[value]).replace(": \n", ":\n"));
        }
        if has_options && !entries.is_empty() {
            text.push_str(&format!("lookup_options:\n  {}\n", entries.join("\n  ")));
        }
        if crlf { text.replace('\n', "\r\n") } else { text }
    }
}

/// The values of all keys for all combinations of variables, known or unknown.
pub(crate) fn values(snapshot: &Snapshot) -> BTreeMap<String, String> {
    let settings = Settings::for_version(PuppetVersion::V8).for_editor();
    let (configs, nodes) = (ConfigCache::default(), KnownNodes::default());
    let analysis = Analysis::new(snapshot, &settings, &configs, &nodes);
    let view = analysis
        .governing(&format!("{FOLDER}/data/common.yaml"))
        .expect("a root");
    let mut found = BTreeMap::new();
    for role in ["web", "db", "x"] {
        for site in ["ams", "lon", "x"] {
            for node in ["n", "x"] {
                let mut scope = Scope::open();
                scope.bind("facts.role", role);
                scope.bind("facts.site", site);
                scope.bind("trusted.certname", node);
                for key in KEYS {
                    let answer = view.session().lookup(&scope, &Request::key(key));
                    let shown = match &answer.result {
                        Ok(value) => value.inspect(),
                        Err(error) => error.to_string(),
                    };
                    found.insert(format!("{key} for {role} {site} {node}"), shown);
                }
            }
        }
    }
    found
}

/// A workspace with the texts of [`FILES`], all open.
pub(crate) fn workspace(texts: &[String]) -> Arc<Snapshot> {
    workspace_of_texts(texts).snapshot()
}

/// The same as a workspace that can change.
pub(crate) fn workspace_of_texts(texts: &[String]) -> Workspace {
    let workspace = Workspace::new();
    workspace.apply(Change::Folders(vec![FOLDER.into()]));
    let config = Fixture::new("hiera.yaml", &with_hierarchy(""))
        .files
        .remove(0)
        .1;
    let open = |name: &str, text: &str| {
        workspace.apply(Change::open(format!("{FOLDER}/{name}"), text));
    };
    open("hiera.yaml", &config);
    for (name, text) in FILES.iter().zip(texts) {
        open(name, text);
    }
    workspace
}
