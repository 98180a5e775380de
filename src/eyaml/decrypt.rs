//! Decrypts PKCS7 blobs with keys given by the user.
//!
//! Results are those of hiera-eyaml's PKCS7 encryptor (hiera/backend/eyaml/encryptors/pkcs7.rb):
//! the same texts and, if decryption fails, OpenSSL's messages where they are informative.

use std::fmt;

use super::EyamlError;
use super::blob::{Blob, is_encrypted, scan};
use crate::value::{Value, unpack_base64};

/// What decrypts payloads.
pub(super) trait Opens: Send + Sync {
    /// The text of a payload.
    fn open(&self, payload: &[u8]) -> Result<Vec<u8>, EyamlError>;
}

/// A private key and its certificate. Its `Debug` text shows neither.
pub struct Keys {
    pair: Box<dyn Opens>,
    /// The files of the private key and of the certificate.
    files: Option<[Box<str>; 2]>,
}

impl fmt::Debug for Keys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Keys(redacted)")
    }
}

impl Keys {
    /// Reads a key pair as `eyaml createkeys` writes it.
    ///
    /// # Errors
    /// [`EyamlError::PrivateKey`], [`EyamlError::PublicKey`] or [`EyamlError::KeyMismatch`];
    /// [`EyamlError::NotBuiltIn`] without the feature `pkcs7`.
    #[cfg_attr(
        not(feature = "pkcs7"),
        expect(unused_variables, reason = "no key is read")
    )]
    pub fn from_pem(private_pem: &[u8], certificate_pem: &[u8]) -> Result<Keys, EyamlError> {
        #[cfg(feature = "pkcs7")]
        return Ok(Keys {
            pair: Box::new(super::pkcs7::KeyPair::from_pem(
                private_pem,
                certificate_pem,
            )?),
            files: None,
        });
        #[cfg(not(feature = "pkcs7"))]
        Err(EyamlError::NotBuiltIn)
    }

    /// The same keys, with the absolute paths of the files that the private key and the certificate
    /// were read from.
    #[must_use]
    pub fn of_files(self, private: &str, certificate: &str) -> Keys {
        Keys {
            files: Some([private.into(), certificate.into()]),
            ..self
        }
    }

    /// The files that the private key and the certificate were read from, if they are known.
    #[must_use]
    pub fn files(&self) -> Option<[&str; 2]> {
        self.files
            .as_ref()
            .map(|files| files.each_ref().map(|file| &**file))
    }
}

/// Decrypts a string as Puppet's `eyaml_lookup_key` does: every blob is replaced by its text, the
/// text around is kept, and one line break at the very end is removed. A string without blobs
/// ([`is_encrypted`]) is returned unchanged. Interpolation is left to the caller.
///
/// The value is [`Value::Bytes`] if the decrypted text is not UTF-8.
///
/// # Errors
/// The error of the first blob that cannot be decrypted.
pub fn decrypt(text: &str, keys: &Keys) -> Result<Value, EyamlError> {
    if !is_encrypted(text) {
        return Ok(Value::from(text));
    }
    let mut plain: Vec<u8> = Vec::with_capacity(text.len());
    let mut copied = 0;
    for blob in scan(text).blobs {
        let range = blob.range.as_usize();
        plain.extend_from_slice(&text.as_bytes()[copied..range.start]);
        copied = range.end;
        plain.extend_from_slice(&decrypt_blob(text, &blob, keys)?);
    }
    plain.extend_from_slice(&text.as_bytes()[copied..]);
    // Ruby's `chomp`.
    let line_break = [b"\r\n".as_slice(), b"\n", b"\r"]
        .into_iter()
        .find(|line_break| plain.ends_with(line_break));
    plain.truncate(plain.len() - line_break.map_or(0, <[u8]>::len));
    Ok(match String::from_utf8(plain) {
        Ok(text) => Value::from(text),
        Err(error) => Value::Bytes(error.into_bytes().into()),
    })
}

/// Decrypts one blob of a text that was searched with [`scan`] or [`super::scan_source`]: exactly
/// the encrypted bytes, without removing a line break or interpolating.
///
/// # Errors
/// Why the blob cannot be decrypted.
pub fn decrypt_blob(text: &str, blob: &Blob, keys: &Keys) -> Result<Vec<u8>, EyamlError> {
    let payload = blob.payload_range.slice(text);
    if payload.bytes().all(|byte| byte.is_ascii_whitespace()) {
        return Err(EyamlError::EmptyPayload);
    }
    if blob.method != super::DEFAULT_METHOD {
        return Err(EyamlError::Method {
            method: blob.method.clone(),
        });
    }
    keys.pair.open(&unpack_base64(payload))
}

#[cfg(test)]
#[cfg(feature = "pkcs7")]
#[path = "tests.rs"]
mod tests;
