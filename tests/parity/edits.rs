//! Renames, refactorings and edits by goal, compared with real Puppet over random workspaces: the
//! announced effects on every node and key equal Puppet's answers before and after.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hiera_ls::analysis::{Analysis, RootView};
use hiera_ls::edit::Plan;
use hiera_ls::lookup::{ConfigCache, PuppetVersion, Settings};
use hiera_ls::plan::Proof;
use hiera_ls::plan::goal::{Goal, Outcome, Proposal, nodes_of, proposals, value_of};
use hiera_ls::plan::refactor::{chosen, offers};
use hiera_ls::plan::rename::rename;
use hiera_ls::scope::{KnownNodes, Nodes};
use hiera_ls::value::{load_yaml, to_tagged_json};
use hiera_ls::workspace::{Change, Snapshot, Workspace};
use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::case::{ENVIRONMENT, write_files};
use crate::generate::dice::Dice;
use crate::program::{Program, Session, puppet_version};

/// Number of workspaces in a run.
const WORKSPACES: usize = 24;

/// The folder of a workspace in memory.
const FOLDER: &str = "/w";

const HIERARCHY: &str = "version: 5\ndefaults: {datadir: data, data_hash: yaml_data}\nhierarchy:\n\
                         - {name: Node, path: 'node/%{trusted.certname}.yaml'}\n\
                         - {name: Role, path: 'role/%{facts.role}.yaml'}\n\
                         - {name: Common, path: common.yaml}\n";
const FILES: [&str; 4] = [
    "data/node/web1.yaml",
    "data/role/web.yaml",
    "data/role/db.yaml",
    "data/common.yaml",
];
const KNOWN: [(&str, &str); 3] = [("web1", "web"), ("web2", "web"), ("db1", "db")];
/// Nodes that only Puppet looks up for.
const OTHERS: [(&str, &str); 3] = [("web9", "web"), ("db9", "db"), ("x1", "x")];
const KEYS: [&str; 5] = ["a", "m::b", "m::c", "d", "e"];
/// Keys that are never looked up, as top-level keys or as a hash.
const FLAT: &str = "p::q: 1\n# why\np::r: [x, y]\n";
const NESTED: &str = "p:\n  q: 1\n  # why\n  r: [x, y]\n";
const ALONE: [&str; 3] = ["p", "p::q", "p::r"];
/// The new name in renames.
const NEW_NAME: &str = "n::f";
const VALUES: [&str; 10] = [
    "1",
    "some text",
    "'some text'",
    "[x, y]",
    "\n  - x\n  - y",
    "{k: 1, l: {k: 2}}",
    "\n  k: some text\n  o: 4",
    "\"%{lookup('a')}\"",
    "\"%{alias('m::c')}\"  # why",
    "&x [z, '%{lookup(\"m::c\")}']",
];
const OPTIONS: [&str; 5] = [
    "a: {merge: deep}",
    "'^m::': {merge: unique}",
    "d:\n    merge: hash",
    "m::b: {merge: {strategy: deep, knockout_prefix: '--'}}",
    "'^[de]$': {merge: {strategy: deep, knockout_prefix: '~'}, convert_to: Any}",
];
const WANTED: [&str; 6] = [
    "2",
    "some text",
    "[x, y, z]",
    "{k: 1}",
    "[y]",
    "{k: 1, l: {}}",
];
/// A value that is merged with those of higher levels, and one with fewer elements.
const MORE: &str = "a: {k: 1, l: [x, y]}\nlookup_options: {a: {merge: deep}}\n";
const LESS: &str = "{k: 1, l: [x]}";
const WHOSE: [&str; 4] = ["role=web", "role=db", "web2", "role=web,db"];

type Files = BTreeMap<String, String>;

/// Puppet's answers by node and key.
type Answers = BTreeMap<(String, String), Value>;

