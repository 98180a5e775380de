//! The model: opening, editing and hovering, and how each grows with the number of nodes: `cargo
//! bench --bench workspace`.
//!
//! `-- manifests` runs only keystrokes in manifests, `-- nodes` the rest. Sizes are 100, 1,000 and
//! 10,000 nodes, and 100,000 with `LARGE=1`; `NODES=n` selects one size. Every figure is printed
//! next to its reference from the same run: reading the bytes, libyaml's events over them, one
//! libyaml parse of the edited file.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a benchmark stops at the first surprise, reads files and prints"
)]

mod generator;
mod manifests;
mod measure;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use generator::ControlRepo;
use hiera_ls::analysis::Analysis;
use hiera_ls::disk::{Ignore, scan, snapshot_of};
use hiera_ls::ide::KnownNodes;
use hiera_ls::ide::hover::{HoverOptions, hover};
use hiera_ls::ide::outline::outline;
use hiera_ls::ide::symbols::workspace_symbols;
use hiera_ls::lookup::{ConfigCache, PuppetVersion, Settings};
use hiera_ls::rules::Checker;
use hiera_ls::syntax::libyaml::Parser;
use hiera_ls::workspace::{Change, Snapshot, Workspace};
use measure::{best, left_out, note, number, process_time, quantile, ratio, report, thread_time};

/// Number of edits and hovers for a quantile.
const SAMPLES: usize = 400;

fn main() {
    if let Ok(folder) = std::env::var("BENCH_MEMORY_OF") {
        memory_of(&folder);
        return;
    }
    if let Ok(mebibytes) = std::env::var("BENCH_DOCUMENT") {
        memory_of_document(mebibytes.parse().unwrap());
        return;
    }
    if !left_out("manifests") {
        manifests::parsing();
        manifests::keystrokes();
    }
    if left_out("nodes") {
        return;
    }
    document();
    let sizes = match (number("NODES", 0), number("LARGE", 0)) {
        (0, 0) => vec![100, 1_000, 10_000],
        (0, _) => vec![100, 1_000, 10_000, 100_000],
        (one, _) => vec![one],
    };
    let mut edits: Vec<(usize, Duration)> = Vec::new();
    for nodes in sizes {
        let repo = ControlRepo::of(nodes);
        let folder = tempfile::tempdir().unwrap();
        let (files, bytes) = repo.write(folder.path());
        println!(
            "\n{nodes} nodes: {files} files, {:.1} MB",
            bytes as f64 / 1e6
        );
        open(folder.path(), files, bytes);
        edits.push((nodes, work(&repo, folder.path().to_str().unwrap())));
    }
    if let (Some((few, small)), Some((many, large))) = (
        edits.iter().find(|(nodes, _)| *nodes >= 1_000),
        edits.last(),
    ) && few < many
    {
        report(
            &format!("\nkeystroke at {many} nodes against {few}"),
            &format!(
                "{large:.1?} against {small:.1?}: {:.2}×",
                ratio(*large, *small)
            ),
            "≤ 1.5×",
            ratio(*large, *small) <= 1.5,
        );
    }
}

/// From nothing to the complete index.
fn open(folder: &Path, files: usize, bytes: usize) {
    let mut paths = Vec::new();
    list(folder, &mut paths);
    assert_eq!(paths.len(), files);
    let (texts, read) = in_process(|| -> Vec<Vec<u8>> {
        paths
            .iter()
            .map(|path| std::fs::read(path).unwrap())
            .collect()
    });
    let events = best(2, || {
        texts.iter().map(|text| events_of(text)).sum::<usize>()
    });
    let folder = folder.to_str().unwrap();
    let started = Instant::now();
    let (snapshot, opened) = in_process(|| snapshot_of(folder));
    let wall = started.elapsed();
    assert_eq!(snapshot.files().count(), files);
    assert!(snapshot.key_names("").count() >= 2880);
    let own = opened.saturating_sub(read);
    note("plain read of all files", &format!("{read:.0?} CPU"));
    let speed = bytes as f64 / 1e6 / events.as_secs_f64();
    note(
        "libyaml events",
        &format!("{events:.0?} CPU, {speed:.0} MB/s"),
    );
    report(
        "open to complete index",
        &format!(
            "{opened:.0?} CPU, {wall:.0?} in all; without the read {:.2}× the events",
            ratio(own, events)
        ),
        "≤ 2×",
        ratio(own, events) <= 2.0,
    );
    drop(snapshot);
    drop(texts);
    memory(folder, bytes);
}

fn memory(folder: &str, bytes: usize) {
    let output = Command::new(std::env::current_exe().unwrap())
        .env("BENCH_MEMORY_OF", folder)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut sizes = text
        .split_whitespace()
        .map(|word| word.parse::<usize>().unwrap() * 1024);
    let (held, peak) = (sizes.next().unwrap(), sizes.next().unwrap());
    let allowed = 4 * bytes + 25_000_000;
    report(
        "memory",
        &format!(
            "{:.1} MB held, {:.1} MB at the peak, {:.2} bytes a byte of data",
            held as f64 / 1e6,
            peak as f64 / 1e6,
            held as f64 / bytes as f64
        ),
        "peak ≤ 4 bytes a byte + 25 MB",
        peak <= allowed,
    );
}

