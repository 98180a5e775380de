//! The known values of an open scope, by dotted path.

use std::sync::LazyLock;

use indexmap::IndexSet;

use crate::interpolation::{Key, Segment};
use crate::syntax::puppet::is_qualified;
use crate::value::{HashMap, Value};

/// Values by dotted path.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Bindings {
    given: Vec<(String, String)>,
    /// Each known path in full, root first, with its value.
    known: Vec<(Vec<Segment>, Value)>,
}

impl Bindings {
    pub(super) fn given(&self) -> impl Iterator<Item = (&str, &str)> {
        self.given
            .iter()
            .map(|(path, value)| (path.as_str(), value.as_str()))
    }

    pub(super) fn bind(&mut self, path: &str, value: Value) {
        let Some(parts) = parts(path) else { return };
        self.given
            .push((path.trim_start_matches("::").to_string(), value.to_s()));
        for twin in twins(parts) {
            if !self.known.iter().any(|(known, _)| *known == twin) {
                self.known.push((twin, value.clone()));
            }
        }
    }

    /// The part of a root variable that the segments need: the bound value wrapped in the hashes
    /// that lead to it; `None` if the path is not bound.
    pub(super) fn get(&self, root: &str, segments: &[Segment]) -> Option<Value> {
        let matches = |known: &[Segment]| {
            known.first().and_then(Segment::as_name) == Some(root)
                && segments.len() + 1 >= known.len()
                && known[1..] == segments[..known.len() - 1]
        };
        let (path, value) = self.known.iter().find(|(known, _)| matches(known))?;
        let wrapped = |inner: Value, segment: &Segment| {
            Value::from(HashMap::from_iter([(Value::from(segment), inner)]))
        };
        Some(path[1..].iter().rev().fold(value.clone(), wrapped))
    }
}

fn parts(path: &str) -> Option<Vec<Segment>> {
    let key = Key::parse(path.strip_prefix("::").unwrap_or(path)).ok()?;
    let mut parts = vec![key.root];
    parts.extend(key.segments);
    Some(parts)
}

/// Facts with the same value under several names.
static TWINS: LazyLock<Vec<Vec<Vec<Segment>>>> = LazyLock::new(|| {
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
    GROUPS.iter().map(group).collect()
});

/// The other paths under which Puppet has the same value, the given one first.
///
/// A fact is both `facts.x` and `x`; the certificate's name is `trusted.certname` and the fact
/// `clientcert`. Legacy and structured twins follow Facter's own definitions
/// (`facter/facts/*/legacy`).
fn twins(given: Vec<Segment>) -> IndexSet<Vec<Segment>> {
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
    for members in TWINS.iter().filter(|members| members.contains(&full)) {
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
