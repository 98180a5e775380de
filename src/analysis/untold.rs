//! Advice for variables that levels need and that no source of the nodes tells: what to save besides.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::advice::{INVENTORY, SHELL, Weighed};
use super::doctor::{Advice, Report, VariableReport};
use super::{Analysis, NodeSet};
use crate::scope::{Knowledge, Told};
use crate::text::few;

/// Weighed before everything else, except for a missing hierarchy.
const FIRST: usize = usize::MAX - 1;

/// Asks the node classifier for each node of a nodes file, on the Puppet server.
const ASK_CLASSIFIER: &str = "mkdir -p enc && \
    classifier=$(puppet config print external_nodes --section server) && \
    for node in $(jq -r 'if type == \"array\" then .[].certname else keys[] | select(contains(\"/\") | not) end' NODES); do \
    \"$classifier\" \"$node\" > \"enc/$node.yaml\"; done\n\
    hiera-ls doctor --nodes NODES --nodes enc\n";

/// The part of a node's data to which a variable belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DataPart {
    Facts,
    Trusted,
    Variables,
}

fn part_of(variable: &VariableReport, are_variables_told: bool) -> DataPart {
    match variable.name.split('.').next() {
        Some("facts") => DataPart::Facts,
        Some("trusted") => DataPart::Trusted,
        Some(_) | None if are_variables_told => DataPart::Facts,
        Some(_) | None => DataPart::Variables,
    }
}

/// The advice, for each part of the data that is not told. Nodes of which only the name is known lack
/// everything, so other advice is for them.
pub(super) fn untold(analysis: Analysis<'_>, report: &Report, nodes: &NodeSet) -> Vec<Weighed> {
    let all = nodes.nodes.all();
    if all.iter().all(|node| node.knowledge != Knowledge::All) {
        return Vec::new();
    }
    let are_variables_told = all.iter().all(|node| node.told.variables == Told::All);
    let of_part = |part: DataPart| {
        let variables = report.variables.iter();
        let variables = variables.filter(|variable| variable.unknown > 0);
        variables.filter(move |variable| part_of(variable, are_variables_told) == part)
    };
    let told_by = |part: DataPart| {
        let count = |variable: &VariableReport| variable.unknown;
        let most = of_part(part).map(count).max()?;
        let names: BTreeSet<Arc<str>> = of_part(part).map(|it| it.name.clone()).collect();
        let names: Vec<Arc<str>> = names.into_iter().collect();
        Some((
            few(&names, 5),
            format!("unknown for {most} of {} nodes", all.len()),
        ))
    };
    let file = nodes.paths().next();
    let file = file.map_or("nodes.json", |path| analysis.snapshot.short_name(path));
    let mut found = Vec::new();
    if let Some((names, count)) = told_by(DataPart::Variables) {
        found.push(Advice {
            what: format!(
                "no source tells what the node classifier sets: {names} ({count}). PuppetDB does not know it: \
                 save the classifier's output besides, on the Puppet server"
            ),
            place: SHELL,
            paste: ASK_CLASSIFIER.replace("NODES", file),
        });
    }
    if let Some((names, count)) = told_by(DataPart::Facts) {
        let what = if all.iter().all(|node| node.told.facts.is_nothing()) {
            format!("no source tells the facts of nodes: {names} ({count})")
        } else {
            format!(
                "the saved answer has only some facts, without {names} ({count}): ask for them too"
            )
        };
        found.push(Advice {
            what,
            place: SHELL,
            paste: format!("{INVENTORY}\n"),
        });
    }
    if let Some((names, count)) = told_by(DataPart::Trusted) {
        found.push(Advice {
            what: format!(
                "no source tells the trusted data of nodes: {names} ({count}). Saved facts do not contain it, \
                 PuppetDB knows it"
            ),
            place: SHELL,
            paste: format!("{INVENTORY}\n"),
        });
    }
    found.into_iter().map(|advice| (FIRST, advice)).collect()
}
