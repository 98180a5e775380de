//! The unknown parts of an answer, and the conditions under which a node gets another one.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Analysis, Survey, is_wildcard};
use crate::interpolation::has_tokens;
use crate::lookup::{Place, Unknown, UnknownCause};
use crate::value::Value;
use crate::workspace::{LOOKUP_OPTIONS, Paths, Snapshot};

/// Maximum number of combinations of values that a condition lists.
pub const MAX_VALUES: usize = 4;

/// One condition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Condition {
    /// A function that is never run here has a top-level key.
    Function {
        /// The function's name.
        name: Arc<str>,
        /// The key; if there are several, the one that is not `lookup_options`.
        key: Arc<str>,
    },
    /// Variables have one of several combinations of values.
    Variables {
        /// The variables.
        names: Vec<Arc<str>>,
        /// The number of combinations.
        count: usize,
        /// The combinations, in the order of `names`; empty if there are more than [`MAX_VALUES`].
        values: Vec<Vec<String>>,
    },
}

impl Survey {
    /// The conditions under which unknown parts of an answer change it for a node.
    #[must_use]
    pub fn conditions(&self, analysis: &Analysis<'_>, unknown: &[Unknown]) -> Vec<Condition> {
        let own = self.levels.iter().map(|level| &level.place);
        let places: Vec<&Place> = own.chain(&self.elsewhere).collect();
        conditions(analysis.snapshot, unknown, &places)
    }
}

impl Analysis<'_> {
    /// Whether a file's own value of a top-level key sets the part at the end of `steps`, or replaces
    /// what contains it. A search in the text of the value; only if the part may be in it, the value is
    /// loaded. Thousands of files can set parts of one hash.
    #[must_use]
    pub fn may_set(&self, path: &str, key: &str, steps: &[Value]) -> bool {
        if let Some(first) = steps.first()
            && let Some(file) = self.snapshot.file(path)
            && let Some(fact) = file.facts().key(key)
            && file.certainly_lacks(fact, first)
        {
            return false;
        }
        let value = self.own_value(path, key);
        value.is_none_or(|value| may_set(&value, steps))
    }
}

/// Whether a value sets the part at the end of `steps`, or replaces what contains it.
fn may_set(value: &Value, steps: &[Value]) -> bool {
    let mut part = value;
    for step in steps {
        match part.as_hash() {
            Some(hash) => match hash.get(step) {
                Some(below) => part = below,
                // A key with tokens may become any key.
                None => return hash.keys().filter_map(Value::as_str).any(has_tokens),
            },
            None => return true,
        }
    }
    true
}

/// Whether the `lookup_options` of a file have an entry for a key.
pub(super) fn has_option_for(analysis: &Analysis<'_>, path: &str, key: &str) -> bool {
    let Some(file) = analysis.snapshot.file(path) else {
        return true;
    };
    let mut entries = file.facts().lookup_options.iter();
    entries.any(|entry| is_option_for(analysis, &entry.pattern, key))
}

/// Whether an entry of `lookup_options` is for a key.
fn is_option_for(analysis: &Analysis<'_>, pattern: &str, key: &str) -> bool {
    // A pattern that cannot be compiled makes every lookup fail.
    if !pattern.starts_with('^') {
        return pattern == key;
    }
    match analysis.configs.pattern(pattern) {
        Ok(pattern) => pattern.is_match(key).unwrap_or(true),
        Err(_) => true,
    }
}

/// Whether the `lookup_options` of a file may convert the values of a key.
pub(super) fn has_conversion_for(analysis: &Analysis<'_>, path: &str, key: &str) -> bool {
    let converts = |options: &Value| {
        let mut all = options.as_hash().into_iter().flatten();
        all.any(|(pattern, options)| {
            let is_for_key = |pattern| is_option_for(analysis, pattern, key);
            options.get("convert_to").is_some() && pattern.as_str().is_none_or(is_for_key)
        })
    };
    has_option_for(analysis, path, key)
        && analysis
            .own_value(path, LOOKUP_OPTIONS)
            .is_none_or(|options| converts(&options))
}

