//! `hiera-ls nodes import`: writes a nodes file from PuppetDB or saved files, with what the workspace's
//! hierarchies, data and manifests read of a node. The only command that uses the network.

mod client;
mod credentials;
mod query;

use std::collections::BTreeSet;
use std::sync::Arc;

use clap::{Args, Subcommand};

use super::nodes::NodeRequest;
use super::puppet::PuppetArguments;
use super::terminal::{remark, shown, with_shown_files};
use super::workspace::{Opened, PlaceArguments, no_hierarchy, place_of};
use super::written::write_private;
use super::{Ended, printed};
use crate::analysis::{Analysis, Needed, PROJECT_FILE, Project};
use crate::disk;
use crate::ide::cell::counted;
use crate::lookup::{ConfigCache, Settings};
use crate::scope::{
    Completeness, DEFAULT_ENVIRONMENT, IMPORT_BEGIN, Imported, KnownNodes, NODES_FILES, Node,
    Nodes, Variable, nodes_file, written,
};
use crate::text::few;
use crate::workspace::{Snapshot, path};

use client::Client;
use credentials::CredentialArguments;

/// The name of the standard output among files.
const STANDARD_OUTPUT: &str = "-";

/// Maximum number of named variables in a remark.
const MAX_NAMED: usize = 8;

/// What to do with nodes.
#[derive(Subcommand)]
pub(super) enum NodesCommand {
    /// Write a nodes file with what the hierarchy needs of each node, from PuppetDB or saved files
    Import(Box<ImportArguments>),
}

/// Sources, nodes and parts to import, and the file to write.
#[derive(Args)]
pub(super) struct ImportArguments {
    /// Saved facts, Puppet's yaml/facts or yaml/node, a classifier's saved output, or folders of such
    /// files; with --puppetdb they complete its nodes
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    #[command(flatten)]
    credentials: CredentialArguments,
    /// Only nodes of this environment
    #[arg(long, value_name = "NAME")]
    environment: Option<String>,
    /// Only nodes for which this holds, in PuppetDB's query language: facts.site = "lon"
    #[arg(long = "where", value_name = "PQL")]
    clause: Option<String>,
    /// Do not ask PuppetDB which keys the catalogs of the nodes looked up
    #[arg(long)]
    no_lookups: bool,
    /// Write all facts and trusted data instead of those that are needed
    #[arg(long)]
    all_facts: bool,
    /// The file to write, or - for standard output [default: nodes.json in the workspace]
    #[arg(long, short, value_name = "FILE")]
    output: Option<String>,
    #[command(flatten)]
    places: PlaceArguments,
}

/// Runs the command: exit code 0 once the file is written.
pub(super) fn run(arguments: &ImportArguments) -> Ended {
    let environment = arguments.environment.as_deref();
    if let Some(name) = environment.filter(|name| !is_environment_name(name)) {
        return Err(format!("'{name}' is not the name of an environment"));
    }
    let asks_puppetdb = arguments.credentials.puppetdb.is_some() || arguments.files.is_empty();
    if arguments.clause.is_some() && !asks_puppetdb {
        return Err("--where is a question to PuppetDB: name it with --puppetdb".to_owned());
    }
    let opened = arguments.places.open()?;
    let output = output(arguments, &opened)?;
    let snapshot = opened.read();
    let settings = PuppetArguments::default().settings(&opened.project);
    let (configs, no_nodes) = (ConfigCache::default(), KnownNodes::default());
    let analysis = Analysis::new(&snapshot, &settings, &configs, &no_nodes);
    let needed = analysis.needed();
    let wanted = if arguments.all_facts {
        Completeness::default()
    } else if snapshot.roots().iter().next().is_none() {
        return Err(no_hierarchy(&opened.folder));
    } else if let Some(error) = needed.refused.first() {
        return Err(format!(
            "{}: what it needs of nodes is not known: correct it, or add --all-facts",
            with_shown_files(error)
        ));
    } else {
        needed.parts.clone()
    };
    let mut imported = Imported {
        at: disk::now(),
        environment: environment.map(Arc::from),
        condition: arguments.clause.as_deref().map(Arc::from),
        ..Imported::default()
    };
    let saved = saved(arguments, &snapshot, &opened, (&settings, &configs))?;
    let nodes = if asks_puppetdb {
        let url = arguments.credentials.url()?;
        let client = Client::new(&url, arguments.credentials.credentials(&url)?)?;
        imported.from.push(Arc::from(url));
        let found = query::inventory(&client, &imported.conditions().join(" and "), &wanted)?;
        if found.has_changed {
            remark("note: nodes came or went during the import: run it again to have all");
        }
        let nodes = found.nodes.all().iter();
        let completed = nodes.map(|node| match saved.get(&node.certname) {
            Some(saved) => Arc::new(saved.over(node)),
            None => node.clone(),
        });
        let nodes: Vec<Arc<Node>> = completed.collect();
        if !arguments.no_lookups {
            imported.lookups = query::lookups(&client, &nodes)?;
        }
        let is_left_out = |node: &&Arc<Node>| found.nodes.get(&node.certname).is_none();
        let left_out = saved.all().iter().filter(is_left_out).count();
        if left_out > 0 {
            remark(&format!(
                "note: {} of the files left out: PuppetDB's answer does not have them",
                counted(left_out)
            ));
        }
        nodes
    } else {
        let is_wanted = |node: &&Arc<Node>| {
            environment.is_none()
                || node.environment.is_none()
                || node.environment.as_deref() == environment
        };
        saved.all().iter().filter(is_wanted).cloned().collect()
    };
    let files = arguments.files.iter();
    imported
        .from
        .extend(files.map(|file| Arc::from(file.as_str())));
    if nodes.is_empty() {
        return Err("no node was found: nothing is written".to_owned());
    }
    let text = nodes_file(&nodes, &wanted, &imported).map_err(|error| error.to_string())?;
    note_unknown(analysis, &needed, &nodes);
    if needed.reads_all_facts && !arguments.all_facts {
        remark("note: something reads all facts at once: import them with --all-facts");
    }
    match output {
        None => printed(&text),
        Some(at) => {
            write_private(&opened.folder, &at, &text)?;
            note_other_files(&at, &opened.project);
            printed(&summary(&at, &nodes, &wanted, &imported, text.len()))
        }
    }
}

