//! The findings of a run of `check`, and how they are fixed and printed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use annotate_snippets::Renderer;
use serde_json::{Value, json};

use super::baseline::Baseline;
use super::fix::{Fixed, fixed};
use super::frequent;
use super::hidden::SecretRanges;
use super::record::{self, Record};
use super::selection::SEVERITIES;
use super::wanted::{Wanted, absolute};
use super::{
    CheckArguments, CheckFormat, CheckOptions, CheckOutput, checkstyle, complain, concise, full,
    github, gitlab, json as as_json, junit, parallel, rdjson, sarif,
};
use crate::analysis::{Analysis, PROJECT_FILE, Project};
use crate::cli::console::{self, ConsoleOutput, print_message};
use crate::cli::nodes::NodeRequest;
use crate::cli::terminal::{self, Layout, Paint, ProgressLine};
use crate::cli::workspace::{WorkspaceArguments, place_of};
use crate::cli::written::write_all;
use crate::disk::{self, Ignore, scan};
use crate::ide::cell::what_was_read;
use crate::lookup::{ConfigCache, Settings};
use crate::rules::{Checker, Finding, FindingIdentity, Fixing, MAX_FINDINGS, Safety, Severity};
use crate::scope::KnownNodes;
use crate::text::number_of;
use crate::workspace::{Change, Root, RootKind, Snapshot, Workspace, path};

/// The number of findings of one rule up to which people change them one by one.
const MANY: usize = 50;

pub(super) enum FolderResult {
    Files,
    /// The same, but no file matches one of the patterns.
    BadPattern,
    NoHierarchy,
}

struct ReadWorkspace {
    snapshot: Arc<Snapshot>,
    project: Project,
    settings: Settings,
    configs: ConfigCache,
}

/// The findings of one file with their fingerprints.
type FileRecords = (Arc<str>, Vec<(FindingIdentity, Record)>);

/// The findings of one run of `check` in all its workspaces.
pub(super) struct CheckReport<'a> {
    options: CheckOptions,
    output: &'a CheckOutput,
    workspace: &'a WorkspaceArguments,
    known: Option<Baseline>,
    renderer: Renderer,
    /// The folder that shown paths are relative to.
    here: String,
    /// Paths of the checked files; arguments may overlap.
    files: BTreeSet<Arc<str>>,
    counts: [usize; 4],
    records: Vec<Record>,
    pub(super) has_diff: bool,
    pub(super) has_fixed: bool,
    /// Whether no level of some hierarchy finds a file.
    pub(super) lacks_levels: bool,
    /// Whether a fixed file could not be written.
    pub(super) has_failed: bool,
}

