//! Small workspaces for the tests of every feature, written in one text: `#- PATH` begins a file,
//! `$0` is the cursor, `#~ CODE` at the end of a line marks a finding there.
//!
//! Both the library's own tests and those under `tests/` include this file, so it must only use the
//! library's public interface.

#![allow(dead_code, reason = "each of those that include it needs a part of it")]

use std::sync::Arc;

use hiera_ls::rules::Finding;
use hiera_ls::text::line_at;
use hiera_ls::workspace::{Change, Content, DiskEntry, Linked, Snapshot, Workspace};

/// The folder of all these workspaces.
pub(crate) const FOLDER: &str = "/repo";

/// A workspace as text.
#[derive(Clone, Debug)]
pub(crate) struct Fixture {
    /// Paths below [`FOLDER`] and texts, in the order written.
    pub(crate) files: Vec<(String, String)>,
    /// The cursor: the path below [`FOLDER`], and the byte of that text.
    pub(crate) cursor: Option<(String, usize)>,
}

impl Fixture {
    /// Parses a workspace; lines before the first `#- PATH` belong to the file `first`.
    pub(crate) fn new(first: &str, text: &str) -> Fixture {
        let mut files: Vec<(String, String)> = Vec::new();
        for line in text.lines() {
            if let Some(path) = line.strip_prefix("#- ") {
                files.push((path.trim().to_owned(), String::new()));
                continue;
            }
            if files.is_empty() {
                files.push((first.to_owned(), String::new()));
            }
            if let Some((_, text)) = files.last_mut() {
                text.push_str(line);
                text.push('\n');
            }
        }
        let mut cursor = None;
        for (path, text) in &mut files {
            if let Some((at, without)) = without_cursor(text) {
                *text = without;
                cursor = Some((path.clone(), at));
            }
        }
        Fixture { files, cursor }
    }

    /// The workspace with all files open in an editor.
    pub(crate) fn opened(&self) -> Arc<Snapshot> {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec![FOLDER.into()]));
        for (path, text) in &self.files {
            workspace.apply(Change::open(format!("{FOLDER}/{path}"), text.as_str()));
        }
        workspace.snapshot()
    }

    /// The workspace with all files on the disk.
    pub(crate) fn on_disk(&self) -> Arc<Snapshot> {
        let mut entries: Vec<(Arc<str>, DiskEntry)> = Vec::new();
        for (path, text) in &self.files {
            for (slash, _) in path.match_indices('/') {
                let folder = format!("{FOLDER}/{}", &path[..slash]);
                entries.push((folder.into(), DiskEntry::Directory { target: None }));
            }
            let content = Content::Text(Arc::from(text.as_str()));
            let linked = Linked::No;
            let file = DiskEntry::File { content, linked };
            entries.push((format!("{FOLDER}/{path}").into(), file));
        }
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        entries.dedup_by(|a, b| a.0 == b.0);
        let folder: Arc<str> = FOLDER.into();
        Workspace::new().apply(Change::Batch(vec![
            Change::Folders(vec![Arc::clone(&folder)]),
            Change::Scanned { folder, entries },
        ]))
    }

    /// `PATH:LINE CODE` of findings, ordered.
    pub(crate) fn places(&self, findings: &[Finding]) -> Vec<String> {
        let place = |finding: &Finding| {
            let path = below(finding);
            let mut files = self.files.iter();
            let (_, text) = files.find(|(name, _)| name == path).expect("the file");
            let line = line_at(text, finding.range.start as usize) + 1;
            format!("{path}:{line} {}", finding.code)
        };
        let mut places: Vec<String> = findings.iter().map(place).collect();
        places.sort();
        places
    }

    /// `PATH:LINE CODE` of every mark, ordered.
    pub(crate) fn marks(&self) -> Vec<String> {
        let mut marks = Vec::new();
        for (path, text) in &self.files {
            for (row, line) in text.lines().enumerate() {
                if let Some((_, mark)) = line.split_once("#~ ") {
                    let code = mark.split_whitespace().next().unwrap_or_default();
                    marks.push(format!("{path}:{} {code}", row + 1));
                }
            }
        }
        marks.sort();
        marks
    }
}

/// The byte of a text's cursor, and the text without it.
pub(crate) fn without_cursor(text: &str) -> Option<(usize, String)> {
    let (before, after) = text.split_once("$0")?;
    Some((before.len(), format!("{before}{after}")))
}

/// The path of a finding's file below [`FOLDER`].
pub(crate) fn below(finding: &Finding) -> &str {
    let path = finding.path.strip_prefix(FOLDER).expect("a file below");
    path.trim_start_matches('/')
}
