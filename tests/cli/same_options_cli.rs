//! Commands that read a workspace take the same options, in one order and with one meaning.

use super::reach_cli::{output_of, workspace};

/// The commands that read a workspace.
const COMMANDS: [&str; 12] = [
    "lookup",
    "explain-key",
    "matrix",
    "diff",
    "set",
    "why-not",
    "check",
    "doctor",
    "test",
    "hover",
    "upgrade",
    "mcp",
];

#[test]
fn options_about_nodes_and_the_workspace_are_the_same_in_all_helps() {
    const HEADING: &str = "\nNodes, workspace and Puppet:\n";
    let folder = workspace(&[]);
    let mut shared: Vec<(String, &str)> = Vec::new();
    for command in COMMANDS {
        let (code, help, _) = output_of(folder.path(), &[command, "--help"]);
        assert_eq!(code, Some(0), "{command}");
        let (own, section) = help.split_once(HEADING).expect(command);
        for option in [
            "--nodes",
            "--facts",
            "--environment",
            "--workspace",
            "--strict",
        ] {
            assert!(
                !own.contains(&format!("{option} ")),
                "{command} {option}: {own}"
            );
            assert!(
                section.contains(&format!("{option} ")),
                "{command} {option}"
            );
        }
        // Where an option explains its values, clap puts all on lines of their own.
        let words: Vec<&str> = section.split_whitespace().collect();
        shared.push((words.join(" "), command));
    }
    for (section, command) in &shared {
        assert_eq!(*section, shared[0].0, "{command}");
    }
}

const FILES: [(&str, &str); 5] = [
    (
        "hiera.yaml",
        "version: 5\nhierarchy:\n- {name: R, path: 'role/%{facts.role}.yaml'}\n- {name: C, path: common.yaml}\n",
    ),
    ("data/common.yaml", "port: 80\nuser: www\n"),
    (
        "data/role/web.yaml",
        "port: 443\nplace: '%{facts.no_such}'\n",
    ),
    (
        "fleet.json",
        r#"{"web1": {"facts": {"role": "web"}}, "db1": {"facts": {"role": "db"}}}"#,
    ),
    ("web.json", r#"{"role": "web"}"#),
];

#[test]
fn facts_that_every_system_has_are_not_missed_in_a_file_written_by_hand() {
    let folder = workspace(&[
        ("hiera.yaml", FILES[0].1),
        (
            "data/common.yaml",
            "release: '%{facts.os.release.major}'\nplace: '%{facts.no_such}'\n",
        ),
        ("nodes.json", FILES[3].1),
    ]);
    let at = folder.path();
    let (_, out, error) = output_of(at, &["check", "--format", "concise"]);
    assert_eq!(error, "");
    assert!(out.contains("'facts.no_such'"), "{out}");
    assert!(!out.contains("release"), "{out}");
    let (_, out, _) = output_of(at, &["matrix", "release"]);
    assert!(out.contains("unknown"), "{out}");
    // `puppet lookup --facts` has no others either.
    let lookup = ["lookup", "release", "--facts", "web.json"];
    std::fs::write(at.join("web.json"), FILES[4].1).unwrap();
    let (code, out, _) = output_of(at, &lookup);
    assert_eq!((code, &*out), (Some(0), "--- ''\n"));
}

#[test]
fn check_takes_nodes_and_facts() {
    let folder = workspace(&[
        ("hiera.yaml", FILES[0].1),
        ("data/common.yaml", "port: 80\nplace: '%{facts.no_such}'\n"),
        ("data/role/web.yaml", "place: '%{facts.rack}'\n"),
        FILES[3],
    ]);
    let at = folder.path();
    let (code, out, error) = output_of(at, &["check"]);
    assert_eq!((code, &*error), (Some(0), ""), "{out}");
    assert!(!out.contains("known node"), "{out}");
    let nodes = ["check", "--format", "concise", "--nodes", "fleet.json"];
    let (_, out, error) = output_of(at, &nodes);
    assert_eq!(error, "");
    let all = "none of the 2 known nodes that read this file has 'facts.no_such'";
    assert!(out.contains(all), "{out}");
    let one = "'web1', the known node that reads this file, has no 'facts.rack'";
    assert!(out.contains(one), "{out}");
    let facts = r#"{"rack": "r1", "no_such": "x"}"#;
    std::fs::write(at.join("more.json"), facts).unwrap();
    let (_, out, _) = output_of(at, &[&nodes[..], &["--facts", "more.json"]].concat());
    assert!(!out.contains("known node"), "{out}");
    for flag in ["--nodes", "--facts"] {
        let (code, out, error) = output_of(at, &["check", flag, "nowhere.json"]);
        assert_eq!((code, &*out), (Some(2), ""));
        assert!(error.contains("there is no such file"), "{error}");
    }
}

#[test]
fn facts_with_a_node_are_its_facts_in_every_command() {
    let folder = workspace(&FILES);
    let at = folder.path();
    let db1 = [
        "--node",
        "db1",
        "--nodes",
        "fleet.json",
        "--facts",
        "web.json",
    ];
    let (code, value, error) = output_of(at, &[&["lookup", "port"], &db1[..]].concat());
    assert_eq!((code, &*value, &*error), (Some(0), "--- 443\n", ""));
    let (_, hover, _) = output_of(at, &[&["hover", "data/role/web.yaml:1"], &db1[..]].concat());
    assert!(hover.contains("443"), "{hover}");
    let (code, why, error) = output_of(at, &[&["why-not", "port=443"], &db1[..]].concat());
    assert_eq!((code, &*error), (Some(0), ""), "{why}");
    // A node of which only these facts are known.
    let new = ["--node", "new1", "--facts", "web.json"];
    for command in [&["lookup", "port"][..], &["why-not", "port=443"]] {
        let (code, out, error) = output_of(at, &[command, &new[..]].concat());
        assert_eq!(code, Some(0), "{out}{error}");
    }
}

#[test]
fn a_key_and_a_value_are_written_in_both_forms() {
    let folder = workspace(&FILES);
    let at = folder.path();
    let nodes = ["--nodes", "fleet.json"];
    let set = |wanted: &[&str]| {
        let flags = ["--for", "role=web", "--proposal", "1"];
        output_of(at, &[&["set"], wanted, &flags[..], &nodes[..]].concat())
    };
    let (code, out, error) = set(&["port", "8080"]);
    assert_eq!(code, Some(0), "{error}");
    assert_eq!(set(&["port=8080"]), (code, out, error));
    let why = |wanted: &[&str]| {
        let node = ["--node", "db1"];
        output_of(at, &[&["why-not"], wanted, &node[..], &nodes[..]].concat())
    };
    let (code, out, error) = why(&["port", "443"]);
    assert_eq!(code, Some(2), "{error}");
    assert_eq!(why(&["port=443"]), (code, out, error));
    for (code, out, error) in [set(&["port"]), why(&["port"])] {
        assert_eq!((code, &*out), (Some(2), ""));
        let message = "hiera-ls: no value is given: write KEY VALUE or KEY=VALUE\n";
        assert!(error.starts_with(message), "{error}");
    }
}