/// The files of a random workspace.
fn random(dice: &mut Dice) -> Files {
    let mut files = Files::from([("hiera.yaml".to_owned(), HIERARCHY.to_owned())]);
    let mut shared = Vec::new();
    for name in FILES {
        let mut entries: Vec<String> = Vec::new();
        for key in KEYS {
            if dice.chance(50) {
                let entry = format!("{key}: {}\n", dice.pick(&VALUES));
                entries.push(entry.replace(": \n", ":\n"));
            }
        }
        match name {
            "data/role/web.yaml" => shared.clone_from(&entries),
            // Entries that both roles share can be hoisted.
            "data/role/db.yaml" if dice.chance(50) => entries.clone_from(&shared),
            "data/common.yaml" if dice.chance(20) => entries.push(FLAT.to_owned()),
            "data/common.yaml" if dice.chance(20) => entries.push(NESTED.to_owned()),
            _ => {}
        }
        if dice.chance(15) {
            entries.extend(entries.first().cloned());
        }
        let mut text = entries.concat();
        if dice.chance(30) {
            text += &format!("lookup_options:\n  {}\n", dice.pick(&OPTIONS));
        }
        // Two anchors of one name in a file would refer to the text between them.
        let text = match text.matches("&x").count() {
            0 | 1 => text,
            _ => text.replace("&x ", ""),
        };
        files.insert(name.to_owned(), text);
    }
    files
}

fn snapshot(files: &Files) -> Arc<Snapshot> {
    let workspace = Workspace::new();
    workspace.apply(Change::Folders(vec![FOLDER.into()]));
    for (name, text) in files {
        workspace.apply(Change::open(format!("{FOLDER}/{name}"), text.as_str()));
    }
    workspace.snapshot()
}

fn known() -> KnownNodes {
    let nodes = KNOWN.map(|(name, role)| {
        format!("{name}: {{facts: {{role: {role}}}, trusted: {{}}, variables: {{}}}}\n")
    });
    let file = load_yaml(nodes.concat().as_bytes()).unwrap();
    KnownNodes::new(&Nodes::read(&file, &Default::default()).unwrap())
}

/// The files after a plan.
fn made(files: &Files, plan: &Plan, snapshot: &Snapshot) -> Files {
    let mut files = files.clone();
    for changed in plan.changed(snapshot).unwrap() {
        let name = changed.path.strip_prefix(&format!("{FOLDER}/")).unwrap();
        files.insert(name.to_owned(), changed.after.to_string());
    }
    files
}

/// Puppet's answers for every node and key.
fn answers(puppet: &mut Session, files: &Files) -> Answers {
    let folder = tempfile::tempdir().unwrap();
    let within = files.iter();
    let within = within.map(|(name, text)| (format!("{ENVIRONMENT}/{name}"), text.clone()));
    write_files(&within.collect::<IndexMap<_, _>>(), folder.path());
    let environment = folder.path().join(ENVIRONMENT);
    let nodes: Vec<_> = KNOWN.into_iter().chain(OTHERS).collect();
    let keys: Vec<&str> = KEYS.into_iter().chain(ALONE).chain([NEW_NAME]).collect();
    let requests = nodes.iter().map(|(node, role)| {
        json!({
            "id": node, "node": node, "environment": "production", "puppet_version": 7,
            "keys": keys, "facts": {"role": role}, "environment_dir": environment.to_str(),
            "global_hiera_yaml": null,
        })
    });
    let replies = puppet.ask(&requests.collect::<Vec<_>>());
    let mut found = Answers::new();
    for ((node, _), reply) in nodes.iter().zip(replies) {
        assert_eq!(reply.get("oracle_error"), None, "{reply}");
        for (key, answer) in keys.iter().zip(reply["answers"].as_array().unwrap()) {
            let outcome = match (answer["found"].as_bool(), answer.get("error")) {
                (Some(true), _) => answer["value"].clone(),
                (_, Some(error)) => json!({ "error": error }),
                (_, None) => json!("(not found)"),
            };
            found.insert((node.to_string(), key.to_string()), outcome);
        }
    }
    found
}

