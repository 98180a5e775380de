//! An entry of `lookup_options`: the keys it is for, and what overrides it.

use std::sync::Arc;

use super::ground::Ground;
use super::key::quoted;
use super::page::{Line, Page, code, joined, name, text};
use super::{Hover, Target, yaml};
use crate::lookup::{OptionsEntry, OptionsSource};
use crate::regexp::Regexp;
use crate::scope::Scope;
use crate::value::Value;
use crate::workspace::{File, OptionFact};

/// Most keys of a pattern that are asked who decides over them.
const MOST_ASKED: usize = 200;

/// Most keys that are named.
const MOST_NAMED: usize = 5;

/// Widest options, in characters.
const WIDEST: usize = 60;

/// The entry that decides over a key, and where it stands.
pub(super) struct OptionsPlace {
    pub(super) entry: OptionsEntry,
    /// The file and its line; nothing where no file of the workspace holds it.
    pub(super) place: Option<(Arc<str>, u32)>,
}

impl OptionsPlace {
    /// In which file, and by which pattern.
    pub(super) fn line(&self, ground: &Ground<'_>) -> Line {
        let mut line = Line::new();
        if let Some((path, at)) = &self.place {
            line.push(text(" in "));
            line.push(ground.link(path, *at));
        }
        match self.entry.source {
            OptionsSource::Exact => {}
            OptionsSource::Pattern => {
                line.push(text(" by "));
                line.push(code(self.entry.name.to_string()));
            }
        }
        line
    }
}

/// The options that decide over a top-level key in a scope.
pub(super) fn options_place(
    ground: &Ground<'_>,
    root: &str,
    scope: &Scope,
) -> Option<OptionsPlace> {
    let layers = ground.layers_of(root);
    let options = ground.lookup_options(&layers, scope)?;
    let entry = options.entry(root)?;
    let place = entry_places(ground, root, scope, &entry.name)
        .into_iter()
        .next();
    Some(OptionsPlace { entry, place })
}

/// Whether the options that decide over a key, in some scope that the file is read in, merge its
/// lists element by element.
pub(super) fn merges_lists(ground: &Ground<'_>, root: &str, scope: &Scope) -> bool {
    use crate::lookup::StrategyKind;
    let options = options_place(ground, root, scope);
    let merge = options.and_then(|options| options.entry.value.get("merge").cloned());
    let word = match &merge {
        Some(Value::Hash(_)) => merge.as_ref().and_then(|merge| merge.get("strategy")),
        other => other.as_ref(),
    };
    let kind = word
        .and_then(Value::as_str)
        .and_then(StrategyKind::from_name);
    match kind {
        None | Some(StrategyKind::First | StrategyKind::Default | StrategyKind::Hash) => false,
        Some(
            StrategyKind::Unique
            | StrategyKind::Deep
            | StrategyKind::UnconstrainedDeep
            | StrategyKind::ReverseDeep,
        ) => true,
    }
}

/// The files that hold an entry of that name, the highest level first.
fn entry_places(
    ground: &Ground<'_>,
    root: &str,
    scope: &Scope,
    entry: &str,
) -> Vec<(Arc<str>, u32)> {
    let mut found: Vec<(Arc<str>, u32)> = Vec::new();
    for layer in ground.layers_of(root) {
        for place in ground.places_in(&layer, scope).iter() {
            let [crate::hierarchy::TemplatePart::Text(path)] = place.template.parts.as_slice()
            else {
                continue;
            };
            let Some(file) = ground.snapshot.file(path) else {
                continue;
            };
            if let Some(fact) = fact(file, entry)
                && !found.iter().any(|(known, _)| known == file.path())
            {
                let line = file.line(fact.key.start as usize) + 1;
                found.push((file.path().clone(), line));
            }
        }
    }
    found
}

fn fact<'f>(file: &'f File, entry: &str) -> Option<&'f OptionFact> {
    let mut entries = file.facts().lookup_options.iter().rev();
    entries.find(|fact| &*fact.pattern == entry)
}

/// The hover on an entry's name; nothing elsewhere in `lookup_options`.
pub(super) fn hover(ground: &Ground<'_>, file: &File, target: &Target) -> Option<Hover> {
    let [entry] = target.steps.as_slice() else {
        return None;
    };
    let entry = entry.as_str()?;
    let mut page = Page::default();
    let keys = matching(ground, entry);
    let mut first = vec![name(entry), text(" — ")];
    match keys {
        Err(problem) => first.push(text(problem)),
        Ok(keys) => matches_line(ground, entry, &keys, &mut first, &mut page),
    }
    let mut whole = Page::default();
    whole.line(first);
    whole.append(page);
    whole.line(options_line(ground, file, entry));
    Some(whole.hover(target.range, ground.options))
}

