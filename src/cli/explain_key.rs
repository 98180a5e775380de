//! `hiera-ls explain-key KEY`: `hiera-ls lookup KEY --explain`.

use std::process::ExitCode;

use super::lookup::{self, LookupArguments};

pub(super) fn run(mut arguments: LookupArguments) -> ExitCode {
    arguments.explain = true;
    arguments.batch = false;
    lookup::run(&arguments)
}
