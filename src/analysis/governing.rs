//! Which hierarchy governs a file.

use std::sync::Arc;

use super::{Analysis, RootView};
use crate::lookup::{Place, format_of};
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

    /// The root that answers for a file or a folder: the governing one, else the first environment.
    #[must_use]
    pub fn answering(self, path: &str) -> Option<RootView<'a>> {
        let first = || self.snapshot.roots().environments().next();
        self.governing(path).or_else(|| Some(self.at(first()?)))
    }

    /// Whether a file is data that some hierarchy reads with a reader of Puppet's own, or the
    /// configuration of a hierarchy. O(levels).
    #[must_use]
    pub fn reads(self, path: &str) -> bool {
        HieraFiles::of(self).contains(path)
    }
}

/// The files of a workspace that mean something to Hiera.
pub struct HieraFiles<'a> {
    analysis: Analysis<'a>,
    places: Vec<Arc<[Place]>>,
}

impl<'a> HieraFiles<'a> {
    /// O(roots), with the locations of each root's hierarchy.
    #[must_use]
    pub fn of(analysis: Analysis<'a>) -> HieraFiles<'a> {
        let roots = analysis.snapshot.roots().iter();
        let views = roots.map(|root| analysis.at(root));
        HieraFiles {
            places: views.map(|view| view.places(&view.layer)).collect(),
            analysis,
        }
    }

    /// Whether a file is data that some hierarchy reads with a reader of Puppet's own, or the
    /// configuration of a hierarchy. O(levels).
    #[must_use]
    pub fn contains(&self, path: &str) -> bool {
        let snapshot = self.analysis.snapshot;
        let mut roots = snapshot.roots().iter();
        let mut places = self.places.iter().flat_map(|places| places.iter());
        snapshot.file(path).is_some()
            && (roots.any(|root| root.hiera_yaml.as_deref() == Some(path))
                || places.any(|place| {
                    format_of(&place.function).is_some() && place.template.matches(path)
                }))
    }
}
