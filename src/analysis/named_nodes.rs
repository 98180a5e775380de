//! The nodes that data files are named after, used if no file describes nodes. The paths of these
//! files give some of their variables; their facts stay unknown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Analysis, RootView};
use crate::hierarchy::{Template, TemplatePart};
use crate::lookup::{ConfigCache, Place, PuppetVersion, Settings, paths_for_functions};
use crate::scope::{Knowledge, KnownNodes, Node};
use crate::syntax::puppet::without_colons;
use crate::value::Value;
use crate::workspace::{Root, Snapshot, path};

/// Variables that hold a node's certname, or a full name that usually equals it.
const FULL_NAMES: [&str; 7] = [
    "trusted.certname",
    "facts.clientcert",
    "clientcert",
    "facts.networking.fqdn",
    "networking.fqdn",
    "facts.fqdn",
    "fqdn",
];

/// Variables that hold the first part of a node's name.
const HOST_NAMES: [&str; 5] = [
    "trusted.hostname",
    "facts.networking.hostname",
    "networking.hostname",
    "facts.hostname",
    "hostname",
];

/// Variables that hold the domain part.
const DOMAINS: [&str; 5] = [
    "trusted.domain",
    "facts.networking.domain",
    "networking.domain",
    "facts.domain",
    "domain",
];

/// Names of folders, and parts of variable names, that mark a file as one host's.
const WORDS: [&str; 10] = [
    "node", "nodes", "nodename", "host", "hosts", "hostname", "server", "servers", "machine",
    "machines",
];

/// Last words of variables that name a group or location of nodes, never a single node.
const KINDS: [&str; 16] = [
    "class",
    "cluster",
    "datacenter",
    "env",
    "environment",
    "group",
    "kind",
    "location",
    "pool",
    "profile",
    "role",
    "site",
    "tier",
    "type",
    "zone",
    "region",
];

/// Maximum number of nodes that are made from file names.
const MAX_NAMED: usize = 100_000;

/// Nodes that data files are named after; cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct NamedNodes(Arc<[Arc<Node>]>);

impl PartialEq for NamedNodes {
    /// O(1) for a clone: each request compares them.
    fn eq(&self, other: &NamedNodes) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl NamedNodes {
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Node>> {
        self.0.iter()
    }
}

/// How a place of the hierarchy names a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    Full,
    /// By the first part of its name, with the domain in another variable.
    HostAndDomain,
    /// By the first part of its name, or by a label that only the site's own code knows.
    Label,
}

/// A place with one file for each host, and how it names them.
struct NamingPlace<'p> {
    place: &'p Place,
    naming: Naming,
    variable: &'p Arc<str>,
}

/// A node's variables, from paths; `None` for a variable with contradicting values.
#[derive(Default)]
struct NamedNode {
    naming: Option<Naming>,
    values: BTreeMap<Arc<str>, Option<String>>,
}

/// The locations of the layers that a root's nodes read: their data may be named after nodes.
pub(super) fn places_of(view: &RootView<'_>) -> Vec<Arc<[Place]>> {
    let layers = view.layers().into_iter();
    layers.map(|layer| view.places(&layer)).collect()
}

