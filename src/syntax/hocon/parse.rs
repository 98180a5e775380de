//! Parses HOCON tokens into a tree, like the `hocon` gem's document parser.

use super::document::{
    HoconDocument, HoconElement, HoconField, HoconItem, HoconNode, HoconPath, HoconProblem,
    HoconValue, Separator,
};
use super::path::path;
use super::token::{HoconToken, HoconTokenKind, tokenize};
use crate::text::TextRange;

/// Maximum nesting of braces, brackets and the elements of dotted keys.
pub(super) const MAX_DEPTH: usize = 128;

/// Parses a HOCON text.
///
/// # Errors
/// The gem's first error. There is no recovery: the gem has none.
pub(crate) fn parse_hocon_document(text: &str) -> Result<HoconDocument, HoconProblem> {
    let mut parser = HoconParser {
        text,
        tokens: tokenize(text),
        next: 0,
        line: 1,
        depth: 0,
    };
    parser.document()
}

struct HoconParser<'t> {
    text: &'t str,
    tokens: Vec<HoconToken>,
    next: usize,
    line: usize,
    depth: usize,
}

/// Receives the line ends that an object or array counts.
type Newlines<'a> = &'a mut dyn FnMut();

fn no_newlines() {}

impl HoconParser<'_> {
    fn document(&mut self) -> Result<HoconDocument, HoconProblem> {
        let mut leading = 0;
        let first = self.skip_blanks(&mut || leading += 1)?;
        let root_line = leading + 1;
        if matches!(
            first.kind,
            HoconTokenKind::OpenCurly | HoconTokenKind::OpenSquare
        ) {
            let root = self.value(first)?;
            let end = self.skip_blanks(&mut no_newlines)?;
            if end.kind != HoconTokenKind::EndOfFile {
                return Err(self.problem(
                    &end,
                    format!("Document has trailing tokens after first object or array: {end}"),
                ));
            }
            return Ok(HoconDocument { root, root_line });
        }
        self.put_back();
        let mut items = vec![HoconItem::Newline; leading];
        let range = self.object_items(&mut items, None)?;
        let (value, root_line) = (HoconValue::Object(items), 1);
        let root = HoconNode { range, value };
        Ok(HoconDocument { root, root_line })
    }

    /// The next token. A crash of the gem's tokenizer happens one token early, because it reads
    /// ahead.
    fn pop(&mut self) -> Result<HoconToken, HoconProblem> {
        let token = self.tokens[self.next.min(self.tokens.len() - 1)].clone();
        self.next += 1;
        let ahead = self.tokens.get(self.next);
        for crashed in [Some(&token), ahead].into_iter().flatten() {
            if let HoconTokenKind::Crash(message) = &crashed.kind {
                return Err(HoconProblem {
                    range: crashed.range,
                    message: message.clone(),
                });
            }
        }
        Ok(token)
    }

    fn put_back(&mut self) {
        self.next -= 1;
    }

    /// The next token that is neither blank nor comment; line ends on the way are reported.
    fn skip_blanks(&mut self, newlines: Newlines<'_>) -> Result<HoconToken, HoconProblem> {
        loop {
            let token = self.pop()?;
            match token.kind {
                HoconTokenKind::Newline => {
                    self.line = token.line + 1;
                    newlines();
                }
                HoconTokenKind::Whitespace(_) | HoconTokenKind::Comment(_) => {}
                _ if token.is_unquoted_whitespace() => {}
                _ => {
                    if token.has_line() {
                        self.line = token.line;
                    }
                    return Ok(token);
                }
            }
        }
    }

    fn problem(&self, token: &HoconToken, message: String) -> HoconProblem {
        HoconProblem {
            range: token.range,
            message: format!("String: {}: {message}", self.line),
        }
    }

    /// A problem with the gem's advice to add quotes (whose bracket it leaves open).
    fn problem_with_advice(&self, token: &HoconToken, message: &str) -> HoconProblem {
        if token.kind == HoconTokenKind::EndOfFile {
            return self.problem(token, message.to_owned());
        }
        let advice = format!(
            "{message} (if you intended {token} to be part of a key or string value, \
             try enclosing the key or value in double quotes"
        );
        self.problem(token, advice)
    }

    fn value(&mut self, token: HoconToken) -> Result<HoconNode, HoconProblem> {
        if token.is_simple() {
            let (range, value) = (token.range, HoconValue::Simple(Box::new(token)));
            return Ok(HoconNode { range, value });
        }
        if self.depth >= MAX_DEPTH {
            return Err(self.problem(&token, format!("nesting of {MAX_DEPTH} is too deep")));
        }
        self.depth += 1;
        let node = match token.kind {
            HoconTokenKind::OpenCurly => {
                let mut items = Vec::new();
                let range = self.object_items(&mut items, Some(token.range))?;
                let value = HoconValue::Object(items);
                HoconNode { range, value }
            }
            HoconTokenKind::OpenSquare => self.array(token.range)?,
            _ => {
                let message = format!("Expecting a value but got wrong token: {token}");
                return Err(self.problem_with_advice(&token, &message));
            }
        };
        self.depth -= 1;
        Ok(node)
    }

    /// The items of an object after its opening brace, or of a file without braces.
    fn object_items(
        &mut self,
        items: &mut Vec<HoconItem>,
        opening: Option<TextRange>,
    ) -> Result<TextRange, HoconProblem> {
        let mut range = opening;
        let mut grow = |part: TextRange| {
            let grown = range.map_or(part, |range| range.cover(part));
            range = Some(grown);
            grown
        };
        // Whether a comma or a line end is missing before another item.
        let mut is_after_item = false;
        loop {
            let token = self.skip_blanks(&mut || items.push(HoconItem::Newline))?;
            match &token.kind {
                HoconTokenKind::CloseCurly if opening.is_some() => return Ok(grow(token.range)),
                HoconTokenKind::CloseCurly => {
                    let message = "unbalanced close brace '}' with no open brace";
                    return Err(self.problem_with_advice(&token, message));
                }
                HoconTokenKind::EndOfFile if opening.is_none() => {
                    self.put_back();
                    return Ok(range.unwrap_or(token.range));
                }
                _ if is_after_item => {
                    let message = format!("Expecting close brace }} or a comma, got {token}");
                    return Err(self.problem_with_advice(&token, &message));
                }
                HoconTokenKind::Unquoted(text) if text == "include" => {
                    let included = self.include()?;
                    items.push(included);
                }
                _ => {
                    let field = self.field(token)?;
                    grow(field.path.range.cover(field.value.range));
                    items.push(HoconItem::Field(field));
                }
            }
            is_after_item = !self.separator(&mut || items.push(HoconItem::Newline))?;
        }
    }

    fn field(&mut self, first: HoconToken) -> Result<HoconField, HoconProblem> {
        let path = self.key(first)?;
        let outside = self.depth;
        self.depth += path.elements.len() - 1;
        let field = self.field_of(path)?;
        self.depth = outside;
        Ok(field)
    }

    fn field_of(&mut self, path: HoconPath) -> Result<HoconField, HoconProblem> {
        let after = self.skip_blanks(&mut no_newlines)?;
        let separator = match after.kind {
            HoconTokenKind::OpenCurly => Separator::None,
            HoconTokenKind::Colon | HoconTokenKind::Equals => Separator::Assign,
            HoconTokenKind::PlusEquals => Separator::Append,
            _ => {
                let key = path.range.slice(self.text);
                let message = format!("Key '{key}' may not be followed by token: {after}");
                return Err(self.problem_with_advice(&after, &message));
            }
        };
        let value = if separator == Separator::None {
            self.value(after)?
        } else if let Some(value) = self.joined_values(&mut no_newlines)? {
            value
        } else {
            let token = self.skip_blanks(&mut no_newlines)?;
            self.value(token)?
        };
        Ok(HoconField {
            path,
            separator,
            value,
        })
    }

    fn key(&mut self, first: HoconToken) -> Result<HoconPath, HoconProblem> {
        let mut tokens = Vec::new();
        let mut token = first;
        while token.is_value() || matches!(token.kind, HoconTokenKind::Unquoted(_)) {
            tokens.push(token);
            token = self.pop()?;
        }
        if tokens.is_empty() {
            let message = format!("expecting a close brace or a field name here, got {token}");
            return Err(self.problem(&token, message));
        }
        self.put_back();
        path(&tokens).map_err(|message| HoconProblem {
            range: tokens[0].range,
            message,
        })
    }

    fn include(&mut self) -> Result<HoconItem, HoconProblem> {
        let token = self.skip_blanks(&mut no_newlines)?;
        match &token.kind {
            HoconTokenKind::Quoted(_) => Ok(HoconItem::Include),
            HoconTokenKind::Unquoted(text)
                if matches!(text.as_str(), "url(" | "file(" | "classpath(") =>
            {
                let token = self.skip_blanks(&mut no_newlines)?;
                if !matches!(token.kind, HoconTokenKind::Quoted(_)) {
                    let message = format!(
                        "expecting a quoted string inside file(), classpath(), or url(), \
                         rather than: {token}"
                    );
                    return Err(self.problem(&token, message));
                }
                let token = self.skip_blanks(&mut no_newlines)?;
                if !matches!(&token.kind, HoconTokenKind::Unquoted(text) if text == ")") {
                    let message = format!("expecting a close parentheses ')' here, not: {token}");
                    return Err(self.problem(&token, message));
                }
                Ok(HoconItem::IncludeFrom)
            }
            HoconTokenKind::Unquoted(_) => {
                let message = format!(
                    "expecting include parameter to be quoted filename, file(), classpath(), or \
                     url(). No spaces are allowed before the open paren. Not expecting: {token}"
                );
                Err(self.problem(&token, message))
            }
            _ => {
                let message =
                    format!("include keyword is not followed by a quoted string, but by: {token}");
                Err(self.problem(&token, message))
            }
        }
    }

    fn array(&mut self, opening: TextRange) -> Result<HoconNode, HoconProblem> {
        let mut elements: Vec<HoconElement> = Vec::new();
        let closed = |elements, closing: TextRange| HoconNode {
            range: opening.cover(closing),
            value: HoconValue::Array(elements),
        };
        let mut is_first = true;
        loop {
            let mut newlines = 0;
            let joined = self.joined_values(&mut || newlines += 1)?;
            elements.extend(std::iter::repeat_n(HoconElement::Newline, newlines));
            if let Some(value) = joined {
                elements.push(HoconElement::Value(value));
            } else {
                let token = self.skip_blanks(&mut || elements.push(HoconElement::Newline))?;
                // One comma is allowed after the last element.
                if token.kind == HoconTokenKind::CloseSquare {
                    return Ok(closed(elements, token.range));
                }
                let message = if is_first {
                    format!(
                        "List should have ] or a first element after the open [, instead had \
                         token: {token} (if you want {token} to be part of a string value, then \
                         double-quote it)"
                    )
                } else {
                    format!(
                        "List should have had new element after a comma, instead had token: \
                         {token} (if you want the comma or {token} to be part of a string value, \
                         then double-quote it)"
                    )
                };
                return Err(self.problem(&token, message));
            }
            is_first = false;
            if !self.separator(&mut || elements.push(HoconElement::Newline))? {
                let token = self.skip_blanks(&mut || elements.push(HoconElement::Newline))?;
                if token.kind == HoconTokenKind::CloseSquare {
                    return Ok(closed(elements, token.range));
                }
                let message = format!(
                    "List should have ended with ] or had a comma, instead had token: {token} (if \
                     you want {token} to be part of a string value, then double-quote it)"
                );
                return Err(self.problem(&token, message));
            }
        }
    }

    /// The values up to the end of the line or of the element, joined; `None` if there is none.
    fn joined_values(&mut self, newlines: Newlines<'_>) -> Result<Option<HoconNode>, HoconProblem> {
        let mut values: Vec<HoconNode> = Vec::new();
        let mut token = self.skip_blanks(newlines)?;
        let mut behind_value = self.next;
        loop {
            let opens = matches!(
                token.kind,
                HoconTokenKind::OpenCurly | HoconTokenKind::OpenSquare
            );
            if token.is_simple() || opens {
                values.push(self.value(token)?);
                behind_value = self.next;
            } else if !matches!(token.kind, HoconTokenKind::Whitespace(_)) {
                break;
            }
            token = self.pop()?;
        }
        // Blanks after the last value belong to the parent.
        self.next = if values.is_empty() {
            self.next - 1
        } else {
            behind_value
        };
        let Some((first, last)) = values.first().zip(values.last()) else {
            return Ok(None);
        };
        let range = first.range.cover(last.range);
        if values.len() == 1 {
            return Ok(values.pop());
        }
        let value = HoconValue::Concatenation(values);
        Ok(Some(HoconNode { range, value }))
    }

    /// Reads a comma or at least one line end; returns whether there was one.
    fn separator(&mut self, newlines: Newlines<'_>) -> Result<bool, HoconProblem> {
        let mut found = false;
        loop {
            let token = self.pop()?;
            match token.kind {
                HoconTokenKind::Newline => {
                    found = true;
                    self.line += 1;
                    newlines();
                }
                HoconTokenKind::Comma => return Ok(true),
                HoconTokenKind::Whitespace(_) | HoconTokenKind::Comment(_) => {}
                _ if token.is_unquoted_whitespace() => {}
                _ => {
                    self.put_back();
                    return Ok(found);
                }
            }
        }
    }
}
