//! Levels outside of the workspace, in words.

use std::sync::Arc;

use crate::lookup::{absent_levels, absent_words};

/// What would change an answer: `level 'private' (outside this workspace) sets it`. None where no
/// level lies outside.
#[must_use]
pub fn outside_words(levels: &[Arc<str>]) -> Option<String> {
    absent_words(levels, "it")
}

/// Why an answer is unknown: `level 'private' (outside this workspace) may set it`. None where no
/// level lies outside.
#[must_use]
pub fn outside_reason(levels: &[Arc<str>]) -> Option<String> {
    absent_levels(levels).map(|those| format!("{those} may set it"))
}
