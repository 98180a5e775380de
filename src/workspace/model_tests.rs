//! After any sequence of changes, the model answers like one built from the final texts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;

/// Folders for the steps; `/v` and `/p` are not always part of the workspace.
const FOLDERS: [&str; 13] = [
    "/w",
    "/w/data",
    "/w/data/nodes",
    "/w/modules",
    "/w/modules/ntp",
    "/w/modules/ntp/data",
    "/w/site/profile",
    "/w/spec/fixtures",
    "/w/environments/test",
    "/w/environments/test/data",
    "/v",
    "/v/data",
    "/p",
];

const NAMES: [&str; 9] = [
    "common.yaml",
    "a.yaml",
    "b.json",
    "hiera.yaml",
    "environment.conf",
    "metadata.json",
    "Puppetfile",
    "init.pp",
    "data",
];

const TEXTS: [&str; 17] = [
    "",
    "a: 1\n",
    "a: 2\nb: [1, 2]\n",
    "b: {c: d}\na: 1\n",
    "a: 1\na: 2\n",
    "ntp::servers: [a, b]\nlookup_options:\n  ntp::servers: {merge: unique}\n",
    "lookup_options:\n  ^ntp::.*: {merge: deep}\n  a: {merge: first}\nd: \"%{lookup('a')}\"\n",
    "x: &x {y: 1}\nz: *x\n",
    "x: &x {y: 2}\nz: *x\n",
    "a: [\nb: 1\n",
    "a: 2001-01-01\n",
    "{\"name\": \"us-ntp\", \"a\": 1}",
    "modulepath = site:modules\n",
    "é: 'ü'\r\n\"q\\x41\": 1\r\n",
    "class ntp($servers = lookup('a')) inherits ntp::params { include b }\n",
    "class ntp(Array $servers) { lookup(\"x${a}\") }\ntype Ntp::Host = String\n",
    "class ntp { class b { } contain b\nfunction f( { }\n",
];

#[derive(Clone, Debug)]
enum WorldStep {
    Write(usize, usize),
    WriteBytes(usize),
    Mkdir(usize),
    Remove(usize),
    /// As a client may report it: the files one by one, the folder not at all or last.
    RemoveOneByOne(usize),
    Rename(usize, usize),
    Open(usize, usize),
    Close(usize),
    Folders(usize),
    Settings(usize),
    Rescan(usize),
    Together(Vec<WorldStep>),
}

fn path_of(number: usize) -> Arc<str> {
    let number = number % (FOLDERS.len() * (NAMES.len() + 1));
    let folder = FOLDERS[number % FOLDERS.len()];
    match NAMES.get(number / FOLDERS.len()) {
        Some(name) => Arc::from(format!("{folder}/{name}")),
        None => Arc::from(folder),
    }
}

fn universe() -> BTreeSet<Arc<str>> {
    let all = (0..FOLDERS.len() * (NAMES.len() + 1)).map(path_of);
    let mut all: BTreeSet<Arc<str>> = all.collect();
    let parents = all.iter().filter_map(|at| path::parent(at).map(Arc::from));
    let parents: Vec<Arc<str>> = parents.collect();
    all.extend(parents);
    all
}

fn step() -> impl Strategy<Value = WorldStep> {
    let number = 0..FOLDERS.len() * (NAMES.len() + 1);
    let text = 0..TEXTS.len();
    let small = 0..4usize;
    let leaf = prop_oneof![
        6 => (number.clone(), text.clone()).prop_map(|(at, text)| WorldStep::Write(at, text)),
        1 => number.clone().prop_map(WorldStep::WriteBytes),
        1 => number.clone().prop_map(WorldStep::Mkdir),
        2 => number.clone().prop_map(WorldStep::Remove),
        1 => number.clone().prop_map(WorldStep::RemoveOneByOne),
        2 => (number.clone(), number.clone()).prop_map(|(from, to)| WorldStep::Rename(from, to)),
        6 => (number.clone(), text).prop_map(|(at, text)| WorldStep::Open(at, text)),
        2 => number.clone().prop_map(WorldStep::Close),
        1 => small.clone().prop_map(WorldStep::Folders),
        1 => small.prop_map(WorldStep::Settings),
        1 => number.prop_map(WorldStep::Rescan),
    ];
    prop_oneof![
        6 => leaf.clone(),
        1 => prop::collection::vec(leaf, 1..8).prop_map(WorldStep::Together),
    ]
}

