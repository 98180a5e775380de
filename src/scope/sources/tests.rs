//! Nodes and facts in every form in which tools save them.

use std::sync::Arc;

use super::super::read_json_nodes;
use super::*;
use crate::value::{from_json, load_yaml, symbol_keys_to_strings};

fn json(text: &str, stem: &str) -> Nodes {
    let nodes = read_nodes(&from_json(text).unwrap(), stem, &HashMap::default()).unwrap();
    let saved = read_json_nodes(&Arc::from(text), stem, &HashMap::default()).unwrap();
    assert_eq!(nodes, saved, "from its text as from its value");
    saved
}

fn yaml(text: &str, stem: &str) -> Nodes {
    let value = load_yaml(plain_yaml(text).as_bytes()).unwrap();
    read_nodes(&symbol_keys_to_strings(value), stem, &HashMap::default()).unwrap()
}

fn known(nodes: &Nodes, certname: &str, path: &str) -> Option<String> {
    let scope = nodes.get(certname)?.scope("production");
    match scope.variable(path) {
        super::super::Variable::Known(value) => Some(value.to_s()),
        super::super::Variable::Undefined(_) | super::super::Variable::Unknown => None,
    }
}

#[test]
fn facts_of_facter_get_their_legacy_names() {
    let nodes = json(
        r#"{"os": {"family": "RedHat", "name": "Rocky", "release": {"full": "9.4", "major": "9"}},
            "networking": {"fqdn": "web1.example.com", "ip": "10.0.0.1",
              "interfaces": {"lo": {"ip": "127.0.0.1"}, "eth0": {"ip": "10.0.0.1", "mtu": 1500}}},
            "memory": {"system": {"total_bytes": 1000000000}}, "processors": {"models": ["A"]}}"#,
        "some",
    );
    let all = [
        ("osfamily", "RedHat"),
        ("facts.osfamily", "RedHat"),
        ("::operatingsystemmajrelease", "9"),
        ("ipaddress_eth0", "10.0.0.1"),
        ("mtu_eth0", "1500"),
        ("interfaces", "eth0,lo"),
        ("memorysize_mb", "953.67"),
        ("processor0", "A"),
        ("trusted.certname", "web1.example.com"),
    ];
    for (path, value) in all {
        assert_eq!(
            known(&nodes, "web1.example.com", path).as_deref(),
            Some(value),
            "{path}"
        );
    }
}

#[test]
fn caches_of_puppet_are_read_though_their_tags_name_classes() {
    let facts = "--- !ruby/object:Puppet::Node::Facts\nname: a.b\nvalues:\n  role: web\n  \
                 osfamily: own\n  os:\n    family: Debian\n  since: 2024-01-02 03:04:05\n\
                 timestamp: 2024-01-02 03:04:05.123 +00:00\n";
    let nodes = yaml(facts, "x");
    assert_eq!(known(&nodes, "a.b", "role").as_deref(), Some("web"));
    assert_eq!(known(&nodes, "a.b", "osfamily").as_deref(), Some("own"));
    let node = "--- !ruby/object:Puppet::Node\nname: a.b\nparameters:\n  role: db\n  site: ls\n\
                classes: []\nenvironment: !ruby/sym staging\n";
    let nodes = yaml(node, "x");
    assert_eq!(known(&nodes, "a.b", "site").as_deref(), Some("ls"));
    let environment = nodes.get("a.b").unwrap().environment.clone();
    assert_eq!(environment.as_deref(), Some("staging"));
}

