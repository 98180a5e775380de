//! `hiera-ls explain CODE` prints the page of a rule, `hiera-ls rules` one line for each.

use std::io::Write;
use std::process::ExitCode;

use crate::rules::{RULES, rule};
use crate::text::nearest;

/// Exit code for a code that no rule has.
const UNKNOWN_CODE: u8 = 2;

/// Prints the page of a rule, in Markdown.
pub(crate) fn explain(code: &str) -> ExitCode {
    let Some(rule) = rule(code) else {
        let hint = match nearest(code, RULES.iter().map(|rule| rule.code)) {
            Some(known) => format!("did you mean '{known}'?"),
            None => "'hiera-ls rules' lists all".to_owned(),
        };
        let _ = writeln!(
            std::io::stderr(),
            "hiera-ls: there is no rule '{code}': {hint}"
        );
        return ExitCode::from(UNKNOWN_CODE);
    };
    printed(write!(std::io::stdout(), "{}", rule.page))
}

/// Prints code, severity and summary of every rule, ordered by code.
pub(crate) fn list() -> ExitCode {
    let widest = RULES.iter().map(|rule| rule.code.len()).max();
    let width = widest.unwrap_or_default();
    let mut out = std::io::stdout().lock();
    printed(RULES.iter().try_for_each(|rule| {
        let (code, severity) = (rule.code, rule.severity.name());
        writeln!(out, "{code:width$}  {severity:11}  {}", rule.summary)
    }))
}

fn printed(outcome: std::io::Result<()>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
