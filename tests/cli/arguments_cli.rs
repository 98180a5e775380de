//! Command lines that make no sense, suggestions for what is misspelt, and messages that name the
//! requested line or file.

use super::terminal_cli::{ACME, output_of};

#[test]
fn all_commands_complain_in_one_form() {
    let nowhere = "tests/cli/nowhere";
    for arguments in [
        &["lookup", "a", "--hiera-yaml", nowhere][..],
        &["lookup", "a", "--merge", "no"],
        &["lookup"],
        &["lookup", "a", "--node", "b", "--nodes", nowhere],
        &["lookup", "nosuch", "--workspace", ACME],
        &["matrix", "a", "--workspace", nowhere],
        &["matrix", "nosuch", "--workspace", ACME],
        &["matrix", "--nosuch"],
        &["diff", "a", "b", "--workspace", ACME],
        &["diff", "--against", "nosuch", "--workspace", ACME],
        &["diff"],
        &["hover", "nowhere"],
        &["hover", "nowhere.yaml:1"],
        &["hover", "fixtures/acme/hiera.yaml:1", "--node", "nosuch"],
        &["check", nowhere],
        &["explain", "nosuch"],
        &["doctor", "--facts", nowhere],
        &["nosuch"],
        &["test", nowhere],
        &["man", "--out", "Cargo.toml/nowhere"],
    ] {
        let (code, out, error) = output_of(arguments);
        assert!(matches!(code, Some(1..=3)), "{arguments:?}: {code:?}");
        assert_eq!(out, "", "{arguments:?}");
        assert!(error.starts_with("hiera-ls: "), "{arguments:?}: {error}");
        let first = error.lines().next().unwrap();
        assert!(!first.ends_with('.'), "{arguments:?}: {error}");
    }
}

#[test]
fn misspelt_arguments_get_a_suggestion() {
    let (code, out, error) = output_of(&["matrix", "profile::web::prot", "--workspace", ACME]);
    assert_eq!((code, &*out), (Some(1), ""));
    assert_eq!(
        error,
        "hiera-ls: no data sets 'profile::web::prot': did you mean 'profile::web::port'?\n"
    );
    let node = "web01.lon.acme.exampel";
    let hint = "did you mean 'web01.lon.acme.example'?\n";
    for arguments in [
        &["lookup", "a", "--node", node, "--workspace", ACME][..],
        &["diff", node, "web02.lon.acme.example", "--workspace", ACME],
        &["hover", "fixtures/acme/data/common.yaml:1", "--node", node],
    ] {
        let (code, _, error) = output_of(arguments);
        assert_eq!(code, Some(1), "{error}");
        assert!(error.ends_with(hint), "{arguments:?}: {error}");
    }
    let (code, out, error) = output_of(&[
        "diff",
        "--against",
        "./fixtures/acme",
        "--key",
        "no::*",
        "--workspace",
        ACME,
    ]);
    let expected = (Some(1), "", "hiera-ls: no data sets 'no::*'\n");
    assert_eq!((code, &*out, &*error), expected);
}

