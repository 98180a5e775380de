//! The occurrences of the thing under the cursor: in one file (highlights), or in all files that
//! nodes read together (references, renames).

use std::collections::HashSet;
use std::sync::Arc;

use super::code_names::{class, lookups_of};
use super::expected_keys::{self, is_expectations};
use super::file_place::FilePlace;
use super::named::{self, ElementTarget, Named, uses_of_element, variable};
use super::set_place::assigned_places;
use super::target::{KeyTarget, PathTarget};
use super::written_key::WrittenKey;
use crate::analysis::{Analysis, HieraFiles, KeyPositions, split_key as split_parameter};
use crate::hierarchy::{LevelSpans, locate};
use crate::interpolation::{TokenKind, tokens};
use crate::syntax::{NodeId, NodeKind, ScalarMap};
use crate::text::TextRange;
use crate::value::{KeyHashing, Value};
use crate::workspace::{
    Belongs, CodeFacts, DefinitionKind, File, FileId, Format, LOOKUP_OPTIONS, Reference, Snapshot,
};

/// Up to this many files are asked one by one whether a hierarchy reads them.
const FEW_FILES: usize = 256;

/// The role of an occurrence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Role {
    /// A definition: a key with its value, an anchor.
    Definition,
    /// A setting of the lookup: an entry of `lookup_options`.
    Option,
    /// A use: a token, an alias.
    Use,
}

/// A place with the name of a thing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Occurrence {
    /// The name.
    pub name: TextRange,
    /// The name with its content: a key with its value, an entry with its options.
    pub whole: TextRange,
    /// The role.
    pub role: Role,
}

impl Occurrence {
    fn of(name: TextRange, role: Role) -> Occurrence {
        Occurrence::with(name, name, role)
    }

    fn with(name: TextRange, whole: TextRange, role: Role) -> Occurrence {
        Occurrence { name, whole, role }
    }
}

/// The occurrences of the thing under the byte at `offset` with the given roles: the file's own
/// first, then by path. O(files + occurrences); for variables and classes O(tokens in the workspace).
#[must_use]
pub fn references(
    analysis: Analysis<'_>,
    path: &str,
    offset: usize,
    roles: &[Role],
) -> Option<Vec<FilePlace>> {
    let mention = named::at(analysis.snapshot, path, offset)?;
    let mut found = Vec::new();
    for file in files_with(analysis, path, &mention.named) {
        if (analysis.is_cancelled)() {
            return None;
        }
        let occurrences = occurrences(analysis, file, &mention.named).into_iter();
        let wanted = occurrences.filter(|one| roles.contains(&one.role));
        found.extend(wanted.map(|one| FilePlace::with(file.path(), one.name, one.whole)));
    }
    if let Named::Variable(variable) = &mention.named
        && roles.contains(&Role::Definition)
        && let Some(view) = analysis.answering(path)
    {
        found.extend(assigned_places(analysis, view.root, variable));
    }
    found.sort_by(|a, b| {
        let is_elsewhere = [a, b].map(|place| *place.path != *path);
        (is_elsewhere[0], &a.path, a.name).cmp(&(is_elsewhere[1], &b.path, b.name))
    });
    Some(found)
}

/// The occurrences in one file of the thing under the cursor.
#[must_use]
pub fn highlights(analysis: Analysis<'_>, path: &str, offset: usize) -> Vec<Occurrence> {
    let snapshot = analysis.snapshot;
    let Some(mention) = named::at(snapshot, path, offset) else {
        return Vec::new();
    };
    let file = snapshot.file(path);
    let mut found = file.map_or_else(Vec::new, |file| occurrences(analysis, file, &mention.named));
    found.sort_by_key(|one| one.name);
    found
}

