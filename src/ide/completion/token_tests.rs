//! Completion in tokens and in mapped paths.

use expect_test::expect;

use super::tests::{NODES, check, in_common};
use crate::ide::fixture_tests::with_hierarchy;

#[test]
fn functions_facts_and_keys_in_tokens() {
    check(
        &in_common("a: \"%{$0"),
        expect![[r#"
        Variable facts.role  web, db
        Variable facts.site
        Variable trusted.certname  web01, db01
        Variable facts.clientcert  web01, db01
        Variable facts.domain
        Variable facts.fqdn  web01, db01
        Variable facts.hostname  web01, db01
        Variable facts.networking.domain
        Variable facts.networking.fqdn  web01, db01
        Variable facts.networking.hostname  web01, db01
        Variable facts.operatingsystem  Ubuntu, Rocky
        Variable facts.os.family  Debian, RedHat
        and 36 more
        > a: "%{facts.role}"#]],
    );
    check(
        &in_common("a: \"x %{lo$0}\""),
        expect![[r#"
            Function lookup
            > a: "x %{lookup('}""#]],
    );
    check(
        &in_common("a: \"%{facts.os.f$0}\""),
        expect![[r#"
            Variable facts.os.family  Debian, RedHat
            > a: "%{facts.os.family}""#]],
    );
    check(
        &in_common("a: \"%{::ti$0"),
        expect![[r#"
            Variable ::tier  gold
            > a: "%{::tier}"#]],
    );
    check(
        &in_common("a: \"%{scope('facts.ro$0"),
        expect![[r#"
            Variable facts.role  web, db
            > a: "%{scope('facts.role')}"#]],
    );
    check(
        &in_common("a: \"%{lookup('profile::d$0"),
        expect![[r#"
        Key profile::db::port
        > a: "%{lookup('profile::db::port')}"#]],
    );
    check(
        &in_common("a: '%{alias(\"users.$0\")}'"),
        expect![[r#"
        Key alice
        Key bob
        > a: '%{alias("users.alice")}'"#]],
    );
    check(
        &in_common("a: \"%{lookup('users.alice.sh$0"),
        expect![[r#"
            Key shell
            > a: "%{lookup('users.alice.shell')}"#]],
    );
    check(&in_common("# %{fac$0"), expect!["nothing"]);
}

#[test]
fn elements_of_mapped_paths_are_known_in_their_level_alone() {
    let config = |location: &str| {
        format!(
            "#- hiera.yaml\nversion: 5\nhierarchy:\n  - name: a\n    mapped_paths: [facts.services, \
             service, \"svc/%{{service}}{location}\"]\n  - {{name: b, path: common.yaml}}\n"
        )
    };
    check(
        &config("%{serv$0}"),
        expect![[r#"
            Variable service
            Variable facts.services
            >     mapped_paths: [facts.services, service, "svc/%{service}%{service}"]"#]],
    );
    let text = config("") + "#- data/common.yaml\na: \"%{servi$0}\"\n";
    check(
        &text,
        expect![[r#"
            Variable facts.services
            > a: "%{facts.services}""#]],
    );
}

#[test]
fn mapped_paths_name_a_variable_then_a_template() {
    let config = |lines: &str| {
        format!(
            "{NODES}#- data/svc/x.yaml\na: 1\n#- hiera.yaml\nversion: 5\nhierarchy:\n  - name: a\n{lines}"
        )
    };
    check(
        &config("    mapped_paths: [facts.os.fa$0"),
        expect![[r#"
            Variable facts.os.family  Debian, RedHat
            >     mapped_paths: [facts.os.family"#]],
    );
    check(
        &config("    mapped_paths:\n      - facts.os.fa$0\n"),
        expect![[r#"
            Variable facts.os.family  Debian, RedHat
            >       - facts.os.family"#]],
    );
    check(
        &config("    mapped_paths: [facts.os.family, fa$0"),
        expect![""],
    );
    check(
        &config("    mapped_paths: [facts.services, service, s$0"),
        expect![[r#"
            Folder svc/
            >     mapped_paths: [facts.services, service, svc/"#]],
    );
    check(
        &config(
            "    mapped_paths:\n      - facts.services\n      - service\n      - \"svc/%{ser$0",
        ),
        expect![[r#"
            Variable service
            >       - "svc/%{service}"#]],
    );
    check(
        &config("    mapped_paths: [facts.services, service, \"svc/%{ser$0"),
        expect![[r#"
            Variable service
            >     mapped_paths: [facts.services, service, "svc/%{service}"#]],
    );
}

#[test]
fn keys_with_dots_stand_in_quotes_in_lookups() {
    let others = "#- data/role/db.yaml\nx: {a.b: {c: 1}, d: 2}\ny.z: 1\n";
    let at = |text: &str| with_hierarchy(&format!("{others}#- data/common.yaml\n{text}"));
    check(
        &at("a: \"%{lookup('x.$0"),
        expect![[r#"
            Key "a.b"
            Key d
            > a: "%{lookup('x.\"a.b\"')}"#]],
    );
    check(
        &at("a: %{lookup('x.\"a.$0\"')}"),
        expect![[r#"
            Key "a.b"
            > a: %{lookup('x."a.b"')}"#]],
    );
    check(
        &at("a: '%{lookup(\"x.''a.$0"),
        expect![[r#"
            Key 'a.b'
            > a: '%{lookup("x.''a.b''")}"#]],
    );
    check(
        &at("a: >\n  %{lookup('x.\"a.b\".$0')}"),
        expect![[r#"
            Key c
            >   %{lookup('x."a.b".c')}"#]],
    );
    check(
        &at("a: \"%{lookup('y$0')}\""),
        expect![[r#"
            Key "y.z"
            > a: "%{lookup('\"y.z\"')}""#]],
    );
    check(
        &with_hierarchy(&format!(
            "{others}#- manifests/site.pp\nlookup('x.\"a.$0\"')\n"
        )),
        expect![[r#"
            Key "a.b"
            > lookup('x."a.b"')"#]],
    );
}
