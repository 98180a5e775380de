//! Sets of small numbers, used for members of a fleet. There may be a set for each file with a list of classes, and most
//! have one member: a set takes 16 bytes for each 64 numbers among which it has some.

/// The words of a set of bits that are not zero, ascending by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Members(Vec<MemberBits>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MemberBits {
    number: u32,
    bits: u64,
}

impl MemberBits {
    fn of(member: usize) -> MemberBits {
        MemberBits {
            number: (member / 64) as u32,
            bits: 1 << (member % 64),
        }
    }
}

impl Members {
    /// O(1) for a member above all others.
    pub(super) fn insert(&mut self, member: usize) {
        self.insert_word(MemberBits::of(member));
    }

    fn insert_word(&mut self, new: MemberBits) {
        if self.0.last().is_none_or(|last| last.number < new.number) {
            self.0.push(new);
            return;
        }
        match self.place(new.number) {
            Ok(at) => self.0[at].bits |= new.bits,
            Err(at) => self.0.insert(at, new),
        }
    }

    pub(super) fn contains(&self, member: usize) -> bool {
        let wanted = MemberBits::of(member);
        self.bits(wanted.number) & wanted.bits != 0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// O(the smaller set) words with a search each, or O(both sets) words.
    pub(super) fn add(&mut self, others: &Members) {
        /// A search costs about as much as merging this number of words.
        const SEARCH: usize = 8;
        if others.0.len() * SEARCH <= self.0.len() || others.0.len() == 1 {
            others.0.iter().for_each(|word| self.insert_word(*word));
            return;
        }
        let mut merged: Vec<MemberBits> = Vec::with_capacity(self.0.len().max(others.0.len()));
        let (mut own, mut other) = (self.0.iter().peekable(), others.0.iter().peekable());
        while let (Some(one), Some(two)) = (own.peek(), other.peek()) {
            let word = MemberBits {
                number: one.number.min(two.number),
                bits: 0,
            };
            let bits = own
                .next_if(|it| it.number == word.number)
                .map_or(0, |it| it.bits)
                | other
                    .next_if(|it| it.number == word.number)
                    .map_or(0, |it| it.bits);
            merged.push(MemberBits { bits, ..word });
        }
        merged.extend(own.chain(other));
        self.0 = merged;
    }

    /// The members that are not in `others`.
    pub(super) fn without(&self, others: &Members) -> Members {
        self.masked(|number| !others.bits(number))
    }

    /// The members that are also in `others`.
    pub(super) fn among(&self, others: &Members) -> Members {
        self.masked(|number| others.bits(number))
    }

    /// In ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().flat_map(|word| {
            let bits = (0..64).filter(|bit| word.bits >> bit & 1 == 1);
            bits.map(|bit| word.number as usize * 64 + bit)
        })
    }

    fn masked(&self, mask: impl Fn(u32) -> u64) -> Members {
        let words = self.0.iter().map(|word| MemberBits {
            bits: word.bits & mask(word.number),
            ..*word
        });
        Members(words.filter(|word| word.bits != 0).collect())
    }

    fn place(&self, number: u32) -> Result<usize, usize> {
        self.0.binary_search_by_key(&number, |word| word.number)
    }

    fn bits(&self, number: u32) -> u64 {
        self.place(number).map_or(0, |at| self.0[at].bits)
    }
}

impl FromIterator<usize> for Members {
    fn from_iter<I: IntoIterator<Item = usize>>(members: I) -> Members {
        let mut set = Members::default();
        members.into_iter().for_each(|member| set.insert(member));
        set
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn numbers() -> impl Strategy<Value = Vec<usize>> {
        prop::collection::vec(prop_oneof![0..200usize, 0..20_000usize], 0..40)
    }

    proptest! {
        #[test]
        fn sets_are_those_of_the_standard_library(a in numbers(), b in numbers()) {
            let [one, other] = [&a, &b].map(|all| all.iter().copied().collect::<BTreeSet<usize>>());
            let [set, others] = [&a, &b].map(|all| all.iter().copied().collect::<Members>());
            let listed = |set: &Members| set.iter().collect::<Vec<_>>();
            let expected = |set: &mut dyn Iterator<Item = &usize>| set.copied().collect::<Vec<_>>();
            prop_assert_eq!(listed(&set), expected(&mut one.iter()));
            prop_assert_eq!(listed(&set.without(&others)), expected(&mut one.difference(&other)));
            prop_assert_eq!(listed(&set.among(&others)), expected(&mut one.intersection(&other)));
            prop_assert!(b.iter().all(|number| set.contains(*number) == one.contains(number)));
            prop_assert_eq!(set.is_empty(), one.is_empty());
            let mut both = set.clone();
            both.add(&others);
            prop_assert_eq!(listed(&both), expected(&mut one.union(&other)));
            prop_assert_eq!(&both, &a.iter().chain(&b).copied().collect::<Members>());
        }
    }
}
