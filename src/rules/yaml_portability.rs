//! `yaml-portability`: a strict YAML 1.2 reader rejects a file, or reads other values than Puppet.

use yaml_rust2::Event;
use yaml_rust2::parser::Parser;
use yaml_rust2::scanner::ScanError;

use super::context::shown;
use super::finding::Findings;
use super::walk::{NodeRole, roles};
use super::{FileContext, FileRole, Severity};
use crate::syntax::core_schema::resolve_core;
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::syntax::{ScalarStyle, Tree, TreeNode};
use crate::text::TextRange;
use crate::value::float_to_s;
use crate::workspace::Format;

rule!("yaml-portability", Information, [File(check)]);

/// Maximum size of a file that is parsed a second time, in bytes.
const LARGEST: usize = 4 << 20;

fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    let text = at.file.text();
    if at.format() != Format::Yaml || text.len() > LARGEST || at.refusal().is_some() {
        return;
    }
    // All readers can read the plain part of YAML.
    if !at.tree().is_plain()
        && let Some(error) = rejection(text)
    {
        let line = error.marker().line();
        let message = format!(
            "Puppet reads this file, but a strict YAML 1.2 reader stops at line {line}: {}; other \
             tools may reject it or read it differently",
            shown(error.info())
        );
        findings.report(range_of_line(text, line), message);
        return;
    }
    // Keys of a configuration can be symbols or strings.
    if matches!(
        at.role,
        FileRole::Config(_) | FileRole::Project | FileRole::Code
    ) {
        return;
    }
    let mut differences = differences(at.tree());
    let Some((node, difference)) = differences.next() else {
        return;
    };
    let more = match differences.count() {
        0 => String::new(),
        1 => "; there is one more such place in this file".to_owned(),
        more => format!("; there are {more} more such places in this file"),
    };
    let message = format!("{difference}: other tools may read this file differently{more}");
    findings.report_as(Severity::Hint, node.range, message);
}

/// The error of a strict reader.
fn rejection(text: &str) -> Option<ScanError> {
    let mut parser = Parser::new_from_str(text);
    loop {
        match parser.next_token() {
            Ok((Event::StreamEnd, _)) => return None,
            Ok(_) => {}
            Err(error) => return Some(error),
        }
    }
}

/// The plain scalars with another meaning in the core schema of YAML 1.2, in text order, except
/// those that other rules report.
fn differences(tree: &Tree) -> impl Iterator<Item = (&TreeNode, String)> {
    let roles = roles(tree);
    tree.nodes().filter_map(move |(id, node)| {
        let scalar = node.as_scalar()?;
        let is_plain = scalar.style == ScalarStyle::Plain && node.tag.is_none();
        let text = &*scalar.text;
        if !is_plain || is_surely_alike(text) {
            return None;
        }
        difference(text, roles[id.index()]).map(|difference| (node, difference))
    })
}

/// Length of the longest word that one of the readers does not read as a string: `false`.
const LONGEST_WORD: usize = 5;

/// Whether both readers certainly read a text in the same way.
fn is_surely_alike(text: &str) -> bool {
    match text.as_bytes() {
        [] => true,
        [first, rest @ ..] => first.is_ascii_alphabetic() && rest.len() >= LONGEST_WORD,
    }
}

/// A scalar's meaning in words; `None` for kinds that other rules report.
fn in_words(resolved: &Resolved) -> Option<String> {
    Some(match resolved {
        Resolved::Null => "nothing".to_owned(),
        Resolved::Bool(value) => value.to_string(),
        Resolved::Int(value) => format!("the number {value}"),
        Resolved::BigInt(value) => format!("the number {value}"),
        Resolved::Float(value) => format!("the number {}", float_to_s(*value)),
        Resolved::String => "a string".to_owned(),
        Resolved::Symbol(_) | Resolved::Date | Resolved::Time | Resolved::Invalid { .. } => {
            return None;
        }
    })
}

fn difference(text: &str, role: NodeRole) -> Option<String> {
    let puppet = resolve_plain(text);
    let is_word = matches!(puppet, Resolved::Bool(_) | Resolved::Null);
    let is_reported = match role {
        // Other rules report these values.
        NodeRole::Value => {
            matches!(puppet, Resolved::Bool(_)) && !is_truth_value(text)
                || matches!(puppet, Resolved::Int(_) | Resolved::Float(_))
                    && (text.contains([':', ',', '_', 'x']) || has_leading_zero(text))
        }
        // Another rule reports these keys.
        NodeRole::NestedKey => is_word,
        NodeRole::TopLevelKey => false,
    };
    // Another rule reports symbols as values; as keys, they are in old configurations.
    let is_reported = is_reported || matches!(puppet, Resolved::Symbol(_));
    let strict = resolve_core(text);
    if is_reported || agree(&strict, &puppet) {
        return None;
    }
    let (puppet, strict) = (in_words(&puppet)?, in_words(&strict)?);
    Some(format!(
        "Puppet reads '{text}' as {puppet}, a strict YAML 1.2 reader as {strict}"
    ))
}

