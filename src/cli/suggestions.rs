//! Suggestions for unknown names on the command line.

use std::sync::Arc;

use super::terminal::shown;
use crate::analysis::{NodeSet, RootView, environments_below, keys_of_all, quoted};
use crate::disk::DiskFiles;
use crate::ide::document::matrix::no_data;
use crate::interpolation::Key;
use crate::scope::DEFAULT_ENVIRONMENT;
use crate::text::{nearest, nearest_host};
use crate::workspace::{LOOKUP_OPTIONS, path};

/// The wildcard in a pattern of keys.
const ANY: char = '*';

/// A suffix for a message: `: did you mean 'x'?`, or empty.
pub(super) fn hint<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    match nearest(name, known) {
        Some(known) => format!(": did you mean '{known}'?"),
        None => String::new(),
    }
}

/// The error for a node that is in none of the nodes files.
pub(super) fn no_node(name: &str, known: &NodeSet) -> String {
    let files: Vec<&str> = known.paths().map(shown).collect();
    if files.is_empty() {
        return format!("node '{name}' is not known: name a file with --nodes");
    }
    let names = known.nodes.all().iter().map(|node| &*node.certname);
    let hint = match (nearest_host(name, names), known.nodes.all()) {
        (Some(known), _) => format!("did you mean '{known}'?"),
        // Saved facts have another name than the node, if its certificate has.
        (None, [only]) => format!("there is only '{}'", only.certname),
        (None, _) => "give a file of its facts with --facts".to_owned(),
    };
    format!("node '{name}' is not in {}: {hint}", files.join(", "))
}

/// Refuses an environment that does not exist, as Puppet does, if a folder has several. A folder
/// that is a single environment may have any name.
///
/// # Errors
/// Lists the existing ones.
pub(super) fn is_environment(name: &str, folder: &str) -> Result<(), String> {
    /// Maximum number of environments in the message.
    const MOST: usize = 8;
    let known = environments_below(&DiskFiles::new(), folder);
    if known.len() < 2 || name == DEFAULT_ENVIRONMENT || known.iter().any(|known| **known == *name)
    {
        return Ok(());
    }
    let hint = hint(name, known.iter().map(|known| &**known));
    let mut names: Vec<&str> = known.iter().take(MOST).map(|known| &**known).collect();
    let more = format!("and {} more", known.len() - names.len());
    if known.len() > MOST {
        names.push(&more);
    }
    let all = path::join(folder, "environments");
    Err(format!(
        "there is no environment '{name}' in {} ({}){hint}",
        shown(&all),
        names.join(", ")
    ))
}

/// The keys of files that hierarchies read, for matching keys of the command line.
pub(super) struct KnownKeys(Vec<Arc<str>>);

impl KnownKeys {
    /// The keys of some hierarchies, also of several workspaces that are compared.
    pub(super) fn of<'v, 'a: 'v>(views: impl IntoIterator<Item = &'v RootView<'a>>) -> KnownKeys {
        KnownKeys(keys_of_all(views))
    }

    /// The requested keys: those named, and those that match a pattern such as `profile::*`. A
    /// named key that does not exist gives a message.
    pub(super) fn chosen(&self, requested: &[String]) -> (Vec<Arc<str>>, Vec<String>) {
        let (mut chosen, mut missing) = (Vec::new(), Vec::new());
        for name in requested {
            if self.is_set(name) {
                chosen.push(Arc::from(name.as_str()));
                continue;
            }
            let before = chosen.len();
            if name.contains(ANY) {
                chosen.extend(self.0.iter().filter(|key| matches(name, key)).cloned());
            }
            if chosen.len() == before {
                missing.push(self.no_key(name));
            }
        }
        (chosen, missing)
    }

    /// Whether a file sets the key, or the first segment of a dotted key.
    fn is_set(&self, name: &str) -> bool {
        let has = |key: &str| self.0.binary_search_by(|known| (**known).cmp(key)).is_ok();
        let has_root = |root: &str| has(&quoted(root));
        has(name) || Key::parse(name).is_ok_and(|key| key.root.as_name().is_some_and(has_root))
    }

    /// The message for a key that no file sets, with a suggestion.
    pub(super) fn no_key(&self, name: &str) -> String {
        if name == LOOKUP_OPTIONS {
            return no_data();
        }
        let below = format!("{}::", name.trim_end_matches(':'));
        let hint = match self.0.iter().find(|key| key.starts_with(&below)) {
            Some(_) if !name.contains(ANY) => format!(": '{below}*' matches keys that are set"),
            _ => hint(name, self.0.iter().map(|key| &**key)),
        };
        format!("no data sets '{name}'{hint}")
    }
}

/// Whether a pattern, in which `*` stands for any characters, matches the whole key.
fn matches(pattern: &str, key: &str) -> bool {
    let mut parts = pattern.split(ANY);
    let Some(mut rest) = parts.next().and_then(|first| key.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_keys() {
        for (pattern, key, is_match) in [
            ("a::*", "a::b", true),
            ("a::*", "a:b", false),
            ("*", "a", true),
            ("*::port", "a::b::port", true),
            ("*::port", "a::ports", false),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "ac", false),
            ("a*a", "a", false),
            ("a", "a", true),
        ] {
            assert_eq!(matches(pattern, key), is_match, "{pattern} {key}");
        }
    }

    #[test]
    fn names_that_name_nothing_are_explained() {
        let keys = ["'weird.key'", "a", "web::port", "web::user"].map(Arc::from);
        let keys = KnownKeys(keys.to_vec());
        let requested = [
            "web::*",
            "a.b",
            "\"weird.key\"",
            "web",
            "web::prot",
            "zzzzzz",
            "x::*",
        ];
        let requested = requested.map(str::to_owned);
        let (chosen, missing) = keys.chosen(&requested);
        assert_eq!(
            chosen,
            ["web::port", "web::user", "a.b", "\"weird.key\""].map(Arc::<str>::from)
        );
        assert_eq!(
            missing,
            [
                "no data sets 'web': 'web::*' matches keys that are set",
                "no data sets 'web::prot': did you mean 'web::port'?",
                "no data sets 'zzzzzz'",
                "no data sets 'x::*'",
            ]
        );
    }
}
