//! Which of the known nodes read a file, and what a lookup gives them.

use std::sync::Arc;

use super::{Analysis, RootView};
use crate::hierarchy::{Template, TemplatePart};
use crate::lookup::{self, Place, Request, Run};
use crate::scope::{Column, KnownNodes};
use crate::workspace::path;

/// Most lookups of one key over the known nodes while a person waits: some milliseconds. A key that is
/// another one on each of thousands of nodes would take seconds.
pub const MOST_LOOKUPS: usize = 128;

impl RootView<'_> {
    /// The answers for some of the known nodes: a lookup for each different set of sources, at most
    /// [`MOST_LOOKUPS`] and until the request is cancelled. Members that would take more are in none.
    #[must_use]
    pub fn runs(&self, request: &Request, members: &[usize]) -> Vec<Run> {
        let Analysis {
            nodes,
            is_cancelled,
            ..
        } = self.analysis;
        let goes_on = |made| made < MOST_LOOKUPS && !is_cancelled();
        lookup::runs_while(&self.session(), nodes, request, members, &goes_on)
    }

    /// The file that a known node reads at a place for a key; none where a variable in its path has no
    /// value for the node, and for the elements of `mapped_paths`.
    #[must_use]
    pub fn path_for(&self, place: &Place, key: &str, member: usize) -> Option<String> {
        let template = place
            .template
            .with_key(key)
            .filter(|_| place.mapped.is_none())?;
        let mut path = String::new();
        for part in &template.parts {
            match part {
                TemplatePart::Text(text) => path.push_str(text),
                TemplatePart::Variable(name) => {
                    let column = self.analysis.nodes.column(name);
                    let text = column.value(member)?.to_s();
                    path.push_str(Some(text).filter(|text| !text.is_empty())?.as_str());
                }
                TemplatePart::Key(_) => return None,
            }
        }
        Some(path::normalise(&path))
    }

    /// The known nodes for which one of some places is the file at `path`, by number.
    pub fn readers<'p>(&self, places: impl Iterator<Item = &'p Place>, path: &str) -> Vec<usize> {
        let nodes = self.analysis.nodes;
        let tests: Vec<Readers> = places
            .map(|place| Readers::new(nodes, place, path))
            .collect();
        (0..nodes.len())
            .filter(|&member| tests.iter().any(|test| test.contains(member, path)))
            .collect()
    }
}

/// How many of some members are in no run: they would have taken more than [`MOST_LOOKUPS`].
#[must_use]
pub fn left_out(runs: &[Run], members: &[usize]) -> usize {
    let asked: usize = runs.iter().map(|run| run.members.len()).sum();
    members.len() - asked
}

/// The nodes that read a file at a place.
struct Readers {
    template: Template,
    /// The variables of the template, in order.
    columns: Vec<Arc<Column>>,
    /// For mapped paths: the variable, and the element that means the file.
    mapped: Option<(Arc<Column>, String)>,
}

impl Readers {
    fn new(nodes: &KnownNodes, place: &Place, path: &str) -> Readers {
        let mut template = place.template.clone();
        let mapped = place.mapped.as_ref().and_then(|variable| {
            let bound = place.template.bind(path)?;
            let (_, element) = bound.into_iter().find(|(name, _)| name == variable)?;
            for part in &mut template.parts {
                if matches!(part, TemplatePart::Variable(name) if name == variable) {
                    *part = TemplatePart::Text(element.clone());
                }
            }
            Some((nodes.column(variable), element))
        });
        let columns = template.variables().map(|name| nodes.column(name));
        Readers {
            columns: columns.collect(),
            template,
            mapped,
        }
    }

    fn contains(&self, member: usize, path: &str) -> bool {
        let holds = match &self.mapped {
            None => true,
            Some((column, element)) => {
                column
                    .value(member)
                    .is_some_and(|value| match value.as_array() {
                        Some(elements) => elements.iter().any(|each| each.to_s() == *element),
                        None => value.to_s() == *element,
                    })
            }
        };
        holds && self.is_path_for(member, path)
    }

    /// Whether the template with a node's values in it is a path, for some key.
    fn is_path_for(&self, member: usize, wanted: &str) -> bool {
        let mut columns = self.columns.iter();
        let mut path = String::new();
        let mut parts = Vec::new();
        for part in &self.template.parts {
            match part {
                TemplatePart::Text(text) => path.push_str(text),
                TemplatePart::Variable(_) => {
                    if let Some(column) = columns.next() {
                        path.push_str(&column.text(member));
                    }
                }
                TemplatePart::Key(_) => {
                    parts.push(TemplatePart::Text(std::mem::take(&mut path)));
                    parts.push(part.clone());
                }
            }
        }
        if parts.is_empty() {
            return path == wanted;
        }
        parts.push(TemplatePart::Text(path));
        Template { parts }.matches(wanted)
    }
}
