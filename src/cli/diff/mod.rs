//! `hiera-ls diff A B`: the keys with different values on two nodes, or in two environments; with
//! `--against REV`, the keys whose values differ from a revision or another checkout.

mod markdown;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::Ended;
use super::console;
use super::suggestions::KnownKeys;
use super::table::{Rows, TableFormat, csv};
use super::terminal::{Layout, Paint, complain, has_found, remark, shown};
use super::usage::SENSELESS;
use super::workspace::{Checkout, Loaded, WorkspaceArguments, load, load_proposed};
use crate::analysis::RootView;
use crate::ide::cell::{LineKind, difference_lines, outcome_text, side_texts, sources_text};
use crate::ide::compare::{Difference, compare, compare_versions};
use crate::ide::matrix::Cell;
use crate::ide::secrets::without_secrets;
use crate::ide::undecided::Undecided;
use crate::text::{few, number_of};
use crate::workspace::Change;
use markdown::Sides;

/// Exit code if something differs.
const DIFFERS: u8 = 2;

/// What is compared.
#[derive(Args)]
pub(super) struct DiffArguments {
    /// Certname of the first node, or name of the first environment
    #[arg(required_unless_present = "against", requires = "second")]
    first: Option<String>,
    /// Certname of the second node, or name of the second environment
    #[arg(conflicts_with = "against")]
    second: Option<String>,
    /// A revision of the workspace's git repository, as it is before the changes, or the folder
    /// of another checkout or environment: every node is compared between it and --workspace
    #[arg(long, value_name = "REV|DIR")]
    against: Option<String>,
    /// Only these keys; * stands for any characters
    #[arg(long = "key", value_name = "KEY")]
    keys: Vec<String>,
    /// Say which keys differ for which nodes and where, and print no values: for public logs
    #[arg(long)]
    no_values: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    format: TableFormat,
    #[command(flatten)]
    pub(super) workspace: WorkspaceArguments,
    /// Instead of `against`: every node is compared between the workspace and what it would be after these
    /// changes.
    #[arg(skip)]
    pub(super) proposed: Option<Change>,
}

/// Exit code if nothing differs for certain, but something may.
const UNDECIDED: u8 = 3;

/// Maximum number of undecided keys that are named.
const MAX_UNDECIDED: usize = 20;

/// Runs the command: exit code 0 if nothing differs, 2 if something does, 3 if it is unknown whether
/// something does, 1 if something could not be read or a key is not set anywhere.
pub(super) fn run(arguments: &DiffArguments) -> Ended {
    let format = arguments.format;
    if arguments.no_values && format.is_for_programs() {
        complain("--no-values works with the formats text and markdown only");
        return Ok(ExitCode::from(SENSELESS));
    }
    let found = print(arguments)?;
    found.missing.iter().for_each(|message| complain(message));
    for key in found.undecided.iter().take(MAX_UNDECIDED) {
        remark(&format!("unknown: {}", undecided_text(key)));
    }
    if let Some(more @ 1..) = found.undecided.len().checked_sub(MAX_UNDECIDED) {
        remark(&format!(
            "unknown: {} may differ",
            number_of(more, "more key")
        ));
    }
    Ok(match (found.missing.as_slice(), found.differences) {
        ([], 0) if found.undecided.is_empty() => ExitCode::SUCCESS,
        ([], 0) => ExitCode::from(UNDECIDED),
        ([], _) => ExitCode::from(DIFFERS),
        _ => ExitCode::FAILURE,
    })
}

/// The result of a comparison.
#[derive(Default)]
struct FoundDifferences {
    /// The number of differences.
    differences: usize,
    /// The keys of which it is unknown whether they differ.
    undecided: Vec<Undecided>,
    /// Messages about keys that are not set on either side.
    missing: Vec<String>,
}

fn undecided_text(key: &Undecided) -> String {
    key.text(|file| shown(file).to_owned())
}

/// Prints the differences.
fn print(arguments: &DiffArguments) -> Result<FoundDifferences, String> {
    let names = arguments.first.iter().chain(&arguments.second);
    let names: Vec<&str> = names.map(String::as_str).collect();
    let (loaded, unchanged) = match &arguments.proposed {
        Some(change) => {
            let (loaded, unchanged) = load_proposed(&arguments.workspace, change)?;
            (loaded, Some(unchanged))
        }
        None => (load(&arguments.workspace, &names)?, None),
    };
    let here = &loaded.here;
    let now = match &arguments.first {
        Some(first) => loaded.root(here).or_else(|_| loaded.root_in(here, first)),
        None => loaded.root(here),
    }?;
    loaded.note_known_nodes();
    let against = arguments.against.as_deref();
    let there = match unchanged {
        Some(unchanged) => Some(unchanged),
        None => against
            .map(|against| loaded.compared(against))
            .transpose()?,
    };
    let gone = match &there {
        Some(there) => loaded.gone_from(there, &arguments.workspace)?,
        None => Vec::new(),
    };
    if let Some(text) = gone_text(&gone) {
        remark(&format!("note: {text}"));
    }
    let (keys, missing) = keys(arguments, &loaded, there.as_ref());
    if keys.is_empty() && !missing.is_empty() {
        return Ok(FoundDifferences {
            missing,
            ..FoundDifferences::default()
        });
    }
    let mut undecided = Vec::new();
    let mut output = Output::new(arguments)?;
    let mut print = |found: Vec<Difference>, done, total| output.add(found, (done, total));
    let sides = match (&arguments.first, &arguments.second, &there) {
        (Some(first), Some(second), _) => {
            let names = [first, second].map(|name| Arc::from(name.as_str()));
            compare(&now, names.each_ref(), &keys, &mut print)?;
            Sides::Names(first, second)
        }
        (_, _, Some(there)) => {
            let before = loaded.root(there)?;
            undecided = compare_versions(&before, &now, &keys, &mut print)?;
            Sides::Versions {
                old: against.unwrap_or_default(),
                nodes: loaded.nodes.len(),
                gone: &gone,
                undecided: &undecided,
            }
        }
        (_, None, None) | (None, Some(_), None) => {
            return Err(
                "name two nodes, two environments, or another checkout with --against".into(),
            );
        }
    };
    Ok(FoundDifferences {
        differences: output.end(sides)?,
        undecided,
        missing,
    })
}

