//! Which known name a misspelt one most likely means. It knows no names of its own.

/// Most edits between a misspelt name and what it means.
const MAX_EDITS: usize = 3;

/// Longer names are not compared, in bytes.
const MAX_NAME: usize = 64;

/// The known name that a misspelt one most likely means: the name with the fewest different
/// letters, whatever their case, at most three; of several the first by bytes. Of short names fewer
/// than half of the letters may differ.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_NAME {
        return None;
    }
    let name = name.to_lowercase();
    let most = MAX_EDITS.min(name.chars().count().saturating_sub(1) / 2);
    known
        .map(|known| (edits(&name, &known.to_lowercase()), known))
        .min()
        .filter(|(distance, _)| *distance <= most)
        .map(|(_, known)| known)
}

/// The fewest letters to add, to take away or to replace (Levenshtein).
fn edits(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, b) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(a != *b);
            diagonal = row[column + 1];
            row[column + 1] = substituted.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_few_letters_may_differ() {
        let of = |name| nearest(name, ["lookup", "hiera", "alias", "scope"].into_iter());
        assert_eq!(of("Lokup"), Some("lookup"));
        assert_eq!(of("hirea"), Some("hiera"));
        assert_eq!(of("template"), None);
        assert_eq!(of("os"), None);
    }
}
