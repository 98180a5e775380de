//! Asking the sources of a value in order, and merging what they give.

use super::deep_merge::DeepOptions;
use super::engine::{Engine, MAX_VALUES, weight_of};
use super::error::{Failure, Found};
use super::in_place::Changes;
use super::merge::{Strategy, StrategyKind};
use super::merge_all::{is_regular, merge_all};
use super::shared_options::Measure;
use super::trace::{Event, NodeKind};
use crate::value::Value;

impl Engine<'_> {
    /// `MergeStrategy#lookup`: asks the variants in order and merges what they give.
    pub(super) fn merge_variants<V>(
        &mut self,
        strategy: &Strategy,
        variants: &[V],
        ask: &mut dyn FnMut(&mut Self, &V) -> Found,
    ) -> Found {
        if strategy.is_first_found() {
            for variant in variants {
                match ask(self, variant) {
                    Err(Failure::NotFound) => {}
                    other => return other,
                }
            }
            return Err(Failure::NotFound);
        }
        match variants {
            [] => Err(Failure::NotFound),
            [only] => Ok(strategy.single(ask(self, only)?)),
            _ => self.with(
                || NodeKind::Merge(strategy.clone()),
                |engine| {
                    let variants = &mut variants.iter();
                    // A trace shows each change in place as it is after the merge that made it.
                    let merged = match engine.tracer.is_some() && strategy.is_deep() {
                        true => engine.fold_variants(strategy, None, 0, variants, ask),
                        false => engine.collect_variants(strategy, variants, ask),
                    }?;
                    engine.event(|| Event::Result(merged.clone()));
                    Ok(merged)
                },
            ),
        }
    }

    /// Merges one after another, as Puppet does.
    fn fold_variants<V>(
        &mut self,
        strategy: &Strategy,
        merged: Option<Value>,
        weight: usize,
        variants: &mut std::slice::Iter<'_, V>,
        ask: &mut dyn FnMut(&mut Self, &V) -> Found,
    ) -> Found {
        let (mut merged, mut weight) = (merged, weight);
        for variant in variants {
            let value = match ask(self, variant) {
                Ok(value) => value,
                Err(Failure::NotFound) => continue,
                Err(error) => return Err(error),
            };
            // Every merge of Puppet's goes through all that was merged before.
            weight += weight_of(&value, MAX_VALUES);
            self.meet(weight)?;
            merged = Some(match merged {
                None => strategy.convert(value),
                Some(high) => self.merge_two(strategy, high, &value)?,
            });
        }
        merged.ok_or(Failure::NotFound)
    }

    /// Merges two values. What that changes in place shows wherever the very objects are held.
    fn merge_two(&mut self, strategy: &Strategy, high: Value, low: &Value) -> Found {
        if self.tracer.is_none() && self.given.is_empty() {
            return strategy.merge(high, low, None);
        }
        let mut mutated = Vec::new();
        let merged = strategy.merge(high, low, Some(&mut mutated));
        // What was changed before an error stays changed.
        if !mutated.is_empty() {
            let changes = Changes::new(&mutated);
            if let Some(tracer) = &mut self.tracer {
                tracer.change(&changes);
            }
            self.given.change(&changes);
        }
        merged
    }

    /// Merges what was found one after another; nothing of nothing.
    fn merge_found(&mut self, strategy: &Strategy, found: Vec<Value>) -> Found<Option<Value>> {
        let mut found = found.into_iter();
        let first = found.next().map(|first| strategy.convert(first));
        first
            .map(|first| found.try_fold(first, |high, low| self.merge_two(strategy, high, &low)))
            .transpose()
    }

    /// Collects what the variants give and merges all at once, as long as no step of Puppet's way
    /// could fail; else goes Puppet's way from there.
    fn collect_variants<V>(
        &mut self,
        strategy: &Strategy,
        variants: &mut std::slice::Iter<'_, V>,
        ask: &mut dyn FnMut(&mut Self, &V) -> Found,
    ) -> Found {
        let mut found: Vec<Value> = Vec::new();
        let mut options = DeepOptions::default();
        let mut weight = 0;
        // Most keys have one value in a level or layer, and nobody merges it.
        let mut first: Option<Value> = None;
        while let Some(variant) = variants.next() {
            let value = match ask(self, variant) {
                Ok(value) => value,
                Err(Failure::NotFound) => continue,
                Err(error) => {
                    // Puppet merges before it asks further: what fails there fails first.
                    self.merge_found(strategy, found)?;
                    return Err(error);
                }
            };
            let mut is_all_regular = true;
            if found.is_empty() {
                let Some(first) = first.take() else {
                    first = Some(value);
                    continue;
                };
                let measure = self.measure(strategy, &first);
                weight += measure.weight;
                self.meet(weight)?;
                is_all_regular = measure.is_regular;
                found.push(first);
            }
            let measure = self.measure(strategy, &value);
            // Every merge of Puppet's goes through all that was merged before.
            weight += measure.weight;
            self.meet(weight)?;
            found.push(value);
            let mut goes_at_once = is_all_regular && measure.is_regular;
            if goes_at_once && found.len() == 2 && strategy.kind == StrategyKind::Deep {
                options = strategy.deep_options()?;
                // With other options a merge may fail; with any it may change what a function gave
                // and keeps.
                goes_at_once = options.plain_knockout().is_some() && self.given.is_empty();
            }
            if !goes_at_once {
                let merged = self.merge_found(strategy, found)?;
                return self.fold_variants(strategy, merged, weight, variants, ask);
            }
        }
        found.extend(first);
        let all_at_once = match found.len() {
            0 | 1 => None,
            _ if self.shares_options(strategy) => {
                let configs = self.session.configs;
                let merge = || merge_all(strategy, &options, &found);
                configs.options.merged(&found, merge)
            }
            _ => merge_all(strategy, &options, &found),
        };
        match all_at_once {
            Some(merged) => Ok(merged),
            None => self.merge_found(strategy, found)?.ok_or(Failure::NotFound),
        }
    }

    /// Whether what is merged is lookup options, which are mostly those of other scopes too.
    fn shares_options(&self, strategy: &Strategy) -> bool {
        self.in_options && strategy.kind == StrategyKind::Hash
    }

    fn measure(&self, strategy: &Strategy, value: &Value) -> Measure {
        let measure = || Measure {
            weight: weight_of(value, MAX_VALUES),
            is_regular: is_regular(strategy, value),
        };
        if let Value::Hash(hash) = value
            && self.shares_options(strategy)
        {
            return self.session.configs.options.measured(hash, measure);
        }
        measure()
    }
}
