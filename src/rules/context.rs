//! One file as the rules see it: its text, its tree, and who reads it.

use std::cell::OnceCell;
use std::sync::{Arc, OnceLock};

use super::checker::{Checker, RootContext};
use super::looked_up::Held;
use crate::hierarchy::Layer;
use crate::interpolation::{Token, has_tokens};
use crate::lookup::{LookupError, Place, Reach, Settings, Strategy};
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::syntax::{Node, NodeId, NodeKind, Parse, Scalar, ScalarMap, ScalarStyle, Tree};
use crate::text::TextRange;
use crate::value::{LoadError, Opaque, Value, load_yaml};
use crate::workspace::{DataFile, File, FileFacts, Format, LOOKUP_OPTIONS, Root, Snapshot};

/// What a file is for the hierarchies.
pub enum Role<'a> {
    /// Data, with the roots that read it.
    Data(Vec<Reader<'a>>),
    /// The configuration of a root.
    Config {
        /// The root's layer.
        layer: &'a Layer,
        /// The root's folder.
        dir: &'a Arc<str>,
    },
    /// This program's own configuration of a workspace.
    Project,
    /// A manifest.
    Code,
    /// A file that lies among the data of a hierarchy which does not read it.
    Unread,
}

/// A root that reads a file.
pub struct Reader<'a> {
    pub(super) root: &'a RootContext<'a>,
    /// The locations that read it, highest priority first.
    pub reached: Vec<Reach>,
    /// How it is read.
    pub format: Format,
    /// Whether no level that reads it could decrypt it, or do anything else than read it.
    pub is_plain: bool,
}

impl Reader<'_> {
    /// The root's layer.
    #[must_use]
    pub fn layer(&self) -> &Layer {
        &self.root.layer
    }

    /// Whether both are of the same root.
    pub(super) fn is_same_root(&self, other: &Reader<'_>) -> bool {
        std::ptr::eq(self.root.root, other.root.root)
    }
}

/// One entry of `lookup_options`.
pub(super) struct OptionAt<'a> {
    /// The key or pattern.
    pub(super) name: &'a str,
    /// Where the key or pattern stands.
    pub(super) key: TextRange,
    /// Its options, if it counts and Puppet reads the file.
    pub(super) options: Option<Options<'a>>,
}

/// The options of an entry of `lookup_options`.
pub(super) struct Options<'a> {
    /// The options as Puppet reads them.
    pub(super) value: &'a Value,
    /// Their node.
    pub(super) node: NodeId,
    /// Where they stand.
    pub(super) range: TextRange,
}

/// A `merge` option that Puppet refuses.
pub(super) struct RefusedMerge<'a> {
    /// Why.
    pub(super) error: LookupError,
    /// Where the option stands.
    pub(super) range: TextRange,
    name: &'a str,
}

impl OptionAt<'_> {
    /// What Puppet refuses of the `merge` option. A strategy that is interpolated is not known.
    pub(super) fn refused_merge(&self, tree: &Tree) -> Option<RefusedMerge<'_>> {
        let options = self.options.as_ref()?;
        let merge = options.value.get("merge")?;
        if holds_text(merge, has_tokens) {
            return None;
        }
        let range = entry(tree, options.node, "merge")
            .map_or(options.range, |(_, value)| tree.node(value).range);
        Some(RefusedMerge {
            error: Strategy::refusal(merge)?,
            range,
            name: self.name,
        })
    }
}

impl RefusedMerge<'_> {
    /// What Puppet says, and of which key.
    pub(super) fn message(&self) -> String {
        let cause = self.error.cause.words();
        format!("{cause}: Puppet fails on '{}'", self.name)
    }
}

/// A mapping of the file.
pub(super) struct MappingAt<'a> {
    /// Keys and values in the order written.
    pub(super) pairs: &'a [(NodeId, NodeId)],
    /// Whether its keys are the file's top-level keys.
    pub(super) is_topmost: bool,
}

