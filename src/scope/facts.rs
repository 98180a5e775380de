//! The facts of a node: a hash in memory, or the saved text that they come from.
//!
//! A lookup reads few of a node's hundreds of facts, and a fleet has thousands of nodes. So facts
//! that were saved as JSON stay text; requested facts are read on demand, and those that follow from
//! the node's name are added.

use std::sync::{Arc, Mutex, PoisonError};

use super::node::{deep_merge_facts, name_facts, sanitize, sanitize_facts};
use crate::interpolation::Segment;
use crate::value::{HashMap, StrKey, Value, from_json};

/// Maximum number of cached facts of a scope: hierarchies use a handful.
const MAX_READ: usize = 64;

/// The facts of one node. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Facts(FactsForm);

#[derive(Clone, Debug)]
enum FactsForm {
    Whole(Arc<HashMap>),
    Saved(Arc<Saved>),
}

/// Facts that are read on demand from the text of their document.
#[derive(Clone, Debug)]
pub(super) struct Saved {
    /// The node's name if its own facts don't give one.
    pub(super) certname: Arc<str>,
    /// Facts below the node's own.
    pub(super) common: Arc<HashMap>,
    /// The document; many nodes share it.
    pub(super) document: Arc<str>,
    /// The node's own facts; of equal names the last one is used.
    pub(super) entries: Box<[ValuePosition]>,
    /// Facts set by hand, by dotted path, in this order.
    pub(super) by_hand: Vec<(Box<str>, Value)>,
}

/// The position of a fact's value.
#[derive(Clone, Debug)]
pub(super) struct ValuePosition {
    pub(super) name: Arc<str>,
    /// Offset of the value in the document.
    pub(super) start: u32,
    /// Bytes of the value.
    pub(super) length: u32,
}

impl Default for Facts {
    fn default() -> Facts {
        Facts::from(HashMap::default())
    }
}

impl From<HashMap> for Facts {
    fn from(facts: HashMap) -> Facts {
        Facts(FactsForm::Whole(Arc::new(facts)))
    }
}

impl From<Saved> for Facts {
    fn from(saved: Saved) -> Facts {
        Facts(FactsForm::Saved(Arc::new(saved)))
    }
}

impl Eq for Facts {}

impl PartialEq for Facts {
    fn eq(&self, other: &Facts) -> bool {
        match (&self.0, &other.0) {
            (FactsForm::Whole(one), FactsForm::Whole(other)) => one == other,
            (FactsForm::Saved(one), FactsForm::Saved(other)) if Arc::ptr_eq(one, other) => true,
            _ => self.whole() == other.whole(),
        }
    }
}

impl Facts {
    /// One fact, by its name. In memory O(1); in a text O(its length).
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Value> {
        match &self.0 {
            FactsForm::Whole(facts) => facts.get(&StrKey(name)).cloned(),
            FactsForm::Saved(saved) => saved.get(name),
        }
    }

    /// All facts. O(1) for facts in memory; for those in a text, everything is read.
    #[must_use]
    pub fn whole(&self) -> Arc<HashMap> {
        match &self.0 {
            FactsForm::Whole(facts) => facts.clone(),
            FactsForm::Saved(saved) => Arc::new(saved.whole()),
        }
    }

    /// The facts, if all are in memory.
    #[must_use]
    pub fn in_memory(&self) -> Option<&Arc<HashMap>> {
        match &self.0 {
            FactsForm::Whole(facts) => Some(facts),
            FactsForm::Saved(_) => None,
        }
    }

    /// The facts without those of some names. O(facts).
    #[must_use]
    pub fn without(&self, is_gone: &dyn Fn(&str) -> bool) -> Facts {
        let stays = |key: &Value| !key.as_str().is_some_and(is_gone);
        match &self.0 {
            FactsForm::Whole(facts) => {
                let mut kept = HashMap::clone(facts);
                kept.retain(|name, _| stays(name));
                Facts::from(kept)
            }
            FactsForm::Saved(saved) => {
                let mut kept = Saved::clone(saved);
                Arc::make_mut(&mut kept.common).retain(|name, _| stays(name));
                let entries = kept.entries.into_iter();
                kept.entries = entries.filter(|entry| !is_gone(&entry.name)).collect();
                kept.by_hand.retain(|(path, _)| !is_gone(path));
                Facts::from(kept)
            }
        }
    }

