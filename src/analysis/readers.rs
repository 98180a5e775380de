//! Which known nodes read a file.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Analysis, RootView};
use crate::hierarchy::{Template, TemplatePart};
use crate::lookup::Place;
use crate::scope::{Column, KnownNodes};
use crate::workspace::path;

impl RootView<'_> {
    /// The file that a known node reads at a place for a key; `None` if a variable in its path has
    /// no value for the node, and for elements of `mapped_paths`.
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

    /// The numbers of the known nodes for which one of some places is the file at `path`.
    pub fn readers<'p>(&self, places: impl Iterator<Item = &'p Place>, path: &str) -> Vec<usize> {
        let nodes = self.analysis.nodes;
        let tests: Vec<Readers<'_>> = places
            .map(|place| Readers::new(nodes, place, path))
            .collect();
        if tests.iter().any(|test| test.is_for_all()) {
            return self.members();
        }
        let mut members: Vec<usize> = tests.iter().flat_map(|test| test.members(nodes)).collect();
        if tests.len() > 1 {
            members.sort_unstable();
            members.dedup();
        }
        self.retain_readers(&mut members);
        members
    }

    /// The numbers of the known nodes that may read the data of this root. O(nodes).
    #[must_use]
    pub fn members(&self) -> Vec<usize> {
        let mut members = (0..self.analysis.nodes.len()).collect();
        self.retain_readers(&mut members);
        members
    }

    /// Keeps those of some known nodes, by number, that may read the data of this root. O(1) unless it
    /// lies in a folder `environments`.
    pub fn retain_readers(&self, members: &mut Vec<usize>) {
        let Analysis { nodes, .. } = self.analysis;
        if let Some(name) = self.analysis.deployed_name_of(self.root) {
            let own = |member: usize| nodes.own_environment(member);
            members.retain(|&member| own(member).is_none_or(|own| own == name));
        }
    }
}

/// The files that a path of the hierarchy can match, by whether known nodes read them.
pub struct ReadFiles {
    /// Those that one of the nodes reads.
    pub read: Vec<String>,
    /// Those that match the path but that no node reads.
    pub unread: Vec<String>,
    /// For each of the nodes, whether it reads one.
    pub has_file: Vec<bool>,
}

impl RootView<'_> {
    /// Splits `files` by whether some of the known nodes read them at some places; `None` if that
    /// depends on an unknown value, and if there are no nodes. `members` are ordered. O(files and the
    /// nodes that read them) where one variable decides, else O(files × nodes).
    #[must_use]
    pub fn read_files(
        &self,
        places: &[&Place],
        files: &[String],
        members: &[usize],
    ) -> Option<ReadFiles> {
        let nodes = self.analysis.nodes;
        let variables = places.iter().flat_map(|place| place.template.variables());
        let mut columns = variables
            .filter(|name| !is_wildcard(name))
            .map(|name| nodes.column(name));
        let is_unknown = |column: Arc<Column>| {
            let unknown = column.unknown;
            unknown.is_some_and(|id| members.iter().any(|&member| column.ids[member] == id))
        };
        if members.is_empty() || columns.any(is_unknown) {
            return None;
        }
        let mut found = ReadFiles {
            read: Vec::new(),
            unread: Vec::new(),
            has_file: vec![false; members.len()],
        };
        for file in files {
            let matching = places.iter().copied();
            let matching = matching.filter(|place| place.template.matches(file));
            let mut is_read = false;
            for reader in self.readers(matching, file) {
                if let Ok(at) = members.binary_search(&reader) {
                    is_read = true;
                    found.has_file[at] = true;
                }
            }
            if is_read {
                found.read.push(file.clone())
            } else {
                found.unread.push(file.clone())
            }
        }
        Some(found)
    }
}

/// Whether the name of a template's unknown part is that of a glob's wildcard.
#[must_use]
pub fn is_wildcard(variable: &str) -> bool {
    variable.starts_with('*')
}

struct Readers<'p> {
    /// The path of the file.
    path: &'p str,
    template: Template,
    /// The variables of the template, in order, without wildcards.
    columns: Vec<Arc<Column>>,
    /// Whether it has only text and variables.
    is_literal: bool,
    /// For mapped paths: the variable, and the element that stands for the file.
    mapped: Option<(Arc<Column>, String)>,
}

