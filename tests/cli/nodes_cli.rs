//! The nodes that commands find on their own, and the report of `doctor`.

use std::path::Path;
use std::process::Command;

const HIERA: &str = "version: 5\nhierarchy:\n\
    - {name: Host, path: 'nodes/%{::location}/%{::host}.yaml'}\n\
    - {name: Role, path: 'role/%{::role}.yaml'}\n\
    - {name: Common, path: common.yaml}\n";

/// A Vagrant file: machines by name, and no data for Puppet.
const VAGRANT: &str = "web:\n  box: debian/12\n  memory: 512\ndb:\n  box: debian/12\n";

pub(super) fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let at = folder.join(name);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, text).unwrap();
    }
}

/// A workspace with data files for hosts, through variables that only a manifest sets.
fn workspace() -> tempfile::TempDir {
    files_in(&[
        ("hiera.yaml", HIERA),
        ("nodes.yaml", VAGRANT),
        ("data/nodes/lon/web01.yaml", "port: 443\n"),
        ("data/nodes/lon/db01.yaml", "other: 1\n"),
        ("data/nodes/nyc/web01.yaml", "port: 444\n"),
        ("data/role/db.yaml", "port: 5432\n"),
        ("data/common.yaml", "port: 80\nname: x\n"),
        ("data/old/common.yaml", "port: 1\n"),
    ])
}

pub(super) fn files_in(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), files);
    folder
}

/// Standard output, standard error and the exit code.
pub(super) fn run(folder: &Path, arguments: &[&str]) -> (String, String, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().unwrap();
    (text(&output.stdout), text(&output.stderr), code)
}

#[test]
fn a_folder_of_environments_has_the_nodes_of_each() {
    let hiera = "version: 5\nhierarchy: [{name: a, path: common.yaml}]\n";
    let folder = files_in(&[
        ("environments/production/hiera.yaml", hiera),
        (
            "environments/production/data/common.yaml",
            "of: '%{environment}'\n",
        ),
        ("environments/staging/hiera.yaml", hiera),
        (
            "environments/staging/data/common.yaml",
            "of: 'next %{environment}'\n",
        ),
        (
            "nodes.json",
            r#"{"a": {"facts": {}, "environment": "production"}, "b": {"facts": {}, "environment": "staging"}, "c": {"facts": {}}}"#,
        ),
    ]);
    for (environment, nodes, value) in [
        ("production", &["a", "c"][..], "production"),
        ("staging", &["b", "c"][..], "next staging"),
    ] {
        let words = [
            "matrix",
            "of",
            "--format",
            "json-lines",
            "--environment",
            environment,
        ];
        let (text, note, _) = run(folder.path(), &words);
        let row: serde_json::Value = serde_json::from_str(&text).unwrap();
        let answers = row["answers"].as_array().unwrap();
        assert_eq!(answers.len(), 1, "{text}");
        assert_eq!(answers[0]["nodes"], serde_json::json!(nodes));
        assert_eq!(answers[0]["value"], value);
        assert!(
            note.contains("1 node of other environments left out"),
            "{note}"
        );
    }
    // A comparison of environments is for all nodes.
    let words = ["diff", "production", "staging", "--format", "json-lines"];
    let (text, _, code) = run(folder.path(), &words);
    let row: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(row["after"]["nodes"], serde_json::json!(["a", "b", "c"]));
    assert_eq!(code, 2);
}

