//! What manifests define and use: facts of one text, and the index from names to files.
//!
//! Facts hold places, not copies: a type or a default is read from the file's text. Whether a name is
//! found by Puppet's autoloader is not asked here.

use std::sync::Arc;

use super::cache::TextHash;
use super::facts::FileFacts;
use super::index::{KeyIndex, Patch};
use super::interner::Interner;
use super::snapshot::{FileDelta, FileId, Snapshot};
use super::{File, path};
use crate::syntax::puppet::Dialect;
use crate::text::TextRange;

/// What one manifest or template defines and uses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CodeFacts {
    /// Classes, defined types, functions and plans, in the order of the text.
    pub definitions: Box<[DefinitionFact]>,
    /// Type aliases, in the order of the text.
    pub aliases: Box<[AliasFact]>,
    /// Node blocks, in the order of the text.
    pub nodes: Box<[NodeFact]>,
    /// Calls that look keys up, in the order of the text; one fact for each key of a list.
    pub lookups: Box<[LookupFact]>,
    /// Classes that are included or named, in the order of the text.
    pub includes: Box<[IncludeFact]>,
    /// Literal defaults of lookups, in the order of the text.
    pub default_classes: Box<[DefaultClass]>,
    /// The variables that the top scope or some node block sets, in the order of the text.
    pub variables: Box<[VariableFact]>,
    /// Calls of functions that may declare classes, as far as their names tell, in the order of the text.
    pub calls: Box<[CallFact]>,
    /// Whether Puppet refuses the text.
    pub is_broken: bool,
    /// See [`CodeFacts::is_alike`].
    pub(super) print: TextHash,
}

/// What a definition is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DefinitionKind {
    /// `class`
    Class,
    /// `define`
    DefinedType,
    /// `function`
    Function,
    /// `plan`
    Plan,
}

/// A class, a defined type, a function or a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DefinitionFact {
    /// What it is.
    pub kind: DefinitionKind,
    /// Its full name.
    pub name: Arc<str>,
    /// Where the name stands as it is written.
    pub place: TextRange,
    /// From the keyword to the closing brace.
    pub range: TextRange,
    /// The class that a class inherits, and where that name stands.
    pub parent: Option<(Arc<str>, TextRange)>,
    /// Where the type of a function's result stands.
    pub returns: Option<TextRange>,
    /// Its parameters in their order.
    pub parameters: Box<[ParameterFact]>,
    /// The comment above it without tags, if there is one.
    pub documentation: Option<Box<str>>,
}

/// A parameter of a definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParameterFact {
    /// Its name without the dollar.
    pub name: Arc<str>,
    /// Where the variable stands, dollar and all.
    pub place: TextRange,
    /// Where its type stands; without one it takes any value.
    pub expected: Option<TextRange>,
    /// Where its default stands; without one a value must be given.
    pub default: Option<TextRange>,
    /// Whether it takes all arguments that are left.
    pub captures_rest: bool,
    /// What `@param` says of it.
    pub documentation: Option<Box<str>>,
    /// Of the text of its type.
    pub(super) print: TextHash,
}

/// `type Name = …`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AliasFact {
    /// Its name.
    pub name: Arc<str>,
    /// Where the name stands.
    pub place: TextRange,
    /// Where the type stands.
    pub expected: TextRange,
    /// The comment above it without tags, if there is one.
    pub documentation: Option<Box<str>>,
}

/// A node block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeFact {
    /// What it is for.
    pub matches: Box<[NodeMatch]>,
    /// From the keyword to the closing brace.
    pub range: TextRange,
}

/// What a node's name is compared with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NodeMatch {
    /// `default`
    Default,
    /// A name.
    Name(Box<str>),
    /// The source of a pattern.
    Pattern(Box<str>),
}

/// A variable that the top scope or a node block sets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VariableFact {
    /// Its name without the dollar.
    pub name: Arc<str>,
    /// Where it is set.
    pub place: TextRange,
    /// Whether a node block sets it.
    pub in_node_block: bool,
}

/// A call of a function that may declare classes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallFact {
    /// The name of the function, without colons before it.
    pub function: Arc<str>,
    /// Where the call stands.
    pub place: TextRange,
    /// What holds it.
    pub within: Within,
}

/// A function that looks a key up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LookupFunction {
    /// `lookup`
    Lookup,
    /// `hiera`
    Hiera,
    /// `hiera_array`
    HieraArray,
    /// `hiera_hash`
    HieraHash,
    /// `hiera_include`
    HieraInclude,
}

