//! `hiera-ls lookup`: one key for one node, for every known node, or for any node.

mod request;
mod whole;

use std::io::IsTerminal as _;
use std::mem::ManuallyDrop;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use request::request;
use whole::{all_nodes, any_node, by_name};

use crate::analysis::{Analysis, DescribedBy, datadir_of, environment_for, root_for};
use crate::cli::compiled::Compiled;
use crate::cli::keys::KeyArguments;
use crate::cli::nodes::NodeRequest;
use crate::cli::render::{self, RenderFormat};
use crate::cli::suggestions::KnownKeys;
use crate::cli::terminal::{self, Layout, Paint, complain, failed, print, remark, remark_title};
use crate::cli::usage::{SENSELESS, see_help};
use crate::cli::workspace::{Opened, PlaceArguments, PuppetArguments, no_hierarchy, read};
use crate::cli::{Ended, printed};
use crate::disk::WorkspaceDisk;
use crate::hierarchy::{Config, Layer};
use crate::ide::json::json;
use crate::ide::matrix::line;
use crate::lookup::{
    Answer, Assumed, ConfigCache, Environment, EnvironmentConfig, Group, LookupError, Request,
    Session, Tracing, groups_of_nodes, without_reason,
};
use crate::scope::{DEFAULT_ENVIRONMENT, KnownNodes, Node, Scope, certname};
use crate::value::{Value, load_yaml};
use crate::workspace::{FileSettings, Files as _, HIERA_YAML, Snapshot, path};

/// The flags of `puppet lookup`, and ours.
#[derive(Args)]
pub(super) struct LookupArguments {
    /// Keys; the first one that has a value is printed
    keys: Vec<String>,
    /// Answer requests, one JSON object a line, from standard input
    #[arg(long)]
    pub(super) batch: bool,
    /// The node to look up for
    #[arg(long)]
    node: Option<String>,
    /// A JSON or YAML file of facts: with --node over those that are known of the node, else below the
    /// own facts of all
    #[arg(long, value_name = "FILE")]
    facts: Option<String>,
    /// Name of the environment
    #[arg(long, default_value = DEFAULT_ENVIRONMENT)]
    environment: String,
    /// How to merge: first, unique, hash or deep
    #[arg(long)]
    merge: Option<String>,
    /// Prefix of elements to remove, with --merge deep
    #[arg(long, value_name = "PREFIX", allow_hyphen_values = true)]
    knock_out_prefix: Option<String>,
    /// Sort merged arrays, with --merge deep
    #[arg(long)]
    sort_merged_arrays: bool,
    /// Merge hashes in arrays by position, with --merge deep
    #[arg(long)]
    merge_hash_arrays: bool,
    /// Puppet data type that the value must have
    #[arg(long = "type", value_name = "TYPE")]
    value_type: Option<String>,
    /// Value to print where there is none
    #[arg(long)]
    default: Option<String>,
    /// Print how the value is found instead of the value
    #[arg(long)]
    pub(super) explain: bool,
    /// Print how lookup_options are found instead of the value
    #[arg(long)]
    explain_options: bool,
    /// Run the environment's manifests up to node blocks first, as far as they can be evaluated
    #[arg(long)]
    compile: bool,
    /// Format of the output [default: yaml; text where an explanation is asked for]
    #[arg(long, visible_alias = "format")]
    render_as: Option<RenderFormat>,
    /// A nodes file: certname → facts, trusted, variables [default: the workspace's nodes.json or
    /// nodes.yaml, else its spec/fixtures/facts]
    #[arg(long, value_name = "FILE")]
    nodes: Option<String>,
    #[command(flatten)]
    places: PlaceArguments,
    #[command(flatten)]
    puppet: PuppetArguments,
    #[command(flatten)]
    pub(super) secrets: KeyArguments,
}

/// Exit code for several different values.
const SEVERAL: u8 = 2;

/// Exit code if only a running Puppet knows the value.
const UNKNOWN: u8 = 3;

