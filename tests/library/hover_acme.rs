//! Hovers on every top-level key of `fixtures/acme` show real Puppet's answers for the nodes that
//! read the file (`EXPECTED.json`).

use std::collections::HashMap as Map;
use std::path::Path;

use hiera_ls::analysis::Analysis;
use hiera_ls::disk;
use hiera_ls::ide::KnownNodes;
use hiera_ls::ide::hover::{HoverOptions, effective, hover};
use hiera_ls::lookup::{ConfigCache, PuppetVersion, Settings};
use hiera_ls::scope::Nodes;
use hiera_ls::value::{HashMap, Value, from_json, load_yaml};

use crate::hover_forms::check_file;
use crate::tagged_json::from_tagged_json;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(path).unwrap()
}

/// Puppet's answers by key and node: the value; `None` if it finds none.
fn expected() -> Map<(String, String), Option<Value>> {
    let text = read("fixtures/acme/EXPECTED.json");
    let file: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut found = Map::new();
    for answer in file["answers"].as_array().unwrap() {
        // Hovers never look up with an explicit merge.
        if answer.get("merge").is_some() {
            continue;
        }
        let text = |name: &str| answer[name].as_str().unwrap().to_string();
        let value = if answer["found"].as_bool().unwrap() {
            Some(from_tagged_json(&answer["value"].to_string()).unwrap())
        } else {
            None
        };
        found.insert((text("key"), text("node")), value);
    }
    found
}

#[test]
fn hovers_show_the_values_of_puppet() {
    let folder = disk::absolute(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/acme"));
    let snapshot = disk::snapshot_of(&folder);
    let nodes = from_json(&read("fixtures/acme/nodes.json")).unwrap();
    let known = KnownNodes::new(&Nodes::read(&nodes, &HashMap::default()).unwrap());
    let no_nodes = KnownNodes::default();
    let settings = Settings::for_version(PuppetVersion::V7).for_editor();
    let configs = ConfigCache::default();
    let expected = expected();
    let (mut compared, mut secret, mut unknown, mut certain, mut open, mut shown) =
        (0, 0, 0, 0, 0, 0);
    let mut wrong = Vec::new();
    for file in snapshot.files() {
        let path = file.path();
        if path.contains("/mistakes/") || file.format().is_none() {
            continue;
        }
        for key in &file.facts().keys {
            let offset = key.key.start as usize;
            let analysis = Analysis::new(&snapshot, &settings, &configs, &known);
            let options = HoverOptions {
                max_lines: usize::MAX,
                ..HoverOptions::default()
            };
            let answers = effective(analysis, path, offset);
            let mut readers = Vec::new();
            for answer in &answers {
                for node in &answer.nodes {
                    let pair = (key.name.to_string(), node.to_string());
                    let Some(expected) = expected.get(&pair) else {
                        continue;
                    };
                    readers.push(expected.clone());
                    let ours = answer.result.as_ref().ok().cloned().flatten();
                    if ours.as_ref().is_some_and(Value::has_opaque) {
                        secret += 1;
                    } else if !answer.is_certain {
                        unknown += 1;
                    } else {
                        compared += 1;
                        if ours != *expected {
                            wrong.push(format!("{path} {pair:?}\n  {ours:?}\n  {expected:?}"));
                        }
                    }
                }
            }
            // The shown text reads back as the value.
            if let [only] = answers.as_slice()
                && let Ok(Some(value)) = &only.result
                && !value.inspect().contains("Sensitive")
                && !value.has_opaque()
                && !only.nodes.is_empty()
            {
                let found = hover(analysis, path, offset, &options).unwrap();
                let yaml = found.markdown.split("```yaml\n").nth(1).unwrap();
                let yaml = yaml.split("```").next().unwrap();
                assert_eq!(
                    load_yaml(yaml.as_bytes()).ok().as_ref(),
                    Some(value),
                    "{yaml}"
                );
                shown += 1;
            }
            // Without nodes: certain values hold for every node that reads the file.
            let analysis = Analysis::new(&snapshot, &settings, &configs, &no_nodes);
            for answer in effective(analysis, path, offset) {
                let ours = answer.result.as_ref().ok().cloned().flatten();
                if !answer.is_certain || path.contains("/service/") {
                    open += 1;
                    continue;
                }
                certain += 1;
                for expected in &readers {
                    if ours != *expected {
                        wrong.push(format!(
                            "{path} {} for any node\n  {ours:?}\n  {expected:?}",
                            key.name
                        ));
                    }
                }
            }
        }
    }
    eprintln!(
        "acme: {compared} answers compared, {secret} encrypted, {unknown} unknown; {shown} values \
         read back; without nodes {certain} certain, {open} not"
    );
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(compared > 200 && certain > 30 && shown > 30);
}

#[test]
fn hovers_are_narrow_and_short_wherever_the_cursor_is() {
    let folder = disk::absolute(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/acme"));
    let snapshot = disk::snapshot_of(&folder);
    let nodes = from_json(&read("fixtures/acme/nodes.json")).unwrap();
    let known = KnownNodes::new(&Nodes::read(&nodes, &HashMap::default()).unwrap());
    let settings = Settings::for_version(PuppetVersion::V7).for_editor();
    let configs = ConfigCache::default();
    let (mut count, mut wrong) = (0, Vec::new());
    for nodes in [&known, &KnownNodes::default()] {
        for file in snapshot.files() {
            let analysis = Analysis::new(&snapshot, &settings, &configs, nodes);
            let (hovers, problems) = check_file(analysis, file.path(), 4);
            count += hovers;
            wrong.extend(problems);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 500, "{count} hovers");
}
