//! The comments above definitions, parsed like Puppet Strings: a text, then tags such as `@param`.

use crate::text::TextRange;

/// The lines of a comment, without comment marks.
pub(super) struct Documentation {
    lines: Vec<String>,
}

impl Documentation {
    /// The comments that end right above `start`, one per line.
    pub(super) fn above(text: &str, comments: &[TextRange], start: usize) -> Documentation {
        let mut at = comments.partition_point(|comment| (comment.end as usize) <= start);
        let mut next = start;
        let mut lines = Vec::new();
        while let Some(comment) = at.checked_sub(1).map(|before| comments[before]) {
            let gap = text.get(comment.end as usize..next).unwrap_or_default();
            let written = comment.slice(text);
            let begins_line = text[..comment.start as usize]
                .rsplit('\n')
                .next()
                .is_none_or(|before| before.trim().is_empty());
            let is_next = gap.trim().is_empty() && gap.matches('\n').count() == 1;
            if !is_next || !begins_line || !written.starts_with('#') {
                break;
            }
            let line = written.trim_end().trim_start_matches('#');
            lines.push(line.strip_prefix(' ').unwrap_or(line).to_owned());
            next = comment.start as usize;
            at -= 1;
        }
        lines.reverse();
        Documentation { lines }
    }

    /// The text before the first tag.
    pub(super) fn text(&self) -> Option<Box<str>> {
        let lines = self.lines.iter().take_while(|line| !line.starts_with('@'));
        joined(lines.map(String::as_str))
    }

    /// The text of `@param NAME`, up to the next tag.
    pub(super) fn parameter(&self, name: &str) -> Option<Box<str>> {
        let (at, rest) = self.lines.iter().enumerate().find_map(|(at, line)| {
            let (is, rest) = named(line)?;
            (is == name).then_some((at, rest))
        })?;
        let more = self.lines[at + 1..].iter();
        let more = more
            .take_while(|line| !line.starts_with('@'))
            .map(|line| line.trim());
        joined(std::iter::once(rest.trim_start_matches(':').trim()).chain(more))
    }
}

/// The parameter described by a line, and the text after it: `@param NAME …`, `@param [Type] NAME
/// …`.
fn named(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("@param")?.trim_start();
    let rest = match rest.strip_prefix('[') {
        Some(typed) => typed.split_once(']')?.1.trim_start(),
        None => rest,
    };
    let end = rest.find(|c: char| c.is_whitespace() || c == ':');
    Some(rest.split_at(end.unwrap_or(rest.len())))
}

fn joined<'a>(lines: impl Iterator<Item = &'a str>) -> Option<Box<str>> {
    let lines: Vec<&str> = lines.collect();
    let text = lines.join("\n");
    let text = text.trim();
    (!text.is_empty()).then(|| text.into())
}