/// The files that may name a thing.
pub(crate) fn files_with<'a>(
    analysis: Analysis<'a>,
    path: &str,
    named: &Named,
) -> Vec<&'a Arc<File>> {
    let snapshot = analysis.snapshot;
    // A path belongs to a level of its own hierarchy.
    if let Named::Anchor { .. } | Named::Path(_) | Named::Element(_) = named {
        return snapshot.file(path).into_iter().collect();
    }
    let related = HieraFiles::related_to(analysis, path);
    if let Named::Function(_) = named {
        return related.configurations().collect();
    }
    // Most files do not name a thing, which costs less to tell than whether nodes read them.
    let may_refer = |file: &&Arc<File>| may_refer(&related, path, file);
    let may_name = |file: &&Arc<File>| {
        let facts = file.facts();
        let uses_it = || {
            if let Named::Variable(name) = named {
                facts.variables().any(|one| *variable(&one.name) == **name)
            } else {
                !facts.keys.is_empty() || !facts.tokens.is_empty()
            }
        };
        file.format().is_none() || is_expectations(file.path()) || uses_it()
    };
    let naming: Vec<&Arc<File>> = if let Named::Key(key) = named {
        files_naming(snapshot, key).collect()
    } else {
        snapshot.files().filter(may_name).collect()
    };
    if naming.len() <= FEW_FILES {
        return naming.into_iter().filter(may_refer).collect();
    }
    let read = related.read_files();
    let may_refer =
        |file: &&Arc<File>| may_refer_by(&related, path, file, || read.contains(&file.id()));
    naming.into_iter().filter(may_refer).collect()
}

/// The files that may name a key, ordered by id.
fn files_naming<'a>(
    snapshot: &'a Snapshot,
    key: &KeyTarget,
) -> impl Iterator<Item = &'a Arc<File>> {
    let mut naming: HashSet<FileId, KeyHashing> = HashSet::default();
    match key.steps.first() {
        None => naming.extend(snapshot.iter_ids_with(&key.root)),
        Some(name) => {
            let paths = snapshot.files_with_entry(&key.root, name);
            let files = paths.iter().filter_map(|path| snapshot.file(path));
            naming.extend(files.map(|file| file.id()));
        }
    }
    naming.extend(snapshot.iter_ids_with(LOOKUP_OPTIONS));
    let users = snapshot.files_with_tokens_for(&key.root);
    naming.extend(users.map(|file| file.id()));
    // Files outside of the workspace are not in the index.
    let outside = snapshot.open_files();
    let outside = outside.filter(|file| file.belongs() == Belongs::OpenOnly);
    naming.extend(outside.map(|file| file.id()));
    snapshot.files().filter(move |file| {
        naming.contains(&file.id()) || file.format().is_none() || is_expectations(file.path())
    })
}

/// Whether a file may refer to a key of the file at `path`, which `related` files are for.
pub(super) fn may_refer(related: &HieraFiles<'_>, path: &str, file: &File) -> bool {
    may_refer_by(related, path, file, || related.contains(file))
}

/// The same, where it is known whether a hierarchy reads the file.
fn may_refer_by(
    related: &HieraFiles<'_>,
    path: &str,
    file: &File,
    is_read: impl FnOnce() -> bool,
) -> bool {
    if file.facts().code.is_some() || is_expectations(file.path()) {
        related.has_code(file.path())
    } else {
        **file.path() == *path || is_read()
    }
}

/// The occurrences in a file, unordered.
pub(crate) fn occurrences(analysis: Analysis<'_>, file: &File, named: &Named) -> Vec<Occurrence> {
    let snapshot = analysis.snapshot;
    match named {
        Named::Key(key) => of_key(analysis, file, key),
        Named::Pattern(pattern) => of_options(file, |name| *name == **pattern).collect(),
        Named::Variable(name) => of_variable(snapshot, file, name),
        Named::Anchor { node, .. } => of_anchor(snapshot, file, *node),
        Named::Element(element) => of_element(snapshot, file, element),
        Named::Path(target) => of_path(snapshot, file, target),
        Named::Function(name) => of_function(snapshot, file, name),
        Named::Class(name) => of_class(snapshot, file, name),
    }
}

/// The lookups of a key in a manifest, and the class parameter that it sets.
pub(super) fn in_code(code: &CodeFacts, key: &KeyTarget) -> Vec<Occurrence> {
    let lookups = lookups_of(code, key)
        .map(|(name, lookup)| Occurrence::with(name, lookup.call.cover(name), Role::Use));
    let mut found: Vec<Occurrence> = lookups.collect();
    if let Some((class, parameter)) = split_parameter(&key.root)
        && key.steps.is_empty()
        && let Some(class) = code.definition(DefinitionKind::Class, class)
        && let Some(parameter) = class.parameter(parameter)
    {
        found.push(Occurrence::of(parameter.place, Role::Definition));
    }
    found
}

