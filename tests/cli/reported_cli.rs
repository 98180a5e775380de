//! Small inputs that public bug reports and real servers led to, each with real Puppet's answer in its
//! `EXPECT.md`. They are read from beside the checkout.

use std::fs;
use std::path::{Path, PathBuf};

use super::reach_cli::output_of;

/// A copy of an input. `None` without the inputs: CI fails then, and elsewhere a message says so.
fn input(name: &str) -> Option<(tempfile::TempDir, PathBuf)> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/reference/turn3");
    if !all.is_dir() {
        let message = format!("{} is absent: nothing was compared", all.display());
        assert!(std::env::var_os("CI").is_none(), "{message}");
        eprintln!("SKIPPED: {message}");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join(name.rsplit('/').next().unwrap());
    copy_tree(&all.join(name), &copy);
    Some((folder, copy))
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// An environment of an input with its facts.
fn environment(name: &str) -> Option<(tempfile::TempDir, PathBuf)> {
    let (folder, copy) = input(name)?;
    let inner = copy.join("envs/production");
    let root = if inner.is_dir() { inner } else { copy.clone() };
    let given = copy.join("facts.json");
    let facts = if given.is_file() {
        fs::read_to_string(given).unwrap()
    } else {
        r#"{"kernel": "Linux"}"#.to_owned()
    };
    fs::write(root.join("facts.json"), facts).unwrap();
    Some((folder, root))
}

/// The exit code, output and errors of a lookup.
fn lookup(root: &Path, words: &[&str], node: &str) -> (Option<i32>, String, String) {
    let of_node = ["--node", node, "--facts", "facts.json"];
    output_of(root, &[&["lookup"], words, &of_node[..]].concat())
}

/// The code and the message of each finding.
fn findings(root: &Path, arguments: &[&str]) -> (Option<i32>, Vec<String>) {
    let format = ["check", "--format", "concise"];
    let (code, shown, _) = output_of(root, &[&format[..], arguments].concat());
    let lines = shown.lines().filter(|line| line.contains(": "));
    (code, lines.map(str::to_owned).collect())
}

#[test]
fn a_deployed_hierarchy_reads_the_checkout() {
    let Some((_folder, root)) = input("deployed-datadir") else {
        return;
    };
    assert_eq!(findings(&root, &[]), (Some(0), Vec::new()));
    let key = "profile::tool::version";
    let (code, shown, error) = lookup_named(&root, key, "pkg.example.com");
    assert_eq!((code, &*shown), (Some(0), "--- '9.9'\n"), "{error}");
    let report = output_of(&root, &["doctor"]).1;
    assert!(!report.contains("no hierarchy reads"), "{report}");
}

/// A lookup for a node of which only the name is known.
fn lookup_named(root: &Path, key: &str, node: &str) -> (Option<i32>, String, String) {
    output_of(root, &["lookup", key, "--node", node])
}

#[test]
fn a_path_that_is_a_folder_is_an_error() {
    let Some((_folder, root)) = input("path-is-a-folder") else {
        return;
    };
    let (code, found) = findings(&root, &[]);
    assert_eq!((code, found.len()), (Some(1), 2), "{found:#?}");
    let folder = found.iter().find(|line| line.contains("is the folder"));
    let folder = folder.unwrap_or_else(|| panic!("{found:#?}"));
    assert!(folder.contains("hiera.yaml:4:64"), "{folder}");
    assert!(
        folder.contains("did you mean 'os/%{facts.os.family}.yaml'?"),
        "{folder}"
    );
}

#[test]
fn a_path_without_its_extension_reads_nothing() {
    let Some((_folder, root)) = input("path-without-extension") else {
        return;
    };
    let (code, found) = findings(&root, &[]);
    assert_eq!((code, found.len()), (Some(0), 1), "{found:#?}");
    assert!(
        found[0].contains("with '.yaml' at the end, files do match"),
        "{found:#?}"
    );
}

#[test]
fn nothing_is_not_made_sensitive() {
    let Some((_folder, root)) = input("sensitive-nothing") else {
        return;
    };
    let (code, found) = findings(&root, &[]);
    assert_eq!((code, found.len()), (Some(1), 1), "{found:#?}");
    let message = "Class[Foo]: parameter 'password' expects a value of type Undef, String, or Sensitive[String], got Sensitive[Undef]";
    assert!(found[0].contains(message), "{found:#?}");
}

#[test]
fn files_of_plans_are_no_orphans() {
    let Some((_folder, root)) = input("bolt-plan") else {
        return;
    };
    assert_eq!(findings(&root, &[]), (Some(0), Vec::new()));
}

#[test]
fn a_conversion_with_arguments_breaks_later_lookups() {
    let Some((_folder, root)) = input("convert-to-arguments") else {
        return;
    };
    let (code, _, error) = output_of(&root, &["lookup", "mix"]);
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("expects a Data value, got Type"), "{error}");
    assert_eq!(output_of(&root, &["lookup", "mix2"]).0, Some(0));
    let (code, found) = findings(&root, &[]);
    assert_eq!((code, found.len()), (Some(0), 1), "{found:#?}");
    assert!(found[0].contains("convert-to-arguments"), "{found:#?}");
}

