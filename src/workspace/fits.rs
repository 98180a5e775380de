//! Which files a path with variables can mean, found once for a template and a set of files: a hover
//! asks for each level, and a key can be in thousands of files.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::file::format_of;
use super::files::Format;
use super::paths::{Order, Paths};
use super::snapshot::{FileId, Snapshot};
use crate::hierarchy::Template;

/// Most templates that are remembered, at two bytes for every file each; hierarchies have a handful,
/// times the places that a scope can fill in.
const MOST_TEMPLATES: usize = 64;

/// Whether a template can mean a file.
#[derive(Clone, Copy)]
enum Fit {
    No,
    /// In one reading; the file is of that format by its name.
    Yes(Option<Format>),
    /// In several readings.
    Several(Option<Format>),
    /// Only if a variable stands for several folders.
    Across(Option<Format>),
}

/// The files with a key that a template can mean.
#[derive(Clone, Default)]
pub(super) struct Holders {
    /// Their paths.
    pub(super) paths: Paths,
    /// Further ones, if a variable stands for several folders.
    pub(super) across: Paths,
    /// Whether the template gives each of them in one reading only.
    pub(super) has_one_reading: bool,
}

/// Answers by template, for one set of files.
#[derive(Default)]
pub(super) struct FitCache(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// Which set of files; none before the first.
    shape: Option<u64>,
    order: Arc<Order>,
    templates: HashMap<Template, Arc<Fits>>,
}

/// The answers for one template.
pub(super) struct Fits {
    order: Arc<Order>,
    /// By the number of the file.
    by_file: Vec<Fit>,
}

impl FitCache {
    /// What is known for a template. O(files) the first time.
    pub(super) fn of(&self, snapshot: &Snapshot, template: &Template) -> Arc<Fits> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = lock();
        if known.shape != Some(snapshot.shape) || known.templates.len() >= MOST_TEMPLATES {
            *known = Known {
                shape: Some(snapshot.shape),
                order: Arc::new(Order::new(snapshot)),
                templates: HashMap::new(),
            };
        }
        if let Some(fits) = known.templates.get(template) {
            return Arc::clone(fits);
        }
        let fits = Arc::new(Fits::new(&known.order, template));
        known.templates.insert(template.clone(), Arc::clone(&fits));
        fits
    }
}

impl Fits {
    fn new(order: &Arc<Order>, template: &Template) -> Fits {
        let fit = |path: &str| match template.count_readings(path) {
            0 if template.matches_across_folders(path) => Fit::Across(format_of(path)),
            0 => Fit::No,
            1 => Fit::Yes(format_of(path)),
            _ => Fit::Several(format_of(path)),
        };
        Fits {
            order: Arc::clone(order),
            by_file: order
                .by_file()
                .map(|path| path.map_or(Fit::No, |path| fit(path)))
                .collect(),
        }
    }

    /// The files with a key that the template can mean, of one format or of any. O(files with the
    /// key).
    pub(super) fn holders(
        &self,
        files: impl Iterator<Item = FileId>,
        format: Option<Format>,
    ) -> Holders {
        let (mut ranks, mut across) = (Vec::new(), Vec::new());
        let mut has_one_reading = true;
        for id in files {
            let (own, list) = match self.by_file.get(id.0 as usize) {
                Some(Fit::Yes(own) | Fit::Several(own)) => (*own, &mut ranks),
                Some(Fit::Across(own)) => (*own, &mut across),
                Some(Fit::No) | None => continue,
            };
            if format.is_some() && own != format {
                continue;
            }
            if let Some(rank) = self.order.rank(id) {
                has_one_reading &= matches!(self.by_file[id.0 as usize], Fit::Yes(_));
                list.push(rank);
            }
        }
        // They are in order already where files were found in order.
        ranks.sort_unstable();
        across.sort_unstable();
        Holders {
            paths: Paths::ranked(&self.order, ranks),
            across: Paths::ranked(&self.order, across),
            has_one_reading,
        }
    }
}
