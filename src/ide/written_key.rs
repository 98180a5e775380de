//! Keys in the text of tokens, manifests and expectations, with the ranges of their segments.

use std::sync::Arc;

use super::named::Mention;
use crate::interpolation::{Key, split_key};
use crate::text::TextRange;
use crate::value::Value;

/// A dotted key with its place.
pub(super) struct WrittenKey<'k> {
    pub(super) key: &'k Arc<str>,
    /// The range without quotes, if the key has no escapes.
    pub(super) plain: Option<TextRange>,
    /// The range to mark for a key with escapes.
    pub(super) whole: TextRange,
}

impl WrittenKey<'_> {
    /// The range from the first segment to another one.
    pub(super) fn up_to(&self, part: usize) -> Option<TextRange> {
        let parts = split_key(self.key).ok()?;
        let (from, to) = (parts.first()?.1, parts.get(part)?.1);
        Some(match self.plain {
            Some(plain) => from.cover(to).shift(plain.start as usize),
            None => self.whole,
        })
    }

    /// The range of a key, if the text names it or a part of its value: up to the last step.
    pub(super) fn place_of(&self, root: &str, steps: &[Value]) -> Option<TextRange> {
        let parsed = Key::of(self.key).ok()?;
        let is_it = parsed.root.as_name() == Some(root) && parsed.steps().starts_with(steps);
        is_it.then(|| self.up_to(steps.len()))?
    }

    /// The key up to the segment at `offset`.
    pub(super) fn at(&self, offset: usize) -> Option<Mention> {
        let (root, steps, range) = self.part_at(offset)?;
        Some(Mention::of_key(&root, steps, range))
    }

    /// The key up to the segment at `offset`: its name, the steps, and their range.
    pub(super) fn part_at(&self, offset: usize) -> Option<(Arc<str>, Vec<Value>, TextRange)> {
        let parts = split_key(self.key).ok()?;
        let start = self.plain.map_or(self.whole.start + 1, |plain| plain.start);
        let here = offset.saturating_sub(start as usize);
        let mut ends = parts.iter().map(|(_, range)| range.end as usize);
        let part = ends.position(|end| here <= end);
        let part = part.unwrap_or(parts.len().checked_sub(1)?);
        let parsed = Key::of(self.key).ok()?;
        let mut steps = parsed.steps();
        steps.truncate(part);
        let root = Arc::from(parsed.root.as_name()?);
        Some((root, steps, self.up_to(part)?))
    }
}