/// Suggests the key that was probably meant. This reads all keys of the workspace, so it is done
/// for people and not for scripts.
fn suggest_keys(arguments: &LookupArguments) {
    if std::io::stderr().is_terminal()
        && let Ok(folder) = arguments.places.folder()
    {
        let (_, messages) = KnownKeys::in_folder(&folder).chosen(&arguments.keys);
        messages.iter().for_each(|message| complain(message));
    }
}

/// Runs the command.
pub(super) fn run(arguments: &LookupArguments) -> Ended {
    let request = match request(arguments) {
        Ok(request) => request,
        Err(message) => {
            complain(&format!("{message}\n{}", see_help("lookup")));
            return Ok(ExitCode::from(SENSELESS));
        }
    };
    let Opened {
        folder,
        project,
        files: of_files,
    } = arguments.places.open_for(&arguments.environment)?;
    let mut settings = arguments.puppet.settings(&project);
    settings.keys = arguments.secrets.read();
    // The process ends with the answer: freeing memory would only cost time.
    let files = WorkspaceDisk::new(&folder).with_path_map(&of_files);
    let files = ManuallyDrop::new(files);
    let files: &WorkspaceDisk = &files;
    let mut environment = environment_for(files, &folder, &arguments.environment);
    if let Some(global) = &of_files.global_hiera_yaml {
        environment.global_config = Some(Arc::clone(global));
        environment.global_dir = None;
    }
    let configs = ManuallyDrop::new(ConfigCache::default());
    let mut dir = environment.dir.clone();
    let is_plain = is_plain(files, &environment, &of_files);
    let snapshot = match is_plain {
        true => Arc::default(),
        false => read(&folder, &of_files),
    };
    let (snapshot, no_nodes) = (ManuallyDrop::new(snapshot), KnownNodes::default());
    let analysis = Analysis::new(&snapshot, &settings, &configs, &no_nodes)
        .with_environment(&arguments.environment);
    let view;
    let session = if is_plain {
        analysis.session_over(files, &environment)
    } else {
        let Some(root) = root_for(&snapshot, &folder, &arguments.environment) else {
            return Err(no_hierarchy(&folder));
        };
        view = analysis.at(root);
        dir = Some(Arc::clone(&root.dir));
        view.session()
    };
    let named = Vec::from_iter(arguments.nodes.clone());
    let node_request = NodeRequest {
        files: &named,
        facts: arguments.facts.as_ref(),
        project: &project,
        settings: &settings,
        configs: &configs,
    };
    let compiled = match arguments.compile {
        true => Compiled::new(&folder, &arguments.environment, &of_files, &settings),
        false => Compiled::default(),
    };
    let answer_for = |node: &Node| {
        let scope = compiled.scope(node, &environment.name);
        one(arguments, &session, &scope, &request)
    };
    let folder: Arc<str> = Arc::from(folder);
    let folders: Vec<&Arc<str>> = dir.iter().chain([&folder]).collect();
    // Facts from a flag belong to one node, as in `puppet lookup`.
    if arguments.facts.is_some() && (arguments.node.is_some() || arguments.nodes.is_none()) {
        let given = node_request.common()?;
        let named = arguments.node.as_deref().or_else(|| certname(&given));
        let name = named.unwrap_or_default().to_owned();
        let own = NodeRequest {
            facts: None,
            ..node_request
        };
        let known = own.in_folders(&folders)?.set.nodes;
        if given.is_empty() && known.get(&name).is_none() {
            return Err(format!("No facts available for target node: {name}"));
        }
        let node = own.with_facts(&name, &given, &known);
        if request.tracing == Tracing::Off
            && known.get(&name).is_none()
            && let Some(nameless) = node.without_name()
        {
            let answer = |node: &Node| {
                let scope = compiled.scope(node, &environment.name);
                session.lookup(&scope, &request).result.ok()
            };
            if answer(&node) != answer(&nameless) {
                let facts = arguments.facts.as_deref().unwrap_or_default();
                remark(&format!(
                    "note: trusted.certname is '{name}' here; puppet lookup has nothing there, since no fact \
                     'clientcert' is in {}",
                    terminal::shown(facts)
                ));
            }
        }
        return answer_for(&node);
    }
    let known = node_request.in_folders(&folders)?;
    match &arguments.node {
        Some(name) => match known.set.nodes.get(name) {
            Some(node) => answer_for(node),
            None => by_name(arguments, &node_request, &known, name, &request),
        },
        None => match known.described_by {
            DescribedBy::Nothing => any_node(arguments, &node_request, &request),
            DescribedBy::FactsOfTests => all_nodes(arguments, &node_request, &compiled, &request),
            DescribedBy::NodesFile => {
                let nodes = KnownNodes::in_environment(&known.set.nodes, &environment.name);
                let nodes = compiled.nodes(nodes);
                let snapshot = || read(&folder, &of_files);
                for_nodes(arguments, &session, &nodes, &request, &snapshot)
            }
        },
    }
}

