//! `interp-structured-in-string`: a list or a hash is interpolated into a longer string.

use super::looked_up::{Held, held};
use super::variables::variable;
use super::{FileContext, Findings, TokenAt};
use crate::interpolation::{Method, TokenKind};
use crate::scope::is_structured_fact;
use crate::workspace::ValueKind;

rule!(
    "interp-structured-in-string",
    Warning,
    [Token(check)],
    WORKSPACE
);

fn check(file: &FileContext<'_>, at: &TokenAt<'_>, findings: &mut Findings<'_>) {
    if let Some((path, _)) = variable(at) {
        if is_structured_fact(path) {
            let finding = findings.report(
                at.range,
                format!("the fact '{path}' is a hash: Puppet puts the text there that Ruby prints for it"),
            );
            finding.matters_later();
        }
        return;
    }
    // Other rules report tokens that are the whole value, and alias() in longer strings.
    let is_alias = matches!(
        at.token.kind,
        TokenKind::Call {
            method: Method::Alias,
            ..
        }
    );
    let is_value = at.token.range.len() == at.text.len() && !at.is_key;
    if is_alias || is_value {
        return;
    }
    let Some((looked_up, Held::Values(values))) = held(file, at) else {
        return;
    };
    if file.checker.has_option(&looked_up.root, "convert_to") {
        return;
    }
    let kind = if values.iter().all(|kind| *kind == ValueKind::Hash) {
        "a hash"
    } else if values.iter().all(|kind| *kind == ValueKind::List) {
        "a list"
    } else {
        return;
    };
    let finding = findings.report(
        at.range,
        format!(
            "'{}' is {kind}: Puppet puts the text there that Ruby prints for it",
            looked_up.key.text
        ),
    );
    // The text of a list is the same in all versions, unless it has hashes in it.
    if kind == "a hash" {
        finding.matters_later();
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::marked::check_levels;

    #[test]
    fn a_fact_that_is_a_hash_is_the_text_of_it() {
        check_levels(
            RULE,
            "a: x %{facts.os} y #~ interp-structured-in-string\n\
             b: \"%{facts.networking}\" #~ interp-structured-in-string\n\
             c: \"%{::os.release}\" #~ interp-structured-in-string\n\
             d: \"%{facts.os.family} %{facts.mine} %{kernel}\"\n",
        );
    }

    #[test]
    fn a_key_that_is_a_list_is_the_text_of_it() {
        check_levels(
            RULE,
            "l: [1]\nn: 5\na: {\"%{lookup('l')}\": 1} #~ interp-structured-in-string\n\
             b: {\"%{lookup('n')}\": 1}\nc: {x: \"%{lookup('l')}\"}\n",
        );
    }
}
