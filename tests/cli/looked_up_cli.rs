//! What catalogs looked up, from PuppetDB to hovers and findings.

use serde_json::json;

use super::nodes_cli::{files_in, run};
use super::puppetdb::Server;

#[test]
fn what_catalogs_looked_up_is_imported_beside_the_nodes() {
    let folder = files_in(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n- {name: C, path: common.yaml}\n",
        ),
        ("data/common.yaml", "a::b: 1\na::old: 1\n"),
    ]);
    let row = |name: &str| json!({"certname": name, "environment": "production", "timestamp": "t"});
    let inputs = |name: &str, day: u8| {
        json!({"certname": name, "producer_timestamp": format!("2026-11-{day}T15:07:24.461Z"), "catalog_uuid": "u",
               "inputs": [["hiera", "a::b"], ["hiera", "a::b.0"], ["hiera", "other"]]})
    };
    let all = json!([inputs("n1", 20), inputs("n2", 21)]);
    let server = Server::with_inputs(vec![row("n1"), row("n2"), row("n3")], &all);
    let import = ["nodes", "import", "--puppetdb", &server.url];
    let (text, error, code) = run(folder.path(), &import);
    assert_eq!((code, error.as_str()), (0, ""), "{text}");
    assert!(
        text.contains("and what the catalogs of 2 nodes looked up"),
        "{text}"
    );
    assert_eq!(
        server.asked().last().unwrap(),
        r#"catalog-inputs {"order_by":[{"field":"certname"}],"limit":500,"offset":0,"query":["in","certname",["array",["n1","n2","n3"]]]}"#
    );
    let (text, _, _) = run(folder.path(), &["hover", "data/common.yaml:1"]);
    assert!(
        text.contains("read by 2 nodes, last on 2026-11-21\n"),
        "{text}"
    );
    let check = [
        "check",
        "--format",
        "concise",
        "--select",
        "never-looked-up",
    ];
    let (text, _, _) = run(folder.path(), &check);
    assert_eq!(
        text.lines().next().unwrap(),
        "data/common.yaml:2:1: hint[never-looked-up] 'a::old' was never read since 2026-11-20, by the catalogs of 2 nodes"
    );
    let (text, _, _) = run(folder.path(), &["doctor"]);
    assert!(
        text.split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .contains("with what the catalogs of 2 nodes looked up"),
        "{text}"
    );
    let (text, _, _) = run(folder.path(), &[&import[..], &["--no-lookups"]].concat());
    assert!(!text.contains("looked up"), "{text}");
    let (text, _, _) = run(folder.path(), &check);
    assert!(!text.contains("a::old"), "{text}");
}
