//! Parses the text of a Ruby pattern into a tree, with Onigmo's error messages.

mod group;

use super::class::shorthand;
use super::syntax::{Anchor, Case, Greed, RegexpNode};

/// Maximum nesting of groups and classes: far beyond what people write, and small enough for every
/// recursion over the tree.
const MAX_DEPTH: usize = 120;

/// Maximum number of repetitions a quantifier may ask for, as in Onigmo.
const MAX_REPEAT: u32 = 100_000;

#[derive(Debug, PartialEq)]
pub(super) enum RegexpFailure {
    /// Ruby refuses the pattern with this message.
    Ruby(String),
    /// Ruby may accept it, but it is not supported here.
    Unsupported(String),
}

impl RegexpFailure {
    pub(super) fn ruby(message: &str) -> RegexpFailure {
        RegexpFailure::Ruby(message.to_owned())
    }
}

/// The character set of `\d`, `[[:alpha:]]` and the like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Charset {
    /// Ruby's default `(?d)`: shorthands are ASCII, POSIX brackets Unicode.
    Mixed,
    /// `(?a)`
    Ascii,
    /// `(?u)`
    Unicode,
}

/// Options that apply from a position in a pattern to the end of the group.
#[derive(Clone, Copy, Debug)]
struct GroupOptions {
    case: Case,
    dot_newline: bool,
    extended: bool,
    charset: Charset,
}

#[derive(Debug)]
pub(super) struct ParsedRegexp {
    pub(super) root: RegexpNode,
    /// Names of groups with their numbers, in the order of their opening.
    pub(super) names: Vec<(String, usize)>,
    /// The number of capturing groups.
    pub(super) groups: usize,
}

/// The parser; classes are parsed in `class.rs`.
pub(super) struct RegexpParser {
    chars: Vec<char>,
    pub(super) position: usize,
    options: GroupOptions,
    groups: usize,
    names: Vec<(String, usize)>,
    numbered_reference: bool,
    /// References to check when all groups are known.
    pending: Vec<Pending>,
    pub(super) set_was_escape: bool,
}

enum Pending {
    Number(usize),
    CallNumber(usize),
}

/// Parses a pattern whose escapes are already replaced.
pub(super) fn parse(text: &str) -> Result<ParsedRegexp, RegexpFailure> {
    let chars: Vec<char> = text.chars().collect();
    let names = collect_names(&chars);
    let mut parser = RegexpParser {
        chars,
        position: 0,
        options: GroupOptions {
            case: Case::Exact,
            dot_newline: false,
            extended: false,
            charset: Charset::Mixed,
        },
        groups: 0,
        names,
        numbered_reference: false,
        pending: Vec::new(),
        set_was_escape: false,
    };
    let root = parser.alternatives(0)?;
    if parser.peek().is_some() {
        return Err(RegexpFailure::ruby("unmatched close parenthesis"));
    }
    if parser.numbered_reference && !parser.names.is_empty() {
        return Err(RegexpFailure::ruby(
            "numbered backref/call is not allowed. (use name)",
        ));
    }
    for pending in &parser.pending {
        match pending {
            Pending::Number(n) if *n > parser.groups => {
                return Err(RegexpFailure::ruby("invalid backref number/name"));
            }
            Pending::CallNumber(n) if *n > parser.groups => {
                return Err(RegexpFailure::Ruby(format!(
                    "undefined group <{n}> reference"
                )));
            }
            Pending::Number(_) | Pending::CallNumber(_) => {}
        }
    }
    Ok(ParsedRegexp {
        root,
        names: parser.names,
        groups: parser.groups,
    })
}

/// Names of all groups with their numbers. Needed before parsing, because plain groups do not
/// capture if there is a named one.
fn collect_names(chars: &[char]) -> Vec<(String, usize)> {
    let mut names = Vec::new();
    let mut i = 0;
    let mut class_depth = 0usize;
    while i < chars.len() {
        match chars[i] {
            '\\' => i += 1,
            '[' => class_depth += 1,
            ']' => class_depth = class_depth.saturating_sub(1),
            '(' if class_depth == 0 && chars.get(i + 1) == Some(&'?') => {
                let close = match chars.get(i + 2) {
                    Some('<') if !matches!(chars.get(i + 3), Some('=' | '!') | None) => Some('>'),
                    Some('\'') => Some('\''),
                    _ => None,
                };
                if let Some(close) = close {
                    let name: String = chars[i + 3..].iter().take_while(|c| **c != close).collect();
                    names.push((name, names.len() + 1));
                }
            }
            _ => {}
        }
        i += 1;
    }
    names
}

impl RegexpParser {
    pub(super) fn peek(&self) -> Option<char> {
        self.ahead(0)
    }

    pub(super) fn peek_second(&self) -> Option<char> {
        self.ahead(1)
    }

    pub(super) fn peek_third(&self) -> Option<char> {
        self.ahead(2)
    }

    pub(super) fn ahead(&self, offset: usize) -> Option<char> {
        self.chars.get(self.position + offset).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.position += 1;
        Some(c)
    }

