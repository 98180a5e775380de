//! Answers for nodes as JSON, for both the command line and the server's documents. The format is public.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::compare::Difference;
use super::goal::{Goal, InTheWay, Outcome, Proposal, WhyNot, diff};
use super::matrix::{Cell, SourceLine};
use crate::lookup::{GroupOrigin, LookupError};
use crate::value::{TaggedJson, Value};
use crate::workspace::Snapshot;

/// A value as JSON, on one line.
#[must_use]
pub fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// An answer with its nodes, or with its condition if no nodes are known.
#[derive(Serialize)]
struct CellFields<'a> {
    found: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    possible: Option<TaggedJson<&'a Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<TaggedJson<&'a Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    certain: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<&'a [Arc<str>]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
    sources: Vec<&'a SourceLine>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    origins: &'a [GroupOrigin<SourceLine>],
    #[serde(skip_serializing_if = "Option::is_none")]
    unless: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    assumed: Vec<String>,
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_known = self.unknown.is_none();
        let value = self.result.as_ref().ok();
        let error = self.result.as_ref().err();
        let are_several = self.origins.len() > 1;
        let has_nodes = self.origins.iter().any(|origin| !origin.nodes.is_empty());
        let fields = CellFields {
            found: is_known.then_some(self.result.is_ok()),
            unknown: self.unknown.as_deref(),
            possible: self.possible().filter(|_| !is_known).map(TaggedJson),
            value: value.filter(|_| is_known).map(TaggedJson),
            error: error.filter(|_| is_known).map(LookupError::to_string),
            certain: (!is_known || self.unless.is_some()).then_some(false),
            nodes: self.condition.is_none().then_some(&self.nodes),
            condition: (!self.condition.is_none()).then(|| self.condition.to_string()),
            sources: self.sources(),
            origins: match are_several && has_nodes {
                true => &self.origins,
                false => &[],
            },
            unless: self.unless.as_deref(),
            assumed: self.assumed.iter().map(ToString::to_string).collect(),
        };
        fields.serialize(serializer)
    }
}

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
