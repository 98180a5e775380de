//! `.hiera-ls.yaml` on the command line: declared backends, conditional answers, mistakes, and its
//! JSON schema.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const FILES: [(&str, &str); 7] = [
    (
        "hiera.yaml",
        "version: 5\nhierarchy:\n  - {name: Vault, lookup_key: vault_lookup, uri: 'https://vault'}\n  \
         - {name: Expand, lookup_key: 'lib::expand', path: common}\n  - {name: Common, path: \
         common.yaml}\n",
    ),
    (
        "modules/lib/lib/puppet/functions/lib/expand.rb",
        "Puppet::Functions.create_function(:'lib::expand') do\n  dispatch :f do\n    param \
         'String[1]', :key\n    param 'Hash', :options\n    param 'Puppet::LookupContext', :context\n  \
         end\nend\n",
    ),
    (
        "modules/vault/lib/puppet/functions/vault_lookup.rb",
        "Puppet::Functions.create_function(:vault_lookup) do\n  dispatch :f do\n    param \
         'String[1]', :key\n    param 'Hash', :options\n    param 'Puppet::LookupContext', :context\n  \
         end\nend\n",
    ),
    ("data/common/profile/web.yaml", "profile::web::port: 443\n"),
    (
        "data/common.yaml",
        "address: 1.2.3.4\nprofile::web::port: 80\nlist: [a, b]\n",
    ),
    ("nodes.yaml", "a.example: {}\nb.example: {}\n"),
    (".git/HEAD", ""),
];

const EXPAND: &str =
    "backends:\n  lib::expand: {like: yaml_data, path: \"{path}/{key_path}.yaml\"}\n";

fn workspace(project: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in FILES.iter().chain(&[(".hiera-ls.yaml", project)]) {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_hiera-ls");
    let command = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output();
    command.unwrap()
}

/// Exit code, standard output and standard error.
fn output_of(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = run(folder, arguments);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn an_uncertain_value_is_shown_with_its_condition() {
    let folder = workspace(EXPAND);
    for node in [&["--node", "a.example"][..], &[]] {
        let key = |key: &'static str| {
            let arguments = [&["lookup", key], node].concat();
            output_of(folder.path(), &arguments)
        };
        let (code, out, error) = key("address");
        assert_eq!((code, &*out), (Some(3), ""), "{error}");
        let condition = "1.2.3.4, unless vault_lookup has the key\n";
        assert!(error.contains(condition), "{error}");
        let (code, _, error) = key("list");
        assert_eq!(code, Some(3));
        assert!(
            error.contains("unless vault_lookup has the key:\n---\n- a\n- b\n"),
            "{error}"
        );
        let (code, _, error) = key("nowhere");
        assert_eq!(code, Some(3));
        assert!(
            error.contains("not found, unless vault_lookup has the key\n"),
            "{error}"
        );
    }
}

#[test]
fn a_declared_backend_answers_and_is_named() {
    let project = format!("{EXPAND}  vault_lookup: {{like: nothing}}\n");
    let folder = workspace(&project);
    let (code, out, error) = output_of(
        folder.path(),
        &["lookup", "profile::web::port", "--node", "a.example"],
    );
    assert_eq!((code, &*out), (Some(0), "--- 443\n"), "{error}");
    let note = "note: the function 'lib::expand' is declared to read like yaml_data (not run)";
    assert!(error.contains(note), "{error}");
    let (_, out, _) = output_of(
        folder.path(),
        &[
            "lookup",
            "profile::web::port",
            "--node",
            "a.example",
            "--explain",
        ],
    );
    assert!(
        out.contains("Not run: the function 'lib::expand' is declared to read"),
        "{out}"
    );
}

#[test]
fn a_matrix_marks_uncertain_answers() {
    let folder = workspace(EXPAND);
    let matrix = |format: &'static str| {
        let arguments = ["matrix", "address", "--format", format];
        output_of(folder.path(), &arguments).1
    };
    let row: Value = serde_json::from_str(&matrix("json-lines")).unwrap();
    let answer = &row["answers"][0];
    assert_eq!(answer["found"], Value::Null, "{row}");
    assert_eq!(answer["certain"], false, "{row}");
    assert_eq!(answer["possible"], "1.2.3.4", "{row}");
    assert_eq!(answer["unless"], "vault_lookup has the key", "{row}");
    assert_eq!(answer["assumed"].as_array().unwrap().len(), 1, "{row}");
    let text = matrix("text");
    assert!(
        text.contains("\"1.2.3.4\", unless vault_lookup has the key"),
        "{text}"
    );
    assert!(
        matrix("csv").contains("address,unknown,\"\"\"1.2.3.4\"\"\","),
        "{}",
        matrix("csv")
    );
}

