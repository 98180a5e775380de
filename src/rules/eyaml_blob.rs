//! `eyaml-blob`: an encrypted value is broken.

use super::{FileContext, Findings, ScalarAt, Severity};
use crate::eyaml::{BlobProblem, BrokenBlob, is_encrypted, scan};
use crate::text::TextRange;

/// Methods of `hiera-eyaml` and its published plugins.
const METHODS: [&str; 14] = [
    "PKCS7",
    "GPG",
    "PLAINTEXT",
    "KMS",
    "GKMS",
    "GCPKMS",
    "TWOFAC",
    "SECRETBOX",
    "VAULT",
    "VAULT_RS",
    "RSA",
    "SSHAGENT",
    "AZUREKEYVAULT",
    "CLI",
];

rule!("eyaml-blob", Error, [Scalar(check)]);

fn check(file: &FileContext<'_>, at: &ScalarAt<'_>, findings: &mut Findings<'_>) {
    let text = &*at.scalar.text;
    // Only a text with `ENC[` can be broken, and only if every level decrypts it.
    let readers = file.readers();
    let is_plain = || readers.iter().any(|reader| reader.reading.is_plain);
    if !text.contains("ENC[") || readers.is_empty() || is_plain() {
        return;
    }
    let places = file.places(at.node);
    let scan = scan(text);
    let is_whole = text.trim_start().starts_with("ENC[");
    if !is_whole && let Some(broken) = scan.broken.iter().find(|one| is_cut_off(text, one)) {
        let range = places.source_range(broken.range);
        let message = "the closing ']' is missing: Puppet leaves the encrypted text in the value";
        findings.report_as(Severity::Warning, range, message);
    }
    if !is_encrypted(text) {
        if !is_whole {
            return;
        }
        let end = text.find('\n').unwrap_or(text.len());
        let range = places.source_range(TextRange::new(0, end));
        let message = "the closing ']' is missing in the line of 'ENC[': Puppet uses the encrypted text as the value";
        findings.report_as(Severity::Warning, range, message);
        return;
    }
    for blob in &scan.blobs {
        let range = places.source_range(blob.range);
        let problem = match blob.problem {
            Some(BlobProblem::Truncated) => "the base64 of the encrypted value is cut off",
            Some(BlobProblem::NotAnEnvelope) => {
                "the encrypted value is not a message of its method"
            }
            Some(BlobProblem::Empty) => "the encrypted value is empty",
            Some(BlobProblem::Unterminated | BlobProblem::BadCharacter { .. }) => continue,
            None if METHODS.contains(&&*blob.method) => continue,
            None => {
                let message = format!(
                    "no published plugin has the method '{}': Puppet fails on this key unless a gem \
                     provides it",
                    blob.method
                );
                findings.report_as(Severity::Warning, range, message);
                continue;
            }
        };
        findings.report(range, format!("{problem}: Puppet fails on this key"));
    }
    // In a longer text, or next to an encrypted value, brackets can mean something else.
    let broken = scan.broken.iter().filter(|_| is_whole);
    let shown = broken.filter(|one| scan.blobs.is_empty() || is_cut_off(text, one));
    for broken in shown.take(1) {
        let problem = match broken.problem {
            BlobProblem::BadCharacter { offset } => {
                let found = text[offset..].chars().next().unwrap_or_default();
                format!("{found:?} is not a base64 character")
            }
            BlobProblem::Empty => "the brackets are empty".to_owned(),
            BlobProblem::Unterminated => "the closing ']' is missing".to_owned(),
            BlobProblem::Truncated | BlobProblem::NotAnEnvelope => continue,
        };
        let message = format!(
            "{problem}: Puppet does not treat it as an encrypted value, and leaves it unchanged"
        );
        let range = places.source_range(broken.range);
        findings.report_as(Severity::Warning, range, message);
    }
}

/// Whether an unterminated value names a known method, has some base64 and reaches the end of the text.
fn is_cut_off(text: &str, broken: &BrokenBlob) -> bool {
    /// Minimum number of base64 characters.
    const LEAST: usize = 4;
    let inside = broken.range.slice(text).strip_prefix("ENC[");
    let payload = inside
        .and_then(|inside| inside.split_once(','))
        .filter(|(method, _)| METHODS.contains(method));
    broken.problem == BlobProblem::Unterminated
        && payload.is_some_and(|(_, payload)| payload.trim().len() >= LEAST)
}

#[cfg(test)]
mod tests {
    use crate::rules::marked::check;

    #[test]
    fn broken_values_are_found_unless_their_level_is_custom() {
        check(
            "#- hiera.yaml\nversion: 5\nhierarchy:\n\
             \x20 - {name: own, path: own.yaml, lookup_key: site::own}\n\
             \x20 - {name: eyaml, path: common.yaml, lookup_key: eyaml_lookup_key, options: \
             {pkcs7_private_key: a, pkcs7_public_key: b}}\n\
             #- data/own.yaml\na: ENC[PKCS7,aGVsbG8=]\n\
             #- data/common.yaml\nb: ENC[PKCS7,aGVsbG8=] #~ eyaml-blob\n\
             c: pre ENC[PKCS7,aGVsbG8=] mid #~ eyaml-blob\n\
             d: write ENC[PKCS7,...] or ENC[...]\n",
        );
    }
}
