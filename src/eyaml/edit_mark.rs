//! Marks of `eyaml edit`: `DEC::PKCS7[plain text]!`, which its `edit` command turns into `ENC[…]`
//! when the editor closes (hiera/backend/eyaml/parser/encrypted_tokens.rb). No other tool
//! interprets them.

use std::sync::LazyLock;

use regex::{Match, Regex};

use crate::text::TextRange;

/// Maximum number of marks found in one text.
const MAX_MARKS: usize = 200;

/// One mark.
#[derive(Clone, PartialEq, Eq)]
pub struct EditMark {
    /// From the `D` of `DEC` to after the `!`.
    pub range: TextRange,
    /// The method, upper case.
    pub method: String,
    /// The range of the plain text.
    pub plain: TextRange,
}

#[expect(clippy::unwrap_used, reason = "the pattern is known")]
static MARK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?s)DEC(?:\([0-9]+\))?::([0-9A-Za-z_]+)\[(.+?)\]!").unwrap());

/// The marks in a text: `/DEC(\(\d+\))?::(\w+)\[(.+?)\]!/m`.
#[must_use]
pub fn edit_marks(text: &str) -> Vec<EditMark> {
    let place = |part: Match<'_>| TextRange::new(part.start(), part.end());
    let marks = MARK.captures_iter(text).filter_map(|found| {
        Some(EditMark {
            range: place(found.get(0)?),
            method: found[1].to_ascii_uppercase(),
            plain: place(found.get(2)?),
        })
    });
    marks.take(MAX_MARKS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_as_eyaml_finds_them() {
        let found = |text: &str| {
            let marks = edit_marks(text).into_iter();
            let shown = marks.map(|mark| {
                let (whole, plain) = (mark.range.slice(text), mark.plain.slice(text));
                format!("{} {plain:?} {whole:?}", mark.method)
            });
            shown.collect::<Vec<_>>().join("\n")
        };
        assert_eq!(
            found("a DEC::PKCS7[x y]! DEC(12)::gpg[a\n]!]!"),
            "PKCS7 \"x y\" \"DEC::PKCS7[x y]!\"\nGPG \"a\\n\" \"DEC(12)::gpg[a\\n]!\""
        );
        for none in [
            "DEC::PKCS7[]!",
            "DEC::PKCS7[x]",
            "DEC()::PKCS7[x]!",
            "DEC:PKCS7[x]!",
            "DEC::[x]!",
        ] {
            assert_eq!(found(none), "", "{none}");
        }
        assert_eq!(found("DEC::PKCS7[]]!"), "PKCS7 \"]\" \"DEC::PKCS7[]]!\"");
    }
}