#[test]
fn a_batch_gives_what_is_possible() {
    let folder = workspace("");
    let environment = folder.path().to_str().unwrap();
    let requests = format!(
        "{{\"id\": 1, \"environment_dir\": \"{environment}\", \"key\": \"address\"}}\n\
         {{\"id\": 2, \"environment_dir\": \"{environment}\", \"key\": \"address\", \"backends\": \
         {{\"lib::expand\": {{\"like\": \"nothing\"}}, \"vault_lookup\": {{\"like\": \"secret\", \
         \"keys\": \"^x\"}}}}}}\n{{\"id\": 3, \"nosuch\": true, \"key\": \"a\"}}\n"
    );
    let input = folder.path().join("requests");
    std::fs::write(&input, requests).unwrap();
    let program = env!("CARGO_BIN_EXE_hiera-ls");
    let output = Command::new(program)
        .args(["lookup", "--batch"])
        .stdin(std::fs::File::open(input).unwrap())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers[0]["found"], Value::Null);
    assert_eq!(answers[0]["possible"], "1.2.3.4");
    assert_eq!(
        answers[0]["unless"],
        "vault_lookup has the key, or lib::expand has the key"
    );
    assert_eq!(answers[1]["value"], "1.2.3.4", "{text}");
    assert_eq!(answers[1]["assumed"].as_array().unwrap().len(), 2);
    assert_eq!(answers[2]["id"], 3);
    assert_eq!(answers[2]["error_class"], "HieraLs::RequestError");
}

