//! `hiera-ls check [PATH…]`: what is wrong in the data, with excerpts of the sources.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use clap::{Args, ValueEnum};

use crate::analysis::{MajorVersion, Project, ProjectError, ProjectSeverity};
use crate::disk::{self, Ignore, scan, workspace_of};
use crate::lookup::{PuppetVersion, Settings};
use crate::rules::{Checker, Finding, Severity};
use crate::text::{PositionEncoding, TextRange};
use crate::workspace::{Change, File, Snapshot, Workspace, path};

/// How findings are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum CheckFormat {
    /// For people, with excerpts.
    #[default]
    Text,
    /// One JSON object a line, as `docs/check-json.md` has it.
    Json,
}

/// Whether the text is coloured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The arguments of `check`.
#[derive(Args, Debug)]
pub(crate) struct CheckArguments {
    /// Files and folders to check; the current folder without any
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<String>,
    /// Change the workspace of the first path at random, in memory, and compare it with a fresh one
    #[arg(long, hide = true)]
    pub(crate) self_test: bool,
    #[command(flatten)]
    pub(crate) options: CheckOptions,
}

/// The options of `check`.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct CheckOptions {
    /// How findings are printed
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: CheckFormat,
    /// Whether the text is coloured: on a terminal unless NO_COLOR is set, always or never
    #[arg(long, value_enum, default_value_t)]
    pub(crate) color: Color,
    /// Puppet's major version, whose defaults decide what is an error: 7 or 8 [default: as
    /// .hiera-ls.yaml says, else 8]
    #[arg(long, value_name = "VERSION", value_parser = version)]
    pub(crate) puppet_version: Option<PuppetVersion>,
}

fn version(text: &str) -> Result<PuppetVersion, String> {
    match text {
        "7" => Ok(PuppetVersion::V7),
        "8" => Ok(PuppetVersion::V8),
        _ => Err("the versions are 7 and 8".to_owned()),
    }
}

/// Exit code for a path that cannot be checked.
const BAD_PATH: u8 = 2;

/// Most lines of one excerpt: a value can be a thousand lines long.
const MOST_LINES: u32 = 6;

/// Checks the workspaces of the paths, the current folder's without any, and prints the findings
/// below the paths. The exit code is 1 if one of them is an error.
pub(crate) fn run(paths: &[String], options: CheckOptions) -> ExitCode {
    let here = [".".to_string()];
    let paths = if paths.is_empty() { &here } else { paths };
    let mut report = Report::new(options);
    let mut code = ExitCode::SUCCESS;
    for given in paths {
        let checked = absolute(given).map_err(|error| error.to_string());
        let checked = checked.and_then(|at| report.check(&at).map_err(|error| error.to_string()));
        match checked {
            Ok(()) => {}
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "hiera-ls: {given}: {error}");
                code = ExitCode::from(BAD_PATH);
            }
        }
    }
    report.finish();
    if report.count(Severity::Error) > 0 {
        ExitCode::FAILURE
    } else {
        code
    }
}

/// Tests whether the workspace of the first path, the current folder's without any, answers after
/// random edits as one that is read afresh.
pub(crate) fn self_test(paths: &[String], options: CheckOptions) -> ExitCode {
    let given = paths.first().map_or(".", String::as_str);
    match absolute(given) {
        Ok(at) => super::self_test::run(
            &workspace_of(&at, &disk::absolute(".")),
            options.puppet_version.unwrap_or_default(),
        ),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "hiera-ls: {given}: {error}");
            ExitCode::from(BAD_PATH)
        }
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "cli/ resolves the paths it is given"
)]
fn absolute(given: &str) -> std::io::Result<String> {
    let at = std::fs::canonicalize(given)?;
    at.into_os_string()
        .into_string()
        .map_err(|_| std::io::Error::other("the path is not UTF-8"))
}