/// The real state of the disk and the editor.
#[derive(Clone, Default)]
struct World {
    disk: BTreeMap<Arc<str>, DiskEntry>,
    open: BTreeMap<Arc<str>, Arc<str>>,
    folders: Vec<Arc<str>>,
    settings: FileSettings,
}

impl World {
    fn is_file(&self, at: &str) -> bool {
        matches!(self.disk.get(at), Some(DiskEntry::File { .. }))
    }

    fn below(&self, folder: &str) -> Vec<(Arc<str>, DiskEntry)> {
        let entries = self.disk.iter();
        let below =
            entries.filter(|(at, _)| path::within(at, folder).is_some_and(|rest| !rest.is_empty()));
        below
            .map(|(at, entry)| (Arc::clone(at), entry.clone()))
            .collect()
    }

    fn put(&mut self, at: &Arc<str>, entry: DiskEntry) -> Option<Change> {
        let folders = || std::iter::successors(path::parent(at), |folder| path::parent(folder));
        if folders().any(|folder| self.is_file(folder)) {
            return None;
        }
        let is_folder = matches!(entry, DiskEntry::Directory { .. });
        if self.disk.contains_key(at) && self.is_file(at) == is_folder {
            return None;
        }
        for folder in folders() {
            let made = DiskEntry::Directory { target: None };
            self.disk.entry(Arc::from(folder)).or_insert(made);
        }
        self.disk.insert(Arc::clone(at), entry.clone());
        Some(Change::Disk {
            path: Arc::clone(at),
            entry,
        })
    }

    fn file(&mut self, at: usize, content: Content, linked: Linked) -> Vec<Change> {
        let change = self.put(&path_of(at), DiskEntry::File { content, linked });
        change.into_iter().collect()
    }

    fn remove(&mut self, at: &str) -> Vec<Change> {
        let mut gone = self.below(at);
        gone.extend(
            self.disk
                .get(at)
                .map(|entry| (Arc::from(at), entry.clone())),
        );
        let gone = gone.into_iter().map(|(path, _)| {
            self.disk.remove(&path);
            let entry = DiskEntry::Absent;
            Change::Disk { path, entry }
        });
        gone.collect()
    }

