//! Differences between objects, as packs hold them (`gitformat-pack`, "Deltified representation").

use super::GitError;

/// The object that a difference makes of `base`; its size is at most `limit`.
pub(super) fn apply(base: &[u8], delta: &[u8], limit: u64) -> Result<Vec<u8>, GitError> {
    let mut at = 0;
    let (from, to) = (size(delta, &mut at)?, size(delta, &mut at)?);
    if from != base.len() as u64 || to > limit {
        return Err(broken());
    }
    let to = to as usize;
    let mut made: Vec<u8> = Vec::with_capacity(to);
    while let Some(&instruction) = delta.get(at) {
        at += 1;
        let part = if instruction & 0x80 != 0 {
            let offset = number(delta, &mut at, instruction & 0x0f, 4)?;
            let length = number(delta, &mut at, (instruction >> 4) & 0x07, 3)?;
            let length = if length == 0 { 0x1_0000 } else { length };
            base.get(offset..offset.saturating_add(length))
        } else {
            let from = at;
            at += usize::from(instruction);
            // Zero is kept for what may come one day.
            delta.get(from..at).filter(|_| instruction != 0)
        };
        let part = part.filter(|part| made.len() + part.len() <= to);
        made.extend_from_slice(part.ok_or_else(broken)?);
    }
    if made.len() != to {
        return Err(broken());
    }
    Ok(made)
}

/// A number of up to `bytes` bytes, the lowest first; `present` says which are there.
fn number(delta: &[u8], at: &mut usize, present: u8, bytes: u8) -> Result<usize, GitError> {
    let mut number = 0;
    for byte in 0..bytes {
        if present & (1 << byte) != 0 {
            let next = *delta.get(*at).ok_or_else(broken)?;
            number |= usize::from(next) << (8 * byte);
            *at += 1;
        }
    }
    Ok(number)
}

/// A size: seven bits in each byte, the lowest first.
fn size(delta: &[u8], at: &mut usize) -> Result<u64, GitError> {
    let (mut size, mut shift) = (0_u64, 0);
    loop {
        let byte = *delta.get(*at).ok_or_else(broken)?;
        *at += 1;
        if shift > 56 {
            return Err(broken());
        }
        size |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return Ok(size);
        }
    }
}

fn broken() -> GitError {
    GitError::new("a difference between objects is broken")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_and_insertions_make_an_object() {
        // From 6 bytes to 7: copy 4 from 2, insert "xyz".
        let delta = [6, 7, 0x91, 2, 4, 3, b'x', b'y', b'z'];
        assert_eq!(apply(b"abcdef", &delta, 100).unwrap(), b"cdefxyz");
    }

    #[test]
    fn broken_differences_are_refused() {
        let base = b"abcdef";
        for delta in [
            &[][..],
            &[6],
            &[5, 1, 1, b'x'],
            &[6, 7, 0x91, 200, 4],
            &[6, 3, 4, b'x'],
            &[6, 1, 0],
            &[6, 2, 1, b'x'],
            &[6, 1, 2, b'x', b'y'],
            &[
                0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
            ],
        ] {
            assert!(apply(base, delta, 100).is_err(), "{delta:?}");
        }
        assert!(apply(base, &[6, 7, 0x91, 2, 4, 3, b'x', b'y', b'z'], 6).is_err());
    }
}
