//! Hovers in small workspaces: `#- path` begins a file, `$0` is the cursor.

use std::sync::Arc;

use expect_test::Expect;

use super::{Hover, HoverOptions, hover};
use crate::analysis::{Analysis, PROJECT_FILE, Project};
use crate::fixture::{FOLDER, Fixture};
use crate::ide::KnownNodes;
use crate::ide::fixture_tests::{check_cases, nodes};
use crate::lookup::{ConfigCache, PuppetVersion, Settings};
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

/// Evaluates something at the cursor of a workspace.
fn at_cursor<T>(
    text: &str,
    nodes: &KnownNodes,
    answer: impl FnOnce(Analysis<'_>, &str, usize) -> T,
) -> T {
    let fixture = Fixture::new("data/common.yaml", text);
    let (path, offset) = fixture.cursor.clone().expect("a cursor");
    let snapshot = fixture.opened();
    let settings = settings(&snapshot);
    let configs = ConfigCache::default();
    let analysis = Analysis::new(&snapshot, &settings, &configs, nodes);
    answer(analysis, &format!("{FOLDER}/{path}"), offset)
}

fn hover_with(text: &str, nodes: &KnownNodes, selected: Option<&str>) -> Option<Hover> {
    at_cursor(text, nodes, |analysis, path, offset| {
        let analysis = Analysis {
            selected,
            ..analysis
        };
        hover(analysis, path, offset, &HoverOptions::default())
    })
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
    plain_of(hover_with(text, &nodes(known), None))
}

fn plain_of(found: Option<Hover>) -> String {
    found.map_or_else(|| "nothing".into(), |hover| hover.plain)
}

/// The plain text of a hover for one of the known nodes.
fn check_selected(text: &str, known: &str, selected: &str, expected: Expect) {
    let found = hover_with(text, &nodes(known), Some(selected));
    expected.assert_eq(&plain_of(found));
}

/// Checks the plain text of cases, each a part of a workspace, with known nodes.
fn check_all(workspace: impl Fn(&str) -> String, known: &str, cases: Expect) {
    check_cases(cases, |text| plain(&workspace(text), known));
}

/// All forms of a hover.
fn forms(text: &str, known: &str) -> String {
    let link = |path: &str, line: u32| format!("file://{path}#L{line}");
    let options = HoverOptions {
        link: Some(&link),
        ..HoverOptions::default()
    };
    let found = at_cursor(text, &nodes(known), |analysis, path, offset| {
        hover(analysis, path, offset, &options)
    });
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
