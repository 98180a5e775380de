//! An editor's session and the commands, on any folder: `cargo bench --bench session -- FOLDER`.
//!
//! Without a folder, on a generated repository with classes, modules and known nodes: 100, or
//! `NODES=n`. Parts by name: `-- session`, `check`, and `growth`, which runs only by name: the
//! session in Valgrind on a generated repository and on one with four times as many nodes. It fails
//! if a request's instructions grow faster than the nodes.
//!
//! `FACTS=PATH` names a file or folder of nodes outside. `PROGRAM=PATH` is measured instead of this
//! build; with `BESIDE=PATH` a second program gets the same requests in turn. `SAMPLES=n` is the
//! number of requests of a kind in each of `ROUNDS=n` rounds. After `LIMIT=n` seconds an answer is
//! late, a command after ten times as many.
//!
//! Files, places and values are drawn from a fixed seed. Times are wall-clock times. It fails if an
//! answer is an error, is late, or is empty where it must not be.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a benchmark stops at the first surprise, runs programs and prints"
)]

mod client;
mod commands;
mod generator;
mod measure;
mod replay;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use generator::ControlRepo;
use measure::number;
use replay::ground::{Ground, draws};
use replay::steps::{PUSHED, STEPS};
use replay::table::{grown, printed};
use replay::work::can_count;
use replay::{Diagnostics, Measure, Session, Step};

/// Number of timed rounds over all steps, after one that warms up, and of runs of each command.
const ROUNDS: usize = 3;

/// Number of nodes of the generated repository.
const NODES: usize = 100;

/// How many times as many nodes the larger repository has, and the maximum growth of a request's
/// work: no faster than the nodes, with some room for other keys.
const GROWTH: usize = 4;
const MAX_GROWTH: f64 = 5.0;

/// Number of profiles of these repositories: in Valgrind a program is about fifty times as slow.
const PROFILES: usize = 4;

/// How diagnostics come, and the steps of a session of that form.
type Pass = (Diagnostics, &'static [(&'static str, Step)]);

/// A session of each form.
const PASSES: [Pass; 2] = [
    (Diagnostics::Pulled, &STEPS),
    (Diagnostics::Pushed, &PUSHED),
];

fn main() -> ExitCode {
    if let Ok(program) = std::env::var(commands::OF_A_COMMAND) {
        commands::one(&program);
        return ExitCode::SUCCESS;
    }
    let words = std::env::args().skip(1);
    let words: Vec<String> = words.filter(|word| !word.starts_with('-')).collect();
    let is_part = |word: &&String| ["session", "check", "growth"].contains(&word.as_str());
    let (parts, folders): (Vec<&String>, Vec<&String>) = words.iter().partition(is_part);
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|wanted| *wanted == part);
    if parts.iter().any(|part| *part == "growth") {
        return ended(&growth());
    }
    let generated = tempfile::tempdir().unwrap();
    let folder = match folders.first() {
        Some(folder) => PathBuf::from(folder),
        None => {
            ControlRepo::with_code(number("NODES", NODES)).write(generated.path());
            generated.path().to_owned()
        }
    };
    let ours = path("PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_hiera-ls").into());
    let programs: Vec<PathBuf> = std::iter::once(ours).chain(path("BESIDE")).collect();
    let ground = Ground::of(&folder, path("FACTS"));
    println!(
        "{}: {} files, {:.1} MB",
        ground.folder.display(),
        ground.size.0,
        ground.size.1 as f64 / 1e6
    );
    for document in &ground.documents {
        println!(
            "  {:<10} {} ({} names)",
            document.kind.name(),
            document.path.display(),
            document.names.len()
        );
    }
    for program in &programs {
        println!("program: {}", program.display());
    }
    let limit = Duration::from_secs(number("LIMIT", 60) as u64);
    let mut wrong = Vec::new();
    if wanted("session") {
        wrong.extend(session(
            &ground,
            &programs,
            (Diagnostics::Pulled, &STEPS),
            limit,
        ));
        wrong.extend(session(
            &ground,
            &programs,
            (Diagnostics::Pushed, &PUSHED),
            limit,
        ));
    }
    if wanted("check") {
        wrong.extend(commands::measured(
            &ground,
            &programs,
            (number("ROUNDS", ROUNDS), limit * 10),
        ));
    }
    ended(&wrong)
}

