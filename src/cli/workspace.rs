//! The flags that choose a command's workspace and nodes, and the code that opens them.

use std::sync::{Arc, OnceLock};

use clap::Args;

use super::console;
use super::nodes::{NodeArguments, NodeRequest};
use super::puppet::PuppetArguments;
use super::suggestions::is_environment;
use super::terminal::{ProgressLine, remark, shown, with_shown_files};
use crate::analysis::{
    Analysis, Project, RootView, chosen_root, root_for, with_manifest_variables,
};
use crate::disk::{self, DiskFiles};
use crate::ide::cell::{NO_FACTS, what_was_read};
use crate::ide::upgrade::Upgrade;
use crate::lookup::{ConfigCache, PuppetVersion, Settings};
use crate::scope::{DEFAULT_ENVIRONMENT, KnownNodes, Nodes};
use crate::workspace::{Change, FileKind, FileSettings, Files, HIERA_YAML, Root, Snapshot, path};

/// Which workspace, which nodes, which Puppet: the same for all commands that read a workspace.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Nodes, workspace and Puppet")]
pub(super) struct WorkspaceArguments {
    #[command(flatten)]
    pub(super) nodes: NodeArguments,
    /// Name of the environment: a folder in environments/, or what a checkout of one environment is
    /// deployed as
    #[arg(long, default_value = DEFAULT_ENVIRONMENT)]
    pub(super) environment: String,
    #[command(flatten)]
    pub(super) places: PlaceArguments,
    #[command(flatten)]
    pub(super) puppet: PuppetArguments,
}

/// Where the workspace, its hierarchies and deployed folders are.
#[derive(Args, Clone, Debug)]
pub(super) struct PlaceArguments {
    /// The control repository or module; deployed paths in its hiera.yaml mean this checkout
    /// [default: the one around the current folder, or around the file that is named]
    #[arg(long, value_name = "DIR")]
    pub(super) workspace: Option<String>,
    /// The global layer's hiera.yaml
    #[arg(long, value_name = "FILE")]
    hiera_config: Option<String>,
    /// The environment's hierarchy, wherever it stands [default: as found]
    #[arg(long, value_name = "FILE")]
    hiera_yaml: Option<String>,
    /// DIR is what is deployed as FOLDER, an absolute path; may be given several times
    #[arg(long, value_name = "FOLDER=DIR", value_parser = deployed)]
    path_map: Vec<(String, String)>,
}

/// A deployed folder, and the folder that it is deployed from.
fn deployed(pair: &str) -> Result<(String, String), String> {
    match pair.split_once('=') {
        Some((deployed, here)) if deployed.starts_with('/') && !here.is_empty() => {
            let deployed = path::normalise(deployed);
            Ok((deployed, disk::absolute(here)))
        }
        _ => Err("expected FOLDER=DIR, FOLDER an absolute path".to_owned()),
    }
}

/// An opened workspace: its configuration, and where its files are.
pub(super) struct Opened {
    /// The folder, absolute.
    pub(super) folder: String,
    pub(super) project: Project,
    pub(super) files: FileSettings,
}

impl WorkspaceArguments {
    /// Opens the workspace.
    ///
    /// # Errors
    /// A mistake in its configuration, a missing hierarchy or folder of a flag, or no such
    /// environment.
    pub(super) fn open(&self) -> Result<Opened, String> {
        let opened = self.places.open()?;
        self.has_environment(&opened.folder)?;
        Ok(opened)
    }

    /// The same flags for a folder, with absolute paths, for a program that changes its current folder.
    ///
    /// # Errors
    /// A file is read from standard input.
    #[cfg(feature = "mcp")]
    pub(super) fn in_folder(&self, folder: &str) -> Result<WorkspaceArguments, String> {
        let absolute = |at: &String| disk::absolute(at);
        let mut all = self.clone();
        all.nodes = self.nodes.absolute()?;
        all.places = PlaceArguments {
            workspace: Some(folder.to_owned()),
            hiera_config: self.places.hiera_config.as_ref().map(absolute),
            hiera_yaml: self.places.hiera_yaml.as_ref().map(absolute),
            path_map: self.places.path_map.clone(),
        };
        Ok(all)
    }

