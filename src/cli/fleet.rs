//! The flags that say over which workspace and which nodes a command runs, and what they name.

use std::io::Write as _;
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::lookup::{StrictArgument, settings_of};
use super::nodes;
use crate::disk;
use crate::ide::matrix::{Cell, Fleet, SourceLine};
use crate::lookup::{ConfigCache, Settings};
use crate::scope::KnownNodes;
use crate::value::{HashMap, to_tagged_json};
use crate::workspace::{Root, Snapshot, path};

/// Which workspace, which nodes, which Puppet.
#[derive(Args)]
pub(super) struct FleetArguments {
    /// The control repository or module; deployed paths in its hiera.yaml mean this checkout
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(super) workspace: String,
    /// Nodes: a nodes file, saved facts, or a folder of such files; may be given several times
    #[arg(long, value_name = "FILE", required = true)]
    nodes: Vec<String>,
    /// A JSON or YAML file of facts; a node's own facts lie over them
    #[arg(long, value_name = "FILE")]
    facts: Option<String>,
    /// Name of the environment
    #[arg(long, default_value = "production")]
    pub(super) environment: String,
    /// The global layer's hiera.yaml
    #[arg(long, value_name = "FILE")]
    hiera_config: Option<String>,
    /// Behave as Puppet 7 or 8
    #[arg(long, value_name = "7|8", default_value_t = 8, value_parser = clap::value_parser!(u8).range(7..=8))]
    puppet_version: u8,
    /// Puppet's setting strict [default: the version's own]
    #[arg(long)]
    strict: Option<StrictArgument>,
    /// Puppet's setting strict_variables [default: the version's own]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    strict_variables: Option<bool>,
    /// What to print
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(super) format: TableFormat,
}

/// The forms of a table.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TableFormat {
    /// For people
    Text,
    /// One JSON object per line
    Json,
    /// Comma-separated values with a head line
    Csv,
}

/// What the flags name, read.
pub(super) struct Loaded {
    pub(super) nodes: KnownNodes,
    pub(super) settings: Settings,
    pub(super) configs: ConfigCache,
    hiera_config: Option<Arc<str>>,
    environment: Arc<str>,
}

/// A folder's workspace.
pub(super) struct Checkout {
    /// The folder, absolute.
    pub(super) folder: String,
    snapshot: Arc<Snapshot>,
}

/// Reads the nodes and the settings.
pub(super) fn load(arguments: &FleetArguments) -> Result<Loaded, String> {
    let common = match &arguments.facts {
        Some(path) => nodes::facts(path)?,
        None => HashMap::new(),
    };
    let known = nodes::all_nodes(&arguments.nodes, &common)?;
    Ok(Loaded {
        nodes: KnownNodes::in_environment(&known, &arguments.environment),
        settings: settings_of(
            arguments.puppet_version,
            arguments.strict,
            arguments.strict_variables,
        ),
        configs: ConfigCache::default(),
        hiera_config: arguments
            .hiera_config
            .as_deref()
            .map(|path| Arc::from(disk::absolute(path))),
        environment: Arc::from(arguments.environment.as_str()),
    })
}

/// Reads a folder.
pub(super) fn checkout(loaded: &Loaded, folder: &str) -> Checkout {
    let folder = disk::absolute(folder);
    Checkout {
        snapshot: disk::snapshot_with_global(&folder, loaded.hiera_config.as_deref()),
        folder,
    }
}

/// Reads a folder as a revision of its git repository has it.
pub(super) fn revision(loaded: &Loaded, folder: &str, revision: &str) -> Result<Checkout, String> {
    let folder = disk::absolute(folder);
    let global = loaded.hiera_config.as_deref();
    match disk::snapshot_of_revision(&folder, revision, global) {
        Ok(snapshot) => Ok(Checkout { snapshot, folder }),
        Err(error) => Err(error.message),
    }
}

