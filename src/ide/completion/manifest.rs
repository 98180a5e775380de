//! Keys in the lookups of manifests: `lookup('…')`.

use super::{Completion, Question, token};

/// Functions whose first argument is a key.
const FUNCTIONS: [&str; 5] = [
    "lookup",
    "hiera",
    "hiera_array",
    "hiera_hash",
    "hiera_include",
];

/// Keys and dotted sub-keys in the first argument of a lookup; nothing anywhere else.
pub(super) fn complete(question: &Question<'_>) -> Option<Completion> {
    let before = question.file.text().get(..question.offset)?;
    let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
    let argument = argument(line)?;
    let (typed, items) = match argument.rsplit_once('.') {
        Some((above, typed)) => (typed, token::sub_keys(question, above)),
        None => (argument, token::keys(question, argument)),
    };
    Some(token::answer_in(question, typed, items))
}

/// The key so far of a lookup that a line ends in.
pub(in crate::ide) fn argument(line: &str) -> Option<&str> {
    let open = line.rfind(['"', '\''])?;
    let before = line[..open].trim_end().strip_suffix('(')?;
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let name = &before[before.trim_end_matches(is_part).len()..];
    let argument = &line[open + 1..];
    let is_lookup = FUNCTIONS.contains(&name) && !argument.contains(['$', '"', '\'']);
    is_lookup.then_some(argument)
}