    /// Opens the named workspace, else the one around a file, absolute.
    ///
    /// # Errors
    /// The same.
    pub(super) fn open_around(&self, file: &str) -> Result<Opened, String> {
        match &self.places.workspace {
            Some(_) => self.open(),
            None => {
                let folder = disk::workspace_of(file, &disk::absolute("."));
                let opened = self.places.open_in(folder.to_string())?;
                self.has_environment(&opened.folder)?;
                Ok(opened)
            }
        }
    }

    /// Refuses an environment that is not in the folder of a workspace, unless a flag names its
    /// hierarchy.
    ///
    /// # Errors
    /// There is no such environment.
    pub(super) fn has_environment(&self, folder: &str) -> Result<(), String> {
        if self.places.hiera_yaml.is_some() {
            return Ok(());
        }
        is_environment(&self.environment, folder)
    }

    /// The sources of the nodes in a workspace.
    pub(super) fn request<'a>(
        &'a self,
        project: &'a Project,
        puppet: (&'a Settings, &'a ConfigCache),
    ) -> NodeRequest<'a> {
        self.nodes.request(&self.environment, project, puppet)
    }
}

impl PlaceArguments {
    /// The workspace's folder, absolute: the named one, else the one around the current folder.
    ///
    /// # Errors
    /// There is none of that name.
    pub(super) fn folder(&self) -> Result<String, String> {
        match &self.workspace {
            Some(named) => workspace_folder(named),
            None => {
                let here = disk::absolute(".");
                let around = disk::workspace_around(&here);
                Ok(around.map_or(here, |around| around.to_string()))
            }
        }
    }

    /// Opens the workspace.
    ///
    /// # Errors
    /// A mistake in its configuration, or a missing hierarchy or folder of a flag.
    pub(super) fn open(&self) -> Result<Opened, String> {
        self.open_in(self.folder()?)
    }

    /// Opens the workspace in a folder, absolute.
    ///
    /// # Errors
    /// The same.
    fn open_in(&self, folder: String) -> Result<Opened, String> {
        let project = disk::project(&folder).whole();
        let project = project.map_err(|error| error.to_string())?;
        Ok(Opened {
            files: self.files(&project)?,
            folder,
            project,
        })
    }

    /// The settings about files: from the flags, else from the workspace's configuration.
    ///
    /// # Errors
    /// A missing hierarchy or folder of a flag.
    pub(super) fn files(&self, project: &Project) -> Result<FileSettings, String> {
        let mut files = project.of_files();
        if let Some(given) = &self.hiera_config {
            let at = disk::absolute(given);
            if DiskFiles::new().kind(&at) != Some(FileKind::File) {
                return Err(format!("{given}: no such hierarchy"));
            }
            files.global_hiera_yaml = Some(Arc::from(at));
        }
        if let Some(given) = &self.hiera_yaml {
            let root = chosen_root(&disk::absolute(given), None);
            if DiskFiles::new().kind(&root.hiera_yaml) != Some(FileKind::File) {
                return Err(format!("{given}: no such hierarchy"));
            }
            files.chosen.insert(0, root);
        }
        for (deployed, here) in &self.path_map {
            if DiskFiles::new().kind(here) != Some(FileKind::Directory) {
                return Err(format!("{}: no such folder", shown(here)));
            }
            let is_other = |(known, _): &(Arc<str>, Arc<str>)| **known != **deployed;
            files.path_map.retain(is_other);
            let pair = (deployed.as_str().into(), here.as_str().into());
            files.path_map.push(pair);
        }
        let by_length = |(deployed, _): &(Arc<str>, Arc<str>)| std::cmp::Reverse(deployed.len());
        files.path_map.sort_by_key(by_length);
        Ok(files)
    }
}

/// The folder that `--workspace` names, absolute.
///
/// # Errors
/// There is none.
pub(super) fn workspace_folder(named: &str) -> Result<String, String> {
    let folder = disk::absolute(named);
    match DiskFiles::new().kind(&folder) {
        Some(FileKind::Directory) => Ok(folder),
        Some(FileKind::File) => Err(format!(
            "{}: a file, where a folder is expected",
            shown(&folder)
        )),
        None => Err(format!("{}: no such folder", shown(&folder))),
    }
}

impl Opened {
    pub(super) fn read(&self) -> Arc<Snapshot> {
        read(&self.folder, &self.files)
    }