impl Checkout {
    /// The environment in the folder, or the module that it is.
    fn root(&self, environment: &str) -> Option<&Root> {
        let nested = format!("{}/environments/{environment}", self.folder);
        let roots = self.snapshot.roots();
        roots
            .in_folder(&nested)
            .or_else(|| roots.in_folder(&self.folder))
            .or_else(|| {
                self.snapshot
                    .root_of(&path::join(&self.folder, "hiera.yaml"))
            })
    }
}

/// The nodes over a checkout.
pub(super) fn fleet<'a>(loaded: &'a Loaded, checkout: &'a Checkout) -> Result<Fleet<'a>, String> {
    let Some(root) = checkout.root(&loaded.environment) else {
        return Err(format!("{}: no hiera.yaml here", checkout.folder));
    };
    let mut fleet = Fleet::new(
        &checkout.snapshot,
        root,
        &loaded.settings,
        &loaded.configs,
        &loaded.nodes,
    );
    fleet.environment.name = loaded.environment.clone();
    if let Some(global) = &loaded.hiera_config {
        fleet.environment.global_config = Some(global.clone());
    }
    Ok(fleet)
}

/// The fields `found` and what follows from it, as the batch protocol has them.
pub(super) fn outcome_json(cell: &Cell) -> String {
    match (&cell.unknown, &cell.result) {
        (Some(why), _) => format!("\"found\":null,\"unknown\":{}", json_text(why)),
        (None, Ok(value)) => format!("\"found\":true,\"value\":{}", to_tagged_json(value)),
        (None, Err(error)) => {
            format!("\"found\":false,\"error\":{}", json_text(&error.message))
        }
    }
}

/// A text as JSON.
pub(super) fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Certnames as a JSON array.
pub(super) fn nodes_json(nodes: &[Arc<str>]) -> String {
    let names: Vec<String> = nodes.iter().map(|name| json_text(name)).collect();
    format!("[{}]", names.join(","))
}

/// Sources as a JSON array.
pub(super) fn sources_json(sources: &[SourceLine]) -> String {
    let sources = sources.iter().map(|source| {
        let file = json_text(&source.file);
        format!("{{\"file\":{file},\"line\":{}}}", source.line)
    });
    format!("[{}]", sources.collect::<Vec<_>>().join(","))
}

/// A cell's answer in a line: the value as JSON, or what is said in its place.
pub(super) fn outcome_text(cell: &Cell) -> String {
    match (&cell.unknown, &cell.result) {
        (Some(why), _) => format!("unknown: {why}"),
        (None, Ok(value)) => to_tagged_json(value),
        (None, Err(error)) if error.not_found => "(not set)".to_string(),
        (None, Err(error)) => format!("error: {}", error.message),
    }
}

/// Sources as `file:line`, below the workspace's folder where they are in it.
pub(super) fn sources_text(sources: &[SourceLine], folder: &str) -> String {
    let sources = sources.iter().map(|source| {
        let file = path::within(&source.file, folder).unwrap_or(&source.file);
        format!("{file}:{}", source.line)
    });
    sources.collect::<Vec<_>>().join(" ")
}

/// A text cut to a number of characters.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_string();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// One line of comma-separated values (RFC 4180).
pub(super) fn csv(fields: &[&str]) -> String {
    let quoted = fields.iter().map(|field| {
        if field.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            (*field).to_string()
        }
    });
    quoted.collect::<Vec<_>>().join(",") + "\n"
}

/// Tells how far a long run is, where standard error is a terminal; where standard output is one
/// too, the rows themselves tell it.
pub(super) struct Progress {
    total: usize,
    shown: bool,
}

impl Progress {
    /// Progress over a number of keys.
    pub(super) fn new(total: usize) -> Progress {
        use std::io::IsTerminal as _;
        Progress {
            total,
            shown: total > 50
                && std::io::stderr().is_terminal()
                && !std::io::stdout().is_terminal(),
        }
    }

    /// So many are done.
    pub(super) fn done(&self, done: usize) {
        if self.shown && (done.is_multiple_of(20) || done == self.total) {
            let end = if done == self.total { "\n" } else { "" };
            let _ = write!(std::io::stderr(), "\r{done} of {} keys{end}", self.total);
        }
    }
}
