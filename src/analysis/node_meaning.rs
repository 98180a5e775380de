//! The setting that gives names of nodes a meaning: patterns with named groups, or a table.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::regexp::Regexp;
use crate::scope::NameRule;
use crate::value::{Value, from_json};

/// The meaning of some names. Texts in the values contain `%{name}` for the pattern's groups;
/// without values, the groups are the variables.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct NodeMeaning {
    /// The pattern of names, in Ruby's syntax.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The meaning of single names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, Meaning>,
    /// Variables of the top scope.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: ValuesByName,
    /// Facts, by their dotted paths.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: ValuesByName,
    /// Extensions of the certificate.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extensions: ValuesByName,
}

/// Values by name.
type ValuesByName = BTreeMap<String, serde_json::Value>;

/// The meaning of one name.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Meaning {
    /// Variables of the top scope.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: ValuesByName,
    /// Facts, by their dotted paths.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: ValuesByName,
    /// Extensions of the certificate.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extensions: ValuesByName,
}

/// The rules of some meanings, highest priority first. An invalid pattern has no rule: it is
/// reported where it is set.
#[must_use]
pub fn name_rules(meanings: &[NodeMeaning]) -> Vec<NameRule> {
    let mut rules = Vec::new();
    for meaning in meanings {
        let names = meaning.names.iter();
        rules.extend(names.map(|(name, meaning)| NameRule {
            name: name.clone(),
            variables: values(&meaning.variables),
            facts: values(&meaning.facts),
            extensions: values(&meaning.extensions),
            ..NameRule::default()
        }));
        let pattern = meaning.pattern.as_deref().map(Regexp::new);
        if let Some(Ok(pattern)) = pattern {
            rules.push(NameRule {
                pattern: Some(pattern),
                name: String::new(),
                variables: values(&meaning.variables),
                facts: values(&meaning.facts),
                extensions: values(&meaning.extensions),
            });
        }
    }
    rules
}

fn values(given: &ValuesByName) -> Vec<(String, Value)> {
    let values = given.iter();
    let values = values.filter_map(|(name, value)| {
        let value = from_json(&value.to_string()).ok()?;
        Some((name.clone(), value))
    });
    values.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::Node;
    use crate::value::StrKey;

    #[test]
    fn node_names_get_facts_from_a_table_and_patterns() {
        let text = "- names:\n    db1: {variables: {role: special, tier: 2}}\n\
                    - match: '^(?<role>[a-z]+)\\d'\n\
                    - {match: '(', variables: {role: never}}\n";
        let meanings: Vec<NodeMeaning> = serde_yaml::from_str(text).unwrap();
        let rules = name_rules(&meanings);
        assert_eq!(rules.len(), 2);
        let role = |name: &str| {
            let mut node = Node::named(name);
            rules.iter().for_each(|rule| {
                rule.apply(&mut node);
            });
            node.variables.get(&StrKey("role")).cloned()
        };
        assert_eq!(role("db1"), Some("special".into()));
        assert_eq!(role("web2"), Some("web".into()));
        assert_eq!(role("2"), None);
    }
}