    pub(super) fn take_if(&mut self, expected: char) -> bool {
        let taken = self.peek() == Some(expected);
        self.position += usize::from(taken);
        taken
    }

    pub(super) fn charset(&self) -> Charset {
        self.options.charset
    }

    /// Whether POSIX brackets and properties are Unicode: by default.
    pub(super) fn properties_are_unicode(&self) -> bool {
        self.options.charset != Charset::Ascii
    }

    pub(super) fn check_depth(&self, depth: usize) -> Result<(), RegexpFailure> {
        if depth > MAX_DEPTH {
            return Err(RegexpFailure::Unsupported(format!(
                "groups are nested more than {MAX_DEPTH} deep"
            )));
        }
        Ok(())
    }

    fn alternatives(&mut self, depth: usize) -> Result<RegexpNode, RegexpFailure> {
        self.check_depth(depth)?;
        let mut branches = vec![self.sequence(depth)?];
        while self.take_if('|') {
            branches.push(self.sequence(depth)?);
        }
        Ok(joined(branches, RegexpNode::Alternatives))
    }

    fn sequence(&mut self, depth: usize) -> Result<RegexpNode, RegexpFailure> {
        let mut parts = Vec::new();
        loop {
            self.skip_extended();
            if matches!(self.peek(), None | Some('|' | ')')) {
                break;
            }
            if !self.comment()? {
                let atom = self.atom(depth)?;
                parts.push(self.quantifiers(atom, depth)?);
            }
        }
        Ok(joined(parts, RegexpNode::Sequence))
    }

