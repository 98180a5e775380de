//! A report of what Hiera sees of a workspace: hierarchies, levels, variables and their sources,
//! nodes, unread files; and advice to improve answers.
//!
//! It must not know a command's wording or output formats.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::advice::advice;
use super::expand::start_folder;
use super::{Analysis, HieraFiles, NodeSet, NodesOrigin, PROJECT_FILE, RootView, datadir_of};
use crate::hierarchy::{Function, FunctionKind};
use crate::lookup::{LevelOutline, Place, layer_of, reading_of};
use crate::scope::{Knowledge, NameRule, Node};
use crate::value::StrKey;
use crate::workspace::{File, Files as _, RootKind, path};

/// Maximum number of files of one kind that a report names; the others are counted.
pub const MAX_FILES: usize = 1_000;

/// What is known about a workspace.
#[derive(Debug, Default)]
pub struct Report {
    /// The hierarchies in use, ordered by folder.
    pub hierarchies: Vec<Hierarchy>,
    /// Configurations that are not used, and why.
    pub unused: Vec<FileAndWhy>,
    /// The metadata of modules that Puppet leaves out.
    pub left_out: Vec<FileAndWhy>,
    /// The variables that levels need, each once, sorted by number of files.
    pub variables: Vec<VariableReport>,
    /// The nodes.
    pub nodes: NodesReport,
    /// The data files.
    pub files: FilesReport,
    /// Advice to improve answers, the most useful first; at most [`super::MAX_ADVICE`].
    pub advice: Vec<Advice>,
}

/// One hierarchy.
#[derive(Debug)]
pub struct Hierarchy {
    /// The kind of root.
    pub kind: RootKind,
    /// The folder that it serves.
    pub folder: Arc<str>,
    /// Its configuration; `None` if Puppet's default applies.
    pub config: Option<Arc<str>>,
    /// The version of the configuration.
    pub version: Option<u8>,
    /// Why it is used, in words.
    pub why: String,
    /// Why Puppet refuses it.
    pub error: Option<String>,
    /// The levels, highest priority first.
    pub levels: Vec<LevelReport>,
}

/// One level of a hierarchy.
#[derive(Clone, Debug)]
pub struct LevelReport {
    /// The level's name.
    pub name: Arc<str>,
    /// The function that returns its data.
    pub function: Function,
    /// How the backend is evaluated here.
    pub reading: BackendUse,
    /// The paths as written.
    pub paths: Vec<Arc<str>>,
    /// The variables in these paths.
    pub variables: Vec<Arc<str>>,
    /// How many files of the workspace it can read.
    pub files: usize,
    /// Whether its files lie outside of the workspace.
    pub is_outside: bool,
    /// Whether it names files of which none exists: Puppet does not call the function of such a
    /// level (`data_hash_function_provider.rb` asks `location.exist?`, the others too).
    pub is_empty: bool,
    /// The folder that its paths start from, if it is the same for every node.
    pub datadir: Option<String>,
}

impl LevelReport {
    /// The function with its kind: `lookup_key: eyaml_lookup_key`.
    #[must_use]
    pub fn backend(&self) -> String {
        format!("{}: {}", self.function.kind.key(), self.function.name)
    }
}

/// How a backend is evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BackendUse {
    /// A backend of Puppet's own.
    Own,
    /// As declared in the settings.
    Declared,
    /// Not at all: it is never run, and its values are unknown.
    Unknown,
}

