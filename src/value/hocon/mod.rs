//! Loads HOCON files, like `Hocon.parse` of the Ruby `hocon` gem 1.3.1 for `hocon_data`.
//!
//! Objects merge, later keys first; values join; `${…}` is resolved against the whole file, a
//! reference to itself against the earlier value. The environment is never read: a text with `${NAME}` or `${?NAME}` of
//! what may be an environment variable is unknown. `include "…"` finds nothing, as in the gem, which has no file
//! to search next to. `include file("…")` reads from the folder of the process: then the text is unknown.

mod merge;
mod resolve;

use indexmap::IndexMap;

use self::merge::{
    LineSpan, Unresolved, UnresolvedKind, UnresolvedRef, concatenate, with_fallback,
};
use super::{LoadError, LoadErrorKind, Value};
use crate::syntax::hocon::{
    HoconElement, HoconItem, HoconNode, HoconToken, HoconTokenKind, HoconValue, NumberValue,
    Separator, parse_hocon_document, path,
};
use crate::text::TextRange;

/// Loads a HOCON file.
///
/// # Errors
/// The gem's message, with its own line number. Exceptions at which the gem itself crashes
/// (`uninitialized constant …`) are reported in the same way. Nesting, the number of steps of a
/// resolution and the size of joined values are bounded.
pub fn load_hocon(bytes: &[u8]) -> Result<Value, LoadError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let range = TextRange::empty(error.valid_up_to());
        load_error("invalid byte sequence in UTF-8".to_owned(), Some(range))
    })?;
    let document = parse_hocon_document(text)
        .map_err(|problem| load_error(problem.message, Some(problem.range)))?;
    let mut builder = PartBuilder {
        line: document.root_line,
        path: Vec::new(),
        lists: 0,
        place: document.root.range,
        included: None,
    };
    let root = builder
        .node(&document.root)
        .map_err(|message| load_error(message, Some(builder.place)))?;
    if !root.is_object() {
        let message = "has type LIST rather than object at file root";
        let message = format!("String: {}:  {message}", document.root_line);
        return Err(load_error(message, Some(document.root.range)));
    }
    if let Some(line) = builder.included {
        let message = format!("String: {line}: what 'include' with a function reads is not known");
        return Err(LoadError::new(LoadErrorKind::HoconOutside, message, None));
    }
    let resolved =
        resolve::resolve(&root).map_err(|(kind, message)| LoadError::new(kind, message, None))?;
    Ok(resolve::to_value(&resolved))
}

fn load_error(message: String, range: Option<TextRange>) -> LoadError {
    LoadError::new(LoadErrorKind::Hocon, message, range)
}

/// Turns the tree into parts (hocon/impl/config_parser.rb), merging values of the same key.
struct PartBuilder {
    /// The line by the gem's count: only line ends directly in objects and lists count.
    line: usize,
    /// The enclosing keys, each a path.
    path: Vec<Vec<String>>,
    /// The number of enclosing lists (and `+=`).
    lists: usize,
    /// The value being read, for errors.
    place: TextRange,
    /// The line of what is included from elsewhere.
    included: Option<usize>,
}

impl PartBuilder {
    fn node(&mut self, node: &HoconNode) -> Result<UnresolvedRef, String> {
        self.place = node.range;
        match &node.value {
            HoconValue::Simple(token) => simple(token),
            HoconValue::Object(items) => self.object(items),
            HoconValue::Array(elements) => {
                let line = self.line;
                self.lists += 1;
                let mut parts = Vec::new();
                for element in elements {
                    match element {
                        HoconElement::Newline => self.line += 1,
                        HoconElement::Value(value) => parts.push(self.node(value)?),
                    }
                }
                self.lists -= 1;
                let kind = UnresolvedKind::List(parts);
                Ok(Unresolved::new(kind, LineSpan::at(line)))
            }
            HoconValue::Concatenation(pieces) => {
                let parts: Result<Vec<UnresolvedRef>, String> =
                    pieces.iter().map(|piece| self.node(piece)).collect();
                self.place = node.range;
                Ok(concatenate(&parts?)?.unwrap_or_else(|| Unresolved::null(self.line)))
            }
        }
    }

    fn object(&mut self, items: &[HoconItem]) -> Result<UnresolvedRef, String> {
        let line = self.line;
        let mut entries: IndexMap<String, UnresolvedRef> = IndexMap::new();
        for item in items {
            let field = match item {
                HoconItem::Newline => {
                    self.line += 1;
                    continue;
                }
                HoconItem::Include => continue,
                HoconItem::IncludeFrom => {
                    self.included = Some(self.line);
                    continue;
                }
                HoconItem::Field(field) => field,
            };
            self.path.push(field.path.elements.clone());
            let appends = field.separator == Separator::Append;
            if appends && self.lists > 0 {
                return Err(format!(
                    "String: {}: Due to current limitations of the config parser, += does not \
                     work nested inside a list. += expands to a ${{}} substitution and the path \
                     in ${{}} cannot currently refer to list elements. You might be able to move \
                     the += outside of the list and then refer to it from inside the list with \
                     ${{}}.",
                    self.line
                ));
            }
            self.lists += usize::from(appends);
            let mut part = self.node(&field.value)?;
            self.lists -= usize::from(appends);
            self.place = field.value.range;
            if appends {
                let path = self.path.concat();
                let optional = true;
                let before =
                    Unresolved::new(UnresolvedKind::Reference { path, optional }, part.lines);
                let list = Unresolved::new(UnresolvedKind::List(vec![part.clone()]), part.lines);
                part = concatenate(&[before, list])?.unwrap_or(part);
            }
            self.path.pop();
            for key in field.path.elements[1..].iter().rev() {
                let lines = part.lines;
                part = Unresolved::object(IndexMap::from([(key.clone(), part)]), lines);
            }
            let key = &field.path.elements[0];
            if let Some(existing) = entries.get(key) {
                part = with_fallback(&part, existing)?;
            }
            entries.insert(key.clone(), part);
        }
        Ok(Unresolved::object(entries, LineSpan::at(line)))
    }
}

fn simple(token: &HoconToken) -> Result<UnresolvedRef, String> {
    let kind = match &token.kind {
        HoconTokenKind::Null => UnresolvedKind::Null,
        HoconTokenKind::Bool(truth) => UnresolvedKind::Bool(*truth),
        HoconTokenKind::Number(number) => UnresolvedKind::Number {
            value: match &number.value {
                NumberValue::Float(float) => Value::Float(*float),
                NumberValue::Integer(integer) => Value::from(integer.clone()),
            },
            text: number.text.as_str().into(),
        },
        HoconTokenKind::Quoted(text) => UnresolvedKind::Text {
            text: text.as_str().into(),
            quoted: true,
        },
        HoconTokenKind::Unquoted(text) => UnresolvedKind::Text {
            text: text.as_str().into(),
            quoted: false,
        },
        HoconTokenKind::Substitution { optional, tokens } => {
            let path =
                path(tokens).map_err(|message| format!("String: {}: {message}", token.line))?;
            UnresolvedKind::Reference {
                path: path.elements,
                optional: *optional,
            }
        }
        _ => return Err(format!("{token} is no value")),
    };
    Ok(Unresolved::new(kind, LineSpan::at(token.line)))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
