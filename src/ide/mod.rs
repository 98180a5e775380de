//! One file per editor feature, named by its LSP verb; domain types in, domain types out.
