//! The content of a hover, and its output as Markdown, as short lines of Markdown for terminal
//! clients, and as plain text.

use super::{Hover, HoverForm, HoverOptions, Link};
use crate::ide::markdown::{code_span, in_markdown, longest_run};
use crate::text::TextRange;

/// A piece of a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    Text(String),
    /// The name of the described thing.
    Name(String),
    /// Text as in a file.
    Code(String),
    Place {
        label: String,
        path: String,
        line: u32,
    },
    /// An action: a link's label and target, and instructions for clients that do not run commands
    /// from links.
    Action {
        label: &'static str,
        link: Option<String>,
        words: String,
    },
}

pub(super) type Line = Vec<Piece>;

#[derive(Clone, Debug, PartialEq)]
enum Block {
    Line(Line),
    /// Links that run commands; only for clients that support them.
    Links(Line),
    Value {
        lines: Vec<String>,
        whole: Whole,
    },
}

/// How to see all of a shortened value or page.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Whole {
    /// The target of a link, for clients that support it.
    pub(super) link: Option<String>,
    /// Other ways in words, the best first; the first that fits is shown.
    pub(super) words: Vec<String>,
    /// Whether single lines of the value are shortened.
    pub(super) is_shortened: bool,
}

impl Whole {
    /// The comment in place of lines that are left out, with a way to see them.
    fn mark(&self, left_out: usize, is_linked: bool) -> String {
        let mark = match left_out {
            0 => "# shortened".to_owned(),
            1 => "# … 1 more line".to_owned(),
            count => format!("# … {count} more lines"),
        };
        if is_linked {
            return mark;
        }
        let ways = self.words.iter().map(|words| format!("{mark}: {words}"));
        let mut fitting = ways.filter(|way| way.chars().count() <= WIDTH);
        fitting.next().unwrap_or(mark)
    }
}

/// The content of a hover.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Page {
    blocks: Vec<Block>,
    /// How to see dropped lines.
    rest: Whole,
}

/// Maximum width of the text forms, in characters: values are indented by two, and some lines of
/// Markdown end in two blanks.
pub(super) const WIDTH: usize = 98;

/// A long hover keeps at least this many lines of a value.
const LEAST_VALUE: usize = 8;

pub(super) fn text(words: impl Into<String>) -> Piece {
    Piece::Text(words.into())
}

/// Text as in a file.
pub(super) fn code(words: impl Into<String>) -> Piece {
    Piece::Code(words.into())
}

/// The name of the described thing.
pub(super) fn name(words: impl Into<String>) -> Piece {
    Piece::Name(words.into())
}

/// A line without markup.
pub(super) fn plain_words(line: &Line) -> String {
    let words = line
        .iter()
        .map(|piece| write_piece(piece, Form::Plain(WIDTH)));
    words.collect()
}

pub(super) fn joined(items: impl IntoIterator<Item = Line>, separator: &str) -> Line {
    let mut line = Line::new();
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            line.push(text(separator));
        }
        line.extend(item);
    }
    line
}

impl Page {
    pub(super) fn line(&mut self, line: Line) {
        if !line.is_empty() {
            self.blocks.push(Block::Line(line));
        }
    }

    /// Adds a line of links, for clients that support them.
    pub(super) fn link_line(&mut self, line: Line) {
        if !line.is_empty() {
            self.blocks.push(Block::Links(line));
        }
    }

    /// Adds a line right below the first one.
    pub(super) fn second_line(&mut self, line: Line) {
        if !line.is_empty() {
            let at = self.blocks.len().min(1);
            self.blocks.insert(at, Block::Line(line));
        }
    }

    pub(super) fn value(&mut self, lines: Vec<String>, whole: Whole) {
        if !lines.is_empty() {
            self.blocks.push(Block::Value { lines, whole });
        }
    }

    pub(super) fn rest(&mut self, rest: Whole) {
        self.rest = rest;
    }

