//! Finds parameters of included classes that have no value, and the nodes affected.

use std::sync::Arc;

use super::{Affected, FileRange, Included, Inclusions, MAX_WAYS, MissingValue, Statement};
use crate::analysis::Defined;
use crate::analysis::evaluation_order::Viewpoint;
use crate::analysis::members::Members;
use crate::analysis::scope_view::layers_of;
use crate::hierarchy::Layer;
use crate::lookup::{LookupError, Reach, UnknownCause};
use crate::scope::{Knowledge, Scope};

impl<'a> Inclusions<'_, 'a> {
    /// Adds the values that a class lacks.
    pub(super) fn missing(&self, included: &Included<'a>, found: &mut Vec<MissingValue>) {
        let Defined { file, definition } = included.class;
        if included.may_be_declared {
            return;
        }
        let needed = definition.parameters.iter();
        let needed = needed.filter(|it| it.default.is_none() && !it.captures_rest);
        for parameter in needed {
            let key = format!("{}::{}", definition.name, parameter.name);
            let mut lacking =
                self.lacking(Viewpoint::Class(&definition.name), &key, &included.seen);
            let (class, name) = (&definition.name, &parameter.name);
            if lacking.is_empty() || self.declarations.may_give(class, name) {
                continue;
            }
            let mut add = |included: FileRange, element, ways, affected| {
                found.push(MissingValue {
                    class: Arc::clone(class),
                    parameter: Arc::clone(name),
                    declared: FileRange {
                        path: Arc::clone(file.path()),
                        range: parameter.place,
                    },
                    included,
                    element,
                    ways,
                    affected,
                });
            };
            for (element, members) in &included.elements {
                let place = FileRange {
                    path: Arc::clone(element.file.path()),
                    range: element.range,
                };
                if let Some(affected) = self.affected(&lacking.among(members), members) {
                    // The nodes that read the file itself are always affected.
                    let is_own = affected.reads(&place.path);
                    let affected = if is_own { Affected::Everyone } else { affected };
                    add(place, element.element.clone(), Vec::new(), affected);
                }
            }
            for (_, members) in &included.elements {
                lacking = lacking.without(members);
            }
            let members = &included.by_statement;
            if let Some(statement) = &included.statement
                && let Some(affected) = self.affected(&lacking.among(members), members)
            {
                add(statement.place(), None, self.ways(statement), affected);
            }
        }
    }

    /// The subset of `members` for which a lookup of a key surely finds nothing.
    pub(super) fn lacking(&self, from: Viewpoint<'_>, key: &str, members: &Members) -> Members {
        // A level that every node reads provides the value for all.
        let mut holders = self.analysis().snapshot.iter_files_with(key);
        let is_for_all = |(_, reach): &(Layer, Reach)| {
            reach.place.template.is_constant() && reach.place.reading.is_some()
        };
        if holders.any(|file| self.reaches(file.path()).iter().any(is_for_all)) {
            return Members::default();
        }
        let known = self.open_scope.take();
        let mut open = self.view.resume(&Scope::open(), known);
        let found = open.key_answer(key);
        self.open_scope.replace(open.into_known());
        let not_found = |error: &LookupError| error.is_not_found();
        if !found.answer.result.as_ref().is_err_and(not_found)
            || self.view.has_outside(key)
            || self.view.lacks_file(key)
        {
            return Members::default();
        }
        if found.answer.unknown.is_empty() {
            return self.without_strange_readers(key, members.clone());
        }
        let mut lacking = members.clone();
        for unknown in found.unknowns(&self.analysis(), &[]) {
            let UnknownCause::Path(possible) = &unknown.cause else {
                return Members::default();
            };
            if unknown.for_options {
                continue;
            }
            // For a class of the top scope the lookup may run with other variables than the node
            // has.
            let mut variables = possible.variables.iter();
            let may_differ = variables.any(|variable| self.order.may_miss_from(from, variable));
            if may_differ || possible.files.is_empty() || *possible.key != *key {
                return Members::default();
            }
            for path in possible.files.iter() {
                lacking = lacking.without(&self.possible_readers(&unknown.layer, path));
            }
        }
        self.without_strange_readers(key, lacking)
    }

    /// Those of some members that do not read a file with a key by a path without one of its variables
    /// ([`crate::hierarchy::Template::matches_without_some`]). O(files with the key × places) if there are members.
    fn without_strange_readers(&self, key: &str, mut lacking: Members) -> Members {
        for layer in layers_of(key) {
            let places = self.view.places(&layer);
            for file in self.analysis().snapshot.iter_files_with(key) {
                let mut templates = places.iter().map(|place| &place.template);
                if lacking.is_empty()
                    || !templates.any(|template| template.matches_without_some(file.path()))
                {
                    continue;
                }
                let open = 0..self.known.len();
                let open = open.filter(|node| self.known.knowledge(*node) != Knowledge::All);
                lacking = lacking
                    .without(&self.possible_readers(&layer, file.path()))
                    .without(&open.collect());
            }
        }
        lacking
    }

    /// The places that lead to a statement, the nearest first.
    fn ways(&self, statement: &Statement<'a>) -> Vec<(Arc<str>, FileRange)> {
        let mut ways = Vec::new();
        let mut within = statement.body.class();
        while let Some(class) = within.filter(|_| ways.len() < MAX_WAYS) {
            let included = self.classes.get(class);
            let Some(statement) = included.and_then(|included| included.statement.as_ref()) else {
                break;
            };
            let is_known = |(known, _): &(Arc<str>, FileRange)| known == class;
            if ways.iter().any(is_known) {
                break;
            }
            ways.push((Arc::clone(class), statement.place()));
            within = statement.body.class();
        }
        ways
    }

    /// Describes some members among all nodes that include the class; `None` for no members.
    pub(super) fn affected(&self, members: &Members, all: &Members) -> Option<Affected> {
        let count = self.known.len();
        let groups = members.iter().filter(|member| *member >= count);
        let first = groups
            .map(|member| &self.groups[member - count].affected)
            .next();
        let nodes = |of: &Members| of.iter().filter(|member| *member < count).count();
        let example = members.iter().next().filter(|member| *member < count);
        match (first, example) {
            (Some(Affected::Everyone), _) => Some(Affected::Everyone),
            (_, Some(example)) => Some(Affected::Nodes {
                count: nodes(members),
                of: nodes(all),
                example: self.known.shared_name(example),
            }),
            (first, None) => first.cloned(),
        }
    }
}
