//! Lookups that need the whole workspace: for nodes that only data files name, and for any node.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;

use super::{LookupArguments, UNKNOWN, for_groups, for_nodes, no_hierarchy, one, several};
use crate::analysis::{
    Analysis, DescribedBy, FolderNodes, NodeSet, RootView, datadir_of, layers_of, root_for,
};
use crate::cli::Ended;
use crate::cli::compiled::Compiled;
use crate::cli::nodes::NodeRequest;
use crate::cli::suggestions::no_node;
use crate::cli::terminal::remark;
use crate::cli::workspace::read;
use crate::disk::DiskFiles;
use crate::interpolation::Key;
use crate::lookup::{
    Group, Request, Tracing, UnknownCause, absent_levels, absent_words, groups_of_possible,
};
use crate::scope::{KnownNodes, Node, Scope, top_name};
use crate::workspace::{FileKind, Files as _, HIERA_YAML, Snapshot, path};

/// A node without a description: one that data files are named after, or, if no file describes any
/// node, one known only by name. Anything that depends on its facts is unknown.
pub(super) fn by_name(
    arguments: &LookupArguments,
    sources: &NodeRequest<'_>,
    known: &FolderNodes,
    name: &str,
    request: &Request,
) -> Ended {
    let whole = WholeAnswer::read(arguments, sources, &request.names)?;
    let no_nodes = KnownNodes::default();
    let view = whole.view(arguments, sources, &no_nodes)?;
    let of_data = whole.known(&view, sources)?.nodes.get(name).cloned();
    let node = match of_data.or_else(|| sources.named_node(name).map(Arc::new)) {
        Some(node) => node,
        None if known.described_by == DescribedBy::Nothing => Arc::new(Node::named(name)),
        None => return Err(no_node(name, &known.set)),
    };
    let files = whole.snapshot.settings();
    let compiled = match arguments.compile {
        true => Compiled::new(
            &whole.folder,
            &arguments.environment,
            files,
            sources.settings,
        ),
        false => Compiled::default(),
    };
    let scope = compiled.scope(&node, &view.environment.name);
    let session = view.session();
    let outside = match request.tracing {
        Tracing::Off => outside(&view, &scope, request),
        _ => Vec::new(),
    };
    if !outside.is_empty() {
        let group_request = for_groups(arguments, request);
        let mut groups = groups_of_possible(&session, &scope, &group_request);
        restrict(&mut groups, &outside);
        return several(arguments, &groups, &|| Arc::clone(&whole.snapshot));
    }
    let ended = one(arguments, &session, &scope, request);
    if ended == Ok(ExitCode::from(UNKNOWN)) {
        let set = match arguments.compile {
            true => Vec::new(),
            false => set_by_manifests(&view, &scope, request),
        };
        if !set.is_empty() {
            remark(&format!(
                "note: manifests set {} for nodes: --compile runs them, without node blocks, as puppet lookup does",
                set.join(" and ")
            ));
        }
        remark(&format!(
            "note: no facts are known of node '{name}': give them with --facts, or a file of nodes with --nodes"
        ));
    }
    ended
}

/// The variables that a lookup needs and that site manifests set, quoted.
fn set_by_manifests(view: &RootView<'_>, scope: &Scope, request: &Request) -> Vec<String> {
    let set = view.analysis.site_variables();
    let answer = view.session().lookup(scope, request);
    let variables = answer.unknown.iter().flat_map(|one| match &one.cause {
        UnknownCause::Path(possible) => possible.variables.as_slice(),
        UnknownCause::Function { .. } | UnknownCause::Absent { .. } => &[],
    });
    let names = variables.map(|name| top_name(name));
    let names: BTreeSet<&str> = names.filter(|name| set.contains(*name)).collect();
    names.iter().map(|name| format!("'{name}'")).collect()
}

/// Looks up for all nodes, also those that only data files name.
pub(super) fn all_nodes(
    arguments: &LookupArguments,
    sources: &NodeRequest<'_>,
    compiled: &Compiled,
    request: &Request,
) -> Ended {
    let whole = WholeAnswer::read(arguments, sources, &request.names)?;
    let no_nodes = KnownNodes::default();
    let view = whole.view(arguments, sources, &no_nodes)?;
    let known = whole.known(&view, sources)?;
    let nodes = KnownNodes::in_environment(&known.nodes, &view.environment.name);
    let nodes = compiled.nodes(nodes);
    for_nodes(arguments, &view.session(), &nodes, request, &|| {
        Arc::clone(&whole.snapshot)
    })
}

