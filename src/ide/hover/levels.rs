//! The lines below a value: the levels that gave it, others that set the key, and those that could change it.

use std::sync::Arc;

use indexmap::IndexSet;

use super::key::CELL;
use super::{Context, few, within};
use crate::analysis::{Condition, DecidingOptions, LevelValue, Offer, Survey, dig};
use crate::ide::target::KeyTarget;
use crate::lookup::{Answer, OptionsSource, Unknown, UnknownCause};
use crate::page::yaml;
use crate::page::{Line, Page, code, joined, text};
use crate::scope::top_name;
use crate::text::number_of;
use crate::value::Value;
use crate::workspace::{ConfigOrigin, FoundConfig, LOOKUP_OPTIONS};

/// Maximum number of levels outside of the workspace that are named.
const MAX_OUTSIDE: usize = 2;

/// Maximum number of configurations that are not used, but named.
const MAX_VARIANTS: usize = 1;

/// Maximum number of combinations of variables that are named.
const MAX_CONDITIONS: usize = 3;

/// Adds the lines about levels; `sources` gave the part under the cursor.
pub(super) fn add_lines(
    context: &Context<'_>,
    page: &mut Page,
    target: &KeyTarget,
    survey: &Survey,
    sources: &[LevelValue],
) {
    let mut line = used_line(context, target, survey, sources);
    let not_set = survey.not_set();
    if !not_set.is_empty() {
        line.push(text(if line.is_empty() {
            "not set in "
        } else {
            " · not set in "
        }));
        line.extend(context.labels(&not_set));
    }
    page.line(line);
    page.line(assumed_line(&survey.found.answer));
}

/// Adds the likely behaviour of undeclared functions, and a refused manifest that may set unknown variables.
pub(super) fn add_offers(context: &Context<'_>, page: &mut Page, unknown: &[Unknown]) {
    let may_be_set = unknown.iter().any(|one| match &one.cause {
        UnknownCause::Path(possible) => {
            let mut variables = possible.variables.iter();
            variables.any(|variable| may_be_set(context, variable))
        }
        UnknownCause::Function { .. } | UnknownCause::Absent { .. } => false,
    });
    if may_be_set {
        page.line(refused_manifest(context));
    }
    for line in offer_lines(context, unknown) {
        page.line(line);
    }
}

/// Whether manifests may set a variable of a known node.
pub(super) fn may_be_set(context: &Context<'_>, variable: &str) -> bool {
    let top = top_name(variable);
    let is_set_by_puppet = matches!(top, "facts" | "trusted" | "server_facts");
    !is_set_by_puppet && context.view.analysis.nodes.may_be_set(top)
}

/// The manifest that Puppet refuses, so that the variables it sets are unknown; empty if there is none.
pub(super) fn refused_manifest(context: &Context<'_>) -> Line {
    let view = context.view;
    let Some(refused) = view.analysis.refused_manifest(view.root) else {
        return Line::new();
    };
    vec![
        context.link(&refused.path, refused.line),
        text(format!(
            " cannot be read ({}): what manifests set is not known",
            refused.message
        )),
    ]
}

/// The conditions that could change an answer: `may differ: facts.site = ams or lhr · role (12 values)`.
pub(super) fn may_differ(context: &Context<'_>, survey: &Survey, unknown: &[Unknown]) -> Line {
    let outside = &survey.found.outside;
    let (mut all, mut functions): (Vec<Line>, Vec<Line>) = (Vec::new(), Vec::new());
    for one in survey.conditions(&context.view.analysis, unknown) {
        let kind = match &one {
            Condition::Variables { .. } => &mut all,
            Condition::Function { .. } => &mut functions,
        };
        let shown = condition(&survey.found.key, one);
        if !kind.contains(&shown) {
            kind.push(shown);
        }
    }
    if all.len() > MAX_CONDITIONS + 1 && !context.shows_whole() {
        let more = all.len() - MAX_CONDITIONS;
        all.truncate(MAX_CONDITIONS);
        all.push(vec![text(format!("{more} more conditions"))]);
    }
    all.extend(functions);
    let named = outside.iter().take(MAX_OUTSIDE);
    let named = named.map(|level| vec![text(format!("'{level}'"))]);
    if !outside.is_empty() {
        let mut line = joined(named, ", ");
        if let Some(more @ 1..) = outside.len().checked_sub(MAX_OUTSIDE) {
            line.push(text(format!(" and {}", number_of(more, "more level"))));
        }
        line.push(text(" (outside this workspace)"));
        all.push(line);
    }
    let mut line = joined(all, " · ");
    if !line.is_empty() {
        line.insert(0, text("may differ: "));
    }
    line
}

