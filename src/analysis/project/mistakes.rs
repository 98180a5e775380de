//! Checks a `.hiera-ls.yaml` and reports each mistake with its range.
//!
//! The permitted content comes from its [shape](super::shape) alone.

use serde_yaml::{Mapping, Value};

use super::shape::{
    BACKENDS, MEANINGS, OF_EDITORS, OF_USERS, PROJECT, ProjectSetting, Shape, TableKeys,
};
use crate::hierarchy::{KeyPath, is_puppets_own};
use crate::regexp::Regexp;
use crate::syntax::{NodeId, NodeKind, ProblemKind, Tree, parse_yaml};
use crate::text::{TextRange, nearest};

/// Maximum number of mistakes reported for one file.
const MAX_MISTAKES: usize = 100;

/// Maximum number of characters of a value in a message.
const SHOWN: usize = 60;

/// One mistake.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// The range of the mistake.
    pub range: TextRange,
    /// The problem, and the remedy.
    pub message: String,
    /// The suggested replacement.
    pub suggestion: Option<String>,
    /// What the mistake invalidates.
    pub spoils: Spoils,
}

/// The part of the file that a mistake invalidates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Spoils {
    /// Only the entry itself.
    Entry,
    /// The setting that contains it.
    Setting,
    /// The whole file.
    File,
}

/// A checked text: its mistakes and its valid settings.
#[derive(Default)]
pub(super) struct Checked {
    pub(super) mistakes: Vec<Mistake>,
    /// Settings without a mistake that invalidates them.
    pub(super) sound: Mapping,
}

/// Checks a text; `rules` are the codes of all rules.
pub(super) fn check(text: &str, rules: &[&str]) -> Checked {
    let parse = parse_yaml(text);
    let mut checker = EntryCheck {
        tree: &parse.tree,
        rules,
        checked: Checked::default(),
    };
    if let Some(problem) = parse.error() {
        checker.add(problem.range, Spoils::File, problem.message.clone());
        return checker.checked;
    }
    let ignored = parse.problems.iter();
    for problem in ignored.filter(|problem| problem.kind == ProblemKind::Ignored) {
        let line = problem.range.slice(text).lines().next();
        let start = problem.range.start as usize;
        let range = TextRange::new(start, start + line.map_or(0, str::len));
        let message = "a second document: only the first one is read";
        checker.add(range, Spoils::Entry, message);
    }
    let Some(root) = parse.tree.root() else {
        return checker.checked;
    };
    let node = parse.tree.node(parse.tree.resolve(root));
    match &node.kind {
        NodeKind::Mapping(pairs) => checker.settings(pairs),
        NodeKind::Scalar(scalar) if matches!(&*scalar.text, "" | "~" | "null") => {}
        NodeKind::Scalar(_) | NodeKind::Sequence(_) | NodeKind::Alias { .. } => {
            let range = parse.tree.node(root).range;
            let message = "expected settings by their names";
            checker.add(range, Spoils::File, message);
        }
    }
    checker.checked.mistakes.truncate(MAX_MISTAKES);
    checker.checked
}

struct EntryCheck<'a> {
    tree: &'a Tree,
    rules: &'a [&'a str],
    checked: Checked,
}

