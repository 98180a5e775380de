//! Changes of the disk and of texts: their cost, and outdated states that are never shown.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Client, Planted, options};

/// A client that watches a folder itself, once everything is read.
fn watching(features: &Arc<Planted>, folder: &std::path::Path) -> Client {
    let mut options = options(features);
    options.rest = Duration::from_millis(5);
    let mut client = Client::strange(options);
    let watch = json!({ "didChangeWatchedFiles": { "dynamicRegistration": true } });
    let root = format!("file://{}", folder.display());
    let params = json!({ "capabilities": { "workspace": watch }, "rootUri": root });
    let id = client.request("initialize", params);
    client.answer(id).unwrap();
    client.notify("initialized", json!({}));
    client
}

#[test]
fn a_branch_switch_is_one_change() {
    const FILES: usize = 2_000;
    let folder = tempfile::tempdir().unwrap();
    let write = |number: usize, text: &str| {
        let name = format!("{number}.yaml");
        std::fs::write(folder.path().join(name), text).unwrap();
    };
    (0..FILES).for_each(|number| write(number, "n: old\n"));
    let features = Arc::new(Planted::default());
    let mut client = watching(&features, folder.path());
    let census = format!("file://{}/census.yaml", folder.path().display());
    client.open(&census, "n: 1\n");
    let hover = client.hover(&census, 0, 0);
    assert_eq!(client.seen(hover), Ok("0 new".to_owned()));
    (0..FILES).for_each(|number| write(number, "n: new\n"));
    let changes: Vec<Value> = (0..FILES)
        .map(|number| {
            let uri = format!("file://{}/{number}.yaml", folder.path().display());
            json!({ "uri": uri, "type": 2 })
        })
        .collect();
    client.notify(
        "workspace/didChangeWatchedFiles",
        json!({ "changes": changes }),
    );
    let mut seen = Vec::new();
    loop {
        let hover = client.hover(&census, 0, 0);
        let answer = client.answer(hover).unwrap();
        let value = answer["result"]["contents"]["value"].as_str().unwrap();
        let count: usize = value.split(' ').nth(1).unwrap().parse().unwrap();
        seen.push(count);
        if count == FILES {
            break;
        }
    }
    seen.dedup();
    assert!(
        seen == [0, FILES] || seen == [FILES],
        "half a branch was shown: {seen:?}"
    );
    client.end();
}

#[cfg(unix)]
#[test]
fn a_file_that_changes_is_read_by_all_its_names() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let write = |name: &str, text: &str| std::fs::write(at(name), text).unwrap();
    std::fs::create_dir(at("shared")).unwrap();
    write("shared/a.yaml", "n: old\n");
    symlink("shared", at("data")).unwrap();
    symlink("shared/a.yaml", at("link.yaml")).unwrap();
    let features = Arc::new(Planted::default());
    let mut client = watching(&features, folder.path());
    let census = format!("file://{}/census.yaml", folder.path().display());
    client.open(&census, "n: 1\n");
    let mut becomes = |changed: &str, wanted: usize| {
        let uri = format!("file://{}", at(changed).display());
        let changes = json!({ "changes": [{ "uri": uri, "type": 2 }] });
        client.notify("workspace/didChangeWatchedFiles", changes);
        let wanted = Ok(format!("{wanted} new"));
        let mut seen = Ok(String::new());
        for _ in 0..2_000 {
            let hover = client.hover(&census, 0, 0);
            seen = client.seen(hover);
            if seen == wanted {
                break;
            }
        }
        assert_eq!(seen, wanted, "{changed}");
    };
    write("shared/a.yaml", "n: new\n");
    becomes("shared/a.yaml", 3);
    write("shared/b.yaml", "n: new\n");
    becomes("shared/b.yaml", 5);
    std::fs::remove_file(at("shared/a.yaml")).unwrap();
    becomes("shared/a.yaml", 2);
    write("shared/a.yaml", "n: new\n");
    becomes("shared/a.yaml", 5);
    client.end();
}

#[test]
fn an_open_file_is_checked_once_for_diagnostics_and_code_actions() {
    let folder = tempfile::tempdir().unwrap();
    let features = Arc::new(Planted::default());
    // A client that pulls, so nothing is checked unasked.
    let literals = json!({ "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [] } } });
    let of_documents = json!({ "diagnostic": {}, "codeAction": literals });
    let mut client = Client::with(options(&features), json!({ "textDocument": of_documents }));
    let file = format!("file://{}/bad.yaml", folder.path().display());
    client.open(&file, "bad: 1\n");
    let ask = |client: &mut Client| {
        let document = json!({ "uri": file });
        let start = json!({ "line": 0, "character": 1 });
        let pull = json!({ "textDocument": document });
        let actions = json!({
            "textDocument": document,
            "range": { "start": start, "end": start },
            "context": { "diagnostics": [] },
        });
        for (method, params) in [
            ("textDocument/diagnostic", &pull),
            ("textDocument/diagnostic", &pull),
            ("textDocument/codeAction", &actions),
            ("textDocument/codeAction", &actions),
        ] {
            let id = client.request(method, params.clone());
            let answer = client.answer(id).unwrap();
            assert!(
                answer["result"].is_object() || answer["result"].is_array(),
                "{answer}"
            );
        }
        features.checks.load(Ordering::SeqCst)
    };
    assert_eq!(ask(&mut client), 1);
    client.rewrite(&file, 2, "bad: 2\n");
    assert_eq!(ask(&mut client), 2);
    client.end();
}

#[test]
fn an_edit_has_only_those_files_checked_that_it_can_touch() {
    const FILES: usize = 40;
    const EDITS: usize = 10;
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    for number in 0..FILES {
        write(&format!("plain{number}.yaml"), &format!("n: {number}\n"));
    }
    write("refers.yaml", "r: \"%{lookup('n')}\"\n");
    write("zz.yaml", "bad: 1\n");
    let features = Arc::new(Planted::default());
    let mut client = watching(&features, folder.path());
    // The last file of the first round, so nothing is left to be checked.
    client
        .diagnostics(|params| {
            params["uri"]
                .as_str()
                .is_some_and(|uri| uri.ends_with("zz.yaml"))
        })
        .unwrap();
    let checks = || features.checks.load(Ordering::SeqCst);
    let file = format!("file://{}/plain7.yaml", folder.path().display());
    client.open(&file, "n: 7\n");
    client.diagnostics(|params| params["version"] == 1).unwrap();
    let before = checks();
    // A comment affects no other file.
    for version in 2..2 + EDITS {
        client.rewrite(&file, version as i64, &format!("n: 7 # {version}\n"));
        client
            .diagnostics(|params| params["version"] == version)
            .unwrap();
    }
    assert_eq!(checks() - before, EDITS);
    // Adding and removing a key affects the files that refer to keys.
    let before = checks();
    for version in 20..20 + EDITS {
        client.rewrite(&file, version as i64, &format!("n: 7\nkey{version}: 1\n"));
        client
            .diagnostics(|params| params["version"] == version)
            .unwrap();
    }
    let extra = checks() - before - EDITS;
    assert!(
        extra <= EDITS,
        "{extra} checks of other files, one of which refers to keys"
    );
    client.end();
}
