//! Edits by goal: edits that give some nodes a value of a key, and levels that prevent a value.
//!
//! Edits are proposed by level, tried out in memory, and returned if the nodes have the value then.
//! Independent of the command line and of editors.

mod answers;
mod candidates;
mod json;
mod level;
#[cfg(test)]
mod part_tests;
mod pieces;
mod report;
#[cfg(test)]
mod tests;
mod why_not;

use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};

use answers::NodeAnswers;
use candidates::{Candidate, candidates};
pub use json::{OutcomeFields, ProposalFields, WhyNotFields};
use level::{GoalLevel, one_of_each_glob};
pub use report::{diff, reasons_text, why_not_lines};
pub use why_not::{InTheWay, WhyNot, why_not};

use super::proof::{self, Proof, prove};
use crate::analysis::{RootView, WhichNodes, layers_of, quoted};
use crate::edit::{Plan, part};
use crate::eyaml;
use crate::ide::cell::{counted, outcome_text};
use crate::ide::expectation::{chosen, same};
use crate::ide::matrix::Cell;
use crate::interpolation::has_tokens;
use crate::lookup::Request;
use crate::scope::KnownNodes;
use crate::value::{Value, load_yaml_value};

/// Maximum number of edits that are tried out.
const MAX_TRIED: usize = 80;

