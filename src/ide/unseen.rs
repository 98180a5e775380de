//! Describes levels outside of the workspace.

use std::sync::Arc;

use crate::lookup::{absent_levels, absent_words};

/// A condition that would change an answer: `level 'private' (outside this workspace) sets it`.
/// `None` without such levels.
#[must_use]
pub fn outside_words(levels: &[Arc<str>]) -> Option<String> {
    absent_words(levels, "it")
}

/// The reason for an unknown answer: `level 'private' (outside this workspace) may set it`. `None`
/// without such levels.
#[must_use]
pub fn outside_reason(levels: &[Arc<str>]) -> Option<String> {
    absent_levels(levels).map(|those| format!("{those} may set it"))
}
