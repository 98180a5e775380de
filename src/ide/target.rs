//! The thing under the cursor, for all features.
//!
//! Only reads the syntax tree of a file; features determine the meaning for nodes.

use std::sync::Arc;

use crate::analysis::quoted;
use crate::eyaml::{Blob, BrokenBlob, scan_source};
use crate::hierarchy::{LevelSpans, LocationSpan, locate};
use crate::interpolation::{Key, Token, has_tokens, tokens};
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::syntax::{NodeId, NodeKind, ScalarMap, Tree, TreeNode};
use crate::text::TextRange;
use crate::value::Value;
use crate::workspace::{File, Format, HIERA_YAML, KeyFact, LOOKUP_OPTIONS, Snapshot, path};

/// The thing under the cursor.
pub enum Target {
    /// A top-level or nested key, or its value.
    Key(KeyTarget),
    /// A `%{…}` token in data.
    Token(TokenTarget),
    /// A path of `hiera.yaml`.
    Path(PathTarget),
    /// An entry of `lookup_options`: a key or a pattern.
    Option(OptionTarget),
    /// An encrypted value.
    Blob(BlobTarget),
    /// A word of `hiera.yaml` or of `lookup_options`.
    Word(WordTarget),
    /// Nothing known to a hierarchy.
    None,
}

/// A key; the cursor is on it or its value.
#[derive(Clone, Debug)]
pub struct KeyTarget {
    /// The top-level key.
    pub root: Arc<str>,
    /// The keys and indexes from its value to the key under the cursor.
    pub steps: Vec<Value>,
    /// The innermost key.
    pub range: TextRange,
    /// The number of steps to the outermost list around the key, if any.
    pub before_list: Option<usize>,
}

/// A token.
pub struct TokenTarget {
    /// The token; its ranges refer to `text`.
    pub token: Token,
    /// The whole decoded text around it.
    pub text: Arc<str>,
    /// The token in the file.
    pub range: TextRange,
}

/// A path of a level.
pub struct PathTarget {
    /// The path as written.
    pub span: LocationSpan,
    /// Index of the level in its hierarchy.
    pub level: usize,
    /// Whether the level is in the `default_hierarchy`.
    pub in_default_hierarchy: bool,
    /// The path in the file.
    pub range: TextRange,
    /// The token of the path under the cursor.
    pub token: Option<TokenTarget>,
}

/// An entry of `lookup_options`.
pub struct OptionTarget {
    /// The key or pattern.
    pub entry: Arc<str>,
    /// The range in the file.
    pub range: TextRange,
}

/// An encrypted value, or a broken one.
pub struct BlobTarget {
    /// The decoded parts; their ranges refer to `source`.
    pub blob: Result<Blob, BrokenBlob>,
    /// The text of the scalar around it, as in the file.
    pub source: Arc<str>,
    /// The range in the file.
    pub range: TextRange,
}

/// A word.
pub struct WordTarget {
    /// The word.
    pub word: Arc<str>,
    /// The option with this value; `None` for the name of an option.
    pub value_of: Option<Arc<str>>,
    /// The range in the file.
    pub range: TextRange,
}

impl Target {
    /// The key, if it is one.
    #[must_use]
    pub fn key(&self) -> Option<&KeyTarget> {
        let Target::Key(key) = self else {
            return None;
        };
        Some(key)
    }

    /// The range in the file; `None` for [`Target::None`].
    #[must_use]
    pub fn range(&self) -> Option<TextRange> {
        match self {
            Target::Key(key) => Some(key.range),
            Target::Token(token) => Some(token.range),
            Target::Path(path) => Some(path.range),
            Target::Option(option) => Some(option.range),
            Target::Blob(blob) => Some(blob.range),
            Target::Word(word) => Some(word.range),
            Target::None => None,
        }
    }
}

/// The thing under the byte at `offset` of a file. O(depth of the tree) for a parsed file.
#[must_use]
pub fn at(snapshot: &Snapshot, path: &str, offset: usize) -> Target {
    let Some(file) = snapshot.file(path) else {
        return Target::None;
    };
    if is_config(snapshot, path) {
        let parse = snapshot.parse_of(file, file.format().unwrap_or(Format::Yaml));
        return in_config(file, &parse.tree, offset);
    }
    match file.format() {
        Some(format) => {
            let parse = snapshot.parse_around(file, format, offset);
            in_data(file, &parse.tree, offset)
        }
        None => Target::None,
    }
}

/// Whether a file is treated as the configuration of a hierarchy: by its name, because a root uses
/// it, or by its content, even if no root uses it.
#[must_use]
pub fn is_config(snapshot: &Snapshot, file: &str) -> bool {
    let by_content = || {
        let config = snapshot.file(file)?.facts().config.as_ref()?;
        Some(config.plain.is_none())
    };
    path::name(file) == HIERA_YAML
        || snapshot.roots().of_config(file).is_some()
        || by_content() == Some(true)
}

