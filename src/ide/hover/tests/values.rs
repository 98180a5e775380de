//! Values as YAML for people.

use proptest::prelude::*;

use crate::page::yaml::{Notes, lines};
use crate::value::{Value, load_yaml};

fn written(value: &Value) -> String {
    lines(value, &Notes::new(), true).lines.join("\n")
}

#[test]
fn values_read_back() {
    for text in [
        "a: yes\nb: 'yes'\nc: '1:30'\nd: 2.5\ne: ~\nf: ''",
        "- [1, [2, 3], {a: 1}]\n- []\n- {}\n- - - x",
        "a: |\n  one\n  two\nb: \"x\\ny\"\nc: \" lead\\nb\"\n",
        "a: [it's, 'a: b', '#x', '- y', 'k,l', '[', '0644', '2024-01-01', ':sym']",
        // Looks like the mask of an encrypted value.
        "a: '(encrypted, a: b #)'",
        "1: a\n'1': b\ntrue: c\n",
    ] {
        let value = load_yaml(text.as_bytes()).expect("a value");
        let shown = written(&value);
        let back = load_yaml(format!("{shown}\n").as_bytes());
        assert_eq!(back.as_ref().ok(), Some(&value), "{shown}");
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-z0-9:,'\"#%@ \\-\\[\\]{}&*!|>.~?=\n\t]{0,12}",
        "\\PC{0,6}",
        "(yes|no|on|null|0x1f|0o17|1_0|1e3|1:30|2001-01-01|[+-]?[0-9.,_]{1,5})",
    ];
    let leaf = prop_oneof![
        text.prop_map(Value::from),
        any::<i64>().prop_map(Value::Int),
        any::<bool>().prop_map(Value::Bool),
        Just(Value::Undef),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-z:' ]{0,5}", inner), 0..4).prop_map(|entries| Value::from(
                entries
                    .into_iter()
                    .filter(|(key, _)| key != "<<")
                    .map(|(key, value)| (Value::from(key), value))
                    .collect::<crate::value::HashMap>()
            )),
        ]
    })
}

proptest! {
    #[test]
    fn shown_values_parse_to_the_same_value(value in any_value()) {
        let holds_blob = value.inspect().contains("ENC[");
        prop_assume!(!holds_blob);
        let wide = Value::hash([("top", value)]);
        let shown: Vec<String> = lines(&wide, &Notes::new(), true).lines;
        let back = load_yaml(format!("{}\n", shown.join("\n")).as_bytes());
        prop_assert_eq!(back.ok(), Some(wide), "{}", shown.join("\n"));
    }
}
