//! Documents in small workspaces: parts of values, secrets, unknown keys.

use std::sync::Arc;

use expect_test::expect;

use super::{DocumentAnswer, ExplainForm, KeyPlace, Question, answer};
use crate::analysis::Analysis;
use crate::fixture::{FOLDER, Fixture};
use crate::ide::fixture_tests::nodes;
use crate::lookup::{ConfigCache, PuppetVersion, Settings};
use crate::workspace::{Change, Snapshot};

const FILES: &str = "\
#- hiera.yaml
version: 5
hierarchy:
  - {name: node, path: \"node/%{trusted.certname}.yaml\"}
  - {name: old, path: \"old/%{facts.old}.yaml\"}
  - {name: older, path: \"older/%{facts.old}.yaml\"}
  - {name: site, path: \"site/%{facts.a_site_with_a_long_name}/of/many/folders/%{facts.cluster}/and/more.yaml\"}
  - {name: role, path: \"role/%{role}.yaml\"}
  - {name: secrets, path: \"secrets/%{role}.eyaml\", lookup_key: eyaml_lookup_key, options: {pkcs7_private_key: /k, pkcs7_public_key: /p}}
  - {name: common, path: common.yaml}
#- data/node/b.example.yaml
port: 9
#- data/role/web.yaml
users: {bob: {uid: 2}}
port: 8080
#- data/role/db.yaml
users: {bob: {uid: 3, shell: sh}}
#- data/secrets/web.eyaml
password: ENC[PKCS7,MIIBeQYJKoZIhvcNAQcDoIIBajCCAWYCAQAx]
#- data/secrets/db.eyaml
password: ENC[PKCS7,MIIBeQYJKoZIhvcNAQcDoIIBajCCAWYCAQAy]
#- data/common.yaml
lookup_options: {users: {merge: deep}}
users:
  alice: {uid: 1}
  bob: {shell: bash}
port: 80
";

const NODES: &str = "\
a.example: {variables: {role: web}}
b.example: {variables: {role: db}}
";

fn answer_text(question: &Question) -> String {
    answer_text_in(&Fixture::new("data/common.yaml", FILES).opened(), question)
}

fn answer_text_in(snapshot: &Snapshot, question: &Question) -> String {
    answer_text_with(snapshot, NODES, question)
}

fn answer_text_with(snapshot: &Snapshot, known: &str, question: &Question) -> String {
    let settings = Settings::for_version(PuppetVersion::V8).for_editor();
    let (configs, known) = (ConfigCache::default(), nodes(known));
    let analysis = Analysis::new(snapshot, &settings, &configs, &known);
    match answer(analysis, question, &|_, _| {}) {
        Ok(DocumentAnswer::Document(document)) => {
            let sides = document.sides.iter();
            let sides = sides.map(|side| format!("\n--- {}\n{}", side.title, side.content));
            format!("{}{}", document.content, sides.collect::<String>())
        }
        Ok(DocumentAnswer::Message(message)) => message,
        Err(why) => why,
    }
}

fn place(key: &str) -> KeyPlace {
    KeyPlace {
        path: format!("{FOLDER}/data/common.yaml").into(),
        key: Some(key.into()),
        offset: None,
    }
}

fn explained(key: &str) -> String {
    answer_text(&Question::Explain {
        place: place(key),
        form: ExplainForm::People,
        node: None,
    })
}

#[test]
fn an_impact_lists_the_edited_key_before_those_that_use_it() {
    let path: Arc<str> = format!("{FOLDER}/data/common.yaml").into();
    let open = |port: &str, version| Change::Open {
        path: path.clone(),
        text: format!("a_url: \"http://x:%{{lookup('z_port')}}/\"\nz_port: {port}\n").into(),
        version,
    };
    let saved = Fixture::new(
        "data/common.yaml",
        &FILES.replace(
            "port: 80\n",
            "a_url: \"http://x:%{lookup('z_port')}/\"\nz_port: 81\n",
        ),
    );
    let edited = saved.on_disk().with(open("82", 1));
    let impact = answer_text_in(
        &edited,
        &Question::Impact {
            path: path.clone(),
            file: Some(path.clone()),
        },
    );
    expect![[r#"
        the edit of data/common.yaml changes 3 keys for 2 of 2 nodes

        users — 1 node
          - {alice: {uid: 1}, bob: {shell: bash, uid: 2}}  data/role/web.yaml:1 data/common.yaml:2
          + {bob: {uid: 2}}  data/role/web.yaml:1
            a.example

        users — 1 node
          - {alice: {uid: 1}, bob: {shell: sh, uid: 3}}  data/role/db.yaml:1 data/common.yaml:2
          + {bob: {uid: 3, shell: sh}}  data/role/db.yaml:1
            b.example

        z_port — 2 nodes
          - 81  data/common.yaml:6
          + 82  data/common.yaml:2
            a.example, b.example

        a_url — 2 nodes
          - http://x:81/  data/common.yaml:5
          + http://x:82/  data/common.yaml:1
            a.example, b.example
    "#]]
    .assert_eq(&impact);
}

#[test]
fn an_edit_that_makes_puppet_refuse_the_hierarchy_is_one_message() {
    let path: Arc<str> = format!("{FOLDER}/hiera.yaml").into();
    let saved = Fixture::new("data/common.yaml", FILES).on_disk();
    let impact = |snapshot: &Snapshot, file: Option<&Arc<str>>| {
        let (path, file) = (path.clone(), file.cloned());
        answer_text_in(snapshot, &Question::Impact { path, file })
    };
    assert_eq!(impact(&saved, None), "there are no unsaved edits");
    let edited = saved.with(Change::open(
        path.clone(),
        "version: 5\nhierarchy:\n  - {nam: node, path: common.yaml}\n",
    ));
    let refused = "Puppet refuses this hiera.yaml: once it is saved, every lookup fails";
    assert_eq!(impact(&edited, Some(&path)), refused);
    assert_eq!(impact(&edited, None), refused);
}

#[test]
fn a_part_of_a_value_is_explained_by_the_files_that_set_it() {
    let alice = explained("users.alice.uid");
    expect![[r#"
        # users.alice.uid — merged deep, set by one level, for both nodes that read this file
        1
        # set in data/common.yaml:3 · not set in data/secrets/web.eyaml
        # merge: deep, from lookup_options in data/common.yaml:1

        # levels, the highest first: file, what it has, name of the level
        #   node/%{trusted.certname}.yaml and 5 more  no file sets it  'node' to 'secrets'
        #   data/common.yaml:3                        sets it          'common'

        # as Puppet explains it: hiera-ls lookup users.alice.uid --explain
    "#]]
    .assert_eq(&alice);
}

#[test]
fn beside_the_data_a_key_is_explained_for_all_nodes() {
    let files = format!("{FILES}#- manifests/site.pp\nnotice('x')\n#- nodes.json\n{{}}\n");
    let snapshot = Fixture::new("data/common.yaml", &files).opened();
    let answer_at = |path: &str, known: &str, question: fn(KeyPlace) -> Question| {
        let place = KeyPlace {
            path: path.into(),
            key: Some("port".into()),
            offset: None,
        };
        answer_text_with(&snapshot, known, &question(place))
    };
    let explain: fn(KeyPlace) -> Question = |place| Question::Explain {
        place,
        form: ExplainForm::People,
        node: None,
    };
    let value: fn(KeyPlace) -> Question = Question::Value;
    let manifest = format!("{FOLDER}/manifests/site.pp");
    let others = [
        FOLDER.to_owned(),
        format!("{FOLDER}/hiera.yaml"),
        format!("{FOLDER}/nodes.json"),
    ];
    for known in [NODES, "{}"] {
        for question in [explain, value] {
            let expected = answer_at(&manifest, known, question);
            assert!(expected.starts_with("# port — "), "{expected}");
            for other in &others {
                assert_eq!(answer_at(other, known, question), expected, "{other}");
            }
        }
    }
    let explained = answer_at(FOLDER, NODES, explain);
    let first = "# port — first found, 2 different values on 2 nodes\n8080  # a.example";
    assert!(explained.starts_with(first), "{explained}");
}

#[test]
fn levels_without_a_file_are_one_line_and_no_line_is_wide() {
    let port = explained("port");
    expect![[r#"
        # port — first found, 2 different values on 2 nodes
        8080  # a.example · data/role/web.yaml:2
        # 9 on b.example · data/node/b.example.yaml:1

        # levels, the highest first: file, what it has, name of the level
        #   node/%{trusted.certname}.yaml
        #       data/node/b.example.yaml:1 sets it, for 1 of 2 nodes, level 'node'
        #   old/%{facts.old}.yaml and 2 more  no file sets it               'old' to 'site'
        #   role/%{role}.yaml
        #       data/role/web.yaml:2 sets it, for 1 of 2 nodes, level 'role'
        #   secrets/%{role}.eyaml             no file sets it               'secrets'
        #   data/common.yaml:5                overridden by a higher level  'common'

        # as Puppet explains it: hiera-ls lookup port --explain
    "#]]
    .assert_eq(&port);
    assert!(port.lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn the_matrix_of_a_part_names_the_lines_of_the_part() {
    let matrix = answer_text(&Question::Matrix(place("users.bob.uid")));
    expect![[r#"
        # users.bob.uid — 2 different values on 2 nodes

        # 1 node
        #   a.example
        # from data/role/web.yaml:1
        users.bob.uid: 2

        ---
        # 1 node
        #   b.example
        # from data/role/db.yaml:1
        users.bob.uid: 3
    "#]]
    .assert_eq(&matrix);
}

#[test]
fn an_unknown_key_is_a_message_with_a_suggestion() {
    let message = "no level sets 'ports' for any node (did you mean 'port'?)";
    assert_eq!(explained("ports"), message);
    assert_eq!(answer_text(&Question::Value(place("ports"))), message);
    assert_eq!(answer_text(&Question::Matrix(place("ports"))), message);
    let message = "'lookup_options' cannot be looked up: it only says how other keys are merged";
    assert_eq!(explained("lookup_options"), message);
    assert_eq!(
        answer_text(&Question::Matrix(place("lookup_options"))),
        message
    );
}

#[test]
fn an_entry_of_lookup_options_means_its_key_and_a_pattern_none() {
    let files = FILES.replace("{merge: deep}}", "{merge: deep}, '^po': {merge: first}}");
    let snapshot = Fixture::new("data/common.yaml", &files).opened();
    let path = format!("{FOLDER}/data/common.yaml");
    let text = snapshot.file(&path).expect("a file").text().to_string();
    let at = |words: &str| KeyPlace {
        path: path.as_str().into(),
        key: None,
        offset: text.find(words),
    };
    let matrix = |place| answer_text_in(&snapshot, &Question::Matrix(place));
    let users = matrix(place("users"));
    assert!(users.starts_with("# users — "), "{users}");
    assert_eq!(matrix(at("users: {merge")), users);
    assert_eq!(matrix(at("deep}, '^po'")), users);
    assert_eq!(matrix(place("lookup_options.users")), users);
    let message = "'^po' is a pattern: choose one of the keys that it matches";
    assert_eq!(matrix(at("^po")), message);
    assert_eq!(matrix(place("lookup_options.'^po'")), message);
    let written = at("users: {merge").top_key(&snapshot);
    assert_eq!(written.as_deref(), Ok("lookup_options"));
}

#[test]
fn without_a_hierarchy_no_file_is_data() {
    let snapshot = Fixture::new("y.yaml", "a: 1\n").opened();
    let doctor = Question::Doctor {
        path: format!("{FOLDER}/y.yaml").into(),
        nodes: Arc::default(),
        now: None,
    };
    let text = answer_text_with(&snapshot, "{}", &doctor);
    let ending = "\nData files\n  none that a hierarchy reads\n";
    assert!(text.ends_with(ending), "{text}");
}

#[test]
fn a_value_names_files_as_the_other_documents_do() {
    let value = answer_text(&Question::Value(place("users.alice")));
    assert!(value.contains("data/common.yaml:3"), "{value}");
}

#[test]
fn a_secret_that_differs_is_shown_without_its_internal_form() {
    let differences = answer_text(&Question::Diff {
        path: format!("{FOLDER}/data/common.yaml").into(),
        from: Some("a.example".into()),
        to: "b.example".into(),
        key: None,
    });
    expect![[r#"
        a.example → b.example: 3 differences

        password
          - (encrypted, PKCS7)  data/secrets/web.eyaml:1
          + a different value (encrypted)  data/secrets/db.eyaml:1

        port
          - 8080  data/role/web.yaml:2
          + 9  data/node/b.example.yaml:1

        users
          - {alice: {uid: 1}, bob: {shell: bash, uid: 2}}  data/role/web.yaml:1 data/common.yaml:2
          + {alice: {uid: 1}, bob: {shell: sh, uid: 3}}  data/role/db.yaml:1 data/common.yaml:2

        --- a.example (compared with b.example)
        # from data/secrets/web.eyaml:1
        # a different value for b.example (encrypted)
        # unknown: the value is encrypted (PKCS7)
        password: "<encrypted with PKCS7>"

        # from data/role/web.yaml:2
        port: 8080

        # from data/role/web.yaml:1
        # from data/common.yaml:2
        users:
          alice:
            uid: 1
          bob:
            shell: bash
            uid: 2

        --- b.example (compared with a.example)
        # from data/secrets/db.eyaml:1
        # a different value for a.example (encrypted)
        # unknown: the value is encrypted (PKCS7)
        password: "<encrypted with PKCS7>"

        # from data/node/b.example.yaml:1
        port: 9

        # from data/role/db.yaml:1
        # from data/common.yaml:2
        users:
          alice:
            uid: 1
          bob:
            shell: sh
            uid: 3
    "#]]
    .assert_eq(&differences);
}
