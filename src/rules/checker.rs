//! Runs the rules over files of a snapshot.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::context::{FileContext, Reader, Role};
use super::finding::Finding;
use super::fixes;
use super::option_list::{self, ListedOption, OptionList};
use super::reference_graph::ReferenceGraph;
use super::rule::Hook;
use super::suppression;
use super::walk::walk;
use super::{Facts, RULES, Rule};
use crate::analysis::{
    Analysis, EvaluationOrder, MissingValue, NodeCache, NodeInputs, NodeSet, PossibleInclusions,
    RootView, datadir_of, layers_of,
};
use crate::hierarchy::{Layer, TemplatePart};
use crate::lookup::{
    ConfigCache, Place, PuppetVersion, Reach, Reading, Request, Settings, UnknownCause,
    paths_for_functions, reach,
};
use crate::regexp::{Regexp, RegexpError};
use crate::scope::{KnownNodes, Scope, top_name};
use crate::syntax::puppet::Dialect;
use crate::text::TextRange;
use crate::workspace::{
    File, FileId, Format, Language, PROJECT_FILE, Root, Snapshot, language_of, path,
};

/// The limit of findings of one file, wherever they are shown: a file with more of them is broken in
/// one way many times.
pub const MOST_FINDINGS: usize = 200;

/// Extensions of data files.
const DATA: [&str; 4] = [".yaml", ".yml", ".eyaml", ".json"];

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
    nodes_for: NodesFor<'a>,
    roots: Vec<RootContext<'a>>,
    graph: OnceLock<ReferenceGraph>,
    path_variables: OnceLock<BTreeSet<Arc<str>>>,
    site_variables: OnceLock<BTreeSet<Arc<str>>>,
    options: OnceLock<OptionList>,
    knockout_prefixes: OnceLock<BTreeSet<Arc<str>>>,
    pub(super) missing_values: OnceLock<Vec<MissingValue>>,
    pub(super) evaluation_orders: OnceLock<Vec<EvaluationOrder>>,
    /// The files whose readers get a merged value that does not fit, by folder of a root and key.
    pub(super) wrong_for: Mutex<HashMap<FolderAndKey, Paths>>,
    /// How files are read that a rule has asked about.
    formats: Mutex<HashMap<FileId, Option<Format>>>,
}

/// The known nodes by the path of a file; nothing stands for those that the snapshot tells of.
type NodesFor<'a> = Option<Box<dyn Fn(&str) -> Arc<NodeSet> + Send + Sync + 'a>>;

/// The folder of a root, and a key.
pub(super) type FolderAndKey = (Arc<str>, Arc<str>);

/// Paths, shared.
pub(super) type Paths = Arc<[Arc<str>]>;

