//! What an edit touches: the keys whose lookups can have another result, and the classes and
//! variables that other code defines.
//!
//! A key is touched if its entries or its `lookup_options` changed, or if it looks up such a key:
//! in a token, behind an alias of YAML, or by a substitution. What is computed, checked, shown or
//! proved again after an edit follows from here. No lookups are made.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::interpolation::{has_tokens, root_of};
use crate::regexp::Regexp;
use crate::workspace::{
    FileDelta, FileFacts, LOOKUP_OPTIONS, OptionFact, RootKind, Snapshot, format_of,
};

/// Top-level keys whose lookups can have another result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TouchedKeys {
    /// Any.
    All,
    /// These.
    Keys(BTreeSet<Arc<str>>),
}

impl TouchedKeys {
    /// Whether a key, by its name in lookups, can have another result.
    #[must_use]
    pub fn holds(&self, key: &Arc<str>) -> bool {
        match self {
            TouchedKeys::All => true,
            TouchedKeys::Keys(keys) => keys.contains(&root_of(key)),
        }
    }
}

/// The difference between two versions of a workspace.
pub struct Touched<'a> {
    /// The later version.
    pub snapshot: &'a Snapshot,
    /// The files that differ.
    pub files: Cow<'a, [FileDelta]>,
    /// The keys with other entries, and keys of modules that are replaced as a whole.
    pub edited: BTreeSet<Arc<str>>,
    /// The keys with other `lookup_options`; `None` if these may be any.
    pub options: Option<BTreeSet<Arc<str>>>,
    /// Whether there are other roots.
    pub has_other_roots: bool,
}

/// The difference between two versions of a workspace. O(changed files and their keys) if one was
/// made from the other by one change; otherwise O(files). O(patterns × keys) if patterns in
/// `lookup_options` changed.
#[must_use]
pub fn difference<'a>(before: &'a Snapshot, after: &'a Snapshot) -> Touched<'a> {
    Touched {
        has_other_roots: before.roots().iter().ne(after.roots().iter()),
        ..Touched::of(after, after.files_since(before, ["/", "/"]))
    }
}

/// The difference of the last change of a snapshot.
#[must_use]
pub fn last_difference(snapshot: &Snapshot) -> Touched<'_> {
    Touched {
        has_other_roots: snapshot.delta().roots_changed,
        ..Touched::of(snapshot, Cow::Borrowed(&snapshot.delta().files))
    }
}

