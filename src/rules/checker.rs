//! Runs the rules over files of a snapshot.

use std::sync::{Arc, OnceLock};

use super::checked::{Checked, Reader, Role};
use super::finding::{Finding, Severity};
use super::reference_graph::ReferenceGraph;
use super::walk::walk;
use super::{RULES, Rule};
use crate::hierarchy::{FunctionKind, Layer, TemplatePart};
use crate::lookup::{
    ConfigCache, Environment, Place, PuppetVersion, Request, Session, Settings, UnknownCause,
    format_of, layer_of, reach,
};
use crate::regexp::{Regexp, RegexpError};
use crate::scope::Scope;
use crate::text::TextRange;
use crate::workspace::{File, Root, RootFiles, Snapshot};

/// The limit of findings of one file, wherever they are shown: a file with more of them is broken in
/// one way many times.
pub const MOST_FINDINGS: usize = 200;

/// A key that no data has: asking for it shows which levels nobody can read.
const NO_KEY: &str = "no key of any data";

/// The rules over one snapshot. Hierarchies are read once, when the first file asks for them.
pub struct Checker<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) settings: Settings,
    pub(super) configs: Arc<ConfigCache>,
    roots: Vec<RootView<'a>>,
    graph: OnceLock<ReferenceGraph>,
}

/// A root with what its own hierarchy reads.
pub(super) struct RootView<'a> {
    pub(super) root: &'a Root,
    pub(super) layer: Layer,
    pub(super) environment: Environment,
    places: OnceLock<Arc<[Place]>>,
}

/// The findings of one rule in one file.
pub(super) struct Found<'a> {
    rule: &'static Rule,
    file: &'a File,
    pub(super) list: Vec<Finding>,
}

impl<'a> Found<'a> {
    pub(super) fn new(rule: &'static Rule, file: &'a File) -> Found<'a> {
        Found {
            rule,
            file,
            list: Vec::new(),
        }
    }

    /// Adds a finding; the caller may change the rest of it.
    pub(super) fn report(&mut self, range: TextRange, message: impl Into<String>) -> &mut Finding {
        let (code, severity) = (self.rule.code, self.rule.severity);
        let path = Arc::clone(self.file.path());
        self.list
            .push(Finding::new(code, severity, path, range, message));
        let last = self.list.len() - 1;
        &mut self.list[last]
    }

    /// Whether this rule has reported these bytes already.
    pub(super) fn has(&self, range: TextRange) -> bool {
        self.list.iter().any(|finding| finding.range == range)
    }

    /// Adds a finding of another severity than the rule's own.
    pub(super) fn report_as(
        &mut self,
        severity: Severity,
        range: TextRange,
        message: impl Into<String>,
    ) -> &mut Finding {
        let finding = self.report(range, message);
        finding.severity = severity;
        finding
    }
}

/// The findings of one file for the default version of Puppet, ordered by place. To check many
/// files of one snapshot, keep a [`Checker`].
#[must_use]
pub fn check_file(snapshot: &Snapshot, path: &str) -> Vec<Finding> {
    Checker::new(snapshot, PuppetVersion::default())
        .file(path)
        .unwrap_or_default()
}

/// The findings of all files for the default version of Puppet, ordered by path and place.
pub fn check_all(snapshot: &Snapshot) -> impl Iterator<Item = Finding> {
    Checker::new(snapshot, PuppetVersion::default())
        .all()
        .into_iter()
}

impl<'a> Checker<'a> {
    /// Rules as for a version of Puppet with its defaults.
    #[must_use]
    pub fn new(snapshot: &'a Snapshot, version: PuppetVersion) -> Checker<'a> {
        Checker::with_settings(snapshot, Settings::for_version(version).for_editor())
    }

    /// Rules as for these settings of Puppet.
    #[must_use]
    pub fn with_settings(snapshot: &'a Snapshot, settings: Settings) -> Checker<'a> {
        Checker::with_configs(snapshot, settings, Arc::default())
    }

    /// The same with configurations, and what they read, as known from snapshots before: what is
    /// not concerned by a change is not worked out again.
    #[must_use]
    pub fn with_configs(
        snapshot: &'a Snapshot,
        settings: Settings,
        configs: Arc<ConfigCache>,
    ) -> Checker<'a> {
        let roots = snapshot.roots().iter().map(|root| RootView {
            root,
            layer: layer_of(root),
            environment: Environment::of_root(snapshot, root),
            places: OnceLock::new(),
        });
        Checker {
            snapshot,
            settings,
            configs,
            roots: roots.collect(),
            graph: OnceLock::new(),
        }
    }

    /// The findings of one file, ordered by place; nothing for a file that no hierarchy reads.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<Vec<Finding>> {
        let checked = self.checked(self.snapshot.file(path)?)?;
        let mut findings = walk(&checked, RULES);
        findings.sort_by(|a, b| (a.range.start, a.code).cmp(&(b.range.start, b.code)));
        findings.truncate(MOST_FINDINGS);
        Some(findings)
    }

