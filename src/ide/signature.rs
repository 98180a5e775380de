//! What the function of a token takes, while its argument is typed.

use crate::interpolation::Method;
use crate::workspace::Snapshot;

/// A function with its one parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature {
    /// The call with the parameter's name.
    pub label: &'static str,
    /// The parameter, as it stands in the label.
    pub parameter: &'static str,
    /// What the call gives.
    pub documentation: &'static str,
}

/// The function of the token whose argument the cursor is in.
#[must_use]
pub fn signature(snapshot: &Snapshot, path: &str, offset: usize) -> Option<Signature> {
    let text = snapshot.file(path)?.text();
    let before = text.get(..offset)?;
    let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
    let inner = &line[line.rfind("%{")? + 2..];
    if inner.contains(['}', ')']) || line.trim_start().starts_with('#') {
        return None;
    }
    let (name, _) = inner.trim_start().split_once('(')?;
    let (label, parameter, documentation) = match Method::from_name(name)? {
        Method::Lookup => (
            "lookup('key')",
            "'key'",
            "the value of another key as text, with the merge that its lookup_options say; dots dig into \
             it, a key that is not found is the empty text",
        ),
        Method::Hiera => ("hiera('key')", "'key'", "the older name of lookup"),
        Method::Alias => (
            "alias('key')",
            "'key'",
            "the value of another key whatever its type; it must be all that the string holds",
        ),
        Method::Scope => (
            "scope('variable')",
            "'variable'",
            "the value of a variable, as %{variable}",
        ),
        Method::Literal => (
            "literal('text')",
            "'text'",
            "the text as it is: %{literal('%')}{x} is %{x}, not looked at again",
        ),
    };
    Some(Signature {
        label,
        parameter,
        documentation,
    })
}