/// The nodes that the files of some places are named after. O(files × places that name nodes).
pub(super) fn named_nodes(
    analysis: Analysis<'_>,
    folder: &str,
    places: &[Arc<[Place]>],
) -> NamedNodes {
    let all = || places.iter().flat_map(|places| places.iter());
    let naming = all()
        .filter_map(|place| naming(place, folder).or_else(|| by_names_of_files(analysis, place)));
    let naming: Vec<NamingPlace<'_>> = naming.collect();
    if naming.is_empty() {
        return NamedNodes::default();
    }
    // A path without variables belongs to no single node.
    let constant: Vec<&Template> = all()
        .filter(|place| !place.by_glob)
        .map(|place| &place.template)
        .filter(|template| template.is_constant())
        .collect();
    let mut found: BTreeMap<String, Vec<(&NamingPlace<'_>, BoundVariables)>> = BTreeMap::new();
    for file in analysis.snapshot.files() {
        let at = file.path();
        for naming_place in &naming {
            let Some(bound) = bound_by(naming_place.place, at) else {
                continue;
            };
            if constant.iter().any(|template| template.matches(at)) {
                break;
            }
            if let Some(name) = name_in(&bound, naming_place)
                && (found.len() < MAX_NAMED || found.contains_key(&name))
            {
                found.entry(name).or_default().push((naming_place, bound));
            }
        }
    }
    let mut nodes: BTreeMap<String, NamedNode> = BTreeMap::new();
    for (name, files) in found {
        for (naming_place, bound) in &files {
            // The same host name in two places means two hosts.
            let is_one = |(other, known): &(&NamingPlace<'_>, BoundVariables)| {
                !std::ptr::eq(*other, *naming_place) || known == bound
            };
            let name = if naming_place.naming == Naming::Label && !files.iter().all(is_one) {
                joined(bound)
            } else {
                name.clone()
            };
            nodes
                .entry(name)
                .or_default()
                .add(naming_place.naming, bound);
        }
    }
    NamedNodes(merged_by_host(nodes).collect())
}

/// The values that a file's path gives a place's variables. A function that is never run may add an
/// extension to the level's path, or read a folder of that name.
fn bound_by(place: &Place, at: &str) -> Option<BoundVariables> {
    let template = &place.template;
    let is_open =
        place.reading.is_none() && matches!(template.parts.last(), Some(TemplatePart::Variable(_)));
    if !is_open {
        return template.matches(at).then(|| template.bind(at))?;
    }
    let named = paths_for_functions(at).find(|at| template.matches(at))?;
    template.bind(named)
}

/// Variables of a path with their values.
type BoundVariables = Vec<(Arc<str>, String)>;

fn joined(bound: &BoundVariables) -> String {
    let values: Vec<&str> = bound.iter().map(|(_, value)| value.as_str()).collect();
    values.join("/")
}

/// How a place names hosts, if it does.
fn naming<'p>(place: &'p Place, folder: &str) -> Option<NamingPlace<'p>> {
    if place.mapped.is_some() {
        return None;
    }
    let template = &place.template;
    let by = |names: &[&str]| {
        let mut variables = template.variables();
        variables.find(|variable| names.contains(&without_colons(variable)))
    };
    let naming_place = |naming, variable| {
        Some(NamingPlace {
            place,
            naming,
            variable,
        })
    };
    if let Some(variable) = by(&FULL_NAMES) {
        return naming_place(Naming::Full, variable);
    }
    if let Some(variable) = by(&HOST_NAMES) {
        return match by(&DOMAINS) {
            Some(_) => naming_place(Naming::HostAndDomain, variable),
            None => naming_place(Naming::Label, variable),
        };
    }
    let variable = names_file(template)?;
    let is_word = |text: &str| WORDS.contains(&text.to_ascii_lowercase().as_str());
    if is_of_a_kind(variable) {
        return None;
    }
    let mut parts = variable.split(|c: char| !c.is_ascii_alphanumeric());
    let is_for_hosts = parts.any(is_word) || folders(template, folder).any(is_word);
    // A file for each operating system is not a host's, wherever it lies.
    let is_fact = variable.starts_with("facts.") || variable.starts_with("::facts.");
    (is_for_hosts && !is_fact)
        .then_some(variable)
        .and_then(|variable| naming_place(Naming::Label, variable))
}

/// Whether a variable names a group of nodes: `node_class`, `host_group_name`.
fn is_of_a_kind(variable: &str) -> bool {
    let words = variable.rsplit(|c: char| !c.is_ascii_alphanumeric());
    let mut words = words.skip_while(|word| word.eq_ignore_ascii_case("name"));
    let last = words.next().unwrap_or_default().to_ascii_lowercase();
    let one = last.strip_suffix("es").filter(|one| KINDS.contains(one));
    let one = one.or_else(|| last.strip_suffix('s')).unwrap_or(&last);
    KINDS.contains(&last.as_str()) || KINDS.contains(&one)
}

/// The place, if all of its files have full host names: then its variable names the host, whatever
/// it is called. O(files).
fn by_names_of_files<'p>(analysis: Analysis<'_>, place: &'p Place) -> Option<NamingPlace<'p>> {
    /// Minimum number of files for a conclusion.
    const FEWEST: usize = 3;
    let variable = may_name_hosts(place)?;
    let mut count = 0;
    for file in analysis.snapshot.files() {
        let at = file.path();
        if !place.template.matches(at) {
            continue;
        }
        let bound = place.template.bind(at)?;
        let (_, value) = bound.first()?;
        if !is_full_name(value) {
            return None;
        }
        count += 1;
    }
    (count >= FEWEST).then_some(NamingPlace {
        place,
        naming: Naming::Full,
        variable,
    })
}

/// The variable of a place that may name a host, whatever it is called.
fn may_name_hosts(place: &Place) -> Option<&Arc<str>> {
    let variable = names_file(&place.template)?;
    let name = without_colons(variable);
    let is_other = place.mapped.is_some()
        || name.starts_with("facts.")
        || name == "environment"
        || DOMAINS.contains(&name)
        || place.template.variables().count() > 1;
    (!is_other).then_some(variable)
}

