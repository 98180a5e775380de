//! `not-a-hash`: a data file holds something else than a hash.

use super::{Depends, FileContext, Findings, Hook, Rule, Severity};
use crate::lookup::Strict;
use crate::workspace::{Format, path};

pub(super) const RULE: &Rule = &Rule {
    code: "not-a-hash",
    severity: Severity::Error,
    summary: "a data file holds something else than a hash",
    page: include_str!("../../docs/rules/not-a-hash.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::File(check)],
};

fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    if at.is_surely_hash() {
        return;
    }
    let Ok(value) = at.loaded() else { return };
    if at.readers().is_empty() || value.as_hash().is_some() {
        return;
    }
    let range = at.first_line();
    if let Some(target) = link(at) {
        let message = format!(
            "the file holds only the name '{target}': a symbolic link that was checked out as text, \
             which Puppet refuses as data"
        );
        findings.report_as(Severity::Information, range, message);
        return;
    }
    match at.format() {
        // An empty file is an empty hash.
        Format::Yaml if value.is_falsey() => {}
        Format::Yaml if at.settings().strict != Strict::Error => {
            let message = "the file does not contain a hash: Puppet ignores it";
            findings.report_as(Severity::Warning, root(at).unwrap_or(range), message);
        }
        Format::Yaml | Format::Json | Format::Hocon => {
            let message = "the file does not contain a hash: every lookup that reads it fails";
            findings.report(root(at).unwrap_or(range), message);
        }
    }
}

/// Where the value starts, up to the end of the line.
fn root(at: &FileContext<'_>) -> Option<crate::text::TextRange> {
    let range = at.tree().node(at.tree().root()?).range;
    let text = range.slice(at.file.text());
    let end = text.find(['\n', '\r']).unwrap_or(text.len());
    let start = range.start as usize;
    Some(crate::text::TextRange::new(start, start + end))
}

/// The name of the other file, if that is all this one holds: so Git writes symbolic links where
/// the system has none.
fn link<'a>(at: &'a FileContext<'_>) -> Option<&'a str> {
    let text: &str = at.file.text();
    if text.contains(['\n', ':', ' ']) || !text.contains('.') {
        return None;
    }
    let folder = path::parent(at.file.path())?;
    let target = path::normalise(&path::join(folder, text));
    at.snapshot().file(&target).map(|_| text)
}
