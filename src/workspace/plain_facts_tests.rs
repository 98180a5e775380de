//! Facts without a tree are those with one.

use proptest::prelude::{ProptestConfig, prop, proptest};
use proptest::sample::select;

use super::*;
use crate::workspace::Format;
use crate::workspace::interner::Interner;
use crate::workspace::reader::facts_of_tree;

/// Whether the text was plain.
fn check(text: &str) -> bool {
    let (names, hash) = (Interner::default(), TextHash::of(text.as_bytes()));
    let Some(plain) = plain_facts(text, hash, names.of_worker(0)) else {
        return false;
    };
    let (whole, _) = facts_of_tree(text, None, hash, Format::Yaml, names.of_worker(0));
    assert_eq!(plain, whole, "{text:?}");
    true
}

#[test]
fn facts_of_plain_texts() {
    let texts = [
        "a: 1\n",
        "---\n# comment\na: 1 # one\n\nb::c:\n  c: x y\n  d:\n  - 1\n  - e: f\n    g: h\n  -\n    - [a, 'b']\n",
        "lookup_options:\n  a::b: {merge: deep}\n  '^c': # x\n    merge:\n      strategy: deep\n  \"d\":\n  1: x\na::b: 1\n",
        "lookup_options: {a: {merge: unique}, 'b': 1, true: x}\n",
        "lookup_options:\n- a: 1\nlookup_options:\n  b: c\n",
        "a: |\n  %{lookup('b')}\n    deeper %{hiera(\"c.d\")}\n\n  # text   \n\n\nb: |-\n  %{alias('x')}\n\n\nc: ~\n",
        "'a b': \"c\\n%{lookup('x')}\"\n\"%{lookup('k')}\": 'it''s %{lookup(''y'')}'\n",
        "1: 0x1f\n1.5: -1\ntrue: 1:30\nnull: 10.0.0.1:80\n~: x\n'1': y\n",
        "a: é # ü\nä: [a::b, \"%{lookup('ö')}\", {b: c}]\n",
        "a:\n  b:\n\n  c: x#y\nd:\n",
        "a: 1\na: 2\n",
        "a:\n- - b\n  -\n  - c:\n-\nb: {}\nc: []\n",
        "':b': 1\na: x # y\n",
    ];
    for text in texts {
        assert!(check(text), "{text:?}");
    }
}

const PIECES: [&str; 46] = [
    "a",
    "b",
    "k",
    "1",
    "-1",
    "1.5",
    "~",
    "true",
    ":",
    ": ",
    ":\n",
    " ",
    "  ",
    "    ",
    "\n",
    "\n  ",
    "\n    ",
    "- ",
    "-",
    "\n- ",
    "\n  - ",
    "#",
    " #",
    "'",
    "''",
    "\"",
    "\\n",
    "[",
    "]",
    "{",
    "}",
    ", ",
    ",",
    "|\n",
    "|-\n",
    "a: ",
    "\na: ",
    "\n  b: ",
    "---\n",
    "é",
    "%{x}",
    "%{lookup('a.b')}",
    "%{alias(\"k\")}",
    "lookup_options:",
    "\nlookup_options:\n  ",
    "2001-01-01",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2_000, ..ProptestConfig::default() })]
    #[test]
    fn any_pieces_have_the_same_facts(pieces in prop::collection::vec(select(&PIECES[..]), 0..16)) {
        check(&format!("{}\n", pieces.concat()));
        check(&format!("a: {}\n", pieces.concat()));
        check(&format!("a:\n  b: 1\n  {}\nc: 1\n", pieces.concat()));
        check(&format!("lookup_options:\n  {}\nc: 1\n", pieces.concat()));
    }
}
