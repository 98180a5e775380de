//! One key over many nodes: nodes that see the same files and the same variables share a lookup.

use std::collections::HashMap;
use std::sync::Arc;

use super::ground::Ground;
use crate::hierarchy::{Layer, Template, TemplatePart};
use crate::ide::fleet::{Column, KnownNodes};
use crate::interpolation::{Method, TokenKind, tokens};
use crate::lookup::{Answer, NodeKind, Place, Reach, Request, TraceNode};
use crate::workspace::path;

/// One run of a lookup, and the nodes for which it runs the same.
pub(super) struct Run {
    /// The answer, with its trace.
    pub(super) answer: Answer,
    /// The nodes, by number.
    pub(super) members: Vec<usize>,
    /// The variables that strings of the data asked for.
    pub(super) variables: Vec<Arc<str>>,
}

/// What a lookup depends on, as its trace tells.
#[derive(PartialEq, Eq, Clone)]
struct Reads {
    layers: Vec<Layer>,
    keys: Vec<Arc<str>>,
    variables: Vec<Arc<str>>,
}

/// Everything that tells two nodes apart for one [`Reads`].
struct Prepared {
    reads: Reads,
    templates: Vec<PreparedTemplate>,
    columns: Vec<Arc<Column>>,
}

struct PreparedTemplate {
    template: Template,
    columns: Vec<Arc<Column>>,
    /// Which file a combination of values means, by the values' numbers: 0 for none that counts.
    files: HashMap<Vec<u32>, u32>,
}

/// Which file each location means, then the value of each variable.
type Signature = (usize, Vec<u32>);

/// The answers for `members`; O(members × locations) and a lookup for each different answer.
pub(super) fn runs(ground: &Ground<'_>, request: &Request, members: &[usize]) -> Vec<Run> {
    let nodes = ground.options.nodes;
    let session = ground.session();
    let mut prepared: Vec<Prepared> = Vec::new();
    let mut known: HashMap<Signature, usize> = HashMap::new();
    let mut runs: Vec<Run> = Vec::new();
    for &member in members {
        let hit = (0..prepared.len()).find_map(|at| {
            let signature = prepared[at].signature(ground, member);
            known.get(&(at, signature)).copied()
        });
        if let Some(run) = hit {
            runs[run].members.push(member);
            continue;
        }
        let answer = session.lookup(&nodes.scope(member), request);
        let reads = Reads::of(answer.trace.as_ref());
        let at = match prepared.iter().position(|known| known.reads == reads) {
            Some(at) => at,
            None => {
                prepared.push(Prepared::new(ground, nodes, reads.clone()));
                prepared.len() - 1
            }
        };
        let signature = prepared[at].signature(ground, member);
        known.insert((at, signature), runs.len());
        runs.push(Run {
            answer,
            members: vec![member],
            variables: reads.variables,
        });
    }
    runs
}

