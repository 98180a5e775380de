//! What an installation has beside the program: its version in full, completions of shells, manual
//! pages. All follow from the command line's own description.

use std::path::Path;
use std::process::ExitCode;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, Command, CommandFactory as _};
use clap_complete::Shell;

use super::Arguments;
use super::rules::printed;
use super::terminal::complain;
use crate::disk;
use crate::rules::RULES;

const PROGRAM: &str = "hiera-ls";

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
    let script = match shell {
        // A hyphen in the program's name parts the names of commands from their own labels there.
        Shell::Bash => {
            let name = PROGRAM.replace('-', "_");
            let script = script(shell, &name);
            script.replace(
                &format!("default {name}\n"),
                &format!("default {PROGRAM}\n"),
            )
        }
        _ => script(shell, PROGRAM),
    };
    printed(&script)
}

/// The completions of a shell for a program of a name.
fn script(shell: Shell, name: &str) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut with_codes(), name, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// The command line with all codes of rules as values.
fn with_codes() -> Command {
    let codes = |argument: Arg| {
        let codes = RULES.iter();
        let codes = codes.map(|rule| PossibleValue::new(rule.code).help(rule.summary));
        argument.value_parser(PossibleValuesParser::new(codes))
    };
    Arguments::command()
        .mut_subcommand("explain", |explain| explain.mut_arg("code", codes))
        .mut_subcommand("check", |check| {
            check.mut_arg("select", codes).mut_arg("ignore", codes)
        })
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
