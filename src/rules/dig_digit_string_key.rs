//! `dig-digit-string-key`: a token digs with a number, but the hash has it as a string.

use super::looked_up::{Held, held, segments};
use super::{FileContext, Findings, Fix, Safety, TokenAt};
use crate::interpolation::{Segment, TokenKind};
use crate::syntax::ScalarStyle;
use crate::text::TextEdit;

rule!("dig-digit-string-key", Warning, [Token(check)], WORKSPACE);

fn check(file: &FileContext<'_>, at: &TokenAt<'_>, findings: &mut Findings<'_>) {
    let Some((looked_up, Held::NoPart { segment, names })) = held(file, at) else {
        return;
    };
    if !matches!(segment, Segment::Index(_)) || !names.contains(&*segment.to_string()) {
        return;
    }
    let finding = findings.report(
        at.range,
        format!(
            "'{}' has the string \"{segment}\" as a key, not the number: Puppet puts an empty string \
             there; quote '{segment}' in the lookup",
            looked_up.root
        ),
    );
    let TokenKind::Call { argument_range, .. } = &at.token.kind else {
        return;
    };
    // The quote that is not used around the key, as spelled in the scalar.
    let before = at.text[..argument_range.start as usize].chars().next_back();
    let quote = match (before, at.node.as_scalar().map(|scalar| scalar.style)) {
        (Some('\''), Some(ScalarStyle::DoubleQuoted | ScalarStyle::JsonString)) => "\\\"",
        (Some('\''), Some(_)) => "\"",
        (Some('"'), Some(ScalarStyle::SingleQuoted)) => "''",
        (Some('"'), Some(_)) => "'",
        (_, _) => return,
    };
    let mut segments = segments(at).into_iter().skip(1);
    let Some((_, range)) = segments.find(|(one, _)| one == segment) else {
        return;
    };
    let edit = TextEdit::replace(
        file.places(at.node).source_range(range),
        format!("{quote}{segment}{quote}"),
    );
    let title = format!("Quote '{segment}'");
    finding.fixes.push(Fix::new(Safety::Safe, title, edit));
}
