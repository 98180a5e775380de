//! Hierarchies in other places, and workspaces without any, on the command line.

use std::path::Path;
use std::process::Command;

const DEPLOYED: &str = "version: 5\ndefaults: {datadir: /etc/puppet/hieradata, data_hash: yaml_data}\n\
                        hierarchy:\n- {name: nodes, path: 'nodes/%{facts.networking.fqdn}.yaml'}\n\
                        - {name: common, path: common.yaml}\n";
const LAB: &str = "version: 5\ndefaults: {datadir: ../hieradata, data_hash: yaml_data}\n\
                   hierarchy:\n- {name: lab, path: lab.yaml}\n- {name: common, path: common.yaml}\n";

pub(super) fn workspace(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// Exit code, standard output and standard error.
pub(super) fn output_of(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let program = env!("CARGO_BIN_EXE_hiera-ls");
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn a_deployed_hierarchy_answers_all_commands() {
    let folder = workspace(&[
        ("modules/puppetserver/files/hiera.yaml", DEPLOYED),
        ("lab/hiera.yaml", LAB),
        ("hieradata/common.yaml", "port: 80\n"),
        ("hieradata/lab.yaml", "port: 8080\n"),
        ("hieradata/nodes/a.example.yaml", "port: 443\n"),
    ]);
    let at = folder.path();
    let lookup = |arguments: &[&str]| output_of(at, &[&["lookup", "port"], arguments].concat());
    assert_eq!(
        lookup(&["--node", "x.example"]),
        (Some(0), "--- 80\n".into(), String::new())
    );
    let lab = lookup(&["--hiera-yaml", "lab/hiera.yaml"]);
    assert_eq!(lab, (Some(0), "--- 8080\n".into(), String::new()));
    let (code, _, error) = lookup(&["--hiera-yaml", "nosuch.yaml"]);
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("nosuch.yaml: no such hierarchy"), "{error}");
    let (code, shown, _) = output_of(at, &["hover", "hieradata/common.yaml:1:1"]);
    assert_eq!(code, Some(0));
    assert!(shown.starts_with("port — "), "{shown}");
    assert!(
        shown.contains("hierarchy: modules/puppetserver/files/hiera.yaml"),
        "{shown}"
    );
    let (code, shown, _) = output_of(at, &["check"]);
    assert_eq!((code, &*shown), (Some(0), "5 files checked, no problems\n"));
}

#[test]
fn a_workspace_without_a_hierarchy_is_not_checked() {
    let folder = workspace(&[("data/common.yaml", "port: 80\n")]);
    let (code, shown, error) = output_of(folder.path(), &["check"]);
    assert_eq!((code, &*shown), (Some(2), ""));
    assert_eq!(
        error,
        "hiera-ls: no hierarchy at or below .: name one with --hiera-yaml FILE\n"
    );
    let (code, _, error) = output_of(folder.path(), &["lookup", "port"]);
    assert_eq!(code, Some(1));
    assert!(
        error.contains("hiera-ls: no hierarchy at or below"),
        "{error}"
    );
}

#[test]
fn files_that_are_no_data_are_skipped() {
    let folder = workspace(&[
        ("hiera.yaml", "version: 5\n"),
        ("data/common.yaml", "port: 80\n"),
        ("docs/notes.yaml", "a: 1\na: 2\n"),
    ]);
    let (code, shown, error) = output_of(folder.path(), &["check", "docs/notes.yaml"]);
    assert_eq!((code, &*shown), (Some(0), ""));
    assert_eq!(
        error,
        "hiera-ls: docs/notes.yaml: skipped: no hierarchy reads it\n"
    );
    let (code, shown, error) = output_of(folder.path(), &["check", "nosuch.yaml"]);
    assert_eq!((code, &*shown), (Some(2), ""));
    assert!(error.starts_with("hiera-ls: nosuch.yaml: "), "{error}");
}

#[test]
fn data_of_a_custom_backend_is_checked_for_what_its_text_says() {
    let folder = workspace(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n- {name: e, lookup_key: 'my::expand', path: common}\n\
             - {name: c, path: common.yaml}\n",
        ),
        (
            "data/common/profile/web.yaml",
            "a: 1\na: 2\nb: ENC[PKCS7,MIIB]\n",
        ),
    ]);
    let (code, shown, _) = output_of(folder.path(), &["check", "--format", "concise"]);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("dup-key"), "{shown}");
    assert!(!shown.contains("enc-in-plain-level"), "{shown}");
}

