//! The folders, settings and selected node of a session: their sources, and the effects of a
//! change.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Connection, Index, lock};
use crate::analysis::large_nodes_files;
use crate::disk;
use crate::server::context::named_files;
use crate::server::disk_reader::{NamedFiles, Seek, WatchedBy};
use crate::server::memory;
use crate::server::settings::{LogLevel, Origin, UserSettings, by_origin};
use crate::workspace::{Change, PROJECT_FILE, Snapshot, path};

/// Whether to repeat earlier searches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Repeat {
    /// No: only search for newly opened files.
    No,
    /// Yes: search for all files.
    Yes,
}

/// The sources of settings, in the order in which they override each other.
#[derive(Default)]
pub(super) struct Layers {
    pub(super) folders: Vec<String>,
    /// Folders of open files outside the workspace folders.
    adopted: Vec<String>,
    /// Folders of open files whose hierarchy has been searched for.
    sought: BTreeSet<Arc<str>>,
    configuration: Value,
    /// The last texts of the configurations in the workspace folders.
    projects: Vec<Option<Arc<str>>>,
    /// The turn at which the client reported that configuration, and the number of turns so far.
    configured: u64,
    turns: u64,
}

impl Connection {
    /// The current workspace folders, absolute, and the environments of open files outside them.
    pub(crate) fn folders(&self) -> Vec<String> {
        let layers = lock(&self.layers);
        let adopted = layers.adopted.iter();
        layers.folders.iter().chain(adopted).cloned().collect()
    }

    /// Searches for the environments that govern open files outside the workspace folders, after
    /// open files have changed, or (with `repeat`) after hierarchies may have changed.
    pub(crate) fn seek(&self, repeat: Repeat) {
        let open: BTreeSet<Arc<str>> = self
            .documents()
            .paths()
            .iter()
            .filter_map(|file| path::parent(file).map(Arc::from))
            .collect();
        let mut layers = lock(&self.layers);
        if repeat == Repeat::No && open == layers.sought {
            return;
        }
        let is_new = repeat == Repeat::Yes || !open.is_subset(&layers.sought);
        layers.sought.clone_from(&open);
        let folders = layers.folders.clone();
        drop(layers);
        self.disk.seek(Seek { open, folders }, || {
            if is_new {
                // The meaning of an open file is unknown before its environment is read.
                self.begin_reading();
            }
        });
    }

    fn begin_reading(&self) {
        let start = Index::Reading { read: 0, total: 0 };
        self.index.send_replace(start);
    }

    /// Adds the environments of open files outside the workspace folders.
    pub(crate) fn adopt(&self, adopted: Vec<String>) {
        let before = std::mem::replace(&mut lock(&self.layers).adopted, adopted.clone());
        if before != adopted {
            self.send_folders();
        }
    }

    /// Removes folders and adds others, in the model too, and reads the new ones.
    pub(crate) fn change_folders(&self, removed: &[String], added: Vec<String>) {
        {
            let mut layers = lock(&self.layers);
            layers.folders.retain(|folder| !removed.contains(folder));
            for folder in added {
                if !layers.folders.contains(&folder) {
                    layers.folders.push(folder);
                }
            }
        }
        self.read_settings();
        self.send_folders();
        self.seek(Repeat::Yes);
    }

    /// Passes the folders to the model, and starts reading them.
    pub(crate) fn send_folders(&self) {
        let folders = self.folders();
        let shared = folders.iter().map(|folder| folder.as_str().into());
        self.model.change(Change::Folders(shared.collect()));
        self.rescan();
    }

    pub(crate) fn rescan(&self) {
        if self.folders().is_empty()
            && self.settings().of_files() == crate::workspace::FileSettings::default()
        {
            return;
        }
        let watched_by = if self.facts().watches {
            WatchedBy::Client(lock(&self.layers).folders.clone())
        } else {
            WatchedBy::Us
        };
        self.disk.scan(watched_by, || self.begin_reading());
    }

    /// The position of a request for the settings' section among all of them.
    pub(crate) fn turn(&self) -> u64 {
        let mut layers = lock(&self.layers);
        layers.turns += 1;
        layers.turns
    }

    /// Applies the section's content as the client reported it at a [`Connection::turn`]. The
    /// client's answers are handled in separate tasks: a late older one is dropped.
    pub(crate) fn configure(&self, turn: u64, configuration: Value) {
        {
            let mut layers = lock(&self.layers);
            if turn < layers.configured {
                return;
            }
            layers.configured = turn;
            layers.configuration = configuration;
        }
        self.read_settings();
    }

