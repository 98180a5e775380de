//! Nodes grouped by their answer to a request, the largest group first: known ones, or all that a
//! scope can mean.

use std::collections::HashMap as Map;
use std::sync::Arc;

use serde::Serialize;

use super::alternatives::Alternatives;
use super::error::LookupError;
use super::over_nodes::{LookupLimit, answers_within};
use super::request::{Answer, Assumed, Reads, Request, UnknownCause};
use super::session::Session;
use super::trace::{Source, sources};
use crate::hierarchy::Template;
use crate::scope::{KnownNodes, Scope};
use crate::value::{KeyHashing, Value};

/// Maximum number of scopes that possible files are expanded to.
const MAX_POSSIBLE: usize = 2_000;

/// One answer and the nodes that get it, with its sources as `S`.
#[derive(Clone, Debug)]
pub struct Group<S = Source> {
    /// The value, or the error that Puppet raises.
    pub result: Result<Value, LookupError>,
    /// Why it is not certain.
    pub unknown: Option<String>,
    /// Conditions that would change it, in words.
    pub unless: Option<String>,
    /// The declarations that it depends on.
    pub assumed: Vec<Assumed>,
    /// The nodes, in their order.
    pub nodes: Vec<Arc<str>>,
    /// Its condition if no nodes are known: `site = ams`; `otherwise`.
    pub condition: Alternatives,
    /// Its sources, those of most nodes first.
    pub origins: Vec<GroupOrigin<S>>,
}

impl Group {
    /// The group of one answer. `nodes` is empty if the answer is for a scope, not for known nodes.
    #[must_use]
    pub fn of(answer: Answer, request: &Request, nodes: Vec<Arc<str>>) -> Group {
        Group {
            unknown: answer.why_uncertain(),
            unless: answer.unless(&request.names),
            origins: vec![GroupOrigin {
                sources: answer.trace.as_ref().map(sources).unwrap_or_default(),
                nodes: nodes.clone(),
            }],
            result: answer.result,
            assumed: answer.assumed,
            nodes,
            condition: Alternatives::None,
        }
    }

    /// The same with converted sources.
    #[must_use]
    pub fn map<S>(self, mut convert: impl FnMut(&Source) -> S) -> Group<S> {
        let origins = self.origins.into_iter().map(|origin| GroupOrigin {
            sources: origin.sources.iter().map(&mut convert).collect(),
            nodes: origin.nodes,
        });
        Group {
            origins: origins.collect(),
            result: self.result,
            unknown: self.unknown,
            unless: self.unless,
            assumed: self.assumed,
            nodes: self.nodes,
            condition: self.condition,
        }
    }
}

/// The nodes that get an answer from the same sources. The fields have the order of the public JSON.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
pub struct GroupOrigin<S = Source> {
    /// The nodes, in their order; empty if no nodes are known.
    pub nodes: Vec<Arc<str>>,
    /// The sources, the highest level's first; empty without a trace.
    pub sources: Vec<S>,
}

/// The displayed parts of an answer: the value or the message, and why it is not certain. Only the
/// message decides what people see, so errors are looked up by it.
type ShownAnswer = (Result<Value, String>, Option<String>);

/// The answers over known nodes, the largest group first; groups of equal size in the order of
/// their first nodes. Empty if it was cancelled.
#[must_use]
pub fn groups_of_nodes(
    session: &Session<'_>,
    nodes: &KnownNodes,
    request: &Request,
    is_cancelled: &dyn Fn() -> bool,
) -> Vec<Group> {
    let members: Vec<usize> = (0..nodes.len()).collect();
    groups_of_members(session, nodes, request, &members, is_cancelled)
}

/// The same for some of the nodes, by number, in their order.
#[must_use]
pub fn groups_of_members(
    session: &Session<'_>,
    nodes: &KnownNodes,
    request: &Request,
    members: &[usize],
    is_cancelled: &dyn Fn() -> bool,
) -> Vec<Group> {
    groups_with_inputs(session, nodes, request, members, is_cancelled).0
}

