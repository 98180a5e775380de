//! A finding as formats print it: shown paths, lines and columns instead of bytes. It must not know
//! any format.

use std::collections::HashMap;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::hidden::SecretRanges;
use crate::lookup::PuppetVersion;
use crate::rules::{Finding, Safety, Severity};
use crate::text::{PositionEncoding, TextRange};
use crate::workspace::{File, Snapshot};

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RecordPlace {
    /// Relative to the current folder if it lies below it, else absolute.
    pub(super) path: String,
    #[serde(flatten)]
    pub(super) region: Option<Region>,
}

/// A part of a file; all zero if the file is not in the snapshot.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Region {
    pub(super) line: u32,
    /// In Unicode scalar values.
    pub(super) column: u32,
    pub(super) end_line: u32,
    pub(super) end_column: u32,
    /// In bytes of UTF-8.
    #[serde(skip)]
    pub(super) byte_column: u32,
    #[serde(skip)]
    pub(super) end_byte_column: u32,
}

#[derive(Serialize)]
pub(super) struct RelatedRecord {
    #[serde(flatten)]
    pub(super) place: RecordPlace,
    pub(super) message: String,
}

pub(super) struct Replacement {
    pub(super) region: Region,
    pub(super) new_text: String,
}

#[derive(Serialize)]
pub(super) struct Record {
    pub(super) code: &'static str,
    pub(super) severity: &'static str,
    #[serde(flatten)]
    pub(super) place: RecordPlace,
    pub(super) message: String,
    /// The first version of Puppet that makes more of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) since: Option<PuppetVersion>,
    pub(super) related: Vec<RelatedRecord>,
    #[serde(skip)]
    pub(super) level: Severity,
    /// The edits of the first safe fix.
    #[serde(skip)]
    pub(super) replacements: Vec<Replacement>,
    /// The same for the same finding after lines were added above it; see [`fingerprints`].
    #[serde(skip)]
    pub(super) fingerprint: String,
    /// The rendered finding, in the format for people.
    #[serde(skip)]
    pub(super) text: Option<String>,
    /// The path relative to the workspace's folder, independent of the current folder.
    #[serde(skip)]
    pub(super) known_as: String,
    /// The first line of the finding's text.
    #[serde(skip)]
    source_line: String,
}

impl Record {
    /// The record of a finding; `shown` makes a path relative.
    pub(super) fn new(
        snapshot: &Snapshot,
        finding: Finding,
        hidden: &SecretRanges<'_>,
        shown: &dyn Fn(&str) -> String,
    ) -> Record {
        let file = snapshot.file(&finding.path);
        let place = |path: &str, range: TextRange| RecordPlace {
            path: shown(path),
            region: snapshot.file(path).map(|file| region(file, range)),
        };
        let related = finding.related.iter().map(|related| RelatedRecord {
            place: place(&related.path, related.range),
            message: related.message.clone(),
        });
        let mut fixes = finding.fixes.iter();
        let fix = fixes.find(|fix| fix.safety == Safety::Safe);
        let edits = fix.map_or(&[][..], |fix| &fix.edits);
        let replacements = file.map(|file| {
            let replacement = |edit: &crate::text::TextEdit| Replacement {
                region: region(file, edit.range),
                new_text: edit.new_text.clone(),
            };
            edits.iter().map(replacement).collect()
        });
        Record {
            code: finding.code,
            severity: finding.severity.name(),
            place: place(&finding.path, finding.range),
            related: related.collect(),
            level: finding.severity,
            replacements: replacements.unwrap_or_default(),
            since: finding.since.map(|since| since.version),
            fingerprint: String::new(),
            text: None,
            known_as: shown(&finding.path),
            source_line: match file {
                // A hash of a short secret can be guessed.
                Some(file) if finding.is_secret => before(file, finding.range),
                Some(file) => first_line(file, hidden, finding.range),
                None => String::new(),
            },
            message: finding.message,
        }
    }

    /// `path:line:column`, as editors and terminals open it.
    pub(super) fn position(&self) -> String {
        match &self.place.region {
            Some(region) => format!("{}:{}:{}", self.place.path, region.line, region.column),
            None => self.place.path.clone(),
        }
    }
}

/// One of three words or colours: for errors, for warnings, and for the rest.
pub(super) fn by_severity<T>(severity: Severity, [error, warning, rest]: [T; 3]) -> T {
    match severity {
        Severity::Error => error,
        Severity::Warning => warning,
        Severity::Information | Severity::Hint => rest,
    }
}

fn region(file: &File, range: TextRange) -> Region {
    let lines = file.lines();
    let at = |offset: u32, encoding| {
        let position = lines.position(offset as usize, encoding);
        (position.line + 1, position.character + 1)
    };
    let (line, column) = at(range.start, PositionEncoding::Utf32);
    let (end_line, end_column) = at(range.end, PositionEncoding::Utf32);
    Region {
        line,
        column,
        end_line,
        end_column,
        byte_column: at(range.start, PositionEncoding::Utf8).1,
        end_byte_column: at(range.end, PositionEncoding::Utf8).1,
    }
}

/// The text before a range on its first line.
fn before(file: &File, range: TextRange) -> String {
    let lines = file.lines();
    let line = lines.line_range(lines.line(range.start as usize));
    let start = line.map_or(0, |line| line.start as usize);
    let text = file.text().get(start..range.start as usize);
    text.unwrap_or_default().trim().to_owned()
}

fn first_line(file: &File, hidden: &SecretRanges<'_>, range: TextRange) -> String {
    let lines = file.lines();
    let line = lines.line_range(lines.line(range.start as usize));
    let text = hidden.shown(file.path(), file.text());
    let line = line.and_then(|line| text.get(line.as_usize()));
    line.unwrap_or_default().trim().to_owned()
}

/// Sets each record's fingerprint: a hash of the path in the workspace, the code, the text of the
/// line, and the number of earlier records with the same. Line numbers are not part of it. The hash
/// keeps secrets that stand in the line out of reports.
pub(super) fn fingerprint(records: &mut [Record]) {
    let mut seen: HashMap<String, u32> = HashMap::new();
    for record in records {
        let path = &record.known_as;
        let parts = format!("{path}\0{}\0{}", record.code, record.source_line);
        let same = seen.entry(parts.clone()).or_default();
        record.fingerprint = hash(&format!("{parts}\0{same}"));
        *same += 1;
    }
}

/// A hash of a text, in 32 hex digits.
pub(in crate::cli) fn hash(text: &str) -> String {
    let digest = Sha256::digest(text);
    digest[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
