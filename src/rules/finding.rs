//! What a rule reports about a file. It knows neither editors nor how a report is printed.

use std::sync::Arc;

use super::rule::Rule;
use crate::analysis::ProjectSeverity;
use crate::syntax::{Node, quoted};
use crate::text::{TextEdit, TextRange};
use crate::workspace::File;

/// How bad it is; the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Puppet fails.
    Error,
    /// Puppet goes on, with something else than was meant.
    Warning,
    /// Worth knowing.
    Information,
    /// Perhaps not needed.
    Hint,
}

impl Severity {
    /// What a configuration chooses; nothing for findings that are not reported.
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

/// Whether an edit may be applied without being read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Safety {
    /// The data means afterwards what was certainly meant.
    Safe,
    /// It may mean something else: for a person to look at.
    Unsafe,
}

/// An entry of another file that a fix is only right beside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rest {
    /// Absolute path of the file.
    pub path: Arc<str>,
    /// The topmost key. Where it stands changes with edits that don't concern the fix.
    pub key: Arc<str>,
}

/// A key that a fix writes in the place of another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewKey {
    /// Where the old key stands.
    pub old: TextRange,
    /// The new one's name.
    pub name: String,
}

/// An edit that removes a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// What it does, as an imperative.
    pub title: String,
    /// Edits of the finding's own file, which don't overlap.
    pub edits: Vec<TextEdit>,
    /// Whether it may be applied without being read.
    pub safety: Safety,
    /// What it rests on in other files: an edit there may make it wrong.
    pub rests_on: Vec<Rest>,
    /// The keys that it writes: it is not offered where the same hash has one of them.
    pub new_keys: Vec<NewKey>,
}

impl Fix {
    /// A fix of one edit.
    #[must_use]
    pub fn new(safety: Safety, title: impl Into<String>, edit: TextEdit) -> Fix {
        Fix::with_edits(safety, title, vec![edit])
    }

    /// A fix that writes what was meant in the place of something else.
    #[must_use]
    pub fn write(safety: Safety, range: TextRange, meant: &str) -> Fix {
        let edit = TextEdit::replace(range, meant);
        Fix::new(safety, format!("Write '{meant}'"), edit)
    }

    /// A fix of edits that don't overlap.
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

    /// The fix as one that gives the key at a place another name.
    #[must_use]
    pub fn renaming(mut self, old: TextRange, name: impl Into<String>) -> Fix {
        let name = name.into();
        self.new_keys.push(NewKey { old, name });
        self
    }

    /// The fix as one that rests on what a file sets a key to.
    #[must_use]
    pub fn resting_on(mut self, file: &File, key: &Arc<str>) -> Fix {
        self.rests_on.push(Rest {
            path: Arc::clone(file.path()),
            key: Arc::clone(key),
        });
        self
    }

    /// Quotes a plain scalar, so that it is the string it spells. Nothing for one that is absent or
    /// goes over several lines, whose line breaks quotes would read in another way.
    #[must_use]
    pub fn quote(node: &Node) -> Option<Fix> {
        let text = &node.as_scalar()?.text;
        if text.is_empty() || text.len() != node.range.len() {
            return None;
        }
        let edit = TextEdit::replace(node.range, quoted(text));
        Some(Fix::new(Safety::Safe, "Quote it", edit))
    }
}

/// How an editor may draw the range of a finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tag {
    /// Faded: it can go.
    Unnecessary,
    /// Struck out: it will stop working.
    Deprecated,
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
    /// Edits that remove it, the likeliest first.
    pub fixes: Vec<Fix>,
    /// How editors may draw it.
    pub tags: Vec<Tag>,
    /// Whether a secret stands in the range, which no report may repeat.
    pub is_secret: bool,
}

impl Finding {
    /// Lowers the severity by one: for files of which it is not certain that Puppet reads them.
    pub(super) fn weaken(&mut self) {
        self.severity = match self.severity {
            Severity::Error => Severity::Warning,
            Severity::Warning => Severity::Information,
            Severity::Information | Severity::Hint => Severity::Hint,
        };
    }

    /// Asks at the end of the message whether something else was meant, and offers to write it, if it is known
    /// where.
    pub(super) fn suggest(&mut self, range: impl Into<Option<TextRange>>, meant: &str) {
        self.ask(meant);
        let fix = |range| Fix::write(Safety::Unsafe, range, meant);
        self.fixes.extend(range.into().map(fix));
    }

    /// Asks at the end of the message whether something else was meant.
    pub(super) fn ask(&mut self, meant: &str) {
        self.message.push_str(&format!("; did you mean '{meant}'?"));
    }

    /// A finding without related places, fixes and tags.
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
        }
    }
}

/// The findings of one rule in one file.
pub(super) struct Findings<'a> {
    rule: &'static Rule,
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

    /// Adds a finding; the caller may change the rest of it.
    pub(super) fn report(&mut self, range: TextRange, message: impl Into<String>) -> &mut Finding {
        let (code, severity) = (self.rule.code, self.rule.severity);
        let path = Arc::clone(self.file.path());
        let mut finding = Finding::new(code, severity, path, range, message);
        finding.is_secret = self.rule.finds_secrets;
        self.list.push_mut(finding)
    }

    /// Whether this rule has reported these bytes already.
    pub(super) fn has(&self, range: TextRange) -> bool {
        self.list.iter().any(|finding| finding.range == range)
    }

    /// Adds a finding of another severity than the rule's own.
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
