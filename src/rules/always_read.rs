//! The files that every node which reads a file also reads: for rules that prove that no scope needs a value.
//!
//! A proof needs a key that is never merged, and data that is entirely in the workspace. Without a
//! proof nothing is reported.

use std::sync::Arc;

use super::context::{FileContext, Reader};
use super::finding::{Finding, Fix, Safety, Tag};
use crate::edit::{Mapping, entry_range, own_lines};
use crate::lookup::{Place, Reach};
use crate::text::TextEdit;
use crate::workspace::{File, Format, KeyFact, KeyState, LOOKUP_OPTIONS};

/// Maximum number of files with a key. With more files values are not compared: an edit of one of
/// them would require a check of all.
const MAX_FILES: usize = 200;

/// Whether a key's entry can be compared with others: it is the last one in its file, it is never
/// merged, and no function that is never run may read it.
pub(super) fn is_first_found(file: &FileContext<'_>, key: &KeyFact) -> bool {
    let count = file.snapshot().count_with(&key.name);
    (2..=MAX_FILES).contains(&count)
        && file.is_last(key)
        && &*key.name != LOOKUP_OPTIONS
        && !file.checker.is_merged(&key.name)
        && !file.may_be_read_by_function()
}

/// A location that reads a file, and the other files that every node which reads the location
/// reads too, with the index of their places, in the order of places.
pub(super) struct AlwaysRead {
    reader: usize,
    reach: usize,
    files: Vec<(usize, Arc<File>)>,
}

/// The same for all locations that read a file. O(locations × places).
pub(super) fn always_read(file: &FileContext<'_>) -> Vec<AlwaysRead> {
    let mut found = Vec::new();
    for (at, reader) in file.readers().iter().enumerate() {
        let places = file.checker.places(reader.root);
        for (number, reach) in reader.reached().iter().enumerate() {
            let file_at = |place: &Place| {
                let other = file.snapshot().file(&reach.always(place)?)?;
                (other.path() != file.file.path()).then(|| Arc::clone(other))
            };
            let files = places.iter().enumerate();
            let files = files.filter_map(|(at, place)| Some((at, file_at(place)?)));
            found.push(AlwaysRead {
                reader: at,
                reach: number,
                files: files.collect(),
            });
        }
    }
    found
}

/// The last of the files that `other` names for each location that reads the file; `None` if it
/// names none for one of them.
pub(super) fn for_all_readers<'c>(
    file: &'c FileContext<'_>,
    other: impl Fn(&'c AlwaysRead) -> Option<&'c Arc<File>>,
) -> Option<&'c Arc<File>> {
    let mut last = None;
    for location in file.always_read() {
        last = Some(other(location)?);
    }
    last
}

/// The nearest file above a location that sets a key, if every node that reads the location reads it.
pub(super) fn always_above<'c>(
    file: &FileContext<'_>,
    location: &'c AlwaysRead,
    key: &str,
) -> Option<&'c Arc<File>> {
    let (reader, reach) = location.of(file);
    let places = file.checker.places(reader.root);
    let own = reach.place.rank();
    let mut others = location.files.iter().rev();
    let above = others.find(|(at, other)| places[*at].rank() < own && sets(other, key));
    above.map(|(_, other)| other)
}

/// The file of a lower level with the same value of a key, if all nodes that read the location
/// would use it instead. Files between them may only set the key to that value.
pub(super) fn inherited<'c>(
    file: &FileContext<'_>,
    location: &'c AlwaysRead,
    key: &str,
) -> Option<&'c Arc<File>> {
    let (reader, reach) = location.of(file);
    // A node reads several elements of `mapped_paths`.
    if reach.place.mapped.is_some() {
        return None;
    }
    let places = file.checker.places(reader.root);
    let own = reach.place.rank();
    let is_below = |place: &&Place| place.rank() > own && place.in_default_hierarchy == own.0;
    let mut others = location.files.iter();
    let (at, heir) = others.find(|(at, other)| is_below(&&places[*at]) && sets(other, key))?;
    if !is_same(file, heir, key) {
        return None;
    }
    let last = places[*at].rank();
    let between = places.iter().filter(is_below);
    let mut between = between.filter(|place| place.rank() < last);
    let has_same_data = |place: &Place| {
        // The data of a function that is never run is unknown.
        if place.reading.is_none() {
            return false;
        }
        let bound = reach.bound(&place.template);
        let holders = file.snapshot().iter_files_with(key);
        let mut possible = holders.filter(|other| bound.matches(other.path()));
        possible.all(|other| is_same(file, other, key))
    };
    between.all(has_same_data).then_some(heir)
}

