//! Every key of two real control repositories for every node, answered by `hiera-ls lookup --batch`
//! and by real Puppet. Puppet's answers about the first are stored in
//! `target/tmp/lsst-control-puppet.json` (`nodes`: node → key → index into `answers`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::thread;
use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::compare::{Outcomes, difference, normalised, side_by_side};
use crate::corpora::{Corpus, Node};
use crate::program::{self, Program};

#[test]
fn every_key_of_lsst_control_for_every_node() {
    if program::puppet_version().is_none() {
        return;
    }
    let Some(corpus) = Corpus::lsst_control() else {
        return;
    };
    assert_eq!((corpus.nodes.len(), corpus.keys.len()), (161, 409));
    let answers = assert_agreement(&corpus);
    let table = table(&corpus, &answers);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lsst-control-puppet.json");
    std::fs::write(path, table.to_string()).unwrap();
}

#[test]
fn every_key_of_magic_castle_for_nodes_that_reach_every_file() {
    if program::puppet_version().is_none() {
        return;
    }
    let Some(corpus) = Corpus::magic_castle() else {
        return;
    };
    let unread = unread_files(&corpus);
    assert!(unread.is_empty(), "no node reads {unread:?}");
    assert_agreement(&corpus);
}

/// Runs both programs for every key and node; returns Puppet's answers.
fn assert_agreement(corpus: &Corpus) -> Vec<Vec<Value>> {
    let (theirs, their_time, ours, our_time) = thread::scope(|scope| {
        let start = Instant::now();
        let ours = scope.spawn(move || (our_answers(corpus), start.elapsed()));
        let theirs = corpus.puppet_answers(&corpus.keys);
        let their_time = start.elapsed();
        let (ours, our_time) = ours.join().unwrap();
        (theirs, their_time, ours, our_time)
    });
    let (mut outcomes, mut our_outcomes) = (Outcomes::default(), Outcomes::default());
    let mut classes: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for (node, (theirs, ours)) in corpus.nodes.iter().zip(theirs.iter().zip(&ours)) {
        assert_eq!(
            (theirs.len(), ours.len()),
            (corpus.keys.len(), corpus.keys.len())
        );
        for (key, (p, o)) in corpus.keys.iter().zip(theirs.iter().zip(ours)) {
            outcomes.count(p);
            our_outcomes.count(o);
            let (p, o) = (comparable(p, corpus), comparable(o, corpus));
            if let Some(found) = difference(&p, &o) {
                let entry = classes.entry(found.class).or_default();
                if entry.0 == 0 {
                    entry.1 = format!(
                        "{key} for {}\n{}",
                        node.name,
                        side_by_side(&found.fields, &p, &o)
                    );
                }
                entry.0 += 1;
            }
        }
    }
    let differing: usize = classes.values().map(|(n, _)| n).sum();
    let mut report = format!(
        "{}: {} keys × {} nodes\n  puppet in {their_time:.1?}: {outcomes}\n  ours in {our_time:.1?}: {our_outcomes}\n  {differing} differences\n",
        corpus.name,
        corpus.keys.len(),
        corpus.nodes.len(),
    );
    let mut classes: Vec<_> = classes.into_iter().collect();
    classes.sort_by_key(|(_, (n, _))| std::cmp::Reverse(*n));
    for (class, (n, example)) in &classes {
        let _ = writeln!(
            report,
            "{n:>6} {class}\n       {}",
            example.replace('\n', "\n       ")
        );
    }
    eprintln!("{report}");
    assert_eq!(differing, 0, "{report}");
    theirs
}

/// Warnings that Puppet gives once per catalog come with another key than ours.
fn comparable(answer: &Value, corpus: &Corpus) -> Value {
    let mut answer = normalised(answer, &corpus.environment_dir);
    if let Some(map) = answer.as_object_mut() {
        map.shift_remove("logs");
    }
    answer
}

/// Our answers, from two parallel processes: this build may be without optimization.
fn our_answers(corpus: &Corpus) -> Vec<Vec<Value>> {
    let (first, second) = corpus.nodes.split_at(corpus.nodes.len() / 2);
    thread::scope(|scope| {
        let first = scope.spawn(|| answers_for(corpus, first));
        let second = answers_for(corpus, second);
        let mut table = first.join().unwrap();
        table.extend(second);
        table
    })
}

/// Our answers, node by node: the same text of facts is sent with every key.
fn answers_for(corpus: &Corpus, nodes: &[Node]) -> Vec<Vec<Value>> {
    let mut session = Program::ours().start();
    let mut table = Vec::new();
    for node in nodes {
        let scope = Value::Object(corpus.request(node)).to_string();
        let scope = scope.strip_suffix('}').unwrap();
        let mut lines = String::new();
        for key in &corpus.keys {
            let _ = writeln!(lines, "{scope},\"key\":{}}}", Value::from(key.as_str()));
        }
        table.push(session.ask_text(lines, corpus.keys.len()));
    }
    table
}

/// Data files that no node of a corpus makes Puppet read.
fn unread_files(corpus: &Corpus) -> BTreeSet<String> {
    let mut puppet = Program::puppet().start();
    let mut requests = Vec::new();
    for node in &corpus.nodes {
        let mut request = corpus.request(node);
        request.insert("key".into(), "no such key".into());
        request.insert("explain".into(), true.into());
        requests.push(Value::Object(request));
    }
    let data = corpus.environment_dir.join("data");
    let mut unread = BTreeSet::new();
    collect_files(&data, &mut unread);
    for answer in puppet.ask(&requests) {
        let explain = answer["explain"].as_str().unwrap();
        let lines: Vec<&str> = explain.lines().map(str::trim).collect();
        for window in lines.windows(3) {
            let path = window[0]
                .strip_prefix("Path \"")
                .and_then(|p| p.strip_suffix('"'));
            if let Some(path) = path
                && window[2].starts_with("No such key")
            {
                unread.remove(path);
            }
        }
    }
    unread
}

fn collect_files(folder: &Path, into: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_files(&path, into);
        } else {
            into.insert(path.to_str().unwrap().to_string());
        }
    }
}

/// Puppet's answers as one table, with equal answers stored once.
fn table(corpus: &Corpus, answers: &[Vec<Value>]) -> Value {
    let mut index: BTreeMap<String, usize> = BTreeMap::new();
    let mut distinct = Vec::new();
    let mut nodes = Map::new();
    for (node, answers) in corpus.nodes.iter().zip(answers) {
        let mut keys = Map::new();
        for (key, answer) in corpus.keys.iter().zip(answers) {
            let answer = comparable(answer, corpus);
            let at = *index.entry(answer.to_string()).or_insert_with(|| {
                distinct.push(answer);
                distinct.len() - 1
            });
            keys.insert(key.clone(), at.into());
        }
        nodes.insert(node.name.clone(), keys.into());
    }
    json!({"answers": distinct, "nodes": nodes})
}
