//! `enc-in-plain-level`: an encrypted value is in a file that no level decrypts.

use super::{FileContext, Findings, ScalarAt};
use crate::eyaml::{is_encrypted, scan};
use crate::text::TextRange;

rule!("enc-in-plain-level", Warning, [Scalar(check)]);

fn check(file: &FileContext<'_>, at: &ScalarAt<'_>, findings: &mut Findings<'_>) {
    let text = &*at.scalar.text;
    if !(is_encrypted(text) || is_cut_off(text))
        || file.readers().is_empty()
        || !file.readers().iter().all(|reader| reader.reading.is_plain)
    {
        return;
    }
    let range = match text.trim_start().starts_with("ENC[") {
        true => TextRange::new(0, text.find(['\n', '\r']).unwrap_or(text.len())),
        // Text that only describes the format has no whole encrypted value in it.
        false => match scan(text).blobs.iter().find(|blob| blob.problem.is_none()) {
            Some(blob) => blob.range,
            None => return,
        },
    };
    findings.report(
        file.places(at.node).source_range(range),
        "no level that reads this file decrypts it: Puppet uses the encrypted text as the value; use \
         'lookup_key: eyaml_lookup_key' for the level",
    );
}

/// Whether a text is an encrypted value without its end: `ENC[PKCS7,MII…`.
fn is_cut_off(text: &str) -> bool {
    let method = text.trim_start().strip_prefix("ENC[");
    method
        .and_then(|rest| rest.split_once(','))
        .is_some_and(|(method, _)| {
            !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}
