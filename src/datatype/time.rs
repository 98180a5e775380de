//! Timestamps and spans in Puppet's formats (`pops/time`), without a clock.

use std::ops::RangeInclusive;

/// Nanoseconds in a second.
pub(super) const SECOND: i128 = 1_000_000_000;

/// The default formats of a span.
pub(super) const TIMESPAN_FORMATS: &[&str] = &[
    "%D-%H:%M:%S.%-N",
    "%H:%M:%S.%-N",
    "%M:%S.%-N",
    "%S.%-N",
    "%D-%H:%M:%S",
    "%H:%M:%S",
    "%D-%H:%M",
    "%S",
];

const ZONELESS: &[&str] = &["%FT%T.%N", "%FT%T", "%F %T.%N", "%F %T", "%F"];
const ZONED: &[&str] = &[
    "%FT%T.%N %Z",
    "%FT%T %Z",
    "%F %T.%N %Z",
    "%F %T %Z",
    "%F %Z",
    "%FT%T.%N",
    "%FT%T",
    "%F %T.%N",
    "%F %T",
    "%F",
];

/// Maximum number of digits of a number.
const MAX_DIGITS: usize = 30;

/// Seconds as nanoseconds, truncated like Ruby's `to_i`; `None` if they do not fit.
pub(super) fn from_seconds(seconds: f64) -> Option<i128> {
    let nanoseconds = seconds * 1e9;
    #[allow(clippy::cast_possible_truncation, reason = "i128 ends at this power")]
    let fits = (nanoseconds.abs() < 2_f64.powi(127)).then_some(nanoseconds as i128);
    fits
}

/// A span in Puppet's format: `0-00:01:02.5`.
pub(super) fn timespan_text(nanoseconds: i128) -> String {
    let fraction = fraction(nanoseconds);
    let digits = format!("{fraction:09}");
    let digits = digits.trim_end_matches('0').trim_start_matches('0');
    span_text(nanoseconds, if digits.is_empty() { "0" } else { digits })
}

/// A span that Ruby holds as a float; Puppet prints its fraction in full: `0-00:01:02.500000000`.
pub(super) fn timespan_text_of_float(nanoseconds: i128) -> String {
    span_text(nanoseconds, &fraction(nanoseconds).to_string())
}

fn fraction(nanoseconds: i128) -> u128 {
    nanoseconds.unsigned_abs() % SECOND.unsigned_abs()
}

fn span_text(nanoseconds: i128, fraction: &str) -> String {
    let seconds = nanoseconds.unsigned_abs() / SECOND.unsigned_abs();
    format!(
        "{}{}-{:02}:{:02}:{:02}.{fraction}",
        if nanoseconds < 0 { "-" } else { "" },
        seconds / 86_400,
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60,
    )
}

/// Parses a span printed by Puppet.
pub(super) fn timespan_of_text(text: &str) -> Option<i128> {
    parse_timespan(text, TIMESPAN_FORMATS).ok()
}

/// Parses a span with the first format that fits.
pub(super) fn parse_timespan(text: &str, formats: &[&str]) -> Result<i128, String> {
    for format in formats {
        if let Ok(span) = parse_timespan_as(text, format) {
            return Ok(span);
        }
    }
    Err(format!(
        "Unable to parse '{text}' using any of the formats {}",
        formats.join(", ")
    ))
}

/// Parses a span with one format.
pub(super) fn parse_timespan_as(text: &str, format: &str) -> Result<i128, String> {
    let refuse = || format!("Unable to parse '{text}' using format '{format}'");
    let (pattern, segments, highest) = timespan_pattern(format)?;
    let regex = regex::Regex::new(&pattern).map_err(|_| refuse())?;
    let found = regex.captures(text).ok_or_else(refuse)?;
    let mut sum: i128 = 0;
    for (i, segment) in segments.iter().enumerate() {
        let Some(letter) = segment else {
            continue;
        };
        let digits = found.get(i + 1).map_or("", |m| m.as_str()).trim_start();
        if !(1..=MAX_DIGITS).contains(&digits.len()) || !digits.bytes().all(|b| b.is_ascii_digit())
        {
            return Err(refuse());
        }
        let number: i128 = digits.parse().map_err(|_| refuse())?;
        let unit = match letter {
            'D' => 86_400 * SECOND,
            'H' => 3600 * SECOND,
            'M' => 60 * SECOND,
            'S' => SECOND,
            _ => {
                if highest == Some(i) {
                    return Err(
                        "Format specifiers %L and %N denotes fractions and must be used \
                                together with a specifier of higher magnitude"
                            .to_owned(),
                    );
                }
                let places = u32::try_from(9usize.saturating_sub(digits.len())).unwrap_or(0);
                10i128.pow(places)
            }
        };
        sum = number
            .checked_mul(unit)
            .and_then(|part| sum.checked_add(part))
            .ok_or_else(refuse)?;
    }
    Ok(if text.starts_with('-') { -sum } else { sum })
}

