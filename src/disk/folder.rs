//! One folder as the command line sees it: read at once, or as far as it is needed.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::native::{model, native};
use super::scan::{Scan, list};
use super::{Ignore, scan};
use crate::workspace::{Change, FileSettings, Snapshot, Workspace, path};

/// Fails if the current folder cannot be read, so that relative paths mean nothing: it may have been removed.
///
/// # Errors
/// The system's, in a sentence.
pub fn check_current_folder() -> Result<(), String> {
    let found = std::env::current_dir();
    found.map_or_else(
        |error| Err(format!("the current folder cannot be read: {error}")),
        |_| Ok(()),
    )
}

/// A path from the command line, absolute and without `.` and `..`.
#[must_use]
pub fn absolute(at: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let full = here.join(&*native(at));
    let full = model(&full).unwrap_or_else(|| full.to_string_lossy().into_owned());
    path::normalise(&full)
}

/// The whole of one folder, read now.
#[must_use]
pub fn snapshot_of(folder: &str) -> Arc<Snapshot> {
    snapshot_with(folder, &FileSettings::default())
}

/// The whole of one folder, read now, with settings; folders that these add are read too.
#[must_use]
pub fn snapshot_with(folder: &str, settings: &FileSettings) -> Arc<Snapshot> {
    let workspace = Workspace::new();
    read_areas(&workspace, folder, settings)
}

/// One folder with settings: its names are listed now, and a text is read when it is first asked
/// for. Only files called `hiera.yaml` are configurations of hierarchies.
#[must_use]
pub fn listed_with(folder: &str, settings: &FileSettings) -> Arc<Snapshot> {
    let workspace = Workspace::new();
    let opened = open(&workspace, folder, settings);
    apply(&workspace, list(opened.areas(), &Ignore::default()))
}

/// Reads a folder, and those that settings add, into a workspace.
pub(super) fn read_areas(
    workspace: &Workspace,
    folder: &str,
    settings: &FileSettings,
) -> Arc<Snapshot> {
    let opened = open(workspace, folder, settings);
    let go_on = |_| ControlFlow::Continue(());
    apply(workspace, scan(opened.areas(), &Ignore::default(), &go_on))
}

fn apply(workspace: &Workspace, scanned: Scan) -> Arc<Snapshot> {
    for problem in &scanned.problems {
        tracing::warn!("{}: {}", problem.path, problem.message);
    }
    workspace.apply(scanned.change)
}

/// Opens a folder whose files are not read yet.
pub(super) fn open(workspace: &Workspace, folder: &str, settings: &FileSettings) -> Arc<Snapshot> {
    workspace.apply(Change::Batch(vec![
        Change::Folders(vec![Arc::from(folder)]),
        Change::Settings(settings.clone()),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Analysis;
    use crate::lookup::{ConfigCache, PuppetVersion, Request, Settings};
    use crate::scope::{KnownNodes, Node};
    use crate::workspace::Change;

    const ACME: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/acme");

    /// The number of files that were read.
    fn read_files(snapshot: &Snapshot) -> usize {
        snapshot.files().filter(|file| file.is_read()).count()
    }

    /// What a snapshot knows of all texts.
    fn knowledge(snapshot: &Snapshot) -> String {
        let keys = snapshot.key_names("").map(|key| {
            let places = snapshot.definitions(key).into_iter();
            let places = places.map(|(file, fact)| format!("{}:{}", file.path(), fact.line));
            format!("{key}: {}\n", places.collect::<Vec<_>>().join(" "))
        });
        let roots = snapshot.roots().iter().map(|root| format!("{root:?}\n"));
        let refused = snapshot.refused_files().map(|file| file.path().to_string());
        keys.chain(roots).chain(refused).collect()
    }

    #[test]
    fn a_listed_folder_is_read_as_far_as_a_lookup_needs_it() {
        let snapshot = listed_with(ACME, &FileSettings::default());
        let configs = read_files(&snapshot);
        let settings = Settings::for_version(PuppetVersion::V8);
        let (caches, nodes) = (ConfigCache::default(), KnownNodes::default());
        let analysis = Analysis::new(&snapshot, &settings, &caches, &nodes);
        let root = snapshot.roots().in_folder(ACME).expect("an environment");
        let view = analysis.at(root);
        let scope = Node::named("web01.lon.acme.example").scope("production");
        let request = Request::key("profile::base::timezone").traced();
        let files = view.files().deployed();
        let session = analysis.session_over(&files, &view.environment);
        let _ = session.lookup(&scope, &request);
        let read = read_files(&snapshot);
        let all = snapshot.files().count();
        assert!(read > configs && read < all / 2, "{configs} {read} {all}");
        assert_eq!(knowledge(&snapshot), knowledge(&snapshot_of(ACME)));
        assert_eq!(read_files(&snapshot), all);
    }

    #[test]
    fn an_edit_of_a_listed_folder_equals_one_of_a_read_folder() {
        let at = format!("{ACME}/data/common.yaml");
        let edit = || Change::open(at.as_str(), "brand::new: 1\na: \"%{lookup('b')}\"\n");
        let [listed, read] = [
            listed_with(ACME, &FileSettings::default()),
            snapshot_of(ACME),
        ]
        .map(|snapshot| snapshot.with(edit()));
        assert_eq!(knowledge(&listed), knowledge(&read));
        let keys = |snapshot: &Snapshot| {
            let files = snapshot.delta().files.iter();
            let keys = files.map(|file| (file.path.clone(), format!("{:?}", file.keys())));
            keys.collect::<Vec<_>>()
        };
        assert_eq!(keys(&listed), keys(&read));
        let [listed, read] = [&listed, &read].map(Snapshot::saved);
        assert_eq!(knowledge(&listed), knowledge(&read));
    }
}
