//! Reads a file that describes nodes or facts. It must not know where the file comes from or how it
//! is used.

use std::sync::Arc;

use crate::scope::{
    Nodes, NodesError, json_names_nodes, names_nodes, plain_yaml, read_json_nodes, read_nodes,
    refused_facts,
};
use crate::value::{HashMap, StrKey, Value, from_json, load_yaml, symbol_keys_to_strings};
use crate::workspace::path;

/// Extensions of files that describe nodes.
const ENDINGS: [&str; 4] = [".json", ".yaml", ".yml", ".facts"];

/// A file that describes nodes or facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeFile {
    /// Its path.
    pub path: Arc<str>,
    /// Its text.
    pub text: Arc<str>,
}

/// Whether a file has an extension of files that describe nodes: those of a folder of them are read.
#[must_use]
pub fn has_nodes_extension(name: &str) -> bool {
    ENDINGS.iter().any(|end| name.ends_with(end))
}

/// The facts inside the wrapper of `puppet facts` or of Puppet's fact cache.
fn wrapped_facts(value: &Value) -> Option<&Value> {
    let facts = value.get("values")?;
    let is_wrapped = facts.as_hash().is_some() && value.get("name").is_some();
    is_wrapped.then_some(facts)
}

/// Why Puppet fails for the name that facts give their node (`TrustedInformation`).
fn not_a_name(facts: &HashMap) -> Option<&'static str> {
    let name = facts.get(&StrKey("clientcert"))?;
    let is_one = name.as_str().is_some() || name.is_undef();
    (!is_one).then_some("the fact 'clientcert' is not a string, and Puppet fails on it")
}

impl NodeFile {
    /// Whether the file describes several nodes: see [`names_nodes`]. True for a file that cannot
    /// be read.
    #[must_use]
    pub fn names_nodes(&self) -> bool {
        let json = || Ok(json_names_nodes(&self.text));
        let yaml = || Ok(self.yaml().map_or(true, |value| names_nodes(&value)));
        self.by_name(json, yaml).unwrap_or(true)
    }

