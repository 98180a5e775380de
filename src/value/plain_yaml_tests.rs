//! Every value of the fast parser equals that of libyaml and Psych's rules.

use proptest::prelude::{ProptestConfig, prop, proptest};
use proptest::sample::select;

use super::*;
use crate::syntax::plain_yaml::testing::{PIECES, PLAIN};
use crate::value::load_yaml;

/// Whether the text was plain.
fn check(text: &str) -> bool {
    let entry = |key: &str| load_plain_entry(text.as_bytes(), key);
    let Some(value) = load_plain_yaml(text.as_bytes()) else {
        assert_eq!(entry("a"), None, "{text:?}");
        return false;
    };
    let keys = value.as_hash().into_iter().flat_map(|hash| hash.keys());
    for key in keys.filter_map(Value::as_str).chain(["a", "none"]) {
        assert_eq!(
            entry(key),
            Some(value.get(key).cloned()),
            "{key} of {text:?}"
        );
    }
    let expected = load_yaml(text.as_bytes()).unwrap_or_else(|error| {
        panic!("{text:?} is refused: {}", error.message);
    });
    assert_eq!(value.inspect(), expected.inspect(), "{text:?}");
    assert_eq!(value, expected, "{text:?}");
    true
}

#[test]
fn plain_texts_are_read() {
    for text in PLAIN {
        assert!(check(text), "{text:?}");
    }
}

#[test]
fn keys_that_libyaml_may_refuse_are_left_to_it() {
    for (length, is_plain) in [(999, true), (1_000, false), (1_100, false)] {
        let key = "a".repeat(length);
        for rest in [" b", " 'b'", "\n  c: d", " # b"] {
            assert_eq!(check(&format!("{key}:{rest}\n")), is_plain, "{length}");
            assert_eq!(
                check(&format!("a:\n- {key}:{rest}\n")),
                is_plain,
                "{length}"
            );
        }
        // Quotes count towards the length.
        let quoted = "a".repeat(length - 2);
        let in_brackets = format!("k: {{\"{quoted}\": 1}}\n");
        assert_eq!(check(&in_brackets), length <= 1_000, "{length}");
    }
}

#[test]
fn everything_else_is_left_to_libyaml() {
    let texts = [
        "",
        "a: |\n  b",
        "a: >\n  b\n  c",
        "a: 1\n  ",
        "- a\n",
        "a\n",
        "a: &x 1\n",
        "a: *x\n",
        "a: !!str 1\n",
        "a: 'b\n  c'\n",
        "a: b\n  c\n",
        "a: >\n  b\n   c\n",
        "a: >+\n  b\n",
        "a: >2\n  b\n",
        "a: |2\n   b\n",
        "a: b: c\n",
        "a: 1\n---\nb: 1\n",
        "a: 1\n...\n",
        "%YAML 1.1\n---\na: 1\n",
        "a: 2001-01-01\n",
        "a: %x\n",
        "a: @x\n",
        "? a\n: b\n",
        "a: [1,\n2]\n",
        "a: [1,\n  2\n]\n",
        "a: [b\n  c]\n",
        "a: [#\n  b]\n",
        "a: {b:\n  c}\n",
        "a: [\n",
        "a:\n  |\n   b\n",
        "a:\n  b\n  c\n",
        "<<: {}\n",
        "'<<': {a: 1}\n",
        "a:\tb\n",
        "a:\n   b: 1\n  c: 2\n",
        "a: 1\n b: 2\n",
        "a: [b: c]\n",
        "a: :b\n",
        ":a: b\n",
        "a: {b:1}\n",
        "a: \"\\x4\"\n",
        "a: \"\\ud800\"\n",
        "a: \"\\U00110000\"\n",
        "a: \"\\'\"\n",
        "a: \"b\\\n  c\"\n",
        "a: 'b' c\n",
        "a: [b] c\n",
        "a: \"b\" \u{a0}\n",
        "a: [1] \u{3000}# x\n",
        "a: |\n\n  b\n",
        "a: |\n b\n  \n",
    ];
    for text in texts {
        assert_eq!(load_plain_yaml(text.as_bytes()), None, "{text:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 3_000, ..ProptestConfig::default() })]
    #[test]
    fn random_pieces_are_read_as_by_the_full_reader(pieces in prop::collection::vec(select(&PIECES[..]), 0..16)) {
        check(&format!("{}\n", pieces.concat()));
        check(&format!("a:\n  b: 1\nc: {}", pieces.concat()));
        check(&format!("a: {}\n", pieces.concat()));
        check(&format!("a:\n  b: 1\n  {}\nc: 1\n", pieces.concat()));
    }
}
