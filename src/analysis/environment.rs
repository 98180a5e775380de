//! Which environments a workspace has.

use super::Analysis;
use crate::workspace::{Root, path};

impl<'a> Analysis<'a> {
    /// The environments of the workspace by the names of their folders, the first of each name.
    #[must_use]
    pub fn environments(self) -> Vec<(&'a str, &'a Root)> {
        let mut environments: Vec<(&str, &Root)> = Vec::new();
        for root in self.snapshot.roots().environments() {
            let name = path::name(&root.dir);
            if environments.iter().all(|(known, _)| *known != name) {
                environments.push((name, root));
            }
        }
        environments
    }

    /// The environment of that name.
    #[must_use]
    pub fn environment(self, name: &str) -> Option<&'a Root> {
        let mut environments = self.snapshot.roots().environments();
        environments.find(|root| path::name(&root.dir) == name)
    }
}
