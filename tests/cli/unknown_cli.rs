//! Answers that nobody can know, conditions of answers, and explanations without a node.

use super::reach_cli::{output_of, workspace};

#[test]
fn an_explanation_without_a_node_is_one_for_each_answer() {
    let folder = workspace(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n- {name: r, path: '%{role}.yaml'}\n- {name: c, path: common.yaml}\n",
        ),
        ("data/web.yaml", "port: 443\n"),
        ("data/common.yaml", "port: 80\n"),
        (
            "nodes.yaml",
            "a: {variables: {role: web}}\nb: {variables: {role: x}}\nc: {variables: {role: y}}\n",
        ),
    ]);
    let (code, shown, error) = output_of(folder.path(), &["explain-key", "port"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(
        shown.starts_with("b, and 1 more with the same answer\n  "),
        "{shown}"
    );
    assert!(shown.contains("\na\n  "), "{shown}");
    assert_eq!(shown.matches("Found key: \"port\"").count(), 2, "{shown}");
}

#[test]
fn a_key_that_only_data_elsewhere_may_set_is_unknown_and_not_missing() {
    let hiera = "version: 5\nhierarchy:\n- {name: Private, datadir: /srv/nowhere/data, path: common.yaml}\n\
                 - {name: Common, path: common.yaml}\n";
    let folder = workspace(&[
        ("hiera.yaml", hiera),
        ("data/common.yaml", "port: 80\n"),
        ("nodes.json", "{\"a.example\": {}}"),
    ]);
    let (code, shown, error) = output_of(folder.path(), &["matrix", "token"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(shown.contains("unless level 'Private'"), "{shown}");
    assert!(!error.contains("no data sets"), "{error}");
}

#[test]
fn a_glob_does_not_own_the_files_that_it_finds() {
    let hiera = "version: 5\nhierarchy:\n- {name: host, path: 'nodes/%{trusted.certname}.yaml'}\n\
                 - {name: common, path: common.yaml}\n- {name: any, glob: 'nodes/*.yaml'}\n";
    let folder = workspace(&[
        ("hiera.yaml", hiera),
        ("data/common.yaml", "p: 1\n"),
        ("data/nodes/a.example.yaml", "p: 2\n"),
        ("data/nodes/b.example.yaml", "p: 3\n"),
    ]);
    let at = folder.path();
    let (_, matrix, _) = output_of(at, &["matrix", "p"]);
    let title = "p — 2 different values on 2 nodes\n";
    assert!(matrix.starts_with(title), "{matrix}");
    let (_, hover, _) = output_of(at, &["hover", "data/nodes/a.example.yaml:1"]);
    assert!(
        hover.contains("  2  # a.example · data/nodes/a.example.yaml:1\n"),
        "{hover}"
    );
    let (code, found, _) = output_of(at, &["check"]);
    assert_eq!((code, &*found), (Some(0), "4 files checked, no problems\n"));
}

#[test]
fn a_level_that_a_template_prints_makes_answers_unknown() {
    let hiera = "version: 5\ndefaults: {datadir: <%= $d %>, data_hash: yaml_data}\nhierarchy:\n\
                 <% $all.each |$p| { -%>\n- {name: one, path: <%= $p %>.yaml}\n<% } -%>\n\
                 - {name: common, path: common.yaml}\n";
    let folder = workspace(&[
        ("modules/m/templates/hiera.yaml.epp", hiera),
        ("data/nodes/a.example.yaml", "p: 2\n"),
        ("data/common.yaml", "p: 1\n"),
        ("nodes.json", r#"{"a.example": {"facts": {"x": 1}}}"#),
    ]);
    let lookup = ["lookup", "p", "--node", "a.example"];
    let (code, _, error) = output_of(folder.path(), &lookup);
    assert_eq!(code, Some(3), "{error}");
    assert!(error.contains("depends on '<%= $p %>'"), "{error}");
}

#[test]
fn files_of_a_function_that_is_not_run_override_nothing() {
    let hiera = "version: 5\nhierarchy:\n- {name: regex, lookup_key: 'site::regex', path: regex.yaml}\n\
                 - {name: common, path: common.yaml}\n";
    let folder = workspace(&[
        ("hiera.yaml", hiera),
        ("data/regex.yaml", "ntp: {a: 1}\n"),
        ("data/common.yaml", "ntp: 1\n"),
    ]);
    let at = folder.path();
    let (_, found, _) = output_of(at, &["check"]);
    assert!(!found.contains("shadowed-value"), "{found}");
    let (_, hover, _) = output_of(at, &["hover", "data/common.yaml:1"]);
    assert!(!hover.contains("overrides"), "{hover}");
    assert!(hover.contains("may differ: site::regex"), "{hover}");
}

#[test]
fn a_conditional_answer_lists_its_declarations() {
    let hiera = "version: 5\nhierarchy:\n- {name: vault, lookup_key: vault}\n\
                 - {name: sorted, data_hash: 'site::sorted', path: common.yaml}\n";
    let declared = "backends:\n  site::sorted: {like: yaml_data}\n";
    let folder = workspace(&[
        ("hiera.yaml", hiera),
        (".hiera-ls.yaml", declared),
        ("data/common.yaml", "a: 1\n"),
    ]);
    for of in [&[][..], &["--node", "n"]] {
        let (code, _, error) = output_of(folder.path(), &[&["lookup", "a"], of].concat());
        assert_eq!(code, Some(3), "{error}");
        assert!(error.contains("1, unless vault has the key\n"), "{error}");
        let note =
            "note: the function 'site::sorted' is declared to read like yaml_data (not run)\n";
        assert!(error.contains(note), "{error}");
    }
}

#[test]
fn the_condition_of_an_answer_is_printed_with_it() {
    let hiera = "version: 5\nhierarchy:\n- {name: vault, lookup_key: vault}\n\
                 - {name: node, path: 'node/%{trusted.certname}.yaml'}\n\
                 - {name: common, path: common.yaml}\n";
    let folder = workspace(&[
        ("hiera.yaml", hiera),
        ("data/node/a.x.yaml", "port: 81\nonly: 1\n"),
        ("data/common.yaml", "port: 80\n"),
    ]);
    let found = |key: &str| output_of(folder.path(), &["lookup", key]).1;
    let expected = "port — 2 different values, depending on a node's facts\n  \
                    81, unless vault has the key  where trusted.certname = a.x  data/node/a.x.yaml:1\n  \
                    80, unless vault has the key  every other node              data/common.yaml:1\n";
    assert_eq!(found("port"), expected);
    let expected = "only — 2 different values, depending on a node's facts\n  \
                    1, unless vault has the key          where trusted.certname = a.x  data/node/a.x.yaml:2\n  \
                    (not set), unless vault has the key  every other node\n";
    assert_eq!(found("only"), expected);
}
