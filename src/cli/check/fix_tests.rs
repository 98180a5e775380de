//! Tests of fixes over a whole workspace.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::*;
use crate::ide::random_workspace::{FILES, KEYS, values, workspace_of_texts};
use crate::lookup::PuppetVersion;
use crate::rules::{Finding, Fixing, Severity};
use crate::workspace::{Format, Workspace, load};

/// Entries with mistakes, and without; `K` is the key.
const ENTRIES: [&str; 44] = [
    "K: 1",
    "K: 1",
    "K: some text",
    "'K': 2",
    "K: [x, y]",
    "K:\n  - x\n  - '--y'",
    "K: {k: 1, l: {k: 2}}",
    "K:\n  k: some text\n  --k: 4",
    "K: &v {k: 1}",
    "K: *v",
    "K: 0644",
    "K: 22:22",
    "K: yes",
    "K: {on: 1, no: [off]}",
    "K: 2024-01-01",
    "K: {1: a, 2.5: b}",
    "K: %{facts.role}",
    "K: *.example.com",
    "K: x: y",
    "K: \"%{lookup('a')}\"",
    "K: \"%{lookup(a)}\"",
    "K: \"%{lookup('a'}\"",
    "K: \"%{lookup('a')\"",
    "K: \"%{hiera(\\\"m::b\\\")}\"",
    "K: \"%{lookup('d.0')} %{lookup('d.k')}\"",
    "K: \"%{lookup('m::bb')}\"",
    "K: '%{alias(\"m::b\")}'",
    "K: 'x %{alias(\"m::b\")}'",
    "K: '%{allias(\"m::b\")}'",
    "K: \"${facts['role']} ${::fqdn}\"",
    "K: '%{::fqdn} %{fqdn} %{facts.fqdn} %{facts.rol}'",
    "K: '%%{HIERA}{x} 100%{y}'",
    "K: |\n  %{lookup(a)}\n  two  # text",
    "K: >-\n  folded 0644",
    "'::K': 3",
    "K.k: 3",
    "m:b: 3",
    "m:\n  b: 3",
    "K:3",
    "# hiera-ls: ignore[yaml11-octal]\nK: 0777",
    "# hiera-ls: ignore\nK: 0777",
    "K: ENC[PKCS7,x]",
    "K: DEC::PKCS7[x]!",
    "? K\n: 5",
];

/// Entries of `lookup_options`, with mistakes and without.
const OPTIONS: [&str; 16] = [
    "a: {merge: deep}",
    "a: deep",
    "a: {merg: deep}",
    "a: {merge: depp}",
    "a: {merge: {strategy: deep, knockout_prefix: '--'}}",
    "a: {merge: {strategy: unique, knockout_prefix: '--'}}",
    "a: {merge: {strategy: deep, knockoutprefix: '--'}}",
    "d: {merge: unique}",
    "d.k: {merge: hash}",
    "zz: {merge: deep}",
    "'^zz::': {merge: deep}",
    "'^m::': {merge: hash}",
    "m::.*: {merge: hash}",
    "'m::b':\n    merge: first",
    "e: {convert_to: Integer}",
    "e: {}",
];

prop_compose! {
    fn file()(
        entries in prop::collection::vec((select(&KEYS[..]), select(&ENTRIES[..]), select(&["", "  # why", "\n\n# about"][..])), 0..6),
        options in subsequence(OPTIONS.to_vec(), 0..3),
        has_options in prop::bool::weighted(0.25),
        crlf in prop::bool::weighted(0.2),
        is_open in prop::bool::weighted(0.1),
    ) -> String {
        let mut text = String::new();
        for (key, entry, comment) in entries {
            text.push_str(&format!("{}{comment}\n", entry.replace('K', key)));
        }
        if has_options && !options.is_empty() {
            text.push_str(&format!("lookup_options:\n  {}\n", options.join("\n  ")));
        }
        if is_open && text.ends_with('\n') {
            text.pop();
        }
        if crlf { text.replace('\n', "\r\n") } else { text }
    }
}

/// Codes whose fixes change no value of any node.
const KEEPING: [&str; 6] = [
    "knockout-removes-nothing",
    "lookup-options-no-effect",
    "lookup-options-regex-no-match",
    "redundant-override",
    "shadowed-value",
    "unused-suppression",
];

/// Applies the fixes of a workspace's reported findings, and returns the new texts.
fn made(workspace: &Workspace, most: Safety, is_reported: impl Fn(&Finding) -> bool) -> Vec<Fixed> {
    let settings = Settings::for_version(PuppetVersion::V8).for_editor();
    let snapshot = workspace.snapshot();
    let paths = snapshot.files().map(|file| Arc::clone(file.path()));
    let paths: Vec<Arc<str>> = paths.collect();
    let fixing = Fixing {
        snapshot: &snapshot,
        paths: &paths,
        most,
        accepted: BTreeMap::new(),
    };
    let find = |snapshot: &Snapshot, paths: &[Arc<str>]| {
        let checker = Checker::with_settings(snapshot, settings.clone());
        let found = paths.iter();
        let found = found.filter_map(|path| Some((Arc::clone(path), checker.file(path)?)));
        found.collect()
    };
    let after = fixing.run(find, is_reported);
    let made = fixed(&snapshot, &after, &settings);
    workspace.apply(Change::Batch(made.iter().map(Fixed::change).collect()));
    made
}

