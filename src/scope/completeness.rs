//! What the sources of a node are complete in: there, missing data does not exist; elsewhere it is
//! unknown. PuppetDB does not know what a node classifier sets, a classifier knows no facts, and a
//! query can ask for some facts only.

use std::sync::Arc;

use super::core_facts::is_of_facter;
use crate::interpolation::{Key, Segment};
use crate::syntax::puppet::{is_match_variable, is_qualified};
use crate::value::HashMap;

/// How much of a node's facts, or of its trusted data, is told.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Told {
    /// All: what is missing does not exist.
    #[default]
    All,
    /// What is at these paths: what is missing there does not exist, everything else is unknown.
    Paths(Arc<Vec<Vec<Segment>>>),
}

/// What the sources of a node tell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Completeness {
    /// The facts.
    pub facts: Told,
    /// The trusted data, except for those that follow from the certname.
    pub trusted: Told,
    /// The top-scope variables besides facts.
    pub variables: Told,
}

impl Default for Completeness {
    fn default() -> Completeness {
        Completeness {
            facts: Told::All,
            trusted: Told::All,
            variables: Told::All,
        }
    }
}

impl Completeness {
    /// Of a node that is known only by its name.
    #[must_use]
    pub fn nothing() -> Completeness {
        Completeness {
            facts: Told::nothing(),
            trusted: Told::nothing(),
            variables: Told::nothing(),
        }
    }
}

impl Told {
    /// Nothing is told.
    #[must_use]
    pub fn nothing() -> Told {
        Told::Paths(Arc::default())
    }

    /// All if `is_all`, else nothing.
    pub(super) fn all_if(is_all: bool) -> Told {
        if is_all { Told::All } else { Told::nothing() }
    }

    /// Whether nothing is told.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        matches!(self, Told::Paths(paths) if paths.is_empty())
    }

    /// Adds a dotted path. Texts that are no path add nothing.
    pub fn add(&mut self, path: &str) {
        if let Ok(key) = Key::parse(path) {
            self.add_path(std::iter::once(key.root).chain(key.segments).collect());
        }
    }

    /// Adds a path.
    pub fn add_path(&mut self, path: Vec<Segment>) {
        if let Told::Paths(paths) = self
            && !paths.contains(&path)
        {
            Arc::make_mut(paths).push(path);
        }
    }

    /// What this or another source tells.
    #[must_use]
    pub fn or(&self, other: &Told) -> Told {
        match (self, other) {
            (Told::All, _) | (_, Told::All) => Told::All,
            (Told::Paths(_), Told::Paths(more)) => {
                let mut all = self.clone();
                more.iter().for_each(|path| all.add_path(path.clone()));
                all
            }
        }
    }

    /// Whether the part at a path is told.
    pub(super) fn covers(&self, path: &[&Segment]) -> bool {
        let leads = |told: &Vec<Segment>| {
            told.len() <= path.len() && told.iter().zip(path).all(|(one, other)| one == *other)
        };
        match self {
            Told::All => true,
            Told::Paths(paths) => paths.iter().any(leads),
        }
    }

    /// What both this and another source tell. O(paths²).
    #[must_use]
    pub fn and(&self, other: &Told) -> Told {
        let (one, other) = match (self, other) {
            (Told::All, told) | (told, Told::All) => return told.clone(),
            (Told::Paths(one), Told::Paths(other)) => (one, other),
        };
        let mut both = Told::nothing();
        for path in one.iter() {
            for known in other.iter() {
                if path.starts_with(known) {
                    both.add_path(path.clone());
                } else if known.starts_with(path) {
                    both.add_path(known.clone());
                }
            }
        }
        both
    }

    /// The paths without those inside of others, in order; `None` for everything.
    #[must_use]
    pub fn outermost(&self) -> Option<Vec<Vec<Segment>>> {
        let Told::Paths(paths) = self else {
            return None;
        };
        let is_outermost = |path: &&Vec<Segment>| {
            let mut others = paths.iter();
            !others.any(|other| other.len() < path.len() && path.starts_with(other))
        };
        let mut found: Vec<Vec<Segment>> = paths.iter().filter(is_outermost).cloned().collect();
        found.sort_by_cached_key(|path| written(path));
        Some(found)
    }
}