impl<'a> Touched<'a> {
    /// The difference in these files.
    #[must_use]
    pub fn of(snapshot: &'a Snapshot, files: Cow<'a, [FileDelta]>) -> Touched<'a> {
        let edited = files.iter().flat_map(|file| file.keys().touched());
        let mut touched = Touched {
            edited: edited.cloned().collect(),
            options: None,
            has_other_roots: false,
            snapshot,
            files,
        };
        let of_files = touched.files.iter().map(|file| touched.by_options(file));
        let of_files: Option<Vec<_>> = of_files.collect();
        touched.options = of_files.map(|all| all.into_iter().flatten().collect());
        touched
    }

    /// The touched keys. All of them if a hierarchy changed, if Puppet refuses one of the files, or
    /// if one may have keys that are not known.
    #[must_use]
    pub fn keys(&self) -> TouchedKeys {
        let is_open = |file: &FileDelta| {
            let mut facts = file.versions().into_iter().flatten();
            format_of(&file.path).is_none()
                || facts.any(FileFacts::may_have_any_key)
                || self.snapshot.roots().of_config(&file.path).is_some()
        };
        if self.has_other_roots || self.files.iter().any(is_open) {
            return TouchedKeys::All;
        }
        self.keys_as_read()
    }

    /// The same for an editor, where the readable part of a refused file is used.
    #[must_use]
    pub fn keys_as_read(&self) -> TouchedKeys {
        let touched = self.files.iter().map(|file| file.keys().touched_as_read());
        self.keys_with(touched.flatten().cloned().collect())
    }

    /// The keys of [`Touched::keys_as_read`], and those of files that Puppet begins or ceases to refuse: what a
    /// fix may change depends on it.
    #[must_use]
    pub fn keys_as_refused(&self) -> TouchedKeys {
        self.keys_with(self.edited.clone())
    }

    /// Some edited keys with those that have other options, and all that look them up.
    fn keys_with(&self, mut edited: BTreeSet<Arc<str>>) -> TouchedKeys {
        let fails_anew = |file: &FileDelta| {
            let [before, after] = file.versions();
            let fails = |facts: Option<&FileFacts>| {
                facts.is_some_and(|facts| facts.is_no_hash() || facts.later_error.is_some())
            };
            fails(before) != fails(after)
        };
        match &self.options {
            Some(options) if !self.files.iter().any(fails_anew) => {
                edited.extend(options.iter().cloned());
                with_users(self.snapshot, edited)
            }
            Some(_) | None => TouchedKeys::All,
        }
    }

    /// The keys that may be merged or converted in another way, and those that look them up.
    #[must_use]
    pub fn keys_by_options(&self) -> TouchedKeys {
        match &self.options {
            Some(options) => with_users(self.snapshot, options.clone()),
            None => TouchedKeys::All,
        }
    }

    /// Whether keys were added or removed.
    #[must_use]
    pub fn has_new_names(&self) -> bool {
        let mut diffs = self.files.iter().map(FileDelta::keys);
        diffs.any(|keys| !keys.added.is_empty() || !keys.removed.is_empty())
    }

    /// The keys that a change of a file's `lookup_options` can affect; `None` if these may be any.
    fn by_options(&self, file: &FileDelta) -> Option<BTreeSet<Arc<str>>> {
        let diff = file.keys();
        if !diff.touched().any(|name| **name == *LOOKUP_OPTIONS) {
            return Some(BTreeSet::new());
        }
        // Options that are no hash fail every lookup; the error depends on all options.
        let is_hash = |facts: &FileFacts| {
            facts.key(LOOKUP_OPTIONS).is_none() || !facts.lookup_options.is_empty()
        };
        // Then a lookup of any key depends on the keys that the options look up.
        let looks_up = |facts: &FileFacts| {
            let own = facts.key(LOOKUP_OPTIONS).map(|fact| fact.value);
            let mut references = facts.references();
            let mut tangled = facts.tangled();
            own.is_some_and(|own| references.any(|it| own.contains(it.range)))
                || facts.references().next().is_some()
                    && tangled.any(|fact| *fact.name == *LOOKUP_OPTIONS)
        };
        let mut versions = file.versions().into_iter().flatten();
        let mut others = self.snapshot.iter_files_with(LOOKUP_OPTIONS);
        let is_plain = versions
            .all(|facts| is_hash(facts) && !facts.has_odd_options && !looks_up(facts))
            && others.all(|file| is_hash(file.facts()))
            && !diff.lookup_options.iter().any(|name| has_tokens(name));
        if !is_plain {
            return None;
        }
        let mut touched: BTreeSet<Arc<str>> = diff.lookup_options.iter().cloned().collect();
        // A module with options for foreign keys fails for all of its keys.
        let root = self.snapshot.root_of(&file.path);
        if let Some(RootKind::Module { name }) = root.map(|root| &root.kind) {
            touched.extend(keys_below(self.snapshot, name));
        }
        // The first matching pattern wins, so the order matters.
        let is_pattern = |name: &&Arc<str>| name.starts_with('^');
        let [old, new] = file.versions().map(|facts| {
            let options = facts.into_iter().flat_map(|facts| &facts.lookup_options);
            let names = options.map(|option: &OptionFact| &option.pattern);
            names.filter(is_pattern).collect::<Vec<&Arc<str>>>()
        });
        let kept = old.iter().filter(|name| new.contains(name));
        let is_same_order = kept.eq(new.iter().filter(|name| old.contains(name)));
        let mut changed: Vec<&Arc<str>> = diff.lookup_options.iter().filter(is_pattern).collect();
        if !is_same_order {
            changed.extend(old.into_iter().chain(new));
        }
        for pattern in changed {
            // A pattern that does not compile fails every lookup.
            let pattern = Regexp::new(pattern).ok()?;
            let names = self.snapshot.key_names("").chain(&self.edited);
            let names = names.filter(|name| pattern.is_match(name).unwrap_or(true));
            touched.extend(names.cloned());
        }
        Some(touched)
    }
}

/// The keys of a module or a class.
pub(super) fn keys_below(snapshot: &Snapshot, module: &str) -> Vec<Arc<str>> {
    let prefix = format!("{module}::");
    snapshot.key_names(&prefix).cloned().collect()
}

