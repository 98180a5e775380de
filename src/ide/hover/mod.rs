//! What is under the cursor, and what it means for the nodes: effective values with where they
//! come from, how sure that is, and for whom.
//!
//! One file for each kind of thing: a key (top-level or nested), a token, an entry of
//! `lookup_options`, a path of `hiera.yaml`, an encrypted value, a word of the configuration.
//!
//! ```
//! use hiera_ls::ide::{KnownNodes, hover::{HoverOptions, hover}};
//! use hiera_ls::lookup::{ConfigCache, PuppetVersion, Settings};
//! use hiera_ls::workspace::{Change, Workspace};
//!
//! let workspace = Workspace::new();
//! workspace.apply(Change::Folders(vec!["/repo".into()]));
//! let open = |path: &str, text: &str| workspace.apply(Change::Open {
//!     path: path.into(),
//!     text: text.into(),
//!     version: 1,
//! });
//! open("/repo/hiera.yaml", "version: 5\nhierarchy: [{name: common, path: common.yaml}]\n");
//! let snapshot = open("/repo/data/common.yaml", "ntp::servers: [a, b]\n");
//! let settings = Settings::for_version(PuppetVersion::V8).for_editor();
//! let (configs, nodes) = (ConfigCache::default(), KnownNodes::default());
//! let options = HoverOptions::new(&settings, &configs, &nodes);
//! let found = hover(&snapshot, "/repo/data/common.yaml", 0, &options);
//! assert_eq!(
//!     found.map(|hover| hover.plain).as_deref(),
//!     Some("ntp::servers — first found, for every node that reads this file\n  \
//!           - a\n  - b\ncommon.yaml:1 sets it"),
//! );
//! ```

mod answers;
mod blob;
mod certain;
mod ground;
mod key;
mod levels;
mod location;
mod lookup_options;
mod over_nodes;
mod page;
mod provenance;
mod token;
mod unseen;
mod word;
mod yaml;

use std::sync::Arc;

use crate::interpolation::{Key, Segment};
use crate::lookup::{ConfigCache, LookupError, Settings};
use crate::scope::KnownNodes;
use crate::syntax::{Node, NodeId, NodeKind, Tree};
use crate::text::TextRange;
use crate::value::Value;
use crate::workspace::{Snapshot, parse};
pub use blob::{Revealed, plain_text};
pub use certain::Certainties;
use ground::Ground;
pub use unseen::add_unless;

/// Makes a link's target from a path and a line (from 1).
pub type Link<'a> = &'a (dyn Fn(&str, u32) -> String + Sync);

/// Makes the target of a link that shows the plain text of the encrypted value at a byte of the file.
pub type RevealLink<'a> = &'a (dyn Fn(usize) -> String + Sync);

/// How a client shows the plain text of an encrypted value, where the user has turned decryption
/// on: behind a command, never in the hover.
#[derive(Clone, Copy)]
pub struct Reveal<'a> {
    /// The name of the command.
    pub command: &'a str,
    /// Links that run it, for clients that follow such links.
    pub link: Option<RevealLink<'a>>,
}

/// Makes the target of a link to the whole value of a key, as it is looked up.
pub type ValueLink<'a> = &'a (dyn Fn(&str) -> String + Sync);

/// How a client shows the whole of a value that a hover cuts.
#[derive(Clone, Copy)]
pub struct WholeValue<'a> {
    /// The name of the command.
    pub command: &'a str,
    /// Links that run it, for clients that follow such links.
    pub link: Option<ValueLink<'a>>,
}

/// A form of what is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HoverForm {
    /// See [`Hover::markdown`].
    #[default]
    Markdown,
    /// See [`Hover::aligned`].
    Aligned,
    /// See [`Hover::plain`].
    Plain,
}

/// Most lines that a value takes where nothing else is asked.
pub const MAX_LINES: usize = 20;

/// What a hover may use and how it is shown.
#[derive(Clone, Copy)]
pub struct HoverOptions<'a> {
    /// Puppet's settings; keys of encrypted values are left alone.
    pub settings: &'a Settings,
    /// Configurations read before.
    pub configs: &'a ConfigCache,
    /// The known nodes; may be empty.
    pub nodes: &'a KnownNodes,
    /// Certname of the node that hovers are for; none for any node.
    pub selected: Option<&'a str>,
    /// Most lines of a value; the greatest number there is shows all, and lines in full.
    pub max_lines: usize,
    /// How the whole of a value can be seen, beside the command line.
    pub whole: Option<WholeValue<'a>>,
    /// How the plain text of an encrypted value can be seen; none where decryption is off.
    pub reveal: Option<Reveal<'a>>,
    /// How links are made; without it places are named only.
    pub link: Option<Link<'a>>,
    /// The one form that is wanted, the others stay empty; none for all forms.
    pub form: Option<HoverForm>,
    /// Whether nobody waits for the answer any more; asked before each lookup.
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> HoverOptions<'a> {
    /// Options for any node, without links.
    #[must_use]
    pub fn new(
        settings: &'a Settings,
        configs: &'a ConfigCache,
        nodes: &'a KnownNodes,
    ) -> HoverOptions<'a> {
        HoverOptions {
            settings,
            configs,
            nodes,
            selected: None,
            max_lines: MAX_LINES,
            whole: None,
            reveal: None,
            link: None,
            form: None,
            is_stopped: &|| false,
        }
    }
}