impl EntryCheck<'_> {
    fn add(
        &mut self,
        range: TextRange,
        spoils: Spoils,
        message: impl Into<String>,
    ) -> &mut Mistake {
        self.checked.mistakes.push(Mistake {
            range,
            message: message.into(),
            suggestion: None,
            spoils,
        });
        let last = self.checked.mistakes.len() - 1;
        &mut self.checked.mistakes[last]
    }

    /// Checks the top-level settings: one with a mistake is ignored, the others apply.
    fn settings(&mut self, pairs: &[(NodeId, NodeId)]) {
        for (at, pair) in pairs.iter().enumerate() {
            let known = self.checked.mistakes.len();
            self.entry(PROJECT, pairs, at);
            let mut new = self.checked.mistakes[known..].iter();
            let is_sound = new.all(|mistake| mistake.spoils == Spoils::Entry);
            let Some(name) = self.tree.scalar_text(pair.0) else {
                continue;
            };
            let name = Value::String(name.to_string());
            match (is_sound, plain(self.tree, pair.1)) {
                (true, Value::Null) => {}
                (true, value) => {
                    self.checked.sound.insert(name, value);
                }
                // A setting given twice is ignored.
                (false, _) => {
                    self.checked.sound.remove(&name);
                }
            }
        }
    }

    /// Checks one entry of a hash of named settings.
    fn entry(&mut self, known: &'static [ProjectSetting], pairs: &[(NodeId, NodeId)], at: usize) {
        let (key, value) = pairs[at];
        let range = self.tree.node(key).range;
        let Some(name) = self.tree.scalar_text(key).cloned() else {
            let message = "expected the name of a setting";
            self.add(range, Spoils::Setting, message);
            return;
        };
        if self.is_repeated(pairs, at, &name) {
            self.add(range, Spoils::Setting, format!("'{name}' is set twice"));
        }
        match known.iter().find(|setting| setting.name == &*name) {
            Some(setting) => self.value(&setting.shape, value),
            None => self.unknown(known, range, &name),
        }
    }

    fn is_repeated(&self, pairs: &[(NodeId, NodeId)], at: usize, name: &str) -> bool {
        find(self.tree, &pairs[..at], name).is_some()
    }

    fn unknown(&mut self, known: &'static [ProjectSetting], range: TextRange, name: &str) {
        let is_top = std::ptr::eq(known, PROJECT);
        if is_top && OF_USERS.contains(&name) {
            let message = format!(
                "'{name}' is only read from the user's own settings, not from a workspace's"
            );
            self.add(range, Spoils::Setting, message);
            return;
        }
        let group = name.split_once('.').map_or(name, |(group, _)| group);
        if is_top && OF_EDITORS.contains(&group) {
            let message = format!("'{name}' is a setting of an editor, not of a workspace");
            self.add(range, Spoils::Setting, message);
            return;
        }
        let names = known.iter().map(|setting| setting.name);
        let plain = name.replace(['_', '-'], "");
        let suggestion = nearest(&plain, names.clone());
        let message = match suggestion {
            Some(suggestion) => {
                format!("unknown setting '{name}': did you mean '{suggestion}'?")
            }
            None => {
                let what = if is_top {
                    "a workspace may set"
                } else {
                    "expected"
                };
                let names = names.collect::<Vec<_>>().join(", ");
                format!("unknown setting '{name}': {what} {names}")
            }
        };
        self.add(range, Spoils::Setting, message).suggestion = suggestion.map(str::to_owned);
    }

    fn value(&mut self, shape: &'static Shape, id: NodeId) {
        let node = self.tree.node(id);
        let range = node.range;
        match (shape, &node.kind) {
            (Shape::PathOr(known), NodeKind::Mapping(pairs)) => {
                let is_missing = |name: &str| find(self.tree, pairs, name).is_none();
                if let Some(missing) = known.iter().find(|setting| is_missing(setting.name)) {
                    let message = format!("'{}' is missing", missing.name);
                    self.add(range, Spoils::Setting, message);
                }
                (0..pairs.len()).for_each(|at| self.entry(known, pairs, at));
            }
            (Shape::Record(known), NodeKind::Mapping(pairs)) => {
                (0..pairs.len()).for_each(|at| self.entry(known, pairs, at));
                if std::ptr::eq(*known, MEANINGS) {
                    self.meaning(range, pairs);
                }
                if std::ptr::eq(*known, BACKENDS) {
                    self.backend(range, pairs);
                }
            }
            (Shape::List(each) | Shape::OneOrMany(each), NodeKind::Sequence(elements)) => {
                for &element in elements {
                    self.value(each, element);
                }
            }
            (Shape::OneOrMany(each), NodeKind::Scalar(_)) => self.value(each, id),
            (Shape::Table(keys, each), NodeKind::Mapping(pairs)) => {
                for at in 0..pairs.len() {
                    self.row(*keys, pairs, at);
                    self.value(each, pairs[at].1);
                }
            }
            (Shape::Any, _) => {}
            (_, NodeKind::Scalar(scalar)) => self.scalar(shape, range, &scalar.text),
            (_, NodeKind::Mapping(_)) => self.unexpected(shape, range, "a hash"),
            (_, NodeKind::Sequence(_)) => self.unexpected(shape, range, "a list"),
            (_, NodeKind::Alias { .. }) => self.unexpected(shape, range, "an alias"),
        }
    }

    /// A declaration needs `like`, and only the fields that go with it.
    fn backend(&mut self, range: TextRange, pairs: &[(NodeId, NodeId)]) {
        let find = |name: &str| find(self.tree, pairs, name);
        let Some(like) = find("like") else {
            let message = "'like' is missing: say what the function does";
            self.add(range, Spoils::Setting, message);
            return;
        };
        let Some(like) = self.tree.scalar_text(like.1).cloned() else {
            return;
        };
        let reads = !matches!(&*like, "secret" | "nothing");
        let stray = match (reads, &*like) {
            (true, _) => find("keys"),
            (false, "nothing") => find("path").or_else(|| find("keys")),
            (false, _) => find("path"),
        };
        if let Some((key, _)) = stray {
            let range = self.tree.node(key).range;
            let name = self.tree.scalar_text(key).map_or("", |name| name);
            let message = format!("'{name}' has no effect with 'like: {like}'");
            self.add(range, Spoils::Entry, message);
        }
    }

    /// Checks the meaning of names: a pattern or a table, and groups that the pattern has.
    fn meaning(&mut self, range: TextRange, pairs: &[(NodeId, NodeId)]) {
        let find = |name: &str| find(self.tree, pairs, name);
        let (key, pattern) = match (find("match"), find("names")) {
            (Some(_), Some((key, _))) => {
                let message = "use 'match' or 'names', not both";
                let range = self.tree.node(key).range;
                self.add(range, Spoils::Entry, message.to_owned());
                return;
            }
            (None, None) => {
                let message = "'match' or 'names' is missing";
                self.add(range, Spoils::Entry, message);
                return;
            }
            (None, Some((key, _))) => (key, None),
            (Some((key, value)), None) => (key, self.tree.scalar_text(value)),
        };
        let values = ["variables", "facts", "extensions"].map(find);
        let values: Vec<(NodeId, NodeId)> = values.into_iter().flatten().collect();
        let Some(pattern) = pattern else {
            let stray = values
                .first()
                .filter(|_| self.tree.node(key).as_scalar().is_some());
            if let Some((key, _)) = stray {
                let range = self.tree.node(*key).range;
                let name = self.tree.scalar_text(*key).map_or("", |name| name);
                let message =
                    format!("'{name}' goes with 'match': below 'names' each name has its own");
                self.add(range, Spoils::Entry, message);
            }
            return;
        };
        let Ok(pattern) = Regexp::new(pattern) else {
            return;
        };
        let groups: Vec<&str> = pattern.names().collect();
        for (_, value) in values {
            self.expansions(value, &groups);
        }
    }

    /// Checks the groups that texts refer to.
    fn expansions(&mut self, id: NodeId, groups: &[&str]) {
        let node = self.tree.node(id);
        match &node.kind {
            NodeKind::Mapping(pairs) => {
                pairs
                    .iter()
                    .for_each(|(_, value)| self.expansions(*value, groups));
            }
            NodeKind::Sequence(elements) => {
                elements
                    .iter()
                    .for_each(|value| self.expansions(*value, groups));
            }
            NodeKind::Scalar(scalar) => {
                let texts = scalar.text.split("%{").skip(1);
                let names = texts.filter_map(|text| Some(text.split_once('}')?.0.trim()));
                for name in names.filter(|name| !groups.contains(name)) {
                    let known = match groups {
                        [] => "it has none: write (?<name>…)".to_owned(),
                        groups => format!("it has {}", groups.join(", ")),
                    };
                    let message =
                        format!("'%{{{name}}}' is not a named group of the pattern: {known}");
                    self.add(node.range, Spoils::Entry, message);
                }
            }
            NodeKind::Alias { .. } => {}
        }
    }

    fn unexpected(&mut self, shape: &Shape, range: TextRange, got: &str) {
        let message = format!("expected {}, got {got}", shape.expected());
        self.add(range, Spoils::Setting, message);
    }

    /// Checks the key of a hash whose keys are chosen by the user.
    fn row(&mut self, keys: TableKeys, pairs: &[(NodeId, NodeId)], at: usize) {
        let range = self.tree.node(pairs[at].0).range;
        let Some(key) = self.tree.scalar_text(pairs[at].0).cloned() else {
            self.add(range, Spoils::Setting, "expected a name".to_owned());
            return;
        };
        if self.is_repeated(pairs, at, &key) {
            self.add(range, Spoils::Setting, format!("'{key}' is set twice"));
        }
        match keys {
            TableKeys::Folders if !key.starts_with('/') => {
                let message =
                    format!("'{key}' is not a deployed folder: expected an absolute path");
                self.add(range, Spoils::Setting, message);
            }
            TableKeys::Functions if is_puppets_own(&key) => {
                let message = format!("'{key}' is a Puppet function: what it does is known");
                self.add(range, Spoils::Entry, message);
            }
            TableKeys::Rules if !self.rules.contains(&&*key) => {
                let suggestion = nearest(&key, self.rules.iter().copied());
                let message = match suggestion {
                    Some(suggestion) => {
                        format!("unknown rule '{key}': did you mean '{suggestion}'?")
                    }
                    None => format!("unknown rule '{key}': see 'hiera-ls rules'"),
                };
                let suggestion = suggestion.map(str::to_owned);
                self.add(range, Spoils::Entry, message).suggestion = suggestion;
            }
            TableKeys::Paths if !is_inside(&key) => {
                let message = format!("'{key}' is not a path inside the workspace");
                self.add(range, Spoils::Setting, message);
            }
            TableKeys::Folders
            | TableKeys::Functions
            | TableKeys::Rules
            | TableKeys::Names
            | TableKeys::Paths => {}
        }
    }

    fn scalar(&mut self, shape: &Shape, range: TextRange, text: &str) {
        let wrong = match shape {
            Shape::Any => false,
            Shape::Version => !matches!(text, "7" | "8" | "9"),
            Shape::Word(words) => !words.contains(&text),
            Shape::Switch => {
                !matches!(text, "true" | "false" | "True" | "False" | "TRUE" | "FALSE")
            }
            Shape::Record(_) | Shape::List(_) | Shape::Table(..) | Shape::OneOrMany(_) => true,
            Shape::Path | Shape::PathOr(_) => {
                if !is_inside(text) {
                    let message = format!(
                        "'{text}' is not a path inside the workspace; a path outside is only allowed in the user's own settings"
                    );
                    self.add(range, Spoils::Setting, message);
                }
                return;
            }
            Shape::KeyPath => {
                if let Err(message) = KeyPath::parse(text) {
                    self.add(range, Spoils::Setting, message);
                } else if !is_inside(text) {
                    let message = format!(
                        "'{text}' is not a path inside the workspace: start with {{path}} or {{datadir}}"
                    );
                    self.add(range, Spoils::Setting, message);
                }
                return;
            }
            Shape::Pattern => {
                if let Err(error) = Regexp::new(text) {
                    self.add(range, Spoils::Setting, error.to_string());
                }
                return;
            }
        };
        if !wrong {
            return;
        }
        let shown: String = text.chars().take(SHOWN).collect();
        let got = if shown.is_empty() {
            "nothing".to_owned()
        } else {
            format!("'{shown}'")
        };
        let mut message = format!("expected {}, got {got}", shape.expected());
        let suggestion = match shape {
            Shape::Word(words) => nearest(text, words.iter().copied()),
            _ => None,
        };
        if let Some(suggestion) = suggestion {
            message = format!("{message}: did you mean '{suggestion}'?");
        }
        self.add(range, Spoils::Setting, message).suggestion = suggestion.map(str::to_owned);
    }
}

