//! A key, top-level or nested: its effective value, whose it is, and which levels made it.

use super::answers::readers;
use super::ground::Ground;
use super::levels::{self, Source};
use super::lookup_options::{OptionsPlace, options_place};
use super::page::{CutValue, Line, Page, code, joined, name, text};
use super::provenance::{dig, notes};
use super::{Hover, Target, over_nodes, yaml};
use crate::interpolation::Key;
use crate::lookup::{
    Answer, LookupError, Reach, Request, Strategy, StrategyKind, Unknown, UnknownCause,
};
use crate::scope::{Knowledge, Scope};
use crate::value::{StrKey, Value};
use crate::workspace::File;

/// Widest value in a table, in characters.
pub(super) const CELL: usize = 48;

/// Most keys of a loop that are named.
const MOST_LINKS: usize = 12;

pub(super) fn hover(ground: &Ground<'_>, file: &File, target: &Target) -> Option<Hover> {
    let page = page(ground, file, target);
    Some(page.hover(target.range, ground.options))
}

/// Whom an answer is for, and how its lookup saw the variables.
pub(super) struct View<'a> {
    answer: &'a Answer,
    /// What gave a value for the top-level key, the highest first.
    sources: Vec<Source>,
    scope: Scope,
    /// For the first line: "for every node that reads this file".
    whose: Line,
    /// What could change the answer.
    pub(super) unknown: Vec<Unknown>,
    /// Whether nothing could: neither what is unknown nor a level outside of the workspace.
    pub(super) is_sure: bool,
    /// The entry of `lookup_options` that decides over the key.
    options: Option<OptionsPlace>,
    /// How sources are merged.
    strategy: Strategy,
}

impl<'a> View<'a> {
    /// The view of an answer; `whose` is told with what could change it.
    pub(super) fn new(
        ground: &Ground<'_>,
        target: &Target,
        answer: &'a Answer,
        scope: Scope,
        mut whose: Line,
    ) -> View<'a> {
        let options = options_place(ground, &target.root, &scope);
        let strategy = strategy(answer, &target.root, options.as_ref());
        let unknown = levels::unknowns(ground, &target.root, &target.steps, &strategy, answer);
        let mut conditions = levels::conditions(ground, &scope, &unknown);
        let sources = levels::sources(answer, &quoted(&target.root));
        let unseen = levels::unseen(ground, &target.root, &scope, &sources, &strategy);
        conditions.extend(unseen);
        let is_sure = unknown.is_empty() && conditions.is_empty();
        if !conditions.is_empty() {
            whose.push(text(", unless "));
            whose.extend(joined(conditions, ", or "));
        }
        View {
            answer,
            sources,
            scope,
            whose,
            unknown,
            is_sure,
            options,
            strategy,
        }
    }
}

