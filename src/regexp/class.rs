//! Translates character classes (`[…]`, `\d` and the like, `[:alpha:]`, `\p{…}`) to the bracket
//! syntax of Rust's engines.
//!
//! Ruby's shorthands are ASCII unless `(?u)` is on, its POSIX brackets and properties are Unicode
//! unless `(?a)` is on.

use super::parse::{Charset, RegexpFailure, RegexpParser};

/// Matches nothing, as an item of a class.
const NOTHING: &str = "[a&&b]";

/// Maximum length searched for the name of a POSIX bracket, as in Onigmo.
const POSIX_NAME_SEARCH: usize = 20;

/// Items for `\d`, `\w`, `\s`, `\h` and their negations, without brackets around.
pub(super) fn shorthand(letter: char, charset: Charset) -> Option<String> {
    let name = match letter.to_ascii_lowercase() {
        'd' => "digit",
        'w' => "word",
        's' => "space",
        'h' => "xdigit",
        _ => return None,
    };
    let items = named(name, charset == Charset::Unicode)?;
    Some(if letter.is_ascii_uppercase() {
        format!("[^{items}]")
    } else {
        items.to_owned()
    })
}

/// Names of POSIX classes, which are also names of properties, with their items in ASCII and in
/// Unicode.
const NAMED: &[(&str, &str, &str)] = &[
    ("alnum", "0-9A-Za-z", r"\p{Alphabetic}\p{Nd}"),
    ("alpha", "A-Za-z", r"\p{Alphabetic}"),
    ("blank", r"\t\x20", r"\t\p{Zs}"),
    ("cntrl", r"\x00-\x1F\x7F", r"\p{Cc}"),
    ("digit", "0-9", r"\p{Nd}"),
    ("graph", r"\x21-\x7E", r"[^\p{White_Space}\p{Cc}\p{Cn}]"),
    ("lower", "a-z", r"\p{Lowercase}"),
    ("print", r"\x20-\x7E", r"[^\p{Cc}\p{Cn}\p{Zl}\p{Zp}]"),
    (
        "punct",
        r"\x21-\x2F\x3A-\x40\x5B-\x60\x7B-\x7E",
        r"\p{P}\x24\x2B\x3C-\x3E\x5E\x60\x7C\x7E",
    ),
    ("space", r"\t\n\x0B\f\r\x20", r"\p{White_Space}"),
    ("upper", "A-Z", r"\p{Uppercase}"),
    ("xdigit", "0-9A-Fa-f", "0-9A-Fa-f"),
    ("word", "0-9A-Za-z_", r"\p{L}\p{M}\p{Nd}\p{Pc}"),
    ("ascii", r"\x00-\x7F", r"\x00-\x7F"),
];

fn named(name: &str, is_unicode: bool) -> Option<&'static str> {
    let (_, ascii, unicode) = NAMED.iter().find(|(known, ..)| *known == name)?;
    Some(if is_unicode { unicode } else { ascii })
}

/// A class of these items.
fn bracketed(items: &str, is_negated: bool) -> String {
    let mark = if is_negated { "^" } else { "" };
    format!("[{mark}{items}]")
}

/// One character as an item of a class.
fn item(c: char) -> String {
    format!("\\x{{{:X}}}", u32::from(c))
}

/// An element of a class: a character that could begin or end a range, or a set.
enum ClassElement {
    Character(char),
    Set(String),
}

impl RegexpParser {
    /// Reads a class after its `[`, through its `]`; the result has brackets.
    pub(super) fn class(&mut self, depth: usize) -> Result<String, RegexpFailure> {
        self.check_depth(depth)?;
        let negated = self.take_if('^');
        let mut operands: Vec<String> = Vec::new();
        let mut items = String::new();
        if self.peek() == Some(']') {
            // A leading bracket is a member if another one can close the class.
            if !self.closing_bracket_follows() {
                return Err(RegexpFailure::ruby("empty char-class"));
            }
            self.next();
            items.push_str(&item(']'));
        }
        loop {
            let Some(c) = self.peek() else {
                return Err(RegexpFailure::ruby("premature end of char-class"));
            };
            if c == ']' {
                self.next();
                break;
            }
            if c == '&' && self.peek_second() == Some('&') {
                self.next();
                self.next();
                operands.push(std::mem::take(&mut items));
                continue;
            }
            match self.class_element(depth)? {
                ClassElement::Character(low) => self.character_or_range(low, &mut items, depth)?,
                ClassElement::Set(set) => {
                    items.push_str(&set);
                    self.check_after_set()?;
                }
            }
        }
        if operands.is_empty() {
            return Ok(bracketed(&items, negated));
        }
        operands.push(items);
        let parts: Vec<String> = operands
            .iter()
            .map(|items| match items.as_str() {
                "" => NOTHING.to_owned(),
                _ => bracketed(items, false),
            })
            .collect();
        Ok(bracketed(&parts.join("&&"), negated))
    }

    /// A set cannot begin a range: `[\d-a]` is refused, `[\d-]` is fine.
    fn check_after_set(&mut self) -> Result<(), RegexpFailure> {
        if self.peek() == Some('-') && !self.range_sign_is_last() && self.set_was_escape {
            return Err(RegexpFailure::ruby(
                "unmatched range specifier in char-class",
            ));
        }
        Ok(())
    }

    /// Whether the next `-` is followed by `]` or `&&`, and so is literal.
    fn range_sign_is_last(&self) -> bool {
        self.peek_second() == Some(']')
            || self.peek_second() == Some('&') && self.peek_third() == Some('&')
    }

