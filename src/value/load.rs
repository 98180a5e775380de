//! Why a data file could not be loaded, in the words Puppet has for it.

use crate::text::TextRange;

/// Which of the loaders' failures this is; Puppet treats them differently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoadErrorKind {
    /// `Psych::SyntaxError`: the message starts with the file's path.
    YamlSyntax,
    /// `Psych::DisallowedClass`: sets, Ruby objects.
    YamlDisallowedClass,
    /// `Psych::DisallowedClass` for a date or a time.
    YamlDate,
    /// `Psych::BadAlias` (unknown alias): the message has neither path nor line.
    YamlUnknownAlias,
    /// Any other error of Psych's (`invalid value for Float(): "abc"`, a limit of ours).
    YamlOther,
    /// `JSON::ParserError`.
    Json,
    /// `Hocon::ConfigError`.
    Hocon,
    /// The same, unless the environment of Puppet's process has a variable that the file names.
    HoconEnvironment,
    /// The file could not be read (`Errno::*`): the message is the system's.
    Io(SystemError),
}

/// Why the system does not give a file (`Errno`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SystemError {
    /// There is no such file; Puppet's answer for what only this program refuses, too.
    NotFound,
    /// The path is a folder.
    IsDirectory,
    /// The file may not be read.
    PermissionDenied,
    /// Symbolic links lead back to themselves.
    LinkLoop,
    /// A part of the path is a file.
    NotDirectory,
    /// The path is too long.
    NameTooLong,
}

impl SystemError {
    const ALL: [SystemError; 6] = [
        SystemError::NotFound,
        SystemError::IsDirectory,
        SystemError::PermissionDenied,
        SystemError::LinkLoop,
        SystemError::NotDirectory,
        SystemError::NameTooLong,
    ];

    /// The name of Ruby's class.
    #[must_use]
    pub fn class(self) -> &'static str {
        match self {
            SystemError::NotFound => "Errno::ENOENT",
            SystemError::IsDirectory => "Errno::EISDIR",
            SystemError::PermissionDenied => "Errno::EACCES",
            SystemError::LinkLoop => "Errno::ELOOP",
            SystemError::NotDirectory => "Errno::ENOTDIR",
            SystemError::NameTooLong => "Errno::ENAMETOOLONG",
        }
    }

    fn words(self) -> &'static str {
        match self {
            SystemError::NotFound => "No such file or directory",
            SystemError::IsDirectory => "Is a directory",
            SystemError::PermissionDenied => "Permission denied",
            SystemError::LinkLoop => "Too many levels of symbolic links",
            SystemError::NotDirectory => "Not a directory",
            SystemError::NameTooLong => "File name too long",
        }
    }

    /// The error that the system has these words for.
    #[must_use]
    pub fn of_words(words: &str) -> Option<SystemError> {
        Self::ALL.into_iter().find(|error| error.words() == words)
    }

    /// The error for a path, met in a function of C's.
    #[must_use]
    pub fn at(self, call: &str, path: &str) -> LoadError {
        LoadError {
            kind: LoadErrorKind::Io(self),
            message: format!("{} @ {call} - {path}", self.words()),
            range: None,
        }
    }
}

/// A failure that makes a whole data file unusable for Puppet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadError {
    /// Which failure.
    pub kind: LoadErrorKind,
    /// The text without any path: `did not find expected key while parsing a block mapping at
    /// line 2 column 1`, `Tried to load unspecified class: Date`, `Unknown alias: x`.
    pub message: String,
    /// Where in the file, as far as the loader says or we know better.
    pub range: Option<TextRange>,
}

impl LoadError {
    /// The message of `Puppet::Util::Yaml::YamlLoadError` (puppet/util/yaml.rb) or of the JSON or
    /// HOCON reader, for a file at `path`.
    #[must_use]
    pub fn message(&self, path: &str) -> String {
        match self.kind {
            LoadErrorKind::YamlSyntax
            | LoadErrorKind::YamlDisallowedClass
            | LoadErrorKind::YamlDate
            | LoadErrorKind::Json
            | LoadErrorKind::Hocon
            | LoadErrorKind::HoconEnvironment => format!("({path}): {}", self.message),
            LoadErrorKind::YamlUnknownAlias | LoadErrorKind::YamlOther | LoadErrorKind::Io(_) => {
                self.message.clone()
            }
        }
    }
}