/// Looks up for an unknown node: possible values come from the whole workspace.
pub(super) fn any_node(
    arguments: &LookupArguments,
    sources: &NodeRequest<'_>,
    request: &Request,
) -> Ended {
    let whole = WholeAnswer::read(arguments, sources, &request.names)?;
    let no_nodes = KnownNodes::default();
    let view = whole.view(arguments, sources, &no_nodes)?;
    let session = view.session();
    if request.tracing != Tracing::Off {
        return one(arguments, &session, &Scope::open(), request);
    }
    let group_request = for_groups(arguments, request);
    let mut groups = groups_of_possible(&session, &Scope::open(), &group_request);
    restrict(&mut groups, &outside(&view, &Scope::open(), request));
    several(arguments, &groups, &|| Arc::clone(&whole.snapshot))
}

/// The levels outside of the workspace that may set one of the keys, each once.
fn outside(view: &RootView<'_>, scope: &Scope, request: &Request) -> Vec<Arc<str>> {
    let mut levels: Vec<Arc<str>> = Vec::new();
    for name in &request.names {
        let key = Key::parse(name).ok();
        let root = key.as_ref().and_then(|key| key.root.as_name());
        let Some(root) = root.filter(|root| view.has_outside(root)) else {
            continue;
        };
        for level in view.survey(root, scope).outside() {
            if !levels.contains(&level) {
                levels.push(level);
            }
        }
    }
    levels
}

/// Adds levels outside of the workspace to the conditions of the answers.
fn restrict(groups: &mut [Group], levels: &[Arc<str>]) {
    let reason = absent_levels(levels).map(|those| format!("{those} may set it"));
    let (Some(reason), Some(words)) = (reason, absent_words(levels, "it")) else {
        return;
    };
    for group in groups {
        group.unknown.get_or_insert_with(|| reason.clone());
        group.unless = Some(match group.unless.take() {
            Some(unless) => format!("{unless}, or {words}"),
            None => words.clone(),
        });
    }
}

struct WholeAnswer {
    folder: String,
    snapshot: Arc<Snapshot>,
}

impl WholeAnswer {
    /// Reads the workspace, and data directories outside of it that are needed for the keys, as
    /// `puppet lookup` does.
    fn read(
        arguments: &LookupArguments,
        sources: &NodeRequest<'_>,
        keys: &[Arc<str>],
    ) -> Result<WholeAnswer, String> {
        let folder = arguments.places.folder()?;
        let mut files = arguments.places.files(sources.project)?;
        let snapshot = read(&folder, &files);
        let whole = WholeAnswer { folder, snapshot };
        let no_nodes = KnownNodes::default();
        let outside_dirs =
            data_directories_outside(&whole.view(arguments, sources, &no_nodes)?, keys);
        if outside_dirs.is_empty() {
            return Ok(whole);
        }
        files.folders.extend(outside_dirs);
        let snapshot = read(&whole.folder, &files);
        Ok(WholeAnswer { snapshot, ..whole })
    }

    fn view<'a>(
        &'a self,
        arguments: &'a LookupArguments,
        sources: &NodeRequest<'a>,
        nodes: &'a KnownNodes,
    ) -> Result<RootView<'a>, String> {
        let Some(root) = root_for(&self.snapshot, &self.folder, &arguments.environment) else {
            return Err(no_hierarchy(&self.folder));
        };
        let analysis = Analysis::new(&self.snapshot, sources.settings, sources.configs, nodes);
        Ok(analysis.with_environment(&arguments.environment).at(root))
    }

    /// The nodes that are known for a view's root.
    fn known(
        &self,
        view: &RootView<'_>,
        sources: &NodeRequest<'_>,
    ) -> Result<Arc<NodeSet>, String> {
        let place = path::join(&view.root.dir, HIERA_YAML);
        sources.known(&self.snapshot, &place)
    }
}

/// The data directories outside of the workspace that are on this machine.
fn data_directories_outside(view: &RootView<'_>, keys: &[Arc<str>]) -> BTreeSet<Arc<str>> {
    let layers = keys.iter().flat_map(|key| layers_of(key));
    let places = layers.flat_map(|layer| view.session().known_places(&layer).to_vec());
    let outside = places.filter(|place| view.analysis.is_outside(&place.template));
    let folders = outside.filter_map(|place| datadir_of(&place));
    let disk = DiskFiles::new();
    let here = folders.filter(|folder| disk.kind(folder) == Some(FileKind::Directory));
    here.map(Arc::from).collect()
}
