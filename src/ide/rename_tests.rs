//! Renames, by cursors in small workspaces; and that no rename changes a value, over random ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::file_rename::{Moved, file_renames};
use super::fixture_tests::{and_half_typed, ask, text_of, with_hierarchy};
use super::rename::{Edits, prepare, rename};
use crate::analysis::Analysis;
use crate::fixture::{FOLDER, Fixture};
use crate::interpolation::Key;
use crate::lookup::{ConfigCache, PuppetVersion, Request, Settings};
use crate::scope::{KnownNodes, Scope};
use crate::text::TextEdit;
use crate::workspace::{Change, Snapshot, Workspace};

/// The lines that a rename changes, or why it does not.
fn check(text: &str, new_name: &str, expected: Expect) {
    for text in and_half_typed(text) {
        let shown = ask(&text, None, |asked| {
            match rename(asked.analysis, asked.path, asked.offset, new_name) {
                Ok(edits) => changed_lines(asked.analysis.snapshot, &edits),
                Err(why) => format!("refused: {why}"),
            }
        });
        expected.assert_eq(&shown);
    }
}

fn changed_lines(snapshot: &Snapshot, edits: &Edits) -> String {
    let mut lines = Vec::new();
    for (path, edits) in edits {
        let before = snapshot.file(path).unwrap().text();
        let after = TextEdit::apply(edits, before).expect("edits that fit");
        for (number, (one, other)) in before.lines().zip(after.lines()).enumerate() {
            if one != other {
                let below = path.strip_prefix(FOLDER).unwrap_or(path);
                lines.push(format!(
                    "{}:{} {other}",
                    below.trim_start_matches('/'),
                    number + 1
                ));
            }
        }
    }
    lines.join("\n")
}

