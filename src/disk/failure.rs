//! System errors in words for people.

use std::io::{Error, ErrorKind};

/// Why a system call failed: the usual reasons in our words, without numbers.
#[must_use]
pub fn failure(error: &Error) -> String {
    let words = match error.kind() {
        ErrorKind::NotFound => "no such file or folder",
        ErrorKind::PermissionDenied => "permission denied",
        ErrorKind::IsADirectory => "a folder, where a file is expected",
        ErrorKind::NotADirectory => "a file, where a folder is expected",
        _ => {
            let words = without_number(error);
            let mut letters = words.chars();
            let first = letters.next().map(|first| first.to_ascii_lowercase());
            return first.into_iter().chain(letters).collect();
        }
    };
    words.to_owned()
}

/// The system's own words, without the number that Rust adds: the standard library has them only
/// together.
pub(super) fn without_number(error: &Error) -> String {
    let mut words = error.to_string();
    if let Some(number) = error.raw_os_error() {
        let length = words.len() - format!(" (os error {number})").len();
        words.truncate(length);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_no_numbers() {
        let words = |number| failure(&Error::from_raw_os_error(number));
        assert_eq!(words(2), "no such file or folder");
        assert_eq!(words(13), "permission denied");
        assert_eq!(words(28), "no space left on device");
        assert_eq!(failure(&Error::other("x")), "x");
    }
}
