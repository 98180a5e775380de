//! `hiera-ls hover FILE:LINE:COLUMN`: what an editor would show there, as a terminal client
//! shows it.

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::lookup::settings_of;
use super::nodes::{Asked, Found};
use super::workspace::files_of;
use crate::analysis::Analysis;
use crate::disk;
use crate::ide::KnownNodes;
use crate::ide::hover::{HoverOptions, MAX_LINES, hover};
use crate::lookup::ConfigCache;
use crate::text::{Position, PositionEncoding};

/// What a hover is for and how it is printed.
#[derive(Args)]
pub(super) struct HoverArguments {
    /// The place: FILE:LINE:COLUMN, both from 1, columns in characters
    place: String,
    /// The control repository or module [default: found from the file]
    #[arg(long, value_name = "DIR")]
    workspace: Option<String>,
    /// The environment's hierarchy, wherever it stands [default: as found]
    #[arg(long, value_name = "FILE")]
    hiera_yaml: Option<String>,
    /// A nodes file: certname → facts, trusted, variables [default: the workspace's nodes.json or
    /// nodes.yaml, else its spec/fixtures/facts]
    #[arg(long, value_name = "FILE")]
    nodes: Option<String>,
    /// A JSON or YAML file of facts; a node's own facts lie over them
    #[arg(long, value_name = "FILE")]
    facts: Option<String>,
    /// The node to answer for, by its certname
    #[arg(long)]
    node: Option<String>,
    /// What to print
    #[arg(long, value_enum, default_value_t = HoverFormat::Plain)]
    format: HoverFormat,
    /// Most lines of a value
    #[arg(long, value_name = "N", default_value_t = MAX_LINES)]
    max_lines: usize,
    /// Behave as Puppet 7 or 8 [default: as .hiera-ls.yaml says, else 8]
    #[arg(long, value_name = "7|8", value_parser = clap::value_parser!(u8).range(7..=8))]
    puppet_version: Option<u8>,
}

/// The forms of a hover.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HoverFormat {
    /// Text without markup
    Plain,
    /// Markdown as editors draw it
    Markdown,
    /// Markdown without tables
    Aligned,
}

/// Runs the command: exit code 0 with the hover on standard output, 1 where there is none.
pub(super) fn run(arguments: &HoverArguments) -> ExitCode {
    match answer(arguments) {
        Ok(text) => {
            let mut out = std::io::stdout().lock();
            match writeln!(out, "{text}").and_then(|()| out.flush()) {
                Ok(()) => ExitCode::SUCCESS,
                Err(_) => ExitCode::FAILURE,
            }
        }
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "{message}");
            ExitCode::FAILURE
        }
    }
}

fn answer(arguments: &HoverArguments) -> Result<String, String> {
    let (at, position) = place(&arguments.place)?;
    let at = disk::absolute(at);
    let folder = match &arguments.workspace {
        Some(folder) => disk::absolute(folder),
        None => disk::workspace_of(&at, &disk::absolute(".")).to_string(),
    };
    let project = disk::project(&folder).whole();
    let project = project.map_err(|error| error.to_string())?;
    let files = files_of(&project, None, arguments.hiera_yaml.as_deref())?;
    let snapshot = disk::snapshot_with(&folder, &files);
    let settings = settings_of(&project, arguments.puppet_version, None, None).for_editor();
    let configs = ConfigCache::default();
    let files = Vec::from_iter(arguments.nodes.clone());
    let asked = Asked {
        files: &files,
        facts: arguments.facts.as_ref(),
        project: &project,
        settings: &settings,
        configs: &configs,
    };
    let Found {
        nodes: known,
        files,
    } = asked.known(&snapshot, &at)?;
    if let Some(name) = &arguments.node
        && known.get(name).is_none()
    {
        return Err(match files.as_slice() {
            [] => format!("node '{name}' is not known: name a file with --nodes"),
            files => format!("node '{name}' is not in {}", files.join(", ")),
        });
    }
    let Some(file) = snapshot.file(&at) else {
        return Err(format!("{at}: no such file in {folder}"));
    };
    let offset = file.lines().offset(position, PositionEncoding::Utf32);
    let nodes = KnownNodes::new(&known);
    let link = |path: &str, line: u32| format!("{}#L{line}", disk::file_uri(path));
    let analysis = Analysis {
        selected: arguments.node.as_deref(),
        ..Analysis::new(&snapshot, &settings, &configs, &nodes)
    };
    let options = HoverOptions {
        max_lines: arguments.max_lines,
        link: Some(&link),
        ..HoverOptions::default()
    };
    let found = hover(analysis, &at, offset, &options)
        .ok_or_else(|| format!("{}: nothing to tell", arguments.place))?;
    Ok(match arguments.format {
        HoverFormat::Plain => found.plain,
        HoverFormat::Markdown => found.markdown,
        HoverFormat::Aligned => found.aligned,
    })
}

/// The file and the position of `FILE:LINE:COLUMN`.
fn place(text: &str) -> Result<(&str, Position), String> {
    let refuse = || format!("'{text}' is no place: FILE:LINE:COLUMN");
    let (rest, column) = text.rsplit_once(':').ok_or_else(refuse)?;
    let (file, line) = rest.rsplit_once(':').ok_or_else(refuse)?;
    let from_one = |number: &str| {
        let number: u32 = number.parse().ok()?;
        number.checked_sub(1)
    };
    let line = from_one(line).ok_or_else(refuse)?;
    let character = from_one(column).ok_or_else(refuse)?;
    Ok((file, Position { line, character }))
}
