//! Values as Ruby holds them after a data file is loaded.
//!
//! A [`Value`] is cheap to clone (collections and strings are shared) and compares like Ruby's
//! `eql?`: `1`, `1.0` and `'1'` are three different hash keys. Values must not know files,
//! positions or lookups.
//!
//! ```
//! use hiera_ls::value::Value;
//!
//! assert_ne!(Value::from(1), Value::Float(1.0));
//! let hash = Value::hash([("a", Value::from(1)), ("b", Value::Undef)]);
//! assert_eq!(hash.get("a"), Some(&Value::from(1)));
//! ```

mod base64;
mod dump;
mod hashing;
mod hocon;
mod inspect;
mod json;
mod json_text;
mod load;
mod number;
mod plain_yaml;
mod printable;
mod psych;
mod ruby;
mod time;

pub(crate) use base64::unpack_base64;
pub use dump::{dump, dump_body, dump_data, dump_for_hover, dump_shared};
pub use hashing::{KeyHashing, hash_with_capacity};
pub use hocon::load_hocon;
pub use inspect::{float_to_s, inspect_string};
pub(crate) use json::literal as json_literal;
pub use json::{json_load, json_load_in, later_json_error, load_json_parse};
pub use json_text::{
    JsonError, JsonPieces, TaggedJson, from_json, from_raw_json, to_json, to_tagged_json,
};
pub use load::{LoadError, LoadErrorKind, SystemError};
pub(crate) use number::compare_numbers;
pub use plain_yaml::{load_plain_entry, load_plain_yaml};
pub(crate) use psych::is_symbol_tag;
pub use psych::{
    MAX_EXPANDED_NODES, load_node, load_parse, load_recovered, load_tree, load_yaml,
    load_yaml_value, symbol_keys_to_strings,
};
pub use ruby::{Ruby, RubyChange};

use std::borrow::Cow;
use std::hash::{BuildHasher as _, Hash, Hasher};
use std::sync::Arc;

use indexmap::IndexMap;
use num_bigint::BigInt;

/// A hash like Ruby's: insertion order is kept, and matters in every merge.
pub type HashMap = IndexMap<Value, Value, KeyHashing>;

/// A value of Hiera data: Puppet's rich data, plus values that a loader produces before Puppet
/// refuses them, plus values that cannot be known here.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// `nil` in Ruby, `undef` in Puppet.
    #[default]
    Undef,
    /// `true` or `false`.
    Bool(bool),
    /// An integer of up to 64 bits.
    Int(i64),
    /// An integer that needs more than 64 bits.
    BigInt(Arc<BigInt>),
    /// A float, including NaN and the infinities.
    Float(f64),
    /// Text.
    String(Arc<str>),
    /// A Ruby String of bytes that are not text (`!!binary` in YAML).
    Bytes(Arc<[u8]>),
    /// A Ruby Symbol, without its colon. Legal as a key (it becomes a string), never as a value.
    Symbol(Arc<str>),
    /// A list.
    Array(Arc<Vec<Value>>),
    /// A hash with keys of any type.
    Hash(Arc<HashMap>),
    /// A wrapped secret of Puppet's `Sensitive` type.
    Sensitive(Arc<Value>),
    /// Puppet's `default`.
    Default,
    /// Any other value of a Puppet type that data can be converted to: the name of the type
    /// (`Timestamp`, `Regexp`, `SemVer`, `Type` …) and Puppet's text for the value.
    Rich(Arc<Rich>),
    /// A value that exists but cannot be known here.
    Opaque(Arc<Opaque>),
}

/// A value of a Puppet type without a literal form in YAML.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rich {
    /// Name of the Puppet type: `Binary`, `Timestamp`, `Timespan`, `Regexp`, `SemVer`,
    /// `SemVerRange`, `URI`, `Type`, `Deferred`, `Error`.
    pub ptype: &'static str,
    /// The value as Puppet's string conversion prints it: base64 for `Binary`, the source for `Regexp`.
    pub text: String,
}

/// Why a value cannot be known here.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Opaque {
    /// An encrypted value that was not decrypted: `method` is the encryption method as written
    /// in the blob (`PKCS7`, `GPG`).
    Secret {
        /// Encryption method, upper case.
        method: String,
        /// A hash of the cipher text: equal hashes mean equal cipher texts.
        fingerprint: u64,
    },
    /// A string whose interpolation needs something unknown; `text` is the string as written,
    /// `because` names the missing variable, custom backend or the like.
    Unknown {
        /// The text before interpolation.
        text: String,
        /// The reason.
        because: Missing,
    },
}

/// Something that a value needs and that cannot be known here.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Missing {
    /// A variable, with dots: `facts.os.family`.
    Variable(Arc<str>),
    /// Anything else, in words.
    Other(String),
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Missing::Variable(name) => write!(f, "variable '{name}' is not known"),
            Missing::Other(words) => f.write_str(words),
        }
    }
}

