//! Lookups compared with real Puppet's, in one run on the same requests: `cargo bench --bench
//! lookup`.
//!
//! Parts (`cargo bench --bench lookup -- warm`): `warm` (one scope, many keys), `fresh` (a new
//! scope for every key), `batch` (the program's own protocol), `options` (choosing among many
//! patterns), `cold` (the command). Answers are compared before anything is timed. Without Puppet
//! its side is skipped, with a message.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a benchmark stops at the first surprise, runs programs and prints"
)]

mod generator;
mod measure;

use std::cell::RefCell;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use generator::{ControlRepo, Machine};
use hiera_ls::disk::{DiskFiles, snapshot_of};
use hiera_ls::lookup::{
    Answer, ConfigCache, Environment, PuppetVersion, Request, Session, Settings,
};
use hiera_ls::scope::{Authenticated, Facts, Scope, default_trusted};
use hiera_ls::value::{HashMap, from_json, to_tagged_json};
use hiera_ls::workspace::{Change, Files, Workspace};
use measure::{best, left_out, note, number, ratio, report};
use serde_json::{Value, json};

/// Number of machines in the warm sets, spread evenly over the fleet.
const WARM_MACHINES: usize = 25;

/// Number of requests that fit into a pipe: it holds 64 KB, and a machine's facts take about 8.
const TOGETHER: usize = 8;

/// Number of rounds of each warm set, for Puppet and for us.
const ROUNDS: [(&str, usize, usize); 3] = [("mixed", 2, 40), ("deep", 2, 40), ("first", 6, 40)];

fn main() {
    let nodes = number("NODES", 1_000);
    let repo = ControlRepo::of(nodes);
    let folder = tempfile::tempdir().unwrap();
    let (files, bytes) = repo.write(folder.path());
    let common = std::fs::metadata(folder.path().join("data/common.yaml"))
        .unwrap()
        .len();
    println!(
        "control repository of {nodes} nodes: {files} files, {:.1} MB, common.yaml {} KB",
        bytes as f64 / 1e6,
        common / 1000
    );
    let bench = Bench::new(&repo, folder.path());
    if ["warm", "fresh", "batch"]
        .iter()
        .any(|part| !left_out(part))
    {
        bench.beside_puppet();
    }
    if !left_out("options") {
        options();
    }
    if !left_out("cold") {
        bench.cold();
    }
}

/// State shared by the parts.
struct Bench {
    folder: String,
    machines: Vec<Machine>,
    warm: Vec<usize>,
    environment: Environment,
    settings: Settings,
}

impl Bench {
    fn new(repo: &ControlRepo, folder: &Path) -> Bench {
        let folder = folder.to_str().unwrap().to_string();
        let step = (repo.nodes / WARM_MACHINES).max(1);
        Bench {
            machines: (0..repo.nodes).map(|number| repo.machine(number)).collect(),
            warm: (0..repo.nodes).step_by(step).take(WARM_MACHINES).collect(),
            environment: Environment {
                name: "production".into(),
                dir: Some(folder.as_str().into()),
                modulepath: vec![format!("{folder}/modules").into()],
                codedir: "/etc/puppetlabs/code".into(),
                ..Environment::default()
            },
            settings: Settings::for_version(PuppetVersion::V8),
            folder,
        }
    }

    fn keys(&self, machine: usize, set: &str) -> Vec<String> {
        let of_set = |kind: &str| match set {
            "mixed" => true,
            "deep" => kind == "settings",
            _ => matches!(kind, "ensure" | "port" | "enabled" | "motd"),
        };
        let all = self.machines[machine].parameters().into_iter();
        all.filter(|(_, kind)| of_set(kind))
            .map(|(key, _)| key)
            .collect()
    }

    /// A key for each machine, cycling through all kinds.
    fn fresh_keys(&self, set: &str) -> Vec<(usize, String)> {
        (0..self.machines.len())
            .map(|machine| {
                let keys = self.keys(machine, set);
                (machine, keys[machine % keys.len()].clone())
            })
            .collect()
    }