/// A scalar that is a value or an element.
pub(super) struct ScalarAt<'a> {
    /// The node's number.
    pub(super) id: NodeId,
    /// The node.
    pub(super) node: &'a Node,
    /// What it holds.
    pub(super) scalar: &'a Scalar,
    /// What a plain scalar means, once a rule has asked.
    pub(super) resolved: OnceCell<Resolved>,
}

/// A token in a string that Puppet interpolates.
pub(super) struct TokenAt<'a> {
    /// The string, decoded.
    pub(super) text: &'a str,
    /// The string's node.
    pub(super) node: &'a Node,
    /// Whether it is a key of a hash.
    pub(super) is_key: bool,
    /// The token; its ranges are of the decoded string.
    pub(super) token: Token,
    /// Where the token stands in the file.
    pub(super) range: TextRange,
    /// What the key that it looks up holds, once a rule has asked.
    pub(super) held: OnceCell<Option<Held>>,
}

/// One file under check.
pub struct FileContext<'a> {
    pub(super) checker: &'a Checker<'a>,
    /// The file.
    pub file: &'a File,
    /// What it is.
    pub role: Role<'a>,
    parse: OnceLock<Arc<Parse>>,
    loaded: OnceLock<Arc<DataFile>>,
}

impl<'a> FileContext<'a> {
    pub(super) fn new(checker: &'a Checker<'a>, file: &'a File, role: Role<'a>) -> FileContext<'a> {
        FileContext {
            checker,
            file,
            role,
            parse: OnceLock::new(),
            loaded: OnceLock::new(),
        }
    }

    /// The whole workspace.
    #[must_use]
    pub fn snapshot(&self) -> &'a Snapshot {
        self.checker.snapshot
    }

    /// Puppet's settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.checker.settings
    }

    /// The roots that read the file as data; none for a configuration.
    #[must_use]
    pub fn readers(&self) -> &[Reader<'a>] {
        match &self.role {
            Role::Data(readers) => readers,
            Role::Config { .. } | Role::Project | Role::Code | Role::Unread => &[],
        }
    }

    /// The roots that read the file and have code: that others find no class says nothing.
    pub(super) fn roots_with_code(&self) -> impl Iterator<Item = &'a Root> {
        let analysis = self.checker.analysis();
        let roots = self.readers().iter().map(|reader| reader.root.root);
        roots.filter(move |root| analysis.has_code(root))
    }

    /// Whether the file lies among data and no level is known to read it.
    #[must_use]
    pub fn is_unread(&self) -> bool {
        matches!(self.role, Role::Unread)
    }

    /// The file's facts.
    #[must_use]
    pub fn facts(&self) -> &FileFacts {
        self.file.facts()
    }

    /// How the file is read.
    #[must_use]
    pub fn format(&self) -> Format {
        self.readers()
            .first()
            .map_or(Format::Yaml, |reader| reader.format)
    }

    /// The file's tree with what is wrong with it.
    #[must_use]
    pub fn parse(&self) -> &Parse {
        self.parse
            .get_or_init(|| self.snapshot().parse_once(self.file, self.format()))
    }

    /// The file's tree.
    #[must_use]
    pub fn tree(&self) -> &Tree {
        &self.parse().tree
    }

    /// What Puppet loads, or why it refuses the file.
    ///
    /// # Errors
    /// What the loader raises.
    pub fn loaded(&self) -> Result<&Value, &LoadError> {
        let loaded = self.loaded.get_or_init(|| match self.role {
            Role::Data(_) | Role::Unread => match self.file.unchecked() {
                // What is known of it all the same, before why the rest is not.
                Some(unchecked) => Arc::new(DataFile {
                    loaded: Err(self.facts().error.as_deref().cloned().unwrap_or(unchecked)),
                    recovered: Value::Undef,
                }),
                None => self.snapshot().data_of(self.file, self.format()),
            },
            Role::Config { .. } | Role::Project | Role::Code => Arc::new(DataFile {
                loaded: match self.file.bytes() {
                    Ok(bytes) => load_yaml(&bytes),
                    Err(error) => Err(error),
                },
                recovered: Value::Undef,
            }),
        });
        loaded.loaded.as_ref()
    }

    /// Why Puppet refuses the file, if it does.
    #[must_use]
    pub fn refusal(&self) -> Option<&LoadError> {
        let is_data = matches!(self.role, Role::Data(_) | Role::Unread);
        // The file's facts know of every refusal by the reader that its name stands for.
        let is_known = is_data && self.file.format() == Some(self.format());
        match is_known && self.facts().error.is_none() && self.file.unchecked().is_none() {
            true => None,
            false => self.loaded().err(),
        }
    }

    /// Whether Puppet certainly reads a hash, as its text shows. False says nothing.
    pub(super) fn is_surely_hash(&self) -> bool {
        let tree = self.tree();
        let root = tree.root().map(|root| tree.node(root));
        let is_mapping = root.is_some_and(|root| root.as_mapping().is_some() && root.tag.is_none());
        is_mapping && self.parse().psych.is_none() && self.refusal().is_none()
    }

    /// Where a person should look for a failure of the loader: whole characters, also where the loader
    /// counts the bytes of a file that is not UTF-8.
    #[must_use]
    pub fn place_of(&self, error: &LoadError) -> TextRange {
        let known = error
            .range
            .or_else(|| self.parse().error().map(|problem| problem.range));
        let range = known.unwrap_or_else(|| self.first_line());
        let text = self.file.text();
        TextRange::new(
            text.floor_char_boundary(range.start as usize),
            text.ceil_char_boundary(range.end as usize),
        )
    }

    /// Where a name stands in a part of the file, such as within the quotes of a key; nothing where it is written
    /// in another way.
    pub(super) fn name_in(&self, part: TextRange, name: &str) -> Option<TextRange> {
        let at = part.slice(self.file.text()).find(name)?;
        let start = part.start as usize + at;
        Some(TextRange::new(start, start + name.len()))
    }

    /// The first line that is not blank.
    #[must_use]
    pub fn first_line(&self) -> TextRange {
        let text = self.file.text();
        let start = text.len() - text.trim_start().len();
        let end = text[start..]
            .find(['\n', '\r'])
            .map_or(text.len(), |at| start + at);
        TextRange::new(start, end)
    }

    /// From places in a scalar's decoded text to the bytes of the file that spell them.
    pub(super) fn places<'n>(&self, node: &'n Node) -> Places<'n>
    where
        'a: 'n,
    {
        match (self.format(), &node.kind) {
            (Format::Hocon, NodeKind::Scalar(scalar)) => Places::Written {
                text: self.file.text(),
                range: node.range,
                decoded: &scalar.text,
            },
            _ => Places::Mapped(ScalarMap::new(self.file.text(), node)),
        }
    }

    /// The entries of `lookup_options` in the order of the text.
    pub(super) fn lookup_options(&self) -> Vec<OptionAt<'_>> {
        let mut read = self.read_options();
        let facts = self.facts().lookup_options.iter();
        let mut all: Vec<OptionAt<'_>> = facts
            .map(|fact| OptionAt {
                name: &fact.pattern,
                key: fact.key,
                options: read
                    .iter()
                    .position(|read| read.key == fact.key)
                    .and_then(|at| read.swap_remove(at).options),
            })
            .collect();
        // Of those that an alias brings, and of those in HOCON, there are no facts.
        all.append(&mut read);
        all
    }

    /// The entries of `lookup_options` as Puppet reads them; none where it refuses the file.
    fn read_options(&self) -> Vec<OptionAt<'_>> {
        let tree = self.tree();
        let Some((_, options)) = self.top_level(LOOKUP_OPTIONS) else {
            return Vec::new();
        };
        let value = self.loaded().ok();
        let all = value.and_then(|value| value.get(LOOKUP_OPTIONS)?.as_hash());
        let Some(all) = all else {
            return Vec::new();
        };
        let names = all.iter().filter_map(|(name, value)| {
            let name = name.as_str()?;
            let (key, node) = entry(tree, options, name)?;
            let range = tree.node(node).range;
            Some(OptionAt {
                name,
                key: tree.node(key).range,
                options: Some(Options { value, node, range }),
            })
        });
        names.collect()
    }

    /// What a plain scalar of YAML means; nothing for any other scalar, which is a text.
    pub(super) fn resolved<'s>(&self, at: &'s ScalarAt<'_>) -> Option<&'s Resolved> {
        let is_plain = self.format() == Format::Yaml
            && at.scalar.style == ScalarStyle::Plain
            && at.node.tag.is_none();
        is_plain.then(|| at.resolved.get_or_init(|| resolve_plain(&at.scalar.text)))
    }

    /// The key of the mapping entry whose value a node is, or whose list it is an element of.
    pub(super) fn key_around(&self, node: NodeId) -> Option<&Arc<str>> {
        let tree = self.tree();
        let mut node = node;
        loop {
            let parent = tree.parent(node)?;
            match &tree.node(parent).kind {
                NodeKind::Mapping(pairs) => {
                    // Nodes are numbered in the order of the text.
                    let at = pairs.binary_search_by_key(&node, |&(_, value)| value);
                    let (key, _) = match at {
                        Ok(at) => &pairs[at],
                        Err(_) => pairs.iter().find(|(_, value)| *value == node)?,
                    };
                    return tree.scalar_text(*key);
                }
                NodeKind::Sequence(_) => node = parent,
                NodeKind::Scalar(_) | NodeKind::Alias { .. } => return None,
            }
        }
    }

    /// The value of a top-level key.
    pub(super) fn top_level(&self, name: &str) -> Option<(NodeId, NodeId)> {
        let tree = self.tree();
        tree.entries()
            .filter(|&(key, _)| tree.scalar_text(key).is_some_and(|text| **text == *name))
            .last()
    }
}

