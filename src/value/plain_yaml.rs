//! Values of the plain part of YAML, which has a fast parser; for other texts the caller falls back
//! to the full parser.

use std::borrow::Cow;

use super::{Value, hash_with_capacity};
use crate::syntax::ScalarStyle;
use crate::syntax::plain_yaml::{PlainScalar, Sink, read_plain};
use crate::syntax::psych::{Resolved, resolve_plain};

/// The value of a text, equal to [`super::load_yaml`]'s, if the text is plain. No hash in it has a
/// symbol as a key. O(length)
#[must_use]
pub fn load_plain_yaml(text: &[u8]) -> Option<Value> {
    read(text, None)
}

/// [`load_plain_yaml`] for one top-level key, if the text is plain. O(length), but only that key's
/// values are built, which takes a fraction of the time.
#[must_use]
pub fn load_plain_entry(text: &[u8], key: &str) -> Option<Option<Value>> {
    Some(read(text, Some(key))?.get(key).cloned())
}

/// The value of a text, or only of the top-level keys named `wanted`.
fn read(text: &[u8], wanted: Option<&str>) -> Option<Value> {
    let mut values = PlainValues {
        wanted,
        makes: true,
        open: Vec::new(),
        parts: Vec::new(),
    };
    read_plain(text, &mut values)?;
    values.parts.pop()
}

/// The values parsed so far.
struct PlainValues<'k> {
    /// If set, only this top-level key is loaded.
    wanted: Option<&'k str>,
    /// Whether values are currently built.
    makes: bool,
    /// The open collections: the start of each one's parts, and whether it is a hash.
    open: Vec<(usize, bool)>,
    /// The parts of the open collections, including keys: a collection is built when its size is
    /// known.
    parts: Vec<Value>,
}

impl PlainValues<'_> {
    fn push(&mut self, value: Value) {
        if self.makes {
            self.parts.push(value);
        }
    }
}

impl Sink for PlainValues<'_> {
    fn key(&mut self, scalar: PlainScalar<'_>) -> Option<()> {
        if self.open.len() == 1
            && let Some(wanted) = self.wanted
        {
            self.makes = scalar.text == wanted;
        }
        self.scalar(scalar)
    }

    fn scalar(&mut self, scalar: PlainScalar<'_>) -> Option<()> {
        let value = match scalar.style {
            ScalarStyle::Plain => plain(&scalar.text, self.makes)?,
            _ => made(scalar.text, self.makes),
        };
        self.push(value);
        Some(())
    }

    fn absent(&mut self, _: usize) {
        self.push(Value::Undef);
    }

    fn open(&mut self, _: usize, is_mapping: bool) {
        self.open.push((self.parts.len(), is_mapping));
    }

    fn close(&mut self, _: Option<usize>) {
        let Some((first, is_mapping)) = self.open.pop() else {
            return;
        };
        // The topmost hash itself is built, whatever its last key is.
        self.makes |= self.open.is_empty();
        if !self.makes {
            return;
        }
        let mut parts = self.parts.drain(first..);
        let value = if is_mapping {
            let mut hash = hash_with_capacity(parts.len() / 2);
            // Of equal keys the last one is used.
            while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
                hash.insert(key, value);
            }
            Value::from(hash)
        } else {
            Value::array(parts.by_ref())
        };
        drop(parts);
        self.parts.push(value);
    }
}

/// A string; empty if values are not being built.
fn made(text: Cow<'_, str>, makes: bool) -> Value {
    if makes {
        Value::from(text)
    } else {
        Value::Undef
    }
}

/// The value of an untagged plain scalar, if Puppet accepts it.
fn plain(text: &str, makes: bool) -> Option<Value> {
    // A scalar that starts with a letter is a string or one of the words, and all of these are
    // accepted.
    if !makes && text.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return Some(Value::Undef);
    }
    Some(match resolve_plain(text) {
        Resolved::String => made(Cow::Borrowed(text), makes),
        Resolved::Int(number) => Value::Int(number),
        Resolved::Bool(truth) => Value::Bool(truth),
        Resolved::Null => Value::Undef,
        Resolved::Float(number) => Value::Float(number),
        Resolved::BigInt(_)
        | Resolved::Symbol(_)
        | Resolved::Date
        | Resolved::Time
        | Resolved::Invalid { .. } => return None,
    })
}

#[cfg(test)]
#[path = "plain_yaml_tests.rs"]
mod tests;
