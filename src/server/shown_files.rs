//! Documents as files, for clients that can only open files: the answers of commands, read-only, in
//! a folder of this process that is removed at the end.
//!
//! Only this user can read the folder and the files. Repeating a command replaces its file. A
//! caller must not put secrets here.

#![expect(
    clippy::disallowed_methods,
    reason = "the server keeps what it shows in a folder of its own"
)]

use std::ffi::OsStr;
use std::io::{Error, ErrorKind, Result, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use super::client_process::is_alive;
use super::lock;

/// The prefix of the folder's name, followed by a process id and a count.
const NAME: &str = "hiera-ls-";

/// Maximum number of names tried for a folder.
const MAX_TRIES: usize = 100;

/// Maximum number of entries searched for folders of ended processes.
const MAX_SWEPT: usize = 10_000;

/// Maximum length of a file's name in bytes, without its extension: file systems allow 255.
const MAX_NAME: usize = 200;

/// The parent of this process's folder: the user's runtime folder, else the folder for temporary
/// files.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn of_user() -> PathBuf {
    let running = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let running = running.filter(|folder| folder.is_absolute() && folder.is_dir());
    running.unwrap_or_else(std::env::temp_dir)
}

pub(crate) struct ShownFiles {
    parent: Option<PathBuf>,
    state: Mutex<FolderState>,
}

enum FolderState {
    Empty,
    Made(PathBuf),
    Closed,
}

impl ShownFiles {
    /// Files in a folder that is created below `parent` on first use; without `parent` nothing is
    /// written.
    pub(crate) fn new(parent: Option<PathBuf>) -> ShownFiles {
        ShownFiles {
            parent,
            state: Mutex::new(FolderState::Empty),
        }
    }

    /// Writes a text into a file named after its title, and returns the file's path.
    ///
    /// # Errors
    /// Why it cannot be written.
    pub(crate) fn put(&self, title: &str, ending: &str, text: &str) -> Result<PathBuf> {
        let mut state = self.state();
        let folder = match &*state {
            // A cleaner of temporary files may have removed it.
            FolderState::Made(folder) if folder.is_dir() => folder.clone(),
            FolderState::Made(_) | FolderState::Empty => {
                let parent = self.parent.as_deref().ok_or(ErrorKind::Unsupported)?;
                let made = make(parent)?;
                sweep(parent, &made);
                *state = FolderState::Made(made.clone());
                made
            }
            FolderState::Closed => return Err(Error::from(ErrorKind::Unsupported)),
        };
        let at = folder.join(file_name(title, ending));
        let unfinished = folder.join(".unfinished");
        match std::fs::remove_file(&unfinished) {
            Err(why) if why.kind() != ErrorKind::NotFound => return Err(why),
            Ok(()) | Err(_) => {}
        }
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o400);
        options.open(&unfinished)?.write_all(text.as_bytes())?;
        std::fs::rename(&unfinished, &at)?;
        Ok(at)
    }

    /// Removes all files; no more can be added.
    pub(crate) fn close(&self) {
        if let FolderState::Made(folder) =
            std::mem::replace(&mut *self.state(), FolderState::Closed)
        {
            // Remaining files are removed by the next process.
            let _ = std::fs::remove_dir_all(folder);
        }
    }

    fn state(&self) -> MutexGuard<'_, FolderState> {
        lock(&self.state)
    }
}

impl Drop for ShownFiles {
    fn drop(&mut self) {
        self.close();
    }
}

/// Creates a new folder that only this user can read.
fn make(parent: &Path) -> Result<PathBuf> {
    let builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    let mut builder = builder;
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let process = std::process::id();
    for number in 0..MAX_TRIES {
        let at = parent.join(format!("{NAME}{process}-{number}"));
        match builder.create(&at) {
            Ok(()) => return Ok(at),
            Err(why) if why.kind() == ErrorKind::AlreadyExists => {}
            Err(why) => return Err(why),
        }
    }
    Err(Error::from(ErrorKind::AlreadyExists))
}

/// Removes the folders of this user's processes that ended without cleaning up.
fn sweep(parent: &Path, made: &Path) {
    let Ok(entries) = std::fs::read_dir(parent) else {
        return;
    };
    for entry in entries.take(MAX_SWEPT).flatten() {
        let at = entry.path();
        if process_of(&entry.file_name()).is_some_and(|process| !is_alive(process))
            && is_like(&at, made)
        {
            let _ = std::fs::remove_dir_all(at);
        }
    }
}

/// The process id in a folder's name.
fn process_of(name: &OsStr) -> Option<u32> {
    let (process, number) = name.to_str()?.strip_prefix(NAME)?.split_once('-')?;
    number.parse::<usize>().ok()?;
    process.parse().ok()
}

/// Whether a path is a folder (and not a link) of the same owner as `made`.
fn is_like(at: &Path, made: &Path) -> bool {
    let (Ok(there), Ok(ours)) = (at.symlink_metadata(), made.symlink_metadata()) else {
        return false;
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        if there.uid() != ours.uid() {
            return false;
        }
    }
    there.is_dir() && ours.is_dir()
}

fn file_name(title: &str, ending: &str) -> String {
    let mut name = String::new();
    for character in title.chars() {
        let character = match character {
            // Looks the same, and does not separate folders.
            '/' => '\u{2215}',
            character if character.is_control() => ' ',
            character => character,
        };
        if name.len() + character.len_utf8() > MAX_NAME {
            break;
        }
        name.push(character);
    }
    // No name begins with a dot: such files are hidden, and `.` and `..` are folders.
    let name = name.trim_start_matches('.').trim();
    format!("{}.{ending}", if name.is_empty() { "answer" } else { name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_private_and_removed_with_the_process() {
        let temporary = tempfile::tempdir().unwrap();
        // The folder of a killed process, and similar ones.
        let (dead, other) = (u32::MAX - 1, temporary.path().join("hiera-ls-mine-0"));
        let left = temporary.path().join(format!("{NAME}{dead}-0"));
        std::fs::create_dir(&left).unwrap();
        std::fs::write(left.join("x.yaml"), "").unwrap();
        std::fs::create_dir(&other).unwrap();
        let files = ShownFiles::new(Some(temporary.path().to_owned()));
        let first = files.put("Values of a::b", "yaml", "a: 1\n").unwrap();
        let second = files.put("Values of a::b", "yaml", "a: 2\n").unwrap();
        assert_eq!(first, second);
        assert_eq!(first.file_name().unwrap(), "Values of a::b.yaml");
        assert_eq!(std::fs::read_to_string(&first).unwrap(), "a: 2\n");
        let folder = first.parent().unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |at: &Path| at.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(folder), mode(&first)), (0o700, 0o400));
        }
        assert!(other.is_dir());
        if cfg!(target_os = "linux") {
            assert!(!left.exists());
        }
        // A cleaner of temporary files removes the folder.
        std::fs::remove_dir_all(folder).unwrap();
        let third = files.put("x", "txt", "").unwrap();
        files.close();
        assert!(!third.exists() && !third.parent().unwrap().exists());
        assert!(files.put("x", "txt", "").is_err());
        assert!(ShownFiles::new(None).put("x", "txt", "").is_err());
    }

    #[test]
    fn a_title_becomes_one_name() {
        assert_eq!(
            file_name("a → b in data/x.yaml", "txt"),
            "a → b in data∕x.yaml.txt"
        );
        assert_eq!(file_name("../..", "txt"), "∕...txt");
        assert_eq!(file_name("..", "txt"), "answer.txt");
        assert!(file_name(&"日".repeat(500), "yaml").len() <= MAX_NAME + 5);
    }
}
