//! What people read: pages in Markdown, in short lines of Markdown for terminal clients, and in plain
//! text; values as YAML.
//!
//! It must not know workspaces and lookups.

mod markdown;
pub(crate) mod yaml;

pub use markdown::in_markdown;
pub(crate) use markdown::{code_span, longest_run};

/// Makes a link's target from a path and a line (from 1).
pub type Link<'a> = &'a (dyn Fn(&str, u32) -> String + Sync);

/// A piece of a line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
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

impl Piece {
    /// The words without markup.
    fn plain(&self) -> &str {
        match self {
            Piece::Text(words)
            | Piece::Name(words)
            | Piece::Code(words)
            | Piece::Place { label: words, .. }
            | Piece::Action { words, .. } => words,
        }
    }
}

pub(crate) type Line = Vec<Piece>;

#[derive(Clone, Debug, PartialEq)]
enum Paragraph {
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
pub(crate) struct Whole {
    /// The target of a link, for clients that support it.
    pub(crate) link: Option<String>,
    /// Other ways in words, the best first; the first that fits is shown.
    pub(crate) words: Vec<String>,
    /// Whether single lines of the value are shortened.
    pub(crate) is_shortened: bool,
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
pub(crate) struct Page {
    paragraphs: Vec<Paragraph>,
    /// How to see dropped lines.
    rest: Whole,
}

/// Maximum width of the text forms, in characters: values are indented by two, and some lines of
/// Markdown end in two blanks.
pub(crate) const WIDTH: usize = 98;

/// A long hover keeps at least this many lines of a value.
const LEAST_VALUE: usize = 8;

pub(crate) fn text(words: impl Into<String>) -> Piece {
    Piece::Text(words.into())
}

/// Text as in a file.
pub(crate) fn code(words: impl Into<String>) -> Piece {
    Piece::Code(words.into())
}

/// The name of the described thing.
pub(crate) fn name(words: impl Into<String>) -> Piece {
    Piece::Name(words.into())
}

/// A line without markup.
pub(crate) fn plain_words(line: &Line) -> String {
    line.iter().map(Piece::plain).collect()
}

pub(crate) fn joined(items: impl IntoIterator<Item = Line>, separator: &str) -> Line {
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
    pub(crate) fn line(&mut self, line: Line) {
        if !line.is_empty() {
            self.paragraphs.push(Paragraph::Line(line));
        }
    }

    /// Adds a line of links, for clients that support them.
    pub(crate) fn link_line(&mut self, line: Line) {
        if !line.is_empty() {
            self.paragraphs.push(Paragraph::Links(line));
        }
    }

    /// Adds a line right below the first one.
    pub(crate) fn second_line(&mut self, line: Line) {
        if !line.is_empty() {
            let at = self.paragraphs.len().min(1);
            self.paragraphs.insert(at, Paragraph::Line(line));
        }
    }

    pub(crate) fn value(&mut self, lines: Vec<String>, whole: Whole) {
        if !lines.is_empty() {
            self.paragraphs.push(Paragraph::Value { lines, whole });
        }
    }

    pub(crate) fn rest(&mut self, rest: Whole) {
        self.rest = rest;
    }

    /// The page as a YAML document: the value, with the rest in comments.
    pub(crate) fn document(&self) -> String {
        let mut text = self.write(PageForm::Document, usize::MAX);
        text.push('\n');
        text
    }

    /// The page in one form, of at most `max` lines: first long values lose their middle, then
    /// lines at the end are dropped.
    pub(crate) fn write(&self, form: PageForm<'_>, max: usize) -> String {
        let paragraphs = self.paragraphs.iter().map(|paragraph| match paragraph {
            Paragraph::Line(line) => Section::Words(write_line(line, form)),
            Paragraph::Links(line) => Section::Words(match form {
                PageForm::Markdown(_) => write_line(line, form),
                PageForm::Aligned | PageForm::Plain(_) | PageForm::Document => Vec::new(),
            }),
            Paragraph::Value { lines, whole } => Section::Value(WrittenValue {
                lines: lines.iter().map(String::as_str).collect(),
                whole,
                head: lines.len(),
                left_out: 0,
            }),
        });
        let mut parts: Vec<Section<'_>> = paragraphs.collect();
        let words = parts.iter().map(|part| match part {
            Section::Words(lines) => lines.len(),
            Section::Value(_) => 0,
        });
        let words: usize = words.sum();
        let least = LEAST_VALUE.min(max.saturating_mul(2) / 5);
        let most = max.saturating_sub(words).max(least);
        for part in &mut parts {
            if let Section::Value(value) = part
                && max < usize::MAX
            {
                value.cut(most);
            }
        }
        let mut dropped = 0;
        while parts.len() > 1
            && parts.iter().map(Section::lines).sum::<usize>() + usize::from(dropped > 0) > max
            && let Some(Section::Words(last)) = parts.last()
        {
            dropped += last.len();
            parts.pop();
        }
        let mut out = String::new();
        let mut after_line = false;
        for part in &parts {
            match part {
                Section::Words(lines) => {
                    // The break before the rest of a broken line is soft in Markdown: clients that
                    // render it join the lines again.
                    for (at, line) in lines.iter().enumerate() {
                        add_line(&mut out, line, after_line && at == 0, form);
                    }
                    after_line |= !lines.is_empty();
                }
                Section::Value(value) => after_line = value.write(&mut out, form),
            }
        }
        if dropped > 0 {
            let count = if dropped == 1 { "line" } else { "lines" };
            let mut rest = format!("… {dropped} more {count}");
            match (&self.rest.link, form, self.rest.words.first()) {
                (Some(link), PageForm::Markdown(_), _) => rest = format!("[{rest}]({link})"),
                (_, _, Some(words)) => rest = format!("{rest}: {words}"),
                (_, _, None) => {}
            }
            add_line(&mut out, &rest, after_line, form);
        }
        out
    }
}

enum Section<'p> {
    Words(Vec<String>),
    Value(WrittenValue<'p>),
}

struct WrittenValue<'p> {
    /// The lines that are kept.
    lines: Vec<&'p str>,
    whole: &'p Whole,
    /// The number of lines before the gap in them.
    head: usize,
    /// The number of lines in the gap.
    left_out: usize,
}

impl Section<'_> {
    fn lines(&self) -> usize {
        match self {
            Section::Words(lines) => lines.len(),
            Section::Value(value) => {
                let is_marked = value.left_out > 0 || value.whole.is_shortened;
                value.lines.len() + usize::from(is_marked)
            }
        }
    }
}

