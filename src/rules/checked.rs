//! One file as the rules see it: its text, its tree, and who reads it.

use std::sync::{Arc, OnceLock};

use super::checker::{Checker, RootView};
use crate::hierarchy::Layer;
use crate::interpolation::{Token, has_tokens, tokens};
use crate::lookup::{Reach, Settings};
use crate::syntax::{Node, NodeId, Parse, ScalarMap, Tree};
use crate::text::TextRange;
use crate::value::{LoadError, Value, load_yaml};
use crate::workspace::{DataFile, File, FileFacts, Format, Snapshot};

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
}

/// A root that reads a file.
pub struct Reader<'a> {
    pub(super) view: &'a RootView<'a>,
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
        &self.view.layer
    }
}

/// One entry of `lookup_options`.
pub(super) struct OptionAt<'a> {
    /// The key or pattern.
    pub(super) name: &'a str,
    /// Its options.
    pub(super) value: &'a Value,
    /// The node of the options.
    pub(super) node: NodeId,
    /// Where the options stand.
    pub(super) range: TextRange,
}

/// One file under check.
pub struct Checked<'a> {
    pub(super) checker: &'a Checker<'a>,
    /// The file.
    pub file: &'a File,
    /// What it is.
    pub role: Role<'a>,
    parse: OnceLock<Arc<Parse>>,
    tokens: OnceLock<Vec<TokenAt>>,
    loaded: OnceLock<Arc<DataFile>>,
}

/// A token in a string that Puppet interpolates.
pub(super) struct TokenAt {
    /// The string, decoded.
    pub(super) text: Arc<str>,
    /// The token; its ranges are of the decoded string.
    pub(super) token: Token,
    /// Where the token stands in the file.
    pub(super) range: TextRange,
}

impl<'a> Checked<'a> {
    pub(super) fn new(checker: &'a Checker<'a>, file: &'a File, role: Role<'a>) -> Checked<'a> {
        Checked {
            checker,
            file,
            role,
            parse: OnceLock::new(),
            tokens: OnceLock::new(),
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
            Role::Config { .. } => &[],
        }
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

    /// The file's tree with what is wrong with it; empty for HOCON, which has no tree of this
    /// kind.
    #[must_use]
    pub fn parse(&self) -> &Parse {
        self.parse.get_or_init(|| match self.format() {
            Format::Yaml | Format::Json => self.snapshot().parse_of(self.file, self.format()),
            Format::Hocon => Arc::default(),
        })
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
            Role::Data(_) => self.snapshot().data_of(self.file, self.format()),
            Role::Config { .. } => Arc::new(DataFile {
                loaded: match self.file.bytes() {
                    Ok(bytes) => load_yaml(&bytes),
                    Err(error) => Err(error),
                },
                recovered: Value::Undef,
                natures: crate::workspace::Natures::default(),
            }),
        });
        loaded.loaded.as_ref()
    }

    /// Where a person should look for a failure of the loader.
    #[must_use]
    pub fn place_of(&self, error: &LoadError) -> TextRange {
        let known = error
            .range
            .or_else(|| self.parse().error().map(|problem| problem.range));
        known.unwrap_or_else(|| self.first_line())
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

    /// Every token of the strings that Puppet interpolates: all values and the keys of nested
    /// hashes, but not the topmost keys.
    pub(super) fn tokens(&self) -> &[TokenAt] {
        self.tokens.get_or_init(|| self.find_tokens())
    }

    fn find_tokens(&self) -> Vec<TokenAt> {
        let tree = self.tree();
        let mut found = Vec::new();
        if self.readers().is_empty() || !self.file.text().contains('{') {
            return found;
        }
        let topmost: Vec<NodeId> = tree.entries().map(|(key, _)| key).collect();
        for (id, node) in tree.nodes() {
            let Some(scalar) = node.as_scalar() else {
                continue;
            };
            if !has_tokens(&scalar.text) || topmost.binary_search(&id).is_ok() {
                continue;
            }
            let map = ScalarMap::new(self.file.text(), node);
            for token in tokens(&scalar.text) {
                found.push(TokenAt {
                    text: scalar.text.clone(),
                    range: map.source_range(token.range.as_usize()),
                    token,
                });
            }
        }
        found
    }

    /// The entries of `lookup_options`, as far as Puppet reads them; none where it refuses the
    /// file.
    pub(super) fn lookup_options(&self) -> Vec<OptionAt<'_>> {
        let tree = self.tree();
        let (Ok(value), false) = (self.loaded(), self.readers().is_empty()) else {
            return Vec::new();
        };
        let all = value.get("lookup_options").and_then(Value::as_hash);
        let (Some(all), Some((_, options))) = (all, self.top_level("lookup_options")) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for (name, value) in all {
            let Some(name) = name.as_str() else { continue };
            if let Some((_, node)) = entry(tree, options, name) {
                found.push(OptionAt {
                    name,
                    value,
                    node,
                    range: tree.node(node).range,
                });
            }
        }
        found
    }

    /// The value of a top-level key.
    pub(super) fn top_level(&self, name: &str) -> Option<(NodeId, NodeId)> {
        let tree = self.tree();
        tree.entries()
            .filter(|&(key, _)| tree.scalar_text(key).is_some_and(|text| **text == *name))
            .last()
    }
}

/// Value of a key of a mapping; a symbol counts as a string.
pub(super) fn entry(tree: &Tree, mapping: NodeId, name: &str) -> Option<(NodeId, NodeId)> {
    let node: &Node = tree.node(tree.resolve(mapping));
    node.as_mapping()?.iter().copied().rfind(|&(key, _)| {
        tree.scalar_text(key)
            .is_some_and(|text| **text == *name || text.strip_prefix(':') == Some(name))
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
