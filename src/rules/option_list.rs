//! The entries of `lookup_options` in all data that hierarchies read, and the keys that they apply
//! to. Which entry is used depends on the scope.

use std::collections::HashMap;
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
    pattern: Option<Regexp>,
    /// For an entry of a module's data, the prefix of the keys that it can apply to.
    of_module: Option<String>,
}

impl ListedOption {
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

    /// Whether the entry certainly applies to a key.
    pub(super) fn is_certainly_for(&self, key: &str) -> bool {
        let matches = |pattern: &Regexp| pattern.is_match(key).unwrap_or(false);
        self.is_for(key) && self.pattern.as_ref().is_none_or(matches)
    }

    /// The module whose data has the entry, if the data is only a module's.
    pub(super) fn module(&self) -> Option<&str> {
        self.of_module.as_deref()?.strip_suffix("::")
    }

    pub(super) fn is_pattern(&self) -> bool {
        self.pattern.is_some()
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

/// All entries, indexed by key.
pub(super) struct OptionList {
    /// Ordered by file and position.
    pub(super) entries: Vec<ListedOption>,
    /// Indexes of entries for single keys.
    exact: HashMap<Arc<str>, Vec<usize>>,
    /// Indexes of patterns.
    patterns: Vec<usize>,
    /// Indexes of the entries for keys that were asked for.
    known: Mutex<HashMap<Arc<str>, Arc<[usize]>, KeyHashing>>,
}

impl OptionList {
    /// The entries that may apply to a key, ordered by file and position. O(patterns + entries
    /// found) once for a key.
    pub(super) fn for_key<'l>(
        &'l self,
        key: &str,
    ) -> impl Iterator<Item = &'l ListedOption> + use<'l> {
        let found = self.numbers_for(key);
        (0..found.len()).map(move |at| &self.entries[found[at]])
    }

    fn numbers_for(&self, key: &str) -> Arc<[usize]> {
        if let Some(known) = lock(&self.known).get(key) {
            return Arc::clone(known);
        }
        let exact = self.exact.get(key).into_iter().flatten();
        let mut found: Vec<usize> = exact.chain(&self.patterns).copied().collect();
        found.retain(|at| self.entries[*at].is_for(key));
        found.sort_unstable();
        let found: Arc<[usize]> = found.into();
        lock(&self.known).insert(Arc::from(key), Arc::clone(&found));
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
                pattern,
                of_module: of_module.clone(),
            });
        }
    }
    listed.sort_by(|a, b| (&a.path, a.range).cmp(&(&b.path, b.range)));
    let mut exact: HashMap<Arc<str>, Vec<usize>> = HashMap::new();
    let mut patterns = Vec::new();
    for (at, entry) in listed.iter().enumerate() {
        if entry.is_pattern() {
            patterns.push(at)
        } else {
            exact.entry(Arc::clone(&entry.name)).or_default().push(at)
        }
    }
    OptionList {
        entries: listed,
        exact,
        patterns,
        known: Mutex::default(),
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
