//! Hovers on `%{…}` tokens: the known values of a variable, or the value of the key that is looked up.

use std::sync::Arc;

use super::key::add_value;
use super::levels::{self, unless};
use super::refused;
use super::{Context, few};
use crate::analysis::{
    custom_fact_places, dig, fact_of, grouped_by_answer, left_out, quoted, sources,
};
use crate::ide::set_place::setters;
use crate::ide::shell::lookup_command;
use crate::ide::target::{KeyTarget, TokenTarget, is_config};
use crate::interpolation::{Method, TokenKind};
use crate::lookup::{Answer, Request, Strict, TraceKind};
use crate::page::yaml;
use crate::page::{Line, Page, Piece, code, joined, name, text};
use crate::scope::{Undefined, Variable};
use crate::syntax::puppet::without_colons;
use crate::text::number_of;
use crate::value::Value;

/// Maximum number of values that are named for a variable.
const MAX_VALUES: usize = 6;

/// Maximum width of a value, in characters.
const WIDEST: usize = 60;

pub(super) fn page(context: &Context<'_>, target: &TokenTarget) -> Page {
    let mut page = Page::default();
    let TokenTarget {
        token, text: whole, ..
    } = target;
    let written = token.range.slice(whole);
    match &token.kind {
        TokenKind::Variable { .. } => {
            variable_lines(context, written, token.inner.slice(whole), &mut page);
        }
        TokenKind::Call {
            method: Method::Scope,
            argument,
            ..
        } => variable_lines(context, written, argument, &mut page),
        TokenKind::Call {
            method: Method::Literal,
            argument,
            ..
        } => page.line(vec![
            name(written),
            text(" — a literal "),
            code(argument.to_string()),
        ]),
        TokenKind::Call {
            method: Method::Alias,
            ..
        } if written.len() != whole.len() => {
            let message = "'alias' interpolation is only permitted if the expression is equal to the entire string";
            page.line(fails(written, message.to_owned()));
        }
        TokenKind::Call { argument, .. } => match KeyTarget::named(argument) {
            Some(key) => {
                looked_up(context, written, &key, argument, &mut page);
                let files = context.view.refused_files(&key.root);
                refused::add_lines(context, &files, &mut page);
            }
            None => page.line(fails(written, format!("Syntax error in key: '{argument}'"))),
        },
        TokenKind::Empty => page.line(vec![name(written), text(" — the empty string")]),
        TokenKind::UnknownMethod { name: method } => {
            let message = format!("Unknown interpolation method '{method}'");
            page.line(fails(written, message));
        }
        TokenKind::Malformed => {
            let message = format!("Syntax error in string: {}", yaml::masked(whole));
            page.line(fails(written, message));
        }
        TokenKind::Unclosed => page.line(vec![
            name("%{"),
            text(" — the closing '}' is missing: Puppet leaves it as it is"),
        ]),
    }
    page
}

pub(super) fn variable_page(context: &Context<'_>, variable: &str) -> Page {
    let mut page = Page::default();
    variable_lines(context, variable, variable, &mut page);
    page
}

/// Adds the known values of a variable, and the code that sets it.
pub(super) fn variable_lines(
    context: &Context<'_>,
    written: &str,
    variable: &str,
    page: &mut Page,
) {
    page.line(variable_line(context, written, variable));
    match setters_line(context, variable) {
        Some(line) => page.line(line),
        None if is_unknown_for_some(context, variable) && levels::may_be_set(context, variable) => {
            page.line(levels::refused_manifest(context));
        }
        None => {}
    }
    if let Some(line) = custom_fact_line(context, variable) {
        page.line(line);
    }
}

/// The lines of modules that add a fact: `a custom fact, added by modules/m/lib/facter/role.rb:3`.
fn custom_fact_line(context: &Context<'_>, variable: &str) -> Option<Line> {
    let fact = fact_of(variable)?;
    let added = custom_fact_places(context.view.analysis.snapshot, &fact);
    let shown = added.map(|(file, place)| {
        let line = file.line(place.start as usize) + 1;
        vec![context.link(file.path(), line)]
    });
    let shown: Vec<Line> = shown.take(MAX_VALUES).collect();
    if shown.is_empty() {
        return None;
    }
    let mut line = vec![text("a custom fact, added by ")];
    line.extend(joined(shown, ", "));
    Some(line)
}

