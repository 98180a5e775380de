//! The facts that a module's Ruby code in `lib/facter` adds, by calls of `Facter.add` with a literal name, and those of
//! text files in `facts.d`. The code is never run.

use std::sync::{Arc, LazyLock};

use regex::Regex;

use super::code::{CodeFacts, CustomFact};
use super::erb::code_parts;
use crate::text::TextRange;

/// `Facter.add(:name)`, `Facter.add 'name'`, `Facter.add(:"name")`. A name with interpolation is not
/// literal.
#[expect(clippy::unwrap_used, reason = "the pattern is known")]
static ADD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)
        \bFacter \s* \. \s* add (?: \s* \( \s* | [\x20\t]+ )
        (?: :? (?: '(?<single>[^'\n]+)' | "(?<double>[^"\#\n]+)" ) | :(?<symbol>\w+) )"#,
    )
    .unwrap()
});

/// `name=value` (`KeyValuePairOutputFormat` in `custom_facts/util/parser.rb`).
#[expect(clippy::unwrap_used, reason = "the pattern is known")]
static LINE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?m)^(.+?)=.").unwrap());

/// What the lines of a text file add.
pub(super) fn of_lines(text: &str) -> CodeFacts {
    let names = LINE
        .captures_iter(text)
        .filter_map(|line| line.get(1))
        .map(|name| CustomFact {
            name: Arc::from(name.as_str().to_lowercase()),
            place: TextRange::new(name.start(), name.end()),
        });
    CodeFacts {
        custom_facts: names.collect(),
        ..CodeFacts::default()
    }
}

/// What code adds. Facter's names are in lower case (`custom_facts/util/fact.rb`).
pub(super) fn of_ruby(text: &str) -> CodeFacts {
    let mut found = Vec::new();
    for part in code_parts(text) {
        for call in ADD.captures_iter(part.slice(text)) {
            let mut names = ["single", "double", "symbol"].into_iter();
            if let Some(name) = names.find_map(|name| call.name(name)) {
                let place = TextRange::new(name.start(), name.end());
                found.push(CustomFact {
                    name: Arc::from(name.as_str().to_lowercase()),
                    place: place.shift(part.start as usize),
                });
            }
        }
    }
    CodeFacts {
        custom_facts: found.into(),
        ..CodeFacts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_a_value_name_facts() {
        let text = "role=web\nSite=a=b\n=x\nnone=\n# note=1\nplain\nlast=1";
        let code = of_lines(text);
        let found = code.custom_facts.iter();
        let found: Vec<(&str, &str)> = found.map(|it| (&*it.name, it.place.slice(text))).collect();
        let expected = [
            ("role", "role"),
            ("site", "Site"),
            ("# note", "# note"),
            ("last", "last"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn literal_names_are_found() {
        let text = "Facter.add(:role) do\n  setcode { 'web' }\nend\nFacter.add('Site-Code') do\nend\n\
                    # Facter.add(:old)\nFacter.add \"rack\" do\nend\nFacter.add(\n  :\"data.center\"\n)\n\
                    Facter.add(\"disk_#{name}\")\nFacter.add(name)\nFacter.address(:x)\n";
        let code = of_ruby(text);
        let found = code.custom_facts.iter();
        let found: Vec<(&str, &str)> = found.map(|it| (&*it.name, it.place.slice(text))).collect();
        let expected = [
            ("role", "role"),
            ("site-code", "Site-Code"),
            ("rack", "rack"),
            ("data.center", "data.center"),
        ];
        assert_eq!(found, expected);
    }
}