#[test]
fn answers_of_puppetdb_are_read() {
    let inventory = r#"[{"certname": "a", "environment": "qa", "facts": {"role": "web"},
                         "trusted": {"extensions": {"pp_role": "x"}}},
                        {"certname": "b", "facts": {"data": [{"name": "role", "value": "db"}]}}]"#;
    let nodes = json(inventory, "inventory");
    assert_eq!(
        known(&nodes, "a", "trusted.extensions.pp_role").as_deref(),
        Some("x")
    );
    assert_eq!(known(&nodes, "b", "facts.role").as_deref(), Some("db"));
    let facts = r#"[{"certname": "a", "name": "role", "value": "web", "environment": "qa"},
                    {"certname": "b", "name": "role", "value": "db", "environment": "qa"},
                    {"certname": "a", "name": "os", "value": {"family": "Suse"}, "environment": "qa"}]"#;
    let nodes = json(facts, "facts");
    assert_eq!(nodes.all().len(), 2);
    assert_eq!(known(&nodes, "a", "osfamily").as_deref(), Some("Suse"));
    assert_eq!(known(&nodes, "b", "role").as_deref(), Some("db"));
}

/// `Puppet::Node#sanitize`
#[test]
fn complete_trusted_data_among_the_facts_is_used() {
    let whole =
        r#"{"authenticated": "remote", "certname": "t.x", "extensions": {"pp_role": "fe"}}"#;
    let facts = [
        format!(r#"{{"os": {{}}, "clientcert": "a", "trusted": {whole}}}"#),
        format!(r#"{{"a": {{"facts": {{"trusted": {whole}}}}}}}"#),
        format!(r#"[{{"certname": "a", "facts": {{"trusted": {whole}}}}}]"#),
        format!(
            r#"[{{"certname": "a", "name": "trusted", "value": {whole}, "environment": "e"}}]"#
        ),
    ];
    for text in &facts {
        let nodes = json(text, "x");
        let role = known(&nodes, "a", "trusted.extensions.pp_role");
        assert_eq!(role.as_deref(), Some("fe"), "{text}");
        let domain = known(&nodes, "a", "trusted.domain");
        assert_eq!(domain.as_deref(), Some("x"), "{text}");
        // Data given for the node itself takes precedence.
        let with_trusted = text.replace(r#""facts""#, r#""trusted": {"extensions": {}}, "facts""#);
        let nodes = json(&with_trusted, "x");
        if with_trusted != *text {
            assert_eq!(
                known(&nodes, "a", "trusted.extensions.pp_role"),
                None,
                "{with_trusted}"
            );
        }
        let part = text.replace(r#""authenticated": "remote", "#, "");
        assert_eq!(
            known(&json(&part, "x"), "a", "trusted.extensions.pp_role"),
            None,
            "{part}"
        );
    }
}

#[test]
fn facts_that_a_query_split_are_joined() {
    let nodes = json(
        r#"[{"certname": "a", "path": ["os", "family"], "name": "family", "value": "Debian"},
            {"certname": "a", "path": ["os", "release", "major"], "name": "major", "value": "12"},
            {"certname": "a", "path": ["disks", 0, "name"], "name": "name", "value": "sda"},
            {"certname": "a", "path": ["disks", 1, "name"], "name": "name", "value": "sdb"},
            {"certname": "a", "path": ["role"], "name": "role", "value": "web"}]"#,
        "contents",
    );
    for (path, value) in [
        ("osfamily", "Debian"),
        ("facts.os.release.major", "12"),
        ("facts.disks.1.name", "sdb"),
        ("role", "web"),
    ] {
        assert_eq!(known(&nodes, "a", path).as_deref(), Some(value), "{path}");
    }
}

#[test]
fn suites_of_rspec_puppet_describe_a_node() {
    let text = "node: a.example.com\nfacts: {os: {family: Debian}, role: db}\n\
                trusted_facts: {pp_role: web}\nnode_params: {site: ls}\nenvironment: qa\n";
    let nodes = yaml(text, "suite");
    for (path, value) in [
        ("trusted.extensions.pp_role", "web"),
        ("trusted.certname", "a.example.com"),
        ("facts.role", "db"),
        ("osfamily", "Debian"),
        ("::site", "ls"),
        ("fqdn", "a.example.com"),
    ] {
        let found = known(&nodes, "a.example.com", path);
        assert_eq!(found.as_deref(), Some(value), "{path}");
    }
    let environment = nodes.get("a.example.com").unwrap().environment.clone();
    assert_eq!(environment.as_deref(), Some("qa"));
    // Symbols as Ruby writes them; a node without a name gets the file's.
    let nodes = yaml(":facts:\n  :role: db\n:node_params:\n  :site: cp\n", "b");
    assert_eq!(known(&nodes, "b", "site").as_deref(), Some("cp"));
    assert_eq!(known(&nodes, "b", "role").as_deref(), Some("db"));
}

#[test]
fn facts_of_a_platform_are_named_after_their_file() {
    let nodes = json(
        r#"{"os": {"family": "Debian"}, "hostname": "foo", "fqdn": "foo.example.com",
            "networking": {"fqdn": "foo.example.com"}}"#,
        "debian-12-x86_64",
    );
    assert_eq!(&*nodes.all()[0].certname, "debian-12-x86_64");
    let nodes = json(
        r#"[{"os": {"family": "Debian"}}, {"os": {"family": "RedHat"}}]"#,
        "sets",
    );
    let names: Vec<&str> = nodes.all().iter().map(|node| &*node.certname).collect();
    assert_eq!(names, ["sets-1", "sets-2"]);
}

#[test]
fn facts_that_puppet_wraps_are_named() {
    let found = r#"{"name": "a.b", "values": {"role": "web"}, "timestamp": "2024-01-02", "expiration": "2024-01-02"}"#;
    let nodes = json(found, "x");
    assert_eq!(known(&nodes, "a.b", "role").as_deref(), Some("web"));
    let shown = r#"{"clientcert": "c.d", "role": "db", "own": {"variables": {"x": 1}}}"#;
    let nodes = json(shown, "x");
    assert_eq!(known(&nodes, "c.d", "role").as_deref(), Some("db"));
}

#[test]
fn factsets_are_read() {
    let text = r#"[{"certname": "a", "environment": "qa", "timestamp": "t", "hash": "h",
        "facts": {"href": "/pdb/query/v4/factsets/a/facts", "data": [
            {"name": "os", "value": {"family": "Suse"}}, {"name": "role", "value": "web"}]}}]"#;
    let nodes = json(text, "factsets");
    assert_eq!(known(&nodes, "a", "osfamily").as_deref(), Some("Suse"));
    assert_eq!(known(&nodes, "a", "facts.role").as_deref(), Some("web"));
}

#[test]
fn nothing_else_is_taken_for_nodes() {
    for text in ["[]", "[1]", "3", "null", "\"x\""] {
        let value = from_json(text).unwrap();
        assert!(
            read_nodes(&value, "x", &HashMap::default()).is_err(),
            "{text}"
        );
    }
}

#[test]
fn classifiers_name_no_node_but_the_file_does() {
    let nodes = yaml(
        "classes: {}\nparameters: {site: ls}\nenvironment: qa\n",
        "c.example.com",
    );
    assert_eq!(
        known(&nodes, "c.example.com", "::site").as_deref(),
        Some("ls")
    );
    assert_eq!(
        known(&nodes, "c.example.com", "domain").as_deref(),
        Some("example.com")
    );
}

#[test]
fn a_nodes_file_stays_one() {
    let nodes = json(
        r#"{"a": {"facts": {"x": 1}}, "b": null, "c": {"variables": {}}}"#,
        "nodes",
    );
    assert_eq!(nodes.all().len(), 3);
    assert_eq!(known(&nodes, "a", "facts.x").as_deref(), Some("1"));
}

#[test]
fn equal_facts_are_kept_once() {
    let nodes = yaml(
        "a: {facts: {os: {family: RedHat}}}\nb: {facts: {os: {family: RedHat}}}\n",
        "nodes",
    );
    let os = |name: &str| match nodes.get(name).unwrap().facts.get("os") {
        Some(Value::Hash(hash)) => hash,
        other => panic!("{other:?}"),
    };
    assert!(Arc::ptr_eq(&os("a"), &os("b")));
}
