//! `@(END)`: a text that begins on the next line (`pops/parser/heredoc_support.rb`).

use std::sync::LazyLock;

use regex::Regex;

use super::lexer::{Lexed, Lexer, PuppetToken, Terminal};
use super::quoted::{Escapes, Quote};
use super::words::is_blank;

/// The positions of a heredoc's lines in the whole text.
#[derive(Debug)]
pub(super) struct Margins {
    start: usize,
    /// The start of each line, and the length of all margins removed up to its end; empty without
    /// a margin.
    lines: Vec<(usize, usize)>,
}

impl Margins {
    pub(super) fn in_whole(&self, start: usize, end: usize) -> (usize, usize) {
        let cut = |at: usize| {
            let line = self.lines.iter().rev().find(|(line, _)| *line <= at);
            line.map_or(0, |(_, cut)| *cut)
        };
        let first = if start == 0 {
            self.start
        } else {
            start + self.start + cut(start)
        };
        (first, first + (end - start) + cut(end) - cut(start))
    }
}

/// `@(tag:syntax/escapes)`, which may start in the middle of the text.
#[expect(clippy::unwrap_used, reason = "the pattern is known")]
static SPECIFICATION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x) @\( (?<tag>[^:/\r\n]+)
        (?: : [\t\p{Zs}]* (?<syntax>[a-z][0-9A-Za-z_+]+) [\t\p{Zs}]* )?
        (?: / (?<escapes>[0-9A-Za-z_$]*) [\t\p{Zs}]* )? \) \z",
    )
    .unwrap()
});

struct EndLine<'a> {
    leading: &'a str,
    margin: bool,
    joined: bool,
}

impl Lexer<'_> {
    /// The tokens of a heredoc, whose text starts after this line.
    pub(super) fn heredoc(&mut self) -> Lexed<()> {
        let start = self.at;
        let rest = self.rest();
        let Some(close) = rest.find(')') else {
            let message = format!(
                "Unclosed parenthesis after '@(' followed by '{}'",
                self.followed_by()
            );
            return Err(self.error(&message, start));
        };
        self.scan(close + 1);
        let behind = self.at;
        let Some(found) = SPECIFICATION.captures(&rest[..=close]) else {
            let message = "Invalid syntax in heredoc expected @(endtag[:syntax][/escapes])";
            return Err(self.error(message, behind));
        };
        let part = |name| found.name(name).map(|part| part.as_str());
        let tag = part("tag").unwrap_or_default().trim_matches(is_stripped);
        let quoted = tag
            .strip_prefix('"')
            .and_then(|tag| tag.strip_suffix('"'))
            .map(|tag| tag.trim_matches(is_stripped));
        let interpolated = quoted.is_some();
        let tag = quoted.unwrap_or(tag);
        if tag.is_empty() {
            return Err(self.error("Heredoc with an empty endtag", behind));
        }
        let escapes = self.escapes(part("escapes"), interpolated, behind)?;
        let syntax = part("syntax").unwrap_or_default();
        let opening = self.token(Terminal::Heredoc, syntax, start, behind);
        self.queue.push_back(opening);

        let first = match self.newline_jump {
            Some(line) => line,
            None => match self.rest().find('\n') {
                Some(end) => behind + end + 1,
                None => {
                    let message = "Heredoc without any following lines of text";
                    return Err(self.error(message, behind));
                }
            },
        };
        let endless = self.error("Heredoc without end-tagged line", first);
        if self.margins.is_some() {
            return Err(endless);
        }
        let mut lines = Vec::new();
        let mut at = first;
        while at < self.text.len() {
            let line = &self.text[at..];
            let line = &line[..line.find('\n').map_or(line.len(), |end| end + 1)];
            at += line.len();
            let Some(end) = end_line(line, tag) else {
                lines.push(line);
                continue;
            };
            self.newline_jump = Some(at);
            let (text, margins) = joined(&lines, &end, first);
            let length = at - line.len() - first;
            let place = self.token(Terminal::Sublocated, "", first, first + length);
            self.queue.push_back(place);
            let mut inner = Lexer::new(&text, 0, Some(&margins));
            let whole = inner.parts(Quote::None(escapes), 0)?;
            let tokens = inner.queue.drain(..).chain(whole);
            self.queue.extend(tokens.map(PuppetToken::into_owned));
            self.at = behind;
            return Ok(());
        }
        Err(endless)
    }

    fn escapes(&self, written: Option<&str>, interpolated: bool, behind: usize) -> Lexed<Escapes> {
        let mut escapes = Escapes {
            set: 0,
            interpolated,
        };
        let Some(written) = written else {
            return Ok(escapes);
        };
        let written = if written.is_empty() {
            "trnsuL$"
        } else {
            written
        };
        let twice = |c: char| written.matches(c).count() > 1;
        if written.chars().any(twice) {
            let shown: Vec<String> = written.chars().map(String::from).collect();
            let message = format!(
                "An escape char for @() may only appear once. Got '{}'",
                shown.join(", ")
            );
            return Err(self.error(&message, behind));
        }
        escapes.add('\\');
        for c in written.chars() {
            if !"trnsuL$".contains(c) {
                let message = format!(
                    "Invalid heredoc escape char. Only t, r, n, s,  u, L, $ allowed. Got '{c}'"
                );
                return Err(self.error(&message, behind));
            }
            escapes.add(c);
        }
        Ok(escapes)
    }
}

