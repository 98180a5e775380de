//! `upgrade --format sarif`: a result for each line that causes a change, for code scanning.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::shown;
use crate::cli::check::record::hash;
use crate::cli::check::sarif::{log, uri};
use crate::ide::matrix::SourceLine;
use crate::ide::upgrade::report::{
    OfCause, UpgradeReport, effects_text, fix, headline, name_and_subject, summary,
};
use crate::ide::upgrade::{UpgradeCause, UpgradeEffect};

/// The log of a report. It has no values.
pub(super) fn sarif(report: &UpgradeReport<'_>) -> Value {
    let causes = report.causes();
    let mut rules: BTreeMap<&str, Value> = BTreeMap::new();
    for (cause, _) in &causes {
        let (name, _) = name_and_subject(cause);
        rules.entry(name).or_insert_with(|| described(name, cause));
    }
    let index: BTreeMap<&str, usize> = rules.keys().copied().zip(0..).collect();
    let results = causes.iter().flat_map(|(cause, of)| {
        let (name, _) = name_and_subject(cause);
        let rule = index.get(name).copied();
        let places = of.places();
        let is_nowhere = places.is_empty();
        let places = places.into_iter().map(Some);
        // What has no line of its own is still a result.
        let none = is_nowhere.then_some(None);
        places
            .chain(none)
            .map(move |place| result((cause, of), place, rule))
    });
    let results = results.collect();
    log(rules.into_values().collect(), results)
}

fn described(name: &str, cause: &UpgradeCause) -> Value {
    json!({
        "id": format!("upgrade/{name}"),
        "shortDescription": { "text": summary(cause) },
        "properties": { "since": u8::from(cause.since()), "tags": ["hiera", "puppet", "upgrade"] },
    })
}

fn result(
    (cause, of): (&UpgradeCause, &OfCause),
    place: Option<&SourceLine>,
    rule: Option<usize>,
) -> Value {
    let (name, subject) = name_and_subject(cause);
    let mut text = format!("{}: {}", headline(cause), effects_text(of).join("; "));
    if let Some(fix) = fix(cause) {
        text += &format!("; fix: {fix}");
    }
    let file = place.map(|place| shown(&place.file));
    let known = json!([name, subject, file, place.map(|place| place.line)]);
    let mut result = json!({
        "ruleId": format!("upgrade/{name}"),
        "ruleIndex": rule,
        "level": match of.worst() {
            Some(UpgradeEffect::Fails | UpgradeEffect::Lost) => "error",
            Some(UpgradeEffect::Changes) => "warning",
            Some(
                UpgradeEffect::Works
                | UpgradeEffect::Warns
                | UpgradeEffect::Unknown
                | UpgradeEffect::Deprecated,
            )
            | None => "note",
        },
        "message": { "text": text },
        "partialFingerprints": { "hieraLs/v1": hash(&known.to_string()) },
        "properties": { "since": u8::from(cause.since()) },
    });
    if let Some((place, file)) = place.zip(file) {
        result["locations"] = json!([{
            "physicalLocation": {
                "artifactLocation": { "uri": uri(file) },
                "region": { "startLine": place.line },
            },
        }]);
    }
    result
}