/// The levels that gave the value, and those that they override.
fn used_line(
    context: &Context<'_>,
    target: &KeyTarget,
    survey: &Survey,
    sources: &[LevelValue],
) -> Line {
    let root = &target.root;
    let place = |source: &LevelValue| {
        let has_it = dig(&source.value, &target.steps).is_some();
        let steps = if has_it { target.steps.as_slice() } else { &[] };
        vec![context.source(source, root, steps)]
    };
    let mut line = Line::new();
    match sources {
        [] => {}
        [only] => {
            line.push(text("set in "));
            line.extend(place(only));
        }
        several => {
            line.push(text("merged from "));
            line.extend(joined(several.iter().map(place), ", "));
        }
    }
    let mut add = |words: Line, steps: &[Value], files: &[Arc<str>]| {
        if !files.is_empty() {
            if !line.is_empty() {
                line.push(text(" · "));
            }
            line.extend(words);
            line.extend(context.named(root, steps, files.iter()));
        }
    };
    let has_part = |source: &&LevelValue| dig(&source.value, &target.steps).is_some();
    let others = survey.found.sources.iter().filter(has_part);
    let others = others.filter(|source| !sources.iter().any(|used| used.path == source.path));
    let others: Vec<Arc<str>> = others.filter_map(|source| source.path.clone()).collect();
    add(vec![text("overrides ")], &target.steps, &others);
    add(vec![text("overrides ")], &[], &survey.overridden());
    let for_some = survey.for_some_nodes();
    let names = survey.variables_of_some();
    let mut words = vec![text(if survey.found.strategy.is_first_found() {
        "overrides, depending on "
    } else {
        "merged, depending on "
    })];
    words.extend(joined(
        names.iter().map(|name| vec![code(name.to_string())]),
        " and ",
    ));
    words.push(text(": "));
    add(words, &[], &for_some);
    line
}

/// Names the hierarchy in use if others read the file too and it is not at Puppet's usual place.
pub(super) fn hierarchy_line(context: &Context<'_>) -> Line {
    let (analysis, at) = (context.view.analysis, context.path());
    let used = context.view.root.hiera_yaml.as_deref();
    let reading = analysis.configurations_reading(at);
    let others = reading.iter().map(|one| one.config);
    let others: Vec<&FoundConfig> = others
        .filter(|config| Some(&*config.path) != used && !config.is_aside)
        .collect();
    let own = reading.iter().find(|one| Some(&*one.config.path) == used);
    // At Puppet's usual place, or as the only one, there is no choice to explain.
    let own = own.filter(|own| own.config.origin != ConfigOrigin::Place && !others.is_empty());
    let Some(own) = own else {
        return Line::new();
    };
    let shown = others.iter();
    let shown = shown.map(|config| vec![code(within(analysis, &config.path).to_owned())]);
    let mut line = vec![
        text("hierarchy: "),
        code(within(analysis, &own.config.path).to_owned()),
        text(" · not used: "),
    ];
    line.extend(few(shown, MAX_VARIANTS));
    line
}

/// The likely behaviour of undeclared functions; `hiera-ls doctor` shows the declaration.
fn offer_lines(context: &Context<'_>, unknown: &[Unknown]) -> Vec<Line> {
    let functions: IndexSet<&Arc<str>> = unknown
        .iter()
        .filter_map(|one| match &one.cause {
            UnknownCause::Function { name, .. } => Some(name),
            UnknownCause::Path(_) | UnknownCause::Absent { .. } => None,
        })
        .collect();
    let offers = functions.iter().filter_map(|name| context.view.offer(name));
    let short = |offer: Offer| {
        let mut line = by_its_code(&offer);
        line.extend([
            text(": "),
            code("hiera-ls doctor"),
            text(" shows how to declare it"),
        ]);
        line
    };
    offers.map(short).collect()
}

/// The likely behaviour of a function, by its code.
fn by_its_code(offer: &Offer) -> Line {
    vec![
        text("by its code "),
        code(offer.function.to_string()),
        text(format!(" may {}", offer.backend.like)),
    ]
}

