//! Checks expectations about data for nodes. Independent of their files and of the output.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::matrix::{Cell, Row, row_by, row_of_possible, with_unseen};
use crate::analysis::{Analysis, Expectation, RootView, WhichNodes};
use crate::lookup::{Alternatives, Cause};
use crate::scope::{KnownNodes, Node, Nodes};
use crate::text::{nearest, nearest_host};
use crate::value::Value;

/// The result of an expectation.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The verdict.
    pub verdict: Verdict,
    /// The number of nodes.
    pub nodes: usize,
    /// The answers behind the verdict: wrong or unknown ones; all if nodes should get the same
    /// value but do not.
    pub answers: Vec<Cell>,
    /// What to add, if it is unknown because of nodes or facts that are not known.
    pub missing: Option<&'static str>,
}

/// What to add if no node is known.
const NO_NODES: &str =
    "no nodes are known: describe one with 'facts', or name files of nodes with --nodes";

/// What to add if nodes are known only by the names in an expectation.
const NO_FACTS: &str =
    "no facts are known of this node: add 'facts', or name files of nodes with --nodes";

/// The verdict about an expectation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Every node gets the expected value.
    Passed,
    /// Some node certainly gets another value.
    Failed,
    /// Some answers are unknown, and all others are as expected.
    Unknown,
}

/// Checks an expectation in a root.
///
/// # Errors
/// Why it covers no node, for people.
pub fn judge(view: &RootView<'_>, expectation: &Expectation) -> Result<Judged, String> {
    if !view.analysis.nodes.is_empty() {
        return Ok(judged(expectation, answers(view, expectation)?));
    }
    let (found, missing) = match &expectation.nodes {
        WhichNodes::Described(node) => {
            return Ok(judged(
                expectation,
                answers_for(view, expectation, [(**node).clone()]),
            ));
        }
        WhichNodes::Named(names) => {
            let names: BTreeSet<&Arc<str>> = names.iter().collect();
            let nodes = names.into_iter().map(|name| Node::named(name));
            (answers_for(view, expectation, nodes), NO_FACTS)
        }
        WhichNodes::All => (any_answers(view, expectation), NO_NODES),
        WhichNodes::Where(_) => (Vec::new(), NO_NODES),
    };
    // Answers for certain facts are no answers for nodes that may not exist.
    let is_decided = match &expectation.nodes {
        WhichNodes::Named(_) | WhichNodes::Described(_) => true,
        WhichNodes::All => found.len() == 1,
        WhichNodes::Where(_) => false,
    };
    let mut judged = judged(expectation, found);
    if !is_decided {
        judged.verdict = Verdict::Unknown;
    }
    judged.missing = (judged.verdict == Verdict::Unknown).then_some(missing);
    Ok(judged)
}

/// The verdict on all answers of an expectation.
fn judged(expectation: &Expectation, answers: Vec<Cell>) -> Judged {
    let is_known = |cell: &Cell| cell.unknown.is_none();
    let known: Vec<&Cell> = answers.iter().filter(|cell| is_known(cell)).collect();
    let is_wrong = |cell: &Cell| is_known(cell) && !agrees(expectation, cell);
    let differ = expectation.equal && known.len() > 1;
    let has_wrong = differ || known.iter().any(|cell| is_wrong(cell));
    let verdict = match (has_wrong, known.len() == answers.len()) {
        (true, _) => Verdict::Failed,
        (false, true) => Verdict::Passed,
        (false, false) => Verdict::Unknown,
    };
    let is_shown = |cell: &Cell| match verdict {
        Verdict::Passed => false,
        Verdict::Failed => differ || is_wrong(cell),
        Verdict::Unknown => !is_known(cell),
    };
    Judged {
        verdict,
        nodes: answers.iter().map(|cell| cell.nodes.len()).sum(),
        answers: answers.into_iter().filter(is_shown).collect(),
        missing: None,
    }
}

/// The answers for all nodes of an expectation.
fn answers(view: &RootView<'_>, expectation: &Expectation) -> Result<Vec<Cell>, String> {
    if let WhichNodes::Described(node) = &expectation.nodes {
        return Ok(answers_for(view, expectation, [(**node).clone()]));
    }
    let members = chosen(view.analysis.nodes, &expectation.nodes)?;
    let row = row_by(view, &expectation.key, &expectation.request(), &members);
    Ok(judgeable(view, expectation, row))
}

/// The answers for nodes that an expectation describes or names.
fn answers_for(
    view: &RootView<'_>,
    expectation: &Expectation,
    nodes: impl IntoIterator<Item = Node>,
) -> Vec<Cell> {
    let nodes: Nodes = nodes.into_iter().map(Arc::new).collect();
    let nodes = KnownNodes::in_environment(&nodes, &view.environment.name);
    let analysis = Analysis {
        nodes: &nodes,
        ..view.analysis
    };
    let about = analysis.at(view.root);
    let members: Vec<usize> = (0..nodes.len()).collect();
    let row = row_by(&about, &expectation.key, &expectation.request(), &members);
    judgeable(&about, expectation, row)
}