#[test]
fn a_template_of_a_configuration_has_no_findings() {
    let levels = "hierarchy:\n<% if @x -%>\n  - {name: n, path: \"n/%{trusted.certname}.yaml\"}\n<% end -%>\n  \
         - {name: c, path: common.yaml}\n";
    let head = "version: 5\ndefaults: {datadir: \"<%= @datadir %>\", data_hash: yaml_data}\n";
    let erb = format!("---\n{head}{levels}");
    let epp = format!(
        "<%- | String $datadir | -%>\n---\n{head}hierarchy:\n  - {{name: c, path: common.yaml}}\n"
    );
    for (name, text) in [("hiera.yaml.erb", erb), ("hiera.yaml.epp", epp)] {
        let at = format!("modules/puppet/templates/{name}");
        let folder = workspace(&[(&at, &text), ("hieradata/common.yaml", "a: 1\n")]);
        let (code, shown, error) = output_of(folder.path(), &["check", "--format", "concise"]);
        assert_eq!(
            (code, &*shown),
            (Some(0), "2 files checked, no problems\n"),
            "{error}"
        );
        let (code, shown, error) =
            output_of(folder.path(), &["hover", "hieradata/common.yaml:1:1"]);
        assert_eq!(code, Some(0), "{error}");
        assert!(shown.contains("first found"), "{shown}");
    }
}

#[test]
fn a_missing_data_folder_is_reported_and_can_be_configured() {
    let deployed = "version: 5\ndefaults: {datadir: /srv/hiera/data, data_hash: yaml_data}\n\
                    hierarchy:\n- {name: common, path: common.yaml}\n";
    let folder = workspace(&[
        (
            "hiera.yaml",
            "version: 5\ndefaults: {datadir: gone, data_hash: yaml_data}\nhierarchy:\n- {name: common, path: common.yaml}\n",
        ),
        ("deployed/hiera.yaml", deployed),
        ("elsewhere/common.yaml", "port: 80\n"),
    ]);
    let at = folder.path();
    let (code, shown, error) = output_of(
        at,
        &["lookup", "port", "--node", "a", "--facts", "facts.yaml"],
    );
    assert_eq!((code, &*shown), (Some(1), ""), "{error}");
    std::fs::write(at.join("facts.yaml"), "a: 1\n").unwrap();
    let lookup = ["lookup", "port", "--node", "a", "--facts", "facts.yaml"];
    let (code, shown, error) = output_of(at, &lookup);
    assert_eq!((code, &*shown), (Some(1), ""), "{error}");
    assert!(
        error.contains("gone does not exist, but level 'common' looks for data there"),
        "{error}"
    );
    let mapped = [
        "--path-map",
        "/srv/hiera/data=elsewhere",
        "--workspace",
        "deployed",
    ];
    let (code, shown, error) = output_of(at, &[&lookup[..], &mapped].concat());
    assert_eq!((code, &*shown), (Some(0), "--- 80\n"), "{error}");
    std::fs::write(at.join("nodes.yaml"), "a: {}\n").unwrap();
    for command in [
        &["matrix", "port", "--nodes", "nodes.yaml"][..],
        &["doctor"],
    ] {
        let (code, shown, error) = output_of(at, &[command, &mapped].concat());
        assert_eq!(code, Some(0), "{error}");
        assert!(
            shown.contains("1 file, 1 of them read by a level (100 %)") || shown.contains("80"),
            "{shown}"
        );
    }
    let wrong = output_of(at, &["matrix", "port", "--path-map", "/srv=nosuch"]);
    assert_eq!(wrong.0, Some(1), "{wrong:?}");
    assert!(wrong.2.contains("nosuch: no such folder"), "{wrong:?}");
    assert_eq!(output_of(at, &["check", "--path-map", "srv"]).0, Some(2));
}

