//! Data types as Rust values: the counterpart of Puppet's `pops/types/types.rb`.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

pub use super::ranges::{Digits, FloatRange, Range, TimeRange};
use crate::regexp::{Regexp, RegexpError};
use crate::value::Value;

/// A Puppet data type. Cheap to clone: everything large is shared.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    missing_docs,
    reason = "a variant is what Puppet calls by the same name"
)]
pub enum Type {
    Any,
    /// The unknown type: assignable to every type, and every type to it.
    Unit,
    Undef,
    Default,
    Scalar,
    ScalarData,
    Numeric,
    Binary,
    CatalogEntry,
    SemVerRange,
    TypeSet,
    Integer(Range),
    Float(FloatRange),
    String(StringType),
    Enum(Arc<EnumType>),
    Pattern(Arc<[Pattern]>),
    Regexp(Option<Arc<str>>),
    Boolean(Option<bool>),
    Timestamp(TimeRange),
    Timespan(TimeRange),
    SemVer(Arc<[Arc<str>]>),
    Uri(Option<Arc<str>>),
    Collection(Option<Range>),
    Array(Arc<Type>, Option<Range>),
    Hash(Arc<(Type, Type)>, Option<Range>),
    Tuple(Arc<[Type]>, Option<Range>),
    Struct(Arc<[Element]>),
    Variant(Arc<[Type]>),
    Optional(Option<Arc<Type>>),
    NotUndef(Option<Arc<Type>>),
    Type(Option<Arc<Type>>),
    Sensitive(Arc<Type>),
    Iterable(Option<Arc<Type>>),
    Iterator(Option<Arc<Type>>),
    Init(Option<Arc<Type>>, Arc<[Value]>),
    Callable(Option<Arc<CallableType>>),
    Class(Option<Arc<str>>),
    Resource(Option<Arc<ResourceType>>),
    Runtime(Option<Arc<str>>, Option<Arc<str>>),
    /// An `Object` type: data from a file is never an instance.
    Object(Option<ObjectType>),
    /// The name of a type that does not exist.
    Reference(Arc<str>),
    Alias(Alias),
}

/// Maximum nesting of aliases and variants that is followed.
const MAX_LAYERS: usize = 16;

impl Type {
    /// Whether no string is an instance of this type.
    #[must_use]
    pub fn takes_no_text(&self) -> bool {
        self.takes_no_text_within(MAX_LAYERS)
    }

    fn takes_no_text_within(&self, layers: usize) -> bool {
        let Some(layers) = layers.checked_sub(1) else {
            return false;
        };
        match self {
            Type::Numeric
            | Type::Integer(_)
            | Type::Float(_)
            | Type::Boolean(_)
            | Type::Undef
            | Type::Array(..)
            | Type::Hash(..)
            | Type::Tuple(..)
            | Type::Struct(_)
            | Type::Sensitive(_) => true,
            Type::Variant(types) => types.iter().all(|it| it.takes_no_text_within(layers)),
            Type::Optional(Some(inner)) | Type::NotUndef(Some(inner)) => {
                inner.takes_no_text_within(layers)
            }
            Type::Alias(alias) => alias.resolved().takes_no_text_within(layers),
            _ => false,
        }
    }
}

/// The object types that Puppet itself defines (`puppet/datatypes`, `pops/types/p_deferred_type.rb`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectType {
    /// A function that the agent calls.
    Deferred,
    Error,
}

