//! Why a data file could not be loaded, in Puppet's words.

use crate::text::TextRange;

/// The kind of a load failure; Puppet treats them differently.
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
    /// Any other error of Psych's (`invalid value for Float(): "abc"`), or one of our limits.
    YamlOther,
    /// `JSON::ParserError`.
    Json,
    /// `Hocon::ConfigError`.
    Hocon,
    /// The same, unless the environment of Puppet's process has a variable that the file refers to.
    HoconOutside,
    /// The text is not here, as in a report without the longest files: its values are unknown.
    LeftOut,
    /// The file could not be read (`Errno::*`): the message is the system's.
    Io(SystemError),
}

/// A system error for a file (`Errno`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SystemError {
    /// The file does not exist; also used for files that only this program refuses.
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
    /// The name of Ruby's class.
    #[must_use]
    pub fn class(self) -> &'static str {
        self.names().0
    }

    /// Ruby's class, and the words of the system.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            SystemError::NotFound => ("Errno::ENOENT", "No such file or directory"),
            SystemError::IsDirectory => ("Errno::EISDIR", "Is a directory"),
            SystemError::PermissionDenied => ("Errno::EACCES", "Permission denied"),
            SystemError::LinkLoop => ("Errno::ELOOP", "Too many levels of symbolic links"),
            SystemError::NotDirectory => ("Errno::ENOTDIR", "Not a directory"),
            SystemError::NameTooLong => ("Errno::ENAMETOOLONG", "File name too long"),
        }
    }

    /// The error for a path, in a C function.
    #[must_use]
    pub fn at(self, call: &str, path: &str) -> LoadError {
        LoadError::unread(self, &format!("{} @ {call} - ", self.names().1), path, "")
    }
}

/// A failure for which Puppet refuses the whole data file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadError {
    /// The kind of failure.
    pub kind: LoadErrorKind,
    /// The text: `did not find expected key while parsing a block mapping at line 2 column 1`,
    /// `Tried to load unspecified class: Date`, `Unknown alias: x`. That of a file that is not
    /// read, or not as a whole, contains its path.
    pub message: String,
    /// The range in the file, as precise as the loader or our own analysis allows.
    pub range: Option<TextRange>,
    /// Where the message of a file that is not read contains the path.
    path: Option<TextRange>,
}

impl LoadError {
    /// An error in a text.
    #[must_use]
    pub fn new(
        kind: LoadErrorKind,
        message: impl Into<String>,
        range: Option<TextRange>,
    ) -> LoadError {
        LoadError {
            kind,
            message: message.into(),
            range,
            path: None,
        }
    }

    /// The error for a file that is not read; the words before and after its path are the message.
    #[must_use]
    pub fn unread(error: SystemError, before: &str, path: &str, after: &str) -> LoadError {
        LoadError {
            path: Some(TextRange::new(before.len(), before.len() + path.len())),
            ..Self::new(
                LoadErrorKind::Io(error),
                format!("{before}{path}{after}"),
                None,
            )
        }
    }

    /// The message for a text that already names the file: with its name instead of its path, if it
    /// was not read.
    #[must_use]
    pub fn message_beside(&self, name: &str) -> String {
        let mut message = self.message.clone();
        if let Some(path) = self.path {
            message.replace_range(path.as_usize(), name);
        }
        message
    }

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
            | LoadErrorKind::HoconOutside
            | LoadErrorKind::LeftOut => format!("({path}): {}", self.message),
            LoadErrorKind::YamlUnknownAlias | LoadErrorKind::YamlOther | LoadErrorKind::Io(_) => {
                self.message.clone()
            }
        }
    }
}
