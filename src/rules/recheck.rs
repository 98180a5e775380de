//! Which files to check again after a change of the workspace: compares the changed facts with the
//! dependencies of all rules.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::RULES;
use super::rule::{FactKinds, Rule};
use super::touched::options_look_up;
use crate::analysis::describes_nodes;
use crate::workspace::{
    ENVIRONMENT_CONF, FileFacts, HIERA_YAML, LOOKUP_OPTIONS, Snapshot, language_of, path,
};

/// The files to check again after a change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Recheck {
    /// All files: a hierarchy, a root, a setting or the list of files changed.
    All,
    /// These files.
    Files(BTreeSet<Arc<str>>),
}

impl Recheck {
    /// Adds the files with findings that refer to changed files, as these places may have moved.
    /// `named` yields pairs of a file and a file that its findings refer to.
    #[must_use]
    pub fn with_moved<'a>(
        self,
        snapshot: &Snapshot,
        named: impl Iterator<Item = (&'a Arc<str>, &'a Arc<str>)>,
    ) -> Recheck {
        let Recheck::Files(mut files) = self else {
            return self;
        };
        let touched = snapshot.delta().files.iter().map(|file| &file.path);
        let touched: BTreeSet<&Arc<str>> = touched.collect();
        let moved = named.filter(|(_, place)| touched.contains(place));
        files.extend(moved.map(|(file, _)| Arc::clone(file)));
        Recheck::Files(files)
    }
}

/// The files that may have other findings after the last change of a snapshot. Moved places in
/// other files are added by [`Recheck::with_moved`]. `node_files` are the files of nodes and facts
/// that settings name. O(changed files and their keys), plus the time that rules need to list their
/// files.
#[must_use]
pub fn recheck(snapshot: &Snapshot, node_files: &[Arc<str>]) -> Recheck {
    recheck_for(snapshot, node_files, RULES)
}

