//! `bad-convert-to`: `convert_to` is no data type, or a value cannot be converted to it, or gets other digits.

use super::{FileContext, Findings, Fix, OptionAt, Safety, Severity, entry, shown};
use crate::analysis::{ScopeView, quoted};
use crate::datatype::{self, NoAliases, Type};
use crate::lookup::{Cause, LookupError, Request};
use crate::text::typing_error;
use crate::value::Value;
use crate::workspace::{KeyFact, KeyState, LOOKUP_OPTIONS};

rule!(
    "bad-convert-to",
    Error,
    [Option(check_type), File(check_values)],
    WORKSPACE
);

/// Puppet's types that values can be converted to.
const CONVERTIBLE: [&str; 15] = [
    "Array",
    "Binary",
    "Boolean",
    "Float",
    "Hash",
    "Integer",
    "Numeric",
    "Regexp",
    "SemVer",
    "Sensitive",
    "String",
    "Struct",
    "Timespan",
    "Timestamp",
    "Tuple",
];

/// The type in `convert_to`; in a list, the other elements are arguments.
fn target(convert_to: &Value) -> &Value {
    match convert_to.as_array() {
        Some([target, ..]) => target,
        Some([]) => &Value::Undef,
        None => convert_to,
    }
}

fn check_type(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    let Some(options) = &at.options else { return };
    let convert_to = options.value.get("convert_to");
    let Some(convert_to) = convert_to.filter(|it| !it.is_undef()) else {
        return;
    };
    let mut misspelt = None;
    let why = match target(convert_to).as_str() {
        None => "'convert_to' is not a data type".to_owned(),
        Some(text) if text.contains("%{") => return,
        Some(text) => match datatype::parse(text, &NoAliases) {
            // Without a similar known type it may be defined in a module outside the workspace.
            Ok(Type::Reference(name)) if !name.contains("::") => {
                let Some(suggestion) = typing_error(&name, CONVERTIBLE.into_iter()) else {
                    return;
                };
                misspelt = Some((text, suggestion));
                format!("there is no data type '{name}' (did you mean '{suggestion}'?)")
            }
            Ok(_) => return,
            Err(error) => format!("'{text}' is not a data type: {error}"),
        },
    };
    let written = entry(file.tree(), options.node, "convert_to");
    let range = written.map_or(options.range, |(_, node)| file.tree().node(node).range);
    let message = format!("{}: Puppet fails on '{}'", shown(&why), at.name);
    let finding = findings.report(range, message);
    finding
        .fixes
        .extend(misspelt.and_then(|(name, suggestion)| {
            let range = file.name_in(range, name)?;
            Some(Fix::write(Safety::Unsafe, range, suggestion))
        }));
}

fn check_values(file: &FileContext<'_>, findings: &mut Findings<'_>) {
    let keys = file.facts().keys.iter().filter(|key| {
        let is_read = key.state == KeyState::Read && &*key.name != LOOKUP_OPTIONS;
        let is_read = is_read && file.is_last(key);
        is_read && file.checker.has_option(&key.name, "convert_to")
    });
    let mut keys: Vec<&KeyFact> = keys.collect();
    for reader in file.readers() {
        if reader.reached().is_empty() {
            continue;
        }
        file.in_first_scope(reader, |scoped| {
            keys.retain(|key| {
                if file.checker.is_cancelled() {
                    return true;
                }
                let request = Request::key(&quoted(&key.name));
                let is_reported = match scoped.value(&request) {
                    Err(_) => report_value(file, key, scoped, findings),
                    Ok(Value::String(text)) => report_text(file, key, &text, scoped, findings),
                    Ok(_) => false,
                };
                !is_reported
            });
        });
    }
}

/// Reports a key if its lookup for a scope fails at the conversion. Returns false if the lookup
/// fails for another reason, or if that is uncertain.
fn report_value(
    file: &FileContext<'_>,
    key: &KeyFact,
    scoped: &mut ScopeView<'_>,
    findings: &mut Findings<'_>,
) -> bool {
    let found = scoped.key_answer(&key.name);
    let Err(error) = &found.answer.result else {
        return false;
    };
    let convert_to = found.options.as_ref();
    let convert_to = convert_to.and_then(|options| options.value.get("convert_to"));
    let path = Some(file.file.path());
    let mut sources = found.sources.iter();
    let is_source = found.sources.is_empty() || sources.any(|source| source.path.as_ref() == path);
    let is_sure =
        is_source && convert_to.is_some_and(is_known) && found.is_sure(&file.checker.analysis());
    let Some(message) = conversion(error).filter(|_| is_sure) else {
        return false;
    };
    let value = file.top_level(&key.name);
    let range = value.map_or(key.key, |(_, value)| file.tree().node(value).range);
    findings.report(range, whole(message));
    true
}

/// Reports a number with a point that becomes a text with other digits: `%f` of Ruby
/// (`PStringType` in `puppet/pops/types/string_converter.rb`). Returns false for others.
fn report_text(
    file: &FileContext<'_>,
    key: &KeyFact,
    text: &str,
    scoped: &mut ScopeView<'_>,
    findings: &mut Findings<'_>,
) -> bool {
    let own = file.loaded().ok().and_then(|data| data.get(&key.name));
    let Some((_, node)) = file.top_level(&key.name) else {
        return false;
    };
    let written = file.tree().scalar_text(node);
    let Some(written) =
        written.filter(|written| matches!(own, Some(Value::Float(_))) && ***written != *text)
    else {
        return false;
    };
    let found = scoped.key_answer(&key.name);
    let path = Some(file.file.path());
    let is_alone = matches!(&found.sources[..], [only] if only.path.as_ref() == path);
    if !is_alone || !found.is_sure(&file.checker.analysis()) {
        return false;
    }
    let range = file.tree().node(node).range;
    let message = format!("'convert_to' makes '{text}' of this number; put it into quotes");
    let finding = findings.report_as(Severity::Warning, range, message);
    let quoted = format!("\"{written}\"");
    finding
        .fixes
        .push(Fix::write(Safety::Unsafe, range, &quoted));
    true
}

/// Whether the type has only known parts: others may be defined where the data is deployed.
fn is_known(convert_to: &Value) -> bool {
    let text = target(convert_to).as_str();
    let parsed = text.and_then(|text| datatype::parse(text, &NoAliases).ok());
    parsed.is_some_and(|parsed| !parsed.has_reference())
}

/// The message on one line. A long one is shortened in the middle, as the reason is at its end.
fn whole(message: &str) -> String {
    /// Maximum number of characters kept at each end.
    const MOST: usize = 160;
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let letters: Vec<char> = line.chars().collect();
    if letters.len() <= 2 * MOST {
        return line;
    }
    let (start, end) = (&letters[..MOST], &letters[letters.len() - MOST..]);
    start.iter().chain(&['…']).chain(end).collect()
}

/// Puppet's message, if the error is a failed conversion.
fn conversion(error: &LookupError) -> Option<&str> {
    let Cause::Conversion(message) = &error.innermost().cause else {
        return None;
    };
    Some(message)
}
