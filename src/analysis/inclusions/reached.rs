//! Finds the known nodes for which a statement may be reached: those for which no condition around
//! it is false.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Inclusions, viewpoint};
use crate::analysis::bodies::CodeBody;
use crate::analysis::members::Members;
use crate::lookup::{Data, SessionHost};
use crate::puppet::{BodyPlace, depends_on_node, may_reach};
use crate::scope::Column;
use crate::syntax::puppet::{Dialect, without_colons};
use crate::text::TextRange;
use crate::workspace::{Language, Within, language_of};

/// Maximum number of combinations of values that an evaluation is made for.
const MAX_CASES: usize = 256;

/// The nodes with the same values for some variables: each variable with the index of its value.
struct DecidedCase(Vec<(Arc<Column>, u32)>);

impl DecidedCase {
    fn is_of(&self, member: usize) -> bool {
        let mut values = self.0.iter();
        values.all(|(column, id)| column.ids.get(member) == Some(id))
    }
}

impl<'a> Inclusions<'_, 'a> {
    /// Those of some known nodes that may reach a statement of a body. An evaluation for each
    /// distinct combination of the values that decide it, plus O(nodes).
    pub(super) fn reaching(
        &self,
        body: CodeBody<'a>,
        place: TextRange,
        members: &Members,
    ) -> Members {
        let analysis = self.analysis();
        if language_of(body.file.path()) != Some(Language::Puppet(Dialect::Manifest)) {
            return members.clone();
        }
        let statement = BodyPlace {
            body: match body.within {
                Within::Top => None,
                Within::Node(at) => body.code.nodes.get(at as usize).map(|it| it.range),
                Within::Definition(_) => body.definition().map(|it| it.range),
            },
            place,
        };
        let source = analysis.configs.source(body.file.path(), body.file.text());
        if !depends_on_node(&source, statement) {
            return members.clone();
        }
        let root = self.view.root;
        let class = body.class();
        let is_given = |parameter: &str| {
            class.is_none_or(|class| analysis.may_be_given(root, class, parameter))
        };
        let judge = |member| {
            let host = SessionHost::new(self.view.session(), Data::Allowed);
            let scope = self.known.scope(member);
            let reached = may_reach(&host, &scope, &source, statement, &is_given);
            let read = self.read_by(reached.variables, &host);
            let from = viewpoint(body);
            let is_hidden = |name: &Arc<str>| self.order.may_miss_from(from, name);
            (reached.may_be || read.iter().any(is_hidden), read)
        };
        // Nodes beyond the maximum may reach it.
        let judged = self.by_case(members, true, judge).into_iter();
        judged
            .filter_map(|(member, may_be)| may_be.then_some(member))
            .collect()
    }

    /// What holds for each of some members. `judge` says it for one, with the variables that decide it: it is asked
    /// once for each distinct combination of their values, up to a maximum; `beyond` holds for the rest. Plus O(members
    /// × combinations).
    pub(super) fn by_case<T: Clone>(
        &self,
        members: &Members,
        beyond: T,
        judge: impl Fn(usize) -> (T, BTreeSet<Arc<str>>),
    ) -> Vec<(usize, T)> {
        let mut cases: Vec<(DecidedCase, T)> = Vec::new();
        let mut judged = |member| {
            if let Some((_, known)) = cases.iter().find(|(case, _)| case.is_of(member)) {
                return known.clone();
            }
            if cases.len() >= MAX_CASES {
                return beyond.clone();
            }
            let (found, read) = judge(member);
            // Groups have no values of their own to compare.
            if member < self.known.len() {
                cases.push((self.case_of(member, &read), found.clone()));
            }
            found
        };
        let members = members.iter();
        members.map(|member| (member, judged(member))).collect()
    }

    /// The nodes that have the same values for some variables as a known one.
    fn case_of(&self, member: usize, read: &BTreeSet<Arc<str>>) -> DecidedCase {
        let columns = self.known.columns(read.iter()).into_iter();
        let values = columns.filter_map(|column| {
            let id = column.ids.get(member).copied()?;
            Some((column, id))
        });
        DecidedCase(values.collect())
    }

    /// The variables that decide an evaluation: those that it read, and those of its lookups.
    pub(super) fn read_by(
        &self,
        mut read: BTreeSet<Arc<str>>,
        host: &SessionHost<'_>,
    ) -> BTreeSet<Arc<str>> {
        let of_data = host.variables().into_iter();
        read.extend(of_data.map(|name| Arc::from(without_colons(&name))));
        if !host.keys().is_empty() {
            read.extend(self.path_variables());
        }
        read
    }

    /// The variables in paths of all hierarchies.
    fn path_variables(&self) -> BTreeSet<Arc<str>> {
        let analysis = self.analysis();
        let roots = analysis.snapshot.roots().iter();
        let used = roots.flat_map(|root| analysis.at(root).level_variables());
        used.map(|used| used.name).collect()
    }
}
