//! The types of Puppet, compared with Puppet's own texts for them.

use std::sync::Arc;

use super::*;
use crate::value::{Opaque, Value};

struct Module(&'static [(&'static str, &'static str)]);

impl Aliases for Module {
    fn source(&self, name: &str) -> Option<String> {
        let (_, text) = self.0.iter().find(|(known, _)| *known == name)?;
        Some((*text).to_owned())
    }
}

fn plain(text: &str) -> Type {
    parse(text, &NoAliases).unwrap()
}

#[test]
fn a_variant_has_each_of_many_types_once() {
    const TYPES: usize = 100_000;
    let types = || (0..TYPES).map(|at| Type::Integer(Range::of(at, at)));
    let Type::Variant(distinct) = Type::variant(types().chain(types())) else {
        panic!("one type");
    };
    assert!(distinct.iter().cloned().eq(types()));
}

#[test]
fn aliases_come_from_their_files() {
    let module = Module(&[
        ("A::Port", "# A port.\ntype A::Port = Integer[0, 65535]\n"),
        ("A::Ports", "type A::Ports = Array[A::Port, 1]"),
    ]);
    let ports = parse("A::Ports", &module).unwrap();
    assert!(is_instance(&ports, &Value::array([Value::from(80)])));
    assert!(!is_instance(&ports, &Value::array([])));
    // Each alias is expanded in place.
    assert_eq!(
        ports.to_string(),
        "A::Ports = Array[A::Port = Integer[0, 65535], 1]"
    );
    let port = parse("A::Port", &module).unwrap();
    assert!(is_instance(&port, &Value::from(0)));
    assert!(!is_instance(&port, &Value::from(-1)));
}

#[test]
fn a_mismatch_names_a_recursive_alias_after_its_type_is_dropped() {
    let module = Module(&[("Tree", "type Tree = Variant[String, Hash[String, Tree]]")]);
    let value = Value::hash([("a", Value::from(1))]);
    let message = |mismatches: Mismatches| mismatches.describe("Found value");
    let tree = parse("Optional[Tree]", &module).unwrap();
    let found = check(&tree, &value).unwrap_err();
    drop(tree);
    let expected =
        "entry 'a' expects a Tree = Variant[String, Hash[String, Tree]] value, got Integer";
    let message = message(found);
    assert!(message.contains(expected), "{message}");
}

#[test]
fn aliases_that_name_each_other_terminate() {
    let module = Module(&[
        ("A", "type A = Variant[B, Integer]"),
        ("B", "type B = Variant[A, String]"),
        ("Tree", "type Tree = Hash[String, Variant[Tree, Integer]]"),
        ("Itself", "type Itself = Itself"),
    ]);
    let a = parse("A", &module).unwrap();
    assert!(is_instance(&a, &Value::from("x")));
    assert!(!is_instance(&a, &Value::Bool(true)));
    assert!(check(&a, &Value::Bool(true)).is_err());
    let tree = parse("Tree", &module).unwrap();
    let mut value = Value::from(1);
    for _ in 0..500 {
        value = Value::hash([("a", value)]);
    }
    let _ = is_instance(&tree, &value);
    assert!(assignable(&tree, &tree));
    assert!(parse("Itself", &module).is_err());
}

#[test]
fn deep_and_long_expressions_are_refused_not_crashes() {
    for text in [
        "Array[".repeat(10_000),
        format!("{}Integer{}", "Array[".repeat(5000), "]".repeat(5000)),
        "Optional".repeat(100_000),
        format!("Pattern[/{}/]", "(".repeat(5000)),
        "-".repeat(5000),
        "\"${".repeat(5000),
        "\"${[".repeat(5000),
        "{a=>".repeat(5000),
        "a(".repeat(5000),
        "a[".repeat(5000),
        format!("a{}", "[1]".repeat(50_000)),
        "@".repeat(5000),
        "a{b=>".repeat(5000),
        "a{b:".repeat(5000),
        "a=".repeat(5000),
        "a ? ".repeat(5000),
        "a ? {".repeat(5000),
        "a<|".repeat(5000),
        "if ".repeat(5000),
        "if a {".repeat(5000),
        "if a {} elsif ".repeat(5000),
        "unless a {} else {".repeat(5000),
        "case a {b:{".repeat(5000),
        "a.b|$x|{".repeat(5000),
        "a.b|$x=".repeat(5000),
        "class a($x=".repeat(5000),
        "function a(A[".repeat(5000),
        "node \"${".repeat(5000),
        "type A[".repeat(5000),
        "type A={a=>".repeat(5000),
        "type A=A{a=>".repeat(5000),
    ] {
        let _ = parse(&text, &NoAliases);
    }
    // Inputs that could take quadratic time.
    for text in [
        "/\\".repeat(100_000),
        format!("\"${{{}", "/\\".repeat(100_000)),
        format!("{}:)", "@(".repeat(100_000)),
        format!("@(a)\n{}", " ".repeat(200_000)),
        "'\\".repeat(100_000),
        "[@(a)\n".repeat(40_000),
        "\"$".repeat(100_000),
        "a.b ".repeat(60_000),
        "a <| |> ".repeat(30_000),
    ] {
        let _ = parse(&text, &NoAliases);
    }
    let mut value = Value::from(1);
    for _ in 0..3000 {
        value = Value::array([value]);
    }
    let data = plain("Data");
    let _ = is_instance(&data, &value);
    let _ = check(&data, &value);
    let _ = puppet_string(&value);
    let _ = convert(&plain("String"), &value, &[], &NoAliases);
    // Dropping a value this deep would overflow the stack.
    std::mem::forget(value);
}

#[test]
fn unknown_values_are_never_mismatches() {
    let secret = Value::Opaque(Arc::new(Opaque::secret("PKCS7", "ENC[PKCS7,x]")));
    assert!(is_instance(&plain("Integer"), &secret));
    let listed = Value::array([secret.clone(), Value::from(1)]);
    assert!(is_instance(&plain("Array[Integer]"), &listed));
    assert_eq!(
        convert(&plain("Integer"), &secret, &[], &NoAliases),
        Ok(secret.clone())
    );
    assert_eq!(
        convert(&plain("Sensitive"), &secret, &[], &NoAliases),
        Ok(Value::Sensitive(Arc::new(secret)))
    );
    let text = convert(&plain("String"), &listed, &[], &NoAliases);
    assert!(matches!(text, Ok(Value::Opaque(_))));
}

#[test]
fn conversions_of_huge_counts_are_refused() {
    let count = Value::from(i64::MAX);
    assert!(convert(&plain("Array"), &count, &[], &NoAliases).is_err());
    assert!(convert(&plain("Hash"), &count, &[], &NoAliases).is_err());
}

#[test]
fn times_that_do_not_fit_are_unknown() {
    let seconds = crate::value::from_json("[1701411834604692317316873037150, 1e30, -1e30]");
    for name in ["Timestamp", "Timespan"] {
        for number in seconds.as_ref().unwrap().as_array().unwrap() {
            let made = convert(&plain(name), number, &[], &NoAliases);
            assert!(made.unwrap().has_opaque(), "{name} of {number:?}");
        }
    }
}

#[test]
fn a_pattern_reads_the_same_before_and_after_its_first_use() {
    let pattern = Pattern::new("^a");
    let before = format!("{pattern:?}");
    assert!(
        pattern
            .regexp()
            .is_ok_and(|regexp| format!("{regexp:?}") == r#"Regexp("^a")"#)
    );
    assert_eq!(
        (before.as_str(), format!("{pattern:?}").as_str()),
        (r#"Pattern("^a")"#, r#"Pattern("^a")"#)
    );
}
