//! A cache with a cost limit that evicts what was not used recently.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

use crate::value::KeyHashing;

/// Values by key in two generations. When the young one is full it becomes the old one, and the
/// former old one is dropped; an entry that is read moves to the young one.
#[derive(Debug)]
pub struct Generations<K, V> {
    young: HashMap<K, (V, usize), KeyHashing>,
    old: HashMap<K, (V, usize), KeyHashing>,
    /// The cost of the young generation.
    cost: usize,
    most: usize,
}

impl<K: Hash + Eq, V> Generations<K, V> {
    /// An empty cache; `most` is the maximum cost of each generation.
    #[must_use]
    pub fn new(most: usize) -> Generations<K, V> {
        Generations {
            young: HashMap::default(),
            old: HashMap::default(),
            cost: 0,
            most,
        }
    }

    /// The value of a key, which moves to the young generation.
    pub fn get<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        if !self.young.contains_key(key) {
            let (key, (value, cost)) = self.old.remove_entry(key)?;
            self.insert(key, value, cost);
        }
        self.young.get(key).map(|(value, _)| value)
    }

    /// Adds a value with its cost.
    pub fn insert(&mut self, key: K, value: V, cost: usize) {
        if self.cost >= self.most {
            self.old = std::mem::take(&mut self.young);
            self.cost = 0;
        }
        self.cost += cost;
        if let Some((_, replaced)) = self.young.insert(key, (value, cost)) {
            self.cost -= replaced;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_entries_stay() {
        let mut table = Generations::new(10);
        table.insert("kept", 1, 4);
        for round in 0..100 {
            table.insert("other", round, 4);
            for name in ["a", "b"] {
                table.insert(name, round, 4);
            }
            assert_eq!(table.get(&"kept"), Some(&1), "round {round}");
        }
    }

    #[test]
    fn unused_entries_are_evicted() {
        let mut table = Generations::new(10);
        table.insert(0, 0, 5);
        for key in 1..=4 {
            table.insert(key, key, 5);
        }
        assert_eq!(table.get(&0), None);
        assert_eq!(table.get(&4), Some(&4));
        assert!(table.young.len() + table.old.len() <= 4);
    }
}
