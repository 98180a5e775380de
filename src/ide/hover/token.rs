//! A `%{…}` token: what its variable is known to be, or the value of the key that it looks up.

use std::sync::Arc;

use super::answers::{readers, runs};
use super::ground::Ground;
use super::key::{add_value, quoted, request, shell_word};
use super::levels;
use super::page::{Line, Page, code, joined, name, text};
use super::provenance::dig;
use super::{Hover, yaml};
use crate::interpolation::{Key, Method, Segment, Token, TokenKind, tokens};
use crate::lookup::{Answer, Request};
use crate::scope::{Scope, Variable};
use crate::syntax::{NodeId, ScalarMap, Tree};
use crate::text::TextRange;
use crate::value::Value;
use crate::workspace::File;

/// Most values of a variable that are named.
const MOST_VALUES: usize = 6;

/// Widest value on a line, in characters.
const WIDEST: usize = 60;

pub(super) fn hover(
    ground: &Ground<'_>,
    file: &File,
    tree: &Tree,
    nodes: &[NodeId],
    offset: usize,
) -> Option<Hover> {
    let node = tree.node(*nodes.last()?);
    let scalar = node.as_scalar()?;
    let (token, range) = at(file.text(), node, &scalar.text, offset)?;
    let mut page = Page::default();
    let written = token.range.slice(&scalar.text);
    match &token.kind {
        TokenKind::Variable { .. } => {
            let variable = token.inner.slice(&scalar.text);
            page.line(variable_line(ground, written, variable));
        }
        TokenKind::Call {
            method: Method::Scope,
            argument,
            ..
        } => page.line(variable_line(ground, written, argument)),
        TokenKind::Call {
            method: Method::Literal,
            argument,
            ..
        } => page.line(vec![
            name(written),
            text(" — the text "),
            code(argument.to_string()),
            text(", not looked at again"),
        ]),
        TokenKind::Call { argument, .. } => target(ground, written, argument, &mut page),
        TokenKind::Empty => page.line(vec![name(written), text(" — the empty text")]),
        TokenKind::UnknownMethod { name: method } => page.line(vec![
            name(written),
            text(" — Puppet fails here: "),
            code(format!("Unknown interpolation method '{method}'")),
        ]),
        TokenKind::Malformed => page.line(vec![
            name(written),
            text(" — Puppet fails here: "),
            code(format!(
                "Syntax error in string: {}",
                yaml::masked(&scalar.text)
            )),
        ]),
        TokenKind::Unclosed => page.line(vec![
            name("%{"),
            text(" — no } follows: Puppet leaves it as it is"),
        ]),
    }
    Some(page.hover(range, ground.options))
}

/// The token of a scalar under the cursor, and where it stands in the file.
pub(super) fn at(
    source: &str,
    node: &crate::syntax::Node,
    decoded: &str,
    offset: usize,
) -> Option<(Token, TextRange)> {
    if !crate::interpolation::has_tokens(decoded) {
        return None;
    }
    let map = ScalarMap::new(source, node);
    tokens(decoded).into_iter().find_map(|token| {
        let range = map.source_range(token.range.as_usize());
        let inside = (range.start as usize..range.end as usize).contains(&offset);
        inside.then_some((token, range))
    })
}

