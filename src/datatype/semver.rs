//! Semantic versions, as far as types and conversions need them.

use std::cmp::Ordering;

/// A version's parts; identifiers compare as numbers where they are.
#[derive(Debug, PartialEq)]
struct Version {
    numbers: [u64; 3],
    prerelease: Vec<String>,
}

fn parse(text: &str) -> Option<Version> {
    let (rest, build) = match text.split_once('+') {
        Some((rest, build)) => (rest, Some(build)),
        None => (text, None),
    };
    let (core, prerelease) = match rest.split_once('-') {
        Some((core, prerelease)) => (core, Some(prerelease)),
        None => (rest, None),
    };
    let identifier = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    if build.is_some_and(|b| !b.split('.').all(identifier)) {
        return None;
    }
    let prerelease = match prerelease {
        None => Vec::new(),
        Some(text) if text.split('.').all(identifier) => {
            text.split('.').map(ToOwned::to_owned).collect()
        }
        Some(_) => return None,
    };
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

/// Whether a range of comparisons joined by spaces includes a version. Ranges in another form
/// count as including it: no false error.
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
