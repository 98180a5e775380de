//! Hovers on keys, top-level or nested: the effective value, its nodes, and the levels that set it.

use std::sync::Arc;

use super::Context;
use super::levels::{self, merge_line};
use super::provenance::notes;
use super::refused::count_failing;
use super::{Effective, class, differing, refused, unread};
use crate::analysis::{LevelValue, Survey, dig, grouped_by_answer, left_out, merge_kind, request};
use crate::ide::cell::{NO_FACTS, counted};
use crate::ide::shell::{lookup_command, shell_word};
use crate::ide::target::KeyTarget;
use crate::interpolation::{Key, has_tokens};
use crate::lookup::{LayerReaders, LookupError, Reach, Request, Run, Strategy, StrategyKind};
use crate::page::yaml;
use crate::page::{Line, Page, Piece, Whole, code, joined, name, text};
use crate::scope::{Knowledge, Scope};
use crate::value::Value;

/// Widest value in a table, in characters.
pub(super) const CELL: usize = 48;

/// Maximum number of nodes that do not read the file, but are compared.
const MAX_OTHERS: usize = 16;

/// Maximum number of keys that are named in a loop.
const MAX_LINKS: usize = 12;

/// The page of a key in the file under the cursor.
pub(super) fn page(context: &Context<'_>, target: &KeyTarget) -> Page {
    let mut page = page_by(context, target, &request(&target.root));
    class::add_merging_call(context, &target.root, &mut page);
    page
}

/// The page of a key for a certain request.
pub(super) fn page_by(context: &Context<'_>, target: &KeyTarget, request: &Request) -> Page {
    let mut page = answers(context, target, request);
    links(context, target, &mut page);
    class::add_parameter(context, target, &mut page);
    let (view, analysis) = (context.view, context.view.analysis);
    if let Some(observed) = analysis.observed(view.root, analysis.nodes, &target.root) {
        page.line(vec![text(observed.words())]);
    }
    page.line(levels::hierarchy_line(context));
    let refused = context.view.refused_files(&target.root);
    if !refused.is_empty() {
        refused::add_lines(context, &refused, &mut page);
    }
    page
}

/// Adds links to the explanation of the value and to the answers for all nodes.
fn links(context: &Context<'_>, target: &KeyTarget, page: &mut Page) {
    let options = context.options;
    let key = target.lookup_name();
    let links = [
        ("explain", options.explain),
        ("all nodes", options.all_nodes),
    ];
    let links = links.into_iter().filter_map(|(label, link)| {
        Some(vec![Piece::Action {
            label,
            link: Some(link?(&key)),
            words: String::new(),
        }])
    });
    page.link_line(joined(links, " · "));
}

fn answers(context: &Context<'_>, target: &KeyTarget, request: &Request) -> Page {
    let target = &in_effective_value(context, target);
    let reach = context.own.reaches.first();
    if reach.is_none() && !context.is_code {
        return unread::by_its_hierarchy(context, target);
    }
    let view = context.view;
    if !context.is_code
        && let Some(off) = view.analysis.off_modulepath(view.root)
    {
        return unread::off_modulepath(target, &off);
    }
    let nodes = view.analysis.nodes;
    let readers = context.readers();
    if let Some((selected, member)) = context.selected() {
        let mut audience = vec![text("for "), code(selected)];
        match nodes.knowledge(member) {
            Knowledge::All if context.is_code || readers.contains(&member) => {}
            Knowledge::All => audience.push(text(", which does not read this file")),
            Knowledge::Name | Knowledge::Label => {
                audience.push(text(", known by name only"));
            }
        }
        let survey = view.survey_by(&target.root, &nodes.scope(member), request);
        return one(context, target, &survey, audience);
    }
    if !readers.is_empty() {
        return for_known_nodes(context, target, request, &readers);
    }
    if let Some(reach) = reach {
        return for_any_node(context, target, reach);
    }
    let survey = view.survey_by(&target.root, &Scope::open(), request);
    one(context, target, &survey, vec![text("for every node")])
}

