//! The documents that explain a lookup: for people, level by level; and as `puppet lookup --explain`.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Document, one_line, with_short_names};
use crate::analysis::{
    Analysis, KeyPositions, RootView, Status, Survey, SurveyLevel, dig, is_wildcard,
};
use crate::hierarchy::Layer;
use crate::ide::cell::counted;
use crate::ide::hover;
use crate::ide::shell::lookup_command;
use crate::ide::target::KeyTarget;
use crate::lookup::{Request, Settings, StrategyKind, explain};
use crate::scope::{Node, Scope};
use crate::text::folded;
use crate::text::{nearest_host, number_of};
use crate::workspace::Paths;

/// Maximum width of a line, in characters; a command is on one line.
const WIDTH: usize = 100;

/// Maximum length of a path, in characters.
const LONGEST_PLACE: usize = 84;

/// Maximum width of the column of paths, in characters.
const WIDEST_PLACE: usize = 48;

/// Maximum width of the column of results, in characters.
const WIDEST_RESULT: usize = 36;

/// The result of a level without a file.
const NO_FILE: &str = "no file";

/// The result of a level with different files for each node, if none of them sets the key.
const NO_FILE_SETS_IT: &str = "no file sets it";

/// The result of a level with files outside of the workspace.
const OUTSIDE: &str = "unknown: outside this workspace";

/// Maximum number of a level's files that are named.
const MAX_NAMED: usize = 2;

/// The explanation for people: the hover's answer, then the result of each level, the highest
/// first. YAML, with everything but the value in comments.
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
    let shown = with_short_names(analysis.snapshot, |options| {
        hover::document(analysis, path, key, options, hover::DocumentedAnswers::Any)
    });
    let mut content = shown.unwrap_or_else(|| format!("# {key}\n"));
    let mut data = json!({ "key": key, "levels": [] });
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
        let scope = match node.filter(|_| !is_known) {
            Some(node) => node.scope(&view.environment.name),
            None => analysis.at(view.root).file(path).scope(),
        };
        let survey = view.survey(&target.root, &scope);
        if !survey.levels.is_empty() {
            content
                .push_str("\n# levels, the highest first: file, what it has, name of the level\n");
            let rows = rows(view, &target, &survey);
            data["levels"] = rows.iter().map(LevelRow::json).collect();
            levels(&mut content, rows);
        }
        if analysis.what_if.is_empty() {
            let node = name.filter(|_| is_known);
            let command = lookup_command(view, &target.lookup_name(), node);
            let _ = writeln!(
                content,
                "\n# as Puppet explains it: {} --explain",
                one_line(&command)
            );
        }
    }
    Document {
        title: format!("How {key} is looked up"),
        language: "yaml",
        content,
        data: Some(data.to_string()),
        ..Document::default()
    }
}

/// The results of locations, for a key or a part of its value.
struct LevelTexts<'a> {
    view: &'a RootView<'a>,
    target: &'a KeyTarget,
    survey: &'a Survey,
    /// The known files that give the part.
    used: Vec<Arc<str>>,
    positions: KeyPositions<'a>,
    /// Node-specific files that were named in lines above: a file may match several locations.
    named: HashSet<Arc<str>>,
    /// Indexes of the nodes with a value from a level above.
    answered: HashSet<usize>,
}

/// A line of the table of levels.
#[derive(Clone)]
struct LevelRow {
    /// The file, or the path as in the configuration.
    place: String,
    result: String,
    level: String,
    /// The level's name, with its layer.
    name: String,
    /// The file with the line of the key, if it has it.
    at: Option<(Arc<str>, Option<u32>)>,
    /// The number of further locations that the line covers, and the level of the last one.
    more: Option<(usize, String)>,
}

