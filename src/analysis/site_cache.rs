//! What manifests and data say about the classes of each environment's nodes. It is computed on
//! first use, and kept as long as no change of the workspace concerns it.
//!
//! Computing it costs O(nodes × classes). Without the cache each letter that is typed in a node's
//! file costs that.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::evaluation_order::EvaluationOrder;
use super::inclusions::{CertainInclusions, LackingCache, NodesOfSite, PossibleInclusions};
use super::{NodeSet, TouchedKeys, declares_from, last_difference, split_key};
use crate::hierarchy::Layer;
use crate::lookup::Settings;
use crate::scope::KnownNodes;
use crate::workspace::{
    ENVIRONMENT_CONF, FileDelta, HIERA_YAML, LOOKUP_OPTIONS, Root, Snapshot, Within, format_of,
    language_of, path,
};

/// Maximum number of kept snapshots: the editor's, and one with the settings of before.
const MAX_KEPT: usize = 4;

/// The sites of recent snapshots.
#[derive(Debug, Default)]
pub struct SiteCache(Mutex<Vec<KeptSites>>);

#[derive(Clone, Debug)]
struct KeptSites {
    stamp: u64,
    settings: Settings,
    sites: Arc<Sites>,
}

/// The environments of a snapshot, by their folders.
#[derive(Debug, Default)]
pub struct Sites {
    by_folder: Mutex<HashMap<Arc<str>, Arc<SiteClasses>>>,
    unseen: Mutex<HashMap<RootName, Arc<[Layer]>>>,
}

/// A root and the layer that its hierarchy is read as, as a key of what is kept about it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RootName {
    folder: Arc<str>,
    layer: Layer,
    /// The path of its configuration: several may serve one folder.
    configuration: Option<Arc<str>>,
}

impl RootName {
    /// The name of a root in a layer.
    #[must_use]
    pub fn of(root: &Root, layer: &Layer) -> RootName {
        RootName {
            folder: Arc::clone(&root.dir),
            layer: layer.clone(),
            configuration: root.hiera_yaml.clone(),
        }
    }
}

/// What is known about one environment, computed on first use.
#[derive(Debug, Default)]
pub struct SiteClasses {
    order: OnceLock<Arc<EvaluationOrder>>,
    of_nodes: Mutex<Option<(Arc<NodeSet>, Arc<SiteNodes>)>>,
    /// The nodes of the snapshot before, until they are asked for.
    before: Mutex<Option<NodesOfSet>>,
}

/// The nodes of an environment, and the known ones that they are made from.
type NodesOfSet = (Arc<NodeSet>, Arc<NodesOfSite>);

/// What is known about the nodes of one environment.
#[derive(Debug)]
pub struct SiteNodes {
    nodes: Arc<NodesOfSite>,
    possible: OnceLock<PossibleInclusions>,
    certain: OnceLock<CertainInclusions>,
}

impl SiteCache {
    /// The sites of a snapshot: those of the snapshot before if the change does not concern them.
    pub fn sites(&self, snapshot: &Snapshot, settings: &Settings) -> Arc<Sites> {
        let (own, before) = (snapshot.stamp(), snapshot.delta().since);
        let of = |stamp: u64| {
            let kept = lock(&self.0);
            let mut kept = kept.iter();
            kept.find(|it| it.stamp == stamp && it.settings.answers_alike(settings))
                .map(|it| Arc::clone(&it.sites))
        };
        if let Some(sites) = of(own) {
            return sites;
        }
        let sites = match of(before) {
            Some(before) if concerns_sites(snapshot) => Arc::new(before.with_nodes_alone()),
            Some(before) => before,
            None => Arc::default(),
        };
        let mut kept = lock(&self.0);
        if kept.len() >= MAX_KEPT {
            kept.remove(0);
        }
        kept.push(KeptSites {
            stamp: own,
            settings: settings.clone(),
            sites: Arc::clone(&sites),
        });
        sites
    }

    /// The sites of one snapshot alone, for snapshots of edits that are tried. Shares what is known.
    #[must_use]
    pub fn of_snapshot(&self, stamp: u64) -> SiteCache {
        let kept = lock(&self.0);
        let own = kept.iter().filter(|it| it.stamp == stamp);
        SiteCache(Mutex::new(own.cloned().collect()))
    }