/// What is told of a place in a file, in three forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// What it is about.
    pub range: TextRange,
    /// Markdown.
    pub markdown: String,
    /// Markdown without tables, for terminal clients: aligned text instead.
    pub aligned: String,
    /// Plain text.
    pub plain: String,
}

/// What is told of the byte at `offset` of a file; nothing for a file that no hierarchy concerns
/// or a place that says nothing.
///
/// Costs a lookup, one for each group of nodes that see the same files; no file is read but those
/// that the key's lookups read.
#[must_use]
pub fn hover(
    snapshot: &Snapshot,
    path: &str,
    offset: usize,
    options: &HoverOptions<'_>,
) -> Option<Hover> {
    let file = snapshot.file(path)?;
    let ground = Ground::of(snapshot, path, options)?;
    let parse = ground.parse(file);
    let tree = &parse.tree;
    let nodes = tree.path_at(offset);
    if ground.is_config() {
        return location::hover(&ground, file, tree, offset)
            .or_else(|| word::hover(&ground, tree, &nodes));
    }
    file.format()?;
    if ground.reach(path).is_empty() && !ground.lies_among_data() {
        return None;
    }
    if let Some(found) = blob::hover(&ground, file, tree, &nodes, offset) {
        return Some(found);
    }
    if let Some(found) = token::hover(&ground, file, tree, &nodes, offset) {
        return Some(found);
    }
    let target = target(tree, &nodes).or_else(|| broken(tree, offset))?;
    if &*target.root == "lookup_options" {
        return lookup_options::hover(&ground, file, &target)
            .or_else(|| word::hover(&ground, tree, &nodes));
    }
    key::hover(&ground, file, &target.outside_lists(&ground))
}

/// One answer of a hover on a key.
#[derive(Clone, Debug)]
pub struct Effective {
    /// The value of the key under the cursor, nothing where the effective value of the top-level
    /// key lacks it; or the error that Puppet raises.
    pub result: Result<Option<Value>, LookupError>,
    /// The known nodes that get it; none where no known node reads the file.
    pub nodes: Vec<Arc<str>>,
    /// Whether nothing that is unknown could change it.
    pub is_certain: bool,
}

/// What a hover on a key tells as data: the answers for the nodes that read the file, the one for
/// most nodes first; for any node where none is known. Empty where the cursor is on no key of a
/// file that a level reads.
#[must_use]
pub fn effective(
    snapshot: &Snapshot,
    path: &str,
    offset: usize,
    options: &HoverOptions<'_>,
) -> Vec<Effective> {
    let find = || {
        let file = snapshot.file(path)?;
        let ground = Ground::of(snapshot, path, options)?;
        let parse = ground.parse(file);
        let target = target(&parse.tree, &parse.tree.path_at(offset))?.outside_lists(&ground);
        Some(over_nodes::effective(&ground, file, &target))
    };
    find().unwrap_or_default()
}

/// The whole effective value of a key (as it is looked up) for the nodes that read a file, or for the
/// selected one: a YAML document with what a hover tells in comments. Nothing where there are
/// several answers, and for a file that belongs to no hierarchy.
#[must_use]
pub fn whole_value(
    snapshot: &Snapshot,
    path: &str,
    key: &str,
    options: &HoverOptions<'_>,
) -> Option<String> {
    let file = snapshot.file(path)?;
    let options = HoverOptions {
        max_lines: usize::MAX,
        ..*options
    };
    let ground = Ground::of(snapshot, path, &options)?;
    let target = Target::named(key)?;
    if options.selected.is_none() && over_nodes::effective(&ground, file, &target).len() > 1 {
        return None;
    }
    Some(key::page(&ground, file, &target).document())
}

/// The key at a place of a data file as it is looked up, with dots where it is nested; nothing
/// where no key is. Beside a key and its value, the first key of the line counts.
#[must_use]
pub fn key_at(snapshot: &Snapshot, path: &str, offset: usize) -> Option<Arc<str>> {
    let file = snapshot.file(path)?;
    let parsed = parse(file.text(), file.format()?);
    let tree = &parsed.tree;
    let at = |offset| target(tree, &tree.path_at(offset)).or_else(|| broken(tree, offset));
    let first_of_line = || {
        let before = file.text().get(..offset)?;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = file.text()[start..].lines().next()?;
        let indent = line.len() - line.trim_start().len();
        at(start + indent)
    };
    let target = at(offset).or_else(first_of_line)?;
    Some(match target.steps.is_empty() {
        true => Arc::from(key::quoted(&target.root)),
        false => Arc::from(key::dotted(&target)),
    })
}

