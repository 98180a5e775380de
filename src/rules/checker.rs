//! Runs the rules over files of a snapshot.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::context::{FileContext, FileRole, Reader};
use super::finding::Finding;
use super::fixes;
use super::kept::KeptResults;
use super::known_nodes::NodesFor;
use super::option_list::OptionList;
use super::reference_graph::Edge;
use super::rule::Hook;
use super::secrets::{hide, secrets_among};
use super::suppression;
use super::walk::{unread_findings, walk};
use super::{RULES, Rule};
use crate::analysis::{
    Analysis, EvaluationOrder, FileReading, MissingValue, NodeSet, RootView, SiteNodes, Sites,
    datadir_of, layers_of, with_known_names,
};
use crate::datatype::Type;
use crate::hierarchy::{Layer, Template, has_data_extension};
use crate::lookup::{ConfigCache, Place, PuppetVersion, Request, Settings};
use crate::regexp::{Regexp, RegexpError};
use crate::scope::{DEFAULT_ENVIRONMENT, KnownNodes, Scope, top_name};
use crate::syntax::puppet::Dialect;
use crate::text::TextRange;
use crate::value::KeyHashing;
use crate::workspace::{
    File, FileId, Format, Language, PROJECT_FILE, Root, Snapshot, language_of, path,
};

/// Maximum number of findings of a file that are shown; a file with more usually repeats one mistake.
pub const MAX_FINDINGS: usize = 200;

/// A key that is in no data: its lookup reaches all levels.
const NO_KEY: &str = "no key of any data";

/// Which rules to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RuleSet {
    /// All rules.
    All,
    /// Rules that depend on nothing but the file and its hierarchy.
    OwnFile,
}

/// Runs the rules on one snapshot. Derived data is computed on first use.
pub struct Checker<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) settings: Settings,
    pub(super) configs: Arc<ConfigCache>,
    nodes: KnownNodes,
    /// The name of the environment that the workspace is.
    pub(super) environment: Arc<str>,
    pub(super) nodes_for: NodesFor<'a>,
    pub(super) roots: Vec<RootContext<'a>>,
    path_variables: OnceLock<BTreeSet<Arc<str>>>,
    site_variables: OnceLock<BTreeSet<Arc<str>>>,
    top_variables: OnceLock<BTreeSet<Arc<str>>>,
    pub(super) options: OnceLock<OptionList>,
    pub(super) knockout_prefixes: OnceLock<BTreeSet<Arc<str>>>,
    pub(super) missing_values: OnceLock<Vec<Arc<[MissingValue]>>>,
    pub(super) evaluation_orders: OnceLock<Vec<Arc<EvaluationOrder>>>,
    /// What was found out about this and other snapshots.
    pub(super) kept: Arc<KeptResults>,
    pub(super) own_sites: OnceLock<Arc<Sites>>,
    /// The cache of [`Checker::wrong_for`].
    pub(super) wrong_for: Mutex<HashMap<FolderAndKey, SharedPaths>>,
    /// Legacy facts that differ for known nodes from their structured ones, by variable.
    pub(super) differing_facts: Mutex<HashMap<Arc<str>, bool>>,
    /// The cache of [`Checker::circular`].
    pub(super) circular: Mutex<HashMap<Arc<str>, Arc<[Edge]>>>,
    /// The paths of levels with functions that are never run.
    pub(super) read_by_functions: OnceLock<Vec<Template>>,
    /// The cache of [`Checker::format_of`].
    formats: Mutex<HashMap<FileId, Option<Format>>>,
    /// The rules that are run.
    rules: Vec<&'static Rule>,
    /// Maximum number of findings per file.
    most_findings: usize,
    is_cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
}

pub(super) type ClassAndParameter = (Arc<str>, Arc<str>);

/// A root's folder and a key.
pub(super) type FolderAndKey = (Arc<str>, Arc<str>);

pub(super) type SharedPaths = Arc<[Arc<str>]>;

