//! The documents of how Puppet looks a key up: for people, level by level; and in the words of
//! `puppet lookup --explain`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Document, one_line};
use crate::analysis::{Analysis, RootView, Status, Survey, SurveyLevel};
use crate::hierarchy::Layer;
use crate::ide::cell::counted;
use crate::ide::hover;
use crate::ide::target::KeyTarget;
use crate::lookup::{Request, Settings, explain};
use crate::scope::{Node, Scope};
use crate::text::nearest;

/// Widest column of files, in characters.
const WIDEST: usize = 60;

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
    let options = hover::HoverOptions::default();
    let mut content = hover::answer_document(analysis, path, key, &options)
        .unwrap_or_else(|| format!("# {key}\n"));
    if let Some(name) = name.filter(|_| !is_known && !analysis.nodes.is_empty()) {
        let nodes = analysis.nodes;
        let near = nearest(name, (0..nodes.len()).map(|member| nodes.certname(member)));
        let near = near.map_or_else(String::new, |near| format!(" (did you mean {near}?)"));
        let _ = writeln!(
            content,
            "\n# no node '{}' is known{near}: the levels are those of a node of that name without facts",
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
            [place, said(view, level), name]
        })
        .collect();
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.filter(|width| *width <= WIDEST).max().unwrap_or(0)
    };
    let (first, second) = (width(0), width(1));
    for [place, said, name] in &rows {
        let _ = writeln!(content, "#   {place:first$}  {said:second$}  {name}");
    }
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

/// What a level says of the key.
fn said(view: &RootView<'_>, level: &SurveyLevel) -> String {
    match &level.status {
        Status::Sets => "sets it".to_owned(),
        Status::Merged => "merged".to_owned(),
        Status::Overridden => "overridden by a level above".to_owned(),
        Status::ForSomeNodes(files) => match files.len() {
            0 => "not set".to_owned(),
            1 => "overridden by a level above, for the nodes of 1 file".to_owned(),
            count => format!("overridden by a level above, for the nodes of {count} files"),
        },
        Status::NotSet if level.file.is_some() => "not set".to_owned(),
        Status::NotSet if level.place.template.is_constant() => "no file".to_owned(),
        Status::NotSet => "no file sets it".to_owned(),
        Status::Unknown(paths) => {
            let names: Vec<&str> = level
                .place
                .template
                .variables()
                .map(|name| &**name)
                .collect();
            let files = match paths.iter().count() {
                1 => "1 file sets it".to_owned(),
                count => format!("{count} files set it"),
            };
            let nodes = view.analysis.nodes.len();
            let readers = paths
                .iter()
                .flat_map(|path| view.readers(std::iter::once(&level.place), path));
            let readers = readers.collect::<BTreeSet<_>>().len();
            match (readers, names.is_empty()) {
                (0, true) => format!("unknown: {files}"),
                (0, false) => format!("unknown, depends on {}: {files}", names.join(" and ")),
                (readers, _) => format!("{files}, read by {readers} of {}", counted(nodes)),
            }
        }
        Status::Outside { .. } => "unknown: outside this workspace".to_owned(),
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
