//! Locations that certainly have nothing for a key. Most have no file, or one without the key: a lookup of all keys of a
//! node asks each location for each key, so passing them is most of its work.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::backend::{ValueOrigin, own_reading};
use super::engine::{Engine, Map};
use super::level::{Location, key_root};
use super::location::KnownPlaces;
use super::request::Tracing;
use crate::hierarchy::FunctionKind;
use crate::interpolation::Key;

/// The numbers of the files that can affect a lookup of each key, ordered; `None` for a key of many files
/// ([`crate::workspace::Files::few_mattering`]).
pub(super) type KnownMattering = Rc<RefCell<MatteringFiles>>;

pub(super) type MatteringFiles = Map<Arc<str>, FewFiles>;

pub(super) type FewFiles = Option<Arc<[u32]>>;

/// Maximum number of files of a key that are listed: of those of other keys each is asked.
const MAX_FILES: usize = 64;

/// What is known of all files, shared by the compilations of a request over many nodes or keys.
#[derive(Clone, Default)]
pub(super) struct KnownFiles {
    pub(super) places: KnownPlaces,
    pub(super) mattering: KnownMattering,
}

/// Maximum number of keys whose files are kept.
const MAX_KEYS: usize = 10_000;

impl Engine<'_> {
    /// Whether a location certainly has no value for a key and fails no lookup of it, and a trace need not say so.
    pub(super) fn is_passed(
        &mut self,
        origin: &ValueOrigin<'_>,
        location: &Location,
        key: &Key,
    ) -> bool {
        if self.recorder_of_all() || location.open.is_some() {
            return false;
        }
        if !location.exists {
            let is_legacy = origin.level.function.kind == FunctionKind::Hiera3Backend;
            return !is_legacy && !location.is_absent;
        }
        // Some functions refuse an empty key.
        let root = key.root.as_name().filter(|root| !root.is_empty());
        let (Some(known), Some(root)) = (&self.mattering, root) else {
            return false;
        };
        let Some(number) = self.number_of(origin, location) else {
            return false;
        };
        let is_last = |last: &(Arc<str>, FewFiles)| *last.0 == *root;
        if !self.last_mattering.as_ref().is_some_and(is_last) {
            self.last_mattering = Some((key_root(key), self.mattering(known, key)));
        }
        let last = self.last_mattering.as_ref();
        let numbers = last.and_then(|(_, numbers)| numbers.as_ref());
        numbers.is_some_and(|numbers| numbers.binary_search(&number).is_err())
    }

    fn mattering(&self, known: &KnownMattering, key: &Key) -> FewFiles {
        let root = key_root(key);
        if let Some(numbers) = known.borrow().get(&root) {
            return numbers.clone();
        }
        let numbers = self.session.files.few_mattering(&root, MAX_FILES);
        let numbers: FewFiles = numbers.map(Arc::from);
        let mut known = known.borrow_mut();
        if known.len() >= MAX_KEYS {
            known.clear();
        }
        known.insert(root, numbers.clone());
        numbers
    }

    /// Whether a trace is being recorded that has what was not found.
    fn recorder_of_all(&self) -> bool {
        let tracer = self.tracer.as_ref();
        tracer.is_some_and(|tracer| !tracer.is_paused && tracer.wanted != Tracing::Sources)
    }

    /// The number of a location's file, if one of Puppet's own functions reads it and says nothing of its other keys.
    fn number_of(&self, origin: &ValueOrigin<'_>, location: &Location) -> Option<u32> {
        let ValueOrigin { level, layer, .. } = *origin;
        let is_own = level.declared.is_none() && !location.is_uri;
        let reading = own_reading(&level.function).filter(|_| is_own)?;
        // Other keys of a module's data are warned of, and options refused.
        let is_of_module =
            level.function.kind == FunctionKind::DataHash && layer.module_name().is_some();
        if is_of_module || level.has_refused_options() {
            return None;
        }
        let files = self.session.files;
        let number = &location.number;
        *number.get_or_init(|| files.number(&location.place, reading.format()))
    }
}
