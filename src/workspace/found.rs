//! Finds the configurations of a workspace wherever they are: the folder that each serves, the
//! number of data files it reaches, and, of several that reach the same data, the one to use.
//!
//! A configuration is judged by the files that it reaches, not by its name or place; those only
//! break ties.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::config_fact::ConfigFact;
use super::file::{FileId, format_of};
use super::layout::{DataLayout, DataPattern, Reached, reach};
use super::path;
use super::root_finder::is_aside;
use super::snapshot::Snapshot;
use super::visible::Here;

/// Maximum number of folders that one configuration is tried for.
const MAX_FOLDERS: usize = 64;

/// Maximum number of judged configurations; a workspace with more of them has some other content.
const MAX_JUDGED: usize = 256;

/// How a configuration was found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ConfigOrigin {
    /// The settings name it.
    Setting,
    /// In Puppet's place: at the top of the workspace or of an environment.
    Place,
    /// By its name or content, somewhere in the workspace.
    Content,
}

/// How a configuration is used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConfigUse {
    /// It governs the files that it reaches first.
    Used,
    /// All its files are governed by this configuration, which takes precedence.
    Variant(Arc<str>),
    /// It lies among tests, and others do not: it is only used if chosen.
    Aside,
    /// It reaches no file of data.
    ReachesNothing,
}

/// One configuration of the workspace, other than those of modules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundConfig {
    /// The file.
    pub path: Arc<str>,
    /// Its version: 3, 4 or 5.
    pub version: u8,
    /// How it was found.
    pub origin: ConfigOrigin,
    /// Whether it lies among tests or in the set-up of a test machine.
    pub is_aside: bool,
    /// The folder that it serves: the base of relative data directories.
    pub dir: Arc<str>,
    /// The number of data files it can read.
    pub reached: usize,
    /// How many of them no preceding configuration can read.
    pub owned: usize,
    /// How it is used.
    pub verdict: ConfigUse,
    /// Its data directories in the workspace.
    pub folders: Arc<[Arc<str>]>,
    /// Its data directories that are not in the workspace, as written.
    pub missing: Arc<[Arc<str>]>,
    pub(super) patterns: Arc<[DataPattern]>,
    pub(super) path_map: Arc<[(Arc<str>, Arc<str>)]>,
    pub(super) text: Option<Arc<str>>,
}

impl FoundConfig {
    /// Whether it governs files.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.verdict == ConfigUse::Used
    }

    /// Why it is used, or why not.
    #[must_use]
    pub fn why(&self) -> String {
        match &self.verdict {
            ConfigUse::Used => {
                let how = match self.origin {
                    ConfigOrigin::Setting => "a setting names it",
                    ConfigOrigin::Place => "it is where Puppet looks for it",
                    ConfigOrigin::Content => "it has the content of a hiera.yaml",
                };
                let files = if self.reached == 1 { "file" } else { "files" };
                format!("{how}; it reads {} data {files}", self.reached)
            }
            ConfigUse::Variant(other) => {
                format!("{other} already reads the same data")
            }
            ConfigUse::Aside => "it belongs to tests".to_owned(),
            ConfigUse::ReachesNothing => "none of its data files is in this workspace".to_owned(),
        }
    }

    /// How the configuration can read a file; `None` if it cannot.
    #[must_use]
    pub fn reach(&self, at: &str) -> Option<Reached> {
        reach(&self.patterns, &self.folders, at)
    }
}

pub(super) struct ConfigCandidate {
    pub(super) path: Arc<str>,
    pub(super) fact: Arc<ConfigFact>,
    pub(super) origin: ConfigOrigin,
    /// The folders that it may serve, the likeliest first.
    pub(super) dirs: Vec<Arc<str>>,
}

