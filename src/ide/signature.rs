//! Signature help: the parameters of functions in tokens and of lookups in manifests.

use crate::interpolation::Method;
use crate::syntax::puppet::{Dialect, HalfTyped, PieceKind, half_typed};
use crate::workspace::{Language, Snapshot, language_of};

/// A function with its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SignatureHelp {
    /// The call with the names of its parameters.
    pub label: &'static str,
    /// The parameters, as in the label.
    pub parameters: &'static [&'static str],
    /// The index of the parameter under the cursor.
    pub active: usize,
    /// The result of the call.
    pub documentation: &'static str,
}

/// The signature of the call around an offset.
#[must_use]
pub fn signature(snapshot: &Snapshot, path: &str, offset: usize) -> Option<SignatureHelp> {
    let file = snapshot.file(path)?;
    let before = file.text().get(..offset)?;
    match language_of(path) {
        Some(Language::Puppet(dialect)) => return in_manifest(before, dialect),
        Some(Language::Erb | Language::Ruby | Language::Facts | Language::ExternalFacts) => {
            return None;
        }
        None => {}
    }
    let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
    let inner = &line[line.rfind("%{")? + 2..];
    if inner.contains(['}', ')']) || line.trim_start().starts_with('#') {
        return None;
    }
    let (name, _) = inner.trim_start().split_once('(')?;
    let (label, parameters, documentation): (_, &[_], _) = match Method::from_name(name)? {
        Method::Lookup => (
            "lookup('key')",
            &["'key'"],
            "the value of another key as a string, with the merge of its lookup_options; dots dig into it, a key that is not found gives the empty string",
        ),
        Method::Hiera => ("hiera('key')", &["'key'"], "an older name of lookup"),
        Method::Alias => (
            "alias('key')",
            &["'key'"],
            "the value of another key with its type; it must be the whole string",
        ),
        Method::Scope => (
            "scope('variable')",
            &["'variable'"],
            "the value of a variable, as %{variable}",
        ),
        Method::Literal => (
            "literal('text')",
            &["'text'"],
            "the argument as it is: %{literal('%')}{x} is %{x}, not interpolated again",
        ),
    };
    Some(SignatureHelp {
        label,
        parameters,
        active: 0,
        documentation,
    })
}

/// The signature of a lookup in Puppet code around the cursor.
fn in_manifest(before: &str, dialect: Dialect) -> Option<SignatureHelp> {
    let half = half_typed(before, dialect)?;
    let open = half.brackets();
    let called = |at: usize| half.called(before, open.get(at)?);
    // The hash of options is the first argument or the second.
    if let [brace, call, ..] = open.as_slice()
        && (brace.sign, called(1)) == ("{", Some("lookup"))
        && call.commas <= 1
    {
        return Some(options(before, &half, brace.piece));
    }
    // A list or a hash is a single argument.
    let call = open
        .iter()
        .take_while(|bracket| matches!(bracket.sign, "[" | "{"))
        .count();
    let (label, parameters, documentation) = of_function(called(call)?)?;
    Some(SignatureHelp {
        label,
        parameters,
        active: open[call].commas.min(parameters.len() - 1),
        documentation,
    })
}

/// The label, parameters and documentation of a function (`puppet/functions/lookup.rb`, `hiera.rb`).
fn of_function(name: &str) -> Option<(&'static str, &'static [&'static str], &'static str)> {
    const OLDER: &[&str] = &["key", "default", "override"];
    Some(match name {
        "lookup" => (
            "lookup(name, value_type, merge, default)",
            &["name", "value_type", "merge", "default"],
            "the value of a key in Hiera; value_type is the type that it must have, merge \
             'first', 'unique', 'hash' or 'deep', default the value for a key that is not found",
        ),
        "hiera" => (
            "hiera(key, default, override)",
            OLDER,
            "the value of the highest level that has the key, without lookup_options; use lookup",
        ),
        "hiera_array" => (
            "hiera_array(key, default, override)",
            OLDER,
            "the elements of all levels that have the key, each once: lookup with the merge 'unique'",
        ),
        "hiera_hash" => (
            "hiera_hash(key, default, override)",
            OLDER,
            "the hashes of all levels that have the key, merged: lookup with the merge 'hash'",
        ),
        "hiera_include" => (
            "hiera_include(key, default, override)",
            OLDER,
            "includes the classes that all levels list under the key, each once",
        ),
        _ => return None,
    })
}

/// The signature of the hash of options for `lookup`, with the option of the half-typed value.
fn options(before: &str, half: &HalfTyped, brace: usize) -> SignatureHelp {
    const OPTIONS: &[&str] = &[
        "name",
        "value_type",
        "merge",
        "default_value",
        "default_values_hash",
        "override",
    ];
    let pieces = &half.pieces[brace + 1..];
    let mut depth = 0_usize;
    let mut active = None;
    for (at, piece) in pieces.iter().enumerate() {
        match piece.kind {
            PieceKind::Sign("(" | "[" | "{") => depth += 1,
            PieceKind::Sign(")" | "]" | "}") => depth = depth.saturating_sub(1),
            PieceKind::Sign(",") if depth == 0 => active = None,
            PieceKind::Sign("=>") if depth == 0 && at > 0 => {
                let written = pieces[at - 1].place.slice(before);
                let written = written.trim_matches(['"', '\'']);
                active = OPTIONS.iter().position(|option| *option == written);
            }
            PieceKind::Sign(_) | PieceKind::Name | PieceKind::Text | PieceKind::Other => {}
        }
    }
    SignatureHelp {
        label: "lookup({ name, value_type, merge, default_value, default_values_hash, override })",
        parameters: OPTIONS,
        active: active.unwrap_or(0),
        documentation: "the value of a key in Hiera; override is a hash that is asked before Hiera, default_values_hash one that is asked where no level has the key, default_value the value where that has none either",
    }
}
