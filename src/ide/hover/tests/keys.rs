//! Hovers on keys.

use expect_test::expect;

use super::*;

#[test]
fn values_of_any_node() {
    check_all(
        with_hierarchy,
        |at| plain(at, "{}"),
        expect![[r#"
            ## first found for any node
            $ #- data/role/web.yaml\nntp::servers$0: [a, b]\n#- data/common.yaml\nntp::servers: [c]\n
            ntp::servers — first found, for every node that reads this file
              - a
              - b
            set in role/web.yaml:1 · overrides common.yaml:1
            ## a loop is told with its members
            $ #- data/common.yaml\ndb$0::host: "%{lookup('db::primary')}"\ndb::primary: "%{lookup('db::host')}"\n
            db::host — Puppet fails here: Lookup of key 'db::host' failed: Recursive lookup detected in
              [db::host, db::primary]
            for every node that reads this file
            common.yaml:1 db::host → common.yaml:2 db::primary → back
            ## a broken line keeps other keys alive
            $ #- data/common.yaml\na: [1\nb$0: 2\n
            b — first found, for every node that reads this file
              2
            set in common.yaml:2
            common.yaml:1 does not parse: Puppet refuses it, every lookup fails until it is fixed
            ## what depends on a variable says so
            $ #- data/common.yaml\nmotd$0: "hello %{facts.networking.fqdn}"\n
            motd — first found, for every node that reads this file
              'hello %{facts.networking.fqdn}'  # variable 'facts.networking.fqdn' is not known
            set in common.yaml:1
            ## a conversion is named with its place
            $ #- data/common.yaml\nlookup_options:\n  '^po': {convert_to: [Integer, 16]}\nport$0: '0xff'\n
            port — first found, for every node that reads this file
              255
            set in common.yaml:3
            convert_to: [Integer, 16], from lookup_options in common.yaml:2 by ^po
        "#]],
    );
}

#[test]
fn conditions_that_would_change_a_value_are_named() {
    check_all(
        with_hierarchy,
        |at| plain(at, "{}"),
        expect![[r#"
            ## an unknown level above is named with its variable
            $ #- data/site/ams.yaml\nport: 443\n#- data/site/lhr.yaml\nport: 444\n#- data/common.yaml\np$0ort: 80\n
            port — first found, for every node that reads this file (may differ)
              80
            set in common.yaml:1
            may differ: facts.site = ams or lhr
            ## what a token names is unknown under its own key
            $ #- data/site/ams.yaml\nport: 443\n#- data/site/lhr.yaml\na: 1\nport: 444\n#- data/site/muc.yaml\nurl: x\nport: 445\n#- data/common.yaml\nport: 80\nu$0rl: "http://a:%{lookup('port')}"\n
            url — first found, for every node that reads this file (may differ)
              http://a:80
            set in common.yaml:2
            may differ: facts.site = ams or lhr or muc
            ## a file's path decides over levels above
            $ #- data/node/x.yaml\nport: 1\n#- data/role/web.yaml\nport: 443\n#- data/site/lhr.yaml\nport$0: 444\n#- data/common.yaml\nport: 80\n
            port — first found, for every node that reads this file (may differ)
              444
            set in site/lhr.yaml:1 · overrides common.yaml:1
            may differ: trusted.certname = x · role = web
        "#]],
    );
}

#[test]
fn answers_differ_over_nodes() {
    check(
        &with_hierarchy("#- data/site/ams.yaml\nport: 443\n#- data/common.yaml\nport$0: 80\n"),
        |at| forms(at, NODES),
        expect![[r#"
            **`port`** — first found, 2 different values on 4 nodes
            ```yaml
            80  # c.example and 1 more · common.yaml:1
            ```
            `443` on a.example and 1 more (`facts.site` = `ams`) · [site/ams.yaml:1](file:///repo/data/site/ams.yaml#L1)
            -- aligned
            **`port`** — first found, 2 different values on 4 nodes
            ```yaml
            80  # c.example and 1 more · common.yaml:1
            ```
            `443` on a.example and 1 more (`facts.site` = `ams`) · `site/ams.yaml:1`
            -- plain
            port — first found, 2 different values on 4 nodes
              80  # c.example and 1 more · common.yaml:1
            443 on a.example and 1 more (facts.site = ams) · site/ams.yaml:1"#]],
    );
}

#[test]
fn a_hash_of_a_list_with_other_keys_is_a_changed_element() {
    let rules = |port: u16| {
        format!(
            "rules:\n- {{name: a rule with a long name, port: {port}}}\n- {{name: another rule, port: 53}}\n- {{name: the last, port: 22}}\n"
        )
    };
    let text = format!(
        "#- data/site/ams.yaml\n{}#- data/common.yaml\n{}",
        rules(443),
        rules(80).replacen("rules", "rules$0", 1)
    );
    let shown = hover_with(&with_hierarchy(&text), &nodes(NODES), None);
    let shown = shown.expect("a hover").plain;
    assert!(shown.contains("changes 1 element"), "{shown}");
    assert!(!shown.contains("adds"), "{shown}");
}

const USERS: &str = "\
#- data/role/web.yaml
users:
  alice:
    uid: 7
    groups: ['--docker', www]
  bob: {uid: 2}
#- data/common.yaml
lookup_options:
  '^users$':
    merge: {strategy: deep, knockout_prefix: '--'}
users:
  root:
    keys: [k1, k2]
  alice:
    groups: [wheel, docker]
    shell: /bin/sh
";

/// The workspace with the cursor at the `$0` of `at`, which is otherwise a part of it.
fn in_users(at: &str) -> String {
    with_hierarchy(USERS).replace(&at.replace("$0", ""), at)
}

#[test]
fn a_deep_merge_names_the_source_of_each_part() {
    check(
        &in_users("us$0ers:\n  alice:\n    uid"),
        |at| forms(at, "{}"),
        expect![[r#"
            **`users`** — merged deep from 2 levels, for every node that reads this file
            ```yaml
            root:             # common.yaml:5
              keys: [k1, k2]
            alice:
              groups:         # "docker" knocked out by role/web.yaml:4
                - wheel       # common.yaml:8
                - www         # role/web.yaml:4
              shell: /bin/sh  # common.yaml:9
              uid: 7          # role/web.yaml:3
            bob:              # role/web.yaml:5
              uid: 2
            ```
            merged from [role/web.yaml:1](file:///repo/data/role/web.yaml#L1), [common.yaml:4](file:///repo/data/common.yaml#L4)  
            merge: `{strategy: deep, knockout_prefix: '--'}`, from lookup_options in [common.yaml:2](file:///repo/data/common.yaml#L2) by `^users$`
            -- aligned
            **`users`** — merged deep from 2 levels, for every node that reads this file
            ```yaml
            root:             # common.yaml:5
              keys: [k1, k2]
            alice:
              groups:         # "docker" knocked out by role/web.yaml:4
                - wheel       # common.yaml:8
                - www         # role/web.yaml:4
              shell: /bin/sh  # common.yaml:9
              uid: 7          # role/web.yaml:3
            bob:              # role/web.yaml:5
              uid: 2
            ```
            merged from `role/web.yaml:1`, `common.yaml:4`  
            merge: `{strategy: deep, knockout_prefix: '--'}`, from lookup_options in `common.yaml:2` by
              `^users$`
            -- plain
            users — merged deep from 2 levels, for every node that reads this file
              root:             # common.yaml:5
                keys: [k1, k2]
              alice:
                groups:         # "docker" knocked out by role/web.yaml:4
                  - wheel       # common.yaml:8
                  - www         # role/web.yaml:4
                shell: /bin/sh  # common.yaml:9
                uid: 7          # role/web.yaml:3
              bob:              # role/web.yaml:5
                uid: 2
            merged from role/web.yaml:1, common.yaml:4
            merge: {strategy: deep, knockout_prefix: '--'}, from lookup_options in common.yaml:2 by ^users$"#]],
    );
}

#[test]
fn a_nested_key_shows_the_level_that_sets_it() {
    check_all(
        in_users,
        |at| plain(at, "{}"),
        expect![[r#"
            $ u$0id: 7
            users.alice.uid — merged deep, set by one level, for every node that reads this file
              7
            set in role/web.yaml:3
            merge: {strategy: deep, knockout_prefix: '--'}, from lookup_options in common.yaml:2 by ^users$
            $ sh$0ell:
            users.alice.shell — merged deep, set by one level, for every node that reads this file
              /bin/sh
            set in common.yaml:9
            merge: {strategy: deep, knockout_prefix: '--'}, from lookup_options in common.yaml:2 by ^users$
            $ gr$0oups: ['
            users.alice.groups — merged deep from 2 levels, for every node that reads this file
              - wheel  # common.yaml:8
              - www    # role/web.yaml:4
            "docker" knocked out by role/web.yaml:4
            merged from role/web.yaml:4, common.yaml:8
            merge: {strategy: deep, knockout_prefix: '--'}, from lookup_options in common.yaml:2 by ^users$
        "#]],
    );
}

#[test]
fn a_nested_key_of_an_overridden_hash_is_not_in_the_value() {
    check(
        &with_hierarchy("#- data/role/web.yaml\nh: {a: 1}\n#- data/common.yaml\nh: {b$0: 2}\n"),
        |at| plain(at, "{a.example: {variables: {role: web}}}"),
        expect![[r#"
            h.b — not in the effective value, for a.example, the only node that reads this file
            set in role/web.yaml:1 · overrides common.yaml:1"#]],
    );
}

#[test]
fn what_catalogs_looked_up_is_told() {
    let known = nodes(
        "hiera-ls/import: {lookups: {production: {nodes: 2, since: '2026-11-20 10:00:00 UTC', \
         keys: {a: [2, '2026-11-21 10:00:00 UTC']}}}}\nn: {facts: {}}\n",
    );
    for (key, expected) in [
        ("a$0: 1\nb: 1\n", "read by 2 nodes, last on 2026-11-21"),
        (
            "a: 1\nb$0: 1\n",
            "never read since 2026-11-20, by the catalogs of 2 nodes",
        ),
    ] {
        let text = format!(
            "#- hiera.yaml\nversion: 5\nhierarchy: [{{name: c, path: common.yaml}}]\n#- data/common.yaml\n{key}"
        );
        let found = hover_with(&text, &known, None).unwrap();
        assert!(
            found.plain.lines().any(|line| line == expected),
            "{}",
            found.plain
        );
    }
}

#[test]
fn a_selected_node_has_its_own_answer() {
    let text =
        with_hierarchy("#- data/site/ams.yaml\nport: 443\n#- data/common.yaml\nport$0: 80\n");
    check(
        &text,
        |at| plain_for(at, NODES, "a.example"),
        expect![[r#"
            port — first found, for a.example
              443
            set in site/ams.yaml:1 · overrides common.yaml:1"#]],
    );
    check(
        &text,
        |at| plain_for(at, NODES, "d.example"),
        expect![[r#"
            port — first found, for d.example
              80
            set in common.yaml:1"#]],
    );
}

#[test]
fn secrets_are_never_shown() {
    let blob = "ENC[PKCS7,MIIBeQYJKoZIhvcNAQcDoIIBajCCAWYCAQAx]";
    let text = with_hierarchy(&format!(
        "#- data/common.yaml\npassword$0: {{a: '{blob}', b: 'user:{blob}'}}\n"
    ));
    let found = hover_with(&text, &nodes("{}"), None).expect("a hover");
    expect![[r#"
        password — first found, for every node that reads this file
          a: (encrypted, PKCS7)
          b: 'user:(encrypted, PKCS7)'
        set in common.yaml:1"#]]
    .assert_eq(&found.plain);
    for form in [found.markdown, found.aligned, found.plain] {
        assert!(!form.contains("MIIB"), "{form}");
    }
}

#[test]
fn mapped_files_are_for_nodes_that_have_the_element() {
    let text = "\
#- hiera.yaml
version: 5
hierarchy:
  - name: Services
    mapped_paths: [facts.services, service, \"service/%{service}.yaml\"]
  - name: Common
    path: common.yaml
#- data/service/nginx.yaml
por$0t: 80
#- data/service/ssh.yaml
port: 22
";
    check(
        text,
        |at| plain(at, "{}"),
        expect![[r#"
            port — first found, for every node whose facts.services is nginx alone
              80
            set in service/nginx.yaml:1"#]],
    );
    check(
        text,
        |at| {
            plain(
                at,
                "{a: {facts: {services: [nginx]}}, b: {facts: {services: [ssh, nginx]}}, c: {facts: {services: [ssh]}}}",
            )
        },
        expect![[r#"
            port — first found, 2 different values on 2 nodes
              80  # a · service/nginx.yaml:1
            22 on b (facts.services = [ssh, nginx]) · service/ssh.yaml:1"#]],
    );
}

#[test]
fn merged_values_name_their_levels() {
    check_all(
        with_hierarchy,
        |at| plain(at, "{}"),
        expect![[r#"
            ## unique merges name the level of each element
            $ #- data/role/web.yaml\np: [x, y]\n#- data/common.yaml\nlookup_options: {p: {merge: unique}}\np$0: [y, z]\n
            p — merged unique, set by one level, for every node that reads this file (may differ)
              - y
              - z
            set in common.yaml:2
            may differ: role = web
            merge: unique, from lookup_options in common.yaml:1
            $ #- data/role/web.yaml\np$0: [x, y]\n#- data/common.yaml\nlookup_options: {p: {merge: unique}}\np: [y, z]\n
            p — merged unique from 2 levels, for every node that reads this file
              - x  # role/web.yaml:1
              - y  # role/web.yaml:1
              - z  # common.yaml:2
            merged from role/web.yaml:1, common.yaml:2
            merge: unique, from lookup_options in common.yaml:1
            ## a merge of yaml belongs to the hash around it
            $ #- data/common.yaml\nbase: &base {a: 1}\nk:\n  <$0<: *base\n  b: 2\n
            << — adds 1 key of &base in common.yaml:1
              a: 1
            $ #- data/common.yaml\nk:\n  <<: [{a$0: 1}]\n  b: 2\n
            k.a — first found, for every node that reads this file
              1
            set in common.yaml:1
            ## a list says what was knocked out of it
            $ #- data/role/web.yaml\ngroups: ["--doc$0ker", www]\n#- data/common.yaml\ngroups: [adm, docker]\nlookup_options: {groups: {merge: {strategy: deep, knockout_prefix: '--'}}}\n
            groups — merged deep from 2 levels, for every node that reads this file
            '--docker': removes docker of common.yaml:1
              - adm  # common.yaml:1
              - www  # role/web.yaml:1
            "docker" knocked out by role/web.yaml:1
            merged from role/web.yaml:1, common.yaml:1
            merge: {strategy: deep, knockout_prefix: '--'}, from lookup_options in common.yaml:2
        "#]],
    );
}

#[test]
fn hierarchies_and_the_conditions_that_they_leave_open() {
    let workspace = |case: &str| {
        let (levels, files) = case.split_once(" | ").expect("levels and files");
        format!("#- hiera.yaml\nversion: 5\nhierarchy:\n{levels}\n{files}")
    };
    check_all(
        workspace,
        |at| plain(at, "{}"),
        expect![[r#"
            ## several paths of one level are one doubt
            $ - {name: Platform, paths: ["p/%{name}%{major}.yaml", "p/%{name}.yaml"]}\n- {name: Common, path: common.yaml} | #- data/p/el7.yaml\nport: 7\n#- data/common.yaml\npor$0t: 80\n
            port — first found, for every node that reads this file (may differ)
              80
            set in common.yaml:1
            may differ: name and major (1 file) · name = el7
            ## a path with a folder owns the files in it
            $ - {name: Place, path: "%{place}/role/%{role}.yaml"}\n- {name: Role, path: "common/role/%{role}.yaml"} | #- data/common/role/web.yaml\npor$0t: 80\n#- data/lon/role/web.yaml\nport: 81\n
            port — first found, for every node that reads this file (may differ)
              80
            set in common/role/web.yaml:1
            may differ: place = lon
            ## possible levels of another key are overridden for this one
            $ - {name: Top, path: top.yaml}\n- {name: Site, path: "site/%{facts.site}.yaml"} | #- data/top.yaml\nu$0rl: "http://a:%{lookup('port')}"\n#- data/site/ams.yaml\nurl: x\nport: 445\n
            url — first found, for every node that reads this file (may differ)
              'http://a:'
            set in top.yaml:1 · overrides, depending on facts.site: site/ams.yaml:1
            may differ: facts.site = ams
            ## the wildcard of a glob is no variable
            $ - {name: Globs, globs: ['site/%{facts.site}/*.yaml']}\n- {name: Common, path: common.yaml} | #- data/site/ams/x.yaml\na: 1\n#- data/site/ams/y.yaml\na: 1\n#- data/common.yaml\na$0: 2\n
            a — first found, for every node that reads this file (may differ)
              2
            set in common.yaml:1
            may differ: facts.site = ams
            ## below a key that lookups compute the whole hash is shown
            $ - {name: c, path: common.yaml} | #- data/common.yaml\nname: www\nsites:\n  "%{lookup('name')}":\n    issuer$0: ca\n
            sites — first found, for every node that reads this file
              www:
                issuer: ca
            set in common.yaml:2
            ## levels outside of the workspace are named
            $ - {name: Private, datadir: /etc/puppetlabs/private, path: common.yaml}\n- {name: Common, path: common.yaml} | #- data/common.yaml\na$0: 1\n
            a — first found, for every node that reads this file (may differ)
              1
            set in common.yaml:1
            may differ: 'Private' (outside this workspace)
            ## a custom backend is unknown
            $ - {name: Vault, lookup_key: vault_lookup, uri: https://vault}\n- {name: Common, path: common.yaml} | #- data/common.yaml\na$0: 1\n
            a — first found, for every node that reads this file (may differ)
              1
            set in common.yaml:1
            may differ: vault_lookup (not run)
            ## a function that may read the file is named
            $ - {name: c, path: common.yaml}\n- {name: e, lookup_key: "vmlib::expand_path", path: more} | #- data/more.yaml\nmore::p$0ort: 1\n#- data/common.yaml\na: 1\n
            more::port — only a function that is not run here may read this file
              1
            the function vmlib::expand_path could read it: declare what it does with the setting
              hiera-ls.backends
            ## the most specific path that matches a name is shown
            $ - {name: release, path: '%{facts.os.name}-%{facts.os.release.major}.yaml'}\n- {name: family, path: '%{facts.os.family}-family.yaml'} | #- data/RedHat-family.yaml\na: 1\n#- data/Debian-family.yaml\n$0a: 2\n
            a — first found, for every node that reads this file (may differ)
              2
            set in Debian-family.yaml:1
            may differ: facts.os.name = RedHat and facts.os.release.major = family
            this file also fits other levels; shown here: %{facts.os.family}-family.yaml
        "#]],
    );
}

#[test]
fn the_only_reader_is_one_of_several_nodes() {
    check_all(
        with_hierarchy,
        |at| plain(at, NODES),
        expect![[r#"
            $ #- data/node/a.example.yaml\nport$0: 443\n#- data/common.yaml\nport: 80\n
            port — first found, for a.example, the only one of 4 nodes that reads this file
              443
            set in node/a.example.yaml:1 · overrides common.yaml:1
            differs on other nodes
            $ #- data/role/web.yaml\nport$0: 80\n#- data/common.yaml\nport: 80\n
            port — first found, for 3 of 4 nodes: all that read this file
              80
            set in role/web.yaml:1 · overrides common.yaml:1
        "#]],
    );
}

#[test]
fn only_so_many_lookups_are_made_for_one_hover() {
    let names: Vec<String> = (0..300).map(|number| format!("n{number:03}")).collect();
    let known: String = names
        .iter()
        .map(|name| format!("{name}: {{facts: {{fqdn: {name}}}}}\n"))
        .collect();
    let levels = "#- hiera.yaml\nversion: 5\nhierarchy: [{name: c, path: common.yaml}]\n";
    check_all(
        |data| format!("{levels}#- data/common.yaml\n{data}"),
        |at| plain(at, &known),
        expect![[r#"
            $ lis$0ten: "%{fqdn}:1"\n
            listen — first found, at least 6 different values on 300 nodes
              n000:1  # n000 · common.yaml:1
            n001:1 on n001
            n002:1 on n002
            n003:1 on n003
            n004:1 on n004
            n005:1 on n005
            not counted here: 294 nodes; see the values on all nodes
            $ listen:\n  host: "%{fqdn}"\n  po$0rt: 1\n
            listen.port — first found, the same value on 6 of 300 nodes
              1  # 6 nodes · common.yaml:3
            not counted here: 294 nodes; see the values on all nodes
            $ listen: "%{fqdn}:1"\nurl: "x%{lookup('lis$0ten')}"\n
            %{lookup('listen')} — n000:1 for 1 node, n001:1 for 1 node, n002:1 for 1 node, n003:1 for 1 node,
              n004:1 for 1 node, n005:1 for 1 node (294 nodes not looked up)
        "#]],
    );
}

#[test]
fn only_a_few_of_many_conditions_are_named() {
    let mut hierarchy = "#- hiera.yaml\nversion: 5\nhierarchy:\n".to_owned();
    let mut files = String::new();
    for name in ["a", "b", "c", "d", "e"] {
        hierarchy += &format!("- {{name: {name}, path: '{name}/%{{{name}}}.yaml'}}\n");
        files += &format!("#- data/{name}/x.yaml\nport: 1\n");
    }
    check(
        &format!(
            "{hierarchy}- {{name: common, path: common.yaml}}\n{files}#- data/common.yaml\npo$0rt: 80\n"
        ),
        |at| plain(at, "{}"),
        expect![[r#"
            port — first found, for every node that reads this file (may differ)
              80
            set in common.yaml:1
            may differ: a = x · b = x · c = x · 2 more conditions"#]],
    );
}