/// Calls `ask` with the workspace and its known nodes.
fn with_view<T>(snapshot: &Snapshot, ask: impl FnOnce(&RootView<'_>) -> T) -> T {
    let settings = Settings::for_version(PuppetVersion::V7).for_editor();
    let (configs, nodes) = (ConfigCache::default(), known());
    let analysis = Analysis::new(snapshot, &settings, &configs, &nodes);
    let view = analysis.governing(&format!("{FOLDER}/data/common.yaml"));
    ask(&view.unwrap())
}

/// The disagreements of Puppet and a proof about the changes.
fn disagreements(proof: &Proof, plan: &Plan, before: &Answers, after: &Answers) -> Vec<String> {
    let mut announced = BTreeSet::new();
    for change in &proof.known.changes {
        let nodes = change.after.nodes.iter();
        announced.extend(nodes.map(|node| (node.to_string(), change.key.to_string())));
    }
    let may_change: BTreeSet<&str> = proof.possible.iter().map(|one| &*one.key).collect();
    let mut found = Vec::new();
    for (at, old) in before {
        let (node, key) = at;
        if plan.intended.iter().any(|it| **it == **key) {
            continue;
        }
        let new = &after[at];
        let is_known = KNOWN.iter().any(|(known, _)| known == node);
        let agrees = match is_known {
            true => (old != new) == announced.contains(at),
            // For other nodes only the keys that can change are announced.
            false => old == new || may_change.contains(&**key) || !proof.is_complete,
        };
        if !agrees {
            found.push(format!("{node} {key}: {old} -> {new}"));
        }
    }
    found
}

/// The failures, with their workspace.
fn report(files: &Files, title: &str, words: &str, wrong: &[String], after: &Files) -> String {
    let texts = files.iter().filter(|(name, _)| *name != "hiera.yaml");
    let texts: String = texts
        .map(|(name, text)| format!("#- {name}\n{text}"))
        .collect();
    let changed = after
        .iter()
        .filter(|(name, text)| files.get(*name) != Some(text));
    let changed: String = changed
        .map(|(name, text)| format!("#- {name}\n{text}"))
        .collect();
    let wrong = wrong.join("\n");
    format!("{title}: {words}\n{wrong}\nBEFORE\n{texts}AFTER\n{changed}")
}

/// The kind of a refactoring: the words of its title that do not depend on the workspace.
fn kind(title: &str) -> &'static str {
    let kinds = [
        ("Keep only", "one of duplicates"),
        ("Extract", "extract"),
        ("Inline", "inline"),
        ("Merge", "merge"),
        ("Combine", "nest"),
        ("Split", "flatten"),
        ("Move", "move"),
    ];
    match title {
        title if title.contains(" from all ") => "hoist",
        title if title.contains(" into ") && title.starts_with("Move") => "push down",
        title => {
            let found = kinds.iter().find(|(begin, _)| title.starts_with(begin));
            found.unwrap_or_else(|| panic!("what is '{title}'?")).1
        }
    }
}

/// The refactorings of every key and value of a file, each once.
fn all_offers(analysis: Analysis<'_>, path: &str) -> BTreeMap<String, usize> {
    let text = analysis.snapshot.file(path).unwrap().text().clone();
    let mut found = BTreeMap::new();
    for (offset, _) in text.match_indices(|c: char| c.is_alphanumeric() || c == '%') {
        for offer in offers(analysis, path, offset) {
            found.entry(offer.title).or_insert(offset);
        }
    }
    found
}

#[test]
fn refactorings_change_in_puppet_what_they_say() {
    if puppet_version().is_none() {
        return;
    }
    let mut dice = Dice::new(18);
    let mut puppet = Program::puppet().start();
    let mut tried: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for _ in 0..WORKSPACES {
        let files = random(&mut dice);
        let snapshot = snapshot(&files);
        let before = answers(&mut puppet, &files);
        with_view(&snapshot, |view| {
            for name in FILES {
                let at = format!("{FOLDER}/{name}");
                for (title, offset) in all_offers(view.analysis, &at) {
                    let (offer, proof) = chosen(view.analysis, &at, offset, &title).unwrap();
                    let after = made(&files, &offer.plan, &snapshot);
                    let given = answers(&mut puppet, &after);
                    let found = disagreements(&proof, &offer.plan, &before, &given);
                    *tried.entry(kind(&title)).or_default() += 1;
                    if !found.is_empty() {
                        wrong.push(report(&files, &title, &proof.words(), &found, &after));
                    }
                }
            }
        });
    }
    println!("{tried:?}");
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(3)].join("\n\n")
    );
    assert_eq!(tried.len(), 9, "{tried:?}");
}

