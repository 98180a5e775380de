//! The matrix of every key of a real control repository over its 161 nodes, compared cell by cell
//! with real Puppet.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::Instant;

use serde_json::{Map, Value};

use crate::compare::normalised;
use crate::corpora::Corpus;
use crate::program;

#[test]
fn the_matrix_of_lsst_control_is_puppets() {
    if program::puppet_version().is_none() {
        return;
    }
    let Some(corpus) = Corpus::lsst_control() else {
        return;
    };
    let start = Instant::now();
    let rows = std::thread::scope(|scope| {
        let rows = scope.spawn(|| matrix(&corpus));
        let puppet = corpus.puppet_answers(&corpus.keys);
        (rows.join().unwrap(), puppet)
    });
    let (rows, puppet) = rows;
    let took = start.elapsed();
    assert_eq!(rows.len(), corpus.keys.len());

    let mut differing = Vec::new();
    let (mut one, mut several, mut errors, mut unknown, mut unset) = (0, 0, 0, 0, 0);
    let mut cells = 0;
    for (at, (key, answers)) in corpus.keys.iter().zip(&rows).enumerate() {
        match answers.len() {
            1 => one += 1,
            _ => several += 1,
        }
        errors += usize::from(answers.iter().any(is_failure));
        unknown += usize::from(answers.iter().any(|answer| answer["found"].is_null()));
        unset += usize::from(answers.len() == 1 && is_not_found(&answers[0]));
        let sizes: Vec<usize> = answers.iter().map(|answer| names(answer).len()).collect();
        assert!(sizes.is_sorted_by(|a, b| a >= b), "{key}: {sizes:?}");
        for (nth, answer) in answers.iter().enumerate() {
            let before = &answers[..nth];
            let same = before
                .iter()
                .any(|other| outcome_fields(other) == outcome_fields(answer));
            assert!(!same, "{key}: one answer stands twice");
        }
        let ours: BTreeMap<String, &Value> = answers
            .iter()
            .flat_map(|answer| names(answer).into_iter().map(move |name| (name, answer)))
            .collect();
        assert_eq!(
            ours.len(),
            corpus.nodes.len(),
            "{key}: every node has one answer"
        );
        for (node, theirs) in corpus.nodes.iter().zip(&puppet) {
            cells += 1;
            let theirs = normalised(&theirs[at], &corpus.environment_dir);
            let cell = ours[&node.name];
            let found = normalised(cell, &corpus.environment_dir);
            let same = ["found", "value", "error"]
                .iter()
                .all(|field| text(&theirs, field) == text(&found, field));
            if !same {
                differing.push(format!("{key} for {}: {theirs}\n  {found}", node.name));
            }
            assert_sources(&corpus, key, cell);
        }
    }
    eprintln!(
        "{} keys × {} nodes in {took:.1?}: {one} keys with one answer ({unset} of them not set), \
         {several} with several, {errors} with an error, {unknown} with an unknown; \
         {cells} cells, {} differ",
        corpus.keys.len(),
        corpus.nodes.len(),
        differing.len()
    );
    differing.truncate(5);
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// Our rows, in the order of the keys.
fn matrix(corpus: &Corpus) -> Vec<Vec<Value>> {
    let folder = tempfile::tempdir().unwrap();
    let nodes: Map<String, Value> = corpus
        .nodes
        .iter()
        .map(|node| (node.name.clone(), node.described()))
        .collect();
    let file = folder.path().join("nodes.json");
    std::fs::write(&file, Value::Object(nodes).to_string()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
        .arg("matrix")
        .args(&corpus.keys)
        .args([
            "--format",
            "json-lines",
            "--puppet-version",
            "7",
            "--workspace",
        ])
        .arg(&corpus.environment_dir)
        .arg("--nodes")
        .arg(&file)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let rows = lines.lines().zip(&corpus.keys).map(|(line, key)| {
        let row: Value = serde_json::from_str(line).unwrap();
        assert_eq!(row["key"], **key);
        row["answers"].as_array().unwrap().clone()
    });
    rows.collect()
}

fn names(answer: &Value) -> Vec<String> {
    let names = answer["nodes"].as_array().unwrap().iter();
    names
        .map(|name| name.as_str().unwrap().to_string())
        .collect()
}

fn text(answer: &Value, field: &str) -> Option<String> {
    answer.get(field).map(Value::to_string)
}

fn outcome_fields(answer: &Value) -> [Option<String>; 4] {
    ["found", "value", "error", "unknown"].map(|field| text(answer, field))
}

fn is_not_found(answer: &Value) -> bool {
    let error = answer["error"].as_str().unwrap_or_default();
    error.contains("did not find a value for the name")
}

fn is_failure(answer: &Value) -> bool {
    answer["found"] == false && !is_not_found(answer)
}

/// Every source is at the line of the key; if nothing was found there is none.
fn assert_sources(corpus: &Corpus, key: &str, answer: &Value) {
    let sources = answer["sources"].as_array().unwrap();
    assert_eq!(sources.is_empty(), answer["found"] != true, "{key}");
    let distinct: BTreeSet<String> = sources.iter().map(Value::to_string).collect();
    assert_eq!(
        distinct.len(),
        sources.len(),
        "{key}: a source stands twice"
    );
    for source in sources {
        let file = source["file"].as_str().unwrap();
        assert!(file.starts_with(corpus.environment_dir.to_str().unwrap()));
        let text = std::fs::read_to_string(file).unwrap();
        let line = source["line"].as_u64().unwrap() as usize;
        let line = text.lines().nth(line - 1).unwrap();
        let plain = line.trim_start_matches(['"', '\'']);
        assert!(plain.starts_with(key), "{file}: {line} is no line of {key}");
    }
}
