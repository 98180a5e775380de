//! The entries of `lookup_options` in all data that hierarchies read, and which of them are for a
//! key. It chooses none: which one counts depends on the scope.

use std::collections::HashMap;
use std::sync::Arc;

use super::checker::Checker;
use crate::regexp::Regexp;
use crate::text::TextRange;
use crate::value::Value;
use crate::workspace::LOOKUP_OPTIONS;

/// One entry.
pub(super) struct ListedOption {
    /// The key or pattern.
    pub(super) name: Arc<str>,
    /// Its options.
    pub(super) value: Value,
    /// The file.
    pub(super) path: Arc<str>,
    /// Where the key or pattern stands.
    pub(super) range: TextRange,
    pattern: Option<Regexp>,
    /// What keys start with that a module's entry can be for.
    of_module: Option<String>,
}

impl ListedOption {
    /// Whether the entry is for a key. A pattern that takes too many steps may be.
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

    /// Whether the entry is for a key beyond doubt.
    pub(super) fn is_certainly_for(&self, key: &str) -> bool {
        let matches = |pattern: &Regexp| pattern.is_match(key).unwrap_or(false);
        self.is_for(key) && self.pattern.as_ref().is_none_or(matches)
    }

    /// Whether the entry is for a pattern of keys.
    pub(super) fn is_pattern(&self) -> bool {
        self.pattern.is_some()
    }

    /// The strategy and the options of `merge`.
    pub(super) fn strategy(&self) -> Option<&str> {
        let merge = self.value.get("merge")?;
        merge.as_str().or_else(|| merge.get("strategy")?.as_str())
    }

    /// The prefix of elements that are taken away.
    pub(super) fn knockout_prefix(&self) -> Option<&str> {
        let merge = self.value.get("merge")?;
        merge.get("knockout_prefix")?.as_str()
    }
}

/// All entries.
pub(super) struct OptionList {
    /// Ordered by file and place.
    pub(super) entries: Vec<ListedOption>,
    /// Places of entries for single keys.
    exact: HashMap<Arc<str>, Vec<usize>>,
    /// Places of entries for patterns.
    patterns: Vec<usize>,
}

impl OptionList {
    /// The entries that are for a key, ordered by file and place. O(patterns + entries found).
    pub(super) fn for_key<'l>(
        &'l self,
        key: &str,
    ) -> impl Iterator<Item = &'l ListedOption> + use<'l> {
        let exact = self.exact.get(key).into_iter().flatten();
        let mut found: Vec<usize> = exact.chain(&self.patterns).copied().collect();
        found.retain(|at| self.entries[*at].is_for(key));
        found.sort_unstable();
        found.into_iter().map(|at| &self.entries[at])
    }
}

/// The entries of all data.
pub(super) fn list(checker: &Checker<'_>) -> OptionList {
    let mut listed = Vec::new();
    for file in checker.files_with(LOOKUP_OPTIONS) {
        let readers = checker.readers(file);
        let Some(format) = readers.first().map(|reader| reader.format) else {
            continue;
        };
        let modules = readers.iter().map(|reader| reader.layer().module_name());
        let modules: Option<Vec<&str>> = modules.collect();
        let of_module = match modules.as_deref() {
            Some([module]) => Some(format!("{module}::")),
            Some(_) | None => None,
        };
        let data = checker.snapshot.data_of(file, format);
        let options = data.recovered.get(LOOKUP_OPTIONS);
        for fact in &file.facts().lookup_options {
            let Some(value) = options.and_then(|options| options.get(&fact.pattern)) else {
                continue;
            };
            let pattern = match fact.pattern.starts_with('^') {
                false => None,
                true => match checker.pattern(&fact.pattern) {
                    Ok(pattern) => Some(pattern),
                    Err(_) => continue,
                },
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
        match entry.is_pattern() {
            true => patterns.push(at),
            false => exact.entry(Arc::clone(&entry.name)).or_default().push(at),
        }
    }
    OptionList {
        entries: listed,
        exact,
        patterns,
    }
}

/// The letters that every match of a pattern starts with, as far as they are easily seen.
pub(super) fn literal_start(pattern: &str) -> &str {
    let rest = pattern.strip_prefix('^').unwrap_or_default();
    if rest.contains('|') {
        return "";
    }
    let end = rest
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | ':')))
        .unwrap_or(rest.len());
    // A quantifier makes the last letter optional.
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
    fn only_letters_that_must_come_count() {
        assert_eq!(literal_start("^profile::.*::x$"), "profile::");
        assert_eq!(literal_start("^profiles?::x"), "profile");
        assert_eq!(literal_start("^a|b"), "");
        assert_eq!(literal_start("^(a)"), "");
        assert_eq!(literal_start("^abc+"), "abc");
    }
}
