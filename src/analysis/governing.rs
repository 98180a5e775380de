//! Which hierarchy governs a file: in a snapshot, and by the folders around it for a file outside of
//! every snapshot.

use std::sync::Arc;

use super::{Analysis, RootView};
use crate::lookup::Place;
use crate::workspace::{
    ENVIRONMENT_CONF, ENVIRONMENTS, File, FileKind, Files, HIERA_YAML, MODULE_FOLDERS, Root,
    RootKind, path,
};

impl<'a> Analysis<'a> {
    /// The root whose hierarchy reads a file: the innermost around it, else the environment whose data
    /// lies in a folder that is a root of its own, else the best of those that have their data around
    /// the file. None for a file outside of every root and every data directory.
    #[must_use]
    pub fn governing(self, path: &str) -> Option<RootView<'a>> {
        let roots = self.snapshot.roots();
        let own = roots.of(path);
        let of_own = own.filter(|root| root.kind != RootKind::Environment);
        let environments = of_own
            .into_iter()
            .flat_map(|root| roots.environments_of(root));
        let around = roots.with_data_around(path);
        let mut first = own;
        for root in own.into_iter().chain(environments).chain(around) {
            let view = self.at(root);
            if !view.reach(path).is_empty() {
                return Some(view);
            }
            first = first.or(Some(root));
        }
        first.map(|root| self.at(root))
    }

    /// The root that answers for a file or a folder: the governing one, else the first environment.
    #[must_use]
    pub fn answering(self, path: &str) -> Option<RootView<'a>> {
        let first = || self.snapshot.roots().environments().next();
        self.governing(path).or_else(|| Some(self.at(first()?)))
    }

    /// Whether a file is data that some hierarchy reads with a reader of Puppet's own, or the
    /// configuration of a hierarchy. O(levels).
    #[must_use]
    pub fn reads(self, path: &str) -> bool {
        HieraFiles::of(self).contains(path)
    }
}

/// The files of a workspace that mean something to Hiera.
pub struct HieraFiles<'a> {
    analysis: Analysis<'a>,
    roots: Vec<(&'a Root, Arc<[Place]>)>,
}

impl<'a> HieraFiles<'a> {
    /// O(roots), with the locations of each root's hierarchy.
    #[must_use]
    pub fn of(analysis: Analysis<'a>) -> HieraFiles<'a> {
        HieraFiles::of_roots(analysis, analysis.snapshot.roots().iter())
    }

    /// The files that are looked up together with the file at `path`: those of the environments that it
    /// belongs to, with their modules and the global layer. Of every root for a file outside of all.
    #[must_use]
    pub fn beside(analysis: Analysis<'a>, path: &str) -> HieraFiles<'a> {
        let Some(own) = analysis.answering(path).map(|view| view.root) else {
            return HieraFiles::of(analysis);
        };
        let all = analysis.snapshot.roots();
        let environments: Vec<&str> = all.environments_of(own).map(|root| &*root.dir).collect();
        let is_beside = |root: &&Root| {
            let mut theirs = all.environments_of(root);
            root.dir == own.dir || theirs.any(|root| environments.contains(&&*root.dir))
        };
        HieraFiles::of_roots(analysis, all.iter().filter(is_beside))
    }

    fn of_roots(analysis: Analysis<'a>, roots: impl Iterator<Item = &'a Root>) -> HieraFiles<'a> {
        let with_places = roots.map(|root| {
            let view = analysis.at(root);
            (root, view.places(&view.layer))
        });
        HieraFiles {
            roots: with_places.collect(),
            analysis,
        }
    }

    /// The configurations of the hierarchies.
    pub fn configurations(&self) -> impl Iterator<Item = &'a Arc<File>> {
        let paths = self
            .roots
            .iter()
            .filter_map(|(root, _)| root.hiera_yaml.as_deref());
        paths.filter_map(|path| self.analysis.snapshot.file(path))
    }

    /// Whether a file lies in one of the environments and modules, as manifests do.
    #[must_use]
    pub fn has_code(&self, path: &str) -> bool {
        let root = self.analysis.snapshot.root_of(path);
        root.is_some_and(|root| self.roots.iter().any(|(known, _)| known.dir == root.dir))
    }

    /// Whether a file is data that some hierarchy reads with a reader of Puppet's own, or the
    /// configuration of a hierarchy. O(levels).
    #[must_use]
    pub fn contains(&self, path: &str) -> bool {
        let mut roots = self.roots.iter();
        self.analysis.snapshot.file(path).is_some()
            && roots.any(|(root, places)| {
                let files = self.analysis.snapshot.files_for(root);
                let mut places = places.iter();
                root.hiera_yaml.as_deref() == Some(path)
                    || places.any(|place| place.reading.is_some() && place.reads(path, &files))
            })
    }
}

/// Most folders above a file that are searched.
const MOST_ABOVE: usize = 64;

/// The folders that say what the data in a folder means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Governing {
    /// The nearest folder at or above it with a `hiera.yaml` or an `environment.conf`.
    pub hierarchy: Arc<str>,
    /// The environment around that: another folder where the hierarchy is a module's.
    pub environment: Arc<str>,
}

/// Searches upward from a folder; none where no folder above has a hierarchy. Asks for two files in
/// each folder.
///
/// The top of the disk and `home` are passed over: what lies in them by accident must not have a
/// whole disk read.
#[must_use]
pub fn governing(files: &dyn Files, folder: &str, home: &str) -> Option<Governing> {
    let is_too_wide = |at: &str| at == "/" || at == home.trim_end_matches('/');
    let has = |at: &str, name: &str| files.kind(&path::join(at, name)) == Some(FileKind::File);
    let above = std::iter::successors(Some(folder), |at| path::parent(at)).take(MOST_ABOVE);
    let hierarchy = above
        .filter(|at| !is_too_wide(at))
        .find(|at| has(at, HIERA_YAML) || has(at, ENVIRONMENT_CONF))?;
    let around = path::parent(hierarchy).and_then(|modules| {
        let environment = path::parent(modules).filter(|at| !is_too_wide(at))?;
        let by_convention = MODULE_FOLDERS.contains(&path::name(modules));
        let is_environment =
            has(environment, ENVIRONMENT_CONF) || (by_convention && has(environment, HIERA_YAML));
        // An `environments` folder has environments in it, not modules.
        let is_codedir = path::name(modules) == ENVIRONMENTS;
        (is_environment && !is_codedir).then_some(environment)
    });
    Some(Governing {
        hierarchy: Arc::from(hierarchy),
        environment: Arc::from(around.unwrap_or(hierarchy)),
    })
}
