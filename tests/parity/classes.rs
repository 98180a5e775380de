//! Random classes with typed parameters in random repositories: their values in catalogs of real
//! Puppet equal those of lookups, and the rules report exactly the values that Puppet refuses.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use hiera_ls::disk::{Ignore, scan};
use hiera_ls::lookup::PuppetVersion;
use hiera_ls::rules::Checker;
use hiera_ls::workspace::{Change, Workspace};
use regex::Regex;
use serde_json::{Map, Value, json};

use crate::case::{full_request, write_files};
use crate::compare::{Outcome, gist, outcome, text_of};
use crate::generate::class::{Class, classes};
use crate::generate::dice::Dice;
use crate::generate::repo::{Repo, add_site, data_of};
use crate::generate::request::base;
use crate::program::{Program, Session};

/// Situations that a run of some hundred catalogs must reach.
const MET: [&str; 7] = [
    "value from data",
    "default",
    "catalog",
    "no catalog because of a manifest",
    "no catalog because of a type",
    "no catalog because of a missing value",
    "finding that Puppet confirms",
];

/// A finding of a rule: its code, the class, its message and its file.
struct Found {
    code: &'static str,
    class: String,
    message: String,
    path: String,
}

/// The results of a run.
#[derive(Default)]
pub struct Report {
    /// How often each situation was reached.
    pub met: BTreeMap<&'static str, usize>,
    /// Unknown values, and the number of all values.
    pub unknown: (usize, usize),
    /// Catalogs that Puppet refuses because of a class, and how many of them a rule reports.
    pub refused: (usize, usize),
    /// Why manifests fail.
    pub reasons: BTreeMap<String, usize>,
    /// The differences.
    pub differences: Vec<String>,
}

/// Compiles `count` catalogs.
pub fn run(seed: u64, count: usize, folder: &Path) -> Report {
    let mut dice = Dice::new(seed);
    let mut puppet = Program::puppet().start();
    let mut report = Report::default();
    report.met.extend(MET.map(|name| (name, 0)));
    for at in 0..count {
        let risky = dice.chance(10);
        let mut repo = data_of(&mut dice, risky, true);
        repo.files.retain(|path, _| !path.starts_with("global/"));
        repo.scopes.truncate(1);
        let classes = classes(&mut dice, &mut repo);
        // It is the class's module where its parameters are looked up, which no request contains.
        if repo.files.values().any(|text| text.contains("module_name")) {
            continue;
        }
        let includes = classes.iter();
        let includes = includes.map(|class| format!("include {}\n  ", class.name));
        let includes: String = includes.collect();
        // Puppet keeps the lookup_options that a manifest's lookup found before variables were set.
        add_site(&mut dice, &mut repo, &[], &includes);
        let mut request = base(&mut dice, &repo.scopes[0]);
        request.insert("puppet_version".into(), 7.into());
        request.shift_remove("strict");
        request.shift_remove("strict_variables");
        let nodes = json!({ request["node"].as_str().expect("a name"): {
            "facts": request["facts"], "trusted": request.get("trusted"), "variables": request.get("variables"),
        }});
        repo.files
            .insert("env/nodes.json".into(), nodes.to_string());
        let root = folder.join(format!("c{at}"));
        write_files(&repo.files, &root);
        let mut one = One {
            repo: &repo,
            classes: &classes,
            root: &root,
            request,
            report: &mut report,
        };
        one.compare(&mut puppet);
        let _ = std::fs::remove_dir_all(&root);
    }
    report
}

struct One<'a> {
    repo: &'a Repo,
    classes: &'a [Class],
    root: &'a Path,
    request: Map<String, Value>,
    report: &'a mut Report,
}

