//! What a workspace reads of a node: the facts, trusted data and variables in paths of levels, in
//! values, and in the manifests that run for every node.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Analysis;
use super::site::manifests_of;
use crate::interpolation::{Key, Segment};
use crate::scope::{Completeness, Told};
use crate::syntax::puppet::{self, Dialect, Expression, ExpressionKind, without_colons};

/// What is needed of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Needed {
    /// The needed parts.
    pub parts: Completeness,
    /// Whether something reads all facts at once: `parts` does not have them.
    pub reads_all_facts: bool,
    /// Why Puppet refuses the hierarchies of environments: what these need is not known.
    pub refused: Vec<String>,
}

/// Names that are neither facts nor set for single nodes.
const OF_SERVER: [&str; 4] = ["environment", "server_facts", "module_name", "clientcert"];

impl Analysis<'_> {
    /// What all environments and modules of the workspace read of a node. A top-scope variable can
    /// be a fact or a classifier's, so it is needed as both. O(tokens + manifests).
    #[must_use]
    pub fn needed(self) -> Needed {
        let mut needed = Needed {
            parts: Completeness::nothing(),
            reads_all_facts: false,
            refused: Vec::new(),
        };
        let roots = self.snapshot.roots();
        for root in roots.iter() {
            for used in self.at(root).level_variables() {
                needed.add_name(&used.name);
            }
        }
        let names = self.snapshot.files().flat_map(|it| it.facts().variables());
        // A similar syntax of other programs (`%{X-Forwarded-For}i`) is no variable.
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_.:'\"".contains(c);
        let names: BTreeSet<&Arc<str>> = names.map(|used| &used.name).collect();
        let names = names.into_iter();
        names
            .filter(|name| name.chars().all(is_name))
            .for_each(|name| needed.add_name(name));
        for root in roots.environments() {
            let view = self.at(root);
            let outline = view.session().outline(&view.layer);
            needed
                .refused
                .extend(outline.err().map(|error| error.to_string()));
            for file in manifests_of(self.snapshot, root).files {
                let parse = puppet::parse(file.text(), Dialect::Manifest);
                needed.add_code(&parse.root);
            }
        }
        needed
    }
}

impl Needed {
    /// Adds a variable as it is written in a token.
    fn add_name(&mut self, name: &str) {
        let name = name.strip_prefix("::").unwrap_or(name);
        if let Ok(key) = Key::parse(name)
            && let Segment::Name(root) = key.root
        {
            self.add(&root, key.segments);
        }
    }

    fn add(&mut self, root: &str, path: Vec<Segment>) {
        let parts = &mut self.parts;
        match root {
            "facts" if path.is_empty() => self.reads_all_facts = true,
            "facts" => parts.facts.add_path(path),
            "trusted" if path.is_empty() => parts.trusted = Told::All,
            "trusted" => parts.trusted.add_path(path),
            _ if root.contains("::") || OF_SERVER.contains(&root) => {}
            _ => {
                let is_variable = root.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
                if is_variable {
                    let whole = vec![Segment::Name(Arc::from(root))];
                    parts.variables.add_path(whole.clone());
                    let path = whole.into_iter().chain(path).collect();
                    parts.facts.add_path(path);
                }
            }
        }
    }

    /// Adds the variables that code reads, by the names after them as far as these are texts.
    fn add_code(&mut self, node: &Expression) {
        match read_path(node) {
            Some((name, path)) => self.add(without_colons(name), path),
            None => node.kind.each(&mut |part| self.add_code(part)),
        }
    }
}

/// The variable and the names in `$facts['os']['family']`; `None` for other expressions.
fn read_path(node: &Expression) -> Option<(&str, Vec<Segment>)> {
    match &node.kind {
        ExpressionKind::Variable(name) => Some((name, Vec::new())),
        ExpressionKind::Access(left, keys) => {
            let (name, mut path) = read_path(left)?;
            let [key] = keys.as_slice() else { return None };
            path.push(Segment::Name(Arc::from(key.literal()?)));
            Some((name, path))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;
    use crate::lookup::{ConfigCache, PuppetVersion, Settings};
    use crate::scope::{KnownNodes, written};

    fn needed(files: &str) -> String {
        let snapshot = Fixture::new("hiera.yaml", files).on_disk();
        let settings = Settings::for_version(PuppetVersion::V8);
        let (configs, nodes) = (ConfigCache::default(), KnownNodes::default());
        let needed = Analysis::new(&snapshot, &settings, &configs, &nodes).needed();
        let of = |told: &Told| match told.outermost() {
            None => "all".to_owned(),
            Some(paths) => {
                let paths: Vec<String> = paths.iter().map(|path| written(path)).collect();
                paths.join(" ")
            }
        };
        let parts = &needed.parts;
        format!(
            "{} | {} | {} | {}",
            of(&parts.facts),
            of(&parts.trusted),
            of(&parts.variables),
            needed.reads_all_facts
        )
    }

    const HIERA: &str = "version: 5\ndefaults: {datadir: 'data/%{facts.tier}', data_hash: yaml_data}\nhierarchy:\n\
        - {name: N, path: 'nodes/%{trusted.certname}.yaml'}\n\
        - {name: R, paths: ['%{::role}.yaml', '%{facts.os.family}/%{trusted.extensions.pp_role}.yaml']}\n\
        - {name: M, mapped_paths: [facts.services, it, '%{it}/%{environment}.yaml']}\n\
        - {name: G, globs: ['g/%{facts.group}/*.yaml']}\n";

    #[test]
    fn paths_values_and_manifests_tell_what_is_needed() {
        assert_eq!(
            needed(HIERA),
            "group os.family role services tier | certname extensions.pp_role | role | false"
        );
        let data = "#- hiera.yaml\nversion: 5\n#- data/common.yaml\na: '%{facts.os.name} %{site} %{::ntp::x}'\n\
                    b: \"%{scope('facts.\\\"a.b\\\".c')} %{X-Forwarded-For}i %{lookup('k')} %{trusted}\"\n";
        let all = needed(data);
        assert_eq!(all, "\"a.b\".c os.name site | all | site | false");
        let code = "#- hiera.yaml\nversion: 5\n#- manifests/site.pp\n\
                    if $facts['os']['family'] == 'x' { $tier = \"${trusted['extensions']['pp_role']} ${::zone}\" }\n\
                    node default { include $facts['disks'][$n] }\n\
                    #- modules/a/manifests/init.pp\nclass a { $x = $facts['only_a_class'] }\n";
        assert_eq!(
            needed(code),
            "disks n os.family tier zone | extensions.pp_role | n tier zone | false"
        );
        let whole = "#- hiera.yaml\nversion: 5\n#- manifests/site.pp\n$facts.each |$k, $v| { notice($k) }\n";
        assert!(needed(whole).ends_with("true"));
    }
}