impl<'a> CheckReport<'a> {
    pub(super) fn new(arguments: &'a CheckArguments, known: Option<Baseline>) -> CheckReport<'a> {
        let renderer = if terminal::is_coloured() {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let renderer = match terminal::width() {
            Some(width) => renderer.term_width(width),
            None => renderer,
        };
        CheckReport {
            options: arguments.options,
            output: &arguments.output,
            workspace: &arguments.workspace,
            known,
            renderer,
            here: absolute(".").unwrap_or_default(),
            files: BTreeSet::new(),
            counts: [0; 4],
            records: Vec::new(),
            has_diff: false,
            has_fixed: false,
            lacks_levels: false,
            has_failed: false,
        }
    }

    /// With paths relative to another folder than the current one.
    pub(super) fn relative_to(mut self, folder: &str) -> CheckReport<'a> {
        folder.clone_into(&mut self.here);
        self
    }

    pub(super) fn count(&self, severity: Severity) -> usize {
        self.counts[severity as usize]
    }

    /// All findings of a workspace that was read, as JSON.
    ///
    /// # Errors
    /// A finding has a text that is none in JSON.
    pub(super) fn json_of(
        mut self,
        folder: &str,
        snapshot: &Arc<Snapshot>,
        project: &Project,
    ) -> Result<Value, String> {
        let read = self.read(snapshot.clone(), project.clone());
        let paths: Vec<Arc<str>> = snapshot.files().map(|file| file.path().clone()).collect();
        let checked = self.find(folder, &read, &paths);
        self.tell_lacking_levels(&read, &checked);
        record::fingerprint(&mut self.records);
        serde_json::to_value(&self.records).map_err(|error| error.to_string())
    }

    /// Checks everything that the arguments name in one workspace.
    pub(super) fn check(
        &mut self,
        folder: &Arc<str>,
        group: &[Wanted<'_>],
    ) -> Result<FolderResult, String> {
        let Some(mut opened) = self.open(folder)? else {
            return Ok(FolderResult::NoHierarchy);
        };
        let snapshot = opened.snapshot.clone();
        let mut paths: BTreeSet<Arc<str>> = BTreeSet::new();
        let mut checked = FolderResult::Files;
        for wanted in group {
            let files = snapshot.files().map(|file| file.path());
            let mut named = files.filter(|file| wanted.names(file)).peekable();
            let given = wanted.given;
            if named.peek().is_some() {
                paths.extend(named.cloned());
            } else if wanted.pattern.is_some() {
                terminal::complain(&format!("{given}: no file matches the pattern"));
                checked = FolderResult::BadPattern;
            } else if wanted.is_file() {
                terminal::complain(&format!("{given}: skipped: it is not a data file"));
            } else {
                terminal::complain(&format!("{given}: nothing was checked: there is no data"));
            }
        }
        let paths: Vec<Arc<str>> = paths.into_iter().collect();
        if let Some(most) = self.output.fixes.wanted() {
            opened.snapshot = self.fix(folder, &opened, (&paths, most));
        }
        if self.output.fixes.diff {
            return Ok(checked);
        }
        let read = self.find(folder, &opened, &paths);
        self.tell_lacking_levels(&opened, &read);
        for wanted in group {
            let given = wanted.given;
            let is_named_in = |files: &[Arc<str>]| files.iter().any(|file| wanted.names(file));
            if !is_named_in(&paths) || is_named_in(&read) {
                continue;
            }
            terminal::complain(&if wanted.is_file() {
                format!("{given}: skipped: no hierarchy reads it")
            } else {
                format!("{given}: nothing was checked: no hierarchy reads a file there")
            });
        }
        Ok(checked)
    }

    /// Names the checked hierarchies of nodes of which no level finds a file: what no level sets, and
    /// what nothing reads, is not known there. Plans of Bolt need no data, and modules neither.
    fn tell_lacking_levels(&mut self, opened: &ReadWorkspace, read: &[Arc<str>]) {
        let (snapshot, nodes) = (&opened.snapshot, KnownNodes::default());
        let analysis = Analysis::new(snapshot, &opened.settings, &opened.configs, &nodes);
        let roots = snapshot.roots().iter();
        let is_of_nodes =
            |root: &&Root| matches!(root.kind, RootKind::Environment | RootKind::Global);
        for root in roots.filter(is_of_nodes) {
            let config = root.hiera_yaml.as_ref().filter(|it| read.contains(it));
            let view = analysis.at(root);
            let Some((config, datadir)) = config.zip(view.datadir_without_files(&view.layer))
            else {
                continue;
            };
            terminal::complain(&format!(
                "{}: no level finds a file in {}: what no level sets, and what nothing reads, was not checked; name \
                 the data with --path-map or 'pathMap'",
                self.shown(config),
                self.shown(&datadir)
            ));
            self.lacks_levels = true;
        }
    }

    /// Reads a workspace; `None` if it has no hierarchy.
    fn open(&self, folder: &Arc<str>) -> Result<Option<ReadWorkspace>, String> {
        let found_project = disk::project(folder);
        let workspace = Workspace::new();
        self.workspace.has_environment(folder)?;
        let settings = self.workspace.places.files(&found_project.project)?;
        let opened = workspace.apply(Change::Batch(vec![
            Change::Folders(vec![folder.clone()]),
            Change::Settings(settings),
        ]));
        let mut progress = ProgressLine::new();
        progress.show("reading files");
        let go_on = |_| ControlFlow::Continue(());
        let ignore = match console::call() {
            Some(_) => Ignore::default().without_links_outside(),
            None => Ignore::default(),
        };
        let found = scan(opened.areas(), &ignore, &go_on);
        progress.clear();
        for problem in &found.problems {
            let shown = self.shown(&problem.path);
            terminal::complain(&format!("{shown}: {}", problem.message));
        }
        let snapshot = workspace.apply(found.change);
        tracing::info!("read {} of {folder}", what_was_read(&snapshot));
        let mut roots = snapshot.roots().iter();
        let is_without = roots.all(|root| !root.has_hierarchy());
        if is_without && snapshot.file(&path::join(folder, PROJECT_FILE)).is_none() {
            return Ok(None);
        }
        // A mistake in a file of the workspace is reported as a finding there.
        let is_reported = |path: &String| snapshot.file(path).is_some();
        for mistake in &found_project.outside {
            terminal::complain(&mistake.to_string());
        }
        let project = if found_project.path.as_ref().is_some_and(is_reported) {
            found_project.project
        } else {
            found_project.whole().map_err(|error| error.to_string())?
        };
        let opened = self.read(snapshot.clone(), project);
        if self.workspace.nodes.are_given() {
            let environment = &self.workspace.environment;
            let place = place_of(&opened.snapshot, folder, environment);
            self.sources(&opened).known(&opened.snapshot, &place)?;
        }
        Ok(Some(opened))
    }

    fn read(&self, snapshot: Arc<Snapshot>, project: Project) -> ReadWorkspace {
        ReadWorkspace {
            snapshot,
            settings: self.workspace.puppet.settings(&project).for_editor(),
            project,
            configs: ConfigCache::default(),
        }
    }

    /// The nodes that findings are for.
    fn sources<'o>(&'o self, opened: &'o ReadWorkspace) -> NodeRequest<'o> {
        let puppet = (&opened.settings, &opened.configs);
        self.workspace.request(&opened.project, puppet)
    }

    fn checker<'o>(&'o self, opened: &'o ReadWorkspace, snapshot: &'o Snapshot) -> Checker<'o> {
        let sources = self.sources(opened);
        Checker::with_settings(snapshot, opened.settings.clone())
            .with_environment(&self.workspace.environment)
            .with_nodes(move |path| sources.set(snapshot, path).unwrap_or_default())
    }

