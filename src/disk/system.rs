//! The file system: the operating system's, or, in a module of WebAssembly, the files that its host has handed over.

#[cfg(target_family = "wasm")]
pub(super) use super::handed::{
    DirEntry, HandedMetadata as Metadata, canonicalize, metadata, open, read_dir, read_link,
    symlink_metadata,
};
#[cfg(not(target_family = "wasm"))]
pub(super) use std::fs::{
    DirEntry, Metadata, canonicalize, metadata, read_dir, read_link, symlink_metadata,
};

/// Opens a file without waiting for a writer if it is a named pipe.
#[cfg(not(target_family = "wasm"))]
pub(super) fn open(at: &str) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true);
    #[cfg(target_os = "linux")]
    {
        /// `O_NONBLOCK` on Linux.
        const NON_BLOCKING: i32 = 0o4000;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, NON_BLOCKING);
    }
    options.open(at)
}