#[test]
fn lookups_have_the_server_facts_of_the_command() {
    let Some((_folder, root)) = environment("server-facts") else {
        return;
    };
    let given = |key: &str, version: &str| {
        let words = [key, "--puppet-version", version];
        let plain = lookup(&root, &words, "n.example.com").1;
        let compiled = lookup(
            &root,
            &[&words[..], &["--compile"]].concat(),
            "n.example.com",
        )
        .1;
        assert_eq!(plain, compiled);
        plain
    };
    assert_eq!(given("k", "7"), "--- from environment\n");
    assert_eq!(given("v", "7"), "--- \"[] [production]\"\n");
    assert_eq!(given("k", "8"), "--- from server_facts\n");
    assert_eq!(given("v", "8"), "--- \"[production] [production]\"\n");
    let Some((_folder, root)) = environment("answers/lookup-server-facts") else {
        return;
    };
    let words = ["k", "--puppet-version", "7"];
    assert_eq!(lookup(&root, &words, "n1.example.com").1, "--- \"[]\"\n");
}

#[test]
fn projected_facts_are_facts() {
    let Some((_folder, root)) = input("projected-inventory") else {
        return;
    };
    let arguments = [
        "matrix",
        "k",
        "--nodes",
        "projected.json",
        "--format",
        "csv",
    ];
    let (_, rows, _) = output_of(&root, &arguments);
    assert!(
        rows.contains(r#"k,true,"""lon""",,1,n1.example.com"#),
        "{rows}"
    );
    assert!(
        rows.contains(r#"k,true,"""common""",,1,n2.example.com"#),
        "{rows}"
    );
}

/// What an edit in an editor does there is tested in `tests/server`; this is the fresh check.
#[test]
fn a_wrong_value_is_reported_where_another_file_is_merged() {
    let Some((_folder, root)) = input("stale-after-edit") else {
        return;
    };
    fs::write(root.join("data/b.yaml"), "port: text\n").unwrap();
    let (_, found) = findings(&root, &[]);
    let mismatch = |line: &String| line.contains("data/c.yaml") && line.contains("type-mismatch");
    assert!(found.iter().any(mismatch), "{found:#?}");
}

#[test]
fn every_finding_of_a_file_is_counted() {
    let Some((_folder, root)) = input("answers/check-stops-at-200") else {
        return;
    };
    let (code, shown, error) = output_of(&root, &["check"]);
    assert_eq!(code, Some(1));
    let all = shown + &error;
    assert!(all.contains("\n300 errors in "), "{all}");
    assert!(all.contains("data/common.yaml: 100 more findings"), "{all}");
}

#[test]
fn a_variable_of_a_class_decides_paths_and_tokens() {
    if let Some((_folder, root)) = environment("compile-class-variable") {
        let (code, shown, error) = lookup(&root, &["who", "--compile"], "pkg.example.com");
        assert_eq!((code, &*shown), (Some(0), "--- class\n"), "{error}");
    }
    if let Some((_folder, root)) = environment("answers/class-variable-in-path") {
        for (key, value) in [("who", "--- from prod\n"), ("b", "--- env=prod\n")] {
            for version in ["7", "8"] {
                let words = [key, "--compile", "--puppet-version", version];
                let (code, shown, error) = lookup(&root, &words, "n1.example.com");
                assert_eq!((code, &*shown), (Some(0), value), "{error}");
            }
            let arguments = [
                "matrix",
                key,
                "--nodes",
                "../../nodes.json",
                "--format",
                "csv",
            ];
            let (_, row, _) = output_of(&root, &arguments);
            let value = value.trim_start_matches("--- ").trim_end();
            assert!(
                row.contains(&format!(r#"{key},true,"""{value}""",,1,n1.example.com"#)),
                "{row}"
            );
        }
    }
}

#[test]
fn manifests_that_fail_give_no_value() {
    let words = "Found value has wrong type, expects a String value, got Integer";
    for (name, key, words) in [
        ("compile-fails", "who", words),
        ("answers/manifest-fails", "port", "only RedHat"),
        ("answers/node-default-fails", "port", "unknown node"),
    ] {
        let Some((_folder, root)) = environment(name) else {
            return;
        };
        let (code, shown, error) = lookup(&root, &[key, "--compile"], "n1.example.com");
        assert_eq!((code, &*shown), (Some(1), ""), "{name}");
        assert!(error.contains(words), "{error}");
        fs::write(
            root.join("nodes.json"),
            r#"{"n1.example.com": {"facts": {"os": {"family": "Debian"}}}}"#,
        )
        .unwrap();
        let arguments = ["matrix", key, "--nodes", "nodes.json", "--format", "csv"];
        let (_, row, _) = output_of(&root, &arguments);
        assert!(row.contains("Puppet compiles no catalog: "), "{row}");
    }
}

/// Unknown is allowed; another value, or none, is not.
#[test]
fn functions_with_unknown_steps_give_no_wrong_answer() {
    for (name, key, compile, value) in [
        (
            "answers/lookup-key-cache-all",
            "greeting",
            false,
            "--- from raw\n",
        ),
        (
            "answers/lookup-key-return-in-each",
            "greeting",
            false,
            "--- from the function\n",
        ),
        (
            "answers/string-format-empty-list",
            "k",
            true,
            "--- \"<()>\"\n",
        ),
    ] {
        let Some((_folder, root)) = environment(name) else {
            return;
        };
        let words: &[&str] = if compile { &[key, "--compile"] } else { &[key] };
        let (code, shown, error) = lookup(&root, words, "n1.example.com");
        let is_right = code == Some(0) && shown == value;
        assert!(
            is_right || code == Some(3),
            "{name}: {code:?} {shown} {error}"
        );
    }
}
