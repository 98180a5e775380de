//! Which keys the catalogs of nodes looked up, as PuppetDB stores it for the latest catalog of each node
//! (`catalog-inputs`, with `track-lookups` on the server).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::datatype::{timestamp_of_text, timestamp_text};
use crate::interpolation::Key;
use crate::text::number_of;
use crate::value::Value;

/// Nanoseconds of a second.
const SECOND: i128 = 1_000_000_000;

/// The record, by the environments of the nodes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LookupRecord(BTreeMap<Arc<str>, Catalogs>);

/// What the latest catalogs of the nodes of an environment looked up.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Catalogs {
    /// How many catalogs there are, one for each node.
    count: usize,
    /// When the oldest of them was made: seconds since 1970.
    first: i64,
    keys: BTreeMap<Arc<str>, KeyReads>,
}

/// How many catalogs looked a key up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyReads {
    /// How many nodes have such a catalog.
    pub nodes: usize,
    /// When the newest of them was made: seconds since 1970.
    pub last: i64,
}

/// What the record says of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Observed {
    /// How many nodes have a catalog in the record.
    pub nodes: usize,
    /// When the oldest of the catalogs was made: seconds since 1970.
    pub since: i64,
    /// The catalogs that looked the key up; `None` if no catalog did.
    pub reads: Option<KeyReads>,
}

impl LookupRecord {
    /// Whether there is no catalog in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many nodes have a catalog in it.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.0.values().map(|catalogs| catalogs.count).sum()
    }

    /// Adds the latest catalog of a node: when it was made, and the keys that it looked up. A part of a
    /// key counts for the key.
    pub fn add<'k>(&mut self, environment: &str, at: i64, keys: impl Iterator<Item = &'k str>) {
        let catalogs = self.0.entry(Arc::from(environment)).or_default();
        catalogs.first = match catalogs.count {
            0 => at,
            _ => catalogs.first.min(at),
        };
        catalogs.count += 1;
        let roots = keys.filter_map(|key| Some(Arc::from(Key::parse(key).ok()?.root.as_name()?)));
        for root in roots.collect::<BTreeSet<Arc<str>>>() {
            let reads = catalogs.keys.entry(root);
            let reads = reads.or_insert(KeyReads { nodes: 0, last: at });
            reads.nodes += 1;
            reads.last = reads.last.max(at);
        }
    }

    /// What the catalogs of an environment, or of all, say of a key; `None` if there are none.
    #[must_use]
    pub fn of(&self, environment: Option<&str>, key: &str) -> Option<Observed> {
        let all = self.0.iter();
        let here = all.filter(|(name, _)| environment.is_none_or(|wanted| wanted == &***name));
        let here: Vec<&Catalogs> = here.map(|(_, catalogs)| catalogs).collect();
        let reads = here.iter().filter_map(|catalogs| catalogs.keys.get(key));
        let reads = reads.copied().reduce(|one, other| KeyReads {
            nodes: one.nodes + other.nodes,
            last: one.last.max(other.last),
        });
        Some(Observed {
            nodes: here.iter().map(|catalogs| catalogs.count).sum(),
            since: here.iter().map(|catalogs| catalogs.first).min()?,
            reads,
        })
    }

    /// Reads a record; parts that are not understood are left out.
    pub(super) fn read(member: &Value) -> LookupRecord {
        let environments = member.as_hash().into_iter().flatten();
        let environments = environments.filter_map(|(name, catalogs)| {
            let keys = catalogs.get("keys").and_then(Value::as_hash)?;
            let keys = keys.iter().filter_map(|(key, reads)| {
                let reads = reads.as_array()?;
                let nodes = count_of(reads.first()?)?;
                let last = seconds_of(reads.get(1)?)?;
                Some((Arc::from(key.as_str()?), KeyReads { nodes, last }))
            });
            let catalogs = Catalogs {
                count: count_of(catalogs.get("nodes")?)?,
                first: seconds_of(catalogs.get("since")?)?,
                keys: keys.collect(),
            };
            Some((Arc::from(name.as_str()?), catalogs))
        });
        LookupRecord(environments.collect())
    }

    /// The record as it is written.
    pub(super) fn value(&self) -> Value {
        let count = |count: usize| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
        let environments = self.0.iter().map(|(name, catalogs)| {
            let keys = catalogs.keys.iter().map(|(key, reads)| {
                let reads = [count(reads.nodes), Value::from(time_text(reads.last))];
                (&**key, Value::array(reads))
            });
            let catalogs = Value::hash([
                ("nodes", count(catalogs.count)),
                ("since", Value::from(time_text(catalogs.first))),
                ("keys", Value::hash(keys)),
            ]);
            (&**name, catalogs)
        });
        Value::hash(environments)
    }
}

