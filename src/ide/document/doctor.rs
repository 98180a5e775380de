//! The document about the state of a workspace for Hiera: text for people, JSON for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};

use super::Document;
use crate::analysis::{
    Analysis, BackendUse, FileAndWhy, FilesReport, Hierarchy, LevelReport, NodeSet, NodesReport,
    Report, VariableReport,
};
use crate::ide::cell::counted;
use crate::scope::Imported;
use crate::text::{few, folded, number_of};
use crate::workspace::{RootKind, Snapshot, path};

/// The version of the JSON format.
const VERSION: u8 = 1;

/// Maximum number of folders or files of one kind that the text names.
const MAX_NAMED: usize = 12;

/// Maximum width of a line, in characters.
const WIDTH: usize = 100;

/// Maximum width of a table's column, in characters.
const WIDEST: usize = 48;

/// The state of the environment around a file or folder. `enter` is a prefix of the printed
/// commands that changes to the workspace's folder if the shell is elsewhere; `now` is the time in
/// seconds since 1970.
#[must_use]
pub fn document(
    analysis: Analysis<'_>,
    at: &str,
    nodes: &NodeSet,
    enter: &str,
    now: Option<i64>,
) -> Document {
    let report = analysis.report(at, nodes);
    Document {
        title: "Hiera doctor".to_owned(),
        language: "text",
        content: text(analysis.snapshot, &report, enter, now),
        data: Some(json_of(&report).to_string()),
        ..Document::default()
    }
}

fn text(snapshot: &Snapshot, report: &Report, enter: &str, now: Option<i64>) -> String {
    let mut out = String::new();
    advice(&mut out, report, enter);
    out.push_str("Hierarchies\n");
    if report.hierarchies.is_empty() {
        out.push_str("  none found\n");
    }
    for found in &report.hierarchies {
        hierarchy(&mut out, snapshot, found);
    }
    whys(
        &mut out,
        snapshot,
        "Configurations that are not used",
        &report.unused,
    );
    let title = "Modules that Puppet leaves out";
    whys(&mut out, snapshot, title, &report.left_out);
    variables(&mut out, &report.variables, &report.nodes);
    nodes(&mut out, snapshot, &report.nodes, now);
    files(&mut out, snapshot, &report.files);
    out
}

fn advice(out: &mut String, report: &Report, enter: &str) {
    if report.advice.is_empty() {
        return;
    }
    out.push_str("What would improve answers most\n");
    for (at, advice) in report.advice.iter().enumerate() {
        let (place, before) = match advice.place {
            "shell" => ("run".to_owned(), enter),
            file => (format!("put into {file}"), ""),
        };
        let _ = writeln!(out, "  {}. {}; {place}:", at + 1, advice.what);
        for line in advice.paste.lines() {
            let _ = writeln!(out, "       {before}{line}");
        }
    }
    out.push('\n');
}

fn hierarchy(out: &mut String, snapshot: &Snapshot, found: &Hierarchy) {
    let folder = match snapshot.short_name(&found.folder) {
        "" => ".",
        folder => folder,
    };
    let what = match &found.kind {
        RootKind::Environment => format!("environment in {folder}"),
        RootKind::Module { name } => format!("module {name} in {folder}"),
        RootKind::Global => format!("global layer in {folder}"),
        RootKind::Plans => format!("plans of Bolt in {folder}"),
    };
    let config = found.config.as_deref().map(|at| snapshot.short_name(at));
    let version = found
        .version
        .map_or(String::new(), |version| format!(", version {version}"));
    let _ = writeln!(
        out,
        "  {} — {what}{version}: {}",
        config.unwrap_or("no hiera.yaml"),
        short_paths(snapshot, &found.why)
    );
    if let Some(error) = &found.error {
        let error = short_paths(snapshot, error);
        put(
            out,
            4,
            &format!("Puppet refuses it: {}", super::one_line(&error)),
        );
    }
    let rows = found.levels.iter().map(|level| {
        let needs = if level.variables.is_empty() {
            "no facts".to_owned()
        } else {
            level.variables.join(", ")
        };
        [
            level.name.to_string(),
            files_of(level),
            needs,
            reading(level),
        ]
    });
    let rows: Vec<[String; 4]> = rows.collect();
    if !rows.is_empty() {
        table(out, ["level", "files", "needs", "read as"], &rows);
    }
}

fn files_of(level: &LevelReport) -> String {
    if level.is_outside {
        "outside".to_owned()
    } else {
        level.files.to_string()
    }
}

fn reading(level: &LevelReport) -> String {
    let function = &level.function.name;
    match level.reading {
        BackendUse::Own => function.to_string(),
        BackendUse::Declared => format!("{function}, as declared"),
        BackendUse::Unknown if level.is_empty => {
            format!("not called by Puppet: {function} has no file")
        }
        BackendUse::Unknown => format!("unknown: {function} is never run here"),
    }
}