/// The same, with what the answers depend on.
#[must_use]
pub fn groups_with_inputs(
    session: &Session<'_>,
    nodes: &KnownNodes,
    request: &Request,
    members: &[usize],
    is_cancelled: &dyn Fn() -> bool,
) -> (Vec<Group>, Vec<SharedInputs>) {
    let answers = numbered_answers(session, nodes, request, members, is_cancelled);
    let Some(NumberedAnswers {
        mut groups,
        place_of,
        inputs,
    }) = answers
    else {
        return (Vec::new(), Vec::new());
    };
    for &member in members {
        let (group, origin) = place_of[member];
        let group = &mut groups[group as usize];
        let name = nodes.shared_name(member);
        group.origins[origin as usize].nodes.push(name.clone());
        group.nodes.push(name);
    }
    (groups, inputs)
}

/// What an answer depends on, and the nodes that share it.
#[derive(Clone, Debug)]
pub struct SharedInputs {
    /// Its inputs.
    pub reads: Arc<Reads>,
    /// Whether it may be another one in another version of Puppet, although its inputs are the same.
    pub depends_on_version: bool,
    /// The numbers of the nodes.
    pub members: Vec<usize>,
}

/// The answers of some known nodes, whose names are left out.
#[derive(Debug)]
pub struct NumberedAnswers {
    /// The answers, that of most nodes first, each with the origins of most nodes first.
    pub groups: Vec<Group>,
    /// For each of the nodes, by its number, the number of its answer, and that of the origin there.
    pub place_of: Vec<(u32, u32)>,
    /// What each lookup depended on.
    pub inputs: Vec<SharedInputs>,
}

/// The answers of some known nodes: one lookup for each distinct set of sources, plus O(nodes).
/// `None` if it was cancelled.
#[must_use]
pub fn numbered_answers(
    session: &Session<'_>,
    nodes: &KnownNodes,
    request: &Request,
    members: &[usize],
    is_cancelled: &dyn Fn() -> bool,
) -> Option<NumberedAnswers> {
    let mut groups: Vec<Group> = Vec::new();
    let mut known: Map<ShownAnswer, Vec<usize>, KeyHashing> = Map::default();
    // One answer can have many origins, identified by their sources.
    let mut origins: Map<(usize, Vec<Source>), usize, KeyHashing> = Map::default();
    let visit = |answer: Answer| {
        let inputs = (Arc::clone(&answer.reads), answer.depends_on_version);
        let mut new = Group::of(answer, request, Vec::new());
        let found = new.origins.remove(0).sources;
        let result = new.result.as_ref().map_err(|error| error.to_string());
        let same = known.entry((result.cloned(), new.unknown.clone()));
        let same = same.or_default();
        // Equal messages may come with other places; values have been compared.
        let is_same = |&&at: &&usize| new.result.is_ok() || groups[at].result == new.result;
        let group = same.iter().find(is_same).copied();
        let group = group.unwrap_or_else(|| {
            same.push(groups.len());
            groups.push(new);
            groups.len() - 1
        });
        let of_group = &mut groups[group].origins;
        let origin = origins
            .entry((group, found))
            .or_insert_with_key(|(_, found)| {
                of_group.push(GroupOrigin {
                    sources: found.clone(),
                    nodes: Vec::new(),
                });
                of_group.len() - 1
            });
        (group as u32, *origin as u32, inputs)
    };
    let limit = LookupLimit::unlimited(is_cancelled);
    let found = answers_within(session, nodes, request, members, &limit, visit);
    let answered: usize = found.iter().map(|(_, members)| members.len()).sum();
    if answered < members.len() {
        return None;
    }
    let mut counts: Vec<Vec<usize>> = groups.iter().map(|it| vec![0; it.origins.len()]).collect();
    for ((group, origin, _), members) in &found {
        counts[*group as usize][*origin as usize] += members.len();
    }
    let mut number_of_origin = Vec::with_capacity(groups.len());
    for (group, counts) in groups.iter_mut().zip(&counts) {
        let (origins, numbers) = most_first(std::mem::take(&mut group.origins), counts);
        group.origins = origins;
        number_of_origin.push(numbers);
    }
    let counts: Vec<usize> = counts.iter().map(|origins| origins.iter().sum()).collect();
    let (groups, number_of) = most_first(groups, &counts);
    let mut place_of = vec![(0, 0); nodes.len()];
    let mut inputs = Vec::with_capacity(found.len());
    for ((group, origin, (reads, depends_on_version)), members) in found {
        let origin = number_of_origin[group as usize][origin as usize];
        for &member in &members {
            place_of[member] = (number_of[group as usize], origin);
        }
        inputs.push(SharedInputs {
            reads,
            depends_on_version,
            members,
        });
    }
    Some(NumberedAnswers {
        groups,
        place_of,
        inputs,
    })
}

