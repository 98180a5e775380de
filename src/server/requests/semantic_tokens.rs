//! `textDocument/semanticTokens/full`, `…/full/delta` and `…/range`.

use std::collections::BTreeMap;
use std::sync::Mutex;

use tower_lsp::ls_types as lsp;

use super::View;
use crate::ide::references::Role;
use crate::ide::semantic_tokens::{CLASSES, TokenClass, semantic_tokens};
use crate::server::{convert, lock};

/// Maximum number of documents whose last answer is kept for computing deltas.
const MAX_KEPT: usize = 32;

/// The last answers by path, with their result ids.
#[derive(Default)]
pub(crate) struct LastTokens(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    next: u64,
    by_path: BTreeMap<String, (u64, Vec<lsp::SemanticToken>)>,
}

impl LastTokens {
    /// Keeps an answer: returns its id, and the previous answer if that has the id `before`.
    fn keep(
        &self,
        path: &str,
        tokens: &[lsp::SemanticToken],
        before: Option<&str>,
    ) -> (String, Option<Vec<lsp::SemanticToken>>) {
        let mut kept = lock(&self.0);
        kept.next += 1;
        let number = kept.next;
        let last = kept
            .by_path
            .insert(path.to_owned(), (number, tokens.to_vec()));
        if kept.by_path.len() > MAX_KEPT {
            let oldest = kept.by_path.iter().min_by_key(|(_, (number, _))| *number);
            let oldest = oldest.map(|(path, _)| path.clone());
            oldest.and_then(|path| kept.by_path.remove(&path));
        }
        let is_known = |number: u64| before == Some(number.to_string().as_str());
        let last = last.filter(|(number, _)| is_known(*number));
        (number.to_string(), last.map(|(_, tokens)| tokens))
    }
}

/// The meaning of the tokens' numbers.
pub(crate) fn legend() -> lsp::SemanticTokensLegend {
    let types = CLASSES.map(|class| match class {
        TokenClass::Key => lsp::SemanticTokenType::PROPERTY,
        TokenClass::Function => lsp::SemanticTokenType::FUNCTION,
        TokenClass::Variable => lsp::SemanticTokenType::VARIABLE,
        TokenClass::Keyword => lsp::SemanticTokenType::KEYWORD,
        TokenClass::Choice => lsp::SemanticTokenType::ENUM_MEMBER,
        TokenClass::Pattern => lsp::SemanticTokenType::REGEXP,
        TokenClass::Type => lsp::SemanticTokenType::TYPE,
    });
    lsp::SemanticTokensLegend {
        token_types: types.to_vec(),
        token_modifiers: vec![lsp::SemanticTokenModifier::DEFINITION],
    }
}

pub(crate) fn full(
    view: &View,
    path: &str,
    _: lsp::SemanticTokensParams,
) -> Option<lsp::SemanticTokensResult> {
    let data = tokens(view, path, None)?;
    let (id, _) = view.caches.tokens.keep(path, &data, None);
    Some(lsp::SemanticTokensResult::Tokens(lsp::SemanticTokens {
        result_id: Some(id),
        data,
    }))
}

pub(crate) fn delta(
    view: &View,
    path: &str,
    params: lsp::SemanticTokensDeltaParams,
) -> Option<lsp::SemanticTokensFullDeltaResult> {
    use lsp::SemanticTokensFullDeltaResult as Answer;
    let data = tokens(view, path, None)?;
    let before = Some(params.previous_result_id.as_str());
    let (id, last) = view.caches.tokens.keep(path, &data, before);
    let result_id = Some(id);
    Some(match last {
        None => Answer::Tokens(lsp::SemanticTokens { result_id, data }),
        Some(last) => Answer::TokensDelta(lsp::SemanticTokensDelta {
            result_id,
            edits: difference(&last, &data),
        }),
    })
}

