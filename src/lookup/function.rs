//! Finds the definition of a data provider function in the environment and its modules
//! (`puppet/pops/loader`).

use std::sync::Arc;

use super::context::Environment;
use crate::workspace::{FileKind, Files, module_refusal};

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
    let path = name.replace("::", "/");
    let file = |path: String| {
        let is_file = files.kind(&path) == Some(FileKind::File);
        is_file.then(|| Arc::from(path))
    };
    let ruby = |dir: &str| {
        let found = file(format!("{dir}/lib/puppet/functions/{path}.rb"));
        found.map(FunctionSource::Ruby)
    };
    let either = |dir: &str, tail: &str| {
        let puppet = || file(format!("{dir}/functions/{tail}.pp")).map(FunctionSource::Puppet);
        ruby(dir).or_else(puppet)
    };
    let own_dir = environment.dir.as_deref();
    let found = match name.split_once("::") {
        // Both kinds of the environment's functions lie in a folder `environment`.
        Some(("environment", _)) => own_dir.and_then(|dir| either(dir, &path)),
        Some((module, rest)) => match module_dir(files, environment, module) {
            None => return FunctionSource::ModuleMissing,
            Some(dir) => either(&dir, &rest.replace("::", "/")),
        },
        None => own_dir.and_then(ruby).or_else(|| {
            let modules = all_modules(files, environment);
            modules.iter().find_map(|dir| ruby(dir))
        }),
    };
    found.unwrap_or(FunctionSource::Missing)
}

/// The manifests of a module that Puppet reads to find a class or a defined type, in order: the file of
/// its name, files of its name's prefixes, `init.pp` (`TypeLoader#files_to_try_for`).
pub fn manifests_defining<'n>(dir: &'n str, name: &'n str) -> impl Iterator<Item = String> + 'n {
    let rest = name.split_once("::").map_or("", |(_, rest)| rest);
    let longest = std::iter::once(rest).filter(|rest| !rest.is_empty());
    let shorter = rest.rmatch_indices("::").map(|(end, _)| &rest[..end]);
    let names = longest.chain(shorter).chain(["init"]);
    names.map(move |name| format!("{dir}/manifests/{}.pp", name.replace("::", "/")))
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
    let mut folders = environment.modulepath.iter();
    let dir = folders.find_map(|path| {
        let dir = format!("{path}/{module}");
        (files.kind(&dir) == Some(FileKind::Directory)).then(|| Arc::from(dir))
    });
    dir.filter(|dir| module_refusal(files, dir).is_none())
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