/// Some keys and those that look them up, directly or through others. If `lookup_options` do, the
/// options of any key may change. O(found keys and their tokens).
///
/// A key that looked up a changed key only before the change is among the changed ones itself.
fn with_users(snapshot: &Snapshot, mut keys: BTreeSet<Arc<str>>) -> TouchedKeys {
    let mut open: Vec<Arc<str>> = keys.iter().cloned().collect();
    while let Some(key) = open.pop() {
        for user in snapshot.users(&key) {
            if **user == *LOOKUP_OPTIONS {
                return TouchedKeys::All;
            }
            if keys.insert(user.clone()) {
                open.push(user.clone());
            }
        }
    }
    TouchedKeys::Keys(keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{Change, Workspace};

    /// The keys that a new text of one of several files touches, in both directions; `None` for all.
    fn check(files: &str, path: &str, after: &str) -> Option<Vec<String>> {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec!["/repo".into()]));
        let write = |path: &str, text: &str| {
            workspace.apply(Change::open(format!("/repo/{path}"), text.to_owned()))
        };
        for (path, text) in crate::fixture::Fixture::new(path, files).files {
            write(&path, &text);
        }
        let before = workspace.snapshot();
        let after = write(path, after);
        let touched = [difference(&before, &after), difference(&after, &before)];
        let [keys, back] = touched.map(|touched| touched.keys());
        assert_eq!(keys, back, "the same files differ in both directions");
        match keys {
            TouchedKeys::All => None,
            TouchedKeys::Keys(keys) => Some(keys.iter().map(|key| key.to_string()).collect()),
        }
    }

    fn some(keys: &[&str]) -> Option<Vec<String>> {
        Some(keys.iter().map(|key| key.to_string()).collect())
    }

    #[test]
    fn a_file_without_its_last_key_touches_that_key_alone() {
        assert_eq!(check("a: 1\n", "data/c.yaml", "{}\n"), some(&["a"]));
        assert_eq!(check("{}\n", "data/c.yaml", "a: 1\n"), some(&["a"]));
    }

    #[test]
    fn a_file_that_is_not_a_hash_can_touch_any_key() {
        assert_eq!(check("a: 1\n", "data/c.yaml", "[a]\n"), None);
        assert_eq!(check("a: 1\n", "data/c.yaml", "a: [\n"), None);
        assert_eq!(check("a: 1\n", "data/c.yaml", "? [a]\n: 1\n"), None);
    }

    #[test]
    fn an_earlier_entry_of_a_broken_file_touches_its_key() {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec!["/repo".into()]));
        let write = |text: &str| workspace.apply(Change::open("/repo/data/c.yaml", text));
        let (before, after) = (write("a: 1\na: [\n"), write("a: {k: 1}\na: [\n"));
        let touched = difference(&before, &after).keys_as_read();
        assert!(touched.holds(&Arc::from("a")), "{touched:?}");
    }

    #[test]
    fn users_are_found_behind_aliases_and_substitutions() {
        let edited = |others: &str| {
            let files = format!("port: 80\n#- data/a.yaml\n{others}");
            check(&files, "data/b.yaml", "port: text\n")
        };
        let base = "base: &b [\"%{alias('port')}\"]\n";
        assert_eq!(
            edited(&format!("{base}mid: *b\nother: [1]\n")),
            some(&["base", "mid", "port"])
        );
        assert_eq!(
            edited(&format!(
                "{base}mid: &m {{x: *b}}\nend: [*m]\n#- data/c.yaml\nlast: \"%{{alias('end')}}\"\n"
            )),
            some(&["base", "end", "last", "mid", "port"])
        );
        assert_eq!(
            edited("base: &b {x: \"%{lookup('port')}\"}\n<<: *b\n"),
            some(&["base", "port", "x"])
        );
        assert_eq!(
            edited("one: &o [1]\nbase: \"%{lookup('port')}\"\ntwo: *o\n"),
            some(&["base", "port"])
        );
        assert_eq!(
            edited("#- data/a.conf\nbase: \"%{lookup('port')}\"\nmid: ${base}\n"),
            some(&["base", "mid", "port"])
        );
        assert_eq!(
            edited("#- data/a.json\n{\"base\": {\"k\": \"%{lookup('port')}\"}, \"x\": 1}\n"),
            some(&["base", "port"])
        );
    }

    #[test]
    fn options_touch_the_keys_that_they_are_for() {
        let edited = |before: &str, after: &str| {
            let data = "m::a: 1\nm::b: 1\nc: \"%{lookup('m::b')}\"\n";
            let files = format!("lookup_options:\n{before}#- data/a.yaml\n{data}");
            check(&files, "data/b.yaml", &format!("lookup_options:\n{after}"))
        };
        let deep = "  '^m::b': {merge: deep}\n";
        let hash = "  '^m::': {merge: hash}\n";
        assert_eq!(
            edited(deep, &deep.replace("deep", "unique")),
            some(&["^m::b", "c", "lookup_options", "m::b"])
        );
        assert_eq!(
            edited(&format!("{deep}{hash}"), &format!("{hash}{deep}")),
            some(&["c", "lookup_options", "m::a", "m::b"])
        );
        assert_eq!(
            edited(&format!("{deep}{hash}"), &format!("{deep}  # why\n{hash}")),
            some(&["lookup_options"])
        );
        assert_eq!(edited(deep, "  '^m::(b': {merge: deep}\n"), None);
        assert_eq!(edited(deep, "  <<: {m::a: {merge: deep}}\n"), None);
        let asking =
            "m::a: 1\n#- data/a.yaml\nlookup_options: {b: {merge: \"%{lookup('m::a')}\"}}\n";
        assert_eq!(check(asking, "data/b.yaml", "m::a: deep\n"), None);
        let asking = "  c: {merge: \"%{lookup('a')}\"}\n";
        assert_eq!(edited(deep, &format!("{deep}{asking}")), None);
    }
}
