//! `hiera-ls test`: expectations, their exit codes and output formats.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

const FILES: [(&str, &str); 5] = [
    (
        "hiera.yaml",
        "version: 5\nhierarchy:\n  - {name: Role, path: 'role/%{role}.yaml'}\n  - {name: Vault, \
         lookup_key: vault_lookup, uri: 'https://vault'}\n  - {name: Common, path: common.yaml}\n",
    ),
    ("data/role/web.yaml", "port: 443\nmode: 0644\n"),
    (
        "data/common.yaml",
        "port: 80\nmode: 0600\nusers:\n  root: {uid: 0}\n  bob: {uid: 1}\naddress: 1.2.3.4\n",
    ),
    (
        "nodes.yaml",
        "web1: {variables: {role: web}}\nweb2: {variables: {role: web}}\ndb1: {variables: {role: db}}\n",
    ),
    (
        ".hiera-ls.yaml",
        "backends:\n  vault_lookup: {like: secret, keys: [address]}\n",
    ),
];

fn workspace(expectations: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let expectations = ("spec/hiera/ports.yaml", expectations);
    for (path, text) in FILES.iter().chain(&[expectations]) {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// Exit code, standard output and standard error of `hiera-ls test`.
fn output_of(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
        .arg("test")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

const HOLDS: &str = "- {key: port, where: {role: web}, value: 443}\n- {key: port, node: db1, value: 80}\n\
                     - {key: port, where: {role: [web]}, equal: true}\n- {key: mode, node: web1, value: \
                     0644}\n- {key: users, nodes: [web1, db1], type: 'Hash[String, Hash]'}\n- {key: \
                     nosuch, found: false}\n- {key: users.bob.uid, found: true}\n- {key: port, \
                     variables: {role: none}, value: 80}\n- {key: users, node: db1, merge: deep, value: \
                     {bob: {uid: 1}, root: {uid: 0}}}\n";

#[test]
fn passed_expectations_are_counted() {
    let folder = workspace(HOLDS);
    let (code, out, error) = output_of(folder.path(), &[]);
    assert_eq!((code, &*out, &*error), (Some(0), "9 passed\n", ""));
    let elsewhere = folder.path().join("spec");
    let arguments = ["--workspace", "..", "hiera/ports.yaml"];
    let (code, out, _) = output_of(&elsewhere, &arguments);
    assert_eq!((code, &*out), (Some(0), "9 passed\n"));
}

#[test]
fn failed_expectations_are_shown_with_their_source() {
    let folder = workspace(
        "- name: all ports\n  key: port\n  value: 80\n- key: port\n  equal: true\n- key: users\n  node: \
         db1\n  value:\n    root: {uid: 0}\n- key: port\n  node: web1\n  type: String\n- key: port\n  \
         node: db1\n  found: false\n- key: nosuch\n  node: db1\n  value: true\n",
    );
    let (code, out, error) = output_of(folder.path(), &[]);
    assert_eq!((code, &*error), (Some(1), ""));
    expect_test::expect![[r#"
        spec/hiera/ports.yaml:1: FAILED all ports (port)
          2 nodes (web1, …):
            expected 80
            got      443  data/role/web.yaml:1

        spec/hiera/ports.yaml:4: FAILED port
          expected the same for 3 nodes, got 2 answers
            2 nodes (web1, …): 443  data/role/web.yaml:1
            db1: 80  data/common.yaml:1

        spec/hiera/ports.yaml:6: FAILED users
          db1:
            --- expected
            +++ got  data/common.yaml:3
            @@ -1,2 +1,4 @@
             root:
               uid: 0
            +bob:
            +  uid: 1

        spec/hiera/ports.yaml:10: FAILED port
          web1:
            expected a value of type String
            got      error: Found value has wrong type, expects a String value, got Integer
            from     data/role/web.yaml:1

        spec/hiera/ports.yaml:13: FAILED port
          db1:
            expected no value
            got      80  data/common.yaml:1

        spec/hiera/ports.yaml:16: FAILED nosuch
          db1:
            expected true
            got      (not set)

        6 failed
    "#]]
    .assert_eq(&out);
}

#[test]
fn answers_that_only_puppet_knows_are_unknown() {
    let folder =
        workspace("- {key: address, node: db1, value: 1.2.3.4}\n- {key: port, found: true}\n");
    let (code, out, _) = output_of(folder.path(), &[]);
    assert_eq!(code, Some(3), "{out}");
    expect_test::expect![[r#"
        spec/hiera/ports.yaml:1: UNKNOWN address
          db1:
            expected 1.2.3.4
            got      unknown: the value is a secret of the function 'vault_lookup'
            from     https://vault:1

        1 passed, 1 unknown
    "#]]
    .assert_eq(&out);
    // A failure takes precedence.
    let folder = workspace("- {key: address, node: db1, value: 1}\n- {key: port, found: false}\n");
    assert_eq!(output_of(folder.path(), &[]).0, Some(1));
}

#[test]
fn a_key_that_a_level_outside_of_the_workspace_may_set_is_unknown() {
    let folder = workspace(
        "- {key: token, node: web1, found: true}\n- {key: token, node: web1, found: false}\n\
         - {key: port, node: web1, value: 1}\n",
    );
    let hierarchy = "version: 5\nhierarchy:\n\
        - {name: data, path: common.yaml}\n\
        - {name: secrets, datadir: /nowhere/secrets, path: common.yaml}\n";
    std::fs::write(folder.path().join("hiera.yaml"), hierarchy).unwrap();
    std::fs::write(folder.path().join("data/common.yaml"), "port: 80\n").unwrap();
    let (code, out, _) = output_of(folder.path(), &[]);
    assert_eq!(code, Some(1), "{out}");
    expect_test::expect![[r#"
        spec/hiera/ports.yaml:1: UNKNOWN token
          web1:
            expected a value
            got      unknown: not set, unless level 'secrets' (outside this workspace) sets it

        spec/hiera/ports.yaml:3: FAILED port
          web1:
            expected 1
            got      80  data/common.yaml:1

        1 passed, 1 failed, 1 unknown
    "#]]
    .assert_eq(&out);
}

#[test]
fn mistakes_have_a_file_and_a_line() {
    for (text, expected) in [
        (
            "- key: port\n  vaule: 80\n",
            "spec/hiera/ports.yaml:2: unknown field 'vaule': did you mean 'value'?\nspec/hiera/ports.yaml:1: \
             nothing is expected: add one of value, type, found, equal\n",
        ),
        (
            "- key: port\n  value: 80\n- {key: port, node: web3, value: 80}\n",
            "spec/hiera/ports.yaml:3: no known node is called 'web3': did you mean 'web1'?\n",
        ),
        (
            "- {key: port, where: {role: webb}, value: 80}\n",
            "spec/hiera/ports.yaml:1: no known node has 'role' = webb: did you mean web?\n",
        ),
    ] {
        let folder = workspace(text);
        let (code, out, error) = output_of(folder.path(), &[]);
        assert_eq!((code, &*out), (Some(2), ""), "{error}");
        let lines = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        let expected: Vec<String> = expected
            .lines()
            .map(|line| format!("hiera-ls: {line}\n"))
            .collect();
        assert_eq!(lines(&error), lines(&expected.concat()));
    }
    let folder = workspace("");
    for (path, expected) in [
        ("nosuch", "nosuch: no such file or folder\n"),
        (
            "data/role/../../modules",
            "data/role/../../modules: no such file or folder\n",
        ),
    ] {
        assert_eq!(
            output_of(folder.path(), &[path]),
            (Some(2), String::new(), format!("hiera-ls: {expected}"))
        );
    }
}

#[test]
fn a_type_of_a_missing_module_is_not_checked() {
    for (text, expected) in [
        ("type: Stdlib::Port", 3),
        ("type: 'Optional[Array[Stdlib::Port]]'", 3),
        ("type: Site::Port", 3),
        ("{type: 'Variant[Integer, Stdlib::Port]'}", 0),
        ("type: String", 1),
    ] {
        let text = text.trim_matches(['{', '}']);
        let folder = workspace(&format!("- {{key: port, node: web1, {text}}}\n"));
        let types = folder.path().join("modules/site/types");
        std::fs::create_dir_all(&types).unwrap();
        let alias = "type Site::Port = Struct[{port => Stdlib::Port}]\n";
        std::fs::write(types.join("port.pp"), alias).unwrap();
        let (code, out, error) = output_of(folder.path(), &[]);
        assert_eq!(code, Some(expected), "{text}\n{out}{error}");
        let is_undefined = out.contains("is not defined in this workspace");
        assert_eq!(is_undefined, expected == 3, "{out}");
    }
}

#[test]
fn programs_read_json_and_junit() {
    let folder =
        workspace("- {key: port, node: web1, value: 443}\n- {key: port, node: web1, value: 80}\n");
    let (code, out, _) = output_of(folder.path(), &["--format", "json"]);
    assert_eq!(code, Some(1));
    let all: Value = serde_json::from_str(&out).unwrap();
    let status: Vec<&Value> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["status"])
        .collect();
    assert_eq!(status, ["passed", "failed"]);
    assert_eq!(all[1]["line"], 2);
    assert_eq!(all[1]["expected"]["value"], 80);
    assert_eq!(all[1]["answers"][0]["value"], 443);
    assert_eq!(all[1]["answers"][0]["sources"][0]["line"], 1);
    let (code, out, _) = output_of(folder.path(), &["--format", "junit"]);
    assert_eq!(code, Some(1));
    for part in [
        "<testsuites name=\"hiera-ls test\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\">",
        "<testsuite name=\"spec/hiera/ports.yaml\" tests=\"2\"",
        "<failure message=\"the data is not as expected\">web1:\n  expected 80\n  got      443",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
}

#[test]
fn the_example_of_the_fixture_holds() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/acme");
    let (code, out, error) = output_of(Path::new(fixture), &[]);
    assert_eq!((code, &*out, &*error), (Some(0), "6 passed\n", ""));
}

/// A workspace without nodes.
fn without_nodes(expectations: &str) -> tempfile::TempDir {
    let folder = workspace(expectations);
    std::fs::remove_file(folder.path().join("nodes.yaml")).unwrap();
    std::fs::remove_file(folder.path().join("data/role/web.yaml")).unwrap();
    std::fs::write(folder.path().join("data/role/db.yaml"), "port: 5432\n").unwrap();
    folder
}

#[test]
fn without_nodes_what_is_the_same_for_all_is_judged() {
    let folder = without_nodes(
        "- {key: mode, value: 0600}\n- {key: users.bob.uid, type: Integer}\n- {key: nosuch, found: false}\n\
         - {key: mode, node: web1, value: 0600}\n- {key: users, equal: true}\n",
    );
    let (code, out, error) = output_of(folder.path(), &[]);
    assert_eq!((code, &*out, &*error), (Some(0), "5 passed\n", ""));
    let folder = without_nodes("- {key: mode, value: 0644}\n- {key: mode, found: false}\n");
    let (code, out, _) = output_of(folder.path(), &[]);
    assert_eq!(code, Some(1), "{out}");
    assert!(
        out.contains("every node:\n    expected 420\n    got      384"),
        "{out}"
    );
    assert!(out.ends_with("2 failed\n"), "{out}");
}

#[test]
fn without_nodes_what_depends_on_facts_says_what_to_add() {
    let folder = without_nodes(
        "- {key: mode, value: 0600}\n- {key: port, value: 80}\n- {key: port, node: web1, value: 80}\n\
         - {key: mode, where: {role: web}, value: 0600}\n",
    );
    let (code, out, error) = output_of(folder.path(), &[]);
    assert_eq!((code, &*error), (Some(3), ""), "{out}");
    expect_test::expect![[r#"
        spec/hiera/ports.yaml:2: UNKNOWN port
          where role = db:
            expected 80
            got      5432  data/role/db.yaml:1
          no nodes are known: describe one with 'facts', or name files of nodes with --nodes

        spec/hiera/ports.yaml:3: UNKNOWN port
          web1:
            expected 80
            got      80, unless a file for role has the key
            from     data/common.yaml:1
          no facts are known of this node: add 'facts', or name files of nodes with --nodes

        spec/hiera/ports.yaml:4: UNKNOWN mode
          no nodes are known: describe one with 'facts', or name files of nodes with --nodes

        1 passed, 3 unknown
    "#]]
    .assert_eq(&out);
    let (code, out, _) = output_of(folder.path(), &["--format", "json"]);
    assert_eq!(code, Some(3));
    let all: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(all[0]["missing"], Value::Null);
    let missing = all[1]["missing"].as_str().unwrap_or_default();
    assert!(missing.contains("--nodes"), "{missing}");
}