/// The top-level keys that an entry is for, ordered by name.
fn matching(ground: &Ground<'_>, entry: &str) -> Result<Vec<Arc<str>>, String> {
    if !entry.starts_with('^') {
        let known = ground.snapshot.count_with(entry) > 0;
        return Ok(known.then(|| Arc::from(entry)).into_iter().collect());
    }
    let pattern = Regexp::new(entry).map_err(|error| error.to_string())?;
    let names = ground.snapshot.key_names("");
    Ok(names
        .filter(|name| &***name != "lookup_options")
        .filter(|name| pattern.is_match(name).unwrap_or(false))
        .cloned()
        .collect())
}

fn matches_line(
    ground: &Ground<'_>,
    entry: &str,
    keys: &[Arc<str>],
    first: &mut Line,
    page: &mut Page,
) {
    let is_pattern = entry.starts_with('^');
    match (is_pattern, keys) {
        (true, []) => first.push(text("matches no key of this workspace")),
        (false, []) => first.push(text("no file of this workspace sets this key")),
        (true, keys) => {
            let count = match keys.len() {
                1 => "matches 1 key: ".to_string(),
                count => format!("matches {count} keys: "),
            };
            first.push(text(count));
            let named = keys.iter().take(MOST_NAMED);
            first.extend(joined(named.map(|key| vec![code(key.to_string())]), ", "));
            if keys.len() > MOST_NAMED {
                first.push(text(", …"));
            }
        }
        (false, [key, ..]) => {
            let files = ground.snapshot.count_with(key);
            let files = match files {
                1 => "1 file sets it".to_string(),
                files => format!("{files} files set it"),
            };
            first.push(text(files));
        }
    }
    let scope = ground
        .reach(ground.path)
        .first()
        .map_or_else(Scope::open, crate::lookup::Reach::scope);
    // Keys by the entry that decides over them instead.
    let mut hidden: Vec<(OptionsPlace, Vec<Arc<str>>)> = Vec::new();
    let mut replaced = None;
    for key in keys.iter().take(MOST_ASKED) {
        let Some(decides) = options_place(ground, key, &scope) else {
            continue;
        };
        if &*decides.entry.name != entry {
            match hidden
                .iter_mut()
                .find(|(known, _)| known.entry.name == decides.entry.name)
            {
                Some((_, keys)) => keys.push(key.clone()),
                None => hidden.push((decides, vec![key.clone()])),
            }
        } else if let Some((path, line)) = decides.place
            && &*path != ground.path
        {
            replaced = Some((path, line));
        }
    }
    for (decides, keys) in hidden.iter().take(MOST_NAMED) {
        let mut line = vec![text("hidden for ")];
        let named = keys.iter().take(MOST_NAMED);
        line.extend(joined(named.map(|key| vec![code(quoted(key))]), ", "));
        if keys.len() > MOST_NAMED {
            line.push(text(format!(" and {} more", keys.len() - MOST_NAMED)));
        }
        let by = match decides.entry.source {
            OptionsSource::Exact => " by the literal entry",
            OptionsSource::Pattern => " by an earlier pattern",
        };
        line.push(text(by));
        line.extend(decides.line(ground));
        page.line(line);
    }
    elsewhere(ground, entry, page);
    if let Some((path, line)) = replaced {
        page.line(vec![
            text("replaced as a whole by the entry of the same name in "),
            ground.link(&path, line),
        ]);
    }
}

/// The other files with an entry of the same name.
fn elsewhere(ground: &Ground<'_>, entry: &str, page: &mut Page) {
    let files = ground.snapshot.files_with("lookup_options");
    let mut files: Vec<_> = files
        .iter()
        .filter_map(|id| ground.snapshot.file_by_id(*id))
        .collect();
    files.sort_by_key(|file| file.path());
    let others: Vec<Line> = files
        .into_iter()
        .filter(|file| &**file.path() != ground.path)
        .filter_map(|file| {
            let fact = fact(file, entry)?;
            let line = file.line(fact.key.start as usize) + 1;
            Some(vec![ground.link(file.path(), line)])
        })
        .collect();
    if others.is_empty() {
        return;
    }
    let more = others.len().saturating_sub(MOST_NAMED);
    let mut line = vec![text("the same entry stands in ")];
    line.extend(joined(others.into_iter().take(MOST_NAMED), ", "));
    if more > 0 {
        line.push(text(format!(" and {more} more")));
    }
    line.push(text("; of the files that a node reads, the highest counts"));
    page.line(line);
}

/// What the entry itself says.
fn options_line(ground: &Ground<'_>, file: &File, entry: &str) -> Line {
    let own = ground.own_value(file.path(), "lookup_options");
    let Some(own) = own.as_ref().and_then(|options| options.get(entry)) else {
        return Line::new();
    };
    let Value::Hash(options) = own else {
        return vec![text(
            "says nothing: options are a hash with merge or convert_to",
        )];
    };
    let told = options.iter().map(|(option, value)| {
        vec![
            text(format!("{}: ", option.to_s())),
            code(yaml::inline(value, WIDEST)),
        ]
    });
    joined(told, " · ")
}
