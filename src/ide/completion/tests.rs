//! Completion at cursors in small workspaces, mostly in half-typed text.

use expect_test::expect;

use super::{Completion, complete};
use crate::ide::fixture_tests::{AtCursor, at_cursor, check, check_all, with_hierarchy};
use crate::ide::hover::{Described, HoverOptions, described};
use crate::text::TextEdit;

pub(super) const NODES: &str = "\
#- nodes.json
{
  \"web01\": {\"facts\": {\"role\": \"web\", \"os\": {\"family\": \"Debian\", \"name\": \"Ubuntu\"}}},
  \"db01\": {\"facts\": {\"role\": \"db\", \"os\": {\"family\": \"RedHat\", \"name\": \"Rocky\"}}, \"variables\": {\"tier\": \"gold\"}}
}
";

const OTHERS: &str = "\
#- data/role/web.yaml
profile::web::port: 443
profile::web::tls: true
users:
  alice: {uid: 1001, shell: /bin/zsh}
  bob: {uid: 1002}
password: ENC[PKCS7,AAAA]
#- data/role/db.yaml
profile::db::port: 5432
profile::web::port: 443
#- unread.yaml
unread::key: 1
";

/// The items with their details, and the line after the first is accepted.
pub(super) fn completions(at: &AtCursor<'_>) -> String {
    let offered = |at: &AtCursor<'_>| {
        let mut found = complete(at.analysis, at.path, at.offset)?;
        // The half-typed entry is a key of this file.
        found.items.retain(|item| item.label != "half");
        let Completion { items, replace, .. } = &found;
        let text = at.analysis.snapshot.file(at.path).unwrap().text();
        let mut lines: Vec<String> = items
            .iter()
            .take(12)
            .map(|item| {
                let detail = item.detail.as_deref().unwrap_or_default();
                let line = format!("{:?} {}  {detail}", item.kind, item.label);
                line.trim_end().to_owned()
            })
            .collect();
        if items.len() > 12 {
            lines.push(format!("and {} more", items.len() - 12));
        }
        if let Some(first) = items.first() {
            let edit = TextEdit::replace(*replace, &first.insert);
            let after = TextEdit::apply(&[edit], text).expect("an edit that fits");
            let at = replace.start as usize;
            let start = after[..at].rfind('\n').map_or(0, |at| at + 1);
            lines.push(format!(
                "> {}",
                after[start..].lines().next().unwrap_or_default()
            ));
        }
        Some(lines.join("\n"))
    };
    at.also_half_typed(|at| offered(at).unwrap_or_else(|| "nothing".to_owned()))
}

pub(super) fn in_common(text: &str) -> String {
    with_hierarchy(&format!("{OTHERS}#- data/common.yaml\n{text}\n{NODES}"))
}

