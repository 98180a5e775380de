//! Workspaces in one text that marks the expected findings, for the tests of rules.

use std::sync::Arc;

use super::{Checker, Finding, Rule, Safety, check_file, fixes_together};
use crate::fixture::{FOLDER, Fixture};
use crate::lookup::PuppetVersion;

const TWO_LEVELS: &str =
    "#- hiera.yaml\nversion: 5\nhierarchy: [{name: all, paths: [high.yaml, common.yaml]}]\n";

/// A hierarchy with the only level `data/common.yaml`.
pub(super) const ONE_LEVEL: &str =
    "#- hiera.yaml\nversion: 5\nhierarchy: [{name: c, path: common.yaml}]\n";

/// Asserts that the findings of a workspace are the marked ones, and returns them.
pub(super) fn check(text: &str) -> Vec<Finding> {
    check_some(text, |_| true)
}

/// The same for one rule, in a workspace with the levels `data/high.yaml` and `data/common.yaml`;
/// lines before the first `#- PATH` are in the latter.
pub(super) fn check_levels(rule: &Rule, text: &str) -> Vec<Finding> {
    let text = format!("{TWO_LEVELS}#- data/common.yaml\n{text}");
    check_rule(rule, &text)
}

/// The same for one rule.
pub(super) fn check_rule(rule: &Rule, text: &str) -> Vec<Finding> {
    check_some(text, |code| code == rule.code)
}

/// The findings of one rule in a file; lines before the first `#- PATH` are of that file.
pub(super) fn found(rule: &Rule, path: &str, text: &str) -> Vec<Finding> {
    let snapshot = Fixture::new(path, text).on_disk();
    let mut found = check_file(&snapshot, &format!("{FOLDER}/{path}"));
    found.retain(|finding| finding.code == rule.code);
    found
}

/// The text of a file after those fixes of its findings that can be applied together. Lines before
/// the first `#- PATH` are of that file.
pub(super) fn fixed(
    path: &str,
    text: &str,
    most: Safety,
    is_wanted: impl Fn(&Finding) -> bool,
) -> String {
    let snapshot = Fixture::new(path, text).on_disk();
    let path: Arc<str> = format!("{FOLDER}/{path}").into();
    let checker = Checker::new(&snapshot, PuppetVersion::default());
    let mut found = checker.file(&path).expect("a checked file");
    found.retain(is_wanted);
    let mut made = fixes_together(&snapshot, &[(Arc::clone(&path), found)], most, usize::MAX);
    let before = || snapshot.file(&path).expect("the file").text().to_string();
    made.remove(&path).map_or_else(before, |made| made.text)
}

fn check_some(text: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<Finding> {
    let fixture = Fixture::new("data/common.yaml", text);
    let mut findings = Checker::new(&fixture.on_disk(), PuppetVersion::V8).all();
    findings.retain(|finding| is_wanted(finding.code));
    assert_eq!(fixture.places(&findings), fixture.marks());
    findings
}
