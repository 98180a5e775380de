//! Values made from texts or their parts: `new` of `Timestamp`, `Timespan`, `SemVer`,
//! `SemVerRange`, `Binary`, `URI` and `Regexp`.

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};

use super::functions::unknown;
use super::instance::integer;
use super::{strings, time};
use crate::value::{Value, float_to_s};

/// The formats given with a text: one, or several to try.
pub(super) fn formats(value: Option<&Value>) -> Option<(Vec<&str>, bool)> {
    match value? {
        Value::String(text) => Some((vec![text], false)),
        Value::Array(elements) => Some((elements.iter().filter_map(Value::as_str).collect(), true)),
        _ => None,
    }
}

pub(super) fn timestamp(matched: usize, all: &[Value]) -> Result<Value, String> {
    let made = |nanoseconds| super::rich("Timestamp", time::timestamp_text(nanoseconds));
    let (text, format, zone) = match matched {
        0 => return Ok(unknown("the current time")),
        1 => return of_seconds(&all[0], made),
        2 => (all[0].as_str(), all.get(1), all.get(2)),
        _ => (
            all[0].get("string").and_then(Value::as_str),
            all[0].get("format"),
            all[0].get("timezone"),
        ),
    };
    let text = text.unwrap_or_default();
    let zone = zone.and_then(Value::as_str);
    match formats(format) {
        None => time::parse_timestamp(text, None, zone),
        Some((formats, true)) => time::parse_timestamp(text, Some(&formats), zone),
        Some((formats, false)) => {
            time::parse_timestamp_as(text, formats.first().unwrap_or(&""), zone)
        }
    }
    .map(made)
}

/// Converts seconds to nanoseconds and passes them to `made`. Puppet's seconds have no limit: here
/// the value is unknown if the nanoseconds do not fit.
fn of_seconds(value: &Value, made: impl Fn(i128) -> Value) -> Result<Value, String> {
    let nanoseconds = match value {
        // The message of `FloatDomainError` is the number.
        Value::Float(seconds) if !(seconds * 1e9).is_finite() => {
            return Err(float_to_s(seconds * 1e9));
        }
        Value::Float(seconds) => time::from_seconds(*seconds),
        other => integer(other)
            .and_then(|n| i128::try_from(n).ok())
            .and_then(|n| n.checked_mul(time::SECOND)),
    };
    Ok(nanoseconds.map_or_else(|| unknown("a time that is too far away"), made))
}

pub(super) fn timespan(matched: usize, all: &[Value]) -> Result<Value, String> {
    let made = |nanoseconds| super::rich("Timespan", time::timespan_text(nanoseconds));
    const UNITS: [(&str, i128); 7] = [
        ("days", 86_400 * time::SECOND),
        ("hours", 3600 * time::SECOND),
        ("minutes", 60 * time::SECOND),
        ("seconds", time::SECOND),
        ("milliseconds", 1_000_000),
        ("microseconds", 1000),
        ("nanoseconds", 1),
    ];
    let part = |value: &Value, unit: i128| match value {
        Value::Int(number) => i128::from(*number).saturating_mul(unit),
        _ => 0,
    };
    let (text, format) = match matched {
        0 => return of_seconds(&all[0], made),
        1 => (all[0].as_str(), all.get(1)),
        2 => {
            let sum = all.iter().zip(UNITS).map(|(v, (_, unit))| part(v, unit));
            return Ok(made(sum.fold(0, i128::saturating_add)));
        }
        3 => (
            all[0].get("string").and_then(Value::as_str),
            all[0].get("format"),
        ),
        _ => {
            let sum = UNITS
                .iter()
                .filter_map(|(name, unit)| Some(part(all[0].get(name)?, *unit)))
                .fold(0, i128::saturating_add);
            let negative = all[0].get("negative") == Some(&Value::Bool(true));
            return Ok(made(if negative { -sum } else { sum }));
        }
    };
    let text = text.unwrap_or_default();
    match formats(format) {
        None => time::parse_timespan(text, time::TIMESPAN_FORMATS),
        Some((formats, true)) => time::parse_timespan(text, &formats),
        Some((formats, false)) => time::parse_timespan_as(text, formats.first().unwrap_or(&"")),
    }
    .map(made)
}

