//! Decrypts PKCS7 blobs with keys given by the user.
//!
//! Results are those of hiera-eyaml's PKCS7 encryptor (hiera/backend/eyaml/encryptors/pkcs7.rb):
//! the same texts and, if decryption fails, OpenSSL's messages where they are informative.

use std::fmt;

use aes::cipher::block_padding::Pkcs7;
use aes::cipher::{BlockDecryptMut, KeyIvInit};
use cms::cert::x509::Certificate;
use cms::enveloped_data::{EnvelopedData, RecipientInfo};
use der::asn1::ObjectIdentifier;
use der::{DecodePem, Encode};
use rsa::pkcs1::DecodeRsaPrivateKey;
use rsa::pkcs8::{DecodePrivateKey, DecodePublicKey};
use rsa::{Pkcs1v15Encrypt, RsaPrivateKey, RsaPublicKey};

use super::blob::{Blob, is_encrypted, scan};
use super::envelope::{enveloped_data, issuer_and_serial};
use crate::value::{Value, unpack_base64};

pub(super) const RSA_ENCRYPTION: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const AES_128_CBC: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.1.2");
const AES_192_CBC: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.1.22");
pub(super) const AES_256_CBC: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.1.42");

/// A private key and its certificate. Its `Debug` text shows neither.
pub struct Keys {
    private: RsaPrivateKey,
    issuer: Vec<u8>,
    serial: Vec<u8>,
    /// The files of the private key and of the certificate.
    files: Option<[Box<str>; 2]>,
}

impl fmt::Debug for Keys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Keys(redacted)")
    }
}

/// Why a text could not be decrypted. Contains no part of a key or of a decrypted text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EyamlError {
    /// The private key is invalid, or of an unsupported kind.
    PrivateKey,
    /// The public key is no certificate.
    PublicKey,
    /// The private key does not belong to the certificate.
    KeyMismatch,
    /// The options name no private key.
    NoPrivateKey,
    /// The options name no certificate.
    NoPublicKey,
    /// A payload is no PKCS7 message.
    NotPkcs7,
    /// A payload is empty or blank.
    EmptyPayload,
    /// A payload is encrypted for other certificates.
    NoRecipient,
    /// The cipher of a payload is not supported here, although OpenSSL may support it.
    Cipher {
        /// The cipher's object identifier.
        oid: String,
    },
    /// A payload cannot be decrypted: wrong key or damaged payload.
    BadDecrypt,
    /// The content key cannot be decrypted with this private key: another key pair was used, or the
    /// text is damaged there.
    OtherKey,
    /// A blob's method needs a plugin that is unknown here.
    Method {
        /// The method, upper case.
        method: String,
    },
}

impl fmt::Display for EyamlError {
    /// The text after `Error was ` in Puppet's message.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            EyamlError::PrivateKey => "Neither PUB key nor PRIV key: unsupported",
            EyamlError::PublicKey => "PEM_read_bio_X509: no start line",
            EyamlError::KeyMismatch => "private key does not match certificate",
            EyamlError::NoPrivateKey => "pkcs7_private_key is not defined",
            EyamlError::NoPublicKey => "pkcs7_public_key is not defined",
            EyamlError::NotPkcs7 => "Could not parse the PKCS7: no start line",
            EyamlError::EmptyPayload => "undefined method `[]' for nil:NilClass",
            EyamlError::NoRecipient => "decrypt error",
            EyamlError::Cipher { oid } => {
                return write!(formatter, "unsupported cipher type {oid}");
            }
            EyamlError::BadDecrypt | EyamlError::OtherKey => "bad decrypt",
            EyamlError::Method { method } => {
                let plugin = method.to_ascii_lowercase();
                return write!(
                    formatter,
                    "cannot load such file -- hiera/backend/eyaml/encryptors/{plugin}"
                );
            }
        };
        formatter.write_str(text)
    }
}

impl std::error::Error for EyamlError {}

impl EyamlError {
    /// Puppet's message for a failure at a string `data` of the key `root_key` in the file at
    /// `path`. A missing plugin is reported bare, as Ruby's `LoadError` is not caught.
    #[must_use]
    pub fn message(&self, data: &str, root_key: &str, path: &str) -> String {
        if let EyamlError::Method { .. } = self {
            return self.to_string();
        }
        format!(
            "hiera-eyaml backend error decrypting {data} when looking up {root_key} in {path}. \
             Error was {self}"
        )
    }
}

