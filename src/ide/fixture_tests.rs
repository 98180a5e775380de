//! Helpers for tests of features: an analysis of a fixture, and places as text.

use std::sync::Arc;

use expect_test::Expect;

use super::file_place::FilePlace;
use crate::analysis::{Analysis, NodeCache, NodeFile, NodeInputs};
use crate::fixture::{FOLDER, Fixture};
use crate::lookup::{ConfigCache, PuppetVersion, Settings};
use crate::scope::{KnownNodes, Nodes};
use crate::text::TextRange;
use crate::value::load_yaml;
use crate::workspace::Snapshot;

/// A hierarchy of four levels, in the folder `data`.
pub(crate) const HIERARCHY: &str = "\
#- hiera.yaml
version: 5
defaults: {datadir: data, data_hash: yaml_data}
hierarchy:
  - {name: Node, path: \"node/%{trusted.certname}.yaml\"}
  - {name: Role, path: \"role/%{facts.role}.yaml\"}
  - {name: Site, path: \"site/%{facts.site}.yaml\"}
  - {name: Common, path: common.yaml}
";

pub(crate) fn with_hierarchy(text: &str) -> String {
    format!("{HIERARCHY}{text}")
}

/// A fixture with this text in the file of the common level.
pub(crate) fn in_common(text: &str) -> String {
    with_hierarchy(&format!("#- data/common.yaml\n{text}"))
}

/// Nodes from the text of a nodes file.
pub(crate) fn nodes(text: &str) -> KnownNodes {
    let value = load_yaml(text.as_bytes()).expect("nodes are YAML");
    KnownNodes::new(&Nodes::read(&value, &Default::default()).expect("nodes"))
}

/// A fixture with its cursor.
#[derive(Clone, Copy)]
pub(crate) struct AtCursor<'a> {
    /// The text of the fixture.
    fixture: &'a str,
    pub(crate) analysis: Analysis<'a>,
    pub(crate) path: &'a str,
    pub(crate) offset: usize,
    pub(crate) facts: &'a [NodeFile],
}

impl<'a> AtCursor<'a> {
    /// The same place with another selected node.
    pub(crate) fn with_selected<'b>(&self, selected: Option<&'b str>) -> AtCursor<'b>
    where
        'a: 'b,
    {
        let analysis = Analysis {
            selected,
            ..self.analysis
        };
        AtCursor { analysis, ..*self }
    }

    /// The answer here; the same in the [`half_typed`] variants of the fixture.
    pub(crate) fn also_half_typed(&self, answer: impl Fn(&AtCursor<'_>) -> String) -> String {
        let expected = answer(self);
        for text in half_typed(self.fixture) {
            let found = at_cursor(&text, self.analysis.selected, |cursor| answer(&cursor));
            assert_eq!(found, expected, "{text}");
        }
        expected
    }
}

/// Checks what a feature answers at the cursor of a fixture, as text.
pub(crate) fn check(text: &str, answer: impl Fn(&AtCursor<'_>) -> String, expected: Expect) {
    expected.assert_eq(&at_cursor(text, None, |cursor| answer(&cursor)));
}

/// Like [`check`] for several cases, each a part or a change of a workspace.
pub(crate) fn check_all(
    workspace: impl Fn(&str) -> String,
    answer: impl Fn(&AtCursor<'_>) -> String,
    cases: Expect,
) {
    check_cases(cases, |text| {
        at_cursor(&workspace(text), None, |cursor| answer(&cursor))
    });
}

/// Evaluates something at the cursor of a fixture with all files open; `nodes.json` has the known nodes.
pub(crate) fn at_cursor<T>(
    text: &str,
    selected: Option<&str>,
    answer: impl FnOnce(AtCursor<'_>) -> T,
) -> T {
    let fixture = Fixture::new("data/common.yaml", text);
    let (path, offset) = fixture.cursor.clone().expect("a cursor");
    let path = format!("{FOLDER}/{path}");
    analysed(&fixture.opened(), &path, |analysis, facts| {
        answer(AtCursor {
            fixture: text,
            analysis: Analysis {
                selected,
                ..analysis
            },
            path: &path,
            offset,
            facts,
        })
    })
}

/// Evaluates something in a workspace, with the known nodes of a file.
pub(crate) fn analysed<T>(
    snapshot: &Snapshot,
    path: &str,
    answer: impl FnOnce(Analysis<'_>, &[NodeFile]) -> T,
) -> T {
    let settings = Settings::for_version(PuppetVersion::V8).for_editor();
    let configs = ConfigCache::default();
    let inputs = NodeInputs::new(&settings, &configs);
    let set = NodeCache::default().nodes(snapshot, path, &inputs);
    let analysis = Analysis::new(snapshot, &settings, &configs, &set.known);
    answer(analysis, &set.files)
}

/// The text with a half-typed end of the cursor's file: an unclosed entry, and a word without a
/// colon. Empty if the file is JSON or no data.
fn half_typed(text: &str) -> Vec<String> {
    let cursor = text.find("$0").expect("a cursor");
    let end = text[cursor..].find("\n#- ").map(|at| cursor + at + 1);
    let path = text[..cursor].rfind("#- ").map(|at| &text[at + 3..]);
    let path = path.and_then(|rest| rest.lines().next());
    if path.is_some_and(|path| !path.ends_with(".yaml") || path.ends_with("hiera.yaml")) {
        return Vec::new();
    }
    let (before, behind) = text.split_at(end.unwrap_or(text.len()));
    let lines = ["half: [a, \"b\n", "hal\n"];
    lines
        .map(|line| format!("{}\n{line}{behind}", before.trim_end_matches('\n')))
        .to_vec()
}

/// Checks cases that are written one below the other: a line after `$ ` is a text, in which `\n`
/// stands for a line break, and the lines below it are its answer. Lines after `## ` are
/// titles.
pub(crate) fn check_cases(cases: Expect, answer: impl Fn(&str) -> String) {
    let mut shown = String::new();
    for line in cases.data().lines().map(str::trim_start) {
        if let Some(text) = line.strip_prefix("$ ") {
            let answer = answer(&text.replace("\\n", "\n"));
            let end = if answer.is_empty() { "" } else { "\n" };
            shown += &format!("{line}\n{answer}{end}");
        } else if line.starts_with("## ") {
            shown += &format!("{line}\n");
        }
    }
    cases.assert_eq(&shown);
}

/// A text with a change, written as `from → to`.
pub(crate) fn changed(text: &str, change: &str) -> String {
    let (from, to) = change.split_once(" → ").expect("a change");
    assert_eq!(text.matches(from).count(), 1, "{from}");
    text.replace(from, to)
}

/// `PATH:LINE NAME` of a place.
pub(crate) fn shown(snapshot: &Snapshot, place: &FilePlace) -> String {
    let below = place.path.strip_prefix(FOLDER).unwrap_or(&place.path);
    let below = below.trim_start_matches('/');
    let Some(file) = snapshot.file(&place.path) else {
        return below.to_owned();
    };
    let line = file.line(place.name.start as usize) + 1;
    assert!(place.whole.contains(place.name), "{place:?}");
    let name = text_of(file.text(), place.name);
    format!("{below}:{line} {name}").trim_end().to_owned()
}

/// The text of a range, on one line.
pub(crate) fn text_of(text: &Arc<str>, range: TextRange) -> String {
    range.slice(text).replace('\n', "\\n")
}

/// [`shown`] for several places, one on each line.
pub(crate) fn all_shown(snapshot: &Snapshot, places: &[FilePlace]) -> String {
    let lines = places.iter().map(|place| shown(snapshot, place));
    lines.collect::<Vec<_>>().join("\n")
}