/// A variable that levels need.
#[derive(Clone, Debug)]
pub struct VariableReport {
    /// The variable as written, without the leading `::`.
    pub name: Arc<str>,
    /// How many levels need it.
    pub levels: usize,
    /// The number of files that these levels can read.
    pub files: usize,
    /// For how many nodes its value is known.
    pub known: usize,
    /// For how many nodes no source tells whether they have it.
    pub unknown: usize,
    /// Its values, taken from the names of these files.
    pub values: BTreeSet<String>,
    /// Where nodes get it from, in words, with the number of nodes; the most frequent first.
    pub sources: Vec<(&'static str, usize)>,
}

/// The known nodes.
#[derive(Clone, Debug, Default)]
pub struct NodesReport {
    /// How many there are.
    pub count: usize,
    /// How many of them have no known facts.
    pub names_only: usize,
    /// Where they come from.
    pub origins: Vec<NodesOrigin>,
    /// The environments that sources tell, each with the number of its nodes.
    pub environments: BTreeMap<Arc<str>, usize>,
    /// Files named like a nodes file that are not used.
    pub passed_over: Vec<Arc<str>>,
    /// Read errors, in words.
    pub problems: Vec<String>,
}

/// The data files.
#[derive(Clone, Debug, Default)]
pub struct FilesReport {
    /// The number of data files: those that a level reads, and those next to them.
    pub data: usize,
    /// How many of them a level can read.
    pub reached: usize,
    /// How many more may be read by a level whose function is not run, judging by its code or
    /// location.
    pub possible: usize,
    /// Files that no level reads, ordered by path; at most [`MAX_FILES`].
    pub unreached: Vec<Arc<str>>,
    /// Files that are not read, ordered by path.
    pub skipped: Vec<FileAndWhy>,
}

/// A file, and why it is not used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileAndWhy {
    /// The file.
    pub path: Arc<str>,
    /// Why, in words.
    pub why: String,
}

/// A suggestion to improve answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Advice {
    /// The problem, and the remedy.
    pub what: String,
    /// Where `paste` belongs: `shell`, or the name of a file.
    pub place: &'static str,
    /// A command to run, or settings to paste.
    pub paste: String,
}

impl Analysis<'_> {
    /// The report for the environment around a file or folder. O(files × levels).
    #[must_use]
    pub fn report(self, at: &str, nodes: &NodeSet) -> Report {
        let roots = self.snapshot.roots().iter();
        let views: Vec<RootView<'_>> = roots.map(|root| self.at(root)).collect();
        let hierarchies: Vec<Hierarchy> = views.iter().map(hierarchy).collect();
        let main = self.answering(at);
        let mut report = Report {
            variables: main
                .as_ref()
                .map(|view| variables(view, nodes))
                .unwrap_or_default(),
            nodes: nodes_report(nodes),
            files: self.files_report(&views),
            unused: self.unused(),
            left_out: self.left_out(),
            hierarchies,
            advice: Vec::new(),
        };
        let offers = main.as_ref().map(|view| view.offers()).unwrap_or_default();
        report.advice = advice(self, &report, &offers, nodes);
        report
    }

    fn left_out(self) -> Vec<FileAndWhy> {
        let roots = self.snapshot.roots().environments();
        let left_out = roots.flat_map(|root| &root.left_out);
        let left_out = left_out.map(|(dir, why)| FileAndWhy {
            path: Arc::from(path::join(dir, "metadata.json")),
            why: format!("{why}, so Puppet finds neither classes nor data of the module"),
        });
        left_out.collect()
    }

    fn unused(self) -> Vec<FileAndWhy> {
        let found = self.snapshot.roots().found().iter();
        let unused = found.filter(|config| !config.is_used());
        let unused = unused.map(|config| FileAndWhy {
            path: config.path.clone(),
            why: config.why(),
        });
        unused.collect()
    }

    fn files_report(self, views: &[RootView<'_>]) -> FilesReport {
        let hiera = HieraFiles::of(self);
        let mut report = FilesReport::default();
        let mut files: Vec<&Arc<File>> = self.snapshot.files().collect();
        files.sort_by(|one, other| one.path().cmp(other.path()));
        for file in files {
            let at = file.path();
            if is_listed(self, at) {
                continue;
            }
            let is_read = hiera.contains(file);
            // Hidden files, notes and editors' backup files are no forgotten data.
            let is_data = path::is_called_data(at) && !path::name(at).starts_with('.');
            let is_with_data = || views.iter().any(|view| view.lies_among_data(at));
            let belongs = is_read || (is_data && is_with_data());
            if !belongs {
                continue;
            }
            report.data += 1;
            let is_possible = || {
                let reading = self.configurations_reading(at);
                reading.iter().any(|one| one.config.is_used())
            };
            match is_read {
                true => report.reached += 1,
                false if is_possible() => report.possible += 1,
                false if report.unreached.len() < MAX_FILES => {
                    report.unreached.push(at.clone());
                }
                false => {}
            }
            if let Some(error) = file.refused() {
                report.skipped.push(FileAndWhy {
                    path: at.clone(),
                    why: error.message.clone(),
                });
            }
        }
        report
    }
}