impl WrittenValue<'_> {
    /// Drops the middle of a value of more than `most` lines. The tail starts at an unindented line,
    /// so that no line seems to belong to another key.
    fn cut(&mut self, most: usize) {
        let lines = &mut self.lines;
        if lines.len() + usize::from(self.whole.is_shortened) <= most {
            return;
        }
        let kept = most.saturating_sub(1).max(2).min(lines.len());
        let last = &lines[lines.len() - kept / 3..];
        let tail = last.iter().position(|line| !line.starts_with(' '));
        let tail = tail.map_or(0, |at| last.len() - at);
        self.head = kept - tail;
        self.left_out = lines.len() - kept;
        lines.drain(self.head..self.head + self.left_out);
    }

    /// Adds the value with the mark of omitted lines; returns whether a link follows it.
    fn write(&self, out: &mut String, form: PageForm<'_>) -> bool {
        let is_markdown = matches!(form, PageForm::Markdown(_));
        let link = self.whole.link.as_ref().filter(|_| is_markdown);
        let mut lines = self.lines.clone();
        let mark = self.whole.mark(self.left_out, link.is_some());
        let is_cut = self.left_out > 0;
        let is_shortened = self.whole.is_shortened && !matches!(form, PageForm::Document);
        if is_cut || (is_shortened && link.is_none()) {
            lines.insert(self.head, &mark);
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&match form {
            PageForm::Markdown(_) | PageForm::Aligned => fenced(&lines),
            PageForm::Plain(_) => format!("  {}", lines.join("\n  ")),
            PageForm::Document => lines.join("\n"),
        });
        let Some(link) = link.filter(|_| is_cut || is_shortened) else {
            return false;
        };
        let what = if is_cut {
            format!("show all {} lines", self.lines.len() + self.left_out)
        } else {
            "show the whole value".to_owned()
        };
        out.push_str(&format!("\n[{what}]({link})"));
        true
    }
}