fn in_config(file: &File, tree: &Tree, offset: usize) -> Target {
    let spans = locate(tree);
    let location = location_at(&spans.hierarchy, offset).map(|found| (found, false));
    let location = location
        .or_else(|| location_at(&spans.default_hierarchy, offset).map(|found| (found, true)));
    if let Some(((span, level), in_default_hierarchy)) = location {
        let node = tree.node(span.node);
        return Target::Path(PathTarget {
            token: token_at(file, node, &span.text, offset),
            range: node.range,
            span: span.clone(),
            level,
            in_default_hierarchy,
        });
    }
    word_at(tree, &tree.path_at(offset)).map_or(Target::None, Target::Word)
}

fn location_at(levels: &[LevelSpans], offset: usize) -> Option<(&LocationSpan, usize)> {
    levels.iter().enumerate().find_map(|(at, level)| {
        let mut locations = level.locations.iter();
        let found = locations.find(|location| location.range.touches(offset))?;
        Some((found, at))
    })
}

fn in_data(file: &File, tree: &Tree, offset: usize) -> Target {
    let nodes = tree.path_at(offset);
    if let Some(blob) = blob_in(file, tree, &nodes, offset) {
        return Target::Blob(blob);
    }
    let token = nodes.last().and_then(|&node| {
        let node = tree.node(node);
        token_at(file, node, &node.as_scalar()?.text, offset)
    });
    if let Some(token) = token {
        return Target::Token(token);
    }
    let Some(key) = key_in(tree, &nodes).or_else(|| broken_key(tree, offset)) else {
        return Target::None;
    };
    if &*key.root == LOOKUP_OPTIONS {
        if let [Value::String(entry)] = key.steps.as_slice() {
            return Target::Option(OptionTarget {
                entry: entry.clone(),
                range: key.range,
            });
        }
        return word_at(tree, &nodes).map_or(Target::None, Target::Word);
    }
    Target::Key(key)
}

/// The encrypted value at an offset of a data file.
#[must_use]
pub fn blob_at(snapshot: &Snapshot, path: &str, offset: usize) -> Option<BlobTarget> {
    let file = snapshot.file(path)?;
    let parse = snapshot.parse_around(file, file.format()?, offset);
    blob_in(file, &parse.tree, &parse.tree.path_at(offset), offset)
}

fn blob_in(file: &File, tree: &Tree, nodes: &[NodeId], offset: usize) -> Option<BlobTarget> {
    let node = tree.node(*nodes.last()?);
    node.as_scalar()?;
    let source = node.range.slice(file.text());
    if !source.contains("ENC[") {
        return None;
    }
    let scan = scan_source(source);
    let start = node.range.as_usize().start;
    let here = offset.checked_sub(start)?;
    let mut blobs = scan.blobs.into_iter();
    let mut broken = scan.broken.into_iter();
    let blob = match blobs.find(|blob| blob.range.touches(here)) {
        Some(blob) => Ok(blob),
        None => Err(broken.find(|broken| broken.range.touches(here))?),
    };
    let range = match &blob {
        Ok(blob) => blob.range.as_usize(),
        Err(broken) => broken.range.as_usize(),
    };
    Some(BlobTarget {
        blob,
        source: Arc::from(source),
        range: TextRange::new(start + range.start, start + range.end),
    })
}

/// The token of a scalar under the cursor.
pub(super) fn token_at(
    file: &File,
    node: &TreeNode,
    text: &Arc<str>,
    offset: usize,
) -> Option<TokenTarget> {
    if !has_tokens(text) {
        return None;
    }
    let map = ScalarMap::new(file.text(), node);
    tokens(text).into_iter().find_map(|token| {
        let range = map.source_range(token.range.as_usize());
        range.as_usize().contains(&offset).then(|| TokenTarget {
            token,
            text: text.clone(),
            range,
        })
    })
}

/// The word under the cursor: the name of an option or its value.
fn word_at(tree: &Tree, nodes: &[NodeId]) -> Option<WordTarget> {
    let (&inner, outer) = nodes.split_last()?;
    let node = tree.node(inner);
    let word = node.as_scalar()?.text.clone();
    let (&around, above) = outer.split_last()?;
    if let Some(elements) = tree.node(around).as_sequence() {
        // The first element of `mapped_paths` is a variable.
        let key = tree.key_of(*above.last()?, around)?;
        let is_variable = elements.first() == Some(&inner)
            && tree
                .scalar_text(key)
                .is_some_and(|key| &**key == "mapped_paths");
        return is_variable.then(|| WordTarget {
            word,
            value_of: Some(Arc::from("mapped_paths")),
            range: node.full_range(),
        });
    }
    let entries = tree.node(around).as_mapping()?;
    let mut entries = entries.iter();
    let &(key, _) = entries.find(|&&(key, value)| key == inner || value == inner)?;
    let value_of = if key == inner {
        None
    } else {
        Some(tree.scalar_text(key)?.clone())
    };
    Some(WordTarget {
        word,
        value_of,
        range: node.full_range(),
    })
}

