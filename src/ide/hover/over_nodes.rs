//! One key over the known nodes that read a file: groups, what each gets, and why.

use std::sync::Arc;

use super::context::Context;
use super::key::{CELL, View, add_value, one, shell_word, used};
use super::levels::{assumed_line, condition_line, merge_line};
use super::page::{Line, Page, code, name, text};
use super::provenance::{dig, notes};
use super::{Effective, yaml};
use crate::analysis::{Survey, layers_of, quoted, request, sources, strategy};
use crate::hierarchy::TemplatePart;
use crate::ide::cell::NO_FACTS;
use crate::ide::target::KeyTarget;
use crate::lookup::{Answer, LookupError, Reach, Request, Run};
use crate::scope::Scope;
use crate::value::Value;

/// Most answers that a table names.
const MOST_ANSWERS: usize = 8;

/// Most nodes that are asked for besides those that read the file.
const MOST_OTHERS: usize = 16;

/// Most differences that a cell names.
const MOST_CHANGES: usize = 4;

/// The answers over the known nodes that read the file.
pub(super) fn page(
    context: &Context<'_>,
    target: &KeyTarget,
    request: &Request,
    readers: &[usize],
) -> Page {
    let nodes = context.view.analysis.nodes;
    let mut runs = context.view.runs(request, readers);
    let groups = grouped(&runs, &target.steps);
    let total = readers.len();
    let survey = |members: &[usize], answer: Answer| {
        let scope = nodes.scope(members[0]);
        context.view.survey_of(&target.root, &scope, answer)
    };
    if groups.len() == 1 {
        // The one group's first run is the first of all.
        let Run { answer, members } = runs.swap_remove(0);
        let only = nodes.certname(readers[0]);
        let known = nodes.len();
        let whose = match (total, context.is_code) {
            (1, true) => format!("for {only}, the only known node"),
            (total, true) => format!("for all {total} known nodes"),
            (1, false) if known > 1 => {
                format!("for {only}, the only one of {known} nodes that reads this file")
            }
            (1, false) => format!("for {only}, the only node that reads this file"),
            (total, false) if known > total => {
                format!("for all {total} of {known} nodes that read this file")
            }
            (total, false) => format!("for all {total} nodes that read this file"),
        };
        let own = answer.result.as_ref().ok();
        let own = own.and_then(|value| dig(value, &target.steps)).cloned();
        let differs =
            total == 1 && own.is_some_and(|own| others_differ(context, target, readers, &own));
        let survey = survey(&members, answer);
        let view = View::new(context, target, survey, vec![text(whose)]);
        let mut page = one(context, target, &view);
        if differs {
            page.line(vec![text("other nodes get another value: see the matrix")]);
        }
        if nodes.are_names() {
            page.line(vec![text(NO_FACTS)]);
        }
        return page;
    }
    let mut page = Page::default();
    let Some(first) = groups.first() else {
        return page;
    };
    table(context, target, &groups, total, &mut page);
    let largest = first.runs[0];
    let survey = survey(&largest.members, largest.answer.clone());
    first_value(context, target, &groups, &survey, &mut page);
    let mut merge = merge_line(context, &survey.strategy, survey.options.as_ref());
    let differs = |group: &Group<'_>| {
        let run = group.runs[0];
        let scope = nodes.scope(run.members[0]);
        let entry = context.view.in_scope(&scope).options_entry(&target.root);
        strategy(&run.answer, &target.root, entry.as_ref()).kind != survey.strategy.kind
    };
    if !merge.is_empty() && groups[1..].iter().take(MOST_ANSWERS).any(differs) {
        merge.push(text(", for the first of them"));
    }
    page.line(merge);
    page.line(assumed_line(&largest.answer));
    let analysis = &context.view.analysis;
    let unknown = survey.unknowns(analysis, &target.steps);
    let conditions = survey.conditions(analysis, &unknown);
    let mut unless = condition_line(&target.root, conditions, &survey.outside());
    if !unless.is_empty() {
        unless.insert(0, text("unless "));
    }
    page.line(unless);
    if nodes.are_names() {
        page.line(vec![text(NO_FACTS)]);
    }
    page
}

/// Whether a node that does not read the file certainly gets another answer, as far as a few of them
/// tell.
fn others_differ(
    context: &Context<'_>,
    target: &KeyTarget,
    readers: &[usize],
    own: &Value,
) -> bool {
    let nodes = context.view.analysis.nodes;
    let others = (0..nodes.len()).filter(|member| readers.binary_search(member).is_err());
    let others: Vec<usize> = others.take(MOST_OTHERS).collect();
    let runs = context.view.runs(&request(&target.root), &others);
    runs.iter().any(|run| {
        let other = run.answer.result.as_ref().ok();
        let other = other.and_then(|value| dig(value, &target.steps));
        run.answer.unknown.is_empty() && other.is_some_and(|other| other != own)
    })
}

