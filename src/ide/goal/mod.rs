//! Edits by goal: edits that give some nodes a value of a key, and levels that prevent a value.
//!
//! Edits are proposed by level, tried out in memory, and returned if the nodes have the value then.
//! Independent of the command line and of editors.

mod candidates;
mod level;
#[cfg(test)]
mod part_tests;
mod pieces;
mod report;
#[cfg(test)]
mod tests;
mod why_not;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};

use candidates::{Candidate, candidates};
use level::{GoalLevel, one_of_each_glob};
pub use report::{diff, reasons_text, why_not_lines};
pub use why_not::{InTheWay, WhyNot, why_not};

use super::edit::{self, Plan, Proof, part, prove};
use super::expectation::{chosen, same};
use super::matrix::{Cell, Row, bare_row_of, row};
use crate::analysis::{RootView, WhichNodes, layers_of, quoted};
use crate::eyaml;
use crate::ide::cell::counted;
use crate::interpolation::has_tokens;
use crate::scope::KnownNodes;
use crate::value::{Value, load_yaml_value};

/// Maximum number of edits that are tried out.
const MOST_TRIED: usize = 80;

/// Maximum number of proposals.
const MOST_PROPOSALS: usize = 5;

/// A value that some nodes should have.
#[derive(Clone, Debug)]
pub struct Goal {
    /// The name of the top-level key.
    pub key: Arc<str>,
    /// The steps from its value to the part to set; empty for the whole value.
    pub steps: Vec<Value>,
    /// The key as the user wrote it, with the steps.
    pub written_key: Arc<str>,
    /// The wanted value.
    pub value: Value,
    /// The indexes of the nodes.
    pub members: Vec<usize>,
    /// The variables by which the nodes were chosen.
    pub variables: Vec<Arc<str>>,
    /// Whether every other node must keep its value.
    pub only: bool,
    /// Names files; without it they are named by their path below the workspace.
    pub name: Option<fn(&str) -> &str>,
}

impl Goal {
    /// The top-level key as in lookups.
    fn request(&self) -> Arc<str> {
        Arc::from(quoted(&self.key))
    }

    /// The wanted value of the top-level key, based on a node's current value.
    fn wanted(&self, now: Option<&Cell>) -> Result<Value, String> {
        if self.steps.is_empty() {
            return Ok(self.value.clone());
        }
        let key = &self.key;
        let whole = match now.map(|cell| (&cell.result, &cell.unknown)) {
            Some((Ok(value), None)) if !value.has_opaque() => Some(value),
            Some((Err(error), None)) if error.is_not_found() => None,
            None => None,
            Some(_) => {
                return Err(format!(
                    "the value of '{key}' is not known for all of these nodes"
                ));
            }
        };
        part::with_part(whole, &self.steps, &self.value).ok_or_else(|| {
            format!(
                "'{}' cannot be set: the value of '{key}' has no hash or list element there",
                self.written_key
            )
        })
    }

    /// The name of a file for people.
    fn name_of<'p>(&self, view: &RootView<'_>, at: &'p str) -> &'p str {
        match self.name {
            Some(name) => name(at),
            None => view.analysis.snapshot.short_name(at),
        }
    }

    /// A goal for some of the known nodes, with a dotted name of a key.
    ///
    /// # Errors
    /// Unknown nodes, or a name that is no key, for people.
    pub fn of(
        known: &KnownNodes,
        (written_key, value): (Arc<str>, Value),
        which: &WhichNodes,
        only: bool,
    ) -> Result<Goal, String> {
        let variables = match which {
            WhichNodes::Where(all) => all.iter().map(|(name, _)| name.clone()).collect(),
            WhichNodes::All | WhichNodes::Named(_) | WhichNodes::Described(_) => Vec::new(),
        };
        let (key, steps) = part::parse(&written_key)?;
        Ok(Goal {
            key,
            steps,
            written_key,
            value,
            members: chosen(known, which)?,
            variables,
            only,
            name: None,
        })
    }
}

/// Edits that give the nodes the value.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The key of the goal.
    pub key: Arc<str>,
    /// The action, as an imperative.
    pub title: String,
    /// The edits.
    pub plan: Plan,
    /// Their effect.
    pub proof: Proof,
    /// The nodes that get another value of the key, in order.
    pub changed: Vec<Arc<str>>,
    /// Other nodes than the wanted ones among them.
    pub others: Vec<Arc<str>>,
    /// Why these nodes change and no others.
    pub because: String,
}

