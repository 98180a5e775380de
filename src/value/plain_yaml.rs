//! Values of the plain part of YAML, which is read fast; for anything else there is no value here, and
//! the caller reads the text with all the rules.

use std::borrow::Cow;

use super::{Value, hash_with_capacity};
use crate::syntax::ScalarStyle;
use crate::syntax::plain_yaml::{PlainScalar, Sink, read_plain};
use crate::syntax::psych::{Resolved, resolve_plain};

/// The value of a text, as [`super::load_yaml`] gives it, if the text is plain. No hash in it has a
/// symbol as a key. O(length)
#[must_use]
pub fn load_plain_yaml(text: &[u8]) -> Option<Value> {
    read(text, None)
}

/// What [`load_plain_yaml`] gives for one top-level key, if the text is plain. O(length), but values
/// are made of that key alone, which takes a fraction of the time.
#[must_use]
pub fn load_plain_entry(text: &[u8], key: &str) -> Option<Option<Value>> {
    Some(read(text, Some(key))?.get(key).cloned())
}

/// The value of a text, or as much of it as top-level keys of one name hold.
fn read(text: &[u8], wanted: Option<&str>) -> Option<Value> {
    let mut values = Values {
        wanted,
        makes: true,
        open: Vec::new(),
        parts: Vec::new(),
    };
    read_plain(text, &mut values)?;
    values.parts.pop()
}

/// The values of what is read so far.
struct Values<'k> {
    /// The only top-level key that values are made of, if there is one.
    wanted: Option<&'k str>,
    /// Whether values are made of what is read.
    makes: bool,
    /// The open collections: where the parts of each start, and whether it is a hash.
    open: Vec<(usize, bool)>,
    /// The parts of the open collections, keys among them: each is made when it is known how large it
    /// is.
    parts: Vec<Value>,
}

impl Values<'_> {
    fn push(&mut self, value: Value) {
        if self.makes {
            self.parts.push(value);
        }
    }
}

impl Sink for Values<'_> {
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
        // What is wanted of the topmost hash is there, whatever its last key is.
        self.makes |= self.open.is_empty();
        if !self.makes {
            return;
        }
        let mut parts = self.parts.drain(first..);
        let value = match is_mapping {
            true => {
                let mut hash = hash_with_capacity(parts.len() / 2);
                // The last of equal keys counts.
                while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
                    hash.insert(key, value);
                }
                Value::from(hash)
            }
            false => Value::array(parts.by_ref()),
        };
        drop(parts);
        self.parts.push(value);
    }
}

/// A string; nothing is made of what is only read.
fn made(text: Cow<'_, str>, makes: bool) -> Value {
    match makes {
        true => Value::from(text),
        false => Value::Undef,
    }
}

/// What an untagged plain scalar is, where Puppet takes it.
fn plain(text: &str, makes: bool) -> Option<Value> {
    // What starts with a letter is a string or one of the words, and all of these are taken.
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
