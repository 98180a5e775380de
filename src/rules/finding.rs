//! What a rule reports about a file, independent of editors and output formats.

use std::sync::Arc;

use super::rule::Rule;
use super::since::Since;
use crate::analysis::ProjectSeverity;
use crate::syntax::{TreeNode, quoted};
use crate::text::{TextEdit, TextRange};
use crate::workspace::File;

/// How severe a finding is, the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Puppet fails.
    Error,
    /// Puppet continues with an unintended result.
    Warning,
    /// Worth knowing.
    Information,
    /// Possibly redundant.
    Hint,
}

impl Severity {
    /// The severity of a project's setting; `None` if the findings are not reported.
    #[must_use]
    pub fn chosen(wanted: ProjectSeverity) -> Option<Severity> {
        match wanted {
            ProjectSeverity::Off => None,
            ProjectSeverity::Hint => Some(Severity::Hint),
            ProjectSeverity::Information => Some(Severity::Information),
            ProjectSeverity::Warning => Some(Severity::Warning),
            ProjectSeverity::Error => Some(Severity::Error),
        }
    }

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

/// Another place related to a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Related {
    /// Absolute path of the file.
    pub path: Arc<str>,
    /// The range in that file, in bytes.
    pub range: TextRange,
    /// A note about the place.
    pub message: String,
}

/// Whether a fix can be applied without review.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Safety {
    /// The result certainly has the intended meaning.
    Safe,
    /// The result may have another meaning: a person has to review it.
    Unsafe,
}

/// An entry of another file that a fix depends on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rest {
    /// Absolute path of the file.
    pub path: Arc<str>,
    /// The top-level key. Its range is not kept: unrelated edits change it.
    pub key: Arc<str>,
}

/// A key that a fix writes in the place of another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewKey {
    /// The range of the old key.
    pub old: TextRange,
    /// The name of the new key.
    pub name: String,
}

/// An edit that removes a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// A title in the imperative.
    pub title: String,
    /// Edits of the finding's file, which do not overlap.
    pub edits: Vec<TextEdit>,
    /// Whether it can be applied without review.
    pub safety: Safety,
    /// Entries of other files that it depends on: a change of these may make it wrong.
    pub rests_on: Vec<Rest>,
    /// The keys that it writes. It is not offered if the same hash has one of them.
    pub new_keys: Vec<NewKey>,
}

impl Fix {
    /// A fix with one edit.
    #[must_use]
    pub fn new(safety: Safety, title: impl Into<String>, edit: TextEdit) -> Fix {
        Fix::with_edits(safety, title, vec![edit])
    }

    /// A fix that replaces a range with the suggested text.
    #[must_use]
    pub fn write(safety: Safety, range: TextRange, suggestion: &str) -> Fix {
        let edit = TextEdit::replace(range, suggestion);
        Fix::new(safety, format!("Write '{suggestion}'"), edit)
    }

    /// A fix with several edits, which do not overlap.
    #[must_use]
    pub fn with_edits(safety: Safety, title: impl Into<String>, edits: Vec<TextEdit>) -> Fix {
        Fix {
            title: title.into(),
            edits,
            safety,
            rests_on: Vec::new(),
            new_keys: Vec::new(),
        }
    }

    /// Records that the fix renames the key at a range.
    #[must_use]
    pub fn renaming(mut self, old: TextRange, name: impl Into<String>) -> Fix {
        let name = name.into();
        self.new_keys.push(NewKey { old, name });
        self
    }

    /// Records that the fix depends on a file's value of a key.
    #[must_use]
    pub fn resting_on(mut self, file: &File, key: &Arc<str>) -> Fix {
        self.rests_on.push(Rest {
            path: Arc::clone(file.path()),
            key: Arc::clone(key),
        });
        self
    }

