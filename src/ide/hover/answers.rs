//! One key over many nodes: nodes that see the same files and the same variables share a lookup.

use std::sync::Arc;

use super::ground::Ground;
use crate::hierarchy::{Template, TemplatePart};
use crate::lookup::{self, Answer, Place, Reach, Request};
use crate::scope::Column;

/// One run of a lookup, and the nodes for which it runs the same.
pub(super) struct Run {
    /// The answer, with its trace.
    pub(super) answer: Answer,
    /// The nodes, by number.
    pub(super) members: Vec<usize>,
    /// The variables that strings of the data asked for.
    pub(super) variables: Vec<Arc<str>>,
}

/// The answers for `members`: a lookup for each different set of sources.
pub(super) fn runs(ground: &Ground<'_>, request: &Request, members: &[usize]) -> Vec<Run> {
    let (nodes, is_stopped) = (ground.options.nodes, ground.options.is_stopped);
    let found = lookup::runs_until(&ground.session(), nodes, request, members, &is_stopped);
    let runs = found.into_iter().map(|run| Run {
        variables: run.answer.reads.variables.iter().cloned().collect(),
        answer: run.answer,
        members: run.members,
    });
    runs.collect()
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