    fn character_or_range(
        &mut self,
        low: char,
        items: &mut String,
        depth: usize,
    ) -> Result<(), RegexpFailure> {
        if self.peek() != Some('-') || self.range_sign_is_last() {
            items.push_str(&item(low));
            return Ok(());
        }
        self.next();
        if self.peek().is_none() {
            return Err(RegexpFailure::ruby("premature end of char-class"));
        }
        // `[a-[b]c]`: the inner class is a member of its own, and the range continues after it.
        let mut has_class = false;
        while self.peek() == Some('[') && !self.posix_bracket_follows() {
            if let ClassElement::Set(set) = self.class_element(depth)? {
                items.push_str(&set);
            }
            has_class = true;
        }
        let is_at_end =
            self.peek() == Some(']') || self.peek() == Some('&') && self.peek_second() == Some('&');
        if has_class && is_at_end {
            // `[a-[b]]`: the open range is dropped.
            return Ok(());
        }
        match self.class_element(depth)? {
            ClassElement::Character(high) if high < low => {
                Err(RegexpFailure::ruby("empty range in char class"))
            }
            ClassElement::Character(high) => {
                items.push_str(&format!("{}-{}", item(low), item(high)));
                // `[a-b-c]` contains a literal `-`.
                if self.peek() == Some('-') && !self.range_sign_is_last() {
                    self.next();
                    items.push_str(&item('-'));
                }
                Ok(())
            }
            ClassElement::Set(_) => Err(RegexpFailure::ruby("char-class value at end of range")),
        }
    }

    fn class_element(&mut self, depth: usize) -> Result<ClassElement, RegexpFailure> {
        self.set_was_escape = false;
        match self.next() {
            None => Err(RegexpFailure::ruby("premature end of char-class")),
            Some('[') => {
                if let Some(set) = self.posix_bracket()? {
                    self.set_was_escape = true;
                    return Ok(ClassElement::Set(set));
                }
                Ok(ClassElement::Set(self.class(depth + 1)?))
            }
            Some('\\') => self.class_escape(),
            Some(c) => Ok(ClassElement::Character(c)),
        }
    }

    fn class_escape(&mut self) -> Result<ClassElement, RegexpFailure> {
        let Some(c) = self.next() else {
            return Err(RegexpFailure::ruby("too short escape sequence"));
        };
        if let Some(items) = shorthand(c, self.charset()) {
            self.set_was_escape = true;
            return Ok(ClassElement::Set(items));
        }
        if matches!(c, 'p' | 'P') && self.peek() == Some('{') {
            let set = self.property(c)?;
            self.set_was_escape = true;
            return Ok(ClassElement::Set(set));
        }
        let character = match c {
            'b' => '\u{8}',
            _ => self.character_escape(c)?,
        };
        Ok(ClassElement::Character(character))
    }

    /// Reads `{Name}` of `\p{Name}`; the result is an item of a class.
    pub(super) fn property(&mut self, letter: char) -> Result<String, RegexpFailure> {
        self.next();
        let negated = (letter == 'P') != self.take_if('^');
        let mut name = String::new();
        loop {
            match self.next() {
                Some('}') => break,
                Some(c) => name.push(c),
                None => {
                    return Err(RegexpFailure::Ruby(
                        "invalid character property name {}".to_owned(),
                    ));
                }
            }
        }
        let plain: String = name
            .chars()
            .filter(|c| !matches!(c, ' ' | '_' | '-'))
            .collect::<String>()
            .to_lowercase();
        let items = if let Some(items) = named(&plain, self.properties_are_unicode()) {
            items.to_owned()
        } else {
            let property = format!("\\p{{{name}}}");
            let known = !plain.is_empty()
                && name
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"_- ".contains(&b))
                && regex::Regex::new(&property).is_ok();
            if !known {
                return Err(RegexpFailure::Ruby(format!(
                    "invalid character property name {{{name}}}"
                )));
            }
            property
        };
        Ok(bracketed(&items, negated))
    }

    /// Whether `[:name:]` is next, with the `[` not read yet.
    fn posix_bracket_follows(&self) -> bool {
        self.peek_second() == Some(':') && self.posix_end(2).is_some()
    }

    /// The position of `:]`, counted from `offset` characters ahead; another colon or bracket ends
    /// the search.
    fn posix_end(&self, offset: usize) -> Option<usize> {
        let is_end = |i: &usize| matches!(self.ahead(offset + i), Some(':' | ']') | None);
        let end = (0..POSIX_NAME_SEARCH).find(is_end)?;
        let closes =
            self.ahead(offset + end) == Some(':') && self.ahead(offset + end + 1) == Some(']');
        closes.then_some(end)
    }

    /// Reads `:name:]` after its `[`, if present.
    fn posix_bracket(&mut self) -> Result<Option<String>, RegexpFailure> {
        if self.peek() != Some(':') {
            return Ok(None);
        }
        let Some(length) = self.posix_end(1) else {
            return Ok(None);
        };
        self.next();
        let negated = length > 0 && self.take_if('^');
        let letters = length - usize::from(negated);
        let name: String = (0..letters).filter_map(|_| self.next()).collect();
        self.position += ":]".len();
        let Some(items) = named(&name, self.properties_are_unicode()) else {
            return Err(RegexpFailure::ruby("invalid POSIX bracket type"));
        };
        Ok(Some(bracketed(items, negated)))
    }

    /// Whether another unescaped `]` follows the next one.
    fn closing_bracket_follows(&self) -> bool {
        let mut offset = 1;
        loop {
            match self.ahead(offset) {
                None => return false,
                Some(']') => return true,
                Some('\\') => offset += 2,
                Some(_) => offset += 1,
            }
        }
    }
}
