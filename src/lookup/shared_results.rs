//! Results of an evaluation for many nodes that looks data up, such as site manifests: nodes that differ in nothing that
//! it read share its result.
//!
//! Without sharing, manifests that include a list of classes take 1.5 s for 10,000 nodes instead of 0.1 s, after each
//! edit of a list.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::over_nodes::ClassResults;
use super::request::Reads;
use super::session::Session;
use crate::hierarchy::{Layer, Template};
use crate::scope::KnownNodes;
use crate::syntax::puppet::{is_qualified, without_colons};

/// Maximum number of different sets of inputs. Each has 4 bytes for each node.
const MAX_INPUTS: usize = 64;

/// The results of one evaluation for some of the known nodes.
#[derive(Debug)]
pub struct SharedResults<T> {
    /// The id of the nodes.
    nodes: u64,
    /// The first result, until a second node is asked for.
    first: Option<(usize, Reads, T)>,
    known: ClassResults,
    results: Vec<T>,
}

/// What an evaluation read.
#[derive(Clone, Debug, Default)]
pub struct ReadByCode {
    /// What lookups read, and paths of the node's variables that were read otherwise.
    pub reads: Reads,
    /// The names of the variables that code had set when it looked something up. A path with one of them leads to other
    /// files than the node's own variables say.
    pub set_by_code: BTreeSet<Arc<str>>,
}

impl<T> Default for SharedResults<T> {
    fn default() -> SharedResults<T> {
        SharedResults {
            nodes: 0,
            first: None,
            known: ClassResults::default(),
            results: Vec::new(),
        }
    }
}

impl<T: Clone> SharedResults<T> {
    /// The result for a node, by number, if a node with the same inputs has one. `nodes` are always the same; those of
    /// their manifests' own results are without manifests. O(sets of inputs), and O(nodes) for the second node.
    pub fn find(&mut self, session: &Session<'_>, nodes: &KnownNodes, member: usize) -> Option<T> {
        if self.nodes != nodes.id() {
            *self = SharedResults {
                nodes: nodes.id(),
                ..SharedResults::default()
            };
        }
        if let Some((first, read, result)) = self.first.take() {
            self.insert(session, nodes, (first, read, result));
        }
        let known = self.known.find(member)?;
        Some(self.results[known].clone())
    }

    /// Keeps the result for a node, for others with the same inputs. O(nodes) for each different set of inputs.
    pub fn add(
        &mut self,
        session: &Session<'_>,
        nodes: &KnownNodes,
        (member, read, result): (usize, Reads, T),
    ) {
        if self.nodes != nodes.id() {
            return;
        }
        if self.first.is_none() && self.results.is_empty() {
            self.first = Some((member, read, result));
        } else {
            self.insert(session, nodes, (member, read, result));
        }
    }

    /// The number of kept results.
    pub(super) fn count(&self) -> usize {
        self.results.len() + usize::from(self.first.is_some())
    }

    fn insert(
        &mut self,
        session: &Session<'_>,
        nodes: &KnownNodes,
        (member, read, result): (usize, Reads, T),
    ) {
        let reads = Arc::new(read);
        if !self.known.has(&reads) && self.known.len() >= MAX_INPUTS {
            return;
        }
        let all = || (0..nodes.len()).collect::<Vec<usize>>();
        let result_at = (member, self.results.len());
        self.known.keep(session, nodes, (&reads, &all), result_at);
        self.results.push(result);
    }
}

impl ReadByCode {
    /// Everything that distinguishes nodes: if a path has a variable that code sets, also the others of the layer.
    #[must_use]
    pub fn inputs(self, session: &Session<'_>) -> Reads {
        let ReadByCode {
            mut reads,
            set_by_code,
        } = self;
        let modules = reads.modules.iter().cloned().map(Layer::Module);
        let layers = [Layer::Global, Layer::Environment]
            .into_iter()
            .chain(modules);
        let layers: Vec<Layer> = layers.collect();
        for layer in &layers {
            let variables = path_variables(session, layer);
            if are_among(&variables, &set_by_code) {
                reads.variables.extend(variables);
            }
        }
        reads
    }
}

/// The variables in the paths of a layer, for any node: what a node does not have may hide others.
pub(super) fn path_variables(session: &Session<'_>, layer: &Layer) -> BTreeSet<Arc<str>> {
    let mut found = BTreeSet::new();
    for place in session.known_places(layer).iter() {
        let templates = std::iter::once(&place.template).chain(&place.location_path);
        let variables = templates.flat_map(Template::variables).chain(&place.mapped);
        // Wildcards of globs are none.
        found.extend(variables.filter(|name| !name.starts_with('*')).cloned());
    }
    found
}

/// Whether a path has a variable that is among those that code has set, or one of a class.
pub(super) fn are_among(variables: &BTreeSet<Arc<str>>, set_by_code: &BTreeSet<Arc<str>>) -> bool {
    variables.iter().any(|path| {
        let name = without_colons(path.split('.').next().unwrap_or_default());
        // Classes have theirs.
        set_by_code.contains(name) || is_qualified(name)
    })
}