/// The key of a call.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum LookupKey {
    /// It is written out; it may be dotted.
    Literal(Arc<str>),
    /// These texts are in it, in this order, the first at its start and the last at its end; what is
    /// between them is computed. Only one text is all of it: a variable holds it.
    Partly(Box<[Arc<str>]>),
    /// It is computed.
    Computed,
}

/// A call that looks a key up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LookupFact {
    /// Which function.
    pub function: LookupFunction,
    /// What is looked up.
    pub key: LookupKey,
    /// Where the key stands, with its quotes.
    pub place: TextRange,
    /// Where the whole call stands.
    pub call: TextRange,
    /// Where the type that the value must have stands.
    pub expected: Option<TextRange>,
    /// Where the merge strategy stands.
    pub merge: Option<TextRange>,
    /// Whether it may be merged with a `knockout_prefix` that the call gives.
    pub may_knock_out: bool,
    /// Where the default stands.
    pub default: Option<TextRange>,
    /// What holds the call.
    pub within: Within,
    /// Whether it happens only under a condition, as far as the manifest tells.
    pub is_conditional: bool,
}

/// How a class is named.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IncludeKind {
    /// `include`
    Include,
    /// `contain`
    Contain,
    /// `require`
    Require,
    /// `class { 'name': … }`
    Declaration,
    /// `inherits`
    Inherits,
    /// `Class['name']`
    Reference,
}

/// A class that is included or named.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IncludeFact {
    /// How.
    pub kind: IncludeKind,
    /// The class, without colons before it; `None` if it is computed.
    pub class: Option<Arc<str>>,
    /// What a computed name surely is.
    pub means: Option<Means>,
    /// Where its name stands, with its quotes.
    pub place: TextRange,
    /// What holds it.
    pub within: Within,
    /// The values that it gives the class's parameters.
    pub given: Given,
    /// Whether it happens only under a condition, as far as the manifest tells.
    pub is_conditional: bool,
}

/// What the computed name of a class surely is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Means {
    /// This class.
    Class(Arc<str>),
    /// What the lookup finds that stands here: one class, or a list.
    List(TextRange),
    /// These parts together, which nodes may have different values for.
    Parts(Box<[NamePart]>),
    /// What is in this parameter of the class around it.
    Parameter(Arc<str>),
}

/// A part of a computed name.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum NamePart {
    /// A text.
    Text(Arc<str>),
    /// A variable of the node: `role`, `facts.role`.
    Variable(Arc<str>),
}

/// A class that a lookup gives where it finds nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DefaultClass {
    /// The key.
    pub key: Arc<str>,
    /// The class, without colons before it.
    pub class: Arc<str>,
    /// Where its name stands, with its quotes.
    pub place: TextRange,
    /// Where the lookup stands.
    pub call: TextRange,
}

/// The parameters of a class that a declaration gives values.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Given {
    /// None.
    Nothing,
    /// These.
    Parameters(Box<[Arc<str>]>),
    /// Which ones is not known.
    Any,
}

impl CodeFacts {
    /// Whether two versions do the same for nodes and for the rest of the code, but for the types and the defaults
    /// of parameters: they differ in places, comments, and in bodies of classes and defined types that
    /// include and look up the same.
    #[must_use]
    pub fn is_alike(&self, other: &CodeFacts) -> bool {
        self.print == other.print
    }
}

impl IncludeFact {
    /// The class, written out or known for sure.
    #[must_use]
    pub fn known_class(&self) -> Option<&Arc<str>> {
        match (&self.class, &self.means) {
            (Some(class), _) | (None, Some(Means::Class(class))) => Some(class),
            (None, Some(Means::List(_) | Means::Parts(_) | Means::Parameter(_)) | None) => None,
        }
    }

    /// Whether it includes what a lookup finds that stands at a place.
    #[must_use]
    pub fn is_of_list(&self, call: TextRange) -> bool {
        self.means == Some(Means::List(call))
    }
}

impl Given {
    /// Whether it may give a parameter a value.
    #[must_use]
    pub fn may_give(&self, parameter: &str) -> bool {
        match self {
            Given::Nothing => false,
            Given::Parameters(names) => names.iter().any(|name| **name == *parameter),
            Given::Any => true,
        }
    }
}

/// What a call or an include stands in: the innermost of these.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Within {
    /// Nothing: it is at the top of the text.
    Top,
    /// A definition, by its index.
    Definition(u32),
    /// A node block, by its index.
    Node(u32),
}

