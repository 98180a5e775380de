//! Refactorings at a cursor, one module each. Their effect on values is only proved once one is chosen.

mod convert;
mod duplicates;
mod extract;
mod hoist;
mod inline;
mod merge;
mod move_key;
mod nest;
#[cfg(test)]
mod proof_tests;
mod push_down;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod value_tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::proof::{Proof, prove};
use crate::analysis::{Analysis, RootView};
use crate::edit::Plan;
use crate::edit::entry::{Sheet, TopEntry};
use crate::lookup::{Place, Reach};
use crate::text::TextRange;
use crate::workspace::{File, LOOKUP_OPTIONS, RootKind};

/// Maximum number of files in one refactoring.
const MAX_FILES: usize = 100;

/// The kind of a refactoring in the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RefactoringKind {
    /// `refactor.move`
    Move,
    /// `refactor.extract`
    Extract,
    /// `refactor.inline`
    Inline,
    /// `refactor.rewrite`
    Rewrite,
}

impl RefactoringKind {
    /// All kinds.
    pub const ALL: [RefactoringKind; 4] = [
        RefactoringKind::Move,
        RefactoringKind::Extract,
        RefactoringKind::Inline,
        RefactoringKind::Rewrite,
    ];

    /// The kind's name in the protocol.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RefactoringKind::Move => "refactor.move",
            RefactoringKind::Extract => "refactor.extract",
            RefactoringKind::Inline => "refactor.inline",
            RefactoringKind::Rewrite => "refactor.rewrite",
        }
    }
}

/// A possible refactoring.
#[derive(Clone, Debug)]
pub struct Refactoring {
    /// The effect, as an imperative; titles are unique among offers.
    pub title: String,
    /// Its kind.
    pub kind: RefactoringKind,
    /// The edits.
    pub plan: Plan,
}

/// A refactoring that users may expect but that is impossible.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// What it would do.
    pub title: String,
    /// Its kind.
    pub kind: RefactoringKind,
    /// Why it is impossible.
    pub reason: String,
}

/// The refactoring of a file that is impossible. O(configuration).
#[must_use]
pub fn refused(analysis: Analysis<'_>, at: &str) -> Option<Refused> {
    convert::refused(analysis, at)
}

/// The refactorings at an offset, without lookups. O(files of a level).
#[must_use]
pub fn offers(analysis: Analysis<'_>, at: &str, offset: usize) -> Vec<Refactoring> {
    let mut found: Vec<Refactoring> = convert::offer(analysis, at).into_iter().collect();
    let Some(cursor) = EntryCursor::of(analysis, at, offset) else {
        return found;
    };
    found.extend(move_key::offers(&cursor));
    found.extend(hoist::offer(&cursor));
    let pushed = push_down::offer(&cursor);
    // Moving into the only file above is the same as moving up.
    let is_new = |offer: &Refactoring| found.iter().all(|known| known.plan != offer.plan);
    found.extend(pushed.filter(is_new));
    found.extend(duplicates::offer(&cursor));
    found.extend(extract::offer(&cursor));
    found.extend(inline::offer(&cursor));
    found.extend(merge::offers(&cursor));
    found.extend(nest::offers(&cursor));
    found
}

/// The refactoring with a title, and its effect. The title is its key on purpose: it has every
/// detail that the user agreed to, such as a number of files, and an offer that now has another
/// one is not what was chosen.
///
/// # Errors
/// Why it is no longer possible, for people.
pub fn chosen(
    analysis: Analysis<'_>,
    at: &str,
    offset: usize,
    title: &str,
) -> Result<(Refactoring, Proof), String> {
    let mut offers = offers(analysis, at, offset).into_iter();
    let offer = offers.find(|offer| offer.title == title);
    let offer = offer.ok_or("the file has changed: ask again")?;
    let proof = effect(analysis, at, &offer)?;
    Ok((offer, proof))
}

/// The effect of an offer for a file.
///
/// # Errors
/// Why it is not possible, for people.
pub fn effect(analysis: Analysis<'_>, at: &str, offer: &Refactoring) -> Result<Proof, String> {
    let view = analysis.answering(at).ok_or("there is no hierarchy here")?;
    prove(&view, &offer.plan)
}

/// A position in an editable data file.
struct EntryCursor<'a> {
    view: RootView<'a>,
    sheet: Sheet<'a>,
    offset: usize,
    /// The entry at the position.
    entry: TopEntry,
    key: Arc<str>,
    /// The place in the hierarchy that reads the file, and the variables that its path determines.
    reach: Reach,
}

