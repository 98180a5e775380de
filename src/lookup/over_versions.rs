//! One request in two versions of Puppet: the nodes that may have another answer.
//!
//! A lookup notes whether something in it depends on the version ([`Answer::depends_on_version`]).
//! Otherwise the answer of a node differs only if its variables do, the files that it reads, or what
//! manifests do. So the second version costs lookups for a few nodes, and not those of all.
//!
//! [`Answer::depends_on_version`]: super::Answer::depends_on_version

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::groups::SharedInputs;
use super::request::Reads;
use super::session::Session;
use crate::hierarchy::Layer;
use crate::scope::{Column, KnownNodes};
use crate::value::KeyHashing;

/// A version of Puppet, with its nodes.
pub type VersionSide<'a> = (Session<'a>, &'a KnownNodes);

/// What differs between the same nodes in two versions, found out once for all requests.
#[derive(Debug, Default)]
pub struct VersionDifferences {
    variables: Mutex<HashMap<Arc<str>, Differing, KeyHashing>>,
    layers: Mutex<HashMap<Layer, bool>>,
    failures: OnceLock<Differing>,
}

/// Which nodes differ.
#[derive(Clone, Debug)]
enum Differing {
    No,
    All,
    Some(Arc<[bool]>),
}

impl Differing {
    fn has(&self, member: usize) -> bool {
        match self {
            Differing::No => false,
            Differing::All => true,
            Differing::Some(members) => members[member],
        }
    }
}

impl VersionDifferences {
    /// The nodes that may have another answer in the new version, by number, to judge by what their
    /// answers in the old one depend on. O(variables × nodes) the first time.
    #[must_use]
    pub fn members(&self, versions: [&VersionSide<'_>; 2], inputs: &[SharedInputs]) -> Vec<usize> {
        let mut members = Vec::new();
        for shared in inputs {
            let differing = match shared.depends_on_version {
                true => vec![Differing::All],
                false => self.of_reads(versions, &shared.reads),
            };
            let of_shared = shared.members.iter().copied();
            members.extend(of_shared.filter(|&member| differing.iter().any(|it| it.has(member))));
        }
        members.sort_unstable();
        members
    }

    /// The differences that matter to what was read; those without nodes are left out.
    fn of_reads(&self, versions: [&VersionSide<'_>; 2], reads: &Reads) -> Vec<Differing> {
        let [(old, _), (new, _)] = versions;
        let modules = reads.modules.iter().cloned().map(Layer::Module);
        let mut layers = [Layer::Global, Layer::Environment]
            .into_iter()
            .chain(modules);
        if old.environment != new.environment || layers.any(|it| self.of_layer(versions, &it)) {
            return vec![Differing::All];
        }
        let variables = reads.variables.iter();
        let variables = variables.map(|name| self.of_variable(versions, name));
        let all = variables.chain([self.of_failures(versions)]);
        all.filter(|it| !matches!(it, Differing::No)).collect()
    }

    /// Whether some node may read other files in a layer.
    fn of_layer(&self, versions: [&VersionSide<'_>; 2], layer: &Layer) -> bool {
        let lock = || self.layers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(layer) {
            return *known;
        }
        let views = |(session, nodes): &VersionSide<'_>| session.views(nodes, layer);
        let old = views(versions[0]);
        let are_set = |(_, nodes): &&VersionSide<'_>| old.are_set_by_manifests(nodes);
        let differs = versions.iter().any(are_set)
            || match old.inputs_of_any_version() {
                Some(variables) => {
                    let mut all = variables.iter().map(|it| self.of_variable(versions, it));
                    all.any(|it| !matches!(it, Differing::No)) && !old.are_same(&views(versions[1]))
                }
                None => !old.are_same(&views(versions[1])),
            };
        lock().insert(layer.clone(), differs);
        differs
    }

    fn of_variable(&self, versions: [&VersionSide<'_>; 2], name: &Arc<str>) -> Differing {
        let lock = || {
            self.variables
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some(known) = lock().get(name) {
            return known.clone();
        }
        // What manifests set can depend on when it is asked for.
        let is_set = |(_, nodes): &&VersionSide<'_>| nodes.is_set_by_manifests(name);
        let found = if versions.iter().any(is_set) {
            Differing::All
        } else {
            let [old, new] = versions.map(|(_, nodes)| nodes.column(name));
            differing(&old, &new)
        };
        lock().insert(name.clone(), found.clone());
        found
    }

    /// Which nodes get no catalog in one version, or for another reason.
    fn of_failures(&self, versions: [&VersionSide<'_>; 2]) -> Differing {
        let find = || match versions.map(|(_, nodes)| nodes.failures()) {
            [None, None] => Differing::No,
            [Some(old), Some(new)] => differing(&old, &new),
            [Some(only), None] | [None, Some(only)] => {
                let members = 0..only.ids.len();
                Differing::Some(members.map(|it| only.value(it).is_some()).collect())
            }
        };
        self.failures.get_or_init(find).clone()
    }
}

/// The nodes with different values in two columns.
fn differing(old: &Arc<Column>, new: &Arc<Column>) -> Differing {
    if Arc::ptr_eq(old, new) {
        return Differing::No;
    }
    let state = |column: &Column, member: usize| {
        let is_undefined = column.is_undefined(member);
        (column.value(member).cloned(), is_undefined)
    };
    let mut known: HashMap<(u32, u32), bool, KeyHashing> = HashMap::default();
    let pairs = old.ids.iter().zip(&new.ids).enumerate();
    let members: Arc<[bool]> = pairs
        .map(|(member, (&one, &other))| {
            *known
                .entry((one, other))
                .or_insert_with(|| state(old, member) != state(new, member))
        })
        .collect();
    match members.contains(&true) {
        true => Differing::Some(members),
        false => Differing::No,
    }
}