/// What is known of a variable, for the nodes that read the file.
pub(super) fn variable_line(ground: &Ground<'_>, written: &str, variable: &str) -> Line {
    let mut line = vec![name(written), text(" — ")];
    let reaches = ground.reach(ground.path);
    let scope = reaches
        .first()
        .map_or_else(Scope::open, crate::lookup::Reach::scope);
    let nodes = ground.options.nodes;
    if let Some(selected) = ground.options.selected
        && let Some(member) = nodes.find(selected)
    {
        let value = nodes.scope(member).variable(variable);
        match value {
            Variable::Known(value) => line.push(code(yaml::inline(&value, WIDEST))),
            Variable::Undefined(_) => line.push(text("undefined")),
            Variable::Unknown => line.push(text("unknown")),
        }
        line.extend([text(" for "), code(selected)]);
        return line;
    }
    let members = match (ground.is_config(), reaches.is_empty()) {
        (true, _) | (false, true) => (0..nodes.len()).collect(),
        (false, false) => readers(ground, &reaches, ground.path),
    };
    if !members.is_empty() {
        line.extend(counted(ground, &Arc::from(variable), &members));
        return line;
    }
    match scope.variable(variable) {
        Variable::Known(value) => {
            line.push(code(yaml::inline(&value, WIDEST)));
            line.push(text(", as this file's path says"));
        }
        Variable::Undefined(_) | Variable::Unknown => {
            line.push(text("depends on the node"));
            let values = domain(ground, variable);
            if !values.is_empty() {
                line.push(text("; file names know "));
                let shown = values.iter().take(MOST_VALUES);
                line.extend(joined(shown.map(|value| vec![code(value.clone())]), ", "));
                if values.len() > MOST_VALUES {
                    line.push(text(format!(" and {} more", values.len() - MOST_VALUES)));
                }
            }
        }
    }
    line
}

/// The values of a variable with how many nodes have each, the most frequent first.
fn counted(ground: &Ground<'_>, variable: &Arc<str>, members: &[usize]) -> Line {
    let column = ground.options.nodes.column(variable);
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
    let nodes = |count: usize| match count {
        1 => " for 1 node".to_string(),
        count => format!(" for {count} nodes"),
    };
    let shown = found.iter().take(MOST_VALUES).map(|&(at, count)| {
        let value = match &column.values[at] {
            Some(value) => code(yaml::inline(value, WIDEST)),
            None => text("undefined"),
        };
        vec![value, text(nodes(count))]
    });
    let mut line = joined(shown, ", ");
    if found.len() > MOST_VALUES {
        line.push(text(format!(
            " and {} values more",
            found.len() - MOST_VALUES
        )));
    }
    line
}

/// The values that the names of files know for a variable, ordered by bytes.
fn domain(ground: &Ground<'_>, variable: &str) -> Vec<String> {
    let variable = variable.trim_start_matches("::");
    let mut values: Vec<String> = Vec::new();
    for place in ground.places(&ground.layer).iter() {
        let is_it = |name: &Arc<str>| name.trim_start_matches("::") == variable;
        if !place.template.variables().any(is_it) || ground.is_outside(&place.template) {
            continue;
        }
        for path in ground.expand(&place.template) {
            let bound = place.template.bind(&path).unwrap_or_default();
            for (name, value) in bound {
                if is_it(&name) {
                    values.push(value);
                }
            }
        }
    }
    values.sort();
    values.dedup();
    values
}

