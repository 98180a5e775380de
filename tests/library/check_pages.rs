//! The examples on the rules' pages give exactly the findings that they mark.
//!
//! Without a `#- PATH` an example is `data/common.yaml` (`data/common.json`) of an environment that
//! reads only that file.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use expect_test::expect_file;
use hiera_ls::analysis::{Analysis, request};
use hiera_ls::lookup::{ConfigCache, PuppetVersion, Settings};
use hiera_ls::rules::{Checker, Finding, RULES, Safety, fixes_together};
use hiera_ls::scope::{KnownNodes, Scope};
use hiera_ls::text::TextEdit;
use hiera_ls::value::load_yaml;
use proptest::prelude::{ProptestConfig, prop, proptest};
use proptest::sample::select;

use crate::fixture::{FOLDER, Fixture, below};

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

#[test]
fn examples_fire_exactly_what_they_mark() {
    for rule in RULES {
        let examples = examples(rule.page);
        assert!(!examples.is_empty(), "{} has no example", rule.code);
        let (mut firing, mut silent) = (0, 0);
        for example in &examples {
            let marks = example.marks();
            assert_eq!(
                example.places(&check(example)),
                marks,
                "on the page of {}",
                rule.code
            );
            let fires = marks.iter().any(|mark| mark.ends_with(rule.code));
            *if fires { &mut firing } else { &mut silent } += 1;
        }
        assert!(firing > 0, "no example of {} fires it", rule.code);
        assert!(silent > 0, "all examples of {} fire it", rule.code);
    }
}

/// Codes whose pages must have an example with a fix.
const FIXABLE: &[&str] = &[
    "alias-not-whole",
    "backend-options",
    "bad-convert-to",
    "bad-merge-option",
    "bad-strategy",
    "convert-to-arguments",
    "data-namespace",
    "dig-digit-string-key",
    "eyaml-without-keys",
    "foreign-percent-syntax",
    "hiera-config",
    "interp-loses-type",
    "interp-missing-key",
    "interp-missing-subkey",
    "json-escape",
    "knockout-removes-nothing",
    "knockout-without-prefix",
    "leading-colons-key",
    "legacy-fact",
    "level-never-matches",
    "lookup-options-bare-value",
    "lookup-options-no-effect",
    "lookup-options-regex-unanchored",
    "lookup-options-subkey",
    "lookup-options-unknown-option",
    "malformed-call",
    "nested-not-flat",
    "non-string-map-key",
    "not-a-hash",
    "path-var-missing",
    "project-config",
    "puppet-style-token",
    "redundant-override",
    "ruby-tags",
    "shadowed-value",
    "single-colon-key",
    "symbol-value",
    "unclosed-token",
    "undefined-variable",
    "unknown-alias",
    "unknown-backend",
    "unknown-interpolation-function",
    "unknown-parameter",
    "unused-suppression",
    "wrong-backend-kind",
    "yaml-date",
    "yaml-number-lossy",
    "yaml-syntax",
    "yaml11-bool",
    "yaml11-octal",
    "yaml11-sexagesimal",
];

/// Codes whose fixes rename a key.
const RENAMING: [&str; 2] = ["leading-colons-key", "single-colon-key"];

/// Codes whose fixes change no value.
const KEEPING: [&str; 3] = ["redundant-override", "shadowed-value", "unused-suppression"];

#[test]
fn a_fix_removes_its_finding_and_adds_none() {
    let mut fixed = BTreeSet::new();
    for rule in RULES {
        for before in examples(rule.page) {
            let known = check(&before);
            for finding in &known {
                for fix in &finding.fixes {
                    let after = edited(&before, finding, &fix.edits);
                    let mut left = codes(&known, Some(finding));
                    for code in codes(&check(&after), None) {
                        let at = left.iter().position(|known| *known == code);
                        let at = at.unwrap_or_else(|| {
                            panic!(
                                "'{}' on the page of {} gives {code:?}:\n{after:#?}",
                                fix.title, rule.code
                            )
                        });
                        left.remove(at);
                    }
                    // A misspelt key gets another name, which a person confirms.
                    if fix.safety == Safety::Safe && !RENAMING.contains(&finding.code) {
                        assert_eq!(keys(&after), keys(&before), "'{}'", fix.title);
                    }
                    fixed.insert(finding.code);
                }
            }
        }
    }
    assert_eq!(fixed, FIXABLE.iter().copied().collect());
}