    /// Sets the fact at a dotted path, creating hashes on the way. In memory O(facts), in a text
    /// O(1).
    pub fn set(&mut self, path: &str, value: Value) {
        match &mut self.0 {
            FactsForm::Whole(facts) => set(Arc::make_mut(facts), path, value),
            FactsForm::Saved(saved) => Arc::make_mut(saved).by_hand.push((path.into(), value)),
        }
    }
}

/// Facts that depend on each other: a node's name in all its forms.
const NAMING: [&str; 5] = ["fqdn", "hostname", "domain", "clientcert", "networking"];

impl Saved {
    fn get(&self, name: &str) -> Option<Value> {
        // A derived fact is computed from the same facts as in the whole hash.
        let is_naming = |name: &str| NAMING.contains(&name);
        let is_read = |other: &str| other == name || (is_naming(other) && is_naming(name));
        self.read(&is_read).get(&StrKey(name)).cloned()
    }

    fn whole(&self) -> HashMap {
        self.read(&|_| true)
    }

    /// The facts for which `is_read` is true.
    fn read(&self, is_read: &dyn Fn(&str) -> bool) -> HashMap {
        let mut own = HashMap::default();
        for entry in self.entries.iter().filter(|entry| is_read(&entry.name)) {
            let (start, length) = (entry.start as usize, entry.length as usize);
            let text = self.document.get(start..start + length).unwrap_or_default();
            // The whole document was parsed once, so it has no errors left.
            let value = from_json(text).unwrap_or_default();
            own.insert(Value::String(entry.name.clone()), value);
        }
        let common = self.common.iter();
        let common = common.filter(|(name, _)| name.as_str().is_some_and(is_read));
        let common: HashMap = common.map(|(k, v)| (k.clone(), v.clone())).collect();
        let mut facts = if common.is_empty() {
            own.clone()
        } else {
            deep_merge_facts(&common, &own)
        };
        if NAMING.into_iter().any(is_read) {
            name_facts(&self.certname, &own, &mut facts);
        }
        for (path, value) in &self.by_hand {
            let first = path.split('.').next().unwrap_or_default();
            if is_read(first) {
                set(&mut facts, path, value.clone());
            }
        }
        facts
    }
}

/// Facts of a scope that are not in memory, with a cache of those that were read.
#[derive(Debug)]
pub(super) struct SavedFacts {
    facts: Facts,
    /// The same few facts are read again and again.
    read: Mutex<Vec<(Box<str>, Option<Value>)>>,
}

impl From<Facts> for SavedFacts {
    fn from(facts: Facts) -> SavedFacts {
        SavedFacts {
            facts,
            read: Mutex::default(),
        }
    }
}

impl PartialEq for SavedFacts {
    fn eq(&self, other: &SavedFacts) -> bool {
        self.facts == other.facts
    }
}

impl SavedFacts {
    /// A top-scope variable of that name; for `facts`, the part at the segments after it.
    pub(super) fn get(&self, name: &str, segments: &[Segment]) -> Option<Value> {
        if name != "facts" {
            return self.fact(name);
        }
        let mut facts = HashMap::default();
        match segments.first() {
            None => {
                let all = self.facts.whole();
                return Some(Value::Hash(sanitize_facts(&all)));
            }
            Some(Segment::Name(name)) => {
                let fact = self.fact(name);
                facts.extend(fact.map(|fact| (Value::string(name), fact)));
            }
            // Names of facts are never numbers.
            Some(Segment::Index(_)) => {}
        }
        Some(Value::from(facts))
    }

