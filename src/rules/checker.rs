//! Runs the rules over files of a snapshot.

use std::sync::{Arc, OnceLock};

use super::context::{FileContext, Reader, Role};
use super::finding::Finding;
use super::reference_graph::ReferenceGraph;
use super::walk::walk;
use super::{Facts, RULES, Rule};
use crate::analysis::{Analysis, RootView};
use crate::hierarchy::{Layer, TemplatePart};
use crate::lookup::{
    ConfigCache, Place, PuppetVersion, Reach, Reading, Request, Settings, UnknownCause, reach,
};
use crate::regexp::{Regexp, RegexpError};
use crate::scope::{KnownNodes, Scope};
use crate::workspace::{File, PROJECT_FILE, Root, Snapshot, path};

/// The limit of findings of one file, wherever they are shown: a file with more of them is broken in
/// one way many times.
pub const MOST_FINDINGS: usize = 200;

/// A key that no data has: looking it up shows which levels cannot be read.
const NO_KEY: &str = "no key of any data";

/// Which rules to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// All.
    All,
    /// Those that depend on nothing but the file and its hierarchy.
    OwnFile,
}

/// The rules over one snapshot. What a root reads is worked out once, when the first file asks.
pub struct Checker<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) settings: Settings,
    configs: Arc<ConfigCache>,
    nodes: KnownNodes,
    roots: Vec<RootContext<'a>>,
    graph: OnceLock<ReferenceGraph>,
}

/// A root with what its own hierarchy reads.
pub(super) struct RootContext<'a> {
    pub(super) root: &'a Root,
    pub(super) layer: Layer,
    /// The folder of the environment that its data is read in.
    environment: Option<Arc<str>>,
    places: OnceLock<Arc<[Place]>>,
}

/// The findings of one file for the default version of Puppet, ordered by place. To check many
/// files of one snapshot, keep a [`Checker`].
#[must_use]
pub fn check_file(snapshot: &Snapshot, path: &str) -> Vec<Finding> {
    Checker::new(snapshot, PuppetVersion::default())
        .file(path)
        .unwrap_or_default()
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
        let mut checker = Checker {
            snapshot,
            settings,
            configs,
            nodes: KnownNodes::default(),
            roots: Vec::new(),
            graph: OnceLock::new(),
        };
        let roots = snapshot.roots().iter().map(|root| {
            let RootView {
                layer, environment, ..
            } = checker.analysis().at(root);
            RootContext {
                root,
                layer,
                environment: environment.dir,
                places: OnceLock::new(),
            }
        });
        checker.roots = roots.collect();
        checker
    }

    /// What the rules ask.
    pub(super) fn analysis(&self) -> Analysis<'_> {
        Analysis::new(self.snapshot, &self.settings, &self.configs, &self.nodes)
    }

    /// The findings of one file, ordered by place; nothing for a file that no hierarchy reads.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<Vec<Finding>> {
        self.part(path, Part::All)
    }

    /// The findings of some rules in one file, as [`Checker::file`] gives those of all.
    #[must_use]
    pub fn part(&self, path: &str, part: Part) -> Option<Vec<Finding>> {
        let checked = self.checked(self.snapshot.file(path)?)?;
        let own = |rule: &&&Rule| rule.depends.on == Facts::NONE;
        let mut findings = match part {
            Part::All => walk(&checked, RULES),
            Part::OwnFile => walk(
                &checked,
                &RULES.iter().filter(own).copied().collect::<Vec<_>>(),
            ),
        };
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

    fn config_root(&self, path: &str) -> Option<&RootContext<'a>> {
        self.roots
            .iter()
            .find(|of| of.root.hiera_yaml.as_deref() == Some(path))
    }

    /// The file as hierarchies read it; nothing for a file that none reads.
    fn checked<'c>(&'c self, file: &'c File) -> Option<FileContext<'c>> {
        let role = match self.config_root(file.path()) {
            Some(of) => Role::Config {
                layer: &of.layer,
                dir: &of.root.dir,
            },
            None if path::name(file.path()) == PROJECT_FILE => Role::Project,
            None => Role::Data(self.readers(file)),
        };
        match &role {
            Role::Data(readers) if readers.is_empty() => None,
            Role::Data(_) | Role::Config { .. } | Role::Project => {
                Some(FileContext::new(self, file, role))
            }
        }
    }

    /// The roots whose hierarchies read a file with a reader of Puppet's own.
    pub(super) fn readers<'c>(&'c self, file: &File) -> Vec<Reader<'c>> {
        let mut readers = Vec::new();
        for root in &self.roots {
            let files = self.snapshot.files_for(root.root);
            let reached = reach(self.places(root), file.path(), &files);
            let format_of = |reach: &Reach| reach.place.reading.map(Reading::format);
            let Some(format) = reached.iter().find_map(format_of) else {
                continue;
            };
            let is_plain = reached
                .iter()
                .all(|reach| matches!(reach.place.reading, Some(Reading::Plain(_))));
            readers.push(Reader {
                root,
                is_plain,
                reached: reached
                    .into_iter()
                    .filter(|reach| format_of(reach) == Some(format))
                    .collect(),
                format,
            });
        }
        readers
    }

    /// Whether some root's hierarchy reads a file with a reader of Puppet's own.
    pub(super) fn is_read(&self, file: &File) -> bool {
        let reads = |root: &RootContext<'_>| {
            let files = self.snapshot.files_for(root.root);
            let mut places = self.places(root).iter();
            places.any(|place| place.reading.is_some() && place.reads(file.path(), &files))
        };
        self.roots.iter().any(reads)
    }

    /// What a root's hierarchy reads; nothing where Puppet refuses its configuration.
    fn places<'c>(&self, of: &'c RootContext<'a>) -> &'c [Place] {
        of.places
            .get_or_init(|| self.analysis().at(of.root).places(&of.layer))
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
    pub(super) fn sees_all_data(&self, of: &RootContext<'_>) -> bool {
        let mut together = self
            .roots
            .iter()
            .filter(|root| root.environment == of.environment);
        let areas = self.snapshot.areas();
        let here = |place: &Place| {
            let start = match place.template.parts.first() {
                Some(TemplatePart::Text(text)) => text.as_str(),
                Some(TemplatePart::Variable(_) | TemplatePart::Key(_)) | None => "",
            };
            areas.iter().any(|area| start.starts_with(&**area))
        };
        together.all(|root| !self.asks_functions(root) && self.places(root).iter().all(here))
    }

    /// Whether a level of a root asks a function that would have to be run.
    fn asks_functions(&self, of: &RootContext<'_>) -> bool {
        let some_key = match of.layer.module_name() {
            Some(module) => format!("{module}::{NO_KEY}"),
            None => NO_KEY.to_owned(),
        };
        let view = self.analysis().at(of.root);
        let answer = view
            .session()
            .lookup(&Scope::open(), &Request::key(&some_key));
        let mut unknown = answer.unknown.iter();
        unknown.any(|unknown| matches!(unknown.cause, UnknownCause::Function { .. }))
    }
}