    /// The other side of a comparison: a revision, unless the text can only be a folder. An ambiguous text is an
    /// error, as in git.
    ///
    /// # Errors
    /// It is neither, or both.
    pub(super) fn compared(&self, against: &str) -> Result<Checkout, String> {
        let kind = DiskFiles::new().kind(&disk::absolute(against));
        let is_folder = kind == Some(FileKind::Directory);
        // No name of a revision begins so.
        if against.starts_with(['.', '/']) {
            return if is_folder {
                Ok(self.other(against))
            } else {
                Err(format!("{against}: no such folder"))
            };
        }
        match self.revision(against) {
            Ok(_) if is_folder => Err(format!(
                "'{against}' is a revision and a folder: name the folder './{against}', or the \
                 revision by its full name"
            )),
            Err(_) if is_folder => Ok(self.other(against)),
            read => read,
        }
    }

    /// Another folder's workspace, with its own settings.
    fn other(&self, folder: &str) -> Checkout {
        let folder = disk::absolute(folder);
        let files = FileSettings {
            global_hiera_yaml: self.files.global_hiera_yaml.clone(),
            ..disk::project(&folder).project.of_files()
        };
        checkout(&folder, &files)
    }

    /// The workspace as of a revision of its git repository.
    #[cfg(feature = "git")]
    fn revision(&self, revision: &str) -> Result<Checkout, String> {
        let folder = self.folder.clone();
        let mut progress = ProgressLine::new();
        progress.show(&format!("reading {revision}"));
        match disk::snapshot_of_revision(&folder, revision, &self.files) {
            Ok(snapshot) => Ok(Checkout {
                snapshot,
                folder,
                with_manifests: OnceLock::new(),
            }),
            Err(error) => Err(error.message),
        }
    }

    #[cfg(not(feature = "git"))]
    fn revision(&self, _: &str) -> Result<Checkout, String> {
        Err("this program was built without git".to_string())
    }
}

/// Reads a folder with its settings; the duration is logged.
pub(super) fn read(folder: &str, files: &FileSettings) -> Arc<Snapshot> {
    let read = || match console::call() {
        Some(call) => call.kept.snapshot(folder, files),
        None => disk::snapshot_with(folder, files),
    };
    opened_by("read", folder, &read)
}

/// Lists a folder with its settings, for answers that need few of its texts.
pub(super) fn list(folder: &str, files: &FileSettings) -> Arc<Snapshot> {
    opened_by("listed", folder, &|| disk::listed_with(folder, files))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the command line looks at the clock"
)]
fn opened_by(how: &str, folder: &str, open: &dyn Fn() -> Arc<Snapshot>) -> Arc<Snapshot> {
    let began = std::time::Instant::now();
    let mut progress = ProgressLine::new();
    progress.show(&format!("reading {}", shown(folder)));
    let snapshot = open();
    tracing::info!(
        "{how} {} of {folder} in {} ms",
        what_was_read(&snapshot),
        began.elapsed().as_millis()
    );
    snapshot
}

/// The workspace and nodes of the flags, loaded.
pub(super) struct Loaded {
    pub(super) here: Checkout,
    pub(super) nodes: KnownNodes,
    settings: Settings,
    configs: ConfigCache,
    opened: Opened,
    environment: Arc<str>,
}

pub(super) struct Checkout {
    /// The folder, absolute.
    pub(super) folder: String,
    pub(super) snapshot: Arc<Snapshot>,
    /// The nodes with the variables that the manifests of its environment set, if they set any.
    with_manifests: OnceLock<Option<KnownNodes>>,
}

/// Reads the workspace, the nodes (at least one) and the settings. `names` are nodes that the
/// command is for: names that `.hiera-ls.yaml` gives a meaning become nodes.
pub(super) fn load(arguments: &WorkspaceArguments, names: &[&str]) -> Result<Loaded, String> {
    let loaded = load_with_any_nodes(arguments, names)?;
    if loaded.nodes.is_empty() {
        Err(loaded.without_nodes())
    } else {
        Ok(loaded)
    }
}

