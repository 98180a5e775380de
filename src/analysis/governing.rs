//! Finds the hierarchy that governs a file, and its levels and nodes that read it: in a snapshot,
//! or, for a file outside of every snapshot, by the folders around it.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::sync::Arc;

use super::{Analysis, RootView, datadir_of};
use crate::hierarchy::{Template, TemplatePart};
use crate::lookup::{Place, Reach, Reading, reach, reading_places};
use crate::scope::Scope;
use crate::value::KeyHashing;
use crate::workspace::{
    ENVIRONMENT_CONF, ENVIRONMENTS, File, FileId, FileKind, Files, Format, HIERA_YAML,
    MODULE_FOLDERS, Root, RootKind, path,
};

/// The levels of a hierarchy that read a file with one of Puppet's own readers.
pub struct FileReading {
    /// The format of the first of them.
    pub format: Format,
    /// The locations that read the file in this format, highest priority first.
    pub reached: Vec<Reach>,
    /// Whether all levels that read the file read it without decryption.
    pub is_plain: bool,
}

impl FileReading {
    /// How the hierarchy with these `places` reads the file at `path`; `None` if no level reads it in
    /// a known format. O(places)
    #[must_use]
    pub fn of(places: &[Place], path: &str, files: &dyn Files) -> Option<FileReading> {
        let mut reached = reach(places, path, files);
        let format = reached.iter().find_map(|reach| reach.place.format())?;
        let is_plain = |reach: &Reach| matches!(reach.place.reading, Some(Reading::Plain(_)));
        let is_plain = reached.iter().all(is_plain);
        reached.retain(|reach| reach.place.format() == Some(format));
        Some(FileReading {
            format,
            reached,
            is_plain,
        })
    }

    /// The format alone, without the values of variables.
    #[must_use]
    pub fn format(places: &[Place], path: &str, files: &dyn Files) -> Option<Format> {
        let reading = reading_places(places, path, files);
        reading.into_iter().find_map(Place::format)
    }
}

