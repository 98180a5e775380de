//! Facts of texts.

use std::sync::Arc;

use super::*;
use crate::value::LoadError;
use crate::workspace::facts::diff;
use crate::workspace::reader::load;
use crate::workspace::{KeyDiff, TokenFact};

fn read(text: &str) -> FileFacts {
    read_as(text, Format::Yaml)
}

fn read_as(text: &str, format: Format) -> FileFacts {
    let source = FactSource {
        text,
        bytes: None,
        hash: TextHash::of(text.as_bytes()),
        format,
    };
    facts(source).0
}

fn names(facts: &FileFacts) -> Vec<&str> {
    facts.keys.iter().map(|key| &*key.name).collect()
}

fn changed(before: &str, after: &str) -> KeyDiff {
    diff(Some(&read(before)), Some(&read(after)))
}

fn text_of(names: &[Arc<str>]) -> Vec<&str> {
    names.iter().map(|name| &**name).collect()
}

#[test]
fn a_key_is_found_by_name_in_small_and_large_files() {
    for count in [0, 1, 40, 1_024, 1_025, 70_000] {
        let mut text: String = (0..count).map(|at| format!("k{at}: 1\n")).collect();
        text.push_str("twice: 1\nk0x: 1\ntwice: 2\n");
        let facts = read(&text);
        for key in facts.sorted() {
            assert_eq!(facts.key(&key.name), Some(key));
        }
        assert_eq!(facts.key("twice").map(|key| key.line), Some(count + 2));
        for name in ["", "k", "k70001", "zz"] {
            assert_eq!(facts.key(name), None);
        }
    }
}

#[test]
fn only_keys_that_a_lookup_can_ask_for() {
    let facts = read("a: 1\n'b::c': 2\n:d: 3\n1: x\ntrue: x\n2001-13-01: y\n\"e\\x66\": 4\n");
    assert_eq!(names(&facts), ["a", "b::c", "d", "2001-13-01", "ef"]);
    let facts = read("- a\n- b\n");
    assert!(facts.keys.is_empty());
}

#[test]
fn merged_keys_have_the_range_of_their_source() {
    let text = "base: &b {x: 1, y: 2}\nx: 0\n<<: *b\ny: 3\n";
    let facts = read(text);
    assert_eq!(names(&facts), ["base", "x", "x", "y", "y"]);
    let x = facts.key("x").expect("x is merged");
    assert_eq!(
        x.value.slice(text),
        "1",
        "a merge key overrides what stands before it"
    );
    let y = facts.key("y").expect("y is written");
    assert_eq!(y.value.slice(text), "3");
    let facts = read("'<<': {x: 1}\n!!str <<: {y: 1}\n");
    assert_eq!(names(&facts), ["x", "<<"], "as Psych reads them");
}

#[test]
fn a_merge_of_itself_ends() {
    let facts = read("a: &a\n  <<: *a\n  b: 1\n<<: *a\n<<: [1]\n");
    assert!(facts.key("b").is_some());
}

#[test]
fn merges_that_double_terminate() {
    let mut text = "a0: &a0 {k: 1}\n".to_owned();
    for level in 1..50 {
        let below = level - 1;
        text += &format!("a{level}: &a{level} {{<<: [*a{below}, *a{below}], k: 1}}\n");
    }
    let facts = read(&(text + "<<: *a49\nlast: 1\n"));
    assert!(facts.key("k").is_some() && facts.key("last").is_some());
    assert!(facts.has_odd_keys, "not all of it was read");
    assert!(facts.keys.len() < 2 * MAX_MERGED);
    // Many keys that are each merged once do not exceed the limit.
    let entries: String = (0..1000).map(|n| format!("  k{n}: {n}\n")).collect();
    let facts = read(&format!("a: &a\n{entries}<<: *a\n"));
    assert_eq!(facts.keys.len(), 1001);
    assert!(!facts.has_odd_keys);
}

#[test]
fn a_broken_entry_keeps_its_key() {
    let facts = read("a: 1\nb: [\nc: 3\n");
    assert_eq!(names(&facts), ["a", "b", "c"]);
    let states: Vec<KeyState> = facts.keys.iter().map(|key| key.state).collect();
    assert_eq!(states, [KeyState::Read, KeyState::Broken, KeyState::Read]);
    assert!(facts.error.is_some());
}

