//! Numbers and escapes of JSON, parsed as by Ruby's json 2.6.1. It must not know the tree.

use super::scalar_map::hex;

/// The length of the number at the start: a float if one matches and no further part of a number
/// follows, else an integer that is not followed by a digit.
pub(super) fn number_length(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let sign = usize::from(bytes.first() == Some(&b'-'));
    let whole = match bytes.get(sign) {
        Some(b'0') => 1,
        Some(b'1'..=b'9') => digits(sign),
        Some(_) | None => return None,
    };
    let integer = sign + whole;
    let mut end = integer;
    let mut is_float = false;
    if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
        is_float = true;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
        let exponent = digits(end + 1 + signed);
        if exponent > 0 {
            end += 1 + signed + exponent;
            is_float = true;
        }
    }
    let continues = matches!(
        bytes.get(end),
        Some(b'0'..=b'9' | b'e' | b'E' | b'.' | b'-')
    );
    if is_float && !continues {
        return Some(end);
    }
    (!matches!(bytes.get(integer), Some(b'0'..=b'9'))).then_some(integer)
}

#[derive(Clone, Copy)]
pub(super) enum Becomes {
    Character(char),
    /// The character after the backslash.
    Itself,
    /// Half a surrogate pair at the end of the string.
    Nothing,
}

/// What the escape at the start of `bytes` becomes, and the length of its source. The bytes end
/// with the string.
pub(super) fn read_escape(bytes: &[u8]) -> (Becomes, usize) {
    let character = match bytes.get(1) {
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'b') => '\x08',
        Some(b'f') => '\x0C',
        Some(b'u') => return read_unicode(bytes),
        Some(_) | None => return (Becomes::Itself, 2),
    };
    (Becomes::Character(character), 2)
}

fn read_unicode(bytes: &[u8]) -> (Becomes, usize) {
    let unit = |at: usize| bytes.get(at..at + 4).and_then(hex);
    let character =
        |code: u32| Becomes::Character(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
    let Some(first) = unit(2) else {
        return (Becomes::Character(char::REPLACEMENT_CHARACTER), 2);
    };
    if first & 0xFC00 != 0xD800 {
        // A lone low surrogate becomes invalid bytes.
        return (character(first), 6);
    }
    if bytes.len() < 12 {
        return (Becomes::Nothing, 6);
    }
    match unit(8).filter(|_| bytes[6..].starts_with(b"\\u")) {
        Some(second) => {
            let high = ((first & 0x3F) << 10) | ((((first >> 6) & 0xF) + 1) << 16);
            (character(high | (second & 0x3FF)), 12)
        }
        None => (Becomes::Character('?'), 7),
    }
}

/// For the map of a string: the lengths of the text and of the source of the escape at the start of
/// `bytes`.
pub(super) fn escape(bytes: &[u8]) -> (usize, usize) {
    let (becomes, width) = read_escape(bytes);
    let character = |at: usize| character_width(&bytes[at..]);
    match becomes {
        Becomes::Character('?') if width == 7 => (1, 6 + character(6)),
        Becomes::Character(becomes) => (becomes.len_utf8(), width),
        Becomes::Itself if bytes.len() > 1 => {
            let own = character(1);
            (own, 1 + own)
        }
        Becomes::Itself | Becomes::Nothing => (0, width.min(bytes.len())),
    }
}

/// The length of the character at the start, or 1.
pub(super) fn character_width(bytes: &[u8]) -> usize {
    let valid = bytes.utf8_chunks().next().map(|chunk| chunk.valid());
    let first = valid.and_then(|valid| valid.chars().next());
    first.map_or(1, char::len_utf8)
}
