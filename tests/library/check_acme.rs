//! `fixtures/acme`: every intentional mistake is found where it is marked, and nothing else.
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use hiera_ls::disk::{Ignore, scan};
use hiera_ls::lookup::PuppetVersion;
use hiera_ls::rules::{Checker, Finding, RULES, Recheck, Severity, check_file, recheck};
use hiera_ls::text::TextEdit;
use hiera_ls::workspace::{Change, Snapshot, Workspace};

/// Codes of which every place in the fixtures is marked; other rules may have more findings on a
/// line than marks.
const MARKED_EVERYWHERE: [&str; 18] = [
    "missing-parameter",
    "type-mismatch",
    "unknown-parameter",
    "yaml-syntax",
    "yaml-date",
    "unknown-alias",
    "lookup-options-regex-invalid",
    "lookup-options-regex-unanchored",
    "lookup-options-regex-no-match",
    "lookup-options-namespace",
    "data-namespace",
    "interpolation-loop",
    "alias-not-whole",
    "unknown-interpolation-function",
    "malformed-call",
    "unclosed-token",
    "hiera-config",
    "legacy-config",
];

fn acme() -> Arc<str> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/acme");
    Arc::from(root.to_str().unwrap())
}

fn open(workspace: &Workspace, folder: &Arc<str>) -> Arc<Snapshot> {
    let found = scan(std::slice::from_ref(folder), &Ignore::default(), &|_| {
        ControlFlow::Continue(())
    });
    workspace.apply(Change::Batch(vec![
        Change::Folders(vec![folder.clone()]),
        found.change,
    ]))
}

/// `PATH:LINE CODE` of every mark below a folder.
fn marks(folder: &Path, root: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            marks(&path, root, found);
        } else if path.extension().is_none_or(|extension| extension != "md")
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            for (row, line) in text.lines().enumerate() {
                if let Some((_, mark)) = line.split_once("#~ ") {
                    let code = mark.split_whitespace().next().unwrap();
                    let path = path.strip_prefix(root).unwrap().to_str().unwrap();
                    found.insert(format!("{path}:{} {code}", row + 1));
                }
            }
        }
    }
}

#[test]
fn every_mistake_is_found_and_correct_data_has_no_findings() {
    let root = acme();
    let workspace = Workspace::new();
    let snapshot = open(&workspace, &root);
    let findings = Checker::new(&snapshot, PuppetVersion::V8).all();
    let found: BTreeSet<String> = findings
        .iter()
        .map(|finding| {
            let file = snapshot.file(&finding.path).unwrap();
            let line = file.lines().line(finding.range.start as usize) + 1;
            let path = finding.path.strip_prefix(&*root).unwrap();
            format!("{}:{line} {}", &path[1..], finding.code)
        })
        .collect();
    let mut expected = BTreeSet::new();
    marks(Path::new(&*root), Path::new(&*root), &mut expected);
    // These are about hiera-ls's own settings, and about records of a server, which `tests/fleet` has;
    // all others are tested against real Puppet.
    let ours = ["never-looked-up", "project-config", "unused-suppression"];
    let codes = RULES.iter().map(|rule| rule.code);
    let codes: BTreeSet<&str> = codes.filter(|code| !ours.contains(code)).collect();
    let code = |mark: &'_ String| mark.split_once(' ').unwrap().1.to_owned();
    let marked: BTreeSet<String> = expected.iter().map(code).collect();
    let marked: BTreeSet<&str> = marked.iter().map(String::as_str).collect();
    assert_eq!(marked, codes);
    let missing: Vec<&String> = expected.difference(&found).collect();
    assert!(missing.is_empty(), "not found: {missing:#?}");
    let is_false = |finding: &&String| {
        let (place, code) = finding.split_once(' ').unwrap();
        MARKED_EVERYWHERE.contains(&code) || !place.starts_with("mistakes/")
    };
    let unmarked: Vec<&String> = found.difference(&expected).filter(is_false).collect();
    assert!(unmarked.is_empty(), "not marked: {unmarked:#?}");
}

