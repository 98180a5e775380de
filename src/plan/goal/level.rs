//! Levels for edits by goal: the file that each of the nodes reads.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Goal;
use crate::analysis::RootView;
use crate::lookup::Place;
use crate::workspace::Format;

/// Maximum number of files in one proposal.
pub(super) const MAX_FILES: usize = 50;

/// A level's location, with the files that the wanted nodes read.
pub(super) struct GoalLevel {
    pub(super) place: Place,
    /// Whether its path has a variable by which the nodes were chosen.
    pub(super) is_requested_level: bool,
    /// The files, with the indexes of the nodes.
    pub(super) files: BTreeMap<Arc<str>, Vec<usize>>,
    /// How near the keys in the files are to the wanted key: the largest number of shared segments,
    /// and the number of keys that share as many.
    nearness: (usize, usize),
}

impl GoalLevel {
    /// A location for edits.
    ///
    /// # Errors
    /// Why nothing can be written there for the nodes.
    pub(super) fn of(view: &RootView<'_>, goal: &Goal, place: &Place) -> Result<GoalLevel, String> {
        if place.in_default_hierarchy {
            return Err(
                "the default hierarchy is asked last, for keys that nothing else sets".into(),
            );
        }
        match place.reading.map(|reading| reading.format()) {
            Some(Format::Yaml) => {}
            Some(Format::Json | Format::Hocon) => return Err("only YAML files are edited".into()),
            None => return Err("its data comes from a function".into()),
        }
        if view.analysis.is_outside(&place.template) {
            return Err("it is outside the workspace".into());
        }
        let mut files: BTreeMap<Arc<str>, Vec<usize>> = BTreeMap::new();
        for &member in &goal.members {
            let Some(at) = view.path_for(place, &goal.key, member) else {
                let name = view.analysis.nodes.certname(member);
                return Err(format!("cannot tell which file {name} reads there"));
            };
            files.entry(Arc::from(at)).or_default().push(member);
        }
        if files.len() > MAX_FILES {
            return Err(format!("{} files would have to be edited", files.len()));
        }
        let mut variables = place.template.variables();
        let is_in_goal = |name: &Arc<str>| {
            let bare = |text: &str| text.trim_start_matches("facts.").to_owned();
            goal.variables.iter().any(|known| bare(known) == bare(name))
        };
        Ok(GoalLevel {
            is_requested_level: variables.any(is_in_goal),
            place: place.clone(),
            nearness: nearness(view, &goal.key, files.keys()),
            files,
        })
    }

    /// Whether both are files of the same glob.
    fn is_of_same_glob(&self, other: &GoalLevel) -> bool {
        let glob = |level: &GoalLevel| (level.place.index, level.place.original.clone());
        self.place.layer == other.place.layer && glob(self) == glob(other)
    }

    /// Whether its files set other keys of a key's class.
    pub(super) fn has_class_of(&self, key: &str) -> bool {
        let class = key.split("::").count() - 1;
        class > 0 && self.nearness.0 >= class
    }
}

/// How near the keys of files are to a key; see [`GoalLevel::nearness`]. O(keys of the files).
fn nearness<'f>(
    view: &RootView<'_>,
    key: &str,
    files: impl Iterator<Item = &'f Arc<str>>,
) -> (usize, usize) {
    let shared = |other: &str| {
        let pairs = key.split("::").zip(other.split("::"));
        pairs.take_while(|(own, other)| own == other).count()
    };
    let files = files.filter_map(|at| view.analysis.snapshot.file(at));
    let keys = files.flat_map(|file| file.facts().keys.iter());
    keys.fold((0, 0), |(most, count), known| match shared(&known.name) {
        shared if shared > most => (shared, 1),
        shared if shared == most && most > 0 => (most, count + 1),
        _ => (most, count),
    })
}

/// Of the files of one glob, the one with the keys nearest to the key, else the first: keys of a
/// class belong together.
pub(super) fn one_of_each_glob(levels: Vec<GoalLevel>) -> Vec<GoalLevel> {
    let mut chosen: Vec<GoalLevel> = Vec::new();
    for level in levels {
        match chosen.last_mut() {
            Some(last) if last.is_of_same_glob(&level) => {
                if level.nearness > last.nearness {
                    *last = level;
                }
            }
            _ => chosen.push(level),
        }
    }
    chosen
}
