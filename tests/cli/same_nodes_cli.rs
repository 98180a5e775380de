//! Every command knows the same nodes, also where several sources describe some.

use super::nodes_cli::{files_in, run, write};

/// A workspace in which the role decides, with further files.
fn by_role(files: &[(&str, &str)]) -> tempfile::TempDir {
    let levels = "version: 5\nhierarchy:\n\
        - {name: node, path: 'nodes/%{trusted.certname}.yaml'}\n\
        - {name: role, path: 'role/%{role}.yaml'}\n\
        - {name: common, path: common.yaml}\n";
    let folder = files_in(&[
        ("hiera.yaml", levels),
        ("data/role/db.yaml", "k: 9\n"),
        ("data/common.yaml", "k: 1\n"),
    ]);
    write(folder.path(), files);
    folder
}

const NODE_A: (&str, &str) = ("nodes.json", r#"{"a.x": {"variables": {"role": "web"}}}"#);

#[test]
fn all_commands_know_nodes_that_no_nodes_file_describes() {
    // The configuration names a node beside those of the nodes file.
    let names = "nodes:\n- names: {c.x: {variables: {role: db}}}\n";
    let named = by_role(&[NODE_A, (".hiera-ls.yaml", names)]);
    // Data files name a node beside the facts of the repository's tests.
    let facts = r#"{"role": "web"}"#;
    let tests = by_role(&[
        ("spec/fixtures/facts/a.x.facts", facts),
        ("data/nodes/c.x.yaml", "k: 9\n"),
    ]);
    for folder in [&named, &tests] {
        let (text, _, _) = run(folder.path(), &["matrix", "k"]);
        assert!(
            text.starts_with("k — 2 different values on 2 nodes\n"),
            "{text}"
        );
        let (text, _, code) = run(folder.path(), &["lookup", "k"]);
        assert!(
            text.starts_with("k — 2 different values on 2 nodes\n"),
            "{text}"
        );
        assert!(text.contains("a.x") && text.contains("c.x"), "{text}");
        assert_eq!(code, 2, "{text}");
        let (text, _, _) = run(folder.path(), &["lookup", "k", "--node", "c.x"]);
        assert_eq!(text, "--- 9\n");
    }
    let (text, _, _) = run(named.path(), &["hover", "data/common.yaml:1"]);
    assert!(text.contains("2 different values on 2 nodes"), "{text}");
    // A flag names all nodes.
    let (text, _, _) = run(named.path(), &["matrix", "k", "--nodes", "nodes.json"]);
    assert!(text.starts_with("k — the same for 1 node\n  1"), "{text}");
}

#[test]
fn files_that_the_configuration_names_are_used_instead_of_those_that_are_found() {
    let db = r#"{"b.x": {"variables": {"role": "db"}}}"#;
    let web = r#"{"b.x": {"variables": {"role": "web"}}}"#;
    // Later files take precedence, as those of '--nodes'.
    let files = "nodesFiles: [first.json, last.json]\n";
    let chosen = by_role(&[
        NODE_A,
        (".hiera-ls.yaml", files),
        ("first.json", web),
        ("last.json", db),
    ]);
    let given = ["--nodes", "first.json", "--nodes", "last.json"];
    for flags in [&given[..], &[]] {
        let (text, _, _) = run(chosen.path(), &[&["matrix", "k"], flags].concat());
        assert!(text.starts_with("k — the same for 1 node\n  9"), "{text}");
    }
    let (text, _, _) = run(chosen.path(), &["lookup", "k"]);
    assert_eq!(text, "--- 9\n");
    let (text, _, _) = run(chosen.path(), &["hover", "data/role/db.yaml:1"]);
    assert!(text.contains("b.x") && !text.contains("a.x"), "{text}");
    let (_, text, code) = run(chosen.path(), &["lookup", "k", "--node", "a.x"]);
    assert!(code != 0 && text.contains("a.x"), "{text}");
}
