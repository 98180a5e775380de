//! Proposals and reasons against a value as JSON, for both the command line and the server. The
//! format is public.

use std::sync::Arc;

use serde::Serialize;

use super::{Goal, InTheWay, Outcome, Proposal, WhyNot, diff};
use crate::ide::compare::Difference;
use crate::ide::matrix::Cell;
use crate::value::{TaggedJson, Value};
use crate::workspace::Snapshot;

/// The result for a goal, with a form `P` of proposals.
#[derive(Serialize)]
pub struct OutcomeFields<'a, P> {
    key: &'a str,
    value: TaggedJson<&'a Value>,
    already: bool,
    proposals: Vec<P>,
    reasons: &'a [String],
}

impl<'a, P> OutcomeFields<'a, P> {
    /// The fields of an outcome.
    #[must_use]
    pub fn new(
        goal: &'a Goal,
        outcome: &'a Outcome,
        proposal: impl Fn(&'a Proposal) -> P,
    ) -> OutcomeFields<'a, P> {
        let (proposals, reasons): (&[Proposal], &[String]) = match outcome {
            Outcome::Already => (&[], &[]),
            Outcome::Proposals(proposals) => (proposals, &[]),
            Outcome::Nothing(reasons) => (&[], reasons),
        };
        OutcomeFields {
            key: &goal.written_key,
            value: TaggedJson(&goal.value),
            already: matches!(outcome, Outcome::Already),
            proposals: proposals.iter().map(proposal).collect(),
            reasons,
        }
    }
}

/// A proposed edit and its effect.
#[derive(Serialize)]
pub struct ProposalFields<'a> {
    title: &'a str,
    proof: String,
    nodes: &'a [Arc<str>],
    others: &'a [Arc<str>],
    files: Vec<&'a str>,
    changes: &'a [Difference],
    diff: String,
}

impl<'a> ProposalFields<'a> {
    /// The fields of a proposal; files are named by their path below the workspace's folder.
    #[must_use]
    pub fn new(proposal: &'a Proposal, snapshot: &'a Snapshot) -> ProposalFields<'a> {
        let files = proposal.plan.paths().map(|at| snapshot.short_name(at));
        let name = |at: &str| snapshot.short_name(at).to_owned();
        ProposalFields {
            title: &proposal.title,
            proof: proposal.words(),
            nodes: &proposal.changed,
            others: &proposal.others,
            files: files.collect(),
            changes: &proposal.proof.known.changes,
            diff: diff(&proposal.plan, snapshot, &name).unwrap_or_default(),
        }
    }
}

/// The levels that prevent a value.
#[derive(Serialize)]
pub struct WhyNotFields<'a> {
    has_it: bool,
    gets: &'a Cell,
    merged: Option<&'a str>,
    levels: Vec<LevelFields<'a>>,
}

#[derive(Serialize)]
struct LevelFields<'a> {
    level: &'a str,
    file: Option<&'a str>,
    line: Option<u32>,
    in_the_way: bool,
    what: &'a str,
}

impl<'a> WhyNotFields<'a> {
    /// The fields of an answer; files are named by their path below the workspace's folder.
    #[must_use]
    pub fn new(why: &'a WhyNot, snapshot: &'a Snapshot) -> WhyNotFields<'a> {
        let level = |level: &'a InTheWay| LevelFields {
            level: &level.level,
            file: level.file.as_ref().map(|at| snapshot.short_name(at)),
            line: level.line,
            in_the_way: level.is_in_the_way,
            what: &level.what,
        };
        WhyNotFields {
            has_it: why.has_it,
            gets: &why.gets,
            merged: why.merged.as_deref(),
            levels: why.levels.iter().map(level).collect(),
        }
    }
}
