//! References, highlights, links and lenses, at cursors in small workspaces.

use expect_test::{Expect, expect};

use super::fixture_tests::{
    AtCursor, all_shown, at_cursor, check, check_all, text_of, with_hierarchy,
};
use super::lens::{LensOptions, lenses};
use super::links::document_links;
use super::navigation_tests::{DATA, MAPPED};
use super::references::{Role, highlights, references};

fn referenced(at: &AtCursor<'_>) -> String {
    let roles = [Role::Definition, Role::Option, Role::Use];
    at.also_half_typed(|at| {
        let found = references(at.analysis, at.path, at.offset, &roles);
        let shown = found.map(|found| all_shown(at.analysis.snapshot, &found));
        shown.unwrap_or_else(|| "none".to_owned())
    })
}

pub(super) fn check_references(text: &str, expected: Expect) {
    check(text, referenced, expected);
}

/// Checks the references of cases, each a part of a workspace.
pub(super) fn check_all_references(workspace: impl Fn(&str) -> String, cases: Expect) {
    check_all(workspace, referenced, cases);
}

pub(super) fn check_highlights(text: &str, expected: Expect) {
    let highlighted = |at: &AtCursor<'_>| {
        let snapshot = at.analysis.snapshot;
        let file = snapshot.file(at.path).unwrap();
        let found = highlights(at.analysis, at.path, at.offset).into_iter();
        let lines = found.map(|one| {
            let line = file.line(one.name.start as usize) + 1;
            format!("{line} {:?} {}", one.role, text_of(file.text(), one.name))
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    check(text, |at| at.also_half_typed(highlighted), expected);
}

fn check_links(text: &str, expected: Expect) {
    let linked = |at: &AtCursor<'_>| {
        let file = at.analysis.snapshot.file(at.path).unwrap();
        let links = document_links(at.analysis, at.path).into_iter();
        let lines =
            links.map(|link| format!("{} -> {}", text_of(file.text(), link.range), link.to));
        lines.collect::<Vec<_>>().join("\n")
    };
    check(text, linked, expected);
}

#[test]
fn references_are_keys_options_and_tokens() {
    let text = with_hierarchy(&format!(
        "{DATA}po$0rt: 4\nlookup_options:\n  port: {{merge: first}}\n  '^po': {{merge: deep}}\n\
         other: 'p-%{{hiera(\"port.x\")}}-%{{alias(\"port\")}}-%{{port}}'\n\
         #- unread.yaml\nport: 5\n"
    ));
    check_references(
        &text,
        expect![[r#"
        data/common.yaml:1 port
        data/common.yaml:3 port
        data/common.yaml:4 '^po'
        data/common.yaml:5 port
        data/common.yaml:5 port
        data/node/web01.yaml:1 port
        data/role/db.yaml:1 port
        data/role/web.yaml:1 port
        data/role/web.yaml:2 port"#]],
    );
    let variable = with_hierarchy(
        "#- data/common.yaml\na: \"%{facts.ro$0le}\"\nb: \"%{scope('facts.role')} %{::facts.role}\"\n\
         c: \"%{facts.role.x}\"\n",
    );
    check_references(
        &variable,
        expect![[r#"
        data/common.yaml:1 facts.role
        data/common.yaml:2 facts.role
        data/common.yaml:2 ::facts.role
        hiera.yaml:5 facts.role"#]],
    );
}

#[test]
fn references_are_limited_to_their_environment() {
    let environment = |name: &str, data: &str| {
        format!(
            "#- environments/{name}/hiera.yaml\nversion: 5\nhierarchy: [{{name: a, path: a.yaml}}]\n\
             #- environments/{name}/data/a.yaml\n{data}"
        )
    };
    let text = environment("one", "po$0rt: 1\n") + &environment("two", "port: 2\n");
    check_references(&text, expect!["environments/one/data/a.yaml:1 port"]);
}

#[test]
fn highlights_mark_keys_in_half_typed_text_too() {
    let text = with_hierarchy(
        "#- data/common.yaml\nprofile::web::port: 1\nprofile::web::name: x\nbroken: [\n\
         url: \"%{lookup('profile::web::po$0rt')}\"\nprofile::web::port: 2\n",
    );
    check_highlights(
        &text,
        expect![[r#"
        1 Definition profile::web::port
        4 Use profile::web::port
        5 Definition profile::web::port"#]],
    );
    let nested = with_hierarchy(
        "#- data/common.yaml\nusers:\n  bob: {uid: 1}\n  eve: {ui$0d: 2}\nx: \"%{lookup('users.eve.uid')}\"\n",
    );
    check_highlights(
        &nested,
        expect![[r#"
        3 Definition uid
        4 Use users.eve.uid"#]],
    );
}

#[test]
fn paths_that_mean_one_file_are_links() {
    let text = with_hierarchy(
        "#- data/common.yaml\na: 1\n#- data/role/web.yaml\na: 1\n#- data/site/ams.yaml\na: 1\n\
         #- data/site/lhr.yaml\na: 1\n",
    );
    let text = text.replace("version: 5", "version: $05");
    check_links(
        &text,
        expect![[r#"
        "role/%{facts.role}.yaml" -> /repo/data/role/web.yaml
        common.yaml -> /repo/data/common.yaml"#]],
    );
    let data = with_hierarchy(
        "#- data/common.yaml\na: puppet:///modules/acme/motd$0\nb: 'puppet:///modules/acme/none'\n\
         #- environment.conf\nmodulepath = modules\n#- modules/acme/files/motd\nhello\n",
    );
    check_links(
        &data,
        expect!["puppet:///modules/acme/motd -> /repo/modules/acme/files/motd"],
    );
}

#[test]
fn a_path_is_not_the_same_in_another_hierarchy() {
    let text = "#- hiera.yaml\nversion: 5\nhierarchy:\n  - {name: a, path: com$0mon.yaml}\n  - {name: b, datadir: other, path: common.yaml}\n  \
                - {name: c, datadir: data, path: common.yaml}\n\
                #- environment.conf\nmodulepath = modules\n\
                #- modules/m/hiera.yaml\nversion: 5\nhierarchy:\n  - {name: a, path: common.yaml}\n\
                #- data/common.yaml\na: 1\n#- modules/m/data/common.yaml\nm::a: 1\n";
    check_references(
        text,
        expect![[r#"
            hiera.yaml:3 common.yaml
            hiera.yaml:5 common.yaml"#]],
    );
}

#[test]
fn references_of_a_path_stay_in_its_configuration() {
    check_references(
        &MAPPED.replacen("path: common", "path: com$0mon", 1),
        expect![[r#"
            hiera.yaml:6 common.yaml
            hiera.yaml:7 common.yaml"#]],
    );
}

#[test]
fn references_of_a_variable_name_the_manifest_that_sets_it() {
    let text = "#- environment.conf\nmodulepath = modules\n#- manifests/site.pp\n$tier = 'gold'\nnode 'x' { \
                $tier = 'tin' }\n#- data/common.yaml\na: \"%{ti$0er}\"\n";
    check_references(
        &with_hierarchy(text),
        expect![[r#"
            data/common.yaml:1 tier
            manifests/site.pp:1 $tier
            manifests/site.pp:2 $tier"#]],
    );
}

#[test]
fn a_lens_counts_the_uses_that_the_document_lists() {
    let text = with_hierarchy(
        "#- modules/web/manifests/init.pp\nclass web($port) { $x = lookup('site.name') }\n\
         #- data/common.yaml\n$0web::port: 1\nsite: {name: a}\nunused: 1\n\
         url: \"%{lookup('web::port')} %{lookup('site.name')} %{hiera('web::port')}\"\n",
    );
    let found = at_cursor(&text, None, |cursor| {
        let options = LensOptions {
            overrides: false,
            uses: true,
            impact: false,
        };
        let lenses = lenses(cursor.analysis, cursor.path, options).into_iter();
        let lines = lenses.map(|lens| format!("{} {:?}", lens.key.unwrap(), lens.kind));
        lines.collect::<Vec<_>>().join("\n")
    });
    assert_eq!(found, "web::port Uses(3)\nsite Uses(2)");
}

#[test]
fn a_path_of_several_files_is_a_link_for_the_selected_node() {
    let text = with_hierarchy(
        "#- nodes.yaml\nweb1: {facts: {role: web}}\n#- data/role/web.yaml\na: 1\n#- data/role/db.yaml\na: 1\n\
         #- data/common.yaml\na: 1\n",
    )
    .replace("version: 5", "versi$0on: 5");
    let links = |selected: Option<&str>| {
        at_cursor(&text, selected, |cursor| {
            let links = document_links(cursor.analysis, cursor.path).into_iter();
            links.map(|link| link.to.to_string()).collect::<Vec<_>>()
        })
    };
    assert_eq!(links(None), ["/repo/data/common.yaml"]);
    assert_eq!(
        links(Some("web1")),
        ["/repo/data/role/web.yaml", "/repo/data/common.yaml"]
    );
}
