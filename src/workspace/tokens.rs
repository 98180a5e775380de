//! The `%{…}` tokens of a text as facts: the keys that its strings look up and the variables that
//! they use, with all ranges. It evaluates nothing.

use std::sync::Arc;

use super::files::Format;
use crate::interpolation::{self, Method, Token, TokenKind};
use crate::syntax::{ScalarMap, ScalarStyle, Tree};
use crate::text::TextRange;

/// A token in a string of the text. All ranges are in the source text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TokenFact {
    /// A call of `lookup`, `hiera` or `alias`.
    Reference(Reference),
    /// A variable, by its name or by `scope`.
    Variable(VariableUse),
    /// Any other token.
    Other {
        /// The token with its `%{` and `}`.
        range: TextRange,
        /// The range of the function's name, if one is called: `literal`, or an unknown function.
        function: Option<TextRange>,
    },
}

/// A string's call of `lookup`, `hiera` or `alias`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    /// The key as written between the quotes, possibly dotted.
    pub key: Arc<str>,
    /// The called function.
    pub method: Method,
    /// The token with its `%{` and `}`.
    pub range: TextRange,
    /// The range of the function's name.
    pub function: TextRange,
    /// The range of the key, without its quotes.
    pub argument: TextRange,
}

/// A variable in a string.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VariableUse {
    /// The variable with its dotted path, as written.
    pub name: Arc<str>,
    /// The token with its `%{` and `}`.
    pub range: TextRange,
    /// The range of the function's name, for `%{scope('name')}`.
    pub function: Option<TextRange>,
    /// The range of the variable, without its quotes.
    pub variable: TextRange,
}

impl TokenFact {
    /// The token with its `%{` and `}`.
    #[must_use]
    pub fn range(&self) -> TextRange {
        match self {
            TokenFact::Reference(reference) => reference.range,
            TokenFact::Variable(variable) => variable.range,
            TokenFact::Other { range, .. } => *range,
        }
    }

    fn of(token: &Token, decoded: &str, map: &ScalarMap) -> TokenFact {
        let source = |range: TextRange| map.source_range(range.as_usize());
        let range = source(token.range);
        let function = token.function.map(source);
        if let Some(variable) = token.variable() {
            return TokenFact::Variable(VariableUse {
                name: Arc::from(variable.slice(decoded)),
                range,
                function,
                variable: source(variable),
            });
        }
        if let TokenKind::Call {
            method,
            argument,
            argument_range,
        } = &token.kind
            && let Some(function) = function
            && method.looks_up()
        {
            return TokenFact::Reference(Reference {
                key: Arc::clone(argument),
                method: *method,
                range,
                function,
                argument: source(*argument_range),
            });
        }
        TokenFact::Other { range, function }
    }
}

/// The tokens in a text's strings, in the order of the text.
pub(super) fn tokens_of(text: &str, tree: &Tree, format: Format) -> Vec<TokenFact> {
    let mut tokens = Vec::new();
    if !interpolation::has_tokens(text) {
        // Escapes can hide a token (`"\x25{…}"`), but a text that hides all of them has no intended
        // ones.
        return tokens;
    }
    for (_, node) in tree.nodes() {
        let Some(scalar) = node.as_scalar() else {
            continue;
        };
        let (decoded, style) = match format {
            Format::Yaml | Format::Json => (&*scalar.text, scalar.style),
            // Joined and triple-quoted strings are searched in their source form.
            Format::Hocon => (node.range.slice(text), ScalarStyle::JsonLiteral),
        };
        if !interpolation::has_tokens(decoded) {
            continue;
        }
        let map = ScalarMap::of(text, node.range, style, decoded);
        let found = interpolation::tokens(decoded);
        tokens.extend(
            found
                .iter()
                .map(|token| TokenFact::of(token, decoded, &map)),
        );
    }
    tokens
}