    /// Quotes a plain scalar, which makes it a string. `None` for an empty scalar and for one over
    /// several lines, as quotes change the meaning of line breaks.
    #[must_use]
    pub fn quote(safety: Safety, node: &TreeNode) -> Option<Fix> {
        let text = &node.as_scalar()?.text;
        if text.is_empty() || text.len() != node.range.len() {
            return None;
        }
        let edit = TextEdit::replace(node.range, quoted(text));
        Some(Fix::new(safety, "Quote it", edit))
    }
}

/// How an editor may render the range of a finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tag {
    /// Faded: it can be removed.
    Unnecessary,
    /// Struck out: it will stop working.
    Deprecated,
}

/// A mistake or a note in one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The stable code of the rule.
    pub code: &'static str,
    /// How severe it is.
    pub severity: Severity,
    /// Absolute path of the file.
    pub path: Arc<str>,
    /// The range in the file, in bytes.
    pub range: TextRange,
    /// One sentence: what is wrong, what Puppet does, what to do.
    pub message: String,
    /// Related places.
    pub related: Vec<Related>,
    /// Fixes, the likeliest first.
    pub fixes: Vec<Fix>,
    /// How editors may render it.
    pub tags: Vec<Tag>,
    /// Whether the range contains a secret, which reports must not repeat.
    pub is_secret: bool,
    /// What later versions of Puppet make of it, if that is more.
    pub since: Option<Since>,
}

impl Finding {
    /// Lowers the severity by one step, for files that Puppet may not read.
    pub(super) fn weaken(&mut self) {
        self.severity = match self.severity {
            Severity::Error => Severity::Warning,
            Severity::Warning => Severity::Information,
            Severity::Information | Severity::Hint => Severity::Hint,
        };
    }

    /// Asks "did you mean" in the message, and adds a fix if the range is known.
    pub(super) fn suggest(
        &mut self,
        safety: Safety,
        range: impl Into<Option<TextRange>>,
        suggestion: &str,
    ) {
        self.did_you_mean(suggestion);
        let fix = |range| Fix::write(safety, range, suggestion);
        self.fixes.extend(range.into().map(fix));
    }

    /// Asks "did you mean" in the message.
    pub(super) fn did_you_mean(&mut self, name: &str) {
        self.message.push_str(&format!("; did you mean '{name}'?"));
    }

    /// A finding without related places, fixes or tags.
    #[must_use]
    pub fn new(
        code: &'static str,
        severity: Severity,
        path: Arc<str>,
        range: TextRange,
        message: impl Into<String>,
    ) -> Finding {
        Finding {
            code,
            severity,
            path,
            range,
            message: message.into(),
            related: Vec::new(),
            fixes: Vec::new(),
            tags: Vec::new(),
            is_secret: false,
            since: None,
        }
    }
}

/// The findings of one rule in one file.
pub(super) struct Findings<'a> {
    pub(super) rule: &'static Rule,
    file: &'a File,
    pub(super) list: Vec<Finding>,
}

impl<'a> Findings<'a> {
    pub(super) fn new(rule: &'static Rule, file: &'a File) -> Findings<'a> {
        Findings {
            rule,
            file,
            list: Vec::new(),
        }
    }

    /// Adds a finding, and returns it for further changes.
    pub(super) fn report(&mut self, range: TextRange, message: impl Into<String>) -> &mut Finding {
        let (code, severity) = (self.rule.code, self.rule.severity);
        let path = Arc::clone(self.file.path());
        let mut finding = Finding::new(code, severity, path, range, message);
        finding.is_secret = self.rule.finds_secrets;
        self.list.push_mut(finding)
    }

    /// Whether this rule has already reported this range.
    pub(super) fn has(&self, range: TextRange) -> bool {
        self.list.iter().any(|finding| finding.range == range)
    }

    /// Adds a finding with another severity than the rule's.
    pub(super) fn report_as(
        &mut self,
        severity: Severity,
        range: TextRange,
        message: impl Into<String>,
    ) -> &mut Finding {
        let finding = self.report(range, message);
        finding.severity = severity;
        finding
    }
}
