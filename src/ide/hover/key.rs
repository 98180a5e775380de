//! A key, top-level or nested: its effective value, whose it is, and which levels made it.

use std::sync::Arc;

use super::answers::{Run, readers, runs};
use super::ground::Ground;
use super::levels::{self, Source};
use super::lookup_options::{OptionsPlace, options_place};
use super::page::{Line, Page, code, joined, name, text};
use super::provenance::{dig, notes};
use super::{Effective, Hover, Target, yaml};
use crate::hierarchy::TemplatePart;
use crate::interpolation::Key;
use crate::lookup::{Answer, LookupError, Reach, Request, Strategy, StrategyKind, Unknown};
use crate::scope::Scope;
use crate::value::{StrKey, Value};
use crate::workspace::File;

/// Most answers that a table names.
const MOST_ANSWERS: usize = 8;

/// Widest value in a table, in characters.
const CELL: usize = 48;

/// Most differences that a cell names.
const MOST_CHANGES: usize = 4;

/// Most keys of a loop that are named.
const MOST_LINKS: usize = 12;

pub(super) fn hover(ground: &Ground<'_>, file: &File, target: &Target) -> Option<Hover> {
    let page = page(ground, file, target);
    Some(page.hover(target.range, ground.options.link))
}

/// Whom an answer is for, and how its lookup saw the variables.
struct View<'a> {
    answer: &'a Answer,
    scope: Scope,
    /// For the first line: "for every node that reads this file".
    whose: Line,
    /// What could change the answer.
    unknown: Vec<Unknown>,
    /// The entry of `lookup_options` that decides over the key.
    options: Option<OptionsPlace>,
    /// How sources are merged.
    strategy: Strategy,
}

impl<'a> View<'a> {
    /// The view of an answer; `whose` is told with what could change it.
    fn new(
        ground: &Ground<'_>,
        target: &Target,
        answer: &'a Answer,
        scope: Scope,
        mut whose: Line,
    ) -> View<'a> {
        let options = options_place(ground, &target.root, &scope);
        let strategy = strategy(answer, &target.root, options.as_ref());
        let unknown = levels::unknowns(ground, &target.root, &target.steps, &strategy, answer);
        let conditions = levels::conditions(ground, &scope, &unknown);
        if !conditions.is_empty() {
            whose.push(text(", unless "));
            whose.extend(joined(conditions, ", or "));
        }
        View {
            answer,
            scope,
            whose,
            unknown,
            options,
            strategy,
        }
    }
}

fn page(ground: &Ground<'_>, file: &File, target: &Target) -> Page {
    let reaches = ground.reach(file.path());
    let request = request(&target.root).traced();
    let nodes = ground.options.nodes;
    if reaches.is_empty() {
        return unread(ground, file, target);
    }
    let readers = readers(ground, &reaches, file.path());
    if let Some(selected) = ground.options.selected
        && let Some(member) = nodes.find(selected)
    {
        let scope = nodes.scope(member);
        let answer = ground.session().lookup(&scope, &request);
        let mut whose = vec![text("for "), code(selected)];
        if !readers.contains(&member) {
            whose.push(text(", which does not read this file"));
        }
        let view = View::new(ground, target, &answer, scope, whose);
        return one(ground, target, &view);
    }
    if !readers.is_empty() {
        return over_nodes(ground, target, &request, &readers);
    }
    for_any_node(ground, target, &reaches, &request)
}

/// The request for a top-level key, whose name may hold dots or blanks.
pub(super) fn request(root: &str) -> Request {
    Request::key(&quoted(root))
}

/// A name as one segment of a dotted key.
pub(super) fn quoted(segment: &str) -> String {
    let is_plain = Key::parse(segment)
        .is_ok_and(|key| key.segments.is_empty() && key.root.as_name() == Some(segment));
    match (is_plain, segment.contains('\'')) {
        (true, _) => segment.to_string(),
        (false, false) => format!("'{segment}'"),
        (false, true) => format!("\"{segment}\""),
    }
}