/// A root, and what its own hierarchy reads.
pub(super) struct RootContext<'a> {
    pub(super) root: &'a Root,
    pub(super) layer: Layer,
    /// The folder of the environment in which its data is read.
    environment: Option<Arc<str>>,
    places: OnceLock<Arc<[Place]>>,
    unseen: OnceLock<Arc<[Layer]>>,
    /// The text that all paths of its levels start with.
    start: OnceLock<String>,
    datadirs: OnceLock<Vec<String>>,
    /// The known nodes of the environment, as files describe them.
    pub(super) nodes: OnceLock<Arc<NodeSet>>,
    /// The same with those of node blocks.
    pub(super) site_nodes: OnceLock<Arc<SiteNodes>>,
    /// The types of the parameters that keys set.
    pub(super) types: Mutex<HashMap<Arc<str>, Option<Arc<Type>>, KeyHashing>>,
    /// Whether a level of a layer is outside of the workspace.
    pub(super) outside: Mutex<HashMap<Layer, bool>>,
    /// Whether manifests may set parameters, by class and name.
    pub(super) given: Mutex<HashMap<ClassAndParameter, bool>>,
}

/// The findings of one file for the default version of Puppet, ordered by position. Use a
/// [`Checker`] for several files of one snapshot.
#[must_use]
pub fn check_file(snapshot: &Snapshot, path: &str) -> Vec<Finding> {
    Checker::new(snapshot, PuppetVersion::default())
        .file(path)
        .unwrap_or_default()
}

