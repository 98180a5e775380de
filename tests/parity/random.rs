//! The random run: generated repositories and requests, both programs, every answer compared.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use regex::Regex;
use serde_json::Value;

use crate::case::{Case, full_request, write_files};
use crate::compare::{
    Difference, Outcome, Outcomes, difference, error_kind, gist, normalised, outcome, side_by_side,
};
use crate::generate::constructs::{CONSTRUCTS, Events};
use crate::generate::dice::Dice;
use crate::generate::repo::repo;
use crate::generate::request::request;
use crate::known::Known;
use crate::program::{Program, Session};
use crate::shrink::Shrinker;

/// Number of requests to a repository, and to one that may be broken as a whole.
const REQUESTS: [usize; 2] = [24, 4];
/// Number of repositories on disk at one time.
const REPOSITORIES: usize = 40;
/// Number of listed kinds of Puppet's errors.
const ERRORS: usize = 80;
/// Number of listed reasons of unknown answers.
const REASONS: usize = 20;
/// Number of classes of differences that are shrunk and shown; the others are counted.
const SHOWN: usize = 12;

/// The options of a run.
pub struct Plan {
    pub seed: u64,
    pub count: usize,
    /// Number of classes to shrink.
    pub shrink: usize,
    /// Requests that match, or whose repositories do, are left out: for work on one part while
    /// another is missing.
    pub without: Option<Regex>,
}

impl Plan {
    /// The seed and size of CI's run, unless `PARITY_SEED`, `PARITY_COUNT`, `PARITY_SHRINK` and
    /// `PARITY_WITHOUT` set others.
    pub fn from_environment() -> Plan {
        let number = |name: &str, default: u64| match std::env::var(name) {
            Ok(text) => text
                .parse()
                .unwrap_or_else(|_| panic!("{name} is not a number: {text}")),
            Err(_) => default,
        };
        Plan {
            seed: number("PARITY_SEED", 20_230),
            count: number("PARITY_COUNT", 8_000) as usize,
            shrink: number("PARITY_SHRINK", SHOWN as u64) as usize,
            without: std::env::var("PARITY_WITHOUT")
                .ok()
                .map(|p| Regex::new(&p).expect("a pattern")),
        }
    }
}

/// A request whose answers differ.
struct Differing {
    case: Case,
    difference: Difference,
    puppet: Value,
    ours: Value,
}

/// The results of a run.
pub struct Report {
    /// The printed text.
    pub text: String,
    /// Number of unexplained differences.
    pub unexplained: usize,
    /// Kinds of code that left too many answers unknown.
    pub too_unknown: Vec<String>,
    /// Constructs and events that were never reached.
    pub unreached: Vec<&'static str>,
    /// The shrunk cases of the shown classes, as lines of a case file.
    pub cases: String,
}

/// Whether our answer equals Puppet's for the request alone: its process may keep state of earlier
/// requests.
fn agrees_when_fresh(item: &Item, ours: &Value) -> bool {
    let Item { case, root, .. } = item;
    let request = full_request(&case.files, &case.request, &case.id, root);
    let alone = Program::puppet().answer_all(&[request]).remove(0);
    let (mut alone, mut ours) = (normalised(&alone, root), ours.clone());
    let is_comparable =
        case.request["puppet_version"] != 8 || comparable_as_8(case, &mut alone, &mut ours);
    is_comparable && difference(&alone, &ours).is_none()
}