/// A row for each location of each level.
fn rows(view: &RootView<'_>, target: &KeyTarget, survey: &Survey) -> Vec<LevelRow> {
    let used = hover::used(survey, target).into_iter();
    let mut texts = LevelTexts {
        view,
        target,
        survey,
        used: used.filter_map(|source| source.path).collect(),
        positions: KeyPositions::new(view.analysis.snapshot),
        named: HashSet::new(),
        answered: HashSet::new(),
    };
    let rows = survey.levels.iter().map(|level| {
        let layer = match &level.place.layer {
            Layer::Environment => String::new(),
            Layer::Global => ", global layer".to_owned(),
            Layer::Module(name) => format!(", module {name}"),
        };
        LevelRow {
            place: without_middle(&texts.place(level), LONGEST_PLACE),
            result: texts.result(level),
            level: format!("'{}'{layer}", one_line(&level.place.level)),
            name: format!("{}{layer}", one_line(&level.place.level)),
            at: level
                .file
                .as_ref()
                .map(|file| (file.clone(), texts.line(level))),
            more: None,
        }
    });
    rows.collect()
}

/// Adds a line for each location of each level: file, result, level.
fn levels(content: &mut String, rows: Vec<LevelRow>) {
    let rows = together(rows);
    let fits = |row: &&LevelRow| {
        let (place, result_width) = (row.place_in_words(), row.result.chars().count());
        place.chars().count() <= WIDEST_PLACE && result_width <= WIDEST_RESULT
    };
    let in_columns: Vec<&LevelRow> = rows.iter().filter(fits).collect();
    let first = in_columns
        .iter()
        .map(|row| row.place_in_words().chars().count());
    let first = first.max().unwrap_or(0);
    let second = in_columns.iter().map(|row| row.result.chars().count());
    let second = second.max().unwrap_or(0);
    for row in &rows {
        let (place, (word, name)) = (row.place_in_words(), row.levels());
        let line = format!("#   {place:first$}  {:second$}  {name}", row.result);
        if fits(&row) && line.chars().count() <= WIDTH {
            let _ = writeln!(content, "{line}");
            continue;
        }
        let _ = writeln!(content, "#   {place}");
        let rest = format!("{}, {word} {name}", row.result);
        for line in folded(rest.split(' '), " ", WIDTH - 8) {
            let _ = writeln!(content, "#       {line}");
        }
    }
}

/// Drops the middle of a path of more than `most` characters.
fn without_middle(place: &str, most: usize) -> String {
    let count = place.chars().count();
    if count <= most {
        return place.to_owned();
    }
    let head: String = place.chars().take(most / 2).collect();
    let tail: String = place.chars().skip(count - most / 2 + 1).collect();
    format!("{head}…{tail}")
}

impl LevelRow {
    /// The row for programs.
    fn json(&self) -> Value {
        let (file, line) = match &self.at {
            Some((file, line)) => (Some(&**file), *line),
            None => (None, None),
        };
        json!({
            "level": self.name,
            "place": self.place,
            "file": file,
            "line": line,
            "result": self.result,
        })
    }

    fn place_in_words(&self) -> String {
        match &self.more {
            None => self.place.clone(),
            Some((more, _)) => format!("{} and {more} more", self.place),
        }
    }

    /// "level" or "levels", and their names.
    fn levels(&self) -> (&'static str, String) {
        match &self.more {
            Some((_, last)) if *last != self.level => {
                ("levels", format!("{} to {last}", self.level))
            }
            Some(_) | None => ("level", self.level.clone()),
        }
    }
}

/// Joins adjacent rows without a value.
fn together(rows: Vec<LevelRow>) -> Vec<LevelRow> {
    let mut all: Vec<LevelRow> = Vec::new();
    for row in rows {
        let is_dull = [OUTSIDE, NO_FILE_SETS_IT, NO_FILE].contains(&&*row.result);
        match all.last_mut() {
            Some(last) if is_dull && last.result == row.result => {
                let count = last.more.as_ref().map_or(0, |(count, _)| *count);
                last.more = Some((count + 1, row.level));
            }
            Some(_) | None => all.push(row),
        }
    }
    all
}

