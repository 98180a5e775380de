//! Which files a path with variables can mean, remembered by the numbers of files: a number and its
//! path belong together for as long as the workspace lives, so that nothing has to be forgotten. And
//! which of the files with a key, for as long as these are the same files.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::file::format_of;
use super::files::Format;
use super::generations::Generations;
use super::index::Postings;
use super::paths::{Order, Paths};
use super::snapshot::Snapshot;
use crate::hierarchy::Template;

/// Most templates that are remembered, at two bytes for every file each; hierarchies have a handful,
/// times the places that a scope can fill in.
const MOST_TEMPLATES: usize = 64;

/// Most paths of files with a key that one template remembers, before keys not asked for lately are
/// forgotten: a hover asks twice for each level, and a key can be in as many files as there are.
const MOST_PATHS: usize = 4_096;

/// What is known of a file for one template.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Fit {
    /// Nobody asked yet.
    #[default]
    Unasked,
    /// The template cannot mean it.
    No,
    /// It can, in one reading, and the file is of that format by its name.
    Yes(Option<Format>),
    /// It can, in several readings.
    Several(Option<Format>),
}

/// The files with a key that a template can mean.
#[derive(Clone, Default)]
pub(super) struct Holders {
    /// Their paths.
    pub(super) paths: Paths,
    /// Whether the template gives each of them in one reading only.
    pub(super) has_one_reading: bool,
}

/// Files of any format, and what all have in common.
struct Remembered {
    of: Postings,
    holders: Holders,
    /// The format of all; nothing where they are of several.
    format: Option<Option<Format>>,
}

/// Answers by template.
#[derive(Default)]
pub(super) struct FitCache {
    templates: Mutex<HashMap<Template, Arc<Fits>>>,
    /// The paths of all files: all in one place, where files are not.
    order: Arc<Mutex<Arc<Order>>>,
}

/// The answers for one template.
#[derive(Default)]
pub(super) struct Fits {
    template: Template,
    by_file: Mutex<Vec<Fit>>,
    order: Arc<Mutex<Arc<Order>>>,
    by_key: Mutex<ByKey>,
}

/// What was found for keys, as long as the files with the key are the same and no files came that
/// nobody knew.
struct ByKey {
    order: Arc<Order>,
    known: Generations<Box<str>, Remembered>,
}

impl Default for ByKey {
    fn default() -> ByKey {
        ByKey {
            order: Arc::default(),
            known: Generations::new(MOST_PATHS),
        }
    }
}

impl FitCache {
    /// What is known for a template.
    pub(super) fn of(&self, template: &Template) -> Arc<Fits> {
        let mut templates = self
            .templates
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = templates.get(template) {
            return Arc::clone(known);
        }
        if templates.len() >= MOST_TEMPLATES {
            templates.clear();
        }
        let fits = Arc::new(Fits {
            template: template.clone(),
            order: Arc::clone(&self.order),
            ..Fits::default()
        });
        templates.insert(template.clone(), Arc::clone(&fits));
        fits
    }
}

impl Fits {
    /// The files with a key that the template can mean, of one format or of any: O(1) where that was
    /// asked before and the same files hold the key, else O(files with the key), and much only
    /// for those that fit.
    pub(super) fn holders(
        &self,
        snapshot: &Snapshot,
        key: &str,
        format: Option<Format>,
    ) -> Holders {
        let Some(files) = snapshot.index.postings(key) else {
            return Holders::default();
        };
        let known = |remembered: &Remembered| match format {
            Some(_) if remembered.format != Some(format) => None,
            Some(_) | None => Some(remembered.holders.clone()),
        };
        let lock = || self.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        let remembered = match lock().known.get(key) {
            Some(found) if found.of.is_same(files) => Some(known(found)),
            Some(_) | None => None,
        };
        let remembered = remembered.unwrap_or_else(|| {
            let (order, holders, format) = self.select(snapshot, files, None);
            let cost = holders.paths.len() + 1;
            let remembered = Remembered {
                of: files.clone(),
                holders,
                format,
            };
            let found = known(&remembered);
            let mut by_key = lock();
            if !Arc::ptr_eq(&by_key.order, &order) {
                // Former orders are not held any longer.
                *by_key = ByKey {
                    order,
                    ..ByKey::default()
                };
            }
            by_key.known.insert(Box::from(key), remembered, cost);
            found
        });
        remembered.unwrap_or_else(|| self.select(snapshot, files, format).1)
    }

    /// Those among `files` that the template can mean, of one format or of any, the order that they
    /// are told in, and the format that all have in common.
    fn select(
        &self,
        snapshot: &Snapshot,
        files: &Postings,
        format: Option<Format>,
    ) -> (Arc<Order>, Holders, Option<Option<Format>>) {
        let lock = || self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let mut order = Arc::clone(&lock());
        loop {
            if let Some((holders, common)) = self.select_in(&order, snapshot, files, format) {
                return (order, holders, common);
            }
            let mut shared = lock();
            if Arc::ptr_eq(&shared, &order) {
                *shared = Arc::new(order.with(snapshot));
            }
            order = Arc::clone(&shared);
        }
    }

    /// The same in one order; nothing where that lacks a file.
    fn select_in(
        &self,
        order: &Arc<Order>,
        snapshot: &Snapshot,
        files: &Postings,
        format: Option<Format>,
    ) -> Option<(Holders, Option<Option<Format>>)> {
        let mut known = self.by_file.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < snapshot.files.len() {
            known.resize(snapshot.files.len(), Fit::Unasked);
        }
        let mut found = Vec::new();
        let mut has_one_reading = true;
        let mut common = None;
        let mut is_common = true;
        for id in files.iter() {
            let Some(fit) = known.get_mut(id.0 as usize) else {
                continue;
            };
            if *fit == Fit::No {
                continue;
            }
            let Some(rank) = order.rank(id) else {
                snapshot.file_by_id(id).is_none().then_some(())?;
                continue;
            };
            if *fit == Fit::Unasked {
                *fit = self.fit(order.path(rank));
            }
            let own = match *fit {
                Fit::Unasked | Fit::No => continue,
                Fit::Yes(own) | Fit::Several(own) => own,
            };
            if format.is_some() && own != format {
                continue;
            }
            has_one_reading &= matches!(fit, Fit::Yes(_));
            is_common &= *common.get_or_insert(own) == own;
            found.push(rank);
        }
        // They are in order already where files were found in order.
        found.sort_unstable();
        let holders = Holders {
            paths: Paths::ranked(order, found),
            has_one_reading,
        };
        Some((holders, common.filter(|_| is_common)))
    }

    fn fit(&self, path: &str) -> Fit {
        match self.template.count_readings(path) {
            0 => Fit::No,
            1 => Fit::Yes(format_of(path)),
            _ => Fit::Several(format_of(path)),
        }
    }
}
