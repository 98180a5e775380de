//! `hiera-ls matrix KEY…`: which nodes get which value of a key, and from where.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::table::{Rows, TableFormat, csv};
use super::workspace::{WorkspaceArguments, load};
use crate::ide::cell::{
    counted, cut_apart, origins_text, outcome_text, row_json, sources_text, whose,
};
use crate::ide::matrix::{Cell, Row, SourceLine, all_keys, row, with_facts, with_unseen};
use crate::value::to_tagged_json;

/// Widest value in the text form, in characters.
const WIDEST: usize = 60;

/// Which keys, over which nodes.
#[derive(Args)]
pub(super) struct MatrixArguments {
    /// Keys, dotted ones too
    #[arg(required_unless_present = "all_keys")]
    keys: Vec<String>,
    /// Every key of the files that the hierarchies read
    #[arg(long, conflicts_with = "keys")]
    all_keys: bool,
    #[command(flatten)]
    workspace: WorkspaceArguments,
    /// What to print
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    format: TableFormat,
}

/// Runs the command: exit code 0 once all rows are printed, 1 where something could not be read.
pub(super) fn run(arguments: &MatrixArguments) -> ExitCode {
    match print(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "{message}");
            ExitCode::FAILURE
        }
    }
}

fn print(arguments: &MatrixArguments) -> Result<(), String> {
    let loaded = load(&arguments.workspace)?;
    let view = loaded.root(&loaded.here)?;
    loaded.say_what_is_known();
    let folder = &loaded.here.folder;
    let keys: Vec<Arc<str>> = match arguments.all_keys {
        true => all_keys(&view),
        false => arguments
            .keys
            .iter()
            .map(|key| key.as_str().into())
            .collect(),
    };
    let mut rows = Rows::new();
    if arguments.format == TableFormat::Csv {
        let head = ["key", "found", "value", "why", "count", "nodes", "sources"];
        rows.print(&csv(&head))?;
    }
    for (at, key) in keys.iter().enumerate() {
        let mut row = with_unseen(&view, row(&view, key));
        if !arguments.all_keys {
            row = with_facts(&view, row);
        }
        let text = match arguments.format {
            TableFormat::Text => text(&row, folder),
            TableFormat::Json => row_json(&row) + "\n",
            TableFormat::Csv => table(&row, folder),
        };
        rows.print(&text)?;
        rows.progress(at + 1, keys.len());
    }
    rows.end()
}

fn text(row: &Row, folder: &str) -> String {
    let total: usize = row.answers.iter().map(|cell| cell.nodes.len()).sum();
    let mut out = match row.answers.len() {
        1 => format!("{} — the same for {}\n", row.key, counted(total)),
        count => format!("{} — {count} answers over {}\n", row.key, counted(total)),
    };
    let values: Vec<String> = row.answers.iter().map(outcome_text).collect();
    let values = cut_apart(&values, WIDEST);
    let width = values.iter().map(|value| value.chars().count()).max();
    for (cell, value) in row.answers.iter().zip(&values) {
        let pad = width.unwrap_or_default() - value.chars().count();
        let whose = whose(&cell.nodes);
        let place = |source: &SourceLine| sources_text([source], folder);
        let (sources, origins) = origins_text(cell, &place);
        let line = format!("  {value}{}  {whose:>10}  {sources}", " ".repeat(pad));
        let _ = writeln!(out, "{}", line.trim_end());
        for origin in origins {
            let _ = writeln!(out, "      {origin}");
        }
    }
    for cell in &row.by_facts {
        let value = &cut_apart(&[outcome_text(cell)], WIDEST)[0];
        let sources = sources_text(cell.sources(), folder);
        let line = format!("  {value}  where {}  {sources}", cell.condition);
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let mut printed: Vec<&str> = Vec::new();
    // A short condition stands beside its value.
    let is_shown =
        |cell: &&Cell| cell.unknown.is_some() && outcome_text(cell).chars().count() <= WIDEST;
    let cells = row.answers.iter().filter(|cell| !is_shown(cell));
    for unless in cells.filter_map(|cell| cell.unless.as_deref()) {
        if !printed.contains(&unless) {
            printed.push(unless);
            let _ = writeln!(out, "  unless {unless}");
        }
    }
    out
}

fn table(row: &Row, folder: &str) -> String {
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
            &cell.nodes.join(" "),
            &sources_text(cell.sources(), folder),
        ])
    });
    rows.collect()
}
