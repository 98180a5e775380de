//! Keys in expectations about data: `key: NAME` in the files of `spec/hiera`.

use super::named::Mention;
use super::target::KeyTarget;
use super::written_key::WrittenKey;
use crate::syntax::{Tree, TreeNode};
use crate::text::TextRange;
use crate::workspace::{File, Format, Snapshot, path};

/// The folder of a workspace's expectations.
pub const EXPECTATIONS_FOLDER: &str = "spec/hiera";

/// The member of an expectation with its key.
const MEMBER: &str = "key";

/// Whether a file holds expectations, by its path.
pub(crate) fn is_expectations(at: &str) -> bool {
    let mut below = at.match_indices(EXPECTATIONS_FOLDER);
    let is_folder = |(start, folder): (usize, &str)| {
        at[..start].ends_with('/') && at[start + folder.len()..].starts_with('/')
    };
    below.any(is_folder) && matches!(path::extension(at), Some("yaml" | "yml"))
}

/// The key at the byte at `offset` of a file of expectations, up to that segment.
pub(super) fn at(snapshot: &Snapshot, file: &File, offset: usize) -> Option<Mention> {
    let parse = snapshot.parse_of(file, Format::Yaml);
    let node = keys(&parse.tree).find(|node| node.range.touches(offset))?;
    written(file.text(), node)?.at(offset)
}

/// The places in a file of expectations with a key or its parts.
pub(super) fn places(snapshot: &Snapshot, file: &File, key: &KeyTarget) -> Vec<TextRange> {
    if !file.text().contains(&*key.root) {
        return Vec::new();
    }
    let parse = snapshot.parse_of(file, Format::Yaml);
    let place = |node| written(file.text(), node)?.place_of(&key.root, &key.steps);
    keys(&parse.tree).filter_map(place).collect()
}

fn keys(tree: &Tree) -> impl Iterator<Item = &TreeNode> {
    let root = tree.root().map(|root| tree.node(root));
    let elements = root.and_then(TreeNode::as_sequence).unwrap_or_default();
    let pairs = elements.iter().flat_map(|element| {
        let pairs = tree.node(*element).as_mapping();
        pairs.unwrap_or_default()
    });
    let members = pairs.filter(|(key, _)| {
        let name = tree.scalar_text(*key);
        name.is_some_and(|name| **name == *MEMBER)
    });
    members.map(|(_, value)| tree.node(*value))
}

/// The key in a value; `None` if it is written with escapes.
fn written<'n>(text: &str, node: &'n TreeNode) -> Option<WrittenKey<'n>> {
    let key = &node.as_scalar()?.text;
    let start = node.range.start as usize + node.range.slice(text).find(&**key)?;
    let plain = TextRange::new(start, start + key.len());
    Some(WrittenKey {
        key,
        plain: Some(plain),
        whole: node.range,
    })
}
