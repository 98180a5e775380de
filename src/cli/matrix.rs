//! `hiera-ls matrix KEY…`: the value of a key on each node, and its source.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::Ended;
use super::suggestions::KnownKeys;
use super::table::{Rows, TableFormat, csv};
use super::terminal::{Layout, Paint, complain, remark, shown};
use super::workspace::{WorkspaceArguments, load_with_any_nodes};
use crate::analysis::{RootView, all_keys};
use crate::ide::cell::{
    audience_text, counted, environments_text, origins_text, outcome_text, row_title,
    shorten_distinctly, sources_text,
};
use crate::ide::matrix::{Cell, Row, SourceLine, row_of_any, with_facts, with_unseen};
use crate::interpolation::root_of;
use crate::lookup::Alternatives;
use crate::scope::KnownNodes;
use crate::value::to_tagged_json;

/// Maximum width of a value in the text form, in characters.
const WIDEST: usize = 60;

/// Minimum width of a value on any terminal.
const NARROWEST: usize = 16;

/// Which keys, over which nodes.
#[derive(Args)]
pub(super) struct MatrixArguments {
    /// Keys, dotted ones too; * stands for any characters: 'profile::web::*'
    #[arg(required_unless_present = "all_keys")]
    keys: Vec<String>,
    /// Every key of the files that the hierarchies read
    #[arg(long, conflicts_with = "keys")]
    all_keys: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    format: TableFormat,
    #[command(flatten)]
    pub(super) workspace: WorkspaceArguments,
}