impl LookupKey {
    /// A key of which these texts are written out, with what is computed between them.
    pub(super) fn of_texts(mut texts: Vec<String>, names: &Interner) -> LookupKey {
        // What is behind a dot digs into the value.
        let is_dotted = |text: &String| text.contains('.');
        if let Some(at) = texts.iter().position(is_dotted) {
            texts.truncate(at + 1);
            if let Some(last) = texts.last_mut()
                && let Some(end) = last.find('.')
            {
                last.truncate(end);
            }
        }
        let says_something = |text: &String| text.contains(|c: char| c.is_alphanumeric());
        match texts.iter().any(says_something) {
            true => LookupKey::Partly(texts.iter().map(|text| names.intern(text)).collect()),
            false => LookupKey::Computed,
        }
    }

    /// Whether it is partly computed and may be this top-level key.
    #[must_use]
    pub fn may_partly_be(&self, key: &str) -> bool {
        let LookupKey::Partly(texts) = self else {
            return false;
        };
        let Some((first, rest)) = texts.split_first() else {
            return false;
        };
        let Some(mut left) = key.strip_prefix(&**first) else {
            return false;
        };
        let Some((last, between)) = rest.split_last() else {
            return left.is_empty();
        };
        for text in between {
            match left.split_once(&**text) {
                Some((_, after)) => left = after,
                None => return false,
            }
        }
        left.ends_with(&**last)
    }
}

fn looks_up(file: &File, is_meant: impl Fn(&LookupKey) -> bool) -> bool {
    let code = file.facts().code.as_deref();
    code.is_some_and(|code| code.lookups.iter().any(|lookup| is_meant(&lookup.key)))
}

impl CodeFacts {
    /// A parameter of the definition that holds an include.
    #[must_use]
    pub fn parameter_around(&self, include: &IncludeFact, name: &str) -> Option<&ParameterFact> {
        match include.within {
            Within::Definition(at) => self.definitions.get(at as usize)?.parameter(name),
            Within::Top | Within::Node(_) => None,
        }
    }

    /// The definition of that name and kind.
    #[must_use]
    pub fn definition(&self, kind: DefinitionKind, name: &str) -> Option<&DefinitionFact> {
        let mut all = self.definitions.iter();
        all.find(|definition| definition.kind == kind && &*definition.name == name)
    }

    /// The names that the text defines, type aliases in lower case.
    fn defined(&self) -> impl Iterator<Item = Arc<str>> {
        let definitions = self.definitions.iter().map(|d| Arc::clone(&d.name));
        let aliases = self.aliases.iter();
        definitions.chain(aliases.map(|alias| Arc::from(alias.name.to_lowercase())))
    }
}

impl DefinitionFact {
    /// The parameter of that name.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&ParameterFact> {
        self.parameters.iter().find(|p| &*p.name == name)
    }
}

impl ParameterFact {
    /// Whether data is compared with both in the same way: by the same type, and with a default or without.
    #[must_use]
    pub fn takes_the_same(&self, other: &ParameterFact) -> bool {
        self.print == other.print && self.default.is_some() == other.default.is_some()
    }
}

/// What code that looks keys up is written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// Puppet's own.
    Puppet(Dialect),
    /// Ruby between the tags of a template.
    Erb,
    /// Ruby: functions of modules.
    Ruby,
}

/// What a file is written in, by its name; `None` for a file that is no code that is read.
#[must_use]
pub fn language_of(at: &str) -> Option<Language> {
    match path::extension(at) {
        Some("pp") if at.contains("/plans/") => Some(Language::Puppet(Dialect::Plan)),
        Some("pp") => Some(Language::Puppet(Dialect::Manifest)),
        Some("epp") => Some(Language::Puppet(Dialect::Template)),
        Some("erb") if at.contains("/templates/") => Some(Language::Erb),
        Some("rb") if at.contains("/lib/puppet/") => Some(Language::Ruby),
        _ => None,
    }
}

/// Which files define which names and look up which keys.
#[derive(Clone, Default)]
pub(super) struct CodeIndex {
    /// By the names of definitions and type aliases.
    defined: KeyIndex,
    /// By the keys that are looked up.
    keys: KeyIndex,
    /// By what computed keys start with; an empty text where that is not known.
    prefixes: KeyIndex,
    /// By the classes that are included or named.
    classes: KeyIndex,
}