/// The result for a goal.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// All nodes already have the value.
    Already,
    /// Possible edits, the smallest first; at least one.
    Proposals(Vec<Proposal>),
    /// There is no edit; with the reasons by level.
    Nothing(Vec<String>),
}

/// Parses a value in YAML, as after a key.
///
/// # Errors
/// No YAML, no value, or a value with tokens: each node may get something else.
pub fn value_of(text: &str) -> Result<Value, String> {
    let value = load_yaml_value(text.as_bytes()).map_err(|error| error.message("the value"))?;
    let value = value.ok_or("the value is missing: write null, or '\"\"' for an empty text")?;
    match has_token(&value) {
        true => Err(
            "the value has a %{…} token: what nodes get of it is not the same for all; write it into \
             a file"
                .to_owned(),
        ),
        false => Ok(value),
    }
}

fn has_token(value: &Value) -> bool {
    value.any(&|part| part.as_str().is_some_and(has_tokens))
}

/// Whether a value or a part of it is encrypted.
fn is_encrypted(value: &Value) -> bool {
    value.any(&|part| part.as_str().is_some_and(eyaml::is_encrypted))
}

/// Parses names of nodes, or conditions `VARIABLE=VALUE[,VALUE]` that must all match.
///
/// # Errors
/// Both names and conditions.
pub fn nodes_of(conditions: &[String]) -> Result<WhichNodes, String> {
    let mut names = Vec::new();
    let mut variables = Vec::new();
    for condition in conditions {
        match condition.split_once('=') {
            Some((variable, values)) => {
                let values = values.split(',').map(Value::from).collect();
                variables.push((Arc::from(variable.trim()), values));
            }
            None => names.push(Arc::from(condition.as_str())),
        }
    }
    match (names.is_empty(), variables.is_empty()) {
        (true, true) => Ok(WhichNodes::All),
        (false, true) => Ok(WhichNodes::Named(names)),
        (true, false) => Ok(WhichNodes::Where(variables)),
        (false, false) => {
            Err("name nodes, or say what they have in common: not both at once".to_owned())
        }
    }
}

/// The progress of the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SearchProgress {
    /// The numbers of tried edits and of all edits.
    Tried(usize, usize),
    /// The number of proposals with a known effect.
    Proved(usize),
}

/// The edits that give the nodes the value.
///
/// # Errors
/// Why the goal makes no sense, for people.
pub fn proposals(
    view: &RootView<'_>,
    goal: &Goal,
    progress: &dyn Fn(SearchProgress),
) -> Result<Outcome, String> {
    let state = CurrentAnswers::of(view, goal)?;
    if state.lacking.is_empty() {
        return Ok(Outcome::Already);
    }
    let mut levels = Vec::new();
    // Levels and edits, with the reasons against them.
    let mut reasons: Vec<(String, String)> = Vec::new();
    for layer in layers_of(&goal.key) {
        for place in view.places(&layer).iter() {
            match GoalLevel::of(view, goal, place) {
                Ok(level) => levels.push(level),
                Err(why) => reasons.push((place.level.to_string(), why)),
            }
        }
    }
    let levels = one_of_each_glob(levels);
    let mut found: Vec<(Candidate, Trial)> = Vec::new();
    let mut all = candidates(view, goal, &levels, &state);
    all.sort_by_key(Candidate::cost);
    all.truncate(MOST_TRIED);
    let count = all.len();
    for (done, candidate) in all.into_iter().enumerate() {
        progress(SearchProgress::Tried(done, count));
        if (view.analysis.is_cancelled)() {
            break;
        }
        match try_out(view, goal, &state, &candidate) {
            Ok(tried) => found.push((candidate, tried)),
            Err(why) => reasons.push((candidate.title, why)),
        }
    }
    let is_open = !is_encrypted(&goal.value);
    found.sort_by_key(|(candidate, tried)| {
        let is_misplaced = is_open && candidate.is_among_secrets(view);
        (is_misplaced, tried.others.len(), candidate.cost())
    });
    // Drop edits that need many more entries than the smallest one.
    let smallest = found.first().map_or(0, |(candidate, _)| candidate.entries);
    found.retain(|(candidate, _)| candidate.entries <= 2 * smallest);
    let mut proposals: Vec<(Proposal, bool)> = Vec::new();
    for (candidate, tried) in found {
        if proposals.len() == MOST_PROPOSALS || (view.analysis.is_cancelled)() {
            break;
        }
        // More edits of the same files are no alternative, unless they merge in another way.
        let is_anew = candidate.is_merged_anew;
        let covers = |(known, anew): &(Proposal, bool)| {
            let is_other_way = is_anew && *anew && known.title != candidate.title;
            !is_other_way && candidate.covers(&known.plan)
        };
        if proposals.iter().any(covers) {
            continue;
        }
        progress(SearchProgress::Proved(proposals.len()));
        let proof = prove(view, &candidate.plan)?;
        let mut nodes = proof.known.nodes.iter();
        let other_node = nodes.find(|name| !state.wanted.contains_key(*name));
        if goal.only
            && let Some(other_node) = other_node
        {
            reasons.push((candidate.title, format!("{other_node} would change too")));
            continue;
        }
        let because = because(view, goal, &candidate, &tried);
        let proposal = Proposal {
            key: goal.request(),
            title: candidate.title,
            plan: candidate.plan,
            proof,
            changed: tried.changed,
            others: tried.others,
            because,
        };
        proposals.push((proposal, is_anew));
    }
    let proposals: Vec<Proposal> = proposals.into_iter().map(|(one, _)| one).collect();
    match proposals.is_empty() {
        true => Ok(Outcome::Nothing(grouped(reasons))),
        false => Ok(Outcome::Proposals(proposals)),
    }
}

