//! The examples on the rules' pages fire exactly the findings that they mark.
//!
//! A mark is `#~ CODE` at the end of a line. `#- PATH` starts a file; without one the example is
//! `data/common.yaml` (`data/common.json`) of an environment that reads only that.
use std::sync::Arc;

use hiera_ls::lookup::PuppetVersion;
use std::collections::BTreeSet;

use hiera_ls::rules::{Checker, Finding, RULES};
use hiera_ls::text::TextEdit;
use hiera_ls::workspace::{Change, Content, DiskEntry, Linked, Snapshot, Workspace};

/// One fenced block: its language and its text.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => open = Some((language.to_owned(), String::new())),
            (Some(_), Some("")) => found.extend(open.take()),
            (Some((_, text)), _) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    found
}

fn files(language: &str, text: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("#- ") {
            files.push((path.to_owned(), String::new()));
            continue;
        }
        if files.is_empty() {
            files.push((format!("data/common.{language}"), String::new()));
        }
        let (_, text) = files.last_mut().unwrap();
        text.push_str(line);
        text.push('\n');
    }
    if !files.iter().any(|(path, _)| path == "hiera.yaml") {
        let config = format!(
            "version: 5\ndefaults: {{data_hash: {language}_data}}\nhierarchy: [{{name: Common, path: \
             common.{language}}}]\n"
        );
        files.push(("hiera.yaml".to_owned(), config));
    }
    files
}

/// The files as a workspace.
fn snapshot(files: &[(String, String)]) -> Arc<Snapshot> {
    let mut entries: Vec<(Arc<str>, DiskEntry)> = Vec::new();
    for (path, text) in files {
        let mut parts: Vec<&str> = path.split('/').collect();
        parts.pop();
        let mut folder = String::from("/repo");
        for part in parts {
            folder = format!("{folder}/{part}");
            entries.push((
                Arc::from(folder.as_str()),
                DiskEntry::Directory { target: None },
            ));
        }
        let content = Content::Text(Arc::from(text.as_str()));
        let linked = Linked::No;
        entries.push((
            Arc::from(format!("/repo/{path}")),
            DiskEntry::File { content, linked },
        ));
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    entries.dedup_by(|a, b| a.0 == b.0);
    let workspace = Workspace::new();
    let folder: Arc<str> = "/repo".into();
    workspace.apply(Change::Batch(vec![
        Change::Folders(vec![folder.clone()]),
        Change::Scanned { folder, entries },
    ]))
}

/// Place and code of every finding, and of every mark, in the same form.
fn findings_and_marks(files: &[(String, String)]) -> (Vec<String>, Vec<String>) {
    let mut marks = Vec::new();
    for (path, text) in files {
        for (row, line) in text.lines().enumerate() {
            if let Some((_, code)) = line.split_once("#~ ") {
                marks.push(format!("{path}:{} {code}", row + 1));
            }
        }
    }
    let snapshot = snapshot(files);
    let findings = Checker::new(&snapshot, PuppetVersion::V8).all();
    let mut found: Vec<String> = findings
        .iter()
        .map(|finding| {
            let file = snapshot.file(&finding.path).unwrap();
            let line = file.lines().line(finding.range.start as usize) + 1;
            let path = finding.path.strip_prefix("/repo/").unwrap();
            format!("{path}:{line} {}", finding.code)
        })
        .collect();
    found.sort();
    marks.sort();
    (found, marks)
}

#[test]
fn examples_fire_exactly_what_they_mark() {
    for rule in RULES {
        let blocks = blocks(rule.page);
        assert!(!blocks.is_empty(), "{} has no example", rule.code);
        let mut own = 0;
        for (language, text) in &blocks {
            let (found, marks) = findings_and_marks(&files(language, text));
            assert_eq!(found, marks, "on the page of {}:\n{text}", rule.code);
            own += marks
                .iter()
                .filter(|mark| mark.ends_with(rule.code))
                .count();
        }
        assert!(own > 0, "no example of {} marks a finding of it", rule.code);
    }
}

/// Codes whose pages must have an example with a fix.
const FIXABLE: [&str; 5] = [
    "lookup-options-bare-value",
    "non-string-map-key",
    "symbol-value",
    "unclosed-token",
    "unknown-interpolation-function",
];

#[test]
fn a_fix_removes_its_finding_and_changes_nothing_else() {
    let mut fixed = BTreeSet::new();
    for rule in RULES {
        for (language, text) in blocks(rule.page) {
            let before = files(&language, &text);
            let known = Checker::new(&snapshot(&before), PuppetVersion::V8).all();
            for finding in &known {
                for fix in &finding.fixes {
                    let after = edited(&before, finding, &fix.edits);
                    let left = Checker::new(&snapshot(&after), PuppetVersion::V8).all();
                    assert_eq!(
                        codes(&left, None),
                        codes(&known, Some(finding)),
                        "'{}' on the page of {}:\n{after:#?}",
                        fix.title,
                        rule.code
                    );
                    assert_eq!(keys(&after), keys(&before), "'{}'", fix.title);
                    fixed.insert(finding.code);
                }
            }
        }
    }
    assert_eq!(fixed, BTreeSet::from(FIXABLE));
}

/// The files with one of them edited.
fn edited(
    files: &[(String, String)],
    finding: &Finding,
    edits: &[TextEdit],
) -> Vec<(String, String)> {
    let mut files = files.to_vec();
    let path = finding.path.strip_prefix("/repo/").unwrap();
    let file = files.iter_mut().find(|(name, _)| name == path).unwrap();
    file.1 = TextEdit::apply(edits, &file.1).unwrap();
    files
}

/// Path and code of all findings but one, in order.
fn codes<'a>(findings: &'a [Finding], without: Option<&Finding>) -> Vec<(&'a str, &'static str)> {
    let kept = findings.iter().filter(|&finding| Some(finding) != without);
    kept.map(|finding| (&*finding.path, finding.code)).collect()
}

/// The names of all top-level keys.
fn keys(files: &[(String, String)]) -> Vec<String> {
    let snapshot = snapshot(files);
    let keys = snapshot.key_names("");
    keys.map(ToString::to_string).collect()
}
