//! `hiera-ls test [PATH…]`: checks the data against a team's expectations. One file for each output
//! format.

mod json;
mod junit;
mod text;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::terminal::{complain, has_found, shown, unwritten};
use super::workspace::{WorkspaceArguments, load_with_any_nodes};
use crate::analysis::Expectation;
use crate::disk::{DiskFiles, MAX_DEPTH, MAX_FILES, absolute};
use crate::ide::expectation::{Judged, Verdict, judge};
use crate::ide::expected_keys::EXPECTATIONS_FOLDER;
use crate::workspace::{FileKind, Files as _, HIERA_YAML, path};

/// Exit code if something could not be checked because of a mistake.
const MISTAKE: u8 = 2;

/// Exit code if only a running Puppet knows an answer.
const UNKNOWN: u8 = 3;

/// The forms of the output.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TestFormat {
    /// For people
    Text,
    /// One JSON array
    Json,
    /// JUnit XML
    Junit,
}

/// Which expectations, of which workspace.
#[derive(Args)]
pub(super) struct TestArguments {
    /// Files of expectations, and folders of such [default: spec/hiera beside hiera.yaml]
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// What to print
    #[arg(long, value_enum, default_value_t = TestFormat::Text)]
    format: TestFormat,
    #[command(flatten)]
    workspace: WorkspaceArguments,
}

/// An expectation with its result.
struct TestOutcome {
    /// The file as given, and the line in it.
    file: String,
    expectation: Expectation,
    judged: Judged,
}

/// Runs the command: exit code 0 if all expectations are met, 1 if one is not, 2 if something could
/// not be checked because of a mistake, 3 if something is unknown and the rest is met.
pub(super) fn run(arguments: &TestArguments) -> ExitCode {
    let outcomes = match judged(arguments) {
        Ok(outcomes) => outcomes,
        Err(mistakes) => {
            for mistake in mistakes {
                complain(&mistake);
            }
            return ExitCode::from(MISTAKE);
        }
    };
    let of = |verdict| count_of(&outcomes, verdict);
    let code = match (of(Verdict::Failed), of(Verdict::Unknown)) {
        (0, 0) => 0,
        (0, _) => UNKNOWN,
        (_, _) => 1,
    };
    has_found(code);
    let mut out = io::BufWriter::new(io::stdout().lock());
    let written = match arguments.format {
        TestFormat::Text => text::write(&outcomes, &mut out),
        TestFormat::Json => json::write(&outcomes, &mut out),
        TestFormat::Junit => junit::write(&outcomes, &mut out),
    };
    if let Err(error) = written.and_then(|()| out.flush()) {
        complain(&unwritten(&error));
        return ExitCode::from(MISTAKE);
    }
    ExitCode::from(code)
}

/// Checks all expectations, in the order of the files; none is checked while a file has a mistake.
fn judged(arguments: &TestArguments) -> Result<Vec<TestOutcome>, Vec<String>> {
    let loaded = load_with_any_nodes(&arguments.workspace, &[]).map_err(|error| vec![error])?;
    let view = loaded.root(&loaded.here).map_err(|error| vec![error])?;
    let files = files(&arguments.paths, &view.root.dir).map_err(|error| vec![error])?;
    let mut expectations = Vec::new();
    let mut mistakes = Vec::new();
    for file in files {
        let at = absolute(&file);
        let text = match DiskFiles::new().text(&at) {
            Ok(text) => text,
            Err(error) => {
                mistakes.push(error.message(&file));
                continue;
            }
        };
        let (found, wrong) = Expectation::read(&text);
        let wrong = wrong.into_iter();
        mistakes.extend(wrong.map(|found| format!("{file}:{}: {}", found.line, found.message)));
        expectations.extend(found.into_iter().map(|found| (file.clone(), found)));
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let mut outcomes = Vec::new();
    for (file, expectation) in expectations {
        match judge(&view, &expectation) {
            Ok(judged) => outcomes.push(TestOutcome {
                file,
                expectation,
                judged,
            }),
            Err(message) => mistakes.push(format!("{file}:{}: {message}", expectation.line)),
        }
    }
    if mistakes.is_empty() {
        Ok(outcomes)
    } else {
        Err(mistakes)
    }
}

/// The files of expectations: named files, and YAML files in named folders; without any, those of
/// the environment in a folder.
fn files(named: &[String], folder: &str) -> Result<Vec<String>, String> {
    let own = [shown(&path::join(folder, EXPECTATIONS_FOLDER)).to_owned()];
    let named = if named.is_empty() { &own } else { named };
    let disk = DiskFiles::new();
    let mut files = Vec::new();
    for at in named {
        let config = path::join(&absolute(at), HIERA_YAML);
        match disk.kind(&absolute(at)) {
            Some(FileKind::File) => files.push(at.clone()),
            Some(FileKind::Directory) if disk.kind(&config) == Some(FileKind::File) => {
                return Err(format!(
                    "{at}: a folder with a {HIERA_YAML}, not one of expectations: run \
                     'hiera-ls test --workspace {at}'"
                ));
            }
            Some(FileKind::Directory) => {
                let before = files.len();
                below(&disk, at.trim_end_matches('/'), MAX_DEPTH, &mut files);
                if files.len() == before {
                    return Err(format!("{at}: no files of expectations (*.yaml) here"));
                }
            }
            None => return Err(format!("{at}: no such file or folder")),
        }
    }
    Ok(files)
}

/// The YAML files below a folder, by name.
fn below(disk: &DiskFiles, folder: &str, depth: usize, files: &mut Vec<String>) {
    for (name, kind) in disk.list(&absolute(folder)) {
        let at = path::join(folder, &name);
        let is_yaml = name.ends_with(".yaml") || name.ends_with(".yml");
        match kind {
            FileKind::File if is_yaml && files.len() < MAX_FILES => files.push(at),
            FileKind::Directory if depth > 0 => below(disk, &at, depth - 1, files),
            FileKind::File | FileKind::Directory => {}
        }
    }
}

fn count_of(outcomes: &[TestOutcome], verdict: Verdict) -> usize {
    let outcomes = outcomes.iter();
    let of_verdict = outcomes.filter(|outcome| outcome.judged.verdict == verdict);
    of_verdict.count()
}

impl TestOutcome {
    fn title(&self) -> String {
        let Expectation { name, key, .. } = &self.expectation;
        match name {
            Some(name) => format!("{name} ({key})"),
            None => key.clone(),
        }
    }
}