#[test]
fn mistakes_are_findings_of_check_and_errors_of_other_commands() {
    let folder =
        workspace("strikt: off\nroots:\n  - ../x\ndiagnostics: {severity: {dup-kye: off}}\n");
    let (code, out, _) = output_of(folder.path(), &["check", "--format", "json-lines"]);
    assert_eq!(code, Some(1), "{out}");
    let found: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let lines: Vec<_> = found
        .iter()
        .filter(|finding| finding["code"] == "project-config")
        .map(|finding| {
            (
                finding["line"].as_u64().unwrap(),
                finding["severity"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(lines, [(1, "error"), (3, "error"), (4, "warning")], "{out}");
    let (code, _, error) = output_of(folder.path(), &["matrix", "address"]);
    assert_eq!(code, Some(1));
    let expected = ".hiera-ls.yaml:1: unknown setting 'strikt': did you mean 'strict'?";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn roots_and_deployed_folders_apply_on_the_command_line() {
    let folder = workspace(
        "roots: [puppet/deployed.yaml]\npathMap: {/srv/nowhere/hieradata: puppet/hieradata}\n",
    );
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    std::fs::remove_file(folder.path().join("hiera.yaml")).unwrap();
    write(
        "puppet/deployed.yaml",
        "version: 5\ndefaults: {datadir: /srv/nowhere/hieradata, data_hash: yaml_data}\nhierarchy: [{name: c, path: \
         c.yaml}]\n",
    );
    write("puppet/hieradata/c.yaml", "k: mapped\n");
    for arguments in [
        &["lookup", "k", "--node", "a.example"][..],
        &["lookup", "k"],
    ] {
        let (code, out, error) = output_of(folder.path(), arguments);
        assert_eq!((code, &*out), (Some(0), "--- mapped\n"), "{error}");
    }
    let (_, out, error) = output_of(folder.path(), &["matrix", "k"]);
    assert!(out.contains("\"mapped\""), "{out}{error}");
    let place = "puppet/hieradata/c.yaml:1:1";
    let (_, out, error) = output_of(folder.path(), &["hover", place, "--workspace", "."]);
    assert!(out.contains("mapped"), "{out}{error}");
}

/// Where Puppet runs, there may be a private repository.
#[cfg(unix)]
#[test]
fn a_link_out_of_the_workspace_to_what_is_not_here_leaves_an_answer_unknown() {
    let folder = workspace("");
    let levels = "{name: away, path: away.yaml}, {name: c, path: common.yaml}";
    let hiera = format!("version: 5\nhierarchy: [{levels}]\n");
    std::fs::write(folder.path().join("hiera.yaml"), hiera).unwrap();
    let link = folder.path().join("data/away.yaml");
    let unless = "unless level 'away' (outside this workspace) sets it";
    for (target, code) in [("/srv/nowhere/private.yaml", 3), ("gone.yaml", 0)] {
        std::os::unix::fs::symlink(target, &link).unwrap();
        let of = ["lookup", "address", "--node", "a.example"];
        let (found, _, error) = output_of(folder.path(), &of);
        assert_eq!(found, Some(code), "{target}: {error}");
        for command in [
            &of[..],
            &["matrix", "address"],
            &["hover", "data/common.yaml:1"],
        ] {
            let (_, out, error) = output_of(folder.path(), command);
            let is_open = [&out, &error].into_iter().any(|output| {
                output.contains(unless) || output.contains("'away' (outside this workspace)")
            });
            assert_eq!(is_open, code == 3, "{target}: {command:?}: {out}{error}");
        }
        // A completely broken link is still reported.
        let (_, out, _) = output_of(folder.path(), &["check", "--select", "level-never-matches"]);
        assert_eq!(out.contains("matches 'away.yaml'"), code == 0, "{out}");
        std::fs::remove_file(&link).unwrap();
    }
}

#[test]
fn data_that_is_not_here_leaves_an_answer_unknown() {
    let folder = workspace("");
    let hiera = |text: &str| std::fs::write(folder.path().join("hiera.yaml"), text).unwrap();
    let away = "{name: away, path: a.yaml, datadir: /srv/nowhere/hieradata}";
    hiera(&format!(
        "version: 5\nhierarchy: [{away}, {{name: c, path: common.yaml}}]\n"
    ));
    for node in [&["--node", "a.example"][..], &[]] {
        let (code, _, error) = output_of(folder.path(), &[&["lookup", "address"], node].concat());
        assert_eq!(code, Some(3), "{error}");
        let condition = "1.2.3.4, unless level 'away' (outside this workspace)";
        assert!(error.contains(condition), "{error}");
        let (code, _, error) = output_of(folder.path(), &[&["lookup", "nowhere"], node].concat());
        assert_eq!(code, Some(3), "{error}");
    }
    let (_, _, error) = output_of(folder.path(), &["lookup", "address", "--node", "a.example"]);
    assert!(
        error.contains("1.2.3.4, unless level 'away' (outside this workspace) sets it\n"),
        "{error}"
    );
    // Certain answers stay certain.
    hiera(&format!(
        "version: 5\nhierarchy: [{{name: c, path: common.yaml}}, {away}]\n"
    ));
    let (code, _, error) = output_of(folder.path(), &["lookup", "address"]);
    let condition =
        "1.2.3.4, unless level 'away' (outside this workspace) sets lookup_options for it\n";
    assert_eq!(code, Some(3), "{error}");
    assert!(error.contains(condition), "{error}");
    std::fs::remove_file(folder.path().join("nodes.yaml")).unwrap();
    let (code, _, error) = output_of(folder.path(), &["lookup", "nowhere", "--node", "b.example"]);
    assert_eq!(code, Some(3), "{error}");
    assert!(error.contains("level 'away'"), "{error}");
    let (code, out, error) = output_of(folder.path(), &["lookup", "address"]);
    assert_eq!((code, &*out), (Some(0), "--- 1.2.3.4\n"), "{error}");
    std::fs::remove_file(folder.path().join("hiera.yaml")).unwrap();
    let (code, _, error) = output_of(folder.path(), &["lookup", "address", "--node", "a.example"]);
    assert_eq!(code, Some(1), "{error}");
    assert!(
        error.contains("hiera-ls: no hierarchy at or below"),
        "{error}"
    );
}

/// Puppet's configuration may name another key pair for a level.
#[test]
fn a_value_for_another_pair_of_keys_is_unknown() {
    let keys = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/eyaml");
    let blobs = std::fs::read_to_string(keys.join("blobs.tsv")).unwrap();
    let of_second = |line: &&str| {
        let fields: Vec<&str> = line.split('\t').collect();
        fields[1..4] == ["second", "second", "ok"]
    };
    let hex = blobs.lines().find(of_second).unwrap().split('\t').next();
    let bytes = hex.unwrap().as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).unwrap();
        u8::from_str_radix(pair, 16).unwrap()
    });
    let blob = String::from_utf8(bytes.collect()).unwrap();
    let folder = workspace("");
    let hiera = "version: 5\nhierarchy:\n  - {name: e, lookup_key: eyaml_lookup_key, path: e.yaml, \
                 options: {pkcs7_private_key: /none, pkcs7_public_key: /none}}\n";
    std::fs::write(folder.path().join("hiera.yaml"), hiera).unwrap();
    let data = serde_json::json!({ "secret": blob });
    std::fs::write(folder.path().join("data/e.yaml"), data.to_string()).unwrap();
    let key = |part: &str| format!("{}/test-only-first.{part}.pem", keys.display());
    let (private, public) = (key("private"), key("certificate"));
    let flags = [
        "--pkcs7-private-key",
        &private,
        "--pkcs7-public-key",
        &public,
    ];
    let lookup = ["lookup", "secret", "--node", "a.example"];
    let (code, out, error) = output_of(folder.path(), &[&lookup[..], &flags].concat());
    assert_eq!((code, &*out), (Some(3), ""), "{error}");
    assert!(error.contains("unknown: the value is encrypted"), "{error}");
}

/// `hiera-ls project-schema > editors/vscode/schemas/hiera-ls.schema.json` after a change.
#[test]
fn the_schema_that_editors_bring_along_is_current() {
    let (code, printed, _) = output_of(Path::new("."), &["project-schema"]);
    assert_eq!(code, Some(0));
    let at = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/editors/vscode/schemas/hiera-ls.schema.json"
    );
    let kept = std::fs::read_to_string(at).unwrap();
    assert!(
        kept == printed,
        "{at} differs from what 'hiera-ls project-schema' prints"
    );
}

#[test]
fn severities_are_chosen_for_files_and_folders() {
    let folder = workspace(
        "diagnostics:\n  ignore: ['**/old']\n  severity: {dup-key: error}\n  paths:\n    data/legacy: \
         {dup-key: hint}\n    data/legacy/off.yaml: {dup-key: off}\n",
    );
    let globs = "version: 5\nhierarchy: [{name: All, glob: '**/*.yaml'}]\n";
    std::fs::write(folder.path().join("hiera.yaml"), globs).unwrap();
    for at in ["legacy", "old"] {
        std::fs::create_dir(folder.path().join("data").join(at)).unwrap();
    }
    for at in ["a.yaml", "legacy/a.yaml", "legacy/off.yaml", "old/a.yaml"] {
        let text = format!("k{}: 1\nk{}: 1\n", at.len(), at.len());
        std::fs::write(folder.path().join("data").join(at), text).unwrap();
    }
    let arguments = ["check", "--format", "concise", "--select", "dup-key"];
    let (code, out, _) = output_of(folder.path(), &arguments);
    let found: Vec<&str> = out
        .lines()
        .filter_map(|line| Some(line.split_once(']')?.0))
        .collect();
    assert_eq!(code, Some(1), "{out}");
    assert_eq!(
        found,
        [
            "data/a.yaml:2:1: error[dup-key",
            "data/legacy/a.yaml:2:1: hint[dup-key"
        ]
    );
}

#[test]
fn names_in_the_configuration_are_nodes_that_the_doctor_lists() {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n- {name: role, path: 'role/%{role}.yaml'}\n- {name: c, path: common.yaml}\n",
        ),
        ("data/role/db.yaml", "port: 5432\n"),
        ("data/common.yaml", "port: 80\n"),
        (
            ".hiera-ls.yaml",
            "nodesFiles: [gone.yaml]\nnodes:\n- names: {old.example.com: {variables: {role: db}}}\n",
        ),
    ] {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let (code, shown, _) = output_of(folder.path(), &["check"]);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("'gone.yaml' does not exist"), "{shown}");
    std::fs::write(
        folder.path().join(".hiera-ls.yaml"),
        "nodes:\n- names: {old.example.com: {variables: {role: db}}}\n",
    )
    .unwrap();
    let (_, shown, error) = output_of(folder.path(), &["matrix", "port"]);
    assert!(shown.contains("5432  old.example.com"), "{shown}{error}");
    let (_, shown, _) = output_of(folder.path(), &["doctor"]);
    assert!(shown.contains("1 of 1 node  .hiera-ls.yaml"), "{shown}");
    assert!(shown.contains("1 node from .hiera-ls.yaml"), "{shown}");
}

