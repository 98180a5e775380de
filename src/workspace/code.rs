//! Definitions and uses in manifests: facts of one text.
//!
//! Facts hold ranges, not copies: a type or a default is read from the file's text. It must not
//! know Puppet's autoloader.

use std::sync::Arc;

use super::cache::TextHash;
use super::path;
use super::resources::ResourceFacts;
use crate::syntax::puppet::{Dialect, without_colons};
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
    /// Included or named classes, in the order of the text.
    pub lookups: Box<[LookupFact]>,
    /// Classes that are included or named, in the order of the text.
    pub includes: Box<[IncludeFact]>,
    /// Literal defaults of lookups, in the order of the text.
    pub default_classes: Box<[DefaultClass]>,
    /// The variables that the top scope or a node block sets, in the order of the text.
    pub variables: Box<[VariableFact]>,
    /// Calls of functions that may declare classes, judging by their names, in the order of the
    /// text.
    pub calls: Box<[CallFact]>,
    /// Resources of defined types that are made from data.
    pub resources: ResourceFacts,
    /// The facts that Ruby code adds to Facter's, in the order of the text.
    pub custom_facts: Box<[CustomFact]>,
    /// Whether Puppet refuses the text.
    pub is_broken: bool,
    /// See [`CodeFacts::is_equivalent`].
    pub(super) fingerprint: TextHash,
}

/// The kind of a definition.
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
    /// The kind of definition.
    pub kind: DefinitionKind,
    /// Its full name.
    pub name: Arc<str>,
    /// The range of the name as written.
    pub place: TextRange,
    /// From the keyword to the closing brace.
    pub range: TextRange,
    /// The parent class and the range of its name.
    pub parent: Option<(Arc<str>, TextRange)>,
    /// The range of a function's return type.
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
    /// The range of the variable, including the dollar.
    pub place: TextRange,
    /// The range of its type; without one any value is accepted.
    pub expected: Option<TextRange>,
    /// The range of its default; without one a value is required.
    pub default: Option<TextRange>,
    /// Whether it captures all remaining arguments.
    pub captures_rest: bool,
    /// Its `@param` documentation.
    pub documentation: Option<Box<str>>,
    /// The hash of its type's text.
    pub(super) fingerprint: TextHash,
}

/// `type Name = …`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AliasFact {
    /// Its name.
    pub name: Arc<str>,
    /// The range of the name.
    pub place: TextRange,
    /// The range of the type.
    pub expected: TextRange,
    /// The comment above it without tags, if there is one.
    pub documentation: Option<Box<str>>,
}

/// A node block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeFact {
    /// The nodes that it is for.
    pub matches: Box<[NodeMatch]>,
    /// From the keyword to the closing brace.
    pub range: TextRange,
}

/// How a node's name is matched.
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
    /// The range of the variable.
    pub place: TextRange,
    /// Whether a node block sets it.
    pub in_node_block: bool,
}

/// A fact that a module adds to Facter's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CustomFact {
    /// Its name, in lower case as Facter has it.
    pub name: Arc<str>,
    /// The range of the name.
    pub place: TextRange,
}

/// A call of a function that may declare classes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallFact {
    /// The name of the function, without colons before it.
    pub function: Arc<str>,
    /// The range of the call.
    pub place: TextRange,
    /// The enclosing definition.
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
    /// Another function that is called with a key, or a call in a text that may be evaluated as code: what it looks
    /// up, and how, is not known.
    Other,
}

/// The key of a call.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum LookupKey {
    /// A literal key, possibly dotted.
    Literal(Arc<str>),
    /// A key with computed parts. These are its literal texts in order, the first at its start and
    /// the last at its end. A single text is the value of a variable.
    Partly(Box<[Arc<str>]>),
    /// It is computed.
    Computed,
}