    /// The nodes of a nodes file, or of facts saved in any form, over common facts.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    pub fn nodes(&self, common: &HashMap) -> Result<Nodes, String> {
        let name = path::name(&self.path);
        let stem = ENDINGS.iter().find_map(|end| name.strip_suffix(end));
        let stem = stem.unwrap_or(name);
        let named = |error: NodesError| format!("{}: {}", self.path, error.message);
        let json = || read_json_nodes(&self.text, stem, common).map_err(named);
        let yaml = || read_nodes(&self.yaml()?, stem, common).map_err(named);
        self.by_name(json, yaml)
    }

    /// The facts of a facts file: a hash of facts as `puppet lookup --facts` takes it, or wrapped
    /// as by `puppet facts` or Puppet's fact cache.
    ///
    /// # Errors
    /// Why it cannot be read, or why Puppet refuses it, in words.
    pub fn facts(&self) -> Result<HashMap, String> {
        let json = || from_json(&self.text).map_err(|error| format!("{}: {error}", self.path));
        let yaml = || match self.yaml() {
            Ok(value) if wrapped_facts(&value).is_some() => Ok(value),
            Ok(_) | Err(_) => self.plain_facts(),
        };
        let value = self.by_name(json, yaml)?;
        let wrapped = wrapped_facts(&value);
        let Some(facts) = wrapped.unwrap_or(&value).as_hash() else {
            // puppet/application/lookup.rb
            return Err(format!(
                "Incorrectly formatted data in {} given via the --facts flag (only accepts yaml \
                 and json files)",
                self.path
            ));
        };
        match refused_facts(facts, &self.path).filter(|_| wrapped.is_none()) {
            Some(problem) => Err(problem),
            None => Ok(facts.clone()),
        }
    }

    /// The facts of a file for `puppet lookup --facts`, which takes no facts inside of a wrapper.
    ///
    /// # Errors
    /// Why it cannot be read, or why Puppet refuses it, in words.
    pub fn facts_of_lookup(&self) -> Result<HashMap, String> {
        let facts = self.facts()?;
        let read = || match self.by_name(
            || from_json(&self.text).map_err(|error| error.to_string()),
            || self.plain_facts(),
        ) {
            Ok(Value::Hash(whole)) => refused_facts(&whole, &self.path),
            Ok(_) => None,
            Err(problem) => Some(problem),
        };
        match read() {
            Some(problem) => Err(format!(
                "{problem}: puppet lookup takes only the hash of facts, which is below 'values' here; --nodes takes \
                 the file as it is"
            )),
            None => not_a_name(&facts).map_or(Ok(facts), |problem| {
                Err(format!("{}: {problem}", self.path))
            }),
        }
    }

    /// A YAML text of facts. Puppet accepts no Ruby classes in it, not even symbols.
    fn plain_facts(&self) -> Result<Value, String> {
        let value = load_yaml(self.text.as_bytes()).map_err(|error| error.message(&self.path))?;
        if value.any(&|part| matches!(part, Value::Symbol(_))) {
            Err(format!(
                "({}): Tried to load unspecified class: Symbol",
                self.path
            ))
        } else {
            Ok(value)
        }
    }

    /// Reads as JSON or YAML, by extension; other files are tried as JSON, then as YAML
    /// (puppet/application/lookup.rb).
    fn by_name<T>(
        &self,
        json: impl FnOnce() -> Result<T, String>,
        yaml: impl FnOnce() -> Result<T, String>,
    ) -> Result<T, String> {
        match self.path.rsplit_once('.') {
            Some((_, "json")) => json(),
            Some((_, "yaml" | "yml")) => yaml(),
            Some(_) | None => json().or_else(|_| yaml()),
        }
    }

    fn yaml(&self) -> Result<Value, String> {
        load_yaml(plain_yaml(&self.text).as_bytes())
            .map(symbol_keys_to_strings)
            .map_err(|error| error.message(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(path: &str, text: &str) -> Result<HashMap, String> {
        let file = NodeFile {
            path: Arc::from(path),
            text: Arc::from(text),
        };
        file.facts()
    }

    #[test]
    fn a_facts_file_is_refused_where_puppet_refuses_it() {
        for (text, message) in [
            (
                "ip: ::1\n",
                "(/f.yaml): Tried to load unspecified class: Symbol",
            ),
            (
                ":role: web\n",
                "(/f.yaml): Tried to load unspecified class: Symbol",
            ),
            (
                "d: 2024-01-02\n",
                "(/f.yaml): Tried to load unspecified class: Date",
            ),
            (
                "--- !ruby/object:Puppet::Node::Facts\nvalues: {role: web}\n",
                "(/f.yaml): Tried to load unspecified class: Puppet::Node::Facts",
            ),
            (
                "- role\n",
                "Incorrectly formatted data in /f.yaml given via the --facts flag (only accepts \
                 yaml and json files)",
            ),
            (
                "role: web\nhostname: h\n",
                "When overriding any of the hostname,domain,fqdn,clientcert facts with /f.yaml \
                 given via the --facts flag, they must all be overridden.",
            ),
            (
                "name: n\nrole: web\n",
                "/f.yaml: Cannot reassign variable '$name'",
            ),
            (
                "2: x\n",
                "/f.yaml: Cannot assign to a numeric match result variable '$2'",
            ),
        ] {
            assert_eq!(facts("/f.yaml", text), Err(message.to_owned()), "{text}");
        }
        let quoted = facts("/f.yaml", "ip: '::1'\n").unwrap();
        assert_eq!(Value::from(quoted).get("ip"), Some(&"::1".into()));
    }

    /// Facts saved by Puppet are not valid for `--facts`, but are read here.
    #[test]
    fn facts_that_puppet_saved_are_taken_as_they_are() {
        for text in [
            "--- !ruby/object:Puppet::Node::Facts\nname: n\nvalues:\n  hostname: h\n  ip: ::1\n",
            "name: n\nvalues: {hostname: h}\n",
        ] {
            let facts = facts("/f.yaml", text).unwrap();
            assert_eq!(
                Value::from(facts).get("hostname"),
                Some(&"h".into()),
                "{text}"
            );
        }
    }
}