impl<'p> Readers<'p> {
    fn new(nodes: &KnownNodes, place: &Place, path: &'p str) -> Readers<'p> {
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
        let is_literal = template.parts.iter().all(|part| match part {
            TemplatePart::Text(_) => true,
            TemplatePart::Variable(name) => !is_wildcard(name),
            TemplatePart::Key(_) => false,
        });
        let names = template.variables().filter(|name| !is_wildcard(name));
        let columns: Vec<Arc<Column>> = names.map(|name| nodes.column(name)).collect();
        Readers {
            path,
            columns,
            is_literal,
            template,
            mapped,
        }
    }

    /// Whether the path is the same for every node.
    fn is_for_all(&self) -> bool {
        let is_text = self.columns.is_empty() && self.mapped.is_none() && self.is_literal;
        is_text && self.is_literally(0) == Some(true)
    }

    /// The nodes that read the file, in their order. O(nodes), or O(such nodes) if one variable
    /// decides.
    fn members(&self, nodes: &KnownNodes) -> Vec<usize> {
        if let (Some((start, end)), [column]) = (self.around_variable(), &self.columns[..]) {
            let text = self.path.strip_prefix(start);
            let text = text.and_then(|rest| rest.strip_suffix(end));
            let members = text.map(|text| column.members_with(text));
            let members = members.unwrap_or_default().iter();
            return members.map(|&member| member as usize).collect();
        }
        let contains = |member: &usize| self.contains(*member);
        let first = match self.template.parts.as_slice() {
            [TemplatePart::Text(start), TemplatePart::Variable(name), ..] => Some((&**start, name)),
            [TemplatePart::Variable(name), ..] => Some(("", name)),
            [_, ..] | [] => None,
        };
        let Some((start, _)) = first.filter(|(_, name)| !is_wildcard(name)) else {
            return (0..nodes.len()).filter(contains).collect();
        };
        // Most nodes fail at the first variable, so each of its values is compared once.
        let rest = self.path.strip_prefix(start);
        let begins = |text: Cow<'_, str>| rest.is_some_and(|rest| rest.starts_with(&*text));
        let begins: Vec<bool> = self.columns[0].texts().map(begins).collect();
        let ids = self.columns[0].ids.iter().enumerate();
        let beginning = ids.filter(|(_, id)| begins[**id as usize]);
        let beginning = beginning.map(|(member, _)| member);
        beginning.filter(contains).collect()
    }

    /// The texts before and after the variable in a path that consists of text and one variable.
    fn around_variable(&self) -> Option<(&str, &str)> {
        match self.template.parts.as_slice() {
            _ if self.mapped.is_some() || !self.is_literal => None,
            [TemplatePart::Text(start), TemplatePart::Variable(_)] => Some((start, "")),
            [
                TemplatePart::Text(start),
                TemplatePart::Variable(_),
                TemplatePart::Text(end),
            ] => Some((start, end)),
            [..] => None,
        }
    }

    fn contains(&self, member: usize) -> bool {
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
        holds && self.is_path_for(member)
    }

    /// Whether the template, filled with a node's values, can be a path for some key and some text
    /// in place of wildcards.
    fn is_path_for(&self, member: usize) -> bool {
        if self.is_literal {
            self.is_literally(member) == Some(true)
        } else {
            self.fits(member)
        }
    }

    /// The same without key and wildcards.
    fn is_literally(&self, member: usize) -> Option<bool> {
        let mut columns = self.columns.iter();
        let mut rest = self.path;
        for part in &self.template.parts {
            rest = match part {
                TemplatePart::Text(text) => rest.strip_prefix(text.as_str())?,
                TemplatePart::Variable(_) | TemplatePart::Key(_) => {
                    rest.strip_prefix(&*columns.next()?.text(member))?
                }
            };
        }
        Some(rest.is_empty())
    }

    fn fits(&self, member: usize) -> bool {
        let mut columns = self.columns.iter();
        let mut path = String::new();
        let mut parts = Vec::new();
        for part in &self.template.parts {
            match part {
                TemplatePart::Text(text) => path.push_str(text),
                TemplatePart::Variable(name) if !is_wildcard(name) => {
                    if let Some(column) = columns.next() {
                        path.push_str(&column.text(member));
                    }
                }
                TemplatePart::Variable(_) | TemplatePart::Key(_) => {
                    parts.push(TemplatePart::Text(std::mem::take(&mut path)));
                    parts.push(part.clone());
                }
            }
        }
        parts.push(TemplatePart::Text(path));
        Template { parts }.matches(self.path)
    }
}