    /// Adds the findings of some files; returns those files that a hierarchy reads.
    fn find(&mut self, folder: &str, opened: &ReadWorkspace, paths: &[Arc<str>]) -> Vec<Arc<str>> {
        let mut read = Vec::with_capacity(paths.len());
        for (file, found) in self.records(folder, opened, paths) {
            if self.files.insert(Arc::clone(&file)) {
                let records = found.into_iter().map(|(_, record)| record);
                self.records.extend(records);
            }
            read.push(file);
        }
        read
    }

    /// The findings of each of some files that a hierarchy reads.
    fn records(
        &self,
        folder: &str,
        opened: &ReadWorkspace,
        paths: &[Arc<str>],
    ) -> Vec<FileRecords> {
        let (snapshot, project) = (&opened.snapshot, &opened.project);
        let checker = self.checker(opened, snapshot).with_all_findings();
        let selection = &self.output.selection;
        let checker = checker.with_rules(|rule| selection.includes_rule(rule.code));
        let shown = |at: &str| self.shown(at).to_owned();
        let progress = Mutex::new(ProgressLine::new());
        let found = parallel::findings(&checker, paths, &|done| {
            let progress = progress.lock();
            let mut progress = progress.unwrap_or_else(PoisonError::into_inner);
            progress.count(done, paths.len(), "files checked");
        });
        drop(progress);
        let hidden = SecretRanges::new(&checker);
        let mut checked = Vec::with_capacity(paths.len());
        for (file, found) in paths.iter().zip(found) {
            let Some((findings, secrets)) = found else {
                continue;
            };
            hidden.learn(file, secrets);
            checked.push((file, findings));
        }
        let drawn = (&self.renderer, terminal::width());
        let record = |mut finding: Finding| {
            let severity = self.severity(project, &finding)?;
            finding.severity = severity;
            let text = (self.options.format == CheckFormat::Full)
                .then(|| full::text(drawn, snapshot, &finding, &hidden, &shown));
            let known = FindingIdentity::of(&finding);
            let path = Arc::clone(&finding.path);
            let mut record = Record::new(snapshot, finding, &hidden, &shown);
            record.text = text;
            record.known_as = path::within(&path, folder).unwrap_or(&path).to_owned();
            Some((known, record))
        };
        let records = checked.into_iter().map(|(file, findings)| {
            let records = findings.into_iter().filter_map(record).collect();
            (Arc::clone(file), records)
        });
        records.collect()
    }

