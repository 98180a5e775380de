//! Paths in keys and substitutions (hocon/impl/path_parser.rb), and their form in messages.

use super::document::HoconPath;
use super::parse::MAX_DEPTH;
use super::token::{HoconToken, HoconTokenKind};
use crate::text::TextRange;

/// The path in the tokens of a key or a substitution, or the gem's message.
pub(crate) fn path(tokens: &[HoconToken]) -> Result<HoconPath, String> {
    let Some((first, last)) = tokens.first().zip(tokens.last()) else {
        return Err("Expecting a field name or path here, but got nothing".to_owned());
    };
    // Each element, with whether it may be empty and its range.
    let mut elements: Vec<(String, bool, Option<TextRange>)> = vec![(String::new(), false, None)];
    for token in tokens {
        match (&token.kind, token.text()) {
            (HoconTokenKind::Whitespace(_), _) => {}
            (HoconTokenKind::Quoted(text), _) => {
                if let Some((element, may_be_empty, range)) = elements.last_mut() {
                    element.push_str(text);
                    *may_be_empty |= element.is_empty();
                    *range = Some(range.map_or(token.range, |range| range.cover(token.range)));
                }
            }
            (_, Some(text)) => {
                let mut at = token.range.as_usize().start;
                for (index, part) in text.split('.').enumerate() {
                    if index > 0 {
                        elements.push((String::new(), false, None));
                    }
                    let place = TextRange::new(at, at + part.len());
                    at += part.len() + 1;
                    if let Some((element, _, range)) = elements.last_mut() {
                        element.push_str(part);
                        if !part.is_empty() {
                            *range = Some(range.map_or(place, |range| range.cover(place)));
                        }
                    }
                }
            }
            (_, None) => {
                return Err(format!(
                    "Token not allowed in path expression: {token} (you can double-quote this \
                     token if you really want it here)"
                ));
            }
        }
    }
    if elements
        .iter()
        .any(|(element, may_be_empty, _)| element.is_empty() && !may_be_empty)
    {
        return Err(
            "path has a leading, trailing, or two adjacent period '.' (use quoted \"\" empty \
             string if you want an empty element)"
                .to_owned(),
        );
    }
    if elements.len() > MAX_DEPTH {
        return Err(format!("path has more than {MAX_DEPTH} elements"));
    }
    Ok(HoconPath {
        range: first.range.cover(last.range),
        ranges: elements
            .iter()
            .map(|(_, _, range)| range.unwrap_or(first.range))
            .collect(),
        elements: elements
            .into_iter()
            .map(|(element, _, _)| element)
            .collect(),
    })
}

/// A path in the form of the gem's messages.
pub(crate) fn render_path(elements: &[String]) -> String {
    let render = |element: &String| {
        let plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        if !element.is_empty() && element.chars().all(plain) {
            return element.clone();
        }
        render_string(element)
    };
    elements.iter().map(render).collect::<Vec<_>>().join(".")
}

/// A string in the form of the gem's messages.
pub(crate) fn render_string(text: &str) -> String {
    let mut rendered = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => rendered.push_str("\\\""),
            '\\' => rendered.push_str("\\\\"),
            '\n' => rendered.push_str("\\n"),
            '\u{8}' => rendered.push_str("\\b"),
            '\u{c}' => rendered.push_str("\\f"),
            '\r' => rendered.push_str("\\r"),
            '\t' => rendered.push_str("\\t"),
            _ => rendered.push(character),
        }
    }
    rendered.push('"');
    rendered
}