#[test]
fn keys_that_an_editor_reads_as_before_are_refused_and_not_changed() {
    let diffs = |one: &str, other: &str| {
        [changed(one, other), changed(other, one)].map(|diff| {
            let names = [&diff.changed, &diff.refused].map(|names| text_of(names).join(" "));
            assert!(diff.touched().count() >= diff.touched_as_read().count());
            names
        })
    };
    let both = |changed: &str, refused: &str| {
        [
            [changed.to_owned(), refused.to_owned()],
            [changed.to_owned(), refused.to_owned()],
        ]
    };
    let sound = "a: 1\nb: 2\nc: 3\n";
    assert_eq!(diffs(sound, "a: 1\nb: [\nc: 3\n"), both("b", "a c"));
    assert_eq!(
        diffs(sound, "a: 4\nb: 2001-01-01\nc: 3\n"),
        both("a b", "c")
    );
    assert_eq!(diffs(sound, "a: 1\nb: 5\nc: 3\n"), both("b", ""));
    // An editor may read the earlier entry of a refused file.
    let twice = "a: 1\na: 2\nb: 1\n";
    assert_eq!(diffs(twice, "a: 1\na: 2\nb: [\n"), both("a b", ""));
    // Both are refused.
    assert_eq!(diffs("a: 1\nb: [\n", "a: 1\nb: {\n"), both("b", ""));
}

#[test]
fn a_date_makes_puppet_refuse_a_file_without_a_syntax_error() {
    let facts = read("a: 2001-01-01\nb: 1\n");
    let error = facts.error.as_ref().expect("puppet refuses dates");
    assert_eq!(error.message, "Tried to load unspecified class: Date");
    let diff = changed("a: x\nb: 1\n", "a: 2001-01-01\nb: 1\n");
    assert_eq!(text_of(&diff.changed), ["a"]);
    assert_eq!(text_of(&diff.refused), ["b"]);
}

#[test]
fn an_edit_touches_what_it_can_change() {
    let diff = changed("a: 1\n# c\nb: 2\n", "# more\na: 1\nb: 3\nc: 1\n");
    assert_eq!(text_of(&diff.added), ["c"]);
    assert_eq!(text_of(&diff.removed), [""; 0]);
    assert!(diff.changed.iter().any(|name| &**name == "b"));
    assert!(
        changed("a: 1\nb: 2\n", "b: 2\na: 1\n").is_empty(),
        "order of top-level keys"
    );
    let comments = changed("a: 1 # c\nb: # d\n  - x\n# e\n", "a: 1\nb:\n  - x\n\n");
    assert!(comments.is_empty(), "{:?}", comments.changed);
    let diff = changed(
        "x: &x {k: 1}\ny: *x\nz: '*'\n",
        "x: &x {k: 2}\ny: *x\nz: '*'\n",
    );
    assert!(
        diff.changed.iter().any(|name| &**name == "y"),
        "by its alias"
    );
    // Its pattern has a star too.
    let stars = "lookup_options: {'^a.*': {merge: deep}}\nx: &x 1\ny: *x\nz: 1\n";
    let diff = changed(stars, &stars.replace("z: 1", "z: 2"));
    assert_eq!(
        text_of(&diff.changed),
        ["y", "z"],
        "a star that is no alias"
    );
    let diff = changed("a: |+\n  x\nb: 1\n", "a: |+\n  x\n\nb: 1\n");
    assert_eq!(
        text_of(&diff.changed),
        ["a"],
        "blank lines count in a kept block"
    );
}

#[test]
fn lookup_options_are_entries_of_their_own() {
    let text = "lookup_options:\n  ^a::: {merge: deep}\n  b: {merge: hash}\n";
    let facts = read(text);
    let patterns: Vec<&str> = facts.lookup_options.iter().map(|o| &*o.pattern).collect();
    assert_eq!(patterns, ["^a::", "b"]);
    let diff = changed(
        text,
        "lookup_options:\n  ^a::: {merge: deep}\n  c: {merge: hash}\n",
    );
    assert_eq!(text_of(&diff.lookup_options), ["b", "c"]);
    assert_eq!(text_of(&diff.changed), ["lookup_options"]);
}

#[test]
fn strings_refer_to_keys() {
    let text = "a: \"x %{lookup('b::c')} %{facts.os}\"\nd:\n  \"%{hiera('e')}\": ['%{alias(\"f.g\")}']\n\
                h: \"\\x25{lookup('i')} %{literal('%')}\"\n";
    let facts = read(text);
    let found: Vec<(&str, &str)> = facts
        .references()
        .map(|reference| (&*reference.key, reference.range.slice(text)))
        .collect();
    assert_eq!(
        found,
        [
            ("b::c", "%{lookup('b::c')}"),
            ("e", "%{hiera('e')}"),
            ("f.g", "%{alias(\"f.g\")}"),
            ("i", "\\x25{lookup('i')}"),
        ]
    );
}