/// Prints what went wrong.
fn ended(wrong: &[String]) -> ExitCode {
    for complaint in wrong {
        println!("WRONG: {complaint}");
    }
    if wrong.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// How the work of requests grows with the number of nodes; returns what grows faster.
fn growth() -> Vec<String> {
    if !can_count() {
        println!("SKIPPED: no Valgrind here");
        return Vec::new();
    }
    let limit = Duration::from_secs(number("LIMIT", 600) as u64);
    let few = number("NODES", NODES / 10);
    let program = path("PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_hiera-ls").into());
    let mut wrong = Vec::new();
    let mut tables = [few, few * GROWTH].map(|nodes| {
        let folder = tempfile::tempdir().unwrap();
        let repo = ControlRepo {
            profiles: PROFILES,
            ..ControlRepo::with_code(nodes)
        };
        repo.write(folder.path());
        let ground = Ground::of(folder.path(), None);
        let (how, steps) = PASSES[0];
        let measured = (how, Measure::Work);
        let mut session = Session::start(&program, &ground, measured, limit);
        session.is_counted = true;
        session.samples = number("SAMPLES", 3);
        for (name, step) in steps {
            step(&mut session, &mut draws(name, 0));
        }
        let table = std::mem::take(&mut session.table);
        session.client.kill();
        wrong.extend(table.complaints());
        table
    });
    let [less, more] = &mut tables;
    let rows = more.len();
    println!(
        "{} nodes, and {few} beside: {rows} kinds of requests",
        few * GROWTH
    );
    print!("{}", printed(more, Some(less), Measure::Work));
    wrong.extend(grown(more, less, MAX_GROWTH));
    wrong
}

/// A path from the environment.
fn path(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from)
}

/// Replays the steps with each program in turn, prints the tables, and returns what went wrong.
fn session(
    ground: &Ground,
    programs: &[PathBuf],
    (how, steps): Pass,
    limit: Duration,
) -> Vec<String> {
    let measured = (how, Measure::Time);
    let start = |program: &PathBuf| Session::start(program, ground, measured, limit);
    let mut sessions: Vec<Session<'_>> = programs.iter().map(start).collect();
    let samples = number("SAMPLES", 20);
    for round in 0..=number("ROUNDS", ROUNDS) {
        for (name, step) in steps {
            for session in &mut sessions {
                session.is_counted = round > 0;
                session.samples = if round > 0 { samples } else { 1 };
                step(session, &mut draws(name, round));
                session.settle();
            }
        }
    }
    println!();
    let mut wrong = Vec::new();
    for (session, program) in sessions.iter().zip(programs) {
        report(session, program);
        let complaints = session.table.complaints().into_iter();
        wrong.extend(complaints.map(|complaint| format!("{}: {complaint}", program.display())));
    }
    println!("{} kinds of requests", sessions[0].table.len());
    let beside = sessions.get(1).map(|session| &session.table);
    print!("{}", printed(&sessions[0].table, beside, Measure::Time));
    for session in sessions {
        session.client.kill();
    }
    wrong
}

fn report(session: &Session<'_>, program: &Path) {
    let [initialized, hovered, read] = session.started;
    println!(
        "{}: initialized {initialized:.0?}, first answer {hovered:.0?}, all files read {read:.0?}; processor time \
         {:.2} s, {:.0} MB at the peak",
        program.display(),
        session.client.processor_time().as_secs_f64(),
        session.peak()
    );
}