/// The same, also without any node.
pub(super) fn load_with_any_nodes(
    arguments: &WorkspaceArguments,
    names: &[&str],
) -> Result<Loaded, String> {
    load_with(arguments, |request, snapshot, place| {
        let mut nodes = request.known(snapshot, place)?.nodes.clone();
        for &name in names {
            if nodes.get(name).is_none()
                && let Some(node) = request.named_node(name)
            {
                nodes.insert(node);
            }
        }
        Ok(nodes)
    })
}

/// The same for a command that is for one node.
pub(super) fn load_with_node(arguments: &WorkspaceArguments, name: &str) -> Result<Loaded, String> {
    let with_node = |request: &NodeRequest<'_>, snapshot: &Snapshot, place: &str| {
        request.with_node(snapshot, place, name)
    };
    load_with(arguments, with_node)
}

/// The workspace as it would be after a change, with its nodes then (at least one), and as it is.
pub(super) fn load_proposed(
    arguments: &WorkspaceArguments,
    change: &Change,
) -> Result<(Loaded, Checkout), String> {
    let opened = arguments.open()?;
    let unchanged = checkout(&opened.folder, &opened.files);
    let here = Checkout {
        snapshot: Arc::new(unchanged.snapshot.with(change.clone())),
        folder: unchanged.folder.clone(),
        with_manifests: OnceLock::new(),
    };
    let loaded = load_from(arguments, opened, here, |request, snapshot, place| {
        Ok(request.known(snapshot, place)?.nodes.clone())
    })?;
    if loaded.nodes.is_empty() {
        return Err(loaded.without_nodes());
    }
    Ok((loaded, unchanged))
}

