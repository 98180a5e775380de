//! The values of a key that a token looks up, in the data of the workspace: for rules about tokens.
//!
//! Only facts are given that are the same in all files which hierarchies read: they hold in every
//! scope, however values are merged.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::checker::Checker;
use super::context::{FileContext, TokenAt};
use crate::interpolation::{Key, Segment, TokenKind, split_key};
use crate::text::TextRange;
use crate::value::Value;
use crate::workspace::ValueKind;

/// Maximum number of files with a key; keys in more files are not checked.
const MAX_FILES: usize = 64;

/// The key that a token looks up.
pub(super) struct LookedUp {
    pub(super) key: Key,
    pub(super) root: Arc<str>,
}

impl LookedUp {
    /// The key that a token looks up; `None` for other tokens.
    pub(super) fn of(at: &TokenAt<'_>) -> Option<LookedUp> {
        let TokenKind::Call {
            method, argument, ..
        } = &at.token.kind
        else {
            return None;
        };
        if !method.looks_up() {
            return None;
        }
        let key = Key::of(argument).ok()?;
        let root = Arc::from(key.root.as_name()?);
        Some(LookedUp { key, root })
    }
}

/// The result of the lookup, the same in every file.
pub(super) enum Held {
    /// No value has a segment of the key.
    NoPart {
        /// The missing segment.
        segment: Segment,
        /// The names in its place.
        names: BTreeSet<Arc<str>>,
    },
    /// Puppet refuses to dig into the values.
    Scalar {
        /// The kind of the first value.
        kind: ValueKind,
        /// The number of segments that lead to it.
        depth: usize,
        /// The segment that Puppet digs for.
        segment: Segment,
    },
    /// The kinds of the values.
    Values(Vec<ValueKind>),
}

/// The key of a token and its result in all data; `None` if that is unknown or differs between files.
///
/// Most keys need only the facts of the files. Files are only loaded if a token digs into hashes
/// and lists, once for all rules.
pub(super) fn held<'t>(
    file: &FileContext<'_>,
    at: &'t TokenAt<'_>,
) -> Option<&'t (LookedUp, Held)> {
    let of_key = || {
        let looked_up = LookedUp::of(at)?;
        let held = held_by(file, &looked_up)?;
        Some((looked_up, held))
    };
    at.held.get_or_init(of_key).as_ref()
}

/// The segments of the key that a token looks up, with their ranges in the string.
pub(super) fn segments(at: &TokenAt<'_>) -> Vec<(Segment, TextRange)> {
    let TokenKind::Call {
        argument,
        argument_range,
        ..
    } = &at.token.kind
    else {
        return Vec::new();
    };
    let segments = split_key(argument).unwrap_or_default().into_iter();
    let start = argument_range.start as usize;
    let moved = segments.map(|(segment, range)| (segment, range.shift(start)));
    moved.collect()
}

fn held_by(file: &FileContext<'_>, looked_up: &LookedUp) -> Option<Held> {
    let checker = file.checker;
    let root = &looked_up.root;
    if file.snapshot().count_with(root) > MAX_FILES
        || !checker.has_all_data_for(file.readers(), root)
    {
        return None;
    }
    let kinds = kinds(checker, root)?;
    let Some(first) = looked_up.key.segments.first() else {
        return Some(Held::Values(kinds));
    };
    let is_merged = checker.is_merged(root);
    let refused = kinds
        .iter()
        .filter(|kind| is_refused(**kind, first))
        .count();
    if refused > 0 {
        // Merged scalars become a list.
        let is_sure = refused == kinds.len() && !is_merged;
        return is_sure.then(|| Held::Scalar {
            kind: kinds[0],
            depth: 0,
            segment: first.clone(),
        });
    }
    let values = values(checker, root)?;
    let mut values: Vec<&Value> = values.iter().collect();
    for (depth, segment) in looked_up.key.segments.iter().enumerate() {
        let mut below = Vec::new();
        let mut names = BTreeSet::new();
        let mut scalars = 0;
        for value in &values {
            match dug(value, segment) {
                Dug::Is(value) => below.push(value),
                Dug::Absent(others) => names.extend(others),
                Dug::Refused if is_merged => return None,
                Dug::Refused => scalars += 1,
                Dug::Unknown => return None,
            }
        }
        if scalars == values.len() {
            return Some(Held::Scalar {
                kind: ValueKind::of(values.first()?),
                depth,
                segment: segment.clone(),
            });
        }
        if scalars > 0 {
            return None;
        }
        if below.is_empty() {
            // Merged lists are longer.
            let is_index = matches!(segment, Segment::Index(_)) && is_merged;
            let segment = segment.clone();
            return (!is_index).then_some(Held::NoPart { segment, names });
        }
        values = below;
    }
    let kinds = values.into_iter().map(ValueKind::of);
    Some(Held::Values(kinds.collect()))
}

