//! One file per diagnostic, and the registry of them.
