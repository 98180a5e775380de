//! Recognises the words, names and numbers of the Puppet language. It must not know tokens.

/// `[[:blank:]]` of Ruby: the tab and all of Unicode's spaces.
pub(super) fn is_blank(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

/// `\w` of Ruby.
fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

/// The length of the leading letters, digits and underscores.
pub(super) fn word_length(text: &str) -> usize {
    text.bytes().position(|b| !is_word(b)).unwrap_or(text.len())
}

/// The length of segments with `::` before and between them. `segment` returns the length of the
/// segment that a text starts with, 0 without one.
fn qualified(text: &str, segment: impl Fn(&str) -> usize) -> usize {
    let mut length = 0;
    loop {
        let rest = &text[length..];
        let colons = if rest.starts_with("::") { 2 } else { 0 };
        match segment(&rest[colons..]) {
            0 => return length,
            more => length += colons + more,
        }
    }
}

/// The length of a bare word (`::foo::bar-baz`).
pub(super) fn bare_word(text: &str) -> usize {
    qualified(text, |segment| {
        if !segment.starts_with(|c: char| c.is_ascii_lowercase() || c == '_') {
            return 0;
        }
        let end = segment.bytes().position(|b| !(is_word(b) || b == b'-'));
        let word = &segment[..end.unwrap_or(segment.len())];
        word.trim_end_matches('-').len()
    })
}

/// Whether a bare word is a name: segments that begin with a letter and have no dashes.
pub(super) fn is_name(word: &str) -> bool {
    let word = word.strip_prefix("::").unwrap_or(word);
    word.split("::").all(|segment| {
        segment.starts_with(|c: char| c.is_ascii_lowercase()) && segment.bytes().all(is_word)
    })
}

/// The length of a reference to a type (`::Foo::Bar`).
pub(super) fn reference(text: &str) -> usize {
    qualified(text, |segment| {
        let is_reference = segment.starts_with(|c: char| c.is_ascii_uppercase());
        if is_reference {
            word_length(segment)
        } else {
            0
        }
    })
}

/// The length of a variable's name (`::foo::bar`), or 0.
pub(super) fn variable(text: &str) -> usize {
    let mut length = 0;
    if text.starts_with("::") && word_length(&text[2..]) > 0 {
        length = 2;
    }
    loop {
        length += word_length(&text[length..]);
        let rest = &text[length..];
        if length == 0 || !rest.starts_with("::") || word_length(&rest[2..]) == 0 {
            return length;
        }
        length += 2;
    }
}

/// The length of a number that ends at a word boundary.
pub(super) fn number(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        let length = rest.iter().position(|b| !b.is_ascii_digit());
        length.unwrap_or(rest.len())
    };
    let exponent = |from: usize| {
        if !matches!(bytes.get(from), Some(b'e' | b'E')) {
            return 0;
        }
        let sign = usize::from(bytes.get(from + 1) == Some(&b'-'));
        match digits(from + 1 + sign) {
            0 => 0,
            length => 1 + sign + length,
        }
    };
    let ends = |length: usize| {
        !text[length..].starts_with(|c: char| c.is_alphanumeric() || c == '_' || is_mark(c))
    };
    if matches!(bytes, [b'0', b'x' | b'X', ..]) {
        let hex = bytes[2..].iter().position(|b| !b.is_ascii_hexdigit());
        let length = hex.unwrap_or(bytes.len() - 2);
        if length > 0 && ends(2 + length) {
            return Some(2 + length);
        }
    }
    let whole = digits(0);
    let fraction = match bytes.get(whole) {
        Some(b'.') => match digits(whole + 1) {
            0 => 0,
            length => 1 + length,
        },
        _ => 0,
    };
    let decimal = whole + fraction;
    [
        decimal + exponent(decimal),
        decimal,
        whole + exponent(whole),
        whole,
    ]
    .into_iter()
    .find(|length| ends(*length))
}

/// Common combining marks, which are part of a word in Ruby.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{203f}' | '\u{2040}' | '\u{20d0}'..='\u{20f0}')
}

/// The end of a pattern: after the first slash that is not escaped by a backslash.
pub(super) fn pattern_end(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (index, b) in text.bytes().enumerate().skip(1) {
        match b {
            b'/' if !escaped => return Some(index + 1),
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    None
}

pub(super) fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a text is the name of a class, a defined type or a function (`CLASSREF_DECL`).
pub(super) fn is_definition_name(name: &str) -> bool {
    !name.starts_with("::") && is_name(name)
}

/// Whether a text is the name of a type alias (`CLASSREF_EXT_DECL`).
pub(super) fn is_reference(name: &str) -> bool {
    !name.starts_with("::") && !name.is_empty() && reference(name) == name.len()
}

/// Whether a text is the name of a variable other than a number (`VAR_NAME`): only its last segment
/// may begin with an underscore.
pub(super) fn is_variable(name: &str) -> bool {
    let name = name.strip_prefix("::").unwrap_or(name);
    let (spaces, last) = name.rsplit_once("::").unwrap_or(("", name));
    let is_segment = |segment: &str, first: fn(char) -> bool| {
        segment.starts_with(first) && segment.chars().all(is_word_char)
    };
    let is_last = is_segment(last, |c| c.is_ascii_lowercase() || c == '_');
    let mut spaces = spaces.split("::");
    is_last
        && (last.len() == name.len() || spaces.all(|s| is_segment(s, |c| c.is_ascii_lowercase())))
}

/// Whether a name has `::` in it. O(bytes), without the preparations of a search in a long text.
pub(crate) fn is_qualified(name: &str) -> bool {
    name.as_bytes().windows(2).any(|pair| pair == b"::")
}

/// A name without the `::` before it. Names may begin with several, all of which Puppet removes.
pub(crate) fn without_colons(name: &str) -> &str {
    let mut rest = name;
    while let Some(shorter) = rest.strip_prefix("::") {
        rest = shorter;
    }
    rest
}

/// Whether a text is the name of a parameter, or of a variable without a class (`PARAM_NAME`).
pub(crate) fn is_parameter(name: &str) -> bool {
    !is_qualified(name) && is_variable(name)
}

/// Whether a text is the name of a match variable (`NUMERIC_VAR_NAME`).
pub(crate) fn is_match_variable(name: &str) -> bool {
    name == "0"
        || (!name.starts_with('0') && !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit()))
}

pub(crate) fn integer(written: &str) -> Option<num_bigint::BigInt> {
    let hex = written.strip_prefix("0x").or(written.strip_prefix("0X"));
    let (digits, radix) = match hex {
        Some(hex) => (hex, 16),
        None if written.starts_with('0') => (written, 8),
        None => (written, 10),
    };
    num_bigint::BigInt::parse_bytes(digits.as_bytes(), radix)
}