impl ObjectType {
    pub(super) const ALL: [ObjectType; 2] = [ObjectType::Deferred, ObjectType::Error];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ObjectType::Deferred => "Deferred",
            ObjectType::Error => "Error",
        }
    }

    /// Whether Puppet loads it from a file.
    pub(super) fn is_of_file(self) -> bool {
        self == ObjectType::Error
    }

    /// The names of its attributes, in order.
    pub(super) fn attributes(self) -> &'static [&'static str] {
        match self {
            ObjectType::Deferred => &["name", "arguments"],
            ObjectType::Error => &["msg", "kind", "details", "issue_code"],
        }
    }

    /// Its definition, as Puppet prints the type.
    pub(super) fn definition(self) -> &'static str {
        match self {
            ObjectType::Deferred => {
                "Object[{name => 'Deferred', attributes => {'name' => \
                 Pattern[/\\A[$]?[a-z][a-z0-9_]*(?:::[a-z][a-z0-9_]*)*\\z/], 'arguments' => \
                 {type => Optional[Array], value => undef}}}]"
            }
            ObjectType::Error => {
                "Object[{name => 'Error', type_parameters => {'kind' => Variant[String, Regexp, \
                 Type[Enum], Type[Pattern], Type[NotUndef], Type[Undef]], 'issue_code' => \
                 Variant[String, Regexp, Type[Enum], Type[Pattern], Type[NotUndef], Type[Undef]]}, \
                 attributes => {'msg' => String[1], 'kind' => {type => Optional[String[1]], value \
                 => undef}, 'details' => {type => Optional[Hash[String[1], Data]], value => \
                 undef}, 'issue_code' => {type => Optional[String[1]], value => undef}}, \
                 functions => {'message' => Callable[[0, 0], String[1]]}}]"
            }
        }
    }

    pub(super) fn of(value: &Value) -> Option<ObjectType> {
        let Value::Rich(rich) = value else {
            return None;
        };
        ObjectType::ALL.into_iter().find(|t| t.name() == rich.ptype)
    }
}

/// The parameter of a `String` type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StringType {
    /// Any text.
    Any,
    /// A size in characters.
    Size(Range),
    /// Exactly this text, as inferred from a string.
    Value(Arc<str>),
}

impl StringType {
    pub(super) fn sizes(&self) -> Range {
        match self {
            StringType::Any => Range::at_least(0),
            StringType::Size(range) => range.clone(),
            StringType::Value(text) => {
                let size = text.chars().count();
                Range::of(size, size)
            }
        }
    }
}

/// The strings an `Enum` allows, sorted as Puppet sorts them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumType {
    /// The strings.
    pub values: Vec<Arc<str>>,
    /// Whether case matters.
    pub case: EnumCase,
}

/// Whether an `Enum` respects the case of ASCII letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnumCase {
    /// As written.
    Sensitive,
    /// `Enum[a, true]`.
    Insensitive,
}

impl EnumType {
    pub(super) fn new(mut values: Vec<Arc<str>>, case: EnumCase) -> EnumType {
        values.sort();
        values.dedup();
        EnumType { values, case }
    }

    pub(super) fn contains(&self, text: &str) -> bool {
        self.values.iter().any(|value| match self.case {
            EnumCase::Sensitive => **value == *text,
            EnumCase::Insensitive => value.eq_ignore_ascii_case(text),
        })
    }
}

/// A regular expression of a `Pattern`, compiled on first use.
#[derive(Clone)]
pub struct Pattern {
    pub(super) source: Arc<str>,
    compiled: Arc<OnceLock<Result<Regexp, RegexpError>>>,
}

/// Its source: whether it has been compiled is no part of it.
impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pattern").field(&self.source).finish()
    }
}

impl Pattern {
    /// A pattern from its Ruby source.
    #[must_use]
    pub fn new(source: &str) -> Pattern {
        Pattern {
            source: source.into(),
            compiled: Arc::new(OnceLock::new()),
        }
    }

    /// The regular expression.
    ///
    /// # Errors
    /// Ruby's error, or that no engine here can run the pattern.
    pub fn regexp(&self) -> Result<&Regexp, RegexpError> {
        self.compiled
            .get_or_init(|| Regexp::lazy(&self.source))
            .as_ref()
            .map_err(RegexpError::clone)
    }

    /// Whether the text matches. If no engine can tell, it counts as a match, to avoid false
    /// errors.
    pub(super) fn matches(&self, text: &str) -> bool {
        match self.regexp() {
            Ok(regexp) => regexp.is_match(text).unwrap_or(true),
            Err(_) => true,
        }
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.source == other.source
    }
}

