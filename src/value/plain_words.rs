//! What most lines of plain YAML are made of, found eight bytes at a time: words, and entries of a word, a
//! colon and some words.

/// Longest key in bytes; libyaml's own bound is 1,024 characters.
pub(super) const LONGEST_KEY: usize = 1_000;

/// Bytes that mean nothing but themselves wherever they stand in a plain scalar that starts with a
/// letter or a digit.
pub(super) const WORD: [bool; 256] = letters_and(b"_-./");

/// Bytes but for the colon of which a plain scalar in brackets may be.
pub(super) const IN_BRACKETS: [bool; 256] = letters_and(b"_-./@+=*%$()&~^!;<> ");

const fn letters_and(others: &[u8]) -> [bool; 256] {
    let mut all = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        all[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let mut at = 0;
    while at < others.len() {
        all[others[at] as usize] = true;
        at += 1;
    }
    all
}

/// A line's content that is a key of letters, digits and pairs of colons, and nothing or one plain
/// scalar of letters, digits and blanks behind it.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    /// Where the key's colon stands.
    pub(super) colon: usize,
    /// Where the scalar starts; the line's end where there is none.
    pub(super) value: usize,
}

/// What most lines are, if the content that starts at `start` is: an [`Entry`]. And a place up to
/// which no line's end is.
#[inline]
pub(super) fn entry(bytes: &[u8], start: usize) -> (Option<Entry>, usize) {
    let colon = match colon(bytes, start) {
        Ok(colon) => colon,
        Err(place) => return (None, place),
    };
    // One blank, as a rule.
    let value = match bytes[colon + 1..] {
        [b' ', b' ', ..] => Run::Blanks.end(bytes, colon + 3),
        [b' ', ..] => colon + 2,
        _ => colon + 1,
    };
    // A scalar starts with a letter, a digit or a slash.
    let end = match bytes.get(value) {
        Some(first) if first.is_ascii_alphanumeric() || *first == b'/' => {
            Run::Words.end(bytes, value)
        }
        Some(_) | None => value,
    };
    let is_entry = bytes.get(end) == Some(&b'\n');
    (is_entry.then_some(Entry { colon, value }), end)
}

/// The colon behind a key of letters, digits and pairs of colons that starts at `start`, as most keys do.
/// For all that asks for a closer look a place up to which no line's end is.
#[inline]
fn colon(bytes: &[u8], start: usize) -> Result<usize, usize> {
    if !bytes.get(start).is_some_and(u8::is_ascii_alphabetic) {
        return Err(start);
    }
    let mut colon = start;
    loop {
        colon = Run::Word.end(bytes, colon);
        match bytes[colon..] {
            [b':', b':', ..] => colon += 2,
            [b':'] | [b':', b' ' | b'\n', ..] if colon - start < LONGEST_KEY => return Ok(colon),
            _ => return Err(colon),
        }
    }
}

/// Where such a key ends that a line's content starts with: at its colon.
pub(super) fn word_of_key(content: &[u8]) -> Option<usize> {
    colon(content, 0).ok()
}

/// Whether the rest of a line is a plain scalar up to its end, as most values are. Not so for all that
/// asks for a closer look.
pub(super) fn is_words(rest: &str) -> bool {
    let bytes = rest.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphanumeric) && Run::Words.end(bytes, 0) == bytes.len()
}

/// Bytes of one kind in a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Run {
    /// Blanks.
    Blanks,
    /// Bytes of [`WORD`].
    Word,
    /// Both.
    Words,
}

impl Run {
    /// Where the bytes of this kind that start at a place end.
    #[inline]
    pub(super) fn end(self, bytes: &[u8], mut at: usize) -> usize {
        while let Some(eight) = bytes
            .get(at..at + 8)
            .and_then(|eight| eight.try_into().ok())
        {
            // The lowest byte is the first one.
            let others = self.others(u64::from_le_bytes(eight));
            if others != 0 {
                return at + others.trailing_zeros() as usize / 8;
            }
            at += 8;
        }
        let is_of = |byte: u8| match self {
            Run::Blanks => byte == b' ',
            Run::Word => WORD[byte as usize],
            Run::Words => WORD[byte as usize] || byte == b' ',
        };
        let rest = bytes[at..].iter().position(|&byte| !is_of(byte));
        rest.map_or(bytes.len(), |rest| at + rest)
    }

    /// Of eight bytes the highest bit of each that is of another kind, and nothing else below the
    /// first of them.
    #[inline]
    fn others(self, eight: u64) -> u64 {
        /// A byte eight times.
        const fn all(byte: u8) -> u64 {
            u64::from_ne_bytes([byte; 8])
        }
        const HIGHEST: u64 = all(0x80);
        let low = eight & !HIGHEST;
        // No sum of two bytes reaches the next one: each is below 128, or 128 and what it takes to
        // get there.
        let within =
            |bytes: u64, from: u8, to: u8| (bytes + all(0x80 - from)) & !(bytes + all(0x7f - to));
        let word = || {
            let letters = within(low | all(0x20), b'a', b'z');
            // `-`, `.`, `/` and the digits stand in a row.
            letters | within(low, b'-', b'9') | within(low, b'_', b'_')
        };
        let of_kind = match self {
            Run::Blanks => within(low, b' ', b' '),
            Run::Word => word(),
            Run::Words => word() | within(low, b' ', b' '),
        };
        (!of_kind | eight) & HIGHEST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_at_the_first_other_byte() {
        let word = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
        let is_of = |run: Run, byte: u8| match run {
            Run::Blanks => byte == b' ',
            Run::Word => word(byte),
            Run::Words => word(byte) || byte == b' ',
        };
        for run in [Run::Blanks, Run::Word, Run::Words] {
            for of in (0..=255).filter(|&byte| is_of(run, byte)) {
                for other in 0..=255 {
                    for length in [0, 1, 7, 8, 9] {
                        // Far from the end of the text and at it.
                        for behind in [0, 3, 20] {
                            let mut text = vec![of; length];
                            text.push(other);
                            text.extend(std::iter::repeat_n(0x80, behind));
                            let naive = text.iter().position(|&byte| !is_of(run, byte));
                            let end = run.end(&text, 0);
                            assert_eq!(end, naive.unwrap_or(text.len()), "{run:?} {text:?}");
                        }
                    }
                }
            }
        }
    }
}
