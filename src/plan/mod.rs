//! From a wish to edits and their effect: values for nodes, refactorings, renames, encrypted values.
//!
//! A plan's effect on values is proved by lookups before and after it.

pub mod encrypt;
pub mod goal;
mod proof;
pub mod refactor;
pub mod rename;
pub mod upgrade;

pub use proof::{Proof, prove};

#[cfg(test)]
mod robust_tests;