/// Shortens the target to the part that the effective value can have: a key with tokens is computed
/// by lookups, and elements of merged lists lose their index.
pub(super) fn in_effective_value(context: &Context<'_>, target: &KeyTarget) -> KeyTarget {
    let mut target = target.clone();
    let is_computed = |step: &Value| step.as_str().is_some_and(has_tokens);
    if let Some(computed) = target.steps.iter().position(is_computed) {
        target.steps.truncate(computed);
    }
    let Some(before_list) = target.before_list else {
        return target;
    };
    let mut scoped = context.view.in_scope(&context.own.path_scope());
    let entry = scoped.options_entry(&target.root);
    let kind = entry.as_ref().and_then(merge_kind);
    if kind.is_some_and(|kind| kind == StrategyKind::Unique || kind.is_deep()) {
        target.steps.truncate(before_list);
    }
    target
}

/// The page for the known nodes that read the file.
fn for_known_nodes(
    context: &Context<'_>,
    target: &KeyTarget,
    request: &Request,
    readers: &[usize],
) -> Page {
    let nodes = context.view.analysis.nodes;
    let runs = context.view.runs(request, readers);
    let groups = grouped_by_answer(&runs, &target.steps);
    let left = left_out(&runs, readers);
    if groups.len() > 1 || left > 0 {
        let count = (readers.len(), left);
        return differing::page(context, target, request, groups, count);
    }
    let Run { answer, members } = &runs[0];
    let own = answer.result.as_ref().ok();
    let own = own.and_then(|value| dig(value, &target.steps)).cloned();
    let differs = readers.len() == 1
        && own.is_some_and(|own| differs_elsewhere(context, target, request, &own));
    let audience = audience(context, target, readers);
    let scope = nodes.scope(members[0]);
    let answered = (request, answer.clone());
    let survey = context.view.survey_of(&target.root, &scope, answered);
    let mut page = one(context, target, &survey, vec![text(audience)]);
    if differs {
        page.line(vec![text("differs on other nodes")]);
    }
    if nodes.are_names() && readers.len() > 1 {
        page.line(vec![text(NO_FACTS)]);
    }
    page
}

/// The known nodes that get the only answer, in words.
fn audience(context: &Context<'_>, target: &KeyTarget, readers: &[usize]) -> String {
    let nodes = context.view.analysis.nodes;
    let (total, known) = (readers.len(), nodes.len());
    let failing = match context.view.refused_files(&target.root).as_slice() {
        [] => 0,
        refused => count_failing(refused, readers),
    };
    let only = nodes.certname(readers[0]);
    match (total, context.is_code) {
        (total, is_code) if failing > 0 && failing < total => {
            let which = if is_code {
                "known nodes"
            } else {
                "nodes that read this file"
            };
            format!("for {} of {total} {which}", total - failing)
        }
        (1, true) => format!("for {only}, the only known node"),
        (2, true) => "for both known nodes".to_owned(),
        (total, true) => format!("for all {total} known nodes"),
        (1, false) if known > 1 => {
            format!("for {only}, the only one of {known} nodes that reads this file")
        }
        (1, false) => format!("for {only}, the only node that reads this file"),
        (total, false) if known > total => {
            format!("for {total} of {known} nodes: all that read this file")
        }
        (2, false) => "for both nodes that read this file".to_owned(),
        (total, false) => format!("for all {total} nodes that read this file"),
    }
}

