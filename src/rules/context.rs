//! One file under check: its text, its tree, and the roots that read it.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::always_read::{AlwaysRead, always_read};
use super::checker::{Checker, RootContext};
use super::finding::{Findings, Fix, Safety};
use super::looked_up::{Held, LookedUp};
use crate::analysis::{Defined, FileReading, KnownOfScope, ScopeView};
use crate::hierarchy::Layer;
use crate::interpolation::{Token, has_tokens};
use crate::lookup::{Cause, Reach, Settings, Strategy};
use crate::scope::Scope;
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::syntax::{NodeId, NodeKind, Parse, Scalar, ScalarMap, ScalarStyle, Tree, TreeNode};
use crate::text::{TextEdit, TextRange, cut_words};
use crate::value::{LoadError, LoadErrorKind, Opaque, Value, load_yaml};
use crate::workspace::{
    DataFile, File, FileFacts, Format, KeyFact, LOOKUP_OPTIONS, Root, RootKind, Snapshot,
};

/// The role of a file in the workspace.
pub(super) enum FileRole<'a> {
    /// Data, with the roots that read it.
    Data(Vec<Reader<'a>>),
    /// The configuration of a root.
    Config(&'a RootContext<'a>),
    /// This program's own configuration of a workspace.
    Project,
    /// A manifest.
    Code,
    /// A file in a data directory that no level is known to read.
    Unread,
}

/// A root that reads a file.
pub(super) struct Reader<'a> {
    pub(super) root: &'a RootContext<'a>,
    pub(super) reading: FileReading,
}

impl Reader<'_> {
    /// The root's layer.
    pub(super) fn layer(&self) -> &Layer {
        &self.root.layer
    }

    /// The locations that read the file, highest priority first.
    pub(super) fn reached(&self) -> &[Reach] {
        &self.reading.reached
    }

    /// The [`Place::rank`] of the lowest location that reads the file.
    pub(super) fn last_rank(&self) -> Option<(bool, usize, usize)> {
        self.reached().iter().map(|reach| reach.place.rank()).max()
    }

    /// Whether both readers have the same root.
    pub(super) fn is_same_root(&self, other: &Reader<'_>) -> bool {
        std::ptr::eq(self.root.root, other.root.root)
    }
}

/// One entry of `lookup_options`.
pub(super) struct OptionAt<'a> {
    pub(super) name: &'a str,
    /// Range of the key or pattern.
    pub(super) key: TextRange,
    /// Its options; `None` if Puppet refuses the file, or if a duplicate entry replaces this one.
    pub(super) options: Option<KeyOptions<'a>>,
}

/// The options of an entry of `lookup_options`.
pub(super) struct KeyOptions<'a> {
    /// The options as Puppet loads them.
    pub(super) value: &'a Value,
    pub(super) node: NodeId,
    pub(super) range: TextRange,
}

/// A `merge` option that Puppet refuses.
pub(super) struct RefusedMerge {
    pub(super) cause: Cause,
    pub(super) range: TextRange,
    /// Puppet's message, with the key.
    pub(super) message: String,
}

impl OptionAt<'_> {
    /// The error of a `merge` option that Puppet refuses. `None` also if it is interpolated.
    pub(super) fn refused_merge(&self, tree: &Tree) -> Option<RefusedMerge> {
        let options = self.options.as_ref()?;
        let merge = options.value.get("merge")?;
        if holds_text(merge, has_tokens) {
            return None;
        }
        let range = entry(tree, options.node, "merge")
            .map_or(options.range, |(_, value)| tree.node(value).range);
        let error = Strategy::refusal(merge)?;
        let cause = error.cause.words();
        let message = format!("{cause}: Puppet fails on '{}'", self.name);
        Some(RefusedMerge {
            cause: error.cause,
            range,
            message,
        })
    }
}

/// A mapping of the file.
pub(super) struct MappingAt<'a> {
    /// Keys and values in text order.
    pub(super) pairs: &'a [(NodeId, NodeId)],
    /// Whether its keys are top-level keys of the file.
    pub(super) is_topmost: bool,
}

/// A scalar that is a value or an element.
pub(super) struct ScalarAt<'a> {
    pub(super) id: NodeId,
    pub(super) node: &'a TreeNode,
    pub(super) scalar: &'a Scalar,
    /// The meaning of a plain scalar, computed on first use.
    pub(super) resolved: OnceCell<Resolved>,
}

