//! `hiera-ls diff A B`: the keys that two nodes get different values of, or that the nodes get
//! different values of in two environments; with
//! `--against REV` the keys that the nodes get other values of than in a revision, or in another
//! checkout.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::table::{Rows, TableFormat, csv};
use super::workspace::{Checkout, Loaded, WorkspaceArguments, load};
use crate::disk::{self, DiskFiles};
use crate::ide::cell::{difference_json, difference_text, outcome_text, sources_text};
use crate::ide::compare::{Difference, compare, compare_versions};
use crate::workspace::{FileKind, Files as _};

/// What is compared.
#[derive(Args)]
pub(super) struct DiffArguments {
    /// Certname of the first node, or name of the first environment
    #[arg(required_unless_present = "against", requires = "second")]
    first: Option<String>,
    /// Certname of the second node, or name of the second environment
    #[arg(conflicts_with = "against")]
    second: Option<String>,
    /// A revision of the workspace's git repository, as it is before the changes, or the folder
    /// of another checkout or environment: every node is compared between it and --workspace
    #[arg(long, value_name = "REV|DIR")]
    against: Option<String>,
    /// Only these keys
    #[arg(long = "key", value_name = "KEY")]
    keys: Vec<String>,
    #[command(flatten)]
    workspace: WorkspaceArguments,
    /// What to print
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    format: TableFormat,
}

/// Runs the command: exit code 0 where nothing differs, 2 where something does, 1 where something
/// could not be read.
pub(super) fn run(arguments: &DiffArguments) -> ExitCode {
    match print(arguments) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(2),
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "{message}");
            ExitCode::FAILURE
        }
    }
}

fn print(arguments: &DiffArguments) -> Result<usize, String> {
    let loaded = load(&arguments.workspace)?;
    let here = &loaded.here;
    let now = match &arguments.first {
        Some(first) => loaded.root(here).or_else(|_| loaded.root_in(here, first)),
        None => loaded.root(here),
    }?;
    loaded.say_what_is_known();
    let format = arguments.format;
    let mut rows = Rows::new();
    if format == TableFormat::Csv {
        let head = [
            "key",
            "before",
            "after",
            "count",
            "nodes",
            "before_sources",
            "after_sources",
        ];
        rows.print(&csv(&head))?;
    }
    let keys: Vec<Arc<str>> = arguments.keys.iter().map(|key| Arc::from(&**key)).collect();
    let mut count = 0;
    let mut print = |found: Vec<Difference>, (done, of): (usize, usize), old: &str| {
        count += found.len();
        for difference in &found {
            rows.print(&shown(format, difference, old, &here.folder))?;
        }
        rows.progress(done, of);
        Ok::<(), String>(())
    };
    match (&arguments.first, &arguments.second, &arguments.against) {
        (Some(first), Some(second), _) => {
            let names = [first, second].map(|name| Arc::from(name.as_str()));
            compare(&now, names.each_ref(), &keys, &mut |found, done, of| {
                print(found, (done, of), &here.folder)
            })?;
        }
        (_, _, Some(against)) => {
            let there = old(&loaded, against)?;
            let before = loaded.root(&there)?;
            compare_versions(&before, &now, &keys, &mut |found, done, of| {
                print(found, (done, of), &there.folder)
            })?;
        }
        (_, None, None) | (None, Some(_), None) => {
            return Err(
                "name two nodes, two environments, or another checkout with --against".into(),
            );
        }
    }
    rows.end()?;
    Ok(count)
}

/// What the workspace is compared with: a revision, unless the text can only be a folder. A text
/// that is both must be made clear, as git itself asks for it.
fn old(loaded: &Loaded, against: &str) -> Result<Checkout, String> {
    let kind = DiskFiles::new().kind(&disk::absolute(against));
    let is_folder = kind == Some(FileKind::Directory);
    if is_folder && against.starts_with(['.', '/']) {
        return Ok(loaded.other(against));
    }
    match loaded.revision(against) {
        Ok(_) if is_folder => Err(format!(
            "'{against}' is a revision and a folder: name the folder './{against}', or the \
             revision by its full name"
        )),
        Err(_) if is_folder => Ok(loaded.other(against)),
        read => read,
    }
}

fn shown(format: TableFormat, difference: &Difference, old: &str, new: &str) -> String {
    match format {
        TableFormat::Json => difference_json(difference) + "\n",
        TableFormat::Csv => {
            let rows = difference.by_origin().into_iter();
            let rows = rows.map(|Difference { key, before, after }| {
                csv(&[
                    &key,
                    &outcome_text(&before),
                    &outcome_text(&after),
                    &after.nodes.len().to_string(),
                    &after.nodes.join(" "),
                    &sources_text(before.sources(), old),
                    &sources_text(after.sources(), new),
                ])
            });
            rows.collect()
        }
        TableFormat::Text => difference_text(difference, old, new),
    }
}
