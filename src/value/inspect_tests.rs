//! Tests of Ruby's texts: a table that `tests/parity/inspect.rb` wrote, and whole values.

use std::sync::Arc;

use super::*;

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

#[test]
fn texts_are_rubys() {
    let table = include_str!("../../tests/cases/ruby-inspect.tsv");
    let mut checked = 0;
    for line in table.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [kind, input, expected] = fields[..] else {
            panic!("bad line {line}")
        };
        let bytes = unhex(input);
        let text = || String::from_utf8(bytes.clone()).unwrap();
        let ours = match kind {
            "symbol" => Value::Symbol(text().into()).inspect(),
            "string" => inspect_string(&text()),
            "bytes" => Value::Bytes(bytes.clone().into()).inspect(),
            "float" => float_to_s(f64::from_be_bytes(bytes.clone().try_into().unwrap())),
            _ => panic!("bad line {line}"),
        };
        assert_eq!(ours, String::from_utf8(unhex(expected)).unwrap(), "{line}");
        checked += 1;
    }
    assert!(checked > 1900, "{checked}");
}

#[test]
fn collections() {
    let mut hash = crate::value::HashMap::default();
    hash.insert(Value::from("a"), Value::from(1));
    hash.insert(
        Value::Symbol(Arc::from("a b")),
        Value::Symbol(Arc::from("c")),
    );
    hash.insert(
        Value::from(1),
        Value::array([Value::from(true), Value::array([])]),
    );
    hash.insert(Value::Undef, Value::hash([]));
    let value = Value::from(hash);
    assert_eq!(
        value.inspect(),
        r#"{"a"=>1, :"a b"=>:c, 1=>[true, []], nil=>{}}"#
    );
    assert_eq!(value.to_s(), value.inspect());
    let big = Value::BigInt(Arc::new("123456789012345678901234567890".parse().unwrap()));
    assert_eq!(big.inspect(), "123456789012345678901234567890");
}

#[test]
fn sensitive_is_never_shown() {
    let secret = Value::Sensitive(Arc::new(Value::from("pw")));
    assert_eq!(secret.to_s(), "Sensitive [value redacted]");
    assert_eq!(
        Value::array([secret]).to_s(),
        "[#<Sensitive [value redacted]>]"
    );
}

#[test]
fn puppet_types() {
    let rich = |ptype, text: &str| {
        Value::Rich(Arc::new(Rich {
            ptype,
            text: text.to_owned(),
        }))
    };
    for source in ["/a[/].*", r"\/a[\/].*"] {
        assert_eq!(rich("Regexp", source).inspect(), r"/\/a[\/].*/");
        assert_eq!(rich("Regexp", source).to_s(), r"(?-mix:\/a[\/].*)");
    }
    assert_eq!(rich("SemVer", "1.2.3").inspect(), "1.2.3");
    let far = rich("Timestamp", "292277026596-12-04T15:30:08.000000000 UTC");
    assert_eq!(
        far.inspect(),
        "#<Puppet::Pops::Time::Timestamp:0x0000000000000000 @nsecs=9223372036854775808000000000>"
    );
    assert_eq!(
        rich("URI", "http://a/b").inspect(),
        "#<URI::HTTP http://a/b>"
    );
    assert_eq!(rich("Type", "Integer[1, 2]").to_s(), "Integer[1, 2]");
}

#[test]
fn a_bomb_of_shared_lists_is_cut() {
    let mut value = Value::array([Value::from(
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    )]);
    for _ in 0..24 {
        value = Value::array([value.clone(), value.clone()]);
    }
    assert!(value.inspect().len() < MAX_TEXT + (MAX_TEXT >> 1));
}

/// A hash with keys of any kind.
fn hash_of<const N: usize>(entries: [(Value, Value); N]) -> Value {
    Value::from(entries.into_iter().collect::<crate::value::HashMap>())
}

#[test]
fn hashes_have_another_text_from_ruby_3_4_on() {
    // As Ruby 4.0.0 writes them.
    let symbol = |name: &str| Value::Symbol(name.into());
    let inside = hash_of([(symbol("b"), Value::from(2))]);
    let keys = [
        (Value::from("a"), Value::Undef),
        (Value::from(1), Value::Float(2.0)),
        (Value::Undef, Value::array([Value::from(1)])),
        (Value::array([Value::from(1)]), inside),
    ];
    let hash = hash_of(keys);
    let text = r#"{"a" => nil, 1 => 2.0, nil => [1], [1] => {b: 2}}"#;
    assert_eq!(hash.inspect_in(Ruby::V40), text);
    assert_eq!(Value::array([hash]).to_s_in(Ruby::V40), format!("[{text}]"));
    for (name, expected) in [
        ("a?", "{a?: 1}"),
        ("a!", "{a!: 1}"),
        ("a=", "{\"a=\": 1}"),
        ("if", "{if: 1}"),
        ("A", "{A: 1}"),
        ("é", "{é: 1}"),
        ("+", "{\"+\": 1}"),
        ("[]", "{\"[]\": 1}"),
        ("!", "{\"!\": 1}"),
        ("@a", "{\"@a\": 1}"),
        ("$a", "{\"$a\": 1}"),
        ("a-b", "{\"a-b\": 1}"),
        ("", "{\"\": 1}"),
    ] {
        let hash = hash_of([(symbol(name), Value::from(1))]);
        assert_eq!(hash.inspect_in(Ruby::V40), expected);
    }
    assert_eq!(hash_of([]).inspect_in(Ruby::V40), "{}");
}

#[test]
fn what_is_sensitive_is_shown_as_puppet_does() {
    let secret = |text: &str| Value::Sensitive(std::sync::Arc::new(Value::from(text)));
    let value = Value::hash([
        ("a", Value::array([secret("x"), Value::from("y")])),
        ("b", secret("z")),
    ]);
    let shown = crate::value::to_tagged_json(&value.redacted());
    let redacted = "Sensitive [value redacted]";
    assert_eq!(
        shown,
        format!(r#"{{"a":["{redacted}","y"],"b":"{redacted}"}}"#)
    );
    let open = Value::array([Value::from("y")]);
    assert!(matches!(open.redacted(), std::borrow::Cow::Borrowed(_)));
}
