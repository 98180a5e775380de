//! Hovers on entries of `lookup_options`: the keys that match, and overriding entries.

use std::sync::Arc;

use super::levels::options_place;
use super::{Context, few};
use crate::analysis::{DecidingOptions, option_fact, quoted};
use crate::ide::target::OptionTarget;
use crate::lookup::OptionsSource;
use crate::page::yaml;
use crate::page::{Line, Page, code, joined, name, text};
use crate::regexp::Regexp;
use crate::text::number_of;
use crate::value::Value;
use crate::workspace::LOOKUP_OPTIONS;

/// Maximum number of a pattern's keys that are checked for overriding entries.
const MAX_ASKED: usize = 200;

/// Maximum number of keys that are named.
const MAX_NAMED: usize = 5;

/// Maximum width of options, in characters.
const WIDEST: usize = 60;

pub(super) fn page(context: &Context<'_>, target: &OptionTarget) -> Page {
    let entry = &*target.entry;
    let mut page = Page::default();
    let mut first = vec![name(entry), text(" — ")];
    match matching(context, entry) {
        Err(problem) => {
            first.push(text(problem));
            page.line(first);
        }
        Ok(keys) => {
            first.extend(matches_line(context, entry, &keys));
            page.line(first);
            deciding_lines(context, entry, &keys, &mut page);
        }
    }
    page.line(options_line(context, entry));
    page
}

/// The top-level keys that match an entry, ordered by name.
fn matching(context: &Context<'_>, entry: &str) -> Result<Vec<Arc<str>>, String> {
    let snapshot = context.view.analysis.snapshot;
    if !entry.starts_with('^') {
        let known = snapshot.count_with(entry) > 0;
        return Ok(known.then(|| Arc::from(entry)).into_iter().collect());
    }
    let pattern = Regexp::new(entry).map_err(|error| error.to_string())?;
    let names = snapshot.key_names("");
    Ok(names
        .filter(|name| &***name != LOOKUP_OPTIONS)
        .filter(|name| pattern.is_match(name).unwrap_or(false))
        .cloned()
        .collect())
}

fn matches_line(context: &Context<'_>, entry: &str, keys: &[Arc<str>]) -> Line {
    match (entry.starts_with('^'), keys) {
        (true, []) => vec![text("matches no key of this workspace")],
        (false, []) => vec![text("no file of this workspace sets this key")],
        (true, keys) => {
            let mut line = vec![text(format!("matches {}: ", number_of(keys.len(), "key")))];
            let named = keys.iter().take(MAX_NAMED);
            line.extend(joined(named.map(|key| vec![code(key.to_string())]), ", "));
            if keys.len() > MAX_NAMED {
                line.push(text(", …"));
            }
            line
        }
        (false, [key, ..]) => {
            vec![text(match context.view.analysis.snapshot.count_with(key) {
                1 => "1 file sets it".to_string(),
                files => format!("{files} files set it"),
            })]
        }
    }
}

/// Adds the keys for which other entries win, and other files with the same entry.
fn deciding_lines(context: &Context<'_>, entry: &str, keys: &[Arc<str>], page: &mut Page) {
    let scope = context.own.path_scope();
    let mut scoped = context.view.in_scope(&scope);
    // Keys by the entry that wins instead.
    let mut hidden: Vec<(DecidingOptions, Vec<Arc<str>>)> = Vec::new();
    let mut replaced = None;
    for key in keys.iter().take(MAX_ASKED) {
        let Some(decides) = scoped.options_of(key) else {
            continue;
        };
        if &*decides.entry.name != entry {
            let mut known = hidden.iter_mut();
            match known.find(|(known, _)| known.entry.name == decides.entry.name) {
                Some((_, keys)) => keys.push(key.clone()),
                None => hidden.push((decides, vec![key.clone()])),
            }
        } else if let Some((path, line)) = decides.place
            && &*path != context.path()
        {
            replaced = Some((path, line));
        }
    }
    for (decides, keys) in hidden.iter().take(MAX_NAMED) {
        let named = keys.iter().map(|key| vec![code(quoted(key))]);
        let mut line = vec![text("hidden for ")];
        line.extend(few(named, MAX_NAMED));
        line.push(text(match decides.entry.source {
            OptionsSource::Exact => " by the literal entry",
            OptionsSource::Pattern => " by an earlier pattern",
        }));
        line.extend(options_place(context, decides));
        page.line(line);
    }
    page.line(elsewhere(context, entry));
    if let Some((path, line)) = replaced {
        page.line(vec![
            text("replaced as a whole by the entry of the same name in "),
            context.link(&path, line),
        ]);
    }
}

/// Links to the other files with the same entry.
fn elsewhere(context: &Context<'_>, entry: &str) -> Line {
    let snapshot = context.view.analysis.snapshot;
    let files = snapshot.files_with(LOOKUP_OPTIONS);
    let files = files.iter().filter_map(|id| snapshot.file_by_id(*id));
    let mut files: Vec<_> = files.collect();
    files.sort_by_key(|file| file.path());
    let others = files.into_iter().filter_map(|file| {
        let fact = option_fact(file, entry)?;
        let line = file.line(fact.key.start as usize) + 1;
        (**file.path() != *context.path()).then(|| vec![context.link(file.path(), line)])
    });
    let others: Vec<Line> = others.collect();
    if others.is_empty() {
        return Line::new();
    }
    let mut line = vec![text("the same entry is in ")];
    line.extend(few(others.into_iter(), MAX_NAMED));
    line.push(text(
        "; of the files that a node reads, the highest one is used",
    ));
    line
}

/// The entry's options in the file.
fn options_line(context: &Context<'_>, entry: &str) -> Line {
    let own = context
        .view
        .analysis
        .own_value(context.path(), LOOKUP_OPTIONS);
    let Some(own) = own.as_ref().and_then(|options| options.get(entry)) else {
        return Line::new();
    };
    let Value::Hash(options) = own else {
        return vec![text(
            "this entry is ignored: options must be a hash with 'merge' or 'convert_to'",
        )];
    };
    let shown = options.iter().map(|(option, value)| {
        vec![
            text(format!("{}: ", option.to_s())),
            code(yaml::inline(value, WIDEST)),
        ]
    });
    joined(shown, " · ")
}