#[test]
fn hocon_has_keys_and_references_too() {
    let text = "\"a::b\" { c = 1 }\nd.e = \"%{lookup('f')}\"\n";
    let facts = read_as(text, Format::Hocon);
    assert_eq!(names(&facts).len(), 2);
    assert!(facts.key("d").is_some());
    let reference = facts.references().next().expect("there is a reference");
    assert_eq!(
        (&*reference.key, reference.argument.slice(text)),
        ("f", "f")
    );
    let (_, _, to) = facts.uses().next().expect("it stands under a key");
    assert_eq!(&**to, "f");
}

#[test]
fn hocon_has_tokens_in_strings_of_every_kind_and_options() {
    let text = "# %{lookup('comment')}\na = \"\"\"x %{lookup('b')}\"\"\"\nc = \"é%{d}\" e\n\
                lookup_options { \"f::g\" { merge = deep }, h.merge = unique }\n";
    let facts = read_as(text, Format::Hocon);
    let tokens = facts.tokens.iter();
    let tokens: Vec<&str> = tokens.map(|token| token.range().slice(text)).collect();
    assert_eq!(tokens, ["%{lookup('b')}", "%{d}"]);
    let mentions = facts.mentions();
    let mentions: Vec<_> = mentions.map(|(key, at)| (&**key, at.slice(text))).collect();
    assert_eq!(mentions, [("b", "b"), ("f::g", "\"f::g\""), ("h", "h")]);
    assert_eq!(read_as("a = ]", Format::Hocon).keys.len(), 0);
    assert!(read_as("a = ]", Format::Hocon).error.is_some());
}