/// Whether the variable is unknown for a known node.
fn is_unknown_for_some(context: &Context<'_>, variable: &str) -> bool {
    let column = context.view.analysis.nodes.column(&Arc::from(variable));
    column.unknown.is_some()
}

/// Adds the known elements of a list that `mapped_paths` binds to a variable.
pub(super) fn element_lines(
    context: &Context<'_>,
    written: &str,
    list: &Arc<str>,
    page: &mut Page,
) {
    let mut line = vec![
        name(written),
        text(" — each element of "),
        code(list.to_string()),
    ];
    let elements = elements(context, list);
    if !elements.is_empty() {
        line.push(text(": "));
        let shown = elements.iter().map(|(element, count)| {
            let mut shown = vec![code(yaml::inline(element, WIDEST))];
            shown.extend(context.selected().is_none().then(|| for_nodes(*count)));
            shown
        });
        line.extend(few(shown, MAX_VALUES));
    }
    if let Some((selected, _)) = context.selected() {
        line.extend([text(", for "), code(selected)]);
    }
    page.line(line);
    if let Some(line) = setters_line(context, list) {
        page.line(line);
    }
}

/// The elements of a list with the number of nodes that have each.
fn elements(context: &Context<'_>, list: &Arc<str>) -> Vec<(Value, usize)> {
    let column = context.view.analysis.nodes.column(list);
    let mut found: Vec<(Value, usize)> = Vec::new();
    for member in members(context) {
        let value = column.value(member);
        let is_text = |value: &&Value| value.as_str().is_some_and(|text| !text.is_empty());
        let one = value.filter(is_text).map(std::slice::from_ref);
        let elements = value.and_then(Value::as_array).or(one);
        for element in elements.unwrap_or_default() {
            match found.iter_mut().find(|(known, _)| known == element) {
                Some((_, count)) => *count += 1,
                None => found.push((element.clone(), 1)),
            }
        }
    }
    found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    found
}

/// The lines of manifests that set a variable: `set by manifests/site.pp:3 for 2 nodes`.
fn setters_line(context: &Context<'_>, variable: &str) -> Option<Line> {
    let setters = setters(context.view.analysis, variable, &members(context));
    let shown = setters.iter().take(MAX_VALUES).map(|setter| {
        let set = &setter.assignment;
        let mut line = vec![context.link(&set.file, set.line)];
        if context.selected().is_none() {
            line.push(for_nodes(setter.nodes));
        }
        if let Err(because) = &set.value {
            line.push(text(format!(" (not known: {because})")));
        }
        line
    });
    let mut line = vec![text("set by ")];
    line.extend(joined(shown, ", "));
    if let Some(more @ 1..) = setters.len().checked_sub(MAX_VALUES) {
        line.push(text(format!(" and {more} more lines")));
    }
    (!setters.is_empty()).then_some(line)
}

/// The nodes that an answer is for: the selected one, else those that read the file, or all for a
/// configuration and a file without levels.
fn members(context: &Context<'_>) -> Vec<usize> {
    if let Some((_, member)) = context.selected() {
        return vec![member];
    }
    let analysis = &context.view.analysis;
    let is_for_all = context.own.reaches.is_empty() || is_config(analysis.snapshot, context.path());
    if is_for_all {
        (0..analysis.nodes.len()).collect()
    } else {
        context.readers().to_vec()
    }
}

fn fails(written: &str, message: String) -> Line {
    vec![name(written), text(" — Puppet fails here: "), code(message)]
}