    /// Keeps the sites of the snapshot before for this one if the change does not concern them. To
    /// be called for each snapshot of a workspace, in their order.
    pub fn follow(&self, snapshot: &Snapshot) {
        let before = snapshot.delta().since;
        let kept: Vec<Settings> = {
            let kept = lock(&self.0);
            let of_before = kept.iter().filter(|it| it.stamp == before);
            of_before.map(|it| it.settings.clone()).collect()
        };
        for settings in kept {
            self.sites(snapshot, &settings);
        }
    }
}

impl Sites {
    /// The same without what is known but the nodes: these may still be the same.
    fn with_nodes_alone(&self) -> Sites {
        let known = lock(&self.by_folder);
        let sites = known.iter().map(|(folder, site)| {
            let site = SiteClasses {
                before: Mutex::new(site.last_nodes()),
                ..SiteClasses::default()
            };
            (Arc::clone(folder), Arc::new(site))
        });
        Sites {
            by_folder: Mutex::new(sites.collect()),
            unseen: Mutex::default(),
        }
    }

    /// The environment in a folder.
    #[must_use]
    pub fn site(&self, folder: &Arc<str>) -> Arc<SiteClasses> {
        let mut known = lock(&self.by_folder);
        Arc::clone(known.entry(Arc::clone(folder)).or_default())
    }

    /// The layers that are read together with a root's and have data outside of the workspace.
    pub fn unseen(
        &self,
        (root, layer): (&Root, &Layer),
        find: impl FnOnce() -> Vec<Layer>,
    ) -> Arc<[Layer]> {
        let name = RootName::of(root, layer);
        if let Some(known) = lock(&self.unseen).get(&name) {
            return Arc::clone(known);
        }
        let found: Arc<[Layer]> = find().into();
        lock(&self.unseen).insert(name, Arc::clone(&found));
        found
    }
}

impl SiteClasses {
    /// The order of evaluation.
    pub fn order(&self, find: impl FnOnce() -> EvaluationOrder) -> Arc<EvaluationOrder> {
        Arc::clone(self.order.get_or_init(|| Arc::new(find())))
    }

    fn last_nodes(&self) -> Option<NodesOfSet> {
        match &*lock(&self.of_nodes) {
            Some((set, site)) => Some((Arc::clone(set), Arc::clone(&site.nodes))),
            None => lock(&self.before).clone(),
        }
    }

    /// The environment's nodes, if `set` are the known ones. `find` gets those of the snapshot before, of the same set.
    pub fn nodes(
        &self,
        set: &Arc<NodeSet>,
        find: impl FnOnce(Option<&Arc<NodesOfSite>>) -> Arc<NodesOfSite>,
    ) -> Arc<SiteNodes> {
        let mut known = lock(&self.of_nodes);
        if let Some((of, nodes)) = &*known
            && Arc::ptr_eq(of, set)
        {
            return Arc::clone(nodes);
        }
        let before = lock(&self.before).take();
        let before = before.filter(|(of, _)| Arc::ptr_eq(of, set));
        let nodes = Arc::new(SiteNodes {
            nodes: find(before.as_ref().map(|(_, nodes)| nodes)),
            possible: OnceLock::new(),
            certain: OnceLock::new(),
        });
        *known = Some((Arc::clone(set), Arc::clone(&nodes)));
        nodes
    }
}

impl SiteNodes {
    /// The nodes.
    #[must_use]
    pub fn nodes(&self) -> &KnownNodes {
        &self.nodes.nodes
    }

    /// What is kept of what they lack.
    #[must_use]
    pub fn lacking(&self) -> &LackingCache {
        &self.nodes.lacking
    }

    /// The classes that they may include.
    pub fn possible_inclusions(
        &self,
        find: impl FnOnce() -> PossibleInclusions,
    ) -> &PossibleInclusions {
        self.possible.get_or_init(find)
    }

    /// The classes that they certainly include.
    pub fn certain_inclusions(
        &self,
        find: impl FnOnce() -> CertainInclusions,
    ) -> &CertainInclusions {
        self.certain.get_or_init(find)
    }
}

