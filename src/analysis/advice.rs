//! Advice on what would improve a workspace's answers most, each piece with a command to run or
//! settings to paste.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::doctor::{Advice, BackendUse, Hierarchy, LevelReport, Report, VariableReport};
use super::untold::untold;
use super::{Analysis, NodeSet, Offer, PROJECT_FILE};
use crate::scope::{CoreFact, core_fact};
use crate::workspace::{Files as _, HIERA_YAML, RootKind, path};

/// Maximum number of pieces of advice.
pub const MAX_ADVICE: usize = 3;

/// The place of a command to run.
pub(super) const SHELL: &str = "shell";

/// Asks PuppetDB for all nodes and writes a nodes file, without what a classifier sets.
pub(super) const INVENTORY: &str =
    "hiera-ls nodes import --puppetdb https://puppetdb.example.com:8081";

/// A way to get a file of nodes.
#[derive(Debug)]
pub struct Recipe {
    /// The system that knows the facts.
    pub title: &'static str,
    /// Where to run the command, and what to do with its output.
    pub detail: &'static str,
    /// The command line.
    pub command: &'static str,
}

/// Ways to get a file of nodes.
pub static RECIPES: [Recipe; 4] = [
    Recipe {
        title: "from PuppetDB",
        detail: "all nodes, with the facts that the hierarchy needs: run it on a host with a certificate of your Puppet CA, with the name of your PuppetDB",
        command: INVENTORY,
    },
    Recipe {
        title: "from PuppetDB, where hiera-ls is not installed",
        detail: "all nodes with all facts: run it on a host with a certificate of your Puppet CA; 'hiera-ls nodes import' reads the file too",
        command: "curl -sSfG https://puppetdb.example.com:8081/pdb/query/v4 \
                  --cert \"$(puppet config print hostcert)\" --key \"$(puppet config print hostprivkey)\" \
                  --cacert \"$(puppet config print localcacert)\" \
                  --data-urlencode 'query=inventory[certname, environment, facts, trusted] {}' > nodes.json",
    },
    Recipe {
        title: "from puppet facts",
        detail: "one node: run it there, and copy the file into spec/fixtures/facts of the repository",
        command: "puppet facts show --render-as json > \"$(puppet config print certname).json\"",
    },
    Recipe {
        title: "from a node classifier",
        detail: "one node's variables: run it on the Puppet server, and name the file in the setting 'nodesFiles'",
        command: "\"$(puppet config print external_nodes --section server)\" web01.example.com > web01.example.com.yaml",
    },
];

/// A piece of advice, and the number of files it affects.
pub(super) type Weighed = (usize, Advice);

/// The most useful advice first, at most [`MAX_ADVICE`].
pub(super) fn advice(
    analysis: Analysis<'_>,
    report: &Report,
    offers: &[Offer],
    nodes: &NodeSet,
) -> Vec<Advice> {
    let mut found: Vec<Weighed> = Vec::new();
    found.extend(no_hierarchy(analysis, report));
    found.extend(untold(analysis, report, nodes));
    found.extend(refused(analysis, report));
    found.extend(no_facts(report));
    found.extend(unknown_variables(report, nodes));
    found.extend(unknown_backends(report, offers));
    found.extend(outside(analysis, report));
    found.extend(not_installed(analysis, report));
    found.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    found
        .into_iter()
        .map(|(_, advice)| advice)
        .take(MAX_ADVICE)
        .collect()
}