/// A token in a string that Puppet interpolates.
pub(super) struct TokenAt<'a> {
    /// The string, decoded.
    pub(super) text: &'a str,
    pub(super) node: &'a TreeNode,
    /// Whether the string is a key of a hash.
    pub(super) is_key: bool,
    /// The token; its ranges refer to the decoded text.
    pub(super) token: Token,
    /// The range of the token in the file.
    pub(super) range: TextRange,
    /// The looked-up key and its value, computed on first use.
    pub(super) held: OnceCell<Option<(LookedUp, Held)>>,
}

/// One file under check.
pub(super) struct FileContext<'a> {
    pub(super) checker: &'a Checker<'a>,
    /// The file.
    pub(super) file: &'a File,
    /// Its role.
    pub(super) role: FileRole<'a>,
    parse: OnceLock<Arc<Parse>>,
    loaded: OnceLock<Arc<DataFile>>,
    always_read: OnceLock<Vec<AlwaysRead>>,
    may_be_read_by_function: OnceCell<bool>,
    /// See [`FileContext::in_first_scope`]; by the index of the reader.
    scopes: RefCell<HashMap<usize, KnownOfScope>>,
}

impl<'a> FileContext<'a> {
    pub(super) fn new(
        checker: &'a Checker<'a>,
        file: &'a File,
        role: FileRole<'a>,
    ) -> FileContext<'a> {
        FileContext {
            checker,
            file,
            role,
            parse: OnceLock::new(),
            loaded: OnceLock::new(),
            always_read: OnceLock::new(),
            may_be_read_by_function: OnceCell::new(),
            scopes: RefCell::default(),
        }
    }

    /// The files that are read wherever this one is, found once for all keys.
    pub(super) fn always_read(&self) -> &[AlwaysRead] {
        self.always_read.get_or_init(|| always_read(self))
    }

    /// Whether a level with a function that is never run may read the file, found once for all keys.
    pub(super) fn may_be_read_by_function(&self) -> bool {
        *self
            .may_be_read_by_function
            .get_or_init(|| self.checker.may_be_read_by_function(self.file.path()))
    }

    /// Asks in the scope of the first location by which a root reads the file, as far as its path tells.
    /// What is known about the scope is kept for all keys and rules.
    pub(super) fn in_first_scope<T>(
        &self,
        reader: &Reader<'_>,
        ask: impl FnOnce(&mut ScopeView<'_>) -> T,
    ) -> T {
        let mut readers = self.readers().iter();
        let number = readers.position(|it| it.is_same_root(reader));
        let number = number.unwrap_or(usize::MAX);
        let known = self.scopes.borrow_mut().remove(&number).unwrap_or_default();
        let scope = reader.reached().first().map(Reach::scope);
        let view = self.checker.analysis().at(reader.root.root);
        let mut scoped = view.resume(&scope.unwrap_or_else(Scope::open), known);
        let answer = ask(&mut scoped);
        let known = scoped.into_known();
        self.scopes.borrow_mut().insert(number, known);
        answer
    }

    /// The snapshot of the workspace.
    pub(super) fn snapshot(&self) -> &'a Snapshot {
        self.checker.snapshot
    }

    /// Puppet's settings.
    pub(super) fn settings(&self) -> &Settings {
        &self.checker.settings
    }

    /// The roots that read the file as data; empty for files of other roles.
    pub(super) fn readers(&self) -> &[Reader<'a>] {
        match &self.role {
            FileRole::Data(readers) => readers,
            FileRole::Config(_) | FileRole::Project | FileRole::Code | FileRole::Unread => &[],
        }
    }

    /// Whether only plans of Bolt read the file, outside of apply blocks.
    pub(super) fn is_for_plans(&self) -> bool {
        let mut kinds = self.readers().iter().map(|reader| &reader.root.root.kind);
        !self.readers().is_empty() && kinds.all(|kind| *kind == RootKind::Plans)
    }

    /// The roots that read the file and have code: without any code a missing class means nothing.
    pub(super) fn roots_with_code(&self) -> impl Iterator<Item = &'a Root> {
        let analysis = self.checker.analysis();
        let roots = self.readers().iter().map(|reader| reader.root.root);
        roots.filter(move |root| analysis.has_code(root))
    }

    /// Whether the file is in a data directory and no level is known to read it.
    pub(super) fn is_unread(&self) -> bool {
        matches!(self.role, FileRole::Unread)
    }

    /// The file's facts.
    pub(super) fn facts(&self) -> &FileFacts {
        self.file.facts()
    }

    /// The format in which the first root reads the file; YAML if no root does.
    pub(super) fn format(&self) -> Format {
        self.readers()
            .first()
            .map_or(Format::Yaml, |reader| reader.reading.format)
    }

    /// The file's tree with its syntax errors.
    pub(super) fn parse(&self) -> &Parse {
        self.parse
            .get_or_init(|| self.snapshot().parse_once(self.file, self.format()))
    }

    /// The file's tree.
    pub(super) fn tree(&self) -> &Tree {
        &self.parse().tree
    }

    /// The value that Puppet loads, or the loader's error.
    pub(super) fn loaded(&self) -> Result<&Value, &LoadError> {
        let loaded = self.loaded.get_or_init(|| match self.role {
            FileRole::Data(_) | FileRole::Unread => match self.file.unchecked() {
                // Known errors take precedence over the reason why the file was not checked.
                Some(unchecked) => Arc::new(DataFile {
                    loaded: Err(self.facts().error.as_deref().cloned().unwrap_or(unchecked)),
                    recovered: Value::Undef,
                    later_error: None,
                }),
                // Walks over data need the tree anyway.
                None => {
                    let parse = Some(self.parse());
                    self.snapshot().data_from(self.file, self.format(), parse)
                }
            },
            FileRole::Config(_) | FileRole::Project | FileRole::Code => Arc::new(DataFile {
                loaded: match self.file.bytes() {
                    Ok(bytes) => load_yaml(&bytes),
                    Err(error) => Err(error),
                },
                recovered: Value::Undef,
                later_error: None,
            }),
        });
        loaded.loaded.as_ref()
    }

    /// Puppet's error, if it refuses the file.
    pub(super) fn refusal(&self) -> Option<&LoadError> {
        let is_data = matches!(self.role, FileRole::Data(_) | FileRole::Unread);
        // The file's facts include every error of a reader for its extension.
        let is_known = is_data && self.file.format() == Some(self.format());
        if is_known && self.facts().error.is_none() && self.file.unchecked().is_none() {
            None
        } else {
            self.loaded().err()
        }
    }

    /// Puppet's error, if it refuses the file for this reason.
    pub(super) fn refusal_of(&self, kind: LoadErrorKind) -> Option<&LoadError> {
        self.refusal().filter(|error| error.kind == kind)
    }

    /// Reports this refusal if the rule did not find its cause in the tree.
    pub(super) fn report_refusal(&self, kind: LoadErrorKind, findings: &mut Findings<'_>) {
        if let Some(error) = self.refusal_of(kind)
            && findings.list.is_empty()
        {
            let message = format!("Puppet refuses the whole file: {}", error.message);
            findings.report(self.place_of(error), message);
        }
    }

    /// Whether Puppet certainly loads a hash, judged by the text; false means unknown.
    pub(super) fn is_surely_hash(&self) -> bool {
        let tree = self.tree();
        let root = tree.root().map(|root| tree.node(root));
        let is_mapping = root.is_some_and(|root| root.as_mapping().is_some() && root.tag.is_none());
        is_mapping && self.parse().psych.is_none() && self.refusal().is_none()
    }

    /// The range to show for a loader's error, on character boundaries even if the loader counts
    /// bytes of a file that is not UTF-8.
    pub(super) fn place_of(&self, error: &LoadError) -> TextRange {
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

    /// The range of a name in a part of the file, such as within the quotes of a key; `None` if it
    /// is spelled differently there.
    pub(super) fn name_in(&self, part: TextRange, name: &str) -> Option<TextRange> {
        let at = part.slice(self.file.text()).find(name)?;
        let start = part.start as usize + at;
        Some(TextRange::new(start, start + name.len()))
    }

    /// Renames the key at a range, within its quotes; `None` if it is spelled differently there.
    pub(super) fn renamed(
        &self,
        key: TextRange,
        (old, new): (&str, &str),
        title: impl Into<String>,
    ) -> Option<Fix> {
        let edit = TextEdit::replace(self.name_in(key, old)?, new);
        Some(Fix::new(Safety::Unsafe, title, edit).renaming(key, new))
    }

    /// Whether a module's data reads the file and has no keys of this name.
    pub(super) fn is_foreign(&self, name: &str) -> bool {
        let mut modules = self
            .readers()
            .iter()
            .map(|reader| reader.layer().module_name());
        let is_foreign = |module: &str| !name.starts_with(&format!("{module}::"));
        modules.any(|module| module.is_some_and(is_foreign))
    }

    /// A class as each root with code finds it; `None` if one has no such class.
    pub(super) fn classes(&self, name: &str) -> Option<Vec<Defined<'a>>> {
        let analysis = self.checker.analysis();
        let roots = self.roots_with_code();
        roots.map(|root| analysis.autoloaded(root, name)).collect()
    }

    /// The range of the first line that is not blank.
    pub(super) fn first_line(&self) -> TextRange {
        let text = self.file.text();
        let start = text.len() - text.trim_start().len();
        let end = text[start..]
            .find(['\n', '\r'])
            .map_or(text.len(), |at| start + at);
        TextRange::new(start, end)
    }

    /// Maps ranges of a scalar's decoded text to ranges of the file.
    pub(super) fn places<'n>(&self, node: &'n TreeNode) -> Places<'n>
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

    /// All entries of `lookup_options`.
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
        // Facts lack entries from aliases and in HOCON.
        all.append(&mut read);
        all
    }

    /// The entries of `lookup_options` as Puppet loads them; empty if it refuses the file.
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
                options: Some(KeyOptions { value, node, range }),
            })
        });
        names.collect()
    }

    /// The meaning of a plain YAML scalar; `None` for other scalars, which are strings.
    pub(super) fn resolved<'s>(&self, at: &'s ScalarAt<'_>) -> Option<&'s Resolved> {
        let is_plain = self.format() == Format::Yaml
            && at.scalar.style == ScalarStyle::Plain
            && at.node.tag.is_none();
        is_plain.then(|| at.resolved.get_or_init(|| resolve_plain(&at.scalar.text)))
    }

    /// The key of the mapping entry around a node, which is its value or an element of its lists.
    pub(super) fn key_around(&self, node: NodeId) -> Option<&Arc<str>> {
        self.tree().key_around(node)
    }

    /// Whether an entry is the last one of its key, which is the one that counts.
    pub(super) fn is_last(&self, key: &KeyFact) -> bool {
        let last = self.facts().key(&key.name);
        last.is_some_and(|last| last.key == key.key)
    }

    /// The key and value nodes of a top-level key; the last ones if it is repeated.
    pub(super) fn top_level(&self, name: &str) -> Option<(NodeId, NodeId)> {
        let tree = self.tree();
        tree.entries()
            .filter(|&(key, _)| tree.scalar_text(key).is_some_and(|text| **text == *name))
            .last()
    }
}

