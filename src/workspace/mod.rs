//! The model: [`Change`] in, immutable [`Snapshot`] out; per-file facts and the key index.
//!
//! [`Workspace::apply`] is the only writer. What is known of one file is a pure function of its
//! text; what spans files (the names, the roots, the key index) is patched by difference. The
//! model never touches the disk: `disk` reports what is there.
//!
//! ```
//! use hiera_ls::workspace::{Change, Files, FileKind, Workspace};
//!
//! let workspace = Workspace::new();
//! workspace.apply(Change::Folders(vec!["/repo".into()]));
//! let open = Change::open("/repo/data/common.yaml", "ntp::servers: [a, b]\n");
//! let snapshot = workspace.apply(open);
//! assert_eq!(snapshot.kind("/repo/data"), Some(FileKind::Directory));
//! assert_eq!(snapshot.count_with("ntp::servers"), 1);
//! ```

mod bolt_project;
mod cache;
mod change;
mod code;
mod code_index;
mod config_fact;
mod custom_facts;
mod delta;
mod deployed;
mod documentation;
mod draft;
mod entries;
pub mod environment_conf;
mod environments;
mod erb;
mod extract;
mod extract_code;
mod facts;
mod file;
mod files;
mod fits;
mod found;
mod generations;
mod hash_texts;
mod index;
mod indexes;
mod layout;
mod module_metadata;
mod parts;
pub mod path;
mod paths;
mod reader;
mod references;
mod resources;
mod root_finder;
mod roots;
mod snapshot;
mod tangled;
mod tokens;
mod tree;
mod visible;
mod writer;

pub use cache::TextHash;
pub use change::{Change, ChosenRoot, Content, DiskEntry, FileSettings, Later, Linked, Lost};
pub use code::{
    AliasFact, CallFact, CodeFacts, CustomFact, DefaultClass, DefinitionFact, DefinitionKind,
    IncludeFact, IncludeKind, Language, LookupFact, LookupFunction, LookupKey, Means, NamePart,
    NodeFact, NodeMatch, ParameterFact, SetParameters, VariableFact, Within, is_external_fact,
    language_of,
};
pub use config_fact::ConfigFact;
pub use delta::{Delta, FileDelta};
pub use deployed::onto as map_onto_environment;
pub use environments::modulepath;
pub use facts::{FileFacts, KeyDiff, KeyFact, KeyState, LOOKUP_OPTIONS, OptionFact, ValueKind};
pub use file::{
    Belongs, File, FileId, LARGEST_DOCUMENT, LARGEST_FILE, PROJECT_FILE, format_of, too_large,
};
pub use files::{DataFile, Entry, FileKind, Files, Format};
pub use found::{ConfigOrigin, ConfigUse, FoundConfig};
pub use generations::Generations;
pub use layout::Reached;
pub use module_metadata::module_refusal;
pub use paths::Paths;
pub use reader::{load, parse};
pub use references::{Circles, References};
pub use resources::{ResourceFacts, ResourceSource, ResourcesOfData};
pub use roots::{Deployment, GlobalConfig, Root, RootKind, Roots};
pub(crate) use roots::{ENVIRONMENT_CONF, ENVIRONMENTS, HIERA_YAML, MODULE_FOLDERS};
pub use snapshot::{Revision, Snapshot};
pub use tokens::{Reference, TokenFact, VariableUse};
pub use visible::RootFiles;
pub use writer::Workspace;

#[cfg(test)]
mod model_tests;
