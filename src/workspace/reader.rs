//! From a text to facts and values: the one place where the model asks the parsers.

use super::cache::TextHash;
use super::facts::{FileFacts, KeyFact};
use super::files::{DataFile, Format};
use super::interner::Interner;
use crate::text::TextRange;
use crate::value::{HashMap, LoadError, LoadErrorKind, Value};

/// A data file's bytes through the loader of a format.
#[must_use]
pub fn load(bytes: &[u8], _format: Format) -> DataFile {
    let loaded = match serde_yaml::from_slice::<serde_yaml::Value>(bytes) {
        Ok(value) => Ok(convert(value)),
        Err(error) => Err(LoadError {
            kind: LoadErrorKind::YamlSyntax,
            message: error.to_string(),
            range: None,
        }),
    };
    let recovered = loaded.as_ref().map_or(Value::Undef, Value::clone);
    DataFile { loaded, recovered }
}

fn convert(value: serde_yaml::Value) -> Value {
    match value {
        serde_yaml::Value::Null => Value::Undef,
        serde_yaml::Value::Bool(truth) => Value::Bool(truth),
        serde_yaml::Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(int), _) => Value::Int(int),
            (None, float) => Value::Float(float.unwrap_or_default()),
        },
        serde_yaml::Value::String(text) => Value::from(text),
        serde_yaml::Value::Sequence(list) => {
            Value::array(list.into_iter().map(convert).collect::<Vec<_>>())
        }
        serde_yaml::Value::Mapping(map) => Value::from(
            map.into_iter()
                .map(|(key, value)| (convert(key), convert(value)))
                .collect::<HashMap>(),
        ),
        serde_yaml::Value::Tagged(tagged) => convert(tagged.value),
    }
}

/// The facts of a data file's text.
pub(super) fn facts(text: &str, hash: TextHash, _format: Format, names: &Interner) -> FileFacts {
    let mut keys: Vec<KeyFact> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let Some(colon) = line
            .find(": ")
            .or_else(|| line.trim_end().strip_suffix(':').map(str::len))
        else {
            continue;
        };
        if line.starts_with([' ', '-', '#', '\n']) {
            continue;
        }
        let value = TextRange::new(start + colon + 1, at);
        keys.push(KeyFact {
            name: names.intern(line[..colon].trim_matches(['"', '\''])),
            key: TextRange::new(start, start + colon),
            value,
            print: TextHash::of(value.slice(text).as_bytes()).0,
        });
    }
    FileFacts::new(hash, keys, Vec::new())
}

/// About how many bytes a loaded file takes.
pub(super) fn cost(file: &DataFile) -> usize {
    let recovered = weight(&file.recovered);
    match &file.loaded {
        // A file that loads shares its value with what is recovered of it.
        Ok(_) => recovered,
        Err(error) => recovered + error.message.len(),
    }
}

/// About how many bytes a value takes, what it holds included.
fn weight(value: &Value) -> usize {
    /// A shared text's or list's counters, and what the allocator rounds up.
    const SHARED: usize = 32;
    /// An entry of an index map: two values, the hash, its place in the table.
    const ENTRY: usize = 2 * size_of::<Value>() + 24;
    size_of::<Value>()
        + match value {
            Value::String(text) | Value::Symbol(text) => SHARED + text.len(),
            Value::Bytes(bytes) => SHARED + bytes.len(),
            Value::Array(elements) => SHARED + elements.iter().map(weight).sum::<usize>(),
            Value::Hash(hash) => {
                let entries = hash.iter();
                let inside = entries.map(|(key, value)| ENTRY + weight(key) + weight(value));
                SHARED + inside.sum::<usize>()
            }
            Value::Sensitive(inner) => SHARED + weight(inner),
            Value::BigInt(number) => SHARED + number.bits() as usize / 8,
            Value::Rich(rich) => SHARED + rich.text.len(),
            Value::Opaque(_) => 3 * SHARED,
            Value::Undef | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Default => 0,
        }
}
