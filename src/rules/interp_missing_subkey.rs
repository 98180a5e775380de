//! `interp-missing-subkey`: a token asks for a part that a fact or a value does not have.

use super::looked_up::{Held, LookedUp, files_that_look_up, held};
use super::{FileContext, Findings, Fix, Safety, Severity, TokenAt};
use crate::interpolation::{Method, Segment, TokenKind, split_key};
use crate::scope::{CoreFact, core_fact};
use crate::text::{TextEdit, TextRange, typing_error};

/// Parts of `$trusted` (`puppet/context/trusted_information.rb`).
const TRUSTED: [&str; 6] = [
    "authenticated",
    "certname",
    "domain",
    "extensions",
    "external",
    "hostname",
];

/// Parts of `$server_facts`.
const SERVER_FACTS: [&str; 5] = [
    "environment",
    "serverip",
    "serverip6",
    "servername",
    "serverversion",
];

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
            let meant = missing.meant.as_deref();
            let message = format!(
                "{}: Puppet puts an empty string there{}",
                missing.message,
                did_you_mean(meant)
            );
            let finding = findings.report_as(severity(meant), at.range, message);
            if let Some(meant) = meant {
                let prefix = if path.starts_with("::") { "::" } else { "" };
                let range = file.places(at.node).source_range(place);
                let edit = TextEdit::replace(range, format!("{prefix}{meant}"));
                finding
                    .fixes
                    .push(Fix::new(Safety::Unsafe, format!("Write '{meant}'"), edit));
            }
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
    // Digits that do not find a text key are another rule's matter.
    if matches!(segment, Segment::Index(_)) && names.contains(&*segment.to_string()) {
        return;
    }
    let meant = segment
        .as_name()
        .and_then(|name| typing_error(name, names.iter().map(|name| &**name)));
    let message = format!(
        "no value of '{}' has '{segment}': Puppet puts an empty string there{}",
        looked_up.root,
        did_you_mean(meant)
    );
    let finding = findings.report_as(severity(meant), at.range, message);
    if let (Some(meant), Some(place)) = (meant, place_of(at, segment)) {
        let edit = TextEdit::replace(file.places(at.node).source_range(place), meant);
        finding
            .fixes
            .push(Fix::new(Safety::Unsafe, format!("Write '{meant}'"), edit));
    }
}

fn did_you_mean(meant: Option<&str>) -> String {
    meant.map_or(String::new(), |meant| format!("; did you mean '{meant}'?"))
}

fn severity(meant: Option<&str>) -> Severity {
    match meant {
        Some(_) => Severity::Warning,
        None => Severity::Hint,
    }
}

/// The variable that a token names, with its place in the string.
pub(super) fn variable<'t>(at: &'t TokenAt<'_>) -> Option<(&'t str, TextRange)> {
    match &at.token.kind {
        TokenKind::Variable { .. } => Some((at.token.inner.slice(at.text), at.token.inner)),
        TokenKind::Call {
            method: Method::Scope,
            argument,
            argument_range,
        } => Some((argument, *argument_range)),
        TokenKind::Call { .. }
        | TokenKind::Empty
        | TokenKind::UnknownMethod { .. }
        | TokenKind::Malformed
        | TokenKind::Unclosed => None,
    }
}

/// A path of a variable that leads nowhere.
pub(super) struct MissingPart {
    /// What is missing.
    pub(super) message: String,
    /// The path that was perhaps meant.
    pub(super) meant: Option<String>,
}

/// What is missing of a variable whose parts are the same everywhere.
pub(super) fn missing_part(path: &str) -> Option<MissingPart> {
    let path = path.strip_prefix("::").unwrap_or(path);
    let (root, rest) = path.split_once('.')?;
    if rest.contains(['\'', '"']) {
        return None;
    }
    let of_list = |parts: &[&'static str]| {
        let (part, below) = rest.split_once('.').unwrap_or((rest, ""));
        if parts.contains(&part) {
            return None;
        }
        let below = if below.is_empty() {
            String::new()
        } else {
            format!(".{below}")
        };
        let meant = typing_error(part, parts.iter().copied());
        Some(MissingPart {
            message: format!("'{root}' has no '{part}'"),
            meant: meant.map(|meant| format!("{root}.{meant}{below}")),
        })
    };
    match root {
        "trusted" => of_list(&TRUSTED),
        "server_facts" => of_list(&SERVER_FACTS),
        "facts" => match core_fact(rest) {
            CoreFact::NoSuchPart(Some(meant)) => Some(MissingPart {
                message: format!("there is no fact '{rest}'"),
                meant: Some(format!("facts.{meant}")),
            }),
            CoreFact::Custom(Some(meant)) => Some(MissingPart {
                message: format!("Facter has no fact '{rest}'"),
                meant: Some(match rest.split_once('.') {
                    Some((_, below)) => format!("facts.{meant}.{below}"),
                    None => format!("facts.{meant}"),
                }),
            }),
            // A custom fact may add parts to a structured one.
            CoreFact::Exists
            | CoreFact::Legacy(_)
            | CoreFact::NoSuchPart(None)
            | CoreFact::Custom(None) => None,
        },
        _ => None,
    }
}

/// Where a segment of the key stands in the string.
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