/// The regular expression of a format, the letter of each of its groups, `None` for a literal, and
/// the group of the highest unit.
type SpanPattern = (String, Vec<Option<char>>, Option<usize>);

fn timespan_pattern(format: &str) -> Result<SpanPattern, String> {
    const ORDER: &str = "NLSMHD";
    struct FormatPart {
        letter: Option<char>,
        literal: String,
        pad: Option<char>,
        width: Option<usize>,
    }
    let bad = |start: usize, position: usize| {
        let shown: String = format.chars().skip(start).take(position - start).collect();
        format!("Bad format specifier '{shown}' in '{format}', at position {position}")
    };
    let mut parts: Vec<FormatPart> = Vec::new();
    let literal = |parts: &mut Vec<FormatPart>, c: char| match parts.last_mut() {
        Some(part) if part.letter.is_none() => part.literal.push(c),
        _ => parts.push(FormatPart {
            letter: None,
            literal: c.to_string(),
            pad: None,
            width: None,
        }),
    };
    let mut chars = format.chars().enumerate();
    let mut last = 0;
    while let Some((start, c)) = chars.next() {
        if c != '%' {
            literal(&mut parts, c);
            continue;
        }
        let mut pad = Some('0');
        let mut width: Option<usize> = None;
        let mut at_pad = true;
        loop {
            let Some((position, c)) = chars.next() else {
                return Err(bad(start, last.max(start)));
            };
            last = position;
            match c {
                '%' => {
                    literal(&mut parts, '%');
                    break;
                }
                '-' if at_pad => pad = None,
                '_' if at_pad => pad = Some(' '),
                c if ORDER.contains(c) => {
                    parts.push(FormatPart {
                        letter: Some(c),
                        literal: String::new(),
                        pad,
                        width,
                    });
                    break;
                }
                '0' if at_pad => {}
                c => match c.to_digit(10) {
                    Some(digit) => {
                        let digit = usize::try_from(digit).unwrap_or(0);
                        width = Some((width.unwrap_or(0) * 10 + digit).min(100));
                    }
                    None => return Err(bad(start, position)),
                },
            }
            at_pad = false;
        }
    }
    let highest = ORDER
        .chars()
        .rev()
        .find_map(|letter| parts.iter().position(|part| part.letter == Some(letter)));
    let mut pattern = String::from(r"\A-?");
    for (i, part) in parts.iter().enumerate() {
        let Some(letter) = part.letter else {
            pattern.push_str(&format!("({})", regex::escape(&part.literal)));
            continue;
        };
        let usual = match letter {
            'D' => 1,
            'L' => 3,
            'N' => 9,
            _ => 2,
        };
        pattern.push_str(&match (part.width, part.pad) {
            (None, Some(' ')) if highest == Some(i) => r"\s*([0-9]+)".to_owned(),
            (None, _) if highest == Some(i) => "([0-9]+)".to_owned(),
            (None, Some(' ')) => format!(r"([0-9\s]{{1,{usual}}})"),
            (None, _) => format!("([0-9]{{1,{usual}}})"),
            (Some(width), None) => format!("([0-9]{{1,{width}}})"),
            (Some(width), Some('0')) => format!("([0-9]{{{width}}})"),
            (Some(width), Some(_)) => format!(r"([0-9\s]{{{width}}})"),
        });
    }
    pattern.push_str(r"\z");
    let letters = parts.iter().map(|part| part.letter).collect();
    Ok((pattern, letters, highest))
}

/// A timestamp of nanoseconds since 1970 in Puppet's format.
#[must_use]
pub fn timestamp_text(nanoseconds: i128) -> String {
    let seconds = nanoseconds.div_euclid(SECOND);
    let fraction = nanoseconds.rem_euclid(SECOND);
    let days = seconds.div_euclid(86_400);
    let within = seconds.rem_euclid(86_400);
    let (year, month, day) = civil(days);
    let year = if year < 0 {
        format!("-{:04}", -year)
    } else {
        format!("{year:04}")
    };
    format!(
        "{year}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{fraction:09} UTC",
        within / 3600,
        within / 60 % 60,
        within % 60,
    )
}

