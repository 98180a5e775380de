//! Renames at cursors in small workspaces; in random workspaces, no rename changes a value.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::file::{Moved, file_renames};
use super::{Edits, Renamed, prepare, rename};
use crate::analysis::Analysis;
use crate::edit::Plan;
use crate::fixture::FOLDER;
use crate::ide::fixture_tests::{AtCursor, at_cursor, check, check_cases, text_of, with_hierarchy};
use crate::ide::random_workspace::workspace;
use crate::interpolation::Key;
use crate::lookup::{ConfigCache, PuppetVersion, Request, Settings};
use crate::scope::{KnownNodes, Scope};
use crate::text::TextEdit;
use crate::workspace::Snapshot;

/// The lines that a rename changes, or the reason that forbids it.
fn rename_lines(at: &AtCursor<'_>, new_name: &str) -> String {
    match rename(at.analysis, at.path, at.offset, new_name) {
        Ok(renamed) => {
            let confirmations = renamed.to_confirm.iter();
            let confirmations: String = confirmations
                .map(|it| format!("asks: {}\n", it.sentence))
                .collect();
            confirmations + &changed_lines(at.analysis.snapshot, &renamed.edits)
        }
        Err(why) => format!("refused: {why}"),
    }
}

pub(super) fn renamed(text: &str, new_name: &str) -> String {
    at_cursor(text, None, |at| rename_lines(&at, new_name))
}

/// [`rename_lines`], the same in half-typed text.
pub(super) fn renamed_to(at: &AtCursor<'_>, new_name: &str) -> String {
    at.also_half_typed(|at| rename_lines(at, new_name))
}

/// Checks renames, each written as `new name ← part of a workspace`.
pub(super) fn check_named(workspace: impl Fn(&str) -> String, cases: Expect) {
    check_cases(cases, |case| {
        let (new_name, text) = case.split_once(" ← ").expect("a new name");
        at_cursor(&workspace(text), None, |at| renamed_to(&at, new_name))
    });
}

fn changed_lines(snapshot: &Snapshot, edits: &Edits) -> String {
    let mut lines = Vec::new();
    for (path, edits) in edits {
        let before = snapshot.file(path).unwrap().text();
        let after = TextEdit::apply(edits, before).expect("edits that fit");
        for (number, (one, other)) in before.lines().zip(after.lines()).enumerate() {
            if one != other {
                let name = snapshot.short_name(path);
                lines.push(format!("{name}:{} {other}", number + 1));
            }
        }
    }
    lines.join("\n")
}

/// The name that can be renamed and its text, or the reason that forbids it.
pub(super) fn prepared(at: &AtCursor<'_>) -> String {
    at.also_half_typed(|at| {
        let text = at.analysis.snapshot.file(at.path).unwrap().text();
        match prepare(at.analysis, at.path, at.offset) {
            Ok((range, name)) => format!("{name}: {}", text_of(text, range)),
            Err(why) => format!("refused: {why}"),
        }
    })
}

