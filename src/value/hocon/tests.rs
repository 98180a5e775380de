//! HOCON, compared with a table that `tests/parity/hocon.rb` made with the real gem.

use super::*;
use crate::value::{from_json, to_tagged_json};

#[test]
fn reads_as_the_gem_does() {
    let table = include_str!("../../../tests/cases/hocon.jsonl");
    let (mut checked, mut wrong) = (0, Vec::new());
    for line in table.lines() {
        let case = from_json(line).unwrap();
        let text = case.get("hocon").and_then(Value::as_str).unwrap();
        let ours = match load_hocon(text.as_bytes()) {
            Ok(value) => to_tagged_json(&value),
            // The table is of a process without that variable and that file.
            Err(error) if error.kind == LoadErrorKind::HoconOutside && has_outside(text) => {
                continue;
            }
            Err(error) => format!("error {}", error.message.lines().next().unwrap_or_default()),
        };
        let theirs = match case.get("value") {
            Some(value) => to_tagged_json(value),
            None => format!(
                "error {}",
                case.get("error").and_then(Value::as_str).unwrap()
            ),
        };
        if ours != theirs {
            wrong.push(format!("{text:?}\n  ours   {ours}\n  theirs {theirs}"));
        }
        checked += 1;
    }
    assert!(
        wrong.is_empty(),
        "{} of {checked}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(checked > 440, "{checked}");
}

fn has_outside(text: &str) -> bool {
    ["${?HOME}", "include file("]
        .iter()
        .any(|it| text.contains(it))
}

#[test]
fn what_the_process_that_reads_decides_is_unknown() {
    for (text, is_unknown) in [
        ("port=8080,port=${?PORT}", true),
        ("port=${PORT}", true),
        ("PORT=1,port=${?PORT}", false),
        ("port=8080,port=${?other.port}", false),
        ("include file(\"/srv/ports.conf\")\nport=8080", true),
        ("a { include url(\"https://example.com/a.conf\") }", true),
        ("include \"ports.conf\"\nport=8080", false),
    ] {
        let loaded = load_hocon(text.as_bytes());
        let kind = loaded.err().map(|error| error.kind);
        let expected = is_unknown.then_some(LoadErrorKind::HoconOutside);
        assert_eq!(kind, expected, "{text}");
    }
}

#[test]
fn limits_hold() {
    let message = |text: &str| load_hocon(text.as_bytes()).unwrap_err().message;
    let open = "[".repeat(100_000);
    assert_eq!(
        message(&format!("a={open}")),
        "String: 1: nesting of 128 is too deep"
    );
    assert_eq!(
        message(&format!("a={}", "{a=".repeat(100_000))),
        "String: 1: nesting of 128 is too deep"
    );
    assert_eq!(
        message(&format!("a={}", "${".repeat(100_000))),
        "stack level too deep"
    );
    assert!(message(&"a.b".repeat(100_000)).starts_with("path has more than 128"));
    let dotted = format!("{}=", ["a"; 100].join("."));
    assert_eq!(
        message(&format!("{dotted} {{ {dotted} {{ b=1 }} }}")),
        "String: 1: nesting of 128 is too deep"
    );
    let mut doubling = String::from("x0=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n");
    for level in 1..64 {
        doubling.push_str(&format!(
            "x{level}=${{x{}}}${{x{}}}\n",
            level - 1,
            level - 1
        ));
    }
    assert_eq!(message(&doubling), "resolve getting too deep");
    let chain = |length: usize| {
        let link = |at: usize| format!("x{at}={{k=${{x{}}}}}\n", at + 1);
        (0..length).map(link).collect::<String>() + &format!("x{length}=1")
    };
    assert_eq!(message(&chain(2000)), "resolve getting too deep");
    assert!(load_hocon(chain(60).as_bytes()).is_ok());
    let invalid = load_hocon(b"a=\xff").unwrap_err();
    assert_eq!(invalid.range, Some(TextRange::empty(2)));
}

#[test]
fn errors_have_a_place() {
    let text = "a = 1\nb = @\n";
    let error = load_hocon(text.as_bytes()).unwrap_err();
    assert_eq!(error.range.map(|range| range.slice(text)), Some("@"));
    assert!(
        error
            .message("/data/a.conf")
            .starts_with("(/data/a.conf): String: 2: Expecting a value")
    );
}

proptest::proptest! {
    #[test]
    fn reading_never_panics(
        text in "(a|b|\\.|=|:|\\+=|\\{|\\}|\\[|\\]|,|\n| |\\$\\{a\\}|\\$\\{\\?b\\}|\\$\\{|\"|\"\"\"|\\\\u00|1|1.5|#|//|é|.){0,40}"
    ) {
        let _ = load_hocon(text.as_bytes());
        let parse = crate::syntax::parse_hocon(&text);
        for (_, node) in parse.tree.nodes() {
            proptest::prop_assert!(text.get(node.range.as_usize()).is_some());
        }
    }
}
