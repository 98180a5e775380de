//! What an installation has beside the program: its version in full, completions of shells, manual
//! pages. All follow from the command line's own description.

use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::Arguments;
use super::rules::printed;
use super::terminal::complain;
use crate::disk;

/// The version, the commit where the build knew it, and the target.
pub(super) fn version() -> &'static str {
    const COMMIT: &str = env!("HIERA_LS_COMMIT");
    match COMMIT {
        "" => concat!(
            env!("CARGO_PKG_VERSION"),
            " (",
            env!("HIERA_LS_TARGET"),
            ")"
        ),
        _ => concat!(
            env!("CARGO_PKG_VERSION"),
            " (",
            env!("HIERA_LS_COMMIT"),
            ", ",
            env!("HIERA_LS_TARGET"),
            ")"
        ),
    }
}

/// Prints the completions of a shell.
pub(super) fn completions(shell: Shell) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "hiera-ls", &mut script);
    printed(&String::from_utf8_lossy(&script))
}

/// Prints the manual page of the program, or writes one for each command into a folder.
pub(super) fn manual(folder: Option<&Path>) -> ExitCode {
    let command = Arguments::command().disable_help_subcommand(true);
    if let Some(folder) = folder {
        return match clap_mangen::generate_to(command, folder) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                complain(&format!("{}: {}", folder.display(), disk::failure(&error)));
                ExitCode::FAILURE
            }
        };
    }
    let mut page = Vec::new();
    match clap_mangen::Man::new(command).render(&mut page) {
        Ok(()) => printed(&String::from_utf8_lossy(&page)),
        Err(error) => {
            complain(&error.to_string());
            ExitCode::FAILURE
        }
    }
}
