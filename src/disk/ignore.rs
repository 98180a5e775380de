//! Decides which folders are skipped, and which files are read rather than only listed.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::project::leads_outside;
use super::system;
use crate::workspace::{Content, Language, format_of, language_of, path};

/// Folders that are never entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignore {
    names: BTreeSet<String>,
    has_no_links_outside: bool,
}

/// Folders of tools, by name: no hierarchy uses them.
const TOOLS: [&str; 13] = [
    ".git",
    ".hg",
    ".svn",
    ".bundle",
    ".vagrant",
    ".terraform",
    ".librarian",
    ".venv",
    ".tox",
    ".cache",
    ".idea",
    "__pycache__",
    "node_modules",
];

/// Folders of tools, identified together with their parent folder.
const PAIRS: [(&str, &str); 4] = [
    ("vendor", "bundle"),
    ("vendor", "ruby"),
    ("vendor", "cache"),
    // Modules that tests install: copies, or links back to the repository itself.
    ("fixtures", "modules"),
];

/// Where a module's tests install the modules listed in its `.fixtures.yml`.
const FETCHED_MODULES: &str = "spec/fixtures/modules";

/// Whether a folder holds the modules installed by the tests of the module in `area`.
fn is_fetched(folder: &str, area: &str) -> bool {
    let has = |name: &str| {
        let found = system::metadata(Path::new(area).join(name));
        found.is_ok_and(|found| found.is_file())
    };
    path::within(folder, area) == Some(FETCHED_MODULES)
        && has("metadata.json")
        && (has(".fixtures.yml") || has(".fixtures.yaml"))
}

impl Default for Ignore {
    fn default() -> Ignore {
        Ignore::with([])
    }
}

impl Ignore {
    /// The default folders, and these names too.
    #[must_use]
    pub fn with<'a>(names: impl IntoIterator<Item = &'a str>) -> Ignore {
        let names = TOOLS.into_iter().chain(names);
        Ignore {
            names: names.map(str::to_owned).collect(),
            has_no_links_outside: false,
        }
    }

    /// The same; symbolic links that lead out of a workspace folder count as lost.
    #[must_use]
    pub fn without_links_outside(self) -> Ignore {
        Ignore {
            has_no_links_outside: true,
            ..self
        }
    }

    /// Whether what a symbolic link of a workspace folder leads to is not looked at.
    pub(super) fn loses(&self, link: &str, area: &str) -> bool {
        self.has_no_links_outside && leads_outside(link, area)
    }

    /// Whether a folder is skipped.
    #[must_use]
    pub fn skips(&self, folder: &str) -> bool {
        let name = path::name(folder);
        let around = path::parent(folder).map_or("", path::name);
        self.names.contains(name) || PAIRS.contains(&(around, name))
    }

    /// Like [`Ignore::skips`], for a workspace folder: modules installed by a module's tests are
    /// entered for their types, functions and classes.
    #[must_use]
    pub fn skips_in(&self, folder: &str, area: &str) -> bool {
        let is_ignored_here = self.names.contains("modules") || !is_fetched(folder, area);
        is_ignored_here && self.skips(folder)
    }

    /// Links among the modules that tests install are not followed: their targets are in the workspace
    /// already, or elsewhere.
    #[must_use]
    pub fn skips_link(&self, at: &str, area: &str) -> bool {
        path::within(at, area).is_some_and(|rest| path::within(rest, FETCHED_MODULES).is_some())
    }

    /// Whether a path, or a folder around it below `area`, is skipped.
    #[must_use]
    pub fn skips_within(&self, at: &str, area: &str) -> bool {
        let is_inside = |at: &&str| path::within(at, area).is_some_and(|rest| !rest.is_empty());
        let folders = std::iter::successors(Some(at), |folder| path::parent(folder));
        let mut inside = folders.take_while(is_inside);
        inside.any(|folder| self.skips_in(folder, area))
    }
}

/// Folders that a `hiera.yaml` uses for data: every file in them is read whatever its extension,
/// since a hierarchy's paths can have any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataFolders {
    folders: BTreeSet<Arc<str>>,
}

/// Folders of a module or a repository whose JSON and `.conf` files are hardly ever data.
const FILES_OF_CODE: [&str; 4] = ["files", "templates", "spec", "test"];

impl DataFolders {
    /// Adds the data folders of a hierarchy configuration in `dir`. Only the fixed beginning of
    /// each `datadir` is used; reading too much does no harm.
    pub fn learn(&mut self, dir: &str, text: &str) {
        self.folders.insert(Arc::from(path::join(dir, "data")));
        self.folders.insert(Arc::from(path::join(dir, "hieradata")));
        for line in text.lines() {
            let Some((_, rest)) = line.split_once("datadir") else {
                continue;
            };
            let rest = rest.trim_start_matches(['"', '\'', ' ']);
            if let Some(rest) = rest.strip_prefix(':') {
                let value = rest.trim().trim_start_matches(['"', '\'']);
                let folder = fixed_folder(dir, word(value));
                self.folders.insert(Arc::from(folder));
            }
        }
    }

    /// Adds the data folders of a file with a hierarchy's configuration.
    pub(super) fn learn_from(&mut self, at: &str, content: Option<Content>) {
        if let (Some(dir), Some(Content::Text(text))) = (path::parent(at), content) {
            self.learn(dir, &text);
        }
    }

    /// Adds the result of another scan.
    pub fn extend(&mut self, other: &DataFolders) {
        self.folders.extend(other.folders.iter().cloned());
    }

    /// Whether a file lies in a data folder.
    #[must_use]
    pub fn hold(&self, at: &str) -> bool {
        let mut around = std::iter::successors(path::parent(at), |folder| path::parent(folder));
        around.any(|folder| self.folders.contains(folder))
    }