/// Finds the configurations, best first. O(candidates × data files), free without candidates.
pub(super) fn judge(
    snapshot: &Snapshot,
    candidates: Vec<ConfigCandidate>,
    modules: &BTreeSet<&str>,
    folders: &[Arc<str>],
) -> Vec<FoundConfig> {
    let mut tried: Vec<TriedConfig> = candidates
        .into_iter()
        .take(MAX_JUDGED)
        .map(|candidate| TriedConfig::new(snapshot, candidate, modules, folders))
        .collect();
    tried.sort_by_cached_key(TriedConfig::rank);
    let mut owners: HashMap<FileId, usize> = HashMap::new();
    let mut owned = vec![0; tried.len()];
    let is_main = |one: &TriedConfig| !one.is_aside && !one.files.is_empty();
    let has_main = tried.iter().any(is_main);
    for wanted in [Reached::Exactly, Reached::Perhaps] {
        for (at, one) in tried.iter().enumerate() {
            let is_of_tests =
                one.is_aside && has_main && one.candidate.origin == ConfigOrigin::Content;
            for (id, how) in &one.files {
                // Data in folders of tests is ignored; a test machine's file next to other data is
                // not.
                let file = || snapshot.file_by_id(*id);
                let folder = || file().and_then(|file| path::parent(file.path()));
                if is_of_tests && folder().is_some_and(|at| is_aside(at, folders)) {
                    continue;
                }
                if *how == wanted {
                    owners.entry(*id).or_insert_with(|| {
                        owned[at] += 1;
                        at
                    });
                }
            }
        }
    }
    let verdicts: Vec<ConfigUse> = tried
        .iter()
        .enumerate()
        .map(|(at, one)| match (one.candidate.origin, owned[at]) {
            (ConfigOrigin::Setting | ConfigOrigin::Place, _) | (ConfigOrigin::Content, 1..) => {
                ConfigUse::Used
            }
            (ConfigOrigin::Content, 0) => one.instead(&owners, &tried),
        })
        .collect();
    let all = tried.into_iter().zip(owned).zip(verdicts);
    all.map(|((one, owned), verdict)| one.found(owned, verdict))
        .collect()
}

/// A candidate with its best folder.
struct TriedConfig {
    candidate: ConfigCandidate,
    is_aside: bool,
    /// The rank of its name, from 0.
    standing: usize,
    dir: Arc<str>,
    layout: DataLayout,
    /// The data files that it reaches, ordered by id.
    files: ReachedFiles,
}

/// Data files with how they are reached.
type ReachedFiles = Vec<(FileId, Reached)>;

impl TriedConfig {
    fn new(
        snapshot: &Snapshot,
        candidate: ConfigCandidate,
        modules: &BTreeSet<&str>,
        folders: &[Arc<str>],
    ) -> TriedConfig {
        let mut best: Option<(usize, Arc<str>, DataLayout, ReachedFiles)> = None;
        for dir in candidate.dirs.iter().take(MAX_FOLDERS) {
            let (here, settings) = (Here(snapshot), &snapshot.settings);
            let layout = DataLayout::new(&here, &candidate.fact, dir, settings);
            let files = reached(snapshot, &layout, modules);
            let weight = weight(&files);
            // As Puppet reads it in its place.
            let stands = path::parent(&candidate.path) == Some(dir) && layout.missing.is_empty();
            if stands && weight > 0 {
                best = Some((weight, Arc::clone(dir), layout, files));
                break;
            }
            if best.as_ref().is_none_or(|(most, ..)| weight > *most) {
                best = Some((weight, Arc::clone(dir), layout, files));
            }
        }
        let own = path::parent(&candidate.path).unwrap_or("/");
        let (_, dir, layout, files) =
            best.unwrap_or_else(|| (0, Arc::from(own), DataLayout::default(), Vec::new()));
        TriedConfig {
            is_aside: is_aside(&candidate.path, folders),
            standing: standing(&candidate.path, folders),
            candidate,
            dir,
            layout,
            files,
        }
    }

    /// The least comes first.
    fn rank(&self) -> impl Ord + use<> {
        let weight = weight(&self.files) * STANDINGS[self.standing];
        let path = &self.candidate.path;
        (
            self.candidate.origin,
            self.is_aside,
            std::cmp::Reverse(weight),
            path.matches('/').count(),
            Arc::clone(path),
        )
    }

