//! Edits by goal on the command line: `set` and `why-not`.

use super::reach_cli::{output_of, workspace};

const HIERARCHY: &str = "version: 5\nhierarchy:\n- {name: Node, path: 'node/%{trusted.certname}.yaml'}\n\
                         - {name: Role, path: 'role/%{facts.role}.yaml'}\n- {name: Common, path: common.yaml}\n";
const NODES: &str =
    "web1: {facts: {role: web}}\nweb2: {facts: {role: web}}\ndb1: {facts: {role: db}}\n";

fn files() -> tempfile::TempDir {
    workspace(&[
        ("hiera.yaml", HIERARCHY),
        ("nodes.yaml", NODES),
        ("data/common.yaml", "# All.\nport: 80 # plain\r\n"),
        ("data/role/web.yaml", "name: 'x'\r\n"),
    ])
}

#[test]
fn edits_are_shown_and_written_only_on_request() {
    let folder = files();
    let at = folder.path();
    let text = || std::fs::read_to_string(at.join("data/role/web.yaml")).unwrap();
    let arguments = ["set", "port", "8080", "--for", "role=web", "--only"];
    let (code, shown, error) = output_of(at, &arguments);
    assert_eq!(code, Some(0), "{error}");
    let first = "1. Set 'port' in data/role/web.yaml: changes 2 nodes and no other, because only they read data/role/web.yaml\n\
                 --- data/role/web.yaml\n+++ data/role/web.yaml\n";
    assert!(shown.starts_with(first), "{shown}");
    assert_eq!(text(), "name: 'x'\r\n");
    let (code, _, _) = output_of(at, &[&arguments[..], &["--write"]].concat());
    assert_eq!(
        (code, text().as_str()),
        (Some(0), "name: 'x'\r\nport: 8080\r\n")
    );
    let (code, shown, error) = output_of(at, &arguments);
    assert_eq!((code, shown.as_str()), (Some(0), ""));
    assert!(error.contains("already"), "{error}");
}

#[test]
fn in_a_folder_of_the_workspace_names_are_from_there() {
    let folder = files();
    let data = folder.path().join("data");
    let arguments = [
        "set",
        "port",
        "8080",
        "--for",
        "role=web",
        "--proposal",
        "1",
    ];
    let (code, shown, error) = output_of(&data, &arguments);
    assert_eq!(code, Some(0), "{error}");
    assert!(
        shown.contains("\n--- role/web.yaml\n+++ role/web.yaml\n"),
        "{shown}"
    );
    let patched = std::process::Command::new("sh")
        .args(["-c", "printf %s \"$0\" | patch --binary -p0", &shown])
        .current_dir(&data)
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&patched.stdout);
    assert_eq!(stdout, "patching file role/web.yaml\n", "{patched:?}");
    let text = std::fs::read_to_string(data.join("role/web.yaml")).unwrap();
    assert_eq!(text, "name: 'x'\r\nport: 8080\r\n");
    let (code, shown, _) = output_of(&data, &["lookup", "port", "--node", "web1"]);
    assert_eq!((code, shown.as_str()), (Some(0), "--- 8080\n"));
    let (_, shown, _) = output_of(&data, &["why-not", "port=80", "--node", "web1"]);
    assert!(shown.contains("\n  role/web.yaml:2 "), "{shown}");
    let (_, shown, _) = output_of(&data, &["doctor"]);
    let root = folder.path().canonicalize().unwrap();
    let first = format!("Workspace\n  {}: ", root.display());
    assert!(shown.starts_with(&first), "{shown}");
}

