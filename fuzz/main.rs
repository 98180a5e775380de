//! Random inputs against what must hold for every input: `fuzz/run`.
//!
//! `cargo run --example fuzz -- [--seconds N] [--seed N] [TARGET…]` runs each target for N seconds
//! on mutations of its seeds (`fuzz/seeds/TARGET`, and the fixtures). It is blind: no coverage guides it,
//! so that it needs nothing but a stable compiler; what makes up for that are pieces of each
//! grammar among the mutations. A finding is written to `fuzz/findings`, with a command that repeats it:
//! `--input FILE TARGET`.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a program for developers: it reads the clock and seeds, writes findings and prints"
)]

mod mutate;
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mutate::Mutator;
use targets::{TARGETS, Target};

/// One input may take so long, on a loaded machine and without optimization, before it counts as
/// one that never ends.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let mut seconds = 10;
    let mut seed = 1;
    let mut input = None;
    let mut wanted = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().expect("a value");
        match argument.as_str() {
            "--seconds" => seconds = value().parse().expect("seconds"),
            "--seed" => seed = value().parse().expect("a number"),
            "--input" => input = Some(value()),
            name => wanted.push(name.to_string()),
        }
    }
    let chosen = TARGETS
        .iter()
        .filter(|target| wanted.is_empty() || wanted.iter().any(|name| name == target.name));
    let mut findings = 0;
    let current = watch();
    for target in chosen {
        if let Some(path) = &input {
            (target.run)(&std::fs::read(path).expect("the input can be read"));
            println!("{}: the input passes", target.name);
            continue;
        }
        findings += fuzz(target, Duration::from_secs(seconds), seed, &current);
    }
    if findings == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The input that is being tried, since when, and for which target.
type Current = Arc<Mutex<Option<(Instant, &'static str, Vec<u8>)>>>;

/// Ends the program if one input takes for ever.
fn watch() -> Current {
    let current = Current::default();
    let watched = current.clone();
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let current = watched.lock().unwrap().clone();
            if let Some((since, target, input)) = current
                && since.elapsed() > PATIENCE
            {
                let path = keep(target, &input);
                println!(
                    "{target}: FINDING, no end within {PATIENCE:?}: {}",
                    path.display()
                );
                std::process::exit(1);
            }
        }
    });
    current
}

fn fuzz(target: &Target, time: Duration, seed: u64, current: &Current) -> usize {
    let seeds = seeds(target.name);
    let mut mutator = Mutator::new(seed, &seeds, target.pieces);
    let until = Instant::now() + time;
    let (mut runs, mut findings) = (0, 0);
    let mut slowest = Duration::ZERO;
    std::panic::set_hook(Box::new(|_| {}));
    for first in &seeds {
        findings += try_one(target, first, current, &mut slowest);
        runs += 1;
    }
    while Instant::now() < until && findings < 5 {
        let input = mutator.input();
        findings += try_one(target, &input, current, &mut slowest);
        runs += 1;
    }
    let _ = std::panic::take_hook();
    println!(
        "{}: {runs} inputs from {} seeds, {findings} findings, slowest {slowest:.0?}",
        target.name,
        seeds.len()
    );
    findings
}

fn try_one(target: &Target, input: &[u8], current: &Current, slowest: &mut Duration) -> usize {
    let began = Instant::now();
    *current.lock().unwrap() = Some((began, target.name, input.to_vec()));
    let result = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    *current.lock().unwrap() = None;
    *slowest = began.elapsed().max(*slowest);
    let Err(why) = result else { return 0 };
    let why = why
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| why.downcast_ref::<&str>().copied())
        .unwrap_or("a panic");
    let path = keep(target.name, input);
    println!("{}: FINDING in {}: {why}", target.name, path.display());
    1
}

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

fn keep(target: &str, input: &[u8]) -> PathBuf {
    let hash = mutate::hash(input);
    let folder = here().join("findings");
    std::fs::create_dir_all(&folder).expect("findings can be kept");
    let path = folder.join(format!("{target}-{hash:016x}"));
    std::fs::write(&path, input).expect("findings can be kept");
    path
}

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    list(&here().join("seeds").join(target), &mut paths);
    let fixtures = here().parent().unwrap().join("fixtures/acme");
    let mut more = Vec::new();
    list(&fixtures, &mut more);
    more.retain(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        match target {
            "hiera" => name == "hiera.yaml",
            _ => name.ends_with(".yaml") && path.metadata().is_ok_and(|file| file.len() < 8_000),
        }
    });
    paths.extend(more);
    paths.sort();
    paths
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect()
}

fn list(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            list(&entry.path(), paths);
        } else {
            paths.push(entry.path());
        }
    }
}
