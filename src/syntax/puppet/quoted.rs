//! Quoted strings and their interpolations (`pops/parser/slurp_support.rb`,
//! `pops/parser/interpolation_support.rb`).

use std::borrow::Cow;

use super::lexer::{Lexed, Lexer, PuppetToken, Terminal};
use super::words::variable;
use super::{MAX_DEPTH, PuppetProblem, TOO_DEEP};

/// The quoting of a text, which decides its end and the meaning of a backslash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quote {
    Single,
    Double,
    /// A heredoc, which ends with its text.
    None(Escapes),
}

/// The escapes and interpolation that a heredoc allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Escapes {
    /// The characters that may follow a backslash, a subset of [`Escapes::KNOWN`].
    pub(super) set: u16,
    pub(super) interpolated: bool,
}

impl Escapes {
    /// `L` is a line's end.
    pub(super) const KNOWN: &'static str = "\\trnsu$L";

    pub(super) fn add(&mut self, escape: char) {
        if let Some(index) = Escapes::KNOWN.find(escape) {
            self.set |= 1 << index;
        }
    }

    pub(super) fn has(self, escape: char) -> bool {
        Escapes::KNOWN
            .find(escape)
            .is_some_and(|index| self.set & (1 << index) != 0)
    }
}

/// The end of a part of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartEnd {
    Quote,
    /// A dollar, which may begin a variable.
    Dollar,
    /// A dollar followed by a brace.
    Brace,
}

/// Ruby's message for an escape of an invalid character.
const NO_CHARACTER: &str = "invalid byte sequence in UTF-8";