fn check_prepare(text: &str, expected: Expect) {
    for text in and_half_typed(text) {
        let shown = ask(&text, None, |asked| {
            let text = asked.analysis.snapshot.file(asked.path).unwrap().text();
            match prepare(asked.analysis, asked.path, asked.offset) {
                Ok((range, name)) => format!("{name}: {}", text_of(text, range)),
                Err(why) => format!("refused: {why}"),
            }
        });
        expected.assert_eq(&shown);
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
fn a_key_is_renamed_over_levels_tokens_and_options() {
    let text = in_common(
        "a::po$0rt: 80\n\"x\": \"%{alias('a::port')}\"\ny: >\n  %{hiera(\"a::port\")}\n\
         lookup_options:\n  a::port: {merge: first}\n  '^a::port$': {merge: first}\n  '^a::': {merge: first}\n",
    );
    check(
        &text,
        "a::listen",
        expect![[r#"
        data/common.yaml:1 a::listen: 80
        data/common.yaml:2 "x": "%{alias('a::listen')}"
        data/common.yaml:4   %{hiera("a::listen")}
        data/common.yaml:6   a::listen: {merge: first}
        data/common.yaml:7   '^a::listen$': {merge: first}
        data/role/web.yaml:1 'a::listen': 443
        data/role/web.yaml:2 url: 'http://x:%{lookup("a::listen")}'"#]],
    );
    check_prepare(&text, expect!["a::port: a::port"]);
    check_prepare(
        &text
            .replace("a::po$0rt: 80", "a::port: 80")
            .replace("'a::port')}\"\ny", "'a::po$0rt')}\"\ny"),
        expect!["a::port: a::port"],
    );
}

#[test]
fn what_would_change_values_is_refused() {
    let text = |more: &str| in_common(&format!("a::po$0rt: 80\n{more}"));
    check(
        &text("a::other: 1\n"),
        "a::other",
        expect!["refused: 'a::other' is set already, in common.yaml:2"],
    );
    check(
        &text("x: '%{lookup(\"a::other\")}'\n"),
        "a::other",
        expect!["refused: 'a::other' is looked up already, in common.yaml:2"],
    );
    check(
        &text("lookup_options: {'^a::': {merge: deep}}\n"),
        "b::port",
        expect![
            "refused: the pattern '^a::' of lookup_options in common.yaml:2 is for 'a::port' and not for 'b::port': values could be merged differently"
        ],
    );
    check(
        &text("lookup_options: {b::port: {merge: deep}}\n"),
        "b::port",
        expect!["refused: lookup_options has an entry for 'b::port' already, in common.yaml:2"],
    );
    check(
        &text(""),
        "b.port",
        expect![
            "refused: 'b.port' is not a name for a key here: letters, digits and _ - : / + @ only, since dots and quotes mean something else in lookups"
        ],
    );
    check(
        &text(""),
        "true",
        expect!["refused: 'true' is not a name for a key: YAML reads it as no text"],
    );
    check(
        &text("b: &b\n  c: 1\n<<: *b\n")
            .replace("a::po$0rt", "a::port")
            .replace("  c: 1", "  c: 1\nx: \"%{lookup('c$0')}\""),
        "d",
        expect![
            "refused: common.yaml:3: the key comes from an anchor or is an alias, so that other values would change too"
        ],
    );
    check(
        &in_common("a: \"%{fac$0ts.role}\"\n"),
        "b",
        expect![
            "refused: a fact or variable gets its name from the node or from Puppet code: it cannot be renamed in data"
        ],
    );
    check(
        &in_common("lookup_options: {'^a$0': {merge: deep}}\n"),
        "b",
        expect!["refused: a pattern of lookup_options is not a name: edit it"],
    );
    check(
        &in_common("lookup_op$0tions: {}\n"),
        "b",
        expect!["refused: there is no key and no anchor here"],
    );
    check(
        &in_common("a: [{b$0: 1}]\n"),
        "c",
        expect![
            "refused: keys in the elements of a list are not renamed: their places differ from level to level"
        ],
    );
    check(
        &in_common("a: te$0xt\n"),
        "c",
        expect!["refused: there is no key and no anchor here"],
    );
}

#[test]
fn nested_keys_and_anchors() {
    let text = in_common(
        "users:\n  b$0ob:\n    uid: 2\nx: \"%{lookup('users.bob.uid')} %{lookup('users.bobby')}\"\n",
    );
    check(
        &text,
        "eve",
        expect![[r#"
        data/common.yaml:2   eve:
        data/common.yaml:4 x: "%{lookup('users.eve.uid')} %{lookup('users.bobby')}"
        data/role/web.yaml:3 users: {eve: {uid: 1}}"#]],
    );
    check_prepare(&text, expect!["bob: bob"]);
    check(
        &in_common("users:\n  b$0ob: 1\n  eve: 2\n"),
        "eve",
        expect!["refused: 'eve' is there already, in common.yaml:3"],
    );
    check(
        &in_common("users: &u\n  b$0ob: 1\nothers: *u\n"),
        "eve",
        expect![
            "refused: common.yaml:2: the key stands behind an anchor, so that other values would change too"
        ],
    );
    check(
        &in_common("a: &one 1\nb: *o$0ne\nc: &two 2\n"),
        "three",
        expect![[r#"
            data/common.yaml:1 a: &three 1
            data/common.yaml:2 b: *three"#]],
    );
    check(
        &in_common("a: &one 1\nb: *o$0ne\nc: &two 2\n"),
        "two",
        expect!["refused: the file has an anchor 'two' already"],
    );
}

#[test]
fn literal_paths_follow_files_and_folders() {
    let moved = |from: &str, to: &str| {
        let text = with_hierarchy("#- data/common.yaml\na$0: 1\n#- data/role/web.yaml\na: 1\n");
        ask(&text, None, |asked| {
            let moved = [Moved {
                from: format!("{FOLDER}/{from}"),
                to: format!("{FOLDER}/{to}"),
            }];
            changed_lines(
                asked.analysis.snapshot,
                &file_renames(asked.analysis, &moved),
            )
        })
    };
    expect!["hiera.yaml:7   - {name: Common, path: all/base.yaml}"]
        .assert_eq(&moved("data/common.yaml", "data/all/base.yaml"));
    expect![[r#"hiera.yaml:5   - {name: Role, path: "roles/%{facts.role}.yaml"}"#]]
        .assert_eq(&moved("data/role", "data/roles"));
    expect!["hiera.yaml:2 defaults: {datadir: hieradata, data_hash: yaml_data}"]
        .assert_eq(&moved("data", "hieradata"));
    expect![[r#""#]].assert_eq(&moved("data/role/web.yaml", "data/role/www.yaml"));
    expect![[r#""#]].assert_eq(&moved("data/common.yaml", "elsewhere/common.yaml"));
}

/// Keys of random workspaces.
const KEYS: [&str; 4] = ["a", "m::b", "m::c", "d"];

/// Values of random keys.
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

/// Entries of random `lookup_options`.
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

/// The values of all keys for some scopes, each key as `name` has it.
fn values(snapshot: &Snapshot, name: &dyn Fn(&str) -> String) -> BTreeMap<String, String> {
    let settings = Settings::for_version(PuppetVersion::V8).for_editor();
    let (configs, nodes) = (ConfigCache::default(), KnownNodes::default());
    let analysis = Analysis::new(snapshot, &settings, &configs, &nodes);
    let view = analysis.governing(&format!("{FOLDER}/data/common.yaml"));
    let view = view.expect("a root");
    let mut found = BTreeMap::new();
    for (role, node) in [("web", "n"), ("web", "other"), ("db", "n")] {
        let mut scope = Scope::open();
        for (variable, value) in [
            ("facts.role", role),
            ("facts.site", "ams"),
            ("trusted.certname", node),
        ] {
            scope.bind(variable, value);
        }
        for key in KEYS {
            for below in ["", ".k", ".l.k"] {
                let asked = format!("{}{below}", name(key));
                let answer = view.session().lookup(&scope, &Request::key(&asked));
                // Errors name the key.
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

fn workspace(files: &[(Arc<str>, String)]) -> Arc<Snapshot> {
    let workspace = Workspace::new();
    workspace.apply(Change::Folders(vec![FOLDER.into()]));
    for (path, text) in files {
        workspace.apply(Change::Open {
            path: path.clone(),
            text: text.as_str().into(),
            version: 1,
        });
    }
    workspace.snapshot()
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
        let config = Fixture::new("hiera.yaml", &with_hierarchy("")).files.remove(0).1;
        let names = ["data/role/web.yaml", "data/node/n.yaml", "data/common.yaml"];
        let mut files: Vec<(Arc<str>, String)> = vec![(format!("{FOLDER}/hiera.yaml").into(), config)];
        for (name, text) in names.iter().zip(&texts) {
            files.push((format!("{FOLDER}/{name}").into(), text.clone()));
        }
        let before = workspace(&files);
        let settings = Settings::for_version(PuppetVersion::V8).for_editor();
        let (configs, nodes) = (ConfigCache::default(), KnownNodes::default());
        let analysis = Analysis::new(&before, &settings, &configs, &nodes);
        let place = before.definitions(key).first().map(|(file, fact)| {
            (file.path().clone(), fact.key.start as usize + 1)
        });
        let Some((path, offset)) = place else {
            return Ok(());
        };
        let Ok(edits) = rename(analysis, &path, offset, new) else {
            return Ok(());
        };
        for (path, text) in &mut files {
            if let Some(edits) = edits.get(path) {
                *text = TextEdit::apply(edits, text).expect("edits that fit");
            }
        }
        let after = workspace(&files);
        prop_assert_eq!(after.count_with(key), 0);
        let renamed = |name: &str| match name == key {
            true => new.to_owned(),
            false => name.to_owned(),
        };
        prop_assert!(Key::parse(new).is_ok());
        let (one, other) = (values(&before, &str::to_owned), values(&after, &renamed));
        prop_assert_eq!(one, other, "{:?}", files);
    }
}