/// The table: value, number of nodes, reason.
fn table(
    context: &Context<'_>,
    target: &KeyTarget,
    groups: &[Group<'_>],
    total: usize,
    page: &mut Page,
) {
    let nodes = context.view.analysis.nodes;
    page.line(vec![
        name(target.shown()),
        text(format!(" — {} answers over {total} nodes", groups.len())),
    ]);
    let rows = groups.iter().take(MOST_ANSWERS).map(|group| {
        let count = match group.count {
            1 => nodes.certname(group.runs[0].members[0]).to_string(),
            count => format!("{count} nodes"),
        };
        vec![
            cell(group, &groups[0]),
            vec![text(count)],
            because(context, target, group, groups),
        ]
    });
    page.table(vec!["value", "nodes", "because"], rows.collect());
    if groups.len() > MOST_ANSWERS {
        let rest: usize = groups[MOST_ANSWERS..].iter().map(|group| group.count).sum();
        page.line(vec![text(format!(
            "and {} answers more, for {rest} nodes",
            groups.len() - MOST_ANSWERS
        ))]);
    }
}

/// The value of the largest group in full, where it doesn't fit its cell.
fn first_value(
    context: &Context<'_>,
    target: &KeyTarget,
    groups: &[Group<'_>],
    survey: &Survey,
    page: &mut Page,
) {
    let first = &groups[0];
    let Ok(Some(value)) = first.value else {
        return;
    };
    if !is_long(value) {
        return;
    }
    page.line(vec![text("the first of them:")]);
    let used = used(&survey.sources, target);
    let remarks = notes(context, target, value, &used, &survey.strategy);
    let max = context.options.max_lines.saturating_sub(groups.len());
    let nodes = context.view.analysis.nodes;
    let all = format!(
        "hiera-ls lookup {} --node {}",
        shell_word(&target.shown()),
        nodes.certname(first.runs[0].members[0])
    );
    let lines = yaml::lines(value, &remarks.parts, max);
    add_value(context, page, lines, &target.lookup_name(), all);
    page.line(remarks.of_whole());
}

/// The answers of a hover as data, the one for most nodes first.
pub(super) fn effective(context: &Context<'_>, target: &KeyTarget) -> Vec<Effective> {
    let view = &context.view;
    let nodes = view.analysis.nodes;
    let readers = context.readers();
    let steps = target.steps.as_slice();
    let answered = |survey: Survey, members: Vec<usize>| {
        let result = &survey.answer.result;
        let part = result.as_ref().map(|value| dig(value, steps));
        let names = members.into_iter().map(|member| nodes.certname(member));
        Effective {
            result: part.map(Option::<&Value>::cloned).map_err(Clone::clone),
            is_certain: survey.unknowns(&view.analysis, steps).is_empty()
                && !part.is_ok_and(|part| part.is_some_and(Value::has_opaque)),
            nodes: names.map(Arc::from).collect(),
        }
    };
    if readers.is_empty() {
        let scopes = context.reaches.first().map(Reach::scope);
        let scopes = scopes.or_else(|| context.is_code.then(Scope::open));
        let surveys = scopes.map(|scope| view.survey(&target.root, &scope));
        let answers = surveys.map(|survey| answered(survey, Vec::new()));
        return answers.into_iter().collect();
    }
    let runs = view.runs(&request(&target.root), &readers);
    let groups = grouped(&runs, steps).into_iter().map(|group| {
        let members = group.runs.iter().flat_map(|run| run.members.clone());
        let first = group.runs[0];
        let scope = nodes.scope(first.members[0]);
        let survey = view.survey_of(&target.root, &scope, first.answer.clone());
        answered(survey, members.collect())
    });
    groups.collect()
}

/// Nodes that get the same.
struct Group<'a> {
    value: Result<Option<&'a Value>, &'a LookupError>,
    runs: Vec<&'a Run>,
    count: usize,
}

/// The runs by what they give, the largest group first.
fn grouped<'a>(runs: &'a [Run], steps: &[Value]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for run in runs {
        let value = run.answer.result.as_ref().map(|value| dig(value, steps));
        match groups.iter_mut().find(|group| group.value == value) {
            Some(group) => {
                group.runs.push(run);
                group.count += run.members.len();
            }
            None => groups.push(Group {
                value,
                runs: vec![run],
                count: run.members.len(),
            }),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.count));
    groups
}

