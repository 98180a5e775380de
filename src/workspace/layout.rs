//! Where the data of a configuration lies if it serves a given folder of the workspace: the data
//! directories that exist there, and the folders that replace those of a server.

use std::borrow::Cow;
use std::sync::Arc;

use super::FileSettings;
use super::config_fact::ConfigFact;
use super::deployed;
use super::files::{FileKind, Files};
use super::path;
use crate::hierarchy::{DataPath, PathPattern, join};
use crate::interpolation::has_tokens;

/// The places of a configuration's data for one folder that it may serve.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct DataLayout {
    /// The paths that its levels read, in the order of the levels.
    pub(super) patterns: Vec<DataPattern>,
    /// The data directories in the workspace, up to their first variable.
    pub(super) folders: Vec<Arc<str>>,
    /// The data directories that are not in the workspace, as written.
    pub(super) missing: Vec<Arc<str>>,
    /// Folders of a server, and the folders here that replace them.
    pub(super) path_map: Vec<(Arc<str>, Arc<str>)>,
    /// For a template: its text without tags, with data directories from tags filled in.
    pub(super) text: Option<Arc<str>>,
}

/// The files that one location can match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct DataPattern {
    pattern: PathPattern,
    /// Index of the data directory.
    folder: usize,
    /// Whether one of Puppet's own functions reads exactly these files.
    is_exact: bool,
}

struct Datadir<'a> {
    written: &'a Arc<str>,
    /// The number of locations in it.
    uses: usize,
    /// Its path here, including tokens.
    here: Option<String>,
}

impl DataLayout {
    /// The layout of a configuration for the folder `dir`. O(data directories × segments).
    pub(super) fn new(
        files: &dyn Files,
        fact: &ConfigFact,
        dir: &str,
        settings: &FileSettings,
    ) -> DataLayout {
        let mut layout = DataLayout::default();
        let mut datadirs: Vec<Datadir<'_>> = Vec::new();
        let paths: Vec<Cow<'_, DataPath>> =
            fact.paths.iter().map(deployed::below_environment).collect();
        for data in &paths {
            match datadirs
                .iter_mut()
                .find(|known| *known.written == data.datadir)
            {
                Some(known) => known.uses += 1,
                None => datadirs.push(Datadir {
                    written: &data.datadir,
                    uses: 1,
                    here: None,
                }),
            }
        }
        let mut order: Vec<usize> = (0..datadirs.len()).collect();
        // Of `/etc/puppet/hieradata` and `/etc/puppet/private/hieradata` a control repository
        // contains the first.
        let depth = |at: usize| datadirs[at].written.split('/').count();
        order.sort_by_key(|&at| (std::cmp::Reverse(datadirs[at].uses), depth(at)));
        let mut taken: Vec<String> = Vec::new();
        for standing in [true, false] {
            for &at in &order {
                if datadirs[at].here.is_some() {
                    continue;
                }
                let written = datadirs[at].written;
                let full = path::normalise(&join(dir, written));
                let is_open = fact.plain.is_some() && starts_open(written);
                let found = match (standing, is_open) {
                    (true, true) => None,
                    (true, false) => {
                        let found = standing_at(files, &full, dir, settings);
                        // A relative one would lie in the workspace, where no path is mapped.
                        if let Some(here) = found.as_ref().filter(|here| **here != full)
                            && !written.starts_with('/')
                        {
                            let (full, here) = (full.as_str(), here.as_str());
                            layout.path_map.push((Arc::from(full), Arc::from(here)));
                        }
                        found
                    }
                    (false, true) => {
                        let found = stand_in(files, written, dir, &taken);
                        let found = found.map(|(_, here)| here);
                        found.or_else(|| conventional(files, dir, &taken))
                    }
                    (false, false) => stand_in(files, written, dir, &taken).map(|found| {
                        let (deployed, here) = found;
                        let deployed = path::normalise(&join(dir, &deployed));
                        let whole = format!("{here}{}", &full[deployed.len()..]);
                        layout.path_map.push((Arc::from(deployed), Arc::from(here)));
                        whole
                    }),
                };
                taken.extend(found.as_deref().map(fixed));
                datadirs[at].here = found;
            }
        }
        let mut numbers = Vec::with_capacity(datadirs.len());
        for datadir in &datadirs {
            match &datadir.here {
                Some(here) => layout.folders.push(Arc::from(fixed(here))),
                None => layout.missing.push(datadir.written.clone()),
            }
            numbers.push(layout.folders.len().saturating_sub(1));
        }
        for data in &paths {
            let known = datadirs.iter().zip(&numbers);
            let mut known = known.filter(|(known, _)| *known.written == data.datadir);
            if let Some((datadir, &folder)) = known.next()
                && let Some(here) = &datadir.here
            {
                layout.patterns.push(DataPattern {
                    pattern: PathPattern::new(here, &data.path, data.is_glob),
                    folder,
                    is_exact: data.is_exact,
                });
            }
        }
        layout.text = fact.plain.as_ref().map(|plain| {
            let known = datadirs.iter().filter(|known| starts_open(known.written));
            let text = known.fold(plain.to_string(), |text, datadir| match &datadir.here {
                Some(here) => text.replace(&**datadir.written, here),
                None => text,
            });
            Arc::from(text)
        });
        layout
    }

