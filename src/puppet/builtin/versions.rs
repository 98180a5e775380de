//! The order of versions (`puppet/util/package.rb`, `versioncmp`).

use std::cmp::Ordering;

/// Compares two versions part by part.
pub(super) fn compare(one: &str, other: &str) -> Ordering {
    let (mut ones, mut others) = (parts(one), parts(other));
    loop {
        let (Some(a), Some(b)) = (ones.next(), others.next()) else {
            return one.cmp(other);
        };
        if a == b {
            continue;
        }
        return match (a, b) {
            ("-", _) => Ordering::Less,
            (_, "-") => Ordering::Greater,
            (".", _) => Ordering::Less,
            (_, ".") => Ordering::Greater,
            _ if is_number(a) && is_number(b) => {
                if a.starts_with('0') || b.starts_with('0') {
                    return a.cmp(b);
                }
                a.len().cmp(&b.len()).then_with(|| a.cmp(b))
            }
            _ => a.to_uppercase().cmp(&b.to_uppercase()),
        };
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Splits a version into numbers, signs, and the parts between them.
fn parts(version: &str) -> impl Iterator<Item = &str> {
    let mut rest = version;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let is_sign = |c: char| matches!(c, '-' | '.');
        let end = match first {
            '-' | '.' => 1,
            c if c.is_ascii_digit() => rest
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len()),
            _ => {
                let ends = |c: char| is_sign(c) || c.is_ascii_digit();
                rest.find(ends).unwrap_or(rest.len())
            }
        };
        let (part, after) = rest.split_at(end);
        rest = after;
        Some(part)
    })
}
