//! Saves the selected node of each workspace folder between sessions, in the user's state folder
//! and never in the workspace.
//!
//! One small file for each workspace folder, so that parallel servers do not overwrite each
//! other's; the oldest are removed when there are too many. A file that cannot be read or written
//! only loses one choice.

#![expect(
    clippy::disallowed_methods,
    reason = "the server keeps the user's own choices in the user's own folder"
)]

use std::io::Read as _;
use std::path::Path;
#[cfg(not(target_family = "wasm"))]
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

/// Maximum number of remembered workspace folders.
const MAX_FOLDERS: usize = 200;

/// Maximum size of a choice's file, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// The folder for the user's choices, from the environment; `None` if the environment names none.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn of_user() -> Option<PathBuf> {
    // Relative ones are invalid by the XDG base directory specification.
    let absolute = |name: &str| {
        let path = std::env::var_os(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let state =
        absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("hiera-ls/nodes"))
}

/// The last selected node of a workspace folder.
pub(crate) fn recall(memory: &Path, folder: &str) -> Option<Arc<str>> {
    let mut text = String::new();
    let file = std::fs::File::open(memory.join(name(folder))).ok()?;
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    let kept: Value = serde_json::from_str(&text).ok()?;
    // Another folder may have the same hash.
    if kept.get("folder")?.as_str()? != folder {
        return None;
    }
    let node = kept.get("node")?.as_str()?;
    (!node.is_empty()).then(|| Arc::from(node))
}

/// Saves the selected node of a folder; `None` deletes it.
pub(crate) fn keep(memory: &Path, folder: &str, node: Option<&str>) {
    let at = memory.join(name(folder));
    let done = match node {
        None => std::fs::remove_file(&at),
        Some(node) => write(memory, &at, &json!({ "folder": folder, "node": node })),
    };
    if let Err(why) = done
        && why.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!("the selected node cannot be saved: {}: {why}", at.display());
    }
}

fn write(memory: &Path, at: &Path, kept: &Value) -> std::io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    std::fs::create_dir_all(memory)?;
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let unfinished = memory.join(format!(".{}-{number}", std::process::id()));
    std::fs::write(&unfinished, format!("{kept}\n"))?;
    std::fs::rename(&unfinished, at)?;
    forget_oldest(memory, at)
}

/// Removes the oldest choices if there are too many, never the latest.
fn forget_oldest(memory: &Path, latest: &Path) -> std::io::Result<()> {
    let mut kept = Vec::new();
    for entry in std::fs::read_dir(memory)? {
        let entry = entry?;
        if entry.path() != latest {
            kept.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    if kept.len() >= MAX_FOLDERS {
        kept.sort();
        for (_, oldest) in &kept[..=kept.len() - MAX_FOLDERS] {
            std::fs::remove_file(oldest)?;
        }
    }
    Ok(())
}

/// The file name for a workspace folder: its FNV-1a hash, which is the same in every version.
fn name(folder: &str) -> String {
    let hash = folder.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_kept_until_it_is_taken_back() {
        let temporary = tempfile::tempdir().unwrap();
        let memory = temporary.path().join("deep/nodes");
        assert_eq!(recall(&memory, "/w"), None);
        keep(&memory, "/w", Some("a.x"));
        keep(&memory, "/v", Some("b.x"));
        assert_eq!(recall(&memory, "/w").as_deref(), Some("a.x"));
        assert_eq!(recall(&memory, "/v").as_deref(), Some("b.x"));
        assert_eq!(recall(&memory, "/w/inner"), None);
        keep(&memory, "/w", None);
        keep(&memory, "/w", None);
        assert_eq!(recall(&memory, "/w"), None);
        assert_eq!(recall(&memory, "/v").as_deref(), Some("b.x"));
    }

    #[test]
    fn invalid_files_hold_no_choice() {
        let temporary = tempfile::tempdir().unwrap();
        let memory = temporary.path();
        for text in [
            "",
            "[1]",
            "{\"node\": \"a\"}",
            "{\"folder\": \"/other\", \"node\": \"a\"}",
            "{\"folder\": \"/w\", \"node\": \"\"}",
            "{\"folder\": \"/w\", \"node\": 7}",
        ] {
            std::fs::write(memory.join(name("/w")), text).unwrap();
            assert_eq!(recall(memory, "/w"), None, "{text}");
        }
    }

    #[test]
    fn only_so_many_folders_are_remembered() {
        let temporary = tempfile::tempdir().unwrap();
        for number in 0..MAX_FOLDERS + 10 {
            keep(temporary.path(), &format!("/w{number}"), Some("a"));
        }
        let kept = std::fs::read_dir(temporary.path()).unwrap().count();
        assert_eq!(kept, MAX_FOLDERS);
        let last = format!("/w{}", MAX_FOLDERS + 9);
        assert!(recall(temporary.path(), &last).is_some());
    }
}