fn load_with(
    arguments: &WorkspaceArguments,
    find: impl FnOnce(&NodeRequest<'_>, &Snapshot, &str) -> Result<Nodes, String>,
) -> Result<Loaded, String> {
    let opened = arguments.open()?;
    let here = checkout(&opened.folder, &opened.files);
    load_from(arguments, opened, here, find)
}

fn load_from(
    arguments: &WorkspaceArguments,
    opened: Opened,
    here: Checkout,
    find: impl FnOnce(&NodeRequest<'_>, &Snapshot, &str) -> Result<Nodes, String>,
) -> Result<Loaded, String> {
    let environment = &arguments.environment;
    let settings = arguments.puppet.settings(&opened.project);
    let configs = ConfigCache::default();
    let request = arguments.request(&opened.project, (&settings, &configs));
    let place = place_of(&here.snapshot, &here.folder, environment);
    let nodes = find(&request, &here.snapshot, &place)?;
    Ok(Loaded {
        here,
        nodes: KnownNodes::in_environment(&nodes, environment),
        settings,
        configs,
        opened,
        environment: Arc::from(environment.as_str()),
    })
}

/// The error for a folder without a hierarchy.
pub(super) fn no_hierarchy(folder: &str) -> String {
    let folder = if disk::absolute(".") == folder {
        "."
    } else {
        shown(folder)
    };
    format!("no hierarchy at or below {folder}: name one with --hiera-yaml FILE")
}

/// The folder of the hierarchy for a workspace folder, existing or not; nodes are looked for there.
pub(super) fn place_of(snapshot: &Snapshot, folder: &str, environment: &str) -> String {
    let root = root_for(snapshot, folder, environment);
    path::join(root.map_or(folder, |root| &root.dir), HIERA_YAML)
}

/// Reads a folder with its settings.
fn checkout(folder: &str, files: &FileSettings) -> Checkout {
    Checkout {
        snapshot: read(folder, files),
        folder: folder.to_owned(),
        with_manifests: OnceLock::new(),
    }
}

impl Loaded {
    /// Why no node is known. Without a hierarchy nodes would not help, and nodes from file names
    /// are found through it.
    fn without_nodes(&self) -> String {
        let view = match self.root(&self.here) {
            Ok(view) => view,
            Err(message) => return message,
        };
        match view.session().outline(&view.layer) {
            Err(error) => with_shown_files(&error.words()),
            Ok(_) => format!(
                "no nodes are known: name a file with --nodes, or keep a nodes.json in {}",
                shown(&self.here.folder)
            ),
        }
    }

    /// The upgrade of the nodes from one version of Puppet to another, with the settings of the
    /// workspace's configuration; by default from its version, else from 7. `checkout` is the workspace,
    /// as it is or after edits.
    pub(super) fn upgrade<'a>(
        &'a self,
        checkout: &'a Checkout,
        puppet: &PuppetArguments,
        to: PuppetVersion,
    ) -> Result<Upgrade<'a>, String> {
        let Some(root) = checkout.root(&self.environment) else {
            return Err(no_hierarchy(&checkout.folder));
        };
        let project = &self.opened.project;
        let from = puppet.puppet_version.or(project.puppet_version);
        let from = from.unwrap_or(PuppetVersion::V7);
        if from >= to {
            let [from, to] = [from, to].map(u8::from);
            return Err(format!(
                "{from} to {to} is no upgrade: name the versions with --from and --to"
            ));
        }
        let settings = |version| puppet.with_version(Some(version)).settings(project);
        let place = (&*checkout.snapshot, root, &*self.environment);
        Ok(Upgrade::new(place, &self.nodes, settings, (from, to)))
    }

    /// The workspace after edits.
    pub(super) fn checkout_with(&self, snapshot: Arc<Snapshot>) -> Checkout {
        Checkout {
            folder: self.here.folder.clone(),
            snapshot,
            with_manifests: OnceLock::new(),
        }
    }

    /// The settings of Puppet.
    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Prints a note if only the names of nodes are known.
    pub(super) fn note_known_nodes(&self) {
        if self.nodes.is_empty() {
            remark(
                "note: no nodes are known, so answers are listed by fact: see 'hiera-ls doctor'",
            );
        }
        if self.nodes.are_names() {
            remark(&format!("note: {NO_FACTS}; see 'hiera-ls doctor'"));
        }
    }

    /// Node names from the data files of another checkout that are missing in this one, if only
    /// names are known.
    pub(super) fn gone_from(
        &self,
        there: &Checkout,
        arguments: &WorkspaceArguments,
    ) -> Result<Vec<Arc<str>>, String> {
        if !self.nodes.are_names() {
            return Ok(Vec::new());
        }
        let project = &self.opened.project;
        let request = arguments.request(project, (&self.settings, &self.configs));
        let place = place_of(&there.snapshot, &there.folder, &arguments.environment);
        let known = request.known(&there.snapshot, &place)?;
        let names = known.nodes.all().iter().map(|node| node.certname.clone());
        Ok(names
            .filter(|name| self.nodes.find(name).is_none())
            .collect())
    }

    /// The other side of a comparison: see [`Opened::compared`].
    pub(super) fn compared(&self, against: &str) -> Result<Checkout, String> {
        self.opened.compared(against)
    }

    /// All roots of a checkout.
    pub(super) fn views<'a>(&'a self, checkout: &'a Checkout) -> Vec<RootView<'a>> {
        let snapshot = &checkout.snapshot;
        let analysis = self.analysis(snapshot, &self.nodes);
        let roots = snapshot.roots().iter();
        roots.map(|root| analysis.at(root)).collect()
    }

    /// The root of a checkout whose hierarchy is used.
    pub(super) fn root<'a>(&'a self, checkout: &'a Checkout) -> Result<RootView<'a>, String> {
        self.root_in(checkout, &self.environment)
    }

    /// The same for an environment by name.
    pub(super) fn root_in<'a>(
        &'a self,
        checkout: &'a Checkout,
        environment: &str,
    ) -> Result<RootView<'a>, String> {
        let Some(root) = checkout.root(environment) else {
            return Err(no_hierarchy(&checkout.folder));
        };
        let snapshot = &checkout.snapshot;
        let with_manifests =
            || with_manifest_variables(&self.nodes, snapshot, root, &self.settings);
        let nodes = checkout.with_manifests.get_or_init(with_manifests).as_ref();
        let nodes = nodes.unwrap_or(&self.nodes);
        let analysis = self.analysis(snapshot, nodes);
        Ok(analysis.with_environment(&self.environment).at(root))
    }

    fn analysis<'a>(&'a self, snapshot: &'a Snapshot, nodes: &'a KnownNodes) -> Analysis<'a> {
        Analysis {
            is_cancelled: &console::is_cancelled,
            ..Analysis::new(snapshot, &self.settings, &self.configs, nodes)
        }
    }
}

impl Checkout {
    /// The environment in the folder, or the module that it is.
    fn root(&self, environment: &str) -> Option<&Root> {
        root_for(&self.snapshot, &self.folder, environment)
    }
}
