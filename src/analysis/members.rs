//! Sets of small numbers, used for members of a fleet.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Members(Vec<u64>);

impl Members {
    pub(super) fn insert(&mut self, member: usize) {
        let word = member / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (member % 64);
    }

    pub(super) fn contains(&self, member: usize) -> bool {
        let word = self.0.get(member / 64);
        word.is_some_and(|word| word >> (member % 64) & 1 == 1)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    pub(super) fn add(&mut self, others: &Members) {
        if self.0.len() < others.0.len() {
            self.0.resize(others.0.len(), 0);
        }
        for (word, other) in self.0.iter_mut().zip(&others.0) {
            *word |= other;
        }
    }

    /// The members that are not in `others`.
    pub(super) fn without(&self, others: &Members) -> Members {
        let words = self.0.iter().enumerate();
        let other = |at: usize| others.0.get(at).copied().unwrap_or_default();
        Members(words.map(|(at, word)| word & !other(at)).collect())
    }

    /// The members that are also in `others`.
    pub(super) fn among(&self, others: &Members) -> Members {
        let words = self.0.iter().zip(&others.0);
        Members(words.map(|(word, other)| word & other).collect())
    }

    /// In ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let words = self.0.iter().enumerate();
        words.flat_map(|(at, word)| {
            let bits = (0..64).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| at * 64 + bit)
        })
    }
}

impl FromIterator<usize> for Members {
    fn from_iter<I: IntoIterator<Item = usize>>(members: I) -> Members {
        let mut set = Members::default();
        members.into_iter().for_each(|member| set.insert(member));
        set
    }
}