fn no_hierarchy(analysis: Analysis<'_>, report: &Report) -> Option<Weighed> {
    if report
        .hierarchies
        .iter()
        .any(|found| found.config.is_some())
    {
        return None;
    }
    let folder = analysis.snapshot.folders().first();
    let advice = match report.unused.first() {
        Some(unused) => {
            let inside = folder.and_then(|folder| path::within(&unused.path, folder));
            let file = inside.unwrap_or(&unused.path);
            Advice {
                what: format!(
                    "no hierarchy was found: name the file that is deployed as hiera.yaml, in place of '{file}'"
                ),
                place: PROJECT_FILE,
                paste: format!("roots:\n  - {file}\n"),
            }
        }
        None => {
            let is_there = |name: &&&str| {
                let path = folder.map(|folder| path::join(folder, name));
                path.is_some_and(|path| analysis.snapshot.kind(&path).is_some())
            };
            let datadir = ["data", "hieradata", "hiera"].iter().find(is_there);
            let datadir = datadir.unwrap_or(&"data");
            Advice {
                what: "no file here is a hiera.yaml: copy the one of your server, or start with this one".to_owned(),
                place: HIERA_YAML,
                paste: format!(
                    "version: 5\ndefaults:\n  datadir: {datadir}\n  data_hash: yaml_data\nhierarchy:\n  \
                     - name: Node\n    path: nodes/%{{trusted.certname}}.yaml\n  \
                     - name: Common\n    path: common.yaml\n"
                ),
            }
        }
    };
    Some((usize::MAX, advice))
}

fn refused(analysis: Analysis<'_>, report: &Report) -> Option<Weighed> {
    let mut refused = report
        .hierarchies
        .iter()
        .filter(|found| found.error.is_some() && !is_within_module(analysis, found));
    let found = refused.next()?;
    let config = found.config.as_deref()?;
    let mut folders = analysis.snapshot.folders().iter();
    let inside = folders.find_map(|folder| path::within(config, folder));
    let inside = inside.unwrap_or(config);
    let fails = match (&found.kind, path::parent(inside)) {
        (RootKind::Module { name }, _) => format!("every lookup of a key of module '{name}' fails"),
        (RootKind::Environment, Some(folder)) if !folder.is_empty() && inside != config => {
            format!("every lookup in {folder} fails")
        }
        (RootKind::Environment | RootKind::Global | RootKind::Plans, _) => {
            "every lookup fails".to_owned()
        }
    };
    let advice = Advice {
        what: format!("Puppet refuses {inside}, so {fails}: see what is wrong with it"),
        place: SHELL,
        paste: format!("hiera-ls check {inside}\n"),
    };
    Some((usize::MAX - 1, advice))
}

/// The number of files whose readers are unknown because a variable is missing.
fn in_doubt(variable: &VariableReport, nodes: usize) -> usize {
    match nodes {
        0 => variable.files,
        nodes => variable.files * (nodes - variable.known.min(nodes)) / nodes,
    }
}

fn no_facts(report: &Report) -> Option<Weighed> {
    let nodes = &report.nodes;
    if nodes.names_only < nodes.count {
        return None;
    }
    let weight = report
        .variables
        .iter()
        .map(|variable| in_doubt(variable, nodes.count))
        .sum();
    let what = match nodes.count {
        0 => "no nodes are known: save what PuppetDB knows about them".to_owned(),
        1 => "only the name of the one node is known, no facts: save what PuppetDB knows about it"
            .to_owned(),
        count => format!(
            "only the names of {count} nodes are known, no facts: save what PuppetDB knows about them"
        ),
    };
    let advice = Advice {
        what: format!(
            "{what} (without PuppetDB: copy the files in the server's yamldir/facts to spec/fixtures/facts)"
        ),
        place: SHELL,
        paste: format!("{INVENTORY}\n"),
    };
    (weight > 0).then_some((weight, advice))
}