/// Prints the resident kilobytes, current and peak, of a process that has opened a folder.
fn memory_of(folder: &str) {
    let snapshot = snapshot_of(folder);
    print_memory();
    drop(snapshot);
}

fn print_memory() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let size = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().to_string()
    };
    println!("{} {}", size("VmRSS"), size("VmHWM"));
}

/// A huge open document, and the largest one that is parsed, with the server's memory for it: the
/// rope and the model.
fn document() {
    for mebibytes in [32, 15] {
        let output = Command::new(std::env::current_exe().unwrap())
            .env("BENCH_DOCUMENT", mebibytes.to_string())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let steps = ["opened", "edited", "checked", "hovered"];
        assert_eq!(text.lines().count(), steps.len(), "{text}");
        for (step, line) in steps.iter().zip(text.lines()) {
            let mut sizes = line.split_whitespace();
            let mut size = || sizes.next().unwrap().parse::<usize>().unwrap() * 1024;
            let (held, peak) = (size(), size());
            report(
                &format!("a document of {mebibytes} MiB, {step}"),
                &format!(
                    "{:.0} MB held, {:.0} MB at the peak",
                    held as f64 / 1e6,
                    peak as f64 / 1e6
                ),
                "held ≤ 400 MB",
                held <= 400_000_000,
            );
        }
    }
}

/// Prints the memory of a process with one open document after each step.
fn memory_of_document(mebibytes: usize) {
    let path = "/w/data/common.yaml";
    let workspace = Workspace::new();
    let write = |path: &str, text: &str, version: i32| {
        workspace.apply(Change::Open {
            path: path.into(),
            text: text.into(),
            version,
        })
    };
    workspace.apply(Change::Folders(vec!["/w".into()]));
    write("/w/hiera.yaml", "version: 5\n", 1);
    // It stands for the rope that the server keeps, which is about as large.
    let mut text = large_text(mebibytes << 20);
    drop(write(path, &text, 1));
    print_memory();
    text.push_str("last: 1\n");
    let snapshot = write(path, &text, 2);
    print_memory();
    let settings = Settings::for_version(PuppetVersion::V8).for_editor();
    let configs = Arc::<ConfigCache>::default();
    let checker = Checker::with_configs(&snapshot, settings.clone(), Arc::clone(&configs));
    assert!(checker.file(path).is_some());
    drop(checker);
    print_memory();
    let nodes = KnownNodes::default();
    let analysis = Analysis::new(&snapshot, &settings, &configs, &nodes);
    let found = hover(analysis, path, text.len() - 8, &HoverOptions::default());
    assert!(found.is_some());
    print_memory();
    drop(text);
}