    /// The severity of a finding under the workspace's configuration; `None` if it is turned off.
    fn severity(&self, project: &Project, finding: &Finding) -> Option<Severity> {
        let diagnostics = &project.diagnostics;
        if diagnostics.ignores(&finding.path) {
            return None;
        }
        let severity = match diagnostics.severity_of(&finding.path, finding.code) {
            None => finding.severity,
            Some(chosen) => Severity::chosen(chosen)?,
        };
        let is_selected = self.output.selection.includes(finding.code, severity);
        is_selected.then_some(severity)
    }

    /// The findings of some files that are in the baseline.
    fn accepted(
        &self,
        folder: &str,
        opened: &ReadWorkspace,
        paths: &[Arc<str>],
    ) -> BTreeMap<Arc<str>, Vec<FindingIdentity>> {
        let mut accepted: BTreeMap<Arc<str>, Vec<FindingIdentity>> = BTreeMap::new();
        let Some(baseline) = &self.known else {
            return accepted;
        };
        for (file, found) in self.records(folder, opened, paths) {
            let (known, mut records): (Vec<FindingIdentity>, Vec<Record>) =
                found.into_iter().unzip();
            record::fingerprint(&mut records);
            let both = known.into_iter().zip(&records);
            let both = both.filter(|(_, record)| baseline.contains(record));
            accepted.insert(file, both.map(|(known, _)| known).collect());
        }
        accepted
    }

    /// Applies the fixes of some files, and writes or shows them. Returns the workspace with the new texts.
    fn fix(
        &mut self,
        folder: &str,
        opened: &ReadWorkspace,
        (paths, most): (&[Arc<str>], Safety),
    ) -> Arc<Snapshot> {
        let before = &opened.snapshot;
        let fixing = Fixing {
            snapshot: before,
            paths,
            most,
            accepted: self.accepted(folder, opened, paths),
        };
        let is_reported = |finding: &Finding| self.severity(&opened.project, finding).is_some();
        let find = |snapshot: &Snapshot, paths: &[Arc<str>]| {
            let checker = self.checker(opened, snapshot);
            let found = parallel::findings(&checker, paths, &|_| {});
            let found = paths.iter().zip(found);
            let found = found.filter_map(|(path, found)| Some((Arc::clone(path), found?.0)));
            found.collect()
        };
        let after = fixing.run(find, is_reported);
        let fixed = fixed(before, &after, &opened.settings);
        let changes = fixed.iter().map(Fixed::change).collect();
        for file in fixed {
            if self.output.fixes.diff {
                self.has_diff = true;
                file.print(self.shown(file.path()));
            } else if let Err(error) = write_all(folder, std::iter::once(file.written())) {
                complain(&error);
                self.has_failed = true;
            } else {
                self.has_fixed = true;
            }
        }
        Arc::new(before.with(Change::Batch(changes)))
    }