/// The effective value of the key that a token looks up.
fn target(ground: &Ground<'_>, written: &str, key: &str, page: &mut Page) {
    let mut first = vec![name(written), text(" — ")];
    let Ok(parsed) = Key::parse(key) else {
        first.push(text("Puppet fails here: "));
        first.push(code(format!("Syntax error in key: '{key}'")));
        page.line(first);
        return;
    };
    let root = parsed.root.as_name().unwrap_or_default();
    let steps: Vec<Value> = parsed
        .segments
        .iter()
        .map(|segment| match segment {
            Segment::Name(name) => Value::String(name.clone()),
            Segment::Index(index) => Value::Int(*index),
        })
        .collect();
    let request = match steps.is_empty() {
        true => request(root),
        false => Request::key(key),
    }
    .traced();
    let reaches = ground.reach(ground.path);
    let nodes = ground.options.nodes;
    if let Some(selected) = ground.options.selected
        && let Some(member) = nodes.find(selected)
    {
        let scope = nodes.scope(member);
        let answer = ground.session().lookup(&scope, &request);
        let whose = vec![text(", for "), code(selected)];
        told(ground, first, root, &steps, &answer, whose, page);
        return;
    }
    let members = readers(ground, &reaches, ground.path);
    if members.is_empty() {
        let scope = reaches
            .first()
            .map_or_else(Scope::open, crate::lookup::Reach::scope);
        let answer = ground.session().lookup(&scope, &request);
        let conditions = levels::conditions(ground, &scope, &answer.unknown);
        let mut whose = Line::new();
        if !conditions.is_empty() {
            whose.push(text(", unless "));
            whose.extend(joined(conditions, ", or "));
        }
        told(ground, first, root, &steps, &answer, whose, page);
        return;
    }
    let runs = runs(ground, &request, &members);
    let mut groups: Vec<(&Answer, usize)> = Vec::new();
    for run in &runs {
        match groups
            .iter_mut()
            .find(|(answer, _)| answer.result == run.answer.result)
        {
            Some((_, count)) => *count += run.members.len(),
            None => groups.push((&run.answer, run.members.len())),
        }
    }
    groups.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    if let [(answer, _)] = groups.as_slice() {
        told(ground, first, root, &steps, answer, Line::new(), page);
        return;
    }
    let shown = groups.iter().take(MOST_VALUES).map(|(answer, count)| {
        let nodes = match count {
            1 => " for 1 node".to_string(),
            count => format!(" for {count} nodes"),
        };
        vec![short(answer), text(nodes)]
    });
    first.extend(joined(shown, ", "));
    if groups.len() > MOST_VALUES {
        let more = groups.len() - MOST_VALUES;
        first.push(text(format!(" and {more} answers more")));
    }
    page.line(first);
}

/// A missing key is the empty text in a token.
fn short(answer: &Answer) -> super::page::Piece {
    match &answer.result {
        Ok(value) => code(yaml::inline(value, WIDEST)),
        Err(error) if error.is_not_found() => text("not found (the empty text)"),
        Err(error) => text(format!("fails: {error}")),
    }
}

fn told(
    ground: &Ground<'_>,
    mut first: Line,
    root: &str,
    steps: &[Value],
    answer: &Answer,
    whose: Line,
    page: &mut Page,
) {
    let long = match &answer.result {
        Ok(value) => {
            let inline = yaml::inline(value, usize::MAX);
            (inline.chars().count() > WIDEST).then_some(value)
        }
        Err(_) => None,
    };
    if long.is_none() {
        first.push(short(answer));
    }
    let sources = levels::sources(answer, &lookup_name(root, steps, answer));
    let files: Vec<Arc<str>> = sources
        .iter()
        .filter(|source| dig(&source.value, steps).is_some())
        .filter_map(|source| source.path.clone())
        .collect();
    if !files.is_empty() {
        first.push(text(" ("));
        first.extend(levels::named(ground, root, steps, files.iter()));
        first.push(text(")"));
    }
    first.extend(whose);
    page.line(first);
    if let Some(value) = long {
        let max = ground.options.max_lines;
        let mut key = quoted(root);
        for step in steps {
            key.push('.');
            key.push_str(&match step.as_str() {
                Some(name) => quoted(name),
                None => step.to_s(),
            });
        }
        let all = format!("hiera-ls lookup {}", shell_word(&key));
        let shown = yaml::lines(value, &Default::default(), max);
        add_value(ground, page, shown, &key, all);
    }
}

/// The name under which a trace knows the lookup.
fn lookup_name(root: &str, steps: &[Value], answer: &Answer) -> String {
    if steps.is_empty() {
        return quoted(root);
    }
    let mut data = answer.trace.iter().flat_map(|trace| &trace.children);
    data.find_map(|node| {
        if let crate::lookup::NodeKind::Data(name) = &node.kind {
            Some(name.to_string())
        } else {
            None
        }
    })
    .unwrap_or_default()
}
