//! Encrypts texts for a certificate. No private key is needed.
//!
//! The forms are those of hiera-eyaml's `encrypt` command (hiera/backend/eyaml/encrypthelper.rb).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::EyamlError;

/// Characters of one line of a block, as `eyaml encrypt` writes it.
const BLOCK_WIDTH: usize = 60;

/// What encrypts texts.
pub(super) trait Seals {
    /// The payload of a text; `None` if the key is too small.
    fn seal(&self, plain: &[u8]) -> Option<Vec<u8>>;
}

/// Encrypts texts for one certificate.
pub struct Encryptor(Box<dyn Seals>);

impl Encryptor {
    /// Reads a certificate as `eyaml createkeys` writes it, or a bare public key.
    ///
    /// # Errors
    /// [`EyamlError::PublicKey`]; [`EyamlError::NotBuiltIn`] without the feature `pkcs7`.
    #[cfg_attr(
        not(feature = "pkcs7"),
        expect(unused_variables, reason = "no key is read")
    )]
    pub fn from_pem(pem: &[u8]) -> Result<Encryptor, EyamlError> {
        #[cfg(feature = "pkcs7")]
        return Ok(Encryptor(Box::new(super::pkcs7::PublicKey::from_pem(pem)?)));
        #[cfg(not(feature = "pkcs7"))]
        Err(EyamlError::NotBuiltIn)
    }

    /// Encrypts a text as `ENC[PKCS7,…]` on one line.
    ///
    /// # Errors
    /// [`EyamlError::PublicKey`] if the key is too small.
    pub fn encrypt(&self, plain: &[u8]) -> Result<String, EyamlError> {
        let payload = self.0.seal(plain).ok_or(EyamlError::PublicKey)?;
        Ok(format!("ENC[PKCS7,{}]", STANDARD.encode(payload)))
    }
}

/// A blob as a folded block scalar with indented lines: the text after `key: `.
#[must_use]
pub fn block(blob: &str, indent: &str) -> String {
    format!(">\n{}", block_lines(blob, indent))
}

/// The lines of a blob in a folded block scalar, without its header.
#[must_use]
pub fn block_lines(blob: &str, indent: &str) -> String {
    let mut text = String::new();
    for line in blob.as_bytes().chunks(BLOCK_WIDTH) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(indent);
        text.extend(line.iter().map(|&byte| char::from(byte)));
    }
    text
}
