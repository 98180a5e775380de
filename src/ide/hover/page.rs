//! A hover before it is written down, and its three forms: Markdown, Markdown in short lines for
//! terminal clients, and plain text.

use super::{Hover, HoverForm, HoverOptions, Link};
use crate::ide::markdown::{code_span, in_markdown, longest_run};
use crate::text::TextRange;

/// A piece of a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    /// Words.
    Text(String),
    /// The name that the hover is about.
    Name(String),
    /// Something that stands in a file as it is.
    Code(String),
    /// A place: what to show, the file, the line from 1.
    Place {
        /// What is shown.
        label: String,
        /// The file.
        path: String,
        /// The line, from 1.
        line: u32,
    },
    /// Something to do: what to show as a link, its target for clients that run commands from
    /// links, and the words for the others.
    Action {
        /// What is shown as a link.
        label: &'static str,
        /// The target.
        link: Option<String>,
        /// How to do it without a link.
        words: String,
    },
}

/// A line of pieces.
pub(super) type Line = Vec<Piece>;

/// A part of a page.
#[derive(Clone, Debug, PartialEq)]
enum Block {
    /// One line.
    Line(Line),
    /// Links that run commands.
    Links(Line),
    /// A value.
    Value {
        /// All of its lines.
        lines: Vec<String>,
        /// How all of it can be seen.
        whole: Whole,
    },
}

/// How all of a value, or of a page, can be seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Whole {
    /// The target of a link, for clients that follow it.
    pub(super) link: Option<String>,
    /// How to see it otherwise, each way in words; the best first.
    pub(super) words: Vec<String>,
    /// Whether lines of the value are shortened.
    pub(super) is_shortened: bool,
}

impl Whole {
    /// What stands for lines that are left out, as far as it fits into a line.
    fn mark(&self, left_out: usize, is_linked: bool) -> String {
        let mut mark = match left_out {
            0 => "# shortened".to_owned(),
            1 => "# … 1 more line".to_owned(),
            count => format!("# … {count} more lines"),
        };
        if is_linked {
            return mark;
        }
        for (at, words) in self.words.iter().enumerate() {
            let separator = if at == 0 { ": " } else { ", or " };
            let longer = format!("{mark}{separator}{words}");
            if longer.chars().count() > WIDTH {
                break;
            }
            mark = longer;
        }
        mark
    }
}

/// The content of a hover.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Page {
    blocks: Vec<Block>,
    /// How lines that are left out can be seen.
    rest: Whole,
}

/// Widest line of the text forms, in characters: a value is indented by two, a Markdown line ends in
/// two blanks.
pub(super) const WIDTH: usize = 98;

/// Fewest lines that a value keeps where a hover is long.
const LEAST_VALUE: usize = 8;

/// Words.
pub(super) fn text(words: impl Into<String>) -> Piece {
    Piece::Text(words.into())
}

/// Something that stands in a file as it is.
pub(super) fn code(words: impl Into<String>) -> Piece {
    Piece::Code(words.into())
}

/// The name that the hover is about.
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

/// Lists joined with `separator`.
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

    /// A line of links, which only a client that follows them gets.
    pub(super) fn link_line(&mut self, line: Line) {
        if !line.is_empty() {
            self.blocks.push(Block::Links(line));
        }
    }

    /// A line right below the first one.
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

    /// Says how lines that are left out can be seen.
    pub(super) fn rest(&mut self, rest: Whole) {
        self.rest = rest;
    }

    /// The page in the forms that are wanted.
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

    /// The page as a YAML document: the value, everything else as comments.
    pub(super) fn document(&self) -> String {
        let mut text = self.write(Form::Document, usize::MAX);
        text.push('\n');
        text
    }

    /// The page in one form, of at most `max` lines: first its value is cut in the middle, then lines at
    /// its end are left out.
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

/// A block in one form.
enum Part<'p> {
    Words(Vec<String>),
    /// Its lines, and where some are left out.
    Value(Vec<&'p String>, &'p Whole, Option<Cut>),
}

/// Lines of a value that are left out.
#[derive(Clone, Copy, Debug)]
struct Cut {
    /// How many lines stand before them.
    head: usize,
    /// How many they are.
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

    /// Leaves the middle of a longer value out. What follows begins at the left, so that no line stands
    /// below another key than its own.
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

/// Adds the continuation of a broken line. Its line break is soft in Markdown (no two blanks before it): a
/// client that renders Markdown joins the lines again, others show them as they are.
fn add_rest(out: &mut String, line: &str, form: Form<'_>) {
    out.push('\n');
    if let Form::Document = form {
        out.push_str("# ");
    }
    out.push_str(line);
}

/// Adds a value with the mark of what is left out; says whether a line is the last.
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
    /// Without links: terminal clients hide a link's target, but wrap the line as if it showed.
    Aligned,
    /// Lines of a width.
    Plain(usize),
    /// The value as it is, everything else as comments.
    Document,
}

fn verbatim(out: &mut String, lines: &[&str]) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(&lines.join("\n"));
}

/// A line in one form: the text forms break it between words.
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

/// A part of a line that is not broken: the number of its piece, and what stands of it.
type Fragment = (usize, Piece);

/// Breaks a line between words, so that none is wider than `width`. What stands in a file as it is
/// stays on one line where it is short.
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
    let mut lines: Vec<Vec<Fragment>> = vec![Vec::new()];
    for word in words {
        let Some(last) = lines.last_mut() else { break };
        let mut longer = last.clone();
        append(&mut longer, word.clone());
        let indent = if lines.len() > 1 { 2 } else { 0 };
        let is_first = lines.last().is_none_or(Vec::is_empty);
        if is_first || written(&longer).chars().count() + indent <= width {
            lines.pop();
            lines.push(longer);
        } else {
            lines.push(word);
        }
    }
    let lines = lines.iter().enumerate().map(|(at, line)| match at {
        0 => written(line),
        _ => format!("  {}", written(line)),
    });
    lines.collect()
}

/// The words of a line: what no blank divides.
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
            // A document shows all there is.
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

/// Adds a word behind a blank; what belongs to one piece becomes one again.
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

/// Characters that are kept of a word that is wider than any line.
const KEPT: usize = WIDTH - 12;

/// A word that is wider than any line, without its middle.
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

/// Words in Markdown for a terminal, which shows the backslash of an escape: words that need one are code.
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