/// The key under the cursor as it would be looked up.
fn shown(target: &Target) -> String {
    let mut shown = target.root.to_string();
    for step in &target.steps {
        shown.push('.');
        match step {
            Value::String(segment) => shown.push_str(&quoted(segment)),
            Value::Undef
            | Value::Bool(_)
            | Value::Int(_)
            | Value::BigInt(_)
            | Value::Float(_)
            | Value::Bytes(_)
            | Value::Symbol(_)
            | Value::Array(_)
            | Value::Hash(_)
            | Value::Sensitive(_)
            | Value::Default
            | Value::Rich(_)
            | Value::Opaque(_) => shown.push_str(&step.to_s()),
        }
    }
    shown
}

/// Nobody is known who reads the file: what its path tells is all that there is.
fn for_any_node(
    ground: &Ground<'_>,
    target: &Target,
    reaches: &[Reach],
    request: &Request,
) -> Page {
    let Some(reach) = reaches.first() else {
        return Page::default();
    };
    let scope = reach.scope();
    let answer = ground.session().lookup(&scope, request);
    let mut whose = vec![text("for every node that reads this file")];
    if let Some(variable) = ground.mapped_variable(&reach.place) {
        let bound = reach.bindings.iter().find(|(name, _)| *name == variable);
        let value = bound.map(|(_, value)| value.clone()).unwrap_or_default();
        whose = vec![
            text("for every node whose "),
            code(variable.to_string()),
            text(" is "),
            code(value),
            text(" alone"),
        ];
    }
    let view = View::new(ground, target, &answer, scope, whose);
    let mut page = one(ground, target, &view);
    if !ground.options.nodes.is_empty() {
        page.line(vec![text("no known node reads this file")]);
    }
    if reaches.len() > 1 && reaches.iter().any(|other| other.bindings != reach.bindings) {
        page.line(vec![
            text("other levels read this file too; this is for "),
            code(reach.place.original.to_string()),
        ]);
    }
    page
}

/// One answer: first line, value, levels.
fn one(ground: &Ground<'_>, target: &Target, view: &View<'_>) -> Page {
    let mut page = Page::default();
    let key = shown(target);
    let root = &target.root;
    let value = match &view.answer.result {
        Ok(value) => value,
        Err(error) => {
            failure(ground, &mut page, &key, error, view);
            return page;
        }
    };
    let sources = levels::sources(view.answer, &quoted(root));
    let used: Vec<Source> = sources
        .iter()
        .filter(|source| dig(&source.value, &target.steps).is_some())
        .cloned()
        .collect();
    let strategy = &view.strategy;
    let mut first = vec![name(&key), text(" — ")];
    let Some(part) = dig(value, &target.steps) else {
        first.push(text("not in the effective value, "));
        first.extend(view.whose.clone());
        page.line(first);
        level_lines(ground, &mut page, target, view, &sources);
        return page;
    };
    first.push(text(format!("{}, ", how(strategy, used.len()))));
    first.extend(view.whose.clone());
    page.line(first);
    let remarks = notes(ground, root, &target.steps, part, &used, strategy);
    let all = format!("hiera-ls lookup {}", shell_word(&key));
    page.yaml(yaml::lines(part, &remarks, ground.options.max_lines, &all));
    level_lines(ground, &mut page, target, view, &used);
    page.line(merge_line(ground, strategy, view.options.as_ref()));
    page
}

/// A key as a word of a shell.
fn shell_word(key: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_:.-/".contains(c);
    if key.chars().all(is_plain) {
        return key.to_string();
    }
    format!("'{}'", key.replace('\'', "'\\''"))
}

/// How the value came about: "merged deep from 3 levels".
fn how(strategy: &Strategy, sources: usize) -> String {
    let word = match strategy.kind {
        StrategyKind::First | StrategyKind::Default => return "first found".to_string(),
        StrategyKind::Unique => "merged unique",
        StrategyKind::Hash => "merged as hash",
        StrategyKind::Deep | StrategyKind::UnconstrainedDeep => "merged deep",
        StrategyKind::ReverseDeep => "merged deep in reverse",
    };
    match sources {
        1 => format!("{word}, set by one level"),
        count => format!("{word} from {count} levels"),
    }
}

