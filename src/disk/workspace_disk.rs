//! One checkout as the command line sees it: the disk, with deployed paths mapped onto it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use super::{DiskFiles, Ignore, scan};
use crate::value::{LoadError, PlainOutline};
use crate::workspace::{
    Change, DataFile, Entry, FileKind, Files, Format, OneValue, Settings, Snapshot, Workspace,
    map_onto_environment, path,
};

/// The files of this machine, read when they are asked for; absolute data directories that name
/// the deployed place of the checkout mean the checkout. It is meant for a few lookups of one
/// moment: single keys are told from a file's text as it was when its first key was asked for.
#[derive(Debug)]
pub struct WorkspaceDisk {
    disk: DiskFiles,
    root: Arc<str>,
    /// What stands in the data files by path; none for files that must be loaded as a whole.
    outlines: Mutex<HashMap<Box<str>, Option<Arc<PlainOutline>>>>,
}

impl WorkspaceDisk {
    /// The checkout in the folder `root`, absolute.
    #[must_use]
    pub fn new(root: &str) -> WorkspaceDisk {
        WorkspaceDisk {
            disk: DiskFiles::new(),
            root: Arc::from(root),
            outlines: Mutex::default(),
        }
    }

    /// The keys of a plain YAML file.
    fn outline(&self, path: &str) -> Option<Arc<PlainOutline>> {
        let outlines = || self.outlines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = outlines().get(path) {
            return known.clone();
        }
        let bytes = super::batch::bytes(path).ok();
        let outline = bytes.and_then(PlainOutline::of).map(Arc::new);
        outlines().insert(Box::from(path), outline.clone());
        outline
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

    fn entry(&self, path: &str, key: &str, format: Format) -> Entry {
        if format != Format::Yaml {
            return Entry::Unknown;
        }
        let Some(outline) = self.outline(path) else {
            return Entry::Unknown;
        };
        match outline.get(key) {
            Some(value) => Entry::Value(Arc::new(OneValue::new(value))),
            None => Entry::Absent,
        }
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