/// Joins equal reasons, with the first of their subjects.
fn grouped(reasons: Vec<(String, String)>) -> Vec<String> {
    let mut groups: IndexMap<String, Vec<String>> = IndexMap::new();
    for (what, why) in reasons {
        let all = groups.entry(why).or_default();
        if !all.contains(&what) {
            all.push(what);
        }
    }
    let lines = groups.into_iter().map(|(why, all)| match all.as_slice() {
        [first, second, third, rest @ ..] if !rest.is_empty() => {
            let more = rest.len();
            format!("{first}; {second}; {third} and {more} more: {why}")
        }
        all => format!("{}: {why}", all.join("; ")),
    });
    lines.collect()
}

/// The name of a top-level key; an error for a part of its value.
fn top_level(key: &str) -> Result<Arc<str>, String> {
    match part::parse(key)? {
        (root, steps) if steps.is_empty() => Ok(root),
        (root, _) => Err(format!(
            "'{key}' is a part of the top-level key '{root}': name that one with its whole value, \
             the part changed in it"
        )),
    }
}

/// The current answers.
struct CurrentAnswers {
    row: Row,
    /// The wanted whole value of each of the goal's nodes.
    wanted: BTreeMap<Arc<str>, Value>,
    /// The indexes of the nodes that lack it.
    lacking: Vec<usize>,
}

impl CurrentAnswers {
    fn of(view: &RootView<'_>, goal: &Goal) -> Result<CurrentAnswers, String> {
        let nodes = view.analysis.nodes;
        let row = row(view, &goal.request());
        let mut state = CurrentAnswers {
            row,
            wanted: BTreeMap::new(),
            lacking: Vec::new(),
        };
        for &member in &goal.members {
            let name = nodes.shared_name(member);
            let cell = cell_of(&state.row, &name);
            let wanted = goal.wanted(cell)?;
            if !cell.is_some_and(|cell| is_value(cell, &wanted)) {
                state.lacking.push(member);
            }
            state.wanted.insert(name, wanted);
        }
        Ok(state)
    }

    /// The wanted whole value, if it is the same for all nodes.
    fn wanted_by_all(&self) -> Option<&Value> {
        let mut all = self.wanted.values();
        let first = all.next()?;
        all.all(|other| other == first).then_some(first)
    }
}

/// The answer for a node.
fn cell_of<'r>(row: &'r Row, name: &str) -> Option<&'r Cell> {
    let mut answers = row.answers.iter();
    answers.find(|cell| cell.nodes.iter().any(|node| **node == *name))
}

/// Whether an answer is known and equals a value.
fn is_value(cell: &Cell, wanted: &Value) -> bool {
    let value = cell.result.as_ref();
    cell.unknown.is_none() && value.is_ok_and(|value| same(wanted, value))
}

