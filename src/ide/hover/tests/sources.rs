//! The sources of values on several nodes, their differences, and configurations that Puppet refuses.

use expect_test::expect;

use super::*;
use crate::analysis::with_manifest_variables;

#[test]
fn sources_and_differences_of_several_values() {
    check_all(
        with_hierarchy,
        |at| plain(at, NODES),
        expect![[r#"
            ## one value from several files names each with its nodes
            $ #- data/node/a.example.yaml\nport: 4\n#- data/role/db.yaml\nport: 5\n#- data/common.yaml\nother: 1\npo$0rt: 4\n
            port — first found, 2 different values on 4 nodes
              4  # 3 nodes · common.yaml:2 on 2, node/a.example.yaml:1 on 1
            5 on d.example (role = db) · role/db.yaml:1
            ## a key with blanks is quoted among others
            $ #- data/role/db.yaml\nusers: {ann: 1, 'Bob B': 2, 'Cid C': 3, dan: 4, eve: 5, 'Fay of the long name': 6}\n#- data/common.yaml\nus$0ers: {ann: 1, dan: 4, eve: 5, 'Fay of the long name': 6, 'Gus G': 7}\n
            users — first found, 2 different values on 4 nodes
              # 3 nodes · common.yaml:1
              ann: 1
              dan: 4
              eve: 5
              Fay of the long name: 6
              Gus G: 7
            adds 'Bob B', 'Cid C', removes 'Gus G' on d.example (role = db) · role/db.yaml:1
        "#]],
    );
}

#[test]
fn another_value_on_each_node_is_counted() {
    let nodes: String = (0..8)
        .map(|at| format!("n{at}.example: {{facts: {{fqdn: n{at}.example}}}}\n"))
        .collect();
    let text = "#- data/common.yaml\nname: \"%{facts.fq$0dn}\"\n";
    check(
        &with_hierarchy(text),
        |at| plain(at, &nodes),
        expect!["%{facts.fqdn} — a different value on each of 8 nodes, such as n0.example"],
    );
}

#[test]
fn a_configuration_that_puppet_refuses_is_named() {
    let refused = "#- hiera.yaml\nversion: 5\nhierarchy:\n- {name: n, path: a.yaml}\n\
        - {name: m, path: b.yaml, data_hash: yaml_data, lookup_key: x}\n#- data/a.yaml\n";
    let broken = "#- hiera.yaml\nversion: [\n#- data/a.yaml\n";
    check_all(
        |case| case.replace("REFUSED", refused).replace("BROKEN", broken),
        |at| plain(at, "{}"),
        expect![[r#"
            $ REFUSEDpo$0rt: 1\n
            port — Puppet refuses hiera.yaml: Only one of data_hash, lookup_key, data_dig, or hiera3_backend
              can be defined in hierarchy 'm'; every lookup fails
            $ REFUSEDusers:\n  al$0ice: 1\n
            users.alice — Puppet refuses hiera.yaml: Only one of data_hash, lookup_key, data_dig, or
              hiera3_backend can be defined in hierarchy 'm'; every lookup fails
            $ BROKENpo$0rt: 1\n
            port — Puppet refuses hiera.yaml: did not find expected node content while parsing a flow node at
              line 2 column 1; every lookup fails
        "#]],
    );
}

#[test]
fn the_merge_of_a_call_governs_and_the_command_repeats_it() {
    let long: String = (0..40).map(|at| format!("  - element {at}\n")).collect();
    let files = format!(
        "#- environment.conf\n#- data/role/web.yaml\nlist: [x]\n\
         #- data/common.yaml\nlookup_options: {{list: {{merge: deep}}, one: {{merge: deep}}}}\none: 1\nlist:\n{long}\
         #- site/profile/manifests/init.pp\nclass profile {{\n"
    );
    let call = |call: &str| with_hierarchy(&format!("{files}  $x = {call}\n}}\n"));
    check_all(
        call,
        |at| plain(at, NODES),
        expect![[r#"
            $ lookup('li$0st', Array, 'unique')
            list — merged unique, 2 different values on 4 nodes
              # 3 nodes (role = web)
              - x           # data/role/web.yaml:1
              - element 0   # data/common.yaml:4
              - element 1   # data/common.yaml:5
              - element 2   # data/common.yaml:6
              - element 3   # data/common.yaml:7
              - element 4   # data/common.yaml:8
              - element 5   # data/common.yaml:9
              - element 6   # data/common.yaml:10
              - element 7   # data/common.yaml:11
              - element 8   # data/common.yaml:12
              # … 26 more lines: hiera-ls lookup list --node a.example --merge unique
              - element 35  # data/common.yaml:39
              - element 36  # data/common.yaml:40
              - element 37  # data/common.yaml:41
              - element 38  # data/common.yaml:42
              - element 39  # data/common.yaml:43
            removes x on d.example
            merge: unique, from the call
            $ lookup('o$0ne', {merge => 'first'})
            one — first found, for all 4 known nodes
              1
            set in data/common.yaml:2 · not set in data/role/web.yaml
            merge: first, from the call
        "#]],
    );
}

#[test]
fn possible_overrides_name_the_variable() {
    let text = "#- data/role/db.yaml\nport: 5\n#- data/node/a.example.yaml\npo$0rt: 4\n";
    check(
        &with_hierarchy(text),
        |at| plain(at, "{}"),
        expect![[r#"
            port — first found, for every node that reads this file
              4
            set in node/a.example.yaml:1 · overrides, depending on role: role/db.yaml:1"#]],
    );
}

#[test]
fn a_module_that_nothing_names_is_not_reported_missing() {
    let files = "#- environment.conf\n#- modules/ntp/manifests/init.pp\nclass ntp { %INCLUDE% }\n#- modules/ntp/hiera.yaml\nversion: 5\n";
    let at = |case: &str| {
        let (include, key) = case.split_once(" | ").expect("a class and a key");
        let files = files.replace("%INCLUDE%", include);
        with_hierarchy(&format!("{files}#- data/common.yaml\n{key}$0: 1\n"))
    };
    check_all(
        at,
        |at| plain(at, "{}"),
        expect![[r#"
            $  | site::name
            site::name — first found, for every node that reads this file
              1
            set in common.yaml:1
            $ include chrony | chrony::port
            chrony::port — first found, for every node that reads this file
              1
            set in common.yaml:1
            class chrony · of module chrony, which is not in this workspace
        "#]],
    );
    let listed = "#- Puppetfile\nmod 'puppet-chrony', '1.0.0'\n";
    let listed = format!("{listed}{}", at(" | chrony::port"));
    check(
        &listed,
        |at| plain(at, "{}"),
        expect![[r#"
            chrony::port — first found, for every node that reads this file
              1
            set in common.yaml:1
            class chrony · of module chrony, which is not in this workspace"#]],
    );
}

/// The plain text of a hover for nodes with the variables of site manifests.
fn behind(text: &str, known: &str) -> String {
    let nodes = nodes(known);
    let found = at_cursor(text, None, |at| {
        with_nodes(&at, &nodes, |analysis| {
            let (snapshot, settings) = (analysis.snapshot, analysis.settings);
            let root = snapshot.roots().environments().next();
            let root = root.expect("an environment");
            let nodes =
                &with_manifest_variables(&nodes, snapshot, root, settings).expect("manifests");
            let analysis = Analysis { nodes, ..analysis };
            hover(analysis, at.path, at.offset, &HoverOptions::default())
        })
    });
    plain_of(found)
}

#[test]
fn a_site_manifest_that_cannot_be_read_is_why_a_variable_is_not_known() {
    let site = "#- environment.conf\n#- manifests/site.pp\n$role = 'web'\n$x = }\n";
    check_cases(
        expect![[r#"
            $ k$0: common\n
            k — first found, for n, the only node that reads this file (may differ)
              common
            set in common.yaml:1
            may differ: role = web
            manifests/site.pp:2 cannot be read (Syntax error at '}'): what manifests set is not known
            $ k: "%{tie$0r}"\n
            %{tier} — not known for 1 node
            manifests/site.pp:2 cannot be read (Syntax error at '}'): what manifests set is not known
            $ k: "%{facts.si$0te}"\n
            %{facts.site} — ams for 1 node
        "#]],
        |data| {
            let data = format!("#- data/role/web.yaml\nk: web\n#- data/common.yaml\n{data}");
            behind(
                &with_hierarchy(&format!("{site}{data}")),
                r#"{"n": {"facts": {"site": "ams"}}}"#,
            )
        },
    );
}