impl AlwaysRead {
    /// The root and the location.
    fn of<'c, 'a>(&self, file: &'c FileContext<'a>) -> (&'c Reader<'a>, &'c Reach) {
        let reader = &file.readers()[self.reader];
        (reader, &reader.reached()[self.reach])
    }
}

/// Whether Puppet loads a file and it sets a key.
fn sets(file: &File, key: &str) -> bool {
    file.facts().error.is_none() && file.facts().key(key).is_some()
}

/// Whether the file and another one certainly set a key to the same value.
fn is_same(file: &FileContext<'_>, other: &File, key: &str) -> bool {
    spells_same(file.file, other, key) || has_same(file, other, key)
}

/// Whether two files have equal values of a key, with hash keys in the same order, in any spelling.
fn has_same(file: &FileContext<'_>, other: &File, key: &str) -> bool {
    /// Maximum length of a compared value, in bytes.
    const LONGEST: usize = 4 << 10;
    let one = file.file;
    let (Some(own), Some(theirs)) = (one.facts().key(key), other.facts().key(key)) else {
        return false;
    };
    let is_plain = |source: &File, fact: &KeyFact| {
        let text = fact.value.slice(source.text());
        let is_read = source.facts().error.is_none() && fact.state == KeyState::Read;
        // Other values of the file may use an anchor in this one.
        let stands_alone = !text.contains("ENC[") && !text.contains('&');
        is_read && !text.is_empty() && text.len() <= LONGEST && stands_alone
    };
    if own.kind != theirs.kind || !is_plain(one, own) || !is_plain(other, theirs) {
        return false;
    }
    let value = |source: &File| {
        let value = file.snapshot().value_of(source, key, source.format()?)?;
        Some(value.inspect().to_string())
    };
    let value_here = value(one);
    value_here.is_some() && value_here == value(other)
}

/// Whether two files have the same text as the value of a key.
fn spells_same(one: &File, other: &File, key: &str) -> bool {
    fn written<'f>(file: &'f File, key: &str) -> Option<&'f str> {
        Some(file.facts().key(key)?.value.slice(file.text()))
    }
    // Anchors and aliases depend on the rest of the file.
    let is_plain = |value: &str| !value.contains(['*', '&']) && !value.contains("<<");
    let own = written(one, key);
    own == written(other, key) && one.format() == other.format() && own.is_some_and(is_plain)
}

/// Marks a finding about an entry without effect, with a fix that removes it. The finding holds as
/// long as `other` has its entry of the key.
pub(super) fn offer_removal(
    finding: &mut Finding,
    file: &FileContext<'_>,
    key: &KeyFact,
    other: &File,
) {
    finding.tags.push(Tag::Unnecessary);
    if let Some(edit) = removal(file, key) {
        let fix = Fix::new(Safety::Unsafe, format!("Remove '{}'", key.name), edit);
        finding.fixes.push(fix.resting_on(other, &key.name));
    }
}

/// Removes a top-level entry, with its lines or its comma; the only one is replaced by an empty
/// hash. `None` if Puppet refuses the file, which is then not fully known, or if the file repeats the
/// key.
fn removal(file: &FileContext<'_>, key: &KeyFact) -> Option<TextEdit> {
    let tree = file.tree();
    let mut others = file.facts().keys.iter();
    let is_repeated = others.any(|other| other.name == key.name && other.key != key.key);
    let is_sure = file.facts().error.is_none() && !is_repeated;
    let root = tree.root().filter(|_| is_sure)?;
    let pairs = tree.node(root).as_mapping()?;
    let at = pairs
        .iter()
        .position(|(at, _)| tree.node(*at).range == key.key)?;
    let text = file.file.text();
    let mapping = Mapping::of(tree, text, root)?;
    // Puppet warns at each lookup in a file without a hash.
    let emptied = || {
        let lines = own_lines(text, entry_range(tree, pairs[at]))?;
        let is_crlf = lines.slice(text).ends_with("\r\n");
        let empty = if is_crlf { "{}\r\n" } else { "{}\n" };
        (pairs.len() == 1 && !mapping.is_in_braces()).then(|| TextEdit::replace(lines, empty))
    };
    match file.format() {
        Format::Yaml | Format::Json => mapping.without(at).or_else(emptied),
        Format::Hocon => None,
    }
}
