//! The entries of `lookup_options` in all data that hierarchies read, and the keys that they apply
//! to. Which entry is used depends on the scope.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use super::checker::{Checker, lock};
use crate::regexp::Regexp;
use crate::text::TextRange;
use crate::value::{KeyHashing, Value};
use crate::workspace::LOOKUP_OPTIONS;

/// One entry of `lookup_options`.
pub(super) struct ListedOption {
    /// The key or pattern.
    pub(super) name: Arc<str>,
    /// Its options.
    pub(super) value: Value,
    pub(super) path: Arc<str>,
    /// The range of the key or pattern.
    pub(super) range: TextRange,
    keys: OptionKeys,
}

/// The keys that an entry may apply to.
#[derive(Clone)]
struct OptionKeys {
    /// The key or pattern.
    name: Arc<str>,
    pattern: Option<Regexp>,
    /// For an entry of a module's data, the prefix of the keys that it can apply to.
    of_module: Option<String>,
}

/// A pattern is compiled from the name.
impl PartialEq for OptionKeys {
    fn eq(&self, other: &OptionKeys) -> bool {
        self.name == other.name && self.of_module == other.of_module
    }
}

impl OptionKeys {
    /// Whether the entry may apply to a key. A pattern that exceeds the limit of steps may.
    pub(super) fn is_for(&self, key: &str) -> bool {
        if let Some(prefix) = &self.of_module
            && !key.starts_with(prefix)
        {
            return false;
        }
        match &self.pattern {
            None => *self.name == *key,
            Some(pattern) => pattern.is_match(key).unwrap_or(true),
        }
    }
}

impl ListedOption {
    /// Whether the entry may apply to a key. A pattern that exceeds the limit of steps may.
    pub(super) fn is_for(&self, key: &str) -> bool {
        self.keys.is_for(key)
    }

    /// Whether the entry certainly applies to a key.
    pub(super) fn is_certainly_for(&self, key: &str) -> bool {
        let matches = |pattern: &Regexp| pattern.is_match(key).unwrap_or(false);
        self.is_for(key) && self.keys.pattern.as_ref().is_none_or(matches)
    }

    /// The module whose data has the entry, if the data is only a module's.
    pub(super) fn module(&self) -> Option<&str> {
        self.keys.of_module.as_deref()?.strip_suffix("::")
    }

    pub(super) fn is_pattern(&self) -> bool {
        self.keys.pattern.is_some()
    }
}

/// The merge strategy that options name.
pub(super) fn strategy(options: &Value) -> Option<&str> {
    let merge = options.get("merge")?;
    merge.as_str().or_else(|| merge.get("strategy")?.as_str())
}

/// The knock-out prefix that options set.
pub(super) fn knockout_prefix(options: &Value) -> Option<&str> {
    options.get("merge")?.get("knockout_prefix")?.as_str()
}

/// All entries.
pub(super) struct OptionList {
    /// Ordered by file and position.
    pub(super) entries: Vec<ListedOption>,
    index: Arc<OptionIndex>,
}

/// The entries of an [`OptionList`] by key. It depends on nothing but their names and modules, so it
/// is kept as long as these are the same: a search for a key costs O(patterns).
pub(super) struct OptionIndex {
    /// Of each entry.
    keys: Vec<OptionKeys>,
    /// Indexes of entries for single keys.
    exact: HashMap<Arc<str>, Vec<usize>>,
    /// Indexes of patterns.
    patterns: Vec<usize>,
    /// Indexes of the entries for keys that were asked for.
    known: Mutex<HashMap<Arc<str>, Arc<[usize]>, KeyHashing>>,
}

/// Maximum number of keys whose entries are kept.
const MAX_KNOWN: usize = 1 << 16;

impl OptionList {
    /// The entries that may apply to a key, ordered by file and position. O(patterns + entries
    /// found) once for a key.
    pub(super) fn for_key<'l>(
        &'l self,
        key: &str,
    ) -> impl Iterator<Item = &'l ListedOption> + use<'l> {
        let found = self.index.numbers_for(key);
        (0..found.len()).map(move |at| &self.entries[found[at]])
    }
}

impl OptionIndex {
    fn of(entries: &[ListedOption]) -> OptionIndex {
        let keys: Vec<OptionKeys> = entries.iter().map(|entry| entry.keys.clone()).collect();
        let mut exact: HashMap<Arc<str>, Vec<usize>> = HashMap::new();
        let mut patterns = Vec::new();
        for (at, entry) in keys.iter().enumerate() {
            match entry.pattern {
                Some(_) => patterns.push(at),
                None => exact.entry(Arc::clone(&entry.name)).or_default().push(at),
            }
        }
        OptionIndex {
            keys,
            exact,
            patterns,
            known: Mutex::default(),
        }
    }

    fn is_of(&self, entries: &[ListedOption]) -> bool {
        self.keys.iter().eq(entries.iter().map(|entry| &entry.keys))
    }