/// The innermost key around an offset of a data file; `None` in an entry that does not parse.
#[must_use]
pub fn key_around(snapshot: &Snapshot, path: &str, offset: usize) -> Option<KeyTarget> {
    let file = snapshot.file(path)?;
    let format = file.format().unwrap_or(Format::Yaml);
    let parse = snapshot.parse_around(file, format, offset);
    key_in(&parse.tree, &parse.tree.path_at(offset))
}

/// The key at an offset of a data file, by its name in lookups. Beside a key and its value, the
/// first key of the line is used.
#[must_use]
pub fn key_at(snapshot: &Snapshot, path: &str, offset: usize) -> Option<Arc<str>> {
    let file = snapshot.file(path)?;
    let parse = snapshot.parse_around(file, file.format()?, offset);
    let tree = &parse.tree;
    let at = |offset| key_in(tree, &tree.path_at(offset)).or_else(|| broken_key(tree, offset));
    let first_of_line = || {
        let before = file.text().get(..offset)?;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = file.text()[start..].lines().next()?;
        let indent = line.len() - line.trim_start().len();
        at(start + indent)
    };
    Some(Arc::from(at(offset).or_else(first_of_line)?.lookup_name()))
}

/// The top-level entry around an offset of a data file.
#[must_use]
pub fn entry_at(file: &File, offset: u32) -> Option<&KeyFact> {
    let inside = |fact: &&KeyFact| {
        let end = fact.value.end.max(fact.key.end);
        fact.key.start <= offset && offset <= end && fact.value.start >= fact.key.start
    };
    file.facts().keys.iter().find(inside)
}

/// The innermost key around a place, through hashes and lists.
fn key_in(tree: &Tree, nodes: &[NodeId]) -> Option<KeyTarget> {
    let mut found: Option<KeyTarget> = None;
    let mut before_list = None;
    // Indexes are only needed if a key follows.
    let mut places: Vec<Value> = Vec::new();
    let mut is_merged = false;
    for pair in nodes.windows(2) {
        let (outer, inner) = (pair[0], pair[1]);
        let entries = match &tree.node(outer).kind {
            NodeKind::Mapping(entries) => entries,
            NodeKind::Sequence(elements) => {
                let at = elements.iter().position(|&element| element == inner)?;
                // A list of hashes for a merge key is no list in the value.
                if !std::mem::take(&mut is_merged) {
                    places.push(Value::Int(i64::try_from(at).ok()?));
                }
                continue;
            }
            NodeKind::Scalar(_) | NodeKind::Alias { .. } => break,
        };
        let &(key, _) = entries
            .iter()
            .find(|&&(key, value)| key == inner || value == inner)?;
        let range = tree.node(key).full_range();
        if tree.node(key).is_merge_key() {
            // Merged entries belong to the hash around them.
            is_merged = true;
            continue;
        }
        match &mut found {
            None => {
                let text = tree.scalar_text(key)?;
                // A list around all keys is no data.
                if !places.is_empty() {
                    return None;
                }
                found = Some(KeyTarget {
                    range,
                    ..KeyTarget::of_root(text.strip_prefix(':').unwrap_or(text))
                });
            }
            Some(target) => {
                if !places.is_empty() {
                    before_list.get_or_insert(target.steps.len());
                    target.steps.append(&mut places);
                }
                target.steps.push(key_value(tree.node(tree.resolve(key)))?);
                target.range = range;
            }
        }
        if key == inner {
            break;
        }
    }
    if let Some(target) = &mut found {
        target.before_list = before_list;
    }
    found
}

/// The key of an entry that does not parse.
fn broken_key(tree: &Tree, offset: usize) -> Option<KeyTarget> {
    let mut keys = tree.broken().iter().filter_map(|entry| entry.key.as_ref());
    let key = keys.find(|key| key.range.touches(offset))?;
    Some(KeyTarget {
        range: key.range,
        ..KeyTarget::of_root(&key.text)
    })
}