/// The entry of a name.
fn find(tree: &Tree, pairs: &[(NodeId, NodeId)], name: &str) -> Option<(NodeId, NodeId)> {
    let mut pairs = pairs.iter().copied();
    pairs.find(|(key, _)| tree.scalar_text(*key).is_some_and(|text| **text == *name))
}

/// The value of a node; null for an alias, which is not followed.
fn plain(tree: &Tree, id: NodeId) -> Value {
    let node = tree.node(id);
    match &node.kind {
        NodeKind::Scalar(scalar) if node.is_quoted() => Value::String(scalar.text.to_string()),
        NodeKind::Scalar(scalar) => serde_yaml::from_str(&scalar.text)
            .unwrap_or_else(|_| Value::String(scalar.text.to_string())),
        NodeKind::Sequence(elements) => {
            Value::Sequence(elements.iter().map(|&id| plain(tree, id)).collect())
        }
        NodeKind::Mapping(pairs) => {
            let pairs = pairs.iter().map(|&(key, value)| {
                let name = tree.scalar_text(key).map(|name| name.to_string());
                (Value::String(name.unwrap_or_default()), plain(tree, value))
            });
            Value::Mapping(pairs.collect())
        }
        NodeKind::Alias { .. } => Value::Null,
    }
}

/// Whether a path is relative and stays below its start.
pub(super) fn is_inside(path: &str) -> bool {
    let outside = path.starts_with(['/', '\\', '~'])
        || path.split(['/', '\\']).any(|segment| segment == "..")
        || path.contains(':');
    !outside && !path.is_empty()
}
