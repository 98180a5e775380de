//! The command line on a folder: user time and memory at the peak of each command.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};

use crate::measure::ratio;
use crate::replay::ground::{Ground, Kind};

/// The variable that makes this program run a command and print what it took.
pub(crate) const OF_A_COMMAND: &str = "BENCH_COMMAND";

/// One command: its name in the table, its arguments, and the exit codes that are answers.
struct Asked {
    name: &'static str,
    arguments: Vec<String>,
    codes: &'static [i32],
}

/// What a run took.
#[derive(Clone, Copy)]
struct Used {
    user: Duration,
    /// Memory at the peak, in MB.
    peak: f64,
    /// The exit code; `None` if it was stopped at the limit.
    code: Option<i32>,
    /// Number of bytes on standard output.
    printed: usize,
}

/// Runs every command so many times with each program in turn, prints a table of the fastest runs, and
/// returns what went wrong.
pub(crate) fn measured(
    ground: &Ground,
    programs: &[PathBuf],
    (runs, limit): (usize, Duration),
) -> Vec<String> {
    let mut wrong = Vec::new();
    println!(
        "\n{:<22} {:>9} {:>8}   of each program in turn",
        "command", "user s", "MB"
    );
    for asked in commands(ground) {
        let mut best: Vec<Option<Used>> = vec![None; programs.len()];
        for _ in 0..runs.max(1) {
            for (best, program) in best.iter_mut().zip(programs) {
                let used = run(program, &asked.arguments, limit);
                let is_answer = used.code.is_some_and(|code| asked.codes.contains(&code));
                if !is_answer || used.printed == 0 {
                    let arguments = asked.arguments.join(" ");
                    let end = match used.code {
                        Some(code) => format!("code {code}, {} bytes", used.printed),
                        None => format!("not within {limit:.0?}"),
                    };
                    wrong.push(format!("{} {arguments}: {end}", program.display()));
                } else if best.is_none_or(|best| used.user < best.user) {
                    *best = Some(used);
                }
            }
        }
        let figures = best.iter().map(|used| match used {
            Some(used) => format!("{:>9.2} {:>8.0}", used.user.as_secs_f64(), used.peak),
            None => format!("{:>9} {:>8}", "-", "-"),
        });
        let figures: Vec<String> = figures.collect();
        let ratios = match best.as_slice() {
            [Some(ours), Some(beside)] => format!(
                " | {:.2} × {:.2} ×",
                ratio(ours.user, beside.user),
                ours.peak / beside.peak
            ),
            _ => String::new(),
        };
        println!("{:<22} {}{ratios}", asked.name, figures.join("  | "));
    }
    wrong.dedup();
    wrong
}

fn commands(ground: &Ground) -> Vec<Asked> {
    let folder = ground.folder.to_str().expect("a path in UTF-8");
    let facts = ground.facts.as_ref().map(|path| path.display().to_string());
    let common = ground.each(Kind::Common).chain(&ground.documents).next();
    let common = common.expect("a file is open");
    let scalar =
        |rest: &str| !rest.is_empty() && rest.chars().all(|letter| letter.is_ascii_alphanumeric());
    let with_scalar = common.names.iter().filter(|named| scalar(&named.rest));
    let with_scalar: Vec<&str> = with_scalar.map(|named| named.name.as_str()).collect();
    let key = with_scalar.get(with_scalar.len() / 2).copied();
    let key = key.unwrap_or(common.names[0].name.as_str());
    let [first, second] = [0, 1].map(|at| ground.nodes[at].as_str());
    let asked = |name, arguments: &[&str], codes| {
        let is_check = arguments[0] == "check";
        let mut arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        if is_check {
            arguments.push(folder.to_owned());
        } else {
            arguments.extend(["--workspace".to_owned(), folder.to_owned()]);
            let nodes = facts
                .iter()
                .flat_map(|path| ["--nodes".to_owned(), path.clone()]);
            arguments.extend(nodes);
        }
        Asked {
            name,
            arguments,
            codes,
        }
    };
    let lookup = facts.is_none();
    let wanted = format!("{key}=replaced");
    let mut all = vec![
        asked("check", &["check", "--format", "concise"], &[0, 1]),
        asked(
            "check --select",
            &["check", "--select", "dup-key", "--format", "concise"],
            &[0, 1],
        ),
        asked(
            "matrix KEY",
            &["matrix", key, "--format", "json-lines"],
            &[0],
        ),
        asked(
            "set KEY",
            &["set", key, "replaced", "--format", "json"],
            &[0, 2],
        ),
        asked("why-not", &["why-not", &wanted, "--node", first], &[0, 2]),
        asked("diff", &["diff", first, second], &[0, 2]),
        asked("lookup KEY --node", &["lookup", key, "--node", first], &[0]),
    ];
    // A lookup over all nodes takes a file of nodes, not a folder.
    if lookup {
        all.push(asked(
            "lookup KEY",
            &["lookup", key, "--explain"],
            &[0, 1, 2, 3],
        ));
    }
    all
}

/// Runs a command in a process of its own, which the system counts for itself.
fn run(program: &Path, arguments: &[String], limit: Duration) -> Used {
    let output = Command::new(std::env::current_exe().expect("this program has a path"))
        .args(arguments)
        .env(OF_A_COMMAND, program)
        .env("BENCH_LIMIT", limit.as_millis().to_string())
        .output()
        .expect("this program runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let mut words = text.split_whitespace().map(|word| word.parse::<i64>());
    let mut next = || words.next().and_then(Result::ok).expect("a number");
    let (microseconds, kibibytes, code, printed) = (next(), next(), next(), next());
    Used {
        user: Duration::from_micros(microseconds.unsigned_abs()),
        peak: kibibytes as f64 * 1024.0 / 1e6,
        code: i32::try_from(code).ok().filter(|code| *code >= 0),
        printed: usize::try_from(printed).unwrap_or_default(),
    }
}

/// Runs the named program on this process's arguments; prints its user time in microseconds, its
/// memory at the peak in KiB, its exit code (-1 at the limit), and how much it printed.
pub(crate) fn one(program: &str) {
    let limit = std::env::var("BENCH_LIMIT").ok();
    let limit = limit.and_then(|limit| limit.parse().ok()).unwrap_or(60_000);
    let file = tempfile::NamedTempFile::new().expect("a file for the output");
    let output = file.reopen().expect("the file opens");
    let mut child = Command::new(program)
        .args(std::env::args_os().skip(1))
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(Stdio::null())
        .spawn()
        .expect("the program runs");
    let end = Instant::now() + Duration::from_millis(limit);
    let code = loop {
        if let Some(status) = child.try_wait().expect("the system answers") {
            break status.code();
        }
        if Instant::now() > end {
            child.kill().expect("the program can be stopped");
            child.wait().expect("it ends");
            break None;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the system counts");
    let user = usage.user_time();
    println!(
        "{} {} {} {}",
        user.tv_sec() * 1_000_000 + user.tv_usec(),
        usage.max_rss(),
        code.unwrap_or(-1),
        file.path().metadata().map_or(0, |metadata| metadata.len())
    );
}
