//! Loads and parses texts by format, and estimates the memory of the results.

use super::files::{DataFile, Format};
use crate::syntax::{Parse, Problem, ProblemKind, TreeNode, parse_hocon, parse_json, parse_yaml};
use crate::text::TextRange;
use crate::value::{
    LoadError, Value, later_json_error, load_hocon, load_json_parse, load_parse, load_plain_yaml,
    load_recovered, load_yaml, symbol_keys_to_strings,
};

/// Loads a data file's bytes in a format.
#[must_use]
pub fn load(bytes: &[u8], format: Format) -> DataFile {
    let loaded = match format {
        Format::Yaml => match load_plain_yaml(bytes) {
            Some(value) => Ok(value),
            None => load_yaml(bytes).map(symbol_keys_to_strings),
        },
        Format::Json => return load_parsed_json(&parse_json(&String::from_utf8_lossy(bytes))),
        Format::Hocon => load_hocon(bytes),
    };
    let recovered = match (&loaded, format) {
        (Ok(value), _) => value.clone(),
        (Err(_), Format::Yaml) => {
            let tree = parse_yaml(&String::from_utf8_lossy(bytes)).tree;
            symbol_keys_to_strings(load_recovered(&tree))
        }
        // The gem reads nothing after an error, and there is no tree of the rest either.
        (Err(_), Format::Json | Format::Hocon) => Value::Undef,
    };
    DataFile {
        loaded,
        recovered,
        later_error: None,
    }
}

fn load_parsed_json(parse: &Parse) -> DataFile {
    let loaded = load_json_parse(parse);
    let recovered = loaded.as_ref().ok().cloned();
    DataFile {
        recovered: recovered.unwrap_or_else(|| load_recovered(&parse.tree)),
        later_error: later_json_error(parse).map(Box::new),
        loaded,
    }
}

/// Loads an already parsed YAML text. `None` if the loader refuses it: its error has a more precise
/// position than a tree of the rest.
pub(super) fn load_parsed_yaml(parse: &Parse) -> Option<DataFile> {
    let value = symbol_keys_to_strings(load_parse(parse).ok()?);
    Some(DataFile {
        recovered: value.clone(),
        loaded: Ok(value),
        later_error: None,
    })
}

/// Parses a data file's text into a tree with ranges and problems.
#[must_use]
pub fn parse(text: &str, format: Format) -> Parse {
    match format {
        Format::Yaml => parse_yaml(text),
        Format::Json => parse_json(text),
        Format::Hocon => parse_hocon(text),
    }
}

/// The empty tree of a text that is not read because of its size.
pub(super) fn too_large(text: &str, error: &LoadError) -> Parse {
    let first_line = text.find('\n').unwrap_or(text.len());
    Parse {
        problems: vec![Problem {
            range: TextRange::new(0, first_line),
            message: error.message.clone(),
            kind: ProblemKind::Limit,
        }],
        ..Parse::default()
    }
}

/// The approximate size of a tree in bytes.
pub(super) fn cost_of_parse(parse: &Parse) -> usize {
    /// A node, its share of its parent's list, and its text beyond the source's own length.
    const NODE: usize = size_of::<TreeNode>() + 40;
    let psych = parse.psych.as_ref().map_or(0, |tree| tree.len());
    (parse.tree.len() + psych) * NODE
}

/// The approximate size of a loaded file in bytes.
pub(super) fn cost(file: &DataFile) -> usize {
    let recovered = weight(&file.recovered);
    match &file.loaded {
        // A file without errors shares its value with `recovered`.
        Ok(_) => recovered,
        Err(error) => recovered + error.message.len(),
    }
}

/// The approximate size of a value in bytes, including its content.
fn weight(value: &Value) -> usize {
    /// The reference counters of a shared text or list, and the allocator's rounding.
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