/// The known values of a variable, for the nodes that read the file.
fn variable_line(context: &Context<'_>, written: &str, variable: &str) -> Line {
    let mut line = vec![name(written), text(" — ")];
    let analysis = &context.view.analysis;
    let nodes = analysis.nodes;
    if let Some((selected, member)) = context.selected() {
        line.push(match nodes.scope(member).variable(variable) {
            Variable::Known(value) => code(yaml::inline(&value, WIDEST)),
            Variable::Undefined(undefined) => text(undefined_words(context, &undefined)),
            Variable::Unknown => text("unknown"),
        });
        line.extend([text(" for "), code(selected)]);
        return line;
    }
    let members = members(context);
    if !members.is_empty() {
        line.extend(counted(context, &Arc::from(variable), &members));
        return line;
    }
    match context.own.path_scope().variable(variable) {
        Variable::Known(value) => {
            line.push(code(yaml::inline(&value, WIDEST)));
            line.push(text(", as this file's path says"));
        }
        Variable::Undefined(_) if context.view.is_of_plans() => line.push(text(
            "undefined, so a lookup fails: plans have no node outside of apply blocks",
        )),
        Variable::Unknown if context.view.is_of_plans() => {
            line.push(text("depends on the variables of the plan"));
        }
        Variable::Undefined(_) | Variable::Unknown => {
            line.push(text("depends on the node"));
            let values = values_in_paths(context, variable);
            if !values.is_empty() {
                line.push(text("; known from file names: "));
                let shown = values.iter().map(|value| vec![code(value.clone())]);
                line.extend(few(shown, MAX_VALUES));
            }
        }
    }
    line
}