impl<'a> Analysis<'a> {
    /// The root whose hierarchy reads a file. In this order: the innermost root around it; the
    /// environment whose data lies in a folder that is itself a root; the best of those with their
    /// data around the file; what plans look up in one of these. `None` for a file outside of every root
    /// and every data directory.
    #[must_use]
    pub fn governing(self, path: &str) -> Option<RootView<'a>> {
        let roots = self.snapshot.roots();
        let own = roots.of(path);
        let of_own = own.filter(|root| root.kind != RootKind::Environment);
        let environments = of_own
            .into_iter()
            .flat_map(|root| roots.environments_of(root));
        let around = roots.with_data_around(path);
        let mut first = own;
        let all: Vec<&Root> = own.into_iter().chain(environments).chain(around).collect();
        let plans = all.iter().filter_map(|root| roots.plans_of(root));
        for root in all.iter().copied().chain(plans) {
            let view = self.at(root);
            if !view.reach(path).is_empty() {
                return Some(view);
            }
            first = first.or(Some(root));
        }
        first.map(|root| self.at(root))
    }

    /// The root that answers for a file or a folder: the governing one, else the first environment.
    #[must_use]
    pub fn answering(self, path: &str) -> Option<RootView<'a>> {
        let first = || self.snapshot.roots().environments().next();
        self.governing(path).or_else(|| Some(self.at(first()?)))
    }

    /// Whether a file is data that a hierarchy reads with one of Puppet's own readers, or a
    /// hierarchy's configuration. O(levels).
    #[must_use]
    pub fn reads(self, path: &str) -> bool {
        let roots = self.snapshot.roots();
        // A file is mostly read by the hierarchy around it.
        let around = self.snapshot.root_of(path);
        let mut roots = around.into_iter().chain(roots.iter());
        let reads = |file: &Arc<File>, root| {
            HieraFiles::of_roots(self, std::iter::once(root)).contains(file)
        };
        let file = self.snapshot.file(path);
        file.is_some_and(|file| roots.any(|root| reads(file, root)))
    }

    /// The environments that a root belongs to. A module that no modulepath has belongs to the
    /// environment it lies in.
    fn environments_around(self, root: &'a Root) -> Vec<&'a Root> {
        let found: Vec<&Root> = self.snapshot.roots().environments_of(root).collect();
        match self.off_modulepath(root) {
            Some(off) => vec![off.environment],
            None => found,
        }
    }

    /// The environment around a module that no modulepath has. None of its nodes reads the module's
    /// data.
    #[must_use]
    pub fn off_modulepath(self, root: &'a Root) -> Option<OffModulepath<'a>> {
        let roots = self.snapshot.roots();
        let RootKind::Module { name } = &root.kind else {
            return None;
        };
        if roots.environments_of(root).next().is_some() {
            return None;
        }
        let around = roots.environments();
        let around = around.filter(|one| path::within(&root.dir, &one.dir).is_some());
        let environment = around.max_by_key(|one| one.dir.len())?;
        Some(OffModulepath {
            module: name,
            environment,
            is_likely: environment.likely_modules.get(name) == Some(&root.dir),
        })
    }

    /// The files that set a top-level key in modules that no modulepath has.
    pub fn off_modulepath_with(
        self,
        key: &str,
    ) -> impl Iterator<Item = (&'a Arc<File>, OffModulepath<'a>)> {
        let files = self.snapshot.definitions(key).into_iter();
        files.filter_map(move |(file, _)| {
            let root = self.snapshot.root_of(file.path())?;
            Some((file, self.off_modulepath(root)?))
        })
    }
}

/// A module that lies in an environment, but not on its modulepath.
#[derive(Clone, Copy)]
pub struct OffModulepath<'a> {
    /// The name of the module.
    pub module: &'a str,
    /// The environment.
    pub environment: &'a Root,
    /// Whether Puppet's own settings may put it there: no `environment.conf` says otherwise.
    is_likely: bool,
}

impl OffModulepath<'_> {
    /// Why no node reads the module's data, in words.
    #[must_use]
    pub fn why(&self) -> String {
        let unless = if self.is_likely {
            ", unless Puppet's own settings put it there"
        } else {
            ""
        };
        let module = self.module;
        format!("module '{module}' is not on the modulepath of its environment{unless}")
    }
}

/// A file from its root: the levels and the known nodes that read it.
pub struct FileView<'v> {
    /// The view from the root.
    pub view: &'v RootView<'v>,
    /// The file's path.
    pub path: &'v str,
    /// The locations of the root's own hierarchy that read the file: those with the most literal
    /// text in their path first, since they are the likeliest; of equal ones, the highest.
    pub reaches: Vec<Reach>,
    readers: OnceCell<Vec<usize>>,
    datadir: OnceCell<Option<String>>,
}

impl<'v> RootView<'v> {
    /// The file at `path` from this root. O(locations).
    #[must_use]
    pub fn file(&'v self, path: &'v str) -> FileView<'v> {
        let mut reaches = self.reach(path);
        reaches.sort_by_key(|reach| std::cmp::Reverse(literal_length(&reach.place.template)));
        FileView {
            view: self,
            path,
            reaches,
            readers: OnceCell::new(),
            datadir: OnceCell::new(),
        }
    }
}

