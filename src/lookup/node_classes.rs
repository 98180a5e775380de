//! Classes of nodes, by number: nodes that nothing distinguishes so far share one.

use std::cmp::Reverse;

use crate::scope::Column;

/// Lists of numbers, indexed by small numbers.
#[derive(PartialEq, Eq, Debug, Default)]
pub(super) struct NumberLists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl NumberLists {
    /// Groups pairs of a list's index, less than `count`, and an item, keeping their order.
    /// O(pairs + count).
    pub(super) fn new(
        count: usize,
        pairs: impl Iterator<Item = (u32, u32)> + Clone,
    ) -> NumberLists {
        // A list's start stands one place too far until all its items are in.
        let mut starts: Vec<u32> = vec![0; count + 2];
        for (list, _) in pairs.clone() {
            starts[list as usize + 2] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut items = vec![0; sum as usize];
        for (list, item) in pairs {
            let at = &mut starts[list as usize + 1];
            items[*at as usize] = item;
            *at += 1;
        }
        starts.truncate(count + 1);
        NumberLists { starts, items }
    }

    /// The number of lists that are not empty.
    pub(super) fn count_used(&self) -> usize {
        let starts = self.starts.windows(2);
        starts.filter(|pair| pair[0] < pair[1]).count()
    }

    /// The first items of the largest lists, at most `most`, the largest list first; of equal lists
    /// the one with the smaller first item.
    pub(super) fn largest(&self, most: usize) -> Vec<usize> {
        let lists = self.starts.windows(2);
        let lists = lists.filter(|pair| pair[0] < pair[1]);
        let sized = lists.map(|pair| (Reverse(pair[1] - pair[0]), self.items[pair[0] as usize]));
        let mut sized: Vec<(Reverse<u32>, u32)> = sized.collect();
        if sized.len() > most {
            sized.select_nth_unstable(most);
            sized.truncate(most);
        }
        sized.sort_unstable();
        sized.into_iter().map(|(_, item)| item as usize).collect()
    }

    /// The items of a list; none if there is no such list.
    pub(super) fn list(&self, list: u32) -> &[u32] {
        let list = list as usize;
        match (self.starts.get(list), self.starts.get(list + 1)) {
            (Some(&start), Some(&end)) => &self.items[start as usize..end as usize],
            (_, _) => &[],
        }
    }
}

#[derive(Debug)]
pub(super) struct Classes {
    of: Vec<u32>,
    /// For each class the last split that changed it, and the new class for the nodes in it.
    moved: Vec<(u32, u32)>,
    splits: u32,
}

impl Classes {
    /// All nodes in one class.
    pub(super) fn new(count: usize) -> Classes {
        Classes {
            of: vec![0; count],
            moved: vec![(0, 0)],
            splits: 0,
        }
    }

    /// The class of a node; classes may be empty.
    pub(super) fn of(&self, member: usize) -> usize {
        self.of[member] as usize
    }

    /// The number of classes, including empty ones.
    pub(super) fn len(&self) -> usize {
        self.moved.len()
    }

    /// Splits `members` off from all other nodes. O(members).
    pub(super) fn split<'m>(&mut self, members: impl Iterator<Item = &'m u32>) {
        self.splits += 1;
        for &member in members {
            let class = &mut self.of[member as usize];
            let next = self.moved.len() as u32;
            let moved = &mut self.moved[*class as usize];
            if moved.0 != self.splits {
                *moved = (self.splits, next);
                self.moved.push((0, 0));
            }
            *class = self.moved[*class as usize].1;
        }
    }

    /// Splits `members` by their values in a column. O(members + values).
    pub(super) fn split_by(&mut self, column: &Column, members: &[usize]) {
        if column.values.len() < 2 {
            return;
        }
        let members = members
            .iter()
            .map(|&member| (column.ids[member], member as u32));
        let members = NumberLists::new(column.values.len(), members);
        for value in 0..column.values.len() {
            self.split(members.list(value as u32).iter());
        }
    }
}
