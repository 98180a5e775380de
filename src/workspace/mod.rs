//! The model: `Change` in, immutable `Snapshot` out; per-file facts and the key index.