    /// Performs a step and returns the changes reported to the model.
    fn act(&mut self, step: &WorldStep) -> Vec<Change> {
        match step {
            WorldStep::Write(at, text) => {
                let content = Content::Text(Arc::from(TEXTS[*text]));
                self.file(*at, content, Linked::No)
            }
            WorldStep::WriteBytes(at) => {
                let content = Content::Bytes(Arc::from(&b"a: \xff\n"[..]));
                self.file(*at, content, Linked::To(None))
            }
            WorldStep::Mkdir(at) => {
                let entry = DiskEntry::Directory { target: None };
                self.put(&path_of(*at), entry).into_iter().collect()
            }
            WorldStep::Remove(at) => {
                let all = self.remove(&path_of(*at));
                all.into_iter().last().into_iter().collect()
            }
            WorldStep::RemoveOneByOne(at) => self.remove(&path_of(*at)),
            WorldStep::Rename(from, to) => {
                let (from, to) = (path_of(*from), path_of(*to));
                let Some(entry) = self.disk.get(&from).cloned() else {
                    return Vec::new();
                };
                if self.disk.contains_key(&to) || path::within(&to, &from).is_some() {
                    return Vec::new();
                }
                let below = self.below(&from);
                let Some(first) = self.put(&to, entry) else {
                    return Vec::new();
                };
                let mut changes = vec![first];
                for (at, entry) in below {
                    let rest = path::within(&at, &from).expect("it is below");
                    let at: Arc<str> = Arc::from(path::join(&to, rest));
                    changes.extend(self.put(&at, entry));
                }
                changes.extend(self.remove(&from).pop());
                changes
            }
            WorldStep::Open(at, text) => {
                let (path, text): (_, Arc<str>) = (path_of(*at), Arc::from(TEXTS[*text]));
                self.open.insert(Arc::clone(&path), Arc::clone(&text));
                vec![Change::open(path, text)]
            }
            WorldStep::Close(at) => {
                // Any open document, if there is one: most paths are not open.
                let path = self
                    .open
                    .keys()
                    .nth(*at % 3)
                    .cloned()
                    .unwrap_or_else(|| path_of(*at));
                self.open.remove(&path);
                vec![Change::Close { path }]
            }
            WorldStep::Folders(number) => {
                let folders: &[&str] = [
                    &["/w"][..],
                    &["/w", "/v"],
                    &["/v"],
                    &["/w/modules/ntp", "/w"],
                ][*number];
                self.folders = folders.iter().map(|&at| Arc::from(at)).collect();
                vec![Change::Folders(self.folders.clone())]
            }
            WorldStep::Settings(number) => {
                let mut settings = FileSettings::default();
                match number {
                    1 => settings.global_hiera_yaml = Some(Arc::from("/p/hiera.yaml")),
                    2 => {
                        settings.chosen = vec![ChosenRoot {
                            hiera_yaml: Arc::from("/w/spec/fixtures/hiera.yaml"),
                            dir: None,
                        }];
                    }
                    3 => settings.base_modulepath = vec![Arc::from("/v")],
                    _ => {}
                }
                self.settings = settings;
                vec![Change::Settings(self.settings.clone())]
            }
            WorldStep::Rescan(at) => {
                let at = path_of(*at);
                match self.disk.get(&at) {
                    Some(DiskEntry::Directory { .. }) => vec![self.scanned(&at)],
                    _ => Vec::new(),
                }
            }
            WorldStep::Together(steps) => {
                vec![Change::Batch(
                    steps.iter().flat_map(|step| self.act(step)).collect(),
                )]
            }
        }
    }

    fn scanned(&self, folder: &Arc<str>) -> Change {
        Change::Scanned {
            folder: Arc::clone(folder),
            entries: self.below(folder),
        }
    }

    /// A server's reaction to new or removed areas: scan them.
    fn settle(&self, workspace: &Workspace) -> Change {
        let areas = workspace.snapshot().areas().to_vec();
        let there = areas.iter().filter(|area| self.disk.contains_key(*area));
        Change::Batch(there.map(|area| self.scanned(area)).collect())
    }

    /// A workspace built from the current world only.
    fn built_anew(&self) -> Arc<Snapshot> {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(self.folders.clone()));
        workspace.apply(Change::Settings(self.settings.clone()));
        workspace.apply(self.settle(&workspace));
        for (path, text) in &self.open {
            workspace.apply(Change::open(Arc::clone(path), Arc::clone(text)));
        }
        workspace.snapshot()
    }
}

