//! Rules of a workspace that derive facts, trusted extensions and variables from a node's name.
//! Site manifests, node classifiers and functions often compute these from the name, but are not
//! run for that.

use super::Node;
use crate::interpolation::Segment;
use crate::regexp::Regexp;
use crate::value::{HashMap, StrKey, Value};

/// The meaning of some names. Texts in the values contain `%{name}` for the pattern's groups.
#[derive(Clone, Debug, Default)]
pub struct NameRule {
    /// The pattern; without one, only [`NameRule::name`] matches.
    pub pattern: Option<Regexp>,
    /// The exact name, if there is no pattern.
    pub name: String,
    /// Variables of the top scope.
    pub variables: Vec<(String, Value)>,
    /// Facts, by their dotted paths.
    pub facts: Vec<(String, Value)>,
    /// Extensions of the certificate: `trusted.extensions`.
    pub extensions: Vec<(String, Value)>,
}

impl PartialEq for NameRule {
    fn eq(&self, other: &NameRule) -> bool {
        let source = |rule: &NameRule| rule.pattern.as_ref().map(|it| it.source().to_owned());
        source(self) == source(other)
            && self.name == other.name
            && self.variables == other.variables
            && self.facts == other.facts
            && self.extensions == other.extensions
    }
}

/// The values of a pattern's groups for one name.
type NamedGroups<'g> = Vec<(&'g str, String)>;

impl NameRule {
    /// Adds the rule's values to a node; known values are kept. Returns whether the rule applies to
    /// the node's name.
    pub fn apply(&self, node: &mut Node) -> bool {
        let Some(groups) = self.groups(&node.certname) else {
            return false;
        };
        let has_no_values =
            self.variables.is_empty() && self.facts.is_empty() && self.extensions.is_empty();
        if has_no_values {
            for (name, value) in &groups {
                add(&mut node.variables, name, Value::string(value));
            }
            return true;
        }
        for (name, value) in &self.variables {
            if let Some(value) = filled(value, &groups) {
                add(&mut node.variables, name, value);
            }
        }
        for (path, value) in &self.facts {
            let path = path.strip_prefix("facts.").unwrap_or(path);
            if let Some(value) = filled(value, &groups)
                && !has_fact(node, path)
            {
                node.set_fact(path, value);
            }
        }
        let known = node.trusted.get(&StrKey("extensions"));
        let mut extensions = known.and_then(Value::as_hash).cloned().unwrap_or_default();
        for (name, value) in &self.extensions {
            if let Some(value) = filled(value, &groups) {
                add(&mut extensions, name, value);
                let path = ["extensions", name].map(|part| Segment::Name(part.into()));
                node.told.trusted.add_path(path.into());
            }
        }
        if !extensions.is_empty() {
            node.trusted.insert("extensions".into(), extensions.into());
        }
        true
    }

    /// The groups' values for a name; `None` if the name does not match.
    fn groups(&self, name: &str) -> Option<NamedGroups<'_>> {
        match &self.pattern {
            Some(pattern) => pattern.named_captures(name).ok()?,
            None => (self.name == name).then(Vec::new),
        }
    }
}

fn add(to: &mut HashMap, name: &str, value: Value) {
    to.entry(Value::string(name)).or_insert(value);
}

/// Whether a node has a fact at a dotted path.
fn has_fact(node: &Node, path: &str) -> bool {
    let mut names = path.split('.');
    let first = names.next().and_then(|name| node.facts.get(name));
    first.is_some_and(|first| {
        let part = names.try_fold(&first, |value, name| value.get(name));
        part.is_some()
    })
}

/// A value with groups replaced in its texts; `None` if it needs a group that took no part in the
/// match.
fn filled(value: &Value, groups: &NamedGroups<'_>) -> Option<Value> {
    match value {
        Value::String(text) if text.contains("%{") => {
            let mut out = String::new();
            let mut rest: &str = text;
            while let Some((before, from)) = rest.split_once("%{") {
                let (name, after) = from.split_once('}')?;
                let (_, group) = groups.iter().find(|(known, _)| *known == name.trim())?;
                out.push_str(before);
                out.push_str(group);
                rest = after;
            }
            Some(Value::from(out + rest))
        }
        Value::Array(elements) => {
            let elements: Option<Vec<Value>> =
                elements.iter().map(|each| filled(each, groups)).collect();
            Some(Value::from(elements?))
        }
        Value::Hash(hash) => {
            let filled = hash
                .iter()
                .map(|(name, part)| Some((name.clone(), filled(part, groups)?)));
            Some(Value::from(filled.collect::<Option<HashMap>>()?))
        }
        other => Some(other.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::{Scope, Variable};

    fn rule(pattern: &str) -> NameRule {
        NameRule {
            pattern: Some(Regexp::new(pattern).unwrap()),
            ..NameRule::default()
        }
    }

    fn known(scope: &Scope, path: &str) -> Option<Value> {
        match scope.variable(path) {
            Variable::Known(value) => Some(value),
            Variable::Undefined(_) | Variable::Unknown => None,
        }
    }

    #[test]
    fn groups_become_variables_by_default() {
        let mut node = Node::named("web01.lon.example.com");
        assert!(rule(r"^(?<role>[a-z]+)\d+\.(?<site>\w+)\.").apply(&mut node));
        assert!(!rule("^db").apply(&mut node));
        let scope = node.scope("production");
        assert_eq!(known(&scope, "role"), Some("web".into()));
        assert_eq!(known(&scope, "::site"), Some("lon".into()));
        assert_eq!(known(&scope, "facts.role"), None);
        assert_eq!(
            known(&scope, "trusted.certname"),
            Some("web01.lon.example.com".into())
        );
        assert_eq!(known(&scope, "environment"), Some("production".into()));
    }

    #[test]
    fn known_facts_of_a_node_are_kept() {
        let facts = Value::hash([("site", "nyc".into()), ("os", Value::hash([]))]);
        let mut node = Node::new("db1.lon", facts.as_hash().unwrap());
        let rule = NameRule {
            variables: vec![
                ("tier".into(), 2.into()),
                ("gone".into(), "%{other}".into()),
            ],
            facts: vec![
                ("site".into(), "%{site}".into()),
                ("facts.os.family".into(), "Debian".into()),
            ],
            extensions: vec![("pp_role".into(), "%{role}-%{site}".into())],
            ..rule(r"^(?<role>\D+)\d\.(?<site>.*)(?<other>x)?$")
        };
        assert!(rule.apply(&mut node));
        let scope = node.scope("production");
        assert_eq!(known(&scope, "facts.site"), Some("nyc".into()));
        assert_eq!(known(&scope, "facts.os.family"), Some("Debian".into()));
        assert_eq!(known(&scope, "tier"), Some(2.into()));
        assert_eq!(known(&scope, "gone"), None);
        assert_eq!(
            known(&scope, "trusted.extensions.pp_role"),
            Some("db-lon".into())
        );
    }
}
