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

/// The value of a variable, or `undefined` or `unknown`.
fn state(nodes: &Nodes, certname: &str, path: &str) -> String {
    use super::super::Variable;
    match nodes
        .get(certname)
        .unwrap()
        .scope("production")
        .variable(path)
    {
        Variable::Known(value) => value.to_s(),
        Variable::Undefined(_) => "undefined".into(),
        Variable::Unknown => "unknown".into(),
    }
}

#[test]
fn facts_have_only_the_legacy_names_that_were_saved() {
    let nodes = json(
        r#"{"os": {"family": "RedHat", "name": "Rocky", "release": {"full": "9.4", "major": "9"}},
            "networking": {"fqdn": "web1.example.com", "ip": "10.0.0.1",
              "interfaces": {"lo": {"ip": "127.0.0.1"}, "eth0": {"ip": "10.0.0.1", "mtu": 1500}}},
            "memory": {"system": {"total_bytes": 1000000000}}, "processors": {"models": ["A"]},
            "operatingsystem": "Rocky"}"#,
        "some",
    );
    let all = [
        ("facts.os.family", "RedHat"),
        ("os.family", "RedHat"),
        ("::operatingsystem", "Rocky"),
        ("trusted.certname", "web1.example.com"),
        ("clientcert", "web1.example.com"),
        ("osfamily", "undefined"),
        ("facts.osfamily", "undefined"),
        ("::fqdn", "undefined"),
        ("facts.hostname", "undefined"),
        // Every system has one, so these are not all facts.
        ("facts.networking.domain", "unknown"),
        ("ipaddress_eth0", "undefined"),
        ("interfaces", "undefined"),
        ("memorysize_mb", "undefined"),
    ];
    for (path, value) in all {
        assert_eq!(state(&nodes, "web1.example.com", path), value, "{path}");
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
    assert_eq!(known(&nodes, "a", "os.family").as_deref(), Some("Suse"));
    assert_eq!(known(&nodes, "b", "role").as_deref(), Some("db"));
    // A query may have asked for these facts only.
    assert_eq!(state(&nodes, "b", "facts.os.family"), "unknown");
}

