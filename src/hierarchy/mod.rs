//! The model of `hiera.yaml`, and the pure part of turning its locations into paths.
//!
//! It follows `puppet/pops/lookup/hiera_config.rb`: what that class accepts, with its defaults
//! filled in, or the error that Puppet raises. It must not know scopes or the file system; the
//! lookup engine interpolates and probes.

mod config;
mod config_error;
mod data_path;
mod declared;
mod embedded;
mod glob;
mod legacy;
mod path;
mod spans;
mod template;
mod version5;

pub use config::{
    Config, ConfigBody, Function, FunctionKind, Layer, Level, Locations, V3, V4Level,
    WrittenLocation,
};
pub use config_error::{ConfigError, ConfigRule, Product};
pub use data_path::{DataPath, PathPattern, VERSION_3_DATADIR, data_paths};
pub use declared::{Backend, Backends, KeyPath, LIKE, Like, is_puppets_own};
pub use embedded::{is_of_tag, without_tags};
pub use glob::{GlobEntry, glob, is_at_or_below};
pub use path::{basename, dirname, join};
pub use spans::{ConfigSpans, LevelSpans, LocationSpan, locate};
pub use template::{DATA_EXTENSIONS, KeyPart, Template, TemplatePart, has_data_extension};
pub use version5::{DEFAULTS_KEYS, LEVEL_KEYS, LOCATION_KEYS};