/// Orders items by their counts, the greatest first; those of equal counts keep their order. Also
/// the new number of each.
fn most_first<T>(items: Vec<T>, counts: &[usize]) -> (Vec<T>, Vec<u32>) {
    let mut sorted: Vec<(usize, T)> = items.into_iter().enumerate().collect();
    sorted.sort_by_key(|(at, _)| std::cmp::Reverse(counts[*at]));
    let mut numbers = vec![0; sorted.len()];
    for (number, (at, _)) in (0..).zip(&sorted) {
        numbers[*at] = number;
    }
    (sorted.into_iter().map(|(_, item)| item).collect(), numbers)
}

/// The answers over all nodes that match `scope`: without any possible file, then with each.
/// Combinations of several possible files are not formed; the answer then reports a level as
/// unknown.
#[must_use]
pub fn groups_of_possible(session: &Session<'_>, scope: &Scope, request: &Request) -> Vec<Group> {
    let answer = session.lookup(scope, request);
    let mut possible = Vec::new();
    for unknown in &answer.unknown {
        if let UnknownCause::Path(path) = &unknown.cause {
            for file in path.files.iter() {
                possible.push((unknown.clone(), file.clone()));
            }
        }
    }
    // Files without a condition: their paths can be read in two ways, or there are too many.
    let mut left = Vec::new();
    let mut bound = Vec::new();
    let places = possible_places(session, scope, &possible);
    for (at, (template, file)) in places.iter().enumerate() {
        let bindings = template.bind_across_folders(file);
        match bindings.filter(|_| at < MAX_POSSIBLE) {
            Some(bindings) if bound.contains(&bindings) => {}
            Some(bindings) => bound.push(bindings),
            None => left.push(file),
        }
    }
    let is_open = |unknown: &super::request::Unknown| match &unknown.cause {
        UnknownCause::Path(path) => path.files.iter().any(|file| left.contains(&file)),
        UnknownCause::Function { .. } | UnknownCause::Absent { .. } => true,
    };
    let reason = answer.unknown.iter().find(|unknown| is_open(unknown));
    let reason = reason.map(ToString::to_string);
    let why_not = |answer: &Answer| {
        let of_value = || answer.result.as_ref().ok()?.opaque_reason();
        reason.clone().or_else(of_value)
    };
    let unless_of = |answer: &Answer| {
        let mut known = answer.clone();
        known.unknown.retain(is_open);
        known.unless(&request.names)
    };
    let answer_with = |bindings: Vec<(Arc<str>, String)>| {
        let mut bound = scope.clone();
        for (path, value) in &bindings {
            bound.bind(path, value);
        }
        let answer = session.lookup(&bound, request);
        (answer, Alternatives::AnyOf(vec![bindings]))
    };
    let mut groups: Vec<Group> = Vec::new();
    let otherwise = (answer, Alternatives::Otherwise);
    for (answer, condition) in std::iter::once(otherwise).chain(bound.into_iter().map(answer_with))
    {
        let mut new = Group {
            unknown: why_not(&answer),
            unless: unless_of(&answer),
            condition,
            ..Group::of(answer, request, Vec::new())
        };
        let mut known = groups.iter_mut();
        match known.find(|group| group.result == new.result && group.unknown == new.unknown) {
            Some(group) => {
                new.origins.retain(|origin| !group.origins.contains(origin));
                group.origins.append(&mut new.origins);
                group.condition.add(new.condition);
            }
            None => groups.push(new),
        }
    }
    // "Every other node" is read behind those that are named.
    groups.rotate_left(1);
    groups
}

/// The templates of the levels with possible files, with those files.
fn possible_places(
    session: &Session<'_>,
    scope: &Scope,
    possible: &[(super::request::Unknown, Arc<str>)],
) -> Vec<(Template, Arc<str>)> {
    let mut found = Vec::new();
    for (unknown, file) in possible {
        let places = session.places_in(&unknown.layer, scope).unwrap_or_default();
        let template = places
            .into_iter()
            .filter(|place| place.level == unknown.level && place.index == unknown.index)
            .map(|place| place.template)
            .find(|template| template.may_match(file));
        if let Some(template) = template.filter(|it| it.variables().next().is_some()) {
            found.push((template, file.clone()));
        }
    }
    found
}