/// The key whose value a node belongs to.
struct Target {
    /// The top-level key.
    root: Arc<str>,
    /// Keys that lead from its value to the one under the cursor.
    steps: Vec<Value>,
    /// The innermost key.
    range: TextRange,
    /// How many of the steps lead to the outermost list that the key is in, if it is in one.
    before_list: Option<usize>,
}

impl Target {
    /// A top-level key, wherever it stands.
    fn of_root(key: &str) -> Target {
        Target {
            root: Arc::from(key),
            steps: Vec::new(),
            range: TextRange::new(0, 0),
            before_list: None,
        }
    }

    /// The key of a name as it is looked up, wherever it stands.
    fn named(key: &str) -> Option<Target> {
        let parsed = Key::parse(key).ok()?;
        let steps = parsed.segments.into_iter().map(|segment| match segment {
            Segment::Name(name) => Value::String(name),
            Segment::Index(index) => Value::Int(index),
        });
        Some(Target {
            steps: steps.collect(),
            ..Target::of_root(parsed.root.as_name()?)
        })
    }

    /// The target without what is in a list, for values whose lists are merged by their elements:
    /// there a place in this file's list says nothing of the effective one.
    fn outside_lists(mut self, ground: &Ground<'_>) -> Target {
        let Some(steps) = self.before_list else {
            return self;
        };
        let reaches = ground.reach(ground.path);
        let scope = reaches
            .first()
            .map_or_else(crate::scope::Scope::open, crate::lookup::Reach::scope);
        if lookup_options::merges_lists(ground, &self.root, &scope) {
            self.steps.truncate(steps);
        }
        self
    }
}

/// The innermost key around a place, through hashes and lists.
fn target(tree: &Tree, nodes: &[NodeId]) -> Option<Target> {
    let mut found: Option<Target> = None;
    let mut before_list = None;
    // Elements of lists lead to a key only if one follows.
    let mut places: Vec<Value> = Vec::new();
    for pair in nodes.windows(2) {
        let (outer, inner) = (pair[0], pair[1]);
        let entries = match &tree.node(outer).kind {
            NodeKind::Mapping(entries) => entries,
            NodeKind::Sequence(elements) => {
                let at = elements.iter().position(|&element| element == inner)?;
                places.push(Value::Int(i64::try_from(at).ok()?));
                continue;
            }
            NodeKind::Scalar(_) | NodeKind::Alias { .. } => break,
        };
        let &(key, _) = entries
            .iter()
            .find(|&&(key, value)| key == inner || value == inner)?;
        let range = tree.node(key).full_range();
        match &mut found {
            None => {
                let text = tree.scalar_text(key)?;
                let text = text
                    .strip_prefix(':')
                    .map_or_else(|| text.clone(), Arc::from);
                // A list around all keys is no data.
                if !places.is_empty() {
                    return None;
                }
                found = Some(Target {
                    root: text,
                    steps: Vec::new(),
                    range,
                    before_list: None,
                });
            }
            Some(target) => {
                if !places.is_empty() {
                    before_list.get_or_insert(target.steps.len());
                    target.steps.append(&mut places);
                }
                target.steps.push(key_value(tree.node(tree.resolve(key)))?);
                target.range = range;
            }
        }
        if key == inner {
            break;
        }
    }
    if let Some(target) = &mut found {
        target.before_list = before_list;
    }
    found
}

/// The key of an entry that cannot be read.
fn broken(tree: &Tree, offset: usize) -> Option<Target> {
    let mut keys = tree.broken().iter().filter_map(|entry| entry.key.as_ref());
    let key = keys.find(|key| key.range.touches(offset))?;
    Some(Target {
        root: key.text.clone(),
        steps: Vec::new(),
        range: key.range,
        before_list: None,
    })
}

/// A nested key as Puppet sees it.
fn key_value(node: &Node) -> Option<Value> {
    use crate::syntax::psych::{Resolved, resolve_plain};
    let scalar = node.as_scalar()?;
    let text = || Value::String(scalar.text.clone());
    if node.is_quoted() {
        return Some(text());
    }
    Some(match resolve_plain(&scalar.text) {
        Resolved::Int(number) => Value::Int(number),
        Resolved::Float(number) => Value::Float(number),
        Resolved::Bool(truth) => Value::Bool(truth),
        Resolved::Null => Value::Undef,
        Resolved::Symbol(name) => Value::from(name),
        Resolved::BigInt(_)
        | Resolved::Date
        | Resolved::Time
        | Resolved::String
        | Resolved::Invalid { .. } => text(),
    })
}

#[cfg(test)]
mod tests;
