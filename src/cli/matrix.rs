//! `hiera-ls matrix KEY…`: which nodes get which value of a key, and from where.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::table::{TableFormat, csv, show_progress};
use super::workspace::{WorkspaceArguments, load};
use crate::ide::cell::{counted, cut_apart, outcome_text, row_json, sources_text};
use crate::ide::matrix::{Cell, Row, all_keys, row, with_unseen};
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
    let folder = &loaded.here.folder;
    let keys: Vec<Arc<str>> = match arguments.all_keys {
        true => all_keys(&view),
        false => arguments
            .keys
            .iter()
            .map(|key| key.as_str().into())
            .collect(),
    };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let failed = |error: std::io::Error| format!("standard output: {error}");
    if arguments.workspace.format == TableFormat::Csv {
        let head = ["key", "found", "value", "why", "count", "nodes", "sources"];
        out.write_all(csv(&head).as_bytes()).map_err(failed)?;
    }
    for (at, key) in keys.iter().enumerate() {
        let row = with_unseen(&view, row(&view, key));
        let text = match arguments.workspace.format {
            TableFormat::Text => text(&row, folder),
            TableFormat::Json => row_json(&row) + "\n",
            TableFormat::Csv => table(&row, folder),
        };
        out.write_all(text.as_bytes()).map_err(failed)?;
        show_progress(at + 1, keys.len());
    }
    out.flush().map_err(failed)
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
        let whose = match cell.nodes.as_slice() {
            [only] => only.to_string(),
            nodes => counted(nodes.len()),
        };
        let line = format!(
            "  {value}{}  {whose:>10}  {}",
            " ".repeat(pad),
            sources_text(&cell.sources, folder)
        );
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
    let rows = row.answers.iter().map(|cell| {
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
            &sources_text(&cell.sources, folder),
        ])
    });
    rows.collect()
}
