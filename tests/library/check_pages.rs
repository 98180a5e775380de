//! The examples on the rules' pages fire exactly the findings that they mark.
//!
//! Without a `#- PATH` an example is `data/common.yaml` (`data/common.json`) of an environment that
//! reads only that.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use hiera_ls::lookup::PuppetVersion;
use hiera_ls::rules::{Checker, Finding, RULES, Safety};
use hiera_ls::text::TextEdit;

use crate::fixture::{FOLDER, Fixture};

/// The fenced blocks of a page as workspaces.
fn examples(page: &str) -> Vec<Fixture> {
    let mut found = Vec::new();
    let mut open: Option<(&str, String)> = None;
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => open = Some((language, String::new())),
            (Some((language, text)), Some("")) => {
                found.push(example(language, text));
                open = None;
            }
            (Some((_, text)), _) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    found
}

fn example(language: &str, text: &str) -> Fixture {
    let mut fixture = Fixture::new(&format!("data/common.{language}"), text);
    if !fixture.files.iter().any(|(path, _)| path == "hiera.yaml") {
        let config = format!(
            "version: 5\ndefaults: {{data_hash: {language}_data}}\nhierarchy: [{{name: Common, path: \
             common.{language}}}]\n"
        );
        fixture.files.push(("hiera.yaml".to_owned(), config));
    }
    fixture
}

fn check(fixture: &Fixture) -> Vec<Finding> {
    Checker::new(&fixture.on_disk(), PuppetVersion::V8).all()
}

/// `PATH:LINE CODE` of every finding, ordered.
fn places(fixture: &Fixture) -> Vec<String> {
    let snapshot = fixture.on_disk();
    let findings = Checker::new(&snapshot, PuppetVersion::V8).all();
    let mut places: Vec<String> = findings
        .iter()
        .map(|finding| {
            let file = snapshot.file(&finding.path).unwrap();
            let line = file.lines().line(finding.range.start as usize) + 1;
            format!("{}:{line} {}", name(finding), finding.code)
        })
        .collect();
    places.sort();
    places
}

fn name(finding: &Finding) -> &str {
    let below = finding.path.strip_prefix(FOLDER).unwrap();
    below.trim_start_matches('/')
}

#[test]
fn examples_fire_exactly_what_they_mark() {
    for rule in RULES {
        let examples = examples(rule.page);
        assert!(!examples.is_empty(), "{} has no example", rule.code);
        let mut own = 0;
        for example in &examples {
            let marks = example.marks();
            assert_eq!(places(example), marks, "on the page of {}", rule.code);
            own += marks
                .iter()
                .filter(|mark| mark.ends_with(rule.code))
                .count();
        }
        assert!(own > 0, "no example of {} marks a finding of it", rule.code);
    }
}

/// Codes whose pages must have an example with a fix.
const FIXABLE: [&str; 8] = [
    "lookup-options-bare-value",
    "non-string-map-key",
    "project-config",
    "symbol-value",
    "unclosed-token",
    "unknown-interpolation-function",
    "unknown-parameter",
    "yaml-date",
];

#[test]
fn a_fix_removes_its_finding_and_changes_nothing_else() {
    let mut fixed = BTreeSet::new();
    for rule in RULES {
        for before in examples(rule.page) {
            let known = check(&before);
            for finding in &known {
                for fix in &finding.fixes {
                    let after = edited(&before, finding, &fix.edits);
                    assert_eq!(
                        codes(&check(&after), None),
                        codes(&known, Some(finding)),
                        "'{}' on the page of {}:\n{after:#?}",
                        fix.title,
                        rule.code
                    );
                    // A key that is misspelt gets another name, which a person looks at.
                    if fix.safety == Safety::Safe {
                        assert_eq!(keys(&after), keys(&before), "'{}'", fix.title);
                    }
                    fixed.insert(finding.code);
                }
            }
        }
    }
    assert_eq!(fixed, BTreeSet::from(FIXABLE));
}

/// The workspace with one file edited.
fn edited(before: &Fixture, finding: &Finding, edits: &[TextEdit]) -> Fixture {
    let mut after = before.clone();
    let mut files = after.files.iter_mut();
    let (_, text) = files.find(|(path, _)| path == name(finding)).unwrap();
    *text = TextEdit::apply(edits, text).unwrap();
    after
}

/// Path and code of all findings but one, in order.
fn codes<'a>(findings: &'a [Finding], without: Option<&Finding>) -> Vec<(&'a str, &'static str)> {
    let kept = findings.iter().filter(|&finding| Some(finding) != without);
    kept.map(|finding| (name(finding), finding.code)).collect()
}

/// The names of all top-level keys.
fn keys(fixture: &Fixture) -> Vec<String> {
    let snapshot = fixture.on_disk();
    let keys = snapshot.key_names("");
    keys.map(ToString::to_string).collect()
}
