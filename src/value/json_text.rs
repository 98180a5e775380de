//! Values as JSON: plain, as `puppet lookup --render-as json` prints them, and tagged, as the
//! answers of `hiera-ls lookup --batch` carry them; and plain JSON read.
//!
//! Tagged JSON keeps what plain JSON cannot say: `{"__ptype": "Sensitive", "value": …}` for
//! values of Puppet's types and `{"__pairs": [[key, value], …]}` for hashes with keys that are
//! not strings. Integers of any size and floats are exact in all of it.
//!
//! ```
//! use hiera_ls::value::{Value, from_json, to_json, to_tagged_json};
//!
//! let value = from_json(r#"{"big": 123456789012345678901234567890, "f": 1e20}"#)?;
//! assert_eq!(to_tagged_json(&value), r#"{"big":123456789012345678901234567890,"f":1.0e+20}"#);
//! assert_eq!(to_json(&Value::Symbol("up".into()))?, r#""up""#);
//! # Ok::<(), hiera_ls::value::JsonError>(())
//! ```

use std::borrow::Borrow;
use std::cell::Cell;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::{HashMap, Opaque, Value, float_to_s};

/// Maximum length of JSON output, in bytes: nested shared lists must not fill the memory.
const MAX_JSON: usize = 64 << 20;

/// Maximum nesting that Ruby's JSON generator writes.
const MAX_GENERATED_DEPTH: usize = 100;

/// Maximum nesting that is read.
const MAX_DEPTH: usize = 128;

/// Why a value has no JSON, or why a text is invalid, in the generator's or reader's words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JsonError {
    /// The error, without a final dot: `NaN not allowed in JSON`.
    pub message: String,
}

impl std::fmt::Display for JsonError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for JsonError {}

impl From<serde_json::Error> for JsonError {
    fn from(error: serde_json::Error) -> JsonError {
        JsonError {
            message: error.to_string(),
        }
    }
}

/// The JSON that Puppet prints for a value: on one line, without blanks; keys and values without a
/// JSON type as Ruby's `to_s`.
///
/// # Errors
/// If Ruby's generator fails (NaN, infinities, bytes that are not UTF-8, nesting over 100), or
/// beyond our size limit.
pub fn to_json(value: &Value) -> Result<String, JsonError> {
    let room = &Room::new();
    let depth = 1;
    Ok(serde_json::to_string(&Plain { value, depth, room })?)
}

/// The tagged JSON of a value, on one line. In a value over 64 MiB, parts that do not fit are
/// replaced by `Unknown` tags.
#[must_use]
pub fn to_tagged_json(value: &Value) -> String {
    serde_json::to_string(&TaggedJson(value)).unwrap_or_default()
}

/// A value as a part of other JSON: serialises as [`to_tagged_json`] writes it.
#[derive(Clone, Copy, Debug)]
pub struct TaggedJson<V>(pub V);

impl<V: Borrow<Value>> Serialize for TaggedJson<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = self.0.borrow();
        let room = &Room::new();
        Tagged { value, room }.serialize(serializer)
    }
}

/// The value of plain JSON text: facts, scopes, requests. Of equal keys the last wins.
///
/// # Errors
/// Invalid JSON, or nesting of more than 128 levels.
pub fn from_json(text: &str) -> Result<Value, JsonError> {
    // serde_json rounds numbers of more than 64 bits, and some fractions: those are parsed from the
    // text one by one, which walks over the text for each level of nesting.
    match serde_json::from_str(text) {
        Ok(Exact(value)) => Ok(value),
        Err(_) => piece(serde_json::from_str(text)?, 0),
    }
}

fn too_deep() -> JsonError {
    JsonError {
        message: format!("lists and objects nest deeper than {MAX_DEPTH} levels"),
    }
}