impl Keys {
    /// Reads a key pair as `eyaml createkeys` writes it.
    ///
    /// # Errors
    /// [`EyamlError::PrivateKey`], [`EyamlError::PublicKey`] or [`EyamlError::KeyMismatch`].
    pub fn from_pem(private_pem: &[u8], certificate_pem: &[u8]) -> Result<Keys, EyamlError> {
        let private = pem_text(private_pem).ok_or(EyamlError::PrivateKey)?;
        let private = RsaPrivateKey::from_pkcs1_pem(private)
            .ok()
            .or_else(|| RsaPrivateKey::from_pkcs8_pem(private).ok())
            .ok_or(EyamlError::PrivateKey)?;
        let certificate = pem_text(certificate_pem).ok_or(EyamlError::PublicKey)?;
        let certificate = Certificate::from_pem(certificate).map_err(|_| EyamlError::PublicKey)?;
        let signed = &certificate.tbs_certificate;
        let key_der = signed.subject_public_key_info.to_der();
        let public = key_der
            .ok()
            .and_then(|der| RsaPublicKey::from_public_key_der(&der).ok());
        if public.as_ref() != Some(&private.to_public_key()) {
            return Err(EyamlError::KeyMismatch);
        }
        Ok(Keys {
            private,
            issuer: signed.issuer.to_der().map_err(|_| EyamlError::PublicKey)?,
            serial: signed.serial_number.as_bytes().to_vec(),
            files: None,
        })
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
    decrypt_payload(&unpack_base64(payload), keys)
}

fn decrypt_payload(payload: &[u8], keys: &Keys) -> Result<Vec<u8>, EyamlError> {
    let data = enveloped_data(payload).ok_or(EyamlError::NotPkcs7)?;
    let content = &data.encrypted_content;
    let cipher = content.content_enc_alg.oid;
    let (key_length, open): (_, Open) = match cipher {
        AES_128_CBC => (16, open::<cbc::Decryptor<aes::Aes128>>),
        AES_192_CBC => (24, open::<cbc::Decryptor<aes::Aes192>>),
        AES_256_CBC => (32, open::<cbc::Decryptor<aes::Aes256>>),
        _ => {
            return Err(EyamlError::Cipher {
                oid: cipher.to_string(),
            });
        }
    };
    let encrypted_key = encrypted_key(&data, keys).ok_or(EyamlError::NoRecipient)?;
    let key = keys.private.decrypt(Pkcs1v15Encrypt, encrypted_key);
    let key = key.ok().filter(|key| key.len() == key_length);
    let key = key.ok_or(EyamlError::OtherKey)?;
    let vector = content.content_enc_alg.parameters.as_ref();
    let vector = vector
        .map(der::Any::value)
        .filter(|vector| vector.len() == 16);
    let vector = vector.ok_or(EyamlError::NotPkcs7)?;
    let encrypted = content
        .encrypted_content
        .as_ref()
        .ok_or(EyamlError::NotPkcs7)?;
    open(&key, vector, encrypted.as_bytes()).ok_or(EyamlError::BadDecrypt)
}

/// Decrypts a text with a key and a vector.
type Open = fn(&[u8], &[u8], &[u8]) -> Option<Vec<u8>>;

fn open<C: KeyIvInit + BlockDecryptMut>(key: &[u8], vector: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    let cipher = C::new_from_slices(key, vector).ok()?;
    cipher.decrypt_padded_vec_mut::<Pkcs7>(text).ok()
}

/// The content key, encrypted for our certificate.
fn encrypted_key<'a>(data: &'a EnvelopedData, keys: &Keys) -> Option<&'a [u8]> {
    data.recip_infos.0.iter().find_map(|info| match info {
        RecipientInfo::Ktri(key) => {
            let (issuer, serial) = issuer_and_serial(&key.rid)?;
            let ours = issuer == keys.issuer && serial == keys.serial;
            (ours && key.key_enc_alg.oid == RSA_ENCRYPTION).then(|| key.enc_key.as_bytes())
        }
        _ => None,
    })
}

/// The PEM part of a file with other text before it.
pub(super) fn pem_text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    text.find("-----BEGIN ").map(|at| &text[at..])
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