/// Whether a node that does not read the file certainly gets another value; only checks a few.
fn differs_elsewhere(
    context: &Context<'_>,
    target: &KeyTarget,
    request: &Request,
    own: &Value,
) -> bool {
    let nodes = context.view.analysis.nodes;
    let readers = context.readers();
    let others = (0..nodes.len()).filter(|member| readers.binary_search(member).is_err());
    let others: Vec<usize> = others.take(MAX_OTHERS).collect();
    let is_other = |run: &Run| {
        let other = run.answer.result.as_ref().ok();
        let other = other.and_then(|value| dig(value, &target.steps));
        run.answer.unknown.is_empty() && other.is_some_and(|other| other != own)
    };
    // The first node mostly decides.
    let (first, rest) = others.split_at(others.len().min(1));
    let mut parts = [first, rest].into_iter();
    parts.any(|members| context.view.runs(request, members).iter().any(is_other))
}

/// Adds the answer for a file that no known node reads: it depends on the file's path only.
fn for_any_node(context: &Context<'_>, target: &KeyTarget, reach: &Reach) -> Page {
    let mut audience = vec![text(if context.view.is_of_plans() {
        "for plans"
    } else {
        "for every node that reads this file"
    })];
    if let Some(variable) = &reach.place.mapped {
        let bound = reach.bindings.iter().find(|(name, _)| name == variable);
        let value = bound.map(|(_, value)| value.clone()).unwrap_or_default();
        audience = vec![
            text("for every node whose "),
            code(variable.to_string()),
            text(" is "),
            code(value),
            text(" alone"),
        ];
    }
    let survey = context.view.survey(&target.root, &reach.scope());
    let mut page = one(context, target, &survey, audience);
    let nodes = context.view.analysis.nodes;
    if nodes.are_names() {
        page.line(vec![text(format!(
            "no facts: cannot tell which of the {} nodes read this file",
            nodes.len()
        ))]);
    } else if !nodes.is_empty() {
        let (session, layer) = (context.view.session(), &context.view.layer);
        let possible = LayerReaders::of(session, nodes, layer).possible(context.file.path());
        page.line(vec![text(match possible.len() {
            0 => "no known node reads this file".to_owned(),
            count => format!("unknown whether {} read this file", counted(count)),
        })]);
    }
    let mut others = context.own.reaches[1..].iter();
    if others.any(|other| other.bindings != reach.bindings) {
        page.line(vec![
            text("this file also fits other levels; shown here: "),
            code(reach.place.original.to_string()),
        ]);
    }
    page
}

/// The command that prints the value, for one of the nodes that get it.
fn value_command(context: &Context<'_>, target: &KeyTarget) -> String {
    let selected = context.selected().map(|(_, member)| member);
    let nodes = context.view.analysis.nodes;
    let readers = context.readers();
    // Without `--node` the command is for all nodes; no node is needed if all read the file.
    let first = readers.first().filter(|_| readers.len() < nodes.len());
    let node = selected.or(first.copied());
    let node = node.map(|member| nodes.certname(member));
    lookup_command(context.view, &target.lookup_name(), node)
}

/// The options of `hiera-ls lookup` for the merge of a call.
pub(super) fn merge_flag(call_merge: Option<&Value>) -> String {
    let Some(merge) = call_merge else {
        return String::new();
    };
    let option = |name: &str| merge.get(name);
    let name = merge.as_str().or_else(|| option("strategy")?.as_str());
    let mut flags = format!(" --merge {}", shell_word(name.unwrap_or("first")));
    if let Some(prefix) = option("knockout_prefix").and_then(Value::as_str) {
        flags += &format!(" --knock-out-prefix {}", shell_word(prefix));
    }
    for (name, flag) in [
        ("sort_merged_arrays", " --sort-merged-arrays"),
        ("merge_hash_arrays", " --merge-hash-arrays"),
    ] {
        if option(name) == Some(&Value::Bool(true)) {
            flags += flag;
        }
    }
    flags
}

