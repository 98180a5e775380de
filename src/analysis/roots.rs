//! The configurations of the workspace, which of them read a file, and why none does.

use std::sync::Arc;

use super::{Analysis, RootView};
use crate::lookup::LookupError;
use crate::workspace::{FoundConfig, Reached, RootKind};

/// A configuration that can read a file.
#[derive(Clone, Copy, Debug)]
pub struct ReadBy<'a> {
    /// The configuration.
    pub config: &'a FoundConfig,
    /// How it can read the file.
    pub how: Reached,
}

/// Why no hierarchy reads a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unread {
    /// The workspace has no hierarchy.
    NoHierarchy,
    /// Every hierarchy reads other files.
    NotReached,
    /// Puppet refuses the configuration that governs it.
    Refused(RefusedConfig),
}

/// A configuration that Puppet refuses: every lookup fails.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefusedConfig {
    /// The file.
    pub path: Arc<str>,
    /// The folder that it serves.
    pub dir: Arc<str>,
    /// The line (from 1) of the mistake, if known.
    pub line: Option<u32>,
    /// Puppet's error.
    pub error: LookupError,
}

impl RefusedConfig {
    /// Puppet's error message, without the file.
    #[must_use]
    pub fn why(&self) -> String {
        self.error.words_beside(&self.path)
    }
}

impl RootView<'_> {
    /// The root's own configuration, if Puppet refuses it.
    #[must_use]
    pub fn refused_config(&self) -> Option<RefusedConfig> {
        let path = self.root.hiera_yaml.as_ref()?;
        let error = self.session().outline(&self.layer).err()?;
        let line = error.line.and_then(|line| u32::try_from(line).ok());
        let of_text = || {
            let file = self.analysis.snapshot.file(path)?;
            let range = file.facts().error.as_deref()?.range?;
            Some(file.line(range.start as usize) + 1)
        };
        Some(RefusedConfig {
            line: line.or_else(of_text),
            dir: self.root.dir.clone(),
            path: path.clone(),
            error,
        })
    }
}

