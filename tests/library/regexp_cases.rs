//! Ruby's answers about patterns (`tests/parity/regexp_cases.rb`) compared with ours.
use hiera_ls::regexp::{MatchLimit, Regexp, RegexpError};
use serde_json::Value as Json;

/// Patterns that no engine here runs, or with known differences: each with its reason.
const KNOWN: &[(&str, &str)] = &[
    (r"\X", "grapheme clusters are reported as unsupported"),
    (
        "(?i)straSSe",
        "one letter against two (ß and SS) when case is ignored",
    ),
    (
        "(?i)[à-ü]",
        "Ruby does not fold ranges of letters beyond ASCII as it folds single ones",
    ),
];

#[test]
fn patterns_do_what_ruby_does() {
    let table = include_str!("../cases/regexp.jsonl");
    let mut lines = table
        .lines()
        .map(|line| serde_json::from_str::<Json>(line).unwrap());
    let head = lines.next().unwrap();
    let texts: Vec<&str> = head["texts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t.as_str().unwrap())
        .collect();
    let mut agreed = 0;
    let mut problems = Vec::new();
    let mut excused = Vec::new();
    for case in lines {
        let pattern = case["p"].as_str().unwrap();
        let before = problems.len();
        match (Regexp::new(pattern), case["error"].as_str()) {
            (Err(RegexpError::Invalid { message }), Some(error)) => {
                if message != error {
                    problems.push(format!("{pattern:?}: {message:?}, Ruby: {error:?}"));
                }
            }
            (Err(error), None) => problems.push(format!("{pattern:?}: {error}, Ruby accepts")),
            (Err(error), Some(ruby)) => {
                problems.push(format!("{pattern:?}: {error}, Ruby: {ruby}"))
            }
            (Ok(_), Some(error)) => problems.push(format!("{pattern:?}: accepted, Ruby: {error}")),
            (Ok(regexp), None) => {
                for (i, text) in texts.iter().enumerate() {
                    let found = found(&regexp, text);
                    let ruby = &case["m"][i];
                    let ruby = ruby
                        .as_array()
                        .map(|pair| (pair[0].as_u64().unwrap(), pair[1].as_u64().unwrap()));
                    if found != Ok(ruby) || regexp.is_match(text) != Ok(ruby.is_some()) {
                        problems.push(format!(
                            "{pattern:?} on {text:?}: {found:?}, Ruby: {ruby:?}"
                        ));
                        break;
                    }
                    let replaced = regexp.replace_all(text, "<>");
                    let ruby = case["g"][i].as_str().unwrap_or(text);
                    if replaced.as_deref() != Ok(ruby) {
                        problems.push(format!(
                            "{pattern:?} gsub on {text:?}: {replaced:?}, Ruby: {ruby:?}"
                        ));
                        break;
                    }
                }
            }
        }
        if problems.len() == before {
            agreed += 1;
        } else if KNOWN.iter().any(|(known, _)| *known == pattern) {
            excused.extend(problems.drain(before..));
        }
    }
    println!("{agreed} patterns agree, {} excused", excused.len());
    assert_eq!(excused.len(), KNOWN.len(), "{excused:#?}");
    assert!(
        problems.is_empty(),
        "{} differ:\n{}",
        problems.len(),
        problems.join("\n")
    );
}

fn found(regexp: &Regexp, text: &str) -> Result<Option<(u64, u64)>, MatchLimit> {
    Ok(regexp
        .find(text)?
        .map(|range| (range.start as u64, range.end as u64)))
}
