//! What an installation has besides the program: its full version, shell completions, manual pages.
//! All are derived from the definition of the command line.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, Command, CommandFactory as _};
use clap_complete::Shell;

use super::{Ended, ProgramArguments, printed};
use crate::disk;
use crate::rules::RULES;

const PROGRAM: &str = "hiera-ls";

/// The version, the commit if the build knew it, and the target.
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

pub(super) fn completions(shell: Shell) -> Ended {
    let script = match shell {
        // In that script a hyphen in the program's name breaks the match between commands and their
        // labels.
        Shell::Bash => {
            let name = PROGRAM.replace('-', "_");
            let script = script(shell, &name);
            script.replace(
                &format!("default {name}\n"),
                &format!("default {PROGRAM}\n"),
            )
        }
        Shell::Fish => script(shell, PROGRAM) + &positions_of_fish(),
        _ => script(shell, PROGRAM),
    };
    printed(&script)
}

/// The completions of a shell for a program name.
fn script(shell: Shell, name: &str) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut with_codes(), name, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// What the script of fish lacks: values of positional arguments, and of a flag before any command.
fn positions_of_fish() -> String {
    let mut command = with_codes();
    command.build();
    let mut lines = String::new();
    let before = command.get_opts();
    for flag in before.filter(|flag| flag.get_action().takes_values()) {
        let values = flag.get_possible_values();
        let names: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
        if let (Some(long), false) = (flag.get_long(), names.is_empty()) {
            let names = names.join(" ");
            let _ = writeln!(lines, "complete -c {PROGRAM} -l {long} -x -a '{names}'");
        }
    }
    for subcommand in command.get_subcommands() {
        let positions = subcommand.get_positionals();
        let values = positions.flat_map(Arg::get_possible_values);
        let values: Vec<PossibleValue> = values.filter(|value| !value.is_hide_set()).collect();
        for value in values {
            let help = value.get_help().map(ToString::to_string);
            let help = help.unwrap_or_default().replace('\'', "\\'");
            let _ = writeln!(
                lines,
                "complete -c {PROGRAM} -n \"__fish_hiera_ls_using_subcommand {}\" -f -a {} -d '{help}'",
                subcommand.get_name(),
                value.get_name(),
            );
        }
    }
    lines
}

/// The command line with all rule codes as possible values.
fn with_codes() -> Command {
    let codes = |argument: Arg| {
        let codes = RULES.iter();
        let codes = codes.map(|rule| PossibleValue::new(rule.code).help(rule.summary()));
        argument.value_parser(PossibleValuesParser::new(codes))
    };
    ProgramArguments::command()
        .mut_arg("color", |color| color.hide_possible_values(false))
        .mut_subcommand("explain", |explain| explain.mut_arg("code", codes))
        .mut_subcommand("check", |check| {
            check.mut_arg("select", codes).mut_arg("ignore", codes)
        })
}

/// Prints the manual page of the program, or writes one for each command into a folder.
#[allow(
    clippy::disallowed_methods,
    reason = "cli/ writes what it was asked to"
)]
pub(super) fn manual(folder: Option<&Path>) -> Ended {
    let command = ProgramArguments::command().disable_help_subcommand(true);
    if let Some(folder) = folder {
        let made = std::fs::create_dir_all(folder);
        let made = made.and_then(|()| clap_mangen::generate_to(command, folder));
        let failed = |error| format!("{}: {}", folder.display(), disk::failure(&error));
        return made.map(|()| ExitCode::SUCCESS).map_err(failed);
    }
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut page);
    rendered.map_err(|error| error.to_string())?;
    printed(&String::from_utf8_lossy(&page))
}
