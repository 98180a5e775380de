//! Answers for nodes as JSON, for both the command line and the server's documents. The format is public.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::matrix::{Cell, SourceLine};
use crate::lookup::{GroupOrigin, LookupError};
use crate::value::{TaggedJson, Value};

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
            origins: if are_several && has_nodes {
                &self.origins
            } else {
                &[]
            },
            unless: self.unless.as_deref(),
            assumed: self.assumed.iter().map(ToString::to_string).collect(),
        };
        fields.serialize(serializer)
    }
}
