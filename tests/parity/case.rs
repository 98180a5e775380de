//! A case: files, a request, and (in case files) real Puppet's answer. The text `@@ROOT@@` stands
//! for the folder of the files.

use std::fs;
use std::path::Path;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// The text that stands for a case's folder.
pub const ROOT: &str = "@@ROOT@@";
/// The prefix in the text of a file that is a symbolic link, followed by its target.
pub const LINK: &str = "@@LINK@@";
/// The folder of the environment inside a case.
pub const ENVIRONMENT: &str = "env";
/// The global configuration inside a case, if there is one.
pub const GLOBAL: &str = "global/hiera.yaml";

/// One line of a case file.
#[derive(Clone, Debug)]
pub struct Case {
    /// A name that is unique in its file.
    pub id: String,
    /// A description.
    pub desc: String,
    /// Path below the case's folder to text.
    pub files: IndexMap<String, String>,
    /// The request, without the fields that the runner adds.
    pub request: Map<String, Value>,
    /// The answer.
    pub expected: Value,
}

impl Case {
    fn parse(line: &str) -> Case {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e} in {line}"));
        let text = |v: &Value| v.as_str().expect("text").to_string();
        let object = |v: &Value| v.as_object().expect("an object").clone();
        Case {
            id: text(&value["id"]),
            desc: text(&value["desc"]),
            files: object(&value["files"])
                .iter()
                .map(|(path, v)| (path.clone(), text(v)))
                .collect(),
            request: object(&value["request"]),
            expected: value["expected"].clone(),
        }
    }

    /// The case as a line of a case file.
    pub fn line(&self) -> String {
        let files: Map<String, Value> = self
            .files
            .iter()
            .map(|(path, text)| (path.clone(), text.clone().into()))
            .collect();
        json!({
            "id": self.id,
            "desc": self.desc,
            "files": files,
            "request": self.request,
            "expected": self.expected,
        })
        .to_string()
    }
}

/// Reads a case file.
pub fn read_cases(path: &Path) -> Vec<Case> {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines().map(Case::parse).collect()
}

/// Writes `files` below `root`, which must not exist yet. Always leaves an environment folder.
pub fn write_files(files: &IndexMap<String, String>, root: &Path) {
    fs::create_dir_all(root.join(ENVIRONMENT)).expect("a writable temporary folder");
    let place = root.to_str().expect("a UTF-8 temporary folder");
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("below the root")).expect("a writable folder");
        if let Some(target) = text.strip_prefix(LINK) {
            #[cfg(unix)]
            std::os::unix::fs::symlink(target, &path).expect("a writable folder");
            continue;
        }
        fs::write(&path, text.replace(ROOT, place)).expect("a writable folder");
    }
}

/// The request for both programs: the case's own fields with the folder filled in, and the fields
/// common to all cases of these files.
pub fn full_request(
    files: &IndexMap<String, String>,
    request: &Map<String, Value>,
    id: &str,
    root: &Path,
) -> Value {
    let mut full = match fill_root(&Value::Object(request.clone()), root) {
        Value::Object(map) => map,
        other => unreachable!("a filled object is an object: {other}"),
    };
    full.insert("id".into(), id.into());
    full.insert(
        "environment_dir".into(),
        path_text(&root.join(ENVIRONMENT)).into(),
    );
    let global = if files.contains_key(GLOBAL) {
        path_text(&root.join(GLOBAL)).into()
    } else {
        Value::Null
    };
    full.insert("global_hiera_yaml".into(), global);
    Value::Object(full)
}

fn path_text(path: &Path) -> String {
    path.to_str().expect("a UTF-8 temporary folder").to_string()
}

fn fill_root(value: &Value, root: &Path) -> Value {
    let text = value.to_string();
    if !text.contains(ROOT) {
        return value.clone();
    }
    let place = serde_json::to_string(root.to_str().expect("UTF-8")).expect("a string");
    serde_json::from_str(&text.replace(ROOT, &place[1..place.len() - 1])).expect("still JSON")
}
