//! Cache: template → files it can match. A hover needs the files for each level, and a key can be
//! in thousands of files.
//!
//! Floor: with 10,000 nodes the median of hovers is at most 1 ms. Without the cache it is 8 ms in a
//! node's file and 17 ms in `common.yaml`.
//!
//! A new template costs O(files that start like it): lookups for single nodes fill in its variables,
//! so that there may be one for each node and module.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::file::format_of;
use super::files::Format;
use super::index::Postings;
use super::paths::{Order, Paths};
use super::snapshot::{FileId, Snapshot};
use crate::hierarchy::{Template, TemplatePart};
use crate::value::KeyHashing;

/// Number of templates that are always cached, at two to six bytes for every file that starts like
/// each.
const FEW_TEMPLATES: usize = 64;

/// Maximum number of bytes for further templates: a hierarchy has a handful, times the places that
/// a scope can fill in; but each of a hundred modules may have one.
const MAX_BYTES: usize = 8 << 20;

/// Bytes of a template without its results.
const TEMPLATE_BYTES: usize = 512;

/// Up to this many files that start like a template are matched each time: most modules have a few.
const FEW_FILES: usize = 64;

/// Number of results that each template keeps, at 4 bytes for each file in them.
const MAX_RECENT: usize = 6;

/// Whether a template can match a file.
#[derive(Clone, Copy)]
enum FileFit {
    No,
    /// In one reading; with the file's format by its name.
    Yes(Option<Format>),
    Several(Option<Format>),
    /// Only if a variable stands for several folders, or for nothing: [`Template::may_match`].
    Across(Option<Format>),
}

/// The files with a key that match a template.
#[derive(Default)]
pub(super) struct Holders {
    /// The files that the template matches.
    pub(super) paths: Paths,
    /// Further ones, if a variable stands for several folders or for nothing.
    pub(super) across: Paths,
    /// Whether the template matches each of them in one reading only.
    pub(super) has_one_reading: bool,
}

/// Results by template, for one set of files.
#[derive(Default)]
pub(super) struct FitCache(Mutex<KnownFits>);

#[derive(Default)]
struct KnownFits {
    /// The set of files; `None` before the first.
    shape: Option<u64>,
    order: Arc<Order>,
    templates: HashMap<Template, Arc<Fits>, KeyHashing>,
}

struct Fits {
    /// The rank of the first path that starts like the template.
    first: u32,
    /// By rank, from the first on: all paths that start like the template.
    by_rank: Box<[FileFit]>,
    /// The files that the template can match, ordered.
    files: Box<[FileId]>,
    /// The last results for keys. The lookups of one request ask for the same again.
    recent: Mutex<Vec<KnownHolders>>,
}

struct KnownHolders {
    key: Box<str>,
    format: Option<Format>,
    /// The files with the key: the result is outdated once these have changed.
    with_key: Postings,
    holders: Arc<Holders>,
}

impl FitCache {
    /// The files with a key that match a template, of one format or of any. Goes through the files
    /// with the key or those that match, whichever are fewer; the first time for a template through
    /// all files that start like it.
    pub(super) fn holders(
        &self,
        snapshot: &Snapshot,
        key: &str,
        template: &Template,
        format: Option<Format>,
    ) -> Arc<Holders> {
        let Some(with_key) = snapshot.indexes().keys.postings(key) else {
            return Arc::new(Holders {
                has_one_reading: true,
                ..Holders::default()
            });
        };
        let (order, fits) = self.fits(snapshot, template);
        let recent = || fits.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |known: &&KnownHolders| {
            known.format == format && *known.key == *key && known.with_key.is_same(with_key)
        };
        if let Some(known) = recent().iter().find(is_it) {
            return Arc::clone(&known.holders);
        }
        let found = if fits.files.len() < with_key.len() {
            let files = fits.files.iter().copied();
            let files = files.filter(|id| with_key.contains(*id));
            holders(&order, files, format, &fits)
        } else {
            holders(&order, with_key.iter(), format, &fits)
        };
        let holders = Arc::new(found);
        let mut recent = recent();
        recent.retain(|known| known.format != format || *known.key != *key);
        if recent.len() >= MAX_RECENT {
            recent.remove(0);
        }
        recent.push(KnownHolders {
            key: key.into(),
            format,
            with_key: with_key.clone(),
            holders: Arc::clone(&holders),
        });
        holders
    }

    /// The files that a template matches, ordered by id; with `across`, also those that it matches
    /// only if a variable stands for several folders or for nothing.
    pub(super) fn matching(
        &self,
        snapshot: &Snapshot,
        template: &Template,
        across: bool,
    ) -> Vec<FileId> {
        if let [TemplatePart::Text(path)] = &template.parts[..] {
            return snapshot
                .file(path)
                .map(|file| file.id())
                .into_iter()
                .collect();
        }
        let is_match = |fit: FileFit| match fit {
            FileFit::Yes(_) | FileFit::Several(_) => true,
            FileFit::Across(_) => across,
            FileFit::No => false,
        };
        let order = Arc::clone(&self.known(snapshot).order);
        let ranks = order.starting_with(template.start());
        if ranks.len() <= FEW_FILES {
            let ranks = ranks.filter(|&rank| is_match(FileFit::new(template, order.path(rank))));
            let mut files: Vec<FileId> = ranks.map(|rank| order.file(rank)).collect();
            files.sort_unstable();
            return files;
        }
        let (order, fits) = self.fits(snapshot, template);
        let files = fits.files.iter().copied();
        files
            .filter(|id| order.rank(*id).is_some_and(|rank| is_match(fits.of(rank))))
            .collect()
    }