fn is_environment_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(is_part)
}

/// The file to write, absolute; `None` for standard output.
///
/// # Errors
/// It exists, and was not imported: it may be somebody's work.
fn output(arguments: &ImportArguments, opened: &Opened) -> Result<Option<String>, String> {
    let at = match arguments.output.as_deref() {
        Some(STANDARD_OUTPUT) => return Ok(None),
        Some(named) => disk::absolute(named),
        None => path::join(&opened.folder, NODES_FILES[0]),
    };
    if begins_like_import(&at)? {
        return Ok(Some(at));
    }
    Err(format!(
        "{}: not written: this file was not imported: move it away, or name another with --output",
        shown(&at)
    ))
}

/// Whether a file can be written over: it does not exist, is empty, or was imported.
#[allow(
    clippy::disallowed_methods,
    reason = "cli/ looks at the file that it is asked to write"
)]
fn begins_like_import(at: &str) -> Result<bool, String> {
    use std::io::Read as _;
    let mut text = String::new();
    let file = match std::fs::File::open(at) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(true),
        opened => opened,
    };
    let start = |file: std::fs::File| {
        let length = IMPORT_BEGIN.len() as u64;
        file.take(length).read_to_string(&mut text)
    };
    match file.and_then(start) {
        Ok(_) => Ok(text.is_empty() || text == IMPORT_BEGIN),
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => Ok(false),
        Err(error) => Err(format!("{}: {}", shown(at), disk::failure(&error))),
    }
}

/// The nodes of the named files.
fn saved(
    arguments: &ImportArguments,
    snapshot: &Snapshot,
    opened: &Opened,
    (settings, configs): (&Settings, &ConfigCache),
) -> Result<Nodes, String> {
    if arguments.files.is_empty() {
        return Ok(Nodes::default());
    }
    let request = NodeRequest {
        files: &arguments.files,
        facts: None,
        environment: DEFAULT_ENVIRONMENT,
        project: &Project::default(),
        settings,
        configs,
    };
    let place = place_of(snapshot, &opened.folder, DEFAULT_ENVIRONMENT);
    Ok(request.of_files(snapshot, &place)?.nodes.clone())
}

/// Prints a note on variables that no source tells, of which a classifier's are the most frequent.
fn note_unknown(analysis: Analysis<'_>, needed: &Needed, nodes: &[Arc<Node>]) {
    let set_by_manifests = analysis.site_variables();
    let variables = needed.parts.variables.outermost().unwrap_or_default();
    let names: BTreeSet<Arc<str>> = variables.iter().map(|path| written(path).into()).collect();
    let names = names.difference(&set_by_manifests);
    let is_unknown = |node: &Arc<Node>, name: &str| {
        let environment = node.environment.as_deref().unwrap_or(DEFAULT_ENVIRONMENT);
        node.scope(environment).variable(name) == Variable::Unknown
    };
    let unknown = names.filter(|name| nodes.iter().any(|node| is_unknown(node, name)));
    let unknown: Vec<Arc<str>> = unknown.cloned().collect();
    if !unknown.is_empty() {
        remark(&format!(
            "note: nothing tells {} for some nodes: if a node classifier sets it, save its output and name \
             the files too (docs/nodes.md)",
            few(&unknown, MAX_NAMED)
        ));
    }
}

/// Prints a note if the workspace's configuration names other files of nodes instead.
fn note_other_files(at: &str, project: &Project) {
    let mut named = project.nodes_files.iter();
    if !project.nodes_files.is_empty() && !named.any(|named| named.0 == at) {
        remark(&format!(
            "note: {PROJECT_FILE} names other files in nodesFiles, so this one is not read: name it there too"
        ));
    }
}

/// What was written, in a sentence.
fn summary(
    at: &str,
    nodes: &[Arc<Node>],
    wanted: &Completeness,
    imported: &Imported,
    bytes: usize,
) -> String {
    let mut names = Vec::new();
    for (part, told) in [("facts", &wanted.facts), ("trusted", &wanted.trusted)] {
        match told.outermost() {
            None => names.push(format!("all {part}")),
            Some(paths) => {
                names.extend(paths.iter().map(|path| format!("{part}.{}", written(path))));
            }
        }
    }
    let names = if names.is_empty() {
        "only their names".to_owned()
    } else {
        few(&names, MAX_NAMED)
    };
    let size = bytes.div_ceil(1024);
    let count = counted(nodes.len());
    let lookups = match imported.lookups.nodes() {
        0 => String::new(),
        nodes => format!(", and what the catalogs of {} looked up", counted(nodes)),
    };
    format!(
        "{}: {count} ({size} KiB) with {names}{lookups}\n",
        shown(at)
    )
}
