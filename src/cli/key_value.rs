//! The key and the value of `set` and `why-not`: KEY VALUE or KEY=VALUE.

use clap::Args;

use super::Ended;
use super::terminal::complain;
use super::usage::{SENSELESS, see_help};
use std::process::ExitCode;

/// A key with a wanted value.
#[derive(Args)]
pub(super) struct KeyValueArguments {
    /// A key, or a part of its value with dots: ntp.servers.0; a value may follow it in the same word
    #[arg(value_name = "KEY[=VALUE]")]
    key: String,
    /// The wanted value, as YAML
    #[arg(allow_negative_numbers = true)]
    value: Option<String>,
}

impl KeyValueArguments {
    /// The key and the value, which may be empty. With a value of its own, the key is as written.
    pub(super) fn read(&self) -> Option<(&str, &str)> {
        match &self.value {
            Some(value) => Some((&self.key, value)),
            None => self.key.split_once('=').filter(|(key, _)| !key.is_empty()),
        }
    }
}

/// Refuses a command line without a value.
pub(super) fn refuse(command: &str) -> Ended {
    let message = "no value is given: write KEY VALUE or KEY=VALUE";
    complain(&format!("{message}\n{}", see_help(command)));
    Ok(ExitCode::from(SENSELESS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_follows_a_key_in_both_forms() {
        let read = |key: &str, value: Option<&str>| {
            let (key, value) = (key.to_owned(), value.map(str::to_owned));
            let arguments = KeyValueArguments { key, value };
            let read = arguments.read();
            read.map(|(key, value)| (key.to_owned(), value.to_owned()))
        };
        let pair = |key: &str, value: &str| Some((key.to_owned(), value.to_owned()));
        assert_eq!(read("port", Some("80")), pair("port", "80"));
        assert_eq!(read("port=80", None), pair("port", "80"));
        assert_eq!(read("a=b", Some("c")), pair("a=b", "c"));
        assert_eq!(read("a=b=c", None), pair("a", "b=c"));
        assert_eq!(read("a=", None), pair("a", ""));
        assert_eq!(read("port", None), None);
        assert_eq!(read("=80", None), None);
    }
}