    /// The files with a key: O(such files).
    pub(super) fn with_key(&self, snapshot: &Snapshot, key: &str) -> Paths {
        let order = Arc::clone(&self.known(snapshot).order);
        let ids = snapshot.iter_ids_with(key);
        let mut ranks: Vec<u32> = ids.filter_map(|id| order.rank(id)).collect();
        // Usually sorted already.
        ranks.sort_unstable();
        order.list(ranks)
    }

    fn known(&self, snapshot: &Snapshot) -> MutexGuard<'_, KnownFits> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.shape != Some(snapshot.shape) {
            *known = KnownFits {
                shape: Some(snapshot.shape),
                order: Arc::new(Order::new(snapshot)),
                templates: HashMap::default(),
            };
        }
        known
    }

    fn fits(&self, snapshot: &Snapshot, template: &Template) -> (Arc<Order>, Arc<Fits>) {
        let mut known = self.known(snapshot);
        let order = Arc::clone(&known.order);
        if let Some(fits) = known.templates.get(template) {
            return (order, Arc::clone(fits));
        }
        let fits = Arc::new(Fits::new(template, &order));
        let bytes = size_of_val(&fits.by_rank[..]) + size_of_val(&fits.files[..]);
        if known.templates.len() >= FEW_TEMPLATES.max(MAX_BYTES / (bytes + TEMPLATE_BYTES)) {
            known.templates.clear();
        }
        known.templates.insert(template.clone(), Arc::clone(&fits));
        (order, fits)
    }
}

impl Fits {
    /// O(files that start like the template × log).
    fn new(template: &Template, order: &Order) -> Fits {
        let ranks = order.starting_with(template.start());
        let fit = |rank: u32| FileFit::new(template, order.path(rank));
        let by_rank: Box<[FileFit]> = ranks.clone().map(fit).collect();
        let matching = ranks.clone().zip(&by_rank);
        let matching = matching.filter(|(_, fit)| !matches!(fit, FileFit::No));
        let mut files: Box<[FileId]> = matching.map(|(rank, _)| order.file(rank)).collect();
        files.sort_unstable();
        Fits {
            first: ranks.start,
            by_rank,
            files,
            recent: Mutex::default(),
        }
    }

    fn of(&self, rank: u32) -> FileFit {
        let at = rank.checked_sub(self.first);
        let fit = at.and_then(|at| self.by_rank.get(at as usize));
        fit.copied().unwrap_or(FileFit::No)
    }
}

impl FileFit {
    fn new(template: &Template, path: &str) -> FileFit {
        match template.count_readings(path) {
            0 if template.may_match(path) => FileFit::Across(format_of(path)),
            0 => FileFit::No,
            1 => FileFit::Yes(format_of(path)),
            _ => FileFit::Several(format_of(path)),
        }
    }
}

fn holders(
    order: &Order,
    files: impl Iterator<Item = FileId>,
    format: Option<Format>,
    fits: &Fits,
) -> Holders {
    let (mut ranks, mut across) = (Vec::new(), Vec::new());
    let mut has_one_reading = true;
    for rank in files.filter_map(|id| order.rank(id)) {
        let fit = fits.of(rank);
        let (own, list) = match fit {
            FileFit::Yes(own) | FileFit::Several(own) => (own, &mut ranks),
            FileFit::Across(own) => (own, &mut across),
            FileFit::No => continue,
        };
        if format.is_some() && own != format {
            continue;
        }
        has_one_reading &= matches!(fit, FileFit::Yes(_));
        list.push(rank);
    }
    let listed = |mut ranks: Vec<u32>| {
        // Usually sorted already.
        ranks.sort_unstable();
        order.list(ranks)
    };
    Holders {
        paths: listed(ranks),
        across: listed(across),
        has_one_reading,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{Change, Workspace};

    #[test]
    fn a_template_matches_the_same_files_with_and_without_the_cache() {
        let mut paths = vec!["/w/common.yaml".to_owned(), "/w/role/web/a.yaml".to_owned()];
        paths.extend((0..2 * FEW_FILES).map(|node| format!("/w/node/{node}.yaml")));
        paths.extend((0..3).map(|role| format!("/w/role/{role}.yaml")));
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec![Arc::from("/w")]));
        let files = paths.iter().map(|at| Change::file(at.as_str(), "a: 1\n"));
        let snapshot = workspace.apply(Change::Batch(files.collect()));
        for (text, count, count_across) in [
            ("/w/common.yaml", 1, 1),
            ("/w/none.yaml", 0, 0),
            (
                "/w/node/%{trusted.certname}.yaml",
                2 * FEW_FILES,
                2 * FEW_FILES,
            ),
            ("/w/role/%{role}.yaml", 3, 4),
            (
                "/w/%{scope}/%{name}.yaml",
                2 * FEW_FILES + 3,
                2 * FEW_FILES + 4,
            ),
        ] {
            let template = Template::parse(text);
            let expected = |across: bool| -> Vec<FileId> {
                let files = snapshot.files().filter(|file| {
                    if across {
                        template.may_match(file.path())
                    } else {
                        template.matches(file.path())
                    }
                });
                files.map(|file| file.id()).collect()
            };
            let matching = snapshot.matching(&template);
            let across = snapshot.matching_across(&template);
            assert_eq!(
                (matching.len(), across.len()),
                (count, count_across),
                "{text}"
            );
            assert_eq!(
                (matching, across),
                (expected(false), expected(true)),
                "{text}"
            );
        }
    }
}
