//! Hovers on encrypted values: method, size and recipients. Only [`plain_text`], which the user
//! calls explicitly, decrypts.

use std::sync::Arc;

use super::Context;
use crate::eyaml::{Blob, BlobProblem, DEFAULT_METHOD, EyamlError, Keys, decrypt_blob};
use crate::ide::target::{BlobTarget, blob_at, key_at};
use crate::page::{Page, Piece, name, text};
use crate::text::{PositionEncoding, few, number_of};
use crate::workspace::Snapshot;

/// Maximum number of recipients that are named.
const MAX_NAMED: usize = 3;

pub(super) fn page(context: &Context<'_>, target: &BlobTarget) -> Page {
    let mut page = Page::default();
    let blob = match &target.blob {
        Ok(blob) => blob,
        Err(broken) => {
            page.line(vec![
                name("ENC[…"),
                text(format!(
                    " — not decrypted, kept as it is: {}",
                    words(broken.problem)
                )),
            ]);
            return page;
        }
    };
    let size = number_of(blob.size, "byte");
    let mut line = vec![
        name(format!("ENC[{},…]", blob.method)),
        text(format!(" — encrypted with {}, {size}", blob.method)),
    ];
    if let Some(recipients) = recipients(blob) {
        line.push(text(format!(", for {recipients}")));
    }
    page.line(line);
    if let Some(problem) = blob.problem {
        page.line(vec![text(format!(
            "cannot be decrypted: {}",
            words(problem)
        ))]);
        return page;
    }
    if let Some(reveal) = context.options.reveal
        && blob.method == DEFAULT_METHOD
    {
        let start = target.range.start as usize;
        page.line(vec![Piece::Action {
            label: "show the plain text",
            link: reveal.link.map(|link| link(start)),
            words: format!("plain text: command {}", reveal.command),
        }]);
    }
    page
}

/// The recipients of a value, if it names any.
fn recipients(blob: &Blob) -> Option<String> {
    let names: Vec<String> = blob.recipients.iter().map(ToString::to_string).collect();
    (!names.is_empty()).then(|| few(&names, MAX_NAMED))
}

/// A decrypted value. Has no `Debug` output, so that it cannot reach a log by accident.
pub struct Revealed {
    /// The plain text.
    pub text: String,
    /// The key of the value, by its name in lookups.
    pub key: Option<Arc<str>>,
    /// The line of the start of the encrypted value, from 1.
    pub line: u32,
}

/// Decrypts the encrypted value at the byte at `offset` of a file, at the user's explicit request.
///
/// # Errors
/// The reason for people, without any plain text.
pub fn plain_text(
    snapshot: &Snapshot,
    path: &str,
    offset: usize,
    keys: &Keys,
) -> Result<Revealed, String> {
    let nothing = || "there is no encrypted value at this place".to_owned();
    let target = blob_at(snapshot, path, offset).ok_or_else(nothing)?;
    let file = snapshot.file(path).ok_or_else(nothing)?;
    let blob = target.blob.map_err(|broken| {
        format!(
            "what begins here is not an encrypted value: {}",
            words(broken.problem)
        )
    })?;
    if let (Some(problem), DEFAULT_METHOD) = (blob.problem, &*blob.method) {
        return Err(format!(
            "this value cannot be decrypted: {}",
            words(problem)
        ));
    }
    let opened = decrypt_blob(&target.source, &blob, keys);
    let opened = opened.map_err(|error| refusal(&error, &blob))?;
    let text = String::from_utf8(opened).map_err(|error| {
        let size = error.as_bytes().len();
        format!("the decrypted value is not text but {size} bytes: use 'eyaml decrypt' to get them")
    })?;
    let start = target.range.start as usize;
    Ok(Revealed {
        text,
        key: key_at(snapshot, path, offset),
        line: file.lines().position(start, PositionEncoding::Utf8).line + 1,
    })
}

/// Why a value cannot be decrypted, and how to solve it.
fn refusal(error: &EyamlError, blob: &Blob) -> String {
    match error {
        EyamlError::Method { method } => {
            format!(
                "this value is encrypted with {method}: only {DEFAULT_METHOD} can be decrypted here"
            )
        }
        EyamlError::NoRecipient => match recipients(blob) {
            Some(recipients) => format!(
                "the key in the settings cannot decrypt this value: it is encrypted for {recipients}"
            ),
            None => "the key in the settings cannot decrypt this value".to_owned(),
        },
        EyamlError::BadDecrypt | EyamlError::OtherKey => {
            "the key in the settings cannot decrypt this value: it is for another key, or damaged"
                .to_owned()
        }
        EyamlError::Cipher { oid } => {
            format!("the cipher of this value, {oid}, is not supported")
        }
        EyamlError::EmptyPayload => words(BlobProblem::Empty).to_owned(),
        EyamlError::NotPkcs7 => words(BlobProblem::NotAnEnvelope).to_owned(),
        EyamlError::PrivateKey
        | EyamlError::PublicKey
        | EyamlError::KeyMismatch
        | EyamlError::NotBuiltIn
        | EyamlError::NoPrivateKey
        | EyamlError::NoPublicKey => error.to_string(),
    }
}

fn words(problem: BlobProblem) -> &'static str {
    match problem {
        BlobProblem::Unterminated => "the closing ']' is missing",
        BlobProblem::Empty => "it is empty",
        BlobProblem::BadCharacter { .. } => "it has a character that is not base64",
        BlobProblem::Truncated => "the base64 is cut off",
        BlobProblem::NotAnEnvelope => "it is not a message of this method",
    }
}