/// The conditions of an answer's unknown parts: functions, then variables, each in the order of the
/// levels. `places` hold the locations of the layers involved.
pub(super) fn conditions(
    snapshot: &Snapshot,
    unknowns: &[Unknown],
    places: &[&Place],
) -> Vec<Condition> {
    let mut found: Vec<Condition> = Vec::new();
    let mut by_variables: Vec<Combinations<'_>> = Vec::new();
    for unknown in unknowns {
        match &unknown.cause {
            UnknownCause::Function { name, key } => {
                let known = found.iter_mut().find_map(|condition| match condition {
                    Condition::Function { name: known, key } if known == name => Some(key),
                    Condition::Function { .. } | Condition::Variables { .. } => None,
                });
                match known {
                    Some(known) if **known == *LOOKUP_OPTIONS => known.clone_from(key),
                    Some(_) => {}
                    None => found.push(Condition::Function {
                        name: name.clone(),
                        key: key.clone(),
                    }),
                }
            }
            UnknownCause::Absent { .. } => {}
            UnknownCause::Path(possible) => {
                let levels: Vec<&Place> = places
                    .iter()
                    .filter(|place| {
                        place.layer == unknown.layer
                            && place.level == unknown.level
                            && place.index == unknown.index
                    })
                    .copied()
                    .collect();
                let files = &possible.files;
                if let [place] = levels.as_slice() {
                    let mut names: Vec<Arc<str>> = Vec::new();
                    for name in place.template.variables() {
                        if !names.contains(name) {
                            names.push(name.clone());
                        }
                    }
                    let fits = |file: &Arc<str>| place.template.bind_across_folders(file).is_some();
                    if snapshot.holds_once(&possible.key, &place.template, files)
                        || files.iter().all(fits)
                    {
                        bound_of(&mut by_variables, names).add_all(place, files);
                        continue;
                    }
                }
                // The paths of a level that the unknown part depends on.
                let has_all = |place: &&&Place| {
                    let mut wanted = possible.variables.iter();
                    wanted.all(|name| place.template.variables().any(|known| known == name))
                };
                for file in files.iter() {
                    let mut leading = levels.iter().filter(has_all);
                    let bound = leading.find_map(|place| place.template.bind_across_folders(file));
                    let bound = bound.unwrap_or_else(|| {
                        let names = possible.variables.iter();
                        names.map(|name| (name.clone(), String::new())).collect()
                    });
                    let (names, values): (Vec<_>, Vec<_>) = bound.into_iter().unzip();
                    let bound = bound_of(&mut by_variables, names);
                    bound.list_each();
                    bound.add(values);
                }
            }
        }
    }
    found.extend(by_variables.into_iter().map(Combinations::condition));
    found
}

/// Variables of a path, with the distinct combinations of their values.
#[derive(Default)]
struct Combinations<'a> {
    names: Vec<Arc<str>>,
    /// The first combinations.
    values: Vec<Vec<String>>,
    /// All combinations; empty while they come from a single place.
    known: HashSet<Vec<String>>,
    /// The single place, with its files: each stands for a different combination.
    only: Option<(&'a Place, Paths)>,
}

impl<'a> Combinations<'a> {
    fn add(&mut self, values: Vec<String>) {
        if self.known.insert(values.clone()) && self.values.len() < MAX_VALUES {
            self.values.push(values);
        }
    }

    /// Adds the value combinations that the files of a place stand for, each file for a different
    /// one.
    fn add_all(&mut self, place: &'a Place, files: &Paths) {
        match &mut self.only {
            None if self.known.is_empty() => self.only = Some((place, files.clone())),
            // The same place for another key.
            Some((known, before)) if std::ptr::eq(*known, place) => *before = before.with(files),
            Some(_) | None => {
                self.list_each();
                self.add_each(place, files);
            }
        }
    }

    /// Counts values one by one from here on.
    fn list_each(&mut self) {
        if let Some((place, files)) = self.only.take() {
            self.add_each(place, &files);
        }
    }

    fn add_each(&mut self, place: &Place, files: &Paths) {
        for file in files.iter() {
            if let Some(bound) = place.template.bind_across_folders(file) {
                self.add(bound.into_iter().map(|(_, value)| value).collect());
            }
        }
    }

    /// Removes the wildcards of globs. They are no variables: their values depend on the files
    /// alone.
    fn without_wildcards(&mut self) {
        if !self.names.iter().any(|name| is_wildcard(name)) {
            return;
        }
        self.list_each();
        let is_variable: Vec<bool> = self.names.iter().map(|name| !is_wildcard(name)).collect();
        let kept = |values: &Vec<String>| {
            let values = values.iter().zip(&is_variable);
            let values = values.filter(|(_, is_variable)| **is_variable);
            values
                .map(|(value, _)| value.clone())
                .collect::<Vec<String>>()
        };
        let values: Vec<Vec<String>> = self.values.iter().map(kept).collect();
        self.known = self.known.iter().map(kept).collect();
        self.values.clear();
        for values in values {
            if !self.values.contains(&values) {
                self.values.push(values);
            }
        }
        let mut keep = is_variable.iter();
        self.names
            .retain(|_| keep.next().copied().unwrap_or_default());
    }

    fn condition(mut self) -> Condition {
        self.without_wildcards();
        let many = match &self.only {
            Some((_, files)) if files.len() > MAX_VALUES => Some(files.len()),
            Some(_) | None => None,
        };
        let count = many.unwrap_or_else(|| {
            self.list_each();
            self.known.len()
        });
        // One path may name a file through its variables in several ways.
        let is_complete = |values: &Vec<String>| !values.iter().any(String::is_empty);
        if count > self.values.len() || !self.values.iter().all(is_complete) {
            self.values.clear();
        }
        Condition::Variables {
            names: self.names,
            count,
            values: self.values,
        }
    }
}