pub(super) fn version(matched: usize, all: &[Value]) -> Result<Value, String> {
    let field = |index: usize, name: &str| match matched {
        1 => all.get(index).cloned(),
        _ => all[0].get(name).cloned(),
    };
    let text = if matched == 0 {
        all[0].as_str().unwrap_or_default().trim_end().to_owned()
    } else {
        let mut text = ["major", "minor", "patch"]
            .iter()
            .enumerate()
            .map(|(i, name)| strings::puppet_string(&field(i, name).unwrap_or_default()))
            .collect::<Vec<_>>()
            .join(".");
        for (index, name, sign) in [(3, "prerelease", '-'), (4, "build", '+')] {
            if let Some(Value::String(part)) = field(index, name) {
                text.push(sign);
                text.push_str(&part);
            }
        }
        text
    };
    if matched == 0 {
        super::semver::check_prerelease(&text)?;
    }
    Ok(super::rich("SemVer", text))
}

pub(super) fn binary(matched: usize, all: &[Value]) -> Result<Value, String> {
    let encoded = |bytes: &[u8]| super::rich("Binary", STANDARD.encode(bytes));
    let bytes = |elements: &[Value]| -> Vec<u8> {
        let byte = |v: &Value| match v {
            Value::Int(number) => u8::try_from(*number).ok(),
            _ => None,
        };
        elements.iter().filter_map(byte).collect()
    };
    let (text, format) = match matched {
        0 => (all[0].as_str(), all.get(1)),
        1 => return Ok(encoded(&bytes(all[0].as_array().unwrap_or_default()))),
        _ => match all[0].get("value") {
            Some(Value::Array(elements)) => return Ok(encoded(&bytes(elements))),
            other => (other.and_then(Value::as_str), all[0].get("format")),
        },
    };
    let text = text.unwrap_or_default();
    let lenient = GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    let decoded = match format.and_then(Value::as_str).unwrap_or("%B") {
        "%s" | "%r" => return Ok(encoded(text.as_bytes())),
        "%b" => {
            let kept: String = text
                .chars()
                .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '/'))
                .collect();
            let whole = kept.len() - usize::from(kept.len() % 4 == 1);
            lenient.decode(&kept[..whole])
        }
        "%u" => lenient.decode(text.replace('-', "+").replace('_', "/")),
        _ => STANDARD.decode(text),
    };
    let decoded = decoded.map_err(|_| "invalid base64".to_owned())?;
    Ok(encoded(&decoded))
}

pub(super) fn uri_text(parts: &Value) -> String {
    let part = |name: &str| {
        parts
            .get(name)
            .map(strings::puppet_string)
            .filter(|text| !text.is_empty())
    };
    let mut out = String::new();
    if let Some(scheme) = part("scheme") {
        out.push_str(&scheme);
        out.push(':');
    }
    if let Some(opaque) = part("opaque") {
        out.push_str(&opaque);
        return out;
    }
    if let Some(host) = part("host") {
        out.push_str("//");
        if let Some(userinfo) = part("userinfo") {
            out.push_str(&userinfo);
            out.push('@');
        }
        out.push_str(&host);
        if let Some(port) = part("port") {
            out.push(':');
            out.push_str(&port);
        }
    }
    out.push_str(&part("path").unwrap_or_default());
    for (name, sign) in [("query", '?'), ("fragment", '#')] {
        if let Some(text) = part(name) {
            out.push(sign);
            out.push_str(&text);
        }
    }
    out
}

/// Ruby's `Regexp.escape`.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{c}' => out.push_str("\\f"),
            '\u{b}' => out.push_str("\\v"),
            c if "[]{}()|-*.\\?+^$# ".contains(c) => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}