/// The answers over nodes, or an explanation of them. `snapshot` provides the workspace.
fn for_nodes(
    arguments: &LookupArguments,
    session: &Session<'_>,
    nodes: &KnownNodes,
    request: &Request,
    snapshot: &dyn Fn() -> Arc<Snapshot>,
) -> Ended {
    if request.tracing != Tracing::Off && arguments.render_as.is_none() {
        return explained(arguments, session, nodes, request);
    }
    let request = for_groups(arguments, request);
    let groups = groups_of_nodes(session, nodes, &request);
    several(arguments, &groups, snapshot)
}

/// Whether an environment's configuration is in its usual place and not overridden: then no other
/// file of the workspace has to be read.
fn is_plain(files: &WorkspaceDisk, environment: &Environment, of_files: &FileSettings) -> bool {
    let dir = environment.dir.as_ref();
    let text = dir.and_then(|dir| files.text(&path::join(dir, HIERA_YAML)).ok());
    let version =
        text.map(|text| load_yaml(text.as_bytes()).map(|value| Config::version_of(&value)));
    // Version 3 is only for the global layer, so its file belongs elsewhere.
    let is_own = match version {
        Some(Ok(Ok(version))) => version != 3,
        Some(_) => true,
        None => dir.is_none() || of_files.global_hiera_yaml.is_some(),
    };
    is_own && of_files.chosen.is_empty()
}

/// A lookup in one scope, as `puppet lookup` does it.
fn one(
    arguments: &LookupArguments,
    session: &Session<'_>,
    scope: &Scope,
    request: &Request,
) -> Ended {
    let answer = ManuallyDrop::new(session.lookup(scope, request));
    for log in &answer.logs {
        remark(&format!("warning: {}", without_reason(&log.message)));
    }
    let is_missing = answer.result.as_ref().is_err_and(LookupError::is_not_found);
    if let Some(trace) = &answer.trace {
        if let Err(error) = &answer.result
            && !error.class.is_lookup_error()
        {
            return Err(error.words());
        }
        let format = arguments.render_as.unwrap_or(RenderFormat::S);
        print(&render::render_trace(trace, format)?)?;
        print_reasons(&answer);
        if is_missing {
            suggest_keys(arguments);
        }
        return Ok(ExitCode::SUCCESS);
    }
    if !answer.is_certain() {
        print_reasons(&answer);
        if let Some(unless) = answer.unless(&request.names) {
            print_condition(arguments, &answer.result, &unless);
            print_assumptions(&answer.assumed);
        }
        return Ok(ExitCode::from(UNKNOWN));
    }
    if is_missing && let Some(folder) = without_hierarchy(session) {
        remark(&format!("unknown: no hiera.yaml in {folder}"));
        return Ok(ExitCode::from(UNKNOWN));
    }
    print_assumptions(&answer.assumed);
    if is_missing {
        warn_missing_folders(session);
    }
    value(arguments, &answer.result)
}

/// Reports missing data directories, once each.
fn warn_missing_folders(session: &Session<'_>) {
    let mut warned: Vec<String> = Vec::new();
    for layer in [Layer::Global, Layer::Environment] {
        for place in session.known_places(&layer).iter() {
            let Some(folder) = datadir_of(place) else {
                continue;
            };
            if session.files.kind(&folder).is_none() && !warned.contains(&folder) {
                let shown = terminal::shown(&folder);
                let level = &place.level;
                remark(&format!(
                    "note: {shown} does not exist, but level '{level}' looks for data there; name the folder that is \
                     deployed there with --path-map"
                ));
                warned.push(folder);
            }
        }
    }
}