/// Every answer of a snapshot, without file ids.
fn answers(snapshot: &Snapshot) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{:?} {:?}", snapshot.areas(), snapshot.settings());
    for area in snapshot.areas() {
        let _ = writeln!(out, "{area}: {:?}", snapshot.paths_below(area));
    }
    for at in universe() {
        let _ = writeln!(
            out,
            "{at}: {:?} {:?} {} {:?} {:?}",
            snapshot.kind(&at),
            snapshot.list(&at),
            snapshot.is_link(&at),
            snapshot.text(&at),
            snapshot.root_of(&at).map(|root| &root.dir),
        );
        if snapshot.kind(&at).is_some() {
            let data = snapshot.data(&at, Format::Yaml);
            let _ = writeln!(out, "  {:?}\n  {:?}", data.loaded, data.recovered);
        }
        let deployed = format!("/etc/environments/test{at}");
        let _ = writeln!(out, "  {}", snapshot.map_deployed_for(None, &deployed));
    }
    let mut files: Vec<_> = snapshot.files().collect();
    files.sort_by_key(|file| Arc::clone(file.path()));
    for file in files {
        let _ = writeln!(
            out,
            "{} {:?} {:?} {:?} {:?}",
            file.path(),
            file.belongs(),
            file.text(),
            file.version(),
            file.facts(),
        );
    }
    for name in snapshot.key_names("") {
        let mut places: Vec<String> = snapshot
            .definitions(name)
            .iter()
            .map(|(file, key)| format!("{} {:?}", file.path(), key.value))
            .collect();
        places.sort();
        let _ = writeln!(out, "{name}: {} {places:?}", snapshot.count_with(name));
        for template in [
            "/w/data/%{a}.yaml",
            "/w/%{a}/%{b}/common.yaml",
            "/w/%{a}/%{a}",
        ] {
            let template = crate::hierarchy::Template::parse(template);
            let any = snapshot.holders(name, &template, None);
            let json = snapshot.holders(name, &template, Some(Format::Json));
            let _ = writeln!(out, "  {any:?} {json:?}");
        }
    }
    let paths = |files: &mut dyn Iterator<Item = &Arc<File>>| -> BTreeSet<Arc<str>> {
        files.map(|file| Arc::clone(file.path())).collect()
    };
    for name in snapshot.defined_names("") {
        let defining = paths(&mut snapshot.files_defining(name));
        let naming = paths(&mut snapshot.files_naming_class(name));
        let _ = writeln!(out, "{name}: {defining:?} {naming:?}");
    }
    for key in snapshot.looked_up("") {
        let _ = writeln!(
            out,
            "{key}: {:?}",
            paths(&mut snapshot.files_looking_up(key))
        );
    }
    let perhaps = paths(&mut snapshot.files_that_may_look_up("xyz"));
    let _ = writeln!(out, "xyz: {perhaps:?}");
    let _ = writeln!(out, "{} {:#?}", snapshot.text_bytes, snapshot.roots());
    out
}

/// The knowledge of a client that only receives deltas: files with each key, and existing paths.
#[derive(Default)]
struct Listener {
    keys: BTreeMap<Arc<str>, BTreeSet<Arc<str>>>,
    paths: BTreeSet<Arc<str>>,
}

impl Listener {
    fn hear(&mut self, delta: &Delta) {
        for file in &delta.files {
            let keys = file.keys();
            for key in keys.added.iter().cloned() {
                assert!(
                    self.keys
                        .entry(key)
                        .or_default()
                        .insert(Arc::clone(&file.path))
                );
            }
            for key in &keys.removed {
                let holders = self.keys.get_mut(key).expect("a removed key was there");
                assert!(holders.remove(&file.path));
                if holders.is_empty() {
                    self.keys.remove(key);
                }
            }
        }
        self.paths.extend(delta.appeared.iter().cloned());
        for at in &delta.vanished {
            self.paths.remove(at);
        }
    }

    fn check(&self, snapshot: &Snapshot) {
        let names: Vec<&Arc<str>> = snapshot.key_names("").collect();
        assert_eq!(names, self.keys.keys().collect::<Vec<_>>());
        for (key, holders) in &self.keys {
            let files = snapshot.definitions(key);
            let paths = files.iter().map(|(file, _)| Arc::clone(file.path()));
            assert_eq!(*holders, paths.collect());
        }
        for area in snapshot.areas() {
            let found = snapshot.paths_below(area).into_iter();
            let files = found.filter(|(_, kind)| *kind == FileKind::File);
            for (at, _) in files {
                assert!(self.paths.contains(&at), "{at} was never told of");
            }
        }
        for at in &self.paths {
            assert!(
                snapshot.kind(at).is_some(),
                "{at} is gone and was not told of"
            );
        }
    }
}

