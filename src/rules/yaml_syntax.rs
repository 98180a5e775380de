//! `yaml-syntax`: a YAML file has a syntax error, so Puppet refuses all of it.

use super::{FileContext, Findings, Fix, Safety, Severity};
use crate::syntax::{Problem, ProblemKind, parse_yaml, quote_scalars, quoted};
use crate::text::{TextEdit, TextRange, line_start};
use crate::value::LoadErrorKind;

rule!("yaml-syntax", Error, [File(check)]);

fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    let Some(error) = at.refusal() else { return };
    let range = at.place_of(error);
    let is_limit = at
        .parse()
        .error()
        .is_some_and(|problem| problem.kind == ProblemKind::Limit);
    match error.kind {
        LoadErrorKind::YamlSyntax | LoadErrorKind::YamlOther | LoadErrorKind::Io(_) if is_limit => {
            let message = format!("{}: the file is not checked", error.message);
            findings.report_as(Severity::Warning, range, message);
        }
        LoadErrorKind::YamlSyntax | LoadErrorKind::YamlOther => {
            let message = format!("Puppet refuses the whole file: {}", error.message);
            let finding = findings.report(range, message);
            let text = at.file.text();
            let problem = at.parse().error();
            let edit = problem.and_then(|old| quotes(text, range.start as usize, old));
            if let Some((edit, safety)) = edit {
                finding.fixes.push(Fix::new(safety, "Quote it", edit));
            } else if let Some(edits) = without_tabs(text) {
                let title = "Remove the tabs from blank lines";
                let fix = Fix::with_edits(Safety::Safe, title, edits);
                finding.fixes.push(fix);
            }
        }
        LoadErrorKind::YamlDisallowedClass
        | LoadErrorKind::YamlDate
        | LoadErrorKind::YamlUnknownAlias
        | LoadErrorKind::Json
        | LoadErrorKind::Hocon
        | LoadErrorKind::HoconOutside
        | LoadErrorKind::LeftOut
        | LoadErrorKind::Io(_) => {}
    }
}

/// Adds quotes to the line of a mistake, if this leaves no mistake before the next line. Unsafe for
/// a value with a colon, which may be meant as a hash.
fn quotes(text: &str, place: usize, old: &Problem) -> Option<(TextEdit, Safety)> {
    /// Maximum length of a line that is quoted, in bytes.
    const LONGEST: usize = 4096;
    let start = line_start(text, place);
    let end = text[place..].find('\n').map_or(text.len(), |at| place + at);
    let line = text.get(start..end).filter(|line| line.len() <= LONGEST)?;
    // `*.example.com` is no alias, as an alias has a name.
    let begins = |scalar: &str| {
        let mut characters = scalar.chars();
        match characters.next() {
            Some('%' | '@' | '`') => true,
            Some('*') => !characters.next().is_some_and(char::is_alphanumeric),
            _ => false,
        }
    };
    let ways = [
        (Some(quote_scalars(line, &begins)), Safety::Safe),
        (requoted(line), Safety::Safe),
        (quoted_value(line), Safety::Unsafe),
    ];
    let mut fixed = ways
        .into_iter()
        .filter_map(|(fixed, safety)| Some((fixed?, safety)));
    let (fixed, safety) = fixed.find(|(fixed, _)| {
        let whole = format!("{}{fixed}{}", &text[..start], &text[end..]);
        let line_end = start + fixed.len();
        let after = parse_yaml(&whole);
        // If the problem stays the same, it is in a line further down, although it was reported here.
        let is_gone = |message: &str| *old.message != *message;
        let mut problem = after.error().into_iter();
        let is_better =
            problem.all(|new| new.range.start as usize > line_end && is_gone(&new.message));
        *fixed != *line && is_better
    })?;
    let edit = TextEdit::replace(TextRange::new(start, end), fixed);
    Some((edit, safety))
}

/// Empties blank lines with a tab, which YAML refuses. `None` if that does not help.
fn without_tabs(text: &str) -> Option<Vec<TextEdit>> {
    let mut edits = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let blank = line.trim_end_matches(['\n', '\r']);
        if blank.contains('\t') && blank.trim().is_empty() {
            edits.push(TextEdit::delete(TextRange::new(start, start + blank.len())));
        }
        start += line.len();
    }
    let after = TextEdit::apply(&edits, text).filter(|_| !edits.is_empty())?;
    parse_yaml(&after).error().is_none().then_some(edits)
}

