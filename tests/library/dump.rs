//! YAML output, compared with a table that `tests/parity/dump.rb` made with the real Psych, and
//! reading back.

use std::sync::Arc;

use hiera_ls::value::{
    HashMap, Value, dump, dump_for_hover, dump_shared, from_json, load_yaml, to_tagged_json,
};
use proptest::prelude::*;

use crate::tagged_json::from_tagged_json;

#[test]
fn dumps_as_psych_does() {
    let table = include_str!("../cases/psych-dump.jsonl");
    let (mut checked, mut wrong) = (0, Vec::new());
    for line in table.lines() {
        let case = from_json(line).unwrap();
        let value = from_tagged_json(&to_tagged_json(case.get("value").unwrap())).unwrap();
        let theirs = case.get("yaml").and_then(Value::as_str).unwrap();
        let ours = dump(&value);
        if ours != theirs {
            wrong.push(format!(
                "{}\n  ours   {ours:?}\n  theirs {theirs:?}",
                value.inspect()
            ));
        }
        checked += 1;
    }
    let shown = wrong.iter().take(40).cloned().collect::<Vec<_>>();
    assert!(
        wrong.is_empty(),
        "{} of {checked}:\n{}",
        wrong.len(),
        shown.join("\n")
    );
    assert!(checked > 3000, "{checked}");
}

#[test]
fn values_in_hovers_parse_to_the_same_value() {
    let table = include_str!("../cases/psych-dump.jsonl");
    for line in table.lines() {
        let case = from_json(line).unwrap();
        let value = from_tagged_json(&to_tagged_json(case.get("value").unwrap())).unwrap();
        let text = to_tagged_json(&value);
        if text.contains("__ptype") && !text.contains("\"Float\"") {
            continue;
        }
        check_reads_back(&value);
    }
}

fn check_reads_back(value: &Value) {
    // In Puppet an empty document is `false`, and so is `~`.
    if value.is_undef() {
        return;
    }
    let text = dump_for_hover(value);
    match load_yaml(text.as_bytes()) {
        Ok(read) => assert_eq!(read.inspect(), value.inspect(), "{text}"),
        Err(error) => panic!("{text:?}: {}", error.message),
    }
}

#[test]
fn anchors_are_numbered_as_psych_meets_them_again() {
    let base = Value::hash([("x", Value::from(1))]);
    let list = Value::array([base.clone(), base]);
    let value = Value::array([list.clone(), list]);
    assert_eq!(
        dump_shared(&value),
        "---\n- &2\n  - &1\n    x: 1\n  - *1\n- *2\n"
    );
    assert_eq!(
        dump(&value),
        "---\n- - x: 1\n  - x: 1\n- - x: 1\n  - x: 1\n"
    );
    let empty = Value::array([]);
    assert_eq!(
        dump_shared(&Value::array([empty.clone(), empty])),
        "---\n- &1 []\n- *1\n"
    );
    let text = Value::from("same");
    assert_eq!(
        dump_shared(&Value::array([text.clone(), text])),
        "---\n- same\n- same\n"
    );
}

#[test]
fn hovers_redact_secrets() {
    let value = Value::hash([("a", Value::Sensitive(Arc::new(Value::from("pw"))))]);
    assert_eq!(dump_for_hover(&value), "a: Sensitive [value redacted]");
    assert_eq!(dump_for_hover(&Value::Undef), "~");
    assert_eq!(dump_for_hover(&Value::from("2024-02-30")), "'2024-02-30'");
}

#[test]
fn a_bomb_of_shared_lists_is_cut() {
    let mut value = Value::array([Value::from("a")]);
    for _ in 0..40 {
        value = Value::array([value.clone(), value.clone()]);
    }
    assert_eq!(dump_shared(&value).lines().count(), 82);
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Undef),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        any::<f64>().prop_map(Value::Float),
        any::<String>().prop_map(Value::from),
        "[ \\n\\t'\"#:,.~0-9a-z_\\[\\]{}<>|!&*%@`?=-]{0,12}".prop_map(Value::from),
        "(ab|c |: |# |\"|\\n){0,60}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..5).prop_map(|entries| {
                let entries = entries
                    .into_iter()
                    .map(|(key, value)| (Value::from(key), value));
                Value::from(entries.collect::<HashMap>())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_reads_back(value in any_value()) {
        check_reads_back(&value);
    }
}

#[test]
fn tagged_json_reads_back() {
    let values = Value::array([
        Value::Sensitive(Arc::new(Value::hash([("k", Value::Undef)]))),
        Value::Bytes(Arc::from([0xff, 0])),
        Value::Symbol("a b".into()),
        Value::Float(f64::NEG_INFINITY),
        Value::Default,
        Value::hash([("__pairs", Value::from(1))]),
    ]);
    assert_eq!(from_tagged_json(&to_tagged_json(&values)).unwrap(), values);
}
