//! `malformed-call`: a token is neither a variable nor a call with one quoted argument.

use super::{FileContext, Findings, Fix, Safety, Severity, TokenAt, shown};
use crate::interpolation::{Method, TokenKind};
use crate::lookup::PuppetVersion;
use crate::syntax::ScalarStyle;
use crate::text::TextEdit;

rule!("malformed-call", Error, [Token(check)]);

fn check(file: &FileContext<'_>, at: &TokenAt<'_>, findings: &mut Findings<'_>) {
    let written = at.token.range.slice(at.text);
    match &at.token.kind {
        TokenKind::Malformed => {
            let finding = findings.report(
                at.range,
                format!(
                    "syntax error in '{}': Puppet fails on this key; {}",
                    shown(written),
                    advice(at.token.inner.slice(at.text))
                ),
            );
            finding.fixes.extend(well_formed(file, at));
        }
        TokenKind::Variable { key } => {
            let root = key.root.as_name().unwrap_or_default();
            let Some((name, argument)) = root.split_once(['(', ' ']) else {
                return;
            };
            if Method::from_name(name).is_none() {
                return;
            }
            let advice = if argument.ends_with(')') {
                "quote the argument"
            } else {
                "a call has brackets and one quoted argument"
            };
            let (severity, effect) = match file.settings().puppet_version {
                PuppetVersion::V8 | PuppetVersion::V9 => {
                    (Severity::Error, "Puppet fails on this key")
                }
                PuppetVersion::V7 => (Severity::Warning, "Puppet puts an empty string there"),
            };
            let finding = findings.report_as(
                severity,
                at.range,
                format!(
                    "'{}' is read as a variable of that name: {effect}; {advice}",
                    shown(written)
                ),
            );
            finding.matters_later();
            finding.fixes.extend(well_formed(file, at));
        }
        TokenKind::Empty
        | TokenKind::Call { .. }
        | TokenKind::UnknownMethod { .. }
        | TokenKind::Unclosed => {}
    }
}

/// The advice where no single mistake can be named.
const GENERAL: &str =
    "a call has exactly one quoted argument, without spaces around it and with nothing after it";

/// The mistake in the text of a call, for messages.
fn advice(inner: &str) -> String {
    let Some((name, rest)) = inner.split_once('(') else {
        return GENERAL.to_owned();
    };
    let Some((argument, after)) = rest.rsplit_once(')') else {
        return "the closing ')' is missing".to_owned();
    };
    let quote = |end: Option<char>| end.filter(|char| matches!(char, '\'' | '"'));
    let quotes = (
        quote(argument.trim().chars().next()),
        quote(argument.trim().chars().next_back()),
    );
    let has_one = |quote| argument.matches(quote).count() == 1 && argument.trim().len() > 1;
    let bare = |quote: char| shown(argument.trim().trim_matches(quote));
    let advice = match quotes {
        _ if !after.is_empty() => "nothing may follow the ')'",
        _ if name.ends_with(' ') => "no space is allowed before the '('",
        (Some(open), Some(close)) if open != close => "the quotes are not the same",
        (Some(quote), _) if has_one(quote) => {
            return format!("missing closing quote after '{}'", bare(quote));
        }
        (_, Some(quote)) if has_one(quote) => {
            return format!("missing opening quote before '{}'", bare(quote));
        }
        (Some(quote), Some(_)) if argument.matches(quote).count() > 2 => {
            "a call has exactly one argument"
        }
        (Some(_), Some(_)) if argument.trim() != argument => {
            "no spaces are allowed around the argument"
        }
        _ if argument.trim().is_empty() => "the argument is missing",
        _ => GENERAL,
    };
    advice.to_owned()
}

/// An argument in quotes that only lacks the ')' after it.
fn quoted(rest: &str) -> Option<&str> {
    let quote = rest
        .chars()
        .next()
        .filter(|char| matches!(char, '\'' | '"'))?;
    let bare = rest.strip_prefix(quote)?.strip_suffix(quote)?;
    (!bare.contains(quote)).then_some(rest)
}

/// The call with its one argument in quotes and without blanks.
fn well_formed(file: &FileContext<'_>, at: &TokenAt<'_>) -> Option<Fix> {
    let inner = at.token.inner.slice(at.text);
    let (name, argument) = match inner.split_once('(') {
        Some((name, rest)) => (
            name,
            rest.strip_suffix(')').or_else(|| quoted(rest))?.trim(),
        ),
        None => inner.split_once(' ')?,
    };
    Method::from_name(name.trim())?;
    let argument = argument.trim();
    let bare = argument.trim_matches(['\'', '"']);
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.' | b'-');
    if bare.is_empty() || !bare.bytes().all(fits) {
        return None;
    }
    let quote = match (argument.len() - bare.len(), at.node.as_scalar()?.style) {
        (0, ScalarStyle::SingleQuoted) => "\"",
        (0, _) => "'",
        (1, _) if argument.ends_with(bare) => &argument[..1],
        (1, _) => &argument[bare.len()..],
        (2, _) if argument.ends_with(&argument[..1]) => &argument[..1],
        (_, _) => return None,
    };
    let range = file.places(at.node).source_range(at.token.inner);
    // In another spelling, such as with escapes, quotes could end the string.
    if range.slice(file.file.text()) != inner {
        return None;
    }
    let new = format!("{}({quote}{bare}{quote})", name.trim());
    let title = format!("Write {new}");
    Some(Fix::new(Safety::Safe, title, TextEdit::replace(range, new)))
}

#[cfg(test)]
mod tests {
    use super::advice;

    #[test]
    fn the_advice_is_about_what_is_wrong() {
        let advices = [
            ("lookup('a", "the closing ')' is missing"),
            ("lookup('a')x", "nothing may follow the ')'"),
            ("lookup('a)", "missing closing quote after 'a'"),
            ("lookup(a')", "missing opening quote before 'a'"),
            ("lookup(')", super::GENERAL),
            ("lookup('a\")", "the quotes are not the same"),
            ("lookup( 'a' )", "no spaces are allowed around the argument"),
            ("lookup('a', 'b')", "a call has exactly one argument"),
            ("lookup ('a')", "no space is allowed before the '('"),
            ("lookup()", "the argument is missing"),
        ];
        for (inner, message) in advices {
            assert_eq!(advice(inner), message, "{inner}");
        }
    }
}
