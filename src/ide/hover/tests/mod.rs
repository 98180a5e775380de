//! Hovers in small workspaces: `#- path` begins a file, `$0` is the cursor.

use std::sync::Arc;

use expect_test::Expect;

use super::{Hover, HoverOptions, hover};
use crate::analysis::{Analysis, PROJECT_FILE, Project};
use crate::fixture::{FOLDER, Fixture};
use crate::ide::KnownNodes;
use crate::ide::fixture_tests::check_cases;
use crate::lookup::{ConfigCache, PuppetVersion, Settings};
use crate::scope::Nodes;
use crate::value::load_yaml;
use crate::workspace::Snapshot;

mod backends;
mod classes;
mod differences;
mod keys;
mod kinds;
mod parts;
mod paths;
mod reach;
mod sources;
mod things;
mod values;
mod whole_values;

struct Cursor {
    snapshot: Arc<Snapshot>,
    path: String,
    offset: usize,
}

/// Reads a workspace with a cursor.
fn fixture(text: &str) -> Cursor {
    let fixture = Fixture::new("data/common.yaml", text);
    let (path, offset) = fixture.cursor.clone().expect("a cursor");
    Cursor {
        snapshot: fixture.opened(),
        path: format!("{FOLDER}/{path}"),
        offset,
    }
}

/// Nodes from the text of a nodes file.
fn nodes(text: &str) -> KnownNodes {
    let value = load_yaml(text.as_bytes()).expect("nodes are YAML");
    KnownNodes::new(&Nodes::read(&value, &Default::default()).expect("nodes"))
}

/// Puppet's settings with the declarations in the workspace's `.hiera-ls.yaml`.
fn settings(snapshot: &Snapshot) -> Settings {
    let path = format!("{FOLDER}/{PROJECT_FILE}");
    let text = snapshot.file(&path).map(|file| file.text().clone());
    let (project, mistakes) = Project::read(&path, &text.unwrap_or_default(), &[]);
    assert_eq!(mistakes, []);
    Settings {
        backends: Arc::new(project.backends),
        ..Settings::for_version(PuppetVersion::V7).for_editor()
    }
}

fn hover_with(text: &str, nodes: &KnownNodes, selected: Option<&str>) -> Option<Hover> {
    let fixture = fixture(text);
    let settings = settings(&fixture.snapshot);
    let configs = ConfigCache::default();
    let analysis = Analysis {
        selected,
        ..Analysis::new(&fixture.snapshot, &settings, &configs, nodes)
    };
    let options = HoverOptions::default();
    hover(analysis, &fixture.path, fixture.offset, &options)
}

/// The plain text of a hover for any node.
fn check(text: &str, expected: Expect) {
    check_nodes(text, "{}", expected);
}

/// The plain text of a hover with known nodes.
fn check_nodes(text: &str, known: &str, expected: Expect) {
    expected.assert_eq(&plain(text, known));
}

fn plain(text: &str, known: &str) -> String {
    let found = hover_with(text, &nodes(known), None);
    found.map_or_else(|| "nothing".into(), |hover| hover.plain)
}

/// The plain text of a hover for one of the known nodes.
fn check_selected(text: &str, known: &str, selected: &str, expected: Expect) {
    let found = hover_with(text, &nodes(known), Some(selected));
    let plain = found.map_or_else(|| "nothing".into(), |hover| hover.plain);
    expected.assert_eq(&plain);
}

/// Checks the plain text of cases, each a part of a workspace, with known nodes.
fn check_all(workspace: impl Fn(&str) -> String, known: &str, cases: Expect) {
    check_cases(cases, |text| plain(&workspace(text), known));
}

/// All forms of a hover.
fn forms(text: &str, known: &str) -> String {
    let fixture = fixture(text);
    let nodes = nodes(known);
    let settings = Settings::for_version(PuppetVersion::V7).for_editor();
    let configs = ConfigCache::default();
    let link = |path: &str, line: u32| format!("file://{path}#L{line}");
    let analysis = Analysis::new(&fixture.snapshot, &settings, &configs, &nodes);
    let options = HoverOptions {
        link: Some(&link),
        ..HoverOptions::default()
    };
    let found = hover(analysis, &fixture.path, fixture.offset, &options);
    let Hover {
        markdown,
        mut aligned,
        plain,
        ..
    } = found.expect("a hover");
    if aligned == markdown {
        aligned = "(the same)".to_owned();
    }
    format!("{markdown}\n-- aligned\n{aligned}\n-- plain\n{plain}")
}

fn check_forms(text: &str, known: &str, expected: Expect) {
    expected.assert_eq(&forms(text, known));
}

/// A hierarchy with a node, a role, a site and a common level.
const HIERARCHY: &str = "\
#- hiera.yaml
version: 5
hierarchy:
  - name: Node
    path: \"node/%{trusted.certname}.yaml\"
  - name: Role
    path: \"role/%{role}.yaml\"
  - name: Site
    path: \"site/%{facts.site}.yaml\"
  - name: Common
    path: common.yaml
";

fn with_hierarchy(files: &str) -> String {
    format!("{HIERARCHY}{files}")
}

const NODES: &str = "
a.example: {facts: {site: ams}, variables: {role: web}}
b.example: {facts: {site: ams}, variables: {role: web}}
c.example: {facts: {site: lhr}, variables: {role: web}}
d.example: {facts: {site: lhr}, variables: {role: db}}
";