/// A path as it is written with dots.
#[must_use]
pub fn written(path: &[Segment]) -> String {
    let parts: Vec<String> = path.iter().map(Segment::written).collect();
    parts.join(".")
}

/// The variables of a node's scope that its sources do not tell.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Gaps {
    told: Completeness,
    /// The names of the variables that are given besides facts.
    given: Vec<Arc<str>>,
}

impl Gaps {
    /// `None` if everything is told.
    pub(super) fn of(told: &Completeness, variables: &HashMap) -> Option<Gaps> {
        let given = variables.keys().filter_map(|name| name.as_str());
        (*told != Completeness::default()).then(|| Gaps {
            told: told.clone(),
            given: given.map(Arc::from).collect(),
        })
    }

    /// Whether the part of a top-scope variable at the segments is unknown; `name` is without
    /// leading `::`, and `has_fact` tells whether a fact of that name is known.
    pub(super) fn hide(
        &self,
        name: &str,
        segments: &[Segment],
        has_fact: impl FnOnce() -> bool,
    ) -> bool {
        let told = &self.told;
        let path: Vec<&Segment> = segments.iter().collect();
        let is_first = |names: &[&str]| {
            let first = segments.first().and_then(Segment::as_name);
            first.is_some_and(|first| names.contains(&first))
        };
        match name {
            "facts" => !is_first(&["clientcert"]) && !told.facts.covers(&path),
            "trusted" => {
                let of_name = ["authenticated", "certname", "hostname", "domain"];
                !is_first(&of_name) && !told.trusted.covers(&path)
            }
            "environment" | "server_facts" | "name" | "title" | "module_name"
            | "caller_module_name" | "clientcert" => false,
            // Classes have them, not nodes.
            _ if is_qualified(name) || is_match_variable(name) => false,
            _ if self.given.iter().any(|given| **given == *name) => false,
            _ => {
                let root = Segment::Name(name.into());
                let of_facts: Vec<&Segment> = std::iter::once(&root).chain(path).collect();
                // A classifier can set any name, but hardly that of one of Facter's own facts.
                !told.facts.covers(&of_facts)
                    || (!told.variables.covers(&of_facts) && !has_fact() && !is_of_facter(name))
            }
        }
    }
}

/// Whether the facts of one node are all that it has, to judge by their names: Puppet adds
/// `clientversion` to those of every agent, and Facter has the others on every system. A query for
/// some facts hardly asks for all of these.
pub(super) fn are_all_facts(has_fact: impl Fn(&str) -> bool) -> bool {
    let every = [
        "clientversion",
        "facterversion",
        "kernel",
        "networking",
        "os",
    ];
    every.into_iter().all(has_fact)
}

#[cfg(test)]
mod tests {
    use super::super::{Node, Variable};
    use super::*;
    use crate::value::Value;

    fn node(told: Completeness) -> Node {
        let os = Value::hash([("family", "Debian".into())]);
        let facts = Value::hash([("site", "lon".into()), ("os", os)]);
        let variables = Value::hash([("tier", "1".into())]);
        Node {
            certname: "a.b.c".into(),
            facts: facts.as_hash().unwrap().clone().into(),
            variables: variables.as_hash().unwrap().clone(),
            told,
            ..Node::default()
        }
    }

    fn state(node: &Node, path: &str) -> String {
        match node.scope("production").variable(path) {
            Variable::Known(value) => value.to_s(),
            Variable::Undefined(_) => "undefined".into(),
            Variable::Unknown => "unknown".into(),
        }
    }

    #[test]
    fn a_variable_that_no_source_can_know_is_unknown() {
        let told = Completeness {
            variables: Told::nothing(),
            ..Completeness::default()
        };
        let node = node(told);
        for (path, expected) in [
            ("role", "unknown"),
            ("::role", "unknown"),
            ("site", "lon"),
            ("::tier", "1"),
            ("facts.role", "undefined"),
            ("facts.os.name", "undefined"),
            // Facter's own facts are told with the facts.
            ("osfamily", "undefined"),
            ("networking.ip", "undefined"),
            ("ntp::servers", "undefined"),
            ("module_name", ""),
            ("environment", "production"),
            ("trusted.extensions.pp_role", "undefined"),
        ] {
            assert_eq!(state(&node, path), expected, "{path}");
        }
    }

