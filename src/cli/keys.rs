//! The keys that a person gives for encrypted values. Nothing else decrypts them: keys named by the
//! workspace are never used.

use std::sync::Arc;

use clap::Args;

use super::terminal::complain;
use crate::disk;
use crate::eyaml::Keys;
use crate::workspace::{Content, DiskEntry};

/// The flags that turn decryption on.
#[derive(Args)]
pub(super) struct KeyArguments {
    /// Decrypt values of eyaml with this private key (PEM)
    #[arg(long, value_name = "FILE", requires = "pkcs7_public_key")]
    pkcs7_private_key: Option<String>,
    /// The certificate that belongs to the private key (PEM)
    #[arg(long, value_name = "FILE", requires = "pkcs7_private_key")]
    pkcs7_public_key: Option<String>,
}

impl KeyArguments {
    /// The keys, if both were given and can be read; otherwise prints a warning, and encrypted
    /// values stay secret.
    pub(super) fn read(&self) -> Option<Arc<Keys>> {
        let (private, certificate) = (
            self.pkcs7_private_key.as_deref()?,
            self.pkcs7_public_key.as_deref()?,
        );
        let keys = text(private).and_then(|pem| {
            let certificate = text(certificate)?;
            Keys::from_pem(pem.as_bytes(), certificate.as_bytes()).map_err(|e| e.to_string())
        });
        match keys {
            Ok(keys) => {
                let files = [private, certificate].map(disk::absolute);
                Some(Arc::new(keys.of_files(&files[0], &files[1])))
            }
            Err(why) => {
                complain(&format!("the keys for encrypted values: {why}"));
                None
            }
        }
    }
}

fn text(path: &str) -> Result<Arc<str>, String> {
    let path = disk::absolute(path);
    match disk::read(&path) {
        DiskEntry::File { content, .. } => match content {
            Content::Text(text) => Ok(text),
            Content::Bytes(_) => Err(format!("{path} is not UTF-8")),
            Content::Refused(error) => Err(error.message(&path)),
            Content::Unread | Content::Later(_) => Err(format!("{path} cannot be read")),
        },
        DiskEntry::Directory { .. } => Err(format!("{path} is a folder")),
        DiskEntry::LostLink(_) | DiskEntry::Absent => Err(format!("{path} does not exist")),
    }
}
