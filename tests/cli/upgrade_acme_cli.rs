//! `upgrade` on acme and its mistakes: what it predicts is what the real versions do.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::reach_cli::{output_of, workspace};

/// Answers of real Puppet 7.23, OpenVox 8.28.1 and OpenVox 9.0.0-beta2, the last on Ruby 4.0.
const CASES: &str = include_str!("../cases/upgrade-acme.jsonl");

/// What happens to a key on a node.
type Effects = BTreeMap<(String, String), String>;

#[test]
fn what_is_predicted_is_what_the_real_versions_do() {
    let mut lines = CASES
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let nodes = lines.next().unwrap()["nodes"].to_string();
    let (mut causes, mut changes, mut same) = (BTreeSet::new(), 0, 0);
    for case in lines {
        let files = case["files"].as_object().unwrap().iter();
        let files = files.map(|(name, text)| (name.as_str(), text.as_str().unwrap()));
        let mut files: Vec<(&str, &str)> = files.collect();
        files.push(("nodes.json", nodes.as_str()));
        let folder = workspace(&files);
        let keys: BTreeSet<&str> = case["keys"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        for (pair, real) in case["changes"].as_object().unwrap() {
            let real: Effects = real.as_array().unwrap().iter().map(change).collect();
            // One pair is enough where nothing changes.
            if real.is_empty() && pair != "7 to 9" {
                continue;
            }
            let (from, to) = pair.split_once(" to ").unwrap();
            let arguments = [
                "upgrade",
                "--from",
                from,
                "--to",
                to,
                "--nodes",
                "nodes.json",
                "--format",
                "json",
            ];
            let (_, shown, error) = output_of(folder.path(), &arguments);
            let report: Value = serde_json::from_str(&shown)
                .unwrap_or_else(|_| panic!("{}: {error}", case["name"]));
            let mut predicted = Effects::new();
            for cause in report["causes"].as_array().unwrap() {
                for change in cause["changes"].as_array().unwrap() {
                    let key = change["key"].as_str().unwrap();
                    let effect = change["effect"].as_str().unwrap();
                    // Where no hierarchy is, no key is known.
                    let key = if key == "(any key)" { "key" } else { key };
                    if !keys.contains(key) || matches!(effect, "warns" | "deprecated") {
                        continue;
                    }
                    causes.insert(cause["cause"].as_str().unwrap().to_owned());
                    for node in change["nodes"].as_array().unwrap() {
                        let node = node.as_str().unwrap().to_owned();
                        predicted.insert((node, key.to_owned()), effect.to_owned());
                    }
                }
            }
            assert_eq!(predicted, real, "{} from {pair}", case["name"]);
            changes += real.len();
            same += 2 * keys.len() - real.len();
        }
    }
    let expected = [
        "character-text",
        "environment-data-provider",
        "hash-text",
        "json-escape",
        "legacy-fact",
        "strict",
        "undefined-variable",
    ];
    assert!(causes.iter().eq(expected), "{causes:?}");
    assert!(
        changes >= 80 && same >= 600,
        "{changes} changes, {same} others"
    );
}

fn change(of: &Value) -> ((String, String), String) {
    let text = |at: usize| of[at].as_str().unwrap().to_owned();
    ((text(0), text(1)), text(2))
}