/// The effect of an edit on the key.
struct Trial {
    changed: Vec<Arc<str>>,
    others: Vec<Arc<str>>,
}

/// Whether the nodes have the value after an edit, and which other nodes change.
fn try_out(
    view: &RootView<'_>,
    goal: &Goal,
    state: &CurrentAnswers,
    candidate: &Candidate,
) -> Result<Trial, String> {
    let tried = after(view, &goal.request(), &candidate.plan)?;
    for cell in &tried.answers {
        let lacks = |name: &&Arc<str>| {
            let wanted = state.wanted.get(*name);
            wanted.is_some_and(|wanted| !is_value(cell, wanted))
        };
        if let Some(name) = cell.nodes.iter().find(lacks) {
            let got = super::cell::outcome_text(cell);
            return Err(format!("{name} would still get {got}"));
        }
    }
    let changes = super::compare::changes(&state.row, &tried);
    for change in &changes {
        let is_sensitive = |cell: &Cell| matches!(cell.result, Ok(Value::Sensitive(_)));
        if is_sensitive(&change.before)
            && !is_sensitive(&change.after)
            && let Some(name) = change.after.nodes.first()
        {
            return Err(format!("{name} would no longer get a Sensitive value"));
        }
    }
    let changed = changes.iter().flat_map(|change| &change.after.nodes);
    let changed: BTreeSet<Arc<str>> = changed.cloned().collect();
    let is_other = |name: &&Arc<str>| !state.wanted.contains_key(*name);
    let others: Vec<Arc<str>> = changed.iter().filter(is_other).cloned().collect();
    if goal.only
        && let Some(first) = others.first()
    {
        let more = match others.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        return Err(format!("{first}{more} would get another value too"));
    }
    Ok(Trial {
        changed: changed.into_iter().collect(),
        others,
    })
}

/// The answers of all nodes after a plan.
fn after(view: &RootView<'_>, key: &str, plan: &Plan) -> Result<Row, String> {
    let all: Vec<usize> = (0..view.analysis.nodes.len()).collect();
    edit::after(view, plan, |later| bare_row_of(later, key, &all))
}

/// Why a plan changes exactly these nodes.
fn because(view: &RootView<'_>, goal: &Goal, candidate: &Candidate, tried: &Trial) -> String {
    let nodes = view.analysis.nodes;
    let mut readers: BTreeSet<&str> = BTreeSet::new();
    for layer in layers_of(&goal.key) {
        let places = view.places(&layer);
        for path in candidate.plan.paths() {
            let members = view.readers(places.iter(), path);
            readers.extend(members.into_iter().map(|member| nodes.certname(member)));
        }
    }
    let names = candidate.plan.paths();
    let names: Vec<&str> = names.map(|at| goal.name_of(view, at)).collect();
    let files = match names.as_slice() {
        [only] => (*only).to_owned(),
        [one, other] => format!("{one} and {other}"),
        files => format!("these {} files", files.len()),
    };
    let changed: BTreeSet<&str> = tried.changed.iter().map(|name| &**name).collect();
    let rest: Vec<&&str> = readers.difference(&changed).collect();
    match rest.as_slice() {
        [] if changed.len() == 1 => format!("no other reads {files}"),
        [] => format!("only they read {files}"),
        [one] => format!("{one} reads {files} too, and keeps its value"),
        rest => {
            let count = rest.len();
            format!("{count} others read {files} too, and keep their values")
        }
    }
}

impl Proposal {
    /// The effect for people: `changes 12 nodes and no other, because …`.
    #[must_use]
    pub fn words(&self) -> String {
        let intended = self.changed.len() - self.others.len();
        let others = match self.others.as_slice() {
            [] => "and no other".to_owned(),
            [only] => format!("and also {only}"),
            [first, rest @ ..] => format!("and also {first} and {} more", rest.len()),
        };
        let keys = self.proof.known.changes.iter().map(|change| &*change.key);
        let keys: IndexSet<&str> = keys.filter(|key| *key != &*self.key).collect();
        let more = match Vec::from_iter(keys).as_slice() {
            [] => String::new(),
            keys => format!("; what looks it up changes too: {}", keys.join(", ")),
        };
        format!(
            "changes {} {others}, because {}{more}{}",
            counted(intended),
            self.because,
            self.proof.words_of_elsewhere()
        )
    }
}
