//! Reads the command line and formats its errors.

use std::process::ExitCode;

use clap::builder::NonEmptyStringValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory as _, FromArgMatches as _, ValueEnum as _};

use super::terminal::{self, Color, complain};
use super::{Ended, ProgramArguments, printed};
use crate::text::nearest;

/// Arguments that may be empty. Elsewhere an empty text is an unset variable of a script, and an
/// empty path would be the current folder.
const MAY_BE_EMPTY: [&str; 3] = ["value", "default", "label"];

pub(super) const SENSELESS: u8 = 2;

pub(super) fn read() -> Result<ProgramArguments, clap::Error> {
    let matches = command().try_get_matches()?;
    ProgramArguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command()))
}

/// The command line with empty texts refused.
fn command() -> Command {
    let is_text = |argument: &Arg| {
        argument.get_value_parser().type_id() == std::any::TypeId::of::<String>()
            && !MAY_BE_EMPTY.contains(&argument.get_id().as_str())
    };
    let filled = |argument: Arg| {
        if is_text(&argument) {
            argument.value_parser(NonEmptyStringValueParser::new())
        } else {
            argument
        }
    };
    let mut command = ProgramArguments::command();
    let subcommands = command.get_subcommands();
    let names: Vec<String> = subcommands.map(|it| it.get_name().to_owned()).collect();
    for name in names {
        command = command.mut_subcommand(name, |subcommand| subcommand.mut_args(filled));
    }
    command
}

/// Prints the error of an invalid command line in our format, or the help or version it asked for.
pub(super) fn refuse(error: &clap::Error) -> Ended {
    let words: Vec<String> = words();
    terminal::choose_color(color(&words));
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        let text = error.render();
        return if terminal::is_coloured() {
            printed(&text.ansi().to_string())
        } else {
            printed(&text.to_string())
        };
    }
    complain(&message(error, &words));
    Ok(ExitCode::from(SENSELESS))
}

/// A pointer to a command's help, printed with every refused command line.
pub(super) fn see_help(command: &str) -> String {
    match command {
        "" => "run 'hiera-ls --help' for more".to_owned(),
        _ => format!("run 'hiera-ls {command} --help' for more"),
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "cli/ reads the arguments of the process"
)]
fn words() -> Vec<String> {
    let words = std::env::args_os().skip(1);
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

/// The colour choice of a command line that is not parsed further.
fn color(words: &[String]) -> Color {
    let pairs = words.iter().zip(words.iter().skip(1).map(String::as_str));
    let behind = pairs.filter_map(|(flag, value)| (flag == "--color").then_some(value));
    let within = words
        .iter()
        .filter_map(|word| word.strip_prefix("--color="));
    let chosen = behind.chain(within).last();
    let chosen = chosen.and_then(|name| Color::from_str(name, true).ok());
    chosen.unwrap_or_default()
}

/// The error, a suggestion, and a pointer to the help.
fn message(error: &clap::Error, words: &[String]) -> String {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let mut parts = text.split("\n\n");
    let mut text = parts.next().unwrap_or_default().trim_end().to_owned();
    if let Some(suggestion) = suggestion(error) {
        let end = text.find('\n').unwrap_or(text.len());
        text.insert_str(end, &format!(": did you mean '{suggestion}'?"));
    }
    if let Some(usage) = parts.find(|part| part.starts_with("Usage: ")) {
        text += &format!("\n{}", usage.trim_end());
    }
    let all = ProgramArguments::command();
    let named = words
        .iter()
        .find(|word| all.find_subcommand(word).is_some());
    format!("{text}\n{}", see_help(named.map_or("", String::as_str)))
}

fn suggestion(error: &clap::Error) -> Option<String> {
    let suggested = [
        ContextKind::SuggestedArg,
        ContextKind::SuggestedValue,
        ContextKind::SuggestedSubcommand,
    ];
    let suggested = suggested.into_iter().find_map(|kind| error.get(kind));
    match suggested {
        Some(ContextValue::String(one)) => return Some(one.clone()),
        Some(ContextValue::Strings(all)) => return all.first().cloned(),
        Some(_) | None => {}
    }
    let ContextValue::String(name) = error.get(ContextKind::InvalidSubcommand)? else {
        return None;
    };
    let all = ProgramArguments::command();
    let names = all.get_subcommands().map(Command::get_name);
    nearest(name, names).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The wording of an error.
    fn message_for(line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(|word| word.replace("''", "")).collect();
        let all = std::iter::once("hiera-ls").chain(words.iter().map(String::as_str));
        let error = command().try_get_matches_from(all).expect_err(line);
        message(&error, &words)
    }

    #[test]
    fn refused_command_lines_have_a_suggestion_and_a_help_hint() {
        for (line, expected) in [
            (
                "looku",
                "unrecognized subcommand 'looku': did you mean 'lookup'?\n\
                 Usage: hiera-ls [OPTIONS] [COMMAND]\nrun 'hiera-ls --help' for more",
            ),
            (
                "matrix a --format jso",
                "invalid value 'jso' for '--format <FORMAT>': did you mean 'json'?\n  \
                 [possible values: text, json, json-lines, csv, markdown]\n\
                 run 'hiera-ls matrix --help' for more",
            ),
            (
                "hover a.yaml",
                "invalid value 'a.yaml' for '<FILE:LINE[:COLUMN]>': expected FILE:LINE or \
                 FILE:LINE:COLUMN\nrun 'hiera-ls hover --help' for more",
            ),
            (
                "diff --against ''",
                "a value is required for '--against <REV|DIR>' but none was supplied\n\
                 run 'hiera-ls diff --help' for more",
            ),
        ] {
            assert_eq!(message_for(line), expected);
        }
        for line in ["matrix ''", "check ''", "matrix a --nodes ''", "test ''"] {
            assert!(message_for(line).contains("a value is required"), "{line}");
        }
    }

    #[test]
    fn an_empty_argument_is_accepted_as_a_value() {
        for line in ["set key ", "lookup key --default "] {
            let all = std::iter::once("hiera-ls").chain(line.split(' '));
            assert!(command().try_get_matches_from(all).is_ok(), "{line}");
        }
    }

    #[test]
    fn a_refused_command_line_may_choose_colours() {
        let color = |line: &str| color(&Vec::from_iter(line.split(' ').map(str::to_owned)));
        assert_eq!(color("check --help --color never"), Color::Never);
        assert_eq!(color("--color=always --help"), Color::Always);
        assert_eq!(color("check --color"), Color::Auto);
    }
}
