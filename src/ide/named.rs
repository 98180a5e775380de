//! The thing that the name under the cursor refers to, for definitions, references, highlights and renames.
//!
//! Unlike [`target`], it ignores the values of keys, except for names of classes.

use std::sync::Arc;

use super::code_names;
use super::expected_keys::{self, is_expectations};
use super::target::{self, KeyTarget, PathTarget, Target, TokenTarget, is_config};
use super::written_key::WrittenKey;
use crate::hierarchy::{LevelSpans, LocationSpan, locate};
use crate::interpolation::{TokenKind, tokens};
use crate::syntax::puppet::without_colons;
use crate::syntax::{NodeId, NodeKind, ScalarMap, Tree};
use crate::text::TextRange;
use crate::value::Value;
use crate::workspace::{File, Format, Snapshot};

/// A thing with a name.
pub enum Named {
    /// A key, top-level or nested.
    Key(KeyTarget),
    /// A pattern of `lookup_options`.
    Pattern(Arc<str>),
    /// A variable by its dotted path, without a leading `::`.
    Variable(Arc<str>),
    /// An anchor of one file.
    Anchor {
        /// The name of the anchor.
        name: Arc<str>,
        /// The node with the anchor.
        node: NodeId,
    },
    /// An element of the list in `mapped_paths`, by its name in the level.
    Element(ElementTarget),
    /// A path of `hiera.yaml`.
    Path(PathTarget),
    /// A data function of `hiera.yaml`.
    Function(Arc<str>),
    /// A class, by its name without a leading `::`.
    Class(Arc<str>),
}

/// The name of an element in the `mapped_paths` of a level.
pub struct ElementTarget {
    /// The variable with the list.
    pub variable: Arc<str>,
    /// The name of the element.
    pub name: Arc<str>,
    /// The place of the name in the list, without quotes.
    pub place: TextRange,
    /// The range of the level.
    pub level: TextRange,
}

/// A name in a file.
pub struct Mention {
    /// Its meaning.
    pub named: Named,
    /// Its range.
    pub range: TextRange,
}

impl Mention {
    /// A key, or a part of its value, at a place.
    pub(crate) fn of_key(root: &str, steps: Vec<Value>, range: TextRange) -> Mention {
        let key = KeyTarget {
            steps,
            range,
            ..KeyTarget::of_root(root)
        };
        Mention {
            named: Named::Key(key),
            range,
        }
    }
}

/// The name under the byte at `offset` of a file. O(depth of the tree) for a parsed file.
#[must_use]
pub fn at(snapshot: &Snapshot, path: &str, offset: usize) -> Option<Mention> {
    let file = snapshot.file(path)?;
    if let Some(code) = &file.facts().code {
        return code_names::at(code, offset);
    }
    if is_expectations(path) {
        return expected_keys::at(snapshot, file, offset);
    }
    let parse = snapshot.parse_of(file, file.format().unwrap_or(Format::Yaml));
    let tree = &parse.tree;
    if let Some(anchor) = anchor_at(tree, offset) {
        return Some(anchor);
    }
    if is_config(snapshot, path)
        && let Some(mapped) = in_mapped_paths(file, tree, offset)
    {
        return Some(mapped);
    }
    let mention = |named, range| Some(Mention { named, range });
    match target::at(snapshot, path, offset) {
        Target::Key(key) => {
            let range = key.range;
            if range.touches(offset) {
                mention(Named::Key(key), range)
            } else {
                class_at(snapshot, file, tree, offset)
            }
        }
        Target::Token(token) => in_token(file, tree, &token, offset),
        Target::Path(mut path) => {
            if let Some(token) = path.token.take() {
                return in_token(file, tree, &token, offset);
            }
            let range = path.range;
            mention(Named::Path(path), range)
        }
        Target::Option(option) if option.entry.starts_with('^') => {
            mention(Named::Pattern(option.entry), option.range)
        }
        Target::Option(option) => Some(Mention::of_key(&option.entry, Vec::new(), option.range)),
        Target::Word(word) => {
            let functions = ["data_hash", "lookup_key", "data_dig", "hiera3_backend"];
            let option = word.value_of.as_deref()?;
            if is_config(snapshot, path) && functions.contains(&option) {
                mention(Named::Function(word.word), word.range)
            } else {
                None
            }
        }
        Target::Blob(_) | Target::None => None,
    }
}

