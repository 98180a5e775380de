//! Runs a command of the command line for a call, with arguments as words.

use std::process::ExitCode;

use clap::Args;
use serde::de::Error as _;
use serde_json::Value;

use super::Served;
use crate::cli::Ended;
use crate::cli::check::{self, CheckArguments};
use crate::cli::console::{self, CANCELLED, IsCancelled};
use crate::cli::diff::{self, DiffArguments};
use crate::cli::doctor::{self, DoctorArguments};
use crate::cli::lookup::{self, LookupArguments};
use crate::cli::matrix::{self, MatrixArguments};
use crate::cli::set::{self, SetArguments};
use crate::cli::upgrade::{self, UpgradeArguments};
use crate::cli::why_not::{self, WhyNotArguments};
use crate::cli::workspace::WorkspaceArguments;

/// A command that tools run.
pub(super) trait CalledCommand: Args {
    fn workspace(&mut self) -> &mut WorkspaceArguments;
    fn run(&self) -> Ended;
}

/// The commands with the functions that run them.
macro_rules! commands {
    ($($arguments:ty: $run:expr;)*) => {$(
        impl CalledCommand for $arguments {
            fn workspace(&mut self) -> &mut WorkspaceArguments {
                &mut self.workspace
            }

            fn run(&self) -> Ended {
                $run(self)
            }
        }
    )*};
}

commands! {
    CheckArguments: |arguments| Ok(check::run(arguments));
    DiffArguments: diff::run;
    DoctorArguments: doctor::run;
    LookupArguments: lookup::run;
    MatrixArguments: matrix::run;
    SetArguments: set::run;
    UpgradeArguments: |arguments| Ok(upgrade::run(arguments));
    WhyNotArguments: why_not::run;
}

/// What is asked for in a call: the workspace, in an environment, for a version of Puppet.
pub(super) struct Asked<'a> {
    pub(super) served: &'a Served,
    pub(super) workspace: WorkspaceArguments,
    pub(super) is_cancelled: IsCancelled,
}

/// What a command printed.
pub(super) struct Ran {
    pub(super) code: ExitCode,
    pub(super) text: String,
    pub(super) notes: Vec<String>,
}

impl Asked<'_> {
    /// Runs a command with words as on the command line.
    ///
    /// # Errors
    /// Its message if it fails.
    pub(super) fn run<A: CalledCommand>(&self, words: &[String]) -> Result<Ran, String> {
        self.run_with(words, |_: &mut A| {})
    }

    /// The same with changed arguments.
    ///
    /// # Errors
    /// The same.
    pub(super) fn run_with<A: CalledCommand>(
        &self,
        words: &[String],
        change: impl FnOnce(&mut A),
    ) -> Result<Ran, String> {
        let mut arguments: A = parsed(words)?;
        *arguments.workspace() = self.workspace.clone();
        change(&mut arguments);
        self.captured(|| arguments.run())
    }

    /// What something that ends like a command prints.
    ///
    /// # Errors
    /// Its message if it fails.
    pub(super) fn captured(&self, run: impl FnOnce() -> Ended) -> Result<Ran, String> {
        let call = self.served.call(self.is_cancelled.clone());
        let (ended, printed) = console::called(call, run);
        if (self.is_cancelled)() {
            return Err(CANCELLED.to_owned());
        }
        if let Some(failure) = printed.failure {
            return Err(failure);
        }
        let text = String::from_utf8_lossy(&printed.text).into_owned();
        let code = ended.map_err(|message| {
            let notes = printed.notes.iter().map(|note| format!("\n{note}"));
            message + &notes.collect::<String>()
        })?;
        Ok(Ran {
            code,
            text,
            notes: printed.notes,
        })
    }
}

impl Ran {
    /// Whether the command ended with a code.
    pub(super) fn has_code(&self, code: u8) -> bool {
        self.code == ExitCode::from(code)
    }

    /// The JSON that was printed.
    ///
    /// # Errors
    /// There is none: the notes say why.
    pub(super) fn json(&self) -> Result<Value, String> {
        let read = if self.text.trim().is_empty() {
            Err(serde_json::Error::custom("nothing was printed"))
        } else {
            serde_json::from_str(&self.text)
        };
        read.map_err(|error| match self.notes.as_slice() {
            [] => error.to_string(),
            notes => notes.join("\n"),
        })
    }
}

/// Arguments from words.
pub(super) fn parsed<A: Args>(words: &[String]) -> Result<A, String> {
    let command = A::augment_args(clap::Command::new("hiera-ls").no_binary_name(true));
    let matches = command.try_get_matches_from(words);
    let matches = matches.map_err(|error| first_line(&error))?;
    A::from_arg_matches(&matches).map_err(|error| first_line(&error))
}

fn first_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}