/// A root with what its own hierarchy reads.
pub(super) struct RootContext<'a> {
    pub(super) root: &'a Root,
    pub(super) layer: Layer,
    /// The folder of the environment that its data is read in.
    environment: Option<Arc<str>>,
    places: OnceLock<Arc<[Place]>>,
    unseen: OnceLock<Vec<Layer>>,
    datadirs: OnceLock<Vec<String>>,
    /// The known nodes of an environment.
    pub(super) site_nodes: OnceLock<KnownNodes>,
    /// Which of them may include which class.
    pub(super) possible_inclusions: OnceLock<PossibleInclusions>,
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
            nodes_for: None,
            roots: Vec::new(),
            graph: OnceLock::new(),
            path_variables: OnceLock::new(),
            site_variables: OnceLock::new(),
            options: OnceLock::new(),
            knockout_prefixes: OnceLock::new(),
            missing_values: OnceLock::new(),
            evaluation_orders: OnceLock::new(),
            wrong_for: Mutex::default(),
            formats: Mutex::default(),
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
                datadirs: OnceLock::new(),
                site_nodes: OnceLock::new(),
                possible_inclusions: OnceLock::new(),
            }
        });
        checker.roots = roots.collect();
        checker
    }

    /// The same rules with these nodes, by the path of a file: without what a user tries out.
    #[must_use]
    pub fn with_nodes(
        self,
        nodes_for: impl Fn(&str) -> Arc<NodeSet> + Send + Sync + 'a,
    ) -> Checker<'a> {
        Checker {
            nodes_for: Some(Box::new(nodes_for)),
            ..self
        }
    }

    /// The nodes that are known for a file.
    pub(super) fn nodes_for(&self, path: &str) -> Arc<NodeSet> {
        if let Some(nodes_for) = &self.nodes_for {
            return nodes_for(path);
        }
        let inputs = NodeInputs {
            nodes_files: &[],
            facts_file: None,
            rules: &[],
            choice: None,
            outside: &|_| None,
            settings: &self.settings,
            configs: &self.configs,
        };
        NodeCache::default().nodes(self.snapshot, path, &inputs)
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

    /// The findings of one file as [`Checker::file`] gives them, and where its secrets stand.
    #[must_use]
    pub fn with_secrets(&self, path: &str) -> Option<(Vec<Finding>, Vec<TextRange>)> {
        self.found(path, Part::All)
    }

    /// Where secrets stand in a data file, whatever is reported there: no report shows these bytes.
    #[must_use]
    pub fn secrets(&self, path: &str) -> Vec<TextRange> {
        let file = self.snapshot.file(path);
        let Some(file) = file.filter(|file| file.format().is_some()) else {
            return Vec::new();
        };
        let unread = || FileContext::new(self, file, Role::Unread);
        let checked = self.checked(file).unwrap_or_else(unread);
        let finding_secrets = RULES.iter().copied().filter(|rule| rule.finds_secrets);
        secrets_among(&walk(&checked, &finding_secrets.collect::<Vec<_>>()))
    }

    /// The findings of some rules in one file, as [`Checker::file`] gives those of all.
    #[must_use]
    pub fn part(&self, path: &str, part: Part) -> Option<Vec<Finding>> {
        Some(self.found(path, part)?.0)
    }

    fn found(&self, path: &str, part: Part) -> Option<(Vec<Finding>, Vec<TextRange>)> {
        let file = self.snapshot.file(path)?;
        let checked = self.checked(file).or_else(|| self.unread(file))?;
        let is_code = matches!(checked.role, Role::Code);
        if is_code && part == Part::OwnFile {
            return None;
        }
        let own = |rule: &&&'static Rule| rule.depends.on == Facts::NONE;
        let mut findings = match (&checked.role, part) {
            // What its tags leave of a template is known only when it is deployed.
            (Role::Config { .. }, _) if path::is_template(file.path()) => Vec::new(),
            (Role::Unread, _) => unread_findings(&checked),
            (_, Part::All) => walk(&checked, RULES),
            (_, Part::OwnFile) => walk(
                &checked,
                &RULES.iter().filter(own).copied().collect::<Vec<_>>(),
            ),
        };
        let secrets = secrets_among(&findings);
        findings = suppression::apply(&checked, findings, part == Part::All);
        fixes::without_collisions(&checked, &mut findings);
        hide(file.text(), &secrets, &mut findings);
        findings.sort_by(|a, b| {
            (a.range.start, a.code, &a.message).cmp(&(b.range.start, b.code, &b.message))
        });
        // What an anchor names is read once for each alias.
        findings.dedup_by(|a, b| (a.range, a.code, &a.message) == (b.range, b.code, &b.message));
        findings.truncate(MOST_FINDINGS);
        // Most manifests have nothing to be checked.
        (!is_code || !findings.is_empty()).then_some((findings, secrets))
    }

    /// Whether a hierarchy reads a file, or the file is one's configuration: O(levels).
    #[must_use]
    pub fn reads(&self, path: &str) -> bool {
        let checked = self.snapshot.file(path).and_then(|file| self.checked(file));
        checked.is_some_and(|checked| !matches!(checked.role, Role::Code))
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

    /// A root's own.
    pub(super) fn root_context(&self, root: &Root) -> Option<&RootContext<'a>> {
        self.roots.iter().find(|of| std::ptr::eq(of.root, root))
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
            None if is_manifest(file) => Role::Code,
            None => Role::Data(self.readers(file)),
        };
        match &role {
            Role::Data(readers) if readers.is_empty() => None,
            Role::Data(_) | Role::Config { .. } | Role::Project | Role::Code | Role::Unread => {
                Some(FileContext::new(self, file, role))
            }
        }
    }

    /// The file, if it lies among data that a hierarchy reads and bears the name of a data file.
    fn unread<'c>(&'c self, file: &'c File) -> Option<FileContext<'c>> {
        let is_data = DATA
            .iter()
            .any(|extension| file.path().ends_with(extension));
        (is_data && self.roots_around(file.path()).next().is_some())
            .then(|| FileContext::new(self, file, Role::Unread))
    }

    /// The folders that a root's levels start from; not one that holds the whole root.
    pub(super) fn datadirs<'c>(&self, of: &'c RootContext<'a>) -> &'c [String] {
        of.datadirs.get_or_init(|| {
            let mut folders: Vec<String> = self.places(of).iter().filter_map(datadir_of).collect();
            folders.sort();
            folders.dedup();
            folders.retain(|folder| path::within(&of.root.dir, folder).is_none());
            folders
        })
    }

    /// Whether a function that is never run may read a file, by the path of its level.
    pub(super) fn may_be_read_by_function(&self, at: &str) -> bool {
        let mut places = self.roots.iter().flat_map(|of| self.places(of));
        places.any(|place| {
            let mut paths = std::iter::once(at).chain(paths_for_functions(at));
            place.reading.is_none() && paths.any(|path| place.template.matches(path))
        })
    }

    /// The roots whose hierarchies have their data around a file.
    pub(super) fn roots_around<'c>(
        &'c self,
        at: &'c str,
    ) -> impl Iterator<Item = &'c RootContext<'a>> {
        self.roots.iter().filter(move |of| {
            let mut folders = self.datadirs(of).iter();
            folders.any(|folder| path::within(at, folder).is_some())
        })
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

    /// The files with a top-level key that some hierarchy reads.
    pub(super) fn files_with<'c>(
        &'c self,
        key: &'c str,
    ) -> impl Iterator<Item = &'a Arc<File>> + 'c {
        let files = self.snapshot.iter_files_with(key);
        files.filter(|file| self.is_read(file))
    }

    /// The entries of `lookup_options` for a key, over all data.
    pub(super) fn options_for<'c>(
        &'c self,
        key: &str,
    ) -> impl Iterator<Item = &'c ListedOption> + use<'a, 'c> {
        self.options().for_key(key)
    }

    /// The entries of `lookup_options` of all data, ordered by file and place.
    pub(super) fn all_options(&self) -> &[ListedOption] {
        &self.options().entries
    }

    fn options(&self) -> &OptionList {
        self.options.get_or_init(|| option_list::list(self))
    }

    /// What elements that are knocked out start with, by some entry of `lookup_options`.
    pub(super) fn knockout_prefixes(&self) -> &BTreeSet<Arc<str>> {
        self.knockout_prefixes.get_or_init(|| {
            let options = self.options().entries.iter();
            let prefixes = options.filter_map(ListedOption::knockout_prefix);
            let prefixes = prefixes.filter(|prefix| !prefix.is_empty());
            prefixes.map(Arc::from).collect()
        })
    }

    /// Whether some entry of `lookup_options` for a key has an option.
    pub(super) fn has_option(&self, key: &str, option: &str) -> bool {
        let mut entries = self.options_for(key);
        entries.any(|entry| entry.value.get(option).is_some())
    }

    /// The variables in the paths of all hierarchies, without `::` before them.
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

    /// Whether all data that is read together with a file and may have a key lies in the workspace.
    pub(super) fn sees_all_for(&self, readers: &[Reader<'_>], key: &str) -> bool {
        let layers = layers_of(key);
        let mut unseen = readers.iter().flat_map(|reader| self.unseen(reader.root));
        !unseen.any(|layer| layers.contains(layer))
    }

    /// Whether all data that is read together with a file lies in the workspace.
    pub(super) fn sees_all_data(&self, readers: &[Reader<'_>]) -> bool {
        let mut unseen = readers.iter().flat_map(|reader| self.unseen(reader.root));
        unseen.next().is_none()
    }

    /// Whether some root's hierarchy reads a file with a reader of Puppet's own.
    pub(super) fn is_read(&self, file: &File) -> bool {
        self.format_of(file).is_some()
    }

    /// How the first root whose hierarchy reads a file reads it, with a reader of Puppet's own.
    /// O(places) once for each file.
    pub(super) fn format_of(&self, file: &File) -> Option<Format> {
        // Each change is one insertion: the map is whole even after a panic.
        let formats = || self.formats.lock().unwrap_or_else(PoisonError::into_inner);
        let known = formats().get(&file.id()).copied();
        known.unwrap_or_else(|| {
            let format = self.roots.iter().find_map(|root| {
                let files = self.snapshot.files_for(root.root);
                let mut places = self.places(root).iter();
                places.find_map(|place| {
                    let format = place.reading.map(Reading::format)?;
                    place.reads(file.path(), &files).then_some(format)
                })
            });
            formats().insert(file.id(), format);
            format
        })
    }

    /// What a root's hierarchy reads; nothing where Puppet refuses its configuration.
    pub(super) fn places<'c>(&self, of: &'c RootContext<'a>) -> &'c [Place] {
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

    /// The layers that are read together with a root's and whose data does not all lie in the workspace: a
    /// level reads files from elsewhere, or asks a function that would have to be run.
    fn unseen<'c>(&self, of: &'c RootContext<'_>) -> &'c [Layer] {
        of.unseen.get_or_init(|| self.find_unseen(of))
    }

    fn find_unseen(&self, of: &RootContext<'_>) -> Vec<Layer> {
        let mut together = self.roots.iter().collect::<Vec<_>>();
        together.retain(|root| root.environment == of.environment);
        let areas = self.snapshot.areas();
        let here = |place: &Place| {
            let start = match place.template.parts.first() {
                Some(TemplatePart::Text(text)) => text.as_str(),
                Some(TemplatePart::Variable(_) | TemplatePart::Key(_)) | None => "",
            };
            areas.iter().any(|area| start.starts_with(&**area))
                && !self.snapshot.is_behind_lost_link(start)
        };
        together.retain(|root| self.asks_functions(root) || !self.places(root).iter().all(here));
        together.iter().map(|root| root.layer.clone()).collect()
    }

    /// Whether a level of a root asks a function that would have to be run.
    pub(super) fn asks_functions(&self, of: &RootContext<'_>) -> bool {
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

fn is_manifest(file: &File) -> bool {
    language_of(file.path()) == Some(Language::Puppet(Dialect::Manifest))
}

/// Where the secrets of some findings stand.
fn secrets_among(findings: &[Finding]) -> Vec<TextRange> {
    let secrets = findings.iter().filter(|finding| finding.is_secret);
    secrets.map(|finding| finding.range).collect()
}

/// Takes the secrets of a file out of messages: those of Puppet's types repeat values.
fn hide(text: &str, secrets: &[TextRange], findings: &mut [Finding]) {
    for secret in secrets {
        let secret = secret.slice(text).trim_matches(['"', '\'']);
        for finding in findings.iter_mut().filter(|_| !secret.is_empty()) {
            let related = finding
                .related
                .iter_mut()
                .map(|related| &mut related.message);
            for message in std::iter::once(&mut finding.message).chain(related) {
                *message = message.replace(secret, "…");
            }
        }
    }
}

/// The findings of a file that lies among data and that no level is known to read: those of the rules
/// about such files, and weaker than elsewhere those of the rules that look at nothing but the text.
fn unread_findings(file: &FileContext<'_>) -> Vec<Finding> {
    let own = RULES.iter().copied();
    let own = own.filter(|rule| rule.depends.on == Facts::NONE);
    let is_for_unread = |rule: &&Rule| {
        let mut hooks = rule.hooks.iter();
        hooks.any(|hook| matches!(hook, Hook::Unread(_)))
    };
    let (for_unread, of_text): (Vec<&Rule>, Vec<&Rule>) = own.partition(is_for_unread);
    let mut findings = walk(file, &of_text);
    findings.iter_mut().for_each(Finding::weaken);
    findings.extend(walk(file, &for_unread));
    findings
}
