//! What every node that reads a file also reads: for rules that prove that a value is not needed in every
//! scope, known or not.
//!
//! A proof needs a key that nothing merges, and data that can all be seen. What cannot be proved is
//! left alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::context::{FileContext, Reader, order};
use crate::hierarchy::{Template, TemplatePart};
use crate::lookup::{Place, Reach};
use crate::workspace::{File, KeyFact, LOOKUP_OPTIONS, Snapshot};

/// Most files that set one key. What more files set is not compared: an edit of one of them would
/// have all of them checked again.
const MOST_FILES: usize = 200;

/// Whether a key's entry counts, can be compared with others, and is never merged.
pub(super) fn is_first_found(file: &FileContext<'_>, key: &KeyFact) -> bool {
    let count = file.snapshot().count_with(&key.name);
    let counts = file
        .facts()
        .key(&key.name)
        .is_some_and(|last| last.key == key.key);
    (2..=MOST_FILES).contains(&count)
        && counts
        && &*key.name != LOOKUP_OPTIONS
        && !file.checker.has_option(&key.name, "merge")
}

/// The nearest file of a level above a location that sets a key and that every node reads which
/// reads the location.
pub(super) fn always_above<'a>(
    file: &FileContext<'a>,
    reader: &Reader<'_>,
    reach: &Reach,
    key: &str,
) -> Option<&'a Arc<File>> {
    let places = file.checker.places(reader.root);
    let own = order(&reach.place);
    let mut above = places.iter().rev().filter(|place| order(place) < own);
    above.find_map(|place| always(file, reach, place, key))
}

/// The file of a lower level that gives the nodes which read a location a key, if it is the same
/// for all but for files that set the key alike.
pub(super) fn inherited<'a>(
    file: &FileContext<'a>,
    reader: &Reader<'_>,
    reach: &Reach,
    key: &str,
) -> Option<&'a Arc<File>> {
    // Elements of `mapped_paths` are read beside each other.
    if reach.place.mapped.is_some() {
        return None;
    }
    let places = file.checker.places(reader.root);
    let own = order(&reach.place);
    let is_below = |place: &&Place| order(place) > own && place.in_default_hierarchy == own.0;
    let below = || places.iter().filter(is_below);
    let (last, heir) =
        below().find_map(|place| Some((order(place), always(file, reach, place, key)?)))?;
    if !is_same(file.file, heir, key) {
        return None;
    }
    let mut between = below().filter(|place| order(place) < last);
    let is_alike = |place: &Place| {
        // What a function gives that is never run is not known.
        if place.reading.is_none() {
            return false;
        }
        let bound = bound(&place.template, reach);
        let holders = file.snapshot().iter_files_with(key);
        let mut possible = holders.filter(|other| bound.matches(other.path()));
        possible.all(|other| is_same(file.file, other, key))
    };
    between.all(is_alike).then_some(heir)
}

/// The file that every node reads at a place which reads the location, if it sets the key. What a
/// function reads that is never run is not known.
fn always<'a>(
    file: &FileContext<'a>,
    reach: &Reach,
    place: &Place,
    key: &str,
) -> Option<&'a Arc<File>> {
    place.reading?;
    let bound = bound(&place.template, reach);
    let [TemplatePart::Text(path)] = bound.parts.as_slice() else {
        return None;
    };
    let other = file.snapshot().file(path)?;
    (other.path() != file.file.path() && sets(other, key)).then_some(other)
}

/// Whether a file that can be read sets a key.
fn sets(file: &File, key: &str) -> bool {
    file.facts().error.is_none() && file.facts().key(key).is_some()
}

/// A template with what a file's own path says of its variables.
fn bound(template: &Template, reach: &Reach) -> Template {
    let value = |name: &str| {
        let mut bindings = reach.bindings.iter();
        bindings.find(|(known, _)| **known == *name)
    };
    let mut parts: Vec<TemplatePart> = Vec::new();
    for part in &template.parts {
        let text = match part {
            TemplatePart::Text(text) => text,
            TemplatePart::Key(_) => {
                parts.push(part.clone());
                continue;
            }
            TemplatePart::Variable(name) => match value(name) {
                // A variable of `mapped_paths` names one element of many.
                Some((_, value)) if reach.place.mapped.is_none() => value,
                Some(_) | None => {
                    parts.push(part.clone());
                    continue;
                }
            },
        };
        match parts.last_mut() {
            Some(TemplatePart::Text(before)) => before.push_str(text),
            Some(TemplatePart::Variable(_) | TemplatePart::Key(_)) | None => {
                parts.push(TemplatePart::Text(text.clone()));
            }
        }
    }
    Template { parts }
}

/// Whether two files surely set a key to the same: they spell the value alike.
pub(super) fn is_same(one: &File, other: &File, key: &str) -> bool {
    let text = |file: &File| {
        let value = file.facts().key(key)?.value.slice(file.text()).to_owned();
        // Anchors and aliases depend on the rest of the file.
        let is_plain = !value.contains(['*', '&']) && !value.contains("<<");
        is_plain.then_some((value, file.format()))
    };
    let own = text(one);
    own.is_some() && own == text(other)
}

/// The files that set a key which a change touched; and all where options came or went.
pub(super) fn files_with_touched_keys(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
    let mut files = BTreeSet::new();
    for changed in &snapshot.delta().files {
        let keys = changed.keys();
        if !keys.lookup_options.is_empty() {
            files.extend(snapshot.files().map(|file| Arc::clone(file.path())));
            return files;
        }
        for key in keys.touched() {
            // One more or less of them decides whether they are compared at all.
            if snapshot.count_with(key) <= MOST_FILES + 1 {
                let holders = snapshot.iter_files_with(key);
                files.extend(holders.map(|file| Arc::clone(file.path())));
            }
        }
    }
    files
}