    /// The page in the requested forms.
    pub(super) fn hover(&self, range: TextRange, options: &HoverOptions<'_>) -> Hover {
        let write = |which: HoverForm, form: Form<'_>| match options.form {
            Some(wanted) if wanted != which => String::new(),
            Some(_) | None => self.write(form, options.max_lines),
        };
        Hover {
            range,
            markdown: write(HoverForm::Markdown, Form::Markdown(options.link)),
            aligned: write(HoverForm::Aligned, Form::Aligned),
            plain: write(HoverForm::Plain, Form::Plain(options.width)),
        }
    }

    /// The page as a YAML document: the value, with the rest in comments.
    pub(super) fn document(&self) -> String {
        let mut text = self.write(Form::Document, usize::MAX);
        text.push('\n');
        text
    }

    /// The page in one form, of at most `max` lines: first long values lose their middle, then
    /// lines at the end are dropped.
    fn write(&self, form: Form<'_>, max: usize) -> String {
        let mut parts: Vec<Part<'_>> = self
            .blocks
            .iter()
            .map(|block| match block {
                Block::Line(line) => Part::Words(write_line(line, form)),
                Block::Links(line) => Part::Words(match form {
                    Form::Markdown(_) => write_line(line, form),
                    Form::Aligned | Form::Plain(_) | Form::Document => Vec::new(),
                }),
                Block::Value { lines, whole } => Part::Value(lines.iter().collect(), whole, None),
            })
            .collect();
        let words: usize = parts.iter().map(Part::lines_of_words).sum();
        let least = LEAST_VALUE.min(max.saturating_mul(2) / 5);
        let most = max.saturating_sub(words).max(least);
        for part in &mut parts {
            part.cut(most, max);
        }
        let mut dropped = 0;
        while parts.len() > 1
            && parts.iter().map(Part::lines).sum::<usize>() + usize::from(dropped > 0) > max
            && let Some(Part::Words(last)) = parts.last()
        {
            dropped += last.len();
            parts.pop();
        }
        let mut out = String::new();
        let mut after_line = false;
        for part in &parts {
            match part {
                Part::Words(lines) => {
                    for (at, line) in lines.iter().enumerate() {
                        match at {
                            0 => add_line(&mut out, line, after_line, form),
                            _ => add_rest(&mut out, line, form),
                        }
                        after_line = true;
                    }
                }
                Part::Value(lines, whole, cut) => {
                    after_line = add_value(&mut out, lines, whole, *cut, form);
                }
            }
        }
        if dropped > 0 {
            let count = if dropped == 1 { "line" } else { "lines" };
            let mut rest = format!("… {dropped} more {count}");
            match (&self.rest.link, form, self.rest.words.first()) {
                (Some(link), Form::Markdown(_), _) => rest = format!("[{rest}]({link})"),
                (_, _, Some(words)) => rest = format!("{rest}: {words}"),
                (_, _, None) => {}
            }
            add_line(&mut out, &rest, after_line, form);
        }
        out
    }
}

enum Part<'p> {
    Words(Vec<String>),
    /// The lines that are kept, and the gap in them.
    Value(Vec<&'p String>, &'p Whole, Option<Cut>),
}

#[derive(Clone, Copy, Debug)]
struct Cut {
    /// The number of lines before them.
    head: usize,
    /// Their number.
    left_out: usize,
}

impl Part<'_> {
    fn lines_of_words(&self) -> usize {
        match self {
            Part::Words(lines) => lines.len(),
            Part::Value(..) => 0,
        }
    }

    fn lines(&self) -> usize {
        match self {
            Part::Words(lines) => lines.len(),
            Part::Value(lines, whole, cut) => {
                lines.len() + usize::from(cut.is_some() || whole.is_shortened)
            }
        }
    }

    /// Drops the middle of a long value. The tail starts at an unindented line, so that no line
    /// seems to belong to another key.
    fn cut(&mut self, most: usize, max: usize) {
        let Part::Value(lines, whole, cut) = self else {
            return;
        };
        if max == usize::MAX || lines.len() + usize::from(whole.is_shortened) <= most {
            return;
        }
        let kept = most.saturating_sub(1).max(2);
        let at_left = |line: &&String| !line.starts_with(' ');
        let last = &lines[lines.len() - kept / 3..];
        let tail = last.iter().position(at_left);
        let tail = tail.map_or(0, |at| last.len() - at);
        let head = kept - tail;
        let left_out = lines.len() - kept;
        lines.drain(head..head + left_out);
        *cut = Some(Cut { head, left_out });
    }
}

fn add_line(out: &mut String, line: &str, after_line: bool, form: Form<'_>) {
    if !out.is_empty() {
        match (after_line, form) {
            // Two blanks at the end of a line are Markdown's line break.
            (true, Form::Markdown(_) | Form::Aligned) => out.push_str("  \n"),
            (true, Form::Plain(_) | Form::Document) | (false, _) => out.push('\n'),
        }
    }
    if let Form::Document = form {
        out.push_str("# ");
    }
    out.push_str(line);
}

