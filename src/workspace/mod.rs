//! The model: `Change` in, immutable `Snapshot` out; per-file facts and the key index.

mod files;

pub use files::{DataFile, FileKind, Files, Format};
