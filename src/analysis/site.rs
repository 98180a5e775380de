//! The manifests that Puppet runs for every node of an environment, and what they set: the
//! `manifest` of `environment.conf`, or else the folder `manifests`.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use super::Analysis;
use crate::lookup::{ConfigCache, Data, Language, Settings};
use crate::puppet::{Identity, Site, Subject};
use crate::scope::{Assigned, Knowledge, KnownNodes, Manifests, Node, Scope};
use crate::text::TextRange;
use crate::workspace::{
    File, FileKind, Files as _, LookupFunction, LookupKey, NodeMatch, Root, RootKind, Snapshot,
    Within, environment_conf, path,
};

/// Most manifests of an environment that are run.
const MAX_MANIFESTS: usize = 500;

/// The manifests of an environment as of one moment, ready to be run for its nodes.
pub struct SiteManifests {
    /// The folder of the environment.
    root: Arc<str>,
    files: Vec<Arc<File>>,
    site: Site,
    settings: Settings,
    configs: ConfigCache,
    extent: Extent,
    seen: Mutex<Seen>,
}

/// Which scopes count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Extent {
    /// What agents get.
    NodeBlocks,
    /// What `puppet lookup --compile` has.
    TopScope,
}

/// What was seen of the workspace while manifests were run.
struct Seen {
    snapshot: Snapshot,
    /// Top-level keys that were looked up.
    keys: BTreeSet<Arc<str>>,
    /// Files of functions that were called.
    functions: BTreeSet<Arc<str>>,
}

impl std::fmt::Debug for SiteManifests {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SiteManifests")
            .field("root", &self.root)
            .field("site", &self.site)
            .finish_non_exhaustive()
    }
}

impl SiteManifests {
    /// The manifests of the environment that a root is in or is.
    #[must_use]
    pub fn of(snapshot: &Snapshot, root: &Root, settings: &Settings) -> SiteManifests {
        let environment = environment_of(snapshot, root);
        let files = environment.map(|environment| manifests_of(snapshot, environment));
        let files = files.unwrap_or_default();
        let configs = ConfigCache::default();
        let sources = files.iter();
        let sources = sources.map(|file| configs.source(file.path(), file.text()));
        SiteManifests {
            root: environment.map(|it| it.dir.clone()).unwrap_or_default(),
            site: Site::new(sources.collect()),
            files,
            settings: super::without_keys(settings).into_owned(),
            configs,
            extent: Extent::NodeBlocks,
            seen: Mutex::new(Seen {
                snapshot: snapshot.clone(),
                keys: BTreeSet::new(),
                functions: BTreeSet::new(),
            }),
        }
    }

    /// The same manifests without what node blocks set, as `puppet lookup --compile` runs them.
    #[must_use]
    pub fn of_top_scope(self) -> SiteManifests {
        SiteManifests {
            extent: Extent::TopScope,
            ..self
        }
    }

    /// Where the manifests set a variable, whatever the node: the file and the place.
    #[must_use]
    pub fn assignments(&self, name: &str) -> Vec<(Arc<str>, TextRange)> {
        self.site.assignments(name)
    }

    /// Whether they set variables, or may.
    #[must_use]
    pub fn is_telling(&self) -> bool {
        self.site.is_telling()
    }

    /// Whether what was found so far holds in another snapshot, which is used from then on if so.
    pub(super) fn holds_in(&self, snapshot: &Snapshot, root: &Root, settings: &Settings) -> bool {
        let environment = environment_of(snapshot, root);
        let files = environment.map(|environment| manifests_of(snapshot, environment));
        let files = files.unwrap_or_default();
        let same = |one: &Arc<File>, other: &Arc<File>| {
            one.path() == other.path() && Arc::ptr_eq(one.text(), other.text())
        };
        let dir = environment.map(|it| it.dir.clone()).unwrap_or_default();
        let is_same = dir == self.root
            && files.len() == self.files.len()
            && files
                .iter()
                .zip(&self.files)
                .all(|(one, other)| same(one, other))
            && settings.strict == self.settings.strict
            && settings.strict_variables == self.settings.strict_variables
            && settings.puppet_version == self.settings.puppet_version
            && Arc::ptr_eq(&settings.backends, &self.settings.backends);
        is_same && (!self.site.asks() || self.sees_the_same(snapshot))
    }

    fn sees_the_same(&self, snapshot: &Snapshot) -> bool {
        let mut seen = self.lock();
        if seen.snapshot.revision() == snapshot.revision() {
            return true;
        }
        let text = |snapshot: &Snapshot, at: &Arc<str>| snapshot.file(at).map(|it| it.hash());
        let mut functions = seen.functions.iter();
        let same = functions.all(|at| text(&seen.snapshot, at) == text(snapshot, at))
            && seen.snapshot.print_of(seen.keys.iter()) == snapshot.print_of(seen.keys.iter());
        if same {
            seen.snapshot = snapshot.clone();
        }
        same
    }