/// Runs a plan. `folder` takes the repositories.
pub fn run(plan: &Plan, known: &Known, folder: &Path) -> Report {
    let started = Instant::now();
    let mut dice = Dice::new(plan.seed);
    let mut puppet = Program::puppet().start();
    let ours = Program::ours();
    let mut events = Events::new();
    let (mut theirs, mut our_outcomes) = (Outcomes::default(), Outcomes::default());
    let (mut done, mut serial) = (0, 0);
    let (mut left_out, mut set_aside, mut explained, mut too_slow) = (0, 0, 0, 0);
    let mut only_later = 0;
    let (mut no_catalog, mut shares) = (0, Shares::default());
    let mut differing: BTreeMap<String, (usize, Differing)> = BTreeMap::new();
    let mut errors: BTreeMap<String, usize> = BTreeMap::new();
    let (mut their_time, mut our_time) = (Duration::ZERO, Duration::ZERO);
    while done < plan.count {
        let round = Round::build(&mut dice, folder, &mut serial, plan.count - done);
        let (their_answers, our_answers, times) = round.answers(&mut puppet, &ours);
        their_time += times.0;
        our_time += times.1;
        for ((item, p), o) in round
            .items
            .into_iter()
            .zip(&their_answers)
            .zip(&our_answers)
        {
            done += 1;
            if let Some(error) = p.get("oracle_error") {
                panic!(
                    "the reference could not take a request: {error}\n{}",
                    item.case.line()
                );
            }
            // A message of more than 64 MiB, which takes Puppet up to its timeout, is not reported.
            if p.get("too_slow").is_some() || o.pointer("/error/__ptype").is_some() {
                too_slow += 1;
                continue;
            }
            events.count(p);
            if let Some(why) = p.get("no_catalog").and_then(Value::as_str) {
                no_catalog += 1;
                let kind = format!("no catalog: {}", gist(why));
                *errors.entry(kind).or_default() += 1;
                continue;
            }
            theirs.count(p);
            if outcome(p) == Outcome::Failed
                && let Some(kind) = error_kind(p)
            {
                *errors.entry(kind).or_default() += 1;
            }
            our_outcomes.count(o);
            if shares.count(&item, o) {
                continue;
            }
            if plan
                .without
                .as_ref()
                .is_some_and(|w| leaves_out(w, &item.case))
            {
                left_out += 1;
                continue;
            }
            let (mut p, mut o) = (normalised(p, &item.root), normalised(o, &item.root));
            if item.case.request["puppet_version"] == 8
                && !comparable_as_8(&item.case, &mut p, &mut o)
            {
                set_aside += 1;
                continue;
            }
            let Some(found) = difference(&p, &o) else {
                continue;
            };
            if known.explains_class(&found.class) {
                explained += 1;
                continue;
            }
            if agrees_when_fresh(&item, &o) {
                only_later += 1;
                continue;
            }
            let class = found.class.clone();
            if !differing.contains_key(&class) {
                // A long run reports at once.
                eprintln!("differs: {class}\n{}", item.case.line());
            }
            let one = Differing {
                case: item.case,
                difference: found,
                puppet: p,
                ours: o,
            };
            let entry = differing.entry(class).or_insert_with(|| (0, one));
            entry.0 += 1;
        }
        let _ = std::fs::remove_dir_all(&round.folder);
    }
    let mut text = format!(
        "{done} requests to {serial} repositories, seed {}, in {:.1?} (puppet {their_time:.1?}, ours {our_time:.1?})\n  puppet: {theirs}\n  ours:   {our_outcomes}\n  {explained} differences are known, {set_aside} answers differ between Puppet 7 and 8 themselves, {left_out} were left out, {too_slow} took Puppet too long,\n  {only_later} agree with Puppet's first answer to them alone, {no_catalog} are for nodes whose manifests fail\n{shares}",
        plan.seed,
        started.elapsed(),
    );
    let unexplained = differing.values().map(|(n, _)| n).sum();
    let _ = writeln!(text, "  {unexplained} unexplained differences");
    let cases = show(&differing, plan, &mut puppet, &ours, folder, &mut text);
    let mut reached: BTreeMap<&'static str, u64> = CONSTRUCTS.iter().map(|c| (*c, 0)).collect();
    reached.extend(dice.marks());
    reached.extend(events.counts());
    let unreached = reached
        .iter()
        .filter(|(_, n)| **n == 0)
        .map(|(name, _)| *name)
        .collect();
    list_counts(errors, &reached, &mut text);
    Report {
        text,
        unexplained,
        unreached,
        too_unknown: shares.too_unknown(),
        cases,
    }
}

/// Adds Puppet's most frequent errors and the reached constructs to a text.
fn list_counts(
    errors: BTreeMap<String, usize>,
    reached: &BTreeMap<&'static str, u64>,
    text: &mut String,
) {
    let mut errors: Vec<_> = errors.into_iter().collect();
    errors.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let _ = writeln!(
        text,
        "  puppet's errors, the most frequent of {} kinds:",
        errors.len()
    );
    for (kind, n) in errors.iter().take(ERRORS) {
        let _ = writeln!(text, "    {n:>7} {kind}");
    }
    text.push_str("  reached:\n");
    for (name, n) in reached {
        let _ = writeln!(text, "    {n:>7} {name}");
    }
}

/// Answers that are unknown because of code, by the kind of code.
#[derive(Default)]
struct Shares {
    /// The number of answers, and how many of them are unknown.
    counts: BTreeMap<Code, (usize, usize)>,
    reasons: BTreeMap<String, usize>,
}

impl Shares {
    /// Counts one of our answers; returns whether it is unknown because of code.
    fn count(&mut self, item: &Item, answer: &Value) -> bool {
        let code = match item.case.request.contains_key("compile") {
            true if item.code == Code::Data => Code::Manifests,
            true | false => item.code,
        };
        if code == Code::Data {
            return false;
        }
        let is_unknown = outcome(answer) == Outcome::Unknown;
        let counts = self.counts.entry(code).or_default();
        counts.0 += 1;
        counts.1 += usize::from(is_unknown);
        if is_unknown {
            let why = answer["unknown"].as_str().unwrap_or_default();
            let reason = format!("{code:?}: {}", gist(why));
            *self.reasons.entry(reason).or_default() += 1;
        }
        is_unknown
    }

    fn too_unknown(&self) -> Vec<String> {
        let counts = self.counts.iter();
        let too_unknown = counts.filter(|(code, (requests, unknown))| {
            code.ceiling()
                .is_some_and(|most| unknown * 100 > requests * most)
        });
        too_unknown
            .map(|(code, (requests, unknown))| format!("{unknown} of {requests}, {code:?}"))
            .collect()
    }
}