/// The variable of `mapped_paths` or the name of its elements, in the list or in the template.
fn in_mapped_paths(file: &File, tree: &Tree, offset: usize) -> Option<Mention> {
    let spans = locate(tree);
    let levels = spans.levels();
    let mut levels = levels.filter(|level| level.range.touches(offset));
    let (level, [list, element]) =
        levels.find_map(|level| Some((level, level.mapped.as_ref()?)))?;
    let place = |span: &LocationSpan| {
        let map = ScalarMap::new(file.text(), tree.node(span.node));
        map.source_range(0..span.text.len())
    };
    let list_variable = variable(&list.text);
    if list.range.touches(offset) {
        return Some(Mention {
            named: Named::Variable(list_variable),
            range: place(list),
        });
    }
    let uses = uses_of_element(file, tree, level);
    let mut places = std::iter::once(place(element)).chain(uses);
    let range = places.find(|place| place.touches(offset))?;
    Some(Mention {
        named: Named::Element(ElementTarget {
            variable: list_variable,
            name: element.text.clone(),
            place: place(element),
            level: level.range,
        }),
        range,
    })
}

/// The tokens of a level's template with an element of `mapped_paths`.
pub(super) fn uses_of_element(file: &File, tree: &Tree, level: &LevelSpans) -> Vec<TextRange> {
    let mut found = Vec::new();
    for location in &level.locations {
        let map = ScalarMap::new(file.text(), tree.node(location.node));
        for token in tokens(&location.text) {
            let is_it = matches!(token.kind, TokenKind::Variable { .. })
                && level.element(token.inner.slice(&location.text)).is_some();
            if is_it {
                found.push(map.source_range(token.inner.as_usize()));
            }
        }
    }
    found
}

/// The class that a value names, such as in a list of classes.
fn class_at(snapshot: &Snapshot, file: &File, tree: &Tree, offset: usize) -> Option<Mention> {
    let node = tree.node(*tree.path_at(offset).last()?);
    let text = &node.as_scalar()?.text;
    let name = code_names::class(text);
    code_names::is_class(snapshot, &name).then(|| Mention {
        named: Named::Class(name),
        range: ScalarMap::new(file.text(), node).source_range(0..text.len()),
    })
}

/// An alias, or the anchor before a node.
fn anchor_at(tree: &Tree, offset: usize) -> Option<Mention> {
    let nodes = tree.path_at(offset);
    let found = nodes.into_iter().rev().find_map(|id| {
        let node = tree.node(id);
        if let NodeKind::Alias { name, target } = &node.kind {
            return Some((name.clone(), (*target)?, node.range));
        }
        let anchor = node.anchor.as_ref()?;
        let is_here = anchor.range.touches(offset);
        is_here.then(|| (anchor.text.clone(), id, anchor.range))
    });
    let (name, node, range) = found?;
    Some(Mention {
        named: Named::Anchor { name, node },
        range,
    })
}

/// The thing that a token's part under the cursor names; for a dotted key the key up to there.
fn in_token(file: &File, tree: &Tree, token: &TokenTarget, offset: usize) -> Option<Mention> {
    let node = tree.node(*tree.path_at(offset).last()?);
    let map = ScalarMap::new(file.text(), node);
    if let Some(range) = token.token.variable() {
        return Some(Mention {
            named: Named::Variable(variable(range.slice(&token.text))),
            range: map.source_range(range.as_usize()),
        });
    }
    let TokenKind::Call {
        method,
        argument,
        argument_range,
    } = &token.token.kind
    else {
        return None;
    };
    if !method.looks_up() {
        return None;
    }
    let written = WrittenKey {
        key: argument,
        plain: Some(*argument_range),
        whole: *argument_range,
    };
    let here = map.decoded_offset(offset);
    let (root, steps, range) = written.part_at(if argument_range.touches(here) {
        here
    } else {
        argument_range.end as usize
    })?;
    let range = map.source_range(range.as_usize());
    Some(Mention::of_key(&root, steps, range))
}

/// A variable's dotted path without a leading `::`, which means the same at top scope.
#[must_use]
pub fn variable(written: &str) -> Arc<str> {
    Arc::from(without_colons(written))
}
