//! Parts of a value without a key: elements of merged lists, knock-outs, `<<`, anchors, aliases.

use expect_test::expect;

use super::{NODES, forms, hover_with, plain, plain_for, plain_of, with_hierarchy};
use crate::ide::fixture_tests::{check, check_all, check_cases, nodes};

const OPTIONS: &str = "lookup_options:\n  pkgs: {merge: unique}\n  users: {merge: {strategy: deep, knockout_prefix: \"--\"}}\n";

/// Lists of a role, a site and all nodes, written as `role | site | all nodes`; `pkgs` is merged by
/// `unique`, `users` by `deep`.
fn lists(levels: &str) -> String {
    let levels: Vec<&str> = levels.split(" | ").collect();
    let [role, site, common] = levels[..] else {
        panic!("three levels");
    };
    with_hierarchy(&format!(
        "#- data/role/web.yaml\n{role}#- data/site/ams.yaml\n{site}#- data/common.yaml\n{OPTIONS}{common}"
    ))
}

fn in_common(text: &str) -> String {
    with_hierarchy(&format!("#- data/common.yaml\n{text}"))
}

#[test]
fn the_forms_of_a_knock_out() {
    check(
        &lists("users:\n  groups: [\"--doc$0ker\", www]\n |  | users:\n  groups: [docker, adm]\n"),
        |at| forms(at, NODES),
        expect![[r#"
            **`users.groups`** — merged deep from 2 levels, for 3 of 4 nodes: all that read this file  
            `'--docker'`: removes `docker` of [common.yaml:5](file:///repo/data/common.yaml#L5)
            ```yaml
            - adm  # common.yaml:5
            - www  # role/web.yaml:2
            ```
            "docker" knocked out by role/web.yaml:2  
            merged from [role/web.yaml:2](file:///repo/data/role/web.yaml#L2), [common.yaml:5](file:///repo/data/common.yaml#L5) · not set in [site/ams.yaml](file:///repo/data/site/ams.yaml#L1)  
            merge: `{strategy: deep, knockout_prefix: '--'}`, from lookup_options in [common.yaml:3](file:///repo/data/common.yaml#L3)
            -- aligned
            **`users.groups`** — merged deep from 2 levels, for 3 of 4 nodes: all that read this file  
            `'--docker'`: removes `docker` of `common.yaml:5`
            ```yaml
            - adm  # common.yaml:5
            - www  # role/web.yaml:2
            ```
            "docker" knocked out by role/web.yaml:2  
            merged from `role/web.yaml:2`, `common.yaml:5` · not set in `site/ams.yaml`  
            merge: `{strategy: deep, knockout_prefix: '--'}`, from lookup_options in `common.yaml:3`
            -- plain
            users.groups — merged deep from 2 levels, for 3 of 4 nodes: all that read this file
            '--docker': removes docker of common.yaml:5
              - adm  # common.yaml:5
              - www  # role/web.yaml:2
            "docker" knocked out by role/web.yaml:2
            merged from role/web.yaml:2, common.yaml:5 · not set in site/ams.yaml
            merge: {strategy: deep, knockout_prefix: '--'}, from lookup_options in common.yaml:3"#]],
    );
}

#[test]
fn elements_of_lists() {
    check_all(
        lists,
        |at| plain(at, NODES),
        expect![[r#"
            ## an element of a merged list is in the value
            $ pkgs: [v$0im]\n |  | pkgs: [git]\n
            pkgs — merged unique from 2 levels, for 3 of 4 nodes: all that read this file
            vim: in the effective value
              - vim  # role/web.yaml:1
              - git  # common.yaml:4
            merged from role/web.yaml:1, common.yaml:4 · not set in site/ams.yaml
            merge: unique, from lookup_options in common.yaml:2
            ## an element that a higher level has too
            $ pkgs: [vim, git]\n |  | pkgs:\n  - gi$0t\n  - vim\n
            pkgs — merged unique, 2 different values on 4 nodes
            git: already in the effective value from role/web.yaml:1 on 3 nodes · in the effective value on
              d.example
              # 3 nodes (role = web)
              - vim
              - git
            [git, vim] on d.example
            merge: unique, from lookup_options in common.yaml:2
            ## an element of a list that is overridden
            $ dns: [a]\n |  | dns:\n  - b$0\n  - c\n
            dns — first found, 2 different values on 4 nodes
            b: overridden by role/web.yaml:1 on 3 nodes · in the effective value on d.example
              - a  # 3 nodes (role = web) · role/web.yaml:1
            [b, c] on d.example · common.yaml:4
            $  |  | dns: [a$0, b]\n
            dns — first found, for all 4 nodes that read this file
              - a
              - b
            set in common.yaml:4 · not set in role/web.yaml, site/ams.yaml
            ## an element that is a hash
            $ pkgs: [{name: vim}]\n |  | pkgs:\n  - name: g$0it\n    version: 1\n
            pkgs — merged unique, 2 different values on 4 nodes
            this element: in the effective value
              # 3 nodes (role = web)
              -  # role/web.yaml:1
                name: vim
              -  # common.yaml:5
                name: git
                version: 1
            [{name: git, version: 1}] on d.example
            merge: unique, from lookup_options in common.yaml:2
            ## keys and lists of one level stay as they are
            $  |  | pkgs: [v$0im]\nusers: {a: [b]}\n
            pkgs — merged unique, set by one level, for all 4 nodes that read this file
              - vim
            set in common.yaml:4 · not set in role/web.yaml, site/ams.yaml
            merge: unique, from lookup_options in common.yaml:2
            $ pkgs: [git]\n |  | p$0kgs: &a [vim]\n
            pkgs — merged unique, 2 different values on 4 nodes
              # 3 nodes (role = web)
              - git  # role/web.yaml:1
              - vim  # common.yaml:4
            [vim] on d.example
            merge: unique, from lookup_options in common.yaml:2
            ## an element that stands twice
            $ pkgs: [git]\n |  | pkgs: [vim, v$0im]\n
            pkgs — merged unique, 2 different values on 4 nodes
            vim: already in the effective value from common.yaml:4
              # 3 nodes (role = web)
              - git  # role/web.yaml:1
              - vim  # common.yaml:4
            [vim] on d.example
            merge: unique, from lookup_options in common.yaml:2
        "#]],
    );
}

#[test]
fn knock_outs_of_elements() {
    check_all(
        lists,
        |at| plain(at, NODES),
        expect![[r#"
            ## a knock out says what it removes
            $ users:\n  groups: ["--docker", www]\n |  | users:\n  groups: [doc$0ker, adm]\n
            users.groups — merged deep, 2 different values on 4 nodes
            docker: removed by the knock-out in role/web.yaml:2 on 3 nodes · in the effective value on
              d.example
              # 3 nodes (role = web)
              - adm  # common.yaml:5
              - www  # role/web.yaml:2
            "docker" knocked out by role/web.yaml:2
            [docker, adm] on d.example
            merge: {strategy: deep, knockout_prefix: '--'}, from lookup_options in common.yaml:3
            $  |  | users:\n  groups: ["--doc$0ker", adm]\n
            users.groups — merged deep, set by one level, for all 4 nodes that read this file
            '--docker': removes nothing and stays in the value: no lower level sets this list
              - '--docker'
              - adm
            set in common.yaml:5 · not set in role/web.yaml, site/ams.yaml
            merge: {strategy: deep, knockout_prefix: '--'}, from lookup_options in common.yaml:3
            ## a knock out reaches the next level only
            $ users:\n  groups: ["--doc$0ker"]\n | users:\n  groups: [docker]\n | users:\n  groups: [docker, adm]\n
            users.groups — merged deep, 2 different values on 3 nodes
            '--docker': only reaches the next lower level, docker is in the value from common.yaml:5 on 2
              nodes · removes docker of common.yaml:5 on c.example
              # a.example and 1 more
              - docker
              - adm
            [adm] on c.example
            merge: {strategy: deep, knockout_prefix: '--'}, from lookup_options in common.yaml:3
            $ users:\n  groups: ["--doc$0ker"]\n |  | users:\n  groups: [adm]\n
            users.groups — merged deep from 2 levels, for 3 of 4 nodes: all that read this file
            '--docker': removes nothing: no lower level has docker
              - adm
            merged from role/web.yaml:2, common.yaml:5 · not set in site/ams.yaml
            merge: {strategy: deep, knockout_prefix: '--'}, from lookup_options in common.yaml:3
        "#]],
    );
}

#[test]
fn an_element_for_a_node_and_for_any_node() {
    let text = lists("pkgs: [vim]\n |  | pkgs: [git, v$0im]\n");
    check(
        &text,
        |at| plain(at, "{}"),
        expect![[r#"
            pkgs — merged unique, set by one level, for every node that reads this file (may differ)
              - git
              - vim
            set in common.yaml:4
            may differ: role = web
            merge: unique, from lookup_options in common.yaml:2"#]],
    );
    check(
        &text,
        |at| plain_for(at, NODES, "d.example"),
        expect![[r#"
            pkgs — merged unique, set by one level, for d.example
              - git
              - vim
            set in common.yaml:4
            merge: unique, from lookup_options in common.yaml:2"#]],
    );
}

#[test]
fn lists_that_are_not_merged_by_elements() {
    let text = |options: &str| {
        with_hierarchy(&format!(
            "#- data/role/web.yaml\na: {{x: [1]}}\n#- data/common.yaml\nlookup_options: {{a: {options}}}\na:\n  x: [$01, 2]\n  y: [3]\n"
        ))
    };
    check_all(
        text,
        |at| plain(at, NODES),
        expect![[r#"
            $ {merge: hash}
            a.x — merged as hash, 2 different values on 4 nodes
            1: overridden by role/web.yaml:1 on 3 nodes · in the effective value on d.example
              - 1  # 3 nodes (role = web) · role/web.yaml:1
            [1, 2] on d.example
            merge: hash, from lookup_options in common.yaml:1
            $ {}
            a.x — first found, 2 different values on 4 nodes
            1: overridden by role/web.yaml:1 on 3 nodes · in the effective value on d.example
              - 1  # 3 nodes (role = web) · role/web.yaml:1
            [1, 2] on d.example · common.yaml:3
            $ {merge: {strategy: deep, merge_hash_arrays: true}}
            a.x — merged deep from 2 levels, for all 4 nodes that read this file
            1: already in the effective value from role/web.yaml:1 on 3 nodes · in the effective value on
              d.example
              - 1  # role/web.yaml:1
              - 2  # common.yaml:3
            merged from role/web.yaml:1, common.yaml:3
            merge: {strategy: deep, merge_hash_arrays: true}, from lookup_options in common.yaml:1
        "#]],
    );
}

#[test]
fn merged_elements_are_described_only_where_they_are_known() {
    let text = with_hierarchy(
        "#- data/role/web.yaml\na: [{n: 1, x: 2}]\n#- data/common.yaml\nlookup_options: {a: {merge: {strategy: deep, merge_hash_arrays: true}}}\na:\n  - n: $03\n",
    );
    check(
        &text,
        |at| plain_for(at, NODES, "a.example"),
        expect![[r#"
            a — merged deep from 2 levels, for a.example
            this element: merged into a.0 of the effective value
              - n: 1
                x: 2
            merged from role/web.yaml:1, common.yaml:2
            merge: {strategy: deep, merge_hash_arrays: true}, from lookup_options in common.yaml:1"#]],
    );
    check(
        &text,
        |at| plain(at, NODES),
        expect![[r#"
            a — merged deep, 2 different values on 4 nodes
            this element: merged into a.0 of the effective value on 3 nodes · in the effective value on
              d.example
              # 3 nodes (role = web)
              - n: 1
                x: 2
            [{n: 3}] on d.example
            merge: {strategy: deep, merge_hash_arrays: true}, from lookup_options in common.yaml:1"#]],
    );
}

#[test]
fn merge_keys_aliases_and_anchors() {
    check_all(
        in_common,
        |at| plain(at, NODES),
        expect![[r#"
            ## a merge key says what it brings
            $ base: &base\n  uid: 1\n  shell: sh\n  home: /a\nalice:\n  home: /b\n  <$0<: *base\n  shell: zsh\n  gid: 2\n
            << — adds 2 keys of &base in common.yaml:1
              uid: 1
              home: /a
            overridden here: shell in common.yaml:8
            overrides, since it comes later: home in common.yaml:6
            $ a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc:\n  <$0<: [*a, *b]\n
            << — adds 3 keys of &a in common.yaml:1, &b in common.yaml:2
              x: 1
              y: 2
              z: 4
            ## an alias says its value and an anchor its uses
            $ base: &base\n  uid: 1\nalice: *ba$0se\n
            *base — the value of &base in common.yaml:1
              uid: 1
            $ base: &ba$0se\n  uid: 1\nalice: *base\nbob: {<<: *base}\n
            base — first found, for all 4 nodes that read this file
            &base is used 2 times: common.yaml:3, 4
              uid: 1
            set in common.yaml:1
            $ base: &ba$0se 1\n
            base — first found, for all 4 nodes that read this file
            &base is not used
              1
            set in common.yaml:1
            $ a: [1]\nlookup_options:\n  a: &o$0 {merge: unique}\n  b: *o\n
            a — 1 file sets it
            &o is used once: common.yaml:4
            merge: unique
            $ a: [1]\nlookup_options:\n  a: &o {merge: unique}\n  b: *$0o\n
            *o — the value of &o in common.yaml:3
              merge: unique
            $ a: *no$0\n
            a — not found, for all 4 nodes that read this file
            common.yaml:1 does not load: Puppet refuses it, every lookup fails until it is fixed
        "#]],
    );
}

#[test]
fn a_hash_that_is_merged_by_position_names_its_element() {
    let options = "lookup_options:\n  mounts: {merge: {strategy: deep, merge_hash_arrays: true}}\n";
    check(
        &with_hierarchy(&format!(
            "#- data/role/web.yaml\nmounts:\n  - options: [a]\n  - $0dump: 1\n\
             #- data/common.yaml\n{options}mounts:\n  - path: /\n  - path: /var\n"
        )),
        |at| plain(at, NODES),
        expect![[r#"
            mounts — merged deep from 2 levels, for 3 of 4 nodes: all that read this file
            this element: merged into mounts.1 of the effective value
              - path: /
                options: [a]
              - path: /var
                dump: 1
            merged from role/web.yaml:1, common.yaml:3
            merge: {strategy: deep, merge_hash_arrays: true}, from lookup_options in common.yaml:2"#]],
    );
}

#[test]
fn an_element_of_a_file_that_the_selected_node_does_not_read() {
    let nodes = nodes(NODES);
    let in_common = |options: &str| format!("#- data/common.yaml\n{options}list: [both]\n");
    check_cases(
        expect![[r#"
            $ lookup_options: {list: {merge: unique}}\n | - bo$0th\n- own\n
            list — merged unique, set by one level, for d.example, which does not read this file
            both: in the effective value from common.yaml:2
              - both
            set in common.yaml:2
            merge: unique, from lookup_options in common.yaml:1
            $ lookup_options: {list: {merge: unique}}\n | - both\n- ow$0n\n
            list — merged unique, set by one level, for d.example, which does not read this file
            own: not in the effective value
              - both
            set in common.yaml:2
            merge: unique, from lookup_options in common.yaml:1
            ## without a merge, the whole list is replaced
            $  | - both\n- ow$0n\n
            list — first found, for d.example, which does not read this file
            own: not in the effective value
              - both
            set in common.yaml:1
        "#]],
        |case| {
            let (options, elements) = case.split_once(" | ").expect("options and elements");
            let role = format!("#- data/role/web.yaml\nlist:\n{elements}");
            let text = with_hierarchy(&format!("{role}{}", in_common(options)));
            plain_of(hover_with(&text, &nodes, Some("d.example")))
        },
    );
}
