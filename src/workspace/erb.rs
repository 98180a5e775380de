//! Finds keys looked up by Ruby code, in the tags of an ERB template or in a function of a module:
//! calls of Puppet's functions with literal keys. The surrounding Ruby is not parsed.

use std::sync::{Arc, LazyLock};

use regex::Regex;

use super::code::{CodeFacts, LookupFact, LookupFunction, LookupKey, Within};
use crate::text::TextRange;

/// `scope.function_hiera(['key'])`, `scope.call_function('lookup', ['key'])`,
/// `call_function(:lookup, "key")`: the function, then the key in its quotes.
#[expect(clippy::unwrap_used, reason = "the pattern is known")]
static CALL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)
        (?: \bfunction_ (?<old>hiera(?:_array|_hash)?|lookup) \s* \(?
          | \bcall_function \s* \(? \s* (?: : | ["'] ) (?<new>hiera(?:_array|_hash)?|lookup) ["']? \s* ,
          | (?: ^ | [^.\w] ) (?<bare>hiera(?:_array|_hash)?) \s* \( )
        \s* \[? \s* (?<key> '[^'\n]*' | "[^"\n]*" )"#,
    )
    .unwrap()
});

/// `lookup('key')`, `hiera("key")`, `function_hiera(['key'])`, `call_function('lookup', 'key')` in a text that may be code: a
/// template, or a text with tokens. Its quotes may be escaped.
#[expect(clippy::unwrap_used, reason = "the pattern is known")]
static CALL_IN_TEXT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)
        (?: \b | function_ ) (?: hiera(?:_array|_hash|_include)? | lookup | alias ) \\?["']? \s* [(,]
        \s* \[? \s* \\? ["'] (?<key> [^'"\\\n]+ ) \\? ["']"#,
    )
    .unwrap()
});

/// The keys of calls in a literal text of a manifest: each with the characters around it, and its name. O(bytes).
pub(super) fn keys_in_text(text: &str, literal: TextRange) -> Vec<(TextRange, &str)> {
    let written = literal.slice(text);
    if !["lookup", "hiera", "alias"]
        .iter()
        .any(|name| written.contains(name))
    {
        return Vec::new();
    }
    let calls = CALL_IN_TEXT.captures_iter(written);
    let keys = calls.filter_map(|call| {
        let key = call.name("key")?;
        let place = TextRange::new(key.start() - 1, key.end() + 1);
        Some((place.shift(literal.start as usize), key.as_str()))
    });
    keys.collect()
}

pub(super) fn facts(text: &str) -> CodeFacts {
    in_parts(text, tags(text))
}

/// The facts of a Ruby text.
pub(super) fn of_ruby(text: &str) -> CodeFacts {
    in_parts(text, code_parts(text).into_iter())
}

/// `<<-DOC`, `<<~'DOC'`, `<<DOC`: the word that ends the text below.
#[expect(clippy::unwrap_used, reason = "the pattern is known")]
static HEREDOC: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"<<[-~]?["'`]?([A-Za-z_]\w*)"#).unwrap());

/// Maximum number of lines in which the end of a text is searched.
const MAX_LINES: usize = 400;

/// The parts of a Ruby text between lines that are comments or texts, such as the documentation of a function.
pub(super) fn code_parts(text: &str) -> Vec<TextRange> {
    let mut parts: Vec<TextRange> = Vec::new();
    let mut lines = text.split_inclusive('\n');
    let mut at = 0;
    while let Some(line) = lines.next() {
        let start = at;
        at += line.len();
        let rest = lines.clone();
        // The lines up to one of these words, if there is one.
        let mut skip = |is_last: &dyn Fn(&str) -> bool| {
            let mut near = rest.clone().take(MAX_LINES);
            let passed = near.position(|line| is_last(line.trim()));
            for line in lines.by_ref().take(passed.map_or(0, |last| last + 1)) {
                at += line.len();
            }
        };
        if line.starts_with("=begin") {
            skip(&|line| line.starts_with("=end"));
            continue;
        }
        if line.trim_start().starts_with('#') {
            continue;
        }
        let end = start + line.len();
        match parts.last_mut() {
            Some(last) if last.end as usize == start => last.end = end as u32,
            _ => parts.push(TextRange::new(start, end)),
        }
        if let Some(word) = HEREDOC.captures(line).and_then(|found| found.get(1)) {
            skip(&|line| line == word.as_str());
        }
    }
    parts
}

fn in_parts(text: &str, parts: impl Iterator<Item = TextRange>) -> CodeFacts {
    let mut lookups = Vec::new();
    for tag in parts {
        for call in CALL.captures_iter(tag.slice(text)) {
            let name = ["old", "new", "bare"]
                .into_iter()
                .find_map(|name| call.name(name));
            let (Some(whole), Some(name), Some(key)) = (call.get(0), name, call.name("key")) else {
                continue;
            };
            let range = |found: regex::Match<'_>| {
                TextRange::new(found.start(), found.end()).shift(tag.start as usize)
            };
            let function = function(name.as_str());
            lookups.push(LookupFact {
                function,
                key: key_of(key.as_str()),
                place: range(key),
                call: range(whole),
                expected: None,
                merge: None,
                may_knock_out: false,
                // Other arguments are not read.
                may_merge: function != LookupFunction::Hiera,
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

/// The contents of the tags that hold code, without comments and `<%%`.
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

/// A key in Ruby's quotes; in double quotes the texts around interpolations.
fn key_of(quoted: &str) -> LookupKey {
    let key = &quoted[1..quoted.len() - 1];
    let mut parts = key.split("#{");
    let first = parts.next().unwrap_or_default().to_owned();
    if first == key || !quoted.starts_with('"') {
        return LookupKey::Literal(Arc::from(key));
    }
    let behind = |part: &str| part.split_once('}').map_or("", |(_, rest)| rest).to_owned();
    let texts = std::iter::once(first).chain(parts.map(behind));
    LookupKey::of_texts(texts.collect())
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
                    <%= call_function(:lookup, \"#{name}::h.#{x}\") %>\n\
                    <%= scope.call_function('lookup', key) %>\n\
                    <%= scope.call_function(\"hiera_array\", 'g";
        let found = facts(&format!("{text}')"));
        let shown = found.lookups.iter().map(|one| {
            let key = match &one.key {
                LookupKey::Literal(key) => key.to_string(),
                LookupKey::Partly(texts) => texts.join("…"),
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
                "Lookup …::h",
                "HieraArray g"
            ]
        );
        let places = found.lookups.iter().map(|one| one.place.slice(text));
        assert_eq!(
            places.take(3).collect::<Vec<_>>(),
            ["'a::b'", "\"c\"", "'d.e'"]
        );
    }

    #[test]
    fn functions_in_ruby_look_keys_up() {
        let text = "# call_function('lookup', 'comment')\n\
                    closure_scope.call_function('lookup',\n 'a::b', 'x')\n\
                    function_hiera(['c'])\n\
                    x = hiera('d') + my_hiera('e')\n\
                    call_function('lookup', \"#{module_name}::f\")\n\
                    function_notice(['g'])\n\
                    newfunction(:f, doc: <<-DOC\n  call_function('lookup', 'told')\n  DOC\n) do\n\
                    list <<hiera('h')\n=begin\nhiera('also told')\n=end\nhiera('i')\n";
        let found = of_ruby(text);
        let keys: Vec<&str> = found
            .lookups
            .iter()
            .map(|it| it.place.slice(text))
            .collect();
        assert_eq!(
            keys,
            [
                "'a::b'",
                "'c'",
                "'d'",
                "\"#{module_name}::f\"",
                "'h'",
                "'i'"
            ]
        );
    }
}