#[test]
fn missing_files_of_a_configuration_are_reported() {
    let project = "roots: [lab.yaml, conf, data/common.yaml, {hierarchy: hiera.yaml, folder: nowhere}]\n\
                   pathMap: {/etc/x: gone, /etc/y: data}\n\
                   backends:\n  a::b: {like: yaml_data, keys: x}\n  c::d: {like: secret, path: x}\n";
    let folder = workspace(project);
    std::fs::create_dir(folder.path().join("conf")).unwrap();
    let check = |select: &str| {
        output_of(
            folder.path(),
            &["check", "--format", "concise", "--select", select],
        )
        .1
    };
    let found = check("project-config");
    let found: Vec<&str> = found
        .lines()
        .filter_map(|line| line.strip_prefix(".hiera-ls.yaml:"))
        .collect();
    expect_test::expect![[r#"
        1:9: warning[project-config] 'lab.yaml' does not exist
        1:19: warning[project-config] 'conf' has no hiera.yaml
        1:25: warning[project-config] 'data/common.yaml' is not a Hiera configuration
        1:75: warning[project-config] 'nowhere' does not exist
        2:19: warning[project-config] 'gone' does not exist
        4:27: warning[project-config] 'keys' has no effect with 'like: yaml_data'
        5:24: warning[project-config] 'path' has no effect with 'like: secret'"#]]
    .assert_eq(&found.join("\n"));
    let without = "backends:\n  a::b: {like: yaml_data}\n  c::d:\n    path: x\n";
    std::fs::write(folder.path().join(".hiera-ls.yaml"), without).unwrap();
    let found = check("project-config");
    let missing =
        ".hiera-ls.yaml:4:5: error[project-config] 'like' is missing: say what the function does\n";
    assert!(found.starts_with(missing), "{found}");
}