pub(crate) fn within(
    view: &View,
    path: &str,
    params: lsp::SemanticTokensRangeParams,
) -> Option<lsp::SemanticTokensRangeResult> {
    let data = tokens(view, path, Some(params.range))?;
    Some(lsp::SemanticTokensRangeResult::Tokens(
        lsp::SemanticTokens {
            result_id: None,
            data,
        },
    ))
}

/// The tokens of a file, or of some of its lines, each relative to the previous one.
fn tokens(view: &View, path: &str, within: Option<lsp::Range>) -> Option<Vec<lsp::SemanticToken>> {
    let found = view.analyse(path, |analysis| semantic_tokens(analysis, path));
    view.lines(path, |lines| {
        let mut data = Vec::with_capacity(found.len());
        let mut last = lsp::Position::new(0, 0);
        for token in found {
            let range = convert::range(lines, token.range, view.encoding);
            let is_outside = |wanted: lsp::Range| {
                range.end.line < wanted.start.line || range.start.line > wanted.end.line
            };
            if within.is_some_and(is_outside) {
                continue;
            }
            let start = range.start;
            let is_same_line = start.line == last.line;
            data.push(lsp::SemanticToken {
                delta_line: start.line - last.line,
                delta_start: start.character - if is_same_line { last.character } else { 0 },
                length: range.end.character.saturating_sub(start.character),
                token_type: CLASSES
                    .iter()
                    .position(|class| *class == token.class)
                    .unwrap_or_default() as u32,
                token_modifiers_bitset: u32::from(token.role == Role::Definition),
            });
            last = start;
        }
        data
    })
}

/// The single edit between the common prefix and suffix, counted in numbers (five per token).
fn difference(
    last: &[lsp::SemanticToken],
    new: &[lsp::SemanticToken],
) -> Vec<lsp::SemanticTokensEdit> {
    const NUMBERS: usize = 5;
    let start = last
        .iter()
        .zip(new)
        .take_while(|(one, other)| one == other)
        .count();
    let (last_rest, new_rest) = (&last[start..], &new[start..]);
    let both = last_rest.iter().rev().zip(new_rest.iter().rev());
    let end = both.take_while(|(one, other)| one == other).count();
    let removed = last_rest.len() - end;
    let added = &new_rest[..new_rest.len() - end];
    if removed == 0 && added.is_empty() {
        return Vec::new();
    }
    vec![lsp::SemanticTokensEdit {
        start: (start * NUMBERS) as u32,
        delete_count: (removed * NUMBERS) as u32,
        data: Some(added.to_vec()),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(length: u32) -> lsp::SemanticToken {
        lsp::SemanticToken {
            length,
            ..lsp::SemanticToken::default()
        }
    }

    #[test]
    fn a_difference_is_the_part_between_common_ends() {
        let tokens = |lengths: &[u32]| -> Vec<lsp::SemanticToken> {
            lengths.iter().map(|length| token(*length)).collect()
        };
        for (last, new, expected) in [
            (vec![1, 2, 3], vec![1, 2, 3], None),
            (vec![1, 2, 3], vec![1, 9, 3], Some((5, 5, vec![9]))),
            (vec![1, 3], vec![1, 2, 3], Some((5, 0, vec![2]))),
            (vec![1, 1, 1], vec![1, 1], Some((10, 5, vec![]))),
            (vec![], vec![4], Some((0, 0, vec![4]))),
        ] {
            let edits = difference(&tokens(&last), &tokens(&new));
            let found = edits.first().map(|edit| {
                let data = edit.data.iter().flatten();
                let lengths: Vec<u32> = data.map(|token| token.length).collect();
                (edit.start, edit.delete_count, lengths)
            });
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn an_answer_is_known_by_its_number() {
        let kept = LastTokens::default();
        let (first, none) = kept.keep("/a", &[token(1)], None);
        assert_eq!(none, None);
        let (second, last) = kept.keep("/a", &[token(2)], Some(&first));
        assert_eq!(last, Some(vec![token(1)]));
        let (_, unknown) = kept.keep("/a", &[], Some(&first));
        assert_eq!(unknown, None);
        assert_ne!(first, second);
    }
}
