//! Hovers on merged values, and differences between nodes.

use expect_test::expect;

use super::*;

#[test]
fn one_nested_difference_is_described_and_equal_lines_are_marked() {
    let long = "a: {one: 1111111111, two: 2222222222, three: 3333333333, four: 4}";
    let text = format!(
        "#- hiera.yaml\nversion: 5\nhierarchy:\n\
         - {{name: n, path: \"node/%{{trusted.certname}}.yaml\"}}\n- {{name: c, path: common.yaml}}\n\
         #- data/node/b.yaml\nsysctl:\n  net: {{core.somaxconn: 1024}}\n\
         #- data/node/c.yaml\nsysctl:\n  x: {{source: 10.0.0.0/8, {long}}}\n\
         #- data/node/d.yaml\nsysctl:\n  x: {{source: 10.1.0.0/8, {long}}}\n\
         #- data/common.yaml\nlookup_options: {{sysctl: {{merge: deep}}}}\n\
         sys$0ctl:\n  net: {{core.somaxconn: 128, {long}}}\n"
    );
    check(
        &text,
        |at| plain(at, "{a: {}, a2: {}, b: {}, c: {}, d: {}}"),
        expect![[r#"
            sysctl — merged deep, 4 different values on 5 nodes
              # a and 1 more · common.yaml:2
              net:
                core.somaxconn: 128
                a:
                  one: 1111111111
                  two: 2222222222
                  three: 3333333333
                  four: 4
            net.'core.somaxconn': 1024 on b · node/b.yaml:1
            adds x on c · node/c.yaml:1
            like c, but x.source: 10.1.0.0/8 on d · node/d.yaml:1
            merge: deep, from lookup_options in common.yaml:1
            nodes known only by name, without facts"#]],
    );
}

#[test]
fn one_text_of_a_merged_value_comes_from_one_level() {
    let options = "lookup_options: {net: {merge: deep}, ssh: {merge: hash}}\n";
    check_all(
        |files| with_hierarchy(&format!("{files}{options}")),
        |at| plain(at, "{}"),
        expect![[r#"
            $ #- data/role/web.yaml\nnet: {tcp: {max$0: 2}}\n#- data/common.yaml\nnet: {tcp: {max: 1, min: 0}}\n
            net.tcp.max — merged deep, set by one level, for every node that reads this file
              2
            set in role/web.yaml:1 · overrides common.yaml:1
            merge: deep, from lookup_options in common.yaml:2
            $ #- data/role/web.yaml\nssh: {tc$0p: {max: 2}}\n#- data/common.yaml\nssh: {tcp: {max: 1, min: 0}}\n
            ssh.tcp — merged as hash, set by one level, for every node that reads this file
              max: 2
            set in role/web.yaml:1 · overrides common.yaml:1
            merge: hash, from lookup_options in common.yaml:2
        "#]],
    );
}

#[test]
fn a_cut_value_continues_at_a_key() {
    let user = |name: &str| {
        format!(
            "  {name}:\n    uid: 1\n    keys:\n      - a long public key of {name}\n      - another long one of {name}\n\
             \x20     - the last one\n"
        )
    };
    let users: String = ["ann", "bob", "cid", "dan"].map(user).concat();
    check(
        &with_hierarchy(&format!("#- data/common.yaml\nus$0ers:\n{users}")),
        |at| plain(at, "{}"),
        expect![[r#"
            users — first found, for every node that reads this file
              ann:
                uid: 1
                keys:
                  - a long public key of ann
                  - another long one of ann
                  - the last one
              bob:
                uid: 1
                keys:
                  - a long public key of bob
                  - another long one of bob
                  - the last one
              cid:
                uid: 1
                keys:
                  - a long public key of cid
                  - another long one of cid
              # … 7 more lines: hiera-ls lookup users
            set in common.yaml:1"#]],
    );
}

#[test]
fn encrypted_values_that_differ() {
    check_all(
        with_hierarchy,
        |at| plain(at, NODES),
        expect![[r#"
            ## of two encrypted values the later one is said to be different
            $ #- data/node/a.example.yaml\np: ENC[PKCS7,MIIBeQYJKoZIhvcNAQcDoIIBajCCAWYCAQAy]\n#- data/common.yaml\np$0: ENC[PKCS7,MIIBeQYJKoZIhvcNAQcDoIIBajCCAWYCAQAx]\n
            p — first found, 2 different values on 4 nodes
              (encrypted, PKCS7)  # 3 nodes · common.yaml:1
            a different value (encrypted) on a.example · node/a.example.yaml:1
            ## words that read as an encrypted value are none
            $ #- data/node/a.example.yaml\np: (encrypted, PKCS7)\n#- data/common.yaml\np$0: ENC[PKCS7,MIIBeQYJKoZIhvcNAQcDoIIBajCCAWYCAQAx]\n
            p — first found, 2 different values on 4 nodes
              (encrypted, PKCS7)  # 3 nodes · common.yaml:1
            '(encrypted, PKCS7)' on a.example · node/a.example.yaml:1
        "#]],
    );
}

#[test]
fn a_token_next_to_a_cipher_text_changes_the_value() {
    check(
        "#- hiera.yaml\nversion: 5\nhierarchy: [{name: c, path: common.eyaml, lookup_key: eyaml_lookup_key, options: {pkcs7_private_key: /k, pkcs7_public_key: /c}}]\n\
         #- data/common.eyaml\np$0: '%{facts.site} ENC[PKCS7,MIIBeQYJKoZIhvcNAQcDoIIBajCCAWYCAQAx]'\n",
        |at| plain(at, "a: {facts: {site: ams}}\nb: {facts: {site: lon}}\n"),
        expect![[r#"
            p — first found, 2 different values on 2 nodes
              (encrypted, PKCS7)  # a · common.eyaml:1
            a different value (encrypted) on b (facts.site = lon)"#]],
    );
}