#[test]
fn every_token_has_the_places_of_its_parts() {
    let text = "a: \"\\x25{ lookup('b\\u0063.d') } %{facts.os.'x y'} %{scope(\\\"x\\\")} %{literal('%')}\"\n\
                b: '%{nope(''x'')} %{} %{a..b} %{y'\n";
    let facts = read(text);
    let shown = facts.tokens.iter().map(|token| {
        let slice = |range: TextRange| range.slice(text);
        let parts = match token {
            TokenFact::Reference(reference) => format!(
                "{:?} by <{}> of <{}> {}",
                reference.method,
                slice(reference.function),
                slice(reference.argument),
                reference.key
            ),
            TokenFact::Variable(variable) => format!(
                "variable by <{}> of <{}> {}",
                variable.function.map_or("", slice),
                slice(variable.variable),
                variable.name
            ),
            TokenFact::Other { function, .. } => {
                format!("other by <{}>", function.map_or("", slice))
            }
        };
        format!("{}: {parts}", slice(token.range()))
    });
    expect_test::expect![[r#"
        \x25{ lookup('b\u0063.d') }: Lookup by <lookup> of <b\u0063.d> bc.d
        %{facts.os.'x y'}: variable by <> of <facts.os.'x y'> facts.os.'x y'
        %{scope(\"x\")}: variable by <scope> of <x> x
        %{literal('%')}: other by <literal>
        %{nope(''x'')}: other by <nope>
        %{}: other by <>
        %{a..b}: other by <>
        %{y: other by <>"#]]
    .assert_eq(&shown.collect::<Vec<_>>().join("\n"));
    let variables: Vec<&str> = facts.variables().map(|variable| &*variable.name).collect();
    assert_eq!(variables, ["facts.os.'x y'", "x"]);
}

#[test]
fn options_and_tokens_mention_keys() {
    let text =
        "lookup_options:\n  ^a::: {merge: deep}\n  'b': {merge: hash}\nc: \"%{alias('d.e')}\"\n";
    let facts = read(text);
    let mentions = facts.mentions();
    let mentions: Vec<_> = mentions.map(|(key, at)| (&**key, at.slice(text))).collect();
    assert_eq!(mentions, [("d.e", "d.e"), ("^a::", "^a::"), ("b", "'b'")]);
}

#[test]
fn facts_of_every_known_text_agree_with_loading() {
    let cases = include_str!("../../tests/cases/psych-scalars.jsonl");
    let mut refused = 0;
    for line in cases.lines() {
        let case: serde_json::Value = serde_json::from_str(line).expect("a case a line");
        let text = case["yaml"].as_str().expect("a text");
        let loaded = load(text.as_bytes(), Format::Yaml).loaded.err();
        refused += usize::from(loaded.is_some());
        // Exact positions are left to the parsers: recovery knows more precise ones.
        let kind_and_message = |error: LoadError| (error.kind, error.message);
        let known = read(text).error.map(|error| kind_and_message(*error));
        assert_eq!(known, loaded.map(kind_and_message), "{text:?}");
    }
    assert!(refused > 10, "only {refused} cases are refused");
}

#[test]
fn a_key_has_the_kind_of_the_value_that_is_loaded() {
    let cases = include_str!("../../tests/cases/psych-scalars.jsonl");
    let mut known = 0;
    let mut compare = |text: &str, format: Format| {
        let Ok(loaded) = load(text.as_bytes(), format).loaded else {
            return;
        };
        for fact in read_as(text, format).sorted() {
            let value = loaded.get(&fact.name).expect("a key of the value");
            if fact.kind != ValueKind::Other {
                assert_eq!(fact.kind, ValueKind::of(value), "{text:?}");
                known += 1;
            }
        }
    };
    for line in cases.lines() {
        let case: serde_json::Value = serde_json::from_str(line).expect("a case a line");
        let text = case["yaml"].as_str().expect("a text");
        compare(&format!("key: {text}\n"), Format::Yaml);
    }
    let texts = [
        "a: &x {b: 1}\nc: *x\nd: [1]\n<<: {e: 'text'}\n",
        "a: !!str 1\nb: !ruby/symbol c\nd: \"%{e}\"\nf: >\n  ENC[PKCS7,Zg==]\n",
    ];
    texts.iter().for_each(|text| compare(text, Format::Yaml));
    let json =
        r#"{"a": 1, "b": 1.5, "c": "d", "e": null, "f": true, "g": [], "h": {}, "i": "%{j}"}"#;
    compare(json, Format::Json);
    assert!(known > 100, "only {known} kinds are known");
}

#[test]
fn json_has_no_merge_keys() {
    let text = "{\"<<\": {\"a\": 1}, \"b\": \"%{lookup('c')}\"}";
    let facts = read_as(text, Format::Json);
    assert_eq!(names(&facts), ["<<", "b"]);
    let reference = facts.references().next().expect("there is a reference");
    assert_eq!(reference.range.slice(text), "%{lookup('c')}");
    assert!(facts.error.is_none());
}

#[test]
fn facts_read_in_parts_are_those_of_the_whole() {
    use proptest::prelude::{ProptestConfig, prop};
    use proptest::sample::select;
    use proptest::test_runner::TestRunner;

    const PIECES: [&str; 24] = [
        "a: 1\n",
        "b:\n- x\n- y\n",
        "c:\n  d: \"%{lookup('a')}\"\n  e: %{x}\n",
        "# c\n\n",
        "'a b': |\n  x\n\n\n",
        "lookup_options:\n  a: {merge: deep}\n  '^b': {merge: hash}\n",
        ":s: 1\n",
        "1: x\n",
        "d: 2001-01-01\n",
        "e: !ruby/object:X {}\n",
        "f: &x {a: 1}\n",
        "g: *x\n",
        "<<: {h: 1}\n",
        "<<:\n  i: 1\n",
        "j: [\n  1]\n",
        "k: 'l\n",
        "m: n\n  o\n",
        "\"p\\n\": ~\n",
        "---\n",
        "...\n",
        "&y q: 1\n",
        "? r\n",
        "s: >\n  t\n",
        "u",
    ];
    let in_parts = std::cell::Cell::new(0);
    let config = ProptestConfig {
        failure_persistence: None,
        cases: 1_500,
        ..ProptestConfig::default()
    };
    let pieces = prop::collection::vec(select(&PIECES[..]), 0..8);
    let run = TestRunner::new(config).run(&pieces, |pieces| {
        let text = pieces.concat();
        let source = FactSource {
            text: &text,
            bytes: None,
            hash: TextHash::of(text.as_bytes()),
            format: Format::Yaml,
        };
        for size in [1, 20] {
            if let Some(facts) = facts_in_parts(source, size) {
                in_parts.set(in_parts.get() + 1);
                let whole = FileFacts {
                    in_parts: true,
                    ..read(&text)
                };
                assert_eq!(facts, whole, "{text:?}");
            }
        }
        Ok(())
    });
    run.unwrap();
    assert!(in_parts.get() > 500, "{}", in_parts.get());
}
