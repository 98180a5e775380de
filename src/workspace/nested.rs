//! The keys below a top-level key, on demand: facts have top-level keys only.

use super::facts::KeyFact;
use super::file::File;
use super::snapshot::{Snapshot, own_format};
use crate::interpolation::Segment;
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::syntax::{NodeId, NodeKind, ScalarStyle, Tree};
use crate::text::TextRange;

/// A key below a top-level key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NestedKey {
    /// The segments from the top-level key to it, including its own; elements of lists by index.
    pub path: Vec<Segment>,
    /// The range of the key.
    pub key: TextRange,
    /// The range of its value.
    pub value: TextRange,
}

impl Snapshot {
    /// The keys below a top-level key, in the order of the text, without those from an alias or a
    /// merge key. O(nodes of the file) if the file's tree is not cached, else O(log keys + nodes of
    /// the value).
    #[must_use]
    pub fn nested_keys(&self, file: &File, fact: &KeyFact) -> Vec<NestedKey> {
        let parse = self.parse_around(file, own_format(file), fact.key.start as usize);
        let mut found = Vec::new();
        if let Some((_, value)) = parse.tree.entry_at(fact.key) {
            collect(&parse.tree, value, &mut Vec::new(), &mut found);
        }
        found
    }
}

/// Adds the keys below a node. Trees are no deeper than [`crate::syntax::MAX_DEPTH`].
fn collect(tree: &Tree, at: NodeId, path: &mut Vec<Segment>, found: &mut Vec<NestedKey>) {
    match &tree.node(at).kind {
        NodeKind::Mapping(pairs) => {
            for &(key, value) in pairs {
                let Some(segment) = segment(tree, key) else {
                    continue;
                };
                path.push(segment);
                found.push(NestedKey {
                    path: path.clone(),
                    key: tree.node(key).range,
                    value: tree.node(value).full_range(),
                });
                collect(tree, value, path, found);
                path.pop();
            }
        }
        NodeKind::Sequence(elements) => {
            for (index, &element) in elements.iter().enumerate() {
                path.push(Segment::Index(index as i64));
                collect(tree, element, path, found);
                path.pop();
            }
        }
        NodeKind::Scalar(_) | NodeKind::Alias { .. } => {}
    }
}

/// The segment of a dotted key that digs a key out of a hash; `None` for keys that cannot be dug.
fn segment(tree: &Tree, key: NodeId) -> Option<Segment> {
    let node = tree.node(key);
    let scalar = node.as_scalar()?;
    if scalar.style != ScalarStyle::Plain || node.tag.is_some() {
        return Some(Segment::Name(scalar.text.clone()));
    }
    match resolve_plain(&scalar.text) {
        Resolved::String => Some(Segment::Name(scalar.text.clone())),
        Resolved::Int(number) => Some(Segment::Index(number)),
        Resolved::Null
        | Resolved::Bool(_)
        | Resolved::BigInt(_)
        | Resolved::Float(_)
        | Resolved::Symbol(_)
        | Resolved::Date
        | Resolved::Time
        | Resolved::Invalid { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::interpolation::Segment;
    use crate::workspace::{Change, Workspace};

    #[test]
    fn every_nested_key_has_its_path_and_places() {
        let text = "top: 0\nk: &x\n  a:\n    - b: {c: 1}\n    - 2: d\n  'e.f': *x\n";
        let json = "{\"k\": {\"a\": [{\"b\": 1}]}}";
        let conf = "k { a.b = 1 }\n";
        let shown = |name: &str, text: &str| {
            let workspace = Workspace::new();
            let path = format!("/w/data/{name}");
            let snapshot = workspace.apply(Change::Open {
                path: path.as_str().into(),
                text: text.into(),
                version: 1,
            });
            let file = snapshot.file(&path).expect("it is open");
            let fact = file.facts().key("k").expect("it has the key");
            let keys = snapshot.nested_keys(file, fact).into_iter().map(|nested| {
                let path: Vec<String> = nested.path.iter().map(Segment::to_string).collect();
                let (key, value) = (nested.key.slice(text), nested.value.slice(text));
                format!("{} <{key}> <{value}>", path.join("."))
            });
            keys.collect::<Vec<String>>().join("\n")
        };
        expect_test::expect![[r#"
            a <a> <- b: {c: 1}
                - 2: d>
            a.0.b <b> <{c: 1}>
            a.0.b.c <c> <1>
            a.1.2 <2> <d>
            e.f <'e.f'> <*x>"#]]
        .assert_eq(&shown("a.yaml", text));
        expect_test::expect![[r#"
            a <"a"> <[{"b": 1}]>
            a.0.b <"b"> <1>"#]]
        .assert_eq(&shown("a.json", json));
        expect_test::expect![[r#"
            a <a> <b = 1>
            a.b <b> <1>"#]]
        .assert_eq(&shown("a.conf", conf));
    }
}
