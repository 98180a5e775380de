//! `lookup-options-bare-value`: an entry of 'lookup_options' is a string instead of a hash of options.

use super::{Depends, FileContext, Findings, Fix, Hook, OptionAt, Rule, Safety, Severity};
use crate::lookup::Strategy;
use crate::text::TextEdit;
use crate::workspace::Format;

pub(super) const RULE: &Rule = &Rule {
    code: "lookup-options-bare-value",
    severity: Severity::Warning,
    summary: "an entry of 'lookup_options' is a string instead of a hash of options",
    page: include_str!("../../docs/rules/lookup-options-bare-value.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Option(check)],
};

fn check(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    let Some(options) = &at.options else { return };
    let Some(text) = options.value.as_str() else {
        return;
    };
    // Ruby finds the option's name inside the text: these two do something that is not specified.
    if text.contains("merge") || text.contains("convert_to") || text.contains("%{") {
        return;
    }
    let finding = findings.report(
        options.range,
        format!(
            "lookup_options for '{}' must be a hash, got a string: ignored: write {{merge: {text}}}",
            at.name
        ),
    );
    let written = match file.format() {
        Format::Json => format!("{{\"merge\": \"{text}\"}}"),
        Format::Yaml | Format::Hocon => format!("{{merge: {text}}}"),
    };
    if Strategy::refusal(options.value).is_none() {
        finding.fixes.push(Fix::new(
            Safety::Safe,
            format!("Write {written}"),
            TextEdit::replace(options.range, written),
        ));
    }
}
