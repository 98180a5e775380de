//! Files outside every workspace folder: their hierarchy is found above them.

use std::path::Path;
use std::sync::Arc;

use hiera_ls::server::testing::Options;
use serde_json::{Value, json};

use crate::client::{Client, Planted, options, until};

fn start(root: Option<&Path>, settings: Value, watches: bool) -> Client {
    let options = Options {
        answers: Arc::default(),
        ..options(&Arc::<Planted>::default())
    };
    let mut client = Client::strange(options);
    let watched = json!({ "didChangeWatchedFiles": { "dynamicRegistration": watches } });
    let params = json!({
        "capabilities": { "workspace": watched },
        "rootUri": root.map(|root| uri(root, "")),
        "initializationOptions": settings,
    });
    let id = client.request("initialize", params);
    client.answer(id).unwrap();
    client.notify("initialized", json!({}));
    client
}

fn uri(folder: &Path, name: &str) -> String {
    format!("file://{}/{name}", folder.display())
}

fn write(folder: &Path, name: &str, text: &str) {
    let at = folder.join(name);
    std::fs::create_dir_all(at.parent().unwrap()).unwrap();
    std::fs::write(at, text).unwrap();
}

const HIERARCHY: &str = "version: 5\nhierarchy:\n  - {name: node, path: \"nodes/%{trusted.certname}.yaml\"}\n  \
                         - {name: common, path: common.yaml}\n";

const NODE: &str = "shown: \"%{lookup('port')}\"\n";

/// A control repository with a module that has its own data.
fn repository(folder: &Path) {
    write(folder, "hiera.yaml", HIERARCHY);
    write(folder, "environment.conf", "modulepath = site:modules\n");
    write(folder, "data/common.yaml", "port: 80\nm::size: 1\n");
    write(folder, "data/nodes/a.x.yaml", NODE);
    write(
        folder,
        "site/m/hiera.yaml",
        "version: 5\nhierarchy:\n  - {name: common, path: common.yaml}\n",
    );
    write(folder, "site/m/data/common.yaml", "m::size: 0\n");
}

/// The text of a hover; empty without one.
fn hover(client: &mut Client, uri: &str, line: u64) -> String {
    let id = client.hover(uri, line, 1);
    let answer = client.answer(id).unwrap();
    let shown = answer["result"]["contents"]["value"].as_str();
    shown.unwrap_or_default().to_owned()
}

fn shows(client: &mut Client, uri: &str, wanted: &str) {
    let mut last = String::new();
    until(&format!("{uri} shows {wanted}"), || {
        last = hover(client, uri, 0);
        last.contains(wanted)
    });
}

#[test]
fn a_single_file_is_answered_from_the_environment_above_it() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    repository(folder);
    let mut client = start(None, json!({}), false);
    let node = uri(folder, "data/nodes/a.x.yaml");
    client.open(&node, NODE);
    // At once: an incomplete answer must not look complete.
    assert!(hover(&mut client, &node, 0).contains("80"));
    // A module's data needs its environment.
    let module = uri(folder, "site/m/data/common.yaml");
    client.open(&module, "m::size: 0\n");
    let shown = hover(&mut client, &module, 0);
    assert!(shown.contains("data/common.yaml"), "{shown}");
    // No client watches here, so the server does.
    write(folder, "data/common.yaml", "port: 8080\n");
    shows(&mut client, &node, "8080");
    for open in [&node, &module] {
        let document = json!({ "textDocument": { "uri": open } });
        client.notify("textDocument/didClose", document);
    }
    let search = client.request("workspace/symbol", json!({ "query": "port" }));
    until("the environment is given up with its last file", || {
        let search = client.request("workspace/symbol", json!({ "query": "port" }));
        client.answer(search).unwrap()["result"] == json!([])
    });
    client.answer(search).unwrap();
    client.end();
}

#[test]
fn a_file_that_nothing_governs_is_left_alone_until_something_does() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    write(folder, "data/nodes/a.x.yaml", NODE);
    write(folder, "data/common.yaml", "port: 80\n");
    let mut client = start(None, json!({}), false);
    let node = uri(folder, "data/nodes/a.x.yaml");
    client.open(&node, NODE);
    assert_eq!(hover(&mut client, &node, 0), "");
    // A hierarchy is created and saved next to it.
    let hierarchy = uri(folder, "hiera.yaml");
    client.open(&hierarchy, HIERARCHY);
    write(folder, "hiera.yaml", HIERARCHY);
    let document = json!({ "textDocument": { "uri": hierarchy } });
    client.notify("textDocument/didSave", document);
    assert!(hover(&mut client, &node, 0).contains("80"));
    client.end();
}

#[test]
fn a_folder_inside_an_environment_is_answered_from_the_whole_of_it() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    repository(folder);
    // Only the data folder is open; the client watches that, and nothing above it.
    let mut client = start(Some(&folder.join("data")), json!({}), true);
    let node = uri(folder, "data/nodes/a.x.yaml");
    client.open(&node, NODE);
    assert!(hover(&mut client, &node, 0).contains("80"));
    write(
        folder,
        "hiera.yaml",
        &HIERARCHY.replace("common.yaml", "other.yaml"),
    );
    write(folder, "data/other.yaml", "port: 7070\n");
    shows(&mut client, &node, "7070");
    client.end();
}

#[test]
fn a_change_outside_of_what_the_client_watches_is_noticed() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("control");
    let aside = temporary.path().join("aside");
    repository(&folder);
    write(
        &aside,
        "nodes.json",
        r#"{"a.x": {"facts": {"role": "one"}}}"#,
    );
    let nodes = aside.join("nodes.json");
    let settings = json!({ "nodesFiles": [nodes] });
    let mut client = start(Some(&folder), settings, true);
    let known = |client: &mut Client, count: usize| {
        until(&format!("{count} nodes are known"), || {
            let command = json!({ "command": "hiera.nodes", "arguments": [{}] });
            let id = client.request("workspace/executeCommand", command);
            let answer = client.answer(id).unwrap();
            answer["result"]["nodes"].as_array().map(Vec::len) == Some(count)
        });
    };
    known(&mut client, 1);
    write(
        &aside,
        "nodes.json",
        r#"{"a.x": {"facts": {}}, "b.x": {"facts": {}}}"#,
    );
    known(&mut client, 2);
    client.end();
}

/// The facts of a large fleet are not read as data, but as nodes.
#[test]
fn a_nodes_file_beside_the_hierarchy_is_read_whatever_its_size() {
    /// More than is read of other files.
    const SIZE: usize = 17 << 20;
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let hierarchy = "version: 5\nhierarchy:\n  - {name: site, path: \"site/%{facts.site}.yaml\"}\n  \
                     - {name: common, path: common.yaml}\n";
    write(folder, "hiera.yaml", hierarchy);
    write(folder, "data/common.yaml", "port: 80\n");
    write(folder, "data/site/lon.yaml", "port: 81\n");
    write(folder, "data/site/nyc.yaml", "port: 82\n");
    let nodes = |site: &str| {
        let fact = "x".repeat(SIZE);
        format!(
            r#"[{{"certname": "a", "facts": {{"site": "{site}", "long": "{fact}"}}, "trusted": {{}}}}]"#
        )
    };
    write(folder, "nodes.json", &nodes("lon"));
    let mut client = start(Some(folder), json!({}), false);
    let common = uri(folder, "data/common.yaml");
    client.open(&common, "port: 80\n");
    shows(&mut client, &common, "81");
    write(folder, "nodes.json", &nodes("nyc"));
    shows(&mut client, &common, "82");
}