#[test]
fn a_loop_names_every_member_and_where_it_closes() {
    let root = acme();
    let workspace = Workspace::new();
    let snapshot = open(&workspace, &root);
    let path = format!("{root}/mistakes/values/data/families/loops.yaml");
    let findings = check_file(&snapshot, &path);
    let text = snapshot.file(&path).unwrap().text().clone();
    let at = |token: &str| {
        let finding = findings
            .iter()
            .find(|finding| finding.range.slice(&text) == token);
        finding.unwrap_or_else(|| panic!("no finding at {token}"))
    };
    let loop_of_three = at("%{lookup('loop::b')}");
    assert_eq!(loop_of_three.severity, Severity::Error);
    assert_eq!(
        loop_of_three.message,
        "lookup loop: loop::a → loop::b → loop::c → loop::a: Puppet fails on each of these keys"
    );
    let related: Vec<&str> = loop_of_three
        .related
        .iter()
        .map(|related| &*related.message)
        .collect();
    assert_eq!(
        related,
        [
            "'loop::b' looks up 'loop::c'",
            "'loop::c' looks up 'loop::a'"
        ]
    );
    let of_some_nodes = at("%{lookup('loop::family')}");
    assert_eq!(of_some_nodes.severity, Severity::Warning);
    assert_eq!(
        of_some_nodes.message,
        "lookup loop where facts.os.family is 'RedHat': loop::on_redhat → loop::family → \
         loop::on_redhat: Puppet fails on each of these keys"
    );
    assert!(of_some_nodes.related[0].path.ends_with("os/RedHat.yaml"));
}

#[test]
fn the_version_of_puppet_decides_what_is_an_error() {
    let root = acme();
    let workspace = Workspace::new();
    let snapshot = open(&workspace, &root);
    let path = format!("{root}/mistakes/configuration/version-3/hiera.yaml");
    let severity = |version| {
        let findings = Checker::new(&snapshot, version).file(&path);
        findings.unwrap()[0].severity
    };
    assert_eq!(severity(PuppetVersion::V8), Severity::Error);
    assert_eq!(severity(PuppetVersion::V7), Severity::Warning);
}

/// Re-checking the files affected by an edit gives the same result as checking everything.
#[test]
fn rechecking_what_depends_on_an_edit_is_enough() {
    let root = acme();
    let workspace = Workspace::new();
    let snapshot = open(&workspace, &root);
    let mut known = Checker::new(&snapshot, PuppetVersion::V8).all();
    let edits = [
        // The loop of three is broken, and another is formed.
        (
            "mistakes/values/data/families/loops.yaml",
            "lookup('loop::c')",
            "lookup('site::name')",
        ),
        (
            "mistakes/values/data/families/loops.yaml",
            "straight::right: right",
            "loop::family: a",
        ),
        // A pattern without a match gets one, from another file.
        (
            "mistakes/values/data/low.yaml",
            "---",
            "---\nnothing::is::called::this: 1",
        ),
        // A file becomes unreadable.
        ("data/common.yaml", "---", "---\na: b: c"),
        ("data/common.yaml", "---\na: b: c", "---"),
    ];
    for (file, before, after) in edits {
        let path: Arc<str> = Arc::from(format!("{root}/{file}"));
        let old = workspace.snapshot().file(&path).unwrap().text().clone();
        assert!(old.contains(before), "{file}: {before}");
        let edited = old.replacen(before, after, 1);
        let snapshot = workspace.apply(Change::open(path.clone(), edited));
        let checker = Checker::new(&snapshot, PuppetVersion::V8);
        let all = checker.all();
        let named = known.iter().flat_map(|finding| {
            let related = finding.related.iter();
            related.map(|related| (&finding.path, &related.path))
        });
        match recheck(&snapshot, &[]).with_moved(&snapshot, named) {
            Recheck::All => known = all.clone(),
            Recheck::Files(files) => {
                for path in files {
                    known.retain(|finding| finding.path != path);
                    known.extend(checker.file(&path).unwrap_or_default());
                }
            }
        }
        let order = |finding: &hiera_ls::rules::Finding| {
            (finding.path.clone(), finding.range.start, finding.code)
        };
        known.sort_by_key(order);
        let mut all = all;
        all.sort_by_key(order);
        assert_eq!(known, all, "after {file}: {after}");
    }
}