/// How a finding is reported by the workspace's configuration; nothing where it is not.
fn severity(project: &Project, finding: &Finding) -> Option<Severity> {
    if project.diagnostics.enable == Some(false) {
        return None;
    }
    match project.diagnostics.severity.get(finding.code) {
        None => Some(finding.severity),
        Some(ProjectSeverity::Off) => None,
        Some(ProjectSeverity::Hint) => Some(Severity::Hint),
        Some(ProjectSeverity::Information) => Some(Severity::Information),
        Some(ProjectSeverity::Warning) => Some(Severity::Warning),
        Some(ProjectSeverity::Error) => Some(Severity::Error),
    }
}

struct Report {
    options: CheckOptions,
    renderer: Renderer,
    /// The folder that paths are shown from.
    here: String,
    files: usize,
    counts: [usize; 4],
}

impl Report {
    #[allow(clippy::disallowed_methods, reason = "cli/ reads the environment")]
    fn new(options: CheckOptions) -> Report {
        let plain = std::env::var("NO_COLOR").is_ok_and(|value| !value.is_empty());
        let coloured = match options.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => !plain && std::io::stdout().is_terminal(),
        };
        Report {
            options,
            renderer: if coloured {
                Renderer::styled()
            } else {
                Renderer::plain()
            },
            here: absolute(".").unwrap_or_default(),
            files: 0,
            counts: [0; 4],
        }
    }

    fn count(&self, severity: Severity) -> usize {
        self.counts[severity as usize]
    }

    /// Checks everything at or below a path.
    fn check(&mut self, at: &str) -> Result<(), ProjectError> {
        let folder: Arc<str> = workspace_of(at, &disk::absolute("."));
        let found_project = disk::project(&folder);
        let workspace = Workspace::new();
        let found = scan(&[Arc::clone(&folder)], &Ignore::default(), &|_| {
            ControlFlow::Continue(())
        });
        for problem in &found.problems {
            let shown = self.shown(&problem.path);
            let _ = writeln!(std::io::stderr(), "hiera-ls: {shown}: {}", problem.message);
        }
        let snapshot = workspace.apply(Change::Batch(vec![
            Change::Folders(vec![folder]),
            Change::Settings(found_project.project.of_files()),
            found.change,
        ]));
        // A mistake in a file of the workspace is a finding there.
        let is_reported = |path: &String| snapshot.file(path).is_some();
        let project = match found_project.path.as_ref().is_some_and(is_reported) {
            true => found_project.project,
            false => found_project.whole()?,
        };
        let version = match project.puppet_version {
            Some(MajorVersion(7)) => PuppetVersion::V7,
            Some(_) | None => PuppetVersion::V8,
        };
        let version = self.options.puppet_version.unwrap_or(version);
        let settings = Settings {
            backends: Arc::new(project.backends.clone()),
            ..Settings::for_version(version).for_editor()
        };
        let checker = Checker::with_settings(&snapshot, settings);
        let mut paths: Vec<&Arc<str>> = snapshot
            .files()
            .map(|file| file.path())
            .filter(|file| path::within(file, at).is_some())
            .collect();
        paths.sort();
        let mut out = std::io::stdout().lock();
        for file in paths {
            let Some(findings) = checker.file(file) else {
                continue;
            };
            self.files += 1;
            for mut finding in findings {
                match severity(&project, &finding) {
                    Some(severity) => finding.severity = severity,
                    None => continue,
                }
                self.counts[finding.severity as usize] += 1;
                let text = match self.options.format {
                    CheckFormat::Text => self.text(&snapshot, &finding),
                    CheckFormat::Json => self.json(&snapshot, &finding),
                };
                let _ = writeln!(out, "{text}");
            }
        }
        Ok(())
    }

    /// The path as people know it from here.
    fn shown<'p>(&self, at: &'p str) -> &'p str {
        path::within(at, &self.here).unwrap_or(at)
    }

    /// The finding for people.
    fn text(&self, snapshot: &Snapshot, finding: &Finding) -> String {
        let level = match finding.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Information => Level::INFO,
            Severity::Hint => Level::NOTE.with_name("hint"),
        };
        let mut group: Group<'_> = level
            .primary_title(finding.message.as_str())
            .id(finding.code)
            .elements(Vec::<Snippet<'_, annotate_snippets::Annotation<'_>>>::new());
        if let Some(file) = snapshot.file(&finding.path) {
            group = group.element(self.excerpt(file, finding.range, None));
        }
        for related in &finding.related {
            if let Some(file) = snapshot.file(&related.path) {
                group = group.element(self.excerpt(file, related.range, Some(&related.message)));
            }
        }
        let mut text = self.renderer.render(&[group]).to_string();
        text.push('\n');
        text
    }

    /// The lines of a range, underlined.
    fn excerpt<'f>(
        &self,
        file: &'f File,
        range: TextRange,
        label: Option<&'f str>,
    ) -> Snippet<'f, annotate_snippets::Annotation<'f>> {
        let lines = file.lines();
        let first = lines.line(range.start as usize);
        let last = lines.line(
            (range.end as usize)
                .saturating_sub(1)
                .max(range.start as usize),
        );
        let last = last.min(first + MOST_LINES - 1);
        let start = lines
            .line_range(first)
            .map_or(0, |line| line.start as usize);
        let end = lines
            .line_range(last)
            .map_or(file.text().len(), |line| line.end as usize);
        let source = file.text().get(start..end).unwrap_or_default();
        let from = (range.start as usize)
            .saturating_sub(start)
            .min(source.len());
        let to = (range.end as usize)
            .saturating_sub(start)
            .clamp(from, source.len());
        let kind = match label {
            None => AnnotationKind::Primary,
            Some(_) => AnnotationKind::Context,
        };
        Snippet::source(source)
            .line_start(first as usize + 1)
            .path(self.shown(file.path()).to_owned())
            .annotation(kind.span(from..to).label(label))
    }

    /// The finding as one line of JSON.
    fn json(&self, snapshot: &Snapshot, finding: &Finding) -> String {
        let mut line = serde_json::Map::new();
        line.insert("code".into(), finding.code.into());
        line.insert("severity".into(), finding.severity.name().into());
        self.json_place(snapshot, &finding.path, finding.range, &mut line);
        line.insert("message".into(), finding.message.as_str().into());
        let related = finding.related.iter().map(|related| {
            let mut entry = serde_json::Map::new();
            self.json_place(snapshot, &related.path, related.range, &mut entry);
            entry.insert("message".into(), related.message.as_str().into());
            serde_json::Value::Object(entry)
        });
        line.insert("related".into(), related.collect());
        serde_json::Value::Object(line).to_string()
    }

    fn json_place(
        &self,
        snapshot: &Snapshot,
        at: &str,
        range: TextRange,
        line: &mut serde_json::Map<String, serde_json::Value>,
    ) {
        line.insert("path".into(), self.shown(at).into());
        let Some(file) = snapshot.file(at) else {
            return;
        };
        let ends = [
            ("line", "column", range.start),
            ("endLine", "endColumn", range.end),
        ];
        for (row, column, offset) in ends {
            let place = file
                .lines()
                .position(offset as usize, PositionEncoding::Utf32);
            line.insert(row.into(), (place.line + 1).into());
            line.insert(column.into(), (place.character + 1).into());
        }
    }

    /// Prints the summary: to the text it belongs, JSON stays JSON.
    fn finish(&self) {
        let mut parts = Vec::new();
        for severity in [
            Severity::Error,
            Severity::Warning,
            Severity::Information,
            Severity::Hint,
        ] {
            let name = match severity {
                Severity::Information => "note",
                Severity::Error | Severity::Warning | Severity::Hint => severity.name(),
            };
            match self.count(severity) {
                0 => {}
                1 => parts.push(format!("1 {name}")),
                many => parts.push(format!("{many} {name}s")),
            }
        }
        let mut summary = match parts.is_empty() {
            true => "nothing found".to_owned(),
            false => parts.join(", "),
        };
        let files = if self.files == 1 { "file" } else { "files" };
        let _ = write!(summary, " in {} {files}", self.files);
        let _ = match self.options.format {
            CheckFormat::Text => writeln!(std::io::stdout(), "{summary}"),
            CheckFormat::Json => writeln!(std::io::stderr(), "{summary}"),
        };
    }
}