#[test]
fn renames_change_nothing_in_puppet_but_the_name() {
    if puppet_version().is_none() {
        return;
    }
    let mut dice = Dice::new(20);
    let mut puppet = Program::puppet().start();
    let mut renamed = 0;
    for _ in 0..12 * WORKSPACES {
        let files = random(&mut dice);
        let snapshot = snapshot(&files);
        let key = dice.pick(&KEYS);
        let mut named = FILES.iter().filter_map(|name| {
            let at = format!("{FOLDER}/{name}");
            let file = snapshot.file(&at)?;
            Some((at, file.facts().key(key)?.key.start as usize))
        });
        let Some((at, offset)) = named.next() else {
            continue;
        };
        let found = with_view(&snapshot, |view| {
            rename(view.analysis, &at, offset, NEW_NAME)
        });
        // A pattern that matches other keys too would no longer match: that needs a confirmation
        // first.
        let plain = found.ok().filter(|found| found.to_confirm.is_empty());
        let Some(edits) = plain.map(|found| found.edits) else {
            continue;
        };
        let plan = Plan {
            edits,
            ..Plan::default()
        };
        let before = answers(&mut puppet, &files);
        let changed = made(&files, &plan, &snapshot);
        let after = answers(&mut puppet, &changed);
        let mut wrong = Vec::new();
        for ((node, name), old) in &before {
            let now = match name {
                name if name == key => NEW_NAME,
                name if name == NEW_NAME => key,
                name => name,
            };
            let new = &after[&(node.clone(), now.to_owned())];
            // Errors name the keys.
            let normalized = |answer: &Value| match answer.get("error") {
                Some(error) => error.to_string().replace(NEW_NAME, key),
                None => answer.to_string(),
            };
            if normalized(old) != normalized(new) {
                wrong.push(format!("{node} {name}: {old} -> {new}"));
            }
        }
        let title = format!("rename {key}");
        assert!(
            wrong.is_empty(),
            "{}",
            report(&files, &title, "", &wrong, &changed)
        );
        renamed += 1;
    }
    assert!(renamed > WORKSPACES / 2, "{renamed}");
}

/// The proposals whose announced effects differ from Puppet's.
fn broken_promises(
    goal: &Goal,
    proposal: &Proposal,
    before: &Answers,
    after: &Answers,
) -> Vec<String> {
    let value: Value = serde_json::from_str(&to_tagged_json(&goal.value)).unwrap();
    let nodes = known();
    let mut wrong = disagreements(&proposal.proof, &proposal.plan, before, after);
    for (number, (name, _)) in KNOWN.iter().enumerate() {
        let at = (nodes.certname(number).to_owned(), goal.key.to_string());
        assert_eq!(nodes.certname(number), *name);
        let is_member = goal.members.contains(&number);
        let is_announced = proposal.changed.iter().any(|changed| **changed == **name);
        if is_member && after[&at] != value {
            wrong.push(format!("{name} gets {}, not {value}", after[&at]));
        }
        if is_announced != (before[&at] != after[&at]) {
            wrong.push(format!("{name}: {} -> {}", before[&at], after[&at]));
        }
        if goal.only && !is_member && before[&at] != after[&at] {
            wrong.push(format!("{name} was not meant"));
        }
    }
    wrong
}

#[test]
fn edits_by_goal_do_in_puppet_what_they_say() {
    if puppet_version().is_none() {
        return;
    }
    let mut dice = Dice::new(19);
    let mut puppet = Program::puppet().start();
    let mut tried = 0;
    // Ways to remove elements from lower levels.
    let mut ways: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for _ in 0..2 * WORKSPACES {
        let mut files = random(&mut dice);
        let (mut key, mut value) = (dice.pick(&KEYS), dice.pick(&WANTED));
        if dice.chance(10) {
            (key, value) = ("a", LESS);
            files.retain(|name, _| name == "hiera.yaml");
            files.insert("data/common.yaml".to_owned(), MORE.to_owned());
        }
        let snapshot = snapshot(&files);
        let value = value_of(value).unwrap();
        let which = nodes_of(&[dice.pick(&WHOSE).to_owned()]).unwrap();
        let only = dice.chance(60);
        let goal = Goal::of(&known(), (Arc::from(key), value), &which, only).unwrap();
        let found = with_view(&snapshot, |view| proposals(view, &goal, &|_| {})).unwrap();
        let Outcome::Proposals(all) = found else {
            continue;
        };
        let before = answers(&mut puppet, &files);
        for proposal in all {
            let changed = made(&files, &proposal.plan, &snapshot);
            let after = answers(&mut puppet, &changed);
            let found = broken_promises(&goal, &proposal, &before, &after);
            tried += 1;
            for way in ["with knock-outs", "merged by 'hash'", "no longer merge"] {
                if proposal.title.contains(way) {
                    *ways.entry(way).or_default() += 1;
                }
            }
            if !found.is_empty() {
                let words = proposal.words();
                wrong.push(report(&files, &proposal.title, &words, &found, &changed));
            }
        }
    }
    println!("{tried} proposals, {ways:?}");
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(3)].join("\n\n")
    );
    assert!(tried > WORKSPACES && ways.len() == 3, "{tried}, {ways:?}");
}
