//! Incomplete code before the cursor: its last tokens, and the open brackets. Such code often has
//! no tree yet.

use super::Dialect;
use super::lexer::{Terminal, tokens};
use crate::text::TextRange;

/// Maximum number of lexer errors before it gives up.
const MAX_REFUSED: usize = 50;

/// The kind of a piece of code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PieceKind {
    /// A name or a keyword.
    Name,
    /// A string without interpolation.
    Text,
    /// A bracket or an operator.
    Sign(&'static str),
    /// Anything else.
    Other,
}

/// A piece of code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodePiece {
    /// The kind of piece.
    pub kind: PieceKind,
    /// Its range.
    pub place: TextRange,
}

/// An open bracket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenBracket {
    /// The bracket: `(`, `[` or `{`.
    pub sign: &'static str,
    /// Its index among the pieces.
    pub piece: usize,
    /// The number of commas in it.
    pub commas: usize,
}

/// The code before the cursor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HalfTyped {
    /// The pieces before.
    pub pieces: Vec<CodePiece>,
    /// The offset of an unclosed quote.
    pub quote: Option<usize>,
}

impl HalfTyped {
    /// The open brackets, the innermost first.
    #[must_use]
    pub fn brackets(&self) -> Vec<OpenBracket> {
        let mut open: Vec<OpenBracket> = Vec::new();
        for (piece, one) in self.pieces.iter().enumerate() {
            match one.kind {
                PieceKind::Sign(sign @ ("(" | "[" | "{")) => open.push(OpenBracket {
                    sign,
                    piece,
                    commas: 0,
                }),
                PieceKind::Sign(")" | "]" | "}") => drop(open.pop()),
                PieceKind::Sign(",") => {
                    if let Some(last) = open.last_mut() {
                        last.commas += 1;
                    }
                }
                PieceKind::Sign(_) | PieceKind::Name | PieceKind::Text | PieceKind::Other => {}
            }
        }
        open.reverse();
        open
    }

    /// The function called with a bracket: the name before it.
    #[must_use]
    pub fn called<'t>(&self, text: &'t str, bracket: &OpenBracket) -> Option<&'t str> {
        let before = self.pieces.get(bracket.piece.checked_sub(1)?)?;
        let is_call = bracket.sign == "(" && before.kind == PieceKind::Name;
        is_call.then(|| before.place.slice(text))
    }
}

/// The code at the end of the text; `None` inside a comment. In an unclosed string with
/// interpolations, the code of the last interpolation. O(bytes).
#[must_use]
pub fn half_typed(text: &str, dialect: Dialect) -> Option<HalfTyped> {
    let mut start = 0;
    let mut dialect = dialect;
    loop {
        let found = tokens(text, start, dialect, MAX_REFUSED);
        let is_in_comment = found.comments.last().is_some_and(|comment| {
            comment.end as usize == text.len() && comment.slice(text).starts_with('#')
        });
        if is_in_comment {
            return None;
        }
        let mut pieces = Vec::with_capacity(found.tokens.len());
        let mut quote = None;
        for token in &found.tokens {
            let kind = match token.terminal {
                Terminal::End => continue,
                Terminal::Name | Terminal::Word | Terminal::Keyword(_) => PieceKind::Name,
                Terminal::Text => PieceKind::Text,
                Terminal::Sign(sign) => PieceKind::Sign(sign),
                Terminal::ListStart => PieceKind::Sign("["),
                Terminal::LineParenthesis => PieceKind::Sign("("),
                Terminal::SelectorBrace => PieceKind::Sign("{"),
                Terminal::Refused(_) if token.place.end as usize == text.len() => {
                    let refused = token.place.slice(text);
                    if refused.starts_with("/*") {
                        return None;
                    }
                    if refused.starts_with(['"', '\'']) {
                        quote = Some(token.place.start as usize);
                        continue;
                    }
                    PieceKind::Other
                }
                _ => PieceKind::Other,
            };
            pieces.push(CodePiece {
                kind,
                place: token.place,
            });
        }
        let open = HalfTyped { pieces, quote };
        let Some(inner) = quote.and_then(|quote| interpolation(text, quote)) else {
            return Some(open);
        };
        let within = tokens(text, inner, Dialect::Manifest, MAX_REFUSED);
        if closes_brace(&within.tokens) {
            return Some(open);
        }
        (start, dialect) = (inner, Dialect::Manifest);
    }
}

/// The start of the last interpolation in a string.
fn interpolation(text: &str, quote: usize) -> Option<usize> {
    let string = text.get(quote..)?;
    let open = string.starts_with('"').then(|| string.rfind("${"))??;
    Some(quote + open + "${".len())
}

/// Whether a brace closes that was opened before.
fn closes_brace(tokens: &[super::lexer::PuppetToken<'_>]) -> bool {
    let mut depth = 0_usize;
    for token in tokens {
        match token.terminal {
            Terminal::Sign("{") | Terminal::SelectorBrace => depth += 1,
            Terminal::Sign("}") if depth == 0 => return true,
            Terminal::Sign("}") => depth -= 1,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let Some(found) = half_typed(text, Dialect::Manifest) else {
            return "comment".to_owned();
        };
        let open = found.brackets();
        let open = open.iter().map(|bracket| {
            let called = found.called(text, bracket).unwrap_or_default();
            format!("{called}{}{}", bracket.sign, bracket.commas)
        });
        let open: Vec<String> = open.collect();
        let quote = found.quote.map_or("", |quote| &text[quote..]);
        format!("{} {quote}", open.join(" ")).trim().to_owned()
    }

    #[test]
    fn brackets_and_quotes_that_are_open() {
        for (text, expected) in [
            ("class a { $x = lookup('b', { merge => ", "{0 lookup(1 {0"),
            ("lookup(\n  ['a::b', 'c", "[1 lookup(0 'c"),
            ("$x = \"a ${lookup('b", "lookup(0 'b"),
            ("$x = \"a ${lookup('b')} c", "\"a ${lookup('b')} c"),
            ("# lookup('b", "comment"),
            ("/* lookup('b", "comment"),
            ("# done\nlookup('b", "lookup(0 'b"),
            ("$a = 'x\n$b = lookup(\"", "lookup(0 \""),
            ("include a, ", ""),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }
}