/// The lookup result of every key for an unknown node.
fn answers(fixture: &Fixture) -> BTreeMap<String, String> {
    let snapshot = fixture.on_disk();
    let settings = Settings::for_version(PuppetVersion::V8).for_editor();
    let (configs, nodes) = (ConfigCache::default(), KnownNodes::default());
    let analysis = Analysis::new(&snapshot, &settings, &configs, &nodes);
    let root = snapshot.roots().environments().next().unwrap();
    let view = analysis.at(root);
    let names = snapshot
        .key_names("")
        .filter(|name| &***name != "lookup_options");
    let answer = |name: &str| {
        let answer = view.session().lookup(&Scope::open(), &request(name));
        match answer.result {
            Ok(value) => value.inspect(),
            Err(error) => error.to_string(),
        }
    };
    names.map(|name| (name.to_string(), answer(name))).collect()
}

/// The keys whose values a fix may change: the key that contains the finding, and those that look
/// it up; all for a finding in a configuration or in options.
fn may_change(fixture: &Fixture, finding: &Finding, key: &str) -> bool {
    let snapshot = fixture.on_disk();
    let file = snapshot.file(&finding.path).unwrap();
    let mut keys = file.facts().keys.iter();
    let around = keys.find(|known| known.key.cover(known.value).contains(finding.range));
    let Some(around) = around.filter(|around| &*around.name != "lookup_options") else {
        return true;
    };
    let mut users = snapshot.references().users(&around.name);
    *around.name == *key || users.any(|user| **user == *key)
}