#[test]
fn hosts_are_known_by_the_names_of_their_files() {
    let folder = workspace();
    let (text, _, code) = run(folder.path(), &["matrix", "port", "--format", "json-lines"]);
    assert_eq!(code, 0);
    let row: serde_json::Value = serde_json::from_str(&text).unwrap();
    let answers = row["answers"].as_array().unwrap();
    let of = |node: &str| {
        let mut answers = answers.iter();
        let is_its = |answer: &&serde_json::Value| {
            answer["nodes"].as_array().unwrap().contains(&node.into())
        };
        answers.find(is_its).unwrap()
    };
    // Two hosts of the same name are distinguished by other parts of their paths.
    assert_eq!(of("lon/web01")["value"], 443);
    assert_eq!(of("nyc/web01")["value"], 444);
    // Values that depend on the role stay unknown, others are certain.
    assert!(of("db01")["found"].is_null(), "{text}");
    let (text, _, _) = run(folder.path(), &["matrix", "name"]);
    assert!(text.starts_with("name — the same for 3 nodes\n"), "{text}");
    // An unknown name gets no answer.
    let (_, error, code) = run(folder.path(), &["lookup", "port", "--node", "db01"]);
    assert_eq!(code, 3, "{error}");
    assert!(
        error.contains("no facts are known of node 'db01'"),
        "{error}"
    );
    let (text, _, code) = run(folder.path(), &["lookup", "name", "--node", "db01"]);
    assert_eq!((text.as_str(), code), ("--- x\n", 0));
}

#[test]
fn all_commands_take_the_same_nodes_file() {
    let folder = workspace();
    let nodes = "web01: {variables: {location: lon, host: web01, role: web}}\n\
                 db01: {variables: {location: lon, host: db01, role: db}}\n";
    write(folder.path(), &[("nodes.yaml", nodes)]);
    let (text, _, code) = run(folder.path(), &["lookup", "port", "--node", "db01"]);
    assert_eq!((text.as_str(), code), ("--- 5432\n", 0));
    let (text, error, code) = run(folder.path(), &["lookup", "port", "--node", "web02"]);
    assert_eq!((text.as_str(), code), ("", 1));
    assert!(error.contains("node 'web02' is not in"), "{error}");
    let (_, error, code) = run(folder.path(), &["lookup", "port"]);
    assert_eq!(code, 2, "{error}");
    let (text, _, _) = run(folder.path(), &["matrix", "port"]);
    assert!(
        text.starts_with("port — 2 different values on 2 nodes\n"),
        "{text}"
    );
    let (text, _, _) = run(folder.path(), &["hover", "data/common.yaml:1:1"]);
    assert!(text.contains("2 nodes"), "{text}");
}

#[test]
fn files_that_are_named_after_a_kind_of_nodes_name_no_node() {
    let hiera = "version: 5\nhierarchy:\n\
                 - {name: Host, path: 'hosts/%{::host}.yaml'}\n\
                 - {name: Class, path: 'class/%{::environment}/%{::site_node_class}.yaml'}\n\
                 - {name: Type, path: 'type/%{node_type_name}.yaml'}\n";
    let folder = files_in(&[
        ("hiera.yaml", hiera),
        ("data/hosts/web01.yaml", "port: 443\n"),
        ("data/class/production/cache.yaml", "port: 80\n"),
        ("data/type/small.yaml", "port: 81\n"),
    ]);
    let (text, _, _) = run(folder.path(), &["matrix", "port", "--format", "json-lines"]);
    assert!(text.contains("web01"), "{text}");
    assert!(!text.contains("cache") && !text.contains("small"), "{text}");
}

