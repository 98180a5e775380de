//! The ranges of mistakes in a configuration.

use super::super::context::entry;
use crate::datatype::{MismatchKind, Step};
use crate::hierarchy::{ConfigRule, LOCATION_KEYS};
use crate::syntax::{NodeId, Tree};
use crate::text::TextRange;

pub(super) const TOP_KEYS: [&str; 5] = [
    "version",
    "defaults",
    "hierarchy",
    "plan_hierarchy",
    "default_hierarchy",
];

/// The range of the part of a level that breaks a rule.
pub(super) fn place_of_rule(tree: &Tree, level: NodeId, rule: &ConfigRule) -> TextRange {
    let second = |names: &[&str]| {
        let mut keys: Vec<NodeId> = names
            .iter()
            .filter_map(|name| entry(tree, level, name))
            .map(|(key, _)| key)
            .collect();
        keys.sort_unstable();
        keys.get(1).or(keys.first()).copied()
    };
    let key = match rule {
        ConfigRule::Locations { .. } => second(&LOCATION_KEYS),
        ConfigRule::Functions { .. } => {
            second(&["data_hash", "lookup_key", "data_dig", "hiera3_backend"])
        }
        ConfigRule::ReservedOption { option, .. } => entry(tree, level, "options")
            .and_then(|(_, options)| entry(tree, options, option))
            .map(|(key, _)| key),
        ConfigRule::BackendOutsideGlobal | ConfigRule::BackendOfDataHash(_) => {
            second(&["hiera3_backend"])
        }
        ConfigRule::NoFunction { .. }
        | ConfigRule::Version(_)
        | ConfigRule::FunctionsInDefaults
        | ConfigRule::ReservedOptionInDefaults { .. }
        | ConfigRule::DefaultHierarchyOutsideModule => {
            entry(tree, level, "name").map(|(_, value)| value)
        }
    };
    tree.node(key.unwrap_or(level)).range
}

/// The range of a mismatch: its path is followed from a node as far as possible.
pub(super) fn place_of_mismatch(
    tree: &Tree,
    from: NodeId,
    path: &[Step],
    kind: &MismatchKind,
) -> TextRange {
    let mut node = from;
    let key_range =
        |node: NodeId, name: &str| entry(tree, node, name).map(|(key, _)| tree.node(key).range);
    for step in path {
        match step {
            Step::Entry(name) => match entry(tree, node, name) {
                Some((_, value)) if !tree.node(value).range.is_empty() => node = value,
                Some((key, _)) => return tree.node(key).range,
                None => return start(tree, node),
            },
            Step::Index(index) => {
                let elements = tree.node(tree.resolve(node)).as_sequence();
                match elements.and_then(|elements| elements.get(*index)) {
                    Some(&element) => node = element,
                    None => return start(tree, node),
                }
            }
            Step::EntryKey(name) => return key_range(node, name).unwrap_or(tree.node(node).range),
            Step::Variant(_) | Step::Alias(_) | Step::Parameter(_) | Step::Signature(_) => {}
        }
    }
    if let MismatchKind::UnknownKey(name) = kind {
        return key_range(node, name).unwrap_or(tree.node(node).range);
    }
    start(tree, node)
}

/// The range of a mapping's first key; of the whole node otherwise.
fn start(tree: &Tree, node: NodeId) -> TextRange {
    match tree.node(tree.resolve(node)).as_mapping() {
        Some([(key, _), ..]) => tree.node(*key).range,
        Some([]) | None => tree.node(node).range,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::Range;
    use crate::syntax::parse_yaml;

    #[test]
    fn mismatches_are_reported_at_their_ranges() {
        let text = "version: 5\nhierachy: []\ndefaults: {path: x}\nhierarchy:\n- {name: a, paths: []}\n- {path: y, options: {1a: z}}\n";
        let tree = parse_yaml(text).tree;
        let root = tree.root().unwrap();
        let at = |path: &[Step], kind: MismatchKind| {
            place_of_mismatch(&tree, root, path, &kind)
                .slice(text)
                .to_owned()
        };
        let entry = |key: &str| Step::Entry(key.to_owned());
        let unknown = |key: &str| MismatchKind::UnknownKey(key.to_owned());
        let missing = |key: &str| MismatchKind::MissingKey(key.to_owned());
        assert_eq!(at(&[], unknown("hierachy")), "hierachy");
        assert_eq!(at(&[entry("defaults")], unknown("path")), "path");
        let paths = [entry("hierarchy"), Step::Index(0), entry("paths")];
        let size = MismatchKind::Size {
            expected: Range::at_least(1),
            actual: Range::of(0, 0),
        };
        assert_eq!(at(&paths, size.clone()), "[]");
        let level = [entry("hierarchy"), Step::Index(1)];
        assert_eq!(at(&level, missing("name")), "path");
        let option = [
            entry("hierarchy"),
            Step::Index(1),
            entry("options"),
            Step::EntryKey("1a".to_owned()),
        ];
        assert_eq!(at(&option, size.clone()), "1a");
        assert_eq!(at(&[Step::Variant(0), entry("version")], size), "5");
    }
}
