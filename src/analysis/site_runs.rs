//! What an edit changes in what site manifests do: nothing, unless it concerns what they read; then they are run again
//! for the nodes that may read the edited files.
//!
//! Without it each letter that is typed in the list of classes of one role costs the manifests of all nodes, and all that
//! follows from them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::site::{SharedRuns, SiteManifests};
use super::{TouchedKeys, decides_hierarchies, difference, layers_of};
use crate::hierarchy::Layer;
use crate::lookup::{Session, possible_readers_of};
use crate::scope::KnownNodes;
use crate::workspace::{Files as _, LOOKUP_OPTIONS, Snapshot, path};

/// Maximum number of layers, one for each module, that are asked for edited files.
const MAX_LAYERS: usize = 64;

/// What a difference between snapshots may change.
enum ChangedInputs {
    Nothing,
    /// Lookups of these keys, by the texts of these data files.
    Data {
        keys: BTreeSet<Arc<str>>,
        files: Vec<Arc<str>>,
    },
    Anything,
}

impl SiteManifests {
    /// Whether they do the same in another snapshot for the nodes for which they were run; if so, moves to it.
    /// O(changed files and the users of their keys), and O(nodes that may read such a file) with a run for those that differ in
    /// what is read.
    pub(super) fn does_the_same(&self, snapshot: &Snapshot, nodes: &KnownNodes) -> bool {
        let same = match self.changed(snapshot) {
            ChangedInputs::Nothing => true,
            ChangedInputs::Anything => false,
            ChangedInputs::Data { keys, files } => {
                let affected = self.affected(snapshot, nodes, (&keys, &files));
                affected.is_some_and(|affected| self.do_as_before(snapshot, nodes, &affected))
            }
        };
        if same {
            self.lock().snapshot = snapshot.clone();
        }
        same
    }

    fn changed(&self, snapshot: &Snapshot) -> ChangedInputs {
        let seen = self.lock();
        if seen.snapshot.revision() == snapshot.revision() {
            return ChangedInputs::Nothing;
        }
        let text = |snapshot: &Snapshot, at: &Arc<str>| snapshot.file(at).map(|it| it.hash());
        let mut functions = seen.functions.iter();
        let touched = difference(&seen.snapshot, snapshot);
        let mut files = touched.files.iter();
        let is_data = seen.snapshot.shape() == snapshot.shape()
            && !touched.has_other_roots
            && !files.any(|file| {
                // Which aliases of types were read is not recorded.
                let is_of_types = path::parent(&file.path).is_some_and(|it| it.contains("/types"));
                is_of_types || decides_hierarchies(snapshot, &file.path)
            })
            && functions.all(|at| text(&seen.snapshot, at) == text(snapshot, at));
        // Whether a refused file has options for a key is not known.
        let sets_options = touched.edited.iter().any(|key| **key == *LOOKUP_OPTIONS);
        match touched.keys_as_read() {
            TouchedKeys::Keys(keys) if is_data && !sets_options && keys.is_disjoint(&seen.keys) => {
                ChangedInputs::Nothing
            }
            TouchedKeys::Keys(keys) if is_data => ChangedInputs::Data {
                keys: if sets_options {
                    keys.union(&seen.keys).cloned().collect()
                } else {
                    keys
                },
                files: touched
                    .files
                    .iter()
                    .map(|it| Arc::clone(&it.path))
                    .collect(),
            },
            TouchedKeys::Keys(_) | TouchedKeys::All => ChangedInputs::Anything,
        }
    }

    /// The nodes for which lookups of some keys may read some files; `None` if these are not known.
    fn affected(
        &self,
        snapshot: &Snapshot,
        nodes: &KnownNodes,
        (keys, files): (&BTreeSet<Arc<str>>, &[Arc<str>]),
    ) -> Option<BTreeSet<usize>> {
        let mut layers: Vec<Layer> = Vec::new();
        for layer in keys.iter().flat_map(|key| layers_of(key)) {
            if !layers.contains(&layer) {
                layers.push(layer);
            }
            if layers.len() > MAX_LAYERS {
                return None;
            }
        }
        let set_by_code = self.lock().set_by_code.clone();
        let readers = self.in_session_of(snapshot, |session| {
            possible_readers_of(&session, nodes, (&layers, files), &set_by_code)
        });
        readers.flatten()
    }

