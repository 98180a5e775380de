//! `lookup-options-regex-invalid`: a pattern of 'lookup_options' is not a regular expression that Ruby accepts.

use super::{FileContext, Findings, OptionAt};
use crate::regexp::RegexpError;

rule!("lookup-options-regex-invalid", Error, [Option(check)]);

fn check(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    if !at.name.starts_with('^') {
        return;
    }
    if let Err(RegexpError::Invalid { message }) = file.checker.pattern(at.name) {
        findings.report(
            at.key,
            format!("{message}; every lookup that reads this file fails"),
        );
    }
}