#[test]
fn trusted_data_is_no_fact() {
    let whole = r#"{"authenticated": "remote", "certname": "t.x", "extensions": {}}"#;
    for text in [
        format!(r#"[{{"certname": "a", "facts": {{"site": "lon", "trusted": {whole}}}, "trusted": {whole}}}]"#),
        format!(r#"[{{"certname": "a", "facts": {{"data": [{{"name": "trusted", "value": {whole}}}]}}}}]"#),
        r#"[{"certname": "a", "facts.trusted.certname": "t.x", "facts.trusted": {"certname": "t.x"}}]"#.to_owned(),
        format!(r#"{{"a": {{"facts": {{"trusted": {whole}}}}}}}"#),
    ] {
        let nodes = json(&text, "x");
        for path in ["facts.trusted.certname", "facts.trusted"] {
            assert_eq!(state(&nodes, "a", path), "undefined", "{text}");
        }
    }
    // A fact of that name that is something else stays.
    let nodes = json(r#"[{"certname": "a", "facts": {"trusted": "yes"}}]"#, "x");
    assert_eq!(state(&nodes, "a", "facts.trusted"), "yes");
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
        // PuppetDB stores it among the facts; agents send no such fact.
        assert_ne!(
            state(&nodes, "a", "facts.trusted.certname"),
            "t.x",
            "{text}"
        );
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
        ("os.family", "Debian"),
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
    assert_eq!(known(&nodes, "a", "os.family").as_deref(), Some("Suse"));
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

/// A source of one node, with its form, and the states of some variables.
fn states(nodes: &Nodes) -> String {
    let node = &nodes.all()[0];
    let all = [
        "role",
        "facts.rack",
        "trusted.extensions.pp_role",
        "facts.site",
    ];
    let all = all.map(|path| state(nodes, &node.certname, path));
    all.join(", ")
}

#[test]
fn each_source_tells_what_it_is_complete_in() {
    let trusted = r#""trusted": {"extensions": {"pp_role": "x"}}"#;
    for (text, expected) in [
        // PuppetDB does not know what a classifier sets.
        (
            format!(
                r#"[{{"certname": "a", "environment": "e", "facts": {{"site": "lon"}}, {trusted}}}]"#
            ),
            "unknown, undefined, x, lon",
        ),
        (
            format!(
                r#"[{{"certname": "a", "facts": {{"site": "lon"}}, "variables": {{"role": "db"}}, {trusted}}}]"#
            ),
            "db, undefined, x, lon",
        ),
        (
            r#"[{"certname": "a", "facts": {"site": "lon"}, "parameters": {}}]"#.to_owned(),
            "undefined, undefined, unknown, lon",
        ),
        (
            format!(r#"[{{"certname": "a", {trusted}}}]"#),
            "unknown, unknown, x, unknown",
        ),
        // A nodes file.
        (
            r#"{"a": {"facts": {"site": "lon"}, "trusted": {}, "variables": {}}}"#.to_owned(),
            "undefined, undefined, undefined, lon",
        ),
        (
            r#"{"a": {"facts": {"site": "lon"}}}"#.to_owned(),
            "unknown, undefined, unknown, lon",
        ),
        (
            r#"{"a": {"variables": {"role": "db"}}}"#.to_owned(),
            "db, unknown, unknown, unknown",
        ),
        (
            r#"{"a": null}"#.to_owned(),
            "unknown, unknown, unknown, unknown",
        ),
        // `puppet facts show`, `puppet facts find`, `puppet node find`.
        (
            r#"{"os": {}, "site": "lon"}"#.to_owned(),
            "unknown, undefined, unknown, lon",
        ),
        (
            r#"{"name": "a", "values": {"site": "lon"}}"#.to_owned(),
            "unknown, undefined, unknown, lon",
        ),
        (
            r#"{"name": "a", "parameters": {"site": "lon", "role": "db"}, "classes": []}"#
                .to_owned(),
            "db, undefined, unknown, lon",
        ),
        // A classifier.
        (
            r#"{"parameters": {"role": "db"}, "classes": {}, "environment": "e"}"#.to_owned(),
            "db, unknown, unknown, unknown",
        ),
    ] {
        assert_eq!(states(&json(&text, "a")), expected, "{text}");
    }
}

#[test]
fn single_facts_of_a_row_are_read_by_their_paths() {
    let nodes = json(
        r#"[{"certname": "a", "environment": "e", "facts.site": "lon", "facts.os.family": "Suse", "facts.rack": null,
             "facts.disks.0.name": "sda", "facts.\"a.dotted\"": 1, "trusted.extensions.pp_role": "x"}]"#,
        "inventory",
    );
    for (path, expected) in [
        ("facts.site", "lon"),
        ("::site", "lon"),
        ("facts.os.family", "Suse"),
        ("facts.disks.0.name", "sda"),
        ("facts.'a.dotted'", "1"),
        // The node has no such fact.
        ("facts.rack", "undefined"),
        ("facts.os.name", "unknown"),
        ("facts.os", "unknown"),
        ("osfamily", "unknown"),
        ("facts.zone", "unknown"),
        ("trusted.extensions.pp_role", "x"),
        ("trusted.extensions.pp_zone", "unknown"),
        ("trusted.certname", "a"),
    ] {
        assert_eq!(state(&nodes, "a", path), expected, "{path}");
    }
}

#[test]
fn contents_of_facts_are_read_without_names() {
    let nodes = json(
        r#"[{"certname": "a", "path": ["os", "family"], "value": "Suse"},
            {"certname": "a", "path": ["trusted", "extensions", "pp_role"], "value": "x"},
            {"certname": "b", "path": ["site"], "value": "lon"}]"#,
        "contents",
    );
    for (node, path, expected) in [
        ("a", "facts.os.family", "Suse"),
        ("a", "facts.os.name", "unknown"),
        ("a", "trusted.extensions.pp_role", "x"),
        ("a", "trusted.extensions.pp_zone", "unknown"),
        ("b", "site", "lon"),
        ("b", "facts.os.family", "unknown"),
    ] {
        assert_eq!(state(&nodes, node, path), expected, "{path} of {node}");
    }
}

#[test]
fn all_facts_of_a_list_of_single_facts_are_complete() {
    let names = [
        "clientversion",
        "facterversion",
        "kernel",
        "networking",
        "os",
        "site",
    ];
    let rows =
        names.map(|name| format!(r#"{{"certname": "a", "name": "{name}", "value": {{"x": 1}}}}"#));
    let nodes = json(&format!("[{}]", rows.join(",")), "facts");
    assert_eq!(state(&nodes, "a", "facts.rack"), "undefined");
    assert_eq!(state(&nodes, "a", "role"), "unknown");
}

#[test]
fn answers_without_facts_and_unknown_members_are_refused() {
    let refused = |text: &str| {
        let value = from_json(text).ok();
        let saved = read_json_nodes(&Arc::from(text), "x", &HashMap::default()).unwrap_err();
        if let Some(value) = value {
            let error = read_nodes(&value, "x", &HashMap::default()).unwrap_err();
            assert_eq!(error.message, saved.message, "{text}");
        }
        saved.message
    };
    for (text, words) in [
        (
            r#"[{"certname": "a", "deactivated": null, "facts_timestamp": "t", "expired": null}]"#,
            "PuppetDB's answer about nodes without their facts (nodes)",
        ),
        (
            r#"[{"certname": "a", "type": "File", "title": "/x", "resource": "h", "parameters": {}}]"#,
            "resources of catalogs",
        ),
        (
            r#"[{"certname": "a", "catalog_uuid": "u", "inputs": [["hiera", "k"]]}]"#,
            "the keys that catalogs looked up (catalog-inputs)",
        ),
        (
            r#"[{"certname": "a", "count": 3}]"#,
            "node 'a' has 'count', which is not understood",
        ),
        (
            r#"{"a": {"facts": {}, "extensions": {}}}"#,
            "node 'a' has 'extensions', which is not understood",
        ),
        (
            r#"{"a": {"facts": [1]}}"#,
            "'facts' of node 'a' is not a hash",
        ),
        (
            r#"{"a": {"facts": {}, "variables": "x"}}"#,
            "'variables' of node 'a' is not a hash",
        ),
        (
            "PQL parse error at line 1, column 11:\n\ninventory[certname {}\n",
            "this is a message, not JSON: 'PQL parse error at line 1, column 11:'",
        ),
    ] {
        let message = refused(text);
        assert!(message.contains(words), "{text}: {message}");
    }
}

#[test]
fn sources_of_a_node_complete_each_other() {
    let one = |text: &str| json(text, "a").all()[0].as_ref().clone();
    let inventory = one(
        r#"[{"certname": "a", "environment": "e", "facts": {"site": "lon"}, "trusted": {"extensions": {"pp_role": "x"}}}]"#,
    );
    let classifier =
        one(r#"{"parameters": {"role": "db"}, "classes": {}, "environment": "staging"}"#);
    let some = one(r#"[{"certname": "a", "facts.rack": "r1"}]"#);
    for (node, expected, environment) in [
        (
            classifier.over(&inventory),
            "db, undefined, x, lon",
            "staging",
        ),
        (inventory.over(&classifier), "db, undefined, x, lon", "e"),
        (some.over(&inventory), "unknown, undefined, x, lon", "e"),
        (
            some.over(&classifier),
            "db, r1, unknown, unknown",
            "staging",
        ),
    ] {
        assert_eq!(node.environment.as_deref(), Some(environment));
        assert_eq!(states(&Nodes::from_iter([Arc::new(node)])), expected);
    }
}
