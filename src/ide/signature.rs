//! What the function of a token, or `lookup` in a manifest, takes, while its arguments are typed.

use crate::interpolation::Method;
use crate::workspace::Snapshot;

/// Most bytes of a manifest that a call is looked for in, before the cursor.
const LONGEST_CALL: usize = 2_000;

/// A function with its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature {
    /// The call with the parameters' names.
    pub label: &'static str,
    /// The parameters, as they stand in the label.
    pub parameters: &'static [&'static str],
    /// Which of them the cursor is in.
    pub active: usize,
    /// What the call gives.
    pub documentation: &'static str,
}

/// The function of the token whose argument the cursor is in.
#[must_use]
pub fn signature(snapshot: &Snapshot, path: &str, offset: usize) -> Option<Signature> {
    let file = snapshot.file(path)?;
    let before = file.text().get(..offset)?;
    if file.facts().code.is_some() {
        return in_manifest(before);
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
            "the value of another key as text, with the merge that its lookup_options say; dots dig into \
             it, a key that is not found is the empty text",
        ),
        Method::Hiera => ("hiera('key')", &["'key'"], "the older name of lookup"),
        Method::Alias => (
            "alias('key')",
            &["'key'"],
            "the value of another key whatever its type; it must be all that the string holds",
        ),
        Method::Scope => (
            "scope('variable')",
            &["'variable'"],
            "the value of a variable, as %{variable}",
        ),
        Method::Literal => (
            "literal('text')",
            &["'text'"],
            "the text as it is: %{literal('%')}{x} is %{x}, not looked at again",
        ),
    };
    Some(Signature {
        label,
        parameters,
        active: 0,
        documentation,
    })
}

/// `lookup` of the Puppet language (`puppet/functions/lookup.rb`), where the cursor is in its arguments.
fn in_manifest(before: &str) -> Option<Signature> {
    let mut depth = 0;
    let mut active = 0;
    let letters = before.char_indices().rev().take(LONGEST_CALL);
    for (at, letter) in letters {
        match letter {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' if depth > 0 => depth -= 1,
            ',' if depth == 0 => active += 1,
            '(' => {
                let name = before[..at]
                    .rsplit(|c: char| !c.is_alphanumeric() && c != '_')
                    .next();
                return (name == Some("lookup")).then_some(Signature {
                    label: "lookup(name, value_type, merge, default)",
                    parameters: &["name", "value_type", "merge", "default"],
                    active: active.min(3),
                    documentation: "the value of a key in Hiera; value_type is the type that it must have, merge \
                                    'first', 'unique', 'hash' or 'deep', default what is taken for a key that \
                                    is not found",
                });
            }
            '[' | '{' | ';' => return None,
            _ => {}
        }
    }
    None
}
