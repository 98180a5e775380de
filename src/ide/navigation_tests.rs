//! Definitions and declarations, at cursors in small workspaces.

use expect_test::{Expect, expect};

use super::definition::{declaration, definition};
use super::fixture_tests::{
    AtCursor, all_shown, at_cursor, changed, check, check_all, text_of, with_hierarchy,
};
use super::reference_tests::{check_all_references, check_highlights, check_references};

const NODES: &str = "\
#- nodes.json
{
  \"web01\": {\"facts\": {\"role\": \"web\", \"site\": \"ams\", \"os\": {\"family\": \"Debian\"}}, \"trusted\": {\"certname\": \"web01\"}},
  \"db01\": {\"facts\": {\"role\": \"db\", \"os\": {\"family\": \"RedHat\"}}, \"variables\": {\"tier\": \"gold\"}}
}
";

pub(super) const DATA: &str = "\
#- data/node/web01.yaml
port: 1
#- data/role/web.yaml
port: 2
url: \"http://%{lookup('port')}\"
#- data/role/db.yaml
port: 3
#- data/common.yaml
";

/// The name under the cursor and its definitions.
fn defined(at: &AtCursor<'_>) -> String {
    at.also_half_typed(|at| {
        let found = definition(at.analysis, at.path, at.offset, at.facts).map(|found| {
            let origin = found.origin;
            let file = at.analysis.snapshot.file(at.path).unwrap();
            let places = all_shown(at.analysis.snapshot, &found.places);
            format!("from {}\n{places}", text_of(file.text(), origin))
        });
        found.unwrap_or_else(|| "none".to_owned())
    })
}

fn check_definition(text: &str, selected: Option<&str>, expected: Expect) {
    check(text, |at| defined(&at.with_selected(selected)), expected);
}

/// Checks the definitions of cases, each a part or a change of a workspace.
fn check_definitions(workspace: impl Fn(&str) -> String, cases: Expect) {
    check_all(workspace, defined, cases);
}

fn check_declaration(text: &str, expected: Expect) {
    let declared = |at: &AtCursor<'_>| {
        let found = declaration(at.analysis, at.path, at.offset, at.facts);
        let shown = found.map(|found| all_shown(at.analysis.snapshot, &found.places));
        shown.unwrap_or_else(|| "none".to_owned())
    };
    check(text, |at| at.also_half_typed(declared), expected);
}