/// The answers for all possible nodes, each with its condition.
fn any_answers(view: &RootView<'_>, expectation: &Expectation) -> Vec<Cell> {
    let row = row_of_possible(view, &expectation.key, &expectation.request());
    let mut answers = judgeable(view, expectation, row);
    // The only answer is for every node.
    if let [only] = answers.as_mut_slice() {
        only.condition = Alternatives::None;
    }
    answers
}

/// Makes answers unknown if a value does not match a type that is not in the workspace, or if an
/// expected key is not set but a level outside of the workspace may set it.
fn judgeable(view: &RootView<'_>, expectation: &Expectation, row: Row) -> Vec<Cell> {
    let mut answers = with_unseen(view, row).answers;
    for cell in &mut answers {
        if cell.unknown.is_some() || agrees(expectation, cell) {
            continue;
        }
        let Err(error) = &cell.result else { continue };
        if error.is_not_found() {
            let unless = cell.unless.take();
            cell.unknown = unless.map(|unless| format!("not set, unless {unless}"));
        } else if let (Some(expected), Cause::WrongType { .. }) =
            (&expectation.value_type, &error.innermost().cause)
            && !view.session().is_known_type(expected)
        {
            cell.unknown = Some(format!(
                "the type '{expected}' is not defined in this workspace"
            ));
        }
    }
    answers
}

/// Whether a known answer is as expected; the lookup itself checks types.
fn agrees(expectation: &Expectation, cell: &Cell) -> bool {
    match (&cell.result, expectation.found) {
        (Ok(_), Some(false)) => false,
        (Ok(value), Some(true) | None) => {
            let expected = expectation.value.as_ref();
            expected.is_none_or(|expected| same(expected, value))
        }
        (Err(error), Some(false)) => error.is_not_found(),
        // Nodes without the key all get the same.
        (Err(error), None) => error.is_not_found() && expects_only_equality(expectation),
        (Err(_), Some(true)) => false,
    }
}

fn expects_only_equality(expectation: &Expectation) -> bool {
    expectation.equal && expectation.value.is_none() && expectation.value_type.is_none()
}

/// Whether a value is the expected one; a `Sensitive` is compared by its content.
pub(crate) fn same(expected: &Value, value: &Value) -> bool {
    if let Value::Sensitive(held) = value {
        return same(expected, held);
    }
    expected == value
}

/// The indexes of the known nodes that match; at least one.
///
/// # Errors
/// A name or condition without a node, for people.
pub fn chosen(known: &KnownNodes, nodes: &WhichNodes) -> Result<Vec<usize>, String> {
    let mut members: Vec<usize> = (0..known.len()).collect();
    match nodes {
        WhichNodes::All | WhichNodes::Described(_) => {}
        WhichNodes::Named(names) => {
            let found = names.iter().map(|name| find(known, name));
            members = found.collect::<Result<_, _>>()?;
        }
        WhichNodes::Where(conditions) => {
            for (variable, values) in conditions {
                let column = known.column(variable);
                let texts: Vec<String> = values.iter().map(Value::to_s).collect();
                members.retain(|&member| {
                    let value = column.value(member);
                    value.is_some_and(|value| texts.contains(&value.to_s()))
                });
                if members.is_empty() && !known.is_empty() {
                    return Err(no_node_with(known, variable, &texts));
                }
            }
        }
    }
    match (members.as_slice(), known.is_empty()) {
        (_, true) => Err(NO_NODES.to_owned()),
        ([], false) => Err("no node is named".to_owned()),
        _ => Ok(members),
    }
}

fn no_node_with(known: &KnownNodes, variable: &Arc<str>, texts: &[String]) -> String {
    let column = known.column(variable);
    let values = column.values.iter().flatten();
    let values: Vec<String> = values.map(Value::to_s).collect();
    if values.is_empty()
        && let Some(suggestion) = nearest(variable, variables(known).iter().map(|name| &**name))
    {
        return format!("no known node has '{variable}': did you mean '{suggestion}'?");
    }
    let [only] = texts else {
        return format!("no known node has '{variable}' = {}", texts.join(" or "));
    };
    let near = nearest(only, values.iter().map(String::as_str)).filter(|near| near != only);
    let near = near.map(|near| format!(": did you mean {near}?"));
    let near = near.unwrap_or_default();
    format!("no known node has '{variable}' = {only}{near}")
}

/// The names of variables and facts, from the first nodes.
fn variables(known: &KnownNodes) -> BTreeSet<Arc<str>> {
    const MOST: usize = 100;
    let facts = known.column(&Arc::from("facts"));
    let members = 0..known.len().min(MOST);
    let names = members.flat_map(|member| {
        let facts = facts.value(member).and_then(Value::as_hash);
        let facts = facts.into_iter().flat_map(|facts| facts.keys());
        let facts = facts.filter_map(|name| name.as_str().map(Arc::from));
        let variables = known.variables_of(member).map(|(name, _)| name);
        variables.chain(facts.collect::<Vec<Arc<str>>>())
    });
    names.collect()
}

fn find(known: &KnownNodes, name: &Arc<str>) -> Result<usize, String> {
    let names = (0..known.len()).map(|member| known.certname(member));
    known.find(name).ok_or_else(|| {
        let near = nearest_host(name, names).map(|near| format!(": did you mean '{near}'?"));
        format!(
            "no known node is called '{name}'{}",
            near.unwrap_or_default()
        )
    })
}
