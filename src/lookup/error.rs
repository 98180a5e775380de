//! Puppet's errors: class, cause, issue code, place. `Display` makes the message.

use std::fmt;
use std::sync::Arc;

use crate::datatype::{Mismatches, ParseError};
use crate::hierarchy::ConfigError;
use crate::value::{LoadError, Ruby, Value};
use crate::workspace::path;

/// The Ruby class of an exception; it decides how the error propagates and is shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ErrorClass {
    /// `Puppet::DataBinding::LookupError`
    Lookup,
    /// `Puppet::DataBinding::RecursiveLookupError`
    RecursiveLookup,
    /// `Puppet::Error`
    Puppet,
    /// `Puppet::ParseError`
    Parse,
    /// `Puppet::ParseErrorWithIssue`
    ParseWithIssue,
    /// `Puppet::Util::Yaml::YamlLoadError`
    YamlLoad,
    /// `Puppet::Pops::Types::TypeAssertionError`
    TypeAssertion,
    /// `ArgumentError`
    Argument,
    /// `NoMethodError`
    NoMethod,
    /// `TypeError`
    Type,
    /// `RegexpError`
    Regexp,
    /// `DeepMerge::InvalidParameter`
    DeepMergeParameter,
    /// `URI::InvalidURIError`
    InvalidUri,
    /// An error of the system: `Errno::EISDIR` and the like.
    Errno(&'static str),
    /// A limit of this program; the message names it.
    Limit,
}

impl ErrorClass {
    /// The class's name in Ruby; `HieraLs::LimitError` for a limit of this program.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            ErrorClass::Lookup => "Puppet::DataBinding::LookupError",
            ErrorClass::RecursiveLookup => "Puppet::DataBinding::RecursiveLookupError",
            ErrorClass::Puppet => "Puppet::Error",
            ErrorClass::Parse => "Puppet::ParseError",
            ErrorClass::ParseWithIssue => "Puppet::ParseErrorWithIssue",
            ErrorClass::YamlLoad => "Puppet::Util::Yaml::YamlLoadError",
            ErrorClass::TypeAssertion => "Puppet::Pops::Types::TypeAssertionError",
            ErrorClass::Argument => "ArgumentError",
            ErrorClass::NoMethod => "NoMethodError",
            ErrorClass::Type => "TypeError",
            ErrorClass::Regexp => "RegexpError",
            ErrorClass::DeepMergeParameter => "DeepMerge::InvalidParameter",
            ErrorClass::InvalidUri => "URI::InvalidURIError",
            ErrorClass::Errno(name) => name,
            ErrorClass::Limit => "HieraLs::LimitError",
        }
    }

    /// Whether the class is `LookupError` or a subclass.
    #[must_use]
    pub fn is_lookup_error(&self) -> bool {
        matches!(self, ErrorClass::Lookup | ErrorClass::RecursiveLookup)
    }

    /// Whether the class is `Puppet::Error` or a subclass.
    #[must_use]
    pub fn is_puppet_error(&self) -> bool {
        self.is_lookup_error()
            || matches!(
                self,
                ErrorClass::Puppet
                    | ErrorClass::Parse
                    | ErrorClass::ParseWithIssue
                    | ErrorClass::YamlLoad
                    | ErrorClass::TypeAssertion
            )
    }
}

/// Which value has the wrong type. `Display` gives what Puppet calls it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Subject {
    /// The value of the higher level, in a merge.
    FirstOfMerge,
    /// The value of the lower level, in a merge.
    SecondOfMerge,
    /// Another value, by its name.
    Other(String),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Subject::FirstOfMerge => "The first element of the merge",
            Subject::SecondOfMerge => "The second element of the merge",
            Subject::Other(name) => name,
        })
    }
}

