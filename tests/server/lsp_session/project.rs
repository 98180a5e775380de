//! A workspace's own configuration: mistakes are shown at their places, and its settings apply as
//! soon as it is edited or written.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::VSCODE;
use super::program::{Program, uri};

const HIERA: &str = "version: 5\nhierarchy:\n  - {name: Expand, lookup_key: 'lib::expand', path: \
    common}\n  - {name: Common, path: common.yaml}\n";

const DECLARED: &str =
    "backends:\n  lib::expand: {like: yaml_data, path: \"{path}/{key_path}.yaml\"}\n";

struct Workspace {
    folder: PathBuf,
    data: PathBuf,
    project: PathBuf,
    _temporary: tempfile::TempDir,
}

fn workspace(project: &str) -> Workspace {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().canonicalize().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    };
    write("hiera.yaml", HIERA);
    write("data/common/profile/web.yaml", "profile::web::port: 443\n");
    Workspace {
        data: write("data/common.yaml", "profile::web::port: 80\n"),
        project: write(".hiera-ls.yaml", project),
        folder: folder.clone(),
        _temporary: temporary,
    }
}

fn hover(program: &mut Program, file: &Path) -> String {
    let hover = program.hover(file, "profile::web::port: 80\n", "profile::web::port");
    hover.unwrap()
}

#[test]
fn unsaved_edits_of_the_configuration_take_effect() {
    let workspace = workspace("# nothing\n");
    let mut program = Program::start(&workspace.folder, &json!({}), VSCODE);
    program.open(&workspace.data);
    let before = hover(&mut program, &workspace.data);
    assert!(
        before.contains("may differ: `lib::expand` (not run)"),
        "{before}"
    );
    program.open(&workspace.project);
    program.rewrite(&workspace.project, DECLARED);
    let declared = hover(&mut program, &workspace.data);
    assert!(declared.contains("443"), "{declared}");
    assert!(
        declared.contains("is declared to read like yaml_data"),
        "{declared}"
    );
    program.rewrite(&workspace.project, "backend: {}\n");
    let found = program.diagnostics(&workspace.project, |found| {
        found["diagnostics"]
            .as_array()
            .is_some_and(|list| !list.is_empty())
    });
    let found = found.to_string();
    assert!(
        found.contains("unknown setting 'backend': did you mean 'backends'?"),
        "{found}"
    );
    assert!(found.contains("project-config"), "{found}");
    let again = hover(&mut program, &workspace.data);
    assert!(
        again.contains("may differ: `lib::expand` (not run)"),
        "{again}"
    );
    program.end();
}

#[test]
fn saved_configurations_take_effect_when_the_editor_reports_them() {
    let workspace = workspace("backends: {lib::expand: {like: nothing}}\n");
    let mut program = Program::start(&workspace.folder, &json!({}), VSCODE);
    program.open(&workspace.data);
    let before = hover(&mut program, &workspace.data);
    assert!(
        before.contains("80") && !before.contains("may differ"),
        "{before}"
    );
    std::fs::write(
        &workspace.project,
        "backends: {lib::expand: {like: secret}}\n",
    )
    .unwrap();
    let change = json!({ "changes": [{ "uri": uri(&workspace.project), "type": 2 }] });
    program.notify("workspace/didChangeWatchedFiles", &change);
    // The file is read in the background.
    let mut after = hover(&mut program, &workspace.data);
    for _ in 0..100_000 {
        if after.contains("may differ") {
            break;
        }
        after = hover(&mut program, &workspace.data);
    }
    assert!(
        after.contains("may differ: `lib::expand` (not run)"),
        "{after}"
    );
    program.end();
}

#[test]
fn the_editor_chooses_severities_for_files_and_folders() {
    let workspace = workspace("diagnostics: {paths: {data/common: {dup-key: error}}}\n");
    let twice = "a: 1\na: 2\n";
    let below = workspace.folder.join("data/common/profile/web.yaml");
    for file in [&workspace.data, &below] {
        std::fs::write(file, twice).unwrap();
    }
    let all = "version: 5\nhierarchy: [{name: All, glob: \"**/*.yaml\"}]\n";
    std::fs::write(workspace.folder.join("hiera.yaml"), all).unwrap();
    let mut severities = Vec::new();
    for settings in [
        json!({}),
        json!({ "diagnostics": { "paths": { "data/common/**": { "dup-key": "hint" } } } }),
        json!({ "diagnostics": { "paths": { "data/common.yaml": { "dup-key": "off" } } } }),
    ] {
        let mut program = Program::start(&workspace.folder, &settings, VSCODE);
        let mut pull = |file: &Path| {
            let document = json!({ "textDocument": { "uri": uri(file) } });
            let pulled = program.ask("textDocument/diagnostic", &document);
            let items = pulled["items"].as_array().unwrap().iter();
            let mut twice = items.filter(|item| item["code"] == "dup-key");
            twice.next().and_then(|item| item["severity"].as_u64())
        };
        severities.push((pull(&workspace.data), pull(&below)));
        program.end();
    }
    let (error, warning, hint) = (Some(1), Some(2), Some(4));
    // The editor's settings override the workspace's.
    assert_eq!(
        severities,
        [(warning, error), (warning, hint), (None, warning)]
    );
}
