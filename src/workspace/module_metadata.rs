//! What Puppet makes of a module's `metadata.json` (`puppet/module.rb`, `load_metadata`).

use super::files::{FileKind, Files};
use super::path;
use super::roots::METADATA_JSON;
use crate::value::{Value, from_json};

/// What a metadata file must have, in the order in which Puppet asks for it.
const REQUIRED: [&str; 5] = ["source", "author", "version", "license", "dependencies"];

/// Why Puppet leaves out the module in a folder: what its `metadata.json` lacks. `None` if the module is used, or if that
/// is not known: a file that is no JSON is an error or a warning by the setting `strict`. Reads that file.
#[must_use]
pub fn module_refusal(files: &dyn Files, dir: &str) -> Option<String> {
    let at = path::join(dir, METADATA_JSON);
    if files.kind(&at) != Some(FileKind::File) {
        return None;
    }
    let metadata = from_json(&files.text(&at).ok()?).ok()?;
    metadata.as_hash().filter(|hash| !hash.is_empty())?;
    let has = |name: &str| metadata.get(name).is_some_and(|value| !value.is_undef());
    if let Some(lacking) = REQUIRED.into_iter().find(|name| !has(name)) {
        return Some(format!("it has no '{lacking}'"));
    }
    let is_list = matches!(metadata.get("dependencies"), Some(Value::Array(_)));
    (!is_list).then(|| "its 'dependencies' are not a list".to_owned())
}
