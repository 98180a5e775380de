//! Expands the paths of a hierarchy to files and folders.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Analysis, RootView};
use crate::hierarchy::{Layer, LocationSpan, Template, TemplatePart, has_data_extension};
use crate::lookup::{ConfigCache, Place, PuppetVersion, Settings};
use crate::scope::KnownNodes;
use crate::value::Value;
use crate::workspace::{FileKind, Files as _, Snapshot, path};

/// Maximum number of files that a path with variables is expanded to.
pub const MAX_EXPANDED: usize = 100_000;

/// Stands for a variable in a path; no real path contains it.
const HOLE: char = '\u{0}';

impl RootView<'_> {
    /// Whether a file lies where the root's hierarchy looks for data. A file elsewhere that no
    /// level reads is none of Hiera's: a pipeline's, a container's, a test's.
    #[must_use]
    pub fn lies_among_data(&self, file: &str) -> bool {
        let places = self.places(&self.layer);
        places.iter().filter_map(datadir_of).any(|datadir| {
            // If the datadir is the whole repository, lying in it means nothing.
            path::within(&self.root.dir, &datadir).is_none()
                && path::within(file, &datadir).is_some()
        })
    }

    /// Whether the levels of a layer are not found here: a data directory does not exist, or no path
    /// matches a file. O(levels), and a list of files if no level has a file for every node.
    #[must_use]
    pub fn lacks_levels(&self, layer: &Layer) -> bool {
        let places = self.places(layer);
        let is_missing = |place: &Place| {
            let datadir = datadir_of(place);
            datadir.is_some_and(|dir| self.files().kind(&dir) != Some(FileKind::Directory))
        };
        !places.is_empty() && (places.iter().any(is_missing) || self.finds_no_file(&places))
    }

    /// The folder where the first level of a layer looks for data, if none of its levels finds a file
    /// here. `None` also if a level's function is never run. O(levels), and a list of files if no level
    /// has a file for every node.
    #[must_use]
    pub fn datadir_without_files(&self, layer: &Layer) -> Option<String> {
        let places = self.places(layer);
        let start = || start_folder(places.first()?).map(str::to_owned);
        let datadir = places.iter().find_map(datadir_of).or_else(start)?;
        let are_read = places.iter().all(|place| place.reading.is_some());
        (are_read && self.finds_no_file(&places)).then_some(datadir)
    }

    fn finds_no_file(&self, places: &[Place]) -> bool {
        // The last level usually has a file for every node.
        let mut last_first = places.iter().rev();
        last_first.all(|place| self.expand(&place.template).is_empty())
    }

    /// Whether [`RootView::lacks_levels`] may say something else than before files appeared or
    /// vanished. O(levels), and a list of files if the moved ones may be the only ones.
    fn may_find_levels_otherwise(&self, layer: &Layer, moved: &BTreeSet<&Arc<str>>) -> bool {
        let places = self.places(layer);
        let are_read = |place: &Place| moved.iter().any(|at| place.template.matches(at));
        let others = |place: &Place| {
            let mut found = self.expand(&place.template).into_iter();
            found.any(|at| !moved.contains(&Arc::from(at)))
        };
        let is_new = |dir: &str| {
            let mut within = moved.iter().filter(|at| path::within(at, dir).is_some());
            within.next().is_some() && !self.has_others(dir, moved)
        };
        places.iter().any(are_read) && !places.iter().rev().any(others)
            || places.iter().filter_map(datadir_of).any(|dir| is_new(&dir))
    }

    /// Whether a folder has files besides the moved ones, at any depth.
    fn has_others(&self, folder: &str, moved: &BTreeSet<&Arc<str>>) -> bool {
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for (name, kind) in self.files().list(&folder) {
                let at = format!("{folder}/{name}");
                match kind {
                    FileKind::Directory => folders.push(at),
                    FileKind::File if !moved.contains(&Arc::from(at)) => return true,
                    FileKind::File => {}
                }
            }
        }
        false
    }

    /// Existing files that places of the hierarchy can match, ordered by bytes.
    #[must_use]
    pub fn files_of(&self, places: &[&Place]) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        for place in places {
            match place.template.parts.as_slice() {
                [TemplatePart::Text(at)] => {
                    let is_file = self.analysis.snapshot.kind(at) == Some(FileKind::File);
                    files.extend(is_file.then(|| path::normalise(at)));
                }
                [..] => files.extend(self.expand(&place.template)),
            }
        }
        files.sort();
        files.dedup();
        files
    }

    /// Existing files that a path with variables can match, ordered by bytes, at most
    /// [`MAX_EXPANDED`]. Expands the path one folder at a time.
    #[must_use]
    pub fn expand(&self, template: &Template) -> Vec<String> {
        let mut found = self.expand_to(template, FileKind::File);
        if template.may_match_more() {
            self.expand_loosely(template, &mut found);
        }
        found
    }

    /// Existing folders that a path can match, as [`RootView::expand`] finds files.
    #[must_use]
    pub fn expand_to_folders(&self, template: &Template) -> Vec<String> {
        self.expand_to(template, FileKind::Directory)
    }

    fn expand_to(&self, template: &Template, wanted: FileKind) -> Vec<String> {
        let parts = template.parts.iter().map(|part| match part {
            TemplatePart::Text(text) => text.clone(),
            TemplatePart::Variable(_) | TemplatePart::Key(_) => HOLE.to_string(),
        });
        let whole: String = parts.collect();
        let mut found = vec![String::new()];
        let segments: Vec<&str> = whole.split('/').skip(1).collect();
        for (at, segment) in segments.iter().enumerate() {
            let is_last = at + 1 == segments.len();
            let mut next = Vec::new();
            for folder in found {
                if !segment.contains(HOLE) {
                    next.push(format!("{folder}/{segment}"));
                    continue;
                }
                for (name, kind) in self.files().list(&folder) {
                    let expected = if is_last { wanted } else { FileKind::Directory };
                    if kind == expected && next.len() < MAX_EXPANDED && fits_segment(segment, &name)
                    {
                        next.push(format!("{folder}/{name}"));
                    }
                }
            }
            found = next;
        }
        found.retain(|at| self.files().kind(at) == Some(wanted) && template.matches(at));
        found
    }

    /// Adds files that a path may match ([`Template::may_match`]), and that no level reads otherwise.
    fn expand_loosely(&self, template: &Template, found: &mut Vec<String>) {
        let Some(TemplatePart::Text(start)) = template.parts.first() else {
            return;
        };
        let places = self.places(&self.layer);
        let start = start.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut folders = vec![start.to_owned()];
        let before = found.len();
        while let Some(folder) = folders.pop() {
            for (name, kind) in self.files().list(&folder) {
                let at = format!("{folder}/{name}");
                match kind {
                    FileKind::Directory => folders.push(at),
                    FileKind::File
                        if found.len() < MAX_EXPANDED
                            && !template.matches(&at)
                            && template.may_match(&at)
                            && !places
                                .iter()
                                .any(|place| place.template.is_likelier(template, &at)) =>
                    {
                        found.push(at);
                    }
                    FileKind::File => {}
                }
            }
        }
        if found.len() > before {
            found.sort();
        }
    }
}

