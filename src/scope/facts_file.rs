//! Puppet's checks of a facts file for `puppet lookup --facts` (`puppet/application/lookup.rb`,
//! `puppet/node.rb`), and of facts that make every compilation fail. It must not know where a file
//! comes from.

use std::borrow::Cow;

use crate::value::{HashMap, StrKey, Value};

/// Facts that name a node: a file has all of them or none (`TRUSTED_INFORMATION_FACTS`).
const NAMING: [&str; 4] = ["hostname", "domain", "fqdn", "clientcert"];

/// Variables that Puppet itself sets in the top scope after those of the node
/// (`Puppet::Resource::Type#set_resource_parameters` of the class `main`).
pub(super) const OF_MAIN: [&str; 3] = ["module_name", "title", "name"];

/// Why `puppet lookup` refuses a facts file, in its words; `None` if it accepts it.
#[must_use]
pub fn refused_facts(facts: &HashMap, path: &str) -> Option<String> {
    let has = |name: &&str| facts.contains_key(&StrKey(name));
    if NAMING.iter().any(has) && !NAMING.iter().all(has) {
        let names = NAMING.join(",");
        return Some(format!(
            "When overriding any of the {names} facts with {path} given via the --facts flag, \
             they must all be overridden."
        ));
    }
    let names = facts.keys().map(name_of);
    let problem = refused_variables(names.filter(|name| name != "trusted"))?;
    Some(format!("{path}: {problem}"))
}

/// Why no catalog is compiled for a node with top-scope variables or facts of these names, in
/// Puppet's words (`Puppet::Parser::Scope#setvar`); `None` if one is.
#[must_use]
pub fn refused_variables<'a>(names: impl Iterator<Item = Cow<'a, str>>) -> Option<String> {
    let mut of_main = None;
    for name in names.filter(|name| name != "environment") {
        if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(format!(
                "Cannot assign to a numeric match result variable '${name}'"
            ));
        }
        if matches!(&*name, "trusted" | "facts" | "server_facts") {
            return Some(format!(
                "Attempt to assign to a reserved variable name: '{name}'"
            ));
        }
        let at = OF_MAIN.iter().position(|set| **set == *name);
        of_main = [of_main, at].into_iter().flatten().min();
    }
    of_main.map(|at| format!("Cannot reassign variable '${}'", OF_MAIN[at]))
}

/// A fact's name as a variable name.
pub fn name_of(fact: &Value) -> Cow<'_, str> {
    match fact {
        Value::String(name) => Cow::Borrowed(name),
        other => Cow::Owned(other.to_s()),
    }
}

/// Whether a fact of that name does not become a variable: Puppet sets it itself.
pub(super) fn is_of_main(name: &str) -> bool {
    OF_MAIN.contains(&name)
}

/// The trusted data among a node's facts, in PuppetDB's form (`Puppet::Node#sanitize`).
pub(super) fn trusted_in(facts: &HashMap) -> Option<HashMap> {
    let trusted = facts.get(&StrKey("trusted"))?;
    let parts = ["authenticated", "certname", "extensions"];
    let is_whole = parts.into_iter().all(|part| trusted.get(part).is_some());
    trusted.as_hash().filter(|_| is_whole).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_refused_in_the_words_of_puppet() {
        let refused = |names: &[&str]| {
            let facts = names.iter().map(|name| (*name, Value::from("x")));
            refused_facts(Value::hash(facts).as_hash().unwrap(), "/f.yaml")
        };
        let all = ["fqdn", "hostname", "domain", "clientcert", "role"];
        assert_eq!(refused(&all), None);
        assert_eq!(refused(&["role", "trusted", "environment", "Name"]), None);
        assert_eq!(
            refused(&["role", "domain"]).as_deref(),
            Some(
                "When overriding any of the hostname,domain,fqdn,clientcert facts with /f.yaml \
                 given via the --facts flag, they must all be overridden."
            )
        );
        for (names, message) in [
            (&["name", "title"][..], "Cannot reassign variable '$title'"),
            (
                &["name", "module_name"],
                "Cannot reassign variable '$module_name'",
            ),
            (
                &["name", "12"],
                "Cannot assign to a numeric match result variable '$12'",
            ),
            (
                &["facts"],
                "Attempt to assign to a reserved variable name: 'facts'",
            ),
            (
                &["a", "server_facts", "7"],
                "Attempt to assign to a reserved variable name: 'server_facts'",
            ),
        ] {
            assert_eq!(refused(names), Some(format!("/f.yaml: {message}")));
        }
    }
}
