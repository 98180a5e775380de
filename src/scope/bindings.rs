//! The known values of an open scope, by dotted path.

use std::collections::HashMap as Map;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use indexmap::IndexSet;

use crate::interpolation::{Key, Segment};
use crate::syntax::puppet::{is_qualified, without_colons};
use crate::value::{HashMap, Value};

/// Values by dotted path.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Bindings {
    given: Vec<(String, String)>,
    /// Paths in full, root first, with the value that they have. The first one is used.
    known: Vec<(Arc<[Parts]>, Value)>,
}

impl Bindings {
    pub(super) fn given(&self) -> impl Iterator<Item = (&str, &str)> {
        self.given
            .iter()
            .map(|(path, value)| (path.as_str(), value.as_str()))
    }

    pub(super) fn bind(&mut self, path: &str, value: Value) {
        let Some(paths) = paths_of(path) else { return };
        self.given
            .push((without_colons(path).to_string(), value.to_s()));
        self.known.push((paths, value));
    }

    /// The part of a root variable that the segments need: the bound value wrapped in the hashes
    /// that lead to it; `None` if the path is not bound.
    pub(super) fn get(&self, root: &str, segments: &[Segment]) -> Option<Value> {
        let matches = |known: &[Segment]| {
            known.first().and_then(Segment::as_name) == Some(root)
                && segments.len() + 1 >= known.len()
                && known[1..] == segments[..known.len() - 1]
        };
        let all = self.known.iter();
        let mut all = all.flat_map(|(paths, value)| paths.iter().map(move |path| (path, value)));
        let (path, value) = all.find(|(known, _)| matches(known))?;
        let wrapped = |inner: Value, segment: &Segment| {
            Value::from(HashMap::from_iter([(Value::from(segment), inner)]))
        };
        Some(path[1..].iter().rev().fold(value.clone(), wrapped))
    }
}

fn parts(path: &str) -> Option<Parts> {
    let key = Key::parse(path.strip_prefix("::").unwrap_or(path)).ok()?;
    let mut parts = vec![key.root];
    parts.extend(key.segments);
    Some(parts)
}

/// A path of a variable and its parts.
type Parts = Vec<Segment>;

/// Facts with the same value under several names: for each such path all of them.
static TWINS: LazyLock<Map<Parts, Arc<[Parts]>>> = LazyLock::new(|| {
    const GROUPS: &[&[&str]] = &[
        &["trusted.certname", "facts.clientcert"],
        &["facts.networking.fqdn", "facts.fqdn"],
        &["facts.networking.hostname", "facts.hostname"],
        &["facts.networking.domain", "facts.domain"],
        &["facts.os.family", "facts.osfamily"],
        &["facts.os.name", "facts.operatingsystem"],
        &["facts.os.release.full", "facts.operatingsystemrelease"],
        &["facts.os.release.major", "facts.operatingsystemmajrelease"],
        &["facts.os.architecture", "facts.architecture"],
        &["facts.os.hardware", "facts.hardwaremodel"],
        &["facts.os.distro.codename", "facts.lsbdistcodename"],
    ];
    let group = |group: &&[&str]| group.iter().filter_map(|path| parts(path)).collect();
    let groups = GROUPS.iter().map(group);
    let each = groups.flat_map(|group: Arc<[Parts]>| {
        let paths: Vec<Parts> = group.to_vec();
        let of_group = move |path| (path, Arc::clone(&group));
        paths.into_iter().map(of_group)
    });
    each.collect()
});

/// The [`twins`] of a dotted path; `None` for one that is no variable. The same few paths are bound for each node.
fn paths_of(path: &str) -> Option<Arc<[Parts]>> {
    /// Maximum number of paths that are kept.
    const MAX_KEPT: usize = 1_000;
    type Kept = Map<Box<str>, Arc<[Parts]>>;
    static KEPT: LazyLock<Mutex<Kept>> = LazyLock::new(Mutex::default);
    let lock = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = lock().get(path) {
        return Some(Arc::clone(known));
    }
    let paths: Arc<[Parts]> = twins(parts(path)?).into_iter().collect();
    let mut kept = lock();
    if kept.len() < MAX_KEPT {
        kept.insert(Box::from(path), Arc::clone(&paths));
    }
    Some(paths)
}

/// The other paths under which Puppet has the same value, the given one first.
///
/// A fact is both `facts.x` and `x`; the certificate's name is `trusted.certname` and the fact
/// `clientcert`. Legacy and structured twins follow Facter's own definitions
/// (`facter/facts/*/legacy`).
fn twins(given: Parts) -> IndexSet<Parts> {
    let root = |path: &[Segment]| path.first().and_then(Segment::as_name).map(str::to_owned);
    let own_root = root(&given);
    let may_be_fact = own_root.as_deref().is_some_and(|name| {
        !matches!(name, "facts" | "trusted" | "server_facts" | "environment") && !is_qualified(name)
    });
    let mut full = given.clone();
    if may_be_fact {
        full.insert(0, Segment::Name("facts".into()));
    }
    // A bare name may be a fact or an ENC variable: only Facter's own names are treated as facts.
    let mut is_fact = own_root.as_deref() == Some("facts");
    let mut all = IndexSet::from([given]);
    if let Some(members) = TWINS.get(&full) {
        is_fact = true;
        all.extend(members.iter().cloned());
    }
    if is_fact {
        all.insert(full);
        for path in all.clone() {
            if root(&path).as_deref() == Some("facts") && path.len() > 1 {
                all.insert(path[1..].to_vec());
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(bindings: &Bindings, path: &str) -> Option<Value> {
        let parts = parts(path)?;
        bindings.get(parts[0].as_name()?, &parts[1..])
    }

    #[test]
    fn a_fact_is_known_by_all_its_names() {
        let mut bindings = Bindings::default();
        bindings.bind("::osfamily", "Debian".into());
        assert!(get(&bindings, "facts.os.family").is_some());
        assert!(get(&bindings, "os.family").is_some());
        assert_eq!(get(&bindings, "osfamily"), Some("Debian".into()));
        assert_eq!(get(&bindings, "facts.os"), None);
        assert_eq!(get(&bindings, "facts.os.name"), None);
    }

    #[test]
    fn a_bare_name_is_not_taken_for_a_fact() {
        let mut bindings = Bindings::default();
        bindings.bind("role", "db".into());
        assert_eq!(get(&bindings, "role"), Some("db".into()));
        assert_eq!(get(&bindings, "facts.role"), None);
    }
}