impl LevelTexts<'_> {
    /// A level's file with the line of the key or its part, or the path as in the configuration.
    fn place(&self, level: &SurveyLevel) -> String {
        let snapshot = self.view.analysis.snapshot;
        let Some(path) = level.file.as_deref() else {
            return one_line(&level.place.original);
        };
        let name = snapshot.short_name(path);
        match self.line(level) {
            Some(line) => format!("{name}:{line}"),
            None => name.to_owned(),
        }
    }

    /// The line of the key or its part in a level's file, if the file has it.
    fn line(&self, level: &SurveyLevel) -> Option<u32> {
        let path = level.file.as_deref().filter(|_| level.key.is_some())?;
        let file = self.view.analysis.snapshot.file(path)?;
        let steps = self.target.steps.as_slice();
        let steps = if self.has_part(path) { steps } else { &[] };
        Some(self.positions.line(file, &self.target.root, steps))
    }

    /// Whether a file itself sets the part.
    fn has_part(&self, path: &str) -> bool {
        let KeyTarget { root, steps, .. } = self.target;
        let own = self.view.analysis.own_value(path, root);
        steps.is_empty() || own.is_some_and(|own| dig(&own, steps).is_some())
    }

    /// The result of a level.
    fn result(&mut self, level: &SurveyLevel) -> String {
        let is_merged = !self.survey.found.strategy.is_first_found();
        match &level.status {
            Status::Sets | Status::Merged => self.file_result(level),
            Status::Overridden => "overridden by a higher level".to_owned(),
            Status::ForSomeNodes(files) if files.is_empty() => match level.file {
                Some(_) => "not set".to_owned(),
                None => NO_FILE_SETS_IT.to_owned(),
            },
            Status::ForSomeNodes(files) => {
                let files = self.not_yet_named(files.clone());
                match (files.is_empty(), is_merged) {
                    (true, _) => NO_FILE_SETS_IT.to_owned(),
                    (false, true) => format!("{}: merged", self.names(&files)),
                    (false, false) => {
                        format!("{}: overridden by a higher level", self.names(&files))
                    }
                }
            }
            Status::NotSet if level.file.is_some() => "not set".to_owned(),
            Status::NotSet if level.place.template.is_constant() => NO_FILE.to_owned(),
            Status::NotSet => NO_FILE_SETS_IT.to_owned(),
            Status::Unknown(paths) => self.possible(level, paths),
            Status::Outside { .. } => OUTSIDE.to_owned(),
        }
    }

    /// The result of a file that gives a value for the key.
    fn file_result(&self, level: &SurveyLevel) -> String {
        let path = level.file.as_deref().unwrap_or_default();
        let is_used = self.used.iter().any(|used| **used == *path);
        match (is_used, self.used.len(), self.has_part(path)) {
            (true, 1, _) => self.sets_for_the_rest(),
            (true, _, _) => "merged".to_owned(),
            (false, _, false) => "sets another part".to_owned(),
            (false, _, true) => {
                if self.survey.found.strategy.kind == StrategyKind::ReverseDeep {
                    "overridden by a lower level".to_owned()
                } else {
                    "overridden by a higher level".to_owned()
                }
            }
        }
    }

    /// The result of a file that sets the key for all nodes without a value from a level above.
    fn sets_for_the_rest(&self) -> String {
        let nodes = self.view.analysis.nodes.len();
        match nodes - self.answered.len() {
            _ if self.answered.is_empty() || !self.survey.found.strategy.is_first_found() => {
                "sets it".to_owned()
            }
            0 => "overridden by a higher level".to_owned(),
            left => format!("sets it, for {left} of {}", counted(nodes)),
        }
    }

    /// Filters files that may set the part.
    fn that_may_set(&self, mut files: Vec<Arc<str>>) -> Vec<Arc<str>> {
        let KeyTarget { root, steps, .. } = self.target;
        files.retain(|path| self.view.analysis.may_set(path, root, steps));
        files
    }

    /// Filters files that may set the part and that no line above names.
    fn not_yet_named(&mut self, files: Vec<Arc<str>>) -> Vec<Arc<str>> {
        let mut files = self.that_may_set(files);
        files.retain(|path| self.named.insert(path.clone()));
        files
    }

    /// The result of a level with different files for each node; with the number of nodes, if known.
    fn possible(&mut self, level: &SurveyLevel, paths: &Paths) -> String {
        let nodes = self.view.analysis.nodes.len();
        let members: Vec<usize> = (0..nodes).collect();
        let files: Vec<Arc<str>> = paths.iter().cloned().collect();
        let setting = self.that_may_set(files);
        let files: Vec<String> = setting.iter().map(ToString::to_string).collect();
        let found = self.view.read_files(&[&level.place], &files, &members);
        // Some of the files may be named in another line too, for other nodes.
        let shown: Vec<Arc<str>> = match &found {
            Some(found) if !found.read.is_empty() => {
                let read = found.read.iter().map(|at| Arc::from(at.as_ref() as &str));
                let read: Vec<Arc<str>> = read.collect();
                self.named.extend(read.iter().cloned());
                read
            }
            Some(_) | None => self.not_yet_named(setting),
        };
        if shown.is_empty() {
            return NO_FILE_SETS_IT.to_owned();
        }
        let set = match (self.survey.found.strategy.is_first_found(), shown.len()) {
            (true, 1) => format!("{} sets it", self.names(&shown)),
            (true, _) => format!("{} set it", self.names(&shown)),
            (false, _) => format!("{} merged", self.names(&shown)),
        };
        if let Some(found) = found {
            let having = found.has_file.iter().enumerate();
            let having: Vec<usize> = having.filter(|(_, has)| **has).map(|(at, _)| at).collect();
            let is_first = self.survey.found.strategy.is_first_found();
            let is_left = |node: &&usize| !is_first || !self.answered.contains(*node);
            let count = having.iter().filter(is_left).count();
            self.answered.extend(having);
            return match (found.read.is_empty(), shown.len()) {
                (true, 1) => format!("{set}, no known node reads it"),
                (true, _) => format!("{set}, no known node reads them"),
                (false, _) => format!("{set}, for {count} of {}", counted(nodes)),
            };
        }
        let names = level.place.template.variables().map(|name| &**name);
        let names: Vec<&str> = names.filter(|name| !is_wildcard(name)).collect();
        if names.is_empty() {
            format!("unknown: {set}")
        } else {
            format!("unknown, depends on {}: {set}", names.join(" and "))
        }
    }

    /// Names a few files, each with the line of the key or its part.
    fn names(&self, files: &[Arc<str>]) -> String {
        let snapshot = self.view.analysis.snapshot;
        let more = files.len().saturating_sub(MAX_NAMED);
        let places = files.iter().take(MAX_NAMED).map(|path| {
            let name = snapshot.short_name(path);
            match snapshot.file(path) {
                Some(file) => {
                    let KeyTarget { root, steps, .. } = self.target;
                    format!("{name}:{}", self.positions.line(file, root, steps))
                }
                None => name.to_owned(),
            }
        });
        let places = places.collect::<Vec<_>>().join(", ");
        match more {
            0 => places,
            more => format!("{places} and {}", number_of(more, "more file")),
        }
    }
}

/// The explanation in Puppet's words, with the unknown parts in comments below. Broken files are
/// read as strictly as in Puppet, so that the text equals the command line's.
pub(super) fn document(view: &RootView<'_>, key: &str, node: Option<&Node>) -> Document {
    let settings = Settings {
        recover_broken_files: false,
        ..view.analysis.settings.clone()
    };
    let view = view.analysis.with_settings(&settings).at(view.root);
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