    fn skip_extended(&mut self) {
        if !self.options.extended {
            return;
        }
        while let Some(c) = self.peek() {
            if c == '#' {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.next();
                }
            } else if c.is_ascii_whitespace() || c == '\u{b}' {
                self.next();
            } else {
                break;
            }
        }
    }

    /// Skips `(?#…)`.
    fn comment(&mut self) -> Result<bool, RegexpFailure> {
        if self.peek() != Some('(')
            || self.peek_second() != Some('?')
            || self.peek_third() != Some('#')
        {
            return Ok(false);
        }
        loop {
            match self.next() {
                None => return Err(RegexpFailure::ruby("end pattern in group")),
                Some('\\') => {
                    self.next();
                }
                Some(')') => return Ok(true),
                Some(_) => {}
            }
        }
    }

    /// Reads one item that a quantifier could follow.
    fn atom(&mut self, depth: usize) -> Result<RegexpNode, RegexpFailure> {
        let start = self.position;
        let Some(c) = self.next() else {
            return Ok(RegexpNode::Empty);
        };
        Ok(match c {
            '(' => return self.group(depth),
            '[' => RegexpNode::Class(self.class(depth + 1)?, self.options.case),
            '.' => RegexpNode::Any {
                newline: self.options.dot_newline,
            },
            '^' => RegexpNode::Anchor(Anchor::LineStart),
            '$' => RegexpNode::Anchor(Anchor::LineEnd),
            '*' | '+' | '?' => return Err(no_target()),
            '{' => {
                self.position = start;
                if self.interval()?.is_some() {
                    return Err(no_target());
                }
                self.next();
                self.literal('{')
            }
            '\\' => self.escape()?,
            other => self.literal(other),
        })
    }

    fn literal(&self, c: char) -> RegexpNode {
        RegexpNode::Literal(c, self.options.case)
    }

    fn quantifiers(
        &mut self,
        mut node: RegexpNode,
        depth: usize,
    ) -> Result<RegexpNode, RegexpFailure> {
        let mut count = 0;
        loop {
            self.skip_extended();
            while self.comment()? {
                self.skip_extended();
            }
            let (min, max, interval) = match self.peek() {
                Some('*') => (0, None, false),
                Some('+') => (1, None, false),
                Some('?') => (0, Some(1), false),
                Some('{') => match self.interval()? {
                    Some((min, max)) => (min, max, true),
                    None => return Ok(node),
                },
                _ => return Ok(node),
            };
            if !interval {
                self.next();
            }
            // `{n}?` means "n times or not at all" in Ruby, and `+` after braces repeats again.
            let greed = if interval && max == Some(min) {
                Greed::Greedy
            } else if self.take_if('?') {
                Greed::Lazy
            } else if !interval && self.take_if('+') {
                Greed::Possessive
            } else {
                Greed::Greedy
            };
            count += 1;
            self.check_depth(depth + count)?;
            node = RegexpNode::Repeat {
                body: Box::new(node),
                min,
                max,
                greed,
            };
        }
    }

    /// Reads `{n}`, `{n,}`, `{,m}` or `{n,m}`; anything else in braces is literal text.
    fn interval(&mut self) -> Result<Option<(u32, Option<u32>)>, RegexpFailure> {
        let start = self.position;
        self.next();
        let min = self.number()?;
        let max = if self.take_if(',') {
            self.number()?
        } else {
            min
        };
        if min.or(max).is_none() || !self.take_if('}') {
            self.position = start;
            return Ok(None);
        }
        let min = min.unwrap_or(0);
        if max.is_some_and(|max| max < min) {
            return Err(RegexpFailure::ruby(
                "upper is smaller than lower in repeat range",
            ));
        }
        Ok(Some((min, max)))
    }

    fn number(&mut self) -> Result<Option<u32>, RegexpFailure> {
        let mut value: Option<u32> = None;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            self.next();
            let next = value.unwrap_or(0) * 10 + digit;
            if next > MAX_REPEAT {
                return Err(RegexpFailure::ruby("too big number for repeat range"));
            }
            value = Some(next);
        }
        Ok(value)
    }

    fn escape(&mut self) -> Result<RegexpNode, RegexpFailure> {
        let Some(c) = self.next() else {
            return Err(RegexpFailure::ruby("too short escape sequence"));
        };
        let case = self.options.case;
        if let Some(items) = shorthand(c, self.options.charset) {
            return Ok(RegexpNode::Class(format!("[{items}]"), case));
        }
        let ascii = self.options.charset == Charset::Ascii;
        Ok(match c {
            'A' => RegexpNode::Anchor(Anchor::TextStart),
            'Z' => RegexpNode::Anchor(Anchor::TextEndOrNewline),
            'z' => RegexpNode::Anchor(Anchor::TextEnd),
            'G' => RegexpNode::Anchor(Anchor::SearchStart),
            'b' => RegexpNode::Anchor(Anchor::WordBoundary { ascii }),
            'B' => RegexpNode::Anchor(Anchor::NotWordBoundary { ascii }),
            'K' => RegexpNode::Keep,
            'X' => RegexpNode::Grapheme,
            'R' => RegexpNode::Atomic(Box::new(RegexpNode::Alternatives(vec![
                RegexpNode::Sequence(vec![
                    RegexpNode::Literal('\r', Case::Exact),
                    RegexpNode::Literal('\n', Case::Exact),
                ]),
                RegexpNode::Class(
                    r"[\n\x0B\f\r\x{85}\x{2028}\x{2029}]".to_owned(),
                    Case::Exact,
                ),
            ]))),
            'p' | 'P' if self.peek() == Some('{') => RegexpNode::Class(self.property(c)?, case),
            'k' if matches!(self.peek(), Some('<' | '\'')) => {
                let name = self.reference_name()?;
                let groups = self.referred(&name)?;
                self.pending
                    .extend(groups.iter().map(|n| Pending::Number(*n)));
                if groups == [0] {
                    return Err(RegexpFailure::ruby("invalid backref number/name"));
                }
                RegexpNode::Backreference(groups, case)
            }
            'g' if matches!(self.peek(), Some('<' | '\'')) => {
                let name = self.reference_name()?;
                let groups = self.referred(&name)?;
                let group = groups.first().copied().unwrap_or_default();
                self.pending.push(Pending::CallNumber(group));
                RegexpNode::Call(group)
            }
            '1'..='9' => return self.backreference_or_octal(c),
            other => {
                let character = self.character_escape(other)?;
                self.literal(character)
            }
        })
    }

    fn backreference_or_octal(&mut self, first: char) -> Result<RegexpNode, RegexpFailure> {
        let start = self.position - 1;
        let mut number = 0usize;
        self.position = start;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            self.next();
            number = number.saturating_mul(10).saturating_add(digit as usize);
        }
        if number <= 9 || number <= self.groups {
            self.numbered_reference = true;
            self.pending.push(Pending::Number(number));
            return Ok(RegexpNode::Backreference(vec![number], self.options.case));
        }
        self.position = start + 1;
        let character = self.character_escape(first)?;
        Ok(self.literal(character))
    }

    /// The character of an escape whose letter is already read.
    pub(super) fn character_escape(&mut self, c: char) -> Result<char, RegexpFailure> {
        Ok(match c {
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'a' => '\u{7}',
            'e' => '\u{1b}',
            // Two digits are guaranteed: the escapes were replaced.
            'x' => char::from_u32(self.two_digits(0, 16)).unwrap_or('\0'),
            '0'..='7' => {
                let value = self.two_digits(c.to_digit(8).unwrap_or(0), 8);
                if value > 0x7f {
                    return Err(RegexpFailure::ruby("invalid escape code"));
                }
                char::from_u32(value).unwrap_or('\0')
            }
            other => other,
        })
    }

    /// The number with up to two more digits.
    fn two_digits(&mut self, mut value: u32, radix: u32) -> u32 {
        for _ in 0..2 {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else {
                break;
            };
            self.next();
            value = value * radix + digit;
        }
        value
    }
}

/// A single node unchanged, several as one node.
fn joined(mut nodes: Vec<RegexpNode>, all: fn(Vec<RegexpNode>) -> RegexpNode) -> RegexpNode {
    match nodes.len() {
        0 => RegexpNode::Empty,
        1 => nodes.remove(0),
        _ => all(nodes),
    }
}

fn no_target() -> RegexpFailure {
    RegexpFailure::ruby("target of repeat operator is not specified")
}

fn unmatched_open() -> RegexpFailure {
    RegexpFailure::ruby("end pattern with unmatched parenthesis")
}

fn invalid_name(name: &str) -> RegexpFailure {
    RegexpFailure::Ruby(format!("invalid group name <{name}>"))
}
