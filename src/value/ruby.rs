//! What depends on the Ruby that Puppet runs on: the changes from Ruby 3.1 to 4.0 that give lookups other answers.
//!
//! Each was found by asking both, `tests/parity/ruby/make`; all answers that differ, also those without an effect on
//! lookups, are in `tests/cases/ruby-differences.tsv`. The library OpenVox 9 needs Ruby 3.2, and its server runs on
//! JRuby 10.1, which is Ruby 4.0 with the same versions of Psych (5.3.1) and JSON (2.18.0).

/// A change of Ruby, or of a library that comes with it, that gives lookups other answers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RubyChange {
    /// A hash is `{"a" => 1, b: 2}` in a string, before `{"a"=>1, :b=>2}` (3.4, `hash.c`).
    HashText,
    /// A list or hash in a string shows the characters of Unicode 17 as they are, before those of Unicode 13 and the
    /// control character U+0085; the others as `\u{1FAE8}` (3.2 to 4.0, `string.c` and Onigmo's tables).
    Characters,
    /// A string of JSON with a backslash before another character than `"`, `\`, `/`, `b`, `f`, `n`, `r`, `t` or `u` is
    /// an error, before the backslash was left out (JSON 2.17, in C and in Java).
    JsonEscape,
}

impl RubyChange {
    /// All changes.
    pub const ALL: [RubyChange; 3] = [
        RubyChange::JsonEscape,
        RubyChange::HashText,
        RubyChange::Characters,
    ];

    fn bit(self) -> u8 {
        1 << match self {
            RubyChange::HashText => 0,
            RubyChange::Characters => 1,
            RubyChange::JsonEscape => 2,
        }
    }
}

/// A version of Ruby, by the changes that it has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Ruby {
    changes: u8,
}

impl Ruby {
    /// Ruby 3.1, Psych 4.0 and JSON 2.6, as Debian 12 has them.
    pub const V31: Ruby = Ruby { changes: 0 };
    /// Ruby 4.0, Psych 5.3 and JSON 2.18, with all changes.
    pub const V40: Ruby = Ruby { changes: 0b111 };

    /// Whether the version has a change.
    #[must_use]
    pub fn has(self, change: RubyChange) -> bool {
        self.changes & change.bit() != 0
    }

    /// A version with a change more, as no real one is: to find out which change is the cause of a difference.
    #[must_use]
    pub fn with(self, change: RubyChange) -> Ruby {
        Ruby {
            changes: self.changes | change.bit(),
        }
    }

    /// The words of an error that Ruby itself or Psych raises, which are given as in 3.1: in 4.0 an object is named
    /// by its class, and an alias without an anchor is another error.
    #[must_use]
    pub fn error_words(self, words: &str) -> String {
        if self == Ruby::V31 {
            return words.to_owned();
        }
        let renamed = words.replace("Unknown alias: ", "An alias referenced an unknown anchor: ");
        no_method(&renamed).unwrap_or(renamed)
    }
}

/// ``undefined method `x' for 1:Integer`` as `undefined method 'x' for an instance of Integer`; `None` for any other
/// error.
fn no_method(words: &str) -> Option<String> {
    const BEGIN: &str = "undefined method `";
    let (before, rest) = words.split_once(BEGIN)?;
    let (method, receiver) = rest.split_once("' for ")?;
    let (shown, class) = receiver.rsplit_once(':')?;
    let receiver = match (shown, class) {
        ("nil", "NilClass") => "nil".to_owned(),
        ("true" | "false", _) => shown.to_owned(),
        (name, "Class" | "Module") => format!("{} {name}", class.to_lowercase()),
        _ => format!("an instance of {class}"),
    };
    Some(format!(
        "{before}undefined method '{method}' for {receiver}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Value, json_load_in};

    /// The answers of both versions to the questions of some kind, as `(question, 3.1, 4.0)`.
    fn answers(kind: &str) -> Vec<(String, String, String)> {
        let table = include_str!("../../tests/cases/ruby-differences.tsv");
        let rows = table
            .lines()
            .map(|line| line.split('\t').collect::<Vec<_>>());
        let rows = rows.filter(|row| row[0] == kind);
        let text = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| text.to_owned());
        rows.map(|row| (text(row[1]), text(row[2]), text(row[4])))
            .collect()
    }

    #[test]
    fn a_version_has_its_changes() {
        for change in RubyChange::ALL {
            assert!(!Ruby::V31.has(change) && Ruby::V40.has(change));
            assert!(Ruby::V31.with(change).has(change));
        }
        let all = RubyChange::ALL.into_iter().fold(Ruby::V31, Ruby::with);
        assert_eq!(all, Ruby::V40);
    }

    #[test]
    fn characters_are_shown_as_in_each_version() {
        let rows = answers("characters");
        assert!(rows.len() > 150);
        for (run, old, new) in rows {
            let (first, last) = run.split_once('-').expect("a run");
            let code = |text| u32::from_str_radix(text, 16).expect("a number");
            for code in [code(first), code(last)] {
                let character = char::from_u32(code).expect("a character");
                let list = Value::array([Value::from(character.to_string().as_str())]);
                for (ruby, shows) in [(Ruby::V31, &old), (Ruby::V40, &new)] {
                    let is_plain = list.to_s_in(ruby).contains(character);
                    assert_eq!(is_plain, shows == "yes", "{code:x} {ruby:?}");
                }
            }
        }
    }

    #[test]
    fn symbols_as_keys_have_the_texts_of_each_version() {
        let rows = answers("symbol key");
        assert!(rows.len() > 30);
        for (name, old, new) in rows {
            let symbol = Value::Symbol(name.as_str().into());
            let pair = [(symbol, Value::from(1))];
            let hash = Value::from(pair.into_iter().collect::<crate::value::HashMap>());
            assert_eq!(
                [old, new],
                [Ruby::V31, Ruby::V40].map(|ruby| hash.to_s_in(ruby))
            );
        }
    }

    #[test]
    fn json_is_refused_as_in_each_version() {
        let mut count = 0;
        for (text, old, new) in answers("JSON") {
            // The words of other errors are those of 3.1.
            if old.contains("Error: ") {
                continue;
            }
            count += 1;
            let of = |ruby| json_load_in(text.as_bytes(), ruby);
            assert!(of(Ruby::V31).is_ok(), "{text}");
            let error = of(Ruby::V40).expect_err(&text);
            assert_eq!(format!("JSON::ParserError: {}", error.message), new);
        }
        assert_eq!(count, 4);
    }

    #[test]
    fn errors_have_the_words_of_each_version() {
        let rows = answers("error").into_iter().chain(answers("YAML scalar"));
        let (mut count, mut of_ruby) = (0, 0);
        for (_, old, new) in rows {
            let words = |text: &str| text.split_once(": ").map(|(_, words)| words.to_owned());
            let [old, new] = [old, new].map(|text| words(&text).expect("a class"));
            count += 1;
            assert_eq!(Ruby::V31.error_words(&old), old);
            // The rest does not occur in lookups.
            if old.starts_with("undefined") || old.starts_with("Unknown") {
                of_ruby += 1;
                assert_eq!(Ruby::V40.error_words(&old), new);
            }
        }
        assert!(of_ruby >= 10 && count > of_ruby);
        assert_eq!(Ruby::V40.error_words("no such thing"), "no such thing");
    }
}