    #[test]
    fn trusted_data_that_no_source_tells_are_unknown_but_those_of_the_name() {
        let told = Completeness {
            trusted: Told::nothing(),
            ..Completeness::default()
        };
        let node = node(told);
        for (path, expected) in [
            ("trusted.extensions.pp_role", "unknown"),
            ("trusted.external.x", "unknown"),
            ("trusted", "unknown"),
            ("trusted.certname", "a.b.c"),
            ("trusted.domain", "b.c"),
            ("role", "undefined"),
        ] {
            assert_eq!(state(&node, path), expected, "{path}");
        }
    }

    #[test]
    fn facts_outside_of_what_was_asked_for_are_unknown() {
        let mut facts = Told::nothing();
        ["site", "os.family", "rack"]
            .iter()
            .for_each(|path| facts.add(path));
        let told = Completeness {
            facts,
            ..Completeness::default()
        };
        let node = node(told);
        for (path, expected) in [
            ("facts.site", "lon"),
            ("::site", "lon"),
            ("facts.os.family", "Debian"),
            ("os.family", "Debian"),
            // Asked for, and not there.
            ("facts.rack", "undefined"),
            ("facts.os.name", "unknown"),
            ("facts.os", "unknown"),
            ("os", "unknown"),
            ("osfamily", "unknown"),
            ("facts", "unknown"),
            ("role", "unknown"),
            ("tier", "1"),
        ] {
            assert_eq!(state(&node, path), expected, "{path}");
        }
    }

    #[test]
    fn values_can_be_assumed_for_what_is_unknown() {
        let told = Completeness {
            variables: Told::nothing(),
            ..Completeness::default()
        };
        let mut scope = node(told).scope("production");
        scope.bind("role", "web");
        assert_eq!(scope.variable("role"), Variable::Known("web".into()));
        assert_eq!(scope.variable("site"), Variable::Known("lon".into()));
    }

    /// The states of variables of the only node of a nodes file in JSON, the same as in YAML.
    fn states_in_file(node: &str, paths: &[&str]) -> Vec<String> {
        let text = format!("{{\"a.b.c\": {node}}}");
        let value = crate::value::load_yaml(text.as_bytes()).unwrap();
        let no_facts = HashMap::default();
        let from_yaml = super::super::Nodes::read(&value, &no_facts).unwrap();
        let from_json = super::super::read_json_nodes(&text.into(), "nodes", &no_facts).unwrap();
        let [in_yaml, in_json] = [from_yaml, from_json].map(|nodes| {
            let node = &nodes.all()[0];
            let states = paths.iter().map(|path| state(node, path));
            states.collect::<Vec<String>>()
        });
        assert_eq!(in_yaml, in_json);
        in_json
    }

    #[test]
    fn what_every_system_has_is_unknown_where_it_is_missing_in_a_file() {
        let written = r#"{"facts": {"site": "lon", "os": {"family": "Debian"}}, "variables": {"timezone": "UTC"}}"#;
        let expected = [
            ("facts.site", "lon"),
            ("facts.os.family", "Debian"),
            ("facts.os.name", "unknown"),
            ("facts.os.release.major", "unknown"),
            ("os.release.major", "unknown"),
            ("facts.kernel", "unknown"),
            ("::kernel", "unknown"),
            ("facts.networking.ip", "unknown"),
            ("networking.hostname", "a"),
            ("facts.timezone", "unknown"),
            ("timezone", "UTC"),
            ("facts.rack", "undefined"),
            ("rack", "undefined"),
            ("osfamily", "undefined"),
        ];
        let states = states_in_file(written, &expected.map(|(path, _)| path));
        assert_eq!(states, expected.map(|(_, state)| state));
        // The names say that these are all facts of an agent.
        let all = r#"{"facts": {"clientversion": "8", "facterversion": "4", "kernel": "Linux", "networking": {}, "os": {}}}"#;
        let states = states_in_file(all, &["facts.os.name", "facts.networking.ip", "kernel"]);
        assert_eq!(states, ["undefined", "undefined", "Linux"]);
    }
}