/// From places in a scalar's decoded text to the bytes of the file that spell them.
pub(super) enum Places<'a> {
    /// By the rules of YAML and JSON.
    Mapped(ScalarMap),
    /// In HOCON, where a string can be joined from several: looked for as it reads.
    Written {
        /// The file.
        text: &'a str,
        /// Where the scalar stands.
        range: TextRange,
        /// What it reads.
        decoded: &'a str,
    },
}

impl Places<'_> {
    /// The bytes that spell a range of the decoded text; the whole scalar if they are spelled in
    /// another way.
    pub(super) fn source_range(&self, decoded: TextRange) -> TextRange {
        match self {
            Places::Mapped(map) => map.source_range(decoded.as_usize()),
            Places::Written {
                text,
                range,
                decoded: whole,
            } => {
                let wanted = decoded.slice(whole);
                let before = &whole[..decoded.start as usize];
                let earlier = before.matches(wanted).count();
                let mut written = range.slice(text).match_indices(wanted);
                written.nth(earlier).map_or(*range, |(at, _)| {
                    let start = range.start as usize + at;
                    TextRange::new(start, start + wanted.len())
                })
            }
        }
    }
}

/// Where in the order of its hierarchy a location is asked: later ones are lower.
pub(super) fn order(place: &Place) -> (bool, usize, usize) {
    (place.in_default_hierarchy, place.index, place.location)
}

/// Value of a key of a mapping; a symbol counts as a string.
pub(super) fn entry(tree: &Tree, mapping: NodeId, name: &str) -> Option<(NodeId, NodeId)> {
    let node: &Node = tree.node(tree.resolve(mapping));
    node.as_mapping()?.iter().copied().rfind(|&(key, _)| {
        tree.scalar_text(key)
            .is_some_and(|text| **text == *name || text.strip_prefix(':') == Some(name))
    })
}

/// Whether a value has a text in it, as a key or a value, of which a test holds: also one that is not known, as it
/// is before its tokens are interpolated.
pub(super) fn holds_text(value: &Value, test: fn(&str) -> bool) -> bool {
    value.any(&|part| {
        if let Value::String(text) | Value::Symbol(text) = part {
            return test(text);
        }
        let Value::Opaque(opaque) = part else {
            return false;
        };
        matches!(&**opaque, Opaque::Unknown { text, .. } if test(text))
    })
}

/// Longest piece of a file that a message repeats, in characters.
const SHOWN: usize = 60;

/// A piece of a file on one line, not too long.
pub(super) fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