impl<'a> Analysis<'a> {
    /// All configurations of the workspace, the best first, with how each is used; without those of
    /// modules.
    #[must_use]
    pub fn configurations(self) -> &'a [FoundConfig] {
        self.snapshot.roots().found()
    }

    /// The configurations that can read a file, the one in use first; without those of modules.
    /// O(locations).
    #[must_use]
    pub fn configurations_reading(self, path: &str) -> Vec<ReadBy<'a>> {
        let all = self.configurations().iter();
        let reading = all.filter_map(|config| {
            let how = config.reach(path)?;
            Some(ReadBy { config, how })
        });
        let mut reading: Vec<ReadBy<'a>> = reading.collect();
        // A file that a path names ranks before one that a function may read.
        reading.sort_by_key(|one| (!one.config.is_used(), std::cmp::Reverse(one.how)));
        reading
    }

    /// Why no hierarchy reads a file; `None` if one does. O(locations).
    #[must_use]
    pub fn unread(self, path: &str) -> Option<Unread> {
        let roots = self.snapshot.roots();
        if roots.iter().all(|root| !root.has_hierarchy()) {
            return Some(Unread::NoHierarchy);
        }
        let view = self.governing(path);
        if view
            .as_ref()
            .is_some_and(|view| !view.reach(path).is_empty())
        {
            return None;
        }
        let refused = view.and_then(|view| view.refused_config());
        Some(refused.map_or(Unread::NotReached, Unread::Refused))
    }

    /// The configurations that Puppet refuses, ordered by folder; without those of modules.
    /// O(roots).
    #[must_use]
    pub fn refused_configurations(self) -> Vec<RefusedConfig> {
        let roots = self.snapshot.roots().iter();
        roots
            .filter(|root| !matches!(root.kind, RootKind::Module { .. }))
            .filter_map(|root| self.at(root).refused_config())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::analysis::with_analysis;
    use crate::fixture::Fixture;
    use crate::lookup::{ConfigCache, PuppetVersion, Settings};
    use crate::scope::KnownNodes;
    use crate::value::SystemError;
    use crate::workspace::{Change, Content, DiskEntry, Linked, Workspace, too_large};

    #[test]
    fn variants_of_the_hierarchy_of_a_file_are_known() {
        let fixture = Fixture::new(
            "hieradata/common.yaml",
            "a: 1\n\
             #- hieradata/lab.yaml\na: 2\n\
             #- hieradata/notes/x.yaml\na: 2\n\
             #- files/hiera/production.yaml\n\
             version: 5\ndefaults: {datadir: /etc/puppet/hieradata, data_hash: yaml_data}\n\
             hierarchy:\n- {name: c, path: common.yaml}\n\
             #- files/hiera/lab.yaml\n\
             version: 5\ndefaults: {datadir: /etc/puppet/hieradata, data_hash: yaml_data}\n\
             hierarchy:\n- {name: l, path: lab.yaml}\n- {name: c, path: common.yaml}\n",
        );
        let snapshot = fixture.on_disk();
        let settings = Settings::for_version(PuppetVersion::V8).for_editor();
        let (configs, nodes) = (ConfigCache::default(), KnownNodes::default());
        let analysis = Analysis::new(&snapshot, &settings, &configs, &nodes);
        let reading = |at: &str| -> Vec<String> {
            let all = analysis.configurations_reading(at).into_iter();
            all.map(|one| one.config.path.to_string()).collect()
        };
        let (production, lab) = (
            "/repo/files/hiera/production.yaml",
            "/repo/files/hiera/lab.yaml",
        );
        let common = reading("/repo/hieradata/common.yaml");
        assert_eq!(common.len(), 2);
        assert_eq!(reading("/repo/hieradata/lab.yaml"), [lab]);
        assert_eq!(reading("/repo/hieradata/notes/x.yaml"), [""; 0]);
        let governing = |at: &str| analysis.governing(at).unwrap().root.hiera_yaml.clone();
        assert_eq!(governing("/repo/hieradata/lab.yaml").as_deref(), Some(lab));
        let of_common = governing("/repo/hieradata/common.yaml");
        assert_eq!(of_common.as_deref(), Some(&*common[0]));
        assert!([production, lab].contains(&&*common[0]));
        let notes = "/repo/hieradata/notes/x.yaml";
        assert_eq!(analysis.unread(notes), Some(Unread::NotReached));
        assert_eq!(analysis.unread("/repo/hieradata/lab.yaml"), None);
    }

    #[test]
    fn a_refused_configuration_says_why_without_its_path() {
        let why = |content: Content| {
            let folder: Arc<str> = Arc::from("/repo");
            let file = |at: &str, content: Content| {
                let linked = Linked::No;
                (Arc::from(at), DiskEntry::File { content, linked })
            };
            let entries = vec![
                file("/repo/environment.conf", Content::Text(Arc::from(""))),
                file("/repo/hiera.yaml", content),
            ];
            let snapshot = Workspace::new().apply(Change::Batch(vec![
                Change::Folders(vec![folder.clone()]),
                Change::Scanned { folder, entries },
            ]));
            with_analysis(&snapshot, |analysis| {
                let all = analysis.refused_configurations();
                let all = all.iter().map(|config| (config.line, config.why()));
                all.collect::<Vec<_>>()
            })
        };
        let of_text = |text: &str| why(Content::Text(Arc::from(text)));
        let denied = SystemError::PermissionDenied.at("rb_sysopen", "/repo/hiera.yaml");
        let large = too_large("/repo/hiera.yaml", 20_000_000, 16_777_216);
        let found = [
            of_text("version: ["),
            of_text("version: 5\nhierarchy: [*a]\n"),
            of_text("version: 5\nhierarchy: x\n"),
            of_text("version: 5\nhierarchy: x\ndefaults: y\n"),
            of_text("version: 6\n"),
            of_text("version: 5\nhierarchy:\n- {name: a, path: a, glob: b}\n"),
            of_text("version: 5\nhierarchy:\n- name: a\n- name: a\n"),
            of_text("version: 5\nhierarchy:\n- {name: a, path: \"%{alias('b')}\"}\n"),
            of_text("version: 5\nhierarchy:\n- {name: a, path: \"%{lookup('b')}\"}\n"),
            of_text("version: 5\nhierarchy:\n- {name: a, path: \"%{f('b')}\"}\n"),
            of_text("version: 5\nhierarchy:\n- {name: a, uri: 'a b'}\n"),
            why(Content::Refused(Arc::new(denied))),
            why(Content::Refused(Arc::new(large))),
        ];
        let found: String = found.iter().map(|one| format!("{one:?}\n")).collect();
        expect![[r#"
            [(None, "did not find expected node content while parsing a flow node at line 2 column 1")]
            [(None, "Unknown alias: a")]
            [(None, "The Lookup Configuration at 'hiera.yaml' has wrong type, entry 'hierarchy' expects an Array value, got String")]
            [(None, " The Lookup Configuration at 'hiera.yaml' has wrong type, entry 'defaults' expects a Struct value, got String\n  The Lookup Configuration at 'hiera.yaml' has wrong type, entry 'hierarchy' expects an Array value, got String")]
            [(None, "This runtime does not support hiera.yaml version 6")]
            [(None, "Only one of path, paths, glob, globs, uri, uris, or mapped_paths can be defined in hierarchy 'a'")]
            [(Some(4), "Hierarchy name 'a' defined more than once. First defined at (line: 3)")]
            [(None, "Interpolation using method syntax is not allowed in this context")]
            [(None, "Interpolation using method syntax is not allowed in this context")]
            [(None, "Interpolation using method syntax is not allowed in this context")]
            [(None, "bad URI(is not URI?): \"a b\"")]
            [(None, "Permission denied @ rb_sysopen - hiera.yaml")]
            [(None, "hiera.yaml has 20000000 bytes, more than the 16777216 that are read of one file")]
        "#]].assert_eq(&found);
    }

    #[test]
    fn private_data_that_is_deployed_beside_the_repository_takes_no_folder_of_it() {
        let fixture = Fixture::new(
            "hieradata/common.yaml",
            "a: 1\n\
             #- hieradata/hosts/h.yaml\na: 2\n\
             #- files/hiera.yaml\n\
             version: 5\ndefaults: {datadir: /etc/puppet/hieradata, data_hash: yaml_data}\n\
             hierarchy:\n\
             - {name: private, datadir: /etc/puppet/private/hieradata, path: 'hosts/%{h}.yaml'}\n\
             - {name: host, path: 'hosts/%{h}.yaml'}\n\
             - {name: private common, datadir: /etc/puppet/private/hieradata, path: common.yaml}\n\
             - {name: common, path: common.yaml}\n",
        );
        let snapshot = fixture.on_disk();
        let found = &snapshot.roots().found()[0];
        assert_eq!(found.reached, 2);
        let texts =
            |all: &[std::sync::Arc<str>]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(texts(&found.folders), ["/repo/hieradata"]);
        assert_eq!(texts(&found.missing), ["/etc/puppet/private/hieradata"]);
        with_analysis(&snapshot, |analysis| {
            let view = analysis.governing("/repo/hieradata/hosts/h.yaml").unwrap();
            let levels = view.reach("/repo/hieradata/hosts/h.yaml");
            let names: Vec<&str> = levels.iter().map(|reach| &*reach.place.level).collect();
            assert_eq!(names, ["host"]);
        });
    }
}