impl Observed {
    /// In words: `read by 212 nodes, last on 2026-11-29`.
    #[must_use]
    pub fn words(&self) -> String {
        let nodes = |count: usize| number_of(count, "node");
        match self.reads {
            Some(reads) => format!(
                "read by {}, last on {}",
                nodes(reads.nodes),
                date(reads.last)
            ),
            None => format!(
                "never read since {}, by the catalogs of {}",
                date(self.since),
                nodes(self.nodes)
            ),
        }
    }

    /// The day of the oldest catalog: `2026-11-29`.
    #[must_use]
    pub fn since_date(&self) -> String {
        date(self.since)
    }
}

fn count_of(value: &Value) -> Option<usize> {
    match value {
        Value::Int(count) => usize::try_from(*count).ok(),
        _ => None,
    }
}

/// The seconds since 1970 of a time as Puppet reads it.
pub(super) fn seconds_of(value: &Value) -> Option<i64> {
    let at = timestamp_of_text(value.as_str()?)?;
    i64::try_from(at.div_euclid(SECOND)).ok()
}

/// A number of seconds since 1970 as people and Puppet read it.
pub(super) fn time_text(seconds: i64) -> String {
    let text = timestamp_text(i128::from(seconds) * SECOND);
    let whole = text.split('.').next().unwrap_or_default();
    format!("{} UTC", whole.replacen('T', " ", 1))
}

fn date(seconds: i64) -> String {
    let text = time_text(seconds);
    text.split(' ').next().unwrap_or_default().to_owned()
}

/// Reads PuppetDB's answer about `catalog-inputs`: certname, seconds since 1970, and the keys.
///
/// # Errors
/// The answer has another form.
pub fn read_catalog_inputs(
    answer: &Value,
    each: &mut dyn FnMut(&str, i64, &[&str]),
) -> Result<(), String> {
    const FORM: &str = "not an answer about catalog-inputs";
    for row in answer.as_array().ok_or(FORM)? {
        let certname = row.get("certname").and_then(Value::as_str);
        let at = row.get("producer_timestamp").and_then(Value::as_str);
        let at = at.and_then(|at| seconds_of(&Value::from(at.replacen('Z', " UTC", 1))));
        let inputs = row.get("inputs").and_then(Value::as_array);
        let (Some(certname), Some(at), Some(inputs)) = (certname, at, inputs) else {
            return Err(FORM.to_owned());
        };
        let keys = inputs.iter().filter_map(|input| {
            let [kind, key] = input.as_array()? else {
                return None;
            };
            (kind.as_str() == Some("hiera")).then(|| key.as_str())?
        });
        each(certname, at, &keys.collect::<Vec<_>>());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::from_json;

    fn record() -> LookupRecord {
        let mut record = LookupRecord::default();
        record.add(
            "production",
            1_700_000_000,
            ["a::b", "a::b.0", "site"].into_iter(),
        );
        record.add("production", 1_700_100_000, ["a::b"].into_iter());
        record.add("staging", 1_600_000_000, ["c"].into_iter());
        record
    }

    #[test]
    fn a_key_is_counted_once_for_each_catalog() {
        let record = record();
        let words = |environment, key| record.of(environment, key).map(|found| found.words());
        for (environment, key, expected) in [
            (
                Some("production"),
                "a::b",
                "read by 2 nodes, last on 2023-11-16",
            ),
            (
                Some("production"),
                "site",
                "read by 1 node, last on 2023-11-14",
            ),
            (
                Some("production"),
                "c",
                "never read since 2023-11-14, by the catalogs of 2 nodes",
            ),
            (None, "c", "read by 1 node, last on 2020-09-13"),
            (
                None,
                "d",
                "never read since 2020-09-13, by the catalogs of 3 nodes",
            ),
        ] {
            assert_eq!(words(environment, key).as_deref(), Some(expected), "{key}");
        }
        assert_eq!(words(Some("other"), "c"), None);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let record = record();
        assert_eq!(LookupRecord::read(&record.value()), record);
        assert!(LookupRecord::read(&Value::from("x")).is_empty());
    }

    #[test]
    fn an_answer_of_puppetdb_is_read() {
        let text = r#"[{"certname": "a", "producer_timestamp": "2026-11-27T20:24:25.979Z", "catalog_uuid": "x",
                        "inputs": [["hiera", "k::a"], ["hiera", "k::a.0"], ["other", "x"]]}]"#;
        let mut found = Vec::new();
        let mut each = |name: &str, at: i64, keys: &[&str]| {
            found.push(format!("{name} {} {}", time_text(at), keys.join(",")));
        };
        let answer = from_json(text).unwrap();
        assert_eq!(read_catalog_inputs(&answer, &mut each), Ok(()));
        assert_eq!(found, ["a 2026-11-27 20:24:25 UTC k::a,k::a.0"]);
        for other in ["{}", "[1]", r#"[{"certname": "a"}]"#] {
            let answer = from_json(other).unwrap();
            assert!(
                read_catalog_inputs(&answer, &mut |_, _, _| {}).is_err(),
                "{other}"
            );
        }
    }
}
