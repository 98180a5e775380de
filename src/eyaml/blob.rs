//! Finding `ENC[…]` blobs in a text and saying what is wrong with those that are none.

use super::DEFAULT_METHOD;
use super::envelope::{self, Envelope, Recipient};
use crate::text::TextRange;
use crate::value::unpack_base64;

const OPENING: &str = "ENC[";

/// Longest payload whose inside is looked at, in bytes of base64. Longer ones still are blobs.
const MAX_INSPECTED: usize = 4 << 20;

/// The blobs of one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// What hiera-eyaml would try to decrypt, in order.
    pub blobs: Vec<Blob>,
    /// What looks like a blob but would be left as plain text, in order.
    pub broken: Vec<BrokenBlob>,
}

/// An encrypted part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// From the `E` of `ENC[` to behind its `]`.
    pub range: TextRange,
    /// The encryption method, upper case; `PKCS7` where none is written.
    pub method: String,
    /// Where the method is written, if it is.
    pub method_range: Option<TextRange>,
    /// Where the base64 is.
    pub payload_range: TextRange,
    /// Size of the decoded payload in bytes.
    pub size: usize,
    /// Whom the payload is encrypted for, as far as it says so in the open.
    pub recipients: Vec<Recipient>,
    /// Why decrypting must fail whatever the key, if it must.
    pub problem: Option<BlobProblem>,
}

/// A place that opens like a blob and is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenBlob {
    /// From the `E` of `ENC[` to behind the first character that does not fit, or the end.
    pub range: TextRange,
    /// What is wrong.
    pub problem: BlobProblem,
}

/// What can be wrong with a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlobProblem {
    /// No `]` follows.
    Unterminated,
    /// Nothing, or only blanks, stands between the brackets or behind the comma.
    Empty,
    /// A character that is neither base64 nor a blank, at this offset.
    BadCharacter {
        /// Where in the text it is.
        offset: usize,
    },
    /// The base64 ends in the middle: characters were lost.
    Truncated,
    /// The payload is no encrypted message of its method.
    NotAnEnvelope,
}

/// Whether Puppet decrypts a string at all: some line of it holds `ENC[` and a `]` behind it.
///
/// A blob in a literal block (`|`) that is wrapped over lines therefore stays as it is.
#[must_use]
pub fn is_encrypted(text: &str) -> bool {
    text.split('\n').any(|line| {
        line.find(OPENING)
            .is_some_and(|at| line[at + OPENING.len()..].contains(']'))
    })
}

/// Finds the blobs in the text of a string, by the rules Puppet uses when it decrypts. Whether
/// it does is for [`is_encrypted`] to say. Linear in the size of the text.
#[must_use]
pub fn scan(text: &str) -> Scan {
    scan_with(text, |byte| matches!(byte, b' ' | b'\n'))
}

/// Finds the blobs in a file's text, where lines may still end in CR LF or be indented by tabs.
#[must_use]
pub fn scan_source(text: &str) -> Scan {
    scan_with(text, |byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t'))
}

fn scan_with(text: &str, is_blank: fn(u8) -> bool) -> Scan {
    let mut found = Scan::default();
    let mut from = 0;
    while let Some(at) = text[from..].find(OPENING) {
        let start = from + at;
        let inside = start + OPENING.len();
        // A method is word characters up to a comma; base64 has no comma, so there is no doubt.
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
    let letters = payload.bytes().filter(|byte| is_base64(*byte));
    let (letter_count, padding) = letters.fold((0, 0), |(letters, padding), byte| {
        if byte == b'=' {
            (letters, padding + 1)
        } else {
            (letters + 1, padding)
        }
    });
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
    let complete = (letter_count + padding) % 4 == 0;
    let envelope = match blob.method.as_str() {
        "PKCS7" => envelope::read_cms(&bytes),
        "GPG" => envelope::read_gpg(&bytes),
        // Methods of other plugins are opaque: nothing is known about their payload.
        _ => Some(Envelope::default()),
    };
    match envelope {
        Some(envelope) => blob.recipients = envelope.recipients,
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