#[test]
fn a_file_that_is_not_data_is_reported_as_skipped() {
    let folder = workspace(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n- {name: c, path: common.yaml}\n",
        ),
        ("README.txt", "x\n"),
    ]);
    let (code, _, error) = output_of(folder.path(), &["check", "README.txt"]);
    assert_eq!(code, Some(0));
    assert_eq!(
        error,
        "hiera-ls: README.txt: skipped: it is not a data file\n"
    );
}

#[test]
fn the_log_lists_what_was_read() {
    let folder = workspace(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n- {name: c, path: common.yaml}\n",
        ),
        ("data/common.yaml", "port: 80\n"),
    ]);
    let output = Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
        .arg("doctor")
        .env("HIERA_LS_LOG", "info")
        .current_dir(folder.path())
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(log.contains("read 2 files, 1 hierarchy of "), "{log}");
}

#[test]
fn rules_on_the_text_alone_run_where_no_level_is_known_to_read() {
    let folder = workspace(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n- {name: v, lookup_key: own::expand}\n- {name: c, path: common.yaml}\n",
        ),
        ("data/common.yaml", "port: 80\n"),
        ("data/profile/web.yaml", "a: !ruby/object:Object {}\n"),
    ]);
    let (code, shown, _) = output_of(folder.path(), &["check", "--format", "concise"]);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("ruby-tags"), "{shown}");
    assert!(
        shown.contains("Puppet's own functions refuse the whole file"),
        "{shown}"
    );
}

#[test]
fn a_comparison_lists_removed_nodes() {
    let hiera = "version: 5\nhierarchy:\n- {name: n, path: 'nodes/%{trusted.certname}.yaml'}\n- {name: c, path: common.yaml}\n";
    let folder = workspace(&[
        ("old/hiera.yaml", hiera),
        ("old/data/nodes/a.example.yaml", "port: 1\n"),
        ("old/data/nodes/b.example.yaml", "port: 1\n"),
        ("old/data/common.yaml", "port: 80\n"),
        ("new/hiera.yaml", hiera),
        ("new/data/nodes/b.example.yaml", "port: 1\n"),
        ("new/data/common.yaml", "port: 80\n"),
    ]);
    let (code, _, error) = output_of(
        folder.path(),
        &["diff", "--against", "./old", "--workspace", "new"],
    );
    assert_eq!(code, Some(0), "{error}");
    let gone = "not compared, since no data file has the name any longer: a.example";
    assert!(error.contains(gone), "{error}");
    let markdown = [
        "diff",
        "--against",
        "./old",
        "--workspace",
        "new",
        "--format",
        "markdown",
    ];
    let (_, page, _) = output_of(folder.path(), &markdown);
    assert!(page.ends_with(&format!("\nNote: {gone}.\n")), "{page}");
}

#[test]
fn a_missing_workspace_is_reported() {
    let folder = workspace(&[
        ("hiera.yaml", "version: 5\n"),
        ("data/common.yaml", "a: 1\n"),
    ]);
    for command in [
        vec!["matrix", "a"],
        vec!["lookup", "a"],
        vec!["doctor"],
        vec!["set", "a", "1", "--for", "n"],
    ] {
        for (name, why) in [
            ("nowhere", "nowhere: no such folder"),
            (
                "hiera.yaml",
                "hiera.yaml: a file, where a folder is expected",
            ),
        ] {
            let mut arguments = command.clone();
            arguments.extend(["--workspace", name]);
            let (code, _, error) = output_of(folder.path(), &arguments);
            assert_eq!(code, Some(1), "{command:?}: {error}");
            assert!(error.contains(why), "{command:?}: {error}");
        }
    }
}

#[test]
fn a_comparison_of_a_key_that_no_data_sets_compares_nothing() {
    let hiera = "version: 5\nhierarchy:\n- {name: n, path: 'nodes/%{trusted.certname}.yaml'}\n- {name: c, path: common.yaml}\n";
    let folder = workspace(&[
        ("old/hiera.yaml", hiera),
        ("old/data/nodes/a.example.yaml", "port: 1\n"),
        ("new/hiera.yaml", hiera),
        ("new/data/nodes/a.example.yaml", "port: 2\n"),
    ]);
    let arguments = [
        "diff",
        "--against",
        "./old",
        "--workspace",
        "new",
        "--key",
        "nosuch",
    ];
    let (code, shown, error) = output_of(folder.path(), &arguments);
    assert_eq!((code, &*shown), (Some(1), ""), "{error}");
    assert!(error.contains("no data sets 'nosuch'"), "{error}");
}

