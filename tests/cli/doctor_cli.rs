//! What `doctor` advises.

use super::nodes_cli::{run, write};

/// The first piece of advice: the problem, the place, and the text.
fn first_advice(files: &[(&str, &str)]) -> [String; 3] {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), files);
    let (text, error, code) = run(folder.path(), &["doctor", "--format", "json"]);
    assert_eq!(code, 0, "{error}");
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    ["what", "place", "paste"].map(|name| report["advice"][0][name].as_str().unwrap().to_owned())
}

#[test]
fn settings_that_the_doctor_suggests_name_existing_files() {
    let data = ("hieradata/common.yaml", "port: 80\n");
    let [what, place, paste] = first_advice(&[data]);
    assert!(what.starts_with("no file here is a hiera.yaml"), "{what}");
    assert_eq!(place, "hiera.yaml");
    // The suggested text works unchanged.
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[data, ("hiera.yaml", &paste)]);
    let lookup = ["lookup", "port", "--node", "web01.example.com"];
    let (text, error, _) = run(folder.path(), &lookup);
    assert_eq!(text, "--- 80\n", "{error}");

    let hiera = "version: 5\nhierarchy:\n- {name: Secrets, datadir: /srv/secrets, path: common.yaml}\n\
                 - {name: Common, path: common.yaml}\n";
    let files = [
        ("hiera.yaml", hiera),
        ("data/common.yaml", "port: 80\nhost: a\n"),
    ];
    let [what, place, paste] = first_advice(&files);
    assert!(what.contains("if you have a copy of it"), "{what}");
    assert_eq!(
        [&*place, &*paste],
        [
            "shell",
            "hiera-ls doctor --path-map /srv/secrets=/path/to/copy\n"
        ]
    );
    // The path of a level can be absolute itself.
    let [_, _, of_path] = first_advice(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n- {name: Secrets, path: /srv/secrets/common.yaml}\n\
             - {name: Common, path: common.yaml}\n",
        ),
        files[1],
    ]);
    assert_eq!(of_path, paste);
    let secrets = ("private/secrets/common.yaml", "token: a\n");
    let [what, place, paste] = first_advice(&[files[0], files[1], secrets]);
    assert!(
        what.ends_with("if private/secrets is deployed there, declare it"),
        "{what}"
    );
    assert_eq!(
        [&*place, &*paste],
        [
            ".hiera-ls.yaml",
            "pathMap:\n  /srv/secrets: private/secrets\n"
        ]
    );
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[files[0], files[1], secrets, (".hiera-ls.yaml", &paste)],
    );
    let (text, error, _) = run(
        folder.path(),
        &["lookup", "token", "--node", "web01.example.com"],
    );
    assert_eq!(text, "--- a\n", "{error}");
}

#[test]
fn declarations_offered_for_a_function_match_its_file_names() {
    let hiera = "version: 5\nhierarchy:\n- {name: Vault, lookup_key: 'my::vault'}\n\
                 - {name: Sorted, data_hash: 'my::sorted', path: conf.json}\n";
    let [_, _, paste] = first_advice(&[("hiera.yaml", hiera), ("data/conf.json", "{}")]);
    let expected = "backends:\n  my::vault: {like: secret}\n  \
                    # if it returns the content of the level's file; else: secret\n  \
                    my::sorted: {like: json_data}\n";
    assert_eq!(paste, expected);
}

#[test]
fn the_doctor_explains_folders_of_modules_in_a_puppetfile() {
    let folder = tempfile::tempdir().unwrap();
    let hiera = "version: 5\ndefaults: {datadir: modules/hieradata/data, data_hash: yaml_data}\n\
                 hierarchy:\n- {name: Common, path: common.yaml}\n";
    write(
        folder.path(),
        &[("hiera.yaml", hiera), ("Puppetfile", "mod 'a/hieradata'\n")],
    );
    let (text, _, _) = run(folder.path(), &["doctor"]);
    assert!(
        text.contains("level 'Common' reads modules/hieradata/data, which does not exist"),
        "{text}"
    );
    assert!(text.contains("r10k puppetfile install"), "{text}");
    write(
        folder.path(),
        &[("modules/hieradata/data/common.yaml", "port: 1\n")],
    );
    write(
        folder.path(),
        &[("modules/other/data/hiera.yaml", "---\n:backends: yaml\n")],
    );
    let (text, _, _) = run(folder.path(), &["doctor"]);
    assert!(
        !text.contains("does not exist") && !text.contains("Puppet refuses modules"),
        "{text}"
    );
}
