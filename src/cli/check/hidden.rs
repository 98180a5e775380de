//! Masks the secrets of files in reports. It must not know how findings are printed.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use crate::rules::Checker;
use crate::text::TextRange;

/// The ranges of secrets in files.
pub(super) struct SecretRanges<'a> {
    checker: &'a Checker<'a>,
    known: RefCell<HashMap<Arc<str>, Arc<[TextRange]>>>,
}

impl<'a> SecretRanges<'a> {
    /// The secrets that a checker finds.
    pub(super) fn new(checker: &'a Checker<'a>) -> SecretRanges<'a> {
        SecretRanges {
            checker,
            known: RefCell::default(),
        }
    }

    /// Stores the known secrets of a file.
    pub(super) fn learn(&self, path: &Arc<str>, secrets: Vec<TextRange>) {
        let mut known = self.known.borrow_mut();
        known.insert(Arc::clone(path), secrets.into());
    }

    /// The text of a file with its secrets masked. O(1) for a known file, else the file is read.
    pub(super) fn shown<'t>(&self, path: &Arc<str>, text: &'t str) -> Cow<'t, str> {
        let known = self.known.borrow().get(path).cloned();
        let secrets = known.unwrap_or_else(|| {
            self.learn(path, self.checker.secrets(path));
            let known = self.known.borrow();
            known.get(path).cloned().unwrap_or_default()
        });
        without(text, &secrets)
    }
}

/// A text with its secrets replaced by stars, keeping its bytes and lines aligned.
fn without<'t>(text: &'t str, secrets: &[TextRange]) -> Cow<'t, str> {
    let mut text = Cow::Borrowed(text);
    for secret in secrets {
        let bytes = secret.slice(&text).bytes();
        let stars = bytes.map(|byte| match byte {
            b'\n' | b'\r' => char::from(byte),
            _ => '*',
        });
        let stars: String = stars.collect();
        text.to_mut().replace_range(secret.as_usize(), &stars);
    }
    text
}