/// The characters that Ruby's `strip` removes.
fn is_stripped(c: char) -> bool {
    matches!(c, '\0' | '\t'..='\r' | ' ')
}

/// The end of a heredoc, which may follow other text on its line.
fn end_line<'a>(line: &'a str, tag: &str) -> Option<EndLine<'a>> {
    let mut blank = false;
    line.char_indices().find_map(|(at, c)| {
        // Blanks after a blank give the same result.
        let seen = blank;
        blank = is_blank(c);
        if seen && blank {
            return None;
        }
        let text = &line[at..];
        let rest = text.trim_start_matches(is_blank);
        let leading = &text[..text.len() - rest.len()];
        // A mark may be part of the tag.
        [(true, true), (true, false), (false, true), (false, false)]
            .into_iter()
            .find_map(|(margin, joined)| {
                let rest = marked(rest, '|', margin)?;
                let rest = marked(rest, '-', joined)?.strip_prefix(tag)?;
                let rest = rest.trim_start_matches(is_blank);
                let rest = rest.strip_prefix('\r').unwrap_or(rest);
                (rest.is_empty() || rest.starts_with('\n')).then_some(EndLine {
                    leading,
                    margin,
                    joined,
                })
            })
    })
}

/// The text after a mark and blanks; the whole text without a mark.
fn marked(text: &str, mark: char, is_marked: bool) -> Option<&str> {
    if !is_marked {
        return Some(text);
    }
    Some(text.strip_prefix(mark)?.trim_start_matches(is_blank))
}

/// The text of the lines without their margin, and its map to the whole text.
fn joined(lines: &[&str], end: &EndLine<'_>, start: usize) -> (String, Margins) {
    let mut text = String::new();
    let mut margins = Margins {
        start,
        lines: Vec::new(),
    };
    let mut cut = 0;
    for line in lines {
        let kept = if end.margin && !end.leading.is_empty() {
            line.strip_prefix(end.leading).unwrap_or(line)
        } else {
            line
        };
        cut += line.len() - kept.len();
        if end.margin {
            margins.lines.push((text.len(), cut));
        }
        text.push_str(kept);
    }
    if end.joined {
        let length = text
            .strip_suffix('\n')
            .map(|t| t.strip_suffix('\r').unwrap_or(t).len());
        text.truncate(length.unwrap_or(text.len()));
    }
    (text, margins)
}
