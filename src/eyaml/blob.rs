//! Finds `ENC[…]` blobs in a text, and reports malformed ones.

use super::DEFAULT_METHOD;
use super::envelope::{self, Recipient};
use crate::text::TextRange;
use crate::value::unpack_base64;

const OPENING: &str = "ENC[";

/// Maximum length of a payload that is decoded, in bytes of base64. Longer ones still count as
/// blobs.
const MAX_INSPECTED: usize = 4 << 20;

/// The blobs of one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blobs {
    /// Blobs that hiera-eyaml would try to decrypt, in order.
    pub blobs: Vec<Blob>,
    /// Malformed blobs, which would stay plain text, in order.
    pub broken: Vec<BrokenBlob>,
}

/// An encrypted part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// From the `E` of `ENC[` to after its `]`.
    pub range: TextRange,
    /// The encryption method, upper case; `PKCS7` if none is written.
    pub method: String,
    /// The range of the method, if written.
    pub method_range: Option<TextRange>,
    /// The range of the base64.
    pub payload_range: TextRange,
    /// Size of the decoded payload in bytes.
    pub size: usize,
    /// The recipients of the payload, if it names them.
    pub recipients: Vec<Recipient>,
    /// Why decryption must fail with any key, if it must.
    pub problem: Option<BlobProblem>,
}

/// A malformed blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenBlob {
    /// From the `E` of `ENC[` to after the first invalid character, or the end.
    pub range: TextRange,
    /// What is wrong.
    pub problem: BlobProblem,
}

/// The problem of a malformed blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlobProblem {
    /// No `]` follows.
    Unterminated,
    /// The brackets, or the part after the comma, are empty or blank.
    Empty,
    /// A character that is neither base64 nor a blank.
    BadCharacter {
        /// Its offset in the text.
        offset: usize,
    },
    /// The base64 is incomplete: characters were lost.
    Truncated,
    /// The payload is no encrypted message of its method.
    NotAnEnvelope,
}

/// Whether Puppet decrypts a string at all: one of its lines has `ENC[` followed by `]`.
///
/// So a blob that is wrapped over several lines in a literal block (`|`) is not decrypted.
#[must_use]
pub fn is_encrypted(text: &str) -> bool {
    text.split('\n').any(|line| {
        line.find(OPENING)
            .is_some_and(|at| line[at + OPENING.len()..].contains(']'))
    })
}

/// Finds the blobs in the text of a string, by Puppet's rules for decryption. [`is_encrypted`] says
/// whether Puppet decrypts the string at all. Linear in the size of the text.
#[must_use]
pub fn scan(text: &str) -> Blobs {
    scan_with(text, |byte| matches!(byte, b' ' | b'\n'))
}

/// Finds the blobs in a file's text, where lines may still end in CR LF or be indented by tabs.
#[must_use]
pub fn scan_source(text: &str) -> Blobs {
    scan_with(text, |byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t'))
}

fn scan_with(text: &str, is_blank: fn(u8) -> bool) -> Blobs {
    let mut found = Blobs::default();
    let mut from = 0;
    while let Some(at) = text[from..].find(OPENING) {
        let start = from + at;
        let inside = start + OPENING.len();
        // A method is word characters up to a comma; base64 has no comma, so this is unambiguous.
        let word = word_length(&text.as_bytes()[inside..]);
        let has_method = word > 0 && text.as_bytes().get(inside + word) == Some(&b',');
        let payload_start = if has_method {
            inside + word + 1
        } else {
            inside
        };
        let length = text.as_bytes()[payload_start..]
            .iter()
            .take_while(|byte| is_base64(**byte) || is_blank(**byte))
            .count();
        let end = payload_start + length;
        let payload = &text[payload_start..end];
        from = end;
        match text[end..].chars().next() {
            Some(']') if !payload.is_empty() => {
                from = end + 1;
                let method = has_method.then(|| TextRange::new(inside, inside + word));
                let payload_range = TextRange::new(payload_start, end);
                let range = TextRange::new(start, end + 1);
                found.blobs.push(blob(text, range, method, payload_range));
            }
            Some(']') => found.broken.push(BrokenBlob {
                range: TextRange::new(start, end + 1),
                problem: BlobProblem::Empty,
            }),
            Some(character) => found.broken.push(BrokenBlob {
                range: TextRange::new(start, end + character.len_utf8()),
                problem: BlobProblem::BadCharacter { offset: end },
            }),
            None => found.broken.push(BrokenBlob {
                range: TextRange::new(start, end),
                problem: BlobProblem::Unterminated,
            }),
        }
        // The base64 letters of a broken blob may open the next: `ENC[ENC[PKCS7,…]`.
        if found
            .broken
            .last()
            .is_some_and(|last| last.range.as_usize().start == start)
        {
            from = inside;
        }
    }
    found
}

fn blob(
    text: &str,
    range: TextRange,
    method_range: Option<TextRange>,
    payload_range: TextRange,
) -> Blob {
    let method = method_range.map_or(DEFAULT_METHOD, |method| method.slice(text));
    let payload = payload_range.slice(text);
    let mut blob = Blob {
        range,
        method: method.to_ascii_uppercase(),
        method_range,
        payload_range,
        size: 0,
        recipients: Vec::new(),
        problem: None,
    };
    let padding = payload.bytes().filter(|byte| *byte == b'=').count();
    let all = payload.bytes().filter(|byte| is_base64(*byte)).count();
    let letter_count = all - padding;
    if letter_count == 0 {
        blob.problem = Some(BlobProblem::Empty);
        return blob;
    }
    if payload.len() > MAX_INSPECTED {
        blob.size = letter_count * 3 / 4;
        return blob;
    }
    let bytes = unpack_base64(payload);
    blob.size = bytes.len();
    let complete = all % 4 == 0;
    let recipients = match blob.method.as_str() {
        "PKCS7" => envelope::read_cms(&bytes),
        "GPG" => envelope::read_gpg(&bytes),
        // The payloads of other plugins' methods are opaque.
        _ => Some(Vec::new()),
    };
    match recipients {
        Some(recipients) => blob.recipients = recipients,
        None if complete => blob.problem = Some(BlobProblem::NotAnEnvelope),
        None => blob.problem = Some(BlobProblem::Truncated),
    }
    blob
}

fn word_length(bytes: &[u8]) -> usize {
    let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    bytes.iter().take_while(is_word).count()
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}