/// Adds the rest of a broken line. The line break is soft in Markdown (without two blanks before
/// it): clients that render Markdown join the lines again.
fn add_rest(out: &mut String, line: &str, form: Form<'_>) {
    out.push('\n');
    if let Form::Document = form {
        out.push_str("# ");
    }
    out.push_str(line);
}

/// Adds a value with the mark of omitted lines; returns whether a link follows it.
fn add_value(
    out: &mut String,
    lines: &[&String],
    whole: &Whole,
    cut: Option<Cut>,
    form: Form<'_>,
) -> bool {
    let is_markdown = matches!(form, Form::Markdown(_));
    let link = whole.link.as_ref().filter(|_| is_markdown);
    let mut lines: Vec<&str> = lines.iter().map(|line| line.as_str()).collect();
    let mark;
    let is_cut = cut.is_some();
    let is_shortened = whole.is_shortened && !matches!(form, Form::Document);
    if is_cut || (is_shortened && link.is_none()) {
        mark = whole.mark(cut.map_or(0, |cut| cut.left_out), link.is_some());
        lines.insert(cut.map_or(lines.len(), |cut| cut.head), &mark);
    }
    match form {
        Form::Markdown(_) | Form::Aligned => fenced(out, "yaml", &lines),
        Form::Plain(_) => indented(out, &lines),
        Form::Document => verbatim(out, &lines),
    }
    let Some(link) = link.filter(|_| is_cut || is_shortened) else {
        return false;
    };
    out.push_str(&match is_cut {
        true => format!(
            "\n[show all {} lines]({link})",
            lines.len() - 1 + cut.map_or(0, |cut| cut.left_out)
        ),
        false => format!("\n[show the whole value]({link})"),
    });
    true
}

#[derive(Clone, Copy)]
enum Form<'a> {
    Markdown(Option<Link<'a>>),
    /// Without links: terminal clients hide the target, but count it when they wrap lines.
    Aligned,
    /// Lines of at most this width.
    Plain(usize),
    /// The value uncommented, everything else in comments.
    Document,
}

fn verbatim(out: &mut String, lines: &[&str]) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(&lines.join("\n"));
}

/// A line in one form; the text forms break it between words.
fn write_line(line: &Line, form: Form<'_>) -> Vec<String> {
    match form {
        Form::Document => broken(line, form, WIDTH),
        Form::Markdown(_) => {
            let words: String = line.iter().map(|piece| write_piece(piece, form)).collect();
            vec![words.replace('\n', " ")]
        }
        Form::Aligned => broken(line, form, WIDTH),
        Form::Plain(width) => broken(line, form, width),
    }
}

/// A part of a line that is never broken: the index of its piece, and the text.
type Fragment = (usize, Piece);

/// Breaks a line between words into lines of at most `width`. Short code stays on one line.
fn broken(line: &Line, form: Form<'_>, width: usize) -> Vec<String> {
    let written = |fragments: &[Fragment]| -> String {
        let pieces = fragments.iter().map(|(_, piece)| write_piece(piece, form));
        pieces.collect()
    };
    // Most lines fit and need no breaking.
    let whole: String = line.iter().map(|piece| write_piece(piece, form)).collect();
    if whole.chars().count() <= width.min(KEPT) && !whole.contains('\n') {
        return vec![whole];
    }
    let words = words(line, form);
    let mut whole = Vec::new();
    for word in &words {
        append(&mut whole, word.clone());
    }
    let whole = written(&whole);
    if whole.chars().count() <= width {
        return vec![whole];
    }
    // Each line: the text that is final, and the last fragment, which the next word may extend.
    let mut lines: Vec<(String, Vec<Fragment>)> = vec![Default::default()];
    for word in words {
        let indent = if lines.len() > 1 { 2 } else { 0 };
        let Some((text, last)) = lines.last_mut() else {
            break;
        };
        let mut longer = last.clone();
        append(&mut longer, word.clone());
        let wide = text.chars().count() + written(&longer).chars().count() + indent;
        if last.is_empty() || wide <= width {
            *last = longer.split_off(longer.len().saturating_sub(1));
            text.push_str(&written(&longer));
        } else {
            lines.push((String::new(), word));
        }
    }
    let lines = lines.iter().enumerate().map(|(at, (text, last))| {
        let indent = if at > 0 { "  " } else { "" };
        format!("{indent}{text}{}", written(last))
    });
    lines.collect()
}

