//! Scans of folders with every kind of entry.

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use super::*;
use crate::workspace::{
    Change, Content, DiskEntry, FileKind, Files, Format, Linked, Snapshot, Workspace, path,
};

/// Maximum wait for something that must happen.
const PATIENCE: Duration = Duration::from_secs(20);

fn write(root: &Path, at: &str, content: impl AsRef<[u8]>) {
    let at = root.join(at);
    fs::create_dir_all(at.parent().expect("below the root")).expect("folders");
    fs::write(at, content).expect("a file");
}

fn shared(at: &Path) -> Arc<str> {
    Arc::from(at.to_str().expect("UTF-8"))
}

fn go_on(_: ScanProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A workspace of one folder, scanned.
fn open(root: &Path) -> (Workspace, Scan) {
    let workspace = Workspace::new();
    let folder = shared(root);
    workspace.apply(Change::Folders(vec![Arc::clone(&folder)]));
    let scan = scan(&[folder], &Ignore::default(), &go_on);
    workspace.apply(scan.change.clone());
    (workspace, scan)
}

/// The workspace of one folder after these paths are read again.
fn reread_all(workspace: &Workspace, scan: &mut Scan, root: &Path, at: &[&str]) -> Arc<Snapshot> {
    let paths: Vec<Arc<str>> = at.iter().map(|at| shared(&root.join(at))).collect();
    let areas = [shared(root)];
    let change = reread(&paths, &areas, &Ignore::default(), &mut scan.data_folders);
    workspace.apply(change)
}

fn below(snapshot: &Snapshot, root: &Path) -> Vec<String> {
    let all = snapshot.paths_below(&shared(root)).into_iter();
    let root = shared(root);
    all.map(|(at, _)| path::within(&at, &root).expect("below").to_owned())
        .collect()
}

#[test]
fn a_scan_names_everything_and_reads_what_can_matter() {
    let root = tempfile::tempdir().expect("a folder");
    let root = root.path();
    write(root, "hiera.yaml", "defaults: {datadir: secrets}");
    write(root, "data/nodes/web1.example.com", "a: 1\n");
    write(root, "secrets/x", "b: 2\n");
    write(root, "README.md", "# c: 3\n");
    write(root, ".git/config.yaml", "d: 4\n");
    write(root, "node_modules/x/y.yaml", "e: 5\n");
    let (workspace, scan) = open(root);
    assert_eq!(scan.outcome, ScanOutcome::Complete);
    assert_eq!(scan.problems, []);
    let snapshot = workspace.snapshot();
    assert_eq!(
        below(&snapshot, root),
        [
            "README.md",
            "data",
            "data/nodes",
            "data/nodes/web1.example.com",
            "hiera.yaml",
            "secrets",
            "secrets/x",
        ]
    );
    let names: Vec<&str> = snapshot.key_names("").map(|name| &**name).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(snapshot.roots().environments().count(), 1);
}

#[cfg(unix)]
#[test]
fn links_loops_and_special_files_do_not_stop_a_scan() {
    use std::os::unix::fs::symlink;
    let root = tempfile::tempdir().expect("a folder");
    let root = root.path();
    write(root, "data/common.yaml", "a: 1\n");
    write(root, "data/latin.yaml", b"b: \xe9\n");
    let huge = fs::File::create(root.join("data/huge.yaml")).expect("a file");
    huge.set_len(50 << 20).expect("a sparse file");
    symlink("common.yaml", root.join("data/link.yaml")).expect("a link");
    symlink("nowhere.yaml", root.join("data/dangling.yaml")).expect("a link");
    symlink("../../beside.yaml", root.join("data/outside.yaml")).expect("a link");
    symlink("..", root.join("data/up")).expect("a link");
    symlink("data", root.join("mirror")).expect("a link");
    symlink("/dev/zero", root.join("data/zero.yaml")).expect("a link");
    let made = std::process::Command::new("mkfifo")
        .arg(root.join("data/pipe.yaml"))
        .status();
    assert!(made.is_ok_and(|made| made.success()), "a pipe with a name");
    let socket = std::os::unix::net::UnixListener::bind(root.join("data/socket.yaml"));
    let (workspace, scan) = open(root);
    drop(socket);
    let snapshot = workspace.snapshot();
    assert_eq!(
        below(&snapshot, root),
        [
            "data",
            "data/common.yaml",
            "data/huge.yaml",
            "data/latin.yaml",
            "data/link.yaml",
            "data/up",
            "mirror",
            "mirror/common.yaml",
            "mirror/huge.yaml",
            "mirror/latin.yaml",
            "mirror/link.yaml",
            "mirror/up",
        ]
    );
    let at = |rest: &str| format!("{}/{rest}", shared(root));
    assert!(snapshot.is_link(&at("mirror")));
    assert!(snapshot.is_link(&at("data/link.yaml")));
    assert_eq!(
        snapshot.kind(&at("mirror/../data")),
        Some(FileKind::Directory)
    );
    // A literal path ignores a broken link, a glob does not.
    let dangling = at("data/dangling.yaml");
    assert_eq!(snapshot.kind(&dangling), None);
    assert!(snapshot.is_link(&dangling));
    assert_eq!(
        snapshot.lost_links(&at("data")),
        [Arc::from("dangling.yaml")]
    );
    let lost = snapshot.data(&dangling, Format::Yaml);
    let message = lost.loaded.as_ref().expect_err("no file").message.clone();
    assert_eq!(
        message,
        format!("No such file or directory @ rb_file_s_stat - {dangling}")
    );
    assert_eq!(snapshot.count_with("a"), 4);
    let latin = snapshot.data(&at("data/latin.yaml"), Format::Yaml);
    assert!(latin.loaded.is_err(), "{:?}", latin.loaded);
    assert_eq!(
        &*snapshot.text(&at("data/latin.yaml")).expect("a text"),
        "b: \u{fffd}\n"
    );
    let huge = snapshot.data(&at("data/huge.yaml"), Format::Yaml);
    let message = huge.loaded.as_ref().expect_err("too large").message.clone();
    assert!(message.contains("has 52428800 bytes"), "{message}");
    for left_out in ["huge.yaml", "data/up"] {
        let mut problems = scan.problems.iter();
        let is_named = problems.any(|problem| problem.path.ends_with(left_out));
        assert!(is_named, "{left_out}: {:?}", scan.problems);
    }
}

#[cfg(unix)]
#[test]
fn code_of_modules_that_a_module_has_fetched_for_its_tests_is_read() {
    let root = tempfile::tempdir().expect("a folder");
    let root = root.path();
    let elsewhere = tempfile::tempdir().expect("a folder");
    write(elsewhere.path(), "types/x.pp", "type Evil::X = Integer\n");
    let code = "spec/fixtures/modules/dep/types/port.pp";
    let data = "spec/fixtures/modules/dep/data/common.yaml";
    write(root, "metadata.json", r#"{"name": "me-my"}"#);
    write(root, "hiera.yaml", "version: 5\n");
    write(root, "manifests/init.pp", "class my { }\n");
    write(root, code, "type Dep::Port = Integer\n");
    write(root, data, "dep::x: 1\n");
    write(
        root,
        "other/a/spec/fixtures/modules/dep/types/port.pp",
        "type Dep::Port = Integer\n",
    );
    let link = |target: &Path, name: &str| {
        let at = root.join("spec/fixtures/modules").join(name);
        std::os::unix::fs::symlink(target, at).expect("a link");
    };
    link(root, "my");
    link(elsewhere.path(), "evil");
    let texts = || {
        let snapshot = open(root).0.snapshot();
        let files = snapshot.files().map(|file| file.path().clone());
        let fetched = files.filter(|at| at.contains("/fixtures/"));
        let fetched = fetched.map(|at| path::within(&at, &shared(root)).expect("below").to_owned());
        fetched.collect::<Vec<_>>()
    };
    // Without a `.fixtures.yml` their owner is unknown.
    assert_eq!(texts(), [""; 0]);
    write(
        root,
        ".fixtures.yml",
        "fixtures: {repositories: {dep: dep}}\n",
    );
    assert_eq!(texts(), [code]);
    let snapshot = open(root).0.snapshot();
    let module = snapshot.roots().iter().next().expect("a root");
    let found: Vec<&str> = module.likely_modules.keys().map(|name| &**name).collect();
    assert_eq!(found, ["dep"]);
}

#[test]
fn a_scan_can_be_broken_off() {
    let root = tempfile::tempdir().expect("a folder");
    write(root.path(), "a/b.yaml", "a: 1\n");
    let folder = shared(root.path());
    let scan = scan(&[folder], &Ignore::default(), &|_| ControlFlow::Break(()));
    assert_eq!(scan.outcome, ScanOutcome::Cancelled);
}

#[test]
fn a_file_that_vanishes_between_listing_and_reading_is_not_there() {
    let root = tempfile::tempdir().expect("a folder");
    let root = root.path();
    write(root, "a/gone.yaml", "a: 1\n");
    write(root, "a/stays.yaml", "b: 1\n");
    write(root, "b/other.yaml", "c: 1\n");
    let folders = [shared(&root.join("a")), shared(&root.join("b"))];
    let workspace = Workspace::new();
    workspace.apply(Change::Folders(folders.to_vec()));
    let scan = scan(&folders, &Ignore::default(), &|progress| {
        // The second folder is about to be listed; nothing has been read yet.
        if progress == (ScanProgress::Listing { found: 2 }) {
            let _ = fs::remove_file(root.join("a/gone.yaml"));
        }
        ControlFlow::Continue(())
    });
    assert_eq!(scan.outcome, ScanOutcome::Complete);
    let snapshot = workspace.apply(scan.change);
    assert_eq!(snapshot.kind(&shared(&root.join("a/gone.yaml"))), None);
    assert_eq!(snapshot.count_with("a"), 0);
    assert_eq!(snapshot.count_with("b") + snapshot.count_with("c"), 2);
    // Nor does it matter that all of it is gone at the next look.
    fs::remove_dir_all(root.join("a")).expect("removed");
    let gone = [shared(&root.join("a/stays.yaml")), Arc::clone(&folders[0])];
    let mut data_folders = scan.data_folders;
    let change = reread(&gone, &folders, &Ignore::default(), &mut data_folders);
    assert_eq!(workspace.apply(change).count_with("b"), 0);
}

#[test]
fn reread_paths_show_added_and_removed_files() {
    let root = tempfile::tempdir().expect("a folder");
    let root = root.path();
    write(root, "hiera.yaml", "version: 5\n");
    write(root, "data/nodes/a.yaml", "a: 1\n");
    write(root, "conf/x", "x: 1\n");
    let (workspace, mut scan) = open(root);
    let mut look = |paths: &[&str]| reread_all(&workspace, &mut scan, root, paths);
    write(root, "data/b.yaml", "b: 1\n");
    fs::remove_dir_all(root.join("data/nodes")).expect("removed");
    // A client may report the file alone; its folder was deleted with it.
    let snapshot = look(&["data/b.yaml", "data/nodes/a.yaml"]);
    assert_eq!(
        below(&snapshot, root),
        ["conf", "conf/x", "data", "data/b.yaml", "hiera.yaml"]
    );
    assert_eq!(
        snapshot.count_with("x"),
        0,
        "a file without extension is not data anywhere"
    );
    write(root, "hiera.yaml", "defaults: {datadir: conf}\n");
    let snapshot = look(&["hiera.yaml"]);
    assert_eq!(snapshot.count_with("x"), 1, "but is in a datadir");
    let revision = snapshot.revision();
    let snapshot = look(&[".git/index", "../elsewhere"]);
    assert!(snapshot.delta().files.is_empty() && snapshot.revision() > revision);
}

#[cfg(unix)]
#[test]
fn a_link_that_breaks_is_reported() {
    use std::os::unix::fs::symlink;
    let root = tempfile::tempdir().expect("a folder");
    let root = root.path();
    write(root, "data/a.yaml", "a: 1\n");
    let (workspace, mut scan) = open(root);
    let data = shared(&root.join("data"));
    let mut look = |at: &str| reread_all(&workspace, &mut scan, root, &[at]);
    symlink("nowhere", root.join("data/b.yaml")).expect("a link");
    let came = look("data/b.yaml");
    assert_eq!(came.lost_links(&data), [Arc::from("b.yaml")]);
    assert_eq!(came.delta().appeared.len(), 1);
    fs::remove_file(root.join("data/b.yaml")).expect("removed");
    let went = look("data/b.yaml");
    assert_eq!(went.lost_links(&data), []);
    assert_eq!(went.delta().vanished.len(), 1);
    assert_ne!(went.shape(), came.shape());
}

#[test]
fn batch_files_are_the_disk_s_own() {
    let root = tempfile::tempdir().expect("a folder");
    let at = |rest: &str| format!("{}/{rest}", shared(root.path()));
    write(root.path(), "a.yaml", "a: 1\n");
    let mut files = DiskFiles::new();
    let get = |files: &DiskFiles| {
        let data = files.data(&at("a.yaml"), Format::Yaml);
        let value = data.loaded.clone().expect("it loads");
        value.get("a").cloned()
    };
    assert_eq!(get(&files), Some(1.into()));
    write(root.path(), "a.yaml", "a: 222\n");
    assert_eq!(get(&files), Some(1.into()), "all of one moment");
    files.look_again();
    assert_eq!(
        get(&files),
        Some(222.into()),
        "another size is another file"
    );
    let error = |rest: &str| {
        let data = files.data(&at(rest), Format::Yaml);
        data.loaded.as_ref().expect_err("no data").message.clone()
    };
    let missing = at("b.yaml");
    assert_eq!(
        error("b.yaml"),
        format!("No such file or directory @ rb_file_s_stat - {missing}")
    );
    assert_eq!(error(""), format!("Is a directory @ io_fread - {}", at("")));
    let inside = at("a.yaml/x");
    assert_eq!(
        error("a.yaml/x"),
        format!("Not a directory @ rb_file_s_stat - {inside}")
    );
    assert_eq!(
        files.list(&shared(root.path())),
        [(Arc::from("a.yaml"), FileKind::File)]
    );
    assert_eq!(files.kind(&at("a.yaml")), Some(FileKind::File));
    assert_eq!(files.kind(&at("")), Some(FileKind::Directory));
}

/// Waits until the watcher has reported enough for `done`; every change is applied to the
/// workspace.
fn watch_until(
    workspace: &Workspace,
    changes: &mpsc::Receiver<Change>,
    done: impl Fn(&Snapshot) -> bool,
) -> usize {
    let mut count = 0;
    while !done(&workspace.snapshot()) {
        let change = changes.recv_timeout(PATIENCE).expect("the watcher tells");
        workspace.apply(change);
        count += 1;
    }
    count
}

#[test]
fn a_watcher_reports_files_and_new_folders() {
    for mode in [WatchMode::System, WatchMode::Poll] {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        write(root, "data/a.yaml", "a: 1\n");
        let (workspace, scan) = open(root);
        let (sender, changes) = mpsc::channel();
        let (areas, area) = ([shared(root)], shared(root));
        let mut data_folders = scan.data_folders;
        let watcher = Watcher::new(
            &areas,
            &Ignore::default(),
            mode,
            move |paths: BTreeSet<Arc<str>>| {
                let paths: Vec<Arc<str>> = paths.into_iter().collect();
                let (areas, ignore) = ([Arc::clone(&area)], Ignore::default());
                let _ = sender.send(reread(&paths, &areas, &ignore, &mut data_folders));
            },
        );
        for number in 0..300 {
            write(root, &format!("data/new/deep/{number}.yaml"), "n: 1\n");
        }
        fs::remove_file(root.join("data/a.yaml")).expect("removed");
        let count = watch_until(&workspace, &changes, |snapshot| {
            snapshot.count_with("n") == 300 && snapshot.count_with("a") == 0
        });
        assert!(count < 20, "{count} changes for one row of events");
        write(root, "data/new/deep/7.yaml", "seven: 1\n");
        watch_until(&workspace, &changes, |snapshot| {
            snapshot.count_with("seven") == 1
        });
        fs::rename(root.join("data/new"), root.join("data/old")).expect("renamed");
        let gone = shared(&root.join("data/new"));
        watch_until(&workspace, &changes, |snapshot| {
            snapshot.kind(&gone).is_none() && snapshot.count_with("n") == 299
        });
        drop(watcher);
    }
}

/// A repository of the corpora, or `None` if they are missing, which is an error in CI.
fn corpus(name: &str) -> Option<std::path::PathBuf> {
    let at = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../shared/corpora")
        .join(name);
    let there = fs::canonicalize(at.join("workspace")).ok();
    if there.is_none() {
        assert!(
            std::env::var_os("CI").is_none(),
            "the corpora are missing in CI"
        );
        println!("skipped: no corpus {name}");
    }
    there
}

#[test]
fn the_roots_of_a_real_control_repository() {
    let Some(root) = corpus("lsst-control") else {
        return;
    };
    let (workspace, scan) = open(&root);
    assert_eq!(scan.problems, []);
    let snapshot = workspace.snapshot();
    let folder = shared(&root);
    let roots: Vec<(String, &str)> = snapshot
        .roots()
        .iter()
        .map(|root| {
            let at = path::within(&root.dir, &folder).expect("below");
            (root.kind.words(), at)
        })
        .collect();
    let expected = [
        ("environment", ""),
        ("module rsyslog", "modules/rsyslog"),
        ("module ssh", "modules/ssh"),
        ("module systemd", "modules/systemd"),
        ("module yum", "modules/yum"),
        ("module profile", "site/profile"),
    ];
    let expected = expected.map(|(kind, at)| (kind.to_owned(), at));
    assert_eq!(roots, expected);
    let environment = snapshot.roots().environments().next().expect("one");
    let modules: Vec<&str> = environment.modules.keys().map(|name| &**name).collect();
    assert_eq!(modules, ["profile", "rsyslog", "ssh", "systemd", "yum"]);
    let deployed = "/etc/puppetlabs/code/environments/production/hieradata";
    assert_eq!(snapshot.kind(deployed), Some(FileKind::Directory));
    let list = snapshot.list(deployed);
    assert_eq!(list, snapshot.list(&format!("{folder}/hieradata")));
    assert!(!list.is_empty());
}

#[test]
fn the_roots_of_a_real_environment() {
    let Some(root) = corpus("magic_castle") else {
        return;
    };
    let (workspace, _) = open(&root);
    let snapshot = workspace.snapshot();
    assert_eq!(snapshot.roots().len(), 1);
    let at = format!("{}/data/software_stack/computecanada.yaml", shared(&root));
    let data = snapshot.data(&at, Format::Yaml);
    assert!(
        data.loaded
            .as_ref()
            .is_ok_and(|value| value.as_hash().is_some())
    );
}

#[cfg(unix)]
#[test]
fn a_file_has_other_names_by_links_and_a_plan_changes_it_by_all() {
    use crate::edit::Plan;
    use crate::text::{TextEdit, TextRange};
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().expect("a folder");
    let root = &fs::canonicalize(folder.path()).expect("a path");
    write(root, "hiera.yaml", "version: 5\n");
    write(root, "data/nodes/web.yaml", "port: 81\n");
    write(root, "data/lon/common.yaml", "port: 1\n");
    symlink("web.yaml", root.join("data/nodes/app.yaml")).expect("a link");
    symlink("app.yaml", root.join("data/nodes/old.yaml")).expect("a link");
    symlink(root.join("data/lon"), root.join("data/nyc")).expect("a link");
    // Dots start at the real folder.
    symlink("../web.yaml", root.join("data/lon/up.yaml")).expect("a link");
    write(root, "data/web.yaml", "port: 2\n");
    let snapshot = open(root).0.snapshot();
    let at = |name: &str| shared(&root.join(name));
    let names = |name: &str| {
        let names = snapshot.other_names(&at(name)).into_iter();
        let names = names.map(|name| path::within(&name, &shared(root)).map(str::to_owned));
        let mut names: Vec<String> = names.flatten().collect();
        names.sort();
        names
    };
    let [app, old, web] = ["app", "old", "web"].map(|name| format!("data/nodes/{name}.yaml"));
    assert_eq!(names(&web), [app.clone(), old.clone()]);
    assert_eq!(names(&old), [app.clone(), web.clone()]);
    assert_eq!(names("hiera.yaml"), [""; 0]);
    assert_eq!(names("data/nyc/common.yaml"), ["data/lon/common.yaml"]);
    assert_eq!(names("data/lon/common.yaml"), ["data/nyc/common.yaml"]);
    let ups = ["data/lon/up.yaml", "data/nyc/up.yaml"];
    assert_eq!(names("data/web.yaml"), ups);
    let edit = || TextEdit::replace(TextRange::new(6, 8), "99".to_owned());
    let mut plan = Plan::default();
    plan.add(&at(&app), edit());
    plan.add(&at(&web), edit());
    let changed = plan.changed(&snapshot).expect("it fits");
    assert_eq!(changed.len(), 1, "it is one file");
    assert_eq!(changed[0].path, at(&web));
    let after = plan.after(&snapshot).expect("it fits");
    for name in [&app, &old, &web] {
        let file = after.file(&at(name)).expect("a file");
        assert_eq!(&**file.text(), "port: 99\n", "{name}");
    }
}

#[cfg(unix)]
#[test]
fn an_unsaved_text_is_that_of_all_names_that_are_not_open_themselves() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().expect("a folder");
    let root = &fs::canonicalize(folder.path()).expect("a path");
    write(root, "hiera.yaml", "version: 5\n");
    write(root, "data/web.yaml", "port: 1\n");
    symlink("web.yaml", root.join("data/app.yaml")).expect("a link");
    symlink("app.yaml", root.join("data/old.yaml")).expect("a link");
    let workspace = open(root).0;
    let at = |name: &str| shared(&root.join(format!("data/{name}.yaml")));
    let ports = || {
        let snapshot = workspace.snapshot();
        let texts = ["web", "app", "old"].map(|name| {
            let file = snapshot.file(&at(name));
            file.map(|file| {
                file.text()
                    .trim_start_matches("port: ")
                    .trim_end()
                    .to_owned()
            })
        });
        texts.map(Option::unwrap_or_default).join(" ")
    };
    let close = |name: &str| workspace.apply(Change::Close { path: at(name) });
    assert_eq!(ports(), "1 1 1");
    workspace.apply(Change::open(at("web"), "port: 2\n"));
    assert_eq!(ports(), "2 2 2");
    workspace.apply(Change::open(at("app"), "port: 3\n"));
    assert_eq!(ports(), "2 3 2", "each document has its own text");
    workspace.apply(Change::open(at("web"), "port: 4\n"));
    assert_eq!(ports(), "4 3 4");
    let tried = workspace
        .snapshot()
        .with(Change::open(at("web"), "port: 9\n"));
    let app = tried.file(&at("app")).expect("a file");
    assert_eq!(&**app.text(), "port: 9\n", "one file is changed");
    close("app");
    assert_eq!(ports(), "4 4 4");
    let gone = DiskEntry::Absent;
    let path = at("app");
    workspace.apply(Change::Disk { path, entry: gone });
    assert_eq!(
        ports(),
        "4  1",
        "this link is broken, and its text is that of before"
    );
    close("web");
    assert_eq!(ports(), "1  1");
    let content = Content::Text("port: 5\n".into());
    let linked = Linked::No;
    let path = at("web");
    let entry = DiskEntry::File { content, linked };
    workspace.apply(Change::Disk { path, entry });
    assert_eq!(ports(), "5  1");
}