#[test]
fn an_area_is_removed_with_its_parent_folder() {
    let (mut world, workspace) = (World::default(), Workspace::new());
    let area = WorldStep::Settings(2);
    let number = |path: &str| (0..).find(|number| *path_of(*number) == *path).expect(path);
    let file = WorldStep::Write(number("/w/spec/fixtures/a.yaml"), 0);
    for step in [area, file, WorldStep::Remove(number("/w"))] {
        for change in world.act(&step) {
            workspace.apply(change);
        }
        workspace.apply(world.settle(&workspace));
    }
    assert_eq!(answers(&workspace.snapshot()), answers(&world.built_anew()));
}

#[test]
fn a_document_that_is_too_large_to_be_read_is_refused_as_on_the_disk() {
    let workspace = Workspace::new();
    workspace.apply(Change::Folders(vec!["/w".into()]));
    let path = "/w/data/a.yaml";
    let edit = |text: String, version: i32| {
        workspace.apply(Change::Open {
            path: path.into(),
            text: text.into(),
            version,
        })
    };
    let line = "a: 1\n";
    let fits = edit(line.to_owned(), 1);
    assert_eq!(fits.count_with("a"), 1);
    let text = line.repeat(LARGEST_DOCUMENT as usize / line.len() + 1);
    let snapshot = edit(text.clone(), 2);
    let file = snapshot.file(path).expect("it is open");
    let message = format!(
        "/w/data/a.yaml has {} bytes, more than the 67108864 that are read of one file",
        text.len()
    );
    assert_eq!(file.refused().map(|error| &error.message), Some(&message));
    assert_eq!(file.text().len(), text.len());
    assert_eq!(snapshot.count_with("a"), 0);
    let loaded = &snapshot.data(path, Format::Yaml).loaded;
    assert_eq!(
        loaded.as_ref().err().map(|error| &error.message),
        Some(&message)
    );
    let parse = snapshot.parse_of(file, Format::Yaml);
    assert_eq!(
        parse.error().map(|problem| &problem.message),
        Some(&message)
    );
    assert!(parse.tree.is_empty());
    let fits = edit(line.to_owned(), 3);
    assert_eq!(fits.count_with("a"), 1);
    assert!(fits.data(path, Format::Yaml).loaded.is_ok());
}

#[test]
fn a_document_at_the_path_of_a_directory_is_listed_with_its_keys() {
    let number = |path: &str| (0..200).find(|&at| *path_of(at) == *path).unwrap();
    let folder = number("/w/data/nodes/common.yaml");
    let steps = [
        WorldStep::Folders(0),
        WorldStep::Mkdir(folder),
        WorldStep::Write(number("/w/data/data"), 1),
        WorldStep::Open(folder, 1),
    ];
    let mut world = World::default();
    let workspace = Workspace::new();
    for step in steps {
        for change in world.act(&step) {
            workspace.apply(change);
        }
        let snapshot = workspace.snapshot();
        assert_eq!(answers(&snapshot), answers(&world.built_anew()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_changes_ends_as_a_fresh_start(
        steps in prop::collection::vec(step(), 1..24),
    ) {
        let mut world = World::default();
        let workspace = Workspace::new();
        let mut listener = Listener::default();
        let mut apply = |change: Change| {
            let snapshot = workspace.apply(change);
            listener.hear(snapshot.delta());
            listener.check(&snapshot);
            snapshot
        };
        for change in world.act(&WorldStep::Folders(0)) {
            apply(change);
        }
        let mut kept = None;
        for (number, step) in steps.iter().enumerate() {
            for change in world.act(step) {
                apply(change);
            }
            apply(world.settle(&workspace));
            let snapshot = workspace.snapshot();
            // Each comparison costs more than all changes together.
            if number % 5 == 4 || number + 1 == steps.len() {
                prop_assert_eq!(answers(&snapshot), answers(&world.built_anew()));
            }
            if number == steps.len() / 2 {
                kept = Some((answers(&snapshot), snapshot));
            }
        }
        if let Some((then, snapshot)) = kept {
            prop_assert_eq!(then, answers(&snapshot), "a snapshot changed");
        }
    }
}
