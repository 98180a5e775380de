//! `hiera-ls upgrade`: the lookups that fail or change for known nodes with another version of Puppet,
//! by the change of Puppet that causes it.

mod fix;
mod sarif;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::console;
use super::puppet::puppet_version;
use super::suggestions::KnownKeys;
use super::terminal::{Layout, Paint, ProgressLine, complain, print, remark, shown};
use super::workspace::{WorkspaceArguments, load_with_any_nodes};
use super::{Ended, usage};
use crate::ide::json::json;
use crate::ide::matrix::SourceLine;
use crate::ide::upgrade::Upgrade;
use crate::ide::upgrade::report::{ReportLine, UpgradeReport};
use crate::lookup::PuppetVersion;
use fix::MadeFixes;

/// Exit code if a lookup fails newly, or a value is lost or changes.
const CHANGES: u8 = 1;

/// Exit code if nothing changes for certain, but something may.
const UNDECIDED: u8 = 3;

/// Which upgrade, of which nodes.
#[derive(Args)]
pub(super) struct UpgradeArguments {
    /// The version of today [default: --puppet-version, else as .hiera-ls.yaml says, else 7]
    #[arg(long, value_name = "7|8", value_parser = puppet_version)]
    from: Option<PuppetVersion>,
    /// The version to upgrade to; 9 is OpenVox 9
    #[arg(long, value_name = "8|9", value_parser = puppet_version, default_value = "9")]
    to: PuppetVersion,
    /// Only these keys; * stands for any characters
    #[arg(long = "key", value_name = "KEY")]
    keys: Vec<String>,
    /// Print no values: for public logs
    #[arg(long)]
    no_values: bool,
    /// Replace legacy facts where no value of any node changes in the version of today, and report
    /// what is left
    #[arg(long)]
    fix: bool,
    /// Print what --fix would change, and change nothing
    #[arg(long)]
    diff: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t)]
    format: UpgradeFormat,
    #[command(flatten)]
    pub(super) workspace: WorkspaceArguments,
}

/// How the changes are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum UpgradeFormat {
    /// For people
    #[default]
    Text,
    /// Markdown, as for a comment on a pull request
    Markdown,
    /// One JSON object
    Json,
    /// SARIF 2.1.0, without values
    Sarif,
}

/// Runs the command: exit code 0 if no lookup changes, 1 if one fails, loses its value or changes, 2 if
/// something could not be read, 3 if nothing changes for certain, but something may.
pub(super) fn run(arguments: &UpgradeArguments) -> ExitCode {
    compared(arguments).unwrap_or_else(|message| {
        complain(&message);
        ExitCode::from(usage::SENSELESS)
    })
}

fn compared(arguments: &UpgradeArguments) -> Ended {
    let mut flags = arguments.workspace.clone();
    flags.puppet = flags.puppet.with_version(arguments.from);
    let loaded = load_with_any_nodes(&flags, &[])?;
    let upgrade = loaded.upgrade(&loaded.here, &flags.puppet, arguments.to)?;
    loaded.note_known_nodes();
    let (report, is_missing) = reported(arguments, &upgrade)?;
    if !arguments.fix && !arguments.diff {
        return printed(arguments, (&report, is_missing), None);
    }
    let mut fixed = MadeFixes::find(&upgrade, &loaded)?;
    let after = loaded.checkout_with(fixed.snapshot.clone());
    let upgrade_after = loaded.upgrade(&after, &flags.puppet, arguments.to)?;
    let rest = reported_after(arguments, (&upgrade, &report), &upgrade_after)?;
    fixed.compare(&report, &rest);
    if arguments.diff {
        fixed.print_diff();
        fixed.lines(arguments).iter().for_each(|line| remark(line));
        return Ok(match fixed.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::from(CHANGES),
        });
    }
    fixed.write(&loaded.here.folder)?;
    printed(arguments, (&rest, is_missing), Some(&fixed))
}