/// The cause of an error. `Display` gives Puppet's words, without the place.
#[derive(Clone, Debug)]
pub enum Cause {
    /// None of the names has a value, and there is no default.
    NotFound(Vec<Arc<str>>),
    /// A key needs its own value: the keys being looked up, the first one first.
    Recursion(Vec<Arc<str>>),
    /// A `merge` hash without a strategy.
    NoStrategy,
    /// The strategy of a `merge` does not exist: its name.
    UnknownStrategy(String),
    /// A strategy refuses the options of a `merge`.
    MergeOptions(Box<Mismatches>),
    /// A value has the wrong type.
    WrongType {
        /// The value's role in the message.
        subject: Subject,
        /// The mismatches.
        mismatches: Box<Mismatches>,
    },
    /// A type expression is invalid.
    TypeExpression(ParseError),
    /// A variable does not exist.
    UndefinedVariable {
        /// Its name.
        name: Box<str>,
        /// Why it does not exist.
        reason: Box<str>,
    },
    /// Puppet refuses a `hiera.yaml`.
    Config(Box<ConfigError>),
    /// A configuration cannot be loaded, or any file cannot be read.
    File {
        /// The file.
        path: Arc<str>,
        /// Why.
        error: Box<LoadError>,
    },
    /// A data file cannot be loaded.
    Data {
        /// The file.
        path: Arc<str>,
        /// Why.
        error: Box<LoadError>,
    },
    /// An error that was re-raised with another class.
    Raised(Box<LookupError>),
    /// The same, with the lookup's key before the message.
    OfKey {
        /// The key.
        key: Arc<str>,
        /// The error.
        error: Box<LookupError>,
    },
    /// `convert_to` fails: the message.
    Conversion(String),
    /// Any other cause: the message.
    Other(String),
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::NotFound(names) => {
                f.write_str("Function lookup() did not find a value for ")?;
                if let [name] = names.as_slice() {
                    return write!(f, "the name '{name}'");
                }
                let list: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
                write!(f, "any of the names [{}]", list.join(", "))
            }
            Cause::Recursion(keys) => {
                write!(f, "Recursive lookup detected in [{}]", keys.join(", "))
            }
            Cause::NoStrategy => f.write_str(
                "The hash given as 'merge' must contain the name of a strategy in string form for \
                 the key 'strategy'",
            ),
            Cause::UnknownStrategy(name) => write!(f, "Unknown merge strategy: '{name}'"),
            Cause::MergeOptions(mismatches) => {
                f.write_str(&mismatches.describe("The merge options"))
            }
            Cause::WrongType {
                subject,
                mismatches,
            } => f.write_str(&mismatches.describe(&subject.to_string())),
            Cause::TypeExpression(error) => write!(f, "{error}"),
            Cause::UndefinedVariable { name, reason } => {
                write!(f, "Undefined variable '{name}'; {reason}")
            }
            Cause::Config(error) => write!(f, "{error}"),
            Cause::File { path, error } => f.write_str(&error.message(path)),
            Cause::Data { path, error } => write!(f, "Unable to parse {}", error.message(path)),
            Cause::Raised(error) => write!(f, "{error}"),
            Cause::OfKey { key, error } => write!(f, "Lookup of key '{key}' failed: {error}"),
            Cause::Conversion(message) | Cause::Other(message) => f.write_str(message),
        }
    }
}

impl Cause {
    /// Puppet's words for the middle of a sentence: a list of mismatches starts with a blank.
    #[must_use]
    pub fn words(&self) -> String {
        self.to_string().trim().to_owned()
    }
}

impl From<String> for Cause {
    fn from(message: String) -> Cause {
        Cause::Other(message)
    }
}

impl From<&str> for Cause {
    fn from(message: &str) -> Cause {
        Cause::Other(message.to_owned())
    }
}

/// An error that ends a lookup. `Display` gives the message with its place, as Puppet prints it;
/// errors that print alike are equal: nodes with the same message are one group for people, even if
/// its cause was wrapped differently or has other values that print alike.
#[derive(Clone, Debug)]
pub struct LookupError {
    /// Ruby's class.
    pub class: ErrorClass,
    /// Why.
    pub cause: Cause,
    /// Puppet's issue code.
    pub issue_code: Option<&'static str>,
    /// File named in the error.
    pub file: Option<Arc<str>>,
    /// Line (from 1) named in the error.
    pub line: Option<usize>,
}

/// A message of Puppet's without the trailing semicolon that it has if there is no reason. Messages
/// of the log and of errors inside other texts have no cause, only the text.
#[must_use]
pub fn without_reason(message: &str) -> &str {
    message.trim_end_matches([';', ' '])
}

impl LookupError {
    /// The error for people: see [`without_reason`].
    #[must_use]
    pub fn words(&self) -> String {
        without_reason(&self.to_string()).to_owned()
    }

    /// [`LookupError::words`] for a text that already names the file at `path`: without a place in
    /// that file, and with its name instead of its path.
    #[must_use]
    pub fn words_beside(&self, path: &str) -> String {
        self.clone().beside(path).words()
    }

