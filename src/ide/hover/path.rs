//! Hovers on paths of hierarchy levels: the files that nodes read, the number of nodes, and the
//! variables' values without a file.

use std::borrow::Cow;
use std::sync::Arc;

use indexmap::IndexSet;

use super::token::{element_lines, variable_lines};
use super::{Context, with_more};
use crate::analysis::{MAX_EXPANDED, is_wildcard, places_of};
use crate::hierarchy::LocationSpan;
use crate::ide::target::PathTarget;
use crate::interpolation::TokenKind;
use crate::lookup::Place;
use crate::page::{Line, Page, code, joined, name, text};
use crate::text::number_of;

/// Maximum number of files or combinations that are named.
const MAX_NAMED: usize = 4;

pub(super) fn page(context: &Context<'_>, target: &PathTarget) -> Page {
    let mut page = Page::default();
    let span = &target.span;
    let all = context.view.places(&context.view.layer);
    let places = places_of(&all, target.level, target.in_default_hierarchy, span);
    if let Some(found) = &target.token
        && let TokenKind::Variable { .. } = found.token.kind
    {
        let written = found.token.range.slice(&found.text);
        let variable = found.token.inner.slice(&found.text);
        let mut places = places.iter();
        match places.find_map(|place| list_of(place, variable)) {
            Some(list) => element_lines(context, written, list, &mut page),
            None => variable_lines(context, written, variable, &mut page),
        }
    }
    page.line(reached(context, span, &places));
    page
}

/// The variable of the list in `mapped_paths`, if a token uses the name of its elements.
fn list_of<'p>(place: &'p Place, variable: &str) -> Option<&'p Arc<str>> {
    let mut variables = place.template.variables();
    let is_own = variables.any(|known| **known == *variable);
    place.mapped.as_ref().filter(|_| !is_own)
}

pub(super) fn reached(context: &Context<'_>, span: &LocationSpan, places: &[&Place]) -> Line {
    let mut line = vec![name(&*span.text), text(" — ")];
    if matches!(&*span.key, "uri" | "uris") {
        line.push(text("a URI passed to the backend; no file is read"));
        return line;
    }
    if places
        .iter()
        .any(|place| context.view.analysis.is_outside(&place.template))
    {
        line.push(text("not in this workspace"));
        return line;
    }
    let view = context.view;
    let files = view.files_of(places);
    let is_open = |place: &&Place| !place.template.is_constant();
    let open: Vec<&Place> = places.iter().copied().filter(is_open).collect();
    if open.is_empty() || view.analysis.nodes.is_empty() {
        line.extend(counted_files(context, &files));
        return line;
    }
    let known = view.analysis.nodes.len();
    let members: Vec<usize> = match context.selected() {
        Some((_, member)) => vec![member],
        None => (0..known).collect(),
    };
    let Some(found) = view.read_files(places, &files, &members) else {
        line.extend(counted_files(context, &files));
        if !files.is_empty() {
            line.push(text(" · facts needed to tell which nodes read these"));
        }
        return line;
    };
    line.extend(counted_files(context, &found.read));
    if let Some((selected, _)) = context.selected() {
        line.extend([text(" for "), code(selected)]);
        if found.read.is_empty() {
            line.extend(values(context, open[0], members.into_iter(), ": "));
        }
        return line;
    }
    let count = found.has_file.iter().filter(|has_file| **has_file).count();
    let is_cut = files.len() >= MAX_EXPANDED;
    line.push(text(match count {
        1 => format!(" · 1 of {known} nodes has a file"),
        count if is_cut && count < known => {
            format!(" · at least {count} of {known} nodes have a file")
        }
        count => format!(" · {count} of {known} nodes have a file"),
    }));
    match found.unread.as_slice() {
        [] => {}
        [_] => line.push(text(" · 1 matching file that no known node reads")),
        more => line.push(text(format!(
            " · {} matching files that no known node reads",
            more.len()
        ))),
    }
    // A node without one of these files may have one that is not among them.
    if open[0].mapped.is_none() && !found.read.is_empty() && !is_cut {
        let without = (0..known).filter(|&member| !found.has_file[member]);
        line.extend(values(context, open[0], without, " · no file for "));
    }
    line
}

/// The number of files, with the names of a few.
fn counted_files(context: &Context<'_>, files: &[String]) -> Line {
    let mut line = vec![text(match files.len() {
        0 => "no file".to_owned(),
        count if count >= MAX_EXPANDED => format!("{count} files or more: "),
        count => format!("{}: ", number_of(count, "file")),
    })];
    let shown = files.iter().take(MAX_NAMED);
    let shown = shown.map(|path| vec![context.file_link(path)]);
    line.extend(joined(shown, ", "));
    if files.len() > MAX_NAMED {
        line.push(text(", …"));
    }
    line
}

/// The values of a path's variables on some nodes, each combination once: `role = web, db`, or
/// `role = web, env = test; role = db, env = prod`.
fn values(
    context: &Context<'_>,
    place: &Place,
    members: impl Iterator<Item = usize>,
    before: &str,
) -> Line {
    let nodes = context.view.analysis.nodes;
    let variables = place.template.variables();
    let variables: IndexSet<&Arc<str>> = variables.filter(|name| !is_wildcard(name)).collect();
    let columns = nodes.columns(variables.iter().copied());
    let mut found: IndexSet<Vec<String>> = IndexSet::new();
    for member in members {
        let texts = columns.iter().map(|column| column.text(member));
        let values: Vec<String> = texts.map(Cow::into_owned).collect();
        if values.iter().all(|value| !value.is_empty()) {
            found.insert(values);
        }
    }
    if found.is_empty() || variables.is_empty() {
        return Line::new();
    }
    let names: Vec<&str> = variables.iter().map(|name| &***name).collect();
    let more = found.len().saturating_sub(MAX_NAMED);
    let shown = found.iter().take(MAX_NAMED);
    let mut line = vec![text(before)];
    if let [only] = *names {
        line.extend([code(only), text(" = ")]);
        let shown = shown.map(|values| vec![text(values.concat())]);
        line.extend(with_more(joined(shown, ", "), more));
        return line;
    }
    let shown = shown.map(|values| {
        let pairs = names.iter().zip(values);
        let pairs = pairs.map(|(name, value)| vec![code(*name), text(format!(" = {value}"))]);
        joined(pairs, ", ")
    });
    line.extend(with_more(joined(shown, "; "), more));
    line
}