#[test]
fn the_doctor_lists_hierarchies_nodes_and_unread_files() {
    let folder = workspace();
    let (text, error, code) = run(folder.path(), &["doctor"]);
    assert_eq!(code, 0, "{error}");
    for line in [
        "  hiera.yaml — environment in ., version 5: it is where Puppet looks for it; it reads",
        "    Host    3      location, host  yaml_data\n",
        "    Common  1      no facts        yaml_data\n",
        "3 nodes from the names of data files, without facts",
        "nodes.yaml is not used: it does not map nodes",
        "  6 files, 5 of them read by a level (83 %)\n",
        "    data/old/common.yaml\n",
        "hiera-ls nodes import --puppetdb https://puppetdb.example.com:8081",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let (text, _, _) = run(folder.path(), &["doctor", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["version"], 1);
    assert_eq!(report["nodes"]["count"], 3);
    assert_eq!(report["nodes"]["names_only"], 3);
    assert_eq!(report["files"]["reached"], 5);
    let variables = report["variables"].as_array().unwrap();
    let known = |name: &str| {
        let mut variables = variables.iter();
        variables.find(|of| of["name"] == name).unwrap()["known"].clone()
    };
    assert_eq!([known("host"), known("location"), known("role")], [3, 3, 0]);
    // With facts of all nodes everything is known.
    let nodes = "web01: {variables: {location: lon, host: web01, role: web}}\n";
    write(folder.path(), &[("nodes.yaml", nodes)]);
    let (text, _, _) = run(folder.path(), &["doctor"]);
    assert!(text.contains("1 node from nodes.yaml\n"), "{text}");
    assert!(!text.contains("nodes import"), "{text}");
}

/// Copies Acme into a subfolder.
fn acme_below(folder: &Path) {
    let status = Command::new("cp")
        .args(["-r", "fixtures/acme"])
        .arg(folder.join("acme"))
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn a_workspace_below_the_current_folder_has_its_nodes_in_all_commands() {
    let folder = tempfile::tempdir().unwrap();
    acme_below(folder.path());
    std::fs::remove_dir_all(folder.path().join("acme/mistakes")).unwrap();
    let (text, error, code) = run(folder.path(), &["matrix", "profile::web::port"]);
    assert_eq!(code, 0, "{error}");
    assert!(text.contains("3 different values on 8 nodes"), "{text}");
    let (found, _, _) = run(folder.path(), &["lookup", "profile::web::port"]);
    assert_eq!(found, text);
    let (text, _, _) = run(folder.path(), &["doctor"]);
    assert!(text.contains("8 nodes from acme/nodes.json"), "{text}");
    assert!(!text.contains("nodes import"), "{text}");
    let (text, error, code) = run(folder.path(), &["test"]);
    assert_eq!(code, 0, "{text}{error}");
    // A workspace is not a folder of expectations.
    let (_, error, code) = run(folder.path(), &["test", "acme"]);
    assert_eq!(code, 2, "{error}");
    assert!(
        error.contains("'hiera-ls test --workspace acme'"),
        "{error}"
    );
}

#[test]
fn files_that_the_doctor_calls_refused_are_findings_of_check() {
    let folder = tempfile::tempdir().unwrap();
    acme_below(folder.path());
    std::fs::remove_dir_all(folder.path().join("acme/mistakes")).unwrap();
    let (text, _, _) = run(folder.path(), &["doctor"]);
    assert!(!text.contains("Puppet refuses"), "{text}");
    let (text, error, code) = run(folder.path(), &["check", "acme/modules"]);
    assert_eq!(code, 0, "{text}{error}");
}

#[test]
fn commands_of_the_doctor_can_be_pasted_where_they_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let hiera = "version: 5\nhierarchy:\n- {name: Common, path: common.yaml, paths: [a.yaml]}\n";
    write(
        &folder.path().join("it's here"),
        &[("hiera.yaml", hiera), ("data/common.yaml", "port: 80\n")],
    );
    let (text, error, _) = run(folder.path(), &["doctor", "--workspace", "it's here"]);
    let mut lines = text.lines();
    let command = lines.find_map(|line| Some(&line[line.find("cd ")?..]));
    let command = command.unwrap_or_else(|| panic!("{text}{error}"));
    let command = command.replace("hiera-ls", env!("CARGO_BIN_EXE_hiera-ls"));
    let output = Command::new("sh")
        .args(["-c", &command])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let checked = String::from_utf8(output.stdout).unwrap();
    assert!(
        checked.contains("error[hiera-config]"),
        "{command}: {checked}"
    );
}

#[test]
fn without_nodes_a_file_with_an_ambiguous_name_makes_the_answer_uncertain() {
    let folder = tempfile::tempdir().unwrap();
    let hiera = "version: 5\nhierarchy:\n- {name: two, path: '%{x}-%{y}.yaml'}\n\
                 - {name: Common, path: common.yaml}\n";
    let files = [
        ("hiera.yaml", hiera),
        ("data/common.yaml", "port: 1\n"),
        ("data/a-b-c.yaml", "port: 2\n"),
    ];
    write(folder.path(), &files);
    for command in ["matrix", "lookup"] {
        let (text, error, _) = run(folder.path(), &[command, "port"]);
        let unless = "unless a file for x and y has the key";
        assert!(
            text.contains(unless) || error.contains(unless),
            "{command}: {text}{error}"
        );
    }
}

#[test]
fn without_nodes_a_matrix_shows_the_answers_by_facts() {
    let folder = tempfile::tempdir().unwrap();
    let hiera = "version: 5\nhierarchy:\n- {name: os, path: 'os/%{facts.os.family}.yaml'}\n\
                 - {name: Common, path: common.yaml}\n";
    let files = [
        ("hiera.yaml", hiera),
        ("data/common.yaml", "port: 1\nhost: a\n"),
        ("data/os/Debian.yaml", "port: 2\nonly: 3\n"),
        ("data/os/Suse.yaml", "only: 3\n"),
    ];
    write(folder.path(), &files);
    let (text, error, code) = run(folder.path(), &["matrix", "port", "host", "only"]);
    assert_eq!(code, 0, "{error}");
    assert!(error.starts_with("note: no nodes are known, "), "{error}");
    assert_eq!(
        text,
        "port — 2 different values, depending on a node's facts\n  \
         2  where facts.os.family = Debian  data/os/Debian.yaml:1\n  \
         1  every other node                data/common.yaml:1\n\
         host — the same for every node\n  \
         \"a\"  every node  data/common.yaml:2\n\
         only — 2 different values, depending on a node's facts\n  \
         3          where facts.os.family = Debian or Suse  data/os/Debian.yaml:2 data/os/Suse.yaml:1\n  \
         (not set)  every other node\n"
    );
    // Without a hierarchy nodes are not needed.
    let empty = tempfile::tempdir().unwrap();
    for (arguments, expected) in [(&["matrix", "port"][..], 1), (&["set", "port", "2"], 1)] {
        let (_, error, code) = run(empty.path(), arguments);
        assert_eq!(code, expected, "{arguments:?}");
        assert!(
            error.contains("no hierarchy at or below"),
            "{arguments:?}: {error}"
        );
    }
}

#[test]
fn files_that_are_called_as_hosts_are_name_nodes_whatever_the_variable_is_called() {
    let names = |files: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let hiera = "version: 5\nhierarchy:\n- {name: It, path: 'by/%{::it}.yaml'}\n- {name: Common, path: common.yaml}\n";
        write(
            folder.path(),
            &[("hiera.yaml", hiera), ("data/common.yaml", "port: 1\n")],
        );
        for file in files {
            write(
                folder.path(),
                &[(&format!("data/by/{file}.yaml"), "port: 2\n")],
            );
        }
        let (text, _, _) = run(folder.path(), &["doctor", "--format", "json"]);
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        report["nodes"]["count"].as_u64().unwrap()
    };
    assert_eq!(
        names(&[
            "web01.lon.example.com",
            "web02.lon.example.com",
            "db1.nyc.example.com"
        ]),
        3
    );
    // Domains, versions, roles and too few files are not hosts.
    assert_eq!(
        names(&["lon.example.com", "nyc.example.com", "ber.example.com"]),
        0
    );
    assert_eq!(names(&["1.2.3", "2.0.1", "web01.lon.example.com"]), 0);
    assert_eq!(names(&["web", "db", "mail"]), 0);
    assert_eq!(names(&["web01.lon.example.com"]), 0);
}

#[test]
fn a_table_of_full_names_maps_files_of_host_names_to_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let hiera = "version: 5\nhierarchy:\n- {name: Host, path: 'nodes/%{facts.hostname}.yaml'}\n\
                 - {name: Role, path: 'role/%{role}.yaml'}\n- {name: Common, path: common.yaml}\n";
    let settings = "nodes:\n- names:\n    db1.example.com: {variables: {role: db}}\n    \
                    web1.a.com: {variables: {role: web}}\n    web1.b.com: {variables: {role: web}}\n";
    write(
        folder.path(),
        &[
            ("hiera.yaml", hiera),
            (".hiera-ls.yaml", settings),
            ("data/common.yaml", "port: 1\n"),
            ("data/nodes/db1.yaml", "name: the database\n"),
            ("data/nodes/web1.yaml", "name: a web server\n"),
            ("data/role/db.yaml", "port: 5432\n"),
            ("data/role/web.yaml", "port: 443\n"),
        ],
    );
    let values = |key: &str| run(folder.path(), &["matrix", key]).0;
    expect_test::expect![[r#"
        port — 3 different values on 4 nodes
          443                                            2 nodes          data/role/web.yaml:1
          5432                                           db1.example.com  data/role/db.yaml:1
          1, unless one of 2 files for role has the key  web1             data/common.yaml:1
          5432  where role = db  data/role/db.yaml:1
          443  where role = web  data/role/web.yaml:1
    "#]]
    .assert_eq(&values("port"));
    expect_test::expect![[r#"
        name — 2 different values on 4 nodes
          "a web server"  3 nodes          data/nodes/web1.yaml:1
          "the database"  db1.example.com  data/nodes/db1.yaml:1
    "#]]
    .assert_eq(&values("name"));
}

/// A name means a role.
const MEANING: &[(&str, &str)] = &[
    (
        "hiera.yaml",
        "version: 5\nhierarchy:\n- {name: role, path: 'role/%{role}.yaml'}\n\
         - {name: rack, path: 'rack/%{facts.rack}.yaml'}\n- {name: common, path: common.yaml}\n",
    ),
    ("data/role/web.yaml", "port: 443\n"),
    ("data/rack/r1.yaml", "row: 1\n"),
    ("data/rack/r2.yaml", "row: 2\n"),
    ("data/common.yaml", "port: 80\nrow: 0\n"),
    (
        ".hiera-ls.yaml",
        "nodes:\n- match: '^(?<role>[a-z]+)\\d+\\.'\n",
    ),
    ("r2.json", r#"{"rack": "r2"}"#),
];

#[test]
fn a_node_that_is_in_no_file_is_what_its_name_means() {
    let folder = files_in(MEANING);
    let web = ["--node", "web01.a.example"];
    for facts in [&[][..], &["--facts", "r2.json"]] {
        let lookup = [&["lookup", "port"], &web[..], facts].concat();
        let (value, error, code) = run(folder.path(), &lookup);
        assert_eq!((&*value, &*error, code), ("--- 443\n", "", 0));
        let hover = [&["hover", "data/common.yaml:1"], &web[..], facts].concat();
        let (hover, _, _) = run(folder.path(), &hover);
        assert!(hover.contains("\n  443\n"), "{hover}");
        let why = [&["why-not", "port=443"], &web[..], facts].concat();
        let (why, error, code) = run(folder.path(), &why);
        assert_eq!((&*error, code), ("", 0), "{why}");
    }
    let (difference, error, _) = run(
        folder.path(),
        &["diff", "web01.a.example", "db01.a.example", "--key", "port"],
    );
    assert!(difference.contains("- 443"), "{difference}{error}");
    assert!(difference.contains("+ 80"), "{difference}{error}");
}

#[test]
fn saved_facts_of_another_name_are_told() {
    let folder = files_in(&[
        ("hiera.yaml", HIERA),
        ("data/common.yaml", "port: 80\n"),
        (
            "show.json",
            r#"{"networking": {"fqdn": "web01.x.example"}, "os": {"family": "RedHat"}, "kernel": "Linux"}"#,
        ),
    ]);
    let words = ["lookup", "port", "--nodes", "show.json", "--node", "cert-7"];
    let (_, error, code) = run(folder.path(), &words);
    assert_eq!(code, 1, "{error}");
    assert_eq!(
        error,
        "hiera-ls: node 'cert-7' is not in show.json: there is only 'web01.x.example'\n"
    );
}

#[test]
fn facts_of_a_flag_lie_over_those_that_are_known_of_the_node() {
    let folder = files_in(MEANING);
    let nodes = r#"{"web01.a.example": {"facts": {"rack": "r1", "x": 1}}}"#;
    std::fs::write(folder.path().join("nodes.json"), nodes).unwrap();
    let web = ["--node", "web01.a.example", "--facts", "r2.json"];
    for named in [&[][..], &["--nodes", "nodes.json"]] {
        for (key, value) in [("port", "--- 443\n"), ("row", "--- 2\n")] {
            let lookup = [&["lookup", key], &web[..], named].concat();
            let found = run(folder.path(), &lookup);
            assert_eq!(found, (value.to_owned(), String::new(), 0), "{lookup:?}");
        }
    }
    let (known, _, _) = run(
        folder.path(),
        &["lookup", "row", "--node", "web01.a.example"],
    );
    assert_eq!(known, "--- 1\n");
}

#[test]
fn hosts_are_named_by_what_an_unknown_function_reads() {
    let folder = files_in(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n\
             - {name: host, lookup_key: 'site::host', path: 'hosts/%{trusted.certname}'}\n",
        ),
        ("data/hosts/a.x.example/profile/web.yaml", "a: 1\n"),
        ("data/hosts/b.x.example.yaml", "a: 2\n"),
    ]);
    let (text, _, _) = run(folder.path(), &["matrix", "a", "--format", "json"]);
    let rows: serde_json::Value = serde_json::from_str(&text).unwrap();
    let answers = rows[0]["answers"].as_array().unwrap().iter();
    let nodes = answers.flat_map(|answer| answer["nodes"].as_array().unwrap());
    let mut nodes: Vec<&str> = nodes.filter_map(|node| node.as_str()).collect();
    nodes.sort_unstable();
    assert_eq!(nodes, ["a.x.example", "b.x.example"], "{text}");
}

#[test]
fn nodes_and_facts_are_read_from_the_standard_input_and_from_pipes() {
    use std::io::Write as _;
    let folder = super::reach_cli::workspace(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy: [{name: site, path: 'site/%{facts.site}.yaml'}]\n",
        ),
        ("data/site/lon.yaml", "k: lon\n"),
        ("data/site/nyc.yaml", "k: nyc\n"),
    ]);
    let run = |arguments: &[&str], input: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hiera-ls"));
        command.args(arguments).current_dir(folder.path());
        command.stdin(std::process::Stdio::piped());
        command.stdout(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let lookup = ["lookup", "k", "--node", "n"];
    let facts = |from| [&lookup[..], &["--facts", from]].concat();
    let matrix = |from| ["matrix", "k", "--format", "csv", "--nodes", from];
    let json = r#"{"n": {"facts": {"site": "nyc"}}}"#;
    for from in ["-", "/dev/stdin"] {
        if cfg!(windows) && from != "-" {
            continue;
        }
        assert_eq!(
            run(&facts(from), r#"{"site": "lon"}"#),
            "--- lon\n",
            "{from}"
        );
        assert_eq!(run(&facts(from), "site: lon\n"), "--- lon\n", "{from}");
        assert!(
            run(&matrix(from), json).contains("k,true,\"\"\"nyc\"\"\",,1,n,"),
            "{from}"
        );
    }
}

/// The answers are the output, also that of all other nodes; what is left out is one line on standard error.
#[test]
fn many_answers_are_a_row_on_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let hierarchy =
        "version: 5\nhierarchy:\n- {name: Node, path: 'nodes/%{trusted.certname}.yaml'}\n";
    let files: Vec<(String, String)> = (0..130)
        .map(|at| {
            (
                format!("data/nodes/n{at}.example.com.yaml"),
                format!("k: {at}\n"),
            )
        })
        .collect();
    let files = files.iter().map(|(path, text)| (&**path, &**text));
    let files: Vec<(&str, &str)> = files.chain([("hiera.yaml", hierarchy)]).collect();
    write(folder.path(), &files);
    let (shown, error, code) = run(folder.path(), &["lookup", "k"]);
    assert_eq!(code, 2);
    assert_eq!(shown.lines().count(), 101, "{shown}");
    assert_eq!(
        error,
        "and 31 more values: --render-as json prints all, --node names a node\n"
    );
    let (shown, error, _) = run(folder.path(), &["lookup", "k", "--render-as", "json"]);
    assert_eq!(error, "");
    assert!(shown.contains("n129.example.com"), "{shown}");
}