/// The strategy of the lookup: what the trace merged by, else what the options say.
fn strategy(answer: &Answer, root: &str, options: Option<&OptionsPlace>) -> Strategy {
    if let Some(strategy) = levels::strategy(answer, &quoted(root)) {
        return strategy.clone();
    }
    let merge = options.and_then(|options| options.entry.value.get("merge").cloned());
    let kind = match &merge {
        Some(Value::String(word)) => StrategyKind::from_name(word),
        Some(Value::Hash(hash)) => hash
            .get(&StrKey("strategy"))
            .and_then(Value::as_str)
            .and_then(StrategyKind::from_name),
        _ => None,
    };
    Strategy::plain(kind.unwrap_or(StrategyKind::First))
}

/// Where the merge and the conversion come from.
fn merge_line(ground: &Ground<'_>, strategy: &Strategy, options: Option<&OptionsPlace>) -> Line {
    let Some(options) = options else {
        return match strategy.is_first_found() {
            true => Line::new(),
            false => vec![text("merge: "), code(strategy.kind.name())],
        };
    };
    let mut told = Vec::new();
    for name in ["merge", "convert_to"] {
        if let Some(value) = options
            .entry
            .value
            .get(name)
            .filter(|value| !value.is_undef())
        {
            told.push(vec![
                text(format!("{name}: ")),
                code(yaml::inline(value, CELL)),
            ]);
        }
    }
    if told.is_empty() {
        return Line::new();
    }
    let mut line = joined(told, " · ");
    line.push(text(", from lookup_options"));
    line.extend(options.line(ground));
    line
}

/// Which levels gave the value, which hold it too, which are not known.
fn level_lines(
    ground: &Ground<'_>,
    page: &mut Page,
    target: &Target,
    view: &View<'_>,
    sources: &[Source],
) {
    let root = &target.root;
    let asked = levels::sources(view.answer, &quoted(root));
    let others = levels::others(ground, root, &view.scope, view.answer, &asked);
    let places: Vec<Line> = sources
        .iter()
        .map(|source| match &source.path {
            Some(path) => match ground.snapshot.file(path) {
                Some(file) => {
                    let has_it = dig(&source.value, &target.steps).is_some();
                    let steps = if has_it { target.steps.as_slice() } else { &[] };
                    vec![ground.link(path, ground.line_of(file, root, steps))]
                }
                None => vec![text(ground.label(path))],
            },
            None => vec![text(format!("level '{}'", source.level))],
        })
        .collect();
    let mut line = Line::new();
    let merges = !view.strategy.is_first_found();
    match (merges, places.as_slice()) {
        (_, []) => {}
        (_, [only]) => {
            line.extend(only.clone());
            line.push(text(" sets it"));
        }
        (_, several) => {
            line.push(text("merged from "));
            line.extend(joined(several.to_vec(), ", "));
        }
    }
    let mut add = |words: &str, more: Line| {
        if !more.is_empty() {
            if !line.is_empty() {
                line.push(text(" · "));
            }
            line.push(text(words));
            line.extend(more);
        }
    };
    add(
        "overrides ",
        levels::named(ground, root, &[], &others.overridden),
    );
    if !others.maybe_overridden.is_empty() {
        let words = match (merges, others.maybe_overridden.len()) {
            (true, _) => "merged for some nodes: ",
            (false, 1) => "overrides for some nodes ",
            (false, _) => "overrides for some nodes: ",
        };
        add(
            words,
            levels::named(ground, root, &[], &others.maybe_overridden),
        );
    }
    page.line(line);
    let mut line = Line::new();
    for unknown in &view.unknown {
        let subject = match (unknown.for_options, &unknown.layer) {
            (true, _) => format!("lookup_options unknown, level '{}'", unknown.level),
            (false, layer) if *layer == ground.layer => {
                format!("unknown, level '{}'", unknown.level)
            }
            (false, layer) => format!(
                "unknown, {} level '{}'",
                levels::layer_name(layer),
                unknown.level
            ),
        };
        if !line.is_empty() {
            line.push(text(" · "));
        }
        line.push(text(format!("{subject}: ")));
        match &unknown.cause {
            crate::lookup::UnknownCause::Function { name } => {
                line.extend([text("data of the function "), code(name.to_string())]);
            }
            crate::lookup::UnknownCause::Path(possible) => {
                let key = match unknown.for_options {
                    true => "lookup_options",
                    false => root,
                };
                line.extend(levels::named(ground, key, &[], &possible.files));
            }
        }
    }
    page.line(line);
    let mut line = Line::new();
    if !others.not_set.is_empty() {
        line.push(text("not set: "));
        line.extend(levels::labels(ground, &others.not_set));
    }
    if !others.outside.is_empty() {
        if !line.is_empty() {
            line.push(text(" · "));
        }
        let names: Vec<&str> = others.outside.iter().map(|level| &**level).collect();
        line.push(text(format!("{}: not in this workspace", names.join(", "))));
    }
    page.line(line);
}

