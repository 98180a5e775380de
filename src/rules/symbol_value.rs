//! `symbol-value`: a value starts with a colon, which makes it a symbol that data cannot hold.

use super::{FileContext, Findings, Fix, Safety, ScalarAt};
use crate::syntax::ScalarStyle;
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::text::{TextEdit, TextRange};
use crate::value::is_symbol_tag;
use crate::workspace::Format;

rule!("symbol-value", Error, [Scalar(check)]);

fn check(file: &FileContext<'_>, at: &ScalarAt<'_>, findings: &mut Findings<'_>) {
    if file.format() != Format::Yaml {
        return;
    }
    let scalar = at.scalar;
    if let Some(tag) = &at.node.tag {
        if is_symbol_tag(&tag.text) {
            let finding = findings.report(
                at.node.range,
                format!(
                    "the tag '{}' makes a Ruby symbol of it: Puppet fails on this key; remove the tag",
                    tag.text
                ),
            );
            finding.fixes.extend(without_tag(file, at));
        }
        return;
    }
    if scalar.style != ScalarStyle::Plain
        || !matches!(resolve_plain(&scalar.text), Resolved::Symbol(_))
    {
        return;
    }
    let finding = findings.report(
        at.node.range,
        format!(
            "'{}' is read as a Ruby symbol: Puppet fails on this key; quote it",
            scalar.text
        ),
    );
    finding.fixes.extend(Fix::quote(Safety::Safe, at.node));
}

/// Removes the tag, and quotes the scalar if it is plain.
fn without_tag(file: &FileContext<'_>, at: &ScalarAt<'_>) -> Option<Fix> {
    let (tag, node) = (at.node.tag.as_ref()?, at.node);
    let gap = TextRange::new(tag.range.end as usize, node.range.start as usize);
    if tag.range.end > node.range.start || !gap.slice(file.file.text()).trim().is_empty() {
        return None;
    }
    let quote = if at.scalar.style == ScalarStyle::Plain {
        Fix::quote(Safety::Safe, node)?.edits.pop()?
    } else {
        TextEdit::insert(node.range.start as usize, "")
    };
    let range = tag.range.cover(quote.range);
    let edit = TextEdit::replace(range, quote.new_text);
    Some(Fix::new(Safety::Safe, "Remove the tag", edit))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::marked::{ONE_LEVEL, fixed};
    use crate::rules::{Finding, Safety};

    #[test]
    fn a_tag_is_removed_and_its_text_kept() {
        let before = "a: !ruby/symbol foo # why\nb: !ruby/symbol 'bar'\nc: [!ruby/sym 1]\n";
        let after = "a: \"foo\" # why\nb: 'bar'\nc: [\"1\"]\n";
        let text = format!("{before}{ONE_LEVEL}");
        let is_own = |finding: &Finding| finding.code == RULE.code;
        let fixed = fixed("data/common.yaml", &text, Safety::Safe, is_own);
        assert_eq!(fixed, after);
    }
}