    /// Each change of what was seen is whole even after a panic.
    fn lock(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Manifests for SiteManifests {
    fn may_set(&self, name: &str) -> bool {
        self.site.may_set(name)
    }

    fn assigned(&self, node: &Node, scope: &Scope) -> Arc<Assigned> {
        let snapshot = self.lock().snapshot.clone();
        let mut roots = snapshot.roots().environments();
        let Some(root) = roots.find(|root| root.dir == self.root) else {
            return Arc::default();
        };
        let nodes = KnownNodes::default();
        let analysis = Analysis::new(&snapshot, &self.settings, &self.configs, &nodes);
        let view = analysis.at(root);
        let language = Language::new(view.session(), Data::Asked);
        let identity = match node.knowledge {
            Knowledge::All | Knowledge::Name => Identity::Certname(&node.certname),
            Knowledge::Label => Identity::Unknown,
        };
        let subject = Subject {
            identity,
            variables: &node.variables,
        };
        let mut assigned = self.site.run(&language, scope, subject);
        if self.extent == Extent::TopScope {
            assigned.node.clear();
        }
        let (keys, functions) = (language.keys(), language.paths());
        if !keys.is_empty() || !functions.is_empty() {
            let mut seen = self.lock();
            seen.keys.extend(keys);
            seen.functions.extend(functions);
        }
        Arc::new(assigned)
    }
}

/// Known nodes behind the manifests of a root's environment; nothing where these set no variables. They are
/// run for a node when something that they may set is first asked for.
#[must_use]
pub fn behind_manifests(
    nodes: &KnownNodes,
    snapshot: &Snapshot,
    root: &Root,
    settings: &Settings,
) -> Option<KnownNodes> {
    if nodes.is_empty() {
        return None;
    }
    let manifests = SiteManifests::of(snapshot, root, settings);
    manifests
        .is_telling()
        .then(|| nodes.behind(Arc::new(manifests)))
}

impl Analysis<'_> {
    /// The variables that the manifests of the environments set for some node.
    #[must_use]
    pub fn site_variables(self) -> BTreeSet<Arc<str>> {
        let environments = self.snapshot.roots().environments();
        let files = environments.flat_map(|root| manifests_of(self.snapshot, root));
        let mut names = BTreeSet::new();
        for file in files {
            let code = file.facts().code.as_deref();
            names.extend(code.iter().flat_map(|code| code.variables.iter().cloned()));
        }
        names
    }

    /// Whether every node of a root's environment includes all classes that data lists under a key, in
    /// whatever file.
    #[must_use]
    pub fn includes_list(self, root: &Root, key: &str) -> bool {
        let environment = environment_of(self.snapshot, root);
        environment.is_some_and(|environment| {
            let lists = included_lists(self.snapshot, environment);
            lists.iter().any(|list| **list == *key)
        })
    }
}

/// The keys whose lists of classes every node of an environment includes: merged over all levels by an
/// unconditional statement of the top scope, or of a block that is every node's.
#[must_use]
pub fn included_lists(snapshot: &Snapshot, environment: &Root) -> Vec<Arc<str>> {
    let files = manifests_of(snapshot, environment);
    let codes = || {
        files
            .iter()
            .filter_map(|file| Some((file, file.facts().code.as_deref()?)))
    };
    if codes().any(|(_, code)| code.is_broken) {
        return Vec::new();
    }
    let mut blocks = codes().flat_map(|(_, code)| code.nodes.iter());
    let is_everyones = match (blocks.next(), blocks.next()) {
        (Some(only), None) => only.matches.contains(&NodeMatch::Default),
        _ => false,
    };
    let counts = |within: Within| match within {
        Within::Top => true,
        Within::Node(_) => is_everyones,
        Within::Definition(_) => false,
    };
    let mut lists = Vec::new();
    for (file, code) in codes() {
        for lookup in code.lookups.iter().filter(|lookup| counts(lookup.within)) {
            let LookupKey::Literal(key) = &lookup.key else {
                continue;
            };
            let merge = lookup.merge.map(|range| range.slice(file.text()));
            let is_included = || {
                let mut includes = code.includes.iter();
                includes.any(|it| it.place == lookup.call && !it.is_conditional)
            };
            let is_list = match lookup.function {
                LookupFunction::HieraInclude => !lookup.is_conditional,
                LookupFunction::HieraArray => is_included(),
                LookupFunction::Lookup => {
                    matches!(merge, Some("'unique'" | "\"unique\"" | "unique")) && is_included()
                }
                LookupFunction::Hiera | LookupFunction::HieraHash => false,
            };
            if is_list && !key.contains('.') {
                lists.push(key.clone());
            }
        }
    }
    lists
}

/// The environment that a root is, or the first that has it.
fn environment_of<'a>(snapshot: &'a Snapshot, root: &'a Root) -> Option<&'a Root> {
    match root.kind {
        RootKind::Environment => Some(root),
        RootKind::Module { .. } | RootKind::Global => snapshot.roots().environments_of(root).next(),
    }
}

/// The manifests of an environment in the order in which Puppet runs them
/// (`puppet/node/environment.rb`, `perform_initial_import`).
fn manifests_of(snapshot: &Snapshot, environment: &Root) -> Vec<Arc<File>> {
    let conf = path::join(&environment.dir, "environment.conf");
    let conf = snapshot.text(&conf).ok();
    let conf = conf
        .map(|text| environment_conf::parse(&text))
        .unwrap_or_default();
    let at = match conf.manifest {
        // What a server's settings say is not known here.
        Some(manifest) if manifest.contains('$') => return Vec::new(),
        Some(manifest) if manifest.starts_with('/') => manifest,
        Some(manifest) => path::normalise(&format!("{}/{manifest}", environment.dir)),
        None => path::join(&environment.dir, "manifests"),
    };
    let file = |at: &str| snapshot.file(at).cloned();
    if snapshot.kind(&at) != Some(FileKind::Directory) {
        return file(&at).into_iter().collect();
    }
    let below = snapshot.paths_below(&at);
    let is_manifest = |at: &str| path::extension(at) == Some("pp");
    let manifests = below.iter().filter(|(at, _)| is_manifest(at));
    let files = manifests.filter_map(|(at, _)| file(at));
    files.take(MAX_MANIFESTS).collect()
}
