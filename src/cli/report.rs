//! `hiera-ls report`: writes one HTML file with the workspace's data, the engine and the page.
//!
//! The page with the engine in it is a file that `web/build` makes. Releases have it inside the program.

use std::io::{Read as _, Write as _};
use std::process::ExitCode;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::Ended;
use super::check;
use super::terminal::{ProgressLine, remark, shown};
use super::workspace::{Opened, WorkspaceArguments, no_hierarchy, place_of};
use crate::analysis::root_for;
use crate::disk;
use crate::lookup::ConfigCache;
use crate::report::{DATA_VERSION, Gathered, ReportSource, gather};
use crate::text::number_of;

/// The page that was built into the program; empty if there is none.
static BUILT_IN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/report_page"));

/// The name of the page beside the program.
const PAGE: &str = "hiera-ls-report.html";

/// Where the data goes in the page.
const PLACE: &str = "<!-- data -->";

/// Maximum size of a page, in bytes.
const MAX_PAGE: u64 = 64 << 20;

/// What is written.
#[derive(Args)]
pub(super) struct ReportArguments {
    /// The file to write
    #[arg(long, short, value_name = "FILE", default_value = "hiera-report.html")]
    out: String,
    /// Also what changes: a revision of the workspace's git repository, or the folder of another checkout, as it was
    /// before
    #[arg(long, value_name = "REV|DIR")]
    against: Option<String>,
    /// Leave out values, comments and manifests: which keys are set where, and which values differ
    #[arg(long)]
    no_values: bool,
    /// The page with its engine [default: the one in the program, else hiera-ls-report.html beside it]
    #[arg(long, value_name = "FILE")]
    page: Option<String>,
    #[command(flatten)]
    workspace: WorkspaceArguments,
}

/// Runs the command: exit code 0 once the file is written, 1 if something could not be read or written.
pub(super) fn run(arguments: &ReportArguments) -> Ended {
    let page = page(arguments.page.as_deref())?;
    let workspace = &arguments.workspace;
    let opened = workspace.open()?;
    let snapshot = opened.read();
    let Opened {
        folder, project, ..
    } = &opened;
    let environment = &workspace.environment;
    if root_for(&snapshot, folder, environment).is_none() {
        return Err(no_hierarchy(folder));
    }
    let settings = workspace.puppet.settings(project);
    let configs = ConfigCache::default();
    let request = workspace.request(project, (&settings, &configs));
    let place = place_of(&snapshot, folder, environment);
    let nodes = request.known(&snapshot, &place)?;
    let against = arguments.against.as_deref();
    let there = against.map(|name| opened.compared(name)).transpose()?;
    let mut progress = ProgressLine::new();
    progress.show("checking");
    let findings = check::all_findings(&opened, &snapshot, workspace)?;
    progress.clear();
    progress.show("writing the report");
    let Gathered { data, secrets } = gather(&ReportSource {
        snapshot: &snapshot,
        folder,
        against: there
            .as_ref()
            .zip(against)
            .map(|(there, name)| (name, &*there.snapshot, there.folder.as_str())),
        environment,
        nodes: &nodes,
        are_all: workspace.nodes.are_files_given(),
        project,
        settings: &settings,
        findings,
        only_shapes: arguments.no_values,
        made_by: env!("CARGO_PKG_VERSION"),
    });
    let json = serde_json::to_string(&data).map_err(|error| error.to_string())?;
    let whole = with_data(&page, &json)?;
    let at = disk::absolute(&arguments.out);
    write(&at, &whole).map_err(|error| format!("{}: {error}", shown(&at)))?;
    progress.clear();
    for what in &data.left_out {
        remark(&format!("note: left out: {what}"));
    }
    let tenths = whole.len() * 10 / 1_000_000;
    let hidden = match secrets {
        0 => String::new(),
        count => format!("; {} left out", number_of(count, "secret")),
    };
    remark(&format!(
        "wrote {} ({}.{} MB; {}, {}{hidden})",
        shown(&at),
        tenths / 10,
        tenths % 10,
        number_of(data.files.len(), "file"),
        number_of(nodes.nodes.all().len(), "node"),
    ));
    Ok(ExitCode::SUCCESS)
}

/// The page: of the flag, of the program, or beside it.
///
/// # Errors
/// There is none, or it is of another version.
fn page(named: Option<&str>) -> Result<String, String> {
    let bytes = match named {
        Some(named) => read(named).map_err(|error| format!("{named}: {error}"))?,
        None if !BUILT_IN.is_empty() => BUILT_IN.to_vec(),
        None => beside().ok_or_else(|| {
            format!(
                "this program was built without the page of a report: 'web/build' in its sources makes {PAGE}, which \
                 --page names"
            )
        })?,
    };
    let shown = named.unwrap_or(PAGE);
    let text = if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut text = String::new();
        let mut unpacked = GzDecoder::new(bytes.as_slice()).take(MAX_PAGE);
        unpacked
            .read_to_string(&mut text)
            .map_err(|error| format!("{shown}: {error}"))?;
        text
    } else {
        String::from_utf8(bytes).map_err(|_| format!("{shown}: this is not UTF-8"))?
    };
    let version = format!("<meta name=\"hiera-ls-report\" content=\"{DATA_VERSION}\">");
    if !text.contains(&version) || text.matches(PLACE).count() != 1 {
        return Err(format!(
            "{shown}: this is no page of a report for this version of hiera-ls: 'web/build' in its sources makes one"
        ));
    }
    Ok(text)
}

#[allow(clippy::disallowed_methods, reason = "cli/ looks where the program is")]
fn beside() -> Option<Vec<u8>> {
    let program = std::env::current_exe().ok()?;
    let at = program.parent()?.join(PAGE);
    read(at.to_str()?).ok()
}

#[allow(
    clippy::disallowed_methods,
    reason = "cli/ reads the files it is given"
)]
fn read(at: &str) -> Result<Vec<u8>, String> {
    let read = || {
        let mut bytes = Vec::new();
        let file = std::fs::File::open(at)?;
        file.take(MAX_PAGE).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error| disk::failure(&error))
}

#[allow(
    clippy::disallowed_methods,
    reason = "cli/ writes what it was asked to"
)]
fn write(at: &str, text: &str) -> Result<(), String> {
    std::fs::write(at, text).map_err(|error| disk::failure(&error))
}

/// The page with its data.
fn with_data(page: &str, json: &str) -> Result<String, String> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    let packed = packed
        .write_all(json.as_bytes())
        .and_then(|()| packed.finish())
        .map_err(|error| disk::failure(&error))?;
    let text = STANDARD.encode(packed);
    let element = format!("<script type=\"text/plain\" id=\"data\">{text}</script>");
    Ok(page.replacen(PLACE, &element, 1))
}
