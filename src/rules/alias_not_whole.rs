//! `alias-not-whole`: 'alias' is part of a longer string, which Puppet refuses.

use super::{FileContext, Findings, Fix, Safety, TokenAt};
use crate::interpolation::{Method, TokenKind};
use crate::syntax::ScalarStyle;
use crate::text::{TextEdit, TextRange};

rule!("alias-not-whole", Error, [Token(check)]);

fn check(file: &FileContext<'_>, at: &TokenAt<'_>, findings: &mut Findings<'_>) {
    let TokenKind::Call {
        method: Method::Alias,
        argument,
        ..
    } = &at.token.kind
    else {
        return;
    };
    if at.token.range.len() == at.text.len() {
        return;
    }
    let finding = findings.report(
        at.range,
        format!(
            "'alias' must be the whole string: Puppet fails on this key; for a string write \
             '%{{lookup(\"{argument}\")}}'"
        ),
    );
    finding.fixes.extend(without_blanks(file, at));
}

/// Removes blanks around the call in a quoted string. The line break of a block scalar may be intended.
fn without_blanks(file: &FileContext<'_>, at: &TokenAt<'_>) -> Option<Fix> {
    let token = at.token.range.slice(at.text);
    let style = at.node.as_scalar()?.style;
    let is_quoted = matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted);
    let whole = TextRange::new(0, at.text.len());
    let whole = file.places(at.node).source_range(whole);
    let is_as_written = whole.slice(file.file.text()) == at.text;
    let is_alone = is_quoted && is_as_written && at.text.trim() == token;
    is_alone.then(|| {
        let edit = TextEdit::replace(whole, token);
        Fix::new(Safety::Safe, "Remove the blanks", edit)
    })
}

#[cfg(test)]
mod tests {
    use crate::rules::Safety;
    use crate::rules::marked::{self, ONE_LEVEL};

    /// The value after the fixes.
    fn fixed(value: &str, most: Safety) -> String {
        let text = format!("a: {value}\nb: x\n{ONE_LEVEL}");
        let text = marked::fixed("data/common.yaml", &text, most, |_| true);
        let value = text
            .strip_prefix("a: ")
            .and_then(|it| it.strip_suffix("\nb: x\n"));
        value.expect(&text).to_owned()
    }

    #[test]
    fn blanks_around_it_are_taken_away() {
        let blanks = ["\"%{alias('b')} \"", "\" %{alias('b')}\""];
        for blanks in blanks {
            assert_eq!(fixed(blanks, Safety::Safe), "\"%{alias('b')}\"");
        }
        for other in ["\"see %{alias('b')} \"", "|\n  %{alias('b')}"] {
            assert_eq!(fixed(other, Safety::Unsafe), other);
        }
    }
}
