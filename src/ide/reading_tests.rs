//! Folding, selections, semantic tokens, linked ranges and signatures, also in half-typed text.

use expect_test::{Expect, expect};

use super::fixture_tests::{
    AtCursor, at_cursor, check, check_all, in_common, text_of, with_hierarchy,
};
use super::folding::{folds, selections};
use super::linked_editing::linked_ranges;
use super::semantic_tokens::semantic_tokens;
use super::signature::signature;

fn check_folds(text: &str, expected: Expect) {
    let folded = |at: &AtCursor<'_>| {
        let found = folds(at.analysis.snapshot, at.path).into_iter();
        let lines =
            found.map(|fold| format!("{}-{} {:?}", fold.first + 1, fold.last + 1, fold.kind));
        lines.collect::<Vec<_>>().join("\n")
    };
    check(text, folded, expected);
}

/// Checks the ranges that a selection grows to, each case in a file.
fn check_selections(cases: Expect) {
    let selected = |at: &AtCursor<'_>| {
        let text = at.analysis.snapshot.file(at.path).unwrap().text();
        let found = selections(at.analysis.snapshot, at.path, at.offset);
        let lines = found.into_iter().map(|range| text_of(text, range));
        lines.collect::<Vec<_>>().join("\n")
    };
    check_all(in_common, selected, cases);
}

fn check_tokens(text: &str, expected: Expect) {
    let tokens = |at: &AtCursor<'_>| {
        let text = at.analysis.snapshot.file(at.path).unwrap().text();
        let found = semantic_tokens(at.analysis, at.path).into_iter();
        let lines = found.map(|token| {
            format!(
                "{:?} {:?} {}",
                token.class,
                token.role,
                text_of(text, token.range)
            )
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    check(text, tokens, expected);
}

/// Checks the ranges that are edited together, each case in a file.
fn check_linked(cases: Expect) {
    let linked = |at: &AtCursor<'_>| {
        let text = at.analysis.snapshot.file(at.path).unwrap().text();
        let Some(found) = linked_ranges(at.analysis.snapshot, at.path, at.offset) else {
            return "nothing".to_owned();
        };
        let lines = found.ranges.iter().map(|range| {
            let place = format!("{}-{}", range.start, range.end);
            format!("{place} {}\n", text_of(text, *range))
        });
        format!("{}{}", lines.collect::<String>(), found.pattern)
    };
    check_all(in_common, |at| at.also_half_typed(linked), cases);
}

#[test]
fn values_and_comments_fold() {
    check_folds(
        &in_common(
            "# one\n# two\na:\n  b:\n    - x\n    - y: 1\n      z: 2\n\ntext: |\n  one\n  two\n\n# alone\n\
             flow: {\n  a: 1\n}\nb: 1 # x$0\nbroken: [\n  1\n",
        ),
        expect![[r#"
            1-2 Comment
            3-7 Value
            4-7 Value
            6-7 Value
            9-11 Value
            14-16 Value
            18-19 Value"#]],
    );
}

#[test]
fn selections_grow_from_a_part_of_a_token() {
    check_selections(expect![[r#"
            $ a:\n  b: "x %{lookup('k$0ey.sub')} y"\n  c: 1\nd: 1\n
            key.sub
            lookup('key.sub')
            %{lookup('key.sub')}
            x %{lookup('key.sub')} y
            "x %{lookup('key.sub')} y"
            b: "x %{lookup('key.sub')} y"
            b: "x %{lookup('key.sub')} y"\n  c: 1
            a:\n  b: "x %{lookup('key.sub')} y"\n  c: 1
            a:\n  b: "x %{lookup('key.sub')} y"\n  c: 1\nd: 1
            a:\n  b: "x %{lookup('key.sub')} y"\n  c: 1\nd: 1\n
            $ a: [1, {b: te$0xt}]\n
            text
            b: text
            {b: text}
            [1, {b: text}]
            a: [1, {b: text}]
            a: [1, {b: text}]\n
            $ a: 1\nbroken: [\n  x$0\n
            broken: [\n  x
            a: 1\nbroken: [\n  x\n
        "#]]);
}

#[test]
fn words_have_classes() {
    check_tokens(
        &in_common(
            "profile::web::port: 1\nusers:\n  bob: {'%{facts.x}': 1}\n\
             url: \"%{lookup('users.bob')} %{facts.os.family} %{scope('role')} %{literal('%')}\"\n\
             lookup_options:\n  users:\n    merge: deep\n  '^profile::':\n    merge: {strategy: hash}\n    \
             convert_to: [Array, true]\nbroken: [$0\n",
        ),
        expect![[r#"
            Key Definition profile::web::port
            Key Definition users
            Key Use bob
            Variable Use facts.x
            Key Definition url
            Function Use lookup
            Key Use users.bob
            Variable Use facts.os.family
            Function Use scope
            Variable Use role
            Function Use literal
            Keyword Use lookup_options
            Key Option users
            Keyword Use merge
            Choice Use deep
            Pattern Option '^profile::'
            Keyword Use merge
            Keyword Use strategy
            Choice Use hash
            Keyword Use convert_to
            Type Use Array
            Key Definition broken"#]],
    );
    check_tokens(
        &with_hierarchy("").replace("version: 5", "version: 5$0"),
        expect![[r#"
            Keyword Use version
            Keyword Use defaults
            Keyword Use datadir
            Keyword Use data_hash
            Function Use yaml_data
            Keyword Use hierarchy
            Keyword Use name
            Keyword Use path
            Variable Use trusted.certname
            Keyword Use name
            Keyword Use path
            Variable Use facts.role
            Keyword Use name
            Keyword Use path
            Variable Use facts.site
            Keyword Use name
            Keyword Use path"#]],
    );
}

#[test]
fn quotes_of_keys_and_anchors_are_edited_together() {
    check_linked(expect![[r#"
            $ "a::b$0": 1\n
            0-1 "
            5-6 "
            ["']
            $ "a::$0b": 1\n
            nothing
            $ a: $0"b"\n
            nothing
            $ a: &one 1\nb: *on$0e\nc: *one\n
            4-7 one
            14-17 one
            22-25 one
            [^\s,\[\]{}*&]+
        "#]]);
}

#[test]
fn signatures_are_shown_in_calls() {
    let label = |text: &str| {
        at_cursor(&in_common(text), None, |cursor| {
            let found = signature(cursor.analysis.snapshot, cursor.path, cursor.offset);
            found.map(|found| found.label)
        })
    };
    assert_eq!(label("a: \"%{lookup('$0"), Some("lookup('key')"));
    assert_eq!(label("a: \"%{scope('x$0')}\""), Some("scope('variable')"));
    assert_eq!(label("a: \"%{facts.os$0}\""), None);
    assert_eq!(label("a: \"%{lookup('x')$0}\""), None);
    assert_eq!(label("# %{lookup('$0"), None);
}
