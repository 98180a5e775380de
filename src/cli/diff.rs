//! `hiera-ls diff A B`: the keys that two nodes get different values of, or that the nodes get
//! different values of in two environments; with
//! `--against REV` the keys that the nodes get other values of than in a revision, or in another
//! checkout.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::fleet::{
    Checkout, FleetArguments, Loaded, Progress, TableFormat, csv, fleet, fleet_in, load,
    other_checkout, revision,
};
use crate::disk::{self, DiskFiles};
use crate::ide::cell::{difference_json, difference_text, outcome_text, sources_text};
use crate::ide::matrix::{Difference, Fleet, all_keys, changes, differences, row};
use crate::scope::KnownNodes;
use crate::workspace::{FileKind, Files as _, Root};

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
    fleet: FleetArguments,
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
    let loaded = load(&arguments.fleet)?;
    let here = &loaded.here;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let failed = |error: std::io::Error| format!("standard output: {error}");
    if arguments.fleet.format == TableFormat::Csv {
        let head = [
            "key",
            "before",
            "after",
            "count",
            "nodes",
            "before_sources",
            "after_sources",
        ];
        out.write_all(csv(&head).as_bytes()).map_err(failed)?;
    }
    let mut count = 0;
    let mut tell = |differences: &[Difference], old: &str, new: &str| {
        count += differences.len();
        for difference in differences {
            let text = shown(arguments.fleet.format, difference, old, new);
            out.write_all(text.as_bytes()).map_err(failed)?;
        }
        Ok::<(), String>(())
    };
    match (&arguments.first, &arguments.second, &arguments.against) {
        (Some(first), Some(second), _) => {
            let sides = sides(&loaded, here, [first, second])?;
            match sides {
                Sides::Nodes([one, other]) => {
                    let now = fleet(&loaded, here)?;
                    each(&keys(arguments, &[&now]), |key| {
                        let found = differences(&now, std::slice::from_ref(key), one, other);
                        tell(&found, &here.folder, &here.folder)
                    })?;
                }
                Sides::Environments(roots) => {
                    let names = [first, second].map(|name| Arc::from(name.as_str()));
                    let members = names
                        .each_ref()
                        .map(|name| KnownNodes::as_members(&loaded.described, name));
                    let [before, after] = [0, 1].map(|at: usize| {
                        fleet_in(&loaded, here, roots[at], &names[at], &members[at])
                    });
                    each(&keys(arguments, &[&before, &after]), |key| {
                        let found = changes(&row(&before, key), &row(&after, key));
                        tell(&found, &here.folder, &here.folder)
                    })?;
                }
            }
        }
        (_, _, Some(against)) => {
            let there = old(&loaded, &arguments.fleet.workspace, against)?;
            let (before, now) = (fleet(&loaded, &there)?, fleet(&loaded, here)?);
            each(&keys(arguments, &[&before, &now]), |key| {
                let found = changes(&row(&before, key), &row(&now, key));
                tell(&found, &there.folder, &here.folder)
            })?;
        }
        (_, None, None) | (None, Some(_), None) => {
            return Err(
                "name two nodes, two environments, or another checkout with --against".into(),
            );
        }
    }
    out.flush().map_err(failed)?;
    Ok(count)
}

/// Does something for one key after the other, and shows how far it is.
fn each(
    keys: &[Arc<str>],
    mut tell: impl FnMut(&Arc<str>) -> Result<(), String>,
) -> Result<(), String> {
    let progress = Progress::new(keys.len());
    for (at, key) in keys.iter().enumerate() {
        tell(key)?;
        progress.done(at + 1);
    }
    Ok(())
}

/// What two names name.
enum Sides<'a> {
    /// Nodes, by number.
    Nodes([usize; 2]),
    Environments([&'a Root; 2]),
}

/// The nodes, or else the environments, of two names: a name that is both is a node.
fn sides<'a>(
    loaded: &Loaded,
    here: &'a Checkout,
    names: [&String; 2],
) -> Result<Sides<'a>, String> {
    let nodes = names.map(|name| loaded.nodes.find(name));
    if let [Some(one), Some(other)] = nodes {
        return Ok(Sides::Nodes([one, other]));
    }
    let roots = names.map(|name| here.nested(name));
    if let [Some(one), Some(other)] = roots {
        return Ok(Sides::Environments([one, other]));
    }
    let mut sides = names.into_iter().zip(nodes).zip(roots);
    Err(
        match sides.find(|((_, node), root)| node.is_none() && root.is_none()) {
            Some(((name, _), _)) => format!("'{name}' is neither a known node nor an environment"),
            None => format!(
                "'{}' and '{}' are not of one kind: name two nodes or two environments",
                names[0], names[1]
            ),
        },
    )
}

/// What the workspace is compared with: a revision, unless the text can only be a folder. A text
/// that is both must be made clear, as git itself asks for it.
fn old(loaded: &Loaded, workspace: &str, against: &str) -> Result<Checkout, String> {
    let kind = DiskFiles::new().kind(&disk::absolute(against));
    let is_folder = kind == Some(FileKind::Directory);
    if is_folder && against.starts_with(['.', '/']) {
        return Ok(other_checkout(loaded, against));
    }
    match revision(loaded, workspace, against) {
        Ok(_) if is_folder => Err(format!(
            "'{against}' is a revision and a folder: name the folder './{against}', or the \
             revision by its full name"
        )),
        Err(_) if is_folder => Ok(other_checkout(loaded, against)),
        read => read,
    }
}

fn keys(arguments: &DiffArguments, fleets: &[&Fleet<'_>]) -> Vec<Arc<str>> {
    if !arguments.keys.is_empty() {
        return arguments
            .keys
            .iter()
            .map(|key| key.as_str().into())
            .collect();
    }
    let mut keys: Vec<Arc<str>> = fleets.iter().flat_map(|fleet| all_keys(fleet)).collect();
    keys.sort();
    keys.dedup();
    keys
}

fn shown(format: TableFormat, difference: &Difference, old: &str, new: &str) -> String {
    let Difference { key, before, after } = difference;
    match format {
        TableFormat::Json => difference_json(difference) + "\n",
        TableFormat::Csv => csv(&[
            key,
            &outcome_text(before),
            &outcome_text(after),
            &after.nodes.len().to_string(),
            &after.nodes.join(" "),
            &sources_text(&before.sources, old),
            &sources_text(&after.sources, new),
        ]),
        TableFormat::Text => difference_text(difference, old, new),
    }
}
