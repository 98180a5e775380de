//! `hiera-ls check` over a large control repository: `cargo bench --bench check`.
//!
//! 12,000 files of 64 MB with 10,000 findings; the whole program, including process start.
//! `FILES=n` sets another number of files. All rules run; the findings on octal numbers are
//! printed. It fails above the floor of 4 s on two processors.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark stops at the first surprise, writes files and prints"
)]

mod measure;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use measure::{children_time, number};

/// Total size of all files in bytes.
const BYTES: usize = 64_000_000;

/// Total number of findings: octal numbers that were meant as modes.
const FINDINGS: usize = 10_000;

/// Maximum time of the fastest run, on two processors.
const FLOOR: Duration = Duration::from_secs(4);

/// Number of runs.
const RUNS: usize = 3;

fn main() {
    let count = number("FILES", 12_000);
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), count);
    let (mut times, mut worked) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let (start, before) = (Instant::now(), children_time());
        let output = Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
            .args(["check", "--format", "concise", "--exit-zero"])
            .args(["--select", "yaml11-octal"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        times.push(start.elapsed());
        worked.push(children_time() - before);
        let found = output.stdout.iter().filter(|byte| **byte == b'\n').count();
        // One line is the summary.
        assert_eq!(found, FINDINGS + 1);
    }
    let best = times.iter().min().unwrap();
    println!(
        "check of {count} files, {} MB, {FINDINGS} findings: {:.2} s of {RUNS} runs ({times:.2?}), processor \
         time {worked:.2?}",
        BYTES / 1_000_000,
        best.as_secs_f64()
    );
    assert!(*best < FLOOR, "the floor is {FLOOR:?}");
}

/// Writes a file for each node, and one that all nodes read.
fn write(folder: &Path, count: usize) {
    let hierarchy = "version: 5\nhierarchy:\n  - {name: Node, path: 'node/%{trusted.certname}.yaml'}\n  - \
                     {name: Common, path: common.yaml}\n";
    std::fs::create_dir_all(folder.join("data/node")).unwrap();
    std::fs::write(folder.join("hiera.yaml"), hierarchy).unwrap();
    std::fs::write(folder.join("data/common.yaml"), "base::x: 1\n").unwrap();
    let each = BYTES / count;
    let mut wanted = 0;
    for file in 0..count {
        let mut text = String::with_capacity(each + 200);
        let findings = FINDINGS * (file + 1) / count - wanted;
        wanted += findings;
        for at in 0..findings {
            let _ = writeln!(text, "profile::mode{at}::mode: 0644");
        }
        let mut at = 0;
        while text.len() < each {
            let _ = write!(
                text,
                "profile::app{at}::settings:\n  name: 'node{file}'\n  ports: [80, 443]\n  path: \
                 \"/srv/%{{facts.networking.fqdn}}/{at}\"\n  labels: {{team: web, tier: front}}\n"
            );
            at += 1;
        }
        std::fs::write(folder.join(format!("data/node/n{file}.example.yaml")), text).unwrap();
    }
}