/// The nodes that are not compared because the files they were known by are gone; `None` if there
/// are none.
fn gone_text(names: &[Arc<str>]) -> Option<String> {
    /// Maximum number of names in the line.
    const MOST: usize = 10;
    if names.is_empty() {
        return None;
    }
    Some(format!(
        "not compared, since no data file has the name any longer: {}",
        few(names, MOST)
    ))
}

/// The named keys, and messages about those that no file sets, now or before; both empty if all keys
/// are compared.
fn keys(
    arguments: &DiffArguments,
    loaded: &Loaded,
    there: Option<&Checkout>,
) -> (Vec<Arc<str>>, Vec<String>) {
    if arguments.keys.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let checkouts = std::iter::once(&loaded.here).chain(there);
    let views: Vec<RootView<'_>> = checkouts.flat_map(|at| loaded.views(at)).collect();
    KnownKeys::of(&views).chosen(&arguments.keys)
}

/// Prints differences as they are found, or all at the end if counts come first.
struct Output {
    rows: Rows,
    format: TableFormat,
    layout: Layout,
    has_values: bool,
    count: usize,
    kept: Vec<Difference>,
}

impl Output {
    fn new(arguments: &DiffArguments) -> Result<Output, String> {
        let format = arguments.format;
        let mut rows = Rows::new(format);
        if format == TableFormat::Csv {
            rows.print(&csv(&[
                "key",
                "before",
                "after",
                "count",
                "nodes",
                "before_sources",
                "after_sources",
            ]))?;
        }
        Ok(Output {
            rows,
            format,
            layout: Layout::of_output(),
            has_values: !arguments.no_values,
            count: 0,
            kept: Vec::new(),
        })
    }

    fn add(&mut self, found: Vec<Difference>, (done, total): (usize, usize)) -> Result<(), String> {
        if console::is_cancelled() {
            return Err(console::CANCELLED.to_owned());
        }
        self.count += found.len();
        if self.count > 0 {
            has_found(DIFFERS);
        }
        for difference in found {
            match self.format {
                TableFormat::Markdown => {
                    self.kept.push(without_secrets(&difference));
                    Ok(())
                }
                TableFormat::Json | TableFormat::JsonLines => self.rows.print_object(&difference),
                TableFormat::Csv => self.rows.print(&table(&difference)),
                TableFormat::Text => {
                    let shown = without_secrets(&difference);
                    let text = text(&shown, self.layout, self.has_values);
                    self.rows.print(&text)
                }
            }?;
        }
        self.rows.progress(done, total);
        Ok(())
    }

    /// Returns the number of differences.
    fn end(mut self, sides: Sides<'_>) -> Result<usize, String> {
        if self.format == TableFormat::Markdown {
            let text = markdown::page(&self.kept, sides, self.has_values);
            self.rows.print(&text)?;
        }
        self.rows.end()?;
        Ok(self.count)
    }
}

fn table(difference: &Difference) -> String {
    let rows = difference.by_origin().into_iter();
    let rows = rows.map(|Difference { key, before, after }| {
        csv(&[
            &key,
            &outcome_text(&before),
            &outcome_text(&after),
            &after.nodes.len().to_string(),
            &after.nodes.join(" "),
            &sources_text(before.sources(), shown),
            &sources_text(after.sources(), shown),
        ])
    });
    rows.collect()
}

/// A difference for people: the key, the old answer, the new one.
fn text(difference: &Difference, layout: Layout, has_values: bool) -> String {
    let texts = if has_values {
        side_texts(difference)
    } else {
        Vec::from([&difference.before, &difference.after].map(|cell| state(cell).to_owned()))
    };
    let lines = difference_lines(difference, &texts, shown).into_iter();
    let lines = lines.map(|(part, line, sources)| {
        let paint = match part {
            LineKind::Title => Paint::Title,
            LineKind::Old => Paint::Old,
            LineKind::New => Paint::New,
            LineKind::Origin => Paint::Aside,
        };
        layout.line_with(paint, &line, &sources)
    });
    lines.collect()
}

/// An answer without its value.
fn state(cell: &Cell) -> &'static str {
    match (&cell.unknown, &cell.result) {
        (Some(_), _) => "(unknown)",
        (None, Ok(_)) => "(a value)",
        (None, Err(error)) if error.is_not_found() => "(not set)",
        (None, Err(_)) => "(an error)",
    }
}