    /// The configuration that governs most of the files that this one reaches.
    fn instead(&self, owners: &HashMap<FileId, usize>, tried: &[TriedConfig]) -> ConfigUse {
        let mut counts = vec![0_usize; tried.len()];
        for (id, _) in &self.files {
            if let Some(&owner) = owners.get(id) {
                counts[owner] += 1;
            }
        }
        let most = (0..counts.len()).rev().max_by_key(|&at| counts[at]);
        match most.filter(|&at| counts[at] > 0) {
            Some(at) => ConfigUse::Variant(Arc::clone(&tried[at].candidate.path)),
            None if self.files.is_empty() => ConfigUse::ReachesNothing,
            None => ConfigUse::Aside,
        }
    }

    fn found(self, owned: usize, verdict: ConfigUse) -> FoundConfig {
        FoundConfig {
            path: self.candidate.path,
            version: self.candidate.fact.version,
            origin: self.candidate.origin,
            is_aside: self.is_aside,
            dir: self.dir,
            reached: self.files.len(),
            owned,
            verdict,
            folders: self.layout.folders.into(),
            missing: self.layout.missing.into(),
            patterns: self.layout.patterns.into(),
            path_map: self.layout.path_map.into(),
            text: self.layout.text,
        }
    }
}

/// The weight of a file named by a path; a file that a function may read weighs 1.
const EXACT: usize = 4;

fn weight(files: &[(FileId, Reached)]) -> usize {
    let counts = files.iter().map(|(_, how)| match how {
        Reached::Exactly => EXACT,
        Reached::Perhaps => 1,
    });
    counts.sum()
}

/// The data files that a layout reaches; those of modules belong to their own configurations.
fn reached(snapshot: &Snapshot, layout: &DataLayout, modules: &BTreeSet<&str>) -> ReachedFiles {
    let mut folders: Vec<&Arc<str>> = layout.folders.iter().collect();
    folders.sort();
    folders.dedup_by(|inner, outer| path::within(inner, outer).is_some());
    let mut files = Vec::new();
    for folder in folders {
        for (id, at) in snapshot.files_below(folder) {
            if format_of(at).is_none() || is_of_module(at, folder, modules) {
                continue;
            }
            if let Some(how) = layout.reach(at) {
                files.push((id, how));
            }
        }
    }
    files.sort_unstable();
    files.dedup_by_key(|(id, _)| *id);
    files
}

/// Whether a file lies in a module below the data directory `folder`.
fn is_of_module(at: &str, folder: &str, modules: &BTreeSet<&str>) -> bool {
    let above = std::iter::successors(path::parent(at), |here| path::parent(here));
    let mut inside = above.take_while(|here| path::within(here, folder).is_some());
    inside.any(|here| modules.contains(here))
}

/// Ranks of a configuration's names: special purpose, neutral, production.
const STANDINGS: [usize; 3] = [2, 3, 5];

/// Words in the name of a configuration that is not production's.
const SPECIAL: [&str; 14] = [
    "dev",
    "devel",
    "development",
    "local",
    "staging",
    "stage",
    "qa",
    "ci",
    "beta",
    "labs",
    "lab",
    "bootstrap",
    "sandbox",
    "example",
];

/// Words in the name of production's configuration.
const PRODUCTION: [&str; 3] = ["production", "prod", "prd"];

/// The rank of a file and its folders by their names, below the workspace folder.
fn standing(at: &str, folders: &[Arc<str>]) -> usize {
    let rest = folders.iter().filter_map(|folder| path::within(at, folder));
    let rest = rest.min_by_key(|rest| rest.len()).unwrap_or(at);
    let mut words = rest.split(|c: char| !c.is_ascii_alphanumeric());
    if words.clone().any(|word| PRODUCTION.contains(&word)) {
        2
    } else if words.any(|word| SPECIAL.contains(&word)) {
        0
    } else {
        1
    }
}

#[cfg(test)]
#[path = "found_tests.rs"]
mod tests;