/// The kinds of a top-level key's values in all files that are read. `None` if there is no value,
/// or one is unknown.
fn kinds(checker: &Checker<'_>, root: &str) -> Option<Vec<ValueKind>> {
    let mut kinds = Vec::new();
    for file in checker.files_with(root) {
        let format = checker.format_of(file)?;
        let facts = file.facts();
        if facts.error.is_some() {
            return None;
        }
        let known = facts.key(root).map(|fact| fact.kind);
        let known = known.filter(|_| file.format() == Some(format));
        let kind = match known {
            None | Some(ValueKind::Other) => {
                let data = checker.snapshot.data_of(file, format);
                ValueKind::of(data.loaded.as_ref().ok()?.get(root)?)
            }
            Some(kind) => kind,
        };
        if is_unknown(kind) {
            return None;
        }
        kinds.push(kind);
    }
    (!kinds.is_empty()).then_some(kinds)
}

/// Whether the result of a value of this kind is unknown.
fn is_unknown(kind: ValueKind) -> bool {
    matches!(kind, ValueKind::Open | ValueKind::Other)
}

/// Whether Puppet refuses to dig a part out of a value (`puppet/pops/lookup/sub_lookup.rb`).
fn is_refused(kind: ValueKind, segment: &Segment) -> bool {
    match kind {
        ValueKind::Text | ValueKind::Number | ValueKind::Boolean => true,
        ValueKind::List => matches!(segment, Segment::Name(_)),
        ValueKind::Undef | ValueKind::Hash | ValueKind::Open | ValueKind::Other => false,
    }
}

/// The values of a top-level key in all files that are read; `None` if one is unknown.
fn values(checker: &Checker<'_>, root: &str) -> Option<Vec<Value>> {
    let mut values = Vec::new();
    for file in checker.files_with(root) {
        let format = checker.format_of(file)?;
        let data = checker.snapshot.data_of(file, format);
        values.push(data.loaded.as_ref().ok()?.get(root)?.clone());
    }
    Some(values)
}

/// What digging a segment out of a value gives.
enum Dug<'v> {
    Is(&'v Value),
    Absent(Vec<Arc<str>>),
    Refused,
    Unknown,
}

/// Digs one segment out of a value, as in `puppet/pops/lookup/sub_lookup.rb`.
fn dug<'v>(value: &'v Value, segment: &Segment) -> Dug<'v> {
    let kind = ValueKind::of(value);
    if is_unknown(kind) {
        return Dug::Unknown;
    }
    if is_refused(kind, segment) {
        return Dug::Refused;
    }
    let Value::Hash(hash) = value else {
        return segment
            .part_of(value)
            .map_or(Dug::Absent(Vec::new()), Dug::Is);
    };
    let wanted = Value::from(segment);
    let mut names = Vec::new();
    for (key, value) in hash.iter() {
        if *key == wanted {
            return Dug::Is(value);
        }
        // Keys in values are interpolated.
        if is_open(key) {
            return Dug::Unknown;
        }
        names.extend(key.as_str().map(Arc::from));
    }
    Dug::Absent(names)
}

/// Whether interpolation or decryption can change a hash's key to any other.
fn is_open(key: &Value) -> bool {
    match key.as_str() {
        Some(text) => ValueKind::of_text(text) == ValueKind::Open,
        None => matches!(key, Value::Opaque(_) | Value::Sensitive(_) | Value::Rich(_)),
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{FOLDER, Fixture};
    use crate::lookup::PuppetVersion;
    use crate::rules::Checker;

    /// The findings of a file with a token, if fifty other files set the key, and the number of loaded files.
    fn check(token: &str, value: &str) -> (Vec<&'static str>, usize) {
        let mut text = format!(
            "url: \"{token}\"\n#- hiera.yaml\nversion: 5\nhierarchy:\n\
             - {{name: n, path: \"n/%{{trusted.certname}}.yaml\"}}\n- {{name: c, path: common.yaml}}\n"
        );
        for node in 0..50 {
            text += &format!("#- data/n/{node}.yaml\nport: {value}\nnumber: {node}\n");
        }
        let snapshot = Fixture::new("data/common.yaml", &text).opened();
        let before = snapshot.loaded_texts();
        let checker = Checker::new(&snapshot, PuppetVersion::V8);
        let findings = checker.file(&format!("{FOLDER}/data/common.yaml"));
        let findings = findings.expect("a level reads it").into_iter();
        let codes = findings.map(|finding| finding.code);
        (codes.collect(), snapshot.loaded_texts() - before)
    }

    #[test]
    fn files_are_loaded_only_where_a_token_digs() {
        assert_eq!(
            check("%{lookup('port')}", "80"),
            (vec!["interp-loses-type"], 0)
        );
        assert_eq!(
            check("x%{lookup('port')}", "[80]"),
            (vec!["interp-structured-in-string"], 0)
        );
        assert_eq!(
            check("%{lookup('port.a')}", "text"),
            (vec!["subkey-of-scalar"], 0)
        );
        let (codes, loaded) = check("%{lookup('port.a')}", "{b: 1}");
        assert_eq!(codes, ["interp-missing-subkey"]);
        assert!(loaded >= 50, "{loaded}");
    }
}
