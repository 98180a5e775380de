//! Hovers on a key whose value may differ on the known nodes that read the file: the answers, their
//! nodes, and the reasons.

use std::sync::Arc;

use indexmap::IndexSet;

use super::Context;
use super::change::{changes, is_long};
use super::key::{CELL, add_value, manner, merge_flag, used};
use super::levels::{add_offers, assumed_line, may_differ, merge_line};
use super::provenance::notes;
use crate::analysis::{SameAnswer, Survey, dig, layers_of, quoted, sources, strategy};
use crate::ide::cell::{NO_FACTS, counted};
use crate::ide::shell::lookup_command;
use crate::ide::target::KeyTarget;
use crate::lookup::{Request, Run, Strategy, StrategyKind};
use crate::page::yaml;
use crate::page::{Line, Page, WIDTH, code, joined, name, plain_words, text};

/// Maximum number of answers that are named after the first.
const MAX_ANSWERS: usize = 5;

/// Maximum number of lines that are named as the source of a value.
const MAX_GIVERS: usize = 2;

/// The answers that are known: that of most nodes of the workspace's own environment in full, one line
/// for each other. `left` of `total` nodes were not looked up.
pub(super) fn page(
    context: &Context<'_>,
    target: &KeyTarget,
    request: &Request,
    mut groups: Vec<SameAnswer<'_>>,
    (total, left): (usize, usize),
) -> Page {
    let view = context.view;
    let nodes = view.analysis.nodes;
    groups.sort_by_key(|group| {
        let mut members = group.runs.iter().flat_map(|run| &run.members);
        members.all(|member| nodes.is_elsewhere(*member))
    });
    own_first(context, target, &mut groups);
    let groups = groups.as_slice();
    let mut page = Page::default();
    let Some(first) = groups.first() else {
        return page;
    };
    let largest = first.runs[0];
    let scope = nodes.scope(largest.members[0]);
    let answered = (request, largest.answer.clone());
    let survey = view.survey_of(&target.root, &scope, answered);
    let unknown = survey.found.unknowns(&view.analysis, &target.steps);
    page.line(vec![
        name(target.shown()),
        text(format!(
            " — {}, {}",
            manner(&survey.found.strategy),
            match (groups.len(), left) {
                (known, 0) => format!("{known} different values on {total} nodes"),
                (1, _) => format!("the same value on {} of {total} nodes", total - left),
                (known, _) => format!("at least {known} different values on {total} nodes"),
            }
        )),
    ]);
    first_value(context, target, groups, &survey, &mut page);
    for (group, cell) in groups.iter().zip(cells(context, groups)).skip(1) {
        page.line(other(context, target, (group, cell), groups));
    }
    if let Some(more @ 1..) = (groups.len() - 1).checked_sub(MAX_ANSWERS) {
        let rest = &groups[1 + MAX_ANSWERS..];
        let rest: usize = rest.iter().map(|group| group.count).sum();
        let what = if more == 1 { "value" } else { "values" };
        page.line(vec![text(format!(
            "{more} more {what} on {}",
            counted(rest)
        ))]);
    }
    if left > 0 {
        page.line(vec![text(format!(
            "not counted here: {}; see the values on all nodes",
            counted(left)
        ))]);
    }
    page.line(may_differ(context, &survey, &unknown));
    let mut merge = merge_line(context, &survey);
    let differs = |group: &SameAnswer<'_>| {
        let answer = &group.runs[0].answer;
        strategy(answer, &target.root).kind != survey.found.strategy.kind
    };
    if survey.found.request_merge.is_none()
        && !merge.is_empty()
        && groups[1..].iter().take(MAX_ANSWERS).any(differs)
    {
        merge.push(text(", for the first value"));
    }
    page.line(merge);
    page.line(assumed_line(&largest.answer));
    if nodes.are_names() {
        page.line(vec![text(NO_FACTS)]);
    }
    add_offers(context, &mut page, &unknown);
    page
}

