//! `knockout-removes-nothing`: no lower level has the knocked-out element.

use std::sync::Arc;

use super::knockout::{has_text_at, prefixed, value_at};
use super::{FileContext, Findings, Fix, Safety, Severity, Tag};
use crate::text::{TextEdit, typing_error};
use crate::value::Value;
use crate::workspace::{File, KeyFact};

rule!("knockout-removes-nothing", Hint, [Key(check)], WORKSPACE);

fn check(file: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    let Some((knocking, prefix)) = prefixed(file, key) else {
        return;
    };
    if knocking.lower.is_empty() || !file.checker.has_all_data_for(file.readers(), &key.name) {
        return;
    }
    for knockout in &knocking.knockouts {
        let Some(path) = &knockout.path else {
            continue;
        };
        // A list that no lower level has is not merged.
        let has_list = |lower: &Arc<File>| value_at(file, lower, &key.name, path).is_some();
        if !path.is_empty() && !knocking.lower.iter().any(|(lower, _)| has_list(lower)) {
            continue;
        }
        let mut lower = knocking.lower.iter().map(|(lower, _)| lower);
        if lower.any(|lower| has_text_at(file, lower, &key.name, path, &knockout.target)) {
            continue;
        }
        let lower = knocking.lower.iter();
        let known: Vec<String> = lower
            .flat_map(|(lower, _)| texts(file, lower, &key.name, path))
            .collect();
        let suggestion = typing_error(&knockout.target, known.iter().map(String::as_str));
        let message = format!(
            "no lower level has '{}': nothing is removed",
            knockout.target
        );
        match suggestion {
            Some(suggestion) => {
                let finding = findings.report_as(Severity::Warning, knockout.range, message);
                finding.did_you_mean(&format!("{prefix}{suggestion}"));
                let target = file.name_in(knockout.range, &knockout.target);
                let title = format!("Knock out '{suggestion}'");
                let edit = target.map(|target| TextEdit::replace(target, suggestion));
                let fix = edit.map(|edit| Fix::new(Safety::Unsafe, title, edit));
                finding.fixes.extend(fix);
            }
            None => {
                let finding = findings.report(knockout.range, message);
                finding.tags.push(Tag::Unnecessary);
            }
        }
    }
}

/// The strings of the list at a path in a file's value of a key.
fn texts(file: &FileContext<'_>, other: &File, key: &str, path: &[Arc<str>]) -> Vec<String> {
    let value = value_at(file, other, key, path);
    let elements = value.as_ref().and_then(Value::as_array);
    let texts = elements
        .unwrap_or_default()
        .iter()
        .filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}