    fn fact(&self, name: &str) -> Option<Value> {
        // Each change of the list is one push, so a panic leaves it valid.
        let lock = || self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, value)) = lock().iter().find(|(known, _)| **known == *name) {
            return value.clone();
        }
        let value = self.facts.get(name).map(|value| sanitize(&value));
        let mut read = lock();
        if read.len() < MAX_READ {
            read.push((name.into(), value.clone()));
        }
        value
    }
}

fn set(facts: &mut HashMap, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            facts.insert(Value::string(path), value);
        }
        Some((first, rest)) => {
            let key = Value::string(first);
            let inner = facts.get(&key).and_then(Value::as_hash).cloned();
            let mut inner = inner.unwrap_or_default();
            set(&mut inner, rest, value);
            facts.insert(key, Value::from(inner));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::read_json_nodes;
    use super::*;

    /// Facts that determine a node's name, legacy facts and others, each present or not.
    const PIECES: [&str; 12] = [
        r#""os": {"family": "Debian", "release": {"major": "12"}}"#,
        r#""networking": {"fqdn": "own.example.com", "interfaces": {"eth0": {"ip": "10.0.0.1", "mtu": 1500}}}"#,
        r#""networking": {"ip": null}"#,
        r#""networking": "flat""#,
        r#""fqdn": "flat.example.com""#,
        r#""hostname": null"#,
        r#""osfamily": "Own""#,
        r#""clientcert": "cert""#,
        r#""disks": {"sda": {"model": "M", "size_bytes": 1}}"#,
        r#""ssh": {"rsa": {"key": "k", "fingerprints": {"sha1": "1", "sha256": "2"}}}"#,
        r#""memory": {"system": {"total_bytes": 1000000}}"#,
        r#""processors": {"models": ["A", "B"]}"#,
    ];

    const NAMES: [&str; 24] = [
        "os",
        "networking",
        "fqdn",
        "hostname",
        "domain",
        "clientcert",
        "osfamily",
        "operatingsystemmajrelease",
        "ipaddress",
        "ipaddress_eth0",
        "mtu_eth0",
        "interfaces",
        "disks",
        "blockdevices",
        "blockdevice_sda_model",
        "ssh",
        "sshrsakey",
        "sshfp_rsa",
        "memory",
        "memorysize_mb",
        "processors",
        "processor1",
        "processorcount",
        "absent",
    ];

    proptest! {
        #[test]
        fn a_fact_alone_is_the_fact_among_all(
            own in proptest::sample::subsequence(PIECES.to_vec(), 0..12),
            common in proptest::sample::subsequence(PIECES.to_vec(), 0..6),
            by_hand in proptest::sample::subsequence(vec!["os.family", "networking.ip", "fqdn", "disks"], 0..4),
        ) {
            let common = from_json(&format!("{{{}}}", common.join(","))).unwrap();
            let common = common.as_hash().unwrap();
            let text = format!(r#"{{"n.example.org": {{"facts": {{{}}}}}}}"#, own.join(","));
            let nodes = read_json_nodes(&Arc::from(&*text), "nodes", common).unwrap();
            let mut facts = nodes.all()[0].facts.clone();
            for path in by_hand {
                facts.set(path, "set".into());
            }
            let whole = facts.whole();
            for name in NAMES {
                prop_assert_eq!(facts.get(name), whole.get(&StrKey(name)).cloned(), "{}", name);
            }
            prop_assert!(whole.keys().all(|name| facts.get(name.as_str().unwrap()).is_some()));
        }
    }

    #[test]
    fn unreadable_facts_are_refused_when_nodes_are_read() {
        let read = |fact: &str| {
            let text = format!(r#"[{{"certname": "a", "facts": {{"ok": 1, "fact": {fact}}}}}]"#);
            read_json_nodes(&Arc::from(&*text), "inventory", &HashMap::default())
        };
        assert!(read("\"\\u00e9\"").is_ok());
        for fact in ["\"\\ud800\"", &"[".repeat(500), "1,", "{"] {
            assert!(read(fact).is_err(), "{fact}");
        }
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let error = read(&deep).unwrap_err();
        assert_eq!(
            error.message,
            "lists and objects nest deeper than 128 levels"
        );
    }
}
