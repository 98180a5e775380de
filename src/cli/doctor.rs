//! `hiera-ls doctor`: what a workspace is for Hiera, and what would improve its answers most.

use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::nodes::Asked;
use super::terminal::{self, Layout, Paint, complain, print as print_text};
use super::workspace::{Opened, PlaceArguments, settings_of};
use crate::analysis::Analysis;
use crate::disk;
use crate::ide::document::doctor;
use crate::lookup::ConfigCache;
use crate::scope::KnownNodes;

/// Which workspace, and how it is told.
#[derive(Args)]
pub(super) struct DoctorArguments {
    /// Nodes: a nodes file, saved facts, or a folder of such files; may be given several times
    /// [default: as matrix has it]
    #[arg(long, value_name = "FILE")]
    nodes: Vec<String>,
    /// A JSON or YAML file of facts; a node's own facts lie over them
    #[arg(long, value_name = "FILE")]
    facts: Option<String>,
    #[command(flatten)]
    places: PlaceArguments,
    /// Behave as Puppet 7 or 8 [default: as .hiera-ls.yaml says, else 8]
    #[arg(long, value_name = "7|8", value_parser = clap::value_parser!(u8).range(7..=8))]
    puppet_version: Option<u8>,
    /// What to print
    #[arg(long, value_enum, default_value_t = DoctorFormat::Text)]
    format: DoctorFormat,
}

/// The forms of the report.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DoctorFormat {
    /// For people
    Text,
    /// One JSON object
    Json,
}

/// Runs the command: exit code 0 once all is printed, 1 where something could not be read.
pub(super) fn run(arguments: &DoctorArguments) -> ExitCode {
    match print(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            complain(&message);
            ExitCode::FAILURE
        }
    }
}

fn print(arguments: &DoctorArguments) -> Result<(), String> {
    let opened = arguments.places.open()?;
    let snapshot = opened.read();
    let Opened {
        folder, project, ..
    } = opened;
    let settings = settings_of(&project, arguments.puppet_version, None, None).for_editor();
    let configs = ConfigCache::default();
    let asked = Asked {
        files: &arguments.nodes,
        facts: arguments.facts.as_ref(),
        project: &project,
        settings: &settings,
        configs: &configs,
    };
    let nodes = asked.set(&snapshot, &folder)?;
    let no_nodes = KnownNodes::default();
    let analysis = Analysis::new(&snapshot, &settings, &configs, &no_nodes);
    let document = doctor::document(analysis, &folder, &nodes);
    let text = match arguments.format {
        DoctorFormat::Text if folder != disk::absolute(".") => {
            format!(
                "Workspace\n  {folder}: paths below are relative to it, commands are run in it\n\n{}",
                document.content
            )
        }
        DoctorFormat::Text => document.content,
        DoctorFormat::Json => document.data.unwrap_or_default() + "\n",
    };
    match arguments.format {
        DoctorFormat::Text => print_text(&laid_out(&text, Layout::of_output())),
        DoctorFormat::Json => print_text(&text),
    }
}

/// The report with its titles in a colour and sentences broken at the width. Tables, and what is to be
/// pasted, stand further right and stay as they are.
fn laid_out(text: &str, layout: Layout) -> String {
    let lines = text.lines().map(|line| {
        let indent = line.len() - line.trim_start().len();
        let width = match (indent, layout.width) {
            (0, _) => return layout.whole_line(Paint::Title, line),
            (1..4, Some(width)) => width,
            (_, _) => return format!("{line}\n"),
        };
        let number = line.trim_start().split_once(". ").map(|(number, _)| number);
        let number = number.filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
        let hang = number.map_or(4, |number| indent + number.len() + 2);
        terminal::hanging(line, width, hang) + "\n"
    });
    lines.collect()
}
