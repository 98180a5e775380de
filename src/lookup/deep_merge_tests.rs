//! Merges with answers from the gem.

use super::*;
use crate::value::{HashMap, Missing, Opaque, from_json};

fn merge(options: &str, high: &str, low: &str) -> String {
    let options = from_json(options).unwrap();
    let options = match DeepOptions::read(options.as_hash().unwrap()) {
        Ok(options) => options,
        Err(error) => return error.to_string(),
    };
    let (high, low) = (from_json(high).unwrap(), from_json(low).unwrap());
    match deep_merge(&high, low, &options, None) {
        Ok(value) => value.inspect(),
        Err(super::super::error::Failure::Error(error)) => error.to_string(),
        Err(super::super::error::Failure::NotFound) => "not found".into(),
    }
}

#[test]
fn lower_elements_and_keys_come_first() {
    assert_eq!(
        merge("{}", r#"["c","a"]"#, r#"["d","b"]"#),
        r#"["d", "b", "c", "a"]"#
    );
    assert_eq!(
        merge(
            "{}",
            r#"{"a":{"x":1},"n":null}"#,
            r#"{"b":2,"a":{"y":3},"n":4}"#
        ),
        r#"{"b"=>2, "a"=>{"y"=>3, "x"=>1}, "n"=>4}"#
    );
    assert_eq!(merge("{}", r#"{"a":[1]}"#, r#"{"a":"s"}"#), r#"{"a"=>[1]}"#);
    assert_eq!(merge("{}", "{}", "[1]"), "[1]");
}

#[test]
fn knockouts_reach_arrays_and_scalars_but_not_keys() {
    let options = r#"{"knockout_prefix":"--"}"#;
    assert_eq!(
        merge(options, r#"["--a","c"]"#, r#"["a","b"]"#),
        r#"["b", "c"]"#
    );
    assert_eq!(merge(options, r#"["--1"]"#, "[1]"), "[1]");
    assert_eq!(merge(options, r#"["--","x"]"#, r#"["a","b"]"#), r#"["x"]"#);
    assert_eq!(
        merge(options, r#"{"k":"--v"}"#, r#"{"k":"v"}"#),
        r#"{"k"=>""}"#
    );
    assert_eq!(
        merge(options, r#"{"--k":null}"#, r#"{"k":1}"#),
        r#"{"k"=>1, "--k"=>nil}"#
    );
    assert_eq!(
        merge(options, r#"{"k":["--a","b"]}"#, "{}"),
        r#"{"k"=>["b"]}"#
    );
    assert_eq!(
        merge(r#"{"knockout_prefix":""}"#, "[1]", "[2]"),
        "knockout_prefix cannot be an empty string in deep_merge!"
    );
}

#[test]
fn sorting_fails_on_the_pair_that_ruby_names() {
    let options = r#"{"sort_merged_arrays":true}"#;
    assert_eq!(merge(options, "[3,1]", "[2]"), "[1, 2, 3]");
    assert_eq!(
        merge(options, r#"["a"]"#, "[2]"),
        "comparison of Integer with String failed"
    );
    assert_eq!(
        merge(options, "[1]", r#"["a"]"#),
        "comparison of String with 1 failed"
    );
}

#[test]
fn hashes_in_arrays_merge_by_position() {
    assert_eq!(
        merge(
            r#"{"merge_hash_arrays":true}"#,
            r#"[{"n":1,"v":["a"]},{"n":2}]"#,
            r#"[{"n":9,"w":1,"v":["b"]}]"#,
        ),
        r#"[{"n"=>1, "w"=>1, "v"=>["b", "a"]}, {"n"=>2}]"#
    );
}

#[test]
fn a_knockout_prefix_may_be_no_text() {
    let numeric = r#"{"knockout_prefix":5}"#;
    for (options, high, low, expected) in [
        (numeric, r#"["51","a",5]"#, r#"["1","x",5]"#, r#"["a"]"#),
        (
            numeric,
            r#"["51","a"]"#,
            r#"["1","51","x"]"#,
            r#"["x", "a"]"#,
        ),
        (
            numeric,
            r#"{"a":["5x"]}"#,
            r#"{"a":["x","y"]}"#,
            r#"{"a"=>["y"]}"#,
        ),
        (numeric, r#""5x""#, r#"["q"]"#, r#""""#),
        (
            r#"{"knockout_prefix":true}"#,
            r#"["truex"]"#,
            r#"["x","y"]"#,
            r#"["y"]"#,
        ),
        (
            r#"{"knockout_prefix":["a"]}"#,
            r#"["a1","b"]"#,
            r#"["1","x"]"#,
            r#"["x", "b"]"#,
        ),
        (
            r#"{"knockout_prefix":5,"preserve_unmergeables":true}"#,
            "[1]",
            "[2]",
            "overwrite_unmergeable must be true if knockout_prefix is specified in deep_merge!",
        ),
    ] {
        assert_eq!(merge(options, high, low), expected, "{options} {high}");
    }
}

#[test]
fn an_unknown_knockout_prefix_removes_nothing() {
    let because = Missing::Variable("facts.prefix".into());
    let text = String::new();
    let unknown = Value::Opaque(Arc::new(Opaque::Unknown { text, because }));
    let options = HashMap::from_iter([(Value::string("knockout_prefix"), unknown)]);
    let options = DeepOptions::read(&options).unwrap();
    let array = |text: &str| from_json(text).unwrap();
    let merged = deep_merge(&array(r#"["a"]"#), array(r#"["b"]"#), &options, None);
    assert_eq!(merged.unwrap().inspect(), r#"["b", "a"]"#);
}