/// Maps ranges of a scalar's decoded text to ranges of the file.
pub(super) enum Places<'a> {
    /// By the rules of YAML and JSON.
    Mapped(ScalarMap),
    /// In HOCON, where a string can be concatenated: by searching for the decoded text.
    Written {
        /// The file's text.
        text: &'a str,
        /// The scalar's range.
        range: TextRange,
        /// The scalar's decoded text.
        decoded: &'a str,
    },
}

impl Places<'_> {
    /// The file's range for a range of the decoded text; the whole scalar if it is spelled differently.
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

/// The key and value nodes of a mapping's entry, the last ones if it is repeated. Symbols count as strings.
pub(super) fn entry(tree: &Tree, mapping: NodeId, name: &str) -> Option<(NodeId, NodeId)> {
    let node: &TreeNode = tree.node(tree.resolve(mapping));
    node.as_mapping()?.iter().copied().rfind(|&(key, _)| {
        tree.scalar_text(key)
            .is_some_and(|text| **text == *name || text.strip_prefix(':') == Some(name))
    })
}

/// Whether a test holds for some string in a value, as a key or a value. Strings with unknown
/// tokens are tested before interpolation.
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

/// Maximum number of characters of a file's text in a message.
const SHOWN: usize = 60;

/// A text on one line, shortened.
pub(super) fn shown(text: &str) -> String {
    cut_words(text, SHOWN)
}
