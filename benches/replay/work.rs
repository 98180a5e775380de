//! The work of a request in instructions, which Valgrind's tool `callgrind` counts: the same on a
//! busy machine.

use std::path::Path;
use std::process::{Command, Stdio};

/// Counts the instructions of one process.
pub(crate) struct Counter {
    /// Where the counts are written.
    folder: tempfile::TempDir,
    process: u32,
    /// Number of counts so far, by which files are named.
    parts: usize,
}

impl Counter {
    /// A program that runs in Valgrind, and the folder of its counts.
    pub(crate) fn of(program: &Path) -> (Command, tempfile::TempDir) {
        let folder = tempfile::tempdir().expect("a folder for the counts");
        let mut command = Command::new("valgrind");
        command.args(["--quiet", "--tool=callgrind", "--instr-atstart=no"]);
        let file = folder.path().join("count");
        command.arg(format!("--callgrind-out-file={}", file.display()));
        command.arg(program).arg("--stdio").stderr(Stdio::null());
        (command, folder)
    }

    /// Counts in a process that was started so, from now on.
    pub(crate) fn new(process: u32, folder: tempfile::TempDir) -> Counter {
        let counter = Counter {
            folder,
            process,
            parts: 0,
        };
        counter.ask(&["instrumentation", "on"]);
        counter
    }

    /// Begins at 0.
    pub(crate) fn reset(&self) {
        self.ask(&["zero"]);
    }

    /// Number of instructions since the counter was reset.
    ///
    /// # Panics
    ///
    /// If Valgrind does not answer.
    pub(crate) fn count(&mut self) -> u64 {
        self.ask(&["dump"]);
        self.parts += 1;
        let file = self.folder.path().join(format!("count.{}", self.parts));
        let text = std::fs::read_to_string(&file).expect("Valgrind writes its count");
        std::fs::remove_file(&file).expect("the count can be removed");
        let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
        total.and_then(|total| total.parse().ok()).expect("a total")
    }

    fn ask(&self, words: &[&str]) {
        let process = format!("--pid={}", self.process);
        let asked = Command::new("vgdb").arg(process).args(words).output();
        let asked = asked.expect("Valgrind's vgdb runs");
        assert!(asked.status.success(), "{asked:?}");
    }
}

/// Whether Valgrind is installed.
pub(crate) fn can_count() -> bool {
    let mut both = ["valgrind", "vgdb"].into_iter();
    both.all(|name| Command::new(name).arg("--help").output().is_ok())
}
