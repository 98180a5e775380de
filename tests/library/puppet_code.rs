//! Manifests and templates: the same trees and first errors as Puppet's own parser, on stored answers.

use hiera_ls::syntax::puppet::{Dialect, Parse, parse};
use serde_json::Value;

use crate::puppet_tree::tree;

/// What the two readers say of a text where they differ.
pub(crate) fn difference(text: &str, expected: &Value, parse: &Parse) -> Option<String> {
    let problem = parse.problems.first();
    if let Some(error) = expected.get("error") {
        let (line, column) = (error["line"].as_u64(), error["pos"].as_u64());
        let expected = (error["message"].as_str().unwrap(), line.zip(column));
        let place = problem.and_then(|p| p.line_and_column(text));
        let place = place.map(|(line, column)| (line as u64, column as u64));
        let found = (problem.map_or("", |p| &p.message), place);
        return (found != expected).then(|| format!("{expected:?}, found {found:?}"));
    }
    if let Some(problem) = problem {
        return Some(format!("no error, found {}", problem.full(text)));
    }
    let (mut expected, mut found) = (expected.clone(), tree(&parse.root));
    without_places_in_heredocs(&mut expected["tree"], false);
    without_places_in_heredocs(&mut found, false);
    (found != expected["tree"]).then(|| format!("{}\n  found {found}", expected["tree"]))
}

/// Puppet adds up places in a heredoc before it adds the margins that it cut; ours are true ones.
fn without_places_in_heredocs(tree: &mut Value, mut is_inside: bool) {
    let Value::Array(parts) = tree else { return };
    let kind = parts.first().and_then(Value::as_str).map(str::to_owned);
    if is_inside && kind.is_some() {
        parts[1..3].fill(Value::Null);
    }
    is_inside |= kind.as_deref() == Some("HeredocExpression");
    for part in parts {
        without_places_in_heredocs(part, is_inside);
    }
}

#[test]
fn stored_texts_have_puppets_tree_or_first_error() {
    let cases = include_str!("../cases/puppet-code.jsonl");
    let mut wrong = Vec::new();
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let text = case["text"].as_str().unwrap();
        let dialect = match (&case["epp"], &case["tasks"]) {
            (Value::Bool(true), _) => Dialect::Template,
            (_, Value::Bool(true)) => Dialect::Plan,
            _ => Dialect::Manifest,
        };
        if case["expect"]["error"]["stage"] == "validate" {
            continue;
        }
        if let Some(difference) = difference(text, &case["expect"], &parse(text, dialect)) {
            wrong.push(format!("{text:?}\n  expected {difference}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
