//! Marks of `eyaml edit`: `DEC::PKCS7[plain text]!`, which its `edit` command turns into `ENC[…]`
//! when the editor closes (hiera/backend/eyaml/parser/encrypted_tokens.rb). No other tool
//! interprets them.

use crate::text::TextRange;

/// Maximum number of marks found in one text.
const MOST_MARKS: usize = 200;

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

/// The marks in a text: `/DEC(\(\d+\))?::(\w+)\[(.+?)\]!/m`.
#[must_use]
pub fn edit_marks(text: &str) -> Vec<EditMark> {
    let mut marks = Vec::new();
    let mut from = 0;
    while marks.len() < MOST_MARKS
        && let Some(at) = text[from..].find("DEC")
    {
        let start = from + at;
        from = start + "DEC".len();
        if let Some(mark) = mark(text, start) {
            from = mark.range.end as usize;
            marks.push(mark);
        }
    }
    marks
}

fn mark(text: &str, start: usize) -> Option<EditMark> {
    let rest = &text[start + "DEC".len()..];
    let rest = match rest.strip_prefix('(') {
        Some(number) => {
            let digits = number.len()
                - number
                    .trim_start_matches(|c: char| c.is_ascii_digit())
                    .len();
            number[digits..].strip_prefix(')').filter(|_| digits > 0)?
        }
        None => rest,
    };
    let rest = rest.strip_prefix("::")?;
    let (method, plain) = rest.split_once('[')?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if method.is_empty() || !method.chars().all(is_word) {
        return None;
    }
    // There is at least one character in between.
    let first = plain.chars().next()?.len_utf8();
    let length = first + plain[first..].find("]!")?;
    let inside = text.len() - plain.len();
    Some(EditMark {
        range: TextRange::new(start, inside + length + "]!".len()),
        method: method.to_ascii_uppercase(),
        plain: TextRange::new(inside, inside + length),
    })
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