impl std::fmt::Display for Shares {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (code, (requests, unknown)) in &self.counts {
            writeln!(f, "  {unknown} of {requests} are unknown, {code:?}")?;
        }
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
        for (reason, n) in reasons.iter().take(REASONS) {
            writeln!(f, "    {n:>7} {reason}")?;
        }
        Ok(())
    }
}

/// The code that an answer depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Code {
    Data,
    Manifests,
    Functions,
    Ruby,
}

impl Code {
    /// Maximum percentage of unknown answers.
    fn ceiling(self) -> Option<usize> {
        match self {
            Code::Data => Some(0),
            Code::Manifests => Some(10),
            Code::Functions => Some(20),
            Code::Ruby => None,
        }
    }
}

struct Item {
    case: Case,
    root: PathBuf,
    code: Code,
}

struct Round {
    folder: PathBuf,
    items: Vec<Item>,
    requests: Vec<Value>,
}

impl Round {
    fn build(dice: &mut Dice, folder: &Path, serial: &mut usize, wanted: usize) -> Round {
        let folder = folder.join(format!("round{serial}"));
        let mut round = Round {
            folder,
            items: Vec::new(),
            requests: Vec::new(),
        };
        for _ in 0..REPOSITORIES {
            if round.items.len() >= wanted {
                break;
            }
            *serial += 1;
            let repo = repo(dice);
            let root = round.folder.join(format!("r{serial}"));
            write_files(&repo.files, &root);
            for n in 0..REQUESTS[usize::from(repo.risky)] {
                let id = format!("r{serial}-{n}");
                let request = request(dice, &repo);
                round
                    .requests
                    .push(full_request(&repo.files, &request, &id, &root));
                let case = Case {
                    id,
                    desc: String::new(),
                    files: repo.files.clone(),
                    request,
                    expected: Value::Null,
                };
                round.items.push(Item {
                    case,
                    root: root.clone(),
                    code: match (repo.ruby, repo.custom) {
                        (true, _) => Code::Ruby,
                        (false, true) => Code::Functions,
                        (false, false) => Code::Data,
                    },
                });
            }
        }
        round
    }

    fn answers(
        &self,
        puppet: &mut Session,
        ours: &Program,
    ) -> (Vec<Value>, Vec<Value>, (Duration, Duration)) {
        thread::scope(|scope| {
            let start = Instant::now();
            let our_side = scope.spawn(move || {
                let answers = ours.answer_all(&self.requests);
                (answers, start.elapsed())
            });
            let theirs = puppet.ask(&self.requests);
            let their_time = start.elapsed();
            let (answers, our_time) = our_side.join().expect("asking never panics");
            (theirs, answers, (their_time, our_time))
        })
    }
}

fn leaves_out(without: &Regex, case: &Case) -> bool {
    case.files.values().any(|text| without.is_match(text))
        || without.is_match(&Value::Object(case.request.clone()).to_string())
}

/// Whether the answers of Puppet 7.23 with version 8's settings can stand for version 8's; removes
/// mere differences in wording.
fn comparable_as_8(case: &Case, puppet: &mut Value, ours: &mut Value) -> bool {
    // Version 8 gives a default to an undefined variable before it reports it; 7 reports it first.
    if case.request.contains_key("default_values_hash") {
        return false;
    }
    // For a location of hiera.yaml version 8 warns and continues where 7 fails or has another
    // message.
    let contains = |answer: &Value, text: &str| answer.to_string().contains(text);
    if contains(ours, "Interpolation failed with") || contains(puppet, "HIERA_UNDEFINED_VARIABLE") {
        return false;
    }
    // Version 8 names the key.
    if let Some(logs) = ours.get_mut("logs").and_then(Value::as_array_mut) {
        for log in logs {
            let message = log["message"].as_str().unwrap_or_default().to_string();
            if let Some((start, _)) =
                message.split_once("must use keys qualified with the name of the module; got ")
            {
                log["message"] =
                    format!("{start}must use keys qualified with the name of the module").into();
            }
        }
    }
    true
}

fn show(
    differing: &BTreeMap<String, (usize, Differing)>,
    plan: &Plan,
    puppet: &mut Session,
    ours: &Program,
    folder: &Path,
    text: &mut String,
) -> String {
    let mut classes: Vec<_> = differing.iter().collect();
    classes.sort_by_key(|(_, (n, _))| std::cmp::Reverse(*n));
    if !classes.is_empty() {
        let _ = writeln!(text, "  differences by class:");
    }
    for (class, (n, _)) in &classes {
        let _ = writeln!(text, "    {n:>6} {class}");
    }
    let mut cases = String::new();
    for (class, (_, one)) in classes.into_iter().take(plan.shrink) {
        let (small, our_answer) = Shrinker::new(puppet, ours, folder).shrink(&one.case, class);
        let (p, o) = if small.desc == *class {
            (small.expected.clone(), our_answer)
        } else {
            (one.puppet.clone(), one.ours.clone())
        };
        let _ = writeln!(
            text,
            "\n  {class}\n{}{}",
            side_by_side(&one.difference.fields, &p, &o),
            small.line()
        );
        cases.push_str(&small.line());
        cases.push('\n');
    }
    cases
}