/// The page of one answer: first line, value, levels. `audience` is the nodes that get it: "for every
/// node that reads this file".
pub(super) fn one(
    context: &Context<'_>,
    target: &KeyTarget,
    survey: &Survey,
    mut audience: Line,
) -> Page {
    let mut page = Page::default();
    let unknown = survey.found.unknowns(&context.view.analysis, &target.steps);
    let may_differ = levels::may_differ(context, survey, &unknown);
    let key = target.shown();
    let value = match &survey.found.answer.result {
        Ok(value) => value,
        Err(error) => {
            failure(context, &mut page, target, error, audience);
            page.line(may_differ);
            return page;
        }
    };
    if !may_differ.is_empty() {
        audience.push(text(" (may differ)"));
    }
    let mut first = vec![name(&key), text(" — ")];
    let Some(part) = dig(value, &target.steps) else {
        first.push(text("not in the effective value, "));
        first.extend(audience);
        page.line(first);
        levels::add_lines(context, &mut page, target, survey, &survey.found.sources);
        page.line(may_differ);
        levels::add_offers(context, &mut page, &unknown);
        return page;
    };
    let used = used(survey, target);
    let strategy = &survey.found.strategy;
    first.push(text(format!("{}, ", how(strategy, used.len()))));
    first.extend(audience);
    page.line(first);
    let remarks = notes(context, target, part, &used, strategy);
    let shown = yaml::lines(part, &remarks.parts, context.shows_whole());
    let all = value_command(context, target) + &merge_flag(survey.found.request_merge.as_ref());
    add_value(context, &mut page, shown, &target.lookup_name(), all);
    page.line(remarks.of_whole());
    levels::add_lines(context, &mut page, target, survey, &used);
    page.line(may_differ);
    page.line(merge_line(context, survey));
    levels::add_offers(context, &mut page, &unknown);
    page
}

/// The sources of the part under the cursor. Only one if it is neither a hash nor a list, or below
/// a top-level key of hashes that are merged by `hash`.
pub(in crate::ide) fn used(survey: &Survey, target: &KeyTarget) -> Vec<LevelValue> {
    let part = |source: &LevelValue| dig(&source.value, &target.steps).cloned();
    let sources = survey.found.sources.iter();
    let used: Vec<LevelValue> = sources.filter(|one| part(one).is_some()).cloned().collect();
    let kind = survey.found.strategy.kind;
    let winner = if kind == StrategyKind::ReverseDeep {
        used.last()
    } else {
        used.first()
    };
    let is_one = match kind {
        StrategyKind::Hash => !target.steps.is_empty(),
        StrategyKind::Deep | StrategyKind::UnconstrainedDeep | StrategyKind::ReverseDeep => winner
            .and_then(part)
            .is_some_and(|part| !part.is_collection()),
        StrategyKind::First | StrategyKind::Default | StrategyKind::Unique => false,
    };
    if let Some(only) = winner.filter(|_| is_one) {
        return vec![only.clone()];
    }
    used
}

/// Adds a value. `key` is its name in lookups, `all` the command that prints all of it.
pub(super) fn add_value(
    context: &Context<'_>,
    page: &mut Page,
    shown: yaml::Shown,
    key: &str,
    all: String,
) {
    let for_all_nodes = lookup_command(context.view, key, None);
    let whole = Whole {
        link: context.options.whole.map(|link| link(key)),
        words: vec![all, for_all_nodes],
        is_shortened: shown.is_shortened,
    };
    page.value(shown.lines, whole);
}

/// The words for a merge strategy.
pub(super) fn manner(strategy: &Strategy) -> &'static str {
    match strategy.kind {
        StrategyKind::First | StrategyKind::Default => "first found",
        StrategyKind::Unique => "merged unique",
        StrategyKind::Hash => "merged as hash",
        StrategyKind::Deep | StrategyKind::UnconstrainedDeep => "merged deep",
        StrategyKind::ReverseDeep => "merged deep in reverse",
    }
}