/// Each change of a cache is a single step, so a panic leaves it valid.
fn lock<T>(cache: &Mutex<T>) -> MutexGuard<'_, T> {
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the last change of a snapshot may concern the classes of nodes: files, hierarchies or
/// code changed, keys that manifests look up have other values, or parameters of classes are set or
/// no longer set. O(changed files and their keys, and users of those keys).
fn concerns_sites(snapshot: &Snapshot) -> bool {
    let delta = snapshot.delta();
    let decides = |file: &FileDelta| sets_options(file) || sets_parameters(snapshot, file);
    !delta.appeared.is_empty()
        || !delta.vanished.is_empty()
        || delta.files.iter().any(decides)
        || concerns_manifests(snapshot)
        || concerns_conditions(snapshot)
}

/// Whether the last change of a snapshot may concern the values of parameters in conditions, or of those that name types
/// of resources.
fn concerns_conditions(snapshot: &Snapshot) -> bool {
    match last_difference(snapshot).keys_as_read() {
        TouchedKeys::All => true,
        TouchedKeys::Keys(keys) => keys.iter().any(|key| {
            split_key(key).is_some_and(|(class, name)| {
                has_conditions(snapshot, class) || declares_from(snapshot, class, Some(name))
            })
        }),
    }
}

/// Whether a class may include others under conditions.
#[must_use]
pub fn has_conditions(snapshot: &Snapshot, class: &str) -> bool {
    snapshot.files_defining(class).any(|file| {
        let code = file.facts().code.as_deref();
        code.is_some_and(|code| {
            let mut all = code.definitions.iter().enumerate();
            all.any(|(at, it)| {
                *it.name == *class && code.has_conditions(Some(Within::Definition(at as u32)))
            })
        })
    })
}

/// Whether the last change of a snapshot may concern what manifests do for nodes: hierarchies or
/// code changed, or keys that manifests look up have other values. O(changed files and their keys,
/// and users of those keys).
#[must_use]
pub fn concerns_manifests(snapshot: &Snapshot) -> bool {
    concerns_hierarchies(snapshot)
        || changes_code(snapshot)
        || match last_difference(snapshot).keys_as_read() {
            TouchedKeys::All => true,
            TouchedKeys::Keys(keys) => keys
                .iter()
                .any(|key| snapshot.may_be_looked_up_by_call(key)),
        }
}

/// Whether some changed files are code, or decide which hierarchies there are and what they read. O(files).
#[must_use]
pub fn changes_inputs(snapshot: &Snapshot, files: &[FileDelta]) -> bool {
    let mut files = files.iter();
    files.any(|file| is_code(file) || decides_hierarchies(snapshot, &file.path))
}

/// Whether the last change of a snapshot changed Puppet's or Ruby's code. O(changed files).
#[must_use]
pub fn changes_code(snapshot: &Snapshot) -> bool {
    snapshot.delta().files.iter().any(is_code)
}

/// Whether the last change of a snapshot may concern which hierarchies there are and which files they
/// read. O(changed files).
#[must_use]
pub fn concerns_hierarchies(snapshot: &Snapshot) -> bool {
    let delta = snapshot.delta();
    // A folder can stand where levels read a file.
    let is_known = |path: &Arc<str>| delta.files.iter().any(|file| file.path == *path);
    let mut moved = delta.appeared.iter().chain(&delta.vanished);
    let mut files = delta.files.iter();
    delta.roots_changed
        || delta.settings_changed
        || delta.others_moved
        || moved.any(|path| format_of(path).is_some() && !is_known(path))
        || files.any(|file| decides_hierarchies(snapshot, &file.path))
}

/// Whether the content of a file may decide which hierarchies there are and what they read: also
/// files that are no configuration of a hierarchy.
#[must_use]
pub fn decides_hierarchies(snapshot: &Snapshot, at: &str) -> bool {
    matches!(
        path::name(at),
        HIERA_YAML | ENVIRONMENT_CONF | "metadata.json"
    ) || snapshot.roots().of_config(at).is_some()
}

/// Whether a changed file sets a class parameter that it did not set, or no longer sets one.
fn sets_parameters(snapshot: &Snapshot, file: &FileDelta) -> bool {
    let is_parameter = |key: &Arc<str>| {
        let Some((class, parameter)) = split_key(key) else {
            return false;
        };
        snapshot.files_defining(class).any(|file| {
            let code = file.facts().code.iter();
            let mut definitions = code.flat_map(|code| code.definitions.iter());
            definitions.any(|it| *it.name == *class && it.parameter(parameter).is_some())
        })
    };
    let keys = file.keys();
    keys.added.iter().chain(&keys.removed).any(is_parameter)
}