impl Reads {
    fn of(trace: Option<&TraceNode>) -> Reads {
        let mut reads = Reads {
            layers: vec![Layer::Global, Layer::Environment],
            keys: vec![Arc::from("lookup_options")],
            variables: Vec::new(),
        };
        let Some(trace) = trace else { return reads };
        let mut visit = |node: &TraceNode| match &node.kind {
            NodeKind::Provider { layer, .. } => add(&mut reads.layers, layer.clone()),
            NodeKind::Data(key) => {
                let parsed = crate::interpolation::Key::parse(key).ok();
                let root = parsed.as_ref().and_then(|key| key.root.as_name());
                add(&mut reads.keys, Arc::from(root.unwrap_or(key)));
            }
            NodeKind::Interpolation(text) => {
                for variable in variables_of(text) {
                    add(&mut reads.variables, variable);
                }
            }
            NodeKind::Root
            | NodeKind::Options
            | NodeKind::InvalidKey(_)
            | NodeKind::MergeSource
            | NodeKind::Level { .. }
            | NodeKind::Location(_)
            | NodeKind::Merge(_)
            | NodeKind::Scope(_)
            | NodeKind::SubKey(_)
            | NodeKind::Segment
            | NodeKind::Module(_) => {}
        };
        trace.walk(&mut visit);
        reads
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// The variables that a string's tokens name.
pub(super) fn variables_of(text: &str) -> Vec<Arc<str>> {
    let named = tokens(text)
        .into_iter()
        .filter_map(|token| match token.kind {
            TokenKind::Variable { .. } => Some(Arc::from(token.inner.slice(text))),
            TokenKind::Call {
                method: Method::Scope,
                argument,
                ..
            } => Some(argument),
            TokenKind::Call { .. }
            | TokenKind::Empty
            | TokenKind::UnknownMethod { .. }
            | TokenKind::Malformed
            | TokenKind::Unclosed => None,
        });
    named.collect()
}

impl Prepared {
    fn new(ground: &Ground<'_>, nodes: &KnownNodes, reads: Reads) -> Prepared {
        let mut templates = Vec::new();
        let mut variables = reads.variables.clone();
        for layer in &reads.layers {
            for place in ground.places(layer).iter() {
                if place.template.is_constant() {
                    continue;
                }
                if let Some(mapped) = ground.mapped_variable(place) {
                    add(&mut variables, mapped);
                    continue;
                }
                let columns = place.template.variables();
                templates.push(PreparedTemplate {
                    columns: columns.map(|variable| nodes.column(variable)).collect(),
                    template: place.template.clone(),
                    files: HashMap::new(),
                });
            }
        }
        Prepared {
            columns: variables.iter().map(|name| nodes.column(name)).collect(),
            templates,
            reads,
        }
    }

    fn signature(&mut self, ground: &Ground<'_>, member: usize) -> Vec<u32> {
        let mut signature = Vec::with_capacity(8 + self.columns.len());
        for (at, template) in self.templates.iter_mut().enumerate() {
            let file = template.file(ground, &self.reads.keys, member);
            if file > 0 {
                signature.extend([at as u32, file]);
            }
        }
        signature.push(u32::MAX);
        signature.extend(self.columns.iter().map(|column| column.ids[member]));
        signature
    }
}

impl PreparedTemplate {
    fn file(&mut self, ground: &Ground<'_>, keys: &[Arc<str>], member: usize) -> u32 {
        let ids: Vec<u32> = self
            .columns
            .iter()
            .map(|column| column.ids[member])
            .collect();
        if let Some(&known) = self.files.get(&ids) {
            return known;
        }
        let at = path::normalise(&path_for(&self.template, &self.columns, member));
        let file = ground.snapshot.file(&at).filter(|file| {
            let facts = file.facts();
            // A file without keys may still be refused, with every lookup that reads it.
            facts.error.is_some()
                || facts.keys.is_empty()
                || keys.iter().any(|key| facts.key(key).is_some())
        });
        let number = file.map_or(0, |file| file.id().0 + 1);
        self.files.insert(ids, number);
        number
    }
}

/// A template with a node's values in it; `columns` are those of its variables, in order.
fn path_for(template: &Template, columns: &[Arc<Column>], member: usize) -> String {
    let mut columns = columns.iter();
    let mut path = String::new();
    for part in &template.parts {
        match part {
            TemplatePart::Text(text) => path.push_str(text),
            TemplatePart::Variable(_) => {
                if let Some(column) = columns.next() {
                    path.push_str(&column.text(member));
                }
            }
        }
    }
    path
}

/// The nodes that read the file at `path`, by number.
pub(super) fn readers(ground: &Ground<'_>, reaches: &[Reach], at: &str) -> Vec<usize> {
    let nodes = ground.options.nodes;
    let tests: Vec<ReaderTest> = reaches
        .iter()
        .map(|reach| ReaderTest::new(ground, &reach.place, at))
        .collect();
    (0..nodes.len())
        .filter(|&member| tests.iter().any(|test| test.reads(member, at)))
        .collect()
}

/// Whether a node reads a file at a place.
struct ReaderTest {
    template: Template,
    columns: Vec<Arc<Column>>,
    /// For mapped paths: the variable, and the element that means the file.
    mapped: Option<(Arc<Column>, String)>,
}

impl ReaderTest {
    fn new(ground: &Ground<'_>, place: &Place, at: &str) -> ReaderTest {
        let nodes = ground.options.nodes;
        let mut template = place.template.clone();
        let mapped = ground.mapped_variable(place).and_then(|variable| {
            let bound = place.template.bind(at)?;
            let (_, element) = bound.into_iter().find(|(name, _)| *name == variable)?;
            for part in &mut template.parts {
                if matches!(part, TemplatePart::Variable(name) if *name == variable) {
                    *part = TemplatePart::Text(element.clone());
                }
            }
            Some((nodes.column(&variable), element))
        });
        let columns = template.variables().map(|name| nodes.column(name));
        ReaderTest {
            columns: columns.collect(),
            template,
            mapped,
        }
    }

    fn reads(&self, member: usize, at: &str) -> bool {
        let holds = match &self.mapped {
            None => true,
            Some((column, element)) => match column.value(member) {
                Some(value) => match value.as_array() {
                    Some(elements) => elements.iter().any(|each| each.to_s() == *element),
                    None => value.to_s() == *element,
                },
                None => false,
            },
        };
        holds && path_for(&self.template, &self.columns, member) == at
    }
}
