//! `hiera-ls`: a language server for Hiera, the data of Puppet and OpenVox.
//!
//! # Code map
//!
//! Data flows one way: text → tree → values and facts → index → lookups → answers. A room may use
//! only rooms further down this list; `tests/architecture` checks this.
//!
//! | room | what it is |
//! | --- | --- |
//! | [`cli`] | the command line: `lookup`, `check` and the rest; starts the server |
//! | [`server`] | the language server over stdio: the only LSP and tokio code |
//! | [`disk`] | finding, reading and watching a workspace's files |
//! | [`report`] | a workspace as one text, and the answers of a page that has only this text |
//! | [`plan`] | from a wish to edits and their effect: `set`, refactorings, renames, encryption, proofs |
//! | [`ide`] | one file per editor feature, in domain types |
//! | [`rules`] | one file per diagnostic, and their registry |
//! | [`edit`] | entries of a file in its style, plans over several files, the workspace after a plan |
//! | [`analysis`] | queries of features, rules and commands: the root that governs a file, a key over all levels |
//! | [`lookup`] | the engine: layers, hierarchies, merges, interpolation, trace |
//! | [`workspace`] | `Change` in, immutable `Snapshot` out; per-file facts, key index |
//! | [`puppet`] | evaluator of the pure part of the Puppet language; the caller provides lookups |
//! | [`scope`] | facts, trusted, variables, nodes; a scope from a file's own path |
//! | [`hierarchy`] | `hiera.yaml` as a model; paths, globs, mapped paths |
//! | [`interpolation`] | `%{…}` tokens with spans and kinds |
//! | [`page`] | what people read: pages in Markdown and plain text, values as YAML |
//! | [`eyaml`] | `ENC[…]` blobs |
//! | [`datatype`] | Puppet data types: parse, check, convert |
//! | [`value`] | values as Puppet sees them, their equality, order and texts |
//! | [`syntax`] | text → spanned tree: YAML as Psych reads it, JSON, HOCON, the Puppet language |
//! | [`regexp`] | Ruby regular expressions |
//! | [`text`] | byte ranges, lines, positions; numbers and lists in sentences |

// The fixtures of the tests are shared with those under `tests/`, which name the library.
#[cfg(test)]
extern crate self as hiera_ls;
#[cfg(test)]
#[path = "../tests/support/fixture.rs"]
mod fixture;

pub mod analysis;
#[cfg(feature = "cli")]
pub mod cli;
pub mod datatype;
pub mod disk;
pub mod edit;
pub mod eyaml;
pub mod hierarchy;
pub mod ide;
pub mod interpolation;
pub mod lookup;
pub mod page;
pub mod plan;
pub mod puppet;
pub mod regexp;
pub mod report;
pub mod rules;
pub mod scope;
#[cfg(feature = "server")]
pub mod server;
pub mod syntax;
pub mod text;
pub mod value;
pub mod workspace;
