//! Variables of site manifests on the command line: agents get them, `puppet lookup` sees fewer.

use super::reach_cli::{output_of, workspace};

const SITE: &str = "$team = \"team-${facts['networking']['hostname']}\"\nnode /^web/ {\n  $role = 'web'\n}\nnode default {\n  $role = 'db'\n}\n";

const FILES: [(&str, &str); 6] = [
    ("environment.conf", "modulepath = modules\n"),
    (
        "hiera.yaml",
        "version: 5\nhierarchy:\n- {name: roles, path: 'role/%{role}.yaml'}\n- {name: common, path: common.yaml}\n",
    ),
    ("manifests/site.pp", SITE),
    ("data/role/web.yaml", "port: 80\n"),
    (
        "data/common.yaml",
        "port: 1\nteam: \"%{team} %{role} %{::role}\"\n",
    ),
    (
        "nodes.json",
        r#"{"web1.example.com": {"facts": {"a": 1}, "variables": {}}, "x.example.com": {"facts": {"a": 1}, "variables": {}}}"#,
    ),
];

#[test]
fn the_matrix_shows_what_agents_get() {
    let folder = workspace(&FILES);
    let (code, shown, error) =
        output_of(folder.path(), &["matrix", "port", "--format", "json-lines"]);
    assert_eq!(code, Some(0), "{error}");
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let answers = shown["answers"].as_array();
    let answers = answers.unwrap_or_else(|| panic!("{shown}"));
    let answers: Vec<_> = answers
        .iter()
        .map(|answer| (answer["value"].clone(), answer["nodes"].clone()))
        .collect();
    assert_eq!(
        answers,
        [
            (80.into(), serde_json::json!(["web1.example.com"])),
            (1.into(), serde_json::json!(["x.example.com"]))
        ]
    );
}

#[test]
fn variables_from_file_names_apply_where_manifests_are_unknown() {
    let site = "$names = split($trusted['certname'], '\\.')\n$host = $names[0]\n\
                $parts = split($host, '-')\n$location = $parts[0]\n$role = $parts[1]\n";
    let folder = workspace(&[
        ("environment.conf", "modulepath = modules\n"),
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n- {name: host, path: 'nodes/%{location}/%{host}.yaml'}\n\
             - {name: role, path: 'role/%{::role}.yaml'}\n- {name: common, path: common.yaml}\n",
        ),
        ("manifests/site.pp", site),
        ("data/nodes/lon/lon-web-1.yaml", "own: 1\n"),
        ("data/role/web.yaml", "port: 80\n"),
        ("data/common.yaml", "port: 1\n"),
    ]);
    let shown = output_of(folder.path(), &["matrix", "port"]).1;
    assert!(shown.contains("80  lon-web-1"), "{shown}");
    // A lookup names the values that it cannot know without the manifests.
    let (_, _, error) = output_of(folder.path(), &["lookup", "port", "--node", "lon-web-1"]);
    let hint = "manifests set 'role' for nodes: --compile runs them";
    assert!(error.contains(hint), "{error}");
    let report = output_of(folder.path(), &["doctor"]).1;
    for name in ["location", "host", "role"] {
        let known = report
            .lines()
            .any(|line| line.trim_start().starts_with(name) && line.contains("1 of 1 node"));
        assert!(known, "{name}\n{report}");
    }
}

#[test]
fn a_function_in_puppet_gives_each_node_its_own_data() {
    let folder = workspace(&[
        ("environment.conf", "modulepath = modules\n"),
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n- {name: code, data_hash: 'm::data'}\n",
        ),
        (
            "modules/m/functions/data.pp",
            "function m::data(Hash $options, $context) {\n  { 'rack' => $facts['place'] ? { 'lon' => 1, default => 2 } }\n}\n",
        ),
        (
            "nodes.json",
            r#"{"a": {"facts": {"place": "lon"}}, "b": {"facts": {"place": "nyc"}}, "c": {"facts": {"place": "lon"}}}"#,
        ),
    ]);
    let (code, shown, error) =
        output_of(folder.path(), &["matrix", "rack", "--format", "json-lines"]);
    assert_eq!(code, Some(0), "{error}");
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let answers = shown["answers"].as_array().unwrap().iter();
    let answers = answers.map(|answer| (answer["value"].clone(), answer["nodes"].clone()));
    assert_eq!(
        answers.collect::<Vec<_>>(),
        [
            (1.into(), serde_json::json!(["a", "c"])),
            (2.into(), serde_json::json!(["b"]))
        ]
    );
}

#[test]
fn lookup_runs_no_manifest_and_with_compile_the_top_scope() {
    let folder = workspace(&FILES);
    let lookup = |arguments: &[&str]| {
        let version = ["--node", "web1.example.com", "--puppet-version", "7"];
        output_of(
            folder.path(),
            &[&["lookup"], arguments, &version[..]].concat(),
        )
    };
    assert_eq!(lookup(&["port"]).1, "--- 1\n");
    assert_eq!(lookup(&["port", "--compile"]).1, "--- 1\n");
    assert_eq!(lookup(&["team"]).1, "--- \"  \"\n");
    assert_eq!(lookup(&["team", "--compile"]).1, "--- 'team-web1  '\n");
}

#[test]
fn a_comparison_runs_the_manifests_of_each_side() {
    let folder = workspace(&FILES);
    let other = workspace(&FILES);
    let site = SITE.replace("'db'", "'web'");
    std::fs::write(other.path().join("manifests/site.pp"), site).unwrap();
    let other = other.path().to_str().unwrap().to_owned();
    let (_, shown, error) = output_of(
        folder.path(),
        &["diff", "--against", &other, "--format", "json-lines"],
    );
    let shown: serde_json::Value =
        serde_json::from_str(&shown).unwrap_or_else(|_| panic!("{error}"));
    let shown = shown.to_string();
    assert!(shown.contains("x.example.com"), "{shown}");
    assert!(!shown.contains("web1.example.com"), "{shown}");
}

#[test]
fn a_lookup_says_what_manifests_would_change() {
    let folder = workspace(&FILES);
    let note = |arguments: &[&str]| {
        let all = [&["lookup", "--node", "web1.example.com"], arguments].concat();
        let (_, _, error) = output_of(folder.path(), &all);
        let notes = error.lines().filter(|line| line.starts_with("note: "));
        notes.map(str::to_owned).collect::<Vec<_>>()
    };
    let of_block = "note: node blocks of manifests set 'role', which changes the answer for the catalog of this node: \
                    puppet lookup does not run them";
    assert_eq!(note(&["port"]), [of_block]);
    assert_eq!(note(&["port", "--compile"]), [of_block]);
    let of_top = "note: manifests set 'role' and 'team', which changes the answer: --compile runs them, as for puppet \
                  lookup";
    assert_eq!(note(&["team"]), [of_top]);
    let folder = workspace(&FILES[1..]);
    std::fs::remove_file(folder.path().join("manifests/site.pp")).unwrap();
    let (_, _, error) = output_of(
        folder.path(),
        &["lookup", "port", "--node", "web1.example.com"],
    );
    assert!(!error.contains("note: "), "{error}");
}
