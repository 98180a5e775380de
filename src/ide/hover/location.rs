//! A path of a hierarchy level: the files it reaches, for how many nodes, and for which values
//! there is none.

use std::sync::Arc;

use super::ground::{Ground, MOST_REACHED};
use super::page::{Line, Page, code, joined, name, text};
use super::{Hover, token};
use crate::hierarchy::{LevelSpans, LocationSpan};
use crate::interpolation::TokenKind;
use crate::lookup::Place;
use crate::syntax::Tree;
use crate::workspace::{File, FileKind, Files as _};

/// Most files or combinations that are named.
const MOST_NAMED: usize = 4;

pub(super) fn hover(ground: &Ground<'_>, file: &File, tree: &Tree, offset: usize) -> Option<Hover> {
    let spans = crate::hierarchy::locate(tree);
    let (span, level, in_default) = location_at(&spans.hierarchy, offset)
        .map(|(span, level)| (span, level, false))
        .or_else(|| {
            let (span, level) = location_at(&spans.default_hierarchy, offset)?;
            Some((span, level, true))
        })?;
    let mut page = Page::default();
    if let Some((token, _)) = token::at(file.text(), tree.node(span.node), &span.text, offset)
        && let TokenKind::Variable { .. } = token.kind
    {
        let written = token.range.slice(&span.text);
        let variable = token.inner.slice(&span.text);
        page.line(token::variable_line(ground, written, variable));
    }
    let all = ground.places(&ground.layer);
    let is_glob = matches!(&*span.key, "glob" | "globs");
    let places: Vec<&Place> = all
        .iter()
        .filter(|place| {
            place.index == level
                && place.in_default_hierarchy == in_default
                && (is_glob || place.original == span.text)
        })
        .collect();
    page.line(reached(ground, span, &places));
    let range = tree.node(span.node).range;
    Some(page.hover(range, ground.options))
}

fn location_at(levels: &[LevelSpans], offset: usize) -> Option<(&LocationSpan, usize)> {
    levels.iter().enumerate().find_map(|(at, level)| {
        let mut locations = level.locations.iter();
        let found = locations.find(|location| location.range.touches(offset))?;
        Some((found, at))
    })
}

fn reached(ground: &Ground<'_>, span: &LocationSpan, places: &[&Place]) -> Line {
    let mut line = vec![name(&*span.text), text(" — ")];
    if matches!(&*span.key, "uri" | "uris") {
        line.push(text("a URI, handed to the level's function"));
        return line;
    }
    if places
        .iter()
        .any(|place| ground.is_outside(&place.template))
    {
        line.push(text("not in this workspace"));
        return line;
    }
    let mut files: Vec<String> = Vec::new();
    for place in places {
        match place.template.is_constant() {
            true => files.extend(existing(ground, place)),
            false => files.extend(ground.expand(&place.template)),
        }
    }
    files.sort();
    files.dedup();
    line.push(match files.len() {
        0 => text("no file"),
        1 => text("1 file"),
        count if count >= MOST_REACHED => text(format!("{count} files or more")),
        count => text(format!("{count} files")),
    });
    if !files.is_empty() {
        line.push(text(": "));
        let shown = files.iter().take(MOST_NAMED);
        line.extend(joined(
            shown.map(|path| {
                vec![super::page::Piece::Place {
                    label: ground.label(path),
                    path: path.clone(),
                    line: 1,
                }]
            }),
            ", ",
        ));
        if files.len() > MOST_NAMED {
            line.push(text(", …"));
        }
    }
    line.extend(nodes_line(ground, places, &files));
    line
}

fn existing(ground: &Ground<'_>, place: &Place) -> Option<String> {
    let [crate::hierarchy::TemplatePart::Text(path)] = place.template.parts.as_slice() else {
        return None;
    };
    let is_file = ground.snapshot.kind(path) == Some(FileKind::File);
    is_file.then(|| crate::workspace::path::normalise(path))
}

/// For how many nodes there is a file, and for which values there is none.
fn nodes_line(ground: &Ground<'_>, places: &[&Place], files: &[String]) -> Line {
    let nodes = ground.options.nodes;
    let Some(place) = places.first() else {
        return Line::new();
    };
    if nodes.is_empty() || place.template.is_constant() {
        return Line::new();
    }
    let is_mapped = ground.mapped_variable(place).is_some();
    let mut with = vec![false; nodes.len()];
    for file in files {
        let reaches: Vec<crate::lookup::Reach> = places
            .iter()
            .filter(|place| place.template.matches(file))
            .map(|place| crate::lookup::Reach {
                place: (*place).clone(),
                bindings: Vec::new(),
            })
            .collect();
        for member in super::answers::readers(ground, &reaches, file) {
            with[member] = true;
        }
    }
    let count = with.iter().filter(|with| **with).count();
    let mut line = vec![text(format!(
        " · {count} of {} nodes read one",
        nodes.len()
    ))];
    if is_mapped || files.is_empty() {
        return line;
    }
    let variables: Vec<&Arc<str>> = place.template.variables().collect();
    let columns: Vec<_> = variables.iter().map(|name| nodes.column(name)).collect();
    let mut missing: Vec<Vec<String>> = Vec::new();
    for member in (0..nodes.len()).filter(|&member| !with[member]) {
        let values: Vec<String> = columns.iter().map(|column| column.text(member)).collect();
        if !missing.contains(&values) && values.iter().all(|value| !value.is_empty()) {
            missing.push(values);
        }
    }
    if missing.is_empty() {
        return line;
    }
    line.push(text(" · no file for "));
    let shown = missing.iter().take(MOST_NAMED).map(|values| {
        let pairs = variables.iter().zip(values);
        joined(
            pairs.map(|(name, value)| vec![code(name.to_string()), text(format!(" = {value}"))]),
            " at ",
        )
    });
    line.extend(joined(shown, ", "));
    if missing.len() > MOST_NAMED {
        line.push(text(format!(" and {} more", missing.len() - MOST_NAMED)));
    }
    line
}