    fn numbers_for(&self, key: &str) -> Arc<[usize]> {
        if let Some(known) = lock(&self.known).get(key) {
            return Arc::clone(known);
        }
        let exact = self.exact.get(key).into_iter().flatten();
        let mut found: Vec<usize> = exact.chain(&self.patterns).copied().collect();
        found.retain(|at| self.keys[*at].is_for(key));
        found.sort_unstable();
        let found: Arc<[usize]> = found.into();
        let mut known = lock(&self.known);
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert(Arc::from(key), Arc::clone(&found));
        found
    }
}

pub(super) fn list(checker: &Checker<'_>) -> OptionList {
    let mut listed = Vec::new();
    for file in checker.files_with(LOOKUP_OPTIONS) {
        let readers = checker.readers(file);
        let Some(format) = readers.first().map(|reader| reader.reading.format) else {
            continue;
        };
        let modules = readers.iter().map(|reader| reader.layer().module_name());
        let modules: Option<Vec<&str>> = modules.collect();
        let of_module = match modules.as_deref() {
            Some([module]) => Some(format!("{module}::")),
            Some(_) | None => None,
        };
        let options = checker.snapshot.value_of(file, LOOKUP_OPTIONS, format);
        for fact in &file.facts().lookup_options {
            let value = options
                .as_ref()
                .and_then(|options| options.get(&fact.pattern));
            let Some(value) = value else {
                continue;
            };
            let pattern = if fact.pattern.starts_with('^') {
                match checker.pattern(&fact.pattern) {
                    Ok(pattern) => Some(pattern),
                    Err(_) => continue,
                }
            } else {
                None
            };
            listed.push(ListedOption {
                name: Arc::clone(&fact.pattern),
                value: value.clone(),
                path: Arc::clone(file.path()),
                range: fact.key,
                keys: OptionKeys {
                    name: Arc::clone(&fact.pattern),
                    pattern,
                    of_module: of_module.clone(),
                },
            });
        }
    }
    listed.sort_by(|a, b| (&a.path, a.range).cmp(&(&b.path, b.range)));
    let kept = checker.kept.option_index();
    let index = kept.filter(|index| index.is_of(&listed));
    let index = index.unwrap_or_else(|| Arc::new(OptionIndex::of(&listed)));
    checker.kept.keep_option_index(&index);
    OptionList {
        entries: listed,
        index,
    }
}

impl<'a> Checker<'a> {
    /// The entries of `lookup_options` that apply to a key, from all data.
    pub(super) fn options_for<'c>(
        &'c self,
        key: &str,
    ) -> impl Iterator<Item = &'c ListedOption> + use<'a, 'c> {
        self.options().for_key(key)
    }

    /// The entries of `lookup_options` of all data, ordered by file and position.
    pub(super) fn all_options(&self) -> &[ListedOption] {
        &self.options().entries
    }

    fn options(&self) -> &OptionList {
        self.options.get_or_init(|| list(self))
    }

    /// All knock-out prefixes that `lookup_options` set.
    pub(super) fn knockout_prefixes(&self) -> &BTreeSet<Arc<str>> {
        self.knockout_prefixes.get_or_init(|| {
            let options = self.options().entries.iter();
            let prefixes = options.filter_map(|entry| knockout_prefix(&entry.value));
            let prefixes = prefixes.filter(|prefix| !prefix.is_empty());
            prefixes.map(Arc::from).collect()
        })
    }

    /// Whether some entry of `lookup_options` for a key has an option.
    pub(super) fn has_option(&self, key: &str, option: &str) -> bool {
        let mut entries = self.options_for(key);
        entries.any(|entry| entry.value.get(option).is_some())
    }

    /// Whether some entry of `lookup_options` for a key merges values: each strategy but `first`.
    pub(super) fn is_merged(&self, key: &str) -> bool {
        let merges = |entry: &ListedOption| {
            let has_merge = entry.value.get("merge").is_some();
            has_merge && strategy(&entry.value) != Some("first")
        };
        self.options_for(key).any(merges)
    }
}

/// A text that every match of a pattern starts with; not always the longest.
pub(super) fn literal_start(pattern: &str) -> &str {
    let rest = pattern.strip_prefix('^').unwrap_or_default();
    if rest.contains('|') {
        return "";
    }
    let end = rest
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | ':')))
        .unwrap_or(rest.len());
    // A quantifier makes the last character optional.
    let end = match rest[end..].chars().next() {
        Some('*' | '?' | '{') => end.saturating_sub(1),
        Some(_) | None => end,
    };
    &rest[..end]
}

#[cfg(test)]
mod tests {
    use super::literal_start;

    #[test]
    fn only_required_letters_are_considered() {
        assert_eq!(literal_start("^profile::.*::x$"), "profile::");
        assert_eq!(literal_start("^profiles?::x"), "profile");
        assert_eq!(literal_start("^a|b"), "");
        assert_eq!(literal_start("^(a)"), "");
        assert_eq!(literal_start("^abc+"), "abc");
    }
}
