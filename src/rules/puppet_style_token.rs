//! `puppet-style-token`: a string has a variable in the syntax of Puppet code, which data does not interpolate.

use super::variables::modern;
use super::{FileContext, Findings, Fix, Safety, ScalarAt};
use crate::interpolation::{TokenKind, parse_token};
use crate::syntax::{ScalarStyle, quoted};
use crate::text::{TextEdit, TextRange};

/// Starts of variables and calls that only Puppet has, not shells.
const PUPPETS_OWN: [&str; 7] = [
    "facts[",
    "facts.",
    "trusted[",
    "trusted.",
    "server_facts[",
    "lookup(",
    "hiera(",
];

rule!("puppet-style-token", Warning, [Scalar(check)]);

fn check(file: &FileContext<'_>, at: &ScalarAt<'_>, findings: &mut Findings<'_>) {
    let text = &*at.scalar.text;
    for (start, _) in text.match_indices("${") {
        let inside = &text[start + 2..];
        let Some(end) = inside.find('}') else { break };
        let inside = &inside[..end];
        let bare = inside.strip_prefix("::").unwrap_or(inside);
        let is_top =
            bare.len() < inside.len() && bare.starts_with(|first: char| first.is_ascii_lowercase());
        if !is_top && !PUPPETS_OWN.iter().any(|own| bare.starts_with(own)) {
            continue;
        }
        let range = TextRange::new(start, start + 2 + end + 1);
        let range = file.places(at.node).source_range(range);
        let replacement = in_data(bare).map(|variable| modern(&variable).unwrap_or(variable));
        let is_call = matches!(parse_token(inside, 0), TokenKind::Call { .. });
        let replacement = replacement.or_else(|| is_call.then(|| inside.to_owned()));
        let example = if bare.contains('(') {
            "lookup('key')"
        } else {
            "facts.os.family"
        };
        let what = if bare.contains('(') {
            "values are looked up by"
        } else {
            "variables are written"
        };
        let finding = findings.report(
            range,
            format!(
                "'${{{inside}}}' stays as it is: in data {what} '%{{{}}}'",
                replacement.as_deref().unwrap_or(example)
            ),
        );
        if let Some(replacement) = replacement {
            let token = format!("%{{{replacement}}}");
            let title = format!("Write '{token}'");
            let edit = match starts_plain(at, start) {
                // A call keeps its quotes as they are written.
                false if is_call => sign_of(file, range),
                false => Some(TextEdit::replace(range, &*token)),
                true => quoted_with(at, &format!("{token}{}", &text[start + 2 + end + 1..])),
            };
            let fix = edit.map(|edit| Fix::new(Safety::Unsafe, title, edit));
            finding.fixes.extend(fix);
        }
    }
}

/// Replaces the `$` of code by the `%` of data.
fn sign_of(file: &FileContext<'_>, token: TextRange) -> Option<TextEdit> {
    let is_sign = token.slice(file.file.text()).starts_with('$');
    let start = token.start as usize;
    is_sign.then(|| TextEdit::replace(TextRange::new(start, start + 1), "%"))
}

/// Whether a token would start a plain scalar: YAML allows no percent sign there.
fn starts_plain(at: &ScalarAt<'_>, place: usize) -> bool {
    place == 0 && at.scalar.style == ScalarStyle::Plain
}

/// Replaces a plain scalar of one line by a quoted text.
fn quoted_with(at: &ScalarAt<'_>, text: &str) -> Option<TextEdit> {
    let is_one_line = at.scalar.text.len() == at.node.range.len();
    is_one_line.then(|| TextEdit::replace(at.node.range, quoted(text)))
}

/// A variable in the syntax of data: `facts['os']['family']` as `facts.os.family`.
fn in_data(variable: &str) -> Option<String> {
    let end = variable.find('[').unwrap_or(variable.len());
    let (name, mut rest) = variable.split_at(end);
    let mut path = name.to_owned();
    while let Some(part) = rest.strip_prefix('[') {
        let (part, behind) = part.split_once(']')?;
        let quoted = part
            .strip_prefix('\'')
            .and_then(|part| part.strip_suffix('\''));
        let quoted = quoted.or_else(|| part.strip_prefix('"')?.strip_suffix('"'));
        path = format!("{path}.{}", quoted.unwrap_or(part));
        rest = behind;
    }
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':');
    (rest.is_empty() && path.bytes().all(fits)).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::marked::{check_levels, found};

    #[test]
    fn a_call_is_written_with_the_sign_of_data() {
        let text = "a: \"${lookup('k')}\" #~ puppet-style-token\n\
                    b: '${lookup(''k'')}' #~ puppet-style-token\n\
                    c: ${lookup('k')} #~ puppet-style-token\n\
                    d: \"${lookup($k)}\" #~ puppet-style-token\n";
        let found = check_levels(RULE, text);
        let fixes = found.iter().map(|finding| finding.fixes.first());
        let edits = fixes.map(|fix| fix.map_or("", |fix| &*fix.edits[0].new_text));
        assert_eq!(
            edits.collect::<Vec<_>>(),
            ["%", "%", "\"%{lookup('k')}\"", ""]
        );
        assert!(
            found[3]
                .message
                .ends_with("in data values are looked up by '%{lookup('key')}'")
        );
    }

    #[test]
    fn a_plain_scalar_that_would_start_with_a_percent_sign_is_quoted() {
        let text = "#- hiera.yaml\nversion: 5\nhierarchy: [{name: c, path: common.yaml}]\n\
                    #- data/common.yaml\na: ${facts.x} y\nb: z ${facts.x}\nc: |\n  ${facts.x}\n";
        let found = found(RULE, "data/common.yaml", text);
        let edits = found.iter().flat_map(|finding| &finding.fixes[0].edits);
        let written: Vec<&str> = edits.map(|edit| &*edit.new_text).collect();
        assert_eq!(written, ["\"%{facts.x} y\"", "%{facts.x}", "%{facts.x}"]);
    }

    #[test]
    fn parts_in_brackets_are_joined_by_dots() {
        let converted = |variable| in_data(variable).unwrap_or_default();
        assert_eq!(converted("facts['os'][\"family\"]"), "facts.os.family");
        assert_eq!(converted("facts.os"), "facts.os");
        assert_eq!(converted("list[0]"), "list.0");
        assert_eq!(converted("lookup('x')"), "");
        assert_eq!(converted("facts['a b']"), "");
    }
}