#[test]
fn a_command_line_that_makes_no_sense_ends_with_2() {
    for arguments in [
        &["lookup"][..],
        &["lookup", "a", "--merge", "deeep"],
        &["explain-key"],
        &["lookup", "a", "--sort-merged-arrays"],
        &["matrix"],
        &["diff"],
        &["set", "a"],
        &["hover", "hiera.yaml"],
        &["encrypt", "x"],
        &["why-not", "key", "--node", "a"],
        &["diff", "--against", ""],
        &["matrix", ""],
        &["check", ""],
    ] {
        let (code, _, error) = output_of(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {error}");
        let name = arguments[0].trim_start_matches("explain-key");
        let last = error.lines().last().unwrap();
        assert!(
            last.starts_with(&format!("run 'hiera-ls {name}")),
            "{error}"
        );
        assert!(last.ends_with(" --help' for more"), "{error}");
    }
    let (code, out, _) = output_of(&["explain-key", "no::such", "--workspace", ACME]);
    assert_eq!(code, Some(0), "{out}");
    let node = "web01.lon.acme.example";
    let one = [
        "explain-key",
        "no::such",
        "--node",
        node,
        "--workspace",
        ACME,
    ];
    assert_eq!(output_of(&one).0, Some(0));
}

#[test]
fn misspelt_nodes_and_variables_get_suggestions() {
    let suggestion = "did you mean 'db01.lon.acme.example'?\n";
    let value = "profile::web::port=1";
    for arguments in [
        &["why-not", value, "--node", "db01", "--workspace", ACME][..],
        &["set", "a", "1", "--for", "db01", "--workspace", ACME],
        &["lookup", "a", "--node", "db01", "--workspace", ACME],
        &["diff", "db01", "web01", "--workspace", ACME],
    ] {
        let (code, _, error) = output_of(arguments);
        assert_eq!(code, Some(1), "{error}");
        assert!(error.ends_with(suggestion), "{arguments:?}: {error}");
    }
    let (code, _, error) = output_of(&["set", "a", "1", "--for", "rol=web", "--workspace", ACME]);
    let expected = "hiera-ls: no known node has 'rol': did you mean 'role'?\n";
    assert_eq!((code, &*error), (Some(1), expected));
}

#[test]
fn messages_name_the_requested_line_or_file() {
    let place = "fixtures/acme/data/common.yaml:9999";
    let (_, _, error) = output_of(&["hover", place]);
    assert!(error.ends_with("there is no line 9999\n"), "{error}");
    let (code, _, error) = output_of(&["encrypt"]);
    let expected = "hiera-ls: there is no certificate keys/public_key.pkcs7.pem: name one with \
                    --pkcs7-public-key\n";
    assert_eq!((code, &*error), (Some(1), expected));
    let (code, _, error) = output_of(&["diff", "--against", "/nosuch", "--workspace", ACME]);
    let expected = "hiera-ls: /nosuch: no such folder\n";
    assert_eq!((code, &*error), (Some(1), expected));
    let config = [
        "lookup",
        "a",
        "--hiera-config",
        "nosuch",
        "--workspace",
        ACME,
    ];
    let (code, _, error) = output_of(&config);
    let expected = "hiera-ls: nosuch: no such hierarchy\n";
    assert_eq!((code, &*error), (Some(1), expected));
}

#[test]
fn a_hierarchy_that_cannot_be_read_is_why_no_node_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let nodes = folder.path().join("data/nodes");
    std::fs::create_dir_all(&nodes).unwrap();
    std::fs::write(nodes.join("web1.example.com.yaml"), "a: 1\n").unwrap();
    let hiera = folder.path().join("hiera.yaml");
    std::fs::write(hiera, "version: [\n").unwrap();
    let at = folder.path().to_str().unwrap();
    let (code, _, error) = output_of(&["diff", "--against", ".", "--workspace", at]);
    assert_eq!(code, Some(1));
    assert!(
        error.contains("hiera.yaml): did not find expected node content"),
        "{error}"
    );
}

#[test]
fn skipped_folders_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("d/".repeat(80));
    std::fs::create_dir_all(deep).unwrap();
    std::fs::write(folder.path().join("hiera.yaml"), "version: 5\n").unwrap();
    let (_, _, error) = output_of(&["doctor", "--workspace", folder.path().to_str().unwrap()]);
    assert!(error.contains("folders deep and is skipped"), "{error}");
    assert!(
        error.lines().all(|line| line.starts_with("hiera-ls: /")),
        "{error}"
    );
}

#[test]
fn a_failed_conversion_is_reported_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("data")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "hiera.yaml",
        "version: 5\nhierarchy: [{name: All, path: common.yaml}]\n",
    );
    let text = "lookup_options:\n  profile::a_long_name::of_a_class::and_its_parameter: {convert_to: Integer}\n\
                profile::a_long_name::of_a_class::and_its_parameter: many\n";
    write("data/common.yaml", text);
    let folder = folder.path().to_str().unwrap();
    let (code, out, _) = output_of(&[
        "check",
        folder,
        "--format",
        "concise",
        "--select",
        "bad-convert-to",
    ]);
    assert_eq!(code, Some(1), "{out}");
    let reason = "'many' cannot be converted to Integer";
    assert!(out.contains(reason), "{out}");
}
