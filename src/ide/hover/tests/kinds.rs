//! Every kind of hover in its three forms: Markdown, aligned text for terminals, plain text.

use expect_test::expect;

use crate::ide::fixture_tests::changed;
use crate::ide::hover::Reveal;

use super::*;
use crate::scope::Nodes;

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

/// The repository with the cursor at the `$0` of `at`, which is otherwise a part of it.
fn place(at: &str) -> String {
    changed(
        &with_hierarchy(FILES),
        &format!("{} → {at}", at.replace("$0", "")),
    )
}

#[test]
fn keys() {
    check_cases(
        expect![[r#"
            ## a key of which the first counts
            $ profile::web::po$0rt: 443
            **`profile::web::port`** — first found, for 3 of 4 nodes: all that read this file
            ```yaml
            443
            ```
            set in [role/web.yaml:1](file:///repo/data/role/web.yaml#L1) · overrides [common.yaml:6](file:///repo/data/common.yaml#L6) · not set in [site/ams.yaml](file:///repo/data/site/ams.yaml#L1)
            -- aligned
            **`profile::web::port`** — first found, for 3 of 4 nodes: all that read this file
            ```yaml
            443
            ```
            set in `role/web.yaml:1` · overrides `common.yaml:6` · not set in `site/ams.yaml`
            -- plain
            profile::web::port — first found, for 3 of 4 nodes: all that read this file
              443
            set in role/web.yaml:1 · overrides common.yaml:6 · not set in site/ams.yaml
            ## a leaf
            $ shel$0l: /bin/sh
            **`users.alice.shell`** — merged deep, set by one level, for all 4 nodes that read this file
            ```yaml
            /bin/sh
            ```
            set in [common.yaml:11](file:///repo/data/common.yaml#L11) · not set in [site/ams.yaml](file:///repo/data/site/ams.yaml#L1)  
            merge: `{strategy: deep, knockout_prefix: '--'}`, from lookup_options in [common.yaml:2](file:///repo/data/common.yaml#L2) by `^users$`
            -- aligned
            **`users.alice.shell`** — merged deep, set by one level, for all 4 nodes that read this file
            ```yaml
            /bin/sh
            ```
            set in `common.yaml:11` · not set in `site/ams.yaml`  
            merge: `{strategy: deep, knockout_prefix: '--'}`, from lookup_options in `common.yaml:2` by
              `^users$`
            -- plain
            users.alice.shell — merged deep, set by one level, for all 4 nodes that read this file
              /bin/sh
            set in common.yaml:11 · not set in site/ams.yaml
            merge: {strategy: deep, knockout_prefix: '--'}, from lookup_options in common.yaml:2 by ^users$
            ## a key in an element of a list
            $ ho$0st: b.example
            **`backends.1.host`** — first found, for 3 of 4 nodes: all that read this file
            ```yaml
            b.example
            ```
            set in [role/web.yaml:8](file:///repo/data/role/web.yaml#L8) · not set in [site/ams.yaml](file:///repo/data/site/ams.yaml#L1), [common.yaml](file:///repo/data/common.yaml#L1)
            -- aligned
            **`backends.1.host`** — first found, for 3 of 4 nodes: all that read this file
            ```yaml
            b.example
            ```
            set in `role/web.yaml:8` · not set in `site/ams.yaml`, `common.yaml`
            -- plain
            backends.1.host — first found, for 3 of 4 nodes: all that read this file
              b.example
            set in role/web.yaml:8 · not set in site/ams.yaml, common.yaml
            ## an error
            $ db::ho$0st: "
            **`db::host`** — Puppet fails here: `Lookup of key 'db::host' failed: Recursive lookup detected in [db::host, db::primary]`  
            for all 4 nodes that read this file  
            [common.yaml:17](file:///repo/data/common.yaml#L17) `db::host` → [common.yaml:18](file:///repo/data/common.yaml#L18) `db::primary` → back
            -- aligned
            **`db::host`** — Puppet fails here: `Lookup of key 'db::host' failed: Recursive lookup detected`
              `in [db::host, db::primary]`  
            for all 4 nodes that read this file  
            `common.yaml:17` `db::host` → `common.yaml:18` `db::primary` → back
            -- plain
            db::host — Puppet fails here: Lookup of key 'db::host' failed: Recursive lookup detected in
              [db::host, db::primary]
            for all 4 nodes that read this file
            common.yaml:17 db::host → common.yaml:18 db::primary → back
            ## a key that differs
            $ ntp::ser$0vers: [common1]
            **`ntp::servers`** — merged unique, 2 different values on 4 nodes
            ```yaml
            # a.example and 1 more
            - ams1     # site/ams.yaml:2
            - ams2     # site/ams.yaml:2
            - common1  # common.yaml:13
            ```
            `[common1]` on c.example and 1 more  
            merge: `unique`, from lookup_options in [site/ams.yaml:4](file:///repo/data/site/ams.yaml#L4), for the first value
            -- aligned
            **`ntp::servers`** — merged unique, 2 different values on 4 nodes
            ```yaml
            # a.example and 1 more
            - ams1     # site/ams.yaml:2
            - ams2     # site/ams.yaml:2
            - common1  # common.yaml:13
            ```
            `[common1]` on c.example and 1 more  
            merge: `unique`, from lookup_options in `site/ams.yaml:4`, for the first value
            -- plain
            ntp::servers — merged unique, 2 different values on 4 nodes
              # a.example and 1 more
              - ams1     # site/ams.yaml:2
              - ams2     # site/ams.yaml:2
              - common1  # common.yaml:13
            [common1] on c.example and 1 more
            merge: unique, from lookup_options in site/ams.yaml:4, for the first value
        "#]],
        |at| at_cursor(&place(at), None, |at| forms(&at, NODES)),
    );
}

#[test]
fn a_key_that_is_merged() {
    check(
        &place("users:\n  ali$0ce: {uid"),
        |at| forms(at, "{}"),
        expect![[r#"
            **`users.alice`** — merged deep from 2 levels, for every node that reads this file
            ```yaml
            groups: [wheel]  # common.yaml:11; "docker" knocked out by role/web.yaml:3
            shell: /bin/sh   # common.yaml:11
            uid: 1001        # role/web.yaml:3
            ```
            merged from [role/web.yaml:3](file:///repo/data/role/web.yaml#L3), [common.yaml:11](file:///repo/data/common.yaml#L11)  
            merge: `{strategy: deep, knockout_prefix: '--'}`, from lookup_options in [common.yaml:2](file:///repo/data/common.yaml#L2) by `^users$`
            -- aligned
            **`users.alice`** — merged deep from 2 levels, for every node that reads this file
            ```yaml
            groups: [wheel]  # common.yaml:11; "docker" knocked out by role/web.yaml:3
            shell: /bin/sh   # common.yaml:11
            uid: 1001        # role/web.yaml:3
            ```
            merged from `role/web.yaml:3`, `common.yaml:11`  
            merge: `{strategy: deep, knockout_prefix: '--'}`, from lookup_options in `common.yaml:2` by
              `^users$`
            -- plain
            users.alice — merged deep from 2 levels, for every node that reads this file
              groups: [wheel]  # common.yaml:11; "docker" knocked out by role/web.yaml:3
              shell: /bin/sh   # common.yaml:11
              uid: 1001        # role/web.yaml:3
            merged from role/web.yaml:3, common.yaml:11
            merge: {strategy: deep, knockout_prefix: '--'}, from lookup_options in common.yaml:2 by ^users$"#]],
    );
}

#[test]
fn tokens() {
    check_cases(
        expect![[r#"
            ## a variable
            $ %{facts.si$0te}"
            **`%{facts.site}`** — `ams` for 2 nodes, `lhr` for 2 nodes
            -- aligned
            (the same)
            -- plain
            %{facts.site} — ams for 2 nodes, lhr for 2 nodes
            ## a token that looks up
            $ %{look$0up('site::domain')}
            **`%{lookup('site::domain')}`** — `example.com` ([common.yaml:14](file:///repo/data/common.yaml#L14))
            -- aligned
            **`%{lookup('site::domain')}`** — `example.com` (`common.yaml:14`)
            -- plain
            %{lookup('site::domain')} — example.com (common.yaml:14)
            ## an alias
            $ %{ali$0as('ntp::servers')}
            **`%{alias('ntp::servers')}`** — `[ams1, ams2, common1]` for 2 nodes, `[common1]` for 2 nodes
            -- aligned
            (the same)
            -- plain
            %{alias('ntp::servers')} — [ams1, ams2, common1] for 2 nodes, [common1] for 2 nodes
        "#]],
        |at| at_cursor(&place(at), None, |at| forms(&at, NODES)),
    );
}

#[test]
fn options_paths_and_encrypted_values() {
    check_cases(
        expect![[r#"
            ## options of one key
            $ profile::db::us$0ers: {merge
            **`profile::db::users`** — 1 file sets it  
            merge: `first`
            -- aligned
            (the same)
            -- plain
            profile::db::users — 1 file sets it
            merge: first
            ## options of a pattern
            $ '^profile::.*::us$0ers$'
            **`^profile::.*::users$`** — matches 2 keys: `profile::db::users`, `profile::web::users`  
            hidden for `profile::db::users` by the literal entry in [common.yaml:4](file:///repo/data/common.yaml#L4)  
            merge: `deep`
            -- aligned
            **`^profile::.*::users$`** — matches 2 keys: `profile::db::users`, `profile::web::users`  
            hidden for `profile::db::users` by the literal entry in `common.yaml:4`  
            merge: `deep`
            -- plain
            ^profile::.*::users$ — matches 2 keys: profile::db::users, profile::web::users
            hidden for profile::db::users by the literal entry in common.yaml:4
            merge: deep
            ## a path
            $ "ro$0le/%{role}.yaml"
            **`role/%{role}.yaml`** — 1 file: [data/role/web.yaml](file:///repo/data/role/web.yaml#L1) · 3 of 4 nodes have a file · no file for `role` = db
            -- aligned
            **`role/%{role}.yaml`** — 1 file: `data/role/web.yaml` · 3 of 4 nodes have a file · no file for
              `role` = db
            -- plain
            role/%{role}.yaml — 1 file: data/role/web.yaml · 3 of 4 nodes have a file · no file for role = db
            ## an encrypted value
            $ ENC[PK$0CS7
            **`ENC[PKCS7,…]`** — encrypted with PKCS7, 27 bytes  
            cannot be decrypted: it is not a message of this method
            -- aligned
            (the same)
            -- plain
            ENC[PKCS7,…] — encrypted with PKCS7, 27 bytes
            cannot be decrypted: it is not a message of this method
            ## a merge option
            $ knockout_pre$0fix: '--'
            **`knockout_prefix`** — an element that starts with it removes the element of that name from the next lower level
            -- aligned
            **`knockout_prefix`** — an element that starts with it removes the element of that name from the
              next lower level
            -- plain
            knockout_prefix — an element that starts with it removes the element of that name from the next
              lower level
        "#]],
        |at| at_cursor(&place(at), None, |at| forms(&at, NODES)),
    );
}

#[test]
fn a_datadir_and_a_backend() {
    let config = "#- hiera.yaml\nversion: 5\ndefaults: {datadir: data, data_hash: yaml_data}\n\
                  #- data/common.yaml\na: 1\n";
    check_cases(
        expect![[r#"
            $ datadir: data → datadir: da$0ta
            **`data`** — the folder `data`
            -- aligned
            (the same)
            -- plain
            data — the folder data
            $ yaml_data → ya$0ml_data
            **`yaml_data`** — Puppet's own reader of YAML files
            -- aligned
            (the same)
            -- plain
            yaml_data — Puppet's own reader of YAML files
        "#]],
        |change| at_cursor(&changed(config, change), None, |at| forms(&at, NODES)),
    );
}

/// The texts of a table made by hiera-eyaml.
fn eyaml_texts() -> impl Iterator<Item = String> {
    const BLOBS: &str = include_str!("../../../../tests/eyaml/blobs.tsv");
    let digit = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap_or_default(), 16);
    BLOBS.lines().filter_map(move |line| {
        let hex = line.split('\t').next()?.as_bytes();
        let bytes: Result<Vec<u8>, _> = hex.chunks(2).map(digit).collect();
        String::from_utf8(bytes.ok()?).ok()
    })
}

#[test]
fn an_encrypted_value_names_whom_it_is_for() {
    // For a certificate with an issuer.
    let blob = eyaml_texts()
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
    check(
        &with_hierarchy(&text),
        |at| forms(at, NODES),
        expect![[r#"
            **`ENC[PKCS7,…]`** — encrypted with PKCS7, 445 bytes, for certificate 8F00000000000001 of CN=Test Authority,O=Example,C=XX
            -- aligned
            **`ENC[PKCS7,…]`** — encrypted with PKCS7, 445 bytes, for certificate 8F00000000000001 of CN=Test
              Authority,O=Example,C=XX
            -- plain
            ENC[PKCS7,…] — encrypted with PKCS7, 445 bytes, for certificate 8F00000000000001 of CN=Test
              Authority,O=Example,C=XX"#]],
    );
}

#[test]
fn the_plain_text_of_an_encrypted_value_is_behind_a_command() {
    let blob = eyaml_texts().next().expect("a blob");
    let text = format!(
        "#- data/common.yaml\na: {}\n",
        blob.replacen("PK", "PK$0", 1)
    );
    let link = |offset: usize| format!("command:reveal?{offset}");
    let hover_with = |link| {
        let options = HoverOptions {
            reveal: Some(Reveal {
                command: "hiera.reveal",
                link,
            }),
            ..HoverOptions::default()
        };
        let text = with_hierarchy(&text);
        let found = at_cursor(&text, None, |at| hover_at(&at, &nodes("{}"), &options));
        found.expect("a hover")
    };
    let linked = hover_with(Some(&link));
    expect![[r#"
        **`ENC[PKCS7,…]`** — encrypted with PKCS7, 381 bytes, for certificate 1  
        [show the plain text](command:reveal?3)"#]]
    .assert_eq(&linked.markdown);
    expect![[r#"
        **`ENC[PKCS7,…]`** — encrypted with PKCS7, 381 bytes, for certificate 1  
        plain text: command hiera.reveal"#]]
    .assert_eq(&hover_with(None).markdown);
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
    let mut all = Nodes::default();
    all.insert(crate::scope::Node::named("x.example"));
    let found = hover_with(&text, &KnownNodes::new(&all), Some("x.example"));
    expect![[r#"
        host — first found, for x.example, known by name only (may differ)
          b
        set in common.yaml:1 · not set in node/x.example.yaml
        may differ: role = web"#]]
    .assert_eq(&found.expect("a hover").plain);
}
