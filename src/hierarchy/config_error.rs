//! Why Puppet refuses a `hiera.yaml`. `Display` gives Puppet's words, without the position. It must
//! not know lookups.

use std::fmt;
use std::sync::Arc;

use crate::datatype::Mismatches;

/// Why Puppet refuses a configuration.
#[derive(Clone, PartialEq, Debug)]
pub enum ConfigError {
    /// The structure is wrong (`TypeAssertionError`).
    Structure {
        /// Path of the configuration.
        path: Arc<str>,
        /// The mismatches.
        mismatches: Mismatches,
    },
    /// A rule is broken (`LookupError` with an issue code).
    Rule {
        /// The broken rule.
        rule: ConfigRule,
        /// Line (from 1) that Puppet finds by searching the text.
        line: Option<usize>,
    },
    /// Ruby crashes (`NoMethodError`): its message.
    Crash(String),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::Structure { path, mismatches } => {
                let subject = format!("The Lookup Configuration at '{path}'");
                f.write_str(&mismatches.describe(&subject))
            }
            ConfigError::Rule { rule, .. } => write!(f, "{rule}"),
            ConfigError::Crash(message) => f.write_str(message),
        }
    }
}

impl ConfigError {
    /// The same in the words of a product: version 9 says that OpenVox reserves an option.
    #[must_use]
    pub fn in_words_of(mut self, product: Product) -> ConfigError {
        if let ConfigError::Rule { rule, .. } = &mut self {
            rule.use_words_of(product);
        }
        self
    }
}

/// Who speaks in a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Product {
    /// Puppet, and OpenVox 8.
    Puppet,
    /// OpenVox 9.
    OpenVox,
}

impl Product {
    fn name(self) -> &'static str {
        match self {
            Product::Puppet => "Puppet",
            Product::OpenVox => "OpenVox",
        }
    }
}

/// The rules beyond the structure, each with its violation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConfigRule {
    /// The version is none of 3, 4 and 5.
    Version(i64),
    /// `defaults` names several functions.
    FunctionsInDefaults,
    /// `defaults` has an option reserved by Puppet.
    ReservedOptionInDefaults {
        /// The option.
        option: &'static str,
        /// Who reserves it.
        by: Product,
    },
    /// `default_hierarchy` outside of a module.
    DefaultHierarchyOutsideModule,
    /// A level has no function, and `defaults` has none either.
    NoFunction {
        /// The level's name.
        level: String,
    },
    /// A level names several functions.
    Functions {
        /// The level's name.
        level: String,
    },
    /// A level has several of `path`, `paths`, `glob` and so on.
    Locations {
        /// The level's name.
        level: String,
    },
    /// A level has an option reserved by Puppet.
    ReservedOption {
        /// The option.
        option: &'static str,
        /// The level's name.
        level: String,
        /// Who reserves it.
        by: Product,
    },
    /// `hiera3_backend` outside of the global layer.
    BackendOutsideGlobal,
    /// `hiera3_backend` for a format that `data_hash` reads.
    BackendOfDataHash(String),
}

impl ConfigRule {
    /// See [`ConfigError::in_words_of`].
    pub fn use_words_of(&mut self, product: Product) {
        match self {
            ConfigRule::ReservedOptionInDefaults { by, .. }
            | ConfigRule::ReservedOption { by, .. } => *by = product,
            ConfigRule::Version(_)
            | ConfigRule::FunctionsInDefaults
            | ConfigRule::DefaultHierarchyOutsideModule
            | ConfigRule::NoFunction { .. }
            | ConfigRule::Functions { .. }
            | ConfigRule::Locations { .. }
            | ConfigRule::BackendOutsideGlobal
            | ConfigRule::BackendOfDataHash(_) => {}
        }
    }

    /// Puppet's issue code.
    #[must_use]
    pub fn issue_code(&self) -> &'static str {
        match self {
            ConfigRule::Version(_) => "HIERA_UNSUPPORTED_VERSION",
            ConfigRule::FunctionsInDefaults => "HIERA_MULTIPLE_DATA_PROVIDER_FUNCTIONS_IN_DEFAULT",
            ConfigRule::ReservedOptionInDefaults { .. } => {
                "HIERA_DEFAULT_OPTION_RESERVED_BY_PUPPET"
            }
            ConfigRule::DefaultHierarchyOutsideModule => "HIERA_DEFAULT_HIERARCHY_NOT_IN_MODULE",
            ConfigRule::NoFunction { .. } => "HIERA_MISSING_DATA_PROVIDER_FUNCTION",
            ConfigRule::Functions { .. } => "HIERA_MULTIPLE_DATA_PROVIDER_FUNCTIONS",
            ConfigRule::Locations { .. } => "HIERA_MULTIPLE_LOCATION_SPECS",
            ConfigRule::ReservedOption { .. } => "HIERA_OPTION_RESERVED_BY_PUPPET",
            ConfigRule::BackendOutsideGlobal => "HIERA_V3_BACKEND_NOT_GLOBAL",
            ConfigRule::BackendOfDataHash(_) => "HIERA_V3_BACKEND_REPLACED_BY_DATA_HASH",
        }
    }
}

impl fmt::Display for ConfigRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const FUNCTIONS: &str = "data_hash, lookup_key, data_dig, or hiera3_backend";
        match self {
            ConfigRule::Version(version) => {
                write!(
                    f,
                    "This runtime does not support hiera.yaml version {version}"
                )
            }
            ConfigRule::FunctionsInDefaults => {
                write!(f, "Only one of {FUNCTIONS} can be defined in defaults")
            }
            ConfigRule::ReservedOptionInDefaults { option, by } => {
                let by = by.name();
                write!(
                    f,
                    "Option key '{option}' used in defaults is reserved by {by}"
                )
            }
            ConfigRule::DefaultHierarchyOutsideModule => {
                f.write_str("'default_hierarchy' is only allowed in the module layer")
            }
            ConfigRule::NoFunction { level } => {
                write!(
                    f,
                    "One of {FUNCTIONS} must be defined in hierarchy '{level}'"
                )
            }
            ConfigRule::Functions { level } => {
                write!(
                    f,
                    "Only one of {FUNCTIONS} can be defined in hierarchy '{level}'"
                )
            }
            ConfigRule::Locations { level } => write!(
                f,
                "Only one of path, paths, glob, globs, uri, uris, or mapped_paths can be defined \
                 in hierarchy '{level}'"
            ),
            ConfigRule::ReservedOption { option, level, by } => {
                let by = by.name();
                write!(
                    f,
                    "Option key '{option}' used in hierarchy '{level}' is reserved by {by}"
                )
            }
            ConfigRule::BackendOutsideGlobal => {
                f.write_str("'hiera3_backend' is only allowed in the global layer")
            }
            ConfigRule::BackendOfDataHash(backend) => write!(
                f,
                "Use \"data_hash: {backend}_data\" instead of \"hiera3_backend: {backend}\""
            ),
        }
    }
}