    pub(super) fn reach(&self, at: &str) -> Option<Reached> {
        reach(&self.patterns, &self.folders, at)
    }
}

/// How a configuration can read a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reached {
    /// It lies in the data directory of a function that can read any file there.
    Perhaps,
    /// A level's path names it.
    Exactly,
}

/// How locations can read a file; `None` if none of them can.
pub(super) fn reach(patterns: &[DataPattern], folders: &[Arc<str>], at: &str) -> Option<Reached> {
    let mut found = None;
    for data in patterns {
        if data.is_exact {
            if data.pattern.matches(at) {
                return Some(Reached::Exactly);
            }
        } else if folders
            .get(data.folder)
            .is_some_and(|folder| path::within(at, folder).is_some())
        {
            found = Some(Reached::Perhaps);
        }
    }
    found
}

/// A data directory that exists where it is written, or where the settings or the name of the
/// environments' folder map it.
fn standing_at(
    files: &dyn Files,
    full: &str,
    dir: &str,
    settings: &FileSettings,
) -> Option<String> {
    let is_there = |at: &str| {
        let fixed = fixed(at);
        // A variable right below the root is inconclusive.
        fixed != "/" && files.kind(&fixed) == Some(FileKind::Directory)
    };
    if is_there(full) {
        return Some(full.to_owned());
    }
    let mapped = deployed::onto(files, full, dir, &settings.path_map)?;
    is_there(&mapped).then_some(mapped)
}

/// The folder below `dir` whose path has the longest common suffix with a deployed data directory,
/// and the prefix that it replaces. A folder that is already the data of another level is not used
/// again.
fn stand_in(
    files: &dyn Files,
    written: &str,
    dir: &str,
    taken: &[String],
) -> Option<(String, String)> {
    let is_absolute = written.starts_with('/');
    let segments: Vec<&str> = written
        .split('/')
        .filter(|segment| !matches!(*segment, "" | "."))
        .collect();
    let dots = segments
        .iter()
        .take_while(|segment| **segment == "..")
        .count();
    let first = match is_absolute || dots > 0 {
        true => dots,
        // The written path itself does not exist.
        false => 1,
    };
    for start in first..segments.len() {
        let end = &segments[start..];
        let known = end
            .iter()
            .take_while(|segment| !has_tokens(segment))
            .count();
        if known == 0 || end[..known].contains(&"..") {
            continue;
        }
        let here = path::join(dir, &end[..known].join("/"));
        if files.kind(&here) == Some(FileKind::Directory) && !taken.contains(&here) {
            let deployed = segments[..start + known].join("/");
            let deployed = if is_absolute {
                format!("/{deployed}")
            } else {
                deployed
            };
            return Some((deployed, here));
        }
    }
    None
}

/// Whether a data directory begins with a variable.
fn starts_open(written: &str) -> bool {
    written.split('/').next().is_some_and(has_tokens)
}

/// Names of data directories by convention.
const DATA_FOLDERS: [&str; 3] = ["data", "hieradata", "hiera"];

fn conventional(files: &dyn Files, dir: &str, taken: &[String]) -> Option<String> {
    let mut all = DATA_FOLDERS.iter().map(|name| path::join(dir, name));
    all.find(|here| files.kind(here) == Some(FileKind::Directory) && !taken.contains(here))
}

/// The part of a path before the first segment with a variable.
fn fixed(at: &str) -> String {
    let segments = at.split('/').take_while(|segment| !has_tokens(segment));
    let fixed = segments.collect::<Vec<_>>().join("/");
    if fixed.is_empty() {
        "/".to_owned()
    } else {
        fixed
    }
}