#[test]
fn a_key_of_the_global_layer_is_renamed_in_all_environments() {
    let environment = |name: &str, data: &str| {
        format!(
            "#- environments/{name}/hiera.yaml\nversion: 5\nhierarchy: [{{name: c, path: common.yaml}}]\n\
             #- environments/{name}/data/common.yaml\n{data}"
        )
    };
    let text = |global: &str| {
        format!(
            "#- hiera.yaml\nversion: 5\nhierarchy: [{{name: g, path: g.yaml}}]\n#- data/g.yaml\n{global}\n{}{}",
            environment("production", "x::k$0: 1\n"),
            environment("test", "x::k: 1\ntok: \"%{lookup('x::k')}\"\n")
        )
    };
    check_named(
        text,
        expect![[r#"
            $ x::z ← x::k: 9
            data/g.yaml:1 x::z: 9
            environments/production/data/common.yaml:1 x::z: 1
            environments/test/data/common.yaml:1 x::z: 1
            environments/test/data/common.yaml:2 tok: "%{lookup('x::z')}"
            $ x::z ← other: 9
            environments/production/data/common.yaml:1 x::z: 1
        "#]],
    );
}

#[test]
fn a_key_of_a_folder_that_environments_share_is_renamed_in_all_of_them() {
    let environment = |name: &str, data: &str| {
        format!(
            "#- environments/{name}/hiera.yaml\nversion: 5\nhierarchy:\n\
             - {{name: c, path: common.yaml}}\n- {{name: s, path: s.yaml, datadir: /repo/shared}}\n\
             #- environments/{name}/data/common.yaml\n{data}"
        )
    };
    let all = environment("production", "x::k: 1\n")
        + &environment("test", "tok: \"%{lookup('x::k')}\"\n")
        + "#- shared/s.yaml\nx::k: 2\n";
    for value in [1, 2] {
        let text = all.replace(&format!("x::k: {value}"), &format!("x::k$0: {value}"));
        let expected = expect![[r#"
            environments/production/data/common.yaml:1 x::z: 1
            environments/test/data/common.yaml:1 tok: "%{lookup('x::z')}"
            shared/s.yaml:1 x::z: 2"#]];
        check(&text, |at| renamed_to(at, "x::z"), expected);
    }
}

const OTHERS: &str = "\
#- data/role/web.yaml
'a::port': 443
url: 'http://x:%{lookup(\"a::port\")}'
users: {bob: {uid: 1}}
#- data/common.yaml
";

fn in_common(text: &str) -> String {
    with_hierarchy(&format!("{OTHERS}{text}"))
}

#[test]
fn renaming_a_key_of_a_missing_class_gives_a_notice() {
    let to_know = |text: &str| {
        at_cursor(&in_common(text), None, |cursor| {
            let renamed = rename(cursor.analysis, cursor.path, cursor.offset, "b::listen");
            renamed.map(|renamed| renamed.to_know)
        })
    };
    assert_eq!(
        to_know("z::po$0rt: 80\n"),
        Ok(vec![
            "'z::port' may be for a parameter of the class z, which is not in this workspace: automatic lookup finds \
             it by that name alone"
                .to_owned()
        ])
    );
    assert_eq!(to_know("a::po$0rt: 80\n"), Ok(Vec::new()));
    assert_eq!(to_know("a::port: {x$0: 1}\n"), Ok(Vec::new()));
}

#[test]
fn expectations_keep_up_with_a_key() {
    let text = in_common(
        "a::po$0rt: 80\n#- spec/hiera/web.yaml\n- {key: a::port, value: 80}\n- key: 'a::port'\n  equal: true\n\
         - key: \"a::port.x\"\n- key: a::portal\n- value: a::port\n",
    );
    check(
        &text,
        |at| renamed_to(at, "a::listen"),
        expect![[r#"
            data/common.yaml:1 a::listen: 80
            data/role/web.yaml:1 'a::listen': 443
            data/role/web.yaml:2 url: 'http://x:%{lookup("a::listen")}'
            spec/hiera/web.yaml:1 - {key: a::listen, value: 80}
            spec/hiera/web.yaml:2 - key: 'a::listen'
            spec/hiera/web.yaml:4 - key: "a::listen.x""#]],
    );
    let from_there = text
        .replace("$0", "")
        .replace("- key: 'a::port'", "- key: 'a::po$0rt'");
    assert_eq!(
        renamed(&from_there, "a::listen"),
        renamed(&text, "a::listen")
    );
}

#[test]
fn a_key_is_renamed_over_levels_tokens_and_options() {
    let text = in_common(
        "a::po$0rt: 80\n\"x\": \"%{alias('a::port')}\"\ny: >\n  %{hiera(\"a::port\")}\n\
         lookup_options:\n  a::port: {merge: first}\n  '^a::port$': {merge: first}\n  '^a::': {merge: first}\n",
    );
    check(
        &text,
        |at| renamed_to(at, "a::listen"),
        expect![[r#"
        data/common.yaml:1 a::listen: 80
        data/common.yaml:2 "x": "%{alias('a::listen')}"
        data/common.yaml:4   %{hiera("a::listen")}
        data/common.yaml:6   a::listen: {merge: first}
        data/common.yaml:7   '^a::listen$': {merge: first}
        data/role/web.yaml:1 'a::listen': 443
        data/role/web.yaml:2 url: 'http://x:%{lookup("a::listen")}'"#]],
    );
    check(&text, prepared, expect!["a::port: a::port"]);
    check(
        &text
            .replace("a::po$0rt: 80", "a::port: 80")
            .replace("'a::port')}\"\ny", "'a::po$0rt')}\"\ny"),
        prepared,
        expect!["a::port: a::port"],
    );
}

#[test]
fn renames_that_would_change_values_are_refused() {
    let text = |more: &str| in_common(&format!("a::po$0rt: 80\n{more}"));
    check_named(
        text,
        expect![[r#"
            $ a::other ← a::other: 1\n
            refused: 'a::other' is already set, in common.yaml:2
            $ a::other ← x: '%{lookup("a::other")}'\n
            refused: 'a::other' is already looked up, in common.yaml:2
            $ b::port ← lookup_options: {'^a::': {merge: deep}}\n
            asks: the pattern '^a::' of lookup_options in common.yaml:2 is for 'a::port' and not for 'b::port': values can be merged differently
            data/common.yaml:1 b::port: 80
            data/role/web.yaml:1 'b::port': 443
            data/role/web.yaml:2 url: 'http://x:%{lookup("b::port")}'
            $ b::port ← lookup_options: {b::port: {merge: deep}}\n
            refused: lookup_options already has an entry for 'b::port', in common.yaml:2
            $ b.port ← 
            refused: 'b.port' is not a name for a key here: letters, digits and _ - : / + @ only, since dots and quotes mean something else in lookups
            $ true ← 
            refused: 'true' is not a name for a key: YAML does not read it as a string
        "#]],
    );
    check(
        &text("b: &b\n  c: 1\n<<: *b\n")
            .replace("a::po$0rt", "a::port")
            .replace("  c: 1", "  c: 1\nx: \"%{lookup('c$0')}\""),
        |at| renamed_to(at, "d"),
        expect![
            "refused: common.yaml:3: the key comes from an anchor or is an alias, so that other values would change too"
        ],
    );
    check_named(
        in_common,
        expect![[r#"
            $ b ← a: "%{fac$0ts.role}"\n
            refused: a fact or variable gets its name from the node or from Puppet code: it cannot be renamed in data
            $ b ← lookup_options: {'^a$0': {merge: deep}}\n
            refused: a pattern of lookup_options is not a name: edit it
            $ b ← lookup_op$0tions: {}\n
            refused: there is no key and no anchor here
            $ c ← a: [{b$0: 1}]\n
            refused: keys in the elements of a list are not renamed: their places differ from level to level
            $ c ← a: te$0xt\n
            refused: there is no key and no anchor here
        "#]],
    );
}

#[test]
fn nested_keys_and_anchors() {
    let text = in_common(
        "users:\n  b$0ob:\n    uid: 2\nx: \"%{lookup('users.bob.uid')} %{lookup('users.bobby')}\"\n",
    );
    check(
        &text,
        |at| renamed_to(at, "eve"),
        expect![[r#"
        data/common.yaml:2   eve:
        data/common.yaml:4 x: "%{lookup('users.eve.uid')} %{lookup('users.bobby')}"
        data/role/web.yaml:3 users: {eve: {uid: 1}}"#]],
    );
    check(&text, prepared, expect!["bob: bob"]);
    check_named(
        in_common,
        expect![[r#"
            $ eve ← users:\n  b$0ob: 1\n  eve: 2\n
            refused: 'eve' already exists, in common.yaml:3
            $ eve ← users: &u\n  b$0ob: 1\nothers: *u\n
            refused: common.yaml:2: the key is part of an anchor, so that other values would change too
            $ three ← a: &one 1\nb: *o$0ne\nc: &two 2\n
            data/common.yaml:1 a: &three 1
            data/common.yaml:2 b: *three
            $ two ← a: &one 1\nb: *o$0ne\nc: &two 2\n
            refused: the file already has an anchor 'two'
        "#]],
    );
}

/// Checks the changed lines after files and folders move, each written as `from → to`.
fn check_moves(text: &str, cases: Expect) {
    check_cases(cases, |case| {
        let (from, to) = case.split_once(" → ").expect("a move");
        let [from, to] = [from, to].map(|at| format!("{FOLDER}/{at}"));
        at_cursor(text, None, |cursor| {
            let edits = file_renames(cursor.analysis, &[Moved { from, to }]);
            changed_lines(cursor.analysis.snapshot, &edits)
        })
    });
}

#[test]
fn literal_paths_follow_files_and_folders() {
    check_moves(
        &with_hierarchy("#- data/common.yaml\na$0: 1\n#- data/role/web.yaml\na: 1\n"),
        expect![[r#"
            $ data/common.yaml → data/all/base.yaml
            hiera.yaml:7   - {name: Common, path: all/base.yaml}
            $ data/role → data/roles
            hiera.yaml:5   - {name: Role, path: "roles/%{facts.role}.yaml"}
            $ data → hieradata
            hiera.yaml:2 defaults: {datadir: hieradata, data_hash: yaml_data}
            $ data/role/web.yaml → data/role/www.yaml
            $ data/common.yaml → elsewhere/common.yaml
        "#]],
    );
}

#[test]
fn the_folder_of_a_glob_follows() {
    check_moves(
        "#- hiera.yaml\nversion: 5\nhierarchy:\n  - {name: U, glob: \"people/users.d/*.yaml\"}\n  - {name: R, globs: [\"r/%{facts.role}/*.yaml\", 'all/**/*.yaml']}\n\
         #- data/people/users.d/a.yaml\na$0: 1\n#- data/all/x/b.yaml\nb: 1\n",
        expect![[r#"
            $ data/people/users.d → data/people/accounts
            hiera.yaml:3   - {name: U, glob: "people/accounts/*.yaml"}
            $ data/people → data/humans
            hiera.yaml:3   - {name: U, glob: "humans/users.d/*.yaml"}
            $ data/all → data/shared/all
            hiera.yaml:4   - {name: R, globs: ["r/%{facts.role}/*.yaml", 'shared/all/**/*.yaml']}
            $ data/all/x → data/all/y
            $ data/people/users.d/a.yaml → data/people/users.d/b.yaml
        "#]],
    );
}

const KEYS: [&str; 4] = ["a", "m::b", "m::c", "d"];

const VALUES: [&str; 10] = [
    "1",
    "[x, y]",
    "{k: 1, l: {k: 2}}",
    "{k: 3, o: 4}",
    "\"%{lookup('a')}\"",
    "'%{alias(\"m::b\")}'",
    "\"%{alias('m::c')}\"",
    "x-%{hiera('d.k')}-%{lookup('a.l.k')}",
    "\"%{lookup(\\\"d\\\")} %{facts.role}\"",
    "&x [z, '%{lookup(\"m::c\")}']",
];

const ENTRIES: [&str; 6] = [
    "a: {merge: deep}",
    "'m::b': {merge: unique}",
    "'^m::': {merge: hash}",
    "'^d$': {merge: deep}",
    "\"^a\": {merge: {strategy: deep}}",
    "d: {merge: hash}",
];

prop_compose! {
    fn file()(
        keys in proptest::collection::btree_map(0..KEYS.len(), 0..VALUES.len(), 0..4),
        entries in proptest::sample::subsequence(ENTRIES.to_vec(), 0..3),
        quoted in any::<bool>(),
    ) -> String {
        let mut text = String::new();
        for (key, value) in keys {
            let quote = if quoted { "'" } else { "" };
            text.push_str(&format!("{quote}{}{quote}: {}\n", KEYS[key], VALUES[value]));
        }
        if !entries.is_empty() {
            text.push_str(&format!("lookup_options:\n  {}\n", entries.join("\n  ")));
        }
        text
    }
}

/// The values of all keys for some scopes; `name` maps the name of each key.
fn values(snapshot: &Snapshot, name: &dyn Fn(&str) -> String) -> BTreeMap<String, String> {
    let settings = Settings::for_version(PuppetVersion::V8).for_editor();
    let (configs, nodes) = (ConfigCache::default(), KnownNodes::default());
    let analysis = Analysis::new(snapshot, &settings, &configs, &nodes);
    let view = analysis.governing(&format!("{FOLDER}/data/common.yaml"));
    let view = view.expect("a root");
    let mut found = BTreeMap::new();
    for (role, node) in [("web", "n"), ("web", "other"), ("db", "n")] {
        let mut scope = Scope::open();
        scope.bind("facts.role", role);
        scope.bind("facts.site", "ams");
        scope.bind("trusted.certname", node);
        for key in KEYS {
            for below in ["", ".k", ".l.k"] {
                let name_below = format!("{}{below}", name(key));
                let answer = view.session().lookup(&scope, &Request::key(&name_below));
                // Texts of errors contain the key's name.
                let shown = match &answer.result {
                    Ok(value) => value.inspect(),
                    Err(error) if error.is_not_found() => "not found".to_owned(),
                    Err(_) => "an error".to_owned(),
                };
                found.insert(format!("{key}{below} for {role} {node}"), shown);
            }
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn no_rename_changes_a_value(
        texts in proptest::collection::vec(file(), 3),
        key in 0..KEYS.len(),
        new in proptest::sample::select(vec!["renamed", "m::renamed", "ax"]),
    ) {
        let key = KEYS[key];
        // Files for a node, a role and all nodes; no others have data.
        let texts = [&*texts[0], &texts[1], "", "", "", &texts[2]].map(str::to_owned);
        let before = workspace(&texts);
        let settings = Settings::for_version(PuppetVersion::V8).for_editor();
        let (configs, nodes) = (ConfigCache::default(), KnownNodes::default());
        let analysis = Analysis::new(&before, &settings, &configs, &nodes);
        let place = before.definitions(key).first().map(|(file, fact)| {
            (file.path().clone(), fact.key.start as usize + 1)
        });
        let Some((path, offset)) = place else {
            return Ok(());
        };
        let renamed = rename(analysis, &path, offset, new).ok();
        let Some(Renamed { edits, .. }) = renamed.filter(|it| it.to_confirm.is_empty()) else {
            return Ok(());
        };
        let plan = Plan { edits, ..Plan::default() };
        let after = plan.after(&before).expect("edits that fit");
        prop_assert_eq!(after.count_with(key), 0);
        let renamed = |name: &str| if name == key { new.to_owned() } else { name.to_owned() };
        prop_assert!(Key::parse(new).is_ok());
        let (one, other) = (values(&before, &str::to_owned), values(&after, &renamed));
        prop_assert_eq!(one, other, "{:?}", texts);
    }
}
