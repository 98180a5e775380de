//! Completion in manifests: keys in lookups, and names of classes.

use super::dotted::LastPart;
use super::{Completion, TypingPlace, parameters, token};
use crate::syntax::puppet::{HalfTyped, OpenBracket, PieceKind, half_typed};
use crate::workspace::{Language, language_of};

/// Functions with a key as the first argument.
const LOOKUPS: [&str; 5] = [
    "lookup",
    "hiera",
    "hiera_array",
    "hiera_hash",
    "hiera_include",
];

/// Functions with names of classes as arguments.
const INCLUDES: [&str; 3] = ["include", "contain", "require"];

/// The items for a key in a lookup or a class in an inclusion; `None` elsewhere.
pub(super) fn complete(typing: &TypingPlace<'_>) -> Option<Completion> {
    let Some(Language::Puppet(dialect)) = language_of(typing.file.path()) else {
        return None;
    };
    let before = typing.file.text().get(..typing.offset)?;
    // Leave out the half-typed name.
    let word = before.trim_end_matches(is_part).len();
    let code = CodeBefore {
        text: &before[..word],
        half: half_typed(&before[..word], dialect)?,
    };
    let argument = code.half.quote.map(|quote| &before[quote + 1..]);
    if code.takes_class() {
        let typed = argument.unwrap_or(&before[word..]);
        let items = parameters::classes(typing, typed);
        return Some(token::answer_in(typing, typed, items));
    }
    let argument = argument.filter(|argument| code.takes_key() && !argument.contains('$'))?;
    let quote = code.half.quote.and_then(|at| before[at..].chars().next());
    let part = LastPart::of(argument, quote.unwrap_or('\''), None);
    Some(part.answer(typing, part.items(typing)))
}

fn is_part(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | ':')
}

/// The code before the half-typed name.
struct CodeBefore<'t> {
    text: &'t str,
    half: HalfTyped,
}

impl CodeBefore<'_> {
    /// The kind of a token, counted from the last one.
    fn kind(&self, back: usize) -> Option<PieceKind> {
        Some(self.half.pieces.iter().nth_back(back)?.kind)
    }

    fn is_sign(&self, back: usize, signs: &[&str]) -> bool {
        matches!(self.kind(back), Some(PieceKind::Sign(sign)) if signs.contains(&sign))
    }

    /// The text of a token, without quotes.
    fn word(&self, back: usize) -> &str {
        let piece = self.half.pieces.iter().nth_back(back);
        let text = piece.map_or("", |piece| piece.place.slice(self.text));
        text.trim_matches(['"', '\''])
    }

    /// Matches `lookup('`, `lookup(['a', '`, `lookup({name => '`.
    fn takes_key(&self) -> bool {
        let open = self.half.brackets();
        let last = self.half.pieces.len().wrapping_sub(1);
        let Some(inner) = open.first() else {
            return false;
        };
        if inner.sign == "(" {
            return inner.piece == last && self.is_call(inner, &LOOKUPS);
        }
        let Some(call) = open.get(1) else {
            return false;
        };
        // The list or hash must be the first argument.
        let is_first = call.piece + 1 == inner.piece && self.is_call(call, &["lookup"]);
        let is_name = match inner.sign {
            "[" => self.is_sign(0, &["[", ","]),
            _ => self.is_sign(0, &["=>"]) && self.word(1) == "name",
        };
        is_first && is_name
    }

    /// Whether a bracket opens the arguments of one of these functions.
    fn is_call(&self, bracket: &OpenBracket, functions: &[&str]) -> bool {
        let called = self.half.called(self.text, bracket);
        called.is_some_and(|called| functions.contains(&called))
    }

    /// Matches `include a, `, `contain(`, `class { '`, `inherits `, `Class['`.
    fn takes_class(&self) -> bool {
        if self.is_sign(0, &["{"]) {
            return self.word(1) == "class" && self.half.quote.is_some();
        }
        if self.is_sign(0, &["["]) && self.word(1) == "Class" || self.word(0) == "inherits" {
            return true;
        }
        let mut back = 0;
        loop {
            if self.is_sign(back, &[",", "(", "["]) {
                back += 1;
                // Another class comes before a comma.
                let is_class = matches!(self.kind(back), Some(PieceKind::Name | PieceKind::Text));
                if self.is_sign(back - 1, &[","]) && is_class {
                    back += 1;
                }
                continue;
            }
            return self.kind(back) == Some(PieceKind::Name) && INCLUDES.contains(&self.word(back));
        }
    }
}
