//! A hover before it is written down, and its three forms: Markdown, Markdown without tables for
//! terminal clients, and plain text.

use crate::text::TextRange;

use super::{Hover, HoverForm, HoverOptions, Link};

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
pub(super) enum Block {
    /// One line.
    Line(Line),
    /// A value.
    Yaml {
        /// Its lines.
        lines: Vec<String>,
        /// What of it is left out.
        cut: Option<CutValue>,
    },
    /// Rows of cells.
    Table {
        /// The head, for clients that draw tables.
        head: Vec<&'static str>,
        /// The rows.
        rows: Vec<Vec<Line>>,
    },
}

/// What is left out of a value, and how all of it can be seen.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CutValue {
    /// The line that stands for what is left out.
    pub(super) at: usize,
    /// How many lines are left out.
    pub(super) left_out: usize,
    /// The target of a link to all of it, for clients that follow it.
    pub(super) link: Option<String>,
    /// How to see all of it, for the others.
    pub(super) words: String,
}

impl CutValue {
    fn mark(&self, is_linked: bool) -> String {
        let lines = match self.left_out {
            1 => "1 line".to_string(),
            count => format!("{count} lines"),
        };
        match is_linked {
            true => format!("# … {lines} more"),
            false => format!("# … {lines} more: {}", self.words),
        }
    }
}

/// The content of a hover.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Page {
    blocks: Vec<Block>,
}

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

    pub(super) fn yaml(&mut self, lines: Vec<String>, cut: Option<CutValue>) {
        if !lines.is_empty() {
            self.blocks.push(Block::Yaml { lines, cut });
        }
    }

    pub(super) fn table(&mut self, head: Vec<&'static str>, rows: Vec<Vec<Line>>) {
        self.blocks.push(Block::Table { head, rows });
    }

    /// The page in the forms that are wanted.
    pub(super) fn hover(&self, range: TextRange, options: &HoverOptions<'_>) -> Hover {
        let write = |which: HoverForm, form: Form<'_>| match options.form {
            Some(wanted) if wanted != which => String::new(),
            Some(_) | None => self.write(form),
        };
        Hover {
            range,
            markdown: write(HoverForm::Markdown, Form::Markdown(options.link)),
            aligned: write(HoverForm::Aligned, Form::Aligned),
            plain: write(HoverForm::Plain, Form::Plain),
        }
    }

    /// The page as a YAML document: the value, everything else as comments.
    pub(super) fn document(&self) -> String {
        let mut text = self.write(Form::Document);
        text.push('\n');
        text
    }

    fn write(&self, form: Form<'_>) -> String {
        let mut out = String::new();
        let mut after_line = false;
        let mut after_table = false;
        for block in &self.blocks {
            match block {
                Block::Line(line) => {
                    if !out.is_empty() {
                        // Two blanks at the end of a line are Markdown's line break.
                        if after_table {
                            out.push('\n');
                        }
                        match (after_line, form) {
                            (true, Form::Markdown(_) | Form::Aligned) => out.push_str("  \n"),
                            (true, Form::Plain | Form::Document) | (false, _) => out.push('\n'),
                        }
                    }
                    let words = write_line(line, form);
                    match form {
                        Form::Document => out.push_str(&format!("# {}", words.replace('\n', " "))),
                        Form::Markdown(_) | Form::Aligned | Form::Plain => out.push_str(&words),
                    }
                    (after_line, after_table) = (true, false);
                    continue;
                }
                Block::Yaml { lines, cut } => {
                    let is_markdown = matches!(form, Form::Markdown(_));
                    let link = cut.as_ref().and_then(|cut| cut.link.as_ref());
                    let link = link.filter(|_| is_markdown);
                    let mut lines = lines.clone();
                    let mut total = lines.len();
                    if let Some(cut) = cut
                        && let Some(mark) = lines.get_mut(cut.at)
                    {
                        *mark = cut.mark(link.is_some());
                        total = total + cut.left_out - 1;
                    }
                    match form {
                        Form::Markdown(_) | Form::Aligned => fenced(&mut out, "yaml", &lines),
                        Form::Plain => indented(&mut out, &lines),
                        Form::Document => verbatim(&mut out, &lines),
                    }
                    if let Some(link) = link {
                        out.push_str(&format!("\n[show all {total} lines]({link})"));
                        (after_line, after_table) = (true, false);
                        continue;
                    }
                }
                Block::Table { head, rows } => match form {
                    Form::Markdown(_) => table(&mut out, head, rows, form),
                    Form::Aligned => fenced(&mut out, "text", &aligned(rows)),
                    Form::Plain => indented(&mut out, &aligned(rows)),
                    Form::Document => {
                        let rows = aligned(rows).into_iter();
                        let rows: Vec<String> = rows.map(|row| format!("#   {row}")).collect();
                        verbatim(&mut out, &rows);
                    }
                },
            }
            after_line = false;
            let is_table = matches!(block, Block::Table { .. });
            after_table = is_table && matches!(form, Form::Markdown(_));
        }
        out
    }
}

