//! Goals for a part of a value, by a dotted key.

use std::sync::Arc;

use expect_test::expect;

use super::tests::{at_root, check_proposals, effects, why};
use super::{Goal, proposals, value_of};
use crate::analysis::WhichNodes;

#[test]
fn parts_are_set_where_nodes_have_them_from() {
    check_proposals(expect![[r#"
        ## a part is set where the nodes have it from
        $ a.b.c = 9 ← #- data/common.yaml\n# All.\na:\n  b:\n    c: 1  # why\n    d: 2\n  e: [1, {f: x}]\n
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
        ## an element is set in its list
        $ a.e.1.f = y ← #- data/common.yaml\na:\n  b:\n    c: 1  # why\n    d: 2\n  e: [1, {f: x}]\n
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
        ## a merged hash gets the part on the level of the nodes
        $ a.b.c = 9 for role=web only ← #- data/common.yaml\na:\n  b: {c: 1, d: 2}\n  x: 1\nlookup_options: {a: {merge: deep}}\n#- data/role/web.yaml\na:\n  # Own.\n  x: 2\n
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
        ## a hash that is not merged is copied whole
        $ a.b = 9 for role=web only ← #- data/common.yaml\na: {b: 1, c: 2}\n#- data/role/web.yaml\nx: 1\n
        Set 'a.b' in data/role/web.yaml: changes 2 nodes and no other, because only they read data/role/web.yaml
        Set 'a.b' in data/node/web1.yaml and data/node/web2.yaml: changes 2 nodes and no other, because only they read data/node/web1.yaml and data/node/web2.yaml
        --- data/role/web.yaml
        +++ data/role/web.yaml
        @@ -1 +1,4 @@
         x: 1
        +a:
        +  b: 9
        +  c: 2
        ## keys with dots are quoted
        $ 'a.b' = 9 ← #- data/common.yaml\na.b: 1\nh:\n  x.y: 1\n
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
        $ h.'x.y' = 9 ← #- data/common.yaml\na.b: 1\nh:\n  x.y: 1\n
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
        ## a value on one line stays on one line with its comment
        $ a.l = [x, 'p, q'] ← #- data/common.yaml\na: {n: 1, "l": ['x', y]}  # Why.\nb: [x] # B.\n
        Change 'a.l' in data/common.yaml: changes 4 nodes and no other, because only they read data/common.yaml
        Set 'a.l' in data/site/ams.yaml and data/site/lon.yaml: changes 4 nodes and no other, because only they read data/site/ams.yaml and data/site/lon.yaml
        Set 'a.l' in data/role/db.yaml and data/role/web.yaml: changes 4 nodes and no other, because only they read data/role/db.yaml and data/role/web.yaml
        --- data/common.yaml
        +++ data/common.yaml
        @@ -1,2 +1,2 @@
        -a: {n: 1, "l": ['x', y]}  # Why.
        +a: {n: 1, "l": ['x', 'p, q']}  # Why.
         b: [x] # B.
        $ a.n = 'p, q' ← #- data/common.yaml\na: {n: 1, "l": ['x', y]}  # Why.\nb: [x] # B.\n
        Change 'a.n' in data/common.yaml: changes 4 nodes and no other, because only they read data/common.yaml
        Set 'a.n' in data/site/ams.yaml and data/site/lon.yaml: changes 4 nodes and no other, because only they read data/site/ams.yaml and data/site/lon.yaml
        Set 'a.n' in data/role/db.yaml and data/role/web.yaml: changes 4 nodes and no other, because only they read data/role/db.yaml and data/role/web.yaml
        --- data/common.yaml
        +++ data/common.yaml
        @@ -1,2 +1,2 @@
        -a: {n: 1, "l": ['x', y]}  # Why.
        +a: {n: 'p, q', "l": ['x', y]}  # Why.
         b: [x] # B.
        $ a.m = {k: [1]} ← #- data/common.yaml\na: {n: 1, "l": ['x', y]}  # Why.\nb: [x] # B.\n
        Set 'a.m' in data/common.yaml: changes 4 nodes and no other, because only they read data/common.yaml
        Set 'a.m' in data/site/ams.yaml and data/site/lon.yaml: changes 4 nodes and no other, because only they read data/site/ams.yaml and data/site/lon.yaml
        Set 'a.m' in data/role/db.yaml and data/role/web.yaml: changes 4 nodes and no other, because only they read data/role/db.yaml and data/role/web.yaml
        --- data/common.yaml
        +++ data/common.yaml
        @@ -1,2 +1,2 @@
        -a: {n: 1, "l": ['x', y]}  # Why.
        +a: {n: 1, "l": ['x', y], m: {k: [1]}}  # Why.
         b: [x] # B.
        $ b = text ← #- data/common.yaml\na: {n: 1, "l": ['x', y]}  # Why.\nb: [x] # B.\n
        Change 'b' in data/common.yaml: changes 4 nodes and no other, because only they read data/common.yaml
        Set 'b' in data/site/ams.yaml and data/site/lon.yaml: changes 4 nodes and no other, because only they read data/site/ams.yaml and data/site/lon.yaml
        Set 'b' in data/role/db.yaml and data/role/web.yaml: changes 4 nodes and no other, because only they read data/role/db.yaml and data/role/web.yaml
        --- data/common.yaml
        +++ data/common.yaml
        @@ -1,2 +1,2 @@
         a: {n: 1, "l": ['x', y]}  # Why.
        -b: [x] # B.
        +b: text # B.
    "#]]);
}

#[test]
fn a_value_without_a_place_for_a_part_is_refused() {
    for (text, key, expected) in [
        (
            "a: text\n",
            "a.b",
            "'a.b' cannot be set: the value of 'a' has no hash or list element there",
        ),
        (
            "a: \"%{lookup('a')}\"\n",
            "a.b",
            "the value of 'a' is not known for all of these nodes",
        ),
        (
            "a: 1\n",
            "a.'b",
            "'a.'b' is not a key: it lacks a quote or a name",
        ),
    ] {
        let text = format!("#- data/common.yaml\n{text}");
        let refusal = at_root(&text, |view| {
            let wanted = (Arc::from(key), value_of("9").expect("a value"));
            let goal = Goal::of(view.analysis.nodes, wanted, &WhichNodes::All, false)?;
            proposals(view, &goal, &|_| {}).map(|_| ())
        });
        assert_eq!(refusal.expect_err("a refusal"), expected);
    }
}

#[test]
fn knock_outs_and_merges_are_proposed() {
    check_proposals(expect![[r#"
        ## what lower levels add is knocked out with the prefix in force
        $ a = [x, y, w] for role=web only ← #- data/common.yaml\na: [x, y, z]\nlookup_options:\n  a: {merge: {strategy: deep, knockout_prefix: '~~'}}\n#- data/role/web.yaml\na:\n  - w  # own\n
        Set 'a' in data/role/web.yaml with knock-outs: changes 2 nodes and no other, because only they read data/role/web.yaml
        --- data/role/web.yaml
        +++ data/role/web.yaml
        @@ -1,2 +1,3 @@
         a:
           - w  # own
        +  - "~~z"
        ## knock outs and other merges are offered where a part comes from below
        $ a.l = [x] for role=web only ← #- data/common.yaml\na: {n: 1, l: [x, y]}\nlookup_options:\n  # Why.\n  a:\n    merge: deep\n    convert_to: Hash\n#- data/role/web.yaml\nb: 1\n
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
        $ a.l = [x] ← #- data/common.yaml\na: {n: 1, l: [x, y]}\nlookup_options:\n  # Why.\n  a:\n    merge: deep\n    convert_to: Hash\n#- data/role/web.yaml\nb: 1\n
        Change 'a.l' in data/common.yaml: changes 4 nodes and no other, because only they read data/common.yaml
        --- data/common.yaml
        +++ data/common.yaml
        @@ -1,4 +1,4 @@
        -a: {n: 1, l: [x, y]}
        +a: {n: 1, l: [x]}
         lookup_options:
           # Why.
           a:
        ## a sensitive value stays sensitive
        $ a = [y] for role=web only ← #- data/common.yaml\na: [x, y]\nlookup_options:\n  '^a': {merge: unique, convert_to: Sensitive}\n#- data/role/web.yaml\nb: 1\n
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
    "#]]);
}

#[test]
fn a_level_that_a_lookup_fails_on_is_not_called_overridden() {
    let text = "#- data/common.yaml\nport: 80\n#- data/role/web.yaml\nport: \"x%{alias('a')}\"\n";
    let expected = [
        ("sets it to 'x%{alias(''a'')}', but the lookup fails", true),
        ("sets it to this", false),
    ];
    assert_eq!(effects(&why(text, "port", "80")), expected);
}
