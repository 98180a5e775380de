//! Hovers in a real control repository: for keys of its node, role and common files, the hover
//! equals real Puppet's answers for the nodes that read the file. A hundred of the keys are random:
//! always the same, or those of the seed in `HIERA_LS_SEED`.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hiera_ls::analysis::Analysis;
use hiera_ls::disk;
use hiera_ls::ide::KnownNodes;
use hiera_ls::ide::hover::{Effective, HoverOptions, effective, hover};
use hiera_ls::lookup::{ConfigCache, PuppetVersion, Settings};
use hiera_ls::regexp::Regexp;
use hiera_ls::scope::Nodes;
use hiera_ls::value::{HashMap, Value, from_json};
use hiera_ls::workspace::Snapshot;
use serde_json::json;

use crate::corpora::{self, Corpus};
use crate::hover_forms::check_file;
use crate::program;
use crate::tagged_json::from_tagged_json;

/// Number of keys of each kind of file.
const KEYS: usize = 50;

/// Number of random keys of role files.
const DRAWN: usize = 100;

/// A place to hover.
struct HoverPlace {
    path: String,
    key: String,
    offset: usize,
}

/// `count` keys of the files below a folder of the data, spread over all of them.
fn sample_places(snapshot: &Snapshot, folder: &str, name: &str, count: usize) -> Vec<HoverPlace> {
    let all = all_places(snapshot, folder, name);
    let step = (all.len() / count).max(1);
    all.into_iter().step_by(step).take(count).collect()
}

/// All keys of the files below a folder of the data.
fn all_places(snapshot: &Snapshot, folder: &str, name: &str) -> Vec<HoverPlace> {
    let prefix = format!("{folder}/hieradata/{name}");
    let mut files: Vec<_> = snapshot
        .files()
        .filter(|file| file.path().starts_with(&prefix))
        .collect();
    files.sort_by_key(|file| file.path().clone());
    let mut all = Vec::new();
    for file in files {
        for key in &file.facts().keys {
            // The name in a request is a dotted key.
            if &*key.name != "lookup_options" && !key.name.contains(['.', '\'', '"']) {
                all.push(HoverPlace {
                    path: file.path().to_string(),
                    key: key.name.to_string(),
                    offset: key.key.start as usize,
                });
            }
        }
    }
    all
}

/// `count` random keys of the role files; `HIERA_LS_SEED` sets the seed.
fn drawn(snapshot: &Snapshot, folder: &str, count: usize) -> Vec<HoverPlace> {
    let seed = std::env::var("HIERA_LS_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let mut dice: u64 = seed.unwrap_or(20);
    let mut all = all_places(snapshot, folder, "role/");
    let mut drawn = Vec::new();
    while drawn.len() < count && !all.is_empty() {
        dice = dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        drawn.push(all.swap_remove((dice >> 33) as usize % all.len()));
    }
    drawn
}

/// Every merged key, each in every kind of file that sets it.
fn merged(snapshot: &Snapshot, folder: &str) -> Vec<HoverPlace> {
    let mut patterns: Vec<String> = Vec::new();
    for file in snapshot.files() {
        let text = file.text();
        for entry in &file.facts().lookup_options {
            let options = entry.value.slice(text);
            if options.contains("merge") {
                patterns.push(entry.pattern.to_string());
            }
        }
    }
    let matches = |key: &str| {
        patterns.iter().any(|pattern| {
            if pattern.starts_with('^') {
                Regexp::new(pattern).unwrap().is_match(key).unwrap()
            } else {
                pattern == key
            }
        })
    };
    let mut found: BTreeMap<(String, String), HoverPlace> = BTreeMap::new();
    for place in all_places(snapshot, folder, "") {
        let below = place
            .path
            .strip_prefix(&format!("{folder}/hieradata/"))
            .unwrap();
        let kind = below.split('/').next().unwrap().to_string();
        if matches(&place.key) {
            found.entry((place.key.clone(), kind)).or_insert(place);
        }
    }
    found.into_values().collect()
}

fn value(answer: &Effective) -> Option<Value> {
    answer.result.as_ref().ok().cloned().flatten()
}

/// Puppet's value of each key for each node.
fn puppet_values<'c>(
    corpus: &'c Corpus,
    keys: &'c [String],
) -> BTreeMap<(&'c str, &'c str), Option<Value>> {
    let mut puppet = BTreeMap::new();
    let answers = corpus.puppet_answers(keys);
    for (node, answers) in corpus.nodes.iter().zip(&answers) {
        for (key, answer) in keys.iter().zip(answers) {
            let value = match answer["found"].as_bool() {
                Some(true) => Some(from_tagged_json(&answer["value"].to_string()).unwrap()),
                Some(false) | None => None,
            };
            puppet.insert((node.name.as_str(), key.as_str()), value);
        }
    }
    puppet
}