/// A group's value; where it is long, how it differs from the largest group's.
fn cell(group: &Group<'_>, largest: &Group<'_>) -> Line {
    match group.value {
        Ok(Some(value)) => {
            let differs = match largest.value {
                Ok(Some(base)) if is_long(value) && base != value => changes(base, value),
                Ok(_) | Err(_) => None,
            };
            let mut cell = match differs {
                Some(differs) => vec![text(differs)],
                None => vec![code(yaml::inline(value, CELL))],
            };
            if group.runs.iter().any(|run| !run.answer.unknown.is_empty()) {
                cell.push(text(" (not certain)"));
            }
            cell
        }
        Ok(None) => vec![text("not in the effective value")],
        Err(error) if error.is_not_found() => vec![text("not found")],
        Err(error) => vec![text("fails: "), text(error.to_string())],
    }
}

/// Whether a value does not fit a cell.
fn is_long(value: &Value) -> bool {
    yaml::inline(value, CELL + 1).chars().count() > CELL
}

/// How a hash or list differs from another, by its own keys or elements: `+strace, -vim, ~alice`.
fn changes(base: &Value, value: &Value) -> Option<String> {
    let mut found = Vec::new();
    match (base, value) {
        (Value::Hash(base), Value::Hash(value)) => {
            for (key, part) in value.iter() {
                match base.get(key) {
                    None => found.push(format!("+{}", yaml::inline(key, CELL))),
                    Some(other) if other != part => {
                        found.push(format!("~{}", yaml::inline(key, CELL)));
                    }
                    Some(_) => {}
                }
            }
            let gone = base.keys().filter(|key| !value.contains_key(*key));
            found.extend(gone.map(|key| format!("-{}", yaml::inline(key, CELL))));
        }
        (Value::Array(base), Value::Array(value)) => {
            let new = value.iter().filter(|element| !base.contains(element));
            found.extend(new.map(|element| format!("+{}", yaml::inline(element, CELL))));
            let gone = base.iter().filter(|element| !value.contains(element));
            found.extend(gone.map(|element| format!("-{}", yaml::inline(element, CELL))));
            if found.is_empty() {
                found.push("the same in another order".to_string());
            }
        }
        _ => return None,
    }
    let more = found.len().saturating_sub(MOST_CHANGES);
    found.truncate(MOST_CHANGES);
    let mut shown = found.join(", ");
    if more > 0 {
        shown.push_str(&format!(" and {more} more"));
    }
    // The same hash in another order is the same value.
    (!shown.is_empty()).then_some(shown)
}

/// The sources of a group's answer, and the variable by which its nodes differ from the others.
fn because(
    context: &Context<'_>,
    target: &KeyTarget,
    group: &Group<'_>,
    groups: &[Group<'_>],
) -> Line {
    let mut line = Line::new();
    let mut seen: Vec<Arc<str>> = Vec::new();
    for run in &group.runs {
        for source in sources(&run.answer, &quoted(&target.root)) {
            if let Some(path) = source.path
                && dig(&source.value, &target.steps).is_some()
                && !seen.contains(&path)
            {
                seen.push(path);
            }
        }
    }
    line.extend(context.named(&target.root, &target.steps, seen.iter()));
    let condition = difference(context, target, group, groups, &seen);
    if !condition.is_empty() {
        line.push(text(" ("));
        line.extend(condition);
        line.push(text(")"));
    }
    line
}

/// A variable whose value all nodes of a group share and no node of another has: of those in the
/// paths of its sources first, then of those that the strings name.
fn difference(
    context: &Context<'_>,
    target: &KeyTarget,
    group: &Group<'_>,
    groups: &[Group<'_>],
    sources: &[Arc<str>],
) -> Line {
    let mut variables: Vec<Arc<str>> = Vec::new();
    for layer in layers_of(&target.root) {
        for place in context.view.places(&layer).iter() {
            if sources.iter().any(|path| place.template.matches(path)) {
                for part in &place.template.parts {
                    if let TemplatePart::Variable(name) = part
                        && !variables.contains(name)
                    {
                        variables.push(name.clone());
                    }
                }
            }
        }
    }
    for variable in group
        .runs
        .iter()
        .flat_map(|run| &run.answer.reads.variables)
    {
        if !variables.contains(variable) {
            variables.push(variable.clone());
        }
    }
    let nodes = context.view.analysis.nodes;
    for variable in variables {
        let column = nodes.column(&variable);
        let id = |member: &usize| column.ids[*member];
        let mut own = group.runs.iter().flat_map(|run| &run.members).map(id);
        let Some(first) = own.next() else { continue };
        let is_shared = own.all(|other| other == first);
        let is_alone = groups
            .iter()
            .filter(|other| other.value != group.value)
            .flat_map(|other| &other.runs)
            .flat_map(|run| &run.members)
            .all(|member| id(member) != first);
        if is_shared && is_alone {
            let value = column.values[first as usize].as_ref();
            let value =
                value.map_or_else(|| "undef".to_string(), |value| yaml::inline(value, CELL));
            return vec![
                code(variable.to_string()),
                text(format!(" = {}", yaml::masked(&value))),
            ];
        }
    }
    Line::new()
}
