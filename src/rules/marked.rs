//! For the tests of rules: workspaces in one text, whose findings are those that it marks.

use super::{Checker, Finding, Rule};
use crate::fixture::{FOLDER, Fixture};
use crate::lookup::PuppetVersion;

/// A hierarchy of two levels.
const TWO_LEVELS: &str =
    "#- hiera.yaml\nversion: 5\nhierarchy: [{name: all, paths: [high.yaml, common.yaml]}]\n";

/// The findings of a workspace are those that it marks; gives them.
pub(super) fn check(text: &str) -> Vec<Finding> {
    check_some(text, |_| true)
}

/// The findings of one rule are those that are marked, in a workspace with the levels
/// `data/high.yaml` and `data/common.yaml`; lines before the first `#- PATH` are of the latter.
pub(super) fn check_levels(rule: &Rule, text: &str) -> Vec<Finding> {
    let text = format!("{TWO_LEVELS}#- data/common.yaml\n{text}");
    check_rule(rule, &text)
}

/// The findings of one rule are those that are marked.
pub(super) fn check_rule(rule: &Rule, text: &str) -> Vec<Finding> {
    check_some(text, |code| code == rule.code)
}

fn check_some(text: &str, is_meant: impl Fn(&str) -> bool) -> Vec<Finding> {
    let fixture = Fixture::new("data/common.yaml", text);
    let snapshot = fixture.on_disk();
    let mut findings = Checker::new(&snapshot, PuppetVersion::V8).all();
    findings.retain(|finding| is_meant(finding.code));
    let places = findings.iter().map(|finding| {
        let file = snapshot.file(&finding.path).expect("the file");
        let line = file.lines().line(finding.range.start as usize) + 1;
        let path = &finding.path[FOLDER.len() + 1..];
        format!("{path}:{line} {}", finding.code)
    });
    let mut places: Vec<String> = places.collect();
    places.sort();
    assert_eq!(places, fixture.marks());
    findings
}
