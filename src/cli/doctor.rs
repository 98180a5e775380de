//! `hiera-ls doctor`: reports what Hiera sees of a workspace, and what would improve its answers
//! most.

use clap::{Args, ValueEnum};

use super::terminal::{Layout, Paint, shown};
use super::workspace::{Opened, WorkspaceArguments, place_of};
use super::{Ended, printed};
use crate::analysis::Analysis;
use crate::disk;
use crate::ide::document::doctor;
use crate::lookup::ConfigCache;
use crate::scope::KnownNodes;

/// The workspace, its nodes, and the form of the report.
#[derive(Args)]
pub(super) struct DoctorArguments {
    /// What to print
    #[arg(long, value_enum, default_value_t = DoctorFormat::Text)]
    format: DoctorFormat,
    #[command(flatten)]
    pub(super) workspace: WorkspaceArguments,
}

/// The forms of the report.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DoctorFormat {
    /// For people
    Text,
    /// One JSON object
    Json,
}

/// Runs the command: exit code 0 once all is printed, 1 if something could not be read.
pub(super) fn run(arguments: &DoctorArguments) -> Ended {
    let workspace = &arguments.workspace;
    let opened = workspace.open()?;
    let snapshot = opened.read();
    let Opened {
        folder, project, ..
    } = opened;
    let settings = workspace.puppet.settings(&project).for_editor();
    let configs = ConfigCache::default();
    let request = workspace.request(&project, (&settings, &configs));
    let environment = &workspace.environment;
    let place = place_of(&snapshot, &folder, environment);
    let nodes = request.set(&snapshot, &place)?;
    let no_nodes = KnownNodes::default();
    let analysis = Analysis::new(&snapshot, &settings, &configs, &no_nodes);
    let analysis = analysis.with_environment(environment);
    let is_here = folder == disk::absolute(".");
    let enter = if is_here {
        String::new()
    } else {
        format!("cd {} && ", quoted(shown(&folder)))
    };
    let document = doctor::document(analysis, &place, &nodes, &enter, disk::now());
    if arguments.format == DoctorFormat::Json {
        return printed(&(document.data.unwrap_or_default() + "\n"));
    }
    let title = if is_here {
        String::new()
    } else {
        format!(
            "Workspace\n  {}: paths below are relative to it\n\n",
            shown(&folder)
        )
    };
    let text = title + &document.content;
    printed(&laid_out(&text, Layout::of_output()))
}

/// A path quoted for a shell.
fn quoted(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+@%:,".contains(&byte);
    if path.bytes().all(is_plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

/// The report with coloured titles and wrapped lines. Text to be pasted is indented most and stays
/// unchanged.
fn laid_out(text: &str, layout: Layout) -> String {
    /// Indentation of text to be pasted.
    const PASTED: usize = 7;
    let lines = text.lines().map(|line| {
        let indent = line.len() - line.trim_start().len();
        let number = line.trim_start().split_once(". ").map(|(number, _)| number);
        let number = number.filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
        let hang = number.map_or(indent + 4, |number| indent + number.len() + 2);
        match indent {
            0 => layout.whole_line(Paint::Title, line),
            1..PASTED => layout.paragraph(Paint::Plain, line, hang),
            PASTED.. => layout.whole_line(Paint::Plain, line),
        }
    });
    lines.collect()
}