/// What Puppet raises, and what leads there.
fn failure(ground: &Ground<'_>, page: &mut Page, key: &str, error: &LookupError, view: &View<'_>) {
    let mut first = vec![name(key), text(" — ")];
    if error.not_found {
        first.push(text("not found, "));
        first.extend(view.whose.clone());
        page.line(first);
        return;
    }
    first.extend([text("Puppet fails here: "), code(error.message.clone())]);
    page.line(first);
    page.line(view.whose.clone());
    let links = chain(&error.message).into_iter().take(MOST_LINKS);
    let links: Vec<Line> = links.filter_map(|key| definition(ground, &key)).collect();
    if !links.is_empty() {
        let mut line = joined(links, " → ");
        line.push(text(" → back"));
        page.line(line);
    } else if let Some(file) = &error.file {
        let line = u32::try_from(error.line.unwrap_or(1)).unwrap_or(1);
        page.line(vec![text("in "), ground.link(file, line)]);
    }
}

/// The keys of a loop that Puppet's message names.
fn chain(message: &str) -> Vec<String> {
    let Some((_, rest)) = message.split_once("Recursive lookup detected in [") else {
        return Vec::new();
    };
    let list = rest.split(']').next().unwrap_or_default();
    list.split(", ").map(str::to_string).collect()
}

/// A key with where it stands: in the file under the cursor, else in the first that has it.
fn definition(ground: &Ground<'_>, key: &str) -> Option<Line> {
    let parsed = Key::parse(key).ok()?;
    let root = parsed.root.as_name()?;
    let definitions = ground.snapshot.definitions(root);
    let here = definitions
        .iter()
        .find(|(file, _)| &**file.path() == ground.path)
        .or_else(|| definitions.first());
    Some(match here {
        Some((file, fact)) => {
            let line = file.lines().line(fact.key.start as usize) + 1;
            vec![ground.link(file.path(), line), text(" "), code(key)]
        }
        None => vec![code(key)],
    })
}

/// The file's own value where no hierarchy reads it.
fn unread(ground: &Ground<'_>, file: &File, target: &Target) -> Page {
    let mut page = Page::default();
    page.line(vec![
        name(shown(target)),
        text(" — no level of the hierarchy reads this file"),
    ]);
    let own = ground.own_value(file.path(), &target.root);
    if let Some(value) = own.as_ref().and_then(|value| dig(value, &target.steps)) {
        let max = ground.options.max_lines;
        page.yaml(yaml::lines(value, &Default::default(), max, ""));
    }
    page
}

