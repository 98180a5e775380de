//! The manifests that Puppet runs for every node of an environment: the `manifest` of
//! `environment.conf`, or else the folder `manifests`.

use std::sync::Arc;

use crate::workspace::{
    File, FileKind, Files, Root, Snapshot, environment_conf, map_onto_environment, path,
};

/// Maximum number of an environment's manifests that are run.
const MAX_MANIFESTS: usize = 500;

/// Manifests as files or paths.
#[derive(Default)]
pub(super) struct SiteFiles<F> {
    /// Available manifests, in Puppet's order.
    pub(super) files: Vec<F>,
    /// Why others are not available.
    pub(super) unseen: Option<Arc<str>>,
}

/// The manifests that Puppet runs for every node of an environment, in its order.
pub(super) fn manifests_of<'a>(
    snapshot: &'a Snapshot,
    environment: &Root,
) -> SiteFiles<&'a Arc<File>> {
    let setting = ManifestSetting::of(snapshot, &environment.dir);
    let file = |at: &str| snapshot.file(at);
    let at = setting.place.as_deref();
    let files: Vec<&Arc<File>> = match at.and_then(|at| snapshot.kind(at)) {
        Some(FileKind::Directory) => {
            let below = snapshot.paths_below(at.unwrap_or_default());
            let is_manifest = |at: &str| path::extension(at) == Some("pp");
            let manifests = below.iter().filter(|(at, _)| is_manifest(at));
            let files = manifests.filter_map(|(at, _)| file(at));
            files.take(MAX_MANIFESTS).collect()
        }
        Some(FileKind::File) | None => at.and_then(file).into_iter().collect(),
    };
    let unseen = setting.unseen().filter(|_| files.is_empty());
    SiteFiles { files, unseen }
}

/// Whether Puppet runs a manifest for every node of an environment. O(such manifests).
#[must_use]
pub fn is_site_manifest(snapshot: &Snapshot, environment: &Root, file: &File) -> bool {
    let files = manifests_of(snapshot, environment).files;
    files.iter().any(|it| it.path() == file.path())
}

/// The same for files outside of a snapshot: their paths.
pub(super) fn manifest_paths(files: &dyn Files, environment: &str) -> SiteFiles<Arc<str>> {
    let setting = ManifestSetting::of(files, environment);
    let mut paths = Vec::new();
    if let Some(at) = setting.place.as_deref() {
        match files.kind(at) {
            Some(FileKind::Directory) => add_manifests(files, at, &mut paths),
            Some(FileKind::File) => paths.push(Arc::from(at)),
            None => {}
        }
    }
    paths.sort();
    paths.truncate(MAX_MANIFESTS);
    let unseen = setting.unseen().filter(|_| paths.is_empty());
    let files = paths;
    SiteFiles { files, unseen }
}

/// The file or folder of an environment's manifests; `None` if unknown.
pub(super) fn site_manifest(snapshot: &Snapshot, environment: &Root) -> Option<String> {
    ManifestSetting::of(snapshot, &environment.dir).place
}

struct ManifestSetting {
    /// The setting in `environment.conf`, as written.
    named: Option<String>,
    /// The file or folder; `None` if unknown.
    place: Option<String>,
}

impl ManifestSetting {
    fn of(files: &dyn Files, dir: &str) -> ManifestSetting {
        let conf = files.text(&path::join(dir, "environment.conf"));
        let conf = conf.map(|text| environment_conf::parse(&text).manifest);
        let named = conf.ok().flatten();
        let place = match &named {
            Some(named) => ManifestSetting::place(files, dir, named),
            None => Some(path::join(dir, "manifests")),
        };
        ManifestSetting { named, place }
    }

    fn place(files: &dyn Files, dir: &str, named: &str) -> Option<String> {
        // A server's own folders, such as `$codedir`, are resolved only if its environments lie in
        // them.
        let named = named.replace("$environmentpath/", "/environments/");
        if !named.starts_with(['/', '$']) {
            return Some(path::normalise(&format!("{dir}/{named}")));
        }
        let here = map_onto_environment(files, &named, dir, &[]);
        here.or_else(|| (!named.contains('$')).then_some(named))
    }

    /// Why the manifests are not available, if none is at its place.
    fn unseen(&self) -> Option<Arc<str>> {
        let named = self.named.as_ref()?;
        Some(Arc::from(format!(
            "the manifest '{named}' of environment.conf is not here"
        )))
    }
}

fn add_manifests(files: &dyn Files, folder: &str, paths: &mut Vec<Arc<str>>) {
    for (name, kind) in files.list(folder) {
        let at = path::join(folder, &name);
        match kind {
            FileKind::Directory if !files.is_link(&at) => add_manifests(files, &at, paths),
            FileKind::File if path::extension(&at) == Some("pp") => paths.push(Arc::from(at)),
            FileKind::Directory | FileKind::File => {}
        }
    }
}
