//! The documents of how Puppet looks a key up: for people, level by level; and in the words of
//! `puppet lookup --explain`.

use std::fmt::Write as _;

use super::{Document, one_line};
use crate::analysis::{Analysis, RootView, Status, Survey, SurveyLevel, is_wildcard};
use crate::hierarchy::Layer;
use crate::ide::cell::counted;
use crate::ide::hover;
use crate::ide::target::KeyTarget;
use crate::lookup::{Request, Settings, explain};
use crate::scope::{Node, Scope};
use crate::text::nearest_host;
use crate::workspace::Paths;

/// Widest column of files, in characters.
const WIDEST: usize = 60;

/// What is said of a level whose files are not here.
const OUTSIDE: &str = "unknown: outside this workspace";

/// Most files of a level that are named.
const MOST_NAMED: usize = 2;

/// The explanation for people: the answer as a hover gives it, then what each level says of the key,
/// the highest first. YAML, with everything but the value in comments.
pub(super) fn for_people(
    analysis: Analysis<'_>,
    view: &RootView<'_>,
    path: &str,
    key: &str,
    node: Option<&Node>,
) -> Document {
    let name = node.map(|node| &*node.certname);
    let is_known = name.is_some_and(|name| analysis.nodes.find(name).is_some());
    let analysis = Analysis {
        selected: name.filter(|_| is_known),
        ..analysis
    };
    let snapshot = analysis.snapshot;
    let name_of = |at: &str| snapshot.short_name(at).to_owned();
    let options = hover::HoverOptions {
        name: Some(&name_of),
        ..hover::HoverOptions::default()
    };
    let mut content = hover::answer_document(analysis, path, key, &options)
        .unwrap_or_else(|| format!("# {key}\n"));
    if let Some(name) = name.filter(|_| !is_known && !analysis.nodes.is_empty()) {
        let nodes = analysis.nodes;
        let near = nearest_host(name, (0..nodes.len()).map(|member| nodes.certname(member)));
        let near = near.map_or_else(String::new, |near| format!(" (did you mean {near}?)"));
        let _ = writeln!(
            content,
            "\n# no node '{}' is known{near}: these are the levels of a node of that name without facts",
            one_line(name)
        );
    }
    if let Some(target) = KeyTarget::named(key) {
        let scope = scope_of(analysis, view, path, node);
        let survey = view.survey(&target.root, &scope);
        content.push_str("\n# levels, the highest first:\n");
        levels(&mut content, view, &survey);
    }
    Document {
        title: format!("How {key} is looked up"),
        language: "yaml",
        content,
        ..Document::default()
    }
}

/// The scope that levels are shown for: the node's, else that of the only node that reads the file, else
/// what the file's own path says.
fn scope_of(analysis: Analysis<'_>, view: &RootView<'_>, path: &str, node: Option<&Node>) -> Scope {
    if let Some(node) = node {
        return match analysis.nodes.find(&node.certname) {
            Some(member) => analysis.nodes.scope(member),
            None => node.scope(&view.environment.name),
        };
    }
    let reaches = view.reach(path);
    let readers = view.readers(reaches.iter().map(|reach| &reach.place), path);
    match (readers.as_slice(), reaches.first()) {
        ([only], _) => analysis.nodes.scope(*only),
        (_, Some(reach)) => reach.scope(),
        (_, None) => Scope::open(),
    }
}

/// One line for each location of each level: the file, what it says, the level.
fn levels(content: &mut String, view: &RootView<'_>, survey: &Survey) {
    let rows: Vec<[String; 3]> = survey
        .levels
        .iter()
        .map(|level| {
            let place = level_place(view.analysis, level);
            let layer = match &level.place.layer {
                Layer::Environment => String::new(),
                Layer::Global => ", global layer".to_owned(),
                Layer::Module(name) => format!(", module {name}"),
            };
            let name = format!("level '{}'{layer}", one_line(&level.place.level));
            [place, said(view, &survey.key, level), name]
        })
        .collect();
    let rows = outside_together(rows);
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.filter(|width| *width <= WIDEST).max().unwrap_or(0)
    };
    let (first, second) = (width(0), width(1));
    for [place, said, name] in &rows {
        let _ = writeln!(content, "#   {place:first$}  {said:second$}  {name}");
    }
}

/// The rows with one for all locations of a level that are outside of the workspace.
fn outside_together(rows: Vec<[String; 3]>) -> Vec<[String; 3]> {
    let mut together: Vec<([String; 3], usize)> = Vec::new();
    for row in rows {
        match together.last_mut() {
            Some((last, count)) if row[1] == OUTSIDE && last[1..] == row[1..] => *count += 1,
            Some(_) | None => together.push((row, 0)),
        }
    }
    let rows = together.into_iter().map(|([place, said, level], more)| {
        let place = match more {
            0 => place,
            more => format!("{place} and {more} more"),
        };
        [place, said, level]
    });
    rows.collect()
}

