//! The generator: repositories and requests out of a seed, reaching every construct that Hiera has.

pub mod class;
pub mod config;
pub mod constructs;
pub mod dice;
pub mod doc;
pub mod file;
pub mod function;
pub mod legacy;
pub mod options;
pub mod repo;
pub mod request;
pub mod scope;
pub mod site;
pub mod token;
pub mod value;