/// Copies of a `common.yaml`, each with its own keys.
fn large_text(bytes: usize) -> String {
    let common = ControlRepo::of(100).common();
    let mut text = String::with_capacity(bytes + common.len() * 2);
    for copy in 0.. {
        if text.len() >= bytes {
            break;
        }
        for line in common.lines().filter(|line| *line != "---") {
            if copy > 0 && line.starts_with(|first: char| first.is_ascii_lowercase()) {
                text.push_str(&format!("c{copy}_"));
            }
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

/// Edits and hovers; returns the median cost of an edit of a node's file.
fn work(repo: &ControlRepo, folder: &str) -> Duration {
    let workspace = Workspace::new();
    let root: Arc<str> = Arc::from(folder);
    workspace.apply(Change::Folders(vec![root.clone()]));
    let on = |_| std::ops::ControlFlow::Continue(());
    workspace.apply(scan(&[root], &Ignore::default(), &on).change);
    let configs = Arc::<ConfigCache>::default();
    let machine = repo.machine(repo.nodes / 2);
    let node = format!("{folder}/data/nodes/{}.yaml", machine.certname);
    let median = edit(
        &workspace,
        &configs,
        "4 KB node file",
        &node,
        &repo.node_file(&machine),
    );
    edit(
        &workspace,
        &configs,
        "common.yaml",
        &format!("{folder}/data/common.yaml"),
        &repo.common(),
    );
    edit(
        &workspace,
        &configs,
        "hiera.yaml",
        &format!("{folder}/hiera.yaml"),
        &std::fs::read_to_string(format!("{folder}/hiera.yaml")).unwrap(),
    );
    hovers(repo, &workspace, folder);
    symbols(&workspace.snapshot(), &node);
    median
}

/// A letter typed at the end of a line in the middle of a file, and deleted; then the server's work
/// up to the file's findings.
fn edit(
    workspace: &Workspace,
    configs: &Arc<ConfigCache>,
    what: &str,
    path: &str,
    text: &str,
) -> Duration {
    let middle = text.len() / 2;
    let at = middle + text[middle..].find('\n').unwrap();
    let typed = format!("{}x{}", &text[..at], &text[at..]);
    let parse = best(20, || events_of(text.as_bytes()));
    let apply = |text: &str, version: i32| {
        workspace.apply(Change::Open {
            path: path.into(),
            text: text.into(),
            version,
        })
    };
    apply(text, 0);
    let rounds = if text.len() > 100_000 {
        SAMPLES / 8
    } else {
        SAMPLES
    };
    let mut applied = Vec::with_capacity(rounds);
    let mut checked = Vec::with_capacity(rounds);
    for version in 1..=rounds {
        let next = if version % 2 == 0 { text } else { &typed };
        let start = process_time();
        let snapshot = apply(next, version as i32);
        let after = process_time();
        let settings = Settings::for_version(PuppetVersion::V8).for_editor();
        let checker = Checker::with_configs(&snapshot, settings, Arc::clone(configs));
        let findings = checker.file(path);
        checked.push(process_time().saturating_sub(start));
        applied.push(after.saturating_sub(start));
        assert!(findings.is_some(), "{path} is a file of a hierarchy");
        assert_eq!(&**snapshot.file(path).unwrap().text(), next);
    }
    let (p50, p99) = (quantile(&mut applied, 0.5), quantile(&mut applied, 0.99));
    let checked_p99 = quantile(&mut checked, 0.99);
    let checked = quantile(&mut checked, 0.5);
    note(
        &format!("edit of {what}"),
        &format!(
            "index p50 {p50:.1?}, p99 {p99:.1?}; with the file's findings p50 {checked:.1?}, p99 \
             {checked_p99:.1?} ({:.1}× a libyaml parse of {parse:.1?})",
            ratio(checked, parse)
        ),
    );
    apply(text, 1_000_000);
    checked
}

/// Hovers in open documents.
fn hovers(repo: &ControlRepo, workspace: &Workspace, folder: &str) {
    let settings = Settings::for_version(PuppetVersion::V8).for_editor();
    let (configs, nodes) = (ConfigCache::default(), KnownNodes::default());
    let options = HoverOptions::default();
    for place in ["a node's file", "common.yaml"] {
        let mut times = Vec::with_capacity(SAMPLES);
        for sample in 0..SAMPLES {
            let path = if place == "common.yaml" {
                format!("{folder}/data/common.yaml")
            } else {
                let machine = repo.machine(sample * 7919 % repo.nodes);
                format!("{folder}/data/nodes/{}.yaml", machine.certname)
            };
            let saved = workspace.snapshot();
            let text = saved.file(&path).unwrap().text().clone();
            let snapshot = workspace.apply(Change::open(path.as_str(), text));
            let file = snapshot.file(&path).unwrap();
            let keys: Vec<_> = file
                .facts()
                .keys
                .iter()
                .filter(|key| &*key.name != "lookup_options")
                .collect();
            let key = keys[sample * 31 % keys.len()];
            let start = thread_time();
            let analysis = Analysis::new(&snapshot, &settings, &configs, &nodes);
            let found = hover(analysis, &path, key.key.start as usize, &options);
            times.push(thread_time().saturating_sub(start));
            let found = found.unwrap_or_else(|| panic!("no hover on {} in {path}", key.name));
            assert!(found.plain.contains(&*key.name), "{}", found.plain);
            if sample % 8 == 7 && place != "common.yaml" {
                workspace.apply(Change::Close {
                    path: path.as_str().into(),
                });
            }
        }
        let (p50, p99) = (quantile(&mut times, 0.5), quantile(&mut times, 0.99));
        report(
            &format!("hover in {place}"),
            &format!("p50 {p50:.1?}, p99 {p99:.1?} CPU"),
            "p50 ≤ 1 ms, p99 ≤ 8 ms",
            p50 <= Duration::from_millis(1) && p99 <= Duration::from_millis(8),
        );
    }
}

/// The outline of a file, and a search over all keys.
fn symbols(snapshot: &Snapshot, node: &str) {
    let keys = best(20, || outline(snapshot, node).len());
    assert!(!outline(snapshot, node).is_empty());
    let go_on = || false;
    let search = || workspace_symbols(snapshot, "p01::settings", 128, &go_on).len();
    assert!(search() > 0);
    let found = best(20, search);
    note(
        "symbols",
        &format!("of a node's file {keys:.1?}, of the workspace {found:.1?} CPU"),
    );
}

fn in_process<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = process_time();
    let result = work();
    (result, process_time().saturating_sub(start))
}

fn events_of(text: &[u8]) -> usize {
    let mut parser = Parser::new(text);
    let mut count = 0;
    while let Ok(Some(_)) = parser.next_event() {
        count += 1;
    }
    count
}

fn list(folder: &Path, paths: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            list(&entry.path(), paths);
        } else {
            paths.push(entry.path());
        }
    }
}
