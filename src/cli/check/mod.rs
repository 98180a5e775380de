//! `hiera-ls check [PATH…]`: reports mistakes in the data. One file for each output format.

mod baseline;
mod checkstyle;
mod concise;
pub(super) mod fix;
mod frequent;
mod full;
mod github;
mod gitlab;
mod hidden;
mod json;
mod junit;
mod parallel;
mod rdjson;
pub(super) mod record;
mod report;
pub(super) mod sarif;
mod selection;
mod wanted;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueEnum};

use baseline::Baseline;
use fix::FixOptions;
use report::{CheckReport, FolderResult};
use selection::Selection;
use wanted::{Wanted, absolute};

use super::workspace::{Opened, WorkspaceArguments, no_hierarchy, workspace_folder};
use super::{Ended, terminal};
use crate::disk;
use crate::rules::Severity;
use crate::workspace::Snapshot;

/// How findings are printed; `docs/check-formats.md` describes each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum CheckFormat {
    /// For people, with excerpts
    #[default]
    Full,
    /// One line a finding
    Concise,
    /// One JSON array
    Json,
    /// One JSON object a line
    JsonLines,
    /// SARIF 2.1.0
    Sarif,
    /// Annotations of GitHub
    Github,
    /// GitLab's code quality report
    Gitlab,
    /// JUnit XML
    Junit,
    /// Checkstyle XML
    Checkstyle,
    /// Reviewdog's format, with suggestions
    Rdjson,
}

/// The arguments of `check`.
#[derive(Args, Debug)]
pub(crate) struct CheckArguments {
    /// Files, folders and patterns such as 'data/*.yaml' [default: --workspace, else the current folder]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<String>,
    #[command(flatten)]
    pub(crate) options: CheckOptions,
    #[command(flatten)]
    pub(crate) output: CheckOutput,
    #[command(flatten)]
    pub(crate) workspace: WorkspaceArguments,
}

/// Which findings of `check` are printed, and what is done with them.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct CheckOutput {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) fixes: FixOptions,
    /// Leave out the findings that this file knows
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<String>,
    /// Write all findings to a file for --baseline, and print none
    #[arg(long, value_name = "FILE", conflicts_with = "baseline")]
    pub(crate) write_baseline: Option<String>,
    /// Print how often each rule found something, instead of the findings
    #[arg(long)]
    pub(crate) statistics: bool,
    /// End with 0 although there are errors
    #[arg(long)]
    pub(crate) exit_zero: bool,
    /// End with 1 if a file was fixed, although nothing is left
    #[arg(long, requires = "fix", conflicts_with = "exit_zero")]
    pub(crate) exit_non_zero_on_fix: bool,
}

/// The options of `check`.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct CheckOptions {
    /// How findings are printed
    #[arg(long, alias = "output-format", value_enum, default_value_t)]
    pub(crate) format: CheckFormat,
}

/// Exit code for a path that cannot be checked, or a file that cannot be written.
const BAD_PATH: u8 = 2;

/// Exit code without errors if the levels of a hierarchy are not found.
const NOT_WHOLE: u8 = 3;

/// Checks the workspaces of the paths (without any, the current folder's), and prints the findings
/// below the paths. The exit code is 1 if one of them is an error.
pub(crate) fn run(arguments: &CheckArguments) -> ExitCode {
    checked(arguments).unwrap_or_else(|error| complain(&error))
}

fn checked(arguments: &CheckArguments) -> Ended {
    let CheckArguments { paths, output, .. } = arguments;
    let named = arguments.workspace.places.workspace.as_deref();
    let whole = [named.unwrap_or(".").to_owned()];
    let paths: &[String] = if paths.is_empty() { &whole } else { paths };
    let folder = named.map(|named| absolute(&workspace_folder(named)?).map(Arc::from));
    let folder = folder.transpose()?;
    let workspace = named.zip(folder.as_ref());
    let known = output.baseline.as_deref().map(read_baseline).transpose()?;
    let mut report = CheckReport::new(arguments, known);
    let mut code = ExitCode::SUCCESS;
    // Each workspace is read once, however many paths lie in it.
    let mut groups: Vec<(Arc<str>, Vec<Wanted<'_>>)> = Vec::new();
    for given in paths {
        let wanted = Wanted::of(given).map_err(|error| format!("{given}: {error}"));
        let found = wanted.and_then(|wanted| {
            let folder = wanted.folder(workspace)?;
            Ok((folder, wanted))
        });
        match found {
            Ok((Some(folder), wanted)) => {
                match groups.iter_mut().find(|(known, _)| *known == folder) {
                    Some((_, group)) => group.push(wanted),
                    None => groups.push((folder, vec![wanted])),
                }
            }
            Ok((None, _)) => {
                terminal::complain(&format!("{given}: skipped: it is not in the workspace"));
            }
            Err(error) => code = complain(&error),
        }
    }
    for (folder, group) in &groups {
        match report.check(folder, group) {
            Ok(FolderResult::Files) => {}
            Ok(FolderResult::BadPattern) => code = ExitCode::from(BAD_PATH),
            Ok(FolderResult::NoHierarchy) => code = complain(&no_hierarchy(folder)),
            Err(error) => code = complain(&error),
        }
    }
    if report.has_failed {
        return Ok(ExitCode::from(BAD_PATH));
    }
    let is_failure = if output.fixes.diff {
        report.has_diff
    } else {
        report.finish()?;
        let has_errors = report.count(Severity::Error) > 0 && !output.exit_zero;
        has_errors || (report.has_fixed && output.exit_non_zero_on_fix)
    };
    let is_whole = !report.lacks_levels || output.exit_zero || code != ExitCode::SUCCESS;
    Ok(match (is_failure, is_whole) {
        (true, _) => ExitCode::FAILURE,
        (false, true) => code,
        (false, false) => ExitCode::from(NOT_WHOLE),
    })
}

/// All findings in a workspace that was read, as `--format json` has them; files are named relative to its folder.
///
/// # Errors
/// They cannot be written as JSON.
pub(crate) fn all_findings(
    opened: &Opened,
    snapshot: &Arc<Snapshot>,
    workspace: &WorkspaceArguments,
) -> Result<serde_json::Value, String> {
    let arguments = CheckArguments {
        paths: Vec::new(),
        options: CheckOptions {
            format: CheckFormat::Json,
        },
        output: CheckOutput::default(),
        workspace: workspace.clone(),
    };
    let report = CheckReport::new(&arguments, None).relative_to(&opened.folder);
    report.json_of(&opened.folder, snapshot, &opened.project)
}

/// Prints an error and returns the exit code for it.
fn complain(error: &str) -> ExitCode {
    terminal::complain(error);
    ExitCode::from(BAD_PATH)
}

#[allow(
    clippy::disallowed_methods,
    reason = "cli/ reads the files it is given"
)]
fn read_baseline(file: &str) -> Result<Baseline, String> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("{file}: {}", disk::failure(&error)))?;
    Baseline::read(&text).map_err(|error| format!("{file}: {error}"))
}
