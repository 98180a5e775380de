//! Hovers in small workspaces: `#- path` begins a file, `$0` is the cursor.

use std::sync::Arc;

use super::{Hover, HoverOptions, hover};
use crate::analysis::{Analysis, PROJECT_FILE, Project};
use crate::fixture::FOLDER;
use crate::ide::KnownNodes;
use crate::ide::fixture_tests::{AtCursor, at_cursor, check, check_all, check_cases, nodes};
use crate::lookup::{ConfigCache, PuppetVersion, Settings};
use crate::workspace::Snapshot;

mod backends;
mod classes;
mod differences;
mod keys;
mod kinds;
mod parts;
mod paths;
mod plans;
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

/// Evaluates something at a cursor, with known nodes and the settings of these tests.
fn with_nodes<T>(
    at: &AtCursor<'_>,
    nodes: &KnownNodes,
    answer: impl FnOnce(Analysis<'_>) -> T,
) -> T {
    let snapshot = at.analysis.snapshot;
    let settings = settings(snapshot);
    let configs = ConfigCache::default();
    answer(Analysis {
        selected: at.analysis.selected,
        ..Analysis::new(snapshot, &settings, &configs, nodes)
    })
}

fn hover_at(at: &AtCursor<'_>, nodes: &KnownNodes, options: &HoverOptions<'_>) -> Option<Hover> {
    with_nodes(at, nodes, |analysis| {
        hover(analysis, at.path, at.offset, options)
    })
}

fn hover_with(text: &str, nodes: &KnownNodes, selected: Option<&str>) -> Option<Hover> {
    at_cursor(text, selected, |at| {
        hover_at(&at, nodes, &HoverOptions::default())
    })
}

fn plain_of(found: Option<Hover>) -> String {
    found.map_or_else(|| "nothing".into(), |hover| hover.plain)
}

/// The plain text of a hover with known nodes.
fn plain(at: &AtCursor<'_>, known: &str) -> String {
    plain_of(hover_at(at, &nodes(known), &HoverOptions::default()))
}

/// The plain text of a hover for one of the known nodes.
fn plain_for(at: &AtCursor<'_>, known: &str, selected: &str) -> String {
    plain(&at.with_selected(Some(selected)), known)
}

/// All forms of a hover.
fn forms(at: &AtCursor<'_>, known: &str) -> String {
    let link = |path: &str, line: u32| format!("file://{path}#L{line}");
    let options = HoverOptions {
        link: Some(&link),
        ..HoverOptions::default()
    };
    let Hover {
        markdown,
        mut aligned,
        plain,
        ..
    } = hover_at(at, &nodes(known), &options).expect("a hover");
    if aligned == markdown {
        aligned = "(the same)".to_owned();
    }
    format!("{markdown}\n-- aligned\n{aligned}\n-- plain\n{plain}")
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
