//! `lookup-options-bare-value`: an entry of 'lookup_options' is a single value instead of a hash of
//! options.

use super::{FileContext, Findings, Fix, OptionAt, Safety, Severity};
use crate::lookup::Strategy;
use crate::text::TextEdit;
use crate::value::Value;
use crate::workspace::Format;

rule!("lookup-options-bare-value", Warning, [Option(check)]);

fn check(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    let Some(options) = &at.options else { return };
    let Some(text) = options.value.as_str() else {
        if let Some(kind) = refused(options.value) {
            findings.report_as(
                Severity::Error,
                options.range,
                format!(
                    "lookup_options for '{}' must be a hash, got {kind}: Puppet fails on the key; write \
                     {{merge: …}}",
                    at.name
                ),
            );
        }
        return;
    };
    // Ruby finds the option's name within the text, with an unspecified effect.
    if text.contains("merge") || text.contains("convert_to") || text.contains("%{") {
        return;
    }
    let is_strategy = Strategy::refusal(options.value).is_none();
    let is_type = text.starts_with(|first: char| first.is_ascii_uppercase());
    let advice = match (is_strategy, is_type) {
        (true, _) => format!("write {{merge: {text}}}"),
        (false, true) => format!("write {{convert_to: {text}}} if that is meant"),
        (false, false) => "options are {merge: …} and {convert_to: …}".to_owned(),
    };
    let finding = findings.report(
        options.range,
        format!(
            "lookup_options for '{}' must be a hash, got a string: ignored: {advice}",
            at.name
        ),
    );
    let written = match file.format() {
        Format::Json => format!("{{\"merge\": \"{text}\"}}"),
        Format::Yaml | Format::Hocon => format!("{{merge: {text}}}"),
    };
    if is_strategy {
        finding.fixes.push(Fix::new(
            Safety::Safe,
            format!("Write {written}"),
            TextEdit::replace(options.range, written),
        ));
    }
}

/// The kind of a value that cannot be indexed by an option's name
/// (`pops/lookup/lookup_adapter.rb`). `nil` and `false` count as no options.
fn refused(value: &Value) -> Option<&'static str> {
    match value {
        Value::Array(_) => Some("a list"),
        Value::Int(_) | Value::Float(_) => Some("a number"),
        Value::Bool(true) => Some("true"),
        Value::Undef
        | Value::Bool(false)
        | Value::BigInt(_)
        | Value::String(_)
        | Value::Bytes(_)
        | Value::Symbol(_)
        | Value::Hash(_)
        | Value::Sensitive(_)
        | Value::Default
        | Value::Rich(_)
        | Value::Opaque(_) => None,
    }
}