/// A value whose numbers are all integers of 64 bits.
struct Exact(Value);

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Exact, D::Error> {
        struct ExactVisitor;
        impl<'de> Visitor<'de> for ExactVisitor {
            type Value = Exact;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a value without fractions")
            }

            fn visit_unit<E>(self) -> Result<Exact, E> {
                Ok(Exact(Value::Undef))
            }

            fn visit_bool<E>(self, value: bool) -> Result<Exact, E> {
                Ok(Exact(Value::Bool(value)))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Exact, E> {
                Ok(Exact(Value::Int(value)))
            }

            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Exact, E> {
                let value = i64::try_from(value).map_err(E::custom)?;
                Ok(Exact(Value::Int(value)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Exact, E> {
                Ok(Exact(Value::string(text)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Exact, A::Error> {
                let mut elements = Vec::new();
                while let Some(Exact(element)) = all.next_element()? {
                    elements.push(element);
                }
                Ok(Exact(Value::from(elements)))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> Result<Exact, A::Error> {
                let mut hash = HashMap::default();
                while let Some((Exact(name), Exact(value))) = all.next_entry()? {
                    hash.insert(name, value);
                }
                Ok(Exact(Value::from(hash)))
            }
        }
        deserializer.deserialize_any(ExactVisitor)
    }
}

/// The value of a piece of JSON that was kept as text, so that no digit is lost.
///
/// # Errors
/// Half a surrogate pair in a string, or nesting of more than 128 levels.
pub fn from_raw_json(raw: &RawValue) -> Result<Value, JsonError> {
    from_json(raw.get())
}

/// A piece within `depth` lists and objects. O(bytes × nesting).
fn piece(raw: &RawValue, depth: usize) -> Result<Value, JsonError> {
    let text = raw.get().trim();
    Ok(match text.as_bytes().first() {
        Some(b'{' | b'[') if depth >= MAX_DEPTH => return Err(too_deep()),
        Some(b'{') => {
            let Entries(entries) = serde_json::from_str(text)?;
            let mut hash = super::hash_with_capacity(entries.len());
            for (key, value) in entries {
                hash.insert(Value::from(key), piece(value, depth + 1)?);
            }
            Value::from(hash)
        }
        Some(b'[') => {
            let elements: Vec<&RawValue> = serde_json::from_str(text)?;
            let elements = elements.into_iter();
            let values: Result<Vec<Value>, JsonError> =
                elements.map(|element| piece(element, depth + 1)).collect();
            Value::from(values?)
        }
        Some(b'"') => Value::from(serde_json::from_str::<String>(text)?),
        Some(_) => super::json::literal(text),
        None => Value::Undef,
    })
}

/// A JSON text of which only the outermost list or object is parsed, for texts whose whole value
/// would be too large.
#[derive(Debug)]
pub enum JsonPieces<'a> {
    /// The elements of a list.
    Array(Vec<&'a RawValue>),
    /// The entries of an object, in order, duplicates included.
    Object(Vec<(String, &'a RawValue)>),
}

impl<'a> JsonPieces<'a> {
    /// The pieces of a text; `None` if it is neither list nor object, or invalid JSON.
    #[must_use]
    pub fn of(text: &'a str) -> Option<JsonPieces<'a>> {
        match text.trim_start().as_bytes().first()? {
            b'[' => Some(JsonPieces::Array(serde_json::from_str(text).ok()?)),
            b'{' => {
                let Entries(entries) = serde_json::from_str(text).ok()?;
                Some(JsonPieces::Object(entries))
            }
            _ => None,
        }
    }
}

/// The entries of an object, in order, with their values as text.
struct Entries<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor;
        impl<'de> Visitor<'de> for EntriesVisitor {
            type Value = Entries<'de>;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<'de>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(EntriesVisitor)
    }
}

/// The remaining number of bytes, shared by all parts of a value.
struct Room(Cell<usize>);

impl Room {
    fn new() -> Room {
        Room(Cell::new(MAX_JSON))
    }

    /// Takes the minimum size of a text with that many bytes; false if there is no room.
    fn take(&self, bytes: usize) -> bool {
        let left = self.0.get().checked_sub(bytes + 1);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// A value as Ruby's generator writes it.
#[derive(Clone, Copy)]
struct Plain<'a> {
    value: &'a Value,
    depth: usize,
    room: &'a Room,
}

impl Plain<'_> {
    fn text<S: Serializer>(self, text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        if self.room.take(text.len()) {
            serializer.serialize_str(text)
        } else {
            Err(S::Error::custom("the value is too large"))
        }
    }

    fn check_depth<E: serde::ser::Error>(self) -> Result<(), E> {
        if self.depth > MAX_GENERATED_DEPTH {
            Err(E::custom(format!(
                "nesting of {MAX_GENERATED_DEPTH} is too deep"
            )))
        } else {
            Ok(())
        }
    }
}

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let nested = |value| Plain {
            value,
            depth: self.depth + 1,
            room: self.room,
        };
        if !self.room.take(0) {
            return Err(S::Error::custom("the value is too large"));
        }
        match self.value {
            Value::Undef => serializer.serialize_unit(),
            Value::Bool(truth) => serializer.serialize_bool(*truth),
            Value::Int(number) => serializer.serialize_i64(*number),
            Value::BigInt(number) => exact(number.to_string(), serializer),
            Value::Float(number) if number.is_finite() => exact(float_to_s(*number), serializer),
            Value::Float(number) => Err(S::Error::custom(format!(
                "{} not allowed in JSON",
                float_to_s(*number)
            ))),
            Value::String(text) => self.text(text, serializer),
            Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => self.text(text, serializer),
                Err(_) => Err(S::Error::custom(
                    "source sequence is illegal/malformed utf-8",
                )),
            },
            Value::Array(elements) => {
                self.check_depth()?;
                serializer.collect_seq(elements.iter().map(nested))
            }
            Value::Hash(hash) => {
                self.check_depth()?;
                serializer.collect_map(hash.iter().map(|(key, value)| {
                    let key = key.to_s();
                    self.room.take(key.len());
                    (key, nested(value))
                }))
            }
            Value::Symbol(_)
            | Value::Sensitive(_)
            | Value::Default
            | Value::Rich(_)
            | Value::Opaque(_) => self.text(&self.value.to_s(), serializer),
        }
    }
}

/// A number with all its digits.
fn exact<S: Serializer>(digits: String, serializer: S) -> Result<S::Ok, S::Error> {
    let raw = RawValue::from_string(digits).map_err(S::Error::custom)?;
    raw.serialize(serializer)
}

/// A value with tags for types that JSON lacks.
#[derive(Clone, Copy)]
struct Tagged<'a> {
    value: &'a Value,
    room: &'a Room,
}

#[derive(Serialize)]
struct TypeTag<'a, T: Serialize> {
    #[serde(rename = "__ptype")]
    ptype: &'a str,
    value: T,
}

fn tag<'a>(ptype: &'a str, value: &'a str) -> TypeTag<'a, &'a str> {
    TypeTag { ptype, value }
}

/// A hash with keys that are not all strings.
#[derive(Serialize)]
struct Pairs<'a> {
    #[serde(rename = "__pairs")]
    pairs: Vec<(Tagged<'a>, Tagged<'a>)>,
}

impl Serialize for Tagged<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let nested = |value| Tagged {
            value,
            room: self.room,
        };
        let size = if let Value::Bytes(bytes) = self.value {
            bytes.len()
        } else {
            self.value.as_str().map_or(0, str::len)
        };
        if !self.room.take(size) {
            return tag("Unknown", "the value is too large").serialize(serializer);
        }
        match self.value {
            Value::Undef => serializer.serialize_unit(),
            Value::Bool(truth) => serializer.serialize_bool(*truth),
            Value::Int(number) => serializer.serialize_i64(*number),
            Value::BigInt(number) => exact(number.to_string(), serializer),
            Value::Float(number) if number.is_finite() => exact(float_to_s(*number), serializer),
            Value::Float(number) => tag("Float", &float_to_s(*number)).serialize(serializer),
            Value::String(text) => serializer.serialize_str(text),
            Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => serializer.serialize_str(text),
                Err(_) => tag("BinaryString", &BASE64.encode(bytes)).serialize(serializer),
            },
            Value::Symbol(name) => tag("Symbol", name).serialize(serializer),
            Value::Array(elements) => serializer.collect_seq(elements.iter().map(nested)),
            Value::Hash(hash) if hash.keys().all(|key| matches!(key, Value::String(_))) => {
                serializer.collect_map(hash.iter().map(|(key, value)| {
                    let key = key.as_str().unwrap_or_default();
                    self.room.take(key.len());
                    (key, nested(value))
                }))
            }
            Value::Hash(hash) => {
                let entries = hash.iter();
                let pairs = entries.map(|(key, value)| (nested(key), nested(value)));
                Pairs {
                    pairs: pairs.collect(),
                }
                .serialize(serializer)
            }
            Value::Sensitive(inner) => TypeTag {
                ptype: "Sensitive",
                value: nested(inner),
            }
            .serialize(serializer),
            Value::Default => tag("Default", "default").serialize(serializer),
            Value::Rich(rich) => tag(rich.ptype, &rich.text).serialize(serializer),
            Value::Opaque(opaque) => match &**opaque {
                Opaque::Secret { method, .. } => tag("Secret", method).serialize(serializer),
                Opaque::Unknown { text: _, because } => {
                    tag("Unknown", &because.to_string()).serialize(serializer)
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::value::Rich;

    fn rich(ptype: &'static str, text: String) -> Value {
        Value::Rich(Arc::new(Rich { ptype, text }))
    }

    #[test]
    fn numbers_are_read_to_the_last_digit() {
        for (text, value) in [
            ("[1, -7, 9223372036854775807]", "[1,-7,9223372036854775807]"),
            ("[9223372036854775808]", "[9223372036854775808]"),
            (
                "[-123456789012345678901234567890]",
                "[-123456789012345678901234567890]",
            ),
            ("[-0, 0.1, 1e3, -0.0]", "[0,0.1,1000.0,-0.0]"),
            (
                r#"{"a": 1, "b": 0.3, "a": 18446744073709551616}"#,
                r#"{"a":18446744073709551616,"b":0.3}"#,
            ),
            (r#"{"a": {"b": 1}, "a": null}"#, r#"{"a":null}"#),
        ] {
            assert_eq!(to_tagged_json(&from_json(text).unwrap()), value, "{text}");
        }
    }

    #[test]
    fn too_deep_nesting_is_refused() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let nested = |depth| format!("{}1{}", open.repeat(depth), close.repeat(depth));
            for depth in [120, 128] {
                assert!(from_json(&nested(depth)).is_ok(), "{depth}");
            }
            for depth in [129, 100_000] {
                let error = from_json(&nested(depth)).unwrap_err();
                assert_eq!(
                    error.message, "lists and objects nest deeper than 128 levels",
                    "{depth}"
                );
            }
        }
    }

    #[test]
    fn plain_json_is_rubys() {
        let mut hash = HashMap::default();
        hash.insert(Value::Int(1), Value::Int(2));
        hash.insert(Value::Undef, Value::Int(3));
        hash.insert(Value::Symbol("a".into()), Value::Int(4));
        hash.insert(Value::array([Value::Int(1)]), Value::Int(5));
        hash.insert(
            Value::Float(1.5),
            Value::Sensitive(Arc::new(Value::from("pw"))),
        );
        hash.insert(Value::from("re"), rich("Regexp", "a".to_owned()));
        let expected =
            r#"{"1":2,"":3,"a":4,"[1]":5,"1.5":"Sensitive [value redacted]","re":"(?-mix:a)"}"#;
        assert_eq!(to_json(&Value::from(hash)).unwrap(), expected);
        let text = Value::from("é\u{2028}</x>\u{1}\u{1f}\u{7f}\"\\/\u{8}\u{c}\n\r\t");
        let expected = "\"é\u{2028}</x>\\u0001\\u001f\u{7f}\\\"\\\\/\\b\\f\\n\\r\\t\"";
        assert_eq!(to_json(&text).unwrap(), expected);
        assert_eq!(
            to_json(&Value::Float(f64::NAN)).unwrap_err().message,
            "NaN not allowed in JSON"
        );
        let mut deep = Value::Int(1);
        for _ in 0..100 {
            deep = Value::array([deep]);
        }
        assert_eq!(to_json(&deep).unwrap().len(), 201);
        assert!(to_json(&Value::array([deep])).is_err());
    }

    #[test]
    fn tagged_json_keeps_values_that_json_lacks() {
        let mut odd = HashMap::default();
        odd.insert(
            Value::Int(1),
            Value::Sensitive(Arc::new(Value::hash([("k", Value::Undef)]))),
        );
        odd.insert(Value::from("1"), Value::Bytes(Arc::from([0xff, 0])));
        let value = Value::array([
            Value::from(odd),
            Value::Symbol("a b".into()),
            Value::Float(f64::NAN),
            Value::Float(f64::NEG_INFINITY),
            Value::Float(-0.5),
            Value::Default,
            rich("Regexp", "a.*".to_owned()),
            rich("Timestamp", "2020-01-01T00:00:00.000000000 UTC".to_owned()),
            Value::BigInt(Arc::new("-99999999999999999999".parse().unwrap())),
        ]);
        let text = to_tagged_json(&value);
        let expected = concat!(
            r#"[{"__pairs":[[1,{"__ptype":"Sensitive","value":{"k":null}}],"#,
            r#"["1",{"__ptype":"BinaryString","value":"/wA="}]]},"#,
            r#"{"__ptype":"Symbol","value":"a b"},{"__ptype":"Float","value":"NaN"},"#,
            r#"{"__ptype":"Float","value":"-Infinity"},-0.5,"#,
            r#"{"__ptype":"Default","value":"default"},{"__ptype":"Regexp","value":"a.*"},"#,
            r#"{"__ptype":"Timestamp","value":"2020-01-01T00:00:00.000000000 UTC"},"#,
            r#"-99999999999999999999]"#
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn numbers_stay_exact() {
        let value =
            from_json("[1, -0, 9223372036854775807, 9223372036854775808, 1.0, 1e2, 5e-324]");
        let text = "[1, 0, 9223372036854775807, 9223372036854775808, 1.0, 100.0, 5.0e-324]";
        assert_eq!(value.unwrap().inspect(), text);
        let twice = from_json(r#"{"a": 1, "b": 2, "a": 3}"#).unwrap();
        assert_eq!(twice.inspect(), r#"{"a"=>3, "b"=>2}"#);
        assert!(from_json("{\"a\" 1}").is_err());
        assert!(from_json(r#"["\ud800"]"#).is_err());
        assert!(from_json(&"[".repeat(100_000)).is_err());
    }
}
