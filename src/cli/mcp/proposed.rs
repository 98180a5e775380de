//! The change that `impact` is asked about: a patch, or new contents of files, over the workspace. Nothing is
//! written.

use std::collections::BTreeMap;
use std::sync::Arc;

use diffy::patch_set::{FileOperation, ParseOptions, PatchSet};
use serde::Deserialize;

use super::Served;
use crate::disk::{self, Ignore, leads_outside};
use crate::workspace::{Change, Content, DiskEntry, Linked, path};

/// Maximum number of files of a change.
const MAX_CHANGED: usize = 200;

/// Maximum number of bytes of a file.
const MAX_TEXT: usize = 4 << 20;

/// A file with its new content.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProposedFile {
    path: String,
    /// `None` if it is removed.
    text: Option<String>,
}

/// The new texts of files by absolute path; `None` if a file is removed.
type ProposedTexts = BTreeMap<String, Option<String>>;

/// The change of a patch, or of new contents.
///
/// # Errors
/// Why it cannot be laid over the workspace.
pub(super) fn change(
    served: &Served,
    patch: Option<&str>,
    files: Vec<ProposedFile>,
) -> Result<Change, String> {
    let texts = match (patch, files.is_empty()) {
        (Some(patch), true) => patched(served, patch)?,
        (None, false) => replaced(served, files)?,
        (Some(_), false) => return Err("give either 'patch' or 'files'".to_owned()),
        (None, true) => return Err("give a 'patch' or 'files'".to_owned()),
    };
    let changes = texts.into_iter().map(|(path, text)| {
        let path = Arc::from(path);
        let entry = match text {
            Some(text) => DiskEntry::File {
                content: Content::Text(Arc::from(text)),
                linked: Linked::No,
            },
            None => DiskEntry::Absent,
        };
        Change::Disk { path, entry }
    });
    Ok(Change::Batch(changes.collect()))
}

fn replaced(served: &Served, files: Vec<ProposedFile>) -> Result<ProposedTexts, String> {
    let mut texts = ProposedTexts::new();
    for ProposedFile { path, text } in files {
        if text.is_none() && current(served, &path)?.is_none() {
            return Err(format!("{path}: there is no such file to remove"));
        }
        add(served, &mut texts, &path, text)?;
    }
    Ok(texts)
}

fn patched(served: &Served, patch: &str) -> Result<ProposedTexts, String> {
    let is_of_git = patch.lines().any(|line| line.starts_with("diff --git "));
    let options = if is_of_git {
        ParseOptions::gitdiff()
    } else {
        ParseOptions::unidiff()
    };
    let mut texts = ProposedTexts::new();
    for part in PatchSet::parse(patch, options) {
        let part = part.map_err(|error| format!("the patch cannot be read: {error}"))?;
        let operation = without_prefix(part.operation());
        let (from, to) = match &operation {
            FileOperation::Delete(from) => (Some(from), None),
            FileOperation::Create(to) => (None, Some(to)),
            FileOperation::Modify { original, modified } => (Some(original), Some(modified)),
            FileOperation::Rename { from, to } | FileOperation::Copy { from, to } => {
                (Some(from), Some(to))
            }
        };
        let name = to.or(from).map_or("", |name| name.as_ref());
        let Some(hunks) = part.patch().as_text() else {
            return Err(format!("{name}: binary patches are not understood"));
        };
        let old = match from {
            Some(from) => current(served, from)?.ok_or_else(|| {
                format!("{from}: there is no such file, so the patch does not apply")
            })?,
            None => String::new(),
        };
        if from.is_none() && current(served, name)?.is_some() {
            return Err(format!(
                "{name}: the patch makes a file that is there already"
            ));
        }
        let new = diffy::apply(&old, hunks);
        let new = new.map_err(|error| format!("{name}: the patch does not apply: {error}"))?;
        let is_kept = from == to || matches!(operation, FileOperation::Copy { .. });
        match (from, to) {
            (Some(from), None) if !new.is_empty() => {
                return Err(format!(
                    "{from}: the patch removes the file, but not all of its lines"
                ));
            }
            (Some(from), _) if !is_kept => add(served, &mut texts, from, None)?,
            _ => {}
        }
        if let Some(to) = to {
            add(served, &mut texts, to, Some(new))?;
        }
    }
    if texts.is_empty() {
        return Err("the patch changes no file: it must be a unified diff".to_owned());
    }
    Ok(texts)
}

/// The names of a patch without `a/` and `b/`, if it has these.
fn without_prefix<'a>(operation: &'a FileOperation<'_, str>) -> FileOperation<'a, str> {
    let (old, new) = match operation {
        FileOperation::Delete(old) => (Some(old), None),
        FileOperation::Create(new) => (None, Some(new)),
        FileOperation::Modify { original, modified } => (Some(original), Some(modified)),
        // These names come from lines of their own, which have no prefix.
        FileOperation::Rename { .. } | FileOperation::Copy { .. } => return operation.clone(),
    };
    let has = |name: Option<&std::borrow::Cow<'_, str>>, prefix: &str| {
        name.is_none_or(|name| name.starts_with(prefix))
    };
    if has(old, "a/") && has(new, "b/") {
        operation.strip_prefix(1)
    } else {
        operation.clone()
    }
}

fn add(
    served: &Served,
    texts: &mut ProposedTexts,
    name: &str,
    text: Option<String>,
) -> Result<(), String> {
    let at = inside(served, name)?;
    if text.as_ref().is_some_and(|text| text.len() > MAX_TEXT) {
        return Err(format!("{name}: a file has at most {} MiB", MAX_TEXT >> 20));
    }
    if texts.len() == MAX_CHANGED {
        return Err(format!("a change has at most {MAX_CHANGED} files"));
    }
    match texts.insert(at, text) {
        None => Ok(()),
        Some(_) => Err(format!("{name}: the change has this file twice")),
    }
}

/// The text of a file; `None` if there is none.
fn current(served: &Served, name: &str) -> Result<Option<String>, String> {
    let at = inside(served, name)?;
    match disk::read(&at) {
        DiskEntry::File {
            content: Content::Text(text),
            ..
        } => Ok(Some(text.to_string())),
        DiskEntry::Absent => Ok(None),
        DiskEntry::Directory { .. } => Err(format!("{name}: this is a folder")),
        DiskEntry::File { .. } | DiskEntry::LostLink(_) => {
            Err(format!("{name}: this file cannot be read as text"))
        }
    }
}

/// The absolute path of a file of the workspace.
///
/// # Errors
/// It is outside, or where no data is.
pub(super) fn inside(served: &Served, name: &str) -> Result<String, String> {
    let folder = &served.folder;
    let is_plain = !name.is_empty() && !name.chars().any(char::is_control);
    let has_up = name.split(['/', '\\']).any(|part| part == "..");
    let at = disk::absolute(&path::join(folder, name));
    let is_inside = path::within(&at, folder).is_some();
    if !is_plain || has_up || !is_inside {
        return Err(format!(
            "{}: name a path inside the workspace, relative to it and without '..'",
            name.escape_debug()
        ));
    }
    if leads_outside(&at, folder) {
        return Err(format!(
            "{name}: a symbolic link leads out of the workspace"
        ));
    }
    if Ignore::default().skips_within(&at, folder) {
        return Err(format!("{name}: files of tools are not data"));
    }
    Ok(at)
}
