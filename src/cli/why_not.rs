//! `hiera-ls why-not KEY=VALUE --node NODE`: the levels in the way of a value.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::Ended;
use super::key_value::{KeyValueArguments, refuse};
use super::set::{SetForm, note_unknown_key};
use super::terminal::{Layout, Paint, has_found, print, shown};
use super::workspace::{WorkspaceArguments, load_with_node};
use crate::analysis::WhichNodes;
use crate::ide::expectation::chosen;
use crate::ide::json::json;
use crate::plan::goal::{WhyNotFields, value_of, why_not, why_not_lines};

/// Exit code if the node gets something else.
const OTHER: u8 = 2;

/// Which value, for which node.
#[derive(Args)]
pub(super) struct WhyNotArguments {
    #[command(flatten)]
    wanted: KeyValueArguments,
    /// The node to answer for, by its certname
    #[arg(long, value_name = "NODE")]
    node: String,
    /// What to print
    #[arg(long, value_enum, default_value_t = SetForm::Text)]
    format: SetForm,
    #[command(flatten)]
    pub(super) workspace: WorkspaceArguments,
}

/// Runs the command: exit code 0 if the node has the value, 2 if not, 1 if something could not be
/// read.
pub(super) fn run(arguments: &WhyNotArguments) -> Ended {
    let Some((key, value)) = arguments.wanted.read() else {
        return refuse("why-not");
    };
    let value = value_of(value)?;
    let loaded = load_with_node(&arguments.workspace, &arguments.node)?;
    let view = loaded.root(&loaded.here)?;
    let node = &arguments.node;
    note_unknown_key(&loaded, key);
    let named = WhichNodes::Named(vec![Arc::from(node.as_str())]);
    let members = chosen(view.analysis.nodes, &named)?;
    let member = members.first().copied().unwrap_or_default();
    let why = why_not(&view, key, &value, member)?;
    let snapshot = view.analysis.snapshot;
    let layout = Layout::of_output();
    let text = match arguments.format {
        SetForm::Json => json(&WhyNotFields::new(&why, snapshot)) + "\n",
        SetForm::Text => {
            let lines = why_not_lines(&why, key, node, &|at| shown(at).to_owned());
            let mut text = String::new();
            for (at, (line, is_in_the_way)) in lines.iter().enumerate() {
                let paint = match (at, is_in_the_way) {
                    (0, _) => Paint::Title,
                    (_, true) => Paint::Old,
                    (_, false) => Paint::Plain,
                };
                text += &layout.paragraph(paint, line, 6);
            }
            text
        }
    };
    let code = if why.has_it { 0 } else { OTHER };
    has_found(code);
    print(&text)?;
    Ok(ExitCode::from(code))
}
