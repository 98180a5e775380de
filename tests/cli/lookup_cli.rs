//! `hiera-ls lookup` compared with the real command `puppet lookup`: standard output byte for byte,
//! and the exit code; and our own exit codes for answers that depend on the node.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

const FACTS: &str = r#"{"role": "web", "clientcert": "n1.example.com",
    "fqdn": "n1.example.com", "hostname": "n1", "domain": "example.com"}"#;

const FILES: [(&str, &str); 7] = [
    (
        "hiera.yaml",
        "version: 5\nhierarchy:\n  - name: A\n    paths: [a.yaml, '%{role}.yaml']\n  - name: C\n    \
         path: c.yaml\n",
    ),
    (
        "data/a.yaml",
        "k: [x, '%{facts.role}', 'yes', 1.0]\nlookup_options: {k: {merge: unique}}\n\
         d: {l: [b, --c], s: one}\nmulti: \"two\\nlines\\n\"\nself: \"%{lookup('self')}\"\n\
         scope: \"%{settings::environment} %{::settings::environment} %{name} %{title} %{::::role}\"\n",
    ),
    ("data/web.yaml", "role_only: {deep: {er: ~}}\n"),
    (
        "data/c.yaml",
        "k: [y]\nh: {a: 1, '2': [~, true]}\nd: {l: [c, a], t: 2}\n",
    ),
    (
        "modules/m/hiera.yaml",
        "version: 5\nhierarchy:\n  - {name: M, path: m.yaml}\ndefault_hierarchy:\n  - {name: D, globs: \
         ['*.json'], data_hash: json_data}\n",
    ),
    (
        "modules/m/data/m.yaml",
        "m::h: {x: [\"%{lookup('k')} %{facts.role} %{facts.nope.x} %{literal('%')}\"]}\n\
         m::i: \"%{alias('h')}\"\nlookup_options: {m::i: {convert_to: Hash, merge: {strategy: deep, \
         knockout_prefix: '--'}}}\n",
    ),
    ("modules/m/data/d.json", "{\"m::d\": {\"y\": 1.5}}\n"),
];

/// Arguments that both commands accept.
const CALLS: [&[&str]; 20] = [
    &["scope"],
    &["k"],
    &["k", "--render-as", "s"],
    &["h", "--render-as", "json"],
    &["multi"],
    &["role_only.deep"],
    &["role_only.deep.er"],
    &["nope", "h.a"],
    &["nope", "--default", "1"],
    &["nope"],
    &["self"],
    &[
        "d",
        "--merge",
        "deep",
        "--knock-out-prefix=--",
        "--sort-merged-arrays",
    ],
    &["k", "--explain"],
    &["h.a", "nope", "--explain", "--render-as", "yaml"],
    &["k", "--explain-options"],
    &["m::i", "--explain", "--render-as", "json"],
    &["m::h.x.0", "--explain", "--render-as", "json"],
    &[
        "lookup_options",
        "p::none",
        "m::none",
        "m::h.z",
        "m::d.y",
        "--explain",
    ],
    &[
        "lookup_options",
        "p::none",
        "m::none",
        "m::h.z",
        "m::d.y",
        "--explain",
        "--render-as",
        "json",
    ],
    &["m::i", "--explain-options", "--render-as", "yaml"],
];