#[test]
fn an_environment_that_there_is_not_is_refused() {
    let hierarchy = "version: 5\nhierarchy: [{name: Common, path: common.yaml}]\n";
    let folder = workspace(&[
        ("environments/production/hiera.yaml", hierarchy),
        ("environments/production/data/common.yaml", "port: 80\n"),
        ("environments/testing/hiera.yaml", hierarchy),
        ("environments/testing/data/common.yaml", "port: 81\n"),
        ("environments/testing/nodes.yaml", "a: {facts: {}}\n"),
    ]);
    let at = folder.path();
    let commands = [
        &["lookup", "port"][..],
        &["lookup", "port", "--node", "a"],
        &["explain-key", "port"],
        &["matrix", "port"],
        &["diff", "--against", "HEAD"],
        &["set", "port", "1"],
        &["why-not", "port=1", "--node", "a"],
    ];
    for command in commands {
        let (code, shown, error) = output_of(at, &[command, &["--environment", "testin"]].concat());
        assert_eq!((code, shown.as_str()), (Some(1), ""), "{command:?}");
        assert_eq!(
            error,
            "hiera-ls: there is no environment 'testin' in environments (production, testing): did \
             you mean 'testing'?\n"
        );
    }
    let named = |folder: &str, name: &str| {
        let workspace = ["--workspace", folder, "--environment", name];
        output_of(at, &[&["lookup", "port"], &workspace[..]].concat()).1
    };
    assert_eq!(named(".", "testing"), "--- 81\n");
    // A single environment, named after its branch.
    assert_eq!(named("environments/testing", "feature_x"), "--- 81\n");
    let chosen = ["--hiera-yaml", "environments/testing/hiera.yaml"];
    let arguments = ["lookup", "port", "--environment", "feature_x"];
    assert_eq!(
        output_of(at, &[&arguments[..], &chosen].concat()).1,
        "--- 81\n"
    );
}

#[cfg(unix)]
#[test]
fn a_broken_link_fails_lookups_whose_glob_matches_it() {
    let hiera = "version: 5\nhierarchy:\n- {name: Parts, glob: 'g/*.yaml'}\n\
                 - {name: One, path: one.yaml}\n- {name: Common, path: common.yaml}\n";
    let folder = workspace(&[
        ("hiera.yaml", hiera),
        ("data/g/a.yaml", "a: 1\n"),
        ("data/common.yaml", "b: 2\n"),
    ]);
    let at = folder.path();
    let link = |name: &str| std::os::unix::fs::symlink("nowhere", at.join(name)).unwrap();
    // Puppet ignores a path that is such a link.
    link("data/one.yaml");
    let (code, shown, _) = output_of(at, &["matrix", "b"]);
    assert_eq!(code, Some(0));
    assert!(shown.contains("data/common.yaml:1"), "{shown}");
    let (code, shown, _) = output_of(at, &["check"]);
    assert_eq!(code, Some(0), "{shown}");

    link("data/g/d.yaml");
    let error = "No such file or directory @ rb_file_s_stat - ";
    for key in ["a", "b"] {
        let (code, _, lookup) = output_of(at, &["lookup", key]);
        assert_eq!(code, Some(1));
        assert!(lookup.contains(error), "{lookup}");
        let (_, matrix, _) = output_of(at, &["matrix", key]);
        assert!(matrix.contains(&format!("error: {error}")), "{matrix}");
    }
    let (_, hover, _) = output_of(at, &["hover", "data/common.yaml:1:1"]);
    let start = format!("b — Puppet fails here: {}", error.trim_end());
    assert!(hover.starts_with(&start), "{hover}");
    let (code, shown, _) = output_of(at, &["check"]);
    assert_eq!(code, Some(1), "{shown}");
    let finding = "'g/*.yaml' matches 'data/g/d.yaml', a broken link";
    assert!(shown.contains(finding), "{shown}");
}