/// Adds the value of the largest group, with its nodes.
fn first_value(
    context: &Context<'_>,
    target: &KeyTarget,
    groups: &[SameAnswer<'_>],
    survey: &Survey,
    page: &mut Page,
) {
    let first = &groups[0];
    let mut remark = nodes_text(context, first);
    if first.count > 2 {
        let condition = difference(context, target, first, groups, &files_of(target, first));
        if !condition.is_empty() {
            remark.push_str(&format!(" ({})", plain_words(&condition)));
        }
    }
    let value = match first.value {
        Ok(Some(value)) => value,
        Ok(None) | Err(_) => {
            page.line(other(context, target, (first, cell(first, first)), groups));
            return;
        }
    };
    let used = used(survey, target);
    let remarks = notes(context, target, value, &used, &survey.found.strategy);
    let places = givers(context, target, first, &survey.found.strategy);
    if remarks.parts.is_empty() && !places.is_empty() {
        remark.push_str(&format!(" · {}", plain_words(&places)));
    }
    if first.runs.iter().any(|run| !run.answer.unknown.is_empty()) {
        remark.push_str(" (may differ)");
    }
    let mut shown = yaml::lines(value, &remarks.parts, context.shows_whole());
    let room = WIDTH.saturating_sub(remark.chars().count() + 4);
    match shown.lines.as_mut_slice() {
        [only] if remarks.parts.is_empty() && only.chars().count() <= room => {
            only.push_str(&format!("  # {remark}"));
        }
        _ => {
            let heads = yaml::note_lines(&remark, WIDTH - 2);
            let heads = heads.into_iter().map(|head| format!("# {head}"));
            shown.lines.splice(0..0, heads);
        }
    }
    let nodes = context.view.analysis.nodes;
    let node = nodes.certname(first.runs[0].members[0]);
    let all = lookup_command(context.view, &target.lookup_name(), Some(node))
        + &merge_flag(survey.found.request_merge.as_ref());
    add_value(context, page, shown, &target.lookup_name(), all);
    page.line(remarks.of_whole());
}

/// The lines that set a group's value, if each node's comes from a single one: the one under the
/// cursor first, then the most frequent, with the number of nodes.
fn givers(
    context: &Context<'_>,
    target: &KeyTarget,
    group: &SameAnswer<'_>,
    strategy: &Strategy,
) -> Line {
    let mut found: Vec<(Arc<str>, usize)> = Vec::new();
    for run in &group.runs {
        let mut files = paths_of(target, run).into_iter();
        let winner = if strategy.kind == StrategyKind::ReverseDeep {
            files.next_back()
        } else {
            files.next()
        };
        let Some(path) = winner else { continue };
        match found.iter_mut().find(|(known, _)| *known == path) {
            Some((_, nodes)) => *nodes += run.members.len(),
            None => found.push((path, run.members.len())),
        }
    }
    let is_own = |path: &Arc<str>| **path == *context.path();
    found.sort_by_key(|(path, nodes)| (!is_own(path), std::cmp::Reverse(*nodes)));
    let (shown, rest) = found.split_at(found.len().min(MAX_GIVERS));
    let lines = shown.iter().map(|(path, nodes)| {
        let mut line = context.named(&target.root, &target.steps, std::iter::once(path));
        if found.len() > 1 {
            line.push(text(format!(" on {nodes}")));
        }
        line
    });
    let mut line = joined(lines, ", ");
    line.extend(match rest.len() {
        0 => None,
        1 => Some(text(" and 1 more file")),
        more => Some(text(format!(" and {more} more files"))),
    });
    line
}

/// The nodes of a group: `web02.example and 1 more`, `149 nodes`.
fn nodes_text(context: &Context<'_>, group: &SameAnswer<'_>) -> String {
    let first = context
        .view
        .analysis
        .nodes
        .certname(group.runs[0].members[0]);
    match group.count {
        1 => first.to_owned(),
        2 => format!("{first} and 1 more"),
        count => counted(count),
    }
}

/// Another answer in a line: its value or its difference from the first, its nodes, their
/// condition, and the files that only this answer comes from.
fn other(
    context: &Context<'_>,
    target: &KeyTarget,
    (group, mut line): (&SameAnswer<'_>, Line),
    groups: &[SameAnswer<'_>],
) -> Line {
    let files = files_of(target, group);
    let nodes_text = nodes_text(context, group);
    let condition = difference(context, target, group, groups, &files);
    // A single node's name may already be the condition.
    let is_in_name = condition.is_empty() || plain_words(&condition).ends_with(&nodes_text);
    line.push(text(format!(" on {nodes_text}")));
    if !is_in_name {
        line.push(text(" ("));
        line.extend(condition);
        line.push(text(")"));
    }
    let shared = if std::ptr::eq(group, &raw const groups[0]) {
        Vec::new()
    } else {
        files_of(target, &groups[0])
    };
    let own: Vec<&Arc<str>> = files.iter().filter(|path| !shared.contains(path)).collect();
    if !own.is_empty() {
        line.push(text(" · "));
        line.extend(context.named(&target.root, &target.steps, own.into_iter()));
    }
    if group.runs.iter().any(|run| !run.answer.unknown.is_empty()) {
        line.push(text(" (may differ)"));
    }
    line
}

/// Moves the answer from the file under the cursor before others for as many nodes.
fn own_first(context: &Context<'_>, target: &KeyTarget, groups: &mut [SameAnswer<'_>]) {
    let most = groups.first().map_or(0, |group| group.count);
    let mut largest = groups.iter().take_while(|group| group.count == most);
    let is_own = |group: &SameAnswer<'_>| {
        let files = files_of(target, group);
        files.iter().any(|path| **path == *context.path())
    };
    if let Some(own) = largest.position(is_own) {
        groups[..=own].rotate_right(1);
    }
}

/// The first groups in words. If two would read alike, the later one is described by its difference.
fn cells(context: &Context<'_>, groups: &[SameAnswer<'_>]) -> Vec<Line> {
    let mut found: Vec<Line> = Vec::new();
    for group in groups.iter().take(1 + MAX_ANSWERS) {
        let own = cell(group, &groups[0]);
        let earlier = found
            .iter()
            .position(|known| plain_words(known) == plain_words(&own));
        let difference = earlier.and_then(|at| Some((at, differing_cell(&groups[at], group)?)));
        let is_secret = || {
            group
                .value
                .is_ok_and(|value| value.is_some_and(yaml::has_secret))
        };
        found.push(match difference {
            None if earlier.is_some() && is_secret() => {
                vec![text("a different value (encrypted)")]
            }
            None => own,
            Some((at, differs)) => {
                let mut line = vec![text(format!(
                    "like {}, but ",
                    nodes_text(context, &groups[at])
                ))];
                line.extend(differs);
                line
            }
        });
    }
    found
}