/// Adds a line after another one (`after_line`), or after a value.
fn add_line(out: &mut String, line: &str, after_line: bool, form: PageForm<'_>) {
    if !out.is_empty() {
        // Two blanks at the end of a line are Markdown's line break.
        if after_line && matches!(form, PageForm::Markdown(_) | PageForm::Aligned) {
            out.push_str("  ");
        }
        out.push('\n');
    }
    if let PageForm::Document = form {
        out.push_str("# ");
    }
    out.push_str(line);
}

#[derive(Clone, Copy)]
pub(crate) enum PageForm<'a> {
    Markdown(Option<Link<'a>>),
    /// Without links: terminal clients hide the target, but count it when they wrap lines.
    Aligned,
    /// Lines of at most this width.
    Plain(usize),
    /// The value uncommented, everything else in comments.
    Document,
}

/// A line in one form; the text forms break it between words.
fn write_line(line: &Line, form: PageForm<'_>) -> Vec<String> {
    match form {
        PageForm::Markdown(_) => vec![write_pieces(line, form).replace('\n', " ")],
        PageForm::Document | PageForm::Aligned => broken(line, form, WIDTH),
        PageForm::Plain(width) => broken(line, form, width),
    }
}

/// A part of a line that is never broken: the index of its piece, and the text.
type Fragment = (usize, Piece);

/// Breaks a line between words into lines of at most `width`. Short code stays on one line.
fn broken(line: &Line, form: PageForm<'_>, width: usize) -> Vec<String> {
    let written = |fragments: &[Fragment]| write_pieces(fragments.iter().map(|(_, it)| it), form);
    let whole = write_pieces(line, form);
    if whole.chars().count() <= width.min(KEPT) && !whole.contains('\n') {
        return vec![whole];
    }
    // Each line: the text that is final, and the last fragment, which the next word may extend.
    let mut lines: Vec<(String, Vec<Fragment>)> = vec![Default::default()];
    for word in words(line, form) {
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
fn words(line: &Line, form: PageForm<'_>) -> Vec<Vec<Fragment>> {
    let mut words: Vec<Vec<Fragment>> = vec![Vec::new()];
    for (at, piece) in line.iter().enumerate() {
        let text = piece.plain();
        let is_code = !matches!(piece, Piece::Text(_) | Piece::Action { .. });
        let parts: Vec<&str> = if is_code && text.chars().count() <= WIDTH / 2 {
            vec![text]
        } else {
            text.split([' ', '\n']).collect()
        };
        for (nth, part) in parts.into_iter().enumerate() {
            if nth > 0 {
                words.push(Vec::new());
            }
            // A document shortens nothing.
            let part = match form {
                PageForm::Document => part.to_owned(),
                PageForm::Markdown(_) | PageForm::Aligned | PageForm::Plain(_) => shortened(part),
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

fn write_pieces<'p>(pieces: impl IntoIterator<Item = &'p Piece>, form: PageForm<'_>) -> String {
    let written = pieces.into_iter().map(|piece| match (piece, form) {
        (_, PageForm::Plain(_) | PageForm::Document) => piece.plain().to_owned(),
        (Piece::Text(words), PageForm::Aligned) => without_escapes(words),
        (Piece::Text(words), PageForm::Markdown(_)) => in_markdown(words),
        (Piece::Name(words), _) => format!("**{}**", code_span(words)),
        (Piece::Code(words), _) => code_span(words),
        (Piece::Place { label, path, line }, PageForm::Markdown(Some(link))) => {
            format!("[{}]({})", in_markdown(label), link(path, *line))
        }
        (Piece::Place { label, .. }, _) => code_span(label),
        (
            Piece::Action {
                label,
                link: Some(link),
                ..
            },
            PageForm::Markdown(_),
        ) => format!("[{}]({link})", in_markdown(label)),
        (Piece::Action { words, .. }, _) => in_markdown(words),
    });
    written.collect()
}

/// Markdown for terminals, which show the backslashes of escapes: words that need escapes become code.
fn without_escapes(words: &str) -> String {
    let words = words.split(' ').map(|word| match in_markdown(word) {
        escaped if escaped == word => escaped,
        _ => code_span(word),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn fenced(lines: &[&str]) -> String {
    let longest = lines.iter().map(|line| longest_run(line)).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    format!("{fence}yaml\n{}\n{fence}", lines.join("\n"))
}