impl FileView<'_> {
    /// Indexes of the known nodes that read the file. O(nodes) once.
    pub fn readers(&self) -> &[usize] {
        self.readers.get_or_init(|| {
            let places = self.reaches.iter().map(|reach| &reach.place);
            self.view.readers(places, self.path)
        })
    }

    /// The scope of every node that reads the file, from its path.
    pub fn path_scope(&self) -> Scope {
        let scope = self.reaches.first().map_or_else(Scope::open, Reach::scope);
        if self.view.is_of_plans() {
            scope.of_plan()
        } else {
            scope
        }
    }

    /// The scope that an answer about the file is for: that of the selected node, else that of the
    /// only known node that reads it, even if it is known by name only, else that of its path.
    pub fn scope(&self) -> Scope {
        let Analysis {
            selected, nodes, ..
        } = self.view.analysis;
        let only = || match self.readers() {
            [only] => Some(*only),
            [] | [_, ..] => None,
        };
        let member = selected.and_then(|name| nodes.find(name)).or_else(only);
        member.map_or_else(|| self.path_scope(), |member| nodes.scope(member))
    }

    /// The path of another file below the data directory of this one, else below its root; `None`
    /// for a file outside of both.
    pub fn short_name<'p>(&self, other: &'p str) -> Option<&'p str> {
        let datadir = || datadir_of(&self.reaches.first()?.place);
        let datadir = self.datadir.get_or_init(datadir).as_deref();
        let folders = datadir.into_iter().chain([&*self.view.root.dir]);
        let mut inside = folders.filter_map(|folder| path::within(other, folder));
        inside.find(|inside| !inside.is_empty())
    }
}

/// The number of letters and digits in a path, without its variables.
fn literal_length(template: &Template) -> usize {
    let texts = template.parts.iter().filter_map(|part| match part {
        TemplatePart::Text(text) => Some(text),
        TemplatePart::Variable(_) | TemplatePart::Key(_) => None,
    });
    let characters = texts.flat_map(|text| text.chars());
    characters.filter(|c| c.is_alphanumeric()).count()
}

/// The environments of a workspace, for finding those that read a file.
pub struct Environments<'a> {
    analysis: Analysis<'a>,
    views: Vec<RootView<'a>>,
}

impl<'a> Environments<'a> {
    /// O(environments × modules).
    #[must_use]
    pub fn of(analysis: Analysis<'a>) -> Environments<'a> {
        let roots = analysis.snapshot.roots().environments();
        Environments {
            views: roots.map(|root| analysis.at(root)).collect(),
            analysis,
        }
    }

    /// The environments that read a file: those that its layer belongs to, and those whose
    /// hierarchies name its folder. O(environments × levels).
    #[must_use]
    pub fn reading(&self, path: &str) -> Vec<&'a Root> {
        let view = self.analysis.governing(path);
        let of_layer = view.map_or_else(Vec::new, |view| {
            self.analysis.environments_around(view.root)
        });
        let reads = |view: &&RootView<'a>| {
            let name = path::name(&view.root.dir);
            let is_here = |reach: &Reach| {
                let mut bound = reach.bindings.iter();
                bound.all(|(variable, value)| **variable != *"environment" || *value == name)
            };
            let mut known = of_layer.iter();
            known.any(|known| known.dir == view.root.dir) || view.reach(path).iter().any(is_here)
        };
        let reading = self.views.iter().filter(reads);
        reading.map(|view| view.root).collect()
    }
}

/// The files of a workspace that are relevant to Hiera.
pub struct HieraFiles<'a> {
    analysis: Analysis<'a>,
    roots: Vec<(&'a Root, Arc<[Place]>)>,
}