pub(super) fn page(ground: &Ground<'_>, file: &File, target: &Target) -> Page {
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
        let answer = ground.lookup(&scope, &target.root, &request);
        let mut whose = vec![text("for "), code(selected)];
        match nodes.knowledge(member) {
            Knowledge::All if readers.contains(&member) => {}
            Knowledge::All => whose.push(text(", which does not read this file")),
            Knowledge::Name => whose.push(text(", of which only the name is known")),
        }
        let view = View::new(ground, target, &answer, scope, whose);
        return one(ground, target, &view);
    }
    if !readers.is_empty() {
        return over_nodes::over_nodes(ground, target, &request, &readers);
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

/// The key under the cursor as people read it.
pub(super) fn shown(target: &Target) -> String {
    below(target.root.to_string(), target)
}

/// The key under the cursor as it would be looked up.
pub(super) fn dotted(target: &Target) -> String {
    below(quoted(&target.root), target)
}

fn below(mut shown: String, target: &Target) -> String {
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
    let answer = ground.lookup(&scope, &target.root, request);
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
pub(super) fn one(ground: &Ground<'_>, target: &Target, view: &View<'_>) -> Page {
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
    let used: Vec<Source> = view
        .sources
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
        level_lines(ground, &mut page, target, view, &view.sources);
        return page;
    };
    first.push(text(format!("{}, ", how(strategy, used.len()))));
    first.extend(view.whose.clone());
    page.line(first);
    let remarks = notes(ground, root, &target.steps, part, &used, strategy);
    let max = ground.options.max_lines;
    let all = format!("hiera-ls lookup {}", shell_word(&key));
    add_value(
        ground,
        &mut page,
        yaml::lines(part, &remarks, max),
        &dotted(target),
        all,
    );
    level_lines(ground, &mut page, target, view, &used);
    page.line(merge_line(ground, strategy, view.options.as_ref()));
    page
}

/// Adds a value; where it is cut, with how to see all of it: `key` is its name as it is looked up,
/// `all` what prints it on the command line.
pub(super) fn add_value(
    ground: &Ground<'_>,
    page: &mut Page,
    shown: yaml::Shown,
    key: &str,
    all: String,
) {
    let whole = ground.options.whole;
    let cut = shown.cut.map(|cut| CutValue {
        at: cut.at,
        left_out: cut.left_out,
        link: whole.and_then(|whole| whole.link).map(|link| link(key)),
        words: match whole {
            Some(whole) => format!("command {}, or {all}", whole.command),
            None => all,
        },
    });
    page.yaml(shown.lines, cut);
}

/// A key as a word of a shell.
pub(super) fn shell_word(key: &str) -> String {
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
pub(super) fn strategy(answer: &Answer, root: &str, options: Option<&OptionsPlace>) -> Strategy {
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
pub(super) fn merge_line(
    ground: &Ground<'_>,
    strategy: &Strategy,
    options: Option<&OptionsPlace>,
) -> Line {
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
    let others = levels::others(ground, root, &view.scope, view.answer, &view.sources);
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
        levels::named(ground, root, &[], others.overridden.iter()),
    );
    if !others.maybe_overridden.is_empty() {
        let words = match (merges, others.maybe_overridden.len()) {
            (true, _) => "merged for some nodes: ",
            (false, 1) => "overrides for some nodes ",
            (false, _) => "overrides for some nodes: ",
        };
        add(
            words,
            levels::named(ground, root, &[], others.maybe_overridden.iter()),
        );
    }
    page.line(line);
    let mut line = Line::new();
    for unknown in &view.unknown {
        let subject = match (unknown.for_options, &unknown.layer) {
            (true, _) => format!("unknown, lookup_options of level '{}'", unknown.level),
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
        line.push(text(subject));
        match &unknown.cause {
            UnknownCause::Function { name } => {
                line.extend([text(": data of the function "), code(name.to_string())]);
            }
            UnknownCause::Path(possible) => {
                let key = &*possible.key;
                // A key that a token names.
                if key != &**root && !possible.is_of_options() {
                    line.extend([text(" for "), code(key)]);
                }
                line.push(text(": "));
                line.extend(levels::named(ground, key, &[], possible.files.iter()));
            }
        }
    }
    page.line(line);
    let mut line = Line::new();
    if !others.not_set.is_empty() {
        line.push(text("not set: "));
        line.extend(levels::labels(ground, &others.not_set));
    }
    page.line(line);
}

/// What Puppet raises, and what leads there.
fn failure(ground: &Ground<'_>, page: &mut Page, key: &str, error: &LookupError, view: &View<'_>) {
    let mut first = vec![name(key), text(" — ")];
    if error.is_not_found() {
        first.push(text("not found, "));
        first.extend(view.whose.clone());
        page.line(first);
        return;
    }
    first.extend([text("Puppet fails here: "), code(error.to_string())]);
    page.line(first);
    page.line(view.whose.clone());
    let keys = error.recursion().unwrap_or_default();
    let links = keys.iter().take(MOST_LINKS);
    let links: Vec<Line> = links.filter_map(|key| definition(ground, key)).collect();
    if !links.is_empty() {
        let mut line = joined(links, " → ");
        line.push(text(" → back"));
        page.line(line);
    } else if let Some(file) = &error.file {
        let line = u32::try_from(error.line.unwrap_or(1)).unwrap_or(1);
        page.line(vec![text("in "), ground.link(file, line)]);
    }
}

/// A key with where it stands: in the file under the cursor, else in the first by path that has it.
fn definition(ground: &Ground<'_>, key: &str) -> Option<Line> {
    let parsed = Key::parse(key).ok()?;
    let root = parsed.root.as_name()?;
    let definitions = ground.snapshot.definitions(root);
    let here = definitions
        .iter()
        .find(|(file, _)| &**file.path() == ground.path)
        .or_else(|| definitions.iter().min_by_key(|(file, _)| file.path()));
    Some(match here {
        Some((file, fact)) => {
            let line = fact.line + 1;
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
        let shown = yaml::lines(value, &Default::default(), max);
        let all = "see the file".to_string();
        add_value(ground, &mut page, shown, &dotted(target), all);
    }
    page
}