/// The likely behaviour of a function, with the declaration to write.
pub(super) fn offer_line(offer: &Offer) -> Line {
    let mut line = by_its_code(offer);
    line.extend([
        text("; if that is right, declare it below 'backends' in .hiera-ls.yaml: "),
        code(offer.as_yaml()),
    ]);
    line
}

/// The declared functions that an answer rests on.
pub(super) fn assumed_line(answer: &Answer) -> Line {
    let assumed = answer.assumed.iter().map(|assumed| {
        vec![
            code(assumed.function.to_string()),
            text(format!(" is declared to {}", assumed.like)),
        ]
    });
    let mut line = joined(assumed, ", ");
    if !line.is_empty() {
        line.push(text(" (not run)"));
    }
    line
}

/// The conditions that could change a token's value, to follow it: ` (may differ: site = ams)`.
pub(super) fn unless(key: &str, conditions: Vec<Condition>) -> Line {
    let mut line = joined(conditions.into_iter().map(|one| condition(key, one)), " · ");
    if !line.is_empty() {
        line.insert(0, text(" (may differ: "));
        line.push(text(")"));
    }
    line
}

/// `site` = `ams` or `lhr`.
fn condition(key: &str, condition: Condition) -> Line {
    let (names, count, values) = match condition {
        Condition::Function { name, key: other } => {
            let what = match &*other {
                LOOKUP_OPTIONS => " (its lookup_options are unknown)".to_owned(),
                other if other == key => " (not run)".to_owned(),
                other => format!(" (what it has for {other} is not known)"),
            };
            return vec![code(name.to_string()), text(what)];
        }
        Condition::Variables {
            names,
            count,
            values,
        } => (names, count, values),
    };
    match (names.as_slice(), values.as_slice()) {
        ([name], [_, ..]) => {
            let values = values.iter().flatten();
            let values = values.map(|value| vec![code(value.clone())]);
            let mut line = vec![code(name.to_string()), text(" = ")];
            line.extend(joined(values, " or "));
            line
        }
        ([name], []) => vec![code(name.to_string()), text(format!(" ({count} values)"))],
        (names, [values]) => {
            let pairs = names.iter().zip(values);
            let pairs = pairs.map(|(name, value)| {
                vec![code(name.to_string()), text(" = "), code(value.clone())]
            });
            joined(pairs, " and ")
        }
        (names, _) => {
            let names = names.iter().map(|name| vec![code(name.to_string())]);
            let mut line = joined(names, " and ");
            line.push(text(match count {
                1 => " (1 file)".to_owned(),
                count => format!(" ({count} combinations)"),
            }));
            line
        }
    }
}

/// The sources of the merge and the conversion.
pub(super) fn merge_line(context: &Context<'_>, survey: &Survey) -> Line {
    let strategy = &survey.found.strategy;
    let of_call = match &survey.found.request_merge {
        Some(merge) => vec![
            text("merge: "),
            code(yaml::inline(merge, CELL)),
            text(", from the call"),
        ],
        None => Line::new(),
    };
    let Some(options) = survey.options() else {
        return match (
            survey.found.request_merge.is_some(),
            strategy.is_first_found(),
        ) {
            (true, _) | (_, true) => of_call,
            (false, false) => vec![text("merge: "), code(strategy.kind.name())],
        };
    };
    let is_from_call = |name: &&str| *name == "merge" && survey.found.request_merge.is_some();
    let names = ["merge", "convert_to"].into_iter();
    let set = names.filter(|name| !is_from_call(name)).filter_map(|name| {
        let value = options.entry.value.get(name)?;
        let shown = || code(yaml::inline(value, CELL));
        (!value.is_undef()).then(|| vec![text(format!("{name}: ")), shown()])
    });
    let mut line = joined(set, " · ");
    if !line.is_empty() {
        line.push(text(", from lookup_options"));
        line.extend(options_place(context, &options));
    }
    let both = [of_call, line].into_iter().filter(|line| !line.is_empty());
    joined(both, " · ")
}

/// The file of an entry of `lookup_options`, and the pattern by which it matches.
pub(super) fn options_place(context: &Context<'_>, options: &DecidingOptions) -> Line {
    let mut line = Line::new();
    if let Some((path, at)) = &options.place {
        line.push(text(" in "));
        line.push(context.link(path, *at));
    }
    match options.entry.source {
        OptionsSource::Exact => {}
        OptionsSource::Pattern => {
            line.push(text(" by "));
            line.push(code(options.entry.name.to_string()));
        }
    }
    line
}