/// The merge strategy and the number of levels: "merged deep from 3 levels".
fn how(strategy: &Strategy, sources: usize) -> String {
    let word = manner(strategy);
    match (strategy.is_first_found(), sources) {
        (true, _) => word.to_string(),
        (false, 1) => format!("{word}, set by one level"),
        (false, count) => format!("{word} from {count} levels"),
    }
}

/// Adds the error of a lookup and its cause.
fn failure(
    context: &Context<'_>,
    page: &mut Page,
    target: &KeyTarget,
    error: &LookupError,
    audience: Line,
) {
    let mut first = vec![name(target.shown()), text(" — ")];
    if error.is_not_found() {
        first.push(text("not found, "));
        first.extend(audience);
        if let Some(default) = class::default_of(context, &target.root) {
            first.extend([text(": the default "), code(default), text(" is used")]);
        }
        page.line(first);
        return;
    }
    first.extend([text("Puppet fails here: "), code(error.words())]);
    page.line(first);
    page.line(audience);
    let keys = error.recursion().unwrap_or_default();
    let links = keys.iter().take(MAX_LINKS);
    let links: Vec<Line> = links.filter_map(|key| definition(context, key)).collect();
    if !links.is_empty() {
        let mut line = joined(links, " → ");
        line.push(text(" → back"));
        page.line(line);
    } else if let Some(file) = &error.file {
        let line = u32::try_from(error.line.unwrap_or(1)).unwrap_or(1);
        page.line(vec![text("in "), context.link(file, line)]);
    }
}

/// A key with a link to its definition: in the file under the cursor, else in the first file by path.
fn definition(context: &Context<'_>, key: &str) -> Option<Line> {
    let parsed = Key::parse(key).ok()?;
    let definitions = context.view.analysis.snapshot;
    let definitions = definitions.definitions(parsed.root.as_name()?);
    let here = definitions
        .iter()
        .find(|(file, _)| **file.path() == *context.path())
        .or_else(|| definitions.iter().min_by_key(|(file, _)| file.path()));
    Some(match here {
        Some((file, fact)) => {
            let link = context.link(file.path(), fact.line + 1);
            vec![link, text(" "), code(key)]
        }
        None => vec![code(key)],
    })
}

/// The answers of a hover as data, the most frequent first, and the number of nodes left out.
pub(super) fn effective(context: &Context<'_>, target: &KeyTarget) -> (Vec<Effective>, usize) {
    let view = context.view;
    let nodes = view.analysis.nodes;
    let readers = context.answered();
    let steps = target.steps.as_slice();
    let answered = |survey: Survey, members: Vec<usize>| {
        let result = &survey.found.answer.result;
        let part = result.as_ref().map(|value| dig(value, steps));
        let names = members.into_iter().map(|member| nodes.certname(member));
        Effective {
            result: part.map(Option::<&Value>::cloned).map_err(Clone::clone),
            is_certain: survey.found.unknowns(&view.analysis, steps).is_empty()
                && !part.is_ok_and(|part| part.is_some_and(Value::has_opaque)),
            nodes: names.map(Arc::from).collect(),
        }
    };
    if readers.is_empty() {
        let scopes = context.own.reaches.first().map(Reach::scope);
        let scopes = scopes.or_else(|| context.is_code.then(Scope::open));
        let surveys = scopes.map(|scope| view.survey(&target.root, &scope));
        let answers = surveys.map(|survey| answered(survey, Vec::new()));
        return (answers.into_iter().collect(), 0);
    }
    let request = request(&target.root);
    let runs = view.runs(&request, &readers);
    let groups = grouped_by_answer(&runs, steps).into_iter().map(|group| {
        let members = group.runs.iter().flat_map(|run| run.members.clone());
        let first = group.runs[0];
        let scope = nodes.scope(first.members[0]);
        let answered_by = (&request, first.answer.clone());
        let survey = view.survey_of(&target.root, &scope, answered_by);
        answered(survey, members.collect())
    });
    (groups.collect(), left_out(&runs, &readers))
}