/// Advice to give names of nodes a meaning, for variables that no facts give.
fn unknown_variables(report: &Report, nodes: &NodeSet) -> Option<Weighed> {
    let count = report.nodes.count;
    let is_own = |variable: &&VariableReport| {
        let root = variable.name.split('.').next().unwrap_or_default();
        // Variables that manifests derive from facts need facts; Facter's own facts cannot come
        // from names.
        let is_fact = root == "facts"
            || matches!(
                core_fact(&variable.name),
                CoreFact::Exists | CoreFact::Legacy(_)
            );
        // If a nodes file gives the variable for some nodes, the others do not have it.
        let is_in_file = variable.known > 0 && !nodes.known.are_names();
        !is_fact
            && !is_in_file
            && !nodes.known.may_be_set(root)
            && in_doubt(variable, count) > 0
            && *variable.name != *"environment"
    };
    if count == 0 {
        return None;
    }
    let derived = derived_from_names(report.variables.iter().filter(is_own), nodes)?;
    let weight = derived.parts.iter();
    let weight = weight.map(|(variable, _)| in_doubt(variable, count)).sum();
    let mut extensions = String::new();
    let mut variables = String::new();
    for (variable, group) in &derived.parts {
        let line = format!("      {}: '%{{{group}}}'\n", last_part(&variable.name));
        if variable.name.starts_with("trusted.extensions.") {
            extensions += &line
        } else {
            variables += &line
        }
    }
    let names = derived.parts.iter().map(|(variable, _)| {
        format!(
            "'{}' (known for {} of {count} nodes)",
            variable.name, variable.known
        )
    });
    let names: Vec<String> = names.collect();
    let pattern = derived.pattern;
    let mut paste = format!("nodes:\n  - match: '{pattern}'\n");
    for (part, lines) in [("variables", variables), ("extensions", extensions)] {
        if !lines.is_empty() {
            paste += &format!("    {part}:\n{lines}");
        }
    }
    let advice = Advice {
        what: format!(
            "levels need {}, which most node names seem to contain: check this pattern",
            names.join(" and ")
        ),
        place: PROJECT_FILE,
        paste,
    };
    Some((weight, advice))
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// A pattern for names of nodes, with the variables that its groups set.
struct Derived<'a> {
    pattern: String,
    parts: Vec<(&'a VariableReport, String)>,
}

/// Guesses what parts of the nodes' names mean: the leading letters, and the part after the first
/// separator. A part counts if most nodes have a value in it that also appears in the names of the
/// variable's files.
fn derived_from_names<'a>(
    variables: impl Iterator<Item = &'a VariableReport>,
    nodes: &NodeSet,
) -> Option<Derived<'a>> {
    let all = nodes.nodes.all();
    let separators = [('.', "\\."), ('-', "-")].into_iter();
    let mut found =
        separators.filter(|(one, _)| all.iter().any(|node| node.certname.contains(*one)));
    let (separator, escaped) = found.next().unwrap_or(('.', "\\."));
    let start = |name: &str| {
        let end = name.find(|c: char| !c.is_ascii_lowercase());
        name[..end.unwrap_or(name.len())].to_owned()
    };
    let second = |name: &str| name.split(separator).nth(1).unwrap_or_default().to_owned();
    let readings: [&dyn Fn(&str) -> String; 2] = [&start, &second];
    let mut of_readings: [Option<(&VariableReport, String)>; 2] = [None, None];
    for variable in variables {
        let counts = readings.iter().enumerate().map(|(at, read)| {
            let names = all.iter().map(|node| read(&node.certname));
            (
                names.filter(|part| variable.values.contains(part)).count(),
                at,
            )
        });
        let Some((most, at)) = counts.max() else {
            continue;
        };
        if most * 2 > all.len() && of_readings[at].is_none() {
            let name = last_part(&variable.name).chars();
            let name = name.map(|c| {
                if c.is_ascii_alphanumeric() {
                    c.to_ascii_lowercase()
                } else {
                    '_'
                }
            });
            of_readings[at] = Some((variable, name.collect()));
        }
    }
    let [first, other] = &of_readings;
    let mut pattern = String::from("^");
    if let Some((_, group)) = first {
        pattern += &format!("(?<{group}>[a-z]+)");
    }
    if let Some((_, group)) = other {
        pattern += &format!("[^{separator}]*{escaped}(?<{group}>[^{separator}]+)");
    }
    let parts: Vec<_> = of_readings.into_iter().flatten().collect();
    (!parts.is_empty()).then_some(Derived { pattern, parts })
}