#[test]
fn a_new_file_is_made_with_its_folder() {
    let folder = files();
    let at = folder.path();
    let arguments = ["set", "port", "1", "--for", "web2", "--only", "--write"];
    let (code, shown, error) = output_of(at, &arguments);
    assert_eq!(code, Some(0), "{error}");
    assert!(
        shown.contains("--- /dev/null\n+++ data/node/web2.yaml\n"),
        "{shown}"
    );
    let made = std::fs::read_to_string(at.join("data/node/web2.yaml")).unwrap();
    assert_eq!(made, "---\nport: 1\n");
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_workspace_is_not_written_through() {
    let folder = files();
    let outside = tempfile::tempdir().unwrap();
    let at = folder.path();
    let there = outside.path().join("web.yaml");
    std::fs::rename(at.join("data/role/web.yaml"), &there).unwrap();
    std::os::unix::fs::symlink(&there, at.join("data/role/web.yaml")).unwrap();
    let arguments = ["set", "port", "1", "--for", "role=web", "--write"];
    let (code, _, error) = output_of(at, &arguments);
    assert_eq!(code, Some(1));
    assert!(error.contains("not written: a link leads to"), "{error}");
    assert_eq!(std::fs::read_to_string(&there).unwrap(), "name: 'x'\r\n");
    std::os::unix::fs::symlink(outside.path(), at.join("data/node")).unwrap();
    let arguments = ["set", "port", "1", "--for", "web2", "--only", "--write"];
    let (code, _, error) = output_of(at, &arguments);
    assert_eq!(code, Some(1));
    assert!(
        error.contains("data/node/web2.yaml: not written: a link leads to"),
        "{error}"
    );
    assert!(!outside.path().join("web2.yaml").exists());
}

#[test]
fn json_has_each_proposal_with_its_proof() {
    let folder = files();
    let arguments = [
        "set", "port", "[1, x]", "--for", "role=web", "--only", "--format", "json",
    ];
    let (code, shown, _) = output_of(folder.path(), &arguments);
    let answer: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(code, Some(0));
    assert_eq!(answer["value"], serde_json::json!([1, "x"]));
    let first = &answer["proposals"][0];
    assert_eq!(first["nodes"], serde_json::json!(["web1", "web2"]));
    assert_eq!(first["files"], serde_json::json!(["data/role/web.yaml"]));
    assert_eq!(first["changes"][0]["before"]["value"], 80);
}

#[test]
fn a_goal_without_edits_has_a_reason() {
    let folder = workspace(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy: [{name: Common, path: common.yaml}]\n",
        ),
        ("nodes.yaml", NODES),
        ("data/common.yaml", "port: 80\n"),
    ]);
    let at = folder.path();
    let (code, shown, error) = output_of(at, &["set", "port", "1", "--for", "web1", "--only"]);
    assert_eq!((code, shown.as_str()), (Some(2), ""));
    assert!(
        error.contains("db1 and 1 more would get another value too"),
        "{error}"
    );
    let (code, _, error) = output_of(at, &["set", "port", "1", "--for", "nosuch"]);
    assert_eq!(code, Some(1));
    assert!(
        error.contains("no known node is called 'nosuch'"),
        "{error}"
    );
    let (code, _, error) = output_of(at, &["set", "port.x", "1"]);
    assert_eq!(code, Some(1));
    let expected = "'port.x' cannot be set: the value of 'port' has no hash";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_part_of_a_value_is_set_and_other_parts_kept() {
    let folder = workspace(&[
        ("hiera.yaml", HIERARCHY),
        ("nodes.yaml", NODES),
        (
            "data/common.yaml",
            "users:\n  # Al.\n  al: {uid: 1}\n  b.c:\n    uid: 2  # two\n",
        ),
    ]);
    let at = folder.path();
    let key = "users.'b.c'.uid";
    let (code, shown, error) = output_of(at, &["set", key, "9", "--write", "--proposal", "1"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(
        shown.starts_with("1. Change 'users.'b.c'.uid' in"),
        "{shown}"
    );
    let written = std::fs::read_to_string(at.join("data/common.yaml")).unwrap();
    let expected = "users:\n  # Al.\n  al: {uid: 1}\n  b.c:\n    uid: 9  # two\n";
    assert_eq!(written, expected);
    let (code, _, error) = output_of(at, &["set", key, "9"]);
    assert_eq!(code, Some(0));
    assert!(
        error.contains("already get this value of 'users.'b.c'.uid'"),
        "{error}"
    );
}

#[test]
fn the_levels_in_the_way_are_named() {
    let folder = workspace(&[
        ("hiera.yaml", HIERARCHY),
        ("nodes.yaml", NODES),
        ("data/common.yaml", "port: 80\n"),
        ("data/role/web.yaml", "port: 81\n"),
    ]);
    let at = folder.path();
    let (code, shown, error) = output_of(at, &["why-not", "port=80", "--node", "web1"]);
    assert_eq!(code, Some(2), "{error}");
    let expected = "port — 81, not 80 for web1\n  data/role/web.yaml:1 sets it to 81, which is used\n  \
                    data/common.yaml:1 sets it to this, overridden by a higher level\n";
    assert_eq!(shown, expected);
    assert_eq!(
        output_of(at, &["why-not", "port=80", "--node", "db1"]).0,
        Some(0)
    );
    let (_, shown, _) = output_of(
        at,
        &["why-not", "port=80", "--node", "web1", "--format", "json"],
    );
    let answer: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(answer["has_it"], false);
    assert_eq!(answer["levels"][0]["in_the_way"], true);
}

#[test]
fn a_misspelt_key_is_reported() {
    let folder = files();
    let at = folder.path();
    let hint = "note: no data sets 'ports': did you mean 'port'?\n";
    let (code, _, error) = output_of(at, &["set", "ports", "8080", "--for", "web1"]);
    assert_eq!((code, error.as_str()), (Some(0), hint));
    let (code, _, error) = output_of(at, &["why-not", "ports=80", "--node", "web1"]);
    assert_eq!((code, error.as_str()), (Some(2), hint));
}

#[test]
fn files_of_secrets_are_proposed_last() {
    let hierarchy = "version: 5\nhierarchy:\n- {name: Secrets, path: 'secrets/%{facts.role}.yaml'}\n\
                     - {name: Eyaml, path: '%{facts.role}.eyaml'}\n- {name: Common, path: common.yaml}\n";
    let folder = workspace(&[
        ("hiera.yaml", hierarchy),
        ("nodes.yaml", NODES),
        ("data/common.yaml", "port: 80\n"),
        ("data/secrets/web.yaml", "a: 1\n"),
        ("data/web.eyaml", "b: 1\n"),
    ]);
    let arguments = ["set", "port", "8080", "--for", "role=web"];
    let (_, shown, error) = output_of(folder.path(), &arguments);
    let files: Vec<&str> = shown
        .lines()
        .filter_map(|line| line.strip_prefix("+++ "))
        .collect();
    let secrets = ["data/secrets/web.yaml", "data/web.eyaml"];
    assert_eq!(files.first(), Some(&"data/common.yaml"), "{shown}{error}");
    assert!(
        secrets.iter().all(|at| files.contains(at)),
        "{shown}{error}"
    );
    let blob = "ENC[PKCS7,MIIB]";
    let (_, shown, error) = output_of(folder.path(), &["set", "port", blob, "--for", "role=web"]);
    assert!(
        shown.starts_with("1. Set 'port' in data/web.eyaml"),
        "{shown}{error}"
    );
}

#[test]
fn overriding_levels_are_named_by_their_files() {
    let hierarchy = "version: 5\nhierarchy:\n- {name: Node, path: 'nodes/%{trusted.certname}.yaml'}\n\
                     - {name: OS, paths: ['os/%{facts.os}.yaml', 'os/%{facts.os}-%{facts.arch}.yaml']}\n\
                     - {name: Again, path: 'os/%{facts.os}.yaml'}\n\
                     - {name: Away, datadir: /srv/away, paths: ['%{a}.yaml', '%{b}.yaml', '%{c}.yaml', 'x.yaml']}\n\
                     - {name: Common, path: common.yaml}\n";
    let folder = workspace(&[
        ("hiera.yaml", hierarchy),
        ("data/common.yaml", "port: 80\n"),
        ("data/nodes/web1.yaml", "a: 80\n"),
        ("data/os/a.yaml", "port: 81\n"),
        ("data/os/a-b.yaml", "port: 81\n"),
    ]);
    let arguments = ["why-not", "port=80", "--node", "web1"];
    let (_, shown, error) = output_of(folder.path(), &arguments);
    let lines: Vec<&str> = shown.lines().collect();
    let expected = [
        "port — not known (expected 80) for web1",
        "  no facts of this node are known",
        "  data/os/%{facts.os}.yaml may set it: which file is read is not known",
        "  data/os/%{facts.os}-%{facts.arch}.yaml may set it: which file is read is not known",
        "  /srv/away/%{a}.yaml and 3 more paths of level 'Away' may set it, outside the workspace",
        "  data/common.yaml:1 sets it to this",
    ];
    assert_eq!(lines, expected, "{shown}{error}");
}

#[test]
fn indented_comments_stay_with_the_entry_above_a_new_one() {
    let data = "a::one:\n  x: 1\n  # and y?\n\n# the second\nb::one: 1\n";
    let folder = workspace(&[
        ("hiera.yaml", HIERARCHY),
        ("nodes.yaml", NODES),
        ("data/common.yaml", data),
    ]);
    let at = folder.path();
    let (code, _, error) = output_of(at, &["set", "a::two", "2", "--write"]);
    assert_eq!(code, Some(0), "{error}");
    let text = std::fs::read_to_string(at.join("data/common.yaml")).unwrap();
    assert_eq!(
        text,
        data.replace("  # and y?\n", "  # and y?\na::two: 2\n")
    );
}

#[test]
fn negative_numbers_and_null_are_values() {
    let folder = files();
    for (value, line) in [("-1", "+port: -1\n"), ("null", "+port: null\n")] {
        let arguments = ["set", "port", value, "--for", "role=web", "--only"];
        let (code, shown, error) = output_of(folder.path(), &arguments);
        assert_eq!(code, Some(0), "{error}");
        assert!(shown.contains(line), "{shown}");
    }
}

#[test]
fn texts_that_other_readers_take_for_numbers_are_quoted() {
    let folder = files();
    let at = folder.path();
    let arguments = ["--for", "role=web", "--only", "--write"];
    for (key, value) in [("name", "\"7e1\""), ("ids", "[\"0o17\", \"7a1\"]")] {
        let (code, _, error) = output_of(at, &[&["set", key, value][..], &arguments].concat());
        assert_eq!(code, Some(0), "{error}");
    }
    let text = std::fs::read_to_string(at.join("data/role/web.yaml")).unwrap();
    assert_eq!(text, "name: '7e1'\r\nids:\r\n- '0o17'\r\n- 7a1\r\n");
}

#[test]
fn a_quoted_key_that_is_set_is_known() {
    let folder = workspace(&[
        ("hiera.yaml", HIERARCHY),
        ("nodes.yaml", NODES),
        ("data/common.yaml", "weird.key: 5\n"),
    ]);
    let (code, shown, error) = output_of(folder.path(), &["set", "'weird.key'", "6"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(shown.contains("+weird.key: 6"), "{shown}");
    assert!(!error.contains("no data sets"), "{error}");
    let (_, _, error) = output_of(
        folder.path(),
        &["why-not", "\"weird.key\"=9", "--node", "web1"],
    );
    assert!(!error.contains("no data sets"), "{error}");
}