impl One<'_> {
    fn compare(&mut self, puppet: &mut Session) {
        let catalog = self.request_for("catalog", &[]);
        let catalog = puppet.ask(&[catalog]).remove(0);
        let names = self.classes.iter().flat_map(|class| {
            let all = class.parameters.iter();
            all.map(move |parameter| format!("{}::{}", class.name, parameter.name))
        });
        let names: Vec<String> = names.collect();
        let requests = names.iter().map(|name| {
            let key = [
                ("key", json!(name)),
                ("facet", json!("search_and_merge")),
                ("explain", json!(true)),
            ];
            self.request_for("agent", &key)
        });
        let requests: Vec<Value> = requests.collect();
        let answers = Program::ours().answer_all(&requests);
        let answers: BTreeMap<String, Value> = names.into_iter().zip(answers).collect();
        let found = self.found(&answers);
        match (catalog.get("parameters"), catalog.get("no_catalog")) {
            (Some(parameters), _) => self.values(parameters, &answers, &found),
            (None, Some(why)) => self.refusal(why.as_str().unwrap_or_default(), &found),
            (None, None) => {
                assert!(catalog.get("too_slow").is_some(), "{catalog}");
            }
        }
    }

    fn request_for(&self, compile: &str, more: &[(&str, Value)]) -> Value {
        let mut request = self.request.clone();
        request.insert("compile".into(), compile.into());
        request.extend(
            more.iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone())),
        );
        full_request(&self.repo.files, &request, "c", self.root)
    }

    fn met(&mut self, what: &'static str) {
        *self.report.met.entry(what).or_default() += 1;
    }

    fn differs(&mut self, what: String) {
        let files = self.repo.files.iter();
        let code = files.filter(|(path, _)| path.ends_with(".pp") || path.ends_with("hiera.yaml"));
        let code: String = code
            .map(|(path, text)| format!("#- {path}\n{text}"))
            .collect();
        let node = &self.request["node"];
        self.report
            .differences
            .push(format!("{what} for {node}\n{code}"));
    }

    /// Compares the values of a catalog with those of lookups.
    fn values(&mut self, parameters: &Value, answers: &BTreeMap<String, Value>, found: &[Found]) {
        self.met("catalog");
        // Puppet does not accept every site manifest: then no class is declared.
        let declared = |one: &&Found| parameters.get(&one.class).is_some();
        for one in found.iter().filter(declared) {
            self.differs(format!(
                "{}: {} in {}, but Puppet compiles",
                one.code, one.message, one.path
            ));
        }
        for class in self.classes {
            for parameter in &class.parameters {
                let key = format!("{}::{}", class.name, parameter.name);
                let Some(values) = parameters.get(&class.name) else {
                    continue;
                };
                let theirs = values.get(&parameter.name).unwrap_or(&Value::Null);
                let answer = &answers[&key];
                let value = match outcome(answer) {
                    Outcome::Unknown => {
                        self.report.unknown.0 += 1;
                        continue;
                    }
                    Outcome::Found if answer["value"] != Value::Null => {
                        self.met("value from data");
                        // A resource has the inner value, and remembers that it is sensitive.
                        if answer["value"]["__ptype"] == "Sensitive" {
                            Some(&answer["value"]["value"])
                        } else {
                            Some(&answer["value"])
                        }
                    }
                    Outcome::Found => {
                        self.met("default");
                        // Null selects the default; without one it is the value.
                        Some(parameter.default.as_ref().unwrap_or(&Value::Null))
                    }
                    Outcome::NotFound => {
                        self.met("default");
                        parameter.default.as_ref()
                    }
                    Outcome::Failed | Outcome::Crashed => None,
                };
                self.report.unknown.1 += 1;
                if value.is_none_or(|value| text_of(Some(value)) != text_of(Some(theirs))) {
                    self.differs(format!("{key} is {theirs}, not {answer}"));
                }
            }
        }
    }

    /// Compares the reason for a missing catalog with the rules' findings.
    fn refusal(&mut self, why: &str, found: &[Found]) {
        let title = |class: &Class| {
            let parts = class.name.split("::");
            let parts = parts.map(|part| part[..1].to_uppercase() + &part[1..]);
            format!("Class[{}]:", parts.collect::<Vec<_>>().join("::"))
        };
        // Classes are included in order: the first that is refused ends the compilation.
        let refused = self
            .classes
            .iter()
            .position(|class| why.contains(&title(class)));
        let Some(refused) = refused else {
            self.met("no catalog because of a manifest");
            *self.report.reasons.entry(gist(why)).or_default() += 1;
            return;
        };
        let is_missing = why.contains("expects a value for parameter");
        self.met(if is_missing {
            "no catalog because of a missing value"
        } else {
            "no catalog because of a type"
        });
        self.report.refused.0 += 1;
        let mut is_reported = false;
        for one in found {
            let at = self
                .classes
                .iter()
                .position(|class| class.name == one.class);
            match at {
                Some(at) if at == refused && why.contains(&one.message) => is_reported = true,
                Some(at) if at > refused => {}
                _ => self.differs(format!(
                    "{}: {} in {}, but {why}",
                    one.code, one.message, one.path
                )),
            }
        }
        if is_reported {
            self.report.refused.1 += 1;
            self.met("finding that Puppet confirms");
        }
    }

    /// A finding's message without its nodes; `None` if the node is not among them.
    fn for_the_node<'m>(&self, message: &'m str) -> Option<&'m str> {
        static NODES_SUFFIX: LazyLock<Regex> = LazyLock::new(|| {
            let pattern = r" for (?:\d+ of \d+ nodes, such as )?(\S+?)(?:, and another wrong value for \d+ more)?$";
            Regex::new(pattern).expect("valid")
        });
        let Some(suffix) = NODES_SUFFIX.captures(message) else {
            return Some(message);
        };
        let own = self.request["node"].as_str() == Some(&suffix[1]);
        own.then(|| &message[..suffix.get(0).expect("the whole").start()])
    }

    /// The findings about values that the node gets.
    fn found(&self, answers: &BTreeMap<String, Value>) -> Vec<Found> {
        let root = self.root.canonicalize().expect("it was written");
        let folder: Arc<str> = Arc::from(root.to_str().expect("UTF-8"));
        let found = scan(std::slice::from_ref(&folder), &Ignore::default(), &|_| {
            ControlFlow::Continue(())
        });
        let folders = Change::Folders(vec![folder.clone()]);
        let snapshot = Workspace::new().apply(Change::Batch(vec![folders, found.change]));
        let checker = Checker::new(&snapshot, PuppetVersion::V7);
        let all = checker.all().into_iter();
        all.filter_map(|finding| match finding.code {
            "type-mismatch" => {
                let (class, rest) = finding.message.strip_prefix("Class[")?.split_once("]: ")?;
                let (parameter, _) = rest.strip_prefix("parameter '")?.split_once('\'')?;
                let class = class.to_lowercase();
                let answer = &answers.get(&format!("{class}::{parameter}"))?;
                let message = self.for_the_node(rest)?;
                // Other nodes may read other files.
                gives(answer, &finding.path).then(|| Found {
                    code: finding.code,
                    class,
                    message: message.to_owned(),
                    path: finding.path.to_string(),
                })
            }
            "missing-parameter" => {
                if finding.message.contains("for the nodes that read") {
                    return None;
                }
                let (class, rest) = finding.message.strip_prefix("class '")?.split_once('\'')?;
                let (_, rest) = rest.split_once("its parameter '")?;
                let (parameter, _) = rest.split_once('\'')?;
                Some(Found {
                    code: finding.code,
                    class: class.to_owned(),
                    message: format!("expects a value for parameter '{parameter}'"),
                    path: finding.path.to_string(),
                })
            }
            _ => None,
        })
        .collect()
    }
}

/// Whether a file gives a value, by the explanation of a lookup.
fn gives(answer: &Value, path: &str) -> bool {
    let text = answer["explain"].as_str().unwrap_or_default();
    // The text before it is about options.
    let own = text
        .rfind("\nSearching for \"")
        .map_or(text, |at| &text[at..]);
    let mut place = "";
    for line in own.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("Path \"") {
            place = rest.trim_end_matches('"');
        } else if line.starts_with("Found key: ") && place == path {
            return true;
        }
    }
    false
}
