//! Every kind of hover in its three forms: Markdown, aligned text for terminals, plain text.

use expect_test::expect;

use crate::ide::hover::Reveal;

use super::*;

/// A repository with something for every kind of hover.
const FILES: &str = "\
#- data/role/web.yaml
profile::web::port: 443
users:
  alice: {uid: 1001, groups: ['--docker']}
backends:
  - name: one
    host: a.example
  - name: two
    host: b.example
#- data/site/ams.yaml
profile::web::workers: 8
ntp::servers: [ams1, ams2]
lookup_options:
  ntp::servers: {merge: unique}
#- data/common.yaml
lookup_options:
  '^users$':
    merge: {strategy: deep, knockout_prefix: '--'}
  profile::db::users: {merge: first}
  '^profile::.*::users$': {merge: deep}
profile::web::port: 80
profile::web::workers: 2
profile::web::users: {}
profile::db::users: {}
users:
  alice: {groups: [wheel, docker], shell: /bin/sh}
  bob: {uid: 1002}
ntp::servers: [common1]
site::domain: example.com
url: \"https://%{lookup('site::domain')}/%{facts.site}\"
list: \"%{alias('ntp::servers')}\"
db::host: \"%{lookup('db::primary')}\"
db::primary: \"%{lookup('db::host')}\"
password: >
  ENC[PKCS7,MIIBeQYJKoZIhvcNAQcDoIIBajCCAWYCAQAx]
";

/// Checks the hover at `at`, with the cursor at its `$0`.
fn kind(at: &str, known: &str, markdown: Expect, aligned: Expect, plain: Expect) {
    let text = with_hierarchy(FILES);
    let before = at.replace("$0", "");
    assert_eq!(text.matches(&before).count(), 1, "{before}");
    check_forms(&text.replace(&before, at), known, markdown, aligned, plain);
}