#[test]
fn hovers_of_lsst_control_equal_puppet() {
    if program::puppet_version().is_none() {
        return;
    }
    let (Some(corpus), Some(folder)) = (Corpus::lsst_control(), corpora::corpora()) else {
        return;
    };
    // The original workspace, including deployed paths; Puppet gets its copy.
    let folder = disk::absolute(folder.join("lsst-control/workspace").to_str().unwrap());
    let snapshot = disk::snapshot_of(&folder);
    let nodes: serde_json::Map<String, serde_json::Value> = corpus
        .nodes
        .iter()
        .map(|node| (node.name.clone(), node.described()))
        .collect();
    let nodes = from_json(&json!(nodes).to_string()).unwrap();
    let known = KnownNodes::new(&Nodes::read(&nodes, &HashMap::default()).unwrap());
    let no_nodes = KnownNodes::default();
    let settings = Settings::for_version(PuppetVersion::V7).for_editor();
    let configs = ConfigCache::default();

    let kinds = ["node/", "role/", "common.yaml"];
    let mut places: Vec<(&str, Vec<HoverPlace>)> = kinds
        .iter()
        .map(|kind| (*kind, sample_places(&snapshot, &folder, kind, KEYS)))
        .collect();
    places.push(("role/, by chance", drawn(&snapshot, &folder, DRAWN)));
    places.push(("keys that are merged", merged(&snapshot, &folder)));
    let mut keys: Vec<String> = places
        .iter()
        .flat_map(|(_, places)| places.iter().map(|place| place.key.clone()))
        .collect();
    keys.sort();
    keys.dedup();
    let puppet = puppet_values(&corpus, &keys);

    let mut wrong = Vec::new();
    for (kind, places) in &places {
        assert!(places.len() >= KEYS.min(20), "{kind}: {}", places.len());
        let (mut one, mut several, mut unread, mut compared) = (0, 0, 0, 0);
        let (mut errors, mut unknown) = (0, 0);
        let (mut certain, mut open, mut open_right) = (0, 0, 0);
        for place in places {
            let with_nodes = Analysis::new(&snapshot, &settings, &configs, &known);
            let answers = effective(with_nodes, &place.path, place.offset);
            let readers: Vec<&str> = answers
                .iter()
                .flat_map(|answer| answer.nodes.iter().map(|node| &**node))
                .collect();
            match (readers.is_empty(), answers.len()) {
                (true, _) => unread += 1,
                (false, 1) => one += 1,
                (false, _) => several += 1,
            }
            let is_error = |answer: &Effective| {
                let error = answer.result.as_ref().err();
                error.is_some_and(|error| !error.is_not_found())
            };
            errors += usize::from(answers.iter().any(is_error));
            unknown += usize::from(answers.iter().any(|answer| !answer.is_certain));
            // Our groups equal Puppet's: no two of them are the same.
            for (nth, answer) in answers.iter().enumerate() {
                let again = answers[..nth]
                    .iter()
                    .any(|other| other.result == answer.result);
                assert!(!again, "{}: {} has one answer twice", place.path, place.key);
            }
            for answer in &answers {
                for node in &answer.nodes {
                    let theirs = &puppet[&(&**node, place.key.as_str())];
                    compared += 1;
                    if value(answer) != *theirs {
                        wrong.push(format!("{}: {} for {node}", place.path, place.key));
                    }
                }
            }
            // Without known nodes: certain values hold for every reader.
            let without = Analysis::new(&snapshot, &settings, &configs, &no_nodes);
            for answer in effective(without, &place.path, place.offset) {
                let right = readers
                    .iter()
                    .all(|node| value(&answer) == puppet[&(*node, place.key.as_str())]);
                if answer.is_certain {
                    certain += 1;
                    if !right {
                        wrong.push(format!("{}: {} for any node", place.path, place.key));
                    }
                } else {
                    open += 1;
                    open_right += usize::from(right);
                }
            }
        }
        eprintln!(
            "lsst-control {kind}: {} keys, {compared} answers compared; over nodes {one} have one \
             answer, {several} several, {errors} an error, {unknown} an unknown, {unread} are read by \
             none; without nodes {certain} are certain, {open} depend on an unknown level \
             ({open_right} of them all the same right)",
            places.len()
        );
        assert!(certain > 0, "{kind}: nothing is certain");
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let one_is_unknown = places.iter().flat_map(|(_, places)| places).any(|place| {
        let analysis = Analysis::new(&snapshot, &settings, &configs, &no_nodes);
        let options = HoverOptions::default();
        let text = hover(analysis, &place.path, place.offset, &options).map(|hover| hover.plain);
        text.is_some_and(|text| {
            text.contains("\nmay differ: '") && text.contains("outside this workspace")
        })
    });
    assert!(one_is_unknown, "no hover names an unknown level");
    for nodes in [&no_nodes, &known] {
        check_lines(Analysis::new(&snapshot, &settings, &configs, nodes));
    }
    print_times(&snapshot, &places, &settings, &configs, [&no_nodes, &known]);
}

/// The hovers of every tenth word of every fifth file: there are a few hundred thousand words.
fn check_lines(analysis: Analysis<'_>) {
    let (mut count, mut wrong) = (0, Vec::new());
    for file in analysis.snapshot.files().step_by(5) {
        let (hovers, problems) = check_file(analysis, file.path(), 10);
        count += hovers;
        wrong.extend(problems);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    eprintln!("lsst-control: {count} hovers in short lines");
}

/// Prints the duration of hovers, without and with nodes.
fn print_times(
    snapshot: &Snapshot,
    places: &[(&str, Vec<HoverPlace>)],
    settings: &Settings,
    configs: &ConfigCache,
    nodes: [&KnownNodes; 2],
) {
    for (nodes, nodes_text) in nodes.into_iter().zip(["any node", "161 nodes"]) {
        let analysis = Analysis::new(snapshot, settings, configs, nodes);
        let options = HoverOptions::default();
        let mut times: Vec<(Duration, &HoverPlace)> = Vec::new();
        for (_, places) in places {
            for place in places {
                let start = Instant::now();
                assert!(hover(analysis, &place.path, place.offset, &options).is_some());
                times.push((start.elapsed(), place));
            }
        }
        times.sort_by_key(|(time, _)| *time);
        let (slowest, place) = &times[times.len() - 1];
        eprintln!(
            "hover for {nodes_text}: median {:.2?}, 95% {:.2?}, slowest {slowest:.2?} ({} in {})",
            times[times.len() / 2].0,
            times[times.len() * 95 / 100].0,
            place.key,
            place.path,
        );
    }
}