#[test]
fn a_fix_changes_no_other_value() {
    let mut tried = 0;
    for rule in RULES {
        for before in examples(rule.page) {
            let old = answers(&before);
            for finding in &check(&before) {
                if RENAMING.contains(&finding.code)
                    || matches!(finding.code, "yaml-date" | "unknown-parameter")
                {
                    continue;
                }
                for fix in &finding.fixes {
                    let new = answers(&edited(&before, finding, &fix.edits));
                    let is_kept = KEEPING.contains(&finding.code);
                    for (key, value) in &old {
                        if is_kept || !may_change(&before, finding, key) {
                            let title = &fix.title;
                            assert_eq!(new.get(key), Some(value), "{key}: '{title}' of {rule:?}");
                        }
                    }
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 30, "only {tried} fixes");
}

/// The workspace with one file edited.
fn edited(before: &Fixture, finding: &Finding, edits: &[TextEdit]) -> Fixture {
    let mut after = before.clone();
    let mut files = after.files.iter_mut();
    let (_, text) = files.find(|(path, _)| path == below(finding)).unwrap();
    *text = TextEdit::apply(edits, text).unwrap();
    after
}

/// Path and code of all findings but one, in order.
fn codes<'a>(findings: &'a [Finding], without: Option<&Finding>) -> Vec<(&'a str, &'static str)> {
    let kept = findings.iter().filter(|&finding| Some(finding) != without);
    kept.map(|finding| (below(finding), finding.code)).collect()
}

/// The names of all top-level keys.
fn keys(fixture: &Fixture) -> Vec<String> {
    let snapshot = fixture.on_disk();
    let keys = snapshot.key_names("");
    keys.map(ToString::to_string).collect()
}

/// Rules whose fix is an editor action only, and its description.
const ENCRYPTING: [&str; 2] = ["dec-not-encrypted", "plain-secret"];

/// The safety of the fixes in a rule's examples.
fn fixes_of(code: &str, page: &str) -> &'static str {
    let findings: Vec<Finding> = examples(page).iter().flat_map(check).collect();
    let own = findings.iter().filter(|finding| finding.code == code);
    let fixes = own.flat_map(|finding| &finding.fixes);
    let safeties: Vec<Safety> = fixes.map(|fix| fix.safety).collect();
    let (safe, not) = (Safety::Safe, Safety::Unsafe);
    match (safeties.contains(&safe), safeties.contains(&not)) {
        (true, true) => "safe, unsafe",
        (true, false) => "safe",
        (false, true) => "unsafe",
        (false, false) if ENCRYPTING.contains(&code) => "encrypts, in editors",
        (false, false) => "–",
    }
}

#[test]
fn the_page_of_mistakes_matches_the_rules() {
    let file = expect_file!["../../docs/mistakes.md"];
    let mut named = BTreeSet::new();
    let lines = file.data();
    let lines = lines.lines().map(|line| {
        let cells: Vec<&str> = line.split(" | ").collect();
        let [mistake, link, _, _] = cells.as_slice() else {
            return format!("{line}\n");
        };
        let code = link.split(['[', ']']).nth(1);
        let Some(rule) = code.and_then(hiera_ls::rules::rule) else {
            return format!("{line}\n");
        };
        named.insert(rule.code);
        let (severity, fixes) = (rule.severity.name(), fixes_of(rule.code, rule.page));
        format!("{mistake} | {link} | {severity} | {fixes} |\n")
    });
    let page: String = lines.collect();
    // Not mistakes in data.
    let others = ["project-config", "unused-suppression"];
    for rule in RULES.iter().filter(|rule| !others.contains(&rule.code)) {
        assert!(
            named.contains(rule.code),
            "{} is not in the table",
            rule.code
        );
    }
    file.assert_eq(&page);
}

/// Values as written, and Puppet's values after all safe fixes.
const WRITTEN: [(&str, &str); 12] = [
    ("0644", "\"0644\""),
    ("yes", "true"),
    ("Off", "false"),
    ("22:22", "\"22:22\""),
    ("1_000", "1000"),
    ("1.10", "1.1"),
    ("text", "\"text\""),
    ("'it''s'", "\"it's\""),
    ("\"0644\"", "\"0644\""),
    ("{a: on, b: 1:30}", "{\"a\"=>true, \"b\"=>\"1:30\"}"),
    ("[b, 10:20]", "[\"b\", \"10:20\"]"),
    ("~", "nil"),
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn safe_fixes_change_values_as_they_say_and_nothing_else(
        chosen in prop::collection::vec((select(&WRITTEN[..]), 0..4_usize), 1..8),
        end in select(&["\n", "\r\n"][..]),
    ) {
        let lines = chosen.iter().enumerate();
        let lines = lines.map(|(at, ((value, _), blanks))| {
            format!("k{at}::v: {}{value} # {at}", " ".repeat(*blanks))
        });
        let lines: Vec<String> = lines.collect();
        let text = format!("---{end}{}{end}", lines.join(end));
        let mut fixture = example("yaml", "");
        fixture.files.retain(|(path, _)| path == "hiera.yaml");
        fixture.files.push(("data/common.yaml".to_owned(), text.clone()));
        let snapshot = fixture.on_disk();
        let path: Arc<str> = format!("{FOLDER}/data/common.yaml").into();
        let mut found = check(&fixture);
        found.retain(|finding| finding.path == path);
        let mut made = fixes_together(&snapshot, &[(Arc::clone(&path), found)], Safety::Safe, usize::MAX);
        let fixed = made.remove(&path).map_or_else(|| text.clone(), |made| made.text);
        let after: Vec<&str> = fixed.split(end).collect();
        assert_eq!(after.len(), lines.len() + 2, "{fixed:?}");
        let loaded = load_yaml(fixed.as_bytes()).unwrap();
        for (at, ((value, expected), blanks)) in chosen.iter().enumerate() {
            let key = format!("k{at}::v");
            assert_eq!(loaded.get(&key).unwrap().inspect(), *expected, "{fixed:?}");
            // The text around the value and the line of the value stay the same.
            let line = after[at + 1];
            let start = format!("{key}: {}", " ".repeat(*blanks));
            assert!(line.starts_with(&start) && line.ends_with(&format!(" # {at}")), "{line:?}");
            let before = load_yaml(format!("{}\n", lines[at]).as_bytes()).unwrap();
            if before.get(&key).unwrap().inspect() == *expected && !matches!(*value, "yes" | "Off") {
                assert_eq!(line, lines[at]);
            }
        }
    }
}