fn unknown_backends(report: &Report, offers: &[Offer]) -> Option<Weighed> {
    let is_unknown = |level: &&LevelReport| level.reading == BackendUse::Unknown && !level.is_empty;
    let having = report.hierarchies.iter();
    let having = having.filter(|found| found.levels.iter().any(|level| is_unknown(&level)));
    let having: Vec<&Hierarchy> = having.collect();
    let levels = having.iter().flat_map(|found| &found.levels);
    let mut names: Vec<(Arc<str>, Option<&str>)> = Vec::new();
    for level in levels.clone().filter(is_unknown) {
        let function = &*level.function.name;
        let like = reader_by_name(level);
        match names.iter_mut().find(|(known, _)| **known == *function) {
            Some((_, known)) => *known = known.or(like),
            None => names.push((Arc::from(function), like)),
        }
    }
    let (first, _) = names.first()?;
    let mut paste = "backends:\n".to_owned();
    for (name, like) in &names {
        let offer = offers.iter().find(|offer| offer.function == *name);
        paste += &match (offer, like) {
            (Some(offer), _) => format!("  {}\n", offer.as_yaml()),
            (None, Some(like)) => format!(
                "  # if it returns the content of the level's file; else: secret\n  {name}: {{like: {like}}}\n"
            ),
            (None, None) => format!("  {name}: {{like: secret}}\n"),
        };
    }
    let (who, gives) = match names.len() {
        1 => (format!("the function '{first}' is"), "it returns"),
        2 => (format!("'{first}' and 1 more function are"), "they return"),
        count => (
            format!("'{first}' and {} more functions are", count - 1),
            "they return",
        ),
    };
    let modules: Option<Vec<&str>> = having.iter().map(|found| module_of(&found.kind)).collect();
    let (what, weight) = match modules.as_deref() {
        // A module's levels answer only for the module's own keys.
        Some([module]) => (
            format!("every answer for a key of module '{module}'"),
            levels.map(|level| level.files).sum(),
        ),
        Some(modules) => (
            format!("every answer for a key of {} modules", modules.len()),
            levels.map(|level| level.files).sum(),
        ),
        None => ("every answer".to_owned(), report.files.reached),
    };
    let advice = Advice {
        what: format!("{what} may be different, since {who} never run: declare what {gives}"),
        place: PROJECT_FILE,
        paste,
    };
    Some((weight, advice))
}

/// Puppet's function for files with the extension that a level uses, if there is one.
fn reader_by_name(level: &LevelReport) -> Option<&'static str> {
    let mut paths = level.paths.iter().filter(|_| level.files > 0);
    paths.find_map(|written| match path::extension(written)? {
        "yaml" | "yml" => Some("yaml_data"),
        "json" => Some("json_data"),
        _ => None,
    })
}

/// Whether a hierarchy lies among the files of a module, where Puppet never looks for it.
fn is_within_module(analysis: Analysis<'_>, found: &Hierarchy) -> bool {
    let roots = analysis.snapshot.roots().iter();
    let mut modules = roots.flat_map(|root| root.modules.values());
    let below = |module: &str| path::within(&found.folder, module).is_some_and(|it| !it.is_empty());
    modules.any(|module| below(module))
}

/// Advice for a data directory that a Puppetfile installs and that is missing.
fn not_installed(analysis: Analysis<'_>, report: &Report) -> Option<Weighed> {
    let snapshot = analysis.snapshot;
    let hierarchies = report.hierarchies.iter();
    let mut missing = hierarchies.filter_map(|found| {
        let puppetfile = path::join(&found.folder, "Puppetfile");
        if module_of(&found.kind).is_some() || snapshot.kind(&puppetfile).is_none() {
            return None;
        }
        let mut levels = found.levels.iter().filter(|level| !level.is_outside);
        levels.find_map(|level| {
            let folder = level.datadir.as_deref()?;
            let inside = path::within(folder, &found.folder)?;
            (snapshot.kind(folder).is_none() && !inside.is_empty())
                .then(|| (level.name.clone(), inside.to_owned()))
        })
    });
    let (level, folder) = missing.next()?;
    let advice = Advice {
        what: format!(
            "level '{level}' reads {folder}, which does not exist: install the modules of the Puppetfile"
        ),
        place: SHELL,
        paste: "r10k puppetfile install\n".to_owned(),
    };
    Some((report.files.data.max(1), advice))
}

