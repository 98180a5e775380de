//! `hiera-ls explain CODE` prints the page of a rule, `hiera-ls rules` one line for each.

use std::process::ExitCode;

use super::terminal::{Layout, Paint, complain, failed, hanging, print};
use crate::rules::{RULES, rule};
use crate::text::nearest;

const UNKNOWN_CODE: u8 = 2;

/// Prints the page of a rule, in Markdown.
pub(crate) fn explain(code: &str) -> ExitCode {
    let Some(rule) = rule(code) else {
        let hint = match nearest(code, RULES.iter().map(|rule| rule.code)) {
            Some(known) => format!("did you mean '{known}'?"),
            None => "'hiera-ls rules' lists all".to_owned(),
        };
        complain(&format!("there is no rule '{code}': {hint}"));
        return ExitCode::from(UNKNOWN_CODE);
    };
    printed(&Layout::of_output().page(rule.page))
}

/// Prints code, severity and summary of every rule, ordered by code.
pub(crate) fn list() -> ExitCode {
    let widest = RULES.iter().map(|rule| rule.code.len()).max();
    let width = widest.unwrap_or_default();
    let layout = Layout::of_output();
    let lines = RULES.iter().map(|rule| {
        let (code, severity) = (rule.code, rule.severity.name());
        let line = format!("{code:width$}  {severity:11}  {}", rule.summary());
        let line = hanging(&line, layout.width.unwrap_or(usize::MAX), 4);
        let rest = line.strip_prefix(code).unwrap_or_default();
        layout.word(Paint::Title, code) + rest + "\n"
    });
    printed(&lines.collect::<String>())
}

/// Prints a text and returns the exit code.
pub(super) fn printed(text: &str) -> ExitCode {
    match print(text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => failed(&message),
    }
}
