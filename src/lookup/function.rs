//! Finds the definition of a data provider function in the environment and its modules
//! (`puppet/pops/loader`).

use std::sync::Arc;

use super::context::Environment;
use crate::workspace::{FileKind, Files};

/// Where a function is defined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FunctionSource {
    /// A Ruby function in this file.
    Ruby(Arc<str>),
    /// A function in the Puppet language in this file.
    Puppet(Arc<str>),
    /// No visible file defines it.
    Missing,
    /// The module that its name starts with is not visible.
    ModuleMissing,
}

/// Finds a function by name: `mod::f` in that module, `environment::f` in the environment, an
/// unqualified one in the environment and then in every module.
#[must_use]
pub fn find_function(files: &dyn Files, environment: &Environment, name: &str) -> FunctionSource {
    let in_folder = |dir: &str, tail: &str| {
        let ruby = format!("{dir}/lib/puppet/functions/{tail}.rb");
        let puppet = format!("{dir}/functions/{tail}.pp");
        let is_file = |path: &str| files.kind(path) == Some(FileKind::File);
        if is_file(&ruby) {
            Some(FunctionSource::Ruby(Arc::from(ruby)))
        } else if is_file(&puppet) {
            Some(FunctionSource::Puppet(Arc::from(puppet)))
        } else {
            None
        }
    };
    let path = name.replace("::", "/");
    match name.split_once("::") {
        // Both kinds of the environment's functions lie in a folder `environment`.
        Some(("environment", _)) => environment
            .dir
            .as_deref()
            .and_then(|dir| in_folder(dir, &path))
            .unwrap_or(FunctionSource::Missing),
        Some((module, rest)) => match module_dir(files, environment, module) {
            None => FunctionSource::ModuleMissing,
            Some(dir) => {
                let rest = rest.replace("::", "/");
                let ruby = format!("{dir}/lib/puppet/functions/{path}.rb");
                let puppet = format!("{dir}/functions/{rest}.pp");
                if files.kind(&ruby) == Some(FileKind::File) {
                    FunctionSource::Ruby(Arc::from(ruby))
                } else if files.kind(&puppet) == Some(FileKind::File) {
                    FunctionSource::Puppet(Arc::from(puppet))
                } else {
                    FunctionSource::Missing
                }
            }
        },
        None => {
            let ruby = |dir: &str| {
                let path = format!("{dir}/lib/puppet/functions/{name}.rb");
                (files.kind(&path) == Some(FileKind::File))
                    .then(|| FunctionSource::Ruby(Arc::from(path)))
            };
            environment
                .dir
                .as_deref()
                .and_then(ruby)
                .or_else(|| {
                    all_modules(files, environment)
                        .iter()
                        .find_map(|dir| ruby(dir))
                })
                .unwrap_or(FunctionSource::Missing)
        }
    }
}

/// The folder of a module.
pub(super) fn module_dir(
    files: &dyn Files,
    environment: &Environment,
    module: &str,
) -> Option<Arc<str>> {
    if let Some((_, dir)) = environment
        .modules
        .iter()
        .find(|(name, _)| **name == *module)
    {
        return Some(dir.clone());
    }
    environment.modulepath.iter().find_map(|path| {
        let dir = format!("{path}/{module}");
        (files.kind(&dir) == Some(FileKind::Directory)).then(|| Arc::from(dir))
    })
}

pub(super) fn all_modules(files: &dyn Files, environment: &Environment) -> Vec<Arc<str>> {
    let known = environment.modules.iter().map(|(_, dir)| dir.clone());
    let listed = environment.modulepath.iter().flat_map(|path| {
        files
            .list(path)
            .into_iter()
            .filter(|(_, kind)| *kind == FileKind::Directory)
            .map(move |(name, _)| Arc::from(format!("{path}/{name}")))
    });
    known.chain(listed).collect()
}