    fn session<'a>(&'a self, files: &'a dyn Files, configs: &'a ConfigCache) -> Session<'a> {
        Session {
            files,
            environment: &self.environment,
            settings: &self.settings,
            configs,
        }
    }

    fn scope(&self, machine: usize, facts: &HashMap) -> Scope {
        let trusted = default_trusted(
            &self.machines[machine].certname,
            Authenticated::Local,
            &HashMap::default(),
        );
        Scope::closed(
            &Facts::from(facts.clone()),
            &trusted,
            &HashMap::default(),
            &HashMap::default(),
            "production",
        )
    }

    fn facts(&self, machine: usize) -> HashMap {
        let facts = from_json(&self.machines[machine].facts().to_string()).unwrap();
        facts.as_hash().unwrap().clone()
    }

    fn beside_puppet(&self) {
        let sets: Vec<&str> = ROUNDS.iter().map(|(name, ..)| *name).collect();
        let theirs = self.puppet(&sets);
        let snapshot = snapshot_of(&self.folder);
        let configs = ConfigCache::default();
        let session = self.session(&*snapshot, &configs);
        for (set, _, rounds) in ROUNDS {
            if left_out("warm") {
                continue;
            }
            let theirs_again = theirs
                .as_ref()
                .map(|theirs| &theirs["sets"][&format!("again {set}")]);
            let theirs = theirs.as_ref().map(|theirs| &theirs["sets"][set]);
            let (mut time, mut count) = ([Duration::ZERO; 2], [0; 2]);
            for (at, &machine) in self.warm.iter().enumerate() {
                let keys = self.keys(machine, set);
                let scope = self.scope(machine, &self.facts(machine));
                let once: Vec<Request> = keys.iter().map(|key| Request::key(key)).collect();
                let mut answers = Vec::with_capacity(once.len());
                session.lookup_each(&scope, &once, |answer| answers.push(answer));
                if let Some(theirs) = theirs {
                    let expected = theirs["answers"][at].as_array().unwrap();
                    for ((key, answer), expected) in keys.iter().zip(&answers).zip(expected) {
                        assert_same(key, answer, expected);
                    }
                }
                // The answers are dropped on both sides.
                let ask = |rounds: usize, keys: &[Request]| {
                    let requests = (0..rounds).flat_map(|_| keys);
                    session.lookup_each(&scope, requests, drop)
                };
                // The first key fills the scope's caches, before timing starts on both sides.
                let first = best(5, || ask(1, &once[..1]));
                let each = best(5, || ask(1, &once));
                let all = best(2, || ask(1 + rounds, &once));
                time[0] += each.saturating_sub(first);
                count[0] += once.len() - 1;
                time[1] += all.saturating_sub(each);
                count[1] += rounds * once.len();
            }
            let floor = match set {
                "mixed" => Some(40.0),
                "deep" => Some(60.0),
                // First found is the smaller part of the mix.
                _ => None,
            };
            let label = format!("warm, {set}, each key once a scope");
            self.compare(&label, theirs, count[0], time[0], floor);
            let label = format!("warm, {set}, the same keys again");
            self.compare(&label, theirs_again, count[1], time[1], floor);
        }
        if left_out("fresh") && left_out("batch") {
            return;
        }
        let disk = RefCell::new(DiskFiles::new());
        for set in sets {
            let name = format!("fresh {set}");
            let theirs = theirs.as_ref().map(|theirs| &theirs["sets"][&name]);
            let pairs = self.fresh_keys(set);
            // On both sides, scopes are made from facts before timing starts.
            let scopes: Vec<Scope> = pairs
                .iter()
                .map(|(at, _)| self.scope(*at, &self.facts(*at)))
                .collect();
            for what in ["snapshot", "disk"] {
                let ask = || -> Vec<Answer> {
                    let mut disk = disk.borrow_mut();
                    disk.look_again();
                    let requests = pairs.iter().zip(&scopes).enumerate();
                    let answers = requests.map(|(at, ((_, key), scope))| {
                        // Like in the batch protocol: requests that arrive together see the same
                        // state.
                        if at % TOGETHER == 0 {
                            disk.look_again();
                        }
                        let files: &dyn Files = match what {
                            "disk" => &*disk,
                            _ => &*snapshot,
                        };
                        let session = self.session(files, &configs);
                        session.lookup(scope, &Request::key(key))
                    });
                    answers.collect()
                };
                let answers = ask();
                if let Some(theirs) = theirs {
                    let expected = theirs["answers"].as_array().unwrap();
                    for ((answer, expected), (_, key)) in answers.iter().zip(expected).zip(&pairs) {
                        assert_same(key, answer, expected);
                    }
                }
                let time = best(5, ask);
                let label = format!("each scope new, {set}, {what}");
                let floor = (what == "disk").then_some(40.0);
                self.compare(&label, theirs, pairs.len(), time, floor);
            }
        }
    }

    fn compare(
        &self,
        what: &str,
        theirs: Option<&Value>,
        count: usize,
        time: Duration,
        floor: Option<f64>,
    ) {
        let ours = count as f64 / time.as_secs_f64();
        let Some(theirs) = theirs else {
            note(
                what,
                &format!("{ours:.0} lookups per CPU second; SKIPPED: no Puppet here"),
            );
            return;
        };
        let puppet = theirs["count"].as_f64().unwrap() / theirs["seconds"].as_f64().unwrap();
        let figures = format!(
            "{ours:.0} lookups per CPU second, Puppet {puppet:.0}: {:.0}×",
            ours / puppet
        );
        match floor {
            Some(floor) => report(
                what,
                &figures,
                &format!("≥ {floor}×"),
                ours / puppet >= floor,
            ),
            None => note(what, &figures),
        }
    }

    /// Puppet's answers and times for the same requests; `None` without Puppet.
    fn puppet(&self, sets: &[&str]) -> Option<Value> {
        if !has_puppet() {
            return None;
        }
        let machine = |at: usize| {
            let machine = &self.machines[at];
            json!({ "certname": machine.certname, "facts": machine.facts() })
        };
        let nodes: Vec<Value> = self
            .warm
            .iter()
            .map(|&at| {
                let mut node = machine(at);
                for set in sets {
                    node[*set] = json!(self.keys(at, set));
                }
                node
            })
            .collect();
        let rounds: serde_json::Map<String, Value> = ROUNDS
            .iter()
            .filter(|_| !left_out("warm"))
            .map(|(name, rounds, _)| ((*name).to_string(), json!(rounds)))
            .collect();
        let fresh: serde_json::Map<String, Value> = sets
            .iter()
            .filter(|_| !(left_out("fresh") && left_out("batch")))
            .map(|set| (format!("fresh {set}"), json!(self.fresh_keys(set))))
            .collect();
        let machines: Vec<Value> = (0..self.machines.len()).map(machine).collect();
        let plan = json!({
            "environment_dir": self.folder, "nodes": nodes, "sets": rounds, "fresh": fresh,
            "machines": machines,
        });
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/puppet.rb");
        let mut child = Command::new("ruby")
            .args([
                "--disable=error_highlight",
                "--disable=did_you_mean",
                script,
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(plan.to_string().as_bytes()).unwrap();
        drop(input);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "benches/puppet.rb failed");
        let result: Value = serde_json::from_slice(&output.stdout).unwrap();
        println!("Puppet {} beside", result["puppet"].as_str().unwrap());
        Some(result)
    }

    /// The whole command: start, read, answer, print.
    fn cold(&self) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
        let facts = path("facts.json");
        let machine = &self.machines[0];
        std::fs::write(&facts, machine.facts().to_string()).unwrap();
        let own = std::fs::read_to_string(format!(
            "{}/data/nodes/{}.yaml",
            self.folder, machine.certname
        ))
        .unwrap();
        let keys = self.keys(0, "deep");
        let key = keys
            .iter()
            .find(|key| !own.contains(&format!("\n{key}:")))
            .unwrap();
        let program = env!("CARGO_BIN_EXE_hiera-ls");
        let ours = [
            program,
            "lookup",
            key,
            "--node",
            &machine.certname,
            "--facts",
            &facts,
            "--workspace",
            &self.folder,
            "--explain",
        ];
        let output = Command::new(program).args(&ours[1..]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("Merged result"), "{text}");
        let time = measure::command_time(100, &ours);
        if !has_puppet() {
            note(
                "cold --explain",
                &format!("{time:.2?}; SKIPPED: no Puppet here"),
            );
            return;
        }
        // Puppet looks for its environment by name.
        std::fs::create_dir(folder.path().join("environments")).unwrap();
        std::os::unix::fs::symlink(&self.folder, folder.path().join("environments/production"))
            .unwrap();
        let places = ["conf", "code", "var"].map(path);
        let environments = path("environments");
        let theirs = [
            "puppet",
            "lookup",
            key,
            "--node",
            &machine.certname,
            "--facts",
            &facts,
            "--explain",
            "--environment",
            "production",
            "--environmentpath",
            &environments,
            "--confdir",
            &places[0],
            "--codedir",
            &places[1],
            "--vardir",
            &places[2],
        ];
        let output = Command::new("puppet").args(&theirs[1..]).output().unwrap();
        let expected = String::from_utf8(output.stdout).unwrap();
        let expected = expected.replace(&format!("{environments}/production"), &self.folder);
        let text = without_node_level(&text, &machine.certname);
        let expected = without_node_level(&expected, &machine.certname);
        assert!(text == expected, "ours:\n{text}\nPuppet's:\n{expected}");
        let puppet = measure::command_time(2, &theirs);
        report(
            "cold --explain",
            &format!(
                "{time:.2?}, puppet lookup {puppet:.2?}: {:.0}×",
                ratio(puppet, time)
            ),
            "≥ 20×",
            ratio(puppet, time) >= 20.0,
        );
    }
}

