//! One checkout as the command line sees it: the disk, with deployed paths mapped onto it.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::{DiskFiles, Ignore, scan};
use crate::value::LoadError;
use crate::workspace::{
    Change, DataFile, FileKind, Files, Format, Settings, Snapshot, Workspace, map_onto_environment,
    path,
};

/// The files of this machine, read when they are asked for; absolute data directories that name
/// the deployed place of the checkout mean the checkout.
#[derive(Debug)]
pub struct WorkspaceDisk {
    disk: DiskFiles,
    root: Arc<str>,
}

impl WorkspaceDisk {
    /// The checkout in the folder `root`, absolute.
    #[must_use]
    pub fn new(root: &str) -> WorkspaceDisk {
        WorkspaceDisk {
            disk: DiskFiles::new(),
            root: Arc::from(root),
        }
    }
}

impl Files for WorkspaceDisk {
    fn kind(&self, path: &str) -> Option<FileKind> {
        self.disk.kind(path)
    }

    fn list(&self, folder: &str) -> Vec<(Arc<str>, FileKind)> {
        self.disk.list(folder)
    }

    fn is_link(&self, path: &str) -> bool {
        self.disk.is_link(path)
    }

    fn text(&self, path: &str) -> Result<Arc<str>, LoadError> {
        self.disk.text(path)
    }

    fn data(&self, path: &str, format: Format) -> Arc<DataFile> {
        self.disk.data(path, format)
    }

    fn resolve<'a>(&self, at: &'a str) -> Cow<'a, str> {
        if path::within(at, &self.root).is_some() {
            return Cow::Borrowed(at);
        }
        map_onto_environment(&self.disk, at, &self.root, &[]).map_or(Cow::Borrowed(at), Cow::Owned)
    }
}

/// A path from the command line, absolute and without `.` and `..`.
#[must_use]
pub fn absolute(at: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let full = here.join(at);
    path::normalise(&full.to_string_lossy())
}

/// The whole of one folder, read now.
#[must_use]
pub fn snapshot_of(folder: &str) -> Arc<Snapshot> {
    snapshot_with_global(folder, None)
}

/// The whole of one folder, read now, below the global layer of a configuration, whose folder is
/// read too.
#[must_use]
pub fn snapshot_with_global(folder: &str, global: Option<&str>) -> Arc<Snapshot> {
    let workspace = Workspace::new();
    read_areas(&workspace, folder, global)
}

/// Reads a folder, and that of the global layer, into a workspace.
pub(super) fn read_areas(
    workspace: &Workspace,
    folder: &str,
    global: Option<&str>,
) -> Arc<Snapshot> {
    let settings = Settings {
        global_hiera_yaml: global.map(Arc::from),
        ..Settings::default()
    };
    let opened = workspace.apply(Change::Batch(vec![
        Change::Folders(vec![Arc::from(folder)]),
        Change::Settings(settings),
    ]));
    let go_on = |_| ControlFlow::Continue(());
    let scanned = scan(opened.areas(), &Ignore::default(), &go_on);
    for problem in &scanned.problems {
        tracing::warn!("{}: {}", problem.path, problem.message);
    }
    workspace.apply(scanned.change)
}
