//! The style that Psych chooses for a string (psych/visitors/yaml_tree.rb).

use std::sync::LazyLock;

use regex::Regex;

use super::Purpose;
use crate::syntax::ScalarStyle;
use crate::syntax::core_schema::resolve_core;
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::value::time::numbers;

pub(super) fn string_style(text: &str, purpose: Purpose) -> ScalarStyle {
    if has_inner_line_break(text) {
        ScalarStyle::Literal
    } else if text == "<<" {
        ScalarStyle::SingleQuoted
    } else if text == "y" || text == "n" || starts_oddly(text) {
        ScalarStyle::DoubleQuoted
    } else if reads_as_something_else(text, purpose) || looks_like_bad_octal(text) {
        ScalarStyle::SingleQuoted
    } else {
        ScalarStyle::Plain
    }
}

/// `/
/// (?!\Z)/`: a line break that is neither the last character nor before a final one.
pub(super) fn has_inner_line_break(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().any(|(at, byte)| {
        let rest = &bytes[at + 1..];
        *byte == b'\n' && !rest.is_empty() && rest != b"\n"
    })
}

/// `/^[^[:word:]][^"]*$/`: a line begins with a character that is no letter, digit or `_`, and has
/// no quote up to a line end.
fn starts_oddly(text: &str) -> bool {
    static WORD: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\A[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}]").ok());
    let line_starts = text.match_indices('\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(line_starts).any(|start| {
        let rest = &text[start..];
        let Some(first) = rest.chars().next() else {
            return false;
        };
        if WORD.as_ref().is_some_and(|word| word.is_match(rest)) {
            return false;
        }
        let behind = &rest[first.len_utf8()..];
        let line = behind.split('\n').next().unwrap_or_default();
        !line.contains('"')
    })
}

/// Whether Psych would not read the text as a string; in data files also whether a reader of YAML 1.2 would not.
fn reads_as_something_else(text: &str, purpose: Purpose) -> bool {
    match resolve_plain(text) {
        Resolved::String => {
            purpose == Purpose::Store && !matches!(resolve_core(text), Resolved::String)
        }
        // Psych asks Ruby, which refuses the 30th of February: the text is not quoted, although
        // Puppet will not even load it.
        Resolved::Date => purpose != Purpose::Print || is_real_date(text),
        Resolved::Time => purpose != Purpose::Print || is_real_time(text),
        _ => true,
    }
}

/// `/\A0[0-7]*[89]/`
fn looks_like_bad_octal(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('0') else {
        return false;
    };
    rest.trim_start_matches(|c| ('0'..='7').contains(&c))
        .starts_with(['8', '9'])
}

/// Whether Ruby's `Date.strptime(text, '%Y-%m-%d')` accepts a text of that form: the calendar was
/// Julian up to the 4th of October 1582, and the following ten days never existed.
fn is_real_date(text: &str) -> bool {
    let Some([year, month, day]) = numbers(text) else {
        return false;
    };
    let divides = |by: i64| year % by == 0;
    let leap = divides(4) && (year <= 1582 || !divides(100) || divides(400));
    let days = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    let never_was = (year, month) == (1582, 10) && (5..15).contains(&day);
    (1..=days).contains(&day) && !never_was
}

/// Whether Ruby's `Time.utc` accepts the parts of a text of Psych's form for times.
fn is_real_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once([' ', 't', 'T']) else {
        return true;
    };
    let date = date.strip_prefix('-').unwrap_or(date);
    let clock: &str = time
        .trim_start()
        .split(|c: char| !(c.is_ascii_digit() || c == ':'))
        .next()
        .unwrap_or_default();
    let (Some([_, month, day]), Some([hour, minute, second])) =
        (numbers(date), numbers(&clock.replace(':', "-")))
    else {
        return true;
    };
    let midnight = hour == 24 && minute == 0 && second == 0;
    (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (hour < 24 || midnight)
        && minute < 60
        && second <= 60
}
