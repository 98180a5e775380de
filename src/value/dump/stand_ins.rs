//! Stand-ins for the characters beyond U+FFFF while libyaml writes a text.

use std::collections::HashSet;

use super::{PartAddress, identity};
use crate::value::Value;

/// Characters beyond U+FFFF, which Psych's libyaml escapes (`"\U0001F600"`) and ours does not: they
/// pass through the emitter as private characters that the value does not use, as many as the
/// escape is long, so that lines fold in the same places.
pub(super) struct StandIns {
    /// First of the private characters: sixteen digits, then `\`, then `U`, then [`Self::keys`].
    first: u32,
    /// In keys that just fit on one line, each character has a single stand-in.
    keys: Vec<char>,
}

impl StandIns {
    const DIGITS: &'static str = "0123456789ABCDEF\\U";
    const ESCAPED: std::ops::RangeFrom<char> = '\u{10000}'..;
    const PRIVATE: std::ops::Range<u32> = 0xe000..0xf900;
    /// Maximum length of a key that libyaml writes on one line, in bytes.
    const SIMPLE_KEY: usize = 128;
    /// Additional bytes of a character as stand-ins: ten of three bytes instead of its own four.
    const GROWTH: usize = 26;
    /// Number of consecutive private characters that are needed.
    const ROOM: u32 = 256;

    /// `None` if the value has no such character, or no room for stand-ins.
    pub(super) fn for_value(value: &Value) -> Option<StandIns> {
        let mut used = Vec::new();
        let mut needed = false;
        each_text(value, &mut |text| {
            for character in text.chars() {
                needed |= Self::ESCAPED.contains(&character);
                if Self::PRIVATE.contains(&u32::from(character)) {
                    used.push(u32::from(character));
                }
            }
        });
        let mut blocks = Self::PRIVATE.step_by(Self::ROOM as usize);
        let is_free = |first: &u32| {
            !used
                .iter()
                .any(|used| (*first..first + Self::ROOM).contains(used))
        };
        let first = if needed {
            blocks.find(is_free)?
        } else {
            return None;
        };
        Some(StandIns {
            first,
            keys: Vec::new(),
        })
    }

    fn private(&self, offset: usize) -> char {
        let offset = u32::try_from(offset).unwrap_or(0);
        char::from_u32(self.first + offset).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    /// The text with stand-ins; `None` if it needs none.
    pub(super) fn replace(&mut self, text: &str, in_key: bool) -> Option<String> {
        if !text.chars().any(|c| Self::ESCAPED.contains(&c)) {
            return None;
        }
        let escaped = text.chars().filter(|c| Self::ESCAPED.contains(c)).count();
        let grown = text.len() + escaped * Self::GROWTH;
        let must_stay_short = in_key && text.len() <= Self::SIMPLE_KEY && grown > Self::SIMPLE_KEY;
        let mut replaced = String::with_capacity(text.len());
        for character in text.chars() {
            if !Self::ESCAPED.contains(&character) {
                replaced.push(character);
                continue;
            }
            let known = self.keys.iter().position(|key| *key == character);
            if must_stay_short
                && (known.is_some() || self.keys.len() + Self::DIGITS.len() < Self::ROOM as usize)
            {
                let index = known.unwrap_or(self.keys.len());
                if known.is_none() {
                    self.keys.push(character);
                }
                replaced.push(self.private(Self::DIGITS.len() + index));
                continue;
            }
            for letter in escape(character).chars() {
                let offset = Self::DIGITS.find(letter).unwrap_or(0);
                replaced.push(self.private(offset));
            }
        }
        Some(replaced)
    }

    pub(super) fn replace_back(&self, text: &str) -> String {
        let mut replaced = String::with_capacity(text.len());
        for character in text.chars() {
            let offset = u32::from(character).checked_sub(self.first);
            let offset = offset
                .filter(|offset| *offset < Self::ROOM)
                .map(|offset| offset as usize);
            let digit = offset.and_then(|offset| Self::DIGITS.chars().nth(offset));
            let key =
                offset.and_then(|offset| self.keys.get(offset.checked_sub(Self::DIGITS.len())?));
            match (digit, key) {
                (Some(digit), _) => replaced.push(digit),
                (None, Some(key)) => replaced.push_str(&escape(*key)),
                (None, None) => replaced.push(character),
            }
        }
        replaced
    }
}

/// libyaml's escape of a character beyond U+FFFF.
fn escape(character: char) -> String {
    format!("\\U{:08X}", u32::from(character))
}

/// Calls `see` with every text in a value. Shared parts are visited once.
fn each_text(value: &Value, see: &mut dyn FnMut(&str)) {
    fn visit(value: &Value, seen: &mut HashSet<PartAddress>, see: &mut dyn FnMut(&str)) {
        if identity(value).is_some_and(|identity| !seen.insert(identity)) {
            return;
        }
        match value {
            Value::String(text) | Value::Symbol(text) => see(text),
            Value::Array(elements) => {
                elements
                    .iter()
                    .for_each(|element| visit(element, seen, see));
            }
            Value::Hash(hash) => {
                for (key, value) in hash.iter() {
                    visit(key, seen, see);
                    visit(value, seen, see);
                }
            }
            Value::Sensitive(inner) => visit(inner, seen, see),
            Value::Rich(rich) => see(&rich.text),
            Value::Opaque(_) => see(&value.to_s()),
            _ => {}
        }
    }
    visit(value, &mut HashSet::new(), see);
}
