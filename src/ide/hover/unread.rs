//! Hovers in files that no hierarchy reads.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::key::add_value;
use super::{Context, few, with_more, within};
use super::{HoverOptions, levels};
use crate::analysis::{Analysis, OffModulepath, RefusedConfig, Unread, dig};
use crate::ide::target::KeyTarget;
use crate::page::yaml;
use crate::page::{Line, Page, Piece, code, joined, name, plain_words, text};
use crate::workspace::{ConfigUse, FoundConfig, path};

/// Maximum number of configurations that are named.
const MAX_NAMED: usize = 6;

/// The page of a key in a YAML file that no hierarchy reads; `None` for files whose names
/// show that they are not data, and for parts of values.
pub(super) fn page(
    analysis: Analysis<'_>,
    at: &str,
    key: &KeyTarget,
    options: &HoverOptions<'_>,
) -> Option<Page> {
    let why = analysis.unread(at)?;
    let is_data = matches!(path::extension(at), Some("yaml" | "yml" | "eyaml"));
    let is_hidden = within(analysis, at)
        .split('/')
        .any(|name| name.starts_with('.'));
    if !is_data || is_hidden {
        return None;
    }
    let mut page = Page::default();
    if let Unread::Refused(config) = &why {
        let mut line = vec![name(key.shown()), text(" — ")];
        line.extend(refused_line(analysis, config));
        page.line(line);
        return Some(page);
    }
    if !key.steps.is_empty() {
        return None;
    }
    page.line(vec![
        name(key.shown()),
        text(" — no hierarchy reads this file"),
    ]);
    for line in reasons(analysis, &why, options.choose) {
        page.line(line);
    }
    Some(page)
}

/// The page of a key in a module that no modulepath has.
pub(super) fn off_modulepath(key: &KeyTarget, off: &OffModulepath<'_>) -> Page {
    let mut page = Page::default();
    page.line(vec![name(key.shown()), text(" — no node reads this file")]);
    page.line(vec![text(off.why())]);
    page
}

/// The configuration that Puppet refuses, and the consequence.
pub(super) fn refused_line(analysis: Analysis<'_>, config: &RefusedConfig) -> Line {
    let at = within(analysis, &config.path);
    let place = Piece::Place {
        label: match config.line {
            Some(line) => format!("{at}:{line}"),
            None => at.to_owned(),
        },
        path: config.path.to_string(),
        line: config.line.unwrap_or(1),
    };
    let why = format!(": {}; every lookup fails", config.why());
    vec![text("Puppet refuses "), place, text(why)]
}

/// The configurations that were searched, and how to solve it; `choose` is the target of a link that
/// lets the user choose a hierarchy.
pub(super) fn reasons(analysis: Analysis<'_>, why: &Unread, choose: Option<&str>) -> Vec<Line> {
    let mut lines = Vec::new();
    match why {
        Unread::Refused(config) => return vec![refused_line(analysis, config)],
        Unread::NoHierarchy => {
            let folders = analysis.snapshot.folders().iter();
            let folders = folders.map(|folder| vec![code(folder.to_string())]);
            let mut line = vec![text("looked for: "), code("hiera.yaml")];
            line.push(text(", its copies and its templates, in "));
            line.extend(joined(folders, ", "));
            lines.push(line);
        }
        Unread::NotReached => {
            let all = analysis.configurations();
            let found = all.iter().map(|config| {
                let at = code(within(analysis, &config.path).to_owned());
                vec![at, text(format!(" ({})", became(analysis, config)))]
            });
            if !all.is_empty() {
                let mut line = vec![text("hierarchies: ")];
                line.extend(few(found, MAX_NAMED));
                lines.push(line);
                if let [only] = all
                    && only.is_used()
                {
                    // It is chosen already.
                    return lines;
                }
            }
        }
    }
    lines.push(how_to_choose(choose));
    lines
}

/// How to choose a hierarchy: a link, or words for clients that do not run commands from links.
fn how_to_choose(link: Option<&str>) -> Line {
    let words = vec![
        text("choose one with the setting "),
        code("hiera-ls.roots"),
        text(", or on the command line with "),
        code("--hiera-yaml FILE"),
    ];
    match link {
        Some(link) => vec![Piece::Action {
            label: "choose hiera.yaml…",
            link: Some(link.to_owned()),
            words: plain_words(&words),
        }],
        None => words,
    }
}

/// The state of a configuration, in words.
fn became(analysis: Analysis<'_>, config: &FoundConfig) -> String {
    match &config.verdict {
        ConfigUse::Used => "in use".to_owned(),
        ConfigUse::Variant(used_config) => {
            format!("a variant of {}", within(analysis, used_config))
        }
        ConfigUse::Aside => "belongs to tests".to_owned(),
        ConfigUse::ReachesNothing => "its data is not in this workspace".to_owned(),
    }
}

/// The names of functions that are not declared, at most two.
fn custom_functions(context: &Context<'_>) -> Line {
    const MOST: usize = 2;
    let view = context.view;
    let places = view.places(&view.layer);
    let unknown = places.iter().filter(|place| place.reading.is_none());
    let names: BTreeSet<&Arc<str>> = unknown.map(|place| &place.function.name).collect();
    if names.is_empty() {
        return vec![text("a custom backend")];
    }
    let mut line = vec![text("the function ")];
    let named = names
        .iter()
        .take(MOST)
        .map(|name| vec![code(name.to_string())]);
    line.extend(joined(named, " or "));
    with_more(line, names.len().saturating_sub(MOST))
}

/// The page of a key in a file that no level of its hierarchy reads.
pub(super) fn by_its_hierarchy(context: &Context<'_>, target: &KeyTarget) -> Page {
    let mut page = Page::default();
    if let Some(config) = context.view.refused_config() {
        let mut line = vec![name(target.shown()), text(" — ")];
        line.extend(refused_line(context.view.analysis, &config));
        page.line(line);
        return page;
    }
    let analysis = context.view.analysis;
    let is_custom = !analysis.configurations_reading(context.path()).is_empty();
    page.line(vec![
        name(target.shown()),
        text(if is_custom {
            " — only a function that is not run here may read this file"
        } else {
            " — no level of the hierarchy reads this file"
        }),
    ]);
    let mut is_offered = false;
    for offer in context.view.offers_for(context.path()) {
        page.line(levels::offer_line(&offer));
        is_offered = true;
    }
    let own = context
        .view
        .analysis
        .own_value(context.path(), &target.root);
    if let Some(value) = own.as_ref().and_then(|value| dig(value, &target.steps)) {
        let shown = yaml::lines(value, &Default::default(), context.shows_whole());
        let all = "see the file".to_string();
        add_value(context, &mut page, shown, &target.lookup_name(), all);
    }
    if is_offered {
        return page;
    }
    if is_custom {
        let mut line = custom_functions(context);
        line.push(text(
            " could read it: declare what it does with the setting ",
        ));
        line.push(code("hiera-ls.backends"));
        page.line(line);
        return page;
    }
    for line in reasons(analysis, &Unread::NotReached, context.options.choose) {
        page.line(line);
    }
    page
}
