//! The prefix that removes elements in a deep merge (`knockout_prefix`).

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "Ruby asks a value for one or two classes and treats all others alike"
)]

use super::error::{ErrorClass, Found, LookupError};
use crate::regexp::{Regexp, RegexpError};
use crate::value::Value;

/// The prefix and its pattern; Puppet does not escape it. The prefix of `unconstrained_deep` may be no
/// string.
#[derive(Debug)]
pub(super) struct KnockoutPrefix {
    pub(super) prefix: Value,
    text: String,
    /// `None` if the prefix is literal.
    pattern: Option<Regexp>,
}

/// Maximum length of a prefix that is checked for being literal.
const MAX_LITERAL: usize = 100;

/// Whether a prefix has no special characters of patterns.
fn is_literal(prefix: &str) -> bool {
    prefix.len() <= MAX_LITERAL
        && prefix
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_~!@%:,;=".contains(&byte))
}

impl KnockoutPrefix {
    pub(super) fn new(prefix: Value) -> Result<KnockoutPrefix, LookupError> {
        let text = prefix.to_s();
        let pattern = if is_literal(&text) {
            None
        } else {
            let pattern = Regexp::lazy(&format!("^{text}"));
            let error =
                |error: RegexpError| LookupError::new(ErrorClass::Regexp, error.to_string());
            Some(pattern.map_err(error)?)
        };
        Ok(KnockoutPrefix {
            prefix,
            text,
            pattern,
        })
    }

    /// The text without the prefix, if some line starts with it.
    pub(super) fn strip(&self, text: &str) -> Found<Option<String>> {
        let Some(pattern) = &self.pattern else {
            return Ok(self.strip_lines(text));
        };
        let stripped = pattern
            .replace_all(text, "")
            .map_err(|limit| LookupError::new(ErrorClass::Limit, limit.to_string()))?;
        Ok((stripped != text).then_some(stripped))
    }

    /// Whether a text certainly has no prefix to strip.
    pub(super) fn cannot_strip(&self, text: &str) -> bool {
        self.pattern.is_none() && !self.starts_a_line(text)
    }

    /// [`KnockoutPrefix::strip`] for an element of an array. A value that does not equal itself
    /// appears changed; NaN, being one object, is still found.
    pub(super) fn strip_element(&self, element: &Value) -> Found<Option<Value>> {
        match element {
            Value::String(text) => Ok(self.strip(text)?.map(Value::string)),
            Value::Float(number) if number.is_nan() => Ok(Some(element.clone())),
            _ => Ok(None),
        }
    }

    /// Strips a literal prefix as a pattern would: from every line's start.
    fn strip_lines(&self, text: &str) -> Option<String> {
        if !self.starts_a_line(text) {
            return None;
        }
        let lines = text.split_inclusive('\n');
        let stripped = lines.map(|line| line.strip_prefix(&*self.text).unwrap_or(line));
        Some(stripped.collect())
    }

    fn starts_a_line(&self, text: &str) -> bool {
        text.starts_with(&*self.text)
            || text.contains('\n') && text.split('\n').any(|line| line.starts_with(&*self.text))
    }

    pub(super) fn matches(&self, text: &str) -> Found<bool> {
        let Some(pattern) = &self.pattern else {
            return Ok(self.starts_a_line(text));
        };
        pattern
            .is_match(text)
            .map_err(|limit| LookupError::new(ErrorClass::Limit, limit.to_string()).into())
    }
}