    /// Whether a file's content can be relevant: data, configuration, functions, types, classes.
    #[must_use]
    pub fn reads(&self, at: &str) -> bool {
        let (name, extension) = (path::name(at), path::extension(at));
        let below = |folder: &str| at.contains(folder);
        match (name, extension) {
            // Data of modules installed by tests is not used.
            (_, Some(extension)) if below("/spec/fixtures/modules/") => {
                extension == "pp"
                    && ["/types/", "/manifests/", "/functions/"]
                        .into_iter()
                        .any(below)
            }
            ("environment.conf" | "metadata.json" | "site.pp", _) => true,
            (_, Some("yaml" | "yml" | "eyaml")) => true,
            // Templates of configurations.
            (_, Some("erb" | "epp"))
                if name.contains("hiera") || name.contains(".yaml.") || name.contains(".yml.") =>
            {
                true
            }
            (_, Some("pp")) => ["/functions/", "/types/", "/manifests/", "/plans/"]
                .into_iter()
                .any(below),
            (_, Some("epp" | "erb")) => below("/templates/"),
            (_, Some("rb")) => {
                let folders = ["/lib/puppet/functions/", "/lib/puppet/parser/functions/"];
                folders.into_iter().any(below) || language_of(at) == Some(Language::Facts)
            }
            // Facts of systems, as rspec-puppet-facts reads them.
            (_, Some("facts")) => below("/spec/fixtures/facts/") || self.hold(at),
            (_, Some("json" | "conf" | "hocon")) => {
                // Facts of nodes.
                below("/spec/fixtures/facts/")
                    || self.hold(at)
                    || !at
                        .split('/')
                        .any(|segment| FILES_OF_CODE.contains(&segment))
            }
            (_, Some("txt")) => {
                language_of(at) == Some(Language::ExternalFacts)
                    || format_of(at).is_some() && self.hold(at)
            }
            (_, Some(_) | None) => format_of(at).is_some() && self.hold(at),
        }
    }
}

/// A value up to the quote, comma, comment or closing brace that ends it; the brace of an
/// interpolation does not end it.
fn word(value: &str) -> &str {
    let mut inside = false;
    let end = value.char_indices().find(|&(at, c)| match c {
        '{' => {
            inside = true;
            false
        }
        '}' => !std::mem::take(&mut inside),
        '"' | '\'' | ',' => !inside,
        '#' => value[..at].ends_with(' '),
        _ => false,
    });
    end.map_or(value, |(at, _)| &value[..at]).trim()
}

/// The fixed beginning of a `datadir`, up to its first interpolation. A deployed environment's
/// folder is the one that holds the `hiera.yaml`.
fn fixed_folder(dir: &str, datadir: &str) -> String {
    let here = match datadir.split_once("/environments/") {
        Some((_, rest)) if datadir.starts_with('/') => {
            rest.split_once('/').map_or("", |(_, rest)| rest)
        }
        Some(_) | None => datadir,
    };
    let fixed = match here.split_once("%{") {
        Some((before, _)) => before.rsplit_once('/').map_or("", |(folder, _)| folder),
        None => here,
    };
    path::normalise(&path::join(dir, fixed))
}

pub(super) fn names_data_folders(at: &str) -> bool {
    let name = path::name(at);
    name.starts_with("hiera") && matches!(path::extension(at), Some("yaml" | "yml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_of_any_extension_is_read_where_a_datadir_leads() {
        let mut folders = DataFolders::default();
        folders.learn(
            "/w",
            "defaults: {datadir: 'conf.d', data_hash: yaml_data}\nhierarchy:\n\
             - name: x\n  datadir: /etc/puppetlabs/code/environments/%{environment}/secrets\n\
             - name: y\n  datadir: \"sites/%{site}/data\" # per site\n",
        );
        for at in [
            "/w/conf.d/nodes/web1.example.com",
            "/w/secrets/common",
            "/w/sites/berlin/data/x.dat",
            "/w/data/x",
        ] {
            assert!(folders.reads(at), "{at}");
        }
        for at in ["/w/src/main.c", "/w/Gemfile", "/w/data/keys/private.pem"] {
            assert!(!folders.reads(at), "{at}");
        }
    }

    #[test]
    fn code_that_affects_data_is_read() {
        let folders = DataFolders::default();
        assert!(folders.reads("/w/modules/a/lib/puppet/functions/a/lookup.rb"));
        assert!(folders.reads("/w/modules/a/lib/puppet/parser/functions/lookup.rb"));
        assert!(folders.reads("/w/modules/a/functions/data.pp"));
        assert!(folders.reads("/w/modules/a/plans/deploy.pp"));
        assert!(folders.reads("/w/site.pp"));
        assert!(folders.reads("/w/modules/a/lib/facter/x.rb"));
        assert!(!folders.reads("/w/modules/a/lib/facter/util/x.rb"));
        assert!(!folders.reads("/w/modules/a/files/app.json"));
        assert!(folders.reads("/w/spec/fixtures/facts/debian-12.json"));
        assert!(folders.reads("/w/spec/fixtures/facts/debian-12-x86_64.facts"));
    }

    #[test]
    fn folders_of_tools_are_skipped_with_all_they_hold() {
        let ignore = Ignore::with(["build"]);
        assert!(ignore.skips_within("/w/.git/config", "/w"));
        assert!(ignore.skips_within("/w/a/build/x.yaml", "/w"));
        assert!(ignore.skips_within("/w/spec/fixtures/modules/x/y.yaml", "/w"));
        assert!(!ignore.skips_within("/w/modules/x/y.yaml", "/w"));
        assert!(
            !ignore.skips_within("/b/build/x.yaml", "/b/build"),
            "an area is never skipped"
        );
    }
}
