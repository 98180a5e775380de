//! JSON is parsed as by Ruby's json 2.6.1, with its messages; an error affects only its own entry.
use hiera_ls::syntax::parse_json;
use hiera_ls::value::{Value, json_load};

#[test]
fn errors_have_the_text_of_ruby() {
    for (text, message) in [
        ("", "859: unexpected token at ''"),
        (" ", "859: unexpected token at ''"),
        ("nul", "859: unexpected token at 'nul'"),
        ("{} x", "859: unexpected token at 'x'"),
        ("[1,]", "451: unexpected token at ']'"),
        ("[1 2]", "451: unexpected token at '2]'"),
        ("{\"a\":1,}", "859: unexpected token at '{\"a\":1,}'"),
        ("{k: 1}", "859: unexpected token at '{k: 1}'"),
        ("{'a':1}", "859: unexpected token at '{'a':1}'"),
        ("[tru]", "451: unexpected token at 'tru]'"),
        ("[NaN]", "225: unexpected token at 'NaN]'"),
        ("[Infinity]", "232: unexpected token at '[Infinity]'"),
        ("Infinity", "232: unexpected token at ''"),
        ("[-Infinity]", "249: unexpected token at '-Infinity]'"),
        ("[01]", "451: unexpected token at '01]'"),
        ("[1.]", "451: unexpected token at '.]'"),
        ("[1.5.5]", "451: unexpected token at '.5.5]'"),
        (
            "[\"\\ud83d\"]",
            "521: incomplete surrogate pair at '\\ud83d\"]'",
        ),
        ("[\"a\nb\"]", "451: unexpected token at '\"a\nb\"]'"),
        ("/* c */ {\"a\":1} // x", "859: unexpected token at ''"),
        ("[1/2]", "451: unexpected token at '2]'"),
        (
            "{\"a\":[1,{\"b\":}]}",
            "451: unexpected token at '{\"b\":}]}'",
        ),
        ("{\"a\":{\"b\":[1,2}}", "451: unexpected token at '}}'"),
        ("\u{FEFF}{}", "859: unexpected token at '\u{FEFF}{}'"),
        ("[\"a\0b\"]", "451: unexpected token at '\"a'"),
        ("[[[1]]", "451: unexpected token at ''"),
    ] {
        assert_eq!(
            json_load(text.as_bytes()).unwrap_err().message,
            message,
            "{text:?}"
        );
    }
    let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert!(json_load(deep(100).as_bytes()).is_ok());
    assert_eq!(
        json_load(deep(101).as_bytes()).unwrap_err().message,
        "nesting of 101 is too deep"
    );
}

#[test]
fn values_are_rubys() {
    for (text, value) in [
        ("null", Value::Undef),
        ("// c\n[1e5] ", Value::array([Value::Float(100_000.0)])),
        ("1e400", Value::Float(f64::INFINITY)),
        ("-0", Value::Int(0)),
        ("\"\\q\\/\\u00e9\"", Value::from("q/é")),
        ("\"\\ud83d\\ude00\"", Value::from("😀")),
        ("\"\\ud83d\\u0041\"", Value::from("👁")),
        ("\"\\ud83dabcdefg\"", Value::from("?bcdefg")),
        (
            "{\"a\":1,/**/\"b\":2,\"a\":3, \"<<\": {\"c\": 1}}",
            Value::hash([
                ("a", Value::from(3)),
                ("b", Value::from(2)),
                ("<<", Value::hash([("c", Value::from(1))])),
            ]),
        ),
    ] {
        assert_eq!(json_load(text.as_bytes()).as_ref(), Ok(&value), "{text:?}");
    }
}

#[test]
fn a_broken_entry_leaves_the_others() {
    let text =
        "{\n  // first\n  \"a\": 1,\n  \"b\": {\n    \"x\": [1,\n  \"c\": 2,\n  \"d\": 3\n}\n";
    let parse = parse_json(text);
    let keys: Vec<_> = parse
        .tree
        .entries()
        .map(|(key, _)| parse.tree.node(key).range.slice(text))
        .collect();
    assert_eq!(keys, ["\"a\"", "\"c\"", "\"d\""]);
    assert_eq!(&*parse.tree.broken()[0].key.as_ref().unwrap().text, "b");
    assert_eq!(parse.tree.comments()[0].slice(text), "// first");
    assert_eq!(parse.problems.len(), 1);
}
