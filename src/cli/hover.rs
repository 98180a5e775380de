//! `hiera-ls hover FILE:LINE:COLUMN`: what an editor would show there, rendered for a terminal.

use clap::{Args, ValueEnum};

use super::terminal::{Layout, Paint, shown};
use super::workspace::WorkspaceArguments;
use super::{Ended, printed};
use crate::analysis::{Analysis, with_manifest_variables};
use crate::disk::{self, DiskFiles};
use crate::ide::KnownNodes;
use crate::ide::hover::{HoverOptions, MAX_LINES, hover};
use crate::lookup::ConfigCache;
use crate::text::{Position, PositionEncoding, number_of};
use crate::workspace::{File, Files as _};

/// What a hover is for and how it is printed.
#[derive(Args)]
pub(super) struct HoverArguments {
    /// The place, numbers from 1, columns in characters; without a column what the line begins with
    #[arg(value_name = "FILE:LINE[:COLUMN]", value_parser = place)]
    place: PlaceArgument,
    /// The node to answer for, by its certname
    #[arg(long, value_name = "NODE")]
    node: Option<String>,
    /// What to print
    #[arg(long, value_enum, default_value_t = HoverFormat::Text)]
    format: HoverFormat,
    /// Maximum number of lines of the hover
    #[arg(long, value_name = "N", default_value_t = MAX_LINES)]
    max_lines: usize,
    #[command(flatten)]
    workspace: WorkspaceArguments,
}

/// The forms of a hover.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HoverFormat {
    /// Text without markup
    #[value(alias = "plain")]
    Text,
    /// Markdown as editors draw it
    Markdown,
    /// Markdown wrapped at 100 columns
    Aligned,
}

/// Runs the command: exit code 0 with the hover on standard output, 1 if there is none.
pub(super) fn run(arguments: &HoverArguments) -> Ended {
    printed(&answer(arguments)?)
}

fn answer(arguments: &HoverArguments) -> Result<String, String> {
    let PlaceArgument { file, line, column } = &arguments.place;
    let at = disk::absolute(file);
    let workspace = &arguments.workspace;
    let opened = workspace.open_around(&at)?;
    let snapshot = opened.read();
    let project = opened.project;
    let settings = workspace.puppet.settings(&project).for_editor();
    let configs = ConfigCache::default();
    let request = workspace.request(&project, (&settings, &configs));
    let known = match &arguments.node {
        Some(name) => request.with_node(&snapshot, &at, name)?,
        None => request.known(&snapshot, &at)?.nodes.clone(),
    };
    let Some(file) = snapshot.file(&at) else {
        return Err(match DiskFiles::new().kind(&at) {
            Some(_) => format!(
                "{}: no file of the workspace in {}",
                shown(&at),
                opened.folder
            ),
            None => format!("{}: no such file", shown(&at)),
        });
    };
    let lines = file.text().lines().count();
    if *line as usize > lines {
        return Err(format!(
            "{}: it has {}, there is no line {}",
            shown(&at),
            number_of(lines, "line"),
            line + 1
        ));
    }
    let offset = offset(file, *line, *column);
    let mut nodes = KnownNodes::in_environment(&known, &workspace.environment);
    if let Some(root) = snapshot.root_of(&at)
        && let Some(with_variables) = with_manifest_variables(&nodes, &snapshot, root, &settings)
    {
        nodes = with_variables;
    }
    let link = |path: &str, line: u32| format!("{}#L{line}", disk::file_uri(path));
    let analysis = Analysis {
        selected: arguments.node.as_deref(),
        environment: &workspace.environment,
        ..Analysis::new(&snapshot, &settings, &configs, &nodes)
    };
    let layout = Layout::of_output();
    let standard = HoverOptions::default();
    let options = HoverOptions {
        max_lines: arguments.max_lines,
        // A terminal has its own width.
        width: layout.width.map_or(standard.width, |_| usize::MAX),
        link: Some(&link),
        name: Some(&|at| shown(at).to_owned()),
        ..standard
    };
    let found = hover(analysis, &at, offset, &options)
        .ok_or_else(|| format!("no Hiera data at {}", arguments.place))?;
    Ok(match arguments.format {
        HoverFormat::Text => laid_out(&found.plain, layout),
        HoverFormat::Markdown => found.markdown + "\n",
        HoverFormat::Aligned => found.aligned + "\n",
    })
}

/// The text laid out for a terminal: the first line is emphasised, long lines are wrapped.
fn laid_out(text: &str, layout: Layout) -> String {
    let lines = text.lines().enumerate().map(|(at, line)| {
        let paint = match at {
            0 => Paint::Title,
            _ => Paint::Plain,
        };
        let indent = line.len() - line.trim_start().len();
        layout.paragraph(paint, line, indent + 2)
    });
    lines.collect()
}

/// The offset of a line and a column (in characters); without a column, of the first non-blank
/// character.
pub(super) fn offset(file: &File, line: u32, column: Option<u32>) -> usize {
    let at = |character| {
        let position = Position { line, character };
        file.lines().offset(position, PositionEncoding::Utf32)
    };
    column.map_or_else(
        || {
            let first = at(0);
            let blanks = file.text()[first..].bytes();
            first + blanks.take_while(|byte| *byte == b' ').count()
        },
        at,
    )
}

/// A place in a file, from the command line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PlaceArgument {
    pub(super) file: String,
    /// From 0.
    pub(super) line: u32,
    /// From 0.
    pub(super) column: Option<u32>,
}

impl std::fmt::Display for PlaceArgument {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line + 1)?;
        match self.column {
            Some(column) => write!(formatter, ":{}", column + 1),
            None => Ok(()),
        }
    }
}

/// Parses `FILE:LINE:COLUMN` or `FILE:LINE`.
pub(super) fn place(text: &str) -> Result<PlaceArgument, String> {
    let numbered = |text: &'_ str| {
        let (rest, number) = text.rsplit_once(':')?;
        let number: u32 = number.parse().ok()?;
        Some((rest.len(), number.checked_sub(1)?))
    };
    let place = |end, line, column| {
        let file = text[..end].to_owned();
        Some(PlaceArgument { file, line, column }).filter(|place| !place.file.is_empty())
    };
    let found = numbered(text).and_then(|(end, last)| match numbered(&text[..end]) {
        Some((end, line)) => place(end, line, Some(last)),
        None => place(end, last, None),
    });
    found.ok_or_else(|| "expected FILE:LINE or FILE:LINE:COLUMN".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_a_line_and_perhaps_a_column() {
        for text in ["a.yaml:3:5", "a.yaml:3", "C:/a.yaml:3"] {
            assert_eq!(place(text).unwrap().to_string(), text);
        }
        let file = "a.yaml".to_owned();
        let (line, column) = (2, Some(4));
        assert_eq!(
            place("a.yaml:3:5"),
            Ok(PlaceArgument { file, line, column })
        );
        for text in ["a.yaml", "a.yaml:", "a.yaml:0", "a.yaml:x", ":3", ""] {
            assert!(place(text).is_err(), "{text}");
        }
    }
}