/// Adds a table with a header.
fn table<const N: usize>(out: &mut String, head: [&str; N], rows: &[[String; N]]) {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        let widest = cells
            .max()
            .unwrap_or_default()
            .max(head[column].chars().count());
        widest.min(WIDEST)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::from("   ");
        for (cell, width) in cells.zip(&widths) {
            let pad = width.saturating_sub(cell.chars().count());
            let _ = write!(text, " {cell}{} ", " ".repeat(pad));
        }
        let _ = writeln!(out, "{}", text.trim_end());
    };
    line(&mut head.into_iter());
    for row in rows {
        line(&mut row.iter().map(String::as_str));
    }
}

fn variables(out: &mut String, all: &[VariableReport], nodes: &NodesReport) {
    if all.is_empty() {
        return;
    }
    out.push_str("\nVariables that levels need\n");
    let rows = all.iter().map(|variable| {
        let known = match nodes.count {
            0 => "no nodes are known".to_owned(),
            count => format!("{} of {}", variable.known, counted(count)),
        };
        let sources = variable.sources.iter();
        let sources = sources.map(|(source, count)| {
            if *count == variable.known {
                (*source).to_owned()
            } else {
                format!("{source} ({count})")
            }
        });
        let unknown = match variable.unknown {
            0 => None,
            count => Some(format!("unknown ({count})")),
        };
        let levels = number_of(variable.levels, "level");
        [
            variable.name.to_string(),
            format!("{levels}, {}", number_of(variable.files, "file")),
            known,
            sources.chain(unknown).collect::<Vec<_>>().join(", "),
        ]
    });
    let rows: Vec<[String; 4]> = rows.collect();
    table(out, ["variable", "needed by", "known for", "from"], &rows);
}

fn nodes(out: &mut String, snapshot: &Snapshot, nodes: &NodesReport, now: Option<i64>) {
    out.push_str("\nNodes\n");
    if nodes.count == 0 {
        out.push_str(
            "  none known: there is no nodes.json, and no data file is named after a node\n",
        );
    }
    for origin in &nodes.origins {
        let from = match &origin.path {
            Some(path) => format!("from {}", snapshot.short_name(path)),
            None => "from the names of data files, without facts".to_owned(),
        };
        let imported = origin.imported.as_deref();
        let imported = imported.map_or_else(String::new, |it| imported_words(it, now));
        put(
            out,
            2,
            &format!("{} {from}{imported}", counted(origin.nodes)),
        );
    }
    if !nodes.environments.is_empty() {
        let all = nodes.environments.iter();
        let mut counted: Vec<String> = all
            .map(|(name, count)| format!("{count} in {name}"))
            .collect();
        let untold = nodes.count - nodes.environments.values().sum::<usize>();
        if untold > 0 {
            counted.push(format!("{untold} not told"));
        }
        let line = format!("environments: {}", few(&counted, MAX_NAMED));
        put(out, 2, &line);
    }
    for path in &nodes.passed_over {
        let _ = writeln!(
            out,
            "  {} is not used: it does not map nodes to facts, trusted data or variables",
            snapshot.short_name(path)
        );
    }
    for problem in &nodes.problems {
        put(out, 2, &super::one_line(&short_paths(snapshot, problem)));
    }
}

/// When and where nodes were imported, and which.
fn imported_words(imported: &Imported, now: Option<i64>) -> String {
    let from = imported.from.join(" and ");
    let stale = imported.stale_since(now);
    let stale = stale.map_or_else(String::new, |since| format!(", stale since {since}"));
    let age = imported.age(now);
    let age = age.map_or_else(String::new, |age| format!(" ({age}{stale})"));
    let time = imported.time();
    let time = time.map_or_else(String::new, |time| format!(" on {time}{age}"));
    let only = match &imported.conditions()[..] {
        [] => String::new(),
        only => format!(": only those with {}", only.join(" and ")),
    };
    let lookups = match imported.lookups.nodes() {
        0 => String::new(),
        nodes => format!(", with what the catalogs of {} looked up", counted(nodes)),
    };
    format!(", imported{time} from {from}{only}{lookups}")
}

fn files(out: &mut String, snapshot: &Snapshot, files: &FilesReport) {
    out.push_str("\nData files\n");
    let _ = match files.data {
        0 => writeln!(out, "  none that a hierarchy reads"),
        all => writeln!(
            out,
            "  {}, {} of them read by a level ({} %)",
            number_of(all, "file"),
            files.reached,
            files.reached * 100 / all
        ),
    };
    if files.possible > 0 {
        let _ = writeln!(
            out,
            "  {} more may be read by levels whose functions are never run",
            files.possible
        );
    }
    if !files.unreached.is_empty() {
        out.push_str("  no level reads\n");
        let mut folders: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for file in &files.unreached {
            let file = snapshot.short_name(file);
            let folder = path::parent(file).unwrap_or("");
            folders.entry(folder).or_default().push(file);
        }
        let count = folders.len();
        for (folder, files) in folders.into_iter().take(MAX_NAMED) {
            let _ = match files.as_slice() {
                [only] => writeln!(out, "    {only}"),
                files if folder.is_empty() => writeln!(out, "    {} files at the top", files.len()),
                files => writeln!(out, "    {} files in {folder}", files.len()),
            };
        }
        if count > MAX_NAMED {
            let _ = writeln!(out, "    and files in {} more folders", count - MAX_NAMED);
        }
    }
    whys(out, snapshot, "Files that are not read", &files.skipped);
}

