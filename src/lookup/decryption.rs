//! Decrypting values as `eyaml_lookup_key` does (puppet/functions/eyaml_lookup_key.rb), with the keys
//! that the user gave in place of those that a level names.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "Ruby asks a value for one or two classes and treats all others alike"
)]

use std::sync::Arc;

use super::backend::ValueOrigin;
use super::context::PuppetVersion;
use super::engine::{Engine, Invocation};
use super::error::{ErrorClass, Found, raise};
use super::interpolate::Methods;
use crate::eyaml::{
    self, DEFAULT_METHOD, EyamlError, Keys, PRIVATE_KEY_OPTIONS, PUBLIC_KEY_OPTIONS,
};
use crate::hierarchy::Level;
use crate::value::{Opaque, StrKey, Value, hash_with_capacity};
use crate::workspace::path;

/// The options of a level with the files of the private key and of the certificate.
const FILE_OPTIONS: [&str; 2] = [PRIVATE_KEY_OPTIONS[0], PUBLIC_KEY_OPTIONS[0]];

/// A value whose strings may be encrypted.
pub(super) struct Sealed<'a> {
    pub(super) origin: &'a ValueOrigin<'a>,
    /// The top-level key, for messages.
    pub(super) root: &'a str,
    /// The file, for messages.
    pub(super) path: &'a str,
}

/// What decrypts the values of a level.
enum LevelKey {
    /// The keys that the user gave.
    Given(Arc<Keys>),
    /// Keys that are unknown here.
    Unknown,
    /// None: hiera-eyaml fails.
    Missing(EyamlError),
}

impl Engine<'_> {
    /// `decrypt_value`: strings are decrypted and interpolated, keys only interpolated.
    pub(super) fn decrypt(
        &mut self,
        value: &Value,
        sealed: &Sealed<'_>,
        invocation: &Invocation,
    ) -> Found {
        match value {
            Value::String(text) if eyaml::is_encrypted(text) => {
                self.decrypt_text(value, text, sealed, invocation)
            }
            Value::Array(elements) => {
                let mut opened = Vec::with_capacity(elements.len());
                for element in elements.iter() {
                    opened.push(self.decrypt(element, sealed, invocation)?);
                }
                Ok(Value::from(opened))
            }
            Value::Hash(hash) => {
                let mut opened = hash_with_capacity(hash.len());
                for (key, element) in hash.iter() {
                    let key = self.interpolate(key, invocation, &Methods::Allowed)?;
                    opened.insert(key, self.decrypt(element, sealed, invocation)?);
                }
                Ok(Value::from(opened))
            }
            other => self.interpolate(other, invocation, &Methods::Allowed),
        }
    }

    fn decrypt_text(
        &mut self,
        value: &Value,
        text: &str,
        sealed: &Sealed<'_>,
        invocation: &Invocation,
    ) -> Found {
        let Sealed { origin, root, path } = *sealed;
        let scan = eyaml::scan(text);
        let Some(first) = scan.blobs.first() else {
            // Without a blob the text is kept, except for one line break at the end.
            let ends = ["\r\n", "\n", "\r"];
            let text = ends
                .iter()
                .find_map(|end| text.strip_suffix(end))
                .unwrap_or(text);
            return self.interpolate(&Value::string(text), invocation, &Methods::Allowed);
        };
        let fails = |error: &EyamlError| raise(ErrorClass::Lookup, error.message(text, root, path));
        let foreign = scan.blobs.iter().find(|it| it.method != DEFAULT_METHOD);
        let closed = match (self.level_key(origin), foreign) {
            (LevelKey::Missing(error), _) if first.method == DEFAULT_METHOD => {
                return fails(&error);
            }
            (LevelKey::Given(_), Some(blob)) => blob,
            (LevelKey::Given(keys), None) => match eyaml::decrypt(text, &keys) {
                Ok(plain) => return self.interpolate(&plain, invocation, &Methods::Allowed),
                // The file that the level names may have another key than the user gave.
                Err(EyamlError::NoRecipient | EyamlError::OtherKey) => first,
                Err(error) => return fails(&error),
            },
            (LevelKey::Unknown | LevelKey::Missing(_), _) => first,
        };
        // Tokens next to the cipher text can give each node a different value.
        let around = self.interpolate(value, invocation, &Methods::Allowed)?;
        let cipher = around.as_str().unwrap_or(text);
        let secret = Opaque::secret(&closed.method, cipher);
        Ok(Value::Opaque(Arc::new(secret)))
    }

    /// What decrypts the values of a level: its own options say so
    /// (hiera/backend/eyaml/encryptors/pkcs7.rb), and the user's keys only stand for the file that they
    /// name. hiera-eyaml has no default for them in Puppet.
    fn level_key(&mut self, origin: &ValueOrigin<'_>) -> LevelKey {
        if origin.level.declared.is_none() {
            let options = &origin.level.options;
            let names = |all: &[&str]| all.iter().any(|name| option(options, name).is_some());
            let has_public = names(&PUBLIC_KEY_OPTIONS);
            let version = self.settings().puppet_version;
            if !has_public {
                self.note_version();
            }
            if !names(&PRIVATE_KEY_OPTIONS) {
                // hiera-eyaml 3 asks for the certificate first.
                let asks_first = version == PuppetVersion::V7 && !has_public;
                return LevelKey::Missing(if asks_first {
                    EyamlError::NoPublicKey
                } else {
                    EyamlError::NoPrivateKey
                });
            }
            // Packages of Puppet 7 bring hiera-eyaml 3, which needs the certificate, those of OpenVox
            // bring 4.2, which does not.
            match version {
                PuppetVersion::V7 if !has_public => {
                    return LevelKey::Missing(EyamlError::NoPublicKey);
                }
                PuppetVersion::V8 if !has_public => return LevelKey::Unknown,
                PuppetVersion::V7 | PuppetVersion::V8 | PuppetVersion::V9 => {}
            }
        }
        match self.settings().keys.clone() {
            Some(keys) if self.stand_for_its_own(&keys, origin) => LevelKey::Given(keys),
            Some(_) | None => LevelKey::Unknown,
        }
    }

    /// Whether the user's keys stand for those that a level names: they are these files, or neither of
    /// them and no other level's.
    fn stand_for_its_own(&mut self, keys: &Keys, origin: &ValueOrigin<'_>) -> bool {
        let Some(files) = keys.files() else {
            return true;
        };
        let named_by = |options: &Value| {
            [0, 1].map(|at| Some(is_named(files[at], option(options, FILE_OPTIONS[at])?)))
        };
        let own = named_by(&origin.level.options);
        if own.contains(&Some(true)) || !own.contains(&Some(false)) {
            // hiera-eyaml refuses a certificate of another private key.
            return !own.contains(&Some(false));
        }
        let Ok(Some(provider)) = self.provider(origin.layer) else {
            return true;
        };
        let names_one = |level: &Level| named_by(&level.options).contains(&Some(true));
        // Only one level of the older versions decrypts.
        let config = provider.config();
        !config.is_some_and(|config| config.body.levels().any(names_one))
    }
}

/// An option that is set.
fn option<'a>(options: &'a Value, name: &str) -> Option<&'a Value> {
    let value = options.as_hash()?.get(&StrKey(name))?;
    (!value.is_falsey()).then_some(value)
}

/// Whether an option names the file. Relative names are relative to Puppet's working directory, which
/// is unknown here.
fn is_named(file: &str, option: &Value) -> bool {
    let Some(named) = option.as_str() else {
        return false;
    };
    let named = path::normalise(named);
    let before = file.strip_suffix(&*named);
    before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
}
