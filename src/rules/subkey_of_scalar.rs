//! `subkey-of-scalar`: a token digs into a value that has no sub-keys.

use super::looked_up::{Held, held};
use super::{FileContext, Findings, TokenAt};
use crate::workspace::ValueKind;

rule!("subkey-of-scalar", Error, [Token(check)], WORKSPACE);

fn check(file: &FileContext<'_>, at: &TokenAt<'_>, findings: &mut Findings<'_>) {
    let Some((looked_up, held)) = held(file, at) else {
        return;
    };
    let Held::Scalar {
        kind,
        depth,
        segment,
    } = held
    else {
        return;
    };
    let parts = looked_up.key.segments.iter().take(*depth);
    let root = parts.fold(looked_up.root.to_string(), |name, part| {
        format!("{name}.{part}")
    });
    let kind = match kind {
        ValueKind::List => {
            let message = format!(
                "'{root}' is a list, which has elements by number and no '{segment}': Puppet fails on this key"
            );
            findings.report(at.range, message);
            return;
        }
        ValueKind::Boolean => "true or false",
        ValueKind::Number => "a number",
        ValueKind::Text
        | ValueKind::Open
        | ValueKind::Undef
        | ValueKind::Hash
        | ValueKind::Other => "a string",
    };
    let message = format!("'{root}' is {kind}, which has no sub-keys: Puppet fails on this key");
    findings.report(at.range, message);
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::marked::check_levels;

    #[test]
    fn the_part_is_named_that_has_no_parts() {
        let found = check_levels(
            RULE,
            "l: [1]\nh: {a: text}\n\
             x: \"%{lookup('l.0.a')}\" #~ subkey-of-scalar\n\
             y: \"%{lookup('h.a.b')}\" #~ subkey-of-scalar\n",
        );
        let messages: Vec<&str> = found.iter().map(|it| it.message.as_str()).collect();
        assert!(
            messages[0].starts_with("'l.0' is a number, "),
            "{messages:?}"
        );
        assert!(
            messages[1].starts_with("'h.a' is a string, "),
            "{messages:?}"
        );
    }
}
