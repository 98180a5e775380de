//! The generator: repositories and requests from a seed, covering every construct of Hiera.

pub mod class;
pub mod config;
pub mod constructs;
pub mod dice;
pub mod doc;
pub mod file;
pub mod function;
pub mod legacy;
pub mod location;
pub mod mistake;
pub mod options;
pub mod repo;
pub mod request;
pub mod scope;
pub mod site;
pub mod token;
pub mod value;