#[test]
fn every_fix_removes_its_finding_and_adds_none() {
    let root = acme();
    let workspace = Workspace::new();
    let snapshot = open(&workspace, &root);
    let mut tried = 0;
    for finding in Checker::new(&snapshot, PuppetVersion::V8).all() {
        let path = &finding.path;
        let text = snapshot.file(path).unwrap().text();
        let mut known = check_file(&snapshot, path);
        let this = known.iter().position(|known| *known == finding);
        known.remove(this.unwrap());
        for fix in &finding.fixes {
            let edited = TextEdit::apply(&fix.edits, text).unwrap();
            let edit = Change::open(path.clone(), edited.as_str());
            let mut left = check_file(&workspace.apply(edit), path);
            if finding.code == "wrong-backend-kind" {
                // The level has the right kind, but lacks something else.
                left.retain(|left| left.code != "eyaml-without-keys");
            }
            // Findings elsewhere stay; those about the changed text can disappear too.
            let touches = |other: &&Finding| {
                let mut edits = fix.edits.iter().map(|edit| edit.range);
                edits.any(|edit| edit.start <= other.range.end && other.range.start <= edit.end)
            };
            let (may_go, mut others): (Vec<&Finding>, Vec<&Finding>) =
                known.iter().partition(touches);
            others.extend(may_go.iter().copied());
            if finding.code == "yaml-date" {
                // Without the last date the file can be loaded, and all rules see it.
                left.retain(|left| left.code == "yaml-date");
                others.retain(|other| other.code == "yaml-date");
            }
            if finding.code == "lookup-options-regex-unanchored" {
                // As a pattern it may come after one that matches the same keys.
                left.retain(|left| left.code != "lookup-options-no-effect");
                others.retain(|other| other.code != "lookup-options-no-effect");
            }
            for left in &left {
                let known = others.iter().position(|other| other.code == left.code);
                let known = known.unwrap_or_else(|| {
                    panic!("{path}: '{}' adds {}:\n{edited}", fix.title, left.code)
                });
                others.remove(known);
            }
            // The merge strategy of a key decides which of its values are used.
            let is_dead_data =
                |gone: &Finding| matches!(gone.code, "shadowed-value" | "redundant-override");
            let is_of_options = finding.code.starts_with("lookup-options-");
            let is_of_prefix = finding.code == "knockout-without-prefix";
            for gone in others {
                assert!(
                    may_go.contains(&gone)
                        || (is_of_options && is_dead_data(gone))
                        || (is_of_prefix && gone.code == "lookup-options-overridden-level"),
                    "{path}: '{}' for {} takes {} away:\n{edited}",
                    fix.title,
                    finding.code,
                    gone.code
                );
            }
            tried += 1;
            workspace.apply(Change::Close { path: path.clone() });
        }
    }
    assert!(tried > 5, "only {tried} fixes");
}

#[test]
fn a_rule_alone_finds_what_it_finds_among_all() {
    let root = acme();
    let workspace = Workspace::new();
    let snapshot = open(&workspace, &root);
    let of_code = |findings: &[Finding], code: &str| -> Vec<String> {
        let texts = findings.iter().filter(|it| it.code == code);
        let texts = texts.map(|it| format!("{}:{:?}: {}", it.path, it.range, it.message));
        texts.collect()
    };
    let checker = || Checker::new(&snapshot, PuppetVersion::V8);
    let among_all = checker().all();
    for rule in RULES {
        let alone = checker().with_rules(|it| it.code == rule.code).all();
        assert_eq!(of_code(&alone, rule.code), of_code(&among_all, rule.code));
    }
}