/// An answer; for an error without file and position, which edits move.
fn without_place(answer: &str) -> String {
    let is_place =
        |word: &&str| word.contains("/repo/") || word.bytes().any(|byte| byte.is_ascii_digit());
    if answer.contains("/repo/") {
        answer.split(' ').filter(|word| !is_place(word)).collect()
    } else {
        answer.to_owned()
    }
}

fn loads(text: &str) -> bool {
    load(text.as_bytes(), Format::Yaml).loaded.is_ok()
}

/// 60 cases, or as many as `PROPTEST_CASES` says.
fn config() -> ProptestConfig {
    let read = ProptestConfig::default();
    #[expect(
        clippy::disallowed_methods,
        reason = "a test may read its own environment"
    )]
    let has_number = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig {
        cases: if has_number { read.cases } else { 60 },
        failure_persistence: None,
        ..read
    }
}

proptest! {
    #![proptest_config(config())]

    /// Files that Puppet loads stay loadable, line ends are kept, and no safe fix is left.
    #[test]
    fn fixes_spoil_no_file_and_come_to_an_end(
        texts in prop::collection::vec(file(), FILES.len()),
        most in select(&[Safety::Safe, Safety::Unsafe][..]),
    ) {
        let workspace = workspace_of_texts(&texts);
        for one in made(&workspace, most, |_| true) {
            let ends = |text: &str| text.contains("\r\n") && text.replace("\r\n", "").contains('\n');
            prop_assert!(loads(&one.after) || !loads(&one.before), "{} became {}", one.before, one.after);
            prop_assert!(!ends(&one.after), "{:?}", one.after);
            if most == Safety::Safe {
                let comments = |text: &str| text.matches("# ").count();
                prop_assert_eq!(comments(&one.after), comments(&one.before), "{}", one.after);
            }
        }
        // After an unsafe fix, the next one needs a human choice.
        if most == Safety::Safe {
            let more = made(&workspace, most, |_| true);
            let more: Vec<_> = more.iter().map(|one| (&one.before, &one.after)).collect();
            prop_assert!(more.is_empty(), "{more:#?}");
        }
    }

    /// Fixes add no errors. A fixed file may have hidden an error of another file: a lookup that
    /// failed at its options reached no loop.
    #[test]
    fn fixes_make_no_errors(
        mut texts in prop::collection::vec(file(), FILES.len()),
        most in select(&[Safety::Safe, Safety::Unsafe][..]),
    ) {
        texts.iter_mut().filter(|text| !loads(text)).for_each(String::clear);
        let workspace = workspace_of_texts(&texts);
        let errors = || {
            let snapshot = workspace.snapshot();
            let checker = Checker::new(&snapshot, PuppetVersion::V8);
            let errors = snapshot.files().map(|file| {
                let found = checker.file(file.path()).unwrap_or_default().into_iter();
                let found = found.filter(|finding| finding.severity == Severity::Error);
                (Arc::clone(file.path()), found.map(|finding| finding.message).collect())
            });
            errors.collect::<BTreeMap<Arc<str>, Vec<String>>>()
        };
        let before = errors();
        let made = made(&workspace, most, |_| true);
        let made: Vec<_> = made.iter().map(|one| (&one.path, &one.before, &one.after)).collect();
        let after = errors();
        let count = |errors: &BTreeMap<_, Vec<_>>| errors.values().map(Vec::len).sum::<usize>();
        prop_assert!(count(&after) <= count(&before), "{before:#?}\n{after:#?}\n{made:#?}");
    }

    /// Removing what a finding reports as without effect changes no value of any node.
    #[test]
    fn fixes_that_take_away_what_has_no_effect_change_no_value(
        texts in prop::collection::vec(file(), FILES.len()),
    ) {
        let workspace = workspace_of_texts(&texts);
        let before: BTreeMap<String, String> = values(&workspace.snapshot());
        let made = made(&workspace, Safety::Unsafe, |finding| KEEPING.contains(&finding.code));
        let after = values(&workspace.snapshot());
        let made: Vec<_> = made.iter().map(|one| (&one.path, &one.before, &one.after)).collect();
        for (what, value) in &before {
            let (new, old) = (without_place(&after[what]), without_place(value));
            prop_assert_eq!(new, old, "{}: {:#?}", what, made);
        }
    }
}