    /// Whether they do the same as before for those of some nodes for which they were run.
    fn do_as_before(
        &self,
        snapshot: &Snapshot,
        nodes: &KnownNodes,
        affected: &BTreeSet<usize>,
    ) -> bool {
        let given = nodes.as_given();
        let shared = SharedRuns::default();
        let is_same = |session: Session<'_>, member: usize| {
            let before = nodes.assigned_so_far(member).zip(nodes.node(member));
            let Some((before, node)) = before else {
                return true;
            };
            let of = (member, node, &given.given_scope(member));
            let again = self.run_among(&shared, session, &given, of);
            Arc::ptr_eq(&again, before) || again.does_the_same(before)
        };
        let same = self.in_session_of(snapshot, |session| {
            let mut affected = affected.iter();
            affected.all(|&member| is_same(session, member))
        });
        let same = same.unwrap_or_default();
        if same {
            self.share(&shared);
        }
        same
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{NodeCache, NodeInputs};
    use crate::lookup::{ConfigCache, PuppetVersion, Settings};
    use crate::workspace::{Change, Workspace};

    const HIERARCHY: &str = "version: 5\nhierarchy: [{name: n, path: 'n/%{trusted.certname}.yaml'}, \
         {name: r, path: 'r/%{facts.role}.yaml'}, {name: s, path: 's/%{site}.yaml'}, {name: c, path: c.yaml}]\n";
    const NODES: &str =
        "a: {facts: {role: web}}\nb: {facts: {role: web}}\nc: {facts: {role: db}}\n";

    /// Whether an edit of a data file leaves the nodes as they are, and the variable `x` of each node after it.
    fn after(site: &str, path: &str, text: &str) -> (bool, Vec<String>) {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec!["/w".into()]));
        let files = [
            ("hiera.yaml", HIERARCHY),
            ("nodes.yaml", NODES),
            ("manifests/site.pp", site),
            ("data/c.yaml", "h: {a: 1, b: 2}\nclasses: [m]\nport: 1\n"),
            ("data/r/web.yaml", "classes: [w]\nother: 1\n"),
            ("data/s/lon.yaml", "port: 2\n"),
            ("modules/m/manifests/init.pp", "class m { }\n"),
        ];
        let files = files.map(|(at, text)| Change::file(format!("/w/{at}"), text));
        let before = workspace.apply(Change::Batch(files.into()));
        let settings = Settings::for_version(PuppetVersion::V8);
        let configs = ConfigCache::default();
        let (inputs, cache) = (NodeInputs::new(&settings, &configs), NodeCache::default());
        let shown = |snapshot: &Snapshot, cache: &NodeCache| {
            let set = cache.nodes(snapshot, "/w/data/c.yaml", &inputs);
            let value = |member| {
                let assigned = set.known.assigned(member).unwrap_or_default();
                let x = assigned.top.get("x").map(|it| it.value.clone());
                x.map_or("none".to_owned(), |x| {
                    x.map_or("unknown".to_owned(), |x| x.to_s())
                })
            };
            let values: Vec<String> = (0..set.known.len()).map(value).collect();
            (set.known.id(), values)
        };
        let (id, _) = shown(&before, &cache);
        let edited = workspace.apply(Change::file(format!("/w/data/{path}"), text));
        let (id_after, found) = shown(&edited, &cache);
        assert_eq!(
            found,
            shown(&edited, &NodeCache::default()).1,
            "{site} {path}"
        );
        (id == id_after, found)
    }

    #[test]
    fn nodes_stay_the_same_if_manifests_do_the_same_with_other_data() {
        let include = "lookup('classes', Array, 'unique').include";
        let web = "classes: [w, m]\nother: 1\n";
        let first = "$x = lookup('classes', Array, 'unique')[0]";
        let is_kept = |site: &str, path: &str, text: &str| after(site, path, text).0;
        assert!(is_kept(include, "r/web.yaml", web));
        assert!(is_kept(
            include,
            "c.yaml",
            "h: {a: 1, b: 2}\nclasses: [m, n]\nport: 1\n"
        ));
        assert!(is_kept(first, "r/web.yaml", web), "the same first class");
        let (is_kept_of_first, x) = after(first, "r/web.yaml", "classes: [v]\n");
        assert!(!is_kept_of_first);
        assert_eq!(x, ["v", "v", "m"]);
        // Where a file is read depends on what manifests set.
        let by_site =
            "$site = $facts['role'] ? { 'web' => 'lon', default => 'par' }\n$x = lookup('port')";
        assert!(
            is_kept(by_site, "r/web.yaml", "classes: [v]\nother: 1\n"),
            "no key that is looked up"
        );
        let (is_kept_by_site, x) = after(by_site, "s/lon.yaml", "port: 3\n");
        assert!(!is_kept_by_site);
        assert_eq!(x, ["3", "3", "1"]);
        let whole = "$x = lookup('h')";
        let (is_kept_whole, x) = after(whole, "c.yaml", "h: {b: 2, a: 1}\nclasses: [m]\nport: 1\n");
        assert!(!is_kept_whole, "another order");
        assert!(x[0].find('b') < x[0].find('a'), "{x:?}");
        let by_local = "['lon'].each |$site| { lookup('port') }\n$x = lookup('port')";
        assert!(!is_kept(by_local, "s/lon.yaml", "port: 3\n"));
    }
}
