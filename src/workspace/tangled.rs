//! Values that may have references in other parts of the text: through aliases, merge keys or
//! substitutions, or because they are broken.

use super::facts::{KeyFact, KeyState};
use crate::text::TextRange;

/// An alias of an anchor, or a merge key's.
pub(super) struct AliasTarget {
    pub(super) start: u32,
    /// The range of the value that it stands for; `None` for an unknown anchor.
    pub(super) value: Option<TextRange>,
}

/// Maximum number of aliases that one value is followed through; with more it counts as tangled.
const MAX_ALIASES: usize = 64;

/// The indices of the keys whose value may have references outside of its own range; `starts` are
/// the positions of all references. O(keys × log keys), and for each key O(aliases that its value
/// leads to × log).
pub(super) fn tangled(
    keys: &[KeyFact],
    mut starts: Vec<u32>,
    aliases: &[AliasTarget],
    substitutes: bool,
) -> Box<[u32]> {
    if starts.is_empty() {
        return Box::default();
    }
    starts.sort_unstable();
    let has_reference = |range: TextRange| {
        let behind = starts.partition_point(|&start| start < range.start);
        starts.get(behind).is_some_and(|&start| start < range.end)
    };
    let aliases_in = |range: TextRange| {
        let behind = aliases.partition_point(|alias| alias.start < range.start);
        let behind = aliases[behind..].iter();
        behind.take_while(move |alias| alias.start < range.end)
    };
    let leads_to_reference = |value: TextRange| {
        let mut seen: Vec<TextRange> = Vec::new();
        let mut open = vec![value];
        while let Some(range) = open.pop() {
            for alias in aliases_in(range) {
                let Some(value) = alias.value else { continue };
                if seen.len() >= MAX_ALIASES || has_reference(value) {
                    return true;
                }
                if !seen.contains(&value) {
                    seen.push(value);
                    open.push(value);
                }
            }
        }
        false
    };
    // A merge key's entries lie in the value of another key, which has their references too.
    let mut order: Vec<&KeyFact> = keys.iter().collect();
    order.sort_by_key(|key| key.value.start);
    let has_next_inside = |key: &KeyFact| {
        let behind = order.partition_point(|other| other.value.start <= key.value.start);
        let next = order.get(behind);
        next.is_some_and(|next| next.value.start < key.value.end)
    };
    let is_tangled = |key: &KeyFact| {
        substitutes
            || key.state == KeyState::Broken
            || has_next_inside(key)
            || leads_to_reference(key.value)
    };
    let all = (0..).zip(keys);
    all.filter(|(_, key)| is_tangled(key))
        .map(|(at, _)| at)
        .collect()
}
