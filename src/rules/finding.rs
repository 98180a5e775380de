//! What a rule has to say about a file.

use std::sync::Arc;

use crate::text::TextRange;

/// How bad it is; the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Puppet fails.
    Error,
    /// Puppet goes on, with something else than was meant.
    Warning,
    /// Worth knowing.
    Information,
    /// Perhaps superfluous.
    Hint,
}

impl Severity {
    /// The severity's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Information => "information",
            Severity::Hint => "hint",
        }
    }
}

/// Another place that a finding is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Related {
    /// Absolute path of the file.
    pub path: Arc<str>,
    /// Bytes of that file's text.
    pub range: TextRange,
    /// What is there.
    pub message: String,
}

/// Something wrong, or worth knowing, in one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The stable code of the rule.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Absolute path of the file.
    pub path: Arc<str>,
    /// Bytes of the file's text.
    pub range: TextRange,
    /// One sentence: what is wrong, what Puppet does, what to do.
    pub message: String,
    /// Other places that the finding is about.
    pub related: Vec<Related>,
}