/// The result of an undefined variable (`Scope#variable_not_found`).
fn undefined_words(context: &Context<'_>, undefined: &Undefined) -> &'static str {
    let analysis = context.view.analysis;
    let is_path = is_config(analysis.snapshot, context.path());
    match analysis.settings.strict {
        Strict::Error if !undefined.silent && !is_path => "undefined: Puppet fails here",
        Strict::Error | Strict::Warning | Strict::Off => "undefined: an empty string",
    }
}

fn for_nodes(count: usize) -> Piece {
    text(format!(" for {}", number_of(count, "node")))
}

/// The values of a variable with the number of nodes that have each, the most frequent first.
fn counted(context: &Context<'_>, variable: &Arc<str>, members: &[usize]) -> Line {
    let column = context.view.analysis.nodes.column(variable);
    let mut counts = vec![0usize; column.values.len()];
    for &member in members {
        counts[column.ids[member] as usize] += 1;
    }
    let mut found: Vec<(usize, usize)> = counts
        .into_iter()
        .enumerate()
        .filter(|(_, count)| *count > 0)
        .collect();
    found.sort_by_key(|&(at, count)| (std::cmp::Reverse(count), at));
    // If each node has its own value, one example is enough.
    if found.len() > MAX_VALUES && found.iter().all(|(_, count)| *count == 1) {
        let first = column.values[found[0].0].as_ref();
        let first = first.map_or_else(String::new, |value| yaml::inline(value, WIDEST));
        let words = format!(
            "a different value on each of {} nodes, such as ",
            found.len()
        );
        return vec![text(words), code(first)];
    }
    let shown = found.iter().take(MAX_VALUES).map(|&(at, count)| {
        let value = match &column.values[at] {
            Some(value) => code(yaml::inline(value, WIDEST)),
            None if column.unknown == Some(at as u32) => text("not known"),
            None => {
                let node = members
                    .iter()
                    .find(|&&member| column.ids[member] as usize == at);
                let scope = node.map(|&member| context.view.analysis.nodes.scope(member));
                text(match scope.map(|scope| scope.variable(variable)) {
                    Some(Variable::Undefined(undefined)) => undefined_words(context, &undefined),
                    Some(Variable::Known(_) | Variable::Unknown) | None => "undefined",
                })
            }
        };
        vec![value, for_nodes(count)]
    });
    let mut line = joined(shown, ", ");
    if let Some(more @ 1..) = found.len().checked_sub(MAX_VALUES) {
        line.push(text(format!(" and {more} more values")));
    }
    line
}

/// The values of a variable in the paths of existing files, in byte order.
fn values_in_paths(context: &Context<'_>, variable: &str) -> Vec<String> {
    let variable = without_colons(variable);
    let view = context.view;
    let mut values: Vec<String> = Vec::new();
    for place in view.places(&view.layer).iter() {
        let is_it = |name: &Arc<str>| without_colons(name) == variable;
        if !place.template.variables().any(is_it) || view.analysis.is_outside(&place.template) {
            continue;
        }
        for path in view.expand(&place.template) {
            let bound = place.template.bind_across_folders(&path);
            let bound = bound.into_iter().flatten();
            let bound = bound.filter(|(name, _)| is_it(name));
            values.extend(bound.map(|(_, value)| value));
        }
    }
    values.sort();
    values.dedup();
    values
}

/// Adds the effective value of the key that a token looks up; `argument` is the key as written.
fn looked_up(
    context: &Context<'_>,
    written: &str,
    key: &KeyTarget,
    argument: &str,
    page: &mut Page,
) {
    let mut first = vec![name(written), text(" — ")];
    let request = if key.steps.is_empty() {
        crate::analysis::request(&key.root)
    } else {
        Request::key(argument).with_sources()
    };
    let view = context.view;
    let nodes = view.analysis.nodes;
    if let Some((selected, member)) = context.selected() {
        let answer = view.session().lookup(&nodes.scope(member), &request);
        let audience = vec![text(", for "), code(selected)];
        one(context, first, key, &answer, audience, page);
        return;
    }
    let members = context.readers();
    if members.is_empty() {
        let scope = context.own.path_scope();
        let answer = view.session().lookup(&scope, &request);
        let conditions = view.in_scope(&scope).conditions(&answer.unknown);
        let audience = unless(&key.root, conditions);
        one(context, first, key, &answer, audience, page);
        return;
    }
    let runs = view.runs(&request, &members);
    let groups = grouped_by_answer(&runs, &[]);
    let left = left_out(&runs, &members);
    if groups.len() == 1 && left == 0 {
        one(context, first, key, &runs[0].answer, Line::new(), page);
        return;
    }
    let shown = groups.iter().take(MAX_VALUES);
    let shown = shown.map(|group| vec![short(&group.runs[0].answer), for_nodes(group.count)]);
    first.extend(joined(shown, ", "));
    if let Some(more @ 1..) = groups.len().checked_sub(MAX_VALUES) {
        first.push(text(format!(" and {more} more values")));
    }
    if left > 0 {
        first.push(text(format!(" ({left} nodes not looked up)")));
    }
    page.line(first);
}

/// The value in short; for a missing key Puppet inserts the empty string.
fn short(answer: &Answer) -> Piece {
    match &answer.result {
        Ok(value @ Value::Opaque(_)) if answer.unknown.is_empty() => {
            let because = value.opaque_reason();
            text(because.unwrap_or_else(|| yaml::inline(value, WIDEST)))
        }
        Ok(value) => code(yaml::inline(value, WIDEST)),
        Err(error) if error.is_not_found() => text("not found (the empty string)"),
        Err(error) => text(format!("fails: {}", error.words())),
    }
}

/// Adds one answer: the value, with its files.
fn one(
    context: &Context<'_>,
    mut first: Line,
    key: &KeyTarget,
    answer: &Answer,
    audience: Line,
    page: &mut Page,
) {
    let value = answer.result.as_ref().ok();
    let is_long = |value: &&_| yaml::whole_inline(value, WIDEST).is_none();
    let long = value.filter(is_long);
    if long.is_none() {
        first.push(short(answer));
    }
    let sources = sources(answer, &traced_name(key, answer)).into_iter();
    let sources = sources.filter(|source| dig(&source.value, &key.steps).is_some());
    let files: Vec<Arc<str>> = sources.filter_map(|source| source.path).collect();
    if !files.is_empty() {
        first.push(text(" ("));
        first.extend(context.named(&key.root, &key.steps, files.iter()));
        first.push(text(")"));
    }
    first.extend(audience);
    page.line(first);
    if let Some(value) = long {
        let name = key.lookup_name();
        let all = lookup_command(context.view, &name, None);
        let shown = yaml::lines(value, &Default::default(), context.shows_whole());
        add_value(context, page, shown, &name, all);
    }
}

/// The name of the looked-up key in the trace.
fn traced_name(key: &KeyTarget, answer: &Answer) -> String {
    if key.steps.is_empty() {
        return quoted(&key.root);
    }
    let mut nodes = answer.trace.iter().flat_map(|trace| &trace.children);
    let data = nodes.find_map(|node| {
        if let TraceKind::Data(name) = &node.kind {
            Some(name.to_string())
        } else {
            None
        }
    });
    data.unwrap_or_default()
}