/// The words of a line: the parts between blanks.
fn words(line: &Line, form: Form<'_>) -> Vec<Vec<Fragment>> {
    let mut words: Vec<Vec<Fragment>> = vec![Vec::new()];
    for (at, piece) in line.iter().enumerate() {
        let (text, is_code) = match piece {
            Piece::Text(text) => (text, false),
            Piece::Action { words, .. } => (words, false),
            Piece::Name(text) | Piece::Code(text) | Piece::Place { label: text, .. } => {
                (text, true)
            }
        };
        let parts: Vec<&str> = match is_code && text.chars().count() <= WIDTH / 2 {
            true => vec![text],
            false => text.split([' ', '\n']).collect(),
        };
        for (nth, part) in parts.into_iter().enumerate() {
            if nth > 0 {
                words.push(Vec::new());
            }
            // A document shortens nothing.
            let part = match form {
                Form::Document => part.to_owned(),
                Form::Markdown(_) | Form::Aligned | Form::Plain(_) => shortened(part),
            };
            let part = match piece {
                Piece::Text(_) | Piece::Action { .. } => Piece::Text(part),
                Piece::Name(_) => Piece::Name(part),
                Piece::Code(_) | Piece::Place { .. } => Piece::Code(part),
            };
            if let Some(last) = words.last_mut()
                && part != Piece::Text(String::new())
            {
                last.push((at, part));
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Adds a word after a blank; adjacent words of the same piece are joined into one piece.
fn append(line: &mut Vec<Fragment>, word: Vec<Fragment>) {
    let mut word = word.into_iter().peekable();
    if let (Some((at, Piece::Code(text) | Piece::Name(text))), Some((next, more))) =
        (line.last_mut(), word.peek())
        && at == next
        && let Piece::Code(more) | Piece::Name(more) = more
    {
        text.push(' ');
        text.push_str(more);
        word.next();
    } else if !line.is_empty() {
        line.push((usize::MAX, Piece::Text(" ".to_owned())));
    }
    line.extend(word);
}

/// Maximum width of a single word, in characters.
const KEPT: usize = WIDTH - 12;

/// Drops the middle of a very long word.
fn shortened(word: &str) -> String {
    let count = word.chars().count();
    if count <= KEPT {
        return word.to_owned();
    }
    let head: String = word.chars().take(KEPT / 2).collect();
    let tail: String = word.chars().skip(count - KEPT / 2).collect();
    format!("{head}…{tail}")
}

fn write_piece(piece: &Piece, form: Form<'_>) -> String {
    let link = match form {
        Form::Markdown(link) => link,
        Form::Aligned => None,
        Form::Plain(_) | Form::Document => {
            return match piece {
                Piece::Text(words) | Piece::Name(words) | Piece::Code(words) => words.clone(),
                Piece::Place { label, .. } => label.clone(),
                Piece::Action { words, .. } => words.clone(),
            };
        }
    };
    match piece {
        Piece::Text(words) if matches!(form, Form::Aligned) => without_escapes(words),
        Piece::Text(words) => in_markdown(words),
        Piece::Name(words) => format!("**{}**", code_span(words)),
        Piece::Code(words) => code_span(words),
        Piece::Place { label, path, line } => match link {
            Some(link) => format!("[{}]({})", in_markdown(label), link(path, *line)),
            None => code_span(label),
        },
        Piece::Action { label, link, words } => match (form, link) {
            (Form::Markdown(_), Some(link)) => format!("[{}]({link})", in_markdown(label)),
            (_, Some(_) | None) => in_markdown(words),
        },
    }
}

/// Markdown for terminals, which show the backslashes of escapes: words that need escapes become code.
fn without_escapes(words: &str) -> String {
    let words = words.split(' ').map(|word| match in_markdown(word) {
        escaped if escaped == word => escaped,
        _ => code_span(word),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn fenced(out: &mut String, language: &str, lines: &[&str]) {
    let longest = lines.iter().map(|line| longest_run(line)).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(&format!("{fence}{language}\n"));
    for line in lines {
        out.push_str(line);
        out.push('\n');
    }
    out.push_str(&fence);
}

fn indented(out: &mut String, lines: &[&str]) {
    for line in lines {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str("  ");
        out.push_str(line);
    }
}