#[test]
fn a_key_leads_to_its_levels() {
    let text = with_hierarchy(&format!("{DATA}p$0ort: 4\n"));
    check_definition(
        &text,
        None,
        expect![[r#"
            from port
            data/node/web01.yaml:1 port
            data/role/db.yaml:1 port
            data/role/web.yaml:1 port
            data/common.yaml:1 port"#]],
    );
    // With two known names, the file's own path decides.
    check_definition(
        &format!("{text}#- data/node/web02.yaml\nx: 1\n"),
        None,
        expect![[r#"
            from port
            data/common.yaml:1 port
            data/node/web01.yaml:1 port
            data/role/db.yaml:1 port
            data/role/web.yaml:1 port"#]],
    );
    let nodes = format!("{text}{NODES}");
    check_definition(
        &nodes,
        Some("web01"),
        expect![[r#"
        from port
        data/node/web01.yaml:1 port
        data/role/web.yaml:1 port
        data/common.yaml:1 port"#]],
    );
    check_definition(
        &nodes,
        Some("db01"),
        expect![[r#"
        from port
        data/role/db.yaml:1 port
        data/common.yaml:1 port"#]],
    );
}

#[test]
fn a_token_leads_to_the_key_that_it_looks_up() {
    let text = with_hierarchy(&format!("{DATA}port: 4\na: \"%{{alias('url')}}\"\n"));
    check_definitions(
        |change| changed(&text, change),
        expect![[r#"
            $ lookup('port') → lookup('po$0rt')
            from port
            data/role/web.yaml:1 port
            data/node/web01.yaml:1 port
            data/common.yaml:1 port
            ## in the name of the function, and for a key that no level of the scope sets
            $ alias( → ali$0as(
            from url
            data/role/web.yaml:2 url
        "#]],
    );
}

#[test]
fn parts_of_dotted_keys_lead_to_nested_keys() {
    let data = "#- data/role/web.yaml\nusers: {bob: {uid: 1}}\n#- data/common.yaml\n\
                users:\n  \"a.b\":\n    uid: 2\n  bob:\n    uid: 3\n";
    check_definitions(
        |token| with_hierarchy(&format!("{data}x: \"%{{lookup(\\\"{token}\\\")}}\"\n")),
        expect![[r#"
            $ us$0ers.bob.uid
            from users
            data/common.yaml:1 users
            data/role/web.yaml:1 users
            $ users.bo$0b.uid
            from users.bob
            data/common.yaml:4 bob
            data/role/web.yaml:1 bob
            $ users.'a$0.b'.uid
            from users.'a.b'
            data/common.yaml:2 "a.b"
            $ users.bob.ui$0d
            from users.bob.uid
            data/common.yaml:5 uid
            data/role/web.yaml:1 uid
            $ users.nobody.ui$0d
            from users.nobody.uid

        "#]],
    );
    let text = with_hierarchy(&data.replace("bob:\n", "bo$0b:\n"));
    check_definition(
        &text,
        None,
        expect![[r#"
        from bob
        data/common.yaml:4 bob
        data/role/web.yaml:1 bob"#]],
    );
}

#[test]
fn variables_lead_to_the_files_that_describe_nodes() {
    let at = |token: &str| with_hierarchy(&format!("#- data/common.yaml\na: \"{token}\"\n{NODES}"));
    check_definitions(
        at,
        expect![[r#"
            $ %{fac$0ts.os.family}
            from facts.os.family
            nodes.json:2 "family"
            nodes.json:3 "family"
            $ %{::ti$0er}
            from ::tier
            nodes.json:3 "tier"
            $ %{trusted.certname$0}
            from trusted.certname
            nodes.json:2 "certname"
            nodes.json:3 "db01"
            $ %{facts.no$0ne}
            from facts.none

        "#]],
    );
    check_definition(
        &at("%{sco$0pe('facts.role')}"),
        Some("db01"),
        expect![[r#"
            from facts.role
            nodes.json:3 "role""#]],
    );
    let config = with_hierarchy(&format!("#- data/common.yaml\na: 1\n{NODES}"));
    let config = config.replace("%{facts.role}", "%{facts.ro$0le}");
    check_definition(
        &config,
        None,
        expect![[r#"
        from facts.role
        nodes.json:2 "role"
        nodes.json:3 "role""#]],
    );
}

#[test]
fn paths_lead_to_files() {
    let text = with_hierarchy(&format!("{DATA}port: 4\n{NODES}"));
    let at = |change: &str| changed(&text, change);
    check_definitions(
        at,
        expect![[r#"
            $ "role/ → "ro$0le/
            from "role/%{facts.role}.yaml"
            data/role/db.yaml:1
            data/role/web.yaml:1
            $ path: common.yaml → path: com$0mon.yaml
            from common.yaml
            data/common.yaml:1
            $ path: common.yaml → path: mi$0ssing.yaml
            from missing.yaml

        "#]],
    );
    check_definition(
        &at("\"role/ → \"ro$0le/"),
        Some("web01"),
        expect![[r#"
        from "role/%{facts.role}.yaml"
        data/role/web.yaml:1
        data/role/db.yaml:1"#]],
    );
}

#[test]
fn functions_lead_to_their_files() {
    let text = "#- hiera.yaml\nversion: 5\nhierarchy:\n  - {name: a, lookup_key: acme::ba$0ckend}\n\
                #- environment.conf\nmodulepath = modules\n\
                #- modules/acme/functions/backend.pp\nfunction acme::backend() {}\n";
    check_definition(
        text,
        None,
        expect![[r#"
        from acme::backend
        modules/acme/functions/backend.pp:1"#]],
    );
}

#[test]
fn values_and_comments_name_nothing() {
    for data in [
        "a: te$0xt\n",
        "# com$0ment\na: 1\n",
        "a: ENC[PK$0CS7,AAAA]\n",
        "$0\n",
    ] {
        let text = with_hierarchy(&format!("#- data/common.yaml\n{data}"));
        check_definition(&text, None, expect!["none"]);
    }
}

#[test]
fn declarations_are_options_and_levels() {
    let text = with_hierarchy(&format!(
        "{DATA}lookup_options:\n  '^port$': {{merge: first}}\nport: 4\n"
    ));
    let text = text.replace("port: 2", "po$0rt: 2");
    check_declaration(
        &text,
        expect![[r#"
        data/common.yaml:2 '^port$'
        hiera.yaml:5 "role/%{facts.role}.yaml""#]],
    );
}

pub(super) const MAPPED: &str = "\
#- hiera.yaml
version: 5
hierarchy:
  - name: a
    mapped_paths: [facts.services, service, \"svc/%{service}.yaml\"]
  - {name: b, path: \"%{service}.yaml\"}
  - {name: c, path: common.yaml}
  - {name: d, path: common.yaml}
  - {name: e, path: common.yaml, datadir: other}
#- modules/m/hiera.yaml
version: 5
hierarchy:
  - {name: c, path: common.yaml}
#- nodes.json
{\"n1\": {\"facts\": {\"services\": [\"dns\", \"ntp\"]}}}
#- data/common.yaml
a: 1
b: \"%{facts.services} %{service}\"
";

#[test]
fn a_custom_fact_is_defined_where_a_module_adds_it() {
    let text = with_hierarchy(
        "#- data/common.yaml\na: \"%{facts.si$0te}\"\n\
         #- modules/m/lib/facter/site.rb\nFacter.add('site') do\nend\n",
    );
    check_definition(
        &text,
        None,
        expect![[r#"
        from facts.site
        modules/m/lib/facter/site.rb:1 site"#]],
    );
}

#[test]
fn definitions_for_known_nodes_come_first() {
    let text = with_hierarchy(&format!("{DATA}port: 4\n{NODES}"));
    for change in ["port: 4 → p$0ort: 4", "port: 2 → po$0rt: 2"] {
        check_definition(
            &changed(&text, change),
            None,
            expect![[r#"
                from port
                data/node/web01.yaml:1 port
                data/role/db.yaml:1 port
                data/role/web.yaml:1 port
                data/common.yaml:1 port"#]],
        );
    }
}

#[test]
fn definitions_of_manifest_lookups_follow_the_order_of_levels() {
    let files = format!(
        "{}{NODES}#- modules/m/hiera.yaml\nversion: 5\nhierarchy: [{{name: m, path: m.yaml}}]\n\
         #- modules/m/data/m.yaml\nm::p: 0\n#- modules/m/manifests/init.pp\nclass m($p) {{ $x = lookup('m::p') }}\n",
        DATA.replace("port:", "m::p:")
    );
    let places = "data/node/web01.yaml:1 m::p\ndata/role/db.yaml:1 m::p\ndata/role/web.yaml:1 m::p\n\
                  modules/m/data/m.yaml:1 m::p\nmodules/m/manifests/init.pp:1 $p";
    for (cursor, from) in [("lookup('m$0::p')", "m::p"), ("m($$0p)", "$p")] {
        let text = files.replace(&cursor.replace("$0", ""), cursor);
        assert_eq!(
            at_cursor(&with_hierarchy(&text), None, |at| defined(&at)),
            format!("from {from}\n{places}")
        );
    }
}

#[test]
fn aliases_lead_to_anchors() {
    let data = "a: &one {x: 1}\nb: *one\nc: &one 2\nd: *one\ne:\n  <<: *one\n";
    let text = with_hierarchy(&format!("#- data/common.yaml\n{data}"));
    check_definitions(
        |change| changed(&text, change),
        expect![[r#"
            $ d: *one → d: *o$0ne
            from *one
            data/common.yaml:3 &one
            $ b: *one → b: *on$0e
            from *one
            data/common.yaml:1 &one
        "#]],
    );
    let first = changed(&text, "b: *one → b: *on$0e");
    check_references(
        &first,
        expect![[r#"
        data/common.yaml:1 &one
        data/common.yaml:2 *one"#]],
    );
    check_highlights(
        &first,
        expect![[r#"
        1 Definition &one
        2 Use *one"#]],
    );
}

#[test]
fn entries_of_lookup_options_lead_to_keys() {
    let data = |entry: &str| {
        with_hierarchy(&format!(
            "#- data/role/web.yaml\na::list: [1]\n#- data/common.yaml\na::list: [2]\na::other: 1\n\
             lookup_options:\n  {entry}: {{merge: unique}}\n"
        ))
    };
    check_definitions(
        data,
        expect![[r#"
            $ a::li$0st
            from a::list
            data/common.yaml:1 a::list
            data/role/web.yaml:1 a::list
            $ '^a:$0:'
            from '^a::'
            data/role/web.yaml:1 a::list
            data/common.yaml:1 a::list
            data/common.yaml:2 a::other
        "#]],
    );
    check_references(
        &data("a::li$0st"),
        expect![[r#"
        data/common.yaml:1 a::list
        data/common.yaml:4 a::list
        data/role/web.yaml:1 a::list"#]],
    );
}

#[test]
fn mapped_paths_lead_to_their_variable() {
    let at = |change: &str| changed(MAPPED, change);
    check_definitions(
        at,
        expect![[r#"
            $ [facts.ser → [facts.ser$0
            from facts.services
            nodes.json:1 "services"
            $ svc/%{ser → svc/%{ser$0
            from service
            hiera.yaml:4 service
            nodes.json:1 "services"
        "#]],
    );
    check_all_references(
        at,
        expect![[r#"
            $ [facts.ser → [facts.ser$0
            hiera.yaml:4 facts.services
            data/common.yaml:2 facts.services
            $ b: "%{facts.ser → b: "%{facts.ser$0
            data/common.yaml:2 facts.services
            hiera.yaml:4 facts.services
            $ svc/%{ser → svc/%{ser$0
            hiera.yaml:4 service
            hiera.yaml:4 service
            $ %{service}" → %{ser$0vice}"
            data/common.yaml:2 service
            hiera.yaml:5 service
        "#]],
    );
}

#[test]
fn a_knock_out_leads_to_what_it_removes() {
    let options = "lookup_options:\n  users: {merge: {strategy: deep, knockout_prefix: '--'}}\n";
    let text = |own: &str| {
        with_hierarchy(&format!(
            "{NODES}#- data/node/web01.yaml\nusers: [z]\n#- data/role/web.yaml\nusers:\n  groups:\n{own}\
             #- data/site/ams.yaml\nusers: {{groups: [a, docker]}}\n\
             #- data/common.yaml\n{options}users: {{groups: [docker, wheel]}}\n"
        ))
        .replace("users: [z]", "users: {groups: [z]}")
    };
    check_definitions(
        text,
        expect![[r#"
            $   - --doc$0ker\n
            from --docker
            data/site/ams.yaml:1 docker
            $   - '--wh$0eel'\n
            from '--wheel'

            $   - doc$0ker\n
            none
        "#]],
    );
    let first = text("  - --doc$0ker\n").replace("strategy: deep, ", "strategy: first, ");
    check_definition(&first, None, expect!["none"]);
}