impl<'a> HieraFiles<'a> {
    /// O(roots), with the locations of each root's hierarchy.
    #[must_use]
    pub fn of(analysis: Analysis<'a>) -> HieraFiles<'a> {
        HieraFiles::of_roots(analysis, analysis.snapshot.roots().iter())
    }

    /// The files that are looked up together with the file at `path`: those of its environments,
    /// with their modules and the global layer. For a file outside of all roots, those of every
    /// root.
    #[must_use]
    pub fn related_to(analysis: Analysis<'a>, path: &str) -> HieraFiles<'a> {
        let Some(own) = analysis.answering(path).map(|view| view.root) else {
            return HieraFiles::of(analysis);
        };
        let mut environments = Environments::of(analysis).reading(path);
        if environments.is_empty() {
            environments = analysis.environments_around(own);
        }
        let is_among = |root: &Root| environments.iter().any(|known| known.dir == root.dir);
        let is_related = |root: &&Root| {
            let mut theirs = analysis.environments_around(root).into_iter();
            root.dir == own.dir || theirs.any(is_among)
        };
        HieraFiles::of_roots(
            analysis,
            analysis.snapshot.roots().iter().filter(is_related),
        )
    }

    fn of_roots(analysis: Analysis<'a>, roots: impl Iterator<Item = &'a Root>) -> HieraFiles<'a> {
        let with_places = roots.map(|root| {
            let view = analysis.at(root);
            (root, view.places(&view.layer))
        });
        let mut roots: Vec<(&Root, Arc<[Place]>)> = with_places.collect();
        // Most files are read by an environment.
        roots.sort_by_key(|(root, _)| root.kind != RootKind::Environment);
        HieraFiles { roots, analysis }
    }

    /// The configurations of the hierarchies.
    pub fn configurations(&self) -> impl Iterator<Item = &'a Arc<File>> {
        let paths = self
            .roots
            .iter()
            .filter_map(|(root, _)| root.hiera_yaml.as_deref());
        paths.filter_map(|path| self.analysis.snapshot.file(path))
    }

    /// Whether a file lies in one of the environments and modules, as manifests do.
    #[must_use]
    pub fn has_code(&self, path: &str) -> bool {
        let root = self.analysis.snapshot.root_of(path);
        root.is_some_and(|root| self.roots.iter().any(|(known, _)| known.dir == root.dir))
    }

    /// The files of the workspace for which [`HieraFiles::contains`] is false. O(files).
    pub fn unread_files(&self) -> impl Iterator<Item = &'a Arc<File>> + use<'a> {
        self.analysis.snapshot.files_except(self.read_files())
    }

    /// The files of the workspace for which [`HieraFiles::contains`] is true: where there are many to ask about,
    /// this costs less. O(files that match a level).
    #[must_use]
    pub fn read_files(&self) -> HashSet<FileId, KeyHashing> {
        let snapshot = self.analysis.snapshot;
        let mut read: HashSet<FileId, KeyHashing> = HashSet::default();
        for (root, places) in &self.roots {
            let configuration = root.hiera_yaml.as_deref();
            let configuration = configuration.and_then(|path| snapshot.file(path));
            read.extend(configuration.map(|file| file.id()));
            // A level without a known format may take a file from others, and so may a level whose
            // location may be missing.
            let is_certain =
                |place: &&Place| place.format().is_some() && place.location_path.is_none();
            let (certain, uncertain): (Vec<&Place>, Vec<&Place>) =
                places.iter().partition(is_certain);
            let matching = |place: &Place| snapshot.matching_across(&place.template);
            let doubtful: HashSet<FileId, KeyHashing> =
                uncertain.into_iter().flat_map(matching).collect();
            let sure = certain.into_iter().flat_map(matching);
            read.extend(sure.filter(|id| !doubtful.contains(id)));
            let is_read = |id: &FileId| {
                let file = snapshot.file_by_id(*id);
                file.is_some_and(|file| self.reads(root, places, file.path()))
            };
            read.extend(doubtful.into_iter().filter(is_read));
        }
        read
    }

    /// Whether a file of the snapshot is data that a hierarchy reads with one of Puppet's own
    /// readers, or a hierarchy's configuration. O(levels).
    #[must_use]
    pub fn contains(&self, file: &File) -> bool {
        let path = file.path();
        self.roots.iter().any(|(root, places)| {
            root.hiera_yaml.as_ref() == Some(path) || self.reads(root, places, path)
        })
    }

    fn reads(&self, root: &Root, places: &[Place], path: &str) -> bool {
        let files = self.analysis.snapshot.files_for(root);
        FileReading::format(places, path, &files).is_some()
    }
}

/// Maximum number of parent folders that are searched.
const MAX_ABOVE: usize = 64;

