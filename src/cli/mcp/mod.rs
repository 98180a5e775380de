//! `hiera-ls mcp`: the answers of the command line as tools of the Model Context Protocol, for agents and
//! scripts. Each call runs the command of that name, so both give the same answer.
//!
//! A client is trusted as little as a workspace: no tool writes, decrypts, runs or sends anything, or reads
//! outside of the workspace.

mod called;
mod paging;
mod proposed;
mod protocol;
mod resources;
mod secrets;
mod tools;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::Ended;
use super::console::{CommandCall, IsCancelled};
use super::workspace::WorkspaceArguments;
use crate::disk::{self, KeptFolder};

/// Which workspace the tools are for.
#[derive(Args)]
pub(super) struct McpArguments {
    #[command(flatten)]
    workspace: WorkspaceArguments,
}

/// What all calls have in common.
pub(super) struct Served {
    /// The folder of the workspace, absolute.
    folder: Arc<str>,
    /// The flags, with absolute paths.
    workspace: WorkspaceArguments,
    kept: Arc<KeptFolder>,
}

impl Served {
    fn call(&self, is_cancelled: IsCancelled) -> CommandCall {
        CommandCall {
            is_cancelled,
            folder: Arc::clone(&self.folder),
            kept: Arc::clone(&self.kept),
        }
    }
}

/// Runs the command: exit code 0 once the client closes standard input, 1 if the workspace cannot be opened.
pub(super) fn run(arguments: &McpArguments) -> Ended {
    let folder = arguments.workspace.places.folder()?;
    let workspace = arguments.workspace.in_folder(&folder)?;
    enter(&folder)?;
    workspace.open()?;
    let served = Served {
        folder: Arc::from(folder),
        workspace,
        kept: Arc::default(),
    };
    protocol::serve(served)?;
    Ok(ExitCode::SUCCESS)
}

/// Makes the workspace the current folder, which shown paths are relative to.
fn enter(folder: &str) -> Result<(), String> {
    let entered = std::env::set_current_dir(&*disk::native(folder));
    entered.map_err(|error| format!("{folder}: {}", disk::failure(&error)))
}