fn whys(out: &mut String, snapshot: &Snapshot, title: &str, all: &[FileAndWhy]) {
    if all.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{title}");
    for file in all.iter().take(MAX_NAMED) {
        let name = snapshot.short_name(&file.path);
        let why = short_paths(snapshot, &file.why);
        put(out, 2, &format!("{name}: {}", super::one_line(&why)));
    }
    if all.len() > MAX_NAMED {
        let _ = writeln!(out, "  and {} more", all.len() - MAX_NAMED);
    }
}

/// Adds a sentence, broken into lines; later lines are indented further.
fn put(out: &mut String, indent: usize, words: &str) {
    for (at, line) in folded(words.split(' '), " ", WIDTH - indent - 2)
        .iter()
        .enumerate()
    {
        let indent = indent + if at == 0 { 0 } else { 2 };
        let _ = writeln!(out, "{:indent$}{line}", "");
    }
}

/// Makes paths in a text relative to the workspace's folders.
fn short_paths(snapshot: &Snapshot, words: &str) -> String {
    let folders = snapshot.folders().iter();
    folders.fold(words.to_owned(), |words, folder| {
        words.replace(&format!("{folder}/"), "")
    })
}

/// The report as JSON; its format is public (`docs/doctor.md`).
fn json_of(report: &Report) -> Value {
    let whys = |all: &[FileAndWhy]| -> Vec<Value> {
        let all = all.iter();
        all.map(|file| json!({ "file": &*file.path, "why": file.why }))
            .collect()
    };
    let hierarchies: Vec<Value> = report.hierarchies.iter().map(hierarchy_json).collect();
    let variables = report.variables.iter().map(|variable| {
        let sources = variable.sources.iter();
        let sources: Vec<Value> = sources
            .map(|(source, nodes)| json!({ "from": source, "nodes": nodes }))
            .collect();
        json!({
            "name": &*variable.name,
            "levels": variable.levels,
            "files": variable.files,
            "known": variable.known,
            "unknown": variable.unknown,
            "sources": sources,
        })
    });
    let nodes = &report.nodes;
    let origins = nodes.origins.iter();
    let origins: Vec<Value> = origins
        .map(|origin| {
            let mut json = json!({ "file": origin.path.as_deref(), "nodes": origin.nodes });
            if let Some(imported) = &origin.imported {
                json["imported"] = json!({
                    "at": imported.time(),
                    "from": texts(&imported.from),
                    "only": imported.conditions(),
                    "catalogs": imported.lookups.nodes(),
                });
            }
            json
        })
        .collect();
    let advice = report
        .advice
        .iter()
        .map(|advice| json!({ "what": advice.what, "place": advice.place, "paste": advice.paste }));
    json!({
        "version": VERSION,
        "hierarchies": hierarchies,
        "unused": whys(&report.unused),
        "modulesLeftOut": whys(&report.left_out),
        "variables": variables.collect::<Vec<_>>(),
        "nodes": {
            "count": nodes.count,
            "names_only": nodes.names_only,
            "environments": nodes.environments,
            "origins": origins,
            "passed_over": texts(&nodes.passed_over),
            "problems": nodes.problems,
        },
        "files": {
            "data": report.files.data,
            "reached": report.files.reached,
            "possible": report.files.possible,
            "unreached": texts(&report.files.unreached),
            "skipped": whys(&report.files.skipped),
        },
        "advice": advice.collect::<Vec<_>>(),
    })
}

fn texts(all: &[Arc<str>]) -> Vec<&str> {
    all.iter().map(|text| &**text).collect()
}

fn hierarchy_json(found: &Hierarchy) -> Value {
    let (kind, module): (&str, Option<&Arc<str>>) = match &found.kind {
        RootKind::Environment => ("environment", None),
        RootKind::Module { name } => ("module", Some(name)),
        RootKind::Global => ("global", None),
        RootKind::Plans => ("plans", None),
    };
    let levels = found.levels.iter().map(|level| {
        let assumed = match level.reading {
            BackendUse::Own => None,
            BackendUse::Declared => Some("as declared in the settings"),
            BackendUse::Unknown if level.is_empty => Some("not called: none of its files is here"),
            BackendUse::Unknown => Some("unknown: it is never run"),
        };
        json!({
            "name": &*level.name,
            "backend": level.backend(),
            "assumed": assumed,
            "paths": texts(&level.paths),
            "variables": texts(&level.variables),
            "files": level.files,
            "outside": level.is_outside,
            "datadir": level.datadir,
        })
    });
    json!({
        "kind": kind,
        "module": module.map(|name| &**name),
        "folder": &*found.folder,
        "file": found.config.as_deref(),
        "version": found.version,
        "why": found.why,
        "error": found.error,
        "levels": levels.collect::<Vec<_>>(),
    })
}
