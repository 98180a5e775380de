//! Finds parameters of included classes that have no value, and the nodes affected.

use std::sync::Arc;

use super::{Affected, FileRange, Included, Inclusions, MAX_WAYS, MissingValue, Statement};
use crate::analysis::Defined;
use crate::analysis::evaluation_order::Viewpoint;
use crate::analysis::members::Members;

impl<'a> Inclusions<'_, 'a> {
    /// The values that the included classes lack.
    pub(super) fn missing_values(&self) -> Vec<MissingValue> {
        let mut found = Vec::new();
        for included in self.classes.values() {
            self.missing(included, &mut found);
        }
        found
    }

    /// Adds the values that a class lacks.
    fn missing(&self, included: &Included<'a>, found: &mut Vec<MissingValue>) {
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