/// Whether `lookup_options` of a file changed.
fn sets_options(file: &FileDelta) -> bool {
    let keys = file.keys();
    !keys.lookup_options.is_empty() || keys.touched_as_read().any(|name| **name == *LOOKUP_OPTIONS)
}

/// Whether a changed file is Puppet's or Ruby's code.
fn is_code(file: &FileDelta) -> bool {
    language_of(&file.path).is_some() || path::extension(&file.path) == Some("rb")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;
    use crate::lookup::PuppetVersion;
    use crate::workspace::{Change, Workspace};

    const FILES: &str = "classes: [ntp]\nntp::servers: [a]\nother: 1\nx::other: 1\nroles: {web: [ntp]}\n\
         of_a: [ntp]\nmade::all: {file: {}}\n#- hiera.yaml\nversion: 5\n\
         hierarchy: [{name: c, path: common.yaml}]\n#- manifests/site.pp\n\
         lookup('classes').include\nlookup('roles.web').include\nlookup(\"of_${facts['x']}\").include\n\
         notice(simplib::lookup(\"x::${facts['y']}\"), simplib::lookup('x::other'), call('lookup', $facts['y']))\n#- modules/ntp/manifests/init.pp\n\
         class ntp($servers, $port = 1) {}\n#- modules/made/manifests/init.pp\n\
         class made(Hash $all = {}) { $all.each |$type, $of| { create_resources($type, $of) } }\n";

    /// Whether an edit of a file keeps what is known of the sites.
    fn keeps(path: &str, before: &str, after: &str) -> bool {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec!["/repo".into()]));
        let files = Fixture::new("data/common.yaml", FILES).files;
        for (path, text) in &files {
            workspace.apply(Change::open(format!("/repo/{path}"), text.as_str()));
        }
        let text = &files.iter().find(|(at, _)| *at == path).expect("a file").1;
        assert!(text.contains(before), "{before}");
        let cache = SiteCache::default();
        let settings = Settings::for_version(PuppetVersion::V8);
        let first = cache.sites(&workspace.snapshot(), &settings);
        let edited = text.replacen(before, after, 1);
        let snapshot = workspace.apply(Change::open(format!("/repo/{path}"), edited.as_str()));
        cache.follow(&snapshot);
        Arc::ptr_eq(&first, &cache.sites(&snapshot, &settings))
    }

    #[test]
    fn only_changes_that_concern_classes_of_nodes_drop_what_is_known() {
        let data = "data/common.yaml";
        assert!(keeps(data, "other: 1", "other: 2"));
        assert!(keeps(data, "other: 1", "# why\nother: 1\nntp::por: 1"));
        assert!(keeps(data, "x::other: 1", "x::other: 2"));
        assert!(keeps(data, "[a]", "[a, b]"));
        assert!(!keeps(data, "[ntp]", "[ntp, b]"));
        assert!(!keeps(data, "web: [ntp]", "web: [ntp, b]"));
        assert!(!keeps(data, "of_a: [ntp]", "of_a: [ntp, b]"));
        assert!(!keeps(data, "{file: {}}", "{class: {}}"));
        assert!(!keeps(data, "ntp::servers", "ntp::server"));
        assert!(!keeps(data, "other: 1", "ntp::port: 1"));
        assert!(!keeps(
            data,
            "other: 1",
            "lookup_options: {a: {merge: deep}}"
        ));
        assert!(!keeps("hiera.yaml", "common", "commons"));
        assert!(!keeps("manifests/site.pp", "include", "include # why"));
    }

    #[test]
    fn other_settings_have_sites_of_their_own() {
        let snapshot = Workspace::new().snapshot();
        let cache = SiteCache::default();
        let of = |version| cache.sites(&snapshot, &Settings::for_version(version));
        let first = of(PuppetVersion::V8);
        assert!(Arc::ptr_eq(&first, &of(PuppetVersion::V8)));
        assert!(!Arc::ptr_eq(&first, &of(PuppetVersion::V7)));
    }
}
