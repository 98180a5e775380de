//! A path of a hierarchy level: the files it reaches, for how many nodes, and for which values
//! there is none.

use std::sync::Arc;

use super::context::Context;
use super::page::{Line, Page, code, joined, name, text};
use super::token::variable_lines;
use crate::analysis::{MOST_EXPANDED, places_of};
use crate::hierarchy::LocationSpan;
use crate::ide::target::PathTarget;
use crate::interpolation::TokenKind;
use crate::lookup::Place;

/// Most files or combinations that are named.
const MOST_NAMED: usize = 4;

pub(super) fn page(context: &Context<'_>, target: &PathTarget) -> Page {
    let mut page = Page::default();
    if let Some(found) = &target.token
        && let TokenKind::Variable { .. } = found.token.kind
    {
        let written = found.token.range.slice(&found.text);
        let variable = found.token.inner.slice(&found.text);
        variable_lines(context, written, variable, &mut page);
    }
    let span = &target.span;
    let all = context.view.places(&context.view.layer);
    let places = places_of(&all, target.level, target.in_default_hierarchy, span);
    page.line(reached(context, span, &places));
    page
}

pub(super) fn reached(context: &Context<'_>, span: &LocationSpan, places: &[&Place]) -> Line {
    let mut line = vec![name(&*span.text), text(" — ")];
    if matches!(&*span.key, "uri" | "uris") {
        line.push(text("a URI, handed to the level's function"));
        return line;
    }
    if places
        .iter()
        .any(|place| context.view.analysis.is_outside(&place.template))
    {
        line.push(text("not in this workspace"));
        return line;
    }
    let files = context.view.files_of(places);
    line.push(match files.len() {
        0 => text("no file"),
        1 => text("1 file"),
        count if count >= MOST_EXPANDED => text(format!("{count} files or more")),
        count => text(format!("{count} files")),
    });
    if !files.is_empty() {
        line.push(text(": "));
        let shown = files.iter().take(MOST_NAMED);
        let shown = shown.map(|path| vec![context.file_link(path)]);
        line.extend(joined(shown, ", "));
        if files.len() > MOST_NAMED {
            line.push(text(", …"));
        }
    }
    line.extend(nodes_line(context, places, &files));
    line
}

/// For how many nodes there is a file, and for which values there is none.
fn nodes_line(context: &Context<'_>, places: &[&Place], files: &[String]) -> Line {
    let nodes = context.view.analysis.nodes;
    let Some(place) = places.first() else {
        return Line::new();
    };
    if nodes.is_empty() || place.template.is_constant() {
        return Line::new();
    }
    let is_mapped = place.mapped.is_some();
    let mut variables = place.template.variables();
    if variables.any(|variable| nodes.column(variable).unknown.is_some()) {
        return vec![text(
            " · which nodes read one depends on facts that are not known",
        )];
    }
    let mut with = vec![false; nodes.len()];
    for file in files {
        let matching = places.iter().copied();
        let matching = matching.filter(|place| place.template.matches(file));
        for member in context.view.readers(matching, file) {
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
