//! `plain-secret`: a private key, a password or a token is in data unencrypted.

use super::secrets::{SHORTEST, secret};
use super::{FileContext, Findings, ScalarAt};
use crate::syntax::psych::Resolved;

rule!("plain-secret", Warning, [Scalar(check)], finds_secrets);

fn check(file: &FileContext<'_>, at: &ScalarAt<'_>, findings: &mut Findings<'_>) {
    let text = &*at.scalar.text;
    // The cheap check comes first.
    if text.len() < SHORTEST {
        return;
    }
    let is_text = matches!(file.resolved(at), None | Some(Resolved::String));
    if !is_text || text.contains("%{") {
        return;
    }
    let Some(what) = secret(file.key_around(at.id).map(|key| &**key), text) else {
        return;
    };
    let is_opened = file.readers().iter().all(|reader| !reader.reading.is_plain);
    let advice = if is_opened && !file.readers().is_empty() {
        "encrypt it: the level that reads this file decrypts values"
    } else {
        "keep it in a level that reads encrypted values (eyaml)"
    };
    let message =
        format!("this looks like {what}, and everyone who can read the data can read it: {advice}");
    findings.report(at.node.range, message);
}
