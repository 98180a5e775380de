//! Semantic versions, for types and conversions.

use std::cmp::Ordering;

use crate::value::Value;

/// The parts of a version; numeric identifiers compare as numbers.
#[derive(Debug, PartialEq)]
struct Version {
    numbers: [u64; 3],
    prerelease: Vec<String>,
}

/// The text before a sign, and what follows it.
fn split(text: &str, sign: char) -> (&str, Option<&str>) {
    match text.split_once(sign) {
        Some((before, behind)) => (before, Some(behind)),
        None => (text, None),
    }
}

/// Whether a qualifier consists of identifiers.
fn are_identifiers(qualifier: &str) -> bool {
    qualifier.split('.').all(|part| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    })
}

fn parse(text: &str) -> Option<Version> {
    let (rest, build) = split(text, '+');
    let (core, prerelease) = split(rest, '-');
    if !build.into_iter().chain(prerelease).all(are_identifiers) {
        return None;
    }
    let prerelease = prerelease.into_iter().flat_map(|text| text.split('.'));
    let prerelease = prerelease.map(ToOwned::to_owned).collect();
    let mut numbers = [0; 3];
    let mut parts = core.split('.');
    for number in &mut numbers {
        let part = parts.next()?;
        if part.len() > 1 && part.starts_with('0') || !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(Version {
        numbers,
        prerelease,
    })
}

fn compare(a: &Version, b: &Version) -> Ordering {
    a.numbers.cmp(&b.numbers).then_with(|| {
        match (a.prerelease.is_empty(), b.prerelease.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => {
                let rank = |text: &String| text.parse::<u64>().ok();
                for (x, y) in a.prerelease.iter().zip(&b.prerelease) {
                    let order = match (rank(x), rank(y)) {
                        (Some(x), Some(y)) => x.cmp(&y),
                        (Some(_), None) => Ordering::Less,
                        (None, Some(_)) => Ordering::Greater,
                        (None, None) => x.cmp(y),
                    };
                    if order != Ordering::Equal {
                        return order;
                    }
                }
                a.prerelease.len().cmp(&b.prerelease.len())
            }
        }
    })
}

/// A version range; its text is kept as written (`SemanticPuppet::VersionRange`).
///
/// # Errors
/// Puppet's error message for an invalid text.
pub(super) fn range(text: &str) -> Result<Value, String> {
    let tight = without_space_behind_operators(text);
    let ranges: Vec<&str> = tight.split("||").collect();
    let last = ranges.len() - 1;
    let trimmed = ranges.iter().enumerate().map(|(at, range)| match at {
        0 if last == 0 => *range,
        0 => range.trim_end_matches(SPACE),
        _ if at == last => range.trim_start_matches(SPACE),
        _ => range.trim_matches(SPACE),
    });
    let ranges: Vec<&str> = trimmed.collect();
    if ranges.iter().all(|range| range.is_empty()) {
        return Ok(super::rich("SemVerRange", "*".to_owned()));
    }
    for range in ranges {
        let words: Vec<&str> = range.split(SPACE).collect();
        let words: Vec<&str> = words
            .iter()
            .enumerate()
            .filter(|(at, word)| *at == 0 && words.len() > 1 || !word.is_empty())
            .map(|(_, word)| *word)
            .collect();
        if let [from, "-", to] = words.as_slice()
            && !range.ends_with(SPACE)
            && is_partial(from)
            && is_partial(to)
        {
            check_prerelease(from)?;
            check_prerelease(to)?;
            continue;
        }
        for word in words {
            let (operator, bound) = operator_and_bound(word);
            if !is_partial(bound) {
                return Err(format!("Unparsable version range: \"{text}\""));
            }
            if matches!(operator, "^" | "<=") && is_any(bound.split('.').next().unwrap_or_default())
            {
                return Err("undefined method `SINGLETON' for \
                            SemanticPuppet::VersionRange::AllRange:Class"
                    .to_owned());
            }
            check_prerelease(bound)?;
        }
    }
    Ok(super::rich("SemVerRange", text.to_owned()))
}

/// Ruby's `\s`.
const SPACE: [char; 6] = [' ', '\t', '\r', '\n', '\x0c', '\x0b'];

/// The text without space, or a `v`, between an operator and its version.
fn without_space_behind_operators(text: &str) -> String {
    let mut tight = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['>', '<', '=', '~', '^']) {
        tight.push_str(&rest[..=at]);
        let behind = &rest[at + 1..];
        let bound = behind.trim_start_matches(SPACE);
        rest = if bound.len() == behind.len() {
            behind.strip_prefix('v').unwrap_or(behind)
        } else {
            bound
        };
    }
    tight + rest
}

fn operator_and_bound(word: &str) -> (&str, &str) {
    let operators = ["<=", ">=", "~>", "~=", "<", ">", "=", "~", "^"];
    let operator = operators.into_iter().find(|it| word.starts_with(it));
    word.split_at(operator.map_or(0, str::len))
}

fn is_any(part: &str) -> bool {
    matches!(part, "x" | "X" | "*")
}

/// Refuses numbers of a pre-release that start with a zero (`SemanticPuppet::Version.parse_prerelease`).
pub(super) fn check_prerelease(version: &str) -> Result<(), String> {
    let before_build = version.split('+').next().unwrap_or_default();
    let Some((core, prerelease)) = before_build.split_once('-') else {
        return Ok(());
    };
    let is_zeroed = |part: &str| {
        part.len() > 1 && part.starts_with('0') && part.bytes().all(|b| b.is_ascii_digit())
    };
    if !core.split('.').any(is_any) && prerelease.split('.').any(is_zeroed) {
        return Err("Numeric pre-release identifiers MUST NOT contain leading zeroes".to_owned());
    }
    Ok(())
}

/// Whether a text is a version with missing or wildcard parts at its end.
fn is_partial(text: &str) -> bool {
    let (core, qualifier) = text.split_at(text.find(['-', '+']).unwrap_or(text.len()));
    let is_number = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && (part.len() == 1 || !part.starts_with('0'))
    };
    let parts: Vec<&str> = core.split('.').collect();
    let (before, build) = split(qualifier, '+');
    let mut qualifiers = before.strip_prefix('-').into_iter().chain(build);
    parts.len() <= 3
        && (qualifier.is_empty() || parts.len() == 3)
        && parts.iter().all(|part| is_any(part) || is_number(part))
        && qualifiers.all(are_identifiers)
}

/// Whether a range of comparisons joined by spaces includes a version. Ranges in another form count
/// as including it, to avoid false errors.
pub(super) fn includes(range: &str, version: &str) -> bool {
    let Some(version) = parse(version) else {
        return false;
    };
    range.split_whitespace().all(|comparison| {
        let digits = comparison.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
        let (operator, bound) = comparison.split_at(digits);
        let Some(bound) = parse(bound) else {
            return true;
        };
        let order = compare(&version, &bound);
        match operator {
            ">=" => order != Ordering::Less,
            "<=" => order != Ordering::Greater,
            ">" => order == Ordering::Greater,
            "<" => order == Ordering::Less,
            "" | "=" => order == Ordering::Equal,
            _ => true,
        }
    })
}