#[test]
fn a_key_of_which_the_first_counts() {
    kind(
        "profile::web::po$0rt: 443",
        NODES,
        expect![[r#"
            **`profile::web::port`** — first found, for 3 of 4 nodes: all that read this file
            ```yaml
            443
            ```
            set in [role/web.yaml:1](file:///repo/data/role/web.yaml#L1) · overrides [common.yaml:6](file:///repo/data/common.yaml#L6) · not set in [site/ams.yaml](file:///repo/data/site/ams.yaml#L1)"#]],
        expect![[r#"
            **`profile::web::port`** — first found, for 3 of 4 nodes: all that read this file
            ```yaml
            443
            ```
            set in `role/web.yaml:1` · overrides `common.yaml:6` · not set in `site/ams.yaml`"#]],
        expect![[r#"
            profile::web::port — first found, for 3 of 4 nodes: all that read this file
              443
            set in role/web.yaml:1 · overrides common.yaml:6 · not set in site/ams.yaml"#]],
    );
}

#[test]
fn a_key_that_is_merged() {
    kind(
        "users:\n  ali$0ce: {uid",
        "{}",
        expect![[r#"
            **`users.alice`** — merged deep from 2 levels, for every node that reads this file
            ```yaml
            groups: [wheel]  # common.yaml:11; "docker" knocked out by role/web.yaml:3
            shell: /bin/sh   # common.yaml:11
            uid: 1001        # role/web.yaml:3
            ```
            merged from [role/web.yaml:3](file:///repo/data/role/web.yaml#L3), [common.yaml:11](file:///repo/data/common.yaml#L11)  
            merge: `{strategy: deep, knockout_prefix: '--'}`, from lookup_options in [common.yaml:2](file:///repo/data/common.yaml#L2) by `^users$`"#]],
        expect![[r#"
            **`users.alice`** — merged deep from 2 levels, for every node that reads this file
            ```yaml
            groups: [wheel]  # common.yaml:11; "docker" knocked out by role/web.yaml:3
            shell: /bin/sh   # common.yaml:11
            uid: 1001        # role/web.yaml:3
            ```
            merged from `role/web.yaml:3`, `common.yaml:11`  
            merge: `{strategy: deep, knockout_prefix: '--'}`, from lookup_options in `common.yaml:2` by
              `^users$`"#]],
        expect![[r#"
            users.alice — merged deep from 2 levels, for every node that reads this file
              groups: [wheel]  # common.yaml:11; "docker" knocked out by role/web.yaml:3
              shell: /bin/sh   # common.yaml:11
              uid: 1001        # role/web.yaml:3
            merged from role/web.yaml:3, common.yaml:11
            merge: {strategy: deep, knockout_prefix: '--'}, from lookup_options in common.yaml:2 by ^users$"#]],
    );
}

#[test]
fn a_leaf() {
    kind(
        "shel$0l: /bin/sh",
        NODES,
        expect![[r#"
            **`users.alice.shell`** — merged deep, set by one level, for all 4 nodes that read this file
            ```yaml
            /bin/sh
            ```
            set in [common.yaml:11](file:///repo/data/common.yaml#L11) · not set in [site/ams.yaml](file:///repo/data/site/ams.yaml#L1)  
            merge: `{strategy: deep, knockout_prefix: '--'}`, from lookup_options in [common.yaml:2](file:///repo/data/common.yaml#L2) by `^users$`"#]],
        expect![[r#"
            **`users.alice.shell`** — merged deep, set by one level, for all 4 nodes that read this file
            ```yaml
            /bin/sh
            ```
            set in `common.yaml:11` · not set in `site/ams.yaml`  
            merge: `{strategy: deep, knockout_prefix: '--'}`, from lookup_options in `common.yaml:2` by
              `^users$`"#]],
        expect![[r#"
            users.alice.shell — merged deep, set by one level, for all 4 nodes that read this file
              /bin/sh
            set in common.yaml:11 · not set in site/ams.yaml
            merge: {strategy: deep, knockout_prefix: '--'}, from lookup_options in common.yaml:2 by ^users$"#]],
    );
}

#[test]
fn a_key_in_an_element_of_a_list() {
    kind(
        "ho$0st: b.example",
        NODES,
        expect![[r#"
            **`backends.1.host`** — first found, for 3 of 4 nodes: all that read this file
            ```yaml
            b.example
            ```
            set in [role/web.yaml:8](file:///repo/data/role/web.yaml#L8) · not set in [site/ams.yaml](file:///repo/data/site/ams.yaml#L1), [common.yaml](file:///repo/data/common.yaml#L1)"#]],
        expect![[r#"
            **`backends.1.host`** — first found, for 3 of 4 nodes: all that read this file
            ```yaml
            b.example
            ```
            set in `role/web.yaml:8` · not set in `site/ams.yaml`, `common.yaml`"#]],
        expect![[r#"
            backends.1.host — first found, for 3 of 4 nodes: all that read this file
              b.example
            set in role/web.yaml:8 · not set in site/ams.yaml, common.yaml"#]],
    );
}

#[test]
fn an_error() {
    kind(
        "db::ho$0st: \"",
        NODES,
        expect![[r#"
            **`db::host`** — Puppet fails here: `Lookup of key 'db::host' failed: Recursive lookup detected in [db::host, db::primary]`  
            for all 4 nodes that read this file  
            [common.yaml:17](file:///repo/data/common.yaml#L17) `db::host` → [common.yaml:18](file:///repo/data/common.yaml#L18) `db::primary` → back"#]],
        expect![[r#"
            **`db::host`** — Puppet fails here: `Lookup of key 'db::host' failed: Recursive lookup detected`
              `in [db::host, db::primary]`  
            for all 4 nodes that read this file  
            `common.yaml:17` `db::host` → `common.yaml:18` `db::primary` → back"#]],
        expect![[r#"
            db::host — Puppet fails here: Lookup of key 'db::host' failed: Recursive lookup detected in
              [db::host, db::primary]
            for all 4 nodes that read this file
            common.yaml:17 db::host → common.yaml:18 db::primary → back"#]],
    );
}

#[test]
fn a_key_that_differs() {
    kind(
        "ntp::ser$0vers: [common1]",
        NODES,
        expect![[r#"
            **`ntp::servers`** — merged unique, 2 different values on 4 nodes
            ```yaml
            # a.example and 1 more
            - ams1     # site/ams.yaml:2
            - ams2     # site/ams.yaml:2
            - common1  # common.yaml:13
            ```
            `[common1]` on c.example and 1 more  
            merge: `unique`, from lookup_options in [site/ams.yaml:4](file:///repo/data/site/ams.yaml#L4), for the first value"#]],
        expect![[r#"
            **`ntp::servers`** — merged unique, 2 different values on 4 nodes
            ```yaml
            # a.example and 1 more
            - ams1     # site/ams.yaml:2
            - ams2     # site/ams.yaml:2
            - common1  # common.yaml:13
            ```
            `[common1]` on c.example and 1 more  
            merge: `unique`, from lookup_options in `site/ams.yaml:4`, for the first value"#]],
        expect![[r#"
            ntp::servers — merged unique, 2 different values on 4 nodes
              # a.example and 1 more
              - ams1     # site/ams.yaml:2
              - ams2     # site/ams.yaml:2
              - common1  # common.yaml:13
            [common1] on c.example and 1 more
            merge: unique, from lookup_options in site/ams.yaml:4, for the first value"#]],
    );
}

#[test]
fn a_variable() {
    kind(
        "%{facts.si$0te}\"",
        NODES,
        expect!["**`%{facts.site}`** — `ams` for 2 nodes, `lhr` for 2 nodes"],
        expect!["**`%{facts.site}`** — `ams` for 2 nodes, `lhr` for 2 nodes"],
        expect!["%{facts.site} — ams for 2 nodes, lhr for 2 nodes"],
    );
}

#[test]
fn a_token_that_looks_up() {
    kind(
        "%{look$0up('site::domain')}",
        NODES,
        expect![
            "**`%{lookup('site::domain')}`** — `example.com` ([common.yaml:14](file:///repo/data/common.yaml#L14))"
        ],
        expect!["**`%{lookup('site::domain')}`** — `example.com` (`common.yaml:14`)"],
        expect!["%{lookup('site::domain')} — example.com (common.yaml:14)"],
    );
}

#[test]
fn an_alias() {
    kind(
        "%{ali$0as('ntp::servers')}",
        NODES,
        expect![[
            r#"**`%{alias('ntp::servers')}`** — `[ams1, ams2, common1]` for 2 nodes, `[common1]` for 2 nodes"#
        ]],
        expect![[
            r#"**`%{alias('ntp::servers')}`** — `[ams1, ams2, common1]` for 2 nodes, `[common1]` for 2 nodes"#
        ]],
        expect![[
            r#"%{alias('ntp::servers')} — [ams1, ams2, common1] for 2 nodes, [common1] for 2 nodes"#
        ]],
    );
}

#[test]
fn options_of_one_key() {
    kind(
        "profile::db::us$0ers: {merge",
        NODES,
        expect![[r#"
            **`profile::db::users`** — 1 file sets it  
            merge: `first`"#]],
        expect![[r#"
            **`profile::db::users`** — 1 file sets it  
            merge: `first`"#]],
        expect![[r#"
            profile::db::users — 1 file sets it
            merge: first"#]],
    );
}

#[test]
fn options_of_a_pattern() {
    kind(
        "'^profile::.*::us$0ers$'",
        NODES,
        expect![[r#"
            **`^profile::.*::users$`** — matches 2 keys: `profile::db::users`, `profile::web::users`  
            hidden for `profile::db::users` by the literal entry in [common.yaml:4](file:///repo/data/common.yaml#L4)  
            merge: `deep`"#]],
        expect![[r#"
            **`^profile::.*::users$`** — matches 2 keys: `profile::db::users`, `profile::web::users`  
            hidden for `profile::db::users` by the literal entry in `common.yaml:4`  
            merge: `deep`"#]],
        expect![[r#"
            ^profile::.*::users$ — matches 2 keys: profile::db::users, profile::web::users
            hidden for profile::db::users by the literal entry in common.yaml:4
            merge: deep"#]],
    );
}

#[test]
fn a_path() {
    kind(
        "\"ro$0le/%{role}.yaml\"",
        NODES,
        expect![
            "**`role/%{role}.yaml`** — 1 file: [data/role/web.yaml](file:///repo/data/role/web.yaml#L1) · 3 of 4 nodes have a file · no file for `role` = db"
        ],
        expect![[r#"
            **`role/%{role}.yaml`** — 1 file: `data/role/web.yaml` · 3 of 4 nodes have a file · no file for
              `role` = db"#]],
        expect![
            "role/%{role}.yaml — 1 file: data/role/web.yaml · 3 of 4 nodes have a file · no file for role = db"
        ],
    );
}

#[test]
fn an_encrypted_value() {
    kind(
        "ENC[PK$0CS7",
        NODES,
        expect![[r#"
        **`ENC[PKCS7,…]`** — encrypted with PKCS7, 27 bytes  
        cannot be decrypted: it is not a message of this method"#]],
        expect![[r#"
        **`ENC[PKCS7,…]`** — encrypted with PKCS7, 27 bytes  
        cannot be decrypted: it is not a message of this method"#]],
        expect![[r#"
        ENC[PKCS7,…] — encrypted with PKCS7, 27 bytes
        cannot be decrypted: it is not a message of this method"#]],
    );
}

#[test]
fn a_merge_option() {
    kind(
        "knockout_pre$0fix: '--'",
        NODES,
        expect![[
            r#"**`knockout_prefix`** — an element that starts with it removes the element of that name from the next lower level"#
        ]],
        expect![[r#"
            **`knockout_prefix`** — an element that starts with it removes the element of that name from the
              next lower level"#]],
        expect![[r#"
            knockout_prefix — an element that starts with it removes the element of that name from the next
              lower level"#]],
    );
}

#[test]
fn a_datadir_and_a_backend() {
    let config = "#- hiera.yaml\nversion: 5\ndefaults: {datadir: da$0ta, data_hash: yaml_data}\n\
                  #- data/common.yaml\na: 1\n";
    check_forms(
        config,
        NODES,
        expect!["**`data`** — the folder `data`"],
        expect!["**`data`** — the folder `data`"],
        expect!["data — the folder data"],
    );
    let config = config.replace("da$0ta, data_hash: yaml", "data, data_hash: ya$0ml");
    check_forms(
        &config,
        NODES,
        expect!["**`yaml_data`** — Puppet's own reader of YAML files"],
        expect!["**`yaml_data`** — Puppet's own reader of YAML files"],
        expect!["yaml_data — Puppet's own reader of YAML files"],
    );
}

#[test]
fn an_encrypted_value_names_whom_it_is_for() {
    // A blob from a table made by hiera-eyaml: for a certificate with an issuer.
    const BLOBS: &str = include_str!("../../../../tests/eyaml/blobs.tsv");
    let digit = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap_or_default(), 16);
    let texts = BLOBS.lines().filter_map(|line| {
        let hex = line.split('\t').next()?.as_bytes();
        let bytes: Result<Vec<u8>, _> = hex.chunks(2).map(digit).collect();
        String::from_utf8(bytes.ok()?).ok()
    });
    let blob = texts
        .filter(|text| text.starts_with("ENC[PKCS7,") && text.ends_with(']'))
        .find(|text| {
            let blobs = crate::eyaml::scan(text).blobs;
            let names: Vec<String> = blobs
                .iter()
                .flat_map(|blob| blob.recipients.iter().map(ToString::to_string))
                .collect();
            blobs.len() == 1 && names.iter().any(|name| name.contains("Test Authority"))
        })
        .expect("a blob for the authority");
    let text = format!(
        "#- data/common.yaml\npassword: {}\n",
        blob.replacen("PK", "PK$0", 1)
    );
    check_forms(
        &with_hierarchy(&text),
        NODES,
        expect![[
            r#"**`ENC[PKCS7,…]`** — encrypted with PKCS7, 445 bytes, for certificate 8F00000000000001 of CN=Test Authority,O=Example,C=XX"#
        ]],
        expect![[r#"
            **`ENC[PKCS7,…]`** — encrypted with PKCS7, 445 bytes, for certificate 8F00000000000001 of CN=Test
              Authority,O=Example,C=XX"#]],
        expect![[r#"
            ENC[PKCS7,…] — encrypted with PKCS7, 445 bytes, for certificate 8F00000000000001 of CN=Test
              Authority,O=Example,C=XX"#]],
    );
}

#[test]
fn the_plain_text_of_an_encrypted_value_is_behind_a_command() {
    const BLOBS: &str = include_str!("../../../../tests/eyaml/blobs.tsv");
    let digit = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap_or_default(), 16);
    let hex = BLOBS.split('\t').next().unwrap_or_default().as_bytes();
    let blob: Result<Vec<u8>, _> = hex.chunks(2).map(digit).collect();
    let blob = String::from_utf8(blob.unwrap_or_default()).unwrap_or_default();
    let text = format!(
        "#- data/common.yaml\na: {}\n",
        blob.replacen("PK", "PK$0", 1)
    );
    let fixture = fixture(&with_hierarchy(&text));
    let nodes = nodes("{}");
    let settings = Settings::for_version(PuppetVersion::V7).for_editor();
    let configs = ConfigCache::default();
    let link = |offset: usize| format!("command:reveal?{offset}");
    let of = |link| {
        let options = HoverOptions {
            reveal: Some(Reveal {
                command: "hiera.reveal",
                link,
            }),
            ..HoverOptions::default()
        };
        let analysis = Analysis::new(&fixture.snapshot, &settings, &configs, &nodes);
        hover(analysis, &fixture.path, fixture.offset, &options).expect("a hover")
    };
    let linked = of(Some(&link));
    expect![[r#"
        **`ENC[PKCS7,…]`** — encrypted with PKCS7, 381 bytes, for certificate 1  
        [show the plain text](command:reveal?3)"#]]
    .assert_eq(&linked.markdown);
    expect![[r#"
        **`ENC[PKCS7,…]`** — encrypted with PKCS7, 381 bytes, for certificate 1  
        plain text: command hiera.reveal"#]]
    .assert_eq(&of(None).markdown);
    expect![[r#"
        **`ENC[PKCS7,…]`** — encrypted with PKCS7, 381 bytes, for certificate 1  
        plain text: command hiera.reveal"#]]
    .assert_eq(&linked.aligned);
    expect![[r#"
        ENC[PKCS7,…] — encrypted with PKCS7, 381 bytes, for certificate 1
        plain text: command hiera.reveal"#]]
    .assert_eq(&linked.plain);
}

#[test]
fn a_node_of_which_only_the_name_is_known() {
    let text = with_hierarchy(
        "#- data/node/x.example.yaml\nport: 1\n#- data/role/web.yaml\nhost: a\n\
         #- data/common.yaml\nho$0st: b\n",
    );
    let fixture = fixture(&text);
    let mut all = Nodes::default();
    all.insert(crate::scope::Node::named("x.example"));
    let known = KnownNodes::new(&all);
    let settings = Settings::for_version(PuppetVersion::V7).for_editor();
    let configs = ConfigCache::default();
    let analysis = Analysis {
        selected: Some("x.example"),
        ..Analysis::new(&fixture.snapshot, &settings, &configs, &known)
    };
    let options = HoverOptions::default();
    let found = hover(analysis, &fixture.path, fixture.offset, &options);
    expect![[r#"
        host — first found, for x.example, known by name only (may differ)
          b
        set in common.yaml:1 · not set in node/x.example.yaml
        may differ: role = web"#]]
    .assert_eq(&found.expect("a hover").plain);
}
