//! Which files a path with variables can mean, remembered by the numbers of files: a number and its
//! path belong together for as long as the workspace lives, so that nothing has to be forgotten.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::file::{FileId, format_of};
use super::files::Format;
use super::snapshot::Snapshot;
use crate::hierarchy::Template;

/// Most templates that are remembered, at a byte for every file each; hierarchies have a handful,
/// times the places that a scope can fill in.
const MOST_TEMPLATES: usize = 64;

/// What is known of a file for one template.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Fit {
    /// Nobody asked yet.
    #[default]
    Unasked,
    /// The template cannot mean it.
    No,
    /// It can, and the file is of that format by its name.
    Yes(Option<Format>),
}

/// Answers by template.
#[derive(Default)]
pub(super) struct FitCache {
    templates: Mutex<HashMap<Template, Arc<Fits>>>,
    /// Paths by number, as far as they were asked for: all in one place, where files are not.
    paths: Arc<RwLock<Vec<Option<Arc<str>>>>>,
}

/// The answers for one template.
#[derive(Default)]
pub(super) struct Fits {
    template: Template,
    by_file: Mutex<Vec<Fit>>,
    paths: Arc<RwLock<Vec<Option<Arc<str>>>>>,
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
            by_file: Mutex::default(),
            paths: Arc::clone(&self.paths),
        });
        templates.insert(template.clone(), Arc::clone(&fits));
        fits
    }
}

impl Fits {
    /// The paths of those among `files` that the template can mean, of one format or of any.
    pub(super) fn select(
        &self,
        snapshot: &Snapshot,
        files: impl Iterator<Item = FileId>,
        format: Option<Format>,
    ) -> Vec<Arc<str>> {
        let mut known = self.by_file.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < snapshot.files.len() {
            known.resize(snapshot.files.len(), Fit::Unasked);
        }
        let mut found = Vec::new();
        let mut unnamed = Vec::new();
        let paths = self.paths.read().unwrap_or_else(PoisonError::into_inner);
        for id in files {
            let Some(fit) = known.get_mut(id.0 as usize) else {
                continue;
            };
            if *fit == Fit::Unasked {
                let Some(file) = snapshot.file_by_id(id) else {
                    continue;
                };
                *fit = match self.template.matches(file.path()) {
                    true => Fit::Yes(format_of(file.path())),
                    false => Fit::No,
                };
            }
            let Fit::Yes(own) = fit else {
                continue;
            };
            if format.is_some() && *own != format {
                continue;
            }
            match paths.get(id.0 as usize) {
                Some(Some(path)) => found.push(Arc::clone(path)),
                Some(None) | None => {
                    if let Some(file) = snapshot.file_by_id(id) {
                        found.push(Arc::clone(file.path()));
                        unnamed.push(id);
                    }
                }
            }
        }
        drop(paths);
        if !unnamed.is_empty() {
            let mut paths = self.paths.write().unwrap_or_else(PoisonError::into_inner);
            if paths.len() < known.len() {
                paths.resize(known.len(), None);
            }
            for id in unnamed {
                let path = snapshot.file_by_id(id).map(|file| Arc::clone(file.path()));
                paths[id.0 as usize] = path;
            }
        }
        found
    }
}
