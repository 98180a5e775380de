//! Edits of `hiera.yaml` for renamed files and folders.

use crate::analysis::{Analysis, RootView, datadir_of, places_of};
use crate::edit::Edits;
use crate::hierarchy::{LevelSpans, LocationSpan, Template, TemplatePart, join, locate};
use crate::lookup::Place;
use crate::syntax::{ScalarMap, Tree};
use crate::text::{TextEdit, TextRange};
use crate::workspace::{File, Format, path};

/// A renamed file or folder, by absolute paths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moved {
    /// The old path.
    pub from: String,
    /// The new path.
    pub to: String,
}

/// The edits of `hiera.yaml` files after which literal paths and folders lead to the same files.
/// Parts from variables, and moves out of the data directory, change nothing. O(levels).
#[must_use]
pub fn file_renames(analysis: Analysis<'_>, moved: &[Moved]) -> Edits {
    let mut edits = Edits::new();
    for root in analysis.snapshot.roots().iter() {
        let config = root.hiera_yaml.as_deref();
        let Some(file) = config.and_then(|config| analysis.snapshot.file(config)) else {
            continue;
        };
        let found = of_config(&analysis.at(root), file, moved);
        if !found.is_empty() {
            edits.insert(file.path().clone(), found);
        }
    }
    edits
}

fn of_config(view: &RootView<'_>, file: &File, moved: &[Moved]) -> Vec<TextEdit> {
    let parse = view.analysis.snapshot.parse_of(file, Format::Yaml);
    let tree = &parse.tree;
    let spans = locate(tree);
    let all = view.places(&view.layer);
    let mut edits: Vec<TextEdit> = Vec::new();
    for (levels, are_default) in [(&spans.hierarchy, false), (&spans.default_hierarchy, true)] {
        for (index, level) in levels.iter().enumerate() {
            edits.extend(datadir(view, file, level, moved));
            for span in &level.locations {
                let places = places_of(&all, index, are_default, span);
                if matches!(&*span.key, "glob" | "globs") {
                    edits.extend(glob(file, tree, span, &places, moved));
                    continue;
                }
                if let Some(text) = places.iter().find_map(|place| renamed(place, moved)) {
                    edits.push(TextEdit::replace(literal_start(file, tree, span), text));
                }
            }
        }
    }
    edits.extend(datadir(view, file, &spans.defaults, moved));
    edits
}

/// The literal text at the start of a template.
fn start_of(template: &Template) -> Option<&str> {
    match template.parts.first()? {
        TemplatePart::Text(text) => Some(text),
        TemplatePart::Variable(_) | TemplatePart::Key(_) => None,
    }
}

/// The range of the literal text at the start of a path.
fn literal_start(file: &File, tree: &Tree, span: &LocationSpan) -> TextRange {
    let length = start_of(&Template::parse(&span.text)).map_or(0, str::len);
    ScalarMap::new(file.text(), tree.node(span.node)).source_range(0..length)
}

/// The edit of a glob if its folder, or one around it, moves.
fn glob(
    file: &File,
    tree: &Tree,
    span: &LocationSpan,
    places: &[&Place],
    moved: &[Moved],
) -> Option<TextEdit> {
    let end = span.text.find(['*', '?', '[', '{', '%', '\\']);
    let folder = path::parent(&span.text[..end?])?;
    let node = tree.node(span.node);
    moved.iter().find_map(|Moved { from, to }| {
        // The folders of the glob, from the innermost.
        let named = std::iter::successors(Some(folder), |inner| path::parent(inner));
        named.filter(|named| !named.is_empty()).find_map(|named| {
            let datadir = from.strip_suffix(named)?.strip_suffix('/')?;
            let here = path::join(datadir, folder);
            let mut files = places.iter().filter_map(|place| start_of(&place.template));
            let is_it = files.any(|at| path::within(at, &here).is_some());
            let new = path::within(to, datadir).filter(|_| is_it)?;
            let written = ScalarMap::new(file.text(), node).source_range(0..named.len());
            Some(TextEdit::replace(written, new))
        })
    })
}

/// The new start of a path below its data directory, if one of its folders moves or, for a whole
/// path, its file.
fn renamed(place: &Place, moved: &[Moved]) -> Option<String> {
    let (datadir, start) = (&*datadir_of(place)?, start_of(&place.template)?);
    let is_whole = place.template.is_constant();
    moved.iter().find_map(|Moved { from, to }| {
        path::within(from, datadir).filter(|below| !below.is_empty())?;
        let rest = match start.strip_prefix(from.as_str())? {
            "" if is_whole => "",
            rest if rest.starts_with('/') => rest,
            _ => return None,
        };
        let new = path::within(to, datadir)?;
        Some(format!("{new}{rest}"))
    })
}

/// The edit of a data directory that moves.
fn datadir(
    view: &RootView<'_>,
    file: &File,
    level: &LevelSpans,
    moved: &[Moved],
) -> Option<TextEdit> {
    let written = level.datadir?;
    let text = written.slice(file.text()).trim_matches(['"', '\'']);
    let folder = path::normalise(&join(&view.root.dir, text));
    if text.starts_with('/') || text.contains("%{") {
        return None;
    }
    moved.iter().find_map(|Moved { from, to }| {
        let rest = folder.strip_prefix(from.as_str())?;
        let is_it = rest.is_empty() || rest.starts_with('/');
        let new = path::within(to, &view.root.dir).filter(|_| is_it)?;
        Some(TextEdit::replace(written, format!("{new}{rest}")))
    })
}
