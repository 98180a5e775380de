//! Errors as Puppet raises them: class, message, issue code.

use std::sync::Arc;

/// The Ruby class of an exception, which decides how it travels and how it is shown.
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
    /// `LoadError`
    Load,
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
            ErrorClass::Load => "LoadError",
            ErrorClass::Errno(name) => name,
            ErrorClass::Limit => "HieraLs::LimitError",
        }
    }

    /// Whether the class is `LookupError` or below it.
    #[must_use]
    pub fn is_lookup_error(&self) -> bool {
        matches!(self, ErrorClass::Lookup | ErrorClass::RecursiveLookup)
    }

    /// Whether the class is `Puppet::Error` or below it.
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

/// An error that ends a lookup.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LookupError {
    /// Ruby's class.
    pub class: ErrorClass,
    /// The message with its place, as Puppet prints it.
    pub message: String,
    /// Puppet's issue code.
    pub issue_code: Option<&'static str>,
    /// File that the error names.
    pub file: Option<Arc<str>>,
    /// Line (from 1) that the error names.
    pub line: Option<usize>,
    /// Whether this is the plain «did not find a value».
    pub not_found: bool,
}

impl LookupError {
    /// An error of that class.
    #[must_use]
    pub fn new(class: ErrorClass, message: impl Into<String>) -> LookupError {
        LookupError {
            class,
            message: message.into(),
            issue_code: None,
            file: None,
            line: None,
            not_found: false,
        }
    }

    /// An issue of Puppet's, with the place that its message ends in
    /// (`Puppet::Util::Errors.error_location_with_space`).
    #[must_use]
    pub fn issue(
        code: &'static str,
        message: impl Into<String>,
        file: Option<Arc<str>>,
        line: Option<usize>,
    ) -> LookupError {
        let mut message = message.into();
        match (&file, line) {
            (Some(file), Some(line)) => message += &format!(" (file: {file}, line: {line})"),
            (Some(file), None) => message += &format!(" (file: {file})"),
            (None, Some(line)) => message += &format!(" (line: {line})"),
            (None, None) => {}
        }
        LookupError {
            issue_code: Some(code),
            file,
            line,
            ..Self::new(ErrorClass::Lookup, message)
        }
    }
}

impl std::fmt::Display for LookupError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

/// How a search ends without a value.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Failure {
    /// `throw :no_such_key`: the level above goes on.
    NotFound,
    /// An exception: the lookup ends.
    Error(Box<LookupError>),
}

impl From<LookupError> for Failure {
    fn from(error: LookupError) -> Failure {
        Failure::Error(Box::new(error))
    }
}

/// A value, or how the search ended without one.
pub(super) type Found<T = crate::value::Value> = Result<T, Failure>;

/// An exception of that class as a failure.
pub(super) fn raise<T>(class: ErrorClass, message: impl Into<String>) -> Found<T> {
    Err(LookupError::new(class, message).into())
}