/// The report of the keys that the arguments name, and whether some of them do not exist.
fn reported<'a>(
    arguments: &UpgradeArguments,
    upgrade: &'a Upgrade<'a>,
) -> Result<(UpgradeReport<'a>, bool), String> {
    let views = [upgrade.before(), upgrade.after()];
    let (keys, missing) = match arguments.keys.as_slice() {
        [] => (upgrade.keys(), Vec::new()),
        keys => KnownKeys::of(&views).chosen(keys),
    };
    missing.iter().for_each(|message| complain(message));
    let mut progress = ProgressLine::new();
    let mut report = UpgradeReport::of(upgrade, &keys, !arguments.no_values, &mut |done| {
        progress.count(done, keys.len(), "keys");
        go_on()
    })?;
    progress.clear();
    report.add_hiera_calls(&|key| arguments.keys.is_empty() || is_one_of(&keys, key));
    Ok((report, !missing.is_empty()))
}

/// The report after edits: only the keys that they can affect are looked up.
fn reported_after<'a>(
    arguments: &UpgradeArguments,
    (upgrade, report): (&Upgrade<'_>, &UpgradeReport<'_>),
    after: &'a Upgrade<'a>,
) -> Result<UpgradeReport<'a>, String> {
    let views = [after.before(), after.after()];
    let asked = match arguments.keys.as_slice() {
        [] => None,
        keys => Some(KnownKeys::of(&views).chosen(keys).0),
    };
    let touched = MadeFixes::touched([upgrade, after]).into_iter();
    let is_asked = |key: &str| asked.as_ref().is_none_or(|asked| is_one_of(asked, key));
    let keys: Vec<Arc<str>> = touched.filter(|key| is_asked(key)).collect();
    let mut progress = ProgressLine::new();
    let mut rest = UpgradeReport::after(after, report, &keys, &mut |done| {
        progress.count(done, keys.len(), "keys");
        go_on()
    })?;
    progress.clear();
    rest.add_hiera_calls(&is_asked);
    Ok(rest)
}

fn is_one_of(keys: &[Arc<str>], key: &str) -> bool {
    keys.iter().any(|it| **it == *key)
}

/// An error if the command was cancelled.
fn go_on() -> Result<(), String> {
    if console::is_cancelled() {
        return Err(console::CANCELLED.to_owned());
    }
    Ok(())
}

/// Prints a report behind what was fixed, and returns the exit code for it.
fn printed(
    arguments: &UpgradeArguments,
    (report, is_missing): (&UpgradeReport<'_>, bool),
    fixed: Option<&MadeFixes>,
) -> Ended {
    let lines = fixed
        .map(|fixed| fixed.lines(arguments))
        .unwrap_or_default();
    let text = match arguments.format {
        UpgradeFormat::Text => {
            let layout = Layout::of_output();
            let lines = lines.iter();
            let lines = lines.map(|line| layout.paragraph(Paint::Plain, line, 2));
            let gap = if fixed.is_some() { "\n" } else { "" };
            lines.collect::<String>() + gap + &for_people(report, layout)
        }
        UpgradeFormat::Markdown => {
            let lines = lines
                .iter()
                .map(|line| format!("{}\n\n", line.replace('`', "\u{2bb}")));
            lines.collect::<String>() + &report.markdown(&shown_line)
        }
        UpgradeFormat::Json => match fixed {
            Some(fixed) => json(&fixed.fields(report, !arguments.no_values)) + "\n",
            None => json(&report.fields()) + "\n",
        },
        UpgradeFormat::Sarif => format!("{:#}\n", sarif::sarif(report)),
    };
    print(&text)?;
    report
        .unknown(&shown_line)
        .iter()
        .for_each(|line| remark(line));
    Ok(if is_missing {
        ExitCode::from(usage::SENSELESS)
    } else if report.is_harmful() {
        ExitCode::from(CHANGES)
    } else if report.is_certain() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(UNDECIDED)
    })
}

fn shown_line(place: &SourceLine) -> String {
    format!("{}:{}", shown(&place.file), place.line)
}

fn for_people(report: &UpgradeReport<'_>, layout: Layout) -> String {
    let lines = report.for_people(&shown_line);
    let lines = lines.iter().map(|(kind, line)| match kind {
        ReportLine::Title => layout.line(Paint::Title, line),
        ReportLine::Text if line.is_empty() => "\n".to_owned(),
        ReportLine::Text => layout.paragraph(Paint::Plain, line, 4),
        ReportLine::Example => layout.line(Paint::Aside, line),
        ReportLine::Old => layout.line(Paint::Old, line),
        ReportLine::New => layout.line(Paint::New, line),
    });
    lines.collect()
}