/// The folders that decide how the data in a folder is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Governing {
    /// The nearest folder at or above it with a `hiera.yaml` or an `environment.conf`.
    pub hierarchy: Arc<str>,
    /// The environment around that; a different folder if the hierarchy is a module's.
    pub environment: Arc<str>,
}

/// Searches a folder and its parents; `None` if none has a hierarchy. Asks for two files in each
/// folder.
///
/// The root of the disk and `home` are skipped: a stray file there must not cause a scan of the
/// whole disk.
#[must_use]
pub fn governing(files: &dyn Files, folder: &str, home: &str) -> Option<Governing> {
    let is_too_wide = |at: &str| at == "/" || at == home.trim_end_matches('/');
    let has = |at: &str, name: &str| files.kind(&path::join(at, name)) == Some(FileKind::File);
    let above = std::iter::successors(Some(folder), |at| path::parent(at)).take(MAX_ABOVE);
    let hierarchy = above
        .filter(|at| !is_too_wide(at))
        .find(|at| has(at, HIERA_YAML) || has(at, ENVIRONMENT_CONF))?;
    let around = path::parent(hierarchy).and_then(|modules| {
        let environment = path::parent(modules).filter(|at| !is_too_wide(at))?;
        let by_convention = MODULE_FOLDERS.contains(&path::name(modules));
        let is_environment =
            has(environment, ENVIRONMENT_CONF) || (by_convention && has(environment, HIERA_YAML));
        // An `environments` folder contains environments, not modules.
        let is_codedir = path::name(modules) == ENVIRONMENTS;
        (is_environment && !is_codedir).then_some(environment)
    });
    Some(Governing {
        hierarchy: Arc::from(hierarchy),
        environment: Arc::from(around.unwrap_or(hierarchy)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::with_analysis;
    use crate::fixture::{FOLDER, Fixture};
    use crate::scope::{KnownNodes, read_nodes};
    use crate::value::{HashMap, from_json};

    #[test]
    fn a_file_is_read_by_the_nodes_whose_values_its_path_has() {
        let text = "#- hiera.yaml\nversion: 5\nhierarchy:\n\
             - {name: any, path: '%{site}/%{role}.yaml'}\n- {name: eu, path: 'eu/%{role}.yaml'}\n\
             - {name: one, path: 'one/%{role}.yaml'}\n\
             - {name: glob, glob: 'g/*-%{site}.yaml'}\n\
             - {name: list, mapped_paths: [tags, tag, '%{tag}/%{site}/t.yaml']}\n\
             #- data/eu/7.yaml\nk: 1\n#- data/one/7.yaml\nk: 1\n#- data/one/9.yaml\nk: 1\n\
             #- data/g/x-eu.yaml\nk: 1\n#- data/a/eu/t.yaml\nk: 1\n";
        let snapshot = Fixture::new("hiera.yaml", text).on_disk();
        let nodes = r#"{"n1": {"variables": {"site": "eu", "role": 7, "tags": ["a", "b"]}},
            "n2": {"variables": {"site": "eu", "role": 70, "tags": "a"}},
            "n3": {"variables": {"site": "e", "role": 7, "tags": ["a"]}}}"#;
        let nodes = read_nodes(&from_json(nodes).unwrap(), "nodes", &HashMap::default());
        let nodes = KnownNodes::new(&nodes.unwrap());
        with_analysis(&snapshot, |analysis| {
            let view = Analysis {
                nodes: &nodes,
                ..analysis
            }
            .at(analysis.snapshot.roots().iter().next().unwrap());
            for (name, level, readers) in [
                ("eu/7", "eu", &[0, 2][..]),
                ("one/7", "one", &[0, 2]),
                ("one/9", "one", &[]),
                ("g/x-eu", "glob", &[0, 1]),
                ("a/eu/t", "list", &[0, 1]),
            ] {
                let path = format!("{FOLDER}/data/{name}.yaml");
                let file = view.file(&path);
                assert_eq!(&*file.reaches[0].place.level, level, "{name}");
                assert_eq!(file.readers(), readers, "{name}");
            }
        });
    }

    #[test]
    fn a_hierarchy_of_version_3_in_an_environment_governs_as_the_global_layer() {
        let text = "#- hiera.yaml\n:backends: [yaml]\n:hierarchy: [common]\n:yaml:\n  :datadir: /etc/puppet/hieradata\n\
             #- environment.conf\n\n#- hieradata/common.yaml\nk: 1\n";
        let snapshot = Fixture::new("hiera.yaml", text).on_disk();
        with_analysis(&snapshot, |analysis| {
            let path = format!("{FOLDER}/hieradata/common.yaml");
            let view = analysis.governing(&path).expect("a root");
            assert_eq!(view.root.kind, RootKind::Global);
            assert!(!view.reach(&path).is_empty());
        });
    }

    #[test]
    fn folders_before_dots_are_left_out_if_they_exist() {
        let text = "#- hiera.yaml\nversion: 5\nhierarchy:\n\
             - {name: a, path: env/../a.yaml}\n- {name: b, path: none/../b.yaml}\n\
             - {name: c, path: 'env/../c/%{site}.yaml'}\n- {name: d, path: 'none/../d/%{site}.yaml'}\n\
             - {name: e, datadir: data/env/.., path: e.yaml}\n- {name: f, path: '%{site}/../f.yaml'}\n\
             #- data/env/x.yaml\nk: 1\n#- data/a.yaml\nk: 1\n#- data/b.yaml\nk: 1\n#- data/c/x.yaml\nk: 1\n\
             #- data/d/x.yaml\nk: 1\n#- data/e.yaml\nk: 1\n#- data/f.yaml\nk: 1\n";
        let snapshot = Fixture::new("hiera.yaml", text).on_disk();
        with_analysis(&snapshot, |analysis| {
            let names = ["a", "b", "c/x", "d/x", "e", "f"];
            let read = names.map(|name| analysis.reads(&format!("{FOLDER}/data/{name}.yaml")));
            assert_eq!(read, [true, false, true, false, true, false]);
        });
    }

    #[test]
    fn reading_a_file_is_decided_alike_for_one_file_and_for_all() {
        let text = "#- hiera.yaml\nversion: 5\nhierarchy:\n\
             - {name: own, lookup_key: 'lib::f', path: n/own.yaml}\n\
             - {name: n, path: 'n/%{trusted.certname}.yaml'}\n\
             - {name: both, path: n/both.yaml}\n- {name: f, lookup_key: 'lib::f', path: n/both.yaml}\n\
             - {name: s, path: 's/%{site}/%{role}/%{trusted.certname}.yaml'}\n\
             #- data/n/own.yaml\nk: [\n#- data/n/web.yaml\nk: 1\n#- data/n/both.yaml\nk: 1\n\
             #- data/s/eu/west/web/n1.yaml\nk: 1\n#- data/s/n1.yaml\nk: 1\n";
        let snapshot = Fixture::new("hiera.yaml", text).on_disk();
        with_analysis(&snapshot, |analysis| {
            let files = HieraFiles::of(analysis);
            let unread: Vec<_> = files.unread_files().map(|file| file.path()).collect();
            for (name, is_read) in [
                ("n/own", false),
                ("n/web", true),
                ("n/both", true),
                // The site is `eu` or `eu/west`.
                ("s/eu/west/web/n1", true),
                ("s/n1", false),
            ] {
                let path = format!("{FOLDER}/data/{name}.yaml");
                assert_eq!(analysis.reads(&path), is_read, "{name}");
                assert_eq!(!unread.iter().any(|it| ***it == *path), is_read, "{name}");
                let view = analysis.governing(&path).unwrap();
                let places = view.places(&view.layer);
                let reading = FileReading::of(&places, &path, view.files());
                assert_eq!(reading.is_some(), is_read, "{name}");
            }
        });
    }
}