    fn beside(mut self, path: &str) -> LookupError {
        let name = path::name(path);
        if self.file.as_deref() == Some(path) {
            (self.file, self.line) = (None, None);
        }
        if let Cause::Config(error) = &mut self.cause
            && let ConfigError::Structure { path: at, .. } = &mut **error
            && **at == *path
        {
            *at = Arc::from(name);
        } else if let Cause::File { path: at, error } = &self.cause
            && **at == *path
        {
            self.cause = Cause::Other(error.message_beside(name));
        } else if let Cause::Raised(inner) | Cause::OfKey { error: inner, .. } = &mut self.cause {
            **inner = inner.as_ref().clone().beside(path);
        }
        self
    }

    /// An error of that class.
    #[must_use]
    pub fn new(class: ErrorClass, cause: impl Into<Cause>) -> LookupError {
        LookupError {
            class,
            cause: cause.into(),
            issue_code: None,
            file: None,
            line: None,
        }
    }

    /// An issue of Puppet's, with its place.
    #[must_use]
    pub fn issue(
        code: &'static str,
        cause: impl Into<Cause>,
        file: Option<Arc<str>>,
        line: Option<usize>,
    ) -> LookupError {
        LookupError {
            issue_code: Some(code),
            file,
            line,
            ..Self::new(ErrorClass::Lookup, cause)
        }
    }

    /// The error with the words that a version of Ruby has for its own errors.
    pub(super) fn in_words_of(mut self, ruby: Ruby) -> LookupError {
        match &mut self.cause {
            Cause::Conversion(message) | Cause::Other(message) => {
                *message = ruby.error_words(message);
            }
            Cause::File { error, .. } | Cause::Data { error, .. } => {
                error.message = ruby.error_words(&error.message);
            }
            Cause::Raised(inner) | Cause::OfKey { error: inner, .. } => {
                **inner = inner.as_ref().clone().in_words_of(ruby);
            }
            Cause::NotFound(_)
            | Cause::Recursion(_)
            | Cause::NoStrategy
            | Cause::UnknownStrategy(_)
            | Cause::MergeOptions(_)
            | Cause::WrongType { .. }
            | Cause::TypeExpression(_)
            | Cause::UndefinedVariable { .. }
            | Cause::Config(_) => {}
        }
        self
    }

    /// Whether the lookup found no value, and nothing else went wrong.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self.cause, Cause::NotFound(_))
    }

    /// The original error: without the keys and classes added on its way out.
    #[must_use]
    pub fn innermost(&self) -> &LookupError {
        let mut error = self;
        while let Cause::Raised(inner) | Cause::OfKey { error: inner, .. } = &error.cause {
            error = inner;
        }
        error
    }

    /// The keys of a recursive lookup, the first one first.
    #[must_use]
    pub fn recursion(&self) -> Option<&[Arc<str>]> {
        let Cause::Recursion(keys) = &self.innermost().cause else {
            return None;
        };
        Some(keys)
    }
}

impl PartialEq for LookupError {
    fn eq(&self, other: &LookupError) -> bool {
        self.class == other.class
            && self.issue_code == other.issue_code
            && self.file == other.file
            && self.line == other.line
            && self.to_string() == other.to_string()
    }
}

impl Eq for LookupError {}

/// The place is formatted like `Puppet::Util::Errors.error_location_with_space`.
impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.cause)?;
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, " (file: {file}, line: {line})"),
            (Some(file), None) => write!(f, " (file: {file})"),
            (None, Some(line)) => write!(f, " (line: {line})"),
            (None, None) => Ok(()),
        }
    }
}

/// How a search ends without a value.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Failure {
    /// `throw :no_such_key`: the next level is searched.
    NotFound,
    /// An exception: the lookup ends.
    Error(Box<LookupError>),
}

impl From<LookupError> for Failure {
    fn from(error: LookupError) -> Failure {
        Failure::Error(Box::new(error))
    }
}

/// A value, or why the search ended without one.
pub(super) type Found<T = crate::value::Value> = Result<T, Failure>;

/// `None` for a search that ended without a value.
pub(super) fn optional<T>(found: Found<T>) -> Found<Option<T>> {
    match found {
        Ok(value) => Ok(Some(value)),
        Err(Failure::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

/// An exception of that class as a failure.
pub(super) fn raise<T>(class: ErrorClass, cause: impl Into<Cause>) -> Found<T> {
    Err(LookupError::new(class, cause).into())
}

/// Ruby's error for a method that a value does not have, `nil` among others.
pub(super) fn no_method<T>(method: &str, receiver: &Value) -> Found<T> {
    let (shown, class) = (receiver.inspect(), receiver.ruby_class());
    let message = format!("undefined method `{method}' for {shown}:{class}");
    raise(ErrorClass::NoMethod, message)
}
