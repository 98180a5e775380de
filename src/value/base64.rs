//! Base64 as Ruby decodes it.

/// `String#unpack('m')`: base64 in groups of four digits. Other characters are skipped, but a `=`
/// in place of the third or fourth digit ends the text.
#[must_use]
pub(crate) fn unpack_base64(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut group = 0_u32;
    let mut digits = 0;
    for byte in text.bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' if digits >= 2 => break,
            _ => continue,
        };
        group = (group << 6) | u32::from(digit);
        digits += 1;
        if digits == 4 {
            bytes.extend(&group.to_be_bytes()[1..]);
            (group, digits) = (0, 0);
        }
    }
    match digits {
        2 => bytes.push((group >> 4) as u8),
        3 => bytes.extend(&((group >> 2) as u16).to_be_bytes()),
        _ => {}
    }
    bytes
}
