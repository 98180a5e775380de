//! The keys that an ERB template looks up: calls of Puppet's functions in its tags, as far as the key is
//! written out. The Ruby around them is not read.

use std::sync::LazyLock;

use regex::Regex;

use super::code::{CodeFacts, LookupFact, LookupFunction, LookupKey, Within};
use super::interner::Interner;
use crate::text::TextRange;

/// `scope.function_hiera(['key'])`, `scope.call_function('lookup', ['key'])`,
/// `call_function(:lookup, "key")`: the function, then the key in its quotes.
#[expect(clippy::unwrap_used, reason = "the pattern is known")]
static CALL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)
        (?: \bfunction_ (?<old>hiera(?:_array|_hash)?|lookup) \s* \(?
          | \bcall_function \s* \(? \s* (?: : | ["'] ) (?<new>hiera(?:_array|_hash)?|lookup) ["']? \s* , )
        \s* \[? \s* (?<key> '[^'\n]*' | "[^"\n]*" )"#,
    )
    .unwrap()
});

/// The facts of a template.
pub(super) fn facts(text: &str, names: &Interner) -> CodeFacts {
    let mut lookups = Vec::new();
    for tag in tags(text) {
        for call in CALL.captures_iter(tag.slice(text)) {
            let name = call.name("old").or_else(|| call.name("new"));
            let (Some(whole), Some(name), Some(key)) = (call.get(0), name, call.name("key")) else {
                continue;
            };
            let range = |found: regex::Match<'_>| {
                TextRange::new(found.start(), found.end()).shift(tag.start as usize)
            };
            lookups.push(LookupFact {
                function: function(name.as_str()),
                key: key_of(key.as_str(), names),
                place: range(key),
                call: range(whole),
                expected: None,
                merge: None,
                default: None,
                within: Within::Top,
                is_conditional: true,
            });
        }
    }
    CodeFacts {
        lookups: lookups.into(),
        ..CodeFacts::default()
    }
}

/// The insides of the tags that hold code; comments and `<%%` are none.
fn tags(text: &str) -> impl Iterator<Item = TextRange> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text[at..].find("<%")? + 2;
            let end = text[start..]
                .find("%>")
                .map_or(text.len(), |end| start + end);
            at = end;
            if !text[start..].starts_with(['#', '%']) {
                return Some(TextRange::new(start, end));
            }
            at = at.max(start + 1);
        }
    })
}

fn function(name: &str) -> LookupFunction {
    match name {
        "hiera" => LookupFunction::Hiera,
        "hiera_array" => LookupFunction::HieraArray,
        "hiera_hash" => LookupFunction::HieraHash,
        _ => LookupFunction::Lookup,
    }
}

/// A key in quotes of Ruby; in double ones the text before the first interpolation.
fn key_of(quoted: &str, names: &Interner) -> LookupKey {
    let key = &quoted[1..quoted.len() - 1];
    match key.split_once("#{").filter(|_| quoted.starts_with('"')) {
        Some(("", _)) => LookupKey::Computed,
        Some((prefix, _)) => LookupKey::Prefix(names.intern(prefix)),
        None => LookupKey::Literal(names.intern(key)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_in_tags_look_keys_up() {
        let text = "# scope.function_hiera(['text'])\n\
                    <%# scope.function_hiera(['comment']) %>\n\
                    <%% scope.function_hiera(['literal']) %>\n\
                    <%= scope.function_hiera(['a::b']) %> <%= scope.function_hiera_hash([\"c\", {}]) %>\n\
                    <% scope.call_function('lookup', ['d.e']).each do |name| -%>\n\
                    <%= call_function(:lookup, \"f::#{name}\") %>\n\
                    <%= scope.call_function('lookup', key) %>\n\
                    <%= scope.call_function(\"hiera_array\", 'g";
        let found = facts(&format!("{text}')"), &Interner::default());
        let shown = found.lookups.iter().map(|one| {
            let key = match &one.key {
                LookupKey::Literal(key) => key.to_string(),
                LookupKey::Prefix(prefix) => format!("{prefix}…"),
                LookupKey::Computed => "?".to_owned(),
            };
            format!("{:?} {key}", one.function)
        });
        let shown: Vec<String> = shown.collect();
        assert_eq!(
            shown,
            [
                "Hiera a::b",
                "HieraHash c",
                "Lookup d.e",
                "Lookup f::…",
                "HieraArray g"
            ]
        );
        let places = found.lookups.iter().map(|one| one.place.slice(text));
        assert_eq!(
            places.take(3).collect::<Vec<_>>(),
            ["'a::b'", "\"c\"", "'d.e'"]
        );
    }
}
