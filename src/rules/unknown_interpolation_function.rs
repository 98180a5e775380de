//! `unknown-interpolation-function`: a token calls a function that interpolation does not have.

use super::{FileContext, Findings, Fix, Safety, TokenAt};
use crate::interpolation::{Method, TokenKind};
use crate::text::{TextEdit, TextRange, nearest};

/// The functions that a token may call.
const FUNCTIONS: [&str; 5] = ["lookup", "hiera", "alias", "scope", "literal"];

rule!("unknown-interpolation-function", Error, [Token(check)]);

fn check(file: &FileContext<'_>, at: &TokenAt<'_>, findings: &mut Findings<'_>) {
    let TokenKind::UnknownMethod { name } = &at.token.kind else {
        return;
    };
    let lower = name.to_lowercase();
    let (safety, suggestion) = match Method::from_name(&lower) {
        Some(_) => (Safety::Safe, Some(&*lower)),
        None => (Safety::Unsafe, nearest(name, FUNCTIONS.into_iter())),
    };
    let instead = match suggestion {
        Some(suggestion) => format!("did you mean '{suggestion}'?"),
        None => "there are lookup, hiera, alias, scope and literal".to_owned(),
    };
    let finding = findings.report(
        at.range,
        format!("unknown interpolation method '{name}': Puppet fails on this key; {instead}"),
    );
    let written = at.token.range.slice(at.text).find(&**name);
    if let (Some(function), Some(start)) = (suggestion, written) {
        let name = TextRange::new(start, start + name.len()).shift(at.token.range.start as usize);
        let name = file.places(at.node).source_range(name);
        finding.fixes.push(Fix::new(
            safety,
            format!("Call '{function}'"),
            TextEdit::replace(name, function),
        ));
    }
}
