//! One request over many scopes: which answers there are, and whose each is.

use std::sync::Arc;

use super::engine::Session;
use super::error::LookupError;
use super::request::{Certainty, Request, UnknownCause};
use crate::hierarchy::TemplatePart;
use crate::scope::{Node, Scope};
use crate::value::Value;

/// Most scopes that possible files are expanded to.
const MAX_POSSIBLE: usize = 2_000;

/// One answer and whose it is.
#[derive(Clone, Debug)]
pub struct Group {
    /// The value or the error.
    pub result: Result<Value, LookupError>,
    /// Why the answer is not certain.
    pub unknown: Option<String>,
    /// The nodes that get it, in their order.
    pub nodes: Vec<Arc<str>>,
    /// What must hold for it where no nodes are known: `site = ams`; `otherwise`.
    pub condition: String,
}

/// The answers over known nodes, the largest group first; groups of one size in the order of
/// their first nodes.
#[must_use]
pub fn groups_of_nodes(
    session: &Session<'_>,
    nodes: &[Arc<Node>],
    request: &Request,
) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for node in nodes {
        let environment = node
            .environment
            .as_ref()
            .unwrap_or(&session.environment.name);
        let answer = session.lookup(&node.scope(environment), request);
        let unknown = match answer.certainty() {
            Certainty::Certain => None,
            Certainty::Unknown => why(&answer),
        };
        add(
            &mut groups,
            answer.result,
            unknown,
            Some(node.certname.clone()),
            String::new(),
        );
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.nodes.len()));
    groups
}

/// The answers over all nodes that `scope` can mean: without any possible file, then with each.
/// Combinations of several possible files are not formed; a level that is still unknown then says
/// so.
#[must_use]
pub fn groups_of_possible(session: &Session<'_>, scope: &Scope, request: &Request) -> Vec<Group> {
    let answer = session.lookup(scope, request);
    let mut possible = Vec::new();
    let mut functions = Vec::new();
    for unknown in &answer.unknown {
        match &unknown.cause {
            UnknownCause::Path(path) => {
                for file in &path.files {
                    possible.push((unknown.clone(), file.clone()));
                }
            }
            UnknownCause::Function { .. } => functions.push(unknown.to_string()),
        }
    }
    let certain = |answer: &super::request::Answer| {
        functions
            .first()
            .cloned()
            .or_else(|| answer.result.as_ref().ok()?.opaque_reason())
    };
    let mut groups = Vec::new();
    let why_not = certain(&answer);
    add(
        &mut groups,
        answer.result,
        why_not,
        None,
        "otherwise".into(),
    );
    let mut seen: Vec<Vec<(Arc<str>, String)>> = Vec::new();
    let places = possible_places(session, &possible);
    for (template, file) in places.into_iter().take(MAX_POSSIBLE) {
        let Some(bindings) = template.bind(&file) else {
            continue;
        };
        if seen.contains(&bindings) {
            continue;
        }
        let mut bound = scope.clone();
        for (path, value) in &bindings {
            bound.bind(path, value);
        }
        let condition: Vec<String> = bindings
            .iter()
            .map(|(path, value)| format!("{path} = {value}"))
            .collect();
        let answer = session.lookup(&bound, request);
        let why_not = certain(&answer);
        add(
            &mut groups,
            answer.result,
            why_not,
            None,
            condition.join(", "),
        );
        seen.push(bindings);
    }
    groups
}

/// The templates of the levels with possible files, with those files.
fn possible_places(
    session: &Session<'_>,
    possible: &[(super::request::Unknown, Arc<str>)],
) -> Vec<(crate::hierarchy::Template, Arc<str>)> {
    let mut found = Vec::new();
    for (unknown, file) in possible {
        let places = session.places(&unknown.layer).unwrap_or_default();
        let template = places
            .into_iter()
            .filter(|place| place.level == unknown.level && place.index == unknown.index)
            .map(|place| place.template)
            .find(|template| template.matches(file));
        if let Some(template) = template
            && template
                .parts
                .iter()
                .any(|part| matches!(part, TemplatePart::Variable(_)))
        {
            found.push((template, file.clone()));
        }
    }
    found
}

fn why(answer: &super::request::Answer) -> Option<String> {
    match answer.unknown.first() {
        Some(unknown) => Some(unknown.to_string()),
        None => answer.result.as_ref().ok()?.opaque_reason(),
    }
}

fn add(
    groups: &mut Vec<Group>,
    result: Result<Value, LookupError>,
    unknown: Option<String>,
    node: Option<Arc<str>>,
    condition: String,
) {
    let same = groups
        .iter_mut()
        .find(|group| group.result == result && group.unknown == unknown);
    match same {
        Some(group) => {
            group.nodes.extend(node);
            if !condition.is_empty() && group.condition != "otherwise" {
                group.condition = format!("{}; {condition}", group.condition);
            }
        }
        None => {
            let nodes = node.into_iter().collect();
            groups.push(Group {
                result,
                unknown,
                nodes,
                condition,
            });
        }
    }
}