impl<'a> EntryCursor<'a> {
    fn of(analysis: Analysis<'a>, at: &str, offset: usize) -> Option<EntryCursor<'a>> {
        let sheet = Sheet::of(analysis.snapshot, at).ok()?;
        let view = analysis.governing(at)?;
        // A file that matches two levels can have a different priority for each reader.
        let mut reached = view.reach(at).into_iter();
        let (reach, None) = (reached.next()?, reached.next()) else {
            return None;
        };
        if reach.place.mapped.is_some() || reach.place.in_default_hierarchy {
            return None;
        }
        let around = |(_, entry): &(_, TopEntry)| sheet.range(*entry).touches(offset);
        let found = sheet.names().find(around);
        let (key, entry) = found.map(|(key, entry)| (key.clone(), entry))?;
        (&*key != LOOKUP_OPTIONS).then_some(EntryCursor {
            view,
            sheet,
            offset,
            entry,
            key,
            reach,
        })
    }

    fn analysis(&self) -> Analysis<'a> {
        self.view.analysis
    }

    fn at(&self) -> &'a Arc<str> {
        self.sheet.file.path()
    }

    /// The only entry of the key, with its comments; `None` if it cannot be moved.
    fn whole(&self) -> Option<TextRange> {
        let is_only = self.sheet.all(&self.key).len() == 1;
        let can_move = is_only && self.sheet.is_plain(self.entry);
        self.sheet.with_comments(self.entry).filter(|_| can_move)
    }

    /// The lines of the entry with its comments, and a final line break.
    fn lines(&self) -> Option<String> {
        let mut lines = self.whole()?.slice(self.sheet.text()).replace("\r\n", "\n");
        if !lines.ends_with('\n') {
            lines.push('\n');
        }
        Some(lines)
    }

    /// The places of the same layer, the highest first.
    fn places(&self) -> Vec<Place> {
        let places = self.view.places(&self.view.layer);
        let places = places.iter().filter(|place| {
            !place.in_default_hierarchy
                && place.mapped.is_none()
                && !place.template.depends_on_key()
        });
        places.cloned().collect()
    }

    /// The existing, editable file of a place, if all nodes that read this file read it too.
    fn always(&self, place: &Place) -> Option<Sheet<'a>> {
        // Never move values between levels with and without decryption.
        if place.reading != self.reach.place.reading {
            return None;
        }
        Sheet::of(self.analysis().snapshot, &self.reach.always(place)?).ok()
    }

    /// The existing files of a place with variables.
    fn files_of(&self, place: &Place) -> Vec<&'a Arc<File>> {
        if place.template.is_constant() || place.reading != self.reach.place.reading {
            return Vec::new();
        }
        let files = self.analysis().snapshot.files();
        files
            .filter(|file| place.template.matches(file.path()))
            .take(MAX_FILES + 1)
            .collect()
    }

    /// Whether some node may read this file, and another one at a place, since their paths do not
    /// contradict. For a file of several places only the highest counts.
    fn is_read_with(&self, place: &Place, other: &str) -> bool {
        let Some(reach) = self.view.reach(other).into_iter().next() else {
            return false;
        };
        let agrees = |(name, value): &(Arc<str>, String)| {
            let mut own = self.reach.bindings.iter();
            own.all(|(known, with)| known != name || with == value)
        };
        reach.place == *place && reach.bindings.iter().all(agrees)
    }

    /// Whether a key can get this name: no file sets it or looks it up.
    fn is_free(&self, key: &str) -> bool {
        let snapshot = self.analysis().snapshot;
        snapshot.count_with(key) == 0 && !self.is_looked_up(key)
    }

    /// Whether a token, a call or a class parameter looks up the key, or may do so.
    fn is_looked_up(&self, key: &str) -> bool {
        let snapshot = self.analysis().snapshot;
        let parameter = self.analysis().class_parameter(Some(self.view.root), key);
        parameter.is_some()
            || snapshot.references().users(key).next().is_some()
            || snapshot.files_looking_up(key).next().is_some()
            || snapshot.files_that_may_look_up(key).next().is_some()
            || snapshot.files_that_compute_keys().next().is_some()
            || snapshot
                .files()
                .any(|file| file.facts().tangled().next().is_some())
    }

    /// The classes outside of the workspace that may have these keys as parameters.
    fn unseen_classes(&self, keys: &[Arc<str>]) -> BTreeSet<Arc<str>> {
        let analysis = self.analysis();
        let keys = keys.iter();
        let classes = keys.filter_map(|key| analysis.unseen_class(self.view.root, key));
        classes.map(Arc::from).collect()
    }

    /// The short name of a file.
    fn shown<'p>(&self, at: &'p str) -> &'p str {
        self.analysis().snapshot.short_name(at)
    }

    /// Whether the file is data of a module; such data is only used for keys of the module.
    fn is_of_module(&self) -> bool {
        matches!(self.view.root.kind, RootKind::Module { .. })
    }
}
