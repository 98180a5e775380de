//! Searches the sources of a value in order, and merges the results.

use super::budget::weight_of;
use super::engine::Engine;
use super::error::{Failure, Found, optional};
use super::in_place::Changes;
use super::merge::{Strategy, StrategyKind};
use super::trace::{TraceEvent, TraceKind};
use crate::value::Value;

impl Engine<'_> {
    /// `MergeStrategy#lookup`: searches the variants in order and merges their values.
    pub(super) fn merge_variants<V>(
        &mut self,
        strategy: &Strategy,
        variants: &[V],
        search: &mut dyn FnMut(&mut Self, &V) -> Found,
    ) -> Found {
        if strategy.is_first_found() {
            for variant in variants {
                match search(self, variant) {
                    Err(Failure::NotFound) => {}
                    other => return other,
                }
            }
            return Err(Failure::NotFound);
        }
        match variants {
            [] => Err(Failure::NotFound),
            [only] => Ok(strategy.single(search(self, only)?)),
            _ => self.with(
                || TraceKind::Merge(strategy.clone()),
                |engine| {
                    let merged = engine.fold_variants(strategy, variants, search)?;
                    engine.event(|| TraceEvent::Result(merged.clone()));
                    Ok(merged)
                },
            ),
        }
    }

    fn fold_variants<V>(
        &mut self,
        strategy: &Strategy,
        variants: &[V],
        search: &mut dyn FnMut(&mut Self, &V) -> Found,
    ) -> Found {
        let (mut merged, mut weight) = (None, 0);
        for variant in variants {
            let Some(value) = optional(search(self, variant))? else {
                continue;
            };
            // Each of Puppet's merges visits everything that was merged before.
            weight += weight_of(&value);
            self.budget.add_values(weight)?;
            merged = Some(match merged {
                None => strategy.convert(value),
                Some(high) => self.merge_two(strategy, high, &value)?,
            });
        }
        merged.ok_or(Failure::NotFound)
    }

    /// Merges two values. In-place changes are applied to all holders of the objects.
    fn merge_two(&mut self, strategy: &Strategy, high: Value, low: &Value) -> Found {
        if self.tracer.is_none() && self.cached_values.is_empty() {
            // Most nodes merge the same options.
            if self.in_options
                && strategy.kind == StrategyKind::Hash
                && let (Value::Hash(one), Value::Hash(other)) = (&high, low)
            {
                let merge = || strategy.merge(high.clone(), low, None);
                return self.session.configs.merged_options([one, other], merge);
            }
            return strategy.merge(high, low, None);
        }
        let mut mutated = Vec::new();
        let merged = strategy.merge(high, low, Some(&mut mutated));
        // Changes before an error are kept.
        if !mutated.is_empty() {
            let changes = Changes::new(&mutated);
            if let Some(tracer) = &mut self.tracer {
                tracer.change(&changes);
            }
            self.cached_values.change(&changes);
        }
        merged
    }
}