/// Whether a word is `true` or `false`, in any case.
fn is_truth_value(text: &str) -> bool {
    text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false")
}

fn has_leading_zero(text: &str) -> bool {
    text.len() > 1 && text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether both readings of a scalar are the same value.
fn agree(strict: &Resolved, puppet: &Resolved) -> bool {
    match (strict, puppet) {
        // Ruby distinguishes `1.0` and `1`; most other readers do not.
        (Resolved::Int(strict), Resolved::Float(puppet)) => {
            strict.to_string() == puppet.to_string()
        }
        (Resolved::BigInt(strict), Resolved::Float(puppet)) => {
            strict.to_string() == puppet.to_string()
        }
        (Resolved::Float(strict), Resolved::Float(puppet)) if strict.is_nan() => puppet.is_nan(),
        (_, _) => strict == puppet,
    }
}

/// The range of a line, counted from 1; of the last line if there are fewer.
fn range_of_line(text: &str, line: usize) -> TextRange {
    let mut start = 0;
    let mut range = TextRange::new(0, 0);
    for row in text.split_inclusive('\n').take(line.max(1)) {
        let indent = row.len() - row.trim_start_matches([' ', '\t']).len();
        let end = start + row.trim_end().len().max(indent);
        range = TextRange::new(start + indent, end);
        start += row.len();
    }
    range
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, prop, proptest};
    use proptest::sample::select;

    use super::*;
    use crate::syntax::parse_yaml;
    use crate::syntax::plain_yaml::testing::{PIECES, PLAIN};

    /// Fails if a text is plain, and a strict reader rejects it.
    fn plain_is_strict(text: &str) {
        if parse_yaml(text).tree.is_plain() {
            let error = rejection(text).map(|error| error.to_string());
            assert_eq!(error, None, "{text:?}");
        }
    }

    #[test]
    fn a_strict_reader_reads_plain_texts() {
        for text in PLAIN {
            plain_is_strict(text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 3_000, ..ProptestConfig::default() })]
        #[test]
        fn a_strict_reader_reads_any_plain_text(pieces in prop::collection::vec(select(&PIECES[..]), 0..16)) {
            plain_is_strict(&format!("{}\n", pieces.concat()));
            plain_is_strict(&format!("a: {}\n", pieces.concat()));
            plain_is_strict(&format!("a:\n  b: 1\n  {}\nc: 1\n", pieces.concat()));
        }
    }

    /// The first difference, and how many there are.
    fn found(text: &str) -> (Option<String>, usize) {
        let parse = parse_yaml(text);
        let mut differences = differences(&parse.tree).map(|(_, difference)| difference);
        let first = differences.next();
        let count = usize::from(first.is_some()) + differences.count();
        (first, count)
    }

    #[test]
    fn values_that_both_readers_agree_on() {
        for text in [
            "a: [1, -1, 0, 0x1F, 1.5, -0.5, 1.5e+3, ~, null, true, FALSE, .inf, -.INF, .nan, y, n]\n",
            "a: text\nb: 10.0.0.1\nc: 1.2.3\nd: '0644'\ne: \"yes\"\nf: 123456789012345678901234567890\n",
            "a: !!str 0o17\nb: |\n  1e3\nc: -\nd: 2024-1\n1: a\n",
        ] {
            assert_eq!(found(text), (None, 0), "{text}");
        }
    }

    #[test]
    fn values_that_other_rules_report_are_left_to_them() {
        let reported = "a: [yes, Off, 0644, 1:30, 1_000, '1,5', 2:30.5]\nb: {yes: 1, ~: 2}\n";
        assert_eq!(found(reported), (None, 0));
    }

    #[test]
    fn values_that_differ() {
        for (text, puppet, strict) in [
            ("1e3", "a string", "the number 1000.0"),
            ("1.5e3", "a string", "the number 1500.0"),
            ("0o17", "a string", "the number 15"),
            ("0b101", "the number 5", "a string"),
            ("tRUE", "true", "a string"),
            ("nULL", "nothing", "a string"),
        ] {
            let message =
                format!("Puppet reads '{text}' as {puppet}, a strict YAML 1.2 reader as {strict}");
            assert_eq!(found(&format!("a: [{text}]\n")), (Some(message), 1));
        }
        assert!(
            found("on: 1\n0644: 2\n")
                .0
                .unwrap_or_default()
                .contains("'on' as true")
        );
        assert_eq!(found("on: 1\n0644: 2\n1:30: 3\n").1, 3);
        // Nearly all readers support merge keys, as an extension.
        assert_eq!(found("a: &a {b: 1}\nc:\n  <<: *a\n:d: 1\n").1, 0);
    }
}
