//! Completion in tokens and in mapped paths.

use expect_test::expect;

use super::tests::{NODES, completions, in_common};
use crate::ide::fixture_tests::{check, check_all, with_hierarchy};

#[test]
fn functions_facts_and_keys_in_tokens() {
    check_all(
        in_common,
        completions,
        expect![[r#"
            $ a: "%{$0
            Variable facts.role  web, db
            Variable facts.site
            Variable trusted.certname
            Variable facts.clientcert  web01, db01
            Variable facts.networking.domain
            Variable facts.networking.fqdn  web01, db01
            Variable facts.networking.hostname  web01, db01
            Variable facts.os.family  Debian, RedHat
            Variable facts.os.name  Ubuntu, Rocky
            Variable tier  gold
            Variable environment
            Variable facts.architecture
            and 31 more
            > a: "%{facts.role}
            $ a: "x %{lo$0}"
            Function lookup
            > a: "x %{lookup('}"
            $ a: "%{facts.os.f$0}"
            Variable facts.os.family  Debian, RedHat
            > a: "%{facts.os.family}"
            $ a: "%{::ti$0
            Variable ::tier  gold
            > a: "%{::tier}
            $ a: "%{scope('facts.ro$0
            Variable facts.role  web, db
            > a: "%{scope('facts.role')}
            $ a: "%{lookup('profile::d$0
            Key profile::db::port
            > a: "%{lookup('profile::db::port')}
            $ a: '%{alias("users.$0")}'
            Key alice
            Key bob
            > a: '%{alias("users.alice")}'
            $ a: "%{lookup('users.alice.sh$0
            Key shell
            > a: "%{lookup('users.alice.shell')}
            $ # %{fac$0
            nothing
        "#]],
    );
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
        completions,
        expect![[r#"
            Variable service
            Variable facts.services
            >     mapped_paths: [facts.services, service, "svc/%{service}%{service}"]"#]],
    );
    let text = config("") + "#- data/common.yaml\na: \"%{servi$0}\"\n";
    check(
        &text,
        completions,
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
    check_all(
        config,
        completions,
        expect![[r#"
            $     mapped_paths: [facts.os.fa$0
            Variable facts.os.family  Debian, RedHat
            >     mapped_paths: [facts.os.family
            $     mapped_paths:\n      - facts.os.fa$0\n
            Variable facts.os.family  Debian, RedHat
            >       - facts.os.family
            $     mapped_paths: [facts.os.family, fa$0
            $     mapped_paths: [facts.services, service, s$0
            Folder svc/
            >     mapped_paths: [facts.services, service, svc/
            $     mapped_paths:\n      - facts.services\n      - service\n      - "svc/%{ser$0
            Variable service
            >       - "svc/%{service}
            $     mapped_paths: [facts.services, service, "svc/%{ser$0
            Variable service
            >     mapped_paths: [facts.services, service, "svc/%{service}
        "#]],
    );
}

#[test]
fn keys_with_dots_are_quoted_in_lookups() {
    let others = "#- data/role/db.yaml\nx: {a.b: {c: 1}, d: 2}\ny.z: 1\n";
    let at = |text: &str| with_hierarchy(&format!("{others}#- data/common.yaml\n{text}"));
    check_all(
        at,
        completions,
        expect![[r#"
            $ a: "%{lookup('x.$0
            Key "a.b"
            Key d
            > a: "%{lookup('x.\"a.b\"')}
            $ a: %{lookup('x."a.$0"')}
            Key "a.b"
            > a: %{lookup('x."a.b"')}
            $ a: '%{lookup("x.''a.$0
            Key 'a.b'
            > a: '%{lookup("x.''a.b''")}
            $ a: >\n  %{lookup('x."a.b".$0')}
            Key c
            >   %{lookup('x."a.b".c')}
            $ a: "%{lookup('y$0')}"
            Key "y.z"
            > a: "%{lookup('\"y.z\"')}"
        "#]],
    );
    check(
        &with_hierarchy(&format!(
            "{others}#- manifests/site.pp\nlookup('x.\"a.$0\"')\n"
        )),
        completions,
        expect![[r#"
            Key "a.b"
            > lookup('x."a.b"')"#]],
    );
}
