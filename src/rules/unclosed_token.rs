//! `unclosed-token`: a token has no closing brace, so Puppet treats it as text.

use super::{FileContext, Findings, Fix, Safety, Severity, TokenAt, shown};
use crate::interpolation::{TokenKind, parse_token};
use crate::text::{TextEdit, TextRange};

rule!("unclosed-token", Warning, [Token(check)]);

fn check(file: &FileContext<'_>, at: &TokenAt<'_>, findings: &mut Findings<'_>) {
    if matches!(at.token.kind, TokenKind::Variable { .. })
        && at.token.inner.slice(at.text).contains("%{")
    {
        let finding = findings.report(
            at.range,
            format!(
                "'%{{' has no '}}' before the next '%{{': Puppet reads '{}' as one token, and no variable has that name; close the first one",
                shown(at.token.range.slice(at.text))
            ),
        );
        finding.matters_later();
        return;
    }
    if at.token.kind != TokenKind::Unclosed {
        return;
    }
    let token = at.text[at.token.range.start as usize..].trim_end();
    let inner = token[2..].trim_start();
    // Other languages also have percent signs before braces: only text that starts like a token is reported.
    let begins =
        |first: char| first.is_ascii_alphabetic() || matches!(first, ':' | '_' | '\'' | '"');
    if !inner.starts_with(begins) {
        return;
    }
    let kind = parse_token(inner, 0);
    let is_call = matches!(kind, TokenKind::Call { .. });
    let name = inner.split(|one: char| !is_of_path(one)).next();
    let is_surely_one = is_call || is_known(file, name.unwrap_or_default());
    // Blanks are a sign of another language.
    let has_blank = token[2..].contains(char::is_whitespace);
    let severity = if has_blank && !is_surely_one && !inner.contains('(') {
        Severity::Hint
    } else {
        Severity::Warning
    };
    // Line breaks at the end of a block are not part of it.
    let start = at.token.range.start as usize;
    let range = TextRange::new(start, start + token.len());
    let range = file.places(at.node).source_range(range);
    let finding = findings.report_as(
        severity,
        range,
        "'%{' has no '}': Puppet leaves it as it is; close it, or write \
         '%{literal('%')}{' for a percent sign",
    );
    // If more text follows the name, the end of the token is unknown.
    let is_whole = match kind {
        TokenKind::Call { .. } => !inner.contains('\n'),
        TokenKind::Variable { .. } => !has_blank && !inner.contains(['(', '%', '{']),
        TokenKind::Empty
        | TokenKind::UnknownMethod { .. }
        | TokenKind::Malformed
        | TokenKind::Unclosed => false,
    };
    if is_whole {
        let safety = if is_surely_one {
            Safety::Safe
        } else {
            Safety::Unsafe
        };
        let edit = TextEdit::insert(range.end as usize, "}");
        finding
            .fixes
            .push(Fix::new(safety, "Close the token", edit));
    }
}

/// Whether a character can be in the path of a variable.
fn is_of_path(one: char) -> bool {
    one.is_ascii_alphanumeric() || matches!(one, '_' | ':' | '.' | '-')
}

/// Whether a path is certainly a variable of Puppet: other programs have no such names.
fn is_known(file: &FileContext<'_>, path: &str) -> bool {
    let bare = path.strip_prefix("::").unwrap_or(path);
    let (name, part) = bare.split_once('.').unwrap_or((bare, ""));
    let is_structured = matches!(name, "facts" | "server_facts" | "trusted") && !part.is_empty();
    let is_topmost = bare.len() < path.len() && !name.is_empty();
    is_structured || is_topmost || file.checker.path_variables().contains(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Finding, marked};

    /// The text after safe fixes, or after all, and the severities of the findings.
    fn fixed(data: &str, most: Safety) -> (String, Vec<Severity>) {
        let text = format!(
            "{data}#- hiera.yaml\nversion: 5\nhierarchy: [{{name: c, paths: ['%{{role}}.yaml', \
             common.yaml]}}]\n"
        );
        let found = marked::found(RULE, "data/common.yaml", &text).into_iter();
        let severities = found.map(|finding| finding.severity).collect();
        let is_own = |finding: &Finding| finding.code == RULE.code;
        let text = marked::fixed("data/common.yaml", &text, most, is_own);
        (text, severities)
    }

    #[test]
    fn a_token_at_the_end_of_a_block_is_closed_in_its_line() {
        for head in ["|", ">", "|-", ">-", "|+"] {
            let data = format!("a: {head}\n  x %{{facts.os.family\nb: 1\n");
            let closed = data.replace("family", "family}");
            assert_eq!(fixed(&data, Safety::Safe).0, closed);
        }
        let data = "a: |\n  x %{facts.os.family\n  y\nb: 1\n";
        let (text, severities) = fixed(data, Safety::Unsafe);
        assert_eq!((&*text, &*severities), (data, &[Severity::Warning][..]));
    }

    #[test]
    fn possible_text_is_closed_only_by_unsafe_fixes_or_not_at_all() {
        for surely in [
            "%{facts.x",
            "%{trusted.certname",
            "%{::x",
            "%{role",
            "%{lookup('a')",
        ] {
            let data = format!("a: \"{surely}\"\n");
            let closed = format!("a: \"{surely}}}\"\n");
            assert_eq!(
                fixed(&data, Safety::Safe),
                (closed, vec![Severity::Warning])
            );
        }
        let unknown = "a: \"%{a\"\n";
        let (text, severities) = fixed(unknown, Safety::Safe);
        assert_eq!((&*text, &*severities), (unknown, &[Severity::Warning][..]));
        assert_eq!(fixed(unknown, Safety::Unsafe).0, "a: \"%{a}\"\n");
        for prose in ["a: \"50%{ of\"\n", "a: \"50%{of all\"\n"] {
            let (text, severities) = fixed(prose, Safety::Unsafe);
            assert_eq!((&*text, &*severities), (prose, &[Severity::Hint][..]));
        }
    }
}