/// An entry of a `Struct`.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// The key.
    pub name: Arc<str>,
    /// Whether the key may be missing.
    pub presence: Presence,
    /// The type of the value.
    pub value: Type,
}

/// Whether a key of a `Struct` may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// The key must be there.
    Required,
    /// The key may be missing.
    Optional,
}

impl Element {
    pub(super) fn key_type(&self) -> Type {
        let text = Type::String(StringType::Value(self.name.clone()));
        match self.presence {
            Presence::Required => text,
            Presence::Optional => Type::Optional(Some(Arc::new(text))),
        }
    }
}

/// A `Callable`: data never is one, but the type can be written.
#[derive(Clone, Debug, PartialEq)]
pub struct CallableType {
    /// Types of the parameters.
    pub parameters: Vec<Type>,
    /// The number of arguments.
    pub size: Option<Range>,
    /// The block.
    pub block: Option<Type>,
    /// The return type.
    pub returns: Option<Type>,
}

/// A resource type or a reference to a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceType {
    /// The name, capitalized.
    pub name: Arc<str>,
    /// The title.
    pub title: Option<Arc<str>>,
}

/// A named type. Inside its own definition the name is a weak link, so that recursive types are
/// freed; the outermost type keeps all of it alive.
#[derive(Clone, Debug)]
pub struct Alias {
    pub(super) name: Arc<str>,
    pub(super) strong: Option<Arc<AliasBody>>,
    pub(super) weak: Weak<AliasBody>,
}

#[derive(Debug, Default)]
pub(super) struct AliasBody {
    pub(super) resolved: OnceLock<Type>,
}

impl Alias {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The aliased type; `Unit` if it could not be resolved.
    #[must_use]
    pub fn resolved(&self) -> Type {
        self.strong
            .clone()
            .or_else(|| self.weak.upgrade())
            .and_then(|body| body.resolved.get().cloned())
            .unwrap_or(Type::Unit)
    }

    pub(super) fn address(&self) -> *const AliasBody {
        self.weak.as_ptr()
    }
}

impl PartialEq for Alias {
    fn eq(&self, other: &Alias) -> bool {
        self.name == other.name
    }
}

impl Type {
    /// `Integer` without bounds.
    pub(super) const fn integer() -> Type {
        Type::Integer(Range {
            from: None,
            to: None,
        })
    }

    /// `Float` without bounds.
    pub(super) const fn float() -> Type {
        Type::Float(FloatRange {
            from: None,
            to: None,
        })
    }

    /// `Array` of anything.
    pub(super) fn any_array() -> Type {
        Type::Array(Arc::new(Type::Any), None)
    }

    /// `Hash` of anything.
    pub(super) fn any_hash() -> Type {
        Type::Hash(Arc::new((Type::Any, Type::Any)), None)
    }

    /// An array type; of nothing if it must be empty.
    pub(super) fn array(element: Type, size: Option<Range>) -> Type {
        let element = if size.as_ref().is_some_and(Range::is_empty_size) {
            Type::Unit
        } else {
            element
        };
        Type::Array(Arc::new(element), size.map(|size| size.to_size()))
    }

    /// A hash type; of nothing if it must be empty.
    pub(super) fn hash(key: Type, value: Type, size: Option<Range>) -> Type {
        let pair = if size.as_ref().is_some_and(Range::is_empty_size) {
            (Type::Unit, Type::Unit)
        } else {
            (key, value)
        };
        Type::Hash(Arc::new(pair), size.map(|size| size.to_size()))
    }

    /// A flattened variant of the distinct types; just the type if there is only one.
    pub(super) fn variant(types: impl IntoIterator<Item = Type>) -> Type {
        let mut distinct = Distinct::default();
        for t in types {
            if let Type::Variant(inner) = &t {
                inner.iter().cloned().for_each(|t| distinct.add(t));
            } else {
                distinct.add(t);
            }
        }
        let mut flat = distinct.types;
        if flat.len() == 1
            && let Some(only) = flat.pop()
        {
            return only;
        }
        Type::Variant(flat.into())
    }

