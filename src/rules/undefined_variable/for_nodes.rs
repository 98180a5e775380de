//! Tokens with variables that known nodes do not have.

use std::sync::Arc;

use super::{FileContext, Findings, Severity, effect};
use crate::analysis::{Analysis, DescribedBy, NodeSet};
use crate::interpolation::Key;
use crate::lookup::LayerReaders;
use crate::rules::Reader;
use crate::rules::variables::{BUILT_IN, missing_part};
use crate::scope::{Column, top_name};
use crate::syntax::puppet::without_colons;
use crate::text::number_of;
use crate::workspace::{Snapshot, VariableUse};

/// Reports variables that some or all known nodes that read the file do not have, and takes back
/// what was said of variables that all of them have. O(nodes) for a variable of all files, and
/// O(nodes that read the file) for one that not all nodes have.
pub(super) fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    let mut used = at
        .facts()
        .variables()
        .filter(|it| may_be_missing(at.snapshot(), it))
        .peekable();
    if used.peek().is_none() {
        return;
    }
    let used: Vec<&VariableUse> = used.collect();
    for reader in at.readers() {
        let Some(set) = at.checker.known_nodes(reader.root.root) else {
            continue;
        };
        // The facts of tests are examples: custom facts are often left out.
        if set.described_by == DescribedBy::NodesFile && !set.known.is_empty() {
            check_for(at, (reader, &set), &used, findings);
        }
    }
}

/// Whether a variable is one of facts, trusted data or the top scope, and no other rule reports it.
fn may_be_missing(snapshot: &Snapshot, used: &VariableUse) -> bool {
    let path = used.name.strip_prefix("::").unwrap_or(&used.name);
    let name = top_name(path);
    let is_given = BUILT_IN.contains(&name) && !["facts", "trusted"].contains(&name);
    !is_given
        && !path.contains("::")
        && Key::parse(path).is_ok()
        && missing_part(snapshot, path).is_none()
}

fn check_for(
    at: &FileContext<'_>,
    (reader, set): (&Reader<'_>, &NodeSet),
    used: &[&VariableUse],
    findings: &mut Findings<'_>,
) {
    let nodes = &set.known;
    let is_reported = |used: &VariableUse, findings: &Findings<'_>| findings.has(used.range);
    let columns = used
        .iter()
        .filter(|it| !nodes.may_be_set(top_name(&it.name)));
    let columns = columns.map(|it| (*it, nodes.column(&it.name)));
    let mut columns = columns
        .filter(|(used, column)| column.is_undefined_for_some() || is_reported(used, findings));
    let columns: Vec<(&VariableUse, Arc<Column>)> = columns.by_ref().collect();
    if columns.is_empty() {
        return;
    }
    let analysis = Analysis {
        nodes,
        ..at.checker.analysis()
    };
    let view = analysis.at(reader.root.root);
    let readers = LayerReaders::of(view.session(), nodes, &view.layer);
    let path = at.file.path();
    let is_here = |member: &usize| analysis.has_member(view.root, *member);
    let mut members = readers.certain(path);
    members.retain(is_here);
    if members.is_empty() {
        return;
    }
    let are_all = readers.possible(path).into_iter().filter(is_here).count() == members.len();
    for (used, column) in columns {
        let is_without = |member: &&usize| column.is_undefined(**member);
        let without = members.iter().filter(is_without).count();
        let first = members.iter().find(is_without);
        let Some(&first) = first else {
            if members.iter().all(|member| column.value(*member).is_some()) && are_all {
                findings.list.retain(|finding| {
                    finding.range != used.range || finding.severity != Severity::Hint
                });
            }
            continue;
        };
        let is_of_all = without == members.len() && are_all;
        let known = findings.list.iter().position(|it| it.range == used.range);
        let is_hint = |at: usize| findings.list[at].severity == Severity::Hint;
        if known.is_some_and(|known| !is_of_all || !is_hint(known)) {
            continue;
        }
        if let Some(known) = known {
            findings.list.remove(known);
        }
        let (name, of) = (&used.name, members.len());
        let node = nodes.certname(first);
        let is_part = ["facts", "trusted"].contains(&top_name(without_colons(name)));
        let effect = match is_part {
            true => "Puppet puts an empty string there",
            false => effect(at),
        };
        let readers = number_of(of, "known node");
        let (severity, message) = match (is_of_all, of) {
            (true, 1) => (
                Severity::Warning,
                format!("'{node}', the known node that reads this file, has no '{name}': {effect}"),
            ),
            (true, _) => (
                Severity::Warning,
                format!("none of the {readers} that read this file has '{name}': {effect}"),
            ),
            (false, _) => (
                Severity::Hint,
                format!(
                    "{without} of {readers} that read this file have no '{name}', such as '{node}': {effect}"
                ),
            ),
        };
        let finding = findings.report_as(severity, used.range, message);
        if !is_part {
            finding.matters_later();
        }
    }
}