/// A call that looks a key up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LookupFact {
    /// The called function.
    pub function: LookupFunction,
    /// The key.
    pub key: LookupKey,
    /// The range of the key, including quotes.
    pub place: TextRange,
    /// The range of the whole call.
    pub call: TextRange,
    /// The range of the type that the value must have.
    pub expected: Option<TextRange>,
    /// The range of the merge strategy.
    pub merge: Option<TextRange>,
    /// Whether the call may merge with a `knockout_prefix`.
    pub may_knock_out: bool,
    /// Whether the call may merge the values of several levels, whatever `lookup_options` say.
    pub may_merge: bool,
    /// The range of the default.
    pub default: Option<TextRange>,
    /// The enclosing definition.
    pub within: Within,
    /// Whether it is conditional, as far as the manifest shows.
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

/// An included or named class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IncludeFact {
    /// How the class is named.
    pub kind: IncludeKind,
    /// The class, without colons before it; `None` if it is computed.
    pub class: Option<Arc<str>>,
    /// The certain value of a computed name.
    pub means: Option<Means>,
    /// The range of its name, including quotes.
    pub place: TextRange,
    /// The enclosing definition.
    pub within: Within,
    /// The parameters of the class that it sets.
    pub sets: SetParameters,
    /// Whether it is conditional, as far as the manifest shows.
    pub is_conditional: bool,
}

/// The certain value of a class's computed name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Means {
    /// This class.
    Class(Arc<str>),
    /// The result of the lookup at this range: one class, or a list.
    List(TextRange),
    /// These parts, joined; nodes may have different values for them.
    Parts(Box<[NamePart]>),
    /// The value of this parameter of the enclosing class.
    Parameter(Arc<str>),
    /// A name that begins with this text, in lower case and without colons before it.
    Beginning(Arc<str>),
}

/// A part of a computed name.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum NamePart {
    /// A text.
    Text(Arc<str>),
    /// A variable of the node: `role`, `facts.role`.
    Variable(Arc<str>),
}

/// A default class of a lookup.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DefaultClass {
    /// The key.
    pub key: Arc<str>,
    /// The class, without colons before it.
    pub class: Arc<str>,
    /// The range of its name, including quotes.
    pub place: TextRange,
    /// The range of the lookup.
    pub call: TextRange,
}

/// The class parameters that a declaration sets.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum SetParameters {
    /// None.
    Nothing,
    /// These parameters.
    Parameters(Box<[Arc<str>]>),
    /// Unknown ones.
    Any,
}

impl CodeFacts {
    /// Whether conditions decide which classes are included, and so which nodes have them: anywhere, or
    /// in one construct.
    #[must_use]
    pub fn has_conditions(&self, only: Option<Within>) -> bool {
        let is_in = |within| only.is_none_or(|only| only == within);
        let mut lookups = self.lookups.iter();
        let mut includes = self.includes.iter();
        includes.any(|it| it.is_conditional && is_in(it.within))
            || lookups.any(|it| it.is_conditional && is_in(it.within))
    }

    /// Whether two versions are equivalent for nodes and for other code, except for parameter types
    /// and defaults. They may differ in positions and comments, and in the bodies of classes and
    /// defined types if these include and look up the same without conditions.
    #[must_use]
    pub fn is_equivalent(&self, other: &CodeFacts) -> bool {
        self.fingerprint == other.fingerprint
    }
}

impl IncludeFact {
    /// The class, literal or certain.
    #[must_use]
    pub fn known_class(&self) -> Option<&Arc<str>> {
        match (&self.class, &self.means) {
            (Some(class), _) | (None, Some(Means::Class(class))) => Some(class),
            (
                None,
                Some(Means::List(_) | Means::Parts(_) | Means::Parameter(_) | Means::Beginning(_))
                | None,
            ) => None,
        }
    }