/// Whether files that appeared or vanished may decide whether the levels of a root are found.
#[must_use]
pub fn may_find_levels_otherwise(snapshot: &Snapshot, moved: &BTreeSet<&Arc<str>>) -> bool {
    let settings = Settings::for_version(PuppetVersion::default()).for_editor();
    let (configs, nodes) = (ConfigCache::default(), KnownNodes::default());
    let analysis = Analysis::new(snapshot, &settings, &configs, &nodes);
    let mut roots = snapshot.roots().iter();
    roots.any(|root| {
        let view = analysis.at(root);
        view.may_find_levels_otherwise(&view.layer, moved)
    })
}

/// The same places; a variable at the end of a path may hold the extension of a data file if it does
/// for a known node. O(nodes) once for such a variable.
#[must_use]
pub fn with_known_names(places: Arc<[Place]>, nodes: &KnownNodes) -> Arc<[Place]> {
    let is_name = |part: &Value| part.as_str().is_some_and(has_data_extension);
    let holds = |place: &Place| {
        let name = place.template.last_variable();
        name.is_some_and(|name| {
            let column = nodes.column(name);
            let mut values = column.values.iter().flatten();
            values.any(|value| value.any(&is_name))
        })
    };
    if nodes.is_empty() || !places.iter().any(holds) {
        return places;
    }
    let places = places.iter().map(|place| {
        let mut place = place.clone();
        if holds(&place) {
            place.template = place.template.with_extension_in_name();
        }
        place
    });
    places.collect()
}

/// The entries of `places` that belong to a location of `hiera.yaml`.
#[must_use]
pub fn places_of<'p>(
    places: &'p [Place],
    level: usize,
    in_default_hierarchy: bool,
    span: &LocationSpan,
) -> Vec<&'p Place> {
    let is_it = |place: &&Place| {
        place.index == level
            && place.in_default_hierarchy == in_default_hierarchy
            && place.original == span.text
    };
    places.iter().filter(is_it).collect()
}

/// The folder before the first variable of a place's path, or that of the file.
pub(super) fn start_folder(place: &Place) -> Option<&str> {
    let (folder, _) = place.template.first_text().rsplit_once('/')?;
    Some(folder)
}

/// The folder that a place's path starts from, if it has no variable. An absolute path starts from none.
#[must_use]
pub fn datadir_of(place: &Place) -> Option<String> {
    if place.original.starts_with('/') {
        return None;
    }
    let Some(TemplatePart::Text(start)) = place.template.parts.first() else {
        return None;
    };
    if place.by_glob {
        return datadir_of_glob(&place.original, start);
    }
    let original = Template::parse(&place.original);
    let relative = original.first_text();
    let datadir = start.strip_suffix(relative).or_else(|| {
        // A declared function reads below the level's path.
        start.trim_end_matches('/').strip_suffix(relative)
    })?;
    Some(datadir.trim_end_matches('/').to_string())
}

/// The base folder from which a pattern matched a file: the file's path without as many segments as
/// the pattern has.
fn datadir_of_glob(pattern: &str, matched: &str) -> Option<String> {
    if pattern.contains("**") || pattern.contains('{') || pattern.contains("..") {
        return None;
    }
    let names = pattern
        .split('/')
        .filter(|name| !name.is_empty() && *name != ".");
    let mut folders = std::iter::successors(Some(matched), |at| path::parent(at));
    folders.nth(names.count()).map(str::to_owned)
}

/// Whether a name contains a segment's texts in order, with at least one character for each
/// variable.
fn fits_segment(segment: &str, name: &str) -> bool {
    let mut rest = name;
    let mut pieces = segment.split(HOLE);
    let Some(tail) = rest.strip_prefix(pieces.next().unwrap_or_default()) else {
        return false;
    };
    rest = tail;
    for piece in pieces {
        let Some(first) = rest.chars().next() else {
            return false;
        };
        rest = &rest[first.len_utf8()..];
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.is_empty()
        || segment.ends_with(HOLE)
        || name.ends_with(segment.rsplit(HOLE).next().unwrap_or_default())
}
