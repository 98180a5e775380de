//! The names that lookups read: keys, variables, modules.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::request::Reads;
use crate::value::KeyHashing;

#[derive(Clone, Debug, Default)]
pub(super) struct Names(HashSet<Arc<str>, KeyHashing>);

impl Names {
    pub(super) fn add(&mut self, name: &str) {
        if !self.0.contains(name) {
            self.0.insert(Arc::from(name));
        }
    }

    /// Like [`Names::add`], for a name that can be shared.
    pub(super) fn add_shared(&mut self, name: &Arc<str>) {
        if !self.0.contains(name) {
            self.0.insert(name.clone());
        }
    }

    /// The shared copy of the name, cached.
    pub(super) fn shared(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.0.get(name) {
            return known.clone();
        }
        let name: Arc<str> = Arc::from(name);
        self.0.insert(name.clone());
        name
    }

    pub(super) fn sorted(&self) -> BTreeSet<Arc<str>> {
        self.0.iter().cloned().collect()
    }
}

/// Everything read so far, kept over all requests: cached answers do not read again.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadNames {
    pub(super) keys: Names,
    pub(super) variables: Names,
    pub(super) modules: Names,
    /// Whether something read or done may come out differently in another version of Puppet.
    pub(super) depend_on_version: bool,
}

impl ReadNames {
    pub(super) fn list(&self) -> Reads {
        Reads {
            keys: self.keys.sorted(),
            variables: self.variables.sorted(),
            modules: self.modules.sorted(),
        }
    }
}
