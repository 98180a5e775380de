//! Revisions read here equal what `git` checks out.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::disk::{snapshot_of, snapshot_of_revision};
use crate::workspace::Snapshot;

/// A repository with some history; `None` without git, which the test reports.
struct Repo {
    folder: tempfile::TempDir,
}

const HIERA: &str =
    "version: 5\nhierarchy: [{name: c, paths: ['n/%{trusted.certname}.yaml', c.yaml]}]\n";

fn is_git_here() -> bool {
    let found = Command::new("git").arg("--version").output().is_ok();
    assert!(found || std::env::var_os("CI").is_none(), "git is missing");
    if !found {
        eprintln!("SKIPPED: git is not installed");
    }
    found
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@example.com"])
        .args([
            "-c",
            "protocol.file.allow=always",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .current_dir(folder)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

impl Repo {
    /// Two commits on `main`, a merged branch, tags.
    fn new() -> Option<Repo> {
        if !is_git_here() {
            return None;
        }
        let repo = Repo {
            folder: tempfile::tempdir().unwrap(),
        };
        repo.git(&["init", "-q"]);
        repo.write("hiera.yaml", HIERA);
        repo.write("environment.conf", "");
        for node in 0..40 {
            repo.write(&format!("data/n/n{node}.yaml"), &page(node, 0));
        }
        repo.write("data/c.yaml", &page(100, 0));
        repo.commit("first");
        repo.git(&["tag", "light"]);
        repo.git(&["checkout", "-q", "-b", "side/branch"]);
        repo.write("data/side.yaml", "a: 1\n");
        repo.commit("side");
        repo.git(&["checkout", "-q", "main"]);
        repo.write("data/c.yaml", &page(100, 1));
        repo.write("data/n/n3.yaml", &page(3, 1));
        repo.commit("second");
        repo.git(&["tag", "-a", "heavy", "-m", "x"]);
        repo.git(&["merge", "-q", "--no-ff", "-m", "merge", "side/branch"]);
        repo.git(&["rm", "-q", "data/n/n7.yaml"]);
        repo.commit("less");
        Some(repo)
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn git(&self, arguments: &[&str]) -> String {
        git(self.path(), arguments)
    }

    fn write(&self, path: &str, text: &str) {
        let at = self.path().join(path);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, text).unwrap();
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }
}

/// A text whose versions are similar, so that packs contain deltas.
fn page(seed: usize, version: usize) -> String {
    let line = |at: usize| {
        if at == 20 {
            format!("changed: {version}\n")
        } else {
            format!("key_{at}_{seed}: value {}\n", at * seed)
        }
    };
    (0..60).map(line).collect()
}

/// Every path of a snapshot below its folder, with the text of files.
fn all(snapshot: &Snapshot, folder: &Path) -> BTreeMap<String, String> {
    let folder = folder.to_str().unwrap();
    let mut found = BTreeMap::new();
    for file in snapshot.files() {
        let at = crate::workspace::path::within(file.path(), folder).unwrap();
        found.insert(at.to_string(), file.text().to_string());
    }
    found
}

fn read(folder: &Path, revision: &str) -> Result<BTreeMap<String, String>, String> {
    let snapshot = snapshot_of_revision(
        folder.to_str().unwrap(),
        revision,
        &crate::workspace::FileSettings::default(),
    );
    snapshot
        .map(|snapshot| all(&snapshot, folder))
        .map_err(|error| error.message)
}

/// The files that git checks out, in a fresh folder.
fn checked_out(repo: &Path, revision: &str) -> BTreeMap<String, String> {
    let other = tempfile::tempdir().unwrap();
    let at = other.path().join("x");
    let at_text = at.to_str().unwrap();
    git(
        repo,
        &["worktree", "add", "-q", "-f", "--detach", at_text, revision],
    );
    let found = all(&snapshot_of(at_text), &at);
    git(repo, &["worktree", "remove", "-f", at_text]);
    assert!(!found.is_empty());
    found
}

const REVISIONS: [&str; 16] = [
    "HEAD",
    "@",
    "HEAD~1",
    "HEAD~1^2",
    "HEAD^^1",
    "HEAD~3",
    "main",
    "main~1^0",
    "heads/main",
    "refs/heads/side/branch",
    "side/branch",
    "light",
    "heavy",
    "heavy^{commit}",
    "heavy^{}~1",
    "tags/heavy",
];

fn assert_revisions(folder: &Path) {
    for revision in REVISIONS {
        let expected = checked_out(folder, revision);
        assert_eq!(read(folder, revision).as_ref(), Ok(&expected), "{revision}");
    }
    let full = git(folder, &["rev-parse", "HEAD~1"]);
    let full = full.trim();
    let expected = checked_out(folder, full);
    for name in [full, &full[..10], &full[..7].to_uppercase()] {
        assert_eq!(read(folder, name).as_ref(), Ok(&expected), "{name}");
    }
}

#[test]
fn revisions_of_loose_objects_are_what_git_checks_out() {
    let Some(repo) = Repo::new() else { return };
    assert_revisions(repo.path());
}

#[test]
fn revisions_in_packs_of_every_form_are_what_git_checks_out() {
    let Some(repo) = Repo::new() else { return };
    repo.git(&["gc", "-q", "--aggressive", "--prune=now"]);
    assert!(!repo.path().join(".git/refs/heads/main").exists());
    assert_revisions(repo.path());
    // Deltas that name their base, and the older form of the index.
    for form in [
        ["-c", "repack.useDeltaBaseOffset=false"],
        ["-c", "pack.indexVersion=1"],
    ] {
        repo.git(&[&form[..], &["repack", "-q", "-a", "-d", "-F", "--depth=40"]].concat());
        assert_revisions(repo.path());
    }
    let stat = repo.git(&["count-objects", "-v"]);
    assert!(
        stat.contains("count: 0\n") && stat.contains("packs: 1\n"),
        "{stat}"
    );
}

#[test]
fn linked_checkouts_and_folders_below_the_top_are_read_and_foreign_objects_are_not() {
    let Some(repo) = Repo::new() else { return };
    let around = tempfile::tempdir().unwrap();
    let linked = around.path().join("linked");
    let linked_text = linked.to_str().unwrap();
    repo.git(&[
        "worktree",
        "add",
        "-q",
        linked_text,
        "-b",
        "other",
        "HEAD~1",
    ]);
    let expected = checked_out(repo.path(), "main~1");
    assert_eq!(read(&linked, "HEAD"), Ok(expected.clone()));
    assert_eq!(read(&linked, "main~1"), Ok(expected.clone()));
    let shared = around.path().join("shared");
    let source = repo.path().to_str().unwrap();
    git(
        around.path(),
        &["clone", "-q", "--shared", source, "shared"],
    );
    let why = read(&shared, "origin~1").unwrap_err();
    assert!(
        why.ends_with(", outside the repository, which are not read"),
        "{why}"
    );
    let whole = around.path().join("whole");
    git(around.path(), &["clone", "-q", source, "whole"]);
    assert_eq!(read(&whole, "origin~1"), Ok(expected.clone()));
    assert_eq!(read(&whole, "origin/main^"), Ok(expected));
    // Objects next to the repository's own, but inside it.
    let (own, lent) = (whole.join(".git/objects"), whole.join(".git/lent"));
    std::fs::rename(&own, &lent).unwrap();
    std::fs::create_dir_all(own.join("info")).unwrap();
    std::fs::write(own.join("info/alternates"), "../lent\n").unwrap();
    assert!(read(&whole, "origin~1").is_ok());
    let below = read(&repo.path().join("data"), "HEAD").unwrap();
    assert!(below.contains_key("c.yaml") && below.contains_key("n/n1.yaml"));
    let why = read(&repo.path().join("data/nothing"), "HEAD").unwrap_err();
    assert_eq!(why, "revision 'HEAD': there is no folder 'data/nothing'");
}

#[test]
fn links_submodules_and_ignored_modules_are_there_too() {
    let (Some(repo), Some(module)) = (Repo::new(), Repo::new()) else {
        return;
    };
    let source = module.path().to_str().unwrap();
    repo.git(&["submodule", "add", "-q", source, "shared"]);
    repo.write(".gitignore", "/modules/*\n!/modules/own\n");
    repo.write("modules/own/metadata.json", "{\"name\": \"a-own\"}");
    for (target, at) in [
        ("data/n", "linked"),
        ("../c.yaml", "data/n/link.yaml"),
        ("nothing", "data/gone.yaml"),
        ("round", "data/round"),
    ] {
        std::os::unix::fs::symlink(target, repo.path().join(at)).unwrap();
    }
    repo.commit("links");
    repo.write("modules/ntp/data/common.yaml", "ntp::servers: [a]\n");
    repo.write("data/new.yaml", "a: 1\n");
    repo.write("data/c.yaml", "edited: 1\n");
    let mut expected = checked_out(repo.path(), "HEAD");
    // A linked checkout has no submodules of its own.
    for (at, text) in checked_out(module.path(), "HEAD") {
        expected.insert(format!("shared/{at}"), text);
    }
    let ntp = "modules/ntp/data/common.yaml";
    expected.insert(ntp.into(), "ntp::servers: [a]\n".into());
    let found = read(repo.path(), "HEAD").unwrap();
    assert_eq!(found, expected);
    assert_eq!(found["linked/link.yaml"], page(100, 1));
    use crate::workspace::Files;
    // A broken link is broken in the revision as on the disk.
    let folder = repo.path().to_str().unwrap();
    let settings = crate::workspace::FileSettings::default();
    let revision = snapshot_of_revision(folder, "HEAD", &settings).unwrap();
    let data = format!("{folder}/data");
    let lost = revision.lost_links(&data);
    assert_eq!(lost, ["gone.yaml", "round"].map(std::sync::Arc::from));
    assert_eq!(lost, snapshot_of(folder).lost_links(&data));
}

#[test]
fn nothing_that_a_repository_names_is_run() {
    let Some(repo) = Repo::new() else { return };
    let marker = repo.path().join("ran");
    let touch = format!("touch {}", marker.to_str().unwrap());
    for (name, value) in [
        ("core.fsmonitor", touch.as_str()),
        ("filter.x.smudge", &touch),
        ("filter.x.clean", &touch),
        ("diff.x.textconv", &touch),
        ("alias.log", &format!("!{touch}")),
        ("core.pager", &touch),
    ] {
        repo.git(&["config", name, value]);
    }
    std::fs::write(
        repo.path().join(".gitattributes"),
        "*.yaml filter=x diff=x\n",
    )
    .unwrap();
    assert!(read(repo.path(), "HEAD~1").is_ok());
    assert!(!marker.exists());
}

#[test]
fn unreadable_revisions_are_refused_by_name() {
    let nowhere = tempfile::tempdir().unwrap();
    let why = read(nowhere.path(), "HEAD").unwrap_err();
    assert!(why.ends_with(" is not in a git repository"), "{why}");
    let Some(repo) = Repo::new() else { return };
    let at = repo.path().display();
    let missing = "1234567890123456789012345678901234567890";
    for (revision, expected) in [
        ("nope", format!("no revision 'nope' in {at}")),
        (
            "../HEAD",
            "revision '../HEAD' cannot be read: it is a range".into(),
        ),
        ("", format!("no revision '' in {at}")),
        (
            "HEAD~99",
            "revision 'HEAD~99' cannot be read: no such parent".into(),
        ),
        (
            "HEAD^9",
            "revision 'HEAD^9' cannot be read: no such parent".into(),
        ),
        (
            "main@{u}",
            "revision 'main@{u}' cannot be read: '@{…}' and ':' are not supported".into(),
        ),
        (
            missing,
            format!(
                "object {missing} is not in the repository, which may be a shallow or partial clone"
            ),
        ),
    ] {
        assert_eq!(read(repo.path(), revision), Err(expected), "{revision}");
    }
    let blob = repo.git(&["rev-parse", "HEAD:hiera.yaml"]);
    let why = read(repo.path(), blob.trim()).unwrap_err();
    assert!(why.ends_with(" is not a commit"), "{why}");
    // A shallow clone ends where its objects do.
    let url = format!("file://{at}");
    let shallow = nowhere.path().join("shallow");
    git(
        nowhere.path(),
        &["clone", "-q", "--depth=1", &url, "shallow"],
    );
    assert!(read(&shallow, "HEAD").is_ok());
    let why = read(&shallow, "HEAD~1").unwrap_err();
    assert!(why.contains("shallow or partial clone"), "{why}");
    // Broken objects are reported, without a panic.
    let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
    let loose = repo
        .path()
        .join(".git/objects")
        .join(&tree[..2])
        .join(tree[2..].trim());
    for bytes in [&b""[..], b"\x78\x9c", b"nonsense"] {
        std::fs::remove_file(&loose).unwrap();
        std::fs::write(&loose, bytes).unwrap();
        assert!(read(repo.path(), "HEAD").is_err());
    }
}

#[test]
fn broken_packs_never_panic() {
    let Some(repo) = Repo::new() else { return };
    repo.git(&["gc", "-q", "--aggressive", "--prune=now"]);
    let packs = repo.path().join(".git/objects/pack");
    let files = std::fs::read_dir(&packs)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut dice: u64 = 1;
    for path in files.filter(|path| path.extension().is_some_and(|end| end != "rev")) {
        let whole = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        for round in 0..60 {
            let mut bytes = whole.clone();
            dice = dice
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(round);
            let at = (dice >> 20) as usize % bytes.len();
            match round % 3 {
                0 => bytes.truncate(at),
                1 => bytes[at] ^= (dice >> 50) as u8,
                _ => bytes[at.min(1100)] = 0xff,
            }
            std::fs::write(&path, bytes).unwrap();
            let _ = read(repo.path(), "HEAD~1");
        }
        std::fs::write(&path, whole).unwrap();
    }
    assert!(read(repo.path(), "HEAD~1").is_ok());
}

/// Bytes as an uncompressed zlib stream.
fn zlib(bytes: &[u8]) -> Vec<u8> {
    let (mut a, mut b) = (1u32, 0u32);
    for byte in bytes {
        a = (a + u32::from(*byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    let length = u16::try_from(bytes.len()).unwrap();
    let mut stream = vec![0x78, 1, 1];
    stream.extend(length.to_le_bytes());
    stream.extend((!length).to_le_bytes());
    stream.extend(bytes);
    stream.extend((b << 16 | a).to_be_bytes());
    stream
}

/// The head of an object in a pack: its kind and its claimed size.
fn pack_head(kind: u8, size: u64) -> Vec<u8> {
    let mut head = vec![kind << 4 | (size & 15) as u8];
    let mut rest = size >> 4;
    while rest > 0 {
        *head.last_mut().unwrap() |= 0x80;
        head.push((rest & 127) as u8);
        rest >>= 7;
    }
    head
}

#[test]
fn sizes_that_an_object_only_claims_take_no_memory() {
    const HUGE: u64 = 1 << 45;
    let Some(repo) = Repo::new() else { return };
    let objects = repo.path().join(".git/objects");
    let loose = objects.join("11/11111111111111111111111111111111111111");
    std::fs::create_dir_all(loose.parent().unwrap()).unwrap();
    for head in [
        format!("commit {HUGE}\0"),
        "commit 99999999999999999999999\0".into(),
    ] {
        std::fs::write(&loose, zlib(head.as_bytes())).unwrap();
        assert!(read(repo.path(), &"1".repeat(40)).is_err());
    }
    // A commit, and a delta to an object of this pack, each with any claimed size.
    let base = [pack_head(1, 4), zlib(b"tree")].concat();
    let delta = [&[4][..], &pack_size(HUGE), &[0x90, 4]].concat();
    let back = u8::try_from(base.len()).unwrap();
    let difference = [pack_head(6, delta.len() as u64), vec![back], zlib(&delta)].concat();
    let difference = [base, difference].concat();
    for (body, offset) in [
        ([pack_head(1, HUGE), zlib(b"tree")].concat(), 12),
        (difference, 12 + u32::from(back)),
    ] {
        let mut pack = b"PACK\0\0\0\x02\0\0\0\x02".to_vec();
        pack.extend(body);
        pack.extend([0; 20]);
        let mut index = b"\xfftOc\0\0\0\x02".to_vec();
        for first in 0..256u32 {
            index.extend(u32::from(first >= 0x22).to_be_bytes());
        }
        index.extend([0x22; 20]);
        index.extend([0; 4]);
        index.extend(offset.to_be_bytes());
        index.extend([0; 40]);
        let name = objects.join(format!("pack/pack-{}", "3".repeat(40)));
        std::fs::create_dir_all(objects.join("pack")).unwrap();
        std::fs::write(name.with_extension("pack"), pack).unwrap();
        std::fs::write(name.with_extension("idx"), index).unwrap();
        let why = read(repo.path(), &"2".repeat(40)).unwrap_err();
        assert!(!why.contains("shallow"), "{why}");
    }
}

/// A size in the format of a delta's head.
fn pack_size(size: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = size;
    while rest > 127 {
        bytes.push((rest & 127) as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    bytes
}
