//! The engine: what Puppet's `lookup()` answers, and why.
//!
//! A lookup walks the layers (global → environment → module → the module's `default_hierarchy`),
//! each layer's hierarchy, each level's locations; it merges, digs, interpolates and converts as
//! `puppet/pops/lookup` does, quirks and messages included. It sees files only through
//! [`Files`](crate::workspace::Files) and a [`Scope`](crate::scope::Scope); what cannot be known
//! without running code or without a fact is reported as unknown, never guessed.
//!
//! ```
//! # use hiera_ls::lookup::{Environment, Request, Settings, Session, PuppetVersion};
//! let settings = Settings::for_version(PuppetVersion::V8);
//! assert!(settings.strict_variables);
//! ```
#![deny(
    clippy::wildcard_enum_match_arm,
    reason = "a new kind of key, error or trace node must be looked at here"
)]

mod alternatives;
mod backend;
mod budget;
mod cached_values;
mod context;
mod deciding_options;
mod declared;
mod decryption;
mod deep_merge;
mod dig;
mod engine;
mod error;
mod explain;
mod explain_data;
mod foreign;
mod function;
mod groups;
mod in_place;
mod interpolate;
mod knockout;
mod language;
mod layer;
mod level;
mod location;
mod merge;
mod node_classes;
mod options;
mod outline;
mod over_keys;
mod over_nodes;
mod over_versions;
mod passed;
mod plan;
mod pure;
mod reach;
mod reads;
mod request;
mod root;
mod session;
mod shared_results;
mod shared_work;
mod signature;
mod sort;
mod trace;
mod type_alias;
mod variables;
mod variants;
mod version3;
mod versioned;
mod views;
mod walk;

pub use alternatives::Alternatives;
pub use backend::{Reading, reading_of};
pub use context::{
    AGENT_MODULES, CODEDIR, ConfigCache, Environment, EnvironmentConfig, PuppetVersion, Settings,
    Strict,
};
pub use error::{Cause, ErrorClass, LookupError, Subject, without_reason};
pub use explain::explain;
pub use explain_data::explain_data;
pub use function::{FunctionSource, find_function, manifests_defining};
pub use groups::{
    Group, GroupOrigin, SharedInputs, groups_of_members, groups_of_nodes, groups_of_possible,
    groups_with_inputs, numbered_answers,
};
pub use language::{Data, FoundFunctions, SessionHost};
pub use merge::{MERGE_OPTIONS, STRATEGIES, Strategy, StrategyKind};
pub use options::{LookupOptions, OptionsEntry, OptionsSource};
pub use outline::{LevelOutline, Outline};
pub use over_keys::{ScopeCache, ScopeLookups};
pub use over_nodes::{
    FirstFiles, LayerReaders, LookupLimit, Run, first_files, possible_readers_of, readers,
    runs_within,
};
pub use over_versions::{VersionDifferences, VersionSide};
pub use reach::{Place, Reach, paths_for_functions, reach, reading_places};
pub use request::{
    Answer, Asker, Assumed, Log, Reads, Request, Tracing, Unknown, UnknownCause, absent_levels,
    absent_words,
};
pub use root::layer_of;
pub use session::{Compilation, Session};
pub use shared_results::{ReadByCode, SharedResults};
pub use trace::{
    Possible, Remark, Source, TraceEvent, TraceKind, TraceLocation, TraceNode, TraceScope, sources,
};

#[cfg(test)]
mod declared_tests;
#[cfg(test)]
mod location_tests;
#[cfg(test)]
mod possible_options_tests;
#[cfg(test)]
mod pure_tests;
#[cfg(test)]
mod sharing_tests;