/// The definition of a class, the code that includes or names it, and values with its name.
fn of_class(snapshot: &Snapshot, file: &File, name: &str) -> Vec<Occurrence> {
    if let Some(code) = &file.facts().code {
        let definition = code.definition(DefinitionKind::Class, name);
        let definition = definition.map(|definition| {
            Occurrence::with(definition.place, definition.range, Role::Definition)
        });
        let includes = code.includes.iter();
        let includes = includes.filter(|include| include.class.as_deref() == Some(name));
        let includes = includes.map(|include| Occurrence::of(include.place, Role::Use));
        return definition.into_iter().chain(includes).collect();
    }
    if file.format().is_none() || !file.text().contains(name) {
        return Vec::new();
    }
    let parse = snapshot.parse_of(file, file.format().unwrap_or(Format::Yaml));
    let tree = &parse.tree;
    let is_key = |id: NodeId| {
        let around = tree
            .parent(id)
            .and_then(|parent| tree.node(parent).as_mapping());
        around.is_some_and(|pairs| pairs.iter().any(|&(key, _)| key == id))
    };
    let values = tree.nodes().filter(|(id, node)| {
        let text = node.as_scalar().map(|scalar| &scalar.text);
        text.is_some_and(|text| *class(text) == *name) && !is_key(*id)
    });
    let uses = values.map(|(_, node)| Occurrence::of(node.range, Role::Use));
    uses.collect()
}

fn of_key(analysis: Analysis<'_>, file: &File, key: &KeyTarget) -> Vec<Occurrence> {
    let snapshot = analysis.snapshot;
    let facts = file.facts();
    if is_expectations(file.path()) {
        let places = expected_keys::places(snapshot, file, key).into_iter();
        return places.map(|name| Occurrence::of(name, Role::Use)).collect();
    }
    if let Some(code) = &facts.code {
        return in_code(code, key);
    }
    let mut found = Vec::new();
    let is_top = key.steps.is_empty();
    if is_top {
        let has_key = facts.key(&key.root).is_some();
        let keys = facts
            .keys
            .iter()
            .filter(|fact| has_key && fact.name == key.root);
        found.extend(
            keys.map(|fact| {
                Occurrence::with(fact.key, fact.key.cover(fact.value), Role::Definition)
            }),
        );
        let applies = |entry: &str| {
            if entry.starts_with('^') {
                let pattern = analysis.configs.pattern(entry);
                pattern.is_ok_and(|it| it.is_match(&key.root).unwrap_or(false))
            } else {
                *entry == *key.root
            }
        };
        found.extend(of_options(file, applies));
    } else if facts.key(&key.root).is_some() {
        let place = KeyPositions::new(snapshot).place(file, &key.root, &key.steps);
        found.extend(place.map(|(name, whole)| Occurrence::with(name, whole, Role::Definition)));
    }
    for reference in facts.references() {
        if let Some(name) = part_of(file.text(), reference, &key.root, &key.steps) {
            found.push(Occurrence::with(name, reference.range, Role::Use));
        }
    }
    // A key that a merge key adds twice is in the file once.
    found.sort_by_key(|one| (one.name, one.role));
    found.dedup();
    found
}

/// The entries of `lookup_options` whose names satisfy `is_it`.
fn of_options(file: &File, is_it: impl Fn(&str) -> bool) -> impl Iterator<Item = Occurrence> {
    let options = file.facts().lookup_options.iter();
    let options = options.filter(move |option| is_it(&option.pattern));
    options.map(|option| Occurrence::with(option.key, option.key.cover(option.value), Role::Option))
}

/// The part of a token's key that names a key, up to the last step. `None` if it looks up another key.
fn part_of(text: &str, reference: &Reference, root: &str, steps: &[Value]) -> Option<TextRange> {
    if !reference.key.contains(root) {
        return None;
    }
    let argument = reference.argument;
    // With escapes, the whole argument is marked.
    let is_plain = argument.slice(text) == &*reference.key;
    let written = WrittenKey {
        key: &reference.key,
        plain: is_plain.then_some(argument),
        whole: argument,
    };
    written.place_of(root, steps)
}

