//! `yaml-syntax`: a file is not YAML for Puppet, which refuses all of it.

use super::{Depends, FileContext, Findings, Fix, Hook, Rule, Safety, Severity};
use crate::syntax::{ProblemKind, parse_yaml, quote_scalars, quoted};
use crate::text::{TextEdit, TextRange};
use crate::value::LoadErrorKind;

pub(super) const RULE: &Rule = &Rule {
    code: "yaml-syntax",
    severity: Severity::Error,
    summary: "a file is not YAML for Puppet, which refuses all of it",
    page: include_str!("../../docs/rules/yaml-syntax.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::File(check)],
};

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
            if let Some(edit) = quotes(at.file.text(), range.start as usize) {
                finding.fixes.push(Fix::new(Safety::Safe, "Quote it", edit));
            }
        }
        LoadErrorKind::YamlDisallowedClass
        | LoadErrorKind::YamlDate
        | LoadErrorKind::YamlUnknownAlias
        | LoadErrorKind::Json
        | LoadErrorKind::Hocon
        | LoadErrorKind::HoconEnvironment
        | LoadErrorKind::Io(_) => {}
    }
}

/// Quotes around what cannot stand without in the line of a mistake, if that is what is wrong: the text is
/// YAML then, or what is wrong is in another line.
fn quotes(text: &str, place: usize) -> Option<TextEdit> {
    /// Bytes of the longest line that is looked at.
    const LONGEST: usize = 4096;
    let start = text[..place].rfind('\n').map_or(0, |at| at + 1);
    let end = text[place..].find('\n').map_or(text.len(), |at| place + at);
    let line = text.get(start..end).filter(|line| line.len() <= LONGEST)?;
    // `*.example.com` is no alias, since an alias has a name.
    let begins = |scalar: &str| {
        let mut characters = scalar.chars();
        match characters.next() {
            Some('%' | '@' | '`') => true,
            Some('*') => !characters.next().is_some_and(char::is_alphanumeric),
            _ => false,
        }
    };
    let scalars = std::iter::once(quote_scalars(line, &begins));
    let fixed = scalars.chain(quoted_value(line)).find(|fixed| {
        let whole = format!("{}{fixed}{}", &text[..start], &text[end..]);
        let line_end = start + fixed.len();
        let problem = parse_yaml(&whole).error().map(|error| error.range.start);
        *fixed != line && problem.is_none_or(|at| at as usize > line_end)
    })?;
    Some(TextEdit::replace(TextRange::new(start, end), fixed))
}

/// The line of an entry with all of its value in quotes: `title: Warning: disk full`.
fn quoted_value(line: &str) -> Option<String> {
    let key = line.find(": ")? + 2;
    let start = key + line[key..].len() - line[key..].trim_start().len();
    let value = line[start..].split(" #").next().unwrap_or_default();
    let value = value.trim_end();
    let is_plain =
        !value.is_empty() && !value.starts_with(['"', '\'', '[', '{', '|', '>', '&', '!']);
    is_plain.then(|| {
        let end = start + value.len();
        format!("{}{}{}", &line[..start], quoted(value), &line[end..])
    })
}

#[cfg(test)]
mod tests {
    use super::quotes;
    use crate::syntax::parse_yaml;

    #[test]
    fn what_cannot_stand_without_quotes_gets_them() {
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
            ("a: [b\nc: 1\n", None),
            ("a: *b\n", None),
            ("a: \"b\n", None),
        ] {
            let parse = parse_yaml(text);
            let place = parse.error().map(|error| error.range.start as usize);
            let edit = place.and_then(|place| quotes(text, place));
            assert_eq!(edit.map(|edit| edit.new_text).as_deref(), fixed, "{text}");
        }
    }
}