/// Whether a file is a configuration that the report lists: one that a root uses, or another that
/// was found in the search for roots.
fn is_listed(analysis: Analysis<'_>, at: &str) -> bool {
    let roots = analysis.snapshot.roots();
    let mut found = roots.found().iter();
    found.any(|config| &*config.path == at) || roots.of_config(at).is_some()
}

fn hierarchy(view: &RootView<'_>) -> Hierarchy {
    let root = view.root;
    let outline = view.session().outline(&layer_of(root));
    let found = view.analysis.snapshot.roots().found().iter();
    let mut found = found.filter(|config| Some(&config.path) == root.hiera_yaml.as_ref());
    let why = match (&root.kind, &root.hiera_yaml, found.next()) {
        (RootKind::Plans, ..) => "its 'plan_hierarchy' is for plans of Bolt".to_owned(),
        (_, Some(_), Some(config)) => config.why(),
        (RootKind::Environment, Some(_), None) => "it is at the top of an environment".into(),
        (RootKind::Environment, None, _) => {
            "there is no hiera.yaml: Puppet's default applies".into()
        }
        (RootKind::Module { .. }, ..) => "it is at the top of a module".into(),
        (RootKind::Global, ..) => "it is above the environments, or a setting names it".to_owned(),
    };
    let (outline, error) = match outline {
        Ok(outline) => (outline, None),
        Err(error) => (None, Some(error.to_string())),
    };
    let levels = outline.iter().flat_map(|outline| &outline.levels);
    Hierarchy {
        kind: root.kind.clone(),
        folder: root.dir.clone(),
        config: root.hiera_yaml.clone(),
        version: outline.as_ref().map(|outline| outline.version),
        why,
        error,
        levels: levels.map(|level| level_report(view, level)).collect(),
    }
}

pub(super) fn variables_of(level: &LevelOutline) -> Vec<Arc<str>> {
    let mut variables: Vec<Arc<str>> = Vec::new();
    for place in &level.places {
        let names = place.template.variables();
        for name in names.filter(|name| !name.starts_with('*')).map(plain) {
            if !variables.contains(&name) {
                variables.push(name);
            }
        }
    }
    variables
}

fn level_report(view: &RootView<'_>, level: &LevelOutline) -> LevelReport {
    let mut paths: Vec<Arc<str>> = Vec::new();
    for place in &level.places {
        if !paths.contains(&place.original) {
            paths.push(place.original.clone());
        }
    }
    paths.extend(level.uris.iter().cloned());
    let snapshot = view.analysis.snapshot;
    let all = view.places(&view.layer);
    let is_its = |file: &&Arc<File>| {
        let mut places = level.places.iter();
        places.any(|place| place.fits_among(&all, file.path()))
    };
    let is_outside = |place: &Place| view.analysis.is_outside(&place.template);
    // A path with variables may also mean a folder that a function reads.
    let is_missing = |place: &Place| {
        let path = place.template.with_values(&[]);
        !is_outside(place) && path.is_some_and(|path| snapshot.kind(&path).is_none())
    };
    let files = snapshot.files().filter(is_its).count();
    let settings = view.analysis.settings;
    let is_declared = settings.backends.get(&level.function.name).is_some();
    let reading = match reading_of(&level.function, &settings.backends) {
        Some(_) if !is_declared => BackendUse::Own,
        None if level.function.kind == FunctionKind::V4DataHash => BackendUse::Own,
        _ if is_declared => BackendUse::Declared,
        _ => BackendUse::Unknown,
    };
    LevelReport {
        name: level.name.clone(),
        function: level.function.clone(),
        reading,
        paths,
        variables: variables_of(level),
        files,
        is_empty: !level.places.is_empty()
            && level.uris.is_empty()
            && files == 0
            && level.places.iter().all(is_missing),
        is_outside: !level.places.is_empty() && level.places.iter().all(is_outside),
        datadir: level.places.first().and_then(folder_of),
    }
}

/// The folder that a place's path starts from; that of the file for an absolute path.
fn folder_of(place: &Place) -> Option<String> {
    let is_absolute = place.original.starts_with('/');
    let start = || start_folder(place).filter(|folder| is_absolute && !folder.is_empty());
    datadir_of(place).or_else(|| start().map(str::to_owned))
}

/// A variable without the leading `::`.
fn plain(name: &Arc<str>) -> Arc<str> {
    match name.strip_prefix("::") {
        Some(plain) => Arc::from(plain),
        None => name.clone(),
    }
}

