//! One request over many scopes: which answers there are, and whose each is.
//!
//! Nodes for which the levels read the same files, as far as these matter to the keys that are
//! asked for, and for which the variables in the data have the same values, share a lookup. So a
//! key over ten thousand nodes costs about as much as over as many scopes as there are different
//! sets of sources.

use std::collections::HashMap as Map;
use std::sync::Arc;

use super::engine::Session;
use super::error::LookupError;
use super::request::{Answer, Certainty, Reads, Request, UnknownCause};
use super::trace::{Event, NodeKind, TraceNode};
use super::views::{LayerViews, Spot};
use crate::hierarchy::{Layer, TemplatePart};
use crate::scope::{Column, KnownNodes, Scope};
use crate::value::{KeyHashing, Value};

/// Most scopes that possible files are expanded to.
const MAX_POSSIBLE: usize = 2_000;

/// One run of a lookup, and the nodes for which it runs the same.
#[derive(Clone, Debug)]
pub struct Run {
    /// The answer.
    pub answer: Answer,
    /// The nodes, by number, in their order.
    pub members: Vec<usize>,
}

/// The answers for `members`: a lookup for each different set of sources, and O(members) beside.
#[must_use]
pub fn runs(
    session: &Session<'_>,
    nodes: &KnownNodes,
    request: &Request,
    members: &[usize],
) -> Vec<Run> {
    runs_until(session, nodes, request, members, &|| false)
}

/// [`runs`], broken off where `is_stopped` says so; what is found by then is not everything.
#[must_use]
pub fn runs_until(
    session: &Session<'_>,
    nodes: &KnownNodes,
    request: &Request,
    members: &[usize],
    is_stopped: &dyn Fn() -> bool,
) -> Vec<Run> {
    let mut prepared: Vec<Prepared> = Vec::new();
    let mut runs: Vec<Run> = Vec::new();
    let mut signature = Vec::new();
    for &member in members {
        let hit = prepared.iter().find_map(|prepared| {
            prepared.signature(member, &mut signature);
            prepared.known.get(signature.as_slice()).copied()
        });
        if let Some(run) = hit {
            runs[run].members.push(member);
            continue;
        }
        if is_stopped() {
            break;
        }
        let answer = session.lookup(&nodes.scope(member), request);
        let at = match prepared
            .iter()
            .position(|known| known.reads == answer.reads)
        {
            Some(at) => at,
            None => {
                prepared.push(Prepared::new(session, nodes, answer.reads.clone()));
                prepared.len() - 1
            }
        };
        prepared[at].signature(member, &mut signature);
        let known = &mut prepared[at].known;
        known.insert(signature.as_slice().into(), runs.len());
        runs.push(Run {
            answer,
            members: vec![member],
        });
    }
    runs
}

/// The known nodes whose levels of a layer read the file at `path`, by number. O(nodes) once the
/// views are known.
#[must_use]
pub fn readers(session: &Session<'_>, nodes: &KnownNodes, layer: &Layer, path: &str) -> Vec<usize> {
    let views = session.views(nodes, layer);
    let is_it = |spot: &Spot| matches!(spot, Spot::File(place, _) if **place == *path);
    let wanted: Vec<bool> = views.spots.iter().map(is_it).collect();
    let reads: Vec<bool> = views
        .views
        .iter()
        .map(|view| view.iter().any(|(_, spot)| wanted[*spot as usize]))
        .collect();
    (0..nodes.len())
        .filter(|&member| reads[views.of[member] as usize])
        .collect()
}

/// Everything that tells two nodes apart for one [`Reads`].
struct Prepared {
    reads: Arc<Reads>,
    /// For each layer its views, and a number for what of each view matters to the keys.
    layers: Vec<(Arc<LayerViews>, Vec<u32>)>,
    columns: Vec<Arc<Column>>,
    /// The run of each signature: what matters of the layers, then the value of each variable.
    known: Map<Box<[u32]>, usize, KeyHashing>,
}

impl Prepared {
    fn new(session: &Session<'_>, nodes: &KnownNodes, reads: Arc<Reads>) -> Prepared {
        let mut layers = vec![Layer::Global, Layer::Environment];
        layers.extend(reads.modules.iter().cloned().map(Layer::Module));
        let layers = layers.into_iter().map(|layer| {
            let views = session.views(nodes, &layer);
            let numbers = reduced(session, &views, &reads);
            (views, numbers)
        });
        let layers = layers
            .filter(|(_, numbers)| numbers.iter().any(|number| *number != numbers[0]))
            .collect();
        let columns = reads.variables.iter().map(|name| nodes.column(name));
        let columns: Vec<Arc<Column>> = columns.collect();
        Prepared {
            layers,
            columns,
            reads,
            known: Map::default(),
        }
    }

    fn signature(&self, member: usize, signature: &mut Vec<u32>) {
        signature.clear();
        let layers = self.layers.iter();
        signature.extend(layers.map(|(views, numbers)| numbers[views.of[member] as usize]));
        signature.extend(self.columns.iter().map(|column| column.ids[member]));
    }
}

/// A number for each view, equal for views that are equal in all that matters to the keys.
fn reduced(session: &Session<'_>, views: &LayerViews, reads: &Reads) -> Vec<u32> {
    let keys = std::iter::once("lookup_options").chain(reads.keys.iter().map(|key| &**key));
    let matters = views.mattering(session, keys);
    let mut numbers: Map<Box<[(u32, u32)]>, u32, KeyHashing> = Map::default();
    let mut kept: Vec<(u32, u32)> = Vec::new();
    let reduced = views.views.iter().map(|view| {
        kept.clear();
        kept.extend(view.iter().filter(|(_, spot)| matters[*spot as usize]));
        if let Some(number) = numbers.get(kept.as_slice()) {
            return *number;
        }
        let next = numbers.len() as u32;
        numbers.insert(kept.as_slice().into(), next);
        next
    });
    reduced.collect()
}