fn recheck_for(snapshot: &Snapshot, node_files: &[Arc<str>], rules: &[&'static Rule]) -> Recheck {
    let delta = snapshot.delta();
    if delta.roots_changed
        || delta.settings_changed
        || !delta.appeared.is_empty()
        || !delta.vanished.is_empty()
        || delta
            .files
            .iter()
            .any(|file| decides_hierarchies(snapshot, &file.path))
    {
        return Recheck::All;
    }
    let own = delta.files.iter().map(|file| Arc::clone(&file.path));
    let mut files: BTreeSet<Arc<str>> = own.collect();
    let changed = changed_facts(snapshot);
    let mut paths = delta.files.iter().map(|file| &*file.path);
    let nodes_changed = paths.any(|at| describes_nodes(snapshot, at, node_files));
    for depends in rules.iter().map(|rule| rule.depends) {
        if nodes_changed {
            files.append(&mut (depends.files_of_nodes)(snapshot));
        }
        if depends.on.intersects(changed) {
            files.append(&mut (depends.files)(snapshot));
        }
    }
    Recheck::Files(files)
}

/// Whether the content of a file may decide which hierarchies there are and what they read: also
/// files that are no configuration of a hierarchy.
fn decides_hierarchies(snapshot: &Snapshot, at: &str) -> bool {
    matches!(
        path::name(at),
        HIERA_YAML | ENVIRONMENT_CONF | "metadata.json"
    ) || snapshot.roots().of_config(at).is_some()
}

/// The kinds of facts in which existing files changed. `FILES` is not among them: if files are
/// added or removed, all files are checked again.
fn changed_facts(snapshot: &Snapshot) -> FactKinds {
    let delta = snapshot.delta();
    let options_look_up = options_look_up(snapshot);
    let mut changed = FactKinds::NONE;
    for file in &delta.files {
        if language_of(&file.path).is_some() {
            changed = changed.and(FactKinds::MANIFESTS);
            continue;
        }
        changed = changed.and(FactKinds::VALUES);
        let keys = file.keys();
        let mut names = keys.added.iter().chain(&keys.removed);
        let is_options = |name: &Arc<str>| **name == *LOOKUP_OPTIONS;
        if options_look_up
            || !keys.lookup_options.is_empty()
            || keys.changed.iter().any(is_options)
            || names.clone().any(is_options)
        {
            changed = changed.and(FactKinds::OPTIONS);
        }
        // A file without keys may not be a hash, and then lookups of all keys fail.
        let may_be_no_hash =
            |facts: &Option<Arc<FileFacts>>| facts.as_ref().is_some_and(|f| f.keys.is_empty());
        if names.next().is_some() || may_be_no_hash(&file.before) || may_be_no_hash(&file.after) {
            changed = changed.and(FactKinds::KEYS);
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::super::rule::Depends;
    use super::*;
    use crate::rules::Severity;
    use crate::workspace::{Change, Workspace};

    fn files_with_marks(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
        let files = snapshot.iter_files_with("mark");
        files.map(|file| Arc::clone(file.path())).collect()
    }

    const fn rule(on: FactKinds) -> Rule {
        Rule {
            code: "of-this-test",
            severity: Severity::Hint,
            page: "",
            depends: Depends {
                on,
                files: files_with_marks,
                ..Depends::OWN_FILE
            },
            finds_secrets: false,
            hooks: &[],
        }
    }

    const ON_NODES: Rule = Rule {
        depends: Depends {
            files_of_nodes: files_with_marks,
            ..Depends::OWN_FILE
        },
        ..rule(FactKinds::NONE)
    };

    static ON_FACTS: [(&str, Rule); 6] = [
        ("options", rule(FactKinds::OPTIONS)),
        ("keys", rule(FactKinds::KEYS)),
        ("values", rule(FactKinds::VALUES)),
        ("manifests", rule(FactKinds::MANIFESTS)),
        ("nodes", ON_NODES),
        ("nothing", rule(FactKinds::NONE)),
    ];

    /// The rules that check `marked.yaml` again after `other.yaml` was changed to `text`.
    fn rules_to_rerun(text: &str) -> Vec<&'static str> {
        rules_to_rerun_after("data/other.yaml", text)
    }

    /// The rules that check `marked.yaml` again after a file was changed to `text`; settings name
    /// `hosts.yaml` as a file of nodes.
    fn rules_to_rerun_after(other: &str, text: &str) -> Vec<&'static str> {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec!["/repo".into()]));
        let write =
            |name: &str, text: &str| workspace.apply(Change::open(format!("/repo/{name}"), text));
        write("data/marked.yaml", "mark: 1\n");
        write(other, "a: 1\nlookup_options: {a: {merge: deep}}\n");
        let snapshot = write(other, text);
        let rerun = ON_FACTS.iter().filter(|(_, rule)| {
            let Recheck::Files(files) =
                recheck_for(&snapshot, &["/repo/hosts.yaml".into()], &[rule])
            else {
                return true;
            };
            assert!(files.contains(&*format!("/repo/{other}")));
            files.contains("/repo/data/marked.yaml")
        });
        rerun.map(|(name, _)| *name).collect()
    }

    #[test]
    fn a_rule_is_rerun_when_facts_that_it_declares_change() {
        let options = "lookup_options: {a: {merge: deep}}\n";
        assert_eq!(
            rules_to_rerun("a: 1\nlookup_options: {a: {merge: hash}}\n"),
            ["options", "values"]
        );
        assert_eq!(rules_to_rerun(&format!("a: 2\n{options}")), ["values"]);
        assert_eq!(
            rules_to_rerun(&format!("a: 1\nb: 1\n{options}")),
            ["keys", "values"]
        );
        assert_eq!(rules_to_rerun("a: 1\n"), ["options", "keys", "values"]);
        assert_eq!(
            rules_to_rerun("a: 1\nlookup_options: {a: {merge: \"%{lookup('a')}\"}}\n"),
            ["options", "values"]
        );
    }

    #[test]
    fn a_rule_is_rerun_when_a_file_of_nodes_changes() {
        let text = "a: 2\nlookup_options: {a: {merge: deep}}\n";
        for at in ["nodes.yaml", "hosts.yaml", "spec/fixtures/facts/a.yaml"] {
            assert_eq!(rules_to_rerun_after(at, text), ["values", "nodes"], "{at}");
        }
        for at in [
            "data/nodes.yaml",
            "other/hosts.yaml",
            "spec/fixtures/facts.yaml",
        ] {
            assert_eq!(rules_to_rerun_after(at, text), ["values"], "{at}");
        }
    }
}