    /// Whether a computed name may be that of a class, as far as its beginning shows.
    #[must_use]
    pub fn may_name(&self, class: &str) -> bool {
        let start = match &self.means {
            Some(Means::Beginning(text)) => text,
            Some(Means::Parts(parts)) => match parts.first() {
                Some(NamePart::Text(text)) => without_colons(text),
                Some(NamePart::Variable(_)) | None => "",
            },
            Some(Means::Class(_) | Means::List(_) | Means::Parameter(_)) | None => "",
        };
        let own = class.get(..start.len());
        own.is_some_and(|own| own.eq_ignore_ascii_case(start))
    }

    /// Whether it includes the result of the lookup at a range.
    #[must_use]
    pub fn is_of_list(&self, call: TextRange) -> bool {
        self.means == Some(Means::List(call))
    }
}

impl SetParameters {
    /// Whether it may set a parameter.
    #[must_use]
    pub fn may_set(&self, parameter: &str) -> bool {
        match self {
            SetParameters::Nothing => false,
            SetParameters::Parameters(names) => names.iter().any(|name| **name == *parameter),
            SetParameters::Any => true,
        }
    }
}

/// The innermost enclosing construct of a call or an include.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Within {
    /// None: the top level.
    Top,
    /// A definition, by its index.
    Definition(u32),
    /// A node block, by its index.
    Node(u32),
}

impl LookupKey {
    /// A key with these literal texts, with computed parts between them.
    pub(super) fn of_texts(mut texts: Vec<String>) -> LookupKey {
        // The part after a dot digs into the value.
        let is_dotted = |text: &String| text.contains('.');
        if let Some(at) = texts.iter().position(is_dotted) {
            texts.truncate(at + 1);
            if let Some(last) = texts.last_mut()
                && let Some(end) = last.find('.')
            {
                last.truncate(end);
            }
        }
        let has_letters = |text: &String| text.contains(|c: char| c.is_alphanumeric());
        if texts.iter().any(has_letters) {
            LookupKey::Partly(texts.into_iter().map(Arc::from).collect())
        } else {
            LookupKey::Computed
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

impl CodeFacts {
    /// A parameter of the definition around an include.
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
    pub(super) fn defined(&self) -> impl Iterator<Item = Arc<str>> {
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
    /// Whether both accept the same data: the same type, and both with or both without a default.
    #[must_use]
    pub fn takes_the_same(&self, other: &ParameterFact) -> bool {
        self.fingerprint == other.fingerprint && self.default.is_some() == other.default.is_some()
    }
}

/// The language of code that looks keys up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// Puppet's own.
    Puppet(Dialect),
    /// Ruby between the tags of a template.
    Erb,
    /// Ruby: functions of modules.
    Ruby,
    /// Ruby: facts of modules.
    Facts,
    /// Lines of the form `name=value`: facts of modules.
    ExternalFacts,
}

/// Whether a file is in a folder of facts that modules bring along (Facter's `custom_facts/util/directory_loader.rb`).
#[must_use]
pub fn is_external_fact(at: &str) -> bool {
    path::parent(at).is_some_and(|folder| path::name(folder) == "facts.d")
}

/// The language of a file, by its name; `None` for a file that is not analysed as code.
#[must_use]
pub fn language_of(at: &str) -> Option<Language> {
    match path::extension(at) {
        Some("pp") if at.contains("/plans/") => Some(Language::Puppet(Dialect::Plan)),
        Some("pp") => Some(Language::Puppet(Dialect::Manifest)),
        Some("epp") => Some(Language::Puppet(Dialect::Template)),
        Some("erb") if at.contains("/templates/") => Some(Language::Erb),
        Some("rb") if at.contains("/lib/puppet/") => Some(Language::Ruby),
        // Facter reads no folders in it.
        Some("rb") if path::parent(at).is_some_and(|folder| folder.ends_with("/lib/facter")) => {
            Some(Language::Facts)
        }
        Some("txt") if is_external_fact(at) => Some(Language::ExternalFacts),
        _ => None,
    }
}