    /// Reads all layers of settings again, passes the settings about files to the model, and logs
    /// settings that were not accepted.
    pub(crate) fn read_settings(&self) {
        let (settings, complaints) = {
            let mut layers = lock(&self.layers);
            // The protocol does not say who wrote a setting of a client's configuration.
            let mut read = vec![(Origin::User, self.facts().options.clone())];
            let has_origins = self.facts().setting_origins;
            read.extend(by_origin(layers.configuration.clone(), has_origins));
            let mut complaints: Vec<String> = Vec::new();
            let snapshot = self.model.latest().snapshot;
            let known = |at: &str| snapshot.file(at).map(|file| Arc::clone(file.text()));
            let mut projects = Vec::new();
            for folder in &layers.folders {
                let found = disk::project_over(folder, &known);
                let is_own = found.path.as_deref() == Some(&*path::join(folder, PROJECT_FILE));
                projects.push(found.text.filter(|_| is_own));
                read.push((Origin::Project, json!(found.project)));
                complaints.extend(found.mistakes.iter().map(ToString::to_string));
            }
            layers.projects = projects;
            let (settings, refused) = UserSettings::read(&read, &layers.folders);
            complaints.extend(refused);
            (settings, complaints)
        };
        for complaint in complaints {
            self.log(LogLevel::Warning, &complaint);
        }
        let before = self.settings.swap(Arc::new(settings));
        let now = self.settings();
        if before.of_files() != now.of_files() {
            self.model.change(Change::Settings(now.of_files()));
            self.rescan();
        }
        self.name_files(&self.model.latest().snapshot);
        if before != now {
            self.recheck_all();
        }
        self.recall();
    }

    /// Has the files read that are read wherever they lie, if they are others than before: those that
    /// settings name, and nodes files that are too large to be read as data.
    pub(crate) fn name_files(&self, snapshot: &Snapshot) {
        let settings = self.settings();
        let mut texts = named_files(&settings);
        texts.extend(large_nodes_files(snapshot));
        let now = NamedFiles {
            texts,
            keys: settings
                .pkcs7_private_key
                .clone()
                .zip(settings.pkcs7_public_key.clone())
                .filter(|_| settings.decrypt),
        };
        let mut named = lock(&self.named);
        if *named != now {
            named.clone_from(&now);
            self.disk.name(now);
        }
    }

    /// Reads the settings again if the text of a workspace's own configuration has changed on the
    /// disk or in the editor.
    pub(crate) fn follow_projects(&self, snapshot: &Snapshot) {
        let is_whole = *self.index.borrow() == Index::Complete;
        let has_changed = {
            let layers = lock(&self.layers);
            let folders = layers.folders.iter().zip(&layers.projects);
            let mut changed = folders.filter(|(folder, known)| {
                match snapshot.file(&path::join(folder, PROJECT_FILE)) {
                    Some(file) => known.as_ref() != Some(file.text()),
                    // Until everything is read, a missing file may still appear.
                    None => is_whole && known.is_some(),
                }
            });
            changed.next().is_some()
        };
        if has_changed {
            self.read_settings();
        }
    }

    /// Restores the selected nodes of earlier sessions for folders that are new in this one; undoes
    /// that if the user has turned it off.
    fn recall(&self) {
        let Some(memory) = &self.options.memory else {
            return;
        };
        let wanted = self.settings().remember_node;
        for folder in self.folders() {
            let known = lock(&self.recalled).get(&folder).cloned();
            match (wanted, known) {
                (true, None) => {
                    let node = memory::recall(memory, &folder);
                    lock(&self.recalled).insert(folder.clone(), node.clone());
                    if let Some(node) = node {
                        self.choose(|choices| {
                            let choice = choices.entry(&folder);
                            choice.node.get_or_insert_with(|| node.clone());
                        });
                    }
                }
                (false, Some(Some(node))) => {
                    lock(&self.recalled).insert(folder.clone(), None);
                    self.choose(|choices| {
                        let choice = choices.entry(&folder);
                        choice.node.take_if(|chosen| *chosen == node);
                    });
                }
                (true, Some(_)) | (false, None | Some(None)) => {}
            }
        }
    }

    /// Saves the selected node of these folders for the next session, in the background.
    pub(crate) fn keep_node(&self, folders: Vec<String>) {
        if self.options.memory.is_none() || !self.settings().remember_node {
            return;
        }
        let Some(session) = self.myself() else {
            return;
        };
        let keeping = self.runtime.spawn_blocking(move || {
            let Some(memory) = &session.options.memory else {
                return;
            };
            // The last writer is the last reader.
            let _writing = lock(&session.keeping);
            let choices = session.choices.load_full();
            let workspace = session.folders();
            // Without a workspace folder there is nothing to save the choice for.
            for folder in folders.iter().filter(|folder| workspace.contains(folder)) {
                let node = choices
                    .within(folder)
                    .and_then(|choice| choice.node.as_deref());
                memory::keep(memory, folder, node);
            }
        });
        let mut kept = lock(&self.kept);
        kept.retain(|keeping| !keeping.is_finished());
        kept.push(keeping);
    }

    /// Waits until every choice has been saved: the last one may have been made just before the
    /// end.
    pub(crate) async fn keep_all(&self) {
        let kept = std::mem::take(&mut *lock(&self.kept));
        for keeping in kept {
            let _ = keeping.await;
        }
    }
}