/// Parses a timestamp printed by Puppet: nanoseconds since 1970.
#[must_use]
pub fn timestamp_of_text(text: &str) -> Option<i128> {
    parse_timestamp(text, None, None).ok()
}

/// Days since 1970 of a date of the Gregorian calendar.
fn days(year: i128, month: i128, day: i128) -> i128 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn civil(days: i128) -> (i128, i128, i128) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year + era * 400 + i128::from(month <= 2);
    (year, month, day)
}

#[derive(Default)]
struct Fields {
    year: Option<i128>,
    month: i128,
    day: i128,
    hour: i128,
    minute: i128,
    second: i128,
    fraction: i128,
    zone: Option<String>,
}

/// Parses a timestamp; without formats, Puppet's defaults are tried.
pub(super) fn parse_timestamp(
    text: &str,
    formats: Option<&[&str]>,
    timezone: Option<&str>,
) -> Result<i128, String> {
    let timezone = timezone.filter(|zone| !zone.is_empty());
    let formats = formats.unwrap_or(if timezone.is_some() { ZONELESS } else { ZONED });
    let fields = formats
        .iter()
        .find_map(|format| {
            strptime(text, format).filter(|f| timezone.is_none() || f.zone.is_none())
        })
        .ok_or_else(|| {
            format!(
                "Unable to parse '{text}' using any of the formats {}",
                formats.join(", ")
            )
        })?;
    finish(&fields, timezone)
}

/// Parses a timestamp with one format.
pub(super) fn parse_timestamp_as(
    text: &str,
    format: &str,
    timezone: Option<&str>,
) -> Result<i128, String> {
    let timezone = timezone.filter(|zone| !zone.is_empty());
    let fields = strptime(text, format)
        .ok_or_else(|| format!("Unable to parse '{text}' using format '{format}'"))?;
    if timezone.is_some() && fields.zone.is_some() {
        return Err(
            "Using a Timezone designator in format specification is mutually exclusive to \
             providing an explicit timezone argument"
                .to_owned(),
        );
    }
    finish(&fields, timezone)
}

fn finish(fields: &Fields, timezone: Option<&str>) -> Result<i128, String> {
    let Some(year) = fields.year else {
        return Err("can't convert nil into an exact number".to_owned());
    };
    let zone = timezone.or(fields.zone.as_deref());
    let offset = match zone {
        Some(zone) => offset(zone).ok_or_else(|| format!("Illegal timezone '{zone}'"))?,
        None => 0,
    };
    let date = days(year, fields.month, fields.day);
    let seconds = date * 86_400 + fields.hour * 3600 + fields.minute * 60 + fields.second - offset;
    let nanoseconds = seconds.checked_mul(SECOND);
    let nanoseconds = nanoseconds.and_then(|whole| whole.checked_add(fields.fraction));
    nanoseconds.ok_or_else(|| format!("the year {year} is too far away"))
}

/// Seconds east of Greenwich.
fn offset(zone: &str) -> Option<i128> {
    let lower = zone.trim().to_lowercase();
    let named = match lower.as_str() {
        "utc" | "gmt" | "z" | "ut" | "wet" => Some(0),
        "cet" | "bst" | "met" => Some(1),
        "cest" | "eet" | "mest" => Some(2),
        "msk" | "eest" => Some(3),
        "edt" => Some(-4),
        "est" | "cdt" => Some(-5),
        "cst" | "mdt" => Some(-6),
        "mst" | "pdt" => Some(-7),
        "pst" | "akdt" => Some(-8),
        "akst" => Some(-9),
        "hst" => Some(-10),
        "jst" => Some(9),
        _ => None,
    };
    if let Some(hours) = named {
        return Some(hours * 3600);
    }
    let rest = lower
        .strip_prefix("utc")
        .or_else(|| lower.strip_prefix("gmt"))
        .unwrap_or(&lower);
    let (sign, digits) = match (rest.strip_prefix('+'), rest.strip_prefix('-')) {
        (Some(digits), _) => (1, digits),
        (_, Some(digits)) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some((hours, minutes)) => (hours, minutes),
        None if digits.len() > 2 => digits.split_at(digits.len() - 2),
        None => (digits, "0"),
    };
    let hours: i128 = hours.parse::<u8>().ok()?.into();
    let minutes: i128 = minutes.parse::<u8>().ok()?.into();
    Some(sign * (hours * 3600 + minutes * 60))
}

