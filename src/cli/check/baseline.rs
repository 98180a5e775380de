//! `--baseline FILE`: known findings, which are not reported again. The file identifies each by
//! rule, path and a hash, so it holds no text of the data.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::record::Record;

const VERSION: u32 = 1;

/// The fingerprints of the known findings, by path and rule.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Baseline {
    version: u32,
    findings: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
}

impl Baseline {
    pub(super) fn of(records: &[Record]) -> Baseline {
        let mut findings: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        for record in records {
            let rules = findings.entry(record.known_as.clone()).or_default();
            let known = rules.entry(record.code.to_owned()).or_default();
            known.insert(record.fingerprint.clone());
        }
        Baseline {
            version: VERSION,
            findings,
        }
    }

    /// Reads the file's text.
    ///
    /// # Errors
    /// Why it is invalid.
    pub(super) fn read(text: &str) -> Result<Baseline, String> {
        let baseline: Baseline = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match baseline.version {
            VERSION => Ok(baseline),
            other => Err(format!(
                "version {other} is not supported: write it again with --write-baseline"
            )),
        }
    }

    pub(super) fn contains(&self, record: &Record) -> bool {
        self.findings
            .get(&record.known_as)
            .and_then(|rules| rules.get(record.code))
            .is_some_and(|known| known.contains(&record.fingerprint))
    }

    pub(super) fn text(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        text.unwrap_or_default() + "\n"
    }
}