#[test]
fn keys_of_other_levels() {
    check_all(
        in_common,
        completions,
        expect![[r#"
            $ a: 1\nprofile::w$0\n
            Key profile::web::port  in 2 files
            Key profile::web::tls  in 1 file
            > profile::web::port: 
            $ profile::web::port: 1\nprofile::$0
            Key profile::db::port  in 1 file
            Key profile::web::tls  in 1 file
            > profile::db::port: 
            $ p$0ort::x: 1
            Key password  in 1 file
            Key profile::db::port  in 1 file
            Key profile::web::port  in 2 files
            Key profile::web::tls  in 1 file
            Key lookup_options
            > password: 1
            $ "profile::d$0
            Key profile::db::port  in 1 file
            > "profile::db::port
            $ broken: [\nprofweb$0\nother: 1
            Key profile::web::port  in 2 files
            Key profile::web::tls  in 1 file
            > profile::web::port: 
            $ unread$0
        "#]],
    );
}

#[test]
fn nested_keys_and_values_of_other_levels() {
    check_all(
        in_common,
        completions,
        expect![[r#"
            $ users:\n  $0
            Key alice
            Key bob
            >   alice: 
            $ users:\n  alice:\n    uid: 1\n    s$0
            Key shell
            >     shell: 
            $ users: {alice: {$0
            Key shell
            Key uid
            > users: {alice: {shell: 
            $ users:\n  alice:\n    shell: $0
            Value /bin/zsh  in 1 file
            >     shell: /bin/zsh
            $ profile::web::port: $0
            Value 443  in 2 files
            > profile::web::port: 443
            $ profile::web::tls: $0
            Value true  in 1 file
            Value false
            > profile::web::tls: true
            $ password: $0
        "#]],
    );
}

#[test]
fn anchors() {
    check(
        &in_common("a: &one 1\nb: [&two 2, &one 3]\nc: *$0"),
        completions,
        expect![[r#"
            Anchor *one
            Anchor *two
            > c: *one"#]],
    );
}

#[test]
fn lookup_options() {
    check_all(
        in_common,
        completions,
        expect![[r#"
            $ lookup_options:\n  $0
            Key password
            Key profile::db::port
            Key profile::web::port
            Key profile::web::tls
            Key users
            Pattern ^profile::db::
            Pattern ^profile::web::
            >   password: 
            $ lookup_options:\n  '^pro$0
            Pattern ^profile::db::
            Pattern ^profile::web::
            >   '^profile::db::
            $ lookup_options:\n  users:\n    $0
            Word merge
            Word convert_to
            >     merge: 
            $ lookup_options:\n  users:\n    merge: $0
            Word deep
            Word hash
            Word unique
            Word first
            >     merge: deep
            $ lookup_options:\n  users:\n    merge:\n      k$0
            Word knockout_prefix
            >       knockout_prefix: 
            $ lookup_options: {users: {merge: {strategy: d$0
            Word deep
            > lookup_options: {users: {merge: {strategy: deep
            $ lookup_options:\n  users:\n    merge:\n      sort_merged_arrays: $0
            Word true
            Word false
            >       sort_merged_arrays: true
            $ lookup_options:\n  users:\n    convert_to: Se$0
            Type Sensitive
            Type SemVer
            Type SemVerRange
            >     convert_to: Sensitive
        "#]],
    );
}

#[test]
fn hiera_yaml() {
    let config = |text: &str| {
        format!(
            "#- hiera.yaml\n{text}\n#- data/common.yaml\na: '%{{tier}}'\n#- data/role/web.yaml\na: 1\n\
             #- environment.conf\nmodulepath = modules\n\
             #- modules/acme/lib/puppet/functions/acme/vault.rb\n# code\n{NODES}"
        )
    };
    check_all(
        config,
        completions,
        expect![[r#"
            $ ver$0
            Word version
            > version: 
            $ version: $0
            Word 5
            > version: 5
            $ version: 5\ndefaults:\n  d$0
            Word datadir
            Word data_hash
            Word data_dig
            >   datadir: 
            $ version: 5\nhierarchy:\n  $0
            Word level
            >   - name: 
            $ version: 5\nhierarchy:\n  - name: a\n    pa$0\n    datadir: data
            Word path
            Word paths
            Word mapped_paths
            >     path: 
            $ version: 5\nhierarchy:\n  - {name: a, path: $0}
            File common.yaml
            Folder role/
            >   - {name: a, path: common.yaml}
            $ version: 5\nhierarchy:\n  - {name: a, path: role/$0}
            File role/web.yaml
            >   - {name: a, path: role/web.yaml}
            $ version: 5\nhierarchy:\n  - name: a\n    paths:\n      - co$0
            File common.yaml
            >       - common.yaml
            $ version: 5\nhierarchy:\n  - name: a\n    path: "role/%{facts.r$0}.yaml"
            Variable facts.role  web, db
            >     path: "role/%{facts.role}.yaml"
            $ version: 5\nhierarchy:\n  - {name: a, datadir: d$0}
            Folder data/
            Folder modules/
            >   - {name: a, datadir: data}
            $ version: 5\nhierarchy:\n  - {name: a, lookup_key: $0}
            Function eyaml_lookup_key
            Function acme::vault  function of a module
            >   - {name: a, lookup_key: eyaml_lookup_key}
            $ version: 5\nhierarchy:\n  - name: a\n    data_hash: y$0
            Function yaml_data
            >     data_hash: yaml_data
        "#]],
    );
}

#[test]
fn existing_keys_are_not_offered() {
    check_all(
        in_common,
        completions,
        expect![[r#"
            $ lookup_options:\n  users:\n    merge:\n      strategy: deep\n      $0
            Word knockout_prefix
            Word sort_merged_arrays
            Word merge_hash_arrays
            >       knockout_prefix: 
            $ lookup_options:\n  users:\n    $0\n    merge: deep\n  other: {}
            Word convert_to
            >     convert_to: 
            $ lookup_options:\n  users: {$0, merge: deep}
            Word convert_to
            >   users: {convert_to: , merge: deep}
            $ list:\n  - uid: 1\n    $0\n    name: x\n  - other: 1\n    uid: 2\n    name: y\n
            Key other
            >     other: 
        "#]],
    );
    check_all(
        str::to_owned,
        completions,
        expect![[r#"
            $ #- hiera.yaml\nversion: 5\n$0\nhierarchy:\n  - name: a\n
            Word defaults
            > defaults: 
            $ #- hiera.yaml\nversion: 5\nhierarchy:\n  - name: a\n    n$0\n  - name: b\n
            Word hiera3_backend
            Word options
            >     hiera3_backend: 
        "#]],
    );
}

#[test]
fn nested_keys_and_entries_carry_their_names() {
    let about = |text: &str| {
        at_cursor(&in_common(text), None, |cursor| {
            let found = complete(cursor.analysis, cursor.path, cursor.offset);
            found.and_then(|found| found.items.first()?.about.clone())
        })
    };
    let key = |name: &str| Some(Described::Key(name.into()));
    assert_eq!(
        about("users:\n  alice:\n    sh$0"),
        key("users.alice.shell")
    );
    assert_eq!(about("lookup_options:\n  us$0"), key("users"));
}

#[test]
fn json_is_completed_too() {
    let text = with_hierarchy(&format!("{OTHERS}#- data/common.yaml\na: 1\n"));
    let text = text.replace("path: common.yaml", "path: common.json");
    let text = text + "#- data/common.json\n{\"a\": 1, \"profile::d$0\": 2}\n";
    check(
        &text,
        completions,
        expect![[r#"
            Key profile::db::port  in 1 file
            > {"a": 1, "profile::db::port": 2}"#]],
    );
    let with = |entry: &str| text.replace("\"profile::d$0\": 2", entry);
    check_all(
        with,
        completions,
        expect![[r#"
            $ "users": {"alice": {she$0}}
            Key shell
            > {"a": 1, "users": {"alice": {"shell": }}}
            $ "users": {"alice": {"shell": $0}}
            Value "/bin/zsh"  in 1 file
            > {"a": 1, "users": {"alice": {"shell": "/bin/zsh"}}}
        "#]],
    );
}

#[test]
fn other_files_are_left_alone() {
    check(
        "#- hiera.yaml\nversion: 5\n#- .gitlab-ci.yml\nst$0\n",
        completions,
        expect!["nothing"],
    );
}

#[test]
fn documentation_of_an_item_is_computed_when_resolved() {
    let described_text = |about: Described| {
        at_cursor(&in_common("a$0: 1"), None, |cursor| {
            let options = HoverOptions::default();
            let found = described(cursor.analysis, cursor.path, &about, &options);
            found.map(|hover| hover.plain).unwrap_or_default()
        })
    };
    expect![[r#"
        profile::web::port — first found, for both nodes that read this file
          443
        set in role/web.yaml:1 · not set in common.yaml"#]]
    .assert_eq(&described_text(Described::Key("profile::web::port".into())));
    expect!["facts.os.family — Debian for 1 node, RedHat for 1 node"].assert_eq(&described_text(
        Described::Variable("facts.os.family".into()),
    ));
}
