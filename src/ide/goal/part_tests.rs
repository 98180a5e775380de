//! Goals for a part of a value, by a dotted key.

use std::sync::Arc;

use expect_test::expect;

use super::tests::{at_root, check};
use super::{Goal, nodes_of, proposals, value_of, why_not};

#[test]
fn a_part_is_set_where_the_nodes_have_it_from() {
    check(
        "#- data/common.yaml\n# All.\na:\n  b:\n    c: 1  # why\n    d: 2\n  e: [1, {f: x}]\n",
        ("a.b.c", "9"),
        &[],
        false,
        expect![[r#"
            Change 'a.b.c' in data/common.yaml: changes 4 nodes and no other, because only they read data/common.yaml
            Set 'a.b.c' in data/site/ams.yaml and data/site/lon.yaml: changes 4 nodes and no other, because only they read data/site/ams.yaml and data/site/lon.yaml
            Set 'a.b.c' in data/role/db.yaml and data/role/web.yaml: changes 4 nodes and no other, because only they read data/role/db.yaml and data/role/web.yaml
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1,6 +1,6 @@
             # All.
             a:
               b:
            -    c: 1  # why
            +    c: 9  # why
                 d: 2
               e: [1, {f: x}]
        "#]],
    );
}

#[test]
fn an_element_is_set_in_its_list() {
    check(
        "#- data/common.yaml\na:\n  b:\n    c: 1  # why\n    d: 2\n  e: [1, {f: x}]\n",
        ("a.e.1.f", "y"),
        &[],
        false,
        expect![[r#"
            Change 'a.e.1.f' in data/common.yaml: changes 4 nodes and no other, because only they read data/common.yaml
            Set 'a.e.1.f' in data/site/ams.yaml and data/site/lon.yaml: changes 4 nodes and no other, because only they read data/site/ams.yaml and data/site/lon.yaml
            Set 'a.e.1.f' in data/role/db.yaml and data/role/web.yaml: changes 4 nodes and no other, because only they read data/role/db.yaml and data/role/web.yaml
            --- data/common.yaml
            +++ data/common.yaml
            @@ -2,4 +2,4 @@
               b:
                 c: 1  # why
                 d: 2
            -  e: [1, {f: x}]
            +  e: [1, {f: "y"}]
        "#]],
    );
}

#[test]
fn a_merged_hash_gets_the_part_on_the_level_of_the_nodes() {
    check(
        "#- data/common.yaml\na:\n  b: {c: 1, d: 2}\n  x: 1\nlookup_options: {a: {merge: deep}}\n\
         #- data/role/web.yaml\na:\n  # Own.\n  x: 2\n",
        ("a.b.c", "9"),
        &["role=web"],
        true,
        expect![[r#"
            Set 'a.b.c' in data/role/web.yaml: changes 2 nodes and no other, because only they read data/role/web.yaml
            Set 'a.b.c' in data/node/web1.yaml and data/node/web2.yaml: changes 2 nodes and no other, because only they read data/node/web1.yaml and data/node/web2.yaml
            --- data/role/web.yaml
            +++ data/role/web.yaml
            @@ -1,3 +1,5 @@
             a:
               # Own.
               x: 2
            +  b:
            +    c: 9
        "#]],
    );
}

#[test]
fn a_hash_that_is_not_merged_is_copied_whole() {
    check(
        "#- data/common.yaml\na: {b: 1, c: 2}\n#- data/role/web.yaml\nx: 1\n",
        ("a.b", "9"),
        &["role=web"],
        true,
        expect![[r#"
            Set 'a.b' in data/role/web.yaml: changes 2 nodes and no other, because only they read data/role/web.yaml
            Set 'a.b' in data/node/web1.yaml and data/node/web2.yaml: changes 2 nodes and no other, because only they read data/node/web1.yaml and data/node/web2.yaml
            --- data/role/web.yaml
            +++ data/role/web.yaml
            @@ -1 +1,4 @@
             x: 1
            +a:
            +  b: 9
            +  c: 2
        "#]],
    );
}

#[test]
fn keys_with_dots_are_quoted() {
    check(
        "#- data/common.yaml\na.b: 1\nh:\n  x.y: 1\n",
        ("'a.b'", "9"),
        &[],
        false,
        expect![[r#"
            Change ''a.b'' in data/common.yaml: changes 4 nodes and no other, because only they read data/common.yaml
            Set ''a.b'' in data/site/ams.yaml and data/site/lon.yaml: changes 4 nodes and no other, because only they read data/site/ams.yaml and data/site/lon.yaml
            Set ''a.b'' in data/role/db.yaml and data/role/web.yaml: changes 4 nodes and no other, because only they read data/role/db.yaml and data/role/web.yaml
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1,3 +1,3 @@
            -a.b: 1
            +a.b: 9
             h:
               x.y: 1
        "#]],
    );
    check(
        "#- data/common.yaml\na.b: 1\nh:\n  x.y: 1\n",
        ("h.'x.y'", "9"),
        &[],
        false,
        expect![[r#"
            Change 'h.'x.y'' in data/common.yaml: changes 4 nodes and no other, because only they read data/common.yaml
            Set 'h.'x.y'' in data/site/ams.yaml and data/site/lon.yaml: changes 4 nodes and no other, because only they read data/site/ams.yaml and data/site/lon.yaml
            Set 'h.'x.y'' in data/role/db.yaml and data/role/web.yaml: changes 4 nodes and no other, because only they read data/role/db.yaml and data/role/web.yaml
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1,3 +1,3 @@
             a.b: 1
             h:
            -  x.y: 1
            +  x.y: 9
        "#]],
    );
}

#[test]
fn what_has_no_place_for_a_part_is_refused() {
    let why = |text: &str, key: &str| {
        at_root(text, |view| {
            let which = nodes_of(&[]).expect("nodes");
            let wanted = (Arc::from(key), value_of("9").expect("a value"));
            let goal = Goal::of(view.analysis.nodes, wanted, &which, false)?;
            proposals(view, &goal, &|_| {}).map(|_| ())
        })
        .expect_err("a refusal")
    };
    assert_eq!(
        why("#- data/common.yaml\na: text\n", "a.b"),
        "'a.b' cannot be set: the value of 'a' has no hash or list element there"
    );
    assert_eq!(
        why("#- data/common.yaml\na: \"%{lookup('a')}\"\n", "a.b"),
        "the value of 'a' is not known for all of these nodes"
    );
    assert_eq!(
        why("#- data/common.yaml\na: 1\n", "a.'b"),
        "'a.'b' is not a key: it lacks a quote or a name"
    );
}

#[test]
fn what_lower_levels_add_is_knocked_out_with_the_prefix_in_force() {
    let text = "#- data/common.yaml\na: [x, y, z]\nlookup_options:\n  a: {merge: {strategy: deep, knockout_prefix: '~~'}}\n\
                #- data/role/web.yaml\na:\n  - w  # own\n";
    check(
        text,
        ("a", "[x, y, w]"),
        &["role=web"],
        true,
        expect![[r#"
        Set 'a' in data/role/web.yaml with knock-outs: changes 2 nodes and no other, because only they read data/role/web.yaml
        --- data/role/web.yaml
        +++ data/role/web.yaml
        @@ -1,2 +1,3 @@
         a:
           - w  # own
        +  - "~~z"
    "#]],
    );
}

#[test]
fn knock_outs_and_other_merges_are_offered_where_a_part_comes_from_below() {
    let text = "#- data/common.yaml\na: {n: 1, l: [x, y]}\nlookup_options:\n  # Why.\n  a:\n    merge: deep\n    convert_to: Hash\n\
                #- data/role/web.yaml\nb: 1\n";
    check(
        text,
        ("a.l", "[x]"),
        &["role=web"],
        true,
        expect![[r#"
        Set 'a.l' in data/role/web.yaml, merged by 'hash': changes 2 nodes and no other, because only they read data/role/web.yaml
        Set 'a.l' in data/role/web.yaml and no longer merge it: changes 2 nodes and no other, because only they read data/role/web.yaml
        Set 'a.l' in data/role/web.yaml with knock-outs, merged by 'deep' with the knockout_prefix '--': changes 2 nodes and no other, because only they read data/role/web.yaml
        Set 'a.l' in data/node/web1.yaml and data/node/web2.yaml with knock-outs, merged by 'deep' with the knockout_prefix '--': changes 2 nodes and no other, because only they read data/node/web1.yaml and data/node/web2.yaml
        Set 'a.l' in data/node/web1.yaml and data/node/web2.yaml, merged by 'hash': changes 2 nodes and no other, because only they read data/node/web1.yaml and data/node/web2.yaml
        --- data/role/web.yaml
        +++ data/role/web.yaml
        @@ -1 +1,8 @@
         b: 1
        +a:
        +  l:
        +  - x
        +lookup_options:
        +  a:
        +    merge: hash
        +    convert_to: Hash
    "#]],
    );
    check(
        text,
        ("a.l", "[x]"),
        &[],
        false,
        expect![[r#"
            Change 'a.l' in data/common.yaml: changes 4 nodes and no other, because only they read data/common.yaml
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1,4 +1,4 @@
            -a: {n: 1, l: [x, y]}
            +a: {n: 1, l: [x]}
             lookup_options:
               # Why.
               a:
        "#]],
    );
}

#[test]
fn a_sensitive_value_stays_sensitive() {
    let text = "#- data/common.yaml\na: [x, y]\nlookup_options:\n  '^a': {merge: unique, convert_to: Sensitive}\n\
                #- data/role/web.yaml\nb: 1\n";
    check(
        text,
        ("a", "[y]"),
        &["role=web"],
        true,
        expect![[r#"
        Set 'a' in data/role/web.yaml and no longer merge it: changes 2 nodes and no other, because only they read data/role/web.yaml
        Set 'a' in data/role/web.yaml with knock-outs, merged by 'deep' with the knockout_prefix '--': changes 2 nodes and no other, because only they read data/role/web.yaml
        Set 'a' in data/node/web1.yaml and data/node/web2.yaml with knock-outs, merged by 'deep' with the knockout_prefix '--': changes 2 nodes and no other, because only they read data/node/web1.yaml and data/node/web2.yaml
        Set 'a' in data/node/web1.yaml and data/node/web2.yaml and no longer merge it: changes 2 nodes and no other, because only they read data/node/web1.yaml and data/node/web2.yaml
        --- data/role/web.yaml
        +++ data/role/web.yaml
        @@ -1 +1,7 @@
         b: 1
        +a:
        +- "y"
        +lookup_options:
        +  a:
        +    merge: first
        +    convert_to: Sensitive
    "#]],
    );
}

#[test]
fn a_value_on_one_line_stays_on_one_line_with_its_comment() {
    let text = "#- data/common.yaml\na: {n: 1, \"l\": ['x', y]}  # Why.\nb: [x] # B.\n";
    let all: &[&str] = &[];
    check(
        text,
        ("a.l", "[x, 'p, q']"),
        all,
        false,
        expect![[r#"
        Change 'a.l' in data/common.yaml: changes 4 nodes and no other, because only they read data/common.yaml
        Set 'a.l' in data/site/ams.yaml and data/site/lon.yaml: changes 4 nodes and no other, because only they read data/site/ams.yaml and data/site/lon.yaml
        Set 'a.l' in data/role/db.yaml and data/role/web.yaml: changes 4 nodes and no other, because only they read data/role/db.yaml and data/role/web.yaml
        --- data/common.yaml
        +++ data/common.yaml
        @@ -1,2 +1,2 @@
        -a: {n: 1, "l": ['x', y]}  # Why.
        +a: {n: 1, "l": ['x', 'p, q']}  # Why.
         b: [x] # B.
    "#]],
    );
    check(
        text,
        ("a.n", "'p, q'"),
        all,
        false,
        expect![[r#"
        Change 'a.n' in data/common.yaml: changes 4 nodes and no other, because only they read data/common.yaml
        Set 'a.n' in data/site/ams.yaml and data/site/lon.yaml: changes 4 nodes and no other, because only they read data/site/ams.yaml and data/site/lon.yaml
        Set 'a.n' in data/role/db.yaml and data/role/web.yaml: changes 4 nodes and no other, because only they read data/role/db.yaml and data/role/web.yaml
        --- data/common.yaml
        +++ data/common.yaml
        @@ -1,2 +1,2 @@
        -a: {n: 1, "l": ['x', y]}  # Why.
        +a: {n: 'p, q', "l": ['x', y]}  # Why.
         b: [x] # B.
    "#]],
    );
    check(
        text,
        ("a.m", "{k: [1]}"),
        all,
        false,
        expect![[r#"
        Set 'a.m' in data/common.yaml: changes 4 nodes and no other, because only they read data/common.yaml
        Set 'a.m' in data/site/ams.yaml and data/site/lon.yaml: changes 4 nodes and no other, because only they read data/site/ams.yaml and data/site/lon.yaml
        Set 'a.m' in data/role/db.yaml and data/role/web.yaml: changes 4 nodes and no other, because only they read data/role/db.yaml and data/role/web.yaml
        --- data/common.yaml
        +++ data/common.yaml
        @@ -1,2 +1,2 @@
        -a: {n: 1, "l": ['x', y]}  # Why.
        +a: {n: 1, "l": ['x', y], m: {k: [1]}}  # Why.
         b: [x] # B.
    "#]],
    );
    check(
        text,
        ("b", "text"),
        all,
        false,
        expect![[r#"
        Change 'b' in data/common.yaml: changes 4 nodes and no other, because only they read data/common.yaml
        Set 'b' in data/site/ams.yaml and data/site/lon.yaml: changes 4 nodes and no other, because only they read data/site/ams.yaml and data/site/lon.yaml
        Set 'b' in data/role/db.yaml and data/role/web.yaml: changes 4 nodes and no other, because only they read data/role/db.yaml and data/role/web.yaml
        --- data/common.yaml
        +++ data/common.yaml
        @@ -1,2 +1,2 @@
         a: {n: 1, "l": ['x', y]}  # Why.
        -b: [x] # B.
        +b: text # B.
    "#]],
    );
}

#[test]
fn a_level_that_a_lookup_fails_on_is_not_said_to_be_overridden() {
    let text = "#- data/common.yaml\nport: 80\n#- data/role/web.yaml\nport: \"x%{alias('a')}\"\n";
    let told = at_root(text, |view| {
        let wanted = value_of("80").expect("a value");
        let why = why_not(view, "port", &wanted, 0).expect("an answer");
        let levels = why.levels.into_iter();
        levels
            .map(|level| (level.what, level.is_in_the_way))
            .collect::<Vec<_>>()
    });
    let expected = [
        ("sets it to 'x%{alias(''a'')}', but the lookup fails", true),
        ("sets it to this", false),
    ];
    assert_eq!(
        told,
        expected.map(|(what, is_in_the_way)| (what.to_owned(), is_in_the_way))
    );
}
