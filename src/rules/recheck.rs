//! Which files to check again after a change of the workspace: those that set the keys that it
//! touches, use them or have options for them, and those that single rules add.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::RULES;
use crate::analysis::{
    Touched, TouchedKeys, decides_hierarchies, describes_nodes, last_difference,
    may_find_levels_otherwise, may_matter_to_nodes,
};
use crate::workspace::{File, LOOKUP_OPTIONS, PROJECT_FILE, Snapshot, language_of, path};

/// The files to check again after a change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Recheck {
    /// All files: a hierarchy, a root, a setting, or what any lookup finds changed.
    All,
    /// These files.
    Files(BTreeSet<Arc<str>>),
}

impl Recheck {
    /// Adds the files with findings that refer to changed files, as these places may have moved.
    /// `named` yields pairs of a file and a file that its findings refer to.
    #[must_use]
    pub fn with_moved<'a>(
        self,
        snapshot: &Snapshot,
        named: impl Iterator<Item = (&'a Arc<str>, &'a Arc<str>)>,
    ) -> Recheck {
        let Recheck::Files(mut files) = self else {
            return self;
        };
        let touched = snapshot.delta().files.iter().map(|file| &file.path);
        let touched: BTreeSet<&Arc<str>> = touched.collect();
        let moved = named.filter(|(_, place)| touched.contains(place));
        files.extend(moved.map(|(file, _)| Arc::clone(file)));
        Recheck::Files(files)
    }
}

/// The files that may have other findings after the last change of a snapshot. Moved places in
/// other files are added by [`Recheck::with_moved`]. `node_files` are the files of nodes and facts
/// that settings name. O(changed files, and files that set or use their keys), plus the time that
/// rules need to list further files.
#[must_use]
pub fn recheck(snapshot: &Snapshot, node_files: &[Arc<str>]) -> Recheck {
    let delta = snapshot.delta();
    let changed = || delta.files.iter().map(|file| &file.path);
    if delta.roots_changed
        || delta.settings_changed
        || delta.others_moved
        || changed().any(|at| decides_hierarchies(snapshot, at))
    {
        return Recheck::All;
    }
    let moved: BTreeSet<&Arc<str>> = delta.appeared.iter().chain(&delta.vanished).collect();
    // Where levels are not found, nothing is said to be missing.
    if !moved.is_empty() && may_find_levels_otherwise(snapshot, &moved) {
        return Recheck::All;
    }
    let touched = last_difference(snapshot);
    let keys = [
        touched.keys_as_refused(),
        touched.keys_looked_up_otherwise(),
    ];
    let [TouchedKeys::Keys(keys), TouchedKeys::Keys(looked_up)] = keys else {
        return Recheck::All;
    };
    let mut files: BTreeSet<Arc<str>> = changed().cloned().collect();
    let of_classes = touched.keys_of_classes();
    for key in keys.iter().chain(&looked_up).chain(&of_classes) {
        files.extend(paths(snapshot.iter_files_with(key)));
    }
    add_files_with_tokens(&touched, &mut files);
    add_files_with_options(&touched, &keys, &mut files);
    if !moved.is_empty() {
        files.extend(files_about_files(snapshot));
    }
    let has_other_nodes = changed().any(|at| describes_nodes(snapshot, at, node_files))
        || may_matter_to_nodes(snapshot, &moved);
    for depends in RULES.iter().map(|rule| rule.depends) {
        files.append(&mut (depends.files)(&touched, &keys));
        if has_other_nodes {
            files.append(&mut (depends.files_of_nodes)(snapshot));
        }
    }
    Recheck::Files(files)
}

pub(super) fn paths<'a>(
    files: impl Iterator<Item = &'a Arc<File>>,
) -> impl Iterator<Item = Arc<str>> {
    files.map(|file| Arc::clone(file.path()))
}

/// Adds the files with tokens for changed keys. If there are new names, also those with tokens for
/// keys that no file sets, which may be misspelt. O(these files, and keys that tokens look up).
fn add_files_with_tokens(touched: &Touched<'_>, files: &mut BTreeSet<Arc<str>>) {
    let snapshot = touched.snapshot;
    let missing = snapshot.references().looked_up();
    let missing = missing.filter(|key| touched.has_new_names() && snapshot.count_with(key) == 0);
    let changed = touched
        .edited
        .iter()
        .chain(touched.options.iter().flatten());
    for key in changed.chain(missing) {
        files.extend(paths(snapshot.files_with_tokens_for(key)));
    }
}

/// Adds the files with options for touched keys. If there are new names, other options or other
/// code, all files with options. O(files with options).
fn add_files_with_options(
    touched: &Touched<'_>,
    keys: &BTreeSet<Arc<str>>,
    files: &mut BTreeSet<Arc<str>>,
) {
    let mut code = touched.files.iter();
    let is_for_all = touched.has_new_names()
        || touched.options.as_ref().is_none_or(|it| !it.is_empty())
        || code.any(|file| language_of(&file.path).is_some());
    let all = touched.snapshot.iter_files_with(LOOKUP_OPTIONS);
    files.extend(paths(all.filter(|file| {
        let mut entries = file.facts().lookup_options.iter();
        is_for_all || entries.any(|entry| keys.contains(&entry.pattern))
    })));
}

/// The files with findings about the existence of files: configurations.
fn files_about_files(snapshot: &Snapshot) -> impl Iterator<Item = Arc<str>> {
    let configs = snapshot
        .roots()
        .iter()
        .filter_map(|root| root.hiera_yaml.clone());
    let environments = snapshot.roots().environments().map(|root| &root.dir);
    let folders = environments.chain(snapshot.folders());
    configs.chain(folders.map(|folder| Arc::from(path::join(folder, PROJECT_FILE))))
}
