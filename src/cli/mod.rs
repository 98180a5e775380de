//! The command line: `lookup`, `check`, `server`.
//!
//! Values go to standard output, everything else to standard error. Exit codes are documented in
//! `docs/exit-codes.md`.

mod batch;

use std::process::ExitCode;

/// Runs the program on the process's arguments and returns its exit code.
#[must_use]
pub fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        ["lookup", "--batch"] => batch::run(),
        _ => ExitCode::FAILURE,
    }
}