/// The variables of the layers that a root's nodes read.
fn variables(view: &RootView<'_>, nodes: &NodeSet) -> Vec<VariableReport> {
    let mut uses: BTreeMap<Arc<str>, (usize, usize)> = BTreeMap::new();
    let mut values: BTreeMap<Arc<str>, BTreeSet<String>> = BTreeMap::new();
    for layer in view.layers() {
        let Ok(Some(outline)) = view.session().outline(&layer) else {
            continue;
        };
        let places = outline.levels.iter().flat_map(|level| &level.places);
        for place in places.filter(|place| !view.analysis.is_outside(&place.template)) {
            for path in view.expand(&place.template) {
                for (name, value) in place.template.bind(&path).unwrap_or_default() {
                    values.entry(plain(&name)).or_default().insert(value);
                }
            }
        }
        for level in &outline.levels {
            let level = level_report(view, level);
            for name in level.variables {
                let (levels, files) = uses.entry(name).or_default();
                *levels += 1;
                *files += level.files;
            }
        }
    }
    let mut found: Vec<VariableReport> = uses
        .into_iter()
        .map(|(name, (levels, files))| {
            let mut sources: Vec<(&'static str, usize)> = Vec::new();
            let column = nodes.known.column(&name);
            for (member, node) in nodes.nodes.all().iter().enumerate() {
                if column.value(member).is_none() {
                    continue;
                }
                let source = source_of(nodes, member, node, &name);
                match sources.iter_mut().find(|(known, _)| *known == source) {
                    Some((_, count)) => *count += 1,
                    None => sources.push((source, 1)),
                }
            }
            sources.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            VariableReport {
                unknown: column.unknown.map_or(0, |id| column.counts[id as usize]),
                known: sources.iter().map(|(_, count)| count).sum(),
                values: values.remove(&name).unwrap_or_default(),
                name,
                levels,
                files,
                sources,
            }
        })
        .collect();
    found.sort_by_key(|variable| std::cmp::Reverse(variable.files));
    found
}

fn source_of(nodes: &NodeSet, member: usize, node: &Node, name: &str) -> &'static str {
    let root = name.split('.').next().unwrap_or(name);
    let is_by_name = node.knowledge != Knowledge::All;
    let is_given = |name: &str| node.variables.contains_key(&StrKey(name));
    let is_set = || {
        let assigned = nodes.known.assigned(member);
        assigned.is_some_and(|assigned| assigned.get(root).is_some())
    };
    match root {
        "environment" => "its environment",
        _ if name == "server_facts.environment" => "its environment",
        _ if is_derived(&nodes.rules, node, name) => PROJECT_FILE,
        _ if is_given(name) && is_by_name => "names of data files",
        _ if is_given(root) => "variables",
        _ if is_set() => "manifests",
        "trusted" if is_by_name => "its name",
        "trusted" => "trusted data",
        _ if is_by_name => "its name",
        _ => "facts",
    }
}

/// Whether settings derive a variable from a node's name.
fn is_derived(rules: &[NameRule], node: &Node, name: &str) -> bool {
    let mut derived = Node {
        knowledge: Knowledge::Name,
        ..Node::named(&node.certname)
    };
    let is_matched = rules.iter().filter(|rule| rule.apply(&mut derived)).count() > 0;
    let path = name.strip_prefix("facts.").unwrap_or(name);
    let root = name.split('.').next().unwrap_or(name);
    is_matched
        && (derived.variables.contains_key(&StrKey(root))
            || (root != "trusted"
                && derived
                    .facts
                    .get(path.split('.').next().unwrap_or(path))
                    .is_some())
            || (name.starts_with("trusted.extensions") && !derived.trusted.is_empty()))
}

fn nodes_report(set: &NodeSet) -> NodesReport {
    let nodes = set.nodes.all().iter();
    let mut environments = BTreeMap::new();
    for own in nodes.clone().filter_map(|node| node.environment.as_ref()) {
        *environments.entry(Arc::clone(own)).or_default() += 1;
    }
    NodesReport {
        environments,
        count: set.nodes.all().len(),
        names_only: nodes
            .filter(|node| node.knowledge != Knowledge::All)
            .count(),
        origins: set.origins.clone(),
        passed_over: set.passed_over.clone(),
        problems: set.problems.clone(),
    }
}
