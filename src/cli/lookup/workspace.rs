//! The workspace that answers a lookup, with what it names on this machine outside of it, as
//! `puppet lookup` reads it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::LookupArguments;
use crate::analysis::{Analysis, RootView, datadir_of, layers_of, root_for};
use crate::cli::console;
use crate::cli::workspace::{Opened, list, no_hierarchy, read};
use crate::disk::DiskFiles;
use crate::lookup::{AGENT_MODULES, CODEDIR, ConfigCache, Request, Settings};
use crate::scope::KnownNodes;
use crate::workspace::{
    ENVIRONMENTS, FileKind, FileSettings, Files as _, HIERA_YAML, Snapshot, path,
};

/// Puppet's settings, and cached configurations.
pub(super) type Puppet<'a> = (&'a Settings, &'a ConfigCache);

pub(super) struct LookupWorkspace {
    /// The workspace's folder, absolute.
    folder: String,
    pub(super) snapshot: Arc<Snapshot>,
}

impl LookupWorkspace {
    /// Opens the workspace, and the modules and data directories outside of it that exist here.
    pub(super) fn open(
        opened: &Opened,
        arguments: &LookupArguments,
        request: &Request,
        puppet: Puppet<'_>,
    ) -> Result<LookupWorkspace, String> {
        if console::call().is_some() {
            // A client is not trusted with what is outside.
            return Ok(LookupWorkspace {
                snapshot: opened.read(),
                folder: opened.folder.clone(),
            });
        }
        let mut files = with_modules_of_puppet(&opened.files);
        let workspace = LookupWorkspace::read(opened, arguments, &files);
        let no_nodes = KnownNodes::default();
        let outside = outside_dirs(
            &workspace.view(arguments, puppet, &no_nodes)?,
            &request.names,
        );
        if outside.is_empty() {
            return Ok(workspace);
        }
        files.folders.extend(outside);
        Ok(LookupWorkspace::read(opened, arguments, &files))
    }

    /// A lookup for one node reads few files, if the hierarchy is where Puppet looks for it.
    /// Otherwise every file may be a hierarchy.
    fn read(opened: &Opened, arguments: &LookupArguments, files: &FileSettings) -> LookupWorkspace {
        let folder = opened.folder.clone();
        let is_for_one = arguments
            .workspace
            .nodes
            .are_for_one(arguments.node.as_deref());
        if is_for_one && files.chosen.is_empty() {
            let snapshot = list(&folder, files);
            let listed = LookupWorkspace { folder, snapshot };
            if listed.has_hierarchy_in_place(&arguments.workspace.environment) {
                return listed;
            }
        }
        LookupWorkspace {
            snapshot: read(&opened.folder, files),
            folder: opened.folder.clone(),
        }
    }

    fn has_hierarchy_in_place(&self, environment: &str) -> bool {
        let Some(root) = root_for(&self.snapshot, &self.folder, environment) else {
            return false;
        };
        let own = path::join(&root.dir, HIERA_YAML);
        let config = self.snapshot.file(&own);
        let config = config.and_then(|file| file.facts().config.as_ref());
        let nested = path::join(&path::join(&self.folder, ENVIRONMENTS), environment);
        let is_here = [&*self.folder, &nested].contains(&&*root.dir);
        // Version 3 is only for the global layer, so its file belongs elsewhere.
        is_here
            && root.hiera_yaml.as_deref() == Some(&*own)
            && config.is_none_or(|config| config.version != 3)
    }

    /// The workspace from the root that answers.
    pub(super) fn view<'a>(
        &'a self,
        arguments: &'a LookupArguments,
        (settings, configs): Puppet<'a>,
        nodes: &'a KnownNodes,
    ) -> Result<RootView<'a>, String> {
        let Some(root) = root_for(
            &self.snapshot,
            &self.folder,
            &arguments.workspace.environment,
        ) else {
            return Err(no_hierarchy(&self.folder));
        };
        let analysis = Analysis {
            is_cancelled: &console::is_cancelled,
            ..Analysis::new(&self.snapshot, settings, configs, nodes)
        };
        Ok(analysis
            .with_environment(&arguments.workspace.environment)
            .at(root))
    }

    /// The path for which nodes are looked for.
    pub(super) fn place(&self, view: &RootView<'_>) -> String {
        path::join(&view.root.dir, HIERA_YAML)
    }
}

/// The settings with the folders of modules that Puppet searches everywhere, as far as they exist.
fn with_modules_of_puppet(files: &FileSettings) -> FileSettings {
    let mut files = files.clone();
    if files.base_modulepath.is_empty() {
        let all = [format!("{CODEDIR}/modules"), AGENT_MODULES.to_owned()];
        let here = all.into_iter().filter(|folder| is_folder(folder));
        files.base_modulepath = here.map(Arc::from).collect();
    }
    files
}

/// The folders of modules and data outside of the workspace that are on this machine.
fn outside_dirs(view: &RootView<'_>, keys: &[Arc<str>]) -> BTreeSet<Arc<str>> {
    let areas = view.analysis.snapshot.areas();
    let is_outside = |folder: &str| {
        let mut areas = areas.iter();
        areas.all(|area| path::within(folder, area).is_none())
    };
    let modules = view.environment.modulepath.iter();
    let modules = modules.filter(|folder| is_outside(folder)).cloned();
    let layers = keys.iter().flat_map(|key| layers_of(key));
    let places = layers.flat_map(|layer| view.session().known_places(&layer).to_vec());
    let places = places.filter(|place| view.analysis.is_outside(&place.template));
    let data = places.filter_map(|place| datadir_of(&place).map(Arc::from));
    let all = modules.chain(data);
    all.filter(|folder: &Arc<str>| is_folder(folder)).collect()
}

fn is_folder(at: &str) -> bool {
    DiskFiles::new().kind(at) == Some(FileKind::Directory)
}