/// The entry for some variables, added if missing.
fn bound_of<'b, 'a>(
    known: &'b mut Vec<Combinations<'a>>,
    names: Vec<Arc<str>>,
) -> &'b mut Combinations<'a> {
    let at = known.iter().position(|bound| bound.names == names);
    let at = at.unwrap_or_else(|| {
        known.push(Combinations {
            names,
            ..Combinations::default()
        });
        known.len() - 1
    });
    &mut known[at]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lookup::{ConfigCache, PuppetVersion, Settings};
    use crate::scope::KnownNodes;
    use crate::workspace::{Change, Workspace};

    /// Whether a file with a text may set a part of the key `k`, and whether its text alone shows that it
    /// does not.
    fn part(name: &str, text: &str, steps: &[&str]) -> (bool, bool) {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec!["/repo".into()]));
        let path = format!("/repo/{name}");
        let snapshot = workspace.apply(Change::open(path.as_str(), text));
        let settings = Settings::for_version(PuppetVersion::V8);
        let configs = ConfigCache::default();
        let nodes = KnownNodes::default();
        let analysis = Analysis::new(&snapshot, &settings, &configs, &nodes);
        let steps: Vec<Value> = steps.iter().copied().map(Value::string).collect();
        let may = analysis.may_set(&path, "k", &steps);
        let value = analysis.own_value(&path, "k");
        let loaded = value.is_none_or(|value| may_set(&value, &steps));
        assert_eq!(may, loaded, "{text}");
        let file = snapshot.file(&path).expect("the file");
        let fact = file.facts().key("k").expect("the key");
        (may, file.certainly_lacks(fact, &steps[0]))
    }

    #[test]
    fn the_text_of_a_hash_shows_what_it_lacks() {
        let yaml = |text: &str, steps: &[&str]| part("a.yaml", text, steps);
        assert_eq!(yaml("k: {b: 1, c: 2}\n", &["a"]), (false, true));
        assert_eq!(
            yaml("k:\n  b:\n    c: 50% # x\n", &["a", "c"]),
            (false, true)
        );
        assert_eq!(part("a.json", "{\"k\": {\"b\": 1}}", &["a"]), (false, true));
        // It has it, or its text may stand for it in another way.
        assert_eq!(yaml("k: {a: 1}\n", &["a"]), (true, false));
        assert_eq!(yaml("k: {\"\\x61\": 1}\n", &["a"]), (true, false));
        assert_eq!(
            part("a.json", "{\"k\": {\"\\u0061\": 1}}", &["a"]),
            (true, false)
        );
        assert_eq!(
            yaml("x: &x {a: 1}\nk: {b: 1, <<: *x}\n", &["a"]),
            (true, false)
        );
        assert_eq!(yaml("x: &x {a: 1}\nk: *x\n", &["a"]), (true, false));
        assert_eq!(yaml("k: {\"%{x}\": 1}\n", &["a"]), (true, false));
        assert_eq!(yaml("k: {b: 1}\nk: {a: 1}\n", &["a"]), (true, false));
        assert_eq!(yaml("k: [b]\n", &["a"]), (true, false));
        assert_eq!(yaml("k: b\n", &["a"]), (true, false));
        // A broken file may be read otherwise.
        assert_eq!(yaml("k: {b: 1}\nx: [\n", &["a"]), (false, false));
        assert_eq!(yaml("k: {b c: 1}\n", &["a b"]), (false, true));
        for lacking in [
            "k:\n  b: \"%{x}\"\n  'c d': *y\n  e:\n    \"%{f}\": 1\n    <<: *y\n",
            "k:\n  b: |\n    \\\n    %{x}\n  c: '*'\n",
        ] {
            let text = format!("y: &y {{a: 1}}\n{lacking}");
            assert_eq!(yaml(&text, &["a"]), (false, true), "{text}");
        }
        for unknown in [
            "k:\n  b: 1\n  <<: *y\n",
            "k:\n  b: 1\n  '<<' : *y\n",
            "k: &z\n  <<: *y\n",
            "k:\n  *n : 1\n",
            "k:\n  \"%{x}\": 1\n",
            "k:\n  \"b: %{x}\": 1\n",
            "k:\n  \"\\x61\": 1\n",
            "k:\n  {b: 1, \"\\x61\": 1}\n",
            "k:\n  ?\n    \"\\x61\"\n  : 1\n",
        ] {
            let text = format!("y: &y {{a: 1}}\nn: &n a\n{unknown}");
            assert!(!yaml(&text, &["a"]).1, "{text}");
        }
        assert_eq!(yaml("k:\n  ? a\n    b\n  : 1\n", &["a b"]), (true, false));
        assert_eq!(
            yaml("k:\n  ? 'a\n\n    b'\n  : 1\n", &["a\nb"]),
            (true, false)
        );
        // In it, but elsewhere, or not as a name.
        assert_eq!(yaml("k: {b: a}\n", &["a"]), (false, false));
        assert_eq!(yaml("k: {'it''s': 1}\n", &["it's"]), (true, false));
    }
}
