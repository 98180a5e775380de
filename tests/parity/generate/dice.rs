//! Randomness and bookkeeping of the generator: a seeded source of choices, and the count of every
//! construct.

use std::collections::BTreeMap;

use super::constructs::CONSTRUCTS;

/// A seeded source of choices (SplitMix64) that counts the constructs that were built.
pub struct Dice {
    state: u64,
    risky: bool,
    site: bool,
    marks: BTreeMap<&'static str, u64>,
}

impl Dice {
    /// The same seed makes the same choices on every machine.
    pub fn new(seed: u64) -> Dice {
        Dice {
            state: seed ^ 0x9e37_79b9_7f4a_7c15,
            risky: false,
            site: false,
            marks: BTreeMap::new(),
        }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// A number from `low` to `high`, both possible.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// True in `n` of a thousand cases.
    pub fn rarely(&mut self, per_mille: usize) -> bool {
        self.below(1000) < per_mille
    }

    /// Sets whether the repository under construction may have mistakes that break every lookup.
    pub fn set_risky(&mut self, risky: bool) {
        self.risky = risky;
    }

    /// Sets whether the repository under construction has site manifests.
    pub fn set_site(&mut self, site: bool) {
        self.site = site;
    }

    /// Whether the repository under construction has site manifests.
    pub fn has_site(&self) -> bool {
        self.site
    }

    /// True in `n` of a thousand cases of a risky repository, never in another.
    pub fn risk(&mut self, per_mille: usize) -> bool {
        self.risky && self.rarely(per_mille)
    }

    /// A weight for [`Dice::weighted`] that only applies in risky repositories.
    pub fn if_risky(&self, weight: usize) -> usize {
        if self.risky { weight } else { 0 }
    }

    /// One of a list.
    pub fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }

    /// The position of one of several weights.
    pub fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut rest = self.below(weights.iter().sum());
        for (i, weight) in weights.iter().enumerate() {
            if rest < *weight {
                return i;
            }
            rest -= weight;
        }
        unreachable!("the rest is below the sum")
    }

    /// Records that a construct was built.
    pub fn mark(&mut self, construct: &'static str) {
        assert!(
            CONSTRUCTS.contains(&construct),
            "{construct:?} is missing in CONSTRUCTS"
        );
        *self.marks.entry(construct).or_default() += 1;
    }

    /// How often each construct was built.
    pub fn marks(&self) -> &BTreeMap<&'static str, u64> {
        &self.marks
    }
}