impl<'a> Checker<'a> {
    /// A checker for a version of Puppet with its default settings.
    #[must_use]
    pub fn new(snapshot: &'a Snapshot, version: PuppetVersion) -> Checker<'a> {
        Checker::with_settings(snapshot, Settings::for_version(version).for_editor())
    }

    /// A checker for these settings of Puppet.
    #[must_use]
    pub fn with_settings(snapshot: &'a Snapshot, settings: Settings) -> Checker<'a> {
        Checker::with_configs(snapshot, settings, Arc::default())
    }

    /// A checker that reuses a cache of configurations, such as that of an earlier snapshot.
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
            environment: Arc::from(DEFAULT_ENVIRONMENT),
            nodes_for: None,
            roots: Vec::new(),
            path_variables: OnceLock::new(),
            site_variables: OnceLock::new(),
            top_variables: OnceLock::new(),
            options: OnceLock::new(),
            knockout_prefixes: OnceLock::new(),
            missing_values: OnceLock::new(),
            evaluation_orders: OnceLock::new(),
            kept: Arc::default(),
            own_sites: OnceLock::new(),
            wrong_for: Mutex::default(),
            differing_facts: Mutex::default(),
            circular: Mutex::default(),
            read_by_functions: OnceLock::new(),
            formats: Mutex::default(),
            rules: RULES.to_vec(),
            most_findings: MAX_FINDINGS,
            is_cancelled: Arc::new(|| false),
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
                unseen: OnceLock::new(),
                start: OnceLock::new(),
                datadirs: OnceLock::new(),
                nodes: OnceLock::new(),
                site_nodes: OnceLock::new(),
                types: Mutex::default(),
                outside: Mutex::default(),
                given: Mutex::default(),
            }
        });
        checker.roots = roots.collect();
        checker
    }

    /// The same checker for an environment of another name.
    #[must_use]
    pub fn with_environment(mut self, environment: &str) -> Checker<'a> {
        self.environment = Arc::from(environment);
        self
    }

    /// The same checker without a limit for the findings of a file.
    #[must_use]
    pub fn with_all_findings(mut self) -> Checker<'a> {
        self.most_findings = usize::MAX;
        self
    }

    /// The same checker with only some of the rules, and those that they need: rules that find secrets,
    /// which no message repeats; and for a rule about comments that suppress findings all rules.
    #[must_use]
    pub fn with_rules(mut self, is_wanted: impl Fn(&Rule) -> bool) -> Checker<'a> {
        let judges_others = |rule: &Rule| {
            let mut hooks = rule.hooks.iter();
            hooks.any(|hook| matches!(hook, Hook::Suppressions(_)))
        };
        let mut rules = self.rules.iter();
        if !rules.any(|rule| judges_others(rule) && is_wanted(rule)) {
            self.rules
                .retain(|rule| rule.finds_secrets || is_wanted(rule));
        }
        self
    }

    /// The same checker with what earlier checkers found out.
    #[must_use]
    pub fn with_kept(self, kept: Arc<KeptResults>) -> Checker<'a> {
        Checker { kept, ..self }
    }

    /// The same checker for work that may be cancelled: once `is_cancelled` returns true, findings are
    /// incomplete, and must be dropped.
    #[must_use]
    pub fn with_cancellation(
        self,
        is_cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
    ) -> Checker<'a> {
        Checker {
            is_cancelled,
            ..self
        }
    }

    /// Whether the work is cancelled.
    pub(super) fn is_cancelled(&self) -> bool {
        (self.is_cancelled)()
    }

    /// The snapshot that is checked.
    #[must_use]
    pub fn snapshot(&self) -> &'a Snapshot {
        self.snapshot
    }

    pub(super) fn analysis(&self) -> Analysis<'_> {
        Analysis::new(self.snapshot, &self.settings, &self.configs, &self.nodes)
            .with_environment(&self.environment)
    }

    /// The findings of one file, ordered by position. `None` for files that are not checked, and
    /// for manifests without findings.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<Vec<Finding>> {
        self.part(path, RuleSet::All)
    }

    /// The findings of one file as in [`Checker::file`], and the ranges of its secrets.
    #[must_use]
    pub fn with_secrets(&self, path: &str) -> Option<(Vec<Finding>, Vec<TextRange>)> {
        self.found(path, RuleSet::All)
    }

    /// Ranges of secrets in a data file, also if their findings are suppressed. No report shows these bytes.
    #[must_use]
    pub fn secrets(&self, path: &str) -> Vec<TextRange> {
        let file = self.snapshot.file(path);
        let Some(file) = file.filter(|file| file.format().is_some()) else {
            return Vec::new();
        };
        let unread = || FileContext::new(self, file, FileRole::Unread);
        let checked = self.checked(file).unwrap_or_else(unread);
        let finding_secrets = RULES.iter().copied().filter(|rule| rule.finds_secrets);
        secrets_among(&walk(&checked, &finding_secrets.collect::<Vec<_>>()))
    }

    /// The findings of some rules in one file, as in [`Checker::file`].
    #[must_use]
    pub fn part(&self, path: &str, part: RuleSet) -> Option<Vec<Finding>> {
        Some(self.found(path, part)?.0)
    }

    fn found(&self, path: &str, part: RuleSet) -> Option<(Vec<Finding>, Vec<TextRange>)> {
        let file = self.snapshot.file(path)?;
        let checked = self.checked(file).or_else(|| self.unread(file))?;
        let is_code = matches!(checked.role, FileRole::Code);
        if is_code && part == RuleSet::OwnFile {
            return None;
        }
        let mut rules = self.rules.clone();
        rules.retain(|rule| part == RuleSet::All || rule.depends.on_file_only);
        let mut findings = match &checked.role {
            // The text of a template is only known once it is rendered.
            FileRole::Config(_) if path::is_template(file.path()) => Vec::new(),
            FileRole::Unread => unread_findings(&checked, &rules),
            FileRole::Data(_) | FileRole::Config(_) | FileRole::Project | FileRole::Code => {
                walk(&checked, &rules)
            }
        };
        let secrets = secrets_among(&findings);
        let about_comments: &[&Rule] = match part {
            RuleSet::All => &rules,
            RuleSet::OwnFile => &[],
        };
        findings = suppression::apply(&checked, findings, about_comments);
        fixes::without_collisions(&checked, &mut findings);
        hide(file.text(), &secrets, &mut findings);
        let version = self.settings.puppet_version;
        let findings_of_rules = findings.iter_mut();
        findings_of_rules.for_each(|finding| finding.name_later_effect(version));
        findings.sort_by(|a, b| {
            (a.range.start, a.code, &a.message).cmp(&(b.range.start, b.code, &b.message))
        });
        // The node of an anchor is visited again for each alias.
        findings.dedup_by(|a, b| (a.range, a.code, &a.message) == (b.range, b.code, &b.message));
        findings.truncate(self.most_findings);
        // Most manifests have no findings.
        (!is_code || !findings.is_empty()).then_some((findings, secrets))
    }

    /// Whether a hierarchy reads the file, or it is a configuration. O(levels).
    #[must_use]
    pub fn reads(&self, path: &str) -> bool {
        let checked = self.snapshot.file(path).and_then(|file| self.checked(file));
        checked.is_some_and(|checked| !matches!(checked.role, FileRole::Code))
    }

    /// The findings of all files, ordered by path and position.
    #[must_use]
    pub fn all(&self) -> Vec<Finding> {
        let mut paths: Vec<&str> = self.snapshot.files().map(|file| &**file.path()).collect();
        paths.sort_unstable();
        let found = paths.into_iter().filter_map(|path| self.file(path));
        found.flatten().collect()
    }

    pub(super) fn root_context(&self, root: &Root) -> Option<&RootContext<'a>> {
        self.roots
            .iter()
            .find(|context| std::ptr::eq(context.root, root))
    }

    /// The root with its configuration at a path.
    pub(super) fn config_root(&self, path: &str) -> Option<&RootContext<'a>> {
        self.roots
            .iter()
            .find(|context| context.root.hiera_yaml.as_deref() == Some(path))
    }

    /// The file with its role; `None` for data that no hierarchy reads.
    fn checked<'c>(&'c self, file: &'c File) -> Option<FileContext<'c>> {
        let role = match self.config_root(file.path()) {
            Some(context) => FileRole::Config(context),
            None if path::name(file.path()) == PROJECT_FILE => FileRole::Project,
            None if is_manifest(file) => FileRole::Code,
            None => FileRole::Data(self.readers(file)),
        };
        let is_unread = matches!(&role, FileRole::Data(readers) if readers.is_empty());
        (!is_unread).then(|| FileContext::new(self, file, role))
    }

    /// The context of an unread file, if it is in a data directory and has the extension of a data file.
    fn unread<'c>(&'c self, file: &'c File) -> Option<FileContext<'c>> {
        let is_data = has_data_extension(file.path());
        (is_data && self.roots_around(file.path()).next().is_some())
            .then(|| FileContext::new(self, file, FileRole::Unread))
    }

    /// The folders in which a root's paths start, except folders that contain the whole root.
    pub(super) fn datadirs<'c>(&self, context: &'c RootContext<'a>) -> &'c [String] {
        context.datadirs.get_or_init(|| {
            let mut folders: Vec<String> =
                self.places(context).iter().filter_map(datadir_of).collect();
            folders.sort();
            folders.dedup();
            folders.retain(|folder| path::within(&context.root.dir, folder).is_none());
            folders
        })
    }

    /// The roots with a data directory around a path.
    pub(super) fn roots_around<'c>(
        &'c self,
        at: &'c str,
    ) -> impl Iterator<Item = &'c RootContext<'a>> {
        self.roots.iter().filter(move |context| {
            let mut folders = self.datadirs(context).iter();
            folders.any(|folder| path::within(at, folder).is_some())
        })
    }

    /// The roots that read a file in a known format.
    pub(super) fn readers<'c>(&'c self, file: &File) -> Vec<Reader<'c>> {
        let readers = self.roots_for(file.path()).filter_map(|root| {
            let files = self.snapshot.files_for(root.root);
            let reading = FileReading::of(self.places(root), file.path(), &files)?;
            Some(Reader { root, reading })
        });
        readers.collect()
    }

    /// The roots with levels whose paths start like this one: the only ones that may read the file.
    fn roots_for<'c>(&'c self, at: &str) -> impl Iterator<Item = &'c RootContext<'a>> {
        let roots = self.roots.iter();
        roots.filter(move |root| at.starts_with(self.start_of(root)))
    }

    /// The text that all paths of a root's levels start with.
    fn start_of<'c>(&self, context: &'c RootContext<'_>) -> &'c str {
        context.start.get_or_init(|| {
            let mut starts = self
                .places(context)
                .iter()
                .map(|it| it.template.first_text());
            let first = starts.next().unwrap_or_default();
            let common = |start: &str, other: &str| {
                let mut pairs = start.char_indices().zip(other.chars());
                let end = pairs.find(|((_, one), other)| one != other);
                end.map_or(start.len().min(other.len()), |((at, _), _)| at)
            };
            let end = starts.fold(first.len(), |end, other| common(&first[..end], other));
            first[..end].to_owned()
        })
    }

    /// Files with a top-level key, if some hierarchy reads them.
    pub(super) fn files_with<'c>(
        &'c self,
        key: &'c str,
    ) -> impl Iterator<Item = &'a Arc<File>> + 'c {
        let files = self.snapshot.iter_files_with(key);
        files.filter(|file| self.is_read(file))
    }

    /// Whether some hierarchy reads a file with a top-level key.
    pub(super) fn has_data(&self, key: &str) -> bool {
        self.files_with(key).next().is_some()
    }

    /// The variables in the paths of all hierarchies, without a leading `::`.
    pub(super) fn path_variables(&self) -> &BTreeSet<Arc<str>> {
        self.path_variables.get_or_init(|| {
            let places = self.roots.iter().flat_map(|root| self.places(root));
            let names = places.flat_map(|place| place.template.variables());
            names.map(|name| Arc::from(top_name(name))).collect()
        })
    }

    /// The variables that the manifests of the environments set for some node.
    pub(super) fn site_variables(&self) -> &BTreeSet<Arc<str>> {
        self.site_variables
            .get_or_init(|| self.analysis().site_variables())
    }

    /// The variables that the manifests of every environment set at top scope.
    pub(super) fn top_variables(&self) -> &BTreeSet<Arc<str>> {
        self.top_variables
            .get_or_init(|| self.analysis().top_variables())
    }

    /// Whether all data that is read together with the file and may have the key is in the workspace.
    pub(super) fn has_all_data_for(&self, readers: &[Reader<'_>], key: &str) -> bool {
        self.has_all_data(readers) || {
            let layers = layers_of(key);
            let mut unseen = readers.iter().flat_map(|reader| self.unseen(reader.root));
            !unseen.any(|layer| layers.contains(layer))
        }
    }

    /// Whether all data that is read together with the file is in the workspace.
    pub(super) fn has_all_data(&self, readers: &[Reader<'_>]) -> bool {
        let mut unseen = readers.iter().flat_map(|reader| self.unseen(reader.root));
        unseen.next().is_none()
    }

    /// Whether some hierarchy reads a file in a known format.
    pub(super) fn is_read(&self, file: &File) -> bool {
        self.format_of(file).is_some()
    }

    /// The format in which the first root reads a file, if known. O(places) once per file.
    pub(super) fn format_of(&self, file: &File) -> Option<Format> {
        let formats = || lock(&self.formats);
        let known = formats().get(&file.id()).copied();
        known.unwrap_or_else(|| {
            let mut roots = self.roots_for(file.path());
            let format = roots.find_map(|context| {
                let files = self.snapshot.files_for(context.root);
                FileReading::format(self.places(context), file.path(), &files)
            });
            formats().insert(file.id(), format);
            format
        })
    }

    /// The places that a root's hierarchy reads; empty if Puppet refuses its configuration.
    pub(super) fn places<'c>(&self, context: &'c RootContext<'a>) -> &'c [Place] {
        context.places.get_or_init(|| {
            let places = self.analysis().at(context.root).places(&context.layer);
            // To find the nodes costs more than to look at the paths.
            if places
                .iter()
                .any(|it| it.template.last_variable().is_some())
            {
                with_known_names(places, &self.nodes_for(&context.root.dir).known)
            } else {
                places
            }
        })
    }

    /// A compiled pattern of `lookup_options`, cached.
    ///
    /// # Errors
    ///
    /// As [`Regexp::new`].
    pub(super) fn pattern(&self, source: &str) -> Result<Regexp, RegexpError> {
        let pattern = self.configs.pattern(source)?;
        pattern.check()?;
        Ok(pattern)
    }

    /// The layers that are read together with a root's and have data outside the workspace: a level
    /// reads files from elsewhere, or calls a function that is never run.
    fn unseen<'c>(&self, context: &'c RootContext<'_>) -> &'c [Layer] {
        context.unseen.get_or_init(|| {
            let sites = self.own_sites();
            sites.unseen((context.root, &context.layer), || self.find_unseen(context))
        })
    }

    fn find_unseen(&self, context: &RootContext<'_>) -> Vec<Layer> {
        let mut together = self.roots.iter().collect::<Vec<_>>();
        together.retain(|root| root.environment == context.environment);
        let areas = self.snapshot.areas();
        let here = |place: &Place| {
            let start = place.template.first_text();
            areas.iter().any(|area| start.starts_with(&**area))
                && !self.snapshot.is_behind_lost_link(start)
        };
        together.retain(|root| {
            let is_module = root.layer.module_name().is_some();
            let lacks = || self.analysis().at(root.root).lacks_levels(&root.layer);
            self.asks_functions(root)
                || !self.places(root).iter().all(here)
                || !is_module && lacks()
        });
        together.iter().map(|root| root.layer.clone()).collect()
    }

    /// Whether a level of a root calls a function that is never run.
    pub(super) fn asks_functions(&self, context: &RootContext<'_>) -> bool {
        let some_key = match context.layer.module_name() {
            Some(module) => format!("{module}::{NO_KEY}"),
            None => NO_KEY.to_owned(),
        };
        let view = self.analysis().at(context.root);
        let request = Request::key(&some_key);
        view.session()
            .asks_unknown_function(&Scope::open(), &request)
    }
}

/// Each change of a cache is a single insertion, so it is consistent even after a panic.
pub(super) fn lock<T>(cache: &Mutex<T>) -> MutexGuard<'_, T> {
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_manifest(file: &File) -> bool {
    language_of(file.path()) == Some(Language::Puppet(Dialect::Manifest))
}
