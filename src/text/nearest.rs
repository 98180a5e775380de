//! Finds the known name that a misspelt one most likely means. It must not know any names itself.

use strsim::levenshtein;

/// Maximum number of edits between a misspelt name and the suggestion.
const MAX_EDITS: usize = 3;

/// Maximum length of a compared name, in bytes.
const MAX_NAME: usize = 64;

/// The known name that a misspelt one most likely means: the name with the fewest different
/// letters, ignoring case, at most three; ties go to the first by bytes. In short names fewer than
/// half of the letters may differ.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_NAME {
        return None;
    }
    let name = name.to_lowercase();
    let most = MAX_EDITS.min(name.chars().count().saturating_sub(1) / 2);
    known
        .map(|known| (levenshtein(&name, &known.to_lowercase()), known))
        .min()
        .filter(|(distance, _)| *distance <= most)
        .map(|(_, known)| known)
}

/// The known host that a misspelt name most likely means: the one whose full name begins with it,
/// else the nearest.
#[must_use]
pub fn nearest_host<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.collect();
    let is_its_name = |host: &&&str| {
        host.strip_prefix(name)
            .is_some_and(|rest| rest.starts_with('.'))
    };
    let short = known.iter().filter(is_its_name).min().copied();
    short.or_else(|| nearest(name, known.into_iter()))
}

/// Minimum length of a word in which a typing error is assumed: shorter words (`db_a`, `db_b`)
/// often differ by a single letter.
const LEAST_WORD: usize = 4;

/// The known name that differs from `name` by exactly one typing error: an extra letter, a missing
/// one, a wrong one, two in the wrong order, or capitals. Digits are never wrong, since they number
/// things. Ties go to the first by bytes; `None` for a name that is known. O(letters of all names).
#[must_use]
pub fn typing_error<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_NAME {
        return None;
    }
    known.filter(|known| is_typing_error(name, known)).min()
}

fn is_typing_error(typed: &str, intended: &str) -> bool {
    if typed.len().abs_diff(intended.len()) > 1 || typed == intended {
        return false;
    }
    if typed.eq_ignore_ascii_case(intended) {
        return true;
    }
    let (typed, intended) = (typed.as_bytes(), intended.as_bytes());
    let same = |a: &mut dyn Iterator<Item = (&u8, &u8)>| a.take_while(|(a, b)| a == b).count();
    let start = same(&mut typed.iter().zip(intended));
    let left = typed.len().min(intended.len()) - start;
    let end = same(&mut typed.iter().rev().zip(intended.iter().rev())).min(left);
    let is_letter = |byte: &u8| byte.is_ascii() && !byte.is_ascii_digit();
    let differs = match (
        &typed[start..typed.len() - end],
        &intended[start..intended.len() - end],
    ) {
        ([one], []) | ([], [one]) => is_letter(one),
        ([wrong], [right]) => is_letter(wrong) && is_letter(right),
        ([a, b], [c, d]) => a == d && b == c && is_letter(a) && is_letter(b),
        _ => false,
    };
    let in_word = |byte: &&u8| byte.is_ascii_alphanumeric();
    // For a separator, the words on both sides are checked.
    let changed = intended.get(start).or(typed.get(start));
    let is_separator = |byte: &&u8| {
        !byte.is_ascii_alphanumeric() && changed.is_some_and(|changed| !in_word(&changed))
    };
    let count = |bytes: &mut dyn Iterator<Item = &u8>| {
        bytes.skip_while(is_separator).take_while(in_word).count()
    };
    let before = count(&mut intended[..start].iter().rev());
    let after = count(&mut intended[start..].iter());
    differs && before + after >= LEAST_WORD
}

#[cfg(test)]
mod tests {
    use super::{nearest, typing_error};

    #[test]
    fn a_few_letters_may_differ() {
        let suggestion = |name| nearest(name, ["lookup", "hiera", "alias", "scope"].into_iter());
        assert_eq!(suggestion("Lokup"), Some("lookup"));
        assert_eq!(suggestion("hirea"), Some("hiera"));
        assert_eq!(suggestion("template"), None);
        assert_eq!(suggestion("os"), None);
    }

    #[test]
    fn a_typing_error_is_one_letter_of_a_long_word() {
        let suggestion = |name| {
            let known = ["site::name", "db1::port", "db_a", "ntp::servers", "a"];
            typing_error(name, known.into_iter())
        };
        assert_eq!(suggestion("site::nam"), Some("site::name"));
        assert_eq!(suggestion("site::naem"), Some("site::name"));
        assert_eq!(suggestion("Site::Name"), Some("site::name"));
        assert_eq!(suggestion("site:name"), Some("site::name"));
        assert_eq!(suggestion("ntp::serverrs"), Some("ntp::servers"));
        assert_eq!(suggestion("site::name"), None);
        assert_eq!(suggestion("site::nmea"), None);
        assert_eq!(suggestion("db2::port"), None);
        assert_eq!(suggestion("db_b"), None);
        assert_eq!(suggestion("b"), None);
    }
}
