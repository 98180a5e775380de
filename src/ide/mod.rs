//! One file per editor feature, in domain types.

pub mod symbols;