/// The answers over the known nodes that read the file.
fn over_nodes(ground: &Ground<'_>, target: &Target, request: &Request, readers: &[usize]) -> Page {
    let nodes = ground.options.nodes;
    let runs = runs(ground, request, readers);
    let groups = grouped(&runs, &target.steps);
    let total = readers.len();
    let whose_all = |total: usize| match total {
        1 => format!(
            "for {}, the only node that reads this file",
            nodes.certname(readers[0])
        ),
        total => format!("for all {total} nodes that read this file"),
    };
    if let [only] = groups.as_slice() {
        let run = only.runs[0];
        let scope = nodes.scope(run.members[0]);
        let whose = vec![text(whose_all(total))];
        let view = View::new(ground, target, &run.answer, scope, whose);
        return one(ground, target, &view);
    }
    let mut page = Page::default();
    page.line(vec![
        name(shown(target)),
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
            because(ground, target, group, &groups),
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
    let largest = groups[0].runs[0];
    let scope = nodes.scope(largest.members[0]);
    let options = options_place(ground, &target.root, &scope);
    let strategy = strategy(&largest.answer, &target.root, options.as_ref());
    if let Ok(Some(value)) = groups[0].value
        && is_long(value)
    {
        let used: Vec<Source> = levels::sources(&largest.answer, &quoted(&target.root))
            .into_iter()
            .filter(|source| dig(&source.value, &target.steps).is_some())
            .collect();
        page.line(vec![text("the first of them:")]);
        let remarks = notes(ground, &target.root, &target.steps, value, &used, &strategy);
        let max = ground.options.max_lines.saturating_sub(groups.len());
        let name = nodes.certname(largest.members[0]);
        let all = format!(
            "hiera-ls lookup {} --node {name}",
            shell_word(&shown(target))
        );
        page.yaml(yaml::lines(value, &remarks, max, &all));
    }
    page.line(merge_line(ground, &strategy, options.as_ref()));
    page
}

/// The answers of a hover as data, the one for most nodes first.
pub(super) fn effective(ground: &Ground<'_>, file: &File, target: &Target) -> Vec<Effective> {
    let reaches = ground.reach(file.path());
    let request = request(&target.root).traced();
    let nodes = ground.options.nodes;
    let readers = readers(ground, &reaches, file.path());
    let steps = target.steps.as_slice();
    let answered = |answer: &Answer, scope: &Scope, members: Vec<usize>| {
        let view = View::new(ground, target, answer, scope.clone(), Line::new());
        let part = answer.result.as_ref().map(|value| dig(value, steps));
        let names = members.into_iter().map(|member| nodes.certname(member));
        Effective {
            result: part.map(Option::<&Value>::cloned).map_err(Clone::clone),
            is_certain: view.unknown.is_empty()
                && !part.is_ok_and(|part| part.is_some_and(Value::has_opaque)),
            nodes: names.map(Arc::from).collect(),
        }
    };
    if readers.is_empty() {
        let Some(reach) = reaches.first() else {
            return Vec::new();
        };
        let scope = reach.scope();
        let answer = ground.session().lookup(&scope, &request);
        return vec![answered(&answer, &scope, Vec::new())];
    }
    let runs = runs(ground, &request, &readers);
    let groups = grouped(&runs, steps).into_iter().map(|group| {
        let members = group.runs.iter().flat_map(|run| run.members.clone());
        let first = group.runs[0];
        let scope = nodes.scope(first.members[0]);
        answered(&first.answer, &scope, members.collect())
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
        Err(error) if error.not_found => vec![text("not found")],
        Err(error) => vec![text("fails: "), text(error.message.clone())],
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
    let mut told = found.join(", ");
    if more > 0 {
        told.push_str(&format!(" and {more} more"));
    }
    // The same hash in another order is the same value.
    (!told.is_empty()).then_some(told)
}

/// The sources of a group's answer, and the variable by which its nodes differ from the others.
fn because(ground: &Ground<'_>, target: &Target, group: &Group<'_>, groups: &[Group<'_>]) -> Line {
    let mut line = Line::new();
    let mut seen: Vec<Arc<str>> = Vec::new();
    for run in &group.runs {
        for source in levels::sources(&run.answer, &quoted(&target.root)) {
            if let Some(path) = source.path
                && dig(&source.value, &target.steps).is_some()
                && !seen.contains(&path)
            {
                seen.push(path);
            }
        }
    }
    line.extend(levels::named(ground, &target.root, &target.steps, &seen));
    let condition = difference(ground, target, group, groups, &seen);
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
    ground: &Ground<'_>,
    target: &Target,
    group: &Group<'_>,
    groups: &[Group<'_>],
    sources: &[Arc<str>],
) -> Line {
    let mut variables: Vec<Arc<str>> = Vec::new();
    for layer in ground.layers_of(&target.root) {
        for place in ground.places(&layer).iter() {
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
    for variable in group.runs.iter().flat_map(|run| &run.variables) {
        if !variables.contains(variable) {
            variables.push(variable.clone());
        }
    }
    let nodes = ground.options.nodes;
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
