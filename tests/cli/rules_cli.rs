//! `hiera-ls explain` and `hiera-ls rules` as people and scripts see them.

use std::process::{Command, Output};

use hiera_ls::rules::RULES;

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
        .args(arguments)
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

#[test]
fn a_page_is_printed_as_it_is() {
    let output = run(&["explain", "dup-key"]);
    assert_eq!(stdout(&output), include_str!("../../docs/rules/dup-key.md"));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn an_unknown_code_gets_a_suggestion() {
    let misspelt = run(&["explain", "dupe-key"]);
    assert_eq!(stdout(&misspelt), "");
    assert_eq!(
        String::from_utf8_lossy(&misspelt.stderr),
        "hiera-ls: there is no rule 'dupe-key': did you mean 'dup-key'?\n"
    );
    assert_eq!(misspelt.status.code(), Some(2));
    let strange = run(&["explain", "E0308"]);
    assert_eq!(
        String::from_utf8_lossy(&strange.stderr),
        "hiera-ls: there is no rule 'E0308': 'hiera-ls rules' lists all\n"
    );
    assert_eq!(strange.status.code(), Some(2));
}

#[test]
fn all_rules_are_listed_by_code() {
    let output = run(&["rules"]);
    let lines: Vec<&str> = stdout(&output).lines().collect();
    assert_eq!(lines.len(), RULES.len());
    for (line, rule) in lines.iter().zip(RULES) {
        assert_eq!(line.split_whitespace().next(), Some(rule.code));
        assert!(line.ends_with(rule.summary()), "{line}");
    }
    assert_eq!(output.status.code(), Some(0));
}