    /// `NotUndef[T]`; without a parameter for `Any`.
    pub(super) fn not_undef(inner: Type) -> Type {
        Type::NotUndef((inner != Type::Any).then(|| Arc::new(inner)))
    }

    /// The sizes a tuple of these types may have.
    pub(super) fn tuple_sizes(types: &[Type], size: Option<&Range>) -> Range {
        match size {
            Some(size) => size.clone(),
            None if types.is_empty() => Range::at_least(0),
            None => Range::of(types.len(), types.len()),
        }
    }

    /// The type without the details of one value, like `generalize` of each Ruby class.
    #[must_use]
    pub fn generalize(&self) -> Type {
        match self {
            Type::Integer(_) => Type::integer(),
            Type::Float(_) => Type::float(),
            Type::String(_) => Type::String(StringType::Any),
            Type::Boolean(_) => Type::Boolean(None),
            Type::Timestamp(_) => Type::Timestamp(TimeRange::default()),
            Type::Timespan(_) => Type::Timespan(TimeRange::default()),
            Type::Uri(_) => Type::Uri(None),
            Type::Collection(_) => Type::Collection(None),
            Type::Enum(allowed) => {
                let sizes = allowed.values.iter().map(|v| v.chars().count());
                match (sizes.clone().min(), sizes.max()) {
                    (Some(min), Some(max)) => Type::String(StringType::Size(Range::of(min, max))),
                    _ => Type::String(StringType::Any),
                }
            }
            Type::Array(element, _) => Type::Array(Arc::new(element.generalize()), None),
            Type::Hash(pair, size) => {
                if size.as_ref().is_some_and(Range::is_empty_size) && pair.0 == Type::Unit {
                    return self.clone();
                }
                Type::Hash(Arc::new((pair.0.generalize(), pair.1.generalize())), None)
            }
            Type::Tuple(types, size) => {
                Type::Tuple(types.iter().map(Type::generalize).collect(), size.clone())
            }
            Type::Struct(elements) => Type::Struct(
                elements
                    .iter()
                    .map(|e| Element {
                        value: e.value.generalize(),
                        ..e.clone()
                    })
                    .collect(),
            ),
            Type::Variant(types) if types.is_empty() => self.clone(),
            Type::Variant(types) => Type::variant(types.iter().map(Type::generalize)),
            Type::Optional(inner) => Type::Optional(generalized(inner.as_ref())),
            Type::NotUndef(inner) => Type::NotUndef(generalized(inner.as_ref())),
            Type::Type(inner) => Type::Type(generalized(inner.as_ref())),
            Type::Iterable(inner) => Type::Iterable(generalized(inner.as_ref())),
            Type::Iterator(inner) => Type::Iterator(generalized(inner.as_ref())),
            Type::Sensitive(inner) => Type::Sensitive(Arc::new(inner.generalize())),
            _ => self.clone(),
        }
    }
}

fn generalized(inner: Option<&Arc<Type>>) -> Option<Arc<Type>> {
    inner.map(|t| Arc::new(t.generalize()))
}

/// Maximum number of types that are compared one by one.
const FEW_TYPES: usize = 32;

/// Distinct types in the order of their first occurrence; the values of a long list can have as many
/// types.
#[derive(Default)]
struct Distinct {
    types: Vec<Type>,
    /// Above [`FEW_TYPES`], the indices of the types by their text.
    by_text: HashMap<String, Vec<usize>>,
}

impl Distinct {
    fn add(&mut self, new: Type) {
        if self.types.len() < FEW_TYPES {
            if !self.types.contains(&new) {
                self.types.push(new);
            }
            return;
        }
        if self.by_text.is_empty() {
            for (at, known) in self.types.iter().enumerate() {
                let same = self.by_text.entry(known.to_string());
                same.or_default().push(at);
            }
        }
        let same = self.by_text.entry(new.to_string()).or_default();
        if same.iter().all(|at| self.types[*at] != new) {
            same.push(self.types.len());
            self.types.push(new);
        }
    }
}