fn of_variable(snapshot: &Snapshot, file: &File, name: &str) -> Vec<Occurrence> {
    let used = |name: TextRange| Occurrence::of(name, Role::Use);
    let uses = file.facts().variables();
    let uses = uses.filter(|one| *variable(&one.name) == *name);
    let mut found: Vec<Occurrence> = uses.map(|one| used(one.variable)).collect();
    if file.format().is_some() {
        return found;
    }
    let parse = snapshot.parse_of(file, Format::Yaml);
    let spans = locate(&parse.tree);
    let levels = spans.levels();
    let mut elements = Vec::new();
    for level in levels {
        if level.element(name).is_some() {
            elements.extend(uses_of_element(file, &parse.tree, level));
        }
        if let Some([list, _]) = &level.mapped
            && *variable(&list.text) == *name
        {
            let map = ScalarMap::new(file.text(), parse.tree.node(list.node));
            found.push(used(map.source_range(0..list.text.len())));
        }
    }
    for (_, node) in parse.tree.nodes() {
        let Some(scalar) = node.as_scalar() else {
            continue;
        };
        let map = ScalarMap::new(file.text(), node);
        for token in tokens(&scalar.text) {
            let place = map.source_range(token.inner.as_usize());
            let is_it = matches!(token.kind, TokenKind::Variable { .. })
                && *variable(token.inner.slice(&scalar.text)) == *name;
            if is_it && !elements.contains(&place) {
                found.push(used(place));
            }
        }
    }
    found
}

pub(super) fn of_anchor(snapshot: &Snapshot, file: &File, anchored: NodeId) -> Vec<Occurrence> {
    let parse = snapshot.parse_of(file, file.format().unwrap_or(Format::Yaml));
    let mut found = Vec::new();
    for (id, node) in parse.tree.nodes() {
        if id == anchored
            && let Some(anchor) = &node.anchor
        {
            found.push(Occurrence::with(
                anchor.range,
                node.full_range(),
                Role::Definition,
            ));
        }
        if matches!(&node.kind, NodeKind::Alias { target, .. } if *target == Some(anchored)) {
            found.push(Occurrence::of(node.range, Role::Use));
        }
    }
    found
}

/// The paths of a configuration for the same files: the same text and data directory.
fn of_path(snapshot: &Snapshot, file: &File, target: &PathTarget) -> Vec<Occurrence> {
    let spans = locate(&snapshot.parse_of(file, Format::Yaml).tree);
    // The default is `data`, as in `hierarchy/version5`.
    let datadir = |level: &LevelSpans| {
        let written = level.datadir.or(spans.defaults.datadir);
        let written = written.map(|written| written.slice(file.text()));
        let written = written.unwrap_or("data");
        written.trim_matches(['"', '\'']).to_owned()
    };
    let levels = || spans.levels();
    let own = levels().find(|level| level.range.contains(target.range));
    let own = own.map(datadir);
    let same_datadir = levels().filter(|level| Some(datadir(level)) == own);
    let paths = same_datadir.flat_map(|level| &level.locations);
    let paths = paths.filter(|span| span.text == target.span.text);
    let uses = paths.map(|span| Occurrence::of(span.range, Role::Use));
    uses.collect()
}

/// The name of elements in `mapped_paths` of a level, and its uses in the template.
fn of_element(snapshot: &Snapshot, file: &File, target: &ElementTarget) -> Vec<Occurrence> {
    let parse = snapshot.parse_of(file, Format::Yaml);
    let spans = locate(&parse.tree);
    let mut levels = spans.levels();
    let level = levels.find(|level| level.range == target.level);
    let uses = level.map_or_else(Vec::new, |level| uses_of_element(file, &parse.tree, level));
    let uses = uses.into_iter().map(|name| (name, Role::Use));
    let all = std::iter::once((target.place, Role::Definition)).chain(uses);
    all.map(|(name, role)| Occurrence::of(name, role)).collect()
}

fn of_function(snapshot: &Snapshot, file: &File, name: &str) -> Vec<Occurrence> {
    let spans = locate(&snapshot.parse_of(file, Format::Yaml).tree);
    let levels = spans.levels();
    let levels = levels.chain([&spans.defaults]);
    let values = levels.filter_map(|level| level.function.map(|(_, value)| value));
    let named = values.filter(|value| {
        let written = value.slice(file.text());
        written.trim_matches(['"', '\'']) == name
    });
    let uses = named.map(|name| Occurrence::of(name, Role::Use));
    uses.collect()
}
