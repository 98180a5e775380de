//! The cryptography of hiera-eyaml's PKCS7 encryptor (hiera/backend/eyaml/encryptors/pkcs7.rb): enveloped data, with
//! AES for the text and RSA for its key.

use aes::cipher::block_padding::Pkcs7;
use aes::cipher::{BlockDecryptMut, BlockEncryptMut, KeyIvInit};
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
use rsa::pkcs1::DecodeRsaPrivateKey;
use rsa::pkcs8::{DecodePrivateKey, DecodePublicKey};
use rsa::rand_core::{OsRng, RngCore as _};
use rsa::{Pkcs1v15Encrypt, RsaPrivateKey, RsaPublicKey};

use super::EyamlError;
use super::decrypt::Opens;
use super::encrypt::Seals;
use super::envelope::{ENVELOPED_DATA, enveloped_data};

/// `id-data` of RFC 5652.
const DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.1");

const RSA_ENCRYPTION: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const AES_128_CBC: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.1.2");
const AES_192_CBC: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.1.22");
const AES_256_CBC: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.1.42");

/// A private key, and what its certificate says.
pub(super) struct KeyPair {
    private: RsaPrivateKey,
    issuer: Vec<u8>,
    serial: Vec<u8>,
}

impl KeyPair {
    /// Reads a key pair as `eyaml createkeys` writes it.
    ///
    /// # Errors
    /// [`EyamlError::PrivateKey`], [`EyamlError::PublicKey`] or [`EyamlError::KeyMismatch`].
    pub(super) fn from_pem(
        private_pem: &[u8],
        certificate_pem: &[u8],
    ) -> Result<KeyPair, EyamlError> {
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
        Ok(KeyPair {
            private,
            issuer: signed.issuer.to_der().map_err(|_| EyamlError::PublicKey)?,
            serial: signed.serial_number.as_bytes().to_vec(),
        })
    }
}

impl Opens for KeyPair {
    fn open(&self, payload: &[u8]) -> Result<Vec<u8>, EyamlError> {
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
        let encrypted_key = encrypted_key(&data, self).ok_or(EyamlError::NoRecipient)?;
        let key = self.private.decrypt(Pkcs1v15Encrypt, encrypted_key);
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
}

/// Decrypts a text with a key and a vector.
type Open = fn(&[u8], &[u8], &[u8]) -> Option<Vec<u8>>;

fn open<C: KeyIvInit + BlockDecryptMut>(key: &[u8], vector: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    let cipher = C::new_from_slices(key, vector).ok()?;
    cipher.decrypt_padded_vec_mut::<Pkcs7>(text).ok()
}

/// The content key, encrypted for our certificate.
fn encrypted_key<'a>(data: &'a EnvelopedData, keys: &KeyPair) -> Option<&'a [u8]> {
    data.recip_infos.0.iter().find_map(|info| match info {
        RecipientInfo::Ktri(key) => {
            let (issuer, serial) = issuer_and_serial(&key.rid)?;
            let ours = issuer == keys.issuer && serial == keys.serial;
            (ours && key.key_enc_alg.oid == RSA_ENCRYPTION).then(|| key.enc_key.as_bytes())
        }
        _ => None,
    })
}

/// The DER bytes of a recipient's issuer and serial number, to compare with a certificate's.
fn issuer_and_serial(id: &RecipientIdentifier) -> Option<(Vec<u8>, Vec<u8>)> {
    match id {
        RecipientIdentifier::IssuerAndSerialNumber(id) => Some((
            id.issuer.to_der().ok()?,
            id.serial_number.as_bytes().to_vec(),
        )),
        RecipientIdentifier::SubjectKeyIdentifier(_) => None,
    }
}

/// The key of a certificate.
pub(super) struct PublicKey {
    key: RsaPublicKey,
    recipient: IssuerAndSerialNumber,
}

impl PublicKey {
    /// Reads a certificate as `eyaml createkeys` writes it, or a bare public key.
    ///
    /// # Errors
    /// [`EyamlError::PublicKey`].
    pub(super) fn from_pem(pem: &[u8]) -> Result<PublicKey, EyamlError> {
        let text = pem_text(pem).ok_or(EyamlError::PublicKey)?;
        if let Ok(key) = RsaPublicKey::from_public_key_pem(text) {
            // hiera-eyaml wraps such a key into a certificate without an issuer.
            let serial = SerialNumber::new(&[1]).map_err(|_| EyamlError::PublicKey)?;
            let recipient = IssuerAndSerialNumber {
                issuer: Name::default(),
                serial_number: serial,
            };
            return Ok(PublicKey { key, recipient });
        }
        let certificate = Certificate::from_pem(text).map_err(|_| EyamlError::PublicKey)?;
        let signed = certificate.tbs_certificate;
        let key = signed.subject_public_key_info.to_der().ok();
        let key = key.and_then(|der| RsaPublicKey::from_public_key_der(&der).ok());
        Ok(PublicKey {
            key: key.ok_or(EyamlError::PublicKey)?,
            recipient: IssuerAndSerialNumber {
                issuer: signed.issuer,
                serial_number: signed.serial_number,
            },
        })
    }
}

impl Seals for PublicKey {
    fn seal(&self, plain: &[u8]) -> Option<Vec<u8>> {
        let (mut content_key, mut vector) = ([0; 32], [0; 16]);
        OsRng.try_fill_bytes(&mut content_key).ok()?;
        OsRng.try_fill_bytes(&mut vector).ok()?;
        let cipher = cbc::Encryptor::<aes::Aes256>::new_from_slices(&content_key, &vector).ok()?;
        let encrypted = cipher.encrypt_padded_vec_mut::<Pkcs7>(plain);
        let key = self.key.encrypt(&mut OsRng, Pkcs1v15Encrypt, &content_key);
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

/// The PEM part of a file with other text before it.
fn pem_text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    text.find("-----BEGIN ").map(|at| &text[at..])
}
