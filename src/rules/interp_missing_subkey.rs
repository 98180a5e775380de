//! `interp-missing-subkey`: a token digs for a part that a fact or a value does not have.

use super::looked_up::{Held, LookedUp, files_that_look_up, held};
use super::variables::{missing_part, report_missing, variable};
use super::{FileContext, Findings, Severity, TokenAt};
use crate::interpolation::{Segment, TokenKind, split_key};
use crate::text::{TextRange, typing_error};

rule!(
    "interp-missing-subkey",
    Hint,
    [Token(check)],
    VALUES | OPTIONS,
    files_that_look_up
);

fn check(file: &FileContext<'_>, at: &TokenAt<'_>, findings: &mut Findings<'_>) {
    if let Some((path, place)) = variable(at) {
        if let Some(missing) = missing_part(path) {
            let place = file.places(at.node).source_range(place);
            report_missing(&missing, path, (at.range, place), "there", findings);
        }
        return;
    }
    let Some(looked_up) = LookedUp::of(at).filter(|looked_up| !looked_up.key.segments.is_empty())
    else {
        return;
    };
    let Some(Held::NoPart { segment, names }) = held(file, at) else {
        return;
    };
    // Another rule reports numbers that do not match a string key.
    if matches!(segment, Segment::Index(_)) && names.contains(&*segment.to_string()) {
        return;
    }
    let suggestion = segment
        .as_name()
        .and_then(|name| typing_error(name, names.iter().map(|name| &**name)));
    let message = format!(
        "no value of '{}' has '{segment}': Puppet puts an empty string there",
        looked_up.root
    );
    let finding = findings.report(at.range, message);
    if let Some(suggestion) = suggestion {
        finding.severity = Severity::Warning;
        let place = place_of(at, segment);
        let place = place.map(|place| file.places(at.node).source_range(place));
        finding.suggest(place, suggestion);
    }
}

/// The range of a segment of the key in the string.
fn place_of(at: &TokenAt<'_>, segment: &Segment) -> Option<TextRange> {
    let TokenKind::Call {
        argument,
        argument_range,
        ..
    } = &at.token.kind
    else {
        return None;
    };
    let mut segments = split_key(argument).ok()?.into_iter().skip(1);
    let (_, range) = segments.find(|(known, _)| known == segment)?;
    let is_bare = segment.as_name() == Some(range.slice(argument));
    is_bare.then(|| range.shift(argument_range.start as usize))
}
