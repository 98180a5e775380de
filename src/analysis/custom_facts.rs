//! The facts that modules add to Facter's: by Ruby code in `lib/facter`, and by data and texts in `facts.d`
//! (Facter's `custom_facts/util/directory_loader.rb`). Code and programs are never run: facts with
//! computed names are not found.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Touched;
use crate::interpolation::{Key, Segment};
use crate::syntax::puppet::without_colons;
use crate::text::TextRange;
use crate::workspace::{File, FileFacts, Snapshot, is_external_fact};

/// The name of the fact that a variable may be: `facts.os.family` and `::os.family` are parts of `os`.
#[must_use]
pub fn fact_of(variable: &str) -> Option<Arc<str>> {
    let key = Key::parse(without_colons(variable)).ok()?;
    let root = key.root.as_name().filter(|root| !root.contains("::"))?;
    let name = match root {
        "facts" => key.segments.first().and_then(Segment::as_name)?,
        root => root,
    };
    Some(Arc::from(name))
}

/// The files that add a fact, with the place of its name. O(files with the name).
pub fn custom_fact_places<'s>(
    snapshot: &'s Snapshot,
    name: &'s str,
) -> impl Iterator<Item = (&'s Arc<File>, TextRange)> {
    let in_code = snapshot.files_adding_fact(name).filter_map(move |file| {
        let mut added = file.facts().code.as_deref()?.custom_facts.iter();
        Some((file, added.find(|it| *it.name == *name)?.place))
    });
    let external = snapshot.iter_files_with(name);
    let external = external.filter(|file| is_external_fact(file.path()));
    let external = external.filter_map(move |file| Some((file, file.facts().key(name)?.key)));
    in_code.chain(external)
}

/// Whether a module adds a fact.
#[must_use]
pub fn is_custom_fact(snapshot: &Snapshot, name: &str) -> bool {
    custom_fact_places(snapshot, name).next().is_some()
}

impl Touched<'_> {
    /// The facts that only one version of a changed file adds.
    #[must_use]
    pub fn custom_facts(&self) -> BTreeSet<Arc<str>> {
        let files = self.files.iter();
        let changed = files.flat_map(|file| {
            let [before, after] = [&file.before, &file.after].map(|facts| {
                let facts = facts.as_deref();
                facts.map_or_else(BTreeSet::new, |facts| added(&file.path, facts))
            });
            let changed = before.symmetric_difference(&after);
            changed.cloned().collect::<Vec<_>>()
        });
        changed.collect()
    }
}

/// The facts that a file adds.
fn added(at: &str, facts: &FileFacts) -> BTreeSet<Arc<str>> {
    let code = facts.code.iter().flat_map(|code| &code.custom_facts);
    let code = code.map(|it| Arc::clone(&it.name));
    let keys = facts.keys.iter().filter(|_| is_external_fact(at));
    code.chain(keys.map(|it| Arc::clone(&it.name))).collect()
}