impl Opaque {
    /// The secret of a cipher text. Its line breaks make no difference.
    #[must_use]
    pub fn secret(method: &str, cipher: &str) -> Opaque {
        let parts: Vec<&str> = cipher.split_ascii_whitespace().collect();
        Opaque::Secret {
            method: method.to_owned(),
            fingerprint: KeyHashing.hash_one(parts),
        }
    }

    /// The string with this in place of a token.
    #[must_use]
    pub fn inside(self, text: &str) -> Opaque {
        match self {
            Opaque::Secret {
                method,
                fingerprint,
            } => Opaque::Secret {
                method,
                fingerprint: KeyHashing.hash_one((fingerprint, text)),
            },
            Opaque::Unknown { because, .. } => Opaque::Unknown {
                text: text.to_owned(),
                because,
            },
        }
    }
}

impl Value {
    /// A string value.
    #[must_use]
    pub fn string(text: impl AsRef<str>) -> Value {
        Value::String(Arc::from(text.as_ref()))
    }

    /// The elements that Ruby's `Array#join` writes: those of nested arrays too, and an empty string
    /// for a nested array without elements.
    #[must_use]
    pub fn to_join(elements: &[Value]) -> Vec<Value> {
        fn collect(elements: &[Value], all: &mut Vec<Value>) {
            for element in elements {
                match element {
                    Value::Array(nested) if nested.is_empty() => all.push(Value::string("")),
                    Value::Array(nested) => collect(nested, all),
                    other => all.push(other.clone()),
                }
            }
        }
        let mut all = Vec::new();
        collect(elements, &mut all);
        all
    }

    /// A list.
    #[must_use]
    pub fn array(elements: impl IntoIterator<Item = Value>) -> Value {
        Value::Array(Arc::new(elements.into_iter().collect()))
    }

    /// A hash with string keys, in the order given.
    pub fn hash<'a>(entries: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
        Value::Hash(Arc::new(
            entries
                .into_iter()
                .map(|(k, v)| (Value::string(k), v))
                .collect(),
        ))
    }

    /// The value under a string key, if this is a hash that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_hash()?.get(&StrKey(key))
    }

    /// The text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Value::String(text) = self {
            Some(text)
        } else {
            None
        }
    }

    /// The entries of a hash.
    #[must_use]
    pub fn as_hash(&self) -> Option<&HashMap> {
        if let Value::Hash(hash) = self {
            Some(hash)
        } else {
            None
        }
    }

    /// The elements of a list.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Value]> {
        if let Value::Array(elements) = self {
            Some(elements)
        } else {
            None
        }
    }

    /// Whether Ruby treats the value as false: `nil` or `false`.
    #[must_use]
    pub fn is_falsey(&self) -> bool {
        matches!(self, Value::Undef | Value::Bool(false))
    }

    /// Why the value, or its first unknown part, cannot be known; `None` if all is known.
    #[must_use]
    pub fn opaque_reason(&self) -> Option<String> {
        match self {
            Value::Opaque(opaque) => Some(match &**opaque {
                Opaque::Secret { method, .. } => format!("the value is encrypted ({method})"),
                Opaque::Unknown { because, .. } => because.to_string(),
            }),
            Value::Array(elements) => elements.iter().find_map(Value::opaque_reason),
            Value::Hash(hash) => hash
                .iter()
                .find_map(|(key, value)| key.opaque_reason().or_else(|| value.opaque_reason())),
            Value::Sensitive(value) => value.opaque_reason(),
            _ => None,
        }
    }

    /// Whether this is a hash or a list.
    #[must_use]
    pub fn is_collection(&self) -> bool {
        matches!(self, Value::Hash(_) | Value::Array(_))
    }

    /// The name of its class in Ruby.
    #[must_use]
    pub fn ruby_class(&self) -> &'static str {
        match self {
            Value::Undef => "NilClass",
            Value::Bool(true) => "TrueClass",
            Value::Bool(false) => "FalseClass",
            Value::Int(_) | Value::BigInt(_) => "Integer",
            Value::Float(_) => "Float",
            Value::String(_) | Value::Bytes(_) | Value::Opaque(_) => "String",
            Value::Symbol(_) | Value::Default => "Symbol",
            Value::Array(_) => "Array",
            Value::Hash(_) => "Hash",
            Value::Sensitive(_) => "Puppet::Pops::Types::PSensitiveType::Sensitive",
            Value::Rich(rich) => match rich.ptype {
                "Binary" => "Puppet::Pops::Types::PBinaryType::Binary",
                "Timestamp" => "Puppet::Pops::Time::Timestamp",
                "Timespan" => "Puppet::Pops::Time::Timespan",
                "Regexp" => "Regexp",
                "SemVer" => "SemanticPuppet::Version",
                "SemVerRange" => "SemanticPuppet::VersionRange",
                "URI" => "URI::Generic",
                "Error" => "Puppet::DataTypes::Error",
                _ => "Puppet::Pops::Types::PAnyType",
            },
        }
    }

    /// Whether this is `nil`.
    #[must_use]
    pub fn is_undef(&self) -> bool {
        matches!(self, Value::Undef)
    }
}

