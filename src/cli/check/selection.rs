//! The selection of findings to report: `--select`, `--ignore` and `--min-severity`.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::rules::{RULES, Severity, rule};
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
    /// Do not report what is less severe
    #[arg(long, value_name = "SEVERITY", value_parser = severity())]
    min_severity: Option<Severity>,
}

/// All severities, the worst first.
pub(super) const SEVERITIES: [Severity; 4] = [
    Severity::Error,
    Severity::Warning,
    Severity::Information,
    Severity::Hint,
];

/// A severity by its name.
fn severity() -> impl TypedValueParser<Value = Severity> {
    let named = |name: String| SEVERITIES.into_iter().find(|one| one.name() == name);
    PossibleValuesParser::new(SEVERITIES.map(Severity::name))
        .map(move |name| named(name).unwrap_or(Severity::Hint))
}

impl Selection {
    /// Whether findings of a rule and a severity are reported.
    pub(super) fn includes(&self, code: &str, severity: Severity) -> bool {
        self.min_severity.is_none_or(|least| severity <= least) && self.includes_rule(code)
    }

    /// Whether findings of a rule are reported.
    pub(super) fn includes_rule(&self, code: &str) -> bool {
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
