//! A key as something looks it up, a token, a manifest or an expectation: which part of it is where.

use std::sync::Arc;

use super::named::{Mention, Named};
use super::target::{KeyTarget, steps_of};
use crate::interpolation::{Key, split_key};
use crate::text::TextRange;
use crate::value::Value;

/// A dotted key with the place where it is written.
pub(super) struct WrittenKey<'k> {
    /// The key.
    pub(super) key: &'k Arc<str>,
    /// Where it stands, without quotes, if it is written without escapes.
    pub(super) plain: Option<TextRange>,
    /// What is marked where it has escapes.
    pub(super) whole: TextRange,
}

impl WrittenKey<'_> {
    /// Where the parts stand from the first up to one of them.
    pub(super) fn up_to(&self, part: usize) -> Option<TextRange> {
        let parts = split_key(self.key).ok()?;
        let (from, to) = (parts.first()?.1, parts.get(part)?.1);
        Some(match self.plain {
            Some(plain) => from.cover(to).shift(plain.start as usize),
            None => self.whole,
        })
    }

    /// Where it names a key, or something below it: up to the last step.
    pub(super) fn place_of(&self, root: &str, steps: &[Value]) -> Option<TextRange> {
        let parsed = Key::of(self.key).ok()?;
        let is_it = parsed.root.as_name() == Some(root) && steps_of(&parsed).starts_with(steps);
        is_it.then(|| self.up_to(steps.len()))?
    }

    /// What the part under the byte at `offset` names: the key up to there.
    pub(super) fn at(&self, offset: usize) -> Option<Mention> {
        let parts = split_key(self.key).ok()?;
        let start = self.plain.map_or(self.whole.start + 1, |plain| plain.start);
        let here = offset.saturating_sub(start as usize);
        let part = parts
            .iter()
            .position(|(_, range)| here <= range.end as usize);
        let part = part.unwrap_or(parts.len().checked_sub(1)?);
        let range = self.up_to(part)?;
        let parsed = Key::of(self.key).ok()?;
        let mut steps = steps_of(&parsed);
        steps.truncate(part);
        let named = Named::Key(KeyTarget {
            steps,
            range,
            ..KeyTarget::of_root(parsed.root.as_name()?)
        });
        Some(Mention { named, range })
    }
}
