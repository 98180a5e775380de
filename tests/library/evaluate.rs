//! Variables that real Puppet sets in manifests (`tests/parity/evaluate_cases.rb`) compared with
//! ours: known values equal Puppet's, and unknown ones are on a list.

use std::collections::BTreeMap;
use std::sync::Arc;

use hiera_ls::analysis::SiteManifests;
use hiera_ls::lookup::{PuppetVersion, Settings, Strict};
use hiera_ls::scope::{Assigned, Assignments, KnownNodes, Nodes};
use hiera_ls::value::{Value, from_json, to_tagged_json};
use hiera_ls::workspace::Snapshot;

use crate::fixture::{FOLDER, Fixture};
use crate::tagged_json::from_tagged_json;

/// Values known here although Puppet fails earlier: a function that is in no visible module may be
/// in another one.
const KNOWN_TOO: &[&str] = &["undefined_function(1): top: $after = 1: not set"];

/// Values known here for nodes without a catalog: a function that is in no visible module may be in
/// another one, and a missing variable may be an unknown fact.
const KNOWN_BEFORE: &[(&str, &str)] = &[
    ("undefined_function(1)", "after"),
    ("undefined is an error where variables are strict", "a"),
];

/// The complete list of cases in which variables that Puppet sets are unknown here.
const NOT_KNOWN: &[(&str, &str)] = &[
    // A class that is included elsewhere may have it.
    ("$none::x", "v"),
    ("type('a')", "v"),
    // Functions in Ruby are not run.
    ("a library function of another module", "a"),
    ("an old library function of another module", "a"),
    // Resources are not evaluated.
    ("what statements give", "a"),
    ("what statements give", "b"),
];

/// The complete list of cases in which Puppet fails and that is not known here.
const NOT_FAILING: &[&str] = &[
    // It may be in a module that is not visible.
    "undefined_function(1)",
];

#[test]
fn manifests_set_what_puppet_sets() {
    let mut problems = Vec::new();
    let (mut unknown, mut failing) = (Vec::new(), Vec::new());
    let (mut cases, mut variables) = (0, 0);
    let mut not_failing = Vec::new();
    for line in include_str!("../cases/evaluate.jsonl").lines() {
        let case = from_json(line).unwrap();
        let id = case.get("id").unwrap().as_str().unwrap().to_owned();
        cases += 1;
        let assigned = assigned(&case);
        match (case.get("error"), &assigned.failure) {
            (None, Some(failure)) => problems.push(format!("{id}: fails: {}", failure.message)),
            (Some(_), None) => not_failing.push(id.clone()),
            _ => {}
        }
        for (scope, ours) in [("top", &assigned.top), ("node", &assigned.node)] {
            let theirs = answers(case.get(scope).unwrap());
            let fails = case.get("error").is_some();
            for problem in differences(ours, &theirs, fails) {
                problems.push(format!("{id}: {scope}: {problem}"));
            }
            variables += theirs.len();
            if fails {
                let known = ours.iter().filter(|(_, set)| set.value.is_ok());
                failing.extend(known.map(|(name, _)| (id.clone(), name.to_string())));
                continue;
            }
            let known = |name: &&String| ours.get(&***name).is_some_and(|it| it.value.is_ok());
            let missing = theirs.keys().filter(|name| !known(name));
            unknown.extend(missing.map(|name| (id.clone(), name.clone())));
        }
    }
    let unknown: Vec<(&str, &str)> = unknown.iter().map(|(id, name)| (&**id, &**name)).collect();
    println!("{cases} manifests, {variables} variables as Puppet has them");
    assert_eq!(problems, KNOWN_TOO);
    assert_eq!(unknown, NOT_KNOWN);
    let failing: Vec<(&str, &str)> = failing.iter().map(|(id, name)| (&**id, &**name)).collect();
    assert_eq!(failing, KNOWN_BEFORE);
    assert_eq!(not_failing, NOT_FAILING);
    assert!(cases > 250, "{cases}");
}

/// The differences between our known values and Puppet's.
pub(crate) fn differences(
    ours: &Assignments,
    theirs: &BTreeMap<String, (Value, String, i64)>,
    fails: bool,
) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, ours) in ours {
        let Some((value, file, line)) = theirs.get(&**name) else {
            match &ours.value {
                Ok(value) => problems.push(format!("${name} = {}: not set", value.inspect())),
                Err(_) if fails => {}
                Err(because) => problems.push(format!("${name} may be set: {because}")),
            }
            continue;
        };
        let file = format!("{FOLDER}/{file}");
        if *ours.file != *file || i64::from(ours.line) != *line {
            problems.push(format!(
                "${name}: {}:{}, not {file}:{line}",
                ours.file, ours.line
            ));
        }
        if let Ok(ours) = &ours.value
            && ours != value
        {
            let shown = [ours, value].map(to_tagged_json);
            problems.push(format!("${name} is {}, not {}", shown[0], shown[1]));
        }
    }
    problems
}

/// The variables that Puppet sets in a scope: value, file and line by name.
pub(crate) fn answers(set: &Value) -> BTreeMap<String, (Value, String, i64)> {
    let entries = set.as_hash().unwrap().iter();
    let answer = |(name, answer): (&Value, &Value)| {
        let value = answer.get("value").unwrap();
        let file = answer.get("file").unwrap().as_str().unwrap();
        let Some(Value::Int(line)) = answer.get("line") else {
            panic!("no line: {}", answer.inspect());
        };
        let value = from_tagged_json(&to_tagged_json(value)).unwrap();
        (
            name.as_str().unwrap().to_owned(),
            (value, file.to_owned(), *line),
        )
    };
    entries.map(answer).collect()
}

/// The variables set here for the node of a case.
pub(crate) fn assigned(case: &Value) -> Arc<Assigned> {
    let snapshot = snapshot(case.get("files").unwrap());
    let settings = Settings {
        strict: Strict::Warning,
        strict_variables: case.get("strict_variables") == Some(&Value::Bool(true)),
        ..Settings::for_version(PuppetVersion::V7)
    };
    let root = snapshot.roots().environments().next();
    let root = root.unwrap_or_else(|| panic!("{:?}: no environment", case.get("id")));
    let manifests = SiteManifests::of(&snapshot, root, &settings);
    if !manifests.may_matter() {
        return Arc::default();
    }
    let name = case.get("certname").unwrap().as_str().unwrap();
    // Puppet had no classifier and no certificate with extensions.
    let node = Value::hash([
        ("facts", case.get("facts").unwrap().clone()),
        ("trusted", Value::hash([])),
        ("variables", Value::hash([])),
    ]);
    let nodes = Nodes::read(&Value::hash([(name, node)]), &Default::default()).unwrap();
    let nodes = KnownNodes::new(&nodes).with_manifests(Arc::new(manifests));
    nodes.assigned(0).unwrap()
}

fn snapshot(files: &Value) -> Arc<Snapshot> {
    let conf = (
        "environment.conf".to_owned(),
        "modulepath = modules\n".to_owned(),
    );
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let files = files.as_hash().unwrap().iter();
    let files = files.map(|(path, content)| (text(path), text(content)));
    let fixture = Fixture {
        files: files.chain([conf]).collect(),
        cursor: None,
    };
    fixture.on_disk()
}