fn write_environment(folder: &Path) -> String {
    let environment = folder.join("code/environments/production");
    for (name, text) in FILES {
        let path = environment.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    std::fs::write(folder.join("facts.json"), FACTS).unwrap();
    environment.to_str().unwrap().to_owned()
}

fn ours(environment: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
        .arg("lookup")
        .args(["--workspace", environment])
        .args(arguments)
        .output()
        .unwrap()
}

/// The program in batch mode, with pipes on both sides.
fn start_batch() -> Child {
    Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
        .args(["lookup", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The answer to one request in batch mode.
fn batch(request: &serde_json::Value) -> serde_json::Value {
    let mut program = start_batch();
    writeln!(program.stdin.take().unwrap(), "{request}").unwrap();
    let output = program.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A file changed between an answer and the next request is seen by that request.
#[test]
fn a_batch_reads_files_that_changed_after_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("data")).unwrap();
    let hiera = "version: 5\nhierarchy:\n  - {name: G, globs: ['*.yaml']}\n";
    std::fs::write(at("hiera.yaml"), hiera).unwrap();
    std::fs::write(at("data/b.yaml"), "k: from b\n").unwrap();
    let mut program = start_batch();
    let mut input = program.stdin.take().unwrap();
    let mut output = BufReader::new(program.stdout.take().unwrap());
    let mut ask = |times: usize| -> Vec<String> {
        let request = serde_json::json!({ "environment_dir": at(""), "key": "k" });
        // A blank line is not a request.
        let requests = format!("\n{request}\n").repeat(times);
        input.write_all(requests.as_bytes()).unwrap();
        let mut answer = || {
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            let answer: serde_json::Value = serde_json::from_str(&line).unwrap();
            answer["value"].as_str().unwrap().to_owned()
        };
        (0..times).map(|_| answer()).collect()
    };
    assert_eq!(ask(3), ["from b"; 3]);
    std::fs::write(at("data/b.yaml"), "k: from b, changed\n").unwrap();
    assert_eq!(ask(1), ["from b, changed"]);
    std::fs::write(at("data/a.yaml"), "k: from a\n").unwrap();
    assert_eq!(ask(2), ["from a"; 2]);
    std::fs::remove_file(at("data/a.yaml")).unwrap();
    assert_eq!(ask(1), ["from b, changed"]);
    drop(input);
    assert!(program.wait().unwrap().success());
}

fn puppet(folder: &Path, arguments: &[&str]) -> Output {
    let inside = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    Command::new("puppet")
        .arg("lookup")
        .args(arguments)
        .args(["--confdir", &inside("conf"), "--codedir", &inside("code")])
        .args(["--vardir", &inside("var"), "--environment", "production"])
        .output()
        .unwrap()
}

#[test]
fn the_command_prints_what_puppet_prints() {
    if Command::new("puppet").arg("--version").output().is_err() {
        assert!(
            std::env::var_os("CI").is_none(),
            "no puppet here, and this is CI"
        );
        eprintln!("SKIPPED: no puppet here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let environment = write_environment(folder.path());
    let facts = folder.path().join("facts.json");
    let node = [
        "--node",
        "n1.example.com",
        "--facts",
        facts.to_str().unwrap(),
    ];
    for call in CALLS {
        let theirs = puppet(folder.path(), &[call, &node].concat());
        let ours = ours(
            &environment,
            &[call, &node, &["--puppet-version", "7"]].concat(),
        );
        let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(text(&ours), text(&theirs), "{call:?}");
        assert_eq!(ours.status.code(), theirs.status.code(), "{call:?}");
    }
    eprintln!("{} calls printed the same", CALLS.len());
}

/// Files of facts: name and text.
const FACTS_FILES: [(&str, &str); 17] = [
    ("taken.yaml", "role: web\nd: '2024-01-02'\n"),
    (
        "trusted.yaml",
        "role: web\ntrusted: {authenticated: remote, certname: t.example.com, extensions: {pp_role: fe}}\n",
    ),
    (
        "part.json",
        r#"{"role": "web", "trusted": {"certname": "x", "extensions": {}}, "clientcert": "c.d",
        "hostname": "c", "domain": "d", "fqdn": "c.d"}"#,
    ),
    ("some.yaml", "role: web\nhostname: h\n"),
    ("symbol.yaml", "ip: ::1\n"),
    ("date.yaml", "d: 2024-01-02\n"),
    ("name.yaml", "role: web\nname: fred\n"),
    ("module.yaml", "module_name: m\n"),
    ("facts.json", r#"{"facts": {"role": "web"}}"#),
    ("number.json", r#"{"2": "x"}"#),
    ("list.yaml", "- role\n"),
    ("empty.json", "{}"),
    (
        "saved.yaml",
        "--- !ruby/object:Puppet::Node::Facts\nname: n.example.com\nvalues: {role: web}\n",
    ),
    ("wrapped.yaml", "name: n.example.com\nvalues: {role: web}\n"),
    (
        "wrapped.json",
        r#"{"name": "n.example.com", "values": {"role": "web"}}"#,
    ),
    ("values.json", r#"{"values": {"role": "web"}}"#),
    (
        "named.json",
        r#"{"role": "web", "clientcert": "c.d", "hostname": "c", "domain": "d", "fqdn": "c.d"}"#,
    ),
];

#[test]
fn facts_files_are_taken_and_refused_as_by_puppet() {
    if Command::new("puppet").arg("--version").output().is_err() {
        assert!(
            std::env::var_os("CI").is_none(),
            "no puppet here, and this is CI"
        );
        eprintln!("SKIPPED: no puppet here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let environment = write_environment(folder.path());
    let data = "whose: \"%{facts.role} %{trusted.authenticated} %{trusted.extensions.pp_role} %{trusted.hostname} \
                %{name} %{trusted.certname} %{trusted.domain} [%{server_facts.environment}]\"\n";
    std::fs::write(format!("{environment}/data/common.yaml"), data).unwrap();
    let mut refused = 0;
    for (name, text) in FACTS_FILES {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        let file = file.to_str().unwrap();
        let call = ["whose", "--node", "n.example.com", "--facts", file];
        let theirs = puppet(folder.path(), &call);
        let ours = ours(
            &environment,
            &[&call[..], &["--puppet-version", "7"]].concat(),
        );
        let text = |output: &[u8]| String::from_utf8_lossy(output).into_owned();
        assert_eq!(text(&ours.stdout), text(&theirs.stdout), "{name}");
        assert_eq!(ours.status.code(), theirs.status.code(), "{name}");
        let stderr = text(&theirs.stderr);
        if let Some((_, message)) = stderr.split_once("Could not run: ") {
            let message = message
                .lines()
                .next()
                .unwrap()
                .trim_end_matches("\u{1b}[0m");
            assert!(
                text(&ours.stderr).contains(message),
                "{name}: {message}\n{}",
                text(&ours.stderr)
            );
            refused += 1;
        }
    }
    assert_eq!(refused, 12);
}

/// The wrong file type and the expected one are named in our own words.
#[test]
fn a_file_that_is_not_there_is_named_with_what_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let environment = write_environment(folder.path());
    for (flag, wanted) in [
        ("--facts", "a JSON or YAML file of facts"),
        ("--nodes", "a nodes file"),
    ] {
        let output = ours(&environment, &["h", flag, "/nowhere/n.json"]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(
            stderr.contains("/nowhere/n.json: there is no such file: name"),
            "{stderr}"
        );
        assert!(stderr.contains(wanted) && stderr.contains(flag), "{stderr}");
    }
}

#[test]
fn without_a_node_the_exit_code_shows_whether_all_nodes_agree() {
    let folder = tempfile::tempdir().unwrap();
    let environment = write_environment(folder.path());
    let code = |arguments: &[&str]| ours(&environment, arguments).status.code();
    assert_eq!(code(&["h"]), Some(0), "the same for every node");
    assert_eq!(
        code(&["role_only"]),
        Some(2),
        "there where role is web, not found otherwise"
    );
    assert_eq!(code(&["multi.x"]), Some(1), "an error");
    let custom = "version: 5\nhierarchy:\n  - {name: V, lookup_key: 'vault::ask'}\n";
    std::fs::write(Path::new(&environment).join("hiera.yaml"), custom).unwrap();
    let function = Path::new(&environment).join("modules/vault/lib/puppet/functions/vault");
    std::fs::create_dir_all(&function).unwrap();
    std::fs::write(function.join("ask.rb"), "# never run\n").unwrap();
    assert_eq!(code(&["h"]), Some(3), "only a running Puppet can know");
}

/// A `lookup_key` function is called once for each existing location, or once without locations;
/// its result is unknown.
#[test]
fn an_explanation_marks_levels_whose_function_is_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let environment = write_environment(folder.path());
    let write = |name: &str, text: &str| {
        let path = Path::new(&environment).join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(
        "hiera.yaml",
        "version: 5\nhierarchy:\n  - {name: V, lookup_key: 'vault::ask', paths: [a.yaml, none.yaml, c.yaml]}\n  \
         - {name: W, lookup_key: 'vault::ask'}\n  - {name: H, data_hash: 'vault::all', uri: 'http://x/y'}\n",
    );
    write(
        "modules/vault/lib/puppet/functions/vault/ask.rb",
        "# never run\n",
    );
    write(
        "modules/vault/lib/puppet/functions/vault/all.rb",
        "# never run\n",
    );
    let output = ours(&environment, &["--node", "n", "q", "--explain"]);
    let text = String::from_utf8_lossy(&output.stdout).replace(&environment, "E");
    let expected = "\
Searching for \"q\"
  Global Data Provider (hiera configuration version 5)
    No such key: \"q\"
  Environment Data Provider (hiera configuration version 5)
    Using configuration \"E/hiera.yaml\"
    Hierarchy entry \"V\"
      Path \"E/data/a.yaml\"
        Original path: \"a.yaml\"
        Unknown key: \"q\", the function \"vault::ask\" is not run here
      Path \"E/data/none.yaml\"
        Original path: \"none.yaml\"
        Path not found
      Path \"E/data/c.yaml\"
        Original path: \"c.yaml\"
        Unknown key: \"q\", the function \"vault::ask\" is not run here
    Hierarchy entry \"W\"
      Unknown key: \"q\", the function \"vault::ask\" is not run here
    Hierarchy entry \"H\"
      URI \"http://x/y\"
        Original uri: \"http://x/y\"
        Unknown key: \"q\", the function \"vault::all\" is not run here
";
    let (_, data) = text
        .split_once("Searching for \"lookup_options\"\n")
        .unwrap();
    assert_eq!(&data[data.find("Searching for \"q\"").unwrap()..], expected);
    let data = ours(
        &environment,
        &["--node", "n", "q", "--explain", "--render-as", "json"],
    );
    let data = String::from_utf8_lossy(&data.stdout);
    assert_eq!(
        data.matches("\"event\":\"unknown\",\"function\":\"vault::ask\"")
            .count(),
        6,
        "{data}"
    );
    // One line names every level that could still change the answer.
    let request =
        serde_json::json!({ "id": 1, "environment_dir": environment, "key": "q", "node": "n" });
    assert_eq!(
        batch(&request),
        serde_json::json!({ "id": 1, "found": null, "unknown":
            "level 'V' gets its data from the function 'vault::ask'; \
             level 'W' gets its data from the function 'vault::ask'; \
             level 'H' gets its data from the function 'vault::all'",
            "unless": "vault::ask has the key, or vault::all has the key" })
    );
    // The wrong kind of function is Puppet's error, and not unknown.
    write(
        "modules/vault/functions/three.pp",
        "function vault::three(String $key, Hash $options, Puppet::LookupContext $context) {\n  undef\n}\n",
    );
    write(
        "hiera.yaml",
        "version: 5\nhierarchy:\n  - {name: V, data_hash: 'vault::three'}\n",
    );
    let output = ours(&environment, &["--node", "n", "q"]);
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "hiera-ls: 'vault::three' expects 3 arguments, got 2\n"
    );
}

#[test]
fn an_undefined_variable_is_reported_without_a_stray_semicolon() {
    let folder = super::reach_cli::workspace(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy: [{name: Common, path: common.yaml}]\n",
        ),
        ("data/common.yaml", "a: '%{nosuch}x'\n"),
        ("nodes.yaml", "web1: {facts: {role: web}, variables: {}}\n"),
    ]);
    let run = |arguments: &[&str]| {
        let (_, shown, error) = super::reach_cli::output_of(folder.path(), arguments);
        shown + &error
    };
    let strict = ["--strict", "error", "--strict-variables"];
    let lookup = ["lookup", "a", "--node", "web1"];
    let error = "hiera-ls: Undefined variable 'nosuch'\n";
    assert_eq!(run(&[&lookup[..], &strict].concat()), error);
    let matrix = run(&[&["matrix", "a"][..], &strict].concat());
    assert!(
        matrix.contains("error: Undefined variable 'nosuch'  web1\n"),
        "{matrix}"
    );
}

#[test]
fn a_name_that_only_the_flag_says_and_a_server_are_told_of() {
    let folder = super::reach_cli::workspace(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n  - {name: Node, path: 'nodes/%{trusted.certname}.yaml'}\n  \
             - {name: Common, path: common.yaml}\n",
        ),
        ("data/nodes/web1.yaml", "a: node\n"),
        (
            "data/common.yaml",
            "a: common\nb: 1\ns: '%{servername}'\ne: '%{server_facts.environment}'\n",
        ),
        ("facts.yaml", "x: 1\n"),
        (
            "named.yaml",
            "hostname: web1\ndomain: x\nfqdn: web1\nclientcert: web1\n",
        ),
    ]);
    let lookup = |key: &str, facts: &str| {
        let arguments = ["lookup", key, "--node", "web1", "--facts", facts];
        super::reach_cli::output_of(folder.path(), &arguments)
    };
    let note = "note: trusted.certname is empty, as in puppet lookup, since no fact 'clientcert' is in facts.yaml; an \
                agent has 'web1' there\n";
    let (_, shown, error) = lookup("a", "facts.yaml");
    assert_eq!((&*shown, &*error), ("--- common\n", note));
    let (_, shown, _) = lookup("a", "named.yaml");
    assert_eq!(shown, "--- node\n");
    for (key, facts) in [("b", "facts.yaml"), ("a", "named.yaml")] {
        let (_, _, error) = lookup(key, facts);
        assert_eq!(error, "", "{key} {facts}");
    }
    let (_, shown, _) = lookup("e", "facts.yaml");
    assert_eq!(shown, "--- production\n");
    let arguments = [
        "lookup",
        "e",
        "--node",
        "web1",
        "--facts",
        "facts.yaml",
        "--puppet-version",
        "7",
    ];
    let (_, shown, error) = super::reach_cli::output_of(folder.path(), &arguments);
    assert_eq!(shown, "--- ''\n");
    assert!(
        error.starts_with("note: server_facts are empty, as in puppet lookup of Puppet 7"),
        "{error}"
    );
    let (_, shown, error) = lookup("s", "facts.yaml");
    assert_eq!(shown, "");
    assert!(error.contains("servername"), "{error}");
}

#[test]
fn the_hierarchy_above_the_environments_is_the_global_layer_for_every_node() {
    let hierarchy = "version: 5\nhierarchy: [{name: Common, path: common.yaml}]\n";
    let folder = super::reach_cli::workspace(&[
        ("hiera.yaml", hierarchy),
        ("data/common.yaml", "a: global\n"),
        ("environments/testing/hiera.yaml", hierarchy),
        (
            "environments/testing/data/common.yaml",
            "a: testing\nb: testing\n",
        ),
        ("nodes.yaml", "web1: {facts: {role: web}}\n"),
        ("other/hiera.yaml", hierarchy),
    ]);
    let lookup = |arguments: &[&str]| {
        let common = ["lookup", "--environment", "testing"];
        super::reach_cli::output_of(folder.path(), &[&common, arguments].concat()).1
    };
    for nodes in [&["--node", "web1"][..], &["--nodes", "nodes.yaml"]] {
        let all = |key| lookup(&[&[key], nodes].concat());
        assert_eq!(all("a"), "--- global\n", "{nodes:?}");
        assert_eq!(all("b"), "--- testing\n", "{nodes:?}");
        let elsewhere = ["a", "--hiera-config", "other/hiera.yaml"];
        let elsewhere = lookup(&[&elsewhere, nodes].concat());
        assert_eq!(elsewhere, "--- testing\n", "{nodes:?}");
    }
}

#[test]
fn data_outside_is_read_below_a_hierarchy_of_the_global_layer_too() {
    let outside = super::reach_cli::workspace(&[("common.yaml", "a: outside\n")]);
    let at = outside.path().display();
    let hierarchy = "version: 5\nhierarchy: [{name: Common, path: common.yaml}]\n";
    let of_environment =
        format!("version: 5\nhierarchy: [{{name: Outside, path: common.yaml, datadir: '{at}'}}]\n");
    let folder = super::reach_cli::workspace(&[
        ("hiera.yaml", hierarchy),
        ("data/common.yaml", "b: global\n"),
        ("environments/testing/hiera.yaml", &of_environment),
        ("nodes.yaml", "web1: {facts: {role: web}}\n"),
    ]);
    for (key, value) in [("a", "--- outside\n"), ("b", "--- global\n")] {
        let arguments = ["lookup", key, "--environment", "testing", "--node", "web1"];
        let found = super::reach_cli::output_of(folder.path(), &arguments);
        assert_eq!((found.1.as_str(), found.2.as_str()), (value, ""));
    }
}
