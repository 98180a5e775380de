//! Which rules are reported: `--select` and `--ignore`.

use clap::Args;

use crate::rules::{RULES, rule};
use crate::text::nearest;

/// The flags that choose rules.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Selection {
    /// Report only these rules, by code
    #[arg(long, value_name = "CODE", value_delimiter = ',', value_parser = code)]
    select: Vec<&'static str>,
    /// Do not report these rules
    #[arg(long, value_name = "CODE", value_delimiter = ',', value_parser = code)]
    ignore: Vec<&'static str>,
}

impl Selection {
    /// Whether findings of a rule are reported.
    pub(super) fn includes(&self, code: &str) -> bool {
        (self.select.is_empty() || self.select.contains(&code)) && !self.ignore.contains(&code)
    }
}

fn code(text: &str) -> Result<&'static str, String> {
    match rule(text) {
        Some(rule) => Ok(rule.code),
        None => Err(match nearest(text, RULES.iter().map(|rule| rule.code)) {
            Some(known) => format!("there is no such rule: did you mean '{known}'?"),
            None => "there is no such rule: 'hiera-ls rules' lists all".to_owned(),
        }),
    }
}
