//! From a folder on the command line to the environment of a lookup.

use std::sync::Arc;

use crate::disk::WorkspaceDisk;
use crate::lookup::{Environment, resolve_modulepath};
use crate::workspace::{FileKind, Files, environment_conf};

/// The environment in a folder: the folder itself, `FOLDER/environments/NAME` where that exists,
/// or none around a module that stands alone.
pub(super) fn find(
    files: &WorkspaceDisk,
    folder: &str,
    name: &str,
    global_config: Option<&str>,
) -> Environment {
    let is_file = |path: String| files.kind(&path) == Some(FileKind::File);
    let nested = format!("{folder}/environments/{name}");
    let dir: Arc<str> = match files.kind(&nested) {
        Some(FileKind::Directory) => Arc::from(nested),
        Some(FileKind::File) | None => Arc::from(folder),
    };
    let mut environment = Environment {
        name: Arc::from(name),
        global_config: global_config.map(Arc::from),
        codedir: Arc::from("/etc/puppetlabs/code"),
        ..Environment::default()
    };
    if let Some(module) = lone_module(files, &dir)
        && !is_file(format!("{dir}/environment.conf"))
        && !is_file(format!("{dir}/Puppetfile"))
    {
        environment.modules = vec![(Arc::from(module), dir)];
        return environment;
    }
    let conf = files
        .text(&format!("{dir}/environment.conf"))
        .map(|text| environment_conf::parse(&text))
        .unwrap_or_default();
    let codedir = &environment.codedir;
    let base = [
        format!("{codedir}/modules"),
        "/opt/puppetlabs/puppet/modules".to_string(),
    ];
    environment.modulepath = resolve_modulepath(conf.modulepath.as_deref(), &dir, &base);
    environment.data_provider = conf.environment_data_provider.map(Arc::from);
    environment.dir = Some(dir);
    environment
}

/// The name of the module that a folder is, by its `metadata.json`: `author-name`.
fn lone_module(files: &WorkspaceDisk, dir: &str) -> Option<String> {
    let text = files.text(&format!("{dir}/metadata.json")).ok()?;
    let metadata = crate::value::from_json(&text).ok()?;
    let name = metadata.get("name")?.as_str()?;
    // A control repository's metadata names no module that its own data is for.
    let has_data = files.kind(&format!("{dir}/hiera.yaml")).is_some();
    let (_, module) = name.rsplit_once(['-', '/'])?;
    (has_data && files.kind(&format!("{dir}/manifests")).is_some()).then(|| module.to_string())
}
