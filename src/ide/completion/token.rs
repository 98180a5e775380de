//! Completion in `%{…}`: functions and variables; keys and dotted keys in calls.

use indexmap::IndexSet;

use super::dotted::LastPart;
use super::keys::values_of;
use super::{Completion, Item, ItemKind, TypingPlace, answer, config, facts};
use crate::interpolation::{Method, split_key};
use crate::text::TextRange;
use crate::value::Value;

/// A token around the cursor.
pub(super) struct OpenToken<'t> {
    /// The text between `%{` and the cursor.
    inner: &'t str,
    /// Whether nothing precedes the token in its string.
    is_first: bool,
    /// The quote around the string, judging by the line.
    quote: Option<char>,
    /// Whether `}` follows on the line.
    is_closed: bool,
}

/// The token around the cursor, judging by the line; `None` in a comment.
pub(super) fn open_token(text: &str, offset: usize) -> Option<OpenToken<'_>> {
    let before = text.get(..offset)?;
    let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
    let open = line.rfind("%{")?;
    let inner = &line[open + 2..];
    if inner.contains('}') || line.trim_start().starts_with('#') {
        return None;
    }
    let behind = text[offset..].lines().next().unwrap_or_default();
    let next_open = behind.find("%{").unwrap_or(behind.len());
    let outside = line[..open].chars().next_back();
    let quotes = |quote: char| line[..open].matches(quote).count() % 2 == 1;
    Some(OpenToken {
        inner,
        is_first: outside.is_none_or(|c| matches!(c, '"' | '\'' | ' ')),
        quote: ['"', '\''].into_iter().find(|&quote| quotes(quote)),
        is_closed: behind[..next_open].contains('}'),
    })
}

/// The items for a token; paths in `hiera.yaml` allow no functions.
pub(super) fn complete(
    typing: &TypingPlace<'_>,
    open: &OpenToken<'_>,
    is_config: bool,
) -> Completion {
    if let Some((method, quote, argument)) = call(open.inner) {
        return in_call(typing, method, (quote, open.quote), argument);
    }
    let typed = open.inner.trim_start();
    let mut items = facts::items(typing, typed);
    if is_config
        && let Some(element) = config::mapped_element(typing)
        && !items.iter().any(|item| item.label == element)
    {
        items.insert(0, Item::new(element, ItemKind::Variable));
    }
    if !open.is_closed {
        for item in &mut items {
            item.insert.push('}');
        }
    }
    if !is_config && !typed.contains(['.', ':', '(']) {
        items.extend(functions(open));
    }
    answer_in(typing, typed, items)
}

/// The answer for the word around the cursor.
pub(super) fn answer_in(typing: &TypingPlace<'_>, typed: &str, items: Vec<Item>) -> Completion {
    let behind = typing.behind();
    let rest = behind.len() - behind.trim_start_matches(is_part).len();
    let start = typing.offset.saturating_sub(typed.len());
    let replace = TextRange::new(start, typing.offset + rest);
    answer(typed, replace, items)
}

/// Whether a character can be part of a key or a variable.
pub(super) fn is_part(character: char) -> bool {
    character.is_alphanumeric() || "_:.-".contains(character)
}

/// The function, the quote and the half-typed argument of a call.
fn call(inner: &str) -> Option<(Method, char, &str)> {
    let (name, rest) = inner.trim_start().split_once('(')?;
    let method = Method::from_name(name)?;
    let quote = rest.chars().next()?;
    let argument = rest.strip_prefix(['"', '\''])?;
    (!argument.contains(quote)).then_some((method, quote, argument))
}

/// The items for the argument of a call; the quotes are those around the argument and the whole string.
fn in_call(
    typing: &TypingPlace<'_>,
    method: Method,
    (quote, of_text): (char, Option<char>),
    argument: &str,
) -> Completion {
    let part = LastPart::of(argument, quote, of_text);
    let is_key = matches!(method, Method::Lookup | Method::Hiera | Method::Alias);
    let behind = if is_key {
        &typing.behind()[part.rest(typing)..]
    } else {
        typing.behind().trim_start_matches(is_part)
    };
    let missing = match behind.chars().next() {
        Some(next) if next == quote => String::new(),
        Some('}') => format!("{quote})"),
        Some(_) | None => format!("{quote})}}"),
    };
    let close = |mut items: Vec<Item>| {
        for item in &mut items {
            item.insert.push_str(&missing);
        }
        items
    };
    match method {
        Method::Scope => answer_in(typing, argument, close(facts::items(typing, argument))),
        Method::Literal => {
            let items = close(vec![Item::new("%", ItemKind::Value)]);
            answer_in(typing, argument, items)
        }
        Method::Lookup | Method::Hiera | Method::Alias => {
            part.answer(typing, close(part.items(typing)))
        }
    }
}

/// The keys below a dotted key, and indexes of elements.
pub(super) fn sub_keys(typing: &TypingPlace<'_>, above: &str) -> Vec<String> {
    let Ok(parts) = split_key(above) else {
        return Vec::new();
    };
    let mut segments = parts.iter().map(|(segment, _)| segment.to_string());
    let Some(root) = segments.next() else {
        return Vec::new();
    };
    let steps: Vec<String> = segments.collect();
    let mut found: IndexSet<String> = IndexSet::new();
    for (_, value) in values_of(typing, &root) {
        let Some(inner) = dig(&value, &steps) else {
            continue;
        };
        let keys = inner.as_hash().into_iter().flat_map(|hash| hash.keys());
        let keys = keys.filter_map(Value::as_str).map(str::to_owned);
        let elements = inner.as_array().map_or(0, <[Value]>::len);
        found.extend(keys.chain((0..elements).map(|at| at.to_string())));
    }
    found.into_iter().collect()
}

fn dig<'v>(value: &'v Value, steps: &[String]) -> Option<&'v Value> {
    steps
        .iter()
        .try_fold(value, |at, step| match at.as_array() {
            Some(elements) => elements.get(step.parse::<usize>().ok()?),
            None => at.get(step.as_str()),
        })
}

/// The functions in tokens.
const FUNCTIONS: [(&str, &str); 5] = [
    ("lookup", "the value of another key, as a string"),
    (
        "alias",
        "the value of another key with its type; it must be the whole string",
    ),
    (
        "scope",
        "the value of a variable, the same as its name alone",
    ),
    (
        "literal",
        "the argument as it is: %{literal('%')} is a percent sign",
    ),
    ("hiera", "an older name of lookup"),
];

fn functions(open: &OpenToken<'_>) -> Vec<Item> {
    let quote = match open.quote {
        Some('\'') => '"',
        Some(_) | None => '\'',
    };
    let close = if open.is_closed { "" } else { "}" };
    let offered = FUNCTIONS.iter();
    // Elsewhere `alias` is an error.
    let offered = offered.filter(|(name, _)| *name != "alias" || open.is_first);
    let items = offered.map(|(name, meaning)| Item {
        documentation: Some((*meaning).to_owned()),
        insert: format!("{name}({quote}"),
        snippet: Some(format!("{name}({quote}$1{quote}){close}").replace('}', "\\}")),
        ..Item::new(*name, ItemKind::Function)
    });
    items.collect()
}
