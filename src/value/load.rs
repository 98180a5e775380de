//! Why a data file could not be loaded, in the words Puppet has for it.

use crate::text::TextRange;

/// Which of the loaders' failures this is; Puppet treats them differently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoadErrorKind {
    /// `Psych::SyntaxError`: the message starts with the file's path.
    YamlSyntax,
    /// `Psych::DisallowedClass`: dates, times, sets, Ruby objects.
    YamlDisallowedClass,
    /// `Psych::BadAlias` (unknown alias): the message has neither path nor line.
    YamlUnknownAlias,
    /// Any other error of Psych's (`invalid value for Float(): "abc"`, a limit of ours).
    YamlOther,
    /// `JSON::ParserError`.
    Json,
    /// `Hocon::ConfigError`.
    Hocon,
    /// The file could not be read (`Errno::*`): the message is the system's.
    Io,
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
            | LoadErrorKind::Json
            | LoadErrorKind::Hocon => format!("({path}): {}", self.message),
            LoadErrorKind::YamlUnknownAlias | LoadErrorKind::YamlOther | LoadErrorKind::Io => {
                self.message.clone()
            }
        }
    }
}
