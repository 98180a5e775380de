//! Recognises, validates, encrypts and (only if the user asks for it) decrypts `ENC[…]` blobs.
//!
//! A blob is exactly what Puppet's `eyaml_lookup_key` (puppet/functions/eyaml_lookup_key.rb) and
//! hiera-eyaml's parser (hiera/backend/eyaml/parser/encrypted_tokens.rb) recognise in the text of a
//! string, after YAML has unfolded it. This room reads no files: keys are bytes that the user gave
//! to the caller. No secret appears in a `Debug` text or in an error.
//!
//! ```
//! use hiera_ls::eyaml::{BlobProblem, is_encrypted, scan};
//!
//! let text = "user:ENC[GPG,aGVsbG8=] DEC::PKCS7[x]!";
//! assert!(is_encrypted(text));
//! let found = scan(text);
//! assert_eq!(found.blobs[0].method, "GPG");
//! assert_eq!(found.blobs[0].range.slice(text), "ENC[GPG,aGVsbG8=]");
//! assert_eq!(scan("ENC[PKCS7,abc").broken[0].problem, BlobProblem::Unterminated);
//! ```

mod blob;
mod decrypt;
mod edit_mark;
mod encrypt;
mod envelope;
mod error;
#[cfg(feature = "pkcs7")]
mod pkcs7;

pub use blob::{Blob, BlobProblem, Blobs, BrokenBlob, is_encrypted, scan, scan_source};
pub use decrypt::{Keys, decrypt, decrypt_blob};
pub use edit_mark::{EditMark, edit_marks};
pub use encrypt::{Encryptor, block, block_lines};
pub use envelope::Recipient;
pub use error::EyamlError;

/// The method of a blob that names none: `ENC[MIIB…]`.
pub const DEFAULT_METHOD: &str = "PKCS7";

/// The options of a level that name the private key, of which one is enough
/// (hiera/backend/eyaml/encryptors/pkcs7.rb).
pub const PRIVATE_KEY_OPTIONS: [&str; 3] = [
    "pkcs7_private_key",
    "pkcs7_private_key_env_var",
    "pkcs7_b64_private_key_env_var",
];

/// The options of a level that name the certificate.
pub const PUBLIC_KEY_OPTIONS: [&str; 3] = [
    "pkcs7_public_key",
    "pkcs7_public_key_env_var",
    "pkcs7_b64_public_key_env_var",
];