fn differing_cell(other: &SameAnswer<'_>, group: &SameAnswer<'_>) -> Option<Line> {
    match (other.value, group.value) {
        (Ok(Some(other)), Ok(Some(value))) => changes(other, value),
        (_, _) => None,
    }
}

/// A group's value; a long one is described by its difference from the largest group's.
fn cell(group: &SameAnswer<'_>, largest: &SameAnswer<'_>) -> Line {
    match group.value {
        Ok(Some(value)) => {
            let differs = match largest.value {
                Ok(Some(base)) if is_long(value) && base != value => changes(base, value),
                Ok(_) | Err(_) => None,
            };
            differs.unwrap_or_else(|| vec![code(yaml::inline(value, CELL))])
        }
        Ok(None) => vec![text("not in the effective value")],
        Err(error) if error.is_not_found() => vec![text("not found")],
        Err(error) => vec![text("fails: "), text(error.words())],
    }
}

/// The files that a group's answer comes from.
fn files_of(target: &KeyTarget, group: &SameAnswer<'_>) -> Vec<Arc<str>> {
    let paths = group.runs.iter().flat_map(|run| paths_of(target, run));
    let distinct: IndexSet<Arc<str>> = paths.collect();
    distinct.into_iter().collect()
}

/// The files that an answer comes from, the highest level first.
fn paths_of(target: &KeyTarget, run: &Run) -> Vec<Arc<str>> {
    let sources = sources(&run.answer, &quoted(&target.root)).into_iter();
    let sources = sources.filter(|source| dig(&source.value, &target.steps).is_some());
    sources.filter_map(|source| source.path).collect()
}

/// The first variable that has the same value on all nodes of a group and on no node of another
/// group. Variables in the paths of the sources come before those in strings.
fn difference(
    context: &Context<'_>,
    target: &KeyTarget,
    group: &SameAnswer<'_>,
    groups: &[SameAnswer<'_>],
    sources: &[Arc<str>],
) -> Line {
    let mut variables: IndexSet<Arc<str>> = IndexSet::new();
    for layer in layers_of(&target.root) {
        for place in context.view.places(&layer).iter() {
            if sources.iter().any(|path| place.template.matches(path)) {
                variables.extend(place.template.variables().cloned());
            }
        }
    }
    let read = group
        .runs
        .iter()
        .flat_map(|run| &run.answer.reads.variables);
    variables.extend(read.cloned());
    let nodes = context.view.analysis.nodes;
    for variable in variables {
        let column = nodes.column(&variable);
        let first = column.ids[group.runs[0].members[0]];
        let has_it = |member: &usize| column.ids[*member] == first;
        let all_have_it = |run: &&Run| run.members.iter().all(has_it);
        let none_has_it = |run: &&Run| !run.members.iter().any(has_it);
        let mut others = groups.iter().filter(|other| other.value != group.value);
        // Then no node outside of the group has the value.
        let is_own_alone = || column.counts[first as usize] == group.count;
        if group.runs.iter().all(all_have_it)
            && (is_own_alone() || others.all(|other| other.runs.iter().all(none_has_it)))
        {
            let value = column.values[first as usize].as_ref();
            let value =
                value.map_or_else(|| "undef".to_string(), |value| yaml::inline(value, CELL));
            return vec![
                code(variable.to_string()),
                text(" = "),
                code(yaml::masked(&value)),
            ];
        }
    }
    Line::new()
}
