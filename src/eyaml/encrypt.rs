//! Encrypts texts for a certificate. No private key is needed.
//!
//! The payload is that of hiera-eyaml's PKCS7 encryptor (hiera/backend/eyaml/encryptors/pkcs7.rb):
//! enveloped data with AES-256-CBC; the forms are those of its `encrypt` command
//! (hiera/backend/eyaml/encrypthelper.rb). Random numbers come from the caller.

use aes::cipher::block_padding::Pkcs7;
use aes::cipher::{BlockEncryptMut, KeyIvInit};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cms::cert::IssuerAndSerialNumber;
use cms::cert::x509::Certificate;
use cms::cert::x509::name::Name;
use cms::cert::x509::serial_number::SerialNumber;
use cms::cert::x509::spki::AlgorithmIdentifierOwned;
use cms::content_info::{CmsVersion, ContentInfo};
use cms::enveloped_data::{
    EncryptedContentInfo, EnvelopedData, KeyTransRecipientInfo, RecipientIdentifier, RecipientInfo,
    RecipientInfos,
};
use der::asn1::{Null, ObjectIdentifier, OctetString, SetOfVec};
use der::{Any, DecodePem, Encode};
use rsa::pkcs8::DecodePublicKey;
pub use rsa::rand_core::{CryptoRngCore, OsRng};
use rsa::{Pkcs1v15Encrypt, RsaPublicKey};

use super::EyamlError;
use super::decrypt::{AES_256_CBC, RSA_ENCRYPTION, pem_text};
use super::envelope::ENVELOPED_DATA;

/// `id-data` of RFC 5652.
const DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.1");

/// Characters of one line of a block, as `eyaml encrypt` writes it.
const BLOCK_WIDTH: usize = 60;

/// Encrypts texts for one certificate.
#[derive(Clone, Debug)]
pub struct Encryptor {
    key: RsaPublicKey,
    recipient: IssuerAndSerialNumber,
}

impl Encryptor {
    /// Reads a certificate as `eyaml createkeys` writes it, or a bare public key.
    ///
    /// # Errors
    /// [`EyamlError::PublicKey`].
    pub fn from_pem(pem: &[u8]) -> Result<Encryptor, EyamlError> {
        let text = pem_text(pem).ok_or(EyamlError::PublicKey)?;
        if let Ok(key) = RsaPublicKey::from_public_key_pem(text) {
            // hiera-eyaml wraps such a key into a certificate without an issuer.
            let serial = SerialNumber::new(&[1]).map_err(|_| EyamlError::PublicKey)?;
            let recipient = IssuerAndSerialNumber {
                issuer: Name::default(),
                serial_number: serial,
            };
            return Ok(Encryptor { key, recipient });
        }
        let certificate = Certificate::from_pem(text).map_err(|_| EyamlError::PublicKey)?;
        let signed = certificate.tbs_certificate;
        let key = signed.subject_public_key_info.to_der().ok();
        let key = key.and_then(|der| RsaPublicKey::from_public_key_der(&der).ok());
        Ok(Encryptor {
            key: key.ok_or(EyamlError::PublicKey)?,
            recipient: IssuerAndSerialNumber {
                issuer: signed.issuer,
                serial_number: signed.serial_number,
            },
        })
    }

    /// Encrypts a text as `ENC[PKCS7,…]` on one line.
    ///
    /// # Errors
    /// [`EyamlError::PublicKey`] if the key is too small.
    pub fn encrypt(
        &self,
        plain: &[u8],
        random: &mut dyn CryptoRngCore,
    ) -> Result<String, EyamlError> {
        let payload = self.payload(plain, random).ok_or(EyamlError::PublicKey)?;
        Ok(format!("ENC[PKCS7,{}]", STANDARD.encode(payload)))
    }

    fn payload(&self, plain: &[u8], mut random: &mut dyn CryptoRngCore) -> Option<Vec<u8>> {
        let (mut content_key, mut vector) = ([0; 32], [0; 16]);
        random.try_fill_bytes(&mut content_key).ok()?;
        random.try_fill_bytes(&mut vector).ok()?;
        let cipher = cbc::Encryptor::<aes::Aes256>::new_from_slices(&content_key, &vector).ok()?;
        let encrypted = cipher.encrypt_padded_vec_mut::<Pkcs7>(plain);
        let key = self.key.encrypt(&mut random, Pkcs1v15Encrypt, &content_key);
        let recipient = RecipientInfo::Ktri(KeyTransRecipientInfo {
            version: CmsVersion::V0,
            rid: RecipientIdentifier::IssuerAndSerialNumber(self.recipient.clone()),
            key_enc_alg: AlgorithmIdentifierOwned {
                oid: RSA_ENCRYPTION,
                parameters: Some(Any::from(Null)),
            },
            enc_key: OctetString::new(key.ok()?).ok()?,
        });
        let vector = OctetString::new(vector).ok()?;
        let data = EnvelopedData {
            version: CmsVersion::V0,
            originator_info: None,
            recip_infos: RecipientInfos(SetOfVec::try_from(vec![recipient]).ok()?),
            encrypted_content: EncryptedContentInfo {
                content_type: DATA,
                content_enc_alg: AlgorithmIdentifierOwned {
                    oid: AES_256_CBC,
                    parameters: Some(Any::encode_from(&vector).ok()?),
                },
                encrypted_content: Some(OctetString::new(encrypted).ok()?),
            },
            unprotected_attrs: None,
        };
        let info = ContentInfo {
            content_type: ENVELOPED_DATA,
            content: Any::encode_from(&data).ok()?,
        };
        info.to_der().ok()
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