/// Whether files that appeared or vanished may matter to all nodes: a node may be named after one of
/// them, or a level without variables in its path has or lacks it now. O(locations of all roots and
/// files at those that may name hosts).
#[must_use]
pub fn may_matter_to_nodes(snapshot: &Snapshot, moved: &BTreeSet<&Arc<str>>) -> bool {
    let settings = Settings::for_version(PuppetVersion::default()).for_editor();
    let (configs, nodes) = (ConfigCache::default(), KnownNodes::default());
    let analysis = Analysis::new(snapshot, &settings, &configs, &nodes);
    let matters = |root: &Root, place: &Place| {
        let are_hosts = || {
            let files = snapshot.matching(&place.template).into_iter();
            let mut files = files.filter_map(|id| snapshot.file_by_id(id));
            let bound = |at| place.template.bind(at)?.into_iter().next();
            files.all(|file| {
                let is_host = |at| bound(at).is_some_and(|(_, value)| is_full_name(&value));
                moved.contains(file.path()) || is_host(file.path())
            })
        };
        moved.iter().any(|at| bound_by(place, at).is_some())
            && (place.template.variables().next().is_none()
                || naming(place, &root.dir).is_some()
                || may_name_hosts(place).is_some() && are_hosts())
    };
    let mut roots = snapshot.roots().iter();
    roots.any(|root| {
        let view = analysis.at(root);
        let places = view.places(&view.layer);
        places.iter().any(|place| matters(root, place))
    })
}

/// Whether a text is a host's full name: at least three labels, letters only in the last one, and a
/// digit in the first one, which tells it from a domain.
fn is_full_name(text: &str) -> bool {
    let labels: Vec<&str> = text.split('.').collect();
    let is_label = |label: &&str| {
        !label.is_empty()
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
    };
    let is_top =
        |label: &&str| label.len() > 1 && label.bytes().all(|byte| byte.is_ascii_alphabetic());
    labels.len() >= 3
        && labels.iter().all(is_label)
        && labels.last().is_some_and(is_top)
        && labels[0].bytes().any(|byte| byte.is_ascii_digit())
}

/// The variable that alone makes up a template's file name, without the extension.
fn names_file(template: &Template) -> Option<&Arc<str>> {
    match template.parts.as_slice() {
        [
            ..,
            TemplatePart::Text(before),
            TemplatePart::Variable(name),
            TemplatePart::Text(ending),
        ] if before.ends_with('/') && ending.starts_with('.') && !ending.contains('/') => {
            Some(name)
        }
        _ => None,
    }
}

/// The folders that a template names below a folder.
fn folders<'t>(template: &'t Template, folder: &'t str) -> impl Iterator<Item = &'t str> {
    let texts = template.parts.iter().filter_map(|part| match part {
        TemplatePart::Text(text) => Some(text.as_str()),
        TemplatePart::Variable(_) | TemplatePart::Key(_) => None,
    });
    let below = texts.map(move |text| path::within(text, folder).unwrap_or(text));
    below.flat_map(|text| text.split('/'))
}

fn name_in(bound: &[(Arc<str>, String)], naming_place: &NamingPlace<'_>) -> Option<String> {
    let value = |is_it: &dyn Fn(&str) -> bool| {
        let found = bound.iter().find(|(variable, _)| is_it(variable));
        found.map(|(_, value)| value.as_str())
    };
    let name = value(&|variable| variable == &**naming_place.variable)?;
    match naming_place.naming {
        Naming::Full | Naming::Label => Some(name.to_owned()),
        Naming::HostAndDomain => {
            let domain = value(&|variable| DOMAINS.contains(&without_colons(variable)))?;
            Some(format!("{name}.{domain}"))
        }
    }
}

impl NamedNode {
    fn add(&mut self, naming: Naming, bound: &BoundVariables) {
        if self.naming != Some(Naming::Full) {
            self.naming = Some(naming);
        }
        for (variable, value) in bound {
            let known = self.values.entry(variable.clone());
            let known = known.or_insert_with(|| Some(value.clone()));
            if known.as_ref() != Some(value) {
                *known = None;
            }
        }
    }

    fn node(&self, name: &str) -> Node {
        let mut node = Node {
            knowledge: match self.naming {
                Some(Naming::Full | Naming::HostAndDomain) => Knowledge::Name,
                Some(Naming::Label) | None => Knowledge::Label,
            },
            ..Node::named(name)
        };
        for (variable, value) in &self.values {
            let Some(value) = value else { continue };
            let variable = without_colons(variable);
            let value = Value::string(value);
            if let Some(fact) = variable.strip_prefix("facts.") {
                node.facts.set(fact, value);
            } else if variable == "environment" {
                node.environment = value.as_str().map(Arc::from);
            } else {
                // `trusted.extensions.x` too: bound variables are found by their whole path.
                node.variables.insert(Value::string(variable), value);
            }
        }
        node
    }
}

/// The nodes, ordered by name. A node named by the first part of a known full name is merged with
/// it.
fn merged_by_host(nodes: BTreeMap<String, NamedNode>) -> impl Iterator<Item = Arc<Node>> {
    let full = |node: &NamedNode| node.naming != Some(Naming::Label);
    let mut hosts: BTreeMap<String, usize> = BTreeMap::new();
    for (name, _) in nodes.iter().filter(|(_, node)| full(node)) {
        let host = name.split('.').next().unwrap_or(name);
        *hosts.entry(host.to_owned()).or_default() += 1;
    }
    nodes.into_iter().filter_map(move |(name, node)| {
        let is_known = !full(&node) && hosts.get(&name) == Some(&1);
        (!is_known).then(|| Arc::new(node.node(&name)))
    })
}