fn module_of(kind: &RootKind) -> Option<&str> {
    match kind {
        RootKind::Module { name } => Some(name),
        RootKind::Environment | RootKind::Global | RootKind::Plans => None,
    }
}

/// The only folder of the workspace that has the same name as a folder outside and that no level
/// reads, relative to the top of the workspace.
fn same_name(analysis: Analysis<'_>, report: &Report, outside: &str) -> Option<String> {
    let snapshot = analysis.snapshot;
    let top = snapshot.folders().first()?;
    let levels = report.hierarchies.iter().flat_map(|found| &found.levels);
    let datadirs: Vec<&str> = levels
        .filter_map(|level| level.datadir.as_deref())
        .collect();
    let mut found = BTreeSet::new();
    for file in snapshot.files().filter(|file| file.format().is_some()) {
        let mut folder = path::parent(file.path());
        while let Some(at) = folder.filter(|at| path::within(at, top).is_some()) {
            let is_read = || {
                datadirs
                    .iter()
                    .any(|datadir| path::within(at, datadir).is_some())
            };
            if path::name(at) == path::name(outside) && !is_read() {
                found.extend(path::within(at, top).filter(|inside| !inside.is_empty()));
            }
            folder = path::parent(at);
        }
    }
    match found.into_iter().collect::<Vec<_>>().as_slice() {
        [only] => Some((*only).to_owned()),
        _ => None,
    }
}

/// The innermost folder that holds both the workspace and a data directory outside of it, for a
/// hierarchy that names one as `../data`.
fn folder_above<'a>(analysis: Analysis<'a>, found: &Hierarchy, outside: &str) -> Option<&'a str> {
    let config = analysis.snapshot.file(found.config.as_ref()?)?.facts();
    let mut paths = config.config.as_ref()?.paths.iter();
    let is_it = |datadir: &str| {
        !datadir.starts_with('/') && path::normalise(&path::join(&found.folder, datadir)) == outside
    };
    paths.find(|path| is_it(&path.datadir))?;
    let top: &str = analysis.snapshot.folders().first()?;
    std::iter::successors(path::parent(top), |folder| path::parent(folder))
        .find(|folder| path::within(outside, folder).is_some())
        .filter(|folder| *folder != "/")
}

fn outside(analysis: Analysis<'_>, report: &Report) -> Option<Weighed> {
    let levels = report.hierarchies.iter().flat_map(|found| &found.levels);
    // A link in a folder of the workspace may lead out of it.
    let is_here = |folder: &str| analysis.snapshot.kind(folder).is_some();
    let is_elsewhere =
        |level: &&LevelReport| level.is_outside && !level.datadir.as_deref().is_some_and(is_here);
    let outside: Vec<_> = levels.filter(is_elsewhere).collect();
    let first = outside.first()?;
    let folder = first.datadir.as_deref()?;
    let above = report
        .hierarchies
        .iter()
        .find_map(|found| folder_above(analysis, found, folder));
    let advice = match (above, same_name(analysis, report, folder)) {
        (Some(above), _) => Advice {
            what: format!(
                "level '{}' reads {folder}, which is next to the workspace: open {above}, which contains both",
                first.name
            ),
            place: SHELL,
            paste: format!("hiera-ls doctor --workspace {above}\n"),
        },
        (None, Some(inside)) => Advice {
            what: format!(
                "level '{}' reads {folder}, which is not in the workspace: if {inside} is deployed there, declare it",
                first.name
            ),
            place: PROJECT_FILE,
            paste: format!("pathMap:\n  {folder}: {inside}\n"),
        },
        (None, None) => Advice {
            what: format!(
                "level '{}' reads {folder}, which is not in the workspace: if you have a copy of it, name it in \
                 place of /path/to/copy (in editors, in the setting 'pathMap')",
                first.name
            ),
            place: SHELL,
            paste: format!("hiera-ls doctor --path-map {folder}=/path/to/copy\n"),
        },
    };
    Some((report.files.reached / 2, advice))
}