impl CodeIndex {
    /// Takes in how files differ.
    pub(super) fn patch(&mut self, files: &[FileDelta]) {
        let mut patches = [(); 4].map(|()| Patch::default());
        let mut is_touched = false;
        for file in files {
            let code = |facts: &Option<Arc<FileFacts>>| {
                let code = facts.as_ref().and_then(|facts| facts.code.as_deref());
                code.map(names).unwrap_or_default()
            };
            let (before, after) = (code(&file.before), code(&file.after));
            for ((patch, before), after) in patches.iter_mut().zip(&before).zip(&after) {
                for name in after.iter().filter(|name| !before.contains(*name)) {
                    is_touched = true;
                    patch.add(name, file.file);
                }
                for name in before.iter().filter(|name| !after.contains(*name)) {
                    is_touched = true;
                    patch.remove(name, file.file);
                }
            }
        }
        if is_touched {
            let [defined, keys, prefixes, classes] = patches;
            self.defined.patch(defined);
            self.keys.patch(keys);
            self.prefixes.patch(prefixes);
            self.classes.patch(classes);
        }
    }
}

/// Names by which a text is found: what it defines, the keys that it looks up, what others start
/// with, the classes that it names.
type Names = [std::collections::BTreeSet<Arc<str>>; 4];

fn names(code: &CodeFacts) -> Names {
    let mut names = Names::default();
    let [defined, keys, prefixes, classes] = &mut names;
    defined.extend(code.defined());
    for lookup in &code.lookups {
        match &lookup.key {
            LookupKey::Literal(key) => keys.insert(Arc::clone(key)),
            LookupKey::Partly(texts) => prefixes.insert(texts.first().cloned().unwrap_or_default()),
            LookupKey::Computed => prefixes.insert(Arc::default()),
        };
    }
    let named = code.includes.iter().filter_map(|i| i.class.clone());
    classes.extend(named);
    names
}

impl Snapshot {
    /// The files that define a class, a defined type, a function or (in lower case) a type alias.
    pub fn files_defining(&self, name: &str) -> impl Iterator<Item = &Arc<File>> {
        self.files_of(self.code.defined.files(name))
    }

    /// Names of classes, defined types, functions and (in lower case) type aliases that start with
    /// `prefix`, ordered by bytes.
    pub fn defined_names<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a Arc<str>> {
        self.code.defined.names(prefix)
    }

    /// The files that look up a key that is written out: as it is, not what it digs into.
    pub fn files_looking_up(&self, key: &str) -> impl Iterator<Item = &Arc<File>> {
        self.files_of(self.code.keys.files(key))
    }

    /// The keys that manifests look up and that start with `prefix`, ordered by bytes.
    pub fn looked_up<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a Arc<str>> {
        self.code.keys.names(prefix)
    }

    /// The files that look up a key that is partly computed and may be this one: O(length × log prefixes
    /// + lookups of the files that compute keys).
    pub fn files_that_may_look_up(&self, key: &str) -> impl Iterator<Item = &Arc<File>> {
        let ends = (0..=key.len()).filter(|&end| key.is_char_boundary(end));
        let mut ids: Vec<FileId> = ends
            .flat_map(|end| self.code.prefixes.files(&key[..end]))
            .collect();
        ids.sort_unstable();
        ids.dedup();
        self.files_of(ids)
            .filter(move |file| looks_up(file, |it| it.may_partly_be(key)))
    }

    /// The files that look up keys of which nothing is known.
    pub fn files_that_compute_keys(&self) -> impl Iterator<Item = &Arc<File>> {
        let files = self.files_of(self.code.prefixes.files(""));
        files.filter(|file| looks_up(file, |it| *it == LookupKey::Computed))
    }

    /// Whether a call that looks a top-level key up, or digs into it, may give a `knockout_prefix`.
    #[must_use]
    pub fn may_be_knocked_out_by_call(&self, key: &str) -> bool {
        let dotted = format!("{key}.");
        let is_it = |known: &str| known == key || known.starts_with(&dotted);
        let is_meant = |lookup: &LookupFact| match &lookup.key {
            LookupKey::Literal(known) => is_it(known),
            LookupKey::Partly(_) => lookup.key.may_partly_be(key),
            LookupKey::Computed => true,
        };
        let does = |file: &Arc<File>| {
            let code = file.facts().code.as_deref();
            let mut lookups = code.into_iter().flat_map(|code| code.lookups.iter());
            lookups.any(|lookup| lookup.may_knock_out && is_meant(lookup))
        };
        let digging = self.looked_up(&dotted);
        self.files_looking_up(key).any(does)
            || digging.flat_map(|key| self.files_looking_up(key)).any(does)
            || self.files_that_may_look_up(key).any(does)
            || self.files_that_compute_keys().any(does)
    }

    /// The files that include or name a class.
    pub fn files_naming_class(&self, class: &str) -> impl Iterator<Item = &Arc<File>> {
        self.files_of(self.code.classes.files(class))
    }

    fn files_of(&self, ids: Vec<FileId>) -> impl Iterator<Item = &Arc<File>> {
        ids.into_iter().filter_map(|id| self.file_by_id(id))
    }
}