    /// The path to print.
    pub(super) fn shown<'p>(&self, at: &'p str) -> &'p str {
        path::within(at, &self.here).unwrap_or(at)
    }

    /// Prints the findings and the summary, which is part of the text for people and goes to
    /// standard error for other formats.
    ///
    /// # Errors
    /// Why the baseline was not written. A closed output is no error.
    pub(super) fn finish(&mut self) -> Result<(), String> {
        // The findings of one file are sorted already.
        self.records
            .sort_by(|one, other| one.place.path.cmp(&other.place.path));
        record::fingerprint(&mut self.records);
        if let Some(file) = &self.output.write_baseline {
            write_baseline(file, &self.records)?;
            let (count, files) = (self.records.len(), self.files.len());
            print_message(&format!(
                "{count} findings in {files} files written to {file}\n"
            ));
            return Ok(());
        }
        if let Some(known) = &self.known {
            self.records.retain(|record| !known.contains(record));
        }
        for record in &self.records {
            self.counts[record.level as usize] += 1;
        }
        let mut out = io::BufWriter::new(ConsoleOutput);
        let _ = if self.output.statistics {
            self.statistics(&mut out)
        } else {
            self.findings(&mut out)
        };
        let _ = out.flush();
        drop(out);
        if self.files.is_empty() {
            return Ok(());
        }
        let mut lines = if self.output.statistics {
            Vec::new()
        } else {
            self.frequent()
        };
        lines.push(self.summary());
        let end = lines.join("\n");
        match self.options.format {
            CheckFormat::Full | CheckFormat::Concise => {
                let _ = writeln!(ConsoleOutput, "{end}");
            }
            _ => print_message(&format!("{end}\n")),
        }
        Ok(())
    }

    fn findings(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.options.format {
            CheckFormat::Full => self.for_people(out, |records, out| {
                let mut texts = records.iter().filter_map(|record| record.text.as_ref());
                texts.try_for_each(|text| writeln!(out, "{text}"))
            }),
            CheckFormat::Concise => {
                self.for_people(out, |records, out| concise::write(records, out))
            }
            CheckFormat::Json => as_json::write(&self.records, out),
            CheckFormat::JsonLines => as_json::write_lines(&self.records, out),
            CheckFormat::Sarif => sarif::write(&self.records, out),
            CheckFormat::Github => github::write(&self.records, out),
            CheckFormat::Gitlab => gitlab::write(&self.records, out),
            CheckFormat::Junit => junit::write(&self.records, out),
            CheckFormat::Checkstyle => checkstyle::write(&self.records, out),
            CheckFormat::Rdjson => rdjson::write(&self.records, out),
        }
    }

    /// Prints the findings of each file up to a limit, and how many are left.
    fn for_people(
        &self,
        out: &mut dyn Write,
        print: impl Fn(&[Record], &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let is_same = |one: &Record, other: &Record| one.place.path == other.place.path;
        for of_file in self.records.chunk_by(is_same) {
            let (shown, left) = of_file.split_at(of_file.len().min(MAX_FINDINGS));
            print(shown, out)?;
            if let Some(record) = left.first() {
                let more = number_of(left.len(), "more finding");
                let path = &record.place.path;
                writeln!(out, "{path}: {more}: --format json-lines prints all")?;
            }
        }
        Ok(())
    }

    /// For each rule with many findings: how many, what they have in common, and how to change all of
    /// them at once.
    fn frequent(&self) -> Vec<String> {
        let counts = self.counts_of_rules().into_iter();
        let frequent = counts.filter(|(_, count)| *count > MANY);
        let line = |(code, _)| {
            let of_rule = self.records.iter().filter(|record| record.code == code);
            frequent::line(code, &of_rule.collect::<Vec<_>>())
        };
        frequent.map(line).collect()
    }

    /// The rules with their numbers of findings, the most frequent first.
    fn counts_of_rules(&self) -> Vec<(&str, usize)> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for record in &self.records {
            *counts.entry(record.code).or_default() += 1;
        }
        let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }

    /// Prints the rules with their numbers of findings, the most frequent first.
    fn statistics(&self, out: &mut dyn Write) -> io::Result<()> {
        let counts = self.counts_of_rules();
        let value = |(code, count): &(&str, usize)| json!({"code": code, "count": count});
        match self.options.format {
            CheckFormat::Json => {
                let all: Vec<Value> = counts.iter().map(value).collect();
                return writeln!(out, "{:#}", Value::from(all));
            }
            CheckFormat::JsonLines => {
                let mut lines = counts.iter().map(value);
                return lines.try_for_each(|line| writeln!(out, "{line}"));
            }
            _ => {}
        }
        let layout = Layout::of_output();
        counts.into_iter().try_for_each(|(code, count)| {
            writeln!(out, "{count:6}  {}", layout.word(Paint::Title, code))
        })
    }

    fn summary(&self) -> String {
        let mut parts = Vec::new();
        for severity in SEVERITIES {
            let name = match severity {
                Severity::Information => "note",
                Severity::Error | Severity::Warning | Severity::Hint => severity.name(),
            };
            match self.count(severity) {
                0 => {}
                count => parts.push(number_of(count, name)),
            }
        }
        let files = number_of(self.files.len(), "file");
        if parts.is_empty() {
            format!("{files} checked, no problems")
        } else {
            format!("{} in {files}", parts.join(", "))
        }
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "cli/ writes the files it is given"
)]
fn write_baseline(file: &str, records: &[Record]) -> Result<(), String> {
    std::fs::write(file, Baseline::of(records).text())
        .map_err(|error| format!("{file}: {}", disk::failure(&error)))
}