/// The environment's folder, if neither it nor the global layer has a configuration.
fn without_hierarchy(session: &Session<'_>) -> Option<Arc<str>> {
    let environment = session.environment;
    let dir = environment.dir.clone()?;
    let own = match &environment.config {
        EnvironmentConfig::Own => session.files.kind(&path::join(&dir, "hiera.yaml")),
        EnvironmentConfig::Elsewhere(file) => session.files.kind(file),
        EnvironmentConfig::None => None,
    };
    let has_any =
        environment.global_config.is_some() || environment.data_provider.is_some() || own.is_some();
    (!has_any).then_some(dir)
}

/// Prints the likely value and the condition under which it differs, on standard error.
fn print_condition(arguments: &LookupArguments, result: &Result<Value, LookupError>, unless: &str) {
    let format = arguments.render_as.unwrap_or(RenderFormat::Yaml);
    let shown = match result {
        Ok(value) if value.has_opaque() => return,
        Ok(Value::String(text)) if !text.contains('\n') => text.to_string(),
        Ok(value) => match render::render(value, format) {
            Ok(text) => text.trim_end().to_owned(),
            Err(message) => message,
        },
        Err(error) if error.is_not_found() => "not found".to_owned(),
        Err(error) => error.words(),
    };
    let shown = shown.strip_prefix("--- ").unwrap_or(&shown);
    match shown.contains('\n') {
        true => remark(&format!("unless {unless}:\n{shown}")),
        false => remark(&format!("{shown}, unless {unless}")),
    }
}

/// Prints the assumptions behind a certain answer.
fn print_assumptions(assumed: &[Assumed]) {
    for assumed in assumed {
        remark(&format!("note: {assumed} (not run)"));
    }
}

fn print_reasons(answer: &Answer) {
    for reason in answer.reasons() {
        remark(&format!("unknown: {reason}"));
    }
}

fn value(arguments: &LookupArguments, result: &Result<Value, LookupError>) -> Ended {
    match result {
        Ok(value) => {
            let format = arguments.render_as.unwrap_or(RenderFormat::Yaml);
            printed(&render::render(value, format)?)
        }
        // `puppet lookup` prints nothing here; the message goes to standard error, where no pipe
        // reads it.
        Err(error) if error.is_not_found() => {
            let code = failed(&error.to_string());
            suggest_keys(arguments);
            Ok(code)
        }
        Err(error) => Err(error.words()),
    }
}

/// A lookup without a named node: a single answer is printed, several are listed. `snapshot`
/// provides the workspace, for the source lines of answers.
fn several(
    arguments: &LookupArguments,
    groups: &[Group],
    snapshot: &dyn Fn() -> Arc<Snapshot>,
) -> Ended {
    match merged(groups).as_slice() {
        [] => Err("no nodes are known".into()),
        [only] => match &only.unknown {
            Some(why) => {
                remark(&format!("unknown: {why}"));
                if let Some(unless) = &only.unless {
                    print_condition(arguments, &only.result, unless);
                    print_assumptions(&only.assumed);
                }
                Ok(ExitCode::from(UNKNOWN))
            }
            None => {
                print_assumptions(&only.assumed);
                value(arguments, &only.result)
            }
        },
        groups if arguments.render_as == Some(RenderFormat::Json) => {
            let snapshot = snapshot();
            let groups = groups.iter().cloned();
            let cells = groups.map(|group| group.map(|source| line(&snapshot, source)));
            let cells: Vec<String> = cells.map(|cell| json(&cell)).collect();
            print(&format!("[{}]\n", cells.join(",\n ")))?;
            Ok(ExitCode::from(SEVERAL))
        }
        groups => {
            let shared = shared_condition(groups);
            let each = shared.map_or(String::new(), |unless| format!(", each unless {unless}"));
            remark_title(&format!("{} different values{each}:", groups.len()));
            for group in groups {
                remark(&describe(group, shared.is_none()));
            }
            Ok(ExitCode::from(SEVERAL))
        }
    }
}