/// A source that gave a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Source {
    /// The file or URI.
    pub place: Arc<str>,
    /// The top-level key that it was asked for.
    pub key: Arc<str>,
}

/// The places that gave the values of which an answer was made, the highest first; those of other
/// keys that strings look up are not among them. Needs a trace.
#[must_use]
pub fn sources(trace: &TraceNode) -> Vec<Source> {
    let mut found = Vec::new();
    for node in &trace.children {
        if let NodeKind::Data(key) = &node.kind {
            let parsed = crate::interpolation::Key::parse(key).ok();
            let root = parsed.as_ref().and_then(|key| key.root.as_name());
            collect(node, &Arc::from(root.unwrap_or(key)), &mut found);
        }
    }
    found
}

fn collect(node: &TraceNode, key: &Arc<str>, found: &mut Vec<Source>) {
    match (&node.kind, &node.event) {
        (NodeKind::Interpolation(_) | NodeKind::Options, _) => return,
        // The search for the options of a module's default hierarchy.
        (NodeKind::Scope(title), _) if title.contains("\"lookup_options\"") => return,
        (NodeKind::Location(location), Event::Found(..)) => {
            let source = Source {
                place: location.place.clone(),
                key: key.clone(),
            };
            if !found.contains(&source) {
                found.push(source);
            }
        }
        _ => {}
    }
    for child in &node.children {
        collect(child, key, found);
    }
}

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
    /// Where it comes from, where a trace was asked for.
    pub sources: Vec<Source>,
}

/// What people are told by an answer: the value or the message, and why it is not certain.
type Said = (Result<Value, String>, Option<String>);

/// The answers over known nodes, the largest group first; groups of one size in the order of
/// their first nodes.
#[must_use]
pub fn groups_of_nodes(session: &Session<'_>, nodes: &KnownNodes, request: &Request) -> Vec<Group> {
    let members: Vec<usize> = (0..nodes.len()).collect();
    let mut groups: Vec<(Group, Vec<usize>)> = Vec::new();
    let mut known: Map<Said, Vec<usize>, KeyHashing> = Map::default();
    for run in runs(session, nodes, request, &members) {
        let unknown = match run.answer.certainty() {
            Certainty::Certain => None,
            Certainty::Unknown => run.answer.why_uncertain(),
        };
        let found = run.answer.trace.as_ref().map(sources).unwrap_or_default();
        let result = run.answer.result;
        let key = (result.clone().map_err(|error| error.message), unknown);
        let same = known.entry(key.clone()).or_default();
        // Equal messages may come with other places; values have been compared.
        let is_same = |&&at: &&usize| result.is_ok() || groups[at].0.result == result;
        match same.iter().find(is_same) {
            Some(&at) => {
                let (group, members) = &mut groups[at];
                members.extend(run.members);
                for source in found {
                    if !group.sources.contains(&source) {
                        group.sources.push(source);
                    }
                }
            }
            None => {
                same.push(groups.len());
                let group = Group {
                    result,
                    unknown: key.1,
                    nodes: Vec::new(),
                    condition: String::new(),
                    sources: found,
                };
                groups.push((group, run.members));
            }
        }
    }
    for (group, members) in &mut groups {
        members.sort_unstable();
        let names = members.iter().map(|&member| nodes.shared_name(member));
        group.nodes = names.collect();
    }
    groups.sort_by_key(|(group, members)| {
        let first = members.first().copied().unwrap_or_default();
        (std::cmp::Reverse(group.nodes.len()), first)
    });
    groups.into_iter().map(|(group, _)| group).collect()
}

/// The answer for one known node.
#[must_use]
pub fn group_of(
    session: &Session<'_>,
    nodes: &KnownNodes,
    request: &Request,
    member: usize,
) -> Group {
    let answer = session.lookup(&nodes.scope(member), request);
    Group {
        unknown: match answer.certainty() {
            Certainty::Certain => None,
            Certainty::Unknown => answer.why_uncertain(),
        },
        sources: answer.trace.as_ref().map(sources).unwrap_or_default(),
        result: answer.result,
        nodes: vec![nodes.shared_name(member)],
        condition: String::new(),
    }
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
                for file in path.files.iter() {
                    possible.push((unknown.clone(), file.clone()));
                }
            }
            UnknownCause::Function { .. } => functions.push(unknown.to_string()),
        }
    }
    let certain = |answer: &Answer| {
        functions
            .first()
            .cloned()
            .or_else(|| answer.result.as_ref().ok()?.opaque_reason())
    };
    let mut groups = Vec::new();
    let why_not = certain(&answer);
    add(&mut groups, answer, why_not, "otherwise".into());
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
        add(&mut groups, answer, why_not, condition.join(", "));
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

fn add(groups: &mut Vec<Group>, answer: Answer, unknown: Option<String>, condition: String) {
    let found = answer.trace.as_ref().map(sources).unwrap_or_default();
    let same = groups
        .iter_mut()
        .find(|group| group.result == answer.result && group.unknown == unknown);
    match same {
        Some(group) => {
            for source in found {
                if !group.sources.contains(&source) {
                    group.sources.push(source);
                }
            }
            if !condition.is_empty() && group.condition != "otherwise" {
                group.condition = format!("{}; {condition}", group.condition);
            }
        }
        None => groups.push(Group {
            result: answer.result,
            unknown,
            nodes: Vec::new(),
            condition,
            sources: found,
        }),
    }
}
