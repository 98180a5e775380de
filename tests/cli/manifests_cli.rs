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

/// Puppet fails there, for `port` and for any other key.
#[test]
fn a_manifest_that_fails_gives_no_value() {
    for (site, message) in [
        (
            "if $facts['family'] != 'RedHat' { fail('only RedHat') }\nnode default { }\n",
            "only RedHat (manifests/site.pp:1)",
        ),
        (
            "node /^web/ { }\nnode default {\n  fail(\"unknown node ${trusted['certname']}\")\n}\n",
            "unknown node n1 (manifests/site.pp:3)",
        ),
        (
            "$x = lookup('port', String)\n",
            "Found value has wrong type, expects a String value, got Integer (manifests/site.pp:1)",
        ),
        (
            "node 'n1' { }\nnode 'N1' { }\n",
            "Node 'n1' is already defined",
        ),
        (
            "node 'n2' { }\n",
            "Could not find node statement with name 'default' or 'n1'",
        ),
        (
            "$h = 1\n\n$h = 2\n",
            "Cannot reassign variable '$h' (manifests/site.pp:3)",
        ),
        (
            "notice($facts['nope']['x'])\n",
            "Operator '[]' is not applicable to a value that is no collection (manifests/site.pp:1)",
        ),
    ] {
        let folder = workspace(&[
            ("environment.conf", "modulepath = modules\n"),
            (
                "hiera.yaml",
                "version: 5\nhierarchy: [{name: c, path: common.yaml}]\n",
            ),
            ("data/common.yaml", "port: 80\n"),
            ("manifests/site.pp", site),
            ("facts.json", r#"{"family": "Debian"}"#),
            ("nodes.json", r#"{"n1": {"facts": {"family": "Debian"}}}"#),
        ]);
        let run = |arguments: &[&str]| output_of(folder.path(), arguments);
        let of_node = ["lookup", "port", "--node", "n1", "--facts", "facts.json"];
        let expected = format!("hiera-ls: Puppet compiles no catalog for this node: {message}\n");
        let (code, shown, error) = run(&[&of_node[..], &["--compile"]].concat());
        assert_eq!((code, &*shown), (Some(1), ""), "{site}");
        assert!(error.ends_with(&expected), "{error}");
        // `puppet lookup` runs no manifest.
        assert_eq!(run(&of_node).1, "--- 80\n");
        let (_, row, _) = run(&["matrix", "port", "--format", "csv"]);
        let is_missing_fact = site.contains("nope");
        assert_eq!(row.contains("port,true,80"), is_missing_fact, "{row}");
        assert_eq!(row.contains("port,unknown,,"), !is_missing_fact, "{row}");
    }
}

/// Whether Puppet fails is unknown if a condition around `fail` is.
#[test]
fn a_manifest_that_may_fail_gives_no_value_with_compile() {
    let folder = workspace(&[
        ("environment.conf", "modulepath = modules\n"),
        (
            "hiera.yaml",
            "version: 5\nhierarchy: [{name: c, path: common.yaml}]\n",
        ),
        ("data/common.yaml", "port: 80\n"),
        (
            "manifests/site.pp",
            "if m::same(true) { fail('no') }\nnotice($facts['os']['family'])\n",
        ),
        (
            "modules/m/lib/puppet/functions/m/same.rb",
            "Puppet::Functions.create_function(:'m::same') { def same(x) x end }\n",
        ),
        (
            "nodes.json",
            r#"{"n1": {"facts": {"os": {"family": "a"}}}}"#,
        ),
    ]);
    let (code, shown, error) = output_of(
        folder.path(),
        &["lookup", "port", "--node", "n1", "--compile"],
    );
    assert_eq!((code, &*shown), (Some(3), ""), "{error}");
    assert!(error.contains("the manifests may fail"), "{error}");
}

#[test]
fn nodes_without_a_catalog_are_told_apart_from_others() {
    let folder = workspace(&[
        ("environment.conf", "modulepath = modules\n"),
        (
            "hiera.yaml",
            "version: 5\nhierarchy: [{name: c, path: common.yaml}]\n",
        ),
        ("data/common.yaml", "port: 80\n"),
        ("manifests/site.pp", "node /^web/ { include base }\n"),
        (
            "nodes.json",
            r#"{"web1": {"facts": {"a": 1}}, "db1": {"facts": {"a": 1}}, "web2": {"facts": {"a": 1}}}"#,
        ),
    ]);
    let (_, rows, _) = output_of(folder.path(), &["matrix", "port", "--format", "csv"]);
    let rows: Vec<&str> = rows.lines().skip(1).collect();
    let unknown = "port,unknown,,Puppet compiles no catalog: Could not find node statement with name 'default' or \
                   'db1',1,db1,";
    assert_eq!(
        rows,
        ["port,true,80,,2,web1 web2,data/common.yaml:1", unknown]
    );
}

/// Files of an environment whose paths and tokens use a variable of a class.
fn with_class<'f>(site: &'f str, class: &'f str) -> tempfile::TempDir {
    workspace(&[
        ("environment.conf", "modulepath = modules\n"),
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n- {name: stage, path: 'stage/%{base::env}.yaml'}\n- {name: c, path: common.yaml}\n",
        ),
        (
            "data/common.yaml",
            "who: common\nb: 'env=%{base::env}'\nport: 80\nbase::late: common\n",
        ),
        ("data/stage/prod.yaml", "who: prod\nbase::late: prod\n"),
        ("manifests/site.pp", site),
        ("modules/base/manifests/init.pp", class),
        (
            "modules/base/manifests/child.pp",
            "class base::child inherits base { $own = \"${env}-child\" }\n",
        ),
        (
            "modules/base/manifests/thing.pp",
            "define base::thing(Integer $size) { include base }\n",
        ),
        ("nodes.json", r#"{"n1": {"facts": {"a": 1}}}"#),
    ])
}

/// Each form was compared with `puppet lookup --compile` of Puppet 7.23.
#[test]
fn classes_are_evaluated_with_compile() {
    let class = "class base(String $env = 'prod', $late = 'x') { }\n";
    for (site, expected) in [
        ("node default { include base }\n", "prod"),
        ("node default { contain base }\n", "prod"),
        ("require base\n", "prod"),
        ("class { 'base': env => 'test' }\n", "common"),
        ("['base'].include\n", "prod"),
        ("include base::child\n", "prod"),
        ("base::thing { 'a': size => 1 }\n", "prod"),
        (
            "create_resources('class', { 'base' => { 'env' => 'prod' } })\n",
            "prod",
        ),
        ("if $facts['a'] == 2 { include base }\n", "common"),
        ("node 'n2' { include base }\nnode default { }\n", "common"),
    ] {
        let folder = with_class(site, class);
        let lookup = |key: &str, more: &[&str]| {
            let all = ["lookup", key, "--node", "n1", "--puppet-version", "7"];
            output_of(folder.path(), &[&all[..], more].concat())
        };
        let (code, shown, error) = lookup("who", &["--compile"]);
        assert_eq!(
            (code, shown),
            (Some(0), format!("--- {expected}\n")),
            "{site}{error}"
        );
        let (_, shown, error) = lookup("who", &[]);
        assert_eq!(shown, "--- common\n");
        let has_note =
            error.contains("manifests set 'base::env', which changes the answer: --compile");
        assert_eq!(has_note, expected == "prod", "{error}");
        let (_, row, _) = output_of(folder.path(), &["matrix", "who", "--format", "csv"]);
        assert!(
            row.contains(&format!(r#"who,true,"""{expected}""","#)),
            "{site}{row}"
        );
    }
    // The class's own parameters are looked up before it has variables.
    let folder = with_class("include base\n", class);
    let (_, row, _) = output_of(folder.path(), &["matrix", "base::late", "--format", "csv"]);
    assert!(row.contains("base::late,unknown,"), "{row}");
}

#[test]
fn classes_that_fail_give_no_value_with_compile() {
    let class = "class base(String $env = 'prod') { }\n";
    for (site, class, message) in [
        (
            "include base::gone\n",
            class,
            "Could not find class ::base::gone for n1",
        ),
        (
            "class { 'base::gone': }\n",
            class,
            "Could not find declared class base::gone",
        ),
        ("include base\n", "class base { fail('never') }\n", "never"),
        (
            "include base\n",
            "class base($must) { }\n",
            "Class[Base]: expects a value for parameter 'must'",
        ),
        (
            "class { 'base': env => 1 }\n",
            class,
            "Class[Base]: parameter 'env' expects a String value, got Integer",
        ),
        (
            "class { 'base': no => 1 }\n",
            class,
            "Class[Base]: has no parameter named 'no'",
        ),
        (
            "include base\nclass { 'base': }\n",
            class,
            "Duplicate declaration: Class[Base] is already declared; cannot redeclare",
        ),
        (
            "base::thing { 'a': }\n",
            class,
            "Base::Thing[a]: expects a value for parameter 'size'",
        ),
        (
            "base::nothing { 'a': }\n",
            class,
            "Unknown resource type: 'base::nothing'",
        ),
        (
            "include base\n",
            "class base inherits base::gone { }\n",
            "Could not find parent resource type 'base::gone'",
        ),
        (
            "include a\nclass a inherits b { }\nclass b inherits a { }\n",
            class,
            "stack level too deep",
        ),
        (
            "include a\nclass a inherits b { }\nclass b { include c }\nclass c inherits a { }\n",
            class,
            "Could not find scope for a",
        ),
        (
            "include a\nclass { 'base': }\nclass a inherits base { }\n",
            class,
            "Duplicate declaration: Class[Base] is already declared; cannot redeclare",
        ),
        (
            "include base\n",
            "class base {\n  notice('a'\n}\n",
            "Syntax error",
        ),
        (
            "include base\n",
            "class base($x = $y, $y = 5) { }\n",
            "Class[Base]: default expression for $x tries to illegally access not yet evaluated $y",
        ),
        (
            "include base\n",
            "class base($y, $x = $y) { }\n",
            "Class[Base]: expects a value for parameter $y",
        ),
        (
            "create_resources('base::thing', { a => { size => 1 }, b => undef })\n",
            class,
            "no implicit conversion of nil into Hash",
        ),
        (
            "create_resources('base::thing', { a => text })\n",
            class,
            "no implicit conversion of String into Hash",
        ),
        (
            "$of = 'text' base::thing { 'a': * => $of }\n",
            class,
            "Expected value of type Hash, got String",
        ),
    ] {
        let folder = with_class(site, class);
        let all = [
            "lookup",
            "port",
            "--node",
            "n1",
            "--puppet-version",
            "7",
            "--compile",
        ];
        let (code, shown, error) = output_of(folder.path(), &all);
        assert_eq!((code, &*shown), (Some(1), ""), "{site}{error}");
        assert!(error.contains(message), "{error}");
    }
}

/// What cannot be seen may fail, and may include any class.
#[test]
fn classes_that_cannot_be_seen_leave_the_answer_unknown() {
    let class = "class base { $env = 'prod' }\n";
    for site in [
        "include ntp\n",
        "ntp::server { 'a': }\n",
        "if base::same(true) { include base }\n",
        "include $facts['classes'].base::same\n",
    ] {
        let folder = with_class(site, class);
        let ruby = "modules/base/lib/puppet/functions/base/same.rb";
        let ruby = folder.path().join(ruby);
        std::fs::create_dir_all(ruby.parent().unwrap()).unwrap();
        let text = "Puppet::Functions.create_function(:'base::same') { def same(x) x end }\n";
        std::fs::write(ruby, text).unwrap();
        let all = [
            "lookup",
            "port",
            "--node",
            "n1",
            "--puppet-version",
            "7",
            "--compile",
        ];
        let (code, shown, error) = output_of(folder.path(), &all);
        assert_eq!((code, &*shown), (Some(3), ""), "{site}{error}");
        assert!(
            error.contains("the manifests may fail for this node"),
            "{error}"
        );
    }
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
