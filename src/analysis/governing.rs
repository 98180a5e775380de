//! Which hierarchy governs a file.

use super::{Analysis, RootView};
use crate::workspace::RootKind;

impl<'a> Analysis<'a> {
    /// The root whose hierarchy reads a file: the innermost around it, or the environment whose data
    /// lies in a folder that is a root of its own. None for a file outside of every root.
    #[must_use]
    pub fn governing(self, path: &str) -> Option<RootView<'a>> {
        let own = self.at(self.snapshot.root_of(path)?);
        if own.root.kind == RootKind::Environment || !own.reach(path).is_empty() {
            return Some(own);
        }
        let mut others = self
            .snapshot
            .roots()
            .environments_of(own.root)
            .map(|root| self.at(root));
        let other = others.find(|view| !view.reach(path).is_empty());
        Some(other.unwrap_or(own))
    }
}
