//! A workspace that stays read between answers, and whose files are looked at again before each.

use std::sync::{Arc, Mutex, PoisonError};

use super::folder::open;
use super::ignore::{DataFolders, Ignore};
use super::scan::{reread, scan};
use super::stamps::{Stamps, look};
use crate::workspace::{FileSettings, Snapshot, Workspace};

/// One folder, which is read when it is first asked for. Symbolic links that lead out of it count as lost.
#[derive(Default)]
pub struct KeptFolder(Mutex<Option<KeptFiles>>);

/// What was read, and its state then.
struct KeptFiles {
    folder: Arc<str>,
    settings: FileSettings,
    workspace: Workspace,
    areas: Vec<Arc<str>>,
    ignore: Ignore,
    data_folders: DataFolders,
    seen: Stamps,
}

impl KeptFolder {
    /// The folder as it is now.
    #[must_use]
    pub fn snapshot(&self, folder: &str, settings: &FileSettings) -> Arc<Snapshot> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = kept.take();
        let same = same.filter(|kept| *kept.folder == *folder && kept.settings == *settings);
        let now = match same {
            Some(mut kept) => {
                kept.look_again();
                kept
            }
            None => KeptFiles::read(folder, settings),
        };
        let snapshot = now.workspace.snapshot();
        *kept = Some(now);
        snapshot
    }
}

impl KeptFiles {
    fn read(folder: &str, settings: &FileSettings) -> KeptFiles {
        let workspace = Workspace::new();
        let areas = open(&workspace, folder, settings).areas().to_vec();
        let ignore = Ignore::default().without_links_outside();
        // What changes while files are read differs from what is seen before.
        let seen = look(&areas, &ignore);
        let go_on = |_| std::ops::ControlFlow::Continue(());
        let scanned = scan(&areas, &ignore, &go_on);
        for problem in &scanned.problems {
            tracing::warn!("{}: {}", problem.path, problem.message);
        }
        workspace.apply(scanned.change);
        KeptFiles {
            folder: Arc::from(folder),
            settings: settings.clone(),
            workspace,
            areas,
            ignore,
            data_folders: scanned.data_folders,
            seen,
        }
    }

    /// Reads again what has changed.
    fn look_again(&mut self) {
        let now = look(&self.areas, &self.ignore);
        let changed: Vec<Arc<str>> = self.seen.changed(&now).into_iter().collect();
        self.seen = now;
        if !changed.is_empty() {
            let (areas, ignore) = (&self.areas, &self.ignore);
            let change = reread(&changed, areas, ignore, &mut self.data_folders);
            self.workspace.apply(change);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    /// The files with their texts, and the broken links.
    fn state(snapshot: &Snapshot) -> Vec<String> {
        let files = snapshot.files();
        let mut all: Vec<String> = files
            .map(|file| format!("{} {}", snapshot.short_name(file.path()), file.text()))
            .collect();
        all.sort();
        all
    }

    #[test]
    fn every_change_on_the_disk_is_seen_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret.yaml"), "secret: 1\n").unwrap();
        let at = |name: &str| folder.path().join(name);
        let real = folder.path().canonicalize().unwrap();
        let name = real.to_str().unwrap();
        let kept = KeptFolder::default();
        let now = || state(&kept.snapshot(name, &FileSettings::default()));
        fs::create_dir(at("data")).unwrap();
        fs::write(at("hiera.yaml"), "version: 5\n").unwrap();
        fs::write(at("data/a.yaml"), "a: 1\n").unwrap();
        assert_eq!(now(), ["data/a.yaml a: 1\n", "hiera.yaml version: 5\n"]);
        // The same length, within one step of the file system's clock.
        for value in 2..9 {
            fs::write(at("data/a.yaml"), format!("a: {value}\n")).unwrap();
            assert_eq!(now()[0], format!("data/a.yaml a: {value}\n"));
        }
        fs::create_dir(at("data/n")).unwrap();
        fs::write(at("data/n/b.yaml"), "b: 1\n").unwrap();
        fs::rename(at("data/a.yaml"), at("data/c.yaml")).unwrap();
        let expected = [
            "data/c.yaml a: 8\n",
            "data/n/b.yaml b: 1\n",
            "hiera.yaml version: 5\n",
        ];
        assert_eq!(now(), expected);
        fs::remove_dir_all(at("data/n")).unwrap();
        std::os::unix::fs::symlink("c.yaml", at("data/d.yaml")).unwrap();
        let expected = [
            "data/c.yaml a: 8\n",
            "data/d.yaml a: 8\n",
            "hiera.yaml version: 5\n",
        ];
        assert_eq!(now(), expected);
        // A link that leads out, a folder behind one, and one that leads out after a change.
        fs::remove_file(at("data/d.yaml")).unwrap();
        let secret = outside.path().join("secret.yaml");
        std::os::unix::fs::symlink(&secret, at("data/d.yaml")).unwrap();
        std::os::unix::fs::symlink(outside.path(), at("data/e")).unwrap();
        assert_eq!(now(), ["data/c.yaml a: 8\n", "hiera.yaml version: 5\n"]);
        let fresh = KeptFolder::default().snapshot(name, &FileSettings::default());
        assert_eq!(now(), state(&fresh));
    }
}