impl<'a> Lexer<'a> {
    pub(super) fn single_quoted(&mut self) -> Lexed<PuppetToken<'a>> {
        let start = self.at;
        self.at += 1;
        let Some((text, _)) = self.part(Quote::Single)? else {
            return Err(self.unclosed("\"'\""));
        };
        Ok(self.token(Terminal::Text, text, start, self.at))
    }

    /// A string; `None` if its parts went to the queue.
    pub(super) fn double_quoted(&mut self) -> Lexed<Option<PuppetToken<'a>>> {
        let start = self.at;
        self.scan(1);
        self.parts(Quote::Double, start)
    }

    /// The parts of a string up to its end: a single text, or the queue of parts.
    pub(super) fn parts(&mut self, quote: Quote, start: usize) -> Lexed<Option<PuppetToken<'a>>> {
        let mut start = start;
        let mut terminal = Terminal::Opening;
        loop {
            let (mut text, mut stop) = self.closed_part(quote)?;
            let mut after = self.at;
            loop {
                match stop {
                    PartEnd::Quote if terminal == Terminal::Opening => {
                        return Ok(Some(self.token(Terminal::Text, text, start, self.at)));
                    }
                    PartEnd::Quote => {
                        let last = self.token(Terminal::Closing, text, start, self.at);
                        self.queue.push_back(last);
                        return Ok(None);
                    }
                    PartEnd::Brace => {
                        let part = self.token(terminal, text, start, self.at);
                        self.queue.push_back(part);
                        let braces = self.braces;
                        self.braces += 1;
                        if self.interpolations >= MAX_DEPTH {
                            return Err(PuppetProblem::new(TOO_DEEP));
                        }
                        self.interpolations += 1;
                        self.until_brace(braces)?;
                        self.interpolations -= 1;
                        break;
                    }
                    PartEnd::Dollar => {
                        let length = variable(self.rest());
                        if length > 0 {
                            let name = self.scan(length);
                            let part = self.token(terminal, text, start, after - 1);
                            self.queue.push_back(part);
                            let name = self.token(Terminal::Variable, name, after - 1, self.at);
                            self.queue.push_back(name);
                            break;
                        }
                        // A dollar without a name is a literal dollar.
                        self.matched = "";
                        let (more, end) = self.closed_part(quote)?;
                        text = Cow::Owned(format!("{text}${more}"));
                        stop = end;
                        after = self.at;
                    }
                }
            }
            start = self.at;
            terminal = Terminal::Middle;
        }
    }

    /// Queues the tokens of an interpolation, up to its closing brace.
    fn until_brace(&mut self, braces: i64) -> Lexed<()> {
        self.skip_blanks();
        let first = self.queue.len();
        while !self.at_end() {
            let queued = self.queue.len();
            let Some(token) = self.next()? else {
                // The parts of an inner string are already queued.
                if self.queue.len() == queued || self.queue[queued].terminal == Terminal::Heredoc {
                    self.skip_blanks();
                }
                continue;
            };
            self.after = Some(token.terminal);
            if token.terminal == Terminal::Sign("}") && self.braces == braces {
                let alone = self.queue.len() == first + 1;
                let accessed = self
                    .queue
                    .get(first + 1)
                    .is_some_and(|second| matches!(second.terminal, Terminal::Sign("." | "[")));
                if alone || accessed {
                    self.name_to_variable(first);
                }
                return Ok(());
            }
            self.queue.push_back(token);
        }
        Ok(())
    }

    /// `${name}` and `${name[0]}` refer to the variable.
    fn name_to_variable(&mut self, index: usize) {
        if let Some(token) = self.queue.get_mut(index)
            && matches!(
                token.terminal,
                Terminal::Number
                    | Terminal::Name
                    | Terminal::Word
                    | Terminal::Boolean
                    | Terminal::Keyword(_)
            )
        {
            token.terminal = Terminal::Variable;
        }
    }

    fn closed_part(&mut self, quote: Quote) -> Lexed<(Cow<'a, str>, PartEnd)> {
        let last = self.matched;
        if let Some(part) = self.part(quote)? {
            return Ok(part);
        }
        if quote != Quote::Double {
            return Err(PuppetProblem::new(
                "undefined method `length' for nil:NilClass",
            ));
        }
        let after = if last == "'" {
            "\"'\"".to_owned()
        } else {
            format!("'{last}'")
        };
        Err(self.unclosed(&after))
    }

    fn unclosed(&self, after: &str) -> PuppetProblem {
        let follow = self.followed_by();
        let message = format!("Unclosed quote after {after} followed by '{follow}'");
        self.error(&message, self.at)
    }

    /// The next characters, as an error shows them.
    pub(super) fn followed_by(&self) -> String {
        let rest = self.rest();
        if rest.is_empty() {
            return "<eof>".to_owned();
        }
        let mut shown: String = rest.chars().take(5).collect();
        shown.push_str("...");
        shown
            .replace('\t', "\\t")
            .replace('\n', "\\n")
            .replace('\r', "\\r")
    }

    /// The text up to its end, escapes replaced; `None` if it has no end.
    fn part(&mut self, quote: Quote) -> Lexed<Option<(Cow<'a, str>, PartEnd)>> {
        let Some((matched, end, length, stop)) = self.stop(quote) else {
            self.matched = "";
            return Ok(None);
        };
        self.matched = &self.text[matched..end];
        let raw = &self.text[self.at..end];
        self.at = end;
        if !raw.contains('\\') {
            return Ok(Some((
                Cow::Borrowed(&raw[..raw.len().saturating_sub(length)]),
                stop,
            )));
        }
        let mut text = self.unescape(raw, quote)?;
        text.truncate(text.len().saturating_sub(length));
        Ok(Some((Cow::Owned(text), stop)))
    }

    /// The end of a part: the start of the match of Puppet's pattern, its end, the length of the
    /// terminator, and its kind. The pattern is one character other than a backslash (or the start
    /// of a line), pairs of backslashes, and the terminator.
    fn stop(&self, quote: Quote) -> Option<(usize, usize, usize, PartEnd)> {
        let text = self.text;
        let bytes = text.as_bytes();
        let stops = |at: usize| match (quote, bytes.get(at)) {
            (Quote::Single, Some(b'\'')) | (Quote::Double, Some(b'"')) => Some((1, PartEnd::Quote)),
            (Quote::Double | Quote::None(_), Some(b'$')) => {
                if bytes.get(at + 1) == Some(&b'{') {
                    Some((2, PartEnd::Brace))
                } else {
                    Some((1, PartEnd::Dollar))
                }
            }
            (Quote::None(_), None) => Some((0, PartEnd::Quote)),
            _ => None,
        };
        if let Quote::None(escapes) = quote {
            if !escapes.interpolated {
                return Some((self.at, text.len(), 0, PartEnd::Quote));
            }
            if !escapes.has('$') {
                let at = (self.at..=text.len()).find(|at| stops(*at).is_some())?;
                let (length, stop) = stops(at)?;
                return Some((at, at + length, length, stop));
            }
        }
        let found = |start: usize, from: usize| {
            let mut at = from;
            while bytes.get(at) == Some(&b'\\') && bytes.get(at + 1) == Some(&b'\\') {
                at += 2;
            }
            let (length, stop) = stops(at)?;
            Some((start, at + length, length, stop))
        };
        let mut chars = text[self.at..].char_indices();
        loop {
            let next = chars.next();
            let start = next.map_or(text.len(), |(offset, _)| self.at + offset);
            if let Some((_, c)) = next
                && c != '\\'
                && let Some(end) = found(start, start + c.len_utf8())
            {
                return Some(end);
            }
            if (start == self.at || bytes[start - 1] == b'\n')
                && let Some(end) = found(start, start)
            {
                return Some(end);
            }
            next?;
        }
    }

    fn unescape(&self, raw: &str, quote: Quote) -> Lexed<String> {
        let known = |c: char| match quote {
            Quote::Single => matches!(c, '\\' | '\''),
            Quote::Double => matches!(c, '\\' | '$' | '\'' | '"' | 'r' | 'n' | 't' | 's' | 'u'),
            Quote::None(escapes) => c != 'L' && escapes.has(c),
        };
        let joins = match quote {
            Quote::Single => false,
            Quote::Double => true,
            Quote::None(escapes) => escapes.has('L'),
        };
        let raw = if quote != Quote::Single && known('u') {
            self.unicode(raw)?
        } else {
            raw.to_owned()
        };
        let mut out = String::new();
        let mut chars = raw.chars().peekable();
        while let Some(c) = chars.next() {
            let Some(escaped) = chars.peek().copied().filter(|_| c == '\\') else {
                out.push(c);
                continue;
            };
            match escaped {
                '\n' if joins => {
                    chars.next();
                }
                '\r' => {
                    let mut ahead = chars.clone();
                    ahead.next();
                    if joins && ahead.next() == Some('\n') {
                        chars.next();
                        chars.next();
                    } else {
                        out.push('\\');
                    }
                }
                escaped if known(escaped) => {
                    chars.next();
                    match escaped {
                        'r' if quote != Quote::Single => out.push('\r'),
                        'n' if quote != Quote::Single => out.push('\n'),
                        't' if quote != Quote::Single => out.push('\t'),
                        's' if quote != Quote::Single => out.push(' '),
                        'u' => {
                            self.warned()?;
                            out.push_str("\\u");
                        }
                        other => out.push(other),
                    }
                }
                other => {
                    if quote == Quote::Double {
                        self.warned()?;
                    }
                    chars.next();
                    out.push('\\');
                    out.push(other);
                }
            }
        }
        Ok(out)
    }

    /// Puppet warns of an unknown escape, and crashes if it has no position for the warning.
    fn warned(&self) -> Lexed<()> {
        match self.margins {
            Some(_) => Err(self.error("", self.at)),
            None => Ok(()),
        }
    }

    /// Replaces `\u1234` and `\u{1f600}`.
    fn unicode(&self, raw: &str) -> Lexed<String> {
        let mut out = String::new();
        let mut rest = raw;
        while let Some(at) = rest.find('\\') {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let behind = &rest[1..];
            let digits = |text: &str, most: usize| {
                let hex = |b: &u8| b.is_ascii_hexdigit();
                text.bytes().take(most).take_while(hex).count()
            };
            let code = match behind.strip_prefix('u') {
                Some(code) if digits(code, 4) == 4 => Some((&code[..4], 6)),
                Some(code) if code.starts_with('{') => {
                    let length = digits(&code[1..], 6);
                    (length > 0 && code[1 + length..].starts_with('}'))
                        .then(|| (&code[1..=length], length + 4))
                }
                _ => None,
            };
            if let Some((code, length)) = code {
                let code = u32::from_str_radix(code, 16).ok();
                let Some(c) = code.and_then(char::from_u32) else {
                    return Err(PuppetProblem::new(NO_CHARACTER));
                };
                out.push(c);
                rest = &rest[length..];
            } else {
                // A pair of backslashes is one, whatever follows.
                let length = 1 + behind.chars().next().map_or(0, char::len_utf8);
                out.push_str(&rest[..length]);
                rest = &rest[length..];
            }
        }
        out.push_str(rest);
        Ok(out)
    }
}
