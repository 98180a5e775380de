//! Why a text cannot be decrypted or encrypted, in the words of Puppet's messages.

use std::fmt;

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
    /// This program is built without the feature `pkcs7`.
    NotBuiltIn,
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
            EyamlError::NotBuiltIn => "this program cannot read keys",
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