/// Runs the command: exit code 0 once all rows are printed, 1 if something could not be read or a
/// key is not set anywhere.
pub(super) fn run(arguments: &MatrixArguments) -> Ended {
    let loaded = load_with_any_nodes(&arguments.workspace, &[])?;
    let view = loaded.root(&loaded.here)?;
    loaded.note_known_nodes();
    let others = view.analysis.nodes.len() - view.members().len();
    if others > 0 {
        remark(&format!(
            "note: {} of other environments left out: name one with --environment",
            counted(others)
        ));
    }
    let (keys, missing) = if arguments.all_keys {
        (all_keys(&view), Vec::new())
    } else {
        chosen(&view, &arguments.keys, arguments.format)
    };
    let layout = Layout::of_output();
    let mut rows = Rows::new(arguments.format);
    if arguments.format == TableFormat::Csv {
        let head = ["key", "found", "value", "why", "count", "nodes", "sources"];
        rows.print(&csv(&head))?;
    }
    for (at, key) in keys.iter().enumerate() {
        let mut row = with_unseen(&view, row_of_any(&view, key));
        if !arguments.all_keys {
            row = with_facts(&view, row);
        }
        match arguments.format {
            TableFormat::Text => rows.print(&text(&row, view.analysis.nodes, usize::MAX, layout)),
            TableFormat::Json | TableFormat::JsonLines => rows.print_object(&row),
            TableFormat::Csv => rows.print(&table(&row)),
            TableFormat::Markdown => rows.print(&markdown(&row, view.analysis.nodes)),
        }?;
        rows.progress(at + 1, keys.len());
    }
    rows.end()?;
    missing.iter().for_each(|message| complain(message));
    Ok(if missing.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The requested keys, and messages about those that no file sets and that no unknown source could
/// set. Formats for programs still get a row for each key.
fn chosen(
    view: &RootView<'_>,
    requested: &[String],
    format: TableFormat,
) -> (Vec<Arc<str>>, Vec<String>) {
    let known = KnownKeys::of([view]);
    let (mut keys, mut missing) = (Vec::new(), Vec::new());
    for name in requested {
        let (found, nothing) = known.chosen(std::slice::from_ref(name));
        keys.extend(found);
        let Some(message) = nothing.into_iter().next() else {
            continue;
        };
        // A level outside of the workspace may set it.
        let answers = with_unseen(view, row_of_any(view, name)).answers;
        let is_missing = |cell: &Cell| cell.is_missing() && cell.unless.is_none();
        let is_set = !answers.iter().all(is_missing);
        if !is_set {
            missing.push(off_modulepath(view, name).unwrap_or(message));
        }
        if is_set || format.is_for_programs() {
            keys.push(Arc::from(name.as_str()));
        }
    }
    (keys, missing)
}

/// The message about a key that only a module sets that no modulepath has.
fn off_modulepath(view: &RootView<'_>, name: &str) -> Option<String> {
    let (file, off) = view.analysis.off_modulepath_with(&root_of(name)).next()?;
    let line = file.facts().key(&root_of(name))?.line + 1;
    let at = shown(file.path());
    Some(format!(
        "no node reads '{name}': {at}:{line} sets it, but {}",
        off.why()
    ))
}

/// The row for people, with up to `most` of its answers.
pub(super) fn text(row: &Row, known: &KnownNodes, most: usize, layout: Layout) -> String {
    let mut out = layout.line(Paint::Title, &row_title(row));
    let answers = &row.answers[..row.answers.len().min(most)];
    let nodes = answers.iter().map(|cell| audience(cell, row, known));
    let nodes: Vec<String> = nodes.collect();
    // A long condition widens no other line.
    let wide = nodes.iter().map(|nodes| nodes.chars().count());
    let wide = wide.filter(|wide| *wide <= WIDEST).max();
    let wide = wide.unwrap_or_default();
    // The nodes matter more than the end of a value.
    let free = layout
        .width
        .map_or(WIDEST, |width| width.saturating_sub(wide + 4));
    let values: Vec<String> = answers.iter().map(outcome_text).collect();
    let values = shorten_distinctly(&values, free.clamp(NARROWEST, WIDEST));
    let width = values.iter().map(|value| value.chars().count()).max();
    for ((cell, value), audience) in answers.iter().zip(&values).zip(nodes) {
        let pad = width.unwrap_or_default() - value.chars().count();
        let place = |source: &SourceLine| sources_text([source], shown);
        let (sources, origins) = origins_text(cell, &place);
        let line = format!("  {value}{}  {audience:wide$}", " ".repeat(pad));
        out += &layout.line_with(Paint::Plain, &line, &sources);
        for origin in origins {
            out += &layout.line(Paint::Aside, &format!("      {origin}"));
        }
    }
    for cell in &row.by_facts {
        let value = &shorten_distinctly(&[outcome_text(cell)], WIDEST)[0];
        let sources = sources_text(cell.sources(), shown);
        let line = format!("  {value}  where {}", cell.condition.first());
        out += &layout.line_with(Paint::Plain, &line, &sources);
    }
    let mut printed: Vec<&str> = Vec::new();
    // A short condition is printed next to its value.
    let is_shown =
        |cell: &&Cell| cell.unknown.is_some() && outcome_text(cell).chars().count() <= WIDEST;
    let cells = answers.iter().filter(|cell| !is_shown(cell));
    for unless in cells.filter_map(|cell| cell.unless.as_deref()) {
        if !printed.contains(&unless) {
            printed.push(unless);
            let _ = writeln!(out, "  unless {unless}");
        }
    }
    out
}

/// Who gets an answer, with the environments of nodes that are not in that of the workspace.
fn audience(cell: &Cell, row: &Row, known: &KnownNodes) -> String {
    audience_text(cell, row.answers.len() == 1) + &environments_text(cell, known)
}

/// The row as a Markdown table.
fn markdown(row: &Row, known: &KnownNodes) -> String {
    let cell = |text: &str| text.replace('|', "\\|").replace('`', "\u{2bb}");
    let mut out = format!(
        "### `{}`\n\n| value | nodes | from |\n| --- | --- | --- |\n",
        cell(&row.key)
    );
    let values: Vec<String> = row.answers.iter().map(outcome_text).collect();
    for (answer, value) in row.answers.iter().zip(shorten_distinctly(&values, WIDEST)) {
        let (value, audience) = (cell(&value), cell(&audience(answer, row, known)));
        let sources = cell(&sources_text(answer.sources(), shown));
        let _ = writeln!(out, "| `{value}` | {audience} | {sources} |");
    }
    out + "\n"
}

fn table(row: &Row) -> String {
    let cells = row.answers.iter();
    let cells = cells.flat_map(|cell| match cell.origins.len() {
        0 | 1 => vec![cell.clone()],
        _ => {
            let origins = cell.origins.iter();
            origins
                .map(|origin| cell.only(origin.nodes.clone()))
                .collect()
        }
    });
    let rows = cells.map(|cell| {
        let (found, value, why) = match (&cell.unknown, &cell.result) {
            (Some(why), Ok(value)) if !value.has_opaque() => {
                ("unknown", to_tagged_json(value), why.clone())
            }
            (Some(why), _) => ("unknown", String::new(), why.clone()),
            (None, Ok(value)) => ("true", to_tagged_json(value), String::new()),
            (None, Err(error)) => ("false", String::new(), error.to_string()),
        };
        csv(&[
            &row.key,
            found,
            &value,
            &why,
            &cell.nodes.len().to_string(),
            &match &cell.condition {
                Alternatives::None => cell.nodes.join(" "),
                condition => format!("where {condition}"),
            },
            &sources_text(cell.sources(), shown),
        ])
    });
    rows.collect()
}
