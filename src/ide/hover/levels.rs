//! The lines below a value: which levels gave it, which hold the key too, which could change it.

use std::sync::Arc;

use super::context::Context;
use super::key::CELL;
use super::page::{Line, Page, code, joined, text};
use super::provenance::dig;
use super::yaml;
use crate::analysis::{Condition, DecidingOptions, LevelValue, Offer, Survey};
use crate::hierarchy::Layer;
use crate::ide::target::KeyTarget;
use crate::ide::unseen::outside_words;
use crate::lookup::{Answer, OptionsSource, Strategy, Unknown, UnknownCause};

/// Adds the lines on levels; `sources` are those that gave the part under the cursor.
pub(super) fn add_lines(
    context: &Context<'_>,
    page: &mut Page,
    target: &KeyTarget,
    survey: &Survey,
    unknown: &[Unknown],
    sources: &[LevelValue],
) {
    page.line(used_line(context, target, survey, sources));
    page.line(unknown_line(context, target, unknown));
    for line in offer_lines(context, unknown) {
        page.line(line);
    }
    page.line(assumed_line(&survey.answer));
    let not_set = survey.not_set();
    if !not_set.is_empty() {
        let mut line = vec![text("not set: ")];
        line.extend(context.labels(&not_set));
        page.line(line);
    }
}

/// Which levels gave the value, and which they override.
fn used_line(
    context: &Context<'_>,
    target: &KeyTarget,
    survey: &Survey,
    sources: &[LevelValue],
) -> Line {
    let root = &target.root;
    let snapshot = context.view.analysis.snapshot;
    let place = |source: &LevelValue| match &source.path {
        Some(path) => match snapshot.file(path) {
            Some(file) => {
                let has_it = dig(&source.value, &target.steps).is_some();
                let steps = if has_it { target.steps.as_slice() } else { &[] };
                vec![context.link(path, context.line_of(file, root, steps))]
            }
            None => vec![text(context.label(path))],
        },
        None => vec![text(format!("level '{}'", source.level))],
    };
    let mut line = Line::new();
    match sources {
        [] => {}
        [only] => {
            line.extend(place(only));
            line.push(text(" sets it"));
        }
        several => {
            line.push(text("merged from "));
            line.extend(joined(several.iter().map(place), ", "));
        }
    }
    let mut add = |words: &str, files: &[Arc<str>]| {
        if !files.is_empty() {
            if !line.is_empty() {
                line.push(text(" · "));
            }
            line.push(text(words));
            line.extend(context.named(root, &[], files.iter()));
        }
    };
    add("overrides ", &survey.overridden());
    let for_some = survey.for_some_nodes();
    let words = match (survey.strategy.is_first_found(), for_some.len()) {
        (false, _) => "merged for some nodes: ",
        (true, 1) => "overrides for some nodes ",
        (true, _) => "overrides for some nodes: ",
    };
    add(words, &for_some);
    line
}

/// Levels that could change the answer.
fn unknown_line(context: &Context<'_>, target: &KeyTarget, unknown: &[Unknown]) -> Line {
    let once = once_a_level(unknown);
    let lines = once.iter().map(|unknown| {
        let level = &unknown.level;
        let mut line = vec![text(match (unknown.for_options, &unknown.layer) {
            (true, _) => format!("unknown, lookup_options of level '{level}'"),
            (false, layer) if *layer == context.view.layer => format!("unknown, level '{level}'"),
            (false, layer) => format!("unknown, {} level '{level}'", layer_name(layer)),
        })];
        match &unknown.cause {
            UnknownCause::Function { name, .. } => {
                line.extend([text(": data of the function "), code(name.to_string())]);
            }
            UnknownCause::Absent { path, .. } => {
                line.extend([text(": "), code(path.to_string()), text(" is not here")]);
            }
            UnknownCause::Path(possible) => {
                let key = &*possible.key;
                // A key that a token names.
                if key != &*target.root && !possible.is_of_options() {
                    line.extend([text(" for "), code(key)]);
                }
                line.push(text(": "));
                line.extend(context.named(key, &[], possible.files.iter()));
            }
        }
        line
    });
    joined(lines, " · ")
}

/// The reasons with those of one level's several paths in one: all their files, each once.
fn once_a_level(unknown: &[Unknown]) -> Vec<Unknown> {
    let mut once: Vec<Unknown> = Vec::new();
    for unknown in unknown {
        if once.contains(unknown) {
            continue;
        }
        let is_same = |known: &&mut Unknown| {
            (known.index, &known.level, &known.layer, known.for_options)
                == (
                    unknown.index,
                    &unknown.level,
                    &unknown.layer,
                    unknown.for_options,
                )
        };
        let same = once.iter_mut().filter(is_same).find_map(|known| {
            match (&mut known.cause, &unknown.cause) {
                (UnknownCause::Path(known), UnknownCause::Path(more)) => {
                    (known.key == more.key).then_some((&mut known.files, &more.files))
                }
                (
                    UnknownCause::Path(_)
                    | UnknownCause::Function { .. }
                    | UnknownCause::Absent { .. },
                    _,
                ) => None,
            }
        });
        match same {
            Some((files, more)) => *files = files.with(more),
            None => once.push(unknown.clone()),
        }
    }
    once
}