/// Maximum number of proposals.
const MAX_PROPOSALS: usize = 5;

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

    /// The wanted value of the top-level key, based on the current answer.
    fn wanted(&self, now: &Cell) -> Result<Value, String> {
        if self.steps.is_empty() {
            return Ok(self.value.clone());
        }
        let key = &self.key;
        let whole = match (&now.result, &now.unknown) {
            (Ok(value), None) if !value.has_opaque() => Some(value),
            (Err(error), None) if error.is_not_found() => None,
            _ => {
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
    if has_token(&value) {
        Err(
            "the value has a %{…} token: what nodes get of it is not the same for all; write it into \
             a file"
                .to_owned(),
        )
    } else {
        Ok(value)
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
    all.truncate(MAX_TRIED);
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
        if proposals.len() == MAX_PROPOSALS || (view.analysis.is_cancelled)() {
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
        let is_other = |name: &&Arc<str>| {
            let member = view.analysis.nodes.find(name);
            !member.is_some_and(|member| state.is_wanted(member))
        };
        let other_node = nodes.find(is_other);
        if goal.only
            && let Some(other_node) = other_node
        {
            reasons.push((candidate.title, format!("{other_node} would change too")));
            continue;
        }
        let because = because(view, goal, &candidate, &tried);
        let names = |members: &[usize]| {
            let names = members
                .iter()
                .map(|&member| view.analysis.nodes.shared_name(member));
            names.collect()
        };
        let proposal = Proposal {
            key: goal.request(),
            title: candidate.title,
            plan: candidate.plan,
            proof,
            changed: names(&tried.changed),
            others: names(&tried.others),
            because,
        };
        proposals.push((proposal, is_anew));
    }
    let proposals: Vec<Proposal> = proposals.into_iter().map(|(one, _)| one).collect();
    if proposals.is_empty() {
        Ok(Outcome::Nothing(grouped(reasons)))
    } else {
        Ok(Outcome::Proposals(proposals))
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
    answers: NodeAnswers,
    /// The wanted whole value instead of each answer; `None` for answers of other nodes only.
    wanted: Vec<Option<Value>>,
    /// For each answer whether the goal's nodes with it lack their wanted value.
    is_wrong: Vec<bool>,
    /// For each node whether it is one of the goal's.
    is_member: Vec<bool>,
    /// The numbers of the goal's nodes that lack their wanted value.
    lacking: Vec<usize>,
}

impl CurrentAnswers {
    fn of(view: &RootView<'_>, goal: &Goal) -> Result<CurrentAnswers, String> {
        let request = Request::key(&goal.request()).with_sources();
        let answers = NodeAnswers::of(view, &request)?;
        let mut wanted: Vec<Option<Value>> = vec![None; answers.len()];
        let mut is_wrong = vec![false; answers.len()];
        let mut is_member = vec![false; view.analysis.nodes.len()];
        for &member in &goal.members {
            is_member[member] = true;
            let (cell, number) = (answers.cell(member), answers.number(member));
            if wanted[number].is_none() {
                let value = goal.wanted(cell)?;
                is_wrong[number] = !is_value(cell, &value);
                wanted[number] = Some(value);
            }
        }
        let members = goal.members.iter().copied();
        let lacking = members.filter(|&member| is_wrong[answers.number(member)]);
        Ok(CurrentAnswers {
            lacking: lacking.collect(),
            answers,
            wanted,
            is_wrong,
            is_member,
        })
    }

    /// Whether a node is one of the goal's.
    fn is_wanted(&self, member: usize) -> bool {
        self.is_member[member]
    }

    /// The wanted whole value of one of the goal's nodes.
    fn wanted(&self, member: usize) -> Option<&Value> {
        self.wanted[self.answers.number(member)].as_ref()
    }

    /// Whether a node is one of the goal's and lacks its wanted value.
    fn lacks(&self, member: usize) -> bool {
        self.is_member[member] && self.is_wrong[self.answers.number(member)]
    }

    /// The wanted whole value, if it is the same for all nodes.
    fn wanted_by_all(&self) -> Option<&Value> {
        let mut all = self.wanted.iter().flatten();
        let first = all.next()?;
        all.all(|other| other == first).then_some(first)
    }
}

/// Whether an answer is known and equals a value.
fn is_value(cell: &Cell, wanted: &Value) -> bool {
    let value = cell.result.as_ref();
    cell.unknown.is_none() && value.is_ok_and(|value| same(wanted, value))
}

/// The effect of an edit on the key: the numbers of nodes with another value, by their names.
struct Trial {
    changed: Vec<usize>,
    /// Those that are not the goal's.
    others: Vec<usize>,
}

/// Whether the nodes have the value after an edit, and which other nodes change.
fn try_out(
    view: &RootView<'_>,
    goal: &Goal,
    state: &CurrentAnswers,
    candidate: &Candidate,
) -> Result<Trial, String> {
    let nodes = view.analysis.nodes;
    let tried = after(view, goal, &candidate.plan)?;
    let lacks = |member: &usize| {
        let wanted = state.wanted(*member);
        !wanted.is_some_and(|wanted| is_value(tried.cell(*member), wanted))
    };
    let lacking = goal.members.iter().copied().filter(lacks);
    // Of several wrong answers, the most frequent one is named.
    if let Some(member) = lacking.min_by_key(|&member| (tried.number(member), member)) {
        let got = outcome_text(tried.cell(member));
        let name = nodes.certname(member);
        return Err(format!("{name} would still get {got}"));
    }
    let changes = state.answers.changes(&tried);
    for change in &changes {
        let is_sensitive = |cell: &Cell| matches!(cell.result, Ok(Value::Sensitive(_)));
        if is_sensitive(change.before)
            && !is_sensitive(change.after)
            && let Some(&first) = change.members.first()
        {
            let name = nodes.certname(first);
            return Err(format!("{name} would no longer get a Sensitive value"));
        }
    }
    let changed = changes.into_iter().flat_map(|change| change.members);
    let mut changed: Vec<usize> = changed.collect();
    changed.sort_by_key(|&member| nodes.certname(member));
    let others = changed.iter().copied();
    let others: Vec<usize> = others.filter(|&member| !state.is_wanted(member)).collect();
    if goal.only
        && let Some(&first) = others.first()
    {
        let first = nodes.certname(first);
        let more = match others.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        return Err(format!("{first}{more} would get another value too"));
    }
    Ok(Trial { changed, others })
}

/// The answers of all nodes after a plan.
fn after(view: &RootView<'_>, goal: &Goal, plan: &Plan) -> Result<NodeAnswers, String> {
    let request = Request::key(&goal.request());
    proof::after(view, plan, |later| NodeAnswers::of(later, &request))?
}

/// Why a plan changes exactly these nodes.
fn because(view: &RootView<'_>, goal: &Goal, candidate: &Candidate, tried: &Trial) -> String {
    let mut reads = vec![false; view.analysis.nodes.len()];
    for layer in layers_of(&goal.key) {
        let places = view.places(&layer);
        for path in candidate.plan.paths() {
            let others = view.analysis.snapshot.other_names(path);
            for name in others.iter().chain([path]) {
                let members = view.readers(places.iter(), name).into_iter();
                members.for_each(|member| reads[member] = true);
            }
        }
    }
    for &member in &tried.changed {
        reads[member] = false;
    }
    let rest: Vec<usize> = (0..reads.len()).filter(|&member| reads[member]).collect();
    let names = candidate.plan.paths();
    let names: Vec<&str> = names.map(|at| goal.name_of(view, at)).collect();
    let files = match names.as_slice() {
        [only] => (*only).to_owned(),
        [one, other] => format!("{one} and {other}"),
        files => format!("these {} files", files.len()),
    };
    match rest.as_slice() {
        [] if tried.changed.len() == 1 => format!("no other reads {files}"),
        [] => format!("only they read {files}"),
        [one] => {
            let one = view.analysis.nodes.certname(*one);
            format!("{one} reads {files} too, and keeps its value")
        }
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