#[derive(Clone, Copy)]
enum Form<'a> {
    Markdown(Option<Link<'a>>),
    /// Without links: terminal clients hide a link's target, but wrap the line as if it showed.
    Aligned,
    Plain,
    /// The value as it is, everything else as comments.
    Document,
}

fn verbatim(out: &mut String, lines: &[String]) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(&lines.join("\n"));
}

fn write_line(line: &Line, form: Form<'_>) -> String {
    line.iter().map(|piece| write_piece(piece, form)).collect()
}

fn write_piece(piece: &Piece, form: Form<'_>) -> String {
    let link = match form {
        Form::Markdown(link) => link,
        Form::Aligned => None,
        Form::Plain | Form::Document => {
            return match piece {
                Piece::Text(words) | Piece::Name(words) | Piece::Code(words) => words.clone(),
                Piece::Place { label, .. } => label.clone(),
                Piece::Action { words, .. } => words.clone(),
            };
        }
    };
    match piece {
        Piece::Text(words) => escape(words),
        Piece::Name(words) => format!("**{}**", code_span(words)),
        Piece::Code(words) => code_span(words),
        Piece::Place { label, path, line } => match link {
            Some(link) => format!("[{}]({})", escape(label), link(path, *line)),
            None => code_span(label),
        },
        Piece::Action { label, link, words } => match (form, link) {
            (Form::Markdown(_), Some(link)) => format!("[{}]({link})", escape(label)),
            (_, Some(_) | None) => escape(words),
        },
    }
}

/// Words in Markdown: what would start emphasis, links or tags is escaped.
fn escape(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    let mut before = ' ';
    for (at, character) in words.char_indices() {
        let next = words[at + character.len_utf8()..].chars().next();
        // An underscore within a word starts nothing.
        let within_word =
            before.is_alphanumeric() && next.is_some_and(|next| next.is_alphanumeric());
        match character {
            '_' if within_word => {}
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' => out.push('\\'),
            _ => {}
        }
        out.push(character);
        before = character;
    }
    out
}

fn code_span(words: &str) -> String {
    let words = words.replace(['\n', '\r'], " ");
    let ticks = "`".repeat(longest_run(&words, '`') + 1);
    if words.starts_with('`') || words.ends_with('`') || words.is_empty() {
        format!("{ticks} {words} {ticks}")
    } else {
        format!("{ticks}{words}{ticks}")
    }
}

fn longest_run(words: &str, wanted: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for character in words.chars() {
        run = if character == wanted { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

fn fenced(out: &mut String, language: &str, lines: &[String]) {
    let longest = lines.iter().map(|line| longest_run(line, '`')).max();
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

fn indented(out: &mut String, lines: &[String]) {
    for line in lines {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str("  ");
        out.push_str(line);
    }
}

fn table(out: &mut String, head: &[&'static str], rows: &[Vec<Line>], form: Form<'_>) {
    if !out.is_empty() {
        out.push_str("\n\n");
    }
    out.push_str(&format!("| {} |\n|", head.join(" | ")));
    out.push_str(&" --- |".repeat(head.len()));
    for row in rows {
        out.push_str("\n|");
        for cell in row {
            let cell = write_line(cell, form).replace('|', "\\|");
            out.push_str(&format!(" {cell} |"));
        }
    }
}

/// The rows with their columns below each other, two blanks between them.
fn aligned(rows: &[Vec<Line>]) -> Vec<String> {
    let plain: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            row.iter()
                .map(|cell| write_line(cell, Form::Plain))
                .collect()
        })
        .collect();
    let columns = plain.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = plain.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    plain
        .iter()
        .map(|row| {
            let cells = row.iter().zip(&widths);
            let padded: Vec<String> = cells
                .map(|(cell, width)| format!("{cell:width$}"))
                .collect();
            padded.join("  ").trim_end().to_string()
        })
        .collect()
}
