//! One module per editor feature, named by its LSP verb.
//!
//! Features use an [`Analysis`](crate::analysis::Analysis) and [`target`]; they are independent of
//! folders on disk, URIs and the protocol.
#![deny(
    clippy::wildcard_enum_match_arm,
    reason = "a new kind of key, error or trace node must be looked at here"
)]

pub mod actions;
mod block_line;
pub mod call_hierarchy;
pub mod cell;
pub(crate) mod code_names;
pub mod compare;
pub mod completion;
pub mod definition;
pub mod document;
pub mod expectation;
pub mod expected_keys;
pub mod fact_place;
pub mod file_place;
pub mod folding;
pub mod hint;
pub mod hover;
pub mod impact;
pub mod json;
mod knockout;
pub mod lens;
pub mod linked_editing;
pub mod links;
pub mod matrix;
pub mod named;
pub mod outline;
pub mod references;
pub mod secrets;
pub mod semantic_tokens;
pub mod set_place;
mod shell;
pub mod signature;
pub mod symbols;
pub mod target;
pub mod undecided;
mod unsaved;
pub mod upgrade;
pub mod what_if;
mod written_key;

pub use crate::scope::KnownNodes;
pub(crate) use shell::shell_word;

#[cfg(test)]
pub(crate) mod code_tests;
#[cfg(test)]
mod edits_tests;
#[cfg(test)]
pub(crate) mod fixture_tests;
#[cfg(test)]
mod navigation_tests;
#[cfg(test)]
pub(crate) mod random_workspace;
#[cfg(test)]
mod reading_tests;
#[cfg(test)]
mod reference_tests;