/// A string to look up in a [`HashMap`] without building a [`Value`].
#[derive(Clone, Copy, Debug)]
pub struct StrKey<'a>(pub &'a str);

impl Hash for StrKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(TAG_STRING);
        self.0.hash(state);
    }
}

impl indexmap::Equivalent<Value> for StrKey<'_> {
    fn equivalent(&self, key: &Value) -> bool {
        key.as_str() == Some(self.0)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Int(number)
    }
}

impl From<BigInt> for Value {
    fn from(number: BigInt) -> Value {
        match i64::try_from(&number) {
            Ok(small) => Value::Int(small),
            Err(_) => Value::BigInt(Arc::new(number)),
        }
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        Value::Bool(truth)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::string(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::String(Arc::from(text))
    }
}

impl From<Cow<'_, str>> for Value {
    fn from(text: Cow<'_, str>) -> Value {
        match text {
            Cow::Borrowed(text) => Value::from(text),
            Cow::Owned(text) => Value::from(text),
        }
    }
}

impl From<Vec<Value>> for Value {
    fn from(elements: Vec<Value>) -> Value {
        Value::Array(Arc::new(elements))
    }
}

impl From<HashMap> for Value {
    fn from(hash: HashMap) -> Value {
        Value::Hash(Arc::new(hash))
    }
}

impl Value {
    /// Whether the hashes in two equal values have the same order, too: they differ as texts otherwise.
    #[must_use]
    pub fn has_order_of(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Hash(one), Value::Hash(other)) => {
                let mut entries = one.iter().zip(other.iter());
                Arc::ptr_eq(one, other)
                    || entries
                        .all(|((key, value), (its, other))| key == its && value.has_order_of(other))
            }
            (Value::Array(one), Value::Array(other)) => {
                let mut elements = one.iter().zip(other.iter());
                Arc::ptr_eq(one, other) || elements.all(|(one, other)| one.has_order_of(other))
            }
            (Value::Sensitive(one), Value::Sensitive(other)) => one.has_order_of(other),
            (_, _) => true,
        }
    }
}

/// A value whose equals have the same order in all hashes.
#[derive(Clone, Eq, Debug)]
pub struct InOrder(pub Value);

impl PartialEq for InOrder {
    fn eq(&self, other: &InOrder) -> bool {
        self.0 == other.0 && self.0.has_order_of(&other.0)
    }
}

impl Hash for InOrder {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Undef, Value::Undef) | (Value::Default, Value::Default) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::BigInt(a), Value::BigInt(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => float_bits(*a) == float_bits(*b),
            (Value::String(a), Value::String(b)) | (Value::Symbol(a), Value::Symbol(b)) => {
                Arc::ptr_eq(a, b) || a == b
            }
            (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::Array(a), Value::Array(b)) => Arc::ptr_eq(a, b) || a == b,
            (Value::Hash(a), Value::Hash(b)) => Arc::ptr_eq(a, b) || a == b,
            (Value::Sensitive(a), Value::Sensitive(b)) => a == b,
            (Value::Rich(a), Value::Rich(b)) => a == b,
            (Value::Opaque(a), Value::Opaque(b)) => a == b,
            (
                Value::Undef
                | Value::Default
                | Value::Bool(_)
                | Value::Int(_)
                | Value::BigInt(_)
                | Value::Float(_)
                | Value::String(_)
                | Value::Symbol(_)
                | Value::Bytes(_)
                | Value::Array(_)
                | Value::Hash(_)
                | Value::Sensitive(_)
                | Value::Rich(_)
                | Value::Opaque(_),
                _,
            ) => false,
        }
    }
}

impl Eq for Value {}

const TAG_STRING: u8 = 5;

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Value::Undef => state.write_u8(0),
            Value::Bool(truth) => (1u8, truth).hash(state),
            Value::Int(number) => (2u8, number).hash(state),
            Value::BigInt(number) => (3u8, number).hash(state),
            Value::Float(number) => (4u8, float_bits(*number)).hash(state),
            Value::String(text) => {
                state.write_u8(TAG_STRING);
                text.hash(state);
            }
            Value::Bytes(bytes) => (6u8, bytes).hash(state),
            Value::Symbol(name) => (7u8, name).hash(state),
            Value::Array(elements) => (8u8, elements).hash(state),
            // Equal hashes may differ in order (Ruby's `Hash#eql?`), so the entries' hashes are
            // added.
            Value::Hash(hash) => {
                let entries = hash.iter().map(|entry| KeyHashing.hash_one(entry));
                (9u8, entries.fold(0, u64::wrapping_add)).hash(state);
            }
            Value::Sensitive(value) => (10u8, value).hash(state),
            Value::Default => state.write_u8(11),
            Value::Rich(rich) => (12u8, rich).hash(state),
            Value::Opaque(opaque) => (13u8, opaque).hash(state),
        }
    }
}

/// Bits for comparing floats: both zeros are one key, as in Ruby, and NaN equals itself.
fn float_bits(number: f64) -> u64 {
    if number == 0.0 { 0 } else { number.to_bits() }
}