/// A trace without the node's own file: the command of this Puppet knows no trusted data, ours
/// knows the certificate's name. The key is not in that file.
fn without_node_level(trace: &str, certname: &str) -> String {
    let mut kept = Vec::new();
    let mut lines = trace.trim_end().lines();
    while let Some(line) = lines.next() {
        kept.push(line.replace(&format!("nodes/{certname}.yaml"), "nodes/.yaml"));
        if line.contains("Original path: \"nodes/") {
            lines.next();
        }
    }
    kept.join("\n")
}

fn has_puppet() -> bool {
    let found = Command::new("puppet").arg("--version").output();
    found.is_ok_and(|output| output.status.success())
}

fn assert_same(key: &str, answer: &Answer, expected: &Value) {
    match &answer.result {
        Ok(value) => {
            let ours: Value = serde_json::from_str(&to_tagged_json(value)).unwrap();
            assert_eq!(ours.to_string(), expected["value"].to_string(), "{key}");
        }
        Err(error) => {
            assert!(error.is_not_found(), "{key}: {error}");
            assert_eq!(expected["missing"], true, "{key}");
        }
    }
}

/// 200 patterns of `lookup_options` over 50,000 keys, compared with trying compiled regular
/// expressions one by one.
fn options() {
    let patterns: Vec<String> = (0..200)
        .map(|at| match at % 5 {
            0 => format!("^profile::p{at:03}::.*_list$"),
            1 => format!("^role_{at:03}::"),
            2 => format!("^profile::p{at:03}::(users|groups)$"),
            3 => format!("^module{at:03}::config::.*$"),
            _ => format!("^.*::special_{at:03}$"),
        })
        .collect();
    let mut text = String::from("lookup_options:\n");
    for pattern in &patterns {
        text += &format!("  '{pattern}': {{merge: deep}}\n");
    }
    let workspace = Workspace::new();
    workspace.apply(Change::Folders(vec!["/env".into()]));
    let open = |path: &str, text: &str| workspace.apply(Change::open(path, text));
    open(
        "/env/hiera.yaml",
        "version: 5\nhierarchy: [{name: c, path: c.yaml}]\n",
    );
    let snapshot = open("/env/data/c.yaml", &text);
    let environment = Environment {
        dir: Some("/env".into()),
        ..Environment::default()
    };
    let settings = Settings::for_version(PuppetVersion::V8);
    let keys: Vec<String> = (0..50_000)
        .map(|at| match at % 4 {
            0 => format!("profile::p{:03}::users", at % 250),
            1 => format!("module{:03}::config::value_{at}", at % 250),
            2 => format!("profile::p{:03}::setting_{at}", at % 250),
            _ => format!("app{:03}::special_{:03}", at % 90, at % 250),
        })
        .collect();
    let compiled: Vec<regex::Regex> = patterns
        .iter()
        .map(|pattern| regex::Regex::new(pattern).unwrap())
        .collect();
    let scope = Scope::open();
    let chosen = || -> Vec<Option<Arc<str>>> {
        // Nothing is cached between rounds.
        let session = Session {
            files: &*snapshot,
            environment: &environment,
            settings: &settings,
            configs: &ConfigCache::default(),
        };
        let options = session.lookup_options(&scope, None).unwrap();
        keys.iter()
            .map(|key| Some(options.entry(key)?.name))
            .collect()
    };
    let tried = || -> Vec<Option<&str>> {
        keys.iter()
            .map(|key| {
                Some(
                    compiled
                        .iter()
                        .find(|pattern| pattern.is_match(key))?
                        .as_str(),
                )
            })
            .collect()
    };
    let (ours, theirs) = (chosen(), tried());
    assert!(ours.iter().map(Option::as_deref).eq(theirs.iter().copied()));
    let found = ours.iter().flatten().count();
    // Ours compiles the patterns it needs in every round; theirs are already compiled.
    let (ours, theirs) = (best(3, chosen), best(3, tried));
    report(
        "lookup_options, 200 patterns over 50,000 keys",
        &format!(
            "{found} chosen, {ours:.2?}, compiled patterns alone {theirs:.2?}: {:.2} ×",
            ratio(ours, theirs)
        ),
        "≤ 2 ×",
        ratio(ours, theirs) <= 2.0,
    );
}
