//! Levels outside of the workspace, in words.

use std::sync::Arc;

/// Most levels that are named.
const MOST_NAMED: usize = 4;

/// What would change an answer: `level 'private' (not in this workspace) sets it`. None where no
/// level lies outside.
#[must_use]
pub fn outside_words(levels: &[Arc<str>]) -> Option<String> {
    let (those, verb) = match levels {
        [] => return None,
        [_] => ("level", "sets"),
        [..] => ("levels", "set"),
    };
    let shown = levels.iter().take(MOST_NAMED);
    let shown: Vec<String> = shown.map(|name| format!("'{name}'")).collect();
    let more = match levels.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "{those} {}{more} (not in this workspace) {verb} it",
        shown.join(", ")
    ))
}