/// A level's file with the line of the key, or its path as the configuration writes it.
fn level_place(analysis: Analysis<'_>, level: &SurveyLevel) -> String {
    let file = level.file.as_deref();
    let file = file.map(|file| analysis.snapshot.short_name(file));
    match (file, &level.key) {
        (Some(file), Some((line, _))) => format!("{file}:{}", line + 1),
        (Some(file), None) => file.to_owned(),
        (None, _) => one_line(&level.place.original),
    }
}

/// What a level says of a key.
fn said(view: &RootView<'_>, key: &str, level: &SurveyLevel) -> String {
    match &level.status {
        Status::Sets => "sets it".to_owned(),
        Status::Merged => "merged".to_owned(),
        Status::Overridden => "overridden by a level above".to_owned(),
        Status::ForSomeNodes(files) if files.is_empty() => "not set".to_owned(),
        Status::ForSomeNodes(files) => format!(
            "{}: overridden by a level above",
            named(view, key, files.iter())
        ),
        Status::NotSet if level.file.is_some() => "not set".to_owned(),
        Status::NotSet if level.place.template.is_constant() => "no file".to_owned(),
        Status::NotSet => "no file sets it".to_owned(),
        Status::Unknown(paths) => possible(view, key, level, paths),
        Status::Outside { .. } => OUTSIDE.to_owned(),
    }
}

/// What is said of the files that a level reads for some nodes: for how many, where that is known.
fn possible(view: &RootView<'_>, key: &str, level: &SurveyLevel, paths: &Paths) -> String {
    let files: Vec<String> = paths.iter().map(ToString::to_string).collect();
    let set = |files: &[String]| match files.len() {
        1 => format!("{} sets it", named(view, key, files.iter())),
        _ => format!("{} set it", named(view, key, files.iter())),
    };
    let members: Vec<usize> = (0..view.analysis.nodes.len()).collect();
    if let Some(found) = view.read_files(&[&level.place], &files, &members) {
        let count = found.has_file.iter().filter(|has_file| **has_file).count();
        return match (found.read.as_slice(), files.as_slice()) {
            ([], [_]) => format!("{}, no known node reads it", set(&files)),
            ([], _) => format!("{}, no known node reads them", set(&files)),
            (read, _) => format!(
                "{}, for {count} of {}",
                set(read),
                counted(view.analysis.nodes.len())
            ),
        };
    }
    let names = level.place.template.variables();
    let names: Vec<&str> = names
        .map(|name| &**name)
        .filter(|name| !is_wildcard(name))
        .collect();
    match names.is_empty() {
        true => format!("unknown: {}", set(&files)),
        false => format!(
            "unknown, depends on {}: {}",
            names.join(" and "),
            set(&files)
        ),
    }
}

/// A few files by name, each with the line of a key.
fn named<P: AsRef<str>>(
    view: &RootView<'_>,
    key: &str,
    files: impl ExactSizeIterator<Item = P>,
) -> String {
    let snapshot = view.analysis.snapshot;
    let more = files.len().saturating_sub(MOST_NAMED);
    let places = files.take(MOST_NAMED).map(|path| {
        let path = path.as_ref();
        let file = snapshot.file(path);
        let fact = file.and_then(|file| file.facts().key(key));
        let name = snapshot.short_name(path);
        match fact {
            Some(fact) => format!("{name}:{}", fact.line + 1),
            None => name.to_owned(),
        }
    });
    let places = places.collect::<Vec<_>>().join(", ");
    match more {
        0 => places,
        1 => format!("{places} and 1 more file"),
        more => format!("{places} and {more} more files"),
    }
}

/// The explanation, with what is unknown in comment lines below it. Half-typed files are read as
/// Puppet reads them, so the text is that of the command line.
pub(super) fn document(view: &RootView<'_>, key: &str, node: Option<&Node>) -> Document {
    let settings = Settings {
        recover_broken_files: false,
        ..view.analysis.settings.clone()
    };
    let analysis = Analysis {
        settings: &settings,
        ..view.analysis
    };
    let view = analysis.at(view.root);
    let scope = node.map_or_else(Scope::open, |node| {
        let assigned = node.environment.as_deref();
        node.scope(assigned.unwrap_or(&view.environment.name))
    });
    let answer = view.session().lookup(&scope, &Request::key(key).traced());
    let mut content = match (&answer.trace, &answer.result) {
        (_, Err(error)) if !error.class.is_lookup_error() => {
            format!("Error: Could not run: {error}")
        }
        (Some(trace), _) => explain(trace),
        (None, _) => String::new(),
    };
    content.truncate(content.trim_end_matches('\n').len());
    content.push('\n');
    for unknown in &answer.unknown {
        content.push_str(&format!("# unknown: {unknown}\n"));
    }
    Document {
        title: format!("How {key} is looked up"),
        language: "text",
        content,
        ..Document::default()
    }
}