#[test]
fn data_outside_the_workspace_is_read_by_lookup_and_the_doctor_suggests_its_folder() {
    let hiera = "version: 5\ndefaults: {datadir: ../data, data_hash: yaml_data}\n\
                 hierarchy:\n- {name: Common, path: common.yaml}\n";
    let folder = workspace(&[
        ("all/conf/hiera.yaml", hiera),
        ("all/data/common.yaml", "a: 1\n"),
    ]);
    let at = &folder.path().join("all/conf");
    for of in [&[][..], &["--node", "n"]] {
        let found = output_of(at, &[&["lookup", "a"], of].concat());
        assert_eq!(found, (Some(0), "--- 1\n".into(), String::new()));
        let (_, explained, _) = output_of(at, &[&["lookup", "a", "--explain"], of].concat());
        assert!(
            explained.contains("Found key: \"a\" value: 1"),
            "{explained}"
        );
        let not_found = "hiera-ls: Function lookup() did not find a value for the name 'b'\n";
        let missing = output_of(at, &[&["lookup", "b"], of].concat());
        assert_eq!(missing, (Some(1), String::new(), not_found.into()));
    }
    // Other commands stay inside the workspace.
    let (_, matrix, _) = output_of(at, &["matrix", "a"]);
    let unless = "unless level 'Common' (outside this workspace) sets it";
    assert!(matrix.contains(unless), "{matrix}");
    let (_, report, error) = output_of(at, &["doctor", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&report).expect(&error);
    let advice = &report["advice"][0];
    let what = advice["what"].as_str().unwrap();
    assert!(what.contains("which is next to the workspace"), "{what}");
    // The suggested text works, and so do other commands with the same folder.
    let paste = advice["paste"].as_str().unwrap();
    let words: Vec<&str> = paste.split_whitespace().skip(1).collect();
    let (code, shown, _) = output_of(at, &words);
    assert_eq!(code, Some(0));
    assert!(shown.contains("it reads 1 data file"), "{shown}");
    let opened = output_of(at, &[&["lookup", "a"], &words[1..]].concat());
    assert_eq!(opened, (Some(0), "--- 1\n".into(), String::new()));
}

#[test]
fn a_file_that_is_not_utf_8_is_a_finding_among_others() {
    let hiera = "version: 5\nhierarchy:\n- {name: all, glob: '*.yaml'}\n";
    let folder = workspace(&[("hiera.yaml", hiera), ("data/b.yaml", "a: 1\na: 2\n")]);
    let at = folder.path();
    std::fs::write(at.join("data/a.yaml"), b"a: 1\nname: M\xfcller\n").unwrap();
    let (code, out, error) = output_of(at, &["check"]);
    assert_eq!((code, &*error), (Some(1), ""));
    assert!(out.contains("data/a.yaml:2:8\n"), "{out}");
    assert!(out.contains("warning[dup-key]"), "{out}");
}

#[test]
fn a_hierarchy_outside_the_workspace_is_used_by_check() {
    let hiera = "version: 5\nhierarchy:\n- {name: common, path: common.yaml}\n";
    let folder = workspace(&[
        ("conf/hiera.yaml", hiera),
        ("repo/data/common.yaml", "a: 1\na: 2\n"),
    ]);
    let arguments = ["check", "--hiera-yaml", "../conf/hiera.yaml"];
    let (code, out, error) = output_of(&folder.path().join("repo"), &arguments);
    assert_eq!((code, &*error), (Some(0), ""), "{out}");
    assert!(out.contains("data/common.yaml:2:1"), "{out}");
    assert!(out.contains("1 warning in 1 file"), "{out}");
}

#[test]
fn the_doctor_skips_functions_without_a_file() {
    let hiera = |path: &str| {
        format!(
            "version: 5\nhierarchy:\n- {{name: own, data_hash: own_data, path: '{path}'}}\n\
             - {{name: common, path: common.yaml}}\n"
        )
    };
    let doctor = |path: &str, more: &[(&str, &str)]| {
        let hiera = hiera(path);
        let files = [
            ("hiera.yaml", hiera.as_str()),
            ("data/common.yaml", "a: 1\n"),
        ];
        let folder = workspace(&[&files, more].concat());
        output_of(folder.path(), &["doctor"]).1
    };
    let without = doctor("own.yaml", &[]);
    let not_called = "not called by Puppet: own_data has no file";
    assert!(without.contains(not_called), "{without}");
    assert!(!without.contains("may be different"), "{without}");
    let never_run = "every answer may be different, since the function 'own_data' is never run";
    let cases: [(&str, &[(&str, &str)]); 3] = [
        ("own.yaml", &[("data/own.yaml", "{}\n")]),
        // A folder exists too.
        ("own", &[("data/own/any.txt", "")]),
        ("%{role}", &[]),
    ];
    for (path, more) in cases {
        let with = doctor(path, more);
        assert!(with.contains(never_run), "{path}: {with}");
        assert!(!with.contains(not_called), "{path}: {with}");
    }
}

#[test]
fn no_node_reads_the_data_of_a_module_off_the_modulepath() {
    let hiera = "version: 5\nhierarchy: [{name: common, path: common.yaml}]\n";
    let files = [
        ("hiera.yaml", hiera),
        ("data/common.yaml", "a: 1\n"),
        ("site/profile/hiera.yaml", hiera),
        ("site/profile/data/common.yaml", "profile::x: 1\n"),
        ("site/profile/manifests/init.pp", "class profile { }\n"),
        ("environment.conf", "modulepath = modules\n"),
    ];
    for (files, unless) in [
        (&files[..], ""),
        (&files[..5], ", unless Puppet's own settings put it there"),
    ] {
        let folder = workspace(files);
        let at = folder.path();
        let why = format!("module 'profile' is not on the modulepath of its environment{unless}");
        let (code, _, error) = output_of(at, &["matrix", "profile::x"]);
        assert_eq!(code, Some(1), "{error}");
        let place = "site/profile/data/common.yaml:1";
        let message = format!("no node reads 'profile::x': {place} sets it, but {why}\n");
        assert!(error.ends_with(&message), "{error}");
        let (code, hover, _) = output_of(at, &["hover", place]);
        let page = format!("profile::x — no node reads this file {why}");
        let words: Vec<&str> = hover.split_whitespace().collect();
        assert!(
            code == Some(0) && words.join(" ").starts_with(&page),
            "{hover}"
        );
        let (code, _, _) = output_of(at, &["lookup", "profile::x"]);
        assert_eq!(code, Some(1));
    }
    // A module on the modulepath is read.
    let folder = workspace(&files[..5]);
    std::fs::write(
        folder.path().join("environment.conf"),
        "modulepath = site\n",
    )
    .unwrap();
    let (code, row, _) = output_of(folder.path(), &["matrix", "profile::x"]);
    assert_eq!(code, Some(0), "{row}");
}

#[test]
fn the_paths_of_levels_lead_to_a_deployed_checkout() {
    let hiera = ":backends: [yaml]\n:yaml:\n  :datadir: /etc/puppet\n:hierarchy:\n\
                 - 'environments/%{environment}/hieradata/nodes/%{::clientcert}'\n\
                 - 'environments/%{environment}/hieradata/common'\n";
    let folder = workspace(&[
        ("site/server/files/hiera.yaml", hiera),
        ("site/server/manifests/init.pp", "class server { }\n"),
        ("hieradata/common.yaml", "port: 80\n"),
        ("hieradata/nodes/a.example.yaml", "port: 443\n"),
    ]);
    // Version 3 is deprecated: there is a warning.
    let lookup = |node: &str| output_of(folder.path(), &["lookup", "port", "--node", node]).1;
    assert_eq!(lookup("a.example"), "--- 443\n");
    assert_eq!(lookup("b.example"), "--- 80\n");
    let (code, shown, error) = output_of(folder.path(), &["hover", "hieradata/common.yaml:1:1"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(shown.starts_with("port — "), "{shown}");
    let (_, report, _) = output_of(folder.path(), &["doctor"]);
    assert!(
        report.contains("2 files, 2 of them read by a level"),
        "{report}"
    );
}