/// What the functions that are not run look like they do, and how to declare it.
fn offer_lines(context: &Context<'_>, unknown: &[Unknown]) -> Vec<Line> {
    let mut functions: Vec<&Arc<str>> = Vec::new();
    for unknown in unknown {
        if let UnknownCause::Function { name, .. } = &unknown.cause
            && !functions.contains(&name)
        {
            functions.push(name);
        }
    }
    let offers = functions.iter().filter_map(|name| context.view.offer(name));
    offers.map(|offer| offer_line(&offer)).collect()
}

/// What a function may do by its code, and how to declare it.
pub(super) fn offer_line(offer: &Offer) -> Line {
    vec![
        text("by its code "),
        code(offer.function.to_string()),
        text(format!(" may {}", offer.backend.like)),
        text("; if that is right, declare it below 'backends' in .hiera-ls.yaml: "),
        code(offer.as_yaml()),
    ]
}

/// What an answer rests on that only the user knows.
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

/// The layer's name for people.
fn layer_name(layer: &Layer) -> String {
    match layer {
        Layer::Global => "global layer".to_string(),
        Layer::Environment => "environment".to_string(),
        Layer::Module(name) => format!("module {name}"),
    }
}

/// What would change the answer for a top-level key, behind "for every node": `, unless site is ams
/// or lhr`.
pub(super) fn unless(key: &str, conditions: Vec<Condition>, outside: &[Arc<str>]) -> Line {
    let mut line = condition_line(key, conditions, outside);
    if !line.is_empty() {
        line.insert(0, text(", unless "));
    }
    line
}

/// What would change the answer for a top-level key; empty where nothing would.
pub(super) fn condition_line(key: &str, conditions: Vec<Condition>, outside: &[Arc<str>]) -> Line {
    let conditions = conditions.into_iter();
    let mut all: Vec<Line> = conditions.map(|one| condition(key, one)).collect();
    all.extend(outside_words(outside).map(|words| vec![text(words)]));
    joined(all, ", or ")
}

/// `site` is `ams` or `lhr`.
fn condition(key: &str, condition: Condition) -> Line {
    let (names, count, values) = match condition {
        Condition::Function { name, key: asked } => {
            let has = match &*asked {
                "lookup_options" => vec![text(" has "), code(asked.to_string()), text(" for it")],
                asked if asked == key => vec![text(" has the key")],
                asked => vec![text(" has "), code(asked.to_owned())],
            };
            return std::iter::once(code(name.to_string())).chain(has).collect();
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
            let mut line = vec![code(name.to_string()), text(" is ")];
            line.extend(joined(values, " or "));
            line
        }
        ([name], []) => vec![
            code(name.to_string()),
            text(format!(" is one of {count} values")),
        ],
        (names, [values]) => {
            let pairs = names.iter().zip(values);
            let pairs = pairs.map(|(name, value)| {
                vec![code(name.to_string()), text(" is "), code(value.clone())]
            });
            joined(pairs, " and ")
        }
        (names, _) => {
            let names = names.iter().map(|name| vec![code(name.to_string())]);
            let mut line = joined(names, " and ");
            line.push(text(match count {
                1 => " name a file that has the key".to_owned(),
                count => format!(" have one of {count} combinations"),
            }));
            line
        }
    }
}

/// Where the merge and the conversion come from.
pub(super) fn merge_line(
    context: &Context<'_>,
    strategy: &Strategy,
    options: Option<&DecidingOptions>,
) -> Line {
    let Some(options) = options else {
        return match strategy.is_first_found() {
            true => Line::new(),
            false => vec![text("merge: "), code(strategy.kind.name())],
        };
    };
    let set = ["merge", "convert_to"].into_iter().filter_map(|name| {
        let value = options.entry.value.get(name)?;
        let shown = || code(yaml::inline(value, CELL));
        (!value.is_undef()).then(|| vec![text(format!("{name}: ")), shown()])
    });
    let mut line = joined(set, " · ");
    if !line.is_empty() {
        line.push(text(", from lookup_options"));
        line.extend(options_place(context, options));
    }
    line
}

/// In which file an entry of `lookup_options` stands, and by which pattern it decides.
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