const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The common directives of Ruby's `_strptime`; the whole text must match.
fn strptime(text: &str, format: &str) -> Option<Fields> {
    let mut fields = Fields {
        month: 1,
        day: 1,
        ..Fields::default()
    };
    let rest = strptime_into(text, format, &mut fields)?;
    rest.is_empty().then_some(fields)
}

fn strptime_into<'a>(mut text: &'a str, format: &str, fields: &mut Fields) -> Option<&'a str> {
    let mut directives = format.chars().peekable();
    while let Some(c) = directives.next() {
        if c.is_ascii_whitespace() {
            text = text.trim_start();
            continue;
        }
        if c != '%' {
            text = text.strip_prefix(c)?;
            continue;
        }
        let directive = directives.next()?;
        let digits_follow = directives.peek() == Some(&'%');
        match directive {
            'F' => text = strptime_into(text, "%Y-%m-%d", fields)?,
            'T' | 'X' => text = strptime_into(text, "%H:%M:%S", fields)?,
            'R' => text = strptime_into(text, "%H:%M", fields)?,
            'D' | 'x' => text = strptime_into(text, "%m/%d/%y", fields)?,
            'Y' => {
                let negative = text.starts_with('-');
                let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
                let (year, rest) = number(unsigned, if digits_follow { 4 } else { 22 })?;
                fields.year = Some(if negative { -year } else { year });
                text = rest;
            }
            'y' => {
                let (year, rest) = number(text, 2)?;
                fields.year = Some(if year >= 69 { 1900 + year } else { 2000 + year });
                text = rest;
            }
            'm' => (fields.month, text) = within(text, 1..=12)?,
            'd' | 'e' => (fields.day, text) = within(text.trim_start(), 1..=31)?,
            'H' | 'k' => (fields.hour, text) = within(text.trim_start(), 0..=24)?,
            'M' => (fields.minute, text) = within(text, 0..=59)?,
            'S' => (fields.second, text) = within(text, 0..=60)?,
            'N' | 'L' => {
                let length = text.bytes().take_while(u8::is_ascii_digit).count();
                let digits = &text[..length.min(9)];
                let value: i128 = digits.parse().ok()?;
                let places = u32::try_from(9 - digits.len()).unwrap_or(0);
                fields.fraction = value * 10i128.pow(places);
                text = &text[length..];
            }
            'b' | 'B' | 'h' => {
                let lower = text.to_lowercase();
                let (i, length) = MONTHS.iter().enumerate().find_map(|(i, month)| {
                    if lower.starts_with(month) {
                        Some((i, month.len()))
                    } else {
                        lower.starts_with(&month[..3]).then_some((i, 3))
                    }
                })?;
                fields.month = i128::try_from(i + 1).ok()?;
                text = text.get(length..)?;
            }
            'Z' | 'z' => {
                let length = zone_length(text)?;
                fields.zone = Some(text[..length].to_owned());
                text = &text[length..];
            }
            '%' => text = text.strip_prefix('%')?,
            _ => return None,
        }
    }
    Some(text)
}

/// The length of a time zone at the start of the text: letters, or an offset with `UTC` or `GMT`
/// before it.
fn zone_length(text: &str) -> Option<usize> {
    let count = |text: &str, is_part: &dyn Fn(char) -> bool| {
        text.find(|c: char| !is_part(c)).unwrap_or(text.len())
    };
    let letters = count(text, &|c| c.is_ascii_alphabetic());
    let offset = &text[letters..];
    let may_offset = matches!(
        text[..letters].to_lowercase().as_str(),
        "" | "utc" | "gmt" | "ut"
    );
    if may_offset && offset.starts_with(['+', '-']) {
        let digits = count(&offset[1..], &|c| c.is_ascii_digit() || c == ':');
        if digits > 0 {
            return Some(letters + 1 + digits);
        }
    }
    let bounded = !offset.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    (letters > 0 && bounded).then_some(letters)
}

/// A number of one or two digits within a range, and the rest of the text.
fn within(text: &str, range: RangeInclusive<i128>) -> Option<(i128, &str)> {
    number(text, 2).filter(|(number, _)| range.contains(number))
}

fn number(text: &str, most: usize) -> Option<(i128, &str)> {
    let length = text
        .bytes()
        .take(most)
        .take_while(u8::is_ascii_digit)
        .count();
    let value = text[..length].parse().ok()?;
    Some((value, &text[length..]))
}