/// The line of an entry or element with other quotes around its text, if that contains its own
/// quotes, or backslashes that start no escape: `a: '%{lookup('b')}'`.
fn requoted(line: &str) -> Option<String> {
    let (start, value) = value_in(line, line.find(": ").or_else(|| line.find("- "))?);
    let quote = value.chars().next();
    let quote = quote.filter(|first| matches!(first, '"' | '\''))?;
    let inside = value[1..].strip_suffix(quote)?;
    // `'a', 'b'` may be meant as a list, and the meaning of `'a' 'b'` is unknown.
    let mut parts = inside.split(quote).skip(1);
    if parts.any(|between| between.trim_matches([' ', ',']).is_empty()) {
        return None;
    }
    // These may be meant as escapes.
    let mut escapes = inside.split('\\').skip(1);
    let is_escape =
        |rest: &str| rest.is_empty() || rest.starts_with(['n', 't', 'r', '0', 'u', 'x']);
    if quote == '"' && escapes.any(is_escape) {
        return None;
    }
    let text = match quote {
        '"' => inside.replace("\\\"", "\""),
        _ => inside.to_owned(),
    };
    Some(with_quotes(line, start, value, &text))
}

/// The start and the text of the value after a sign of two characters, without a comment.
fn value_in(line: &str, sign: usize) -> (usize, &str) {
    let rest = line[sign + 2..].trim_start();
    let value = rest.split(" #").next().unwrap_or_default();
    (line.len() - rest.len(), value.trim_end())
}

/// The line with a text in quotes instead of the value at `start`.
fn with_quotes(line: &str, start: usize, value: &str, text: &str) -> String {
    let (before, rest) = (&line[..start], &line[start + value.len()..]);
    format!("{before}{}{rest}", quoted(text))
}

/// The line of an entry with its whole value in quotes: `title: Warning: disk full`.
fn quoted_value(line: &str) -> Option<String> {
    let (start, value) = value_in(line, line.find(": ")?);
    let is_plain = !value.is_empty()
        && !value.starts_with(['"', '\'', '[', '{', '|', '>', '&', '!', '-', '?']);
    is_plain.then(|| with_quotes(line, start, value, value))
}

#[cfg(test)]
mod tests {
    use super::{Safety, quotes};
    use crate::syntax::parse_yaml;

    #[test]
    fn values_that_need_quotes_are_quoted() {
        for (text, fixed) in [
            ("a: %{x}\nb: 1\n", Some("a: \"%{x}\"")),
            (
                "a: *.example.com # all\n",
                Some("a: \"*.example.com\" # all"),
            ),
            ("- @x\n- b\n", Some("- \"@x\"")),
            (
                "a: [b, %{lookup(\"c\")}]\n",
                Some("a: [b, '%{lookup(\"c\")}']"),
            ),
            (
                "a: Warning: full  # why\n",
                Some("a: \"Warning: full\"  # why"),
            ),
            ("a: it's: C:\\x\n", Some("a: 'it''s: C:\\x'")),
            ("a: %{x}\r\nb: 1\r\n", Some("a: \"%{x}\"\r")),
            (
                "a: '%{lookup('b')}' # c\n",
                Some("a: \"%{lookup('b')}\" # c"),
            ),
            ("- \"C:\\path\"\n", Some("- 'C:\\path'")),
            ("a: \"\\d+\\.\\n\"\n", None),
            ("a: 1\n\t\nb: 2\n", None),
            ("a: [b\nc: 1\n", None),
            ("a: *b\n", None),
            ("a: 'x', 'y'\n", None),
            ("a: 'x' 'y'\n", None),
            ("a: - x\n", None),
            ("a: \"b\n", None),
        ] {
            let parse = parse_yaml(text);
            let problem = parse.error();
            let edit =
                problem.and_then(|problem| quotes(text, problem.range.start as usize, problem));
            let is_hash = edit.as_ref().map(|(_, safety)| *safety == Safety::Unsafe);
            let is_plain = text.contains("Warning") || text.contains("it's");
            assert_eq!(is_hash.unwrap_or(is_plain), is_plain, "{text}");
            let new_text = edit.map(|(edit, _)| edit.new_text);
            assert_eq!(new_text.as_deref(), fixed, "{text}");
        }
    }
}
