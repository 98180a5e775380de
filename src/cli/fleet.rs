//! The flags that say over which workspace and which nodes a command runs, and what they name.

use std::io::Write as _;
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::lookup::{StrictArgument, settings_of};
use super::nodes;
use crate::disk;
use crate::ide::matrix::Fleet;
use crate::lookup::{ConfigCache, Settings};
use crate::scope::{KnownNodes, Nodes};
use crate::workspace::{Root, Snapshot, path};

/// Which workspace, which nodes, which Puppet.
#[derive(Args)]
pub(super) struct FleetArguments {
    /// The control repository or module; deployed paths in its hiera.yaml mean this checkout
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(super) workspace: String,
    /// Nodes: a nodes file, saved facts, or a folder of such files; may be given several times
    /// [default: the workspace's nodes.json or nodes.yaml, else its spec/fixtures/facts]
    #[arg(long, value_name = "FILE")]
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
    /// The workspace.
    pub(super) here: Checkout,
    /// The nodes as they are, for what compares environments.
    pub(super) described: Nodes,
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

/// Reads the workspace, the nodes and the settings.
pub(super) fn load(arguments: &FleetArguments) -> Result<Loaded, String> {
    let global = arguments.hiera_config.as_deref().map(disk::absolute);
    let here = checkout(&arguments.workspace, global.as_deref());
    let known = match arguments.nodes.as_slice() {
        [] => found_nodes(arguments, &here)?,
        named => nodes::named(named, &nodes::facts(arguments.facts.as_ref())?)?,
    };
    Ok(Loaded {
        here,
        nodes: KnownNodes::in_environment(&known, &arguments.environment),
        described: known,
        settings: settings_of(
            arguments.puppet_version,
            arguments.strict,
            arguments.strict_variables,
        ),
        configs: ConfigCache::default(),
        hiera_config: global.map(Arc::from),
        environment: Arc::from(arguments.environment.as_str()),
    })
}

/// The nodes where the command line names none.
fn found_nodes(arguments: &FleetArguments, here: &Checkout) -> Result<Nodes, String> {
    let dir = here.root(&arguments.environment).map(|root| &*root.dir);
    let place = path::join(dir.unwrap_or(&here.folder), "hiera.yaml");
    let facts = arguments.facts.as_ref();
    // Facts that cannot be read are an error even where no node is known.
    nodes::facts(facts)?;
    let (nodes, files) = nodes::found(&here.snapshot, &place, facts)?;
    match files.is_empty() {
        true => Err(format!(
            "no nodes are known: name a file with --nodes, or keep a nodes.json in {}",
            here.folder
        )),
        false => Ok(nodes),
    }
}

/// Reads a folder, below the global layer of a configuration.
fn checkout(folder: &str, global: Option<&str>) -> Checkout {
    let folder = disk::absolute(folder);
    Checkout {
        snapshot: disk::snapshot_with_global(&folder, global),
        folder,
    }
}

/// Reads another folder.
pub(super) fn other_checkout(loaded: &Loaded, folder: &str) -> Checkout {
    checkout(folder, loaded.hiera_config.as_deref())
}

/// Reads a folder as a revision of its git repository has it.
#[cfg(feature = "git")]
pub(super) fn revision(loaded: &Loaded, folder: &str, revision: &str) -> Result<Checkout, String> {
    let folder = disk::absolute(folder);
    let global = loaded.hiera_config.as_deref();
    match disk::snapshot_of_revision(&folder, revision, global) {
        Ok(snapshot) => Ok(Checkout { snapshot, folder }),
        Err(error) => Err(error.message),
    }
}

#[cfg(not(feature = "git"))]
pub(super) fn revision(_: &Loaded, _: &str, _: &str) -> Result<Checkout, String> {
    Err("this program was built without git".to_string())
}

impl Checkout {
    /// The environment in the folder, or the module that it is.
    fn root(&self, environment: &str) -> Option<&Root> {
        let roots = self.snapshot.roots();
        self.nested(environment)
            .or_else(|| roots.in_folder(&self.folder))
            .or_else(|| {
                self.snapshot
                    .root_of(&path::join(&self.folder, "hiera.yaml"))
            })
    }

    /// The environment of that name beside others in the folder.
    pub(super) fn nested(&self, environment: &str) -> Option<&Root> {
        let nested = format!("{}/environments/{environment}", self.folder);
        self.snapshot.roots().in_folder(&nested)
    }
}

/// The nodes over a checkout.
pub(super) fn fleet<'a>(loaded: &'a Loaded, checkout: &'a Checkout) -> Result<Fleet<'a>, String> {
    let Some(root) = checkout.root(&loaded.environment) else {
        return Err(format!("{}: no hiera.yaml here", checkout.folder));
    };
    Ok(fleet_in(
        loaded,
        checkout,
        root,
        &loaded.environment,
        &loaded.nodes,
    ))
}

/// The nodes over one environment of a checkout.
pub(super) fn fleet_in<'a>(
    loaded: &'a Loaded,
    checkout: &'a Checkout,
    root: &'a Root,
    environment: &Arc<str>,
    nodes: &'a KnownNodes,
) -> Fleet<'a> {
    let mut fleet = Fleet::new(
        &checkout.snapshot,
        root,
        &loaded.settings,
        &loaded.configs,
        nodes,
    );
    fleet.environment.name = environment.clone();
    if let Some(global) = &loaded.hiera_config {
        fleet.environment.global_config = Some(global.clone());
    }
    fleet
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