    /// Whether a hierarchy reads a file, or the file is one's configuration: O(levels).
    #[must_use]
    pub fn reads(&self, path: &str) -> bool {
        let file = self.snapshot.file(path);
        file.is_some_and(|file| self.checked(file).is_some())
    }

    /// The findings of all files, ordered by path and place.
    #[must_use]
    pub fn all(&self) -> Vec<Finding> {
        let mut paths: Vec<&str> = self
            .snapshot
            .files()
            .map(|file| file.path().as_ref())
            .collect();
        paths.sort_unstable();
        paths
            .into_iter()
            .filter_map(|path| self.file(path))
            .flatten()
            .collect()
    }

    fn config_root(&self, path: &str) -> Option<&RootView<'a>> {
        self.roots
            .iter()
            .find(|view| view.root.hiera_yaml.as_deref() == Some(path))
    }

    /// The file as hierarchies read it; nothing for a file that none reads.
    fn checked<'c>(&'c self, file: &'c File) -> Option<Checked<'c>> {
        let role = match self.config_root(file.path()) {
            Some(view) => Role::Config {
                layer: &view.layer,
                dir: &view.root.dir,
            },
            None => Role::Data(self.readers(file)),
        };
        match &role {
            Role::Data(readers) if readers.is_empty() => None,
            Role::Data(_) | Role::Config { .. } => Some(Checked::new(self, file, role)),
        }
    }

    /// The roots whose hierarchies read a file with a reader of Puppet's own.
    pub(super) fn readers<'c>(&'c self, file: &File) -> Vec<Reader<'c>> {
        let mut readers = Vec::new();
        for view in &self.roots {
            let reached = reach(self.places(view), file.path());
            let formats: Vec<_> = reached
                .iter()
                .filter_map(|reach| format_of(&reach.place.function))
                .collect();
            let Some(&format) = formats.first() else {
                continue;
            };
            let is_plain = reached.iter().all(|reach| {
                let function = &reach.place.function;
                function.kind == FunctionKind::DataHash && format_of(function).is_some()
            });
            readers.push(Reader {
                view,
                is_plain,
                reached: reached
                    .into_iter()
                    .filter(|reach| format_of(&reach.place.function) == Some(format))
                    .collect(),
                format,
            });
        }
        readers
    }

    /// Whether some root's hierarchy reads a file with a reader of Puppet's own.
    pub(super) fn is_read(&self, file: &File) -> bool {
        let reads = |view: &RootView<'_>| {
            let mut places = self.places(view).iter();
            places.any(|place| {
                format_of(&place.function).is_some() && place.template.matches(file.path())
            })
        };
        self.roots.iter().any(reads)
    }

    /// What a root's hierarchy reads; nothing where Puppet refuses its configuration.
    fn places<'c>(&self, view: &'c RootView<'a>) -> &'c [Place] {
        view.places.get_or_init(|| {
            let files = self.snapshot.files_for(view.root);
            self.session(view, &files).known_places(&view.layer)
        })
    }

    /// A session of lookups in a root.
    pub(super) fn session<'c>(
        &'c self,
        view: &'c RootView<'_>,
        files: &'c RootFiles<'c>,
    ) -> Session<'c> {
        Session {
            files,
            environment: &view.environment,
            settings: &self.settings,
            configs: &self.configs,
        }
    }

    /// A pattern of `lookup_options`, compiled now or before.
    ///
    /// # Errors
    /// As [`Regexp::new`].
    pub(super) fn pattern(&self, source: &str) -> Result<Regexp, RegexpError> {
        let pattern = self.configs.pattern(source)?;
        pattern.check()?;
        Ok(pattern)
    }

    /// Which keys look up which, over all files.
    pub(super) fn graph(&self) -> &ReferenceGraph {
        self.graph.get_or_init(|| ReferenceGraph::of(self.snapshot))
    }

    /// Whether all data that is read together with a root's lies in the workspace: no level reads
    /// files from elsewhere, none asks a function that would have to be run.
    pub(super) fn sees_all_data(&self, of: &RootView<'_>) -> bool {
        let together = self
            .roots
            .iter()
            .filter(|view| view.environment.dir == of.environment.dir);
        let areas = self.snapshot.areas();
        let here = |place: &Place| {
            let start = match place.template.parts.first() {
                Some(TemplatePart::Text(text)) => text.as_str(),
                Some(TemplatePart::Variable(_)) | None => "",
            };
            areas.iter().any(|area| start.starts_with(&**area))
        };
        let mut together = together.map(|view| {
            let files = self.snapshot.files_for(view.root);
            let session = self.session(view, &files);
            let some_key = match view.layer.module_name() {
                Some(module) => format!("{module}::{NO_KEY}"),
                None => NO_KEY.to_owned(),
            };
            let answer = session.lookup(&Scope::open(), &Request::key(&some_key));
            let asks_functions = answer
                .unknown
                .iter()
                .any(|unknown| matches!(unknown.cause, UnknownCause::Function { .. }));
            !asks_functions && self.places(view).iter().all(here)
        });
        together.all(|sees| sees)
    }
}