/// A nested key as Puppet reads it.
pub(super) fn key_value(node: &TreeNode) -> Option<Value> {
    let scalar = node.as_scalar()?;
    let text = || Value::String(scalar.text.clone());
    if node.is_quoted() {
        return Some(text());
    }
    Some(match resolve_plain(&scalar.text) {
        Resolved::Int(number) => Value::Int(number),
        Resolved::Float(number) => Value::Float(number),
        Resolved::Bool(truth) => Value::Bool(truth),
        Resolved::Null => Value::Undef,
        Resolved::Symbol(name) => Value::from(name),
        Resolved::BigInt(_)
        | Resolved::Date
        | Resolved::Time
        | Resolved::String
        | Resolved::Invalid { .. } => text(),
    })
}

impl KeyTarget {
    /// A top-level key without a place.
    #[must_use]
    pub fn of_root(key: &str) -> KeyTarget {
        KeyTarget {
            root: Arc::from(key),
            steps: Vec::new(),
            range: TextRange::new(0, 0),
            before_list: None,
        }
    }

    /// The key with a name in lookups, without a place.
    #[must_use]
    pub fn named(key: &str) -> Option<KeyTarget> {
        let parsed = Key::parse(key).ok()?;
        Some(KeyTarget {
            steps: parsed.steps(),
            ..KeyTarget::of_root(parsed.root.as_name()?)
        })
    }

    /// The key for people.
    #[must_use]
    pub fn shown(&self) -> String {
        self.below(self.root.to_string())
    }

    /// The name of the key in lookups.
    #[must_use]
    pub fn lookup_name(&self) -> String {
        self.below(quoted(&self.root))
    }

    fn below(&self, mut shown: String) -> String {
        for step in &self.steps {
            shown.push('.');
            match step.as_str() {
                Some(segment) => shown.push_str(&quoted(segment)),
                None => shown.push_str(&step.to_s()),
            }
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::{Target, at};
    use crate::fixture::{FOLDER, Fixture};

    /// The kind of the target at the cursor, and its text.
    fn target(text: &str) -> String {
        let fixture = Fixture::new("data/common.yaml", text);
        let (path, offset) = fixture.cursor.clone().expect("a cursor");
        let path = format!("{FOLDER}/{path}");
        let snapshot = fixture.opened();
        let target = at(&snapshot, &path, offset);
        let kind = match &target {
            Target::Key(key) if key.steps.is_empty() => format!("key {}", key.shown()),
            Target::Key(key) => format!("nested key {}", key.shown()),
            Target::Token(_) => "token".to_owned(),
            Target::Path(path) => format!("path of level {}", path.level),
            Target::Option(option) => format!("option {}", option.entry),
            Target::Blob(_) => "blob".to_owned(),
            Target::Word(word) => format!("word {}", word.word),
            Target::None => "none".to_owned(),
        };
        let file = snapshot.file(&path).expect("a file");
        let text = target
            .range()
            .map(|range| range.slice(file.text()).to_owned());
        format!("{kind}: {}", text.unwrap_or_default())
    }

    #[test]
    fn data_holds_keys_tokens_options_and_blobs() {
        for (text, expected) in [
            ("nt$0p: 1\n", "key ntp: ntp"),
            ("ntp: $01\n", "key ntp: ntp"),
            ("a: {b: {c$0: 1}}\n", "nested key a.b.c: c"),
            ("a: [{b: 1}, {b: $02}]\n", "nested key a.1.b: b"),
            ("a: {<<: {b$0: 1}}\n", "nested key a.b: b"),
            ("a: {\"<<\": {b$0: 1}}\n", "nested key a.b: b"),
            ("a: {!!str <<: {b$0: 1}}\n", "nested key a.<<.b: b"),
            ("a: \"x %{fa$0cts.os} y\"\n", "token: %{facts.os}"),
            ("a: ENC[PK$0CS7,AAAA]\n", "blob: ENC[PKCS7,AAAA]"),
            ("lookup_options: {a$0b: {merge: deep}}\n", "option ab: ab"),
            (
                "lookup_options: {ab: {mer$0ge: deep}}\n",
                "word merge: merge",
            ),
            ("lookup_options: {ab: {merge: de$0ep}}\n", "word deep: deep"),
            ("# no$0thing\na: 1\n", "none: "),
        ] {
            assert_eq!(target(text), expected, "{text}");
        }
    }

    #[test]
    fn configurations_hold_paths_and_words() {
        let config = "#- hiera.yaml\nversion: 5\nhierarchy:\n  - name: a\n    path: a.yaml\n";
        let path = config.replace("path: a.yaml", "path: a.y$0aml");
        assert_eq!(target(&path), "path of level 0: a.yaml");
        let word = config.replace("hierarchy", "hie$0rarchy");
        assert_eq!(target(&word), "word hierarchy: hierarchy");
    }
}