/// Merges groups with the same result under the same condition: they differ only in which of their
/// files is unknown.
fn merged(groups: &[Group]) -> Vec<Group> {
    let mut merged: Vec<Group> = Vec::new();
    for group in groups {
        let is_same = |other: &&mut Group| {
            other.result == group.result
                && other.unless == group.unless
                && other.unknown.is_some() == group.unknown.is_some()
                && group.unless.is_some()
                && !group.nodes.is_empty()
        };
        match merged.iter_mut().find(is_same) {
            Some(other) => {
                other.nodes.extend(group.nodes.iter().cloned());
                other.origins.extend(group.origins.iter().cloned());
            }
            None => merged.push(group.clone()),
        }
    }
    merged.sort_by_key(|group| std::cmp::Reverse(group.nodes.len()));
    merged
}

/// The request for printing groups: JSON includes the sources.
fn for_groups(arguments: &LookupArguments, request: &Request) -> Request {
    match (arguments.render_as, request.tracing) {
        (Some(RenderFormat::Json), Tracing::Off) => request.clone().with_sources(),
        _ => request.clone(),
    }
}

/// The explanation of each answer, for the first of its nodes.
fn explained(
    arguments: &LookupArguments,
    session: &Session<'_>,
    nodes: &KnownNodes,
    request: &Request,
) -> Ended {
    /// Maximum number of explained answers.
    const MOST: usize = 10;
    let plain = Request {
        tracing: Tracing::Off,
        ..request.clone()
    };
    let groups = groups_of_nodes(session, nodes, &plain);
    for group in groups.iter().take(MOST) {
        let Some(member) = group.nodes.first().and_then(|name| nodes.find(name)) else {
            continue;
        };
        let title = match group.nodes.as_slice() {
            [only] => only.to_string(),
            [first, others @ ..] => {
                format!("{first}, and {} more with the same answer", others.len())
            }
            [] => String::new(),
        };
        print(&Layout::of_output().line(Paint::Title, &title))?;
        let answer = session.lookup(&nodes.scope(member), request);
        match (&answer.trace, &answer.result) {
            (_, Err(error)) if !error.class.is_lookup_error() => return Err(error.words()),
            (Some(trace), _) => {
                let text = render::render_trace(trace, RenderFormat::S)?;
                let lines = text.lines().map(|line| format!("  {line}\n"));
                print(&lines.collect::<String>())?;
            }
            (None, _) => {}
        }
        print_reasons(&answer);
    }
    if let Some(more @ 1..) = groups.len().checked_sub(MOST) {
        remark(&format!("and {more} more values: name a node with --node"));
    }
    let is_missing = |group: &Group| group.result.as_ref().is_err_and(LookupError::is_not_found);
    if groups.iter().all(is_missing) {
        suggest_keys(arguments);
    }
    Ok(ExitCode::SUCCESS)
}

/// The condition that all answers share; `None` if they differ.
fn shared_condition(groups: &[Group]) -> Option<&str> {
    let first = possible_unless(groups.first()?)?;
    let is_shared = groups
        .iter()
        .all(|group| possible_unless(group) == Some(first));
    is_shared.then_some(first)
}

/// The condition of an answer whose value is known apart from it.
fn possible_unless(group: &Group) -> Option<&str> {
    let is_known = group.result.as_ref().is_ok_and(|value| !value.has_opaque());
    let unless = group.unless.as_deref();
    unless.filter(|_| group.unknown.is_some() && is_known)
}

fn describe(group: &Group, with_condition: bool) -> String {
    let nodes = match group.nodes.as_slice() {
        [] => group.condition.first(),
        [only] => format!("1 node ({only})"),
        [first, ..] => format!("{} nodes ({first}, …)", group.nodes.len()),
    };
    let what = match (&group.unknown, &group.result) {
        (Some(_), Ok(value)) if let Some(unless) = possible_unless(group) => match with_condition {
            true => format!("{}, unless {unless}", value.inspect()),
            false => value.inspect(),
        },
        (Some(why), _) => format!("unknown: {why}"),
        (None, Ok(value)) => value.inspect(),
        (None, Err(error)) => error.words(),
    };
    format!("  {nodes}: {what}")
}
