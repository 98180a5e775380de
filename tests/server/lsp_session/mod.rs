//! Sessions of an editor with the program: a real control repository, and the mistakes of
//! `fixtures/acme`.

mod commands;
mod comparing;
mod explaining;
mod fixes;
mod known_nodes;
mod lenses;
mod navigation;
mod program;
mod project;
mod secrets;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hiera_ls::disk::snapshot_of;
use hiera_ls::lookup::{ConfigCache, Environment, PuppetVersion, Request, Session, Settings};
use hiera_ls::scope::{DEFAULT_ENVIRONMENT, Nodes};
use hiera_ls::value::{Value, from_json, load_yaml};
use hiera_ls::workspace::Snapshot;
use program::{Program, uri};
use serde_json::json;

const VSCODE: &str = "Visual Studio Code";

/// A copy of the corpus `lsst-control`, with its nodes next to its `hiera.yaml`; `None` without the
/// corpora, which is a failure in CI.
struct Control {
    folder: PathBuf,
    facts: PathBuf,
    _temporary: tempfile::TempDir,
}

impl Control {
    fn copy() -> Option<Control> {
        let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpora");
        if !corpora.is_dir() {
            let message = format!("{} is absent: no real session", corpora.display());
            assert!(std::env::var_os("CI").is_none(), "{message}");
            eprintln!("SKIPPED: {message}");
            return None;
        }
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().canonicalize().unwrap().join("production");
        copy(&corpora.join("lsst-control/workspace"), &folder);
        let nodes = corpora.join("lsst-control/nodes.json");
        std::fs::copy(nodes, folder.join("nodes.json")).unwrap();
        Some(Control {
            folder,
            facts: corpora.join("facts/facterdb/4.4_almalinux-9-x86_64.json"),
            _temporary: temporary,
        })
    }

    fn start(&self) -> Program {
        let settings = json!({ "hover": { "maxLines": 10_000 }, "factsFile": self.facts });
        Program::start(&self.folder, &settings, VSCODE)
    }

    fn data(&self, path: &str) -> PathBuf {
        self.folder.join("hieradata").join(path)
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
        }
    }
}

/// The lines of YAML that a hover shows.
fn yaml(hover: &str) -> Option<&str> {
    let (_, rest) = hover.split_once("```yaml\n")?;
    Some(rest.split_once("\n```")?.0)
}

/// The value in a hover, read back; `None` if it is cut.
fn shown(hover: &str) -> Option<Value> {
    let yaml = yaml(hover)?;
    if yaml.contains('…') {
        return None;
    }
    // As a whole document, `~` is false in Puppet.
    let nested = format!("value:\n  {}\n", yaml.replace('\n', "\n  "));
    let loaded = load_yaml(nested.as_bytes());
    let loaded = loaded.unwrap_or_else(|error| panic!("{error:?} in:\n{hover}"));
    loaded.get("value").cloned()
}

/// The engine's answers for a node, key by key.
struct Engine {
    snapshot: Arc<Snapshot>,
    nodes: Nodes,
}

impl Engine {
    fn new(control: &Control) -> Engine {
        let read = |path: &Path| from_json(&std::fs::read_to_string(path).unwrap()).unwrap();
        let facts = read(&control.facts);
        let nodes = read(&control.folder.join("nodes.json"));
        Engine {
            snapshot: snapshot_of(control.folder.to_str().unwrap()),
            nodes: Nodes::read(&nodes, facts.as_hash().unwrap()).unwrap(),
        }
    }

    /// The value and the number of files that gave it; `None` if Puppet fails or it is unknown.
    fn value(&self, node: &str, key: &str) -> Option<Value> {
        let root = self.snapshot.roots().environments().next().unwrap();
        let environment = Environment::of_root(&self.snapshot, root, DEFAULT_ENVIRONMENT);
        let settings = Settings::for_version(PuppetVersion::V8).for_editor();
        let session = Session {
            files: &self.snapshot.files_for(root),
            environment: &environment,
            settings: &settings,
            configs: &ConfigCache::default(),
        };
        let scope = self.nodes.get(node).unwrap().scope(DEFAULT_ENVIRONMENT);
        let answer = session.lookup(&scope, &Request::key(key));
        if !answer.is_certain() {
            return None;
        }
        answer.result.ok()
    }

    fn keys(&self, file: &Path) -> Vec<String> {
        let file = self.snapshot.file(file.to_str().unwrap()).unwrap();
        let keys = file.facts().keys.iter();
        let mut names: Vec<String> = keys.map(|key| key.name.to_string()).collect();
        names.retain(|name| name != "lookup_options");
        names.dedup();
        names
    }
}

#[test]
fn node_role_and_common_files_show_the_merged_value() {
    let Some(control) = Control::copy() else {
        return;
    };
    let engine = Engine::new(&control);
    let mut program = control.start();
    let known = program.command("hiera.nodes", &json!({}));
    // Those of the nodes file first, then others with a data file.
    let known = known["nodes"].as_array().unwrap();
    let text = std::fs::read_to_string(control.folder.join("nodes.json")).unwrap();
    let nodes: serde_json::Value = serde_json::from_str(&text).unwrap();
    let named: Vec<&String> = nodes.as_object().unwrap().keys().collect();
    assert_eq!(named.len(), 161);
    assert!(known[..161].iter().eq(named));
    for other in &known[161..] {
        let file = control.data(&format!("node/{}.yaml", other.as_str().unwrap()));
        assert!(file.is_file(), "{other}");
    }
    // A node with a file of its own and a role with one.
    let mut found = nodes
        .as_object()
        .unwrap()
        .iter()
        .filter_map(|(name, node)| {
            let role = node["variables"]["role"].as_str()?;
            let files = [
                control.data(&format!("node/{name}.yaml")),
                control.data(&format!("role/{role}.yaml")),
                control.data("common.yaml"),
            ];
            files
                .iter()
                .all(|file| file.is_file())
                .then_some((name, files))
        });
    let (node, files) = found.next().unwrap();
    program.command("hiera.selectNode", &json!({ "certname": node }));
    let (mut equal, mut merged, mut cut, mut without) = (0, 0, 0, Vec::new());
    for file in &files {
        let text = program.open(file);
        let mut here = 0;
        for key in engine.keys(file) {
            let hover = program.hover(file, &text, &key);
            let hover = hover.unwrap_or_else(|| panic!("no hover on {key}"));
            let Some(expected) = engine.value(node, &key) else {
                without.push(key);
                continue;
            };
            assert!(hover.contains(&format!("for `{node}`")), "{hover}");
            if yaml(&hover).is_some_and(|yaml| yaml.contains('…')) {
                cut += 1;
                continue;
            }
            assert_eq!(shown(&hover), Some(expected), "{key}:\n{hover}");
            here += 1;
            merged += usize::from(hover.contains("— merged"));
        }
        assert!(here > 0, "no key of {} has a value", file.display());
        equal += here;
    }
    println!(
        "{node}: {equal} hovers equal the engine's answers, {merged} of them merged; {cut} cut, {} without \
         a certain value: {without:?}",
        without.len()
    );
    program.end();
}

#[test]
fn unsaved_edits_take_effect() {
    let Some(control) = Control::copy() else {
        return;
    };
    let mut program = control.start();
    let file = control.data("common.yaml");
    let text = program.open(&file);
    let key = "chrony::local_stratum";
    let before = program.hover(&file, &text, key).unwrap();
    assert_eq!(shown(&before), Some(Value::Bool(false)), "{before}");
    let edited = text.replace("chrony::local_stratum: false", "chrony::local_stratum: 9");
    assert_ne!(text, edited);
    program.rewrite(&file, &edited);
    let after = program.hover(&file, &edited, key).unwrap();
    assert_eq!(shown(&after), Some(Value::Int(9)), "{after}");
    // A file that inherits the value sees it too.
    let explained = program.command(
        "hiera.explain",
        &json!({ "uri": uri(&file), "key": key, "form": "puppet" }),
    );
    let content = explained["content"].as_str().unwrap();
    assert!(
        content.contains("Found key: \"chrony::local_stratum\" value: 9"),
        "{content}"
    );
    assert_eq!(explained["language"], "text");
    program.end();
}

#[test]
fn a_broken_line_takes_no_other_key_with_it() {
    let Some(control) = Control::copy() else {
        return;
    };
    let engine = Engine::new(&control);
    let mut program = control.start();
    let file = control.data("common.yaml");
    let text = program.open(&file);
    let keys = engine.keys(&file);
    let hovers: Vec<Option<String>> = keys
        .iter()
        .map(|key| program.hover(&file, &text, key))
        .collect();
    let broken = format!("{}\nhalf::typed: [\"\n", text.trim_end());
    program.rewrite(&file, &broken);
    for (key, before) in keys.iter().zip(&hovers) {
        let after = program.hover(&file, &broken, key);
        assert_eq!(
            after.as_deref().map(yaml),
            before.as_deref().map(yaml),
            "{key}"
        );
    }
    let found = program.diagnostics(&file, |params| params["version"] == 2);
    let codes: Vec<&str> = found["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|item| item["code"].as_str())
        .collect();
    assert!(codes.contains(&"yaml-syntax"), "{codes:?}");
    program.end();
}

#[test]
fn the_mistakes_of_acme_are_shown_with_versions_and_other_places() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().canonicalize().unwrap();
    let values = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/acme/mistakes/values");
    copy(&values, &folder);
    let mut program = Program::start(&folder, &json!({}), VSCODE);
    let file = folder.join("data/families/loops.yaml");
    let text = program.open(&file);
    let found = program.diagnostics(&file, |params| params["version"] == 1);
    let items = found["diagnostics"].as_array().unwrap();
    let marked = |text: &str| -> BTreeSet<u64> {
        let lines = (0u64..).zip(text.lines());
        let marked = lines.filter(|(_, line)| line.contains("#~ interpolation-loop"));
        marked.map(|(number, _)| number).collect()
    };
    let loops: BTreeSet<u64> = items
        .iter()
        .filter(|item| item["code"] == "interpolation-loop")
        .map(|item| item["range"]["start"]["line"].as_u64().unwrap())
        .collect();
    assert_eq!(loops, marked(&text));
    assert!(items.iter().all(|item| item["source"] == "hiera-ls"));
    let related = items.iter().find_map(|item| {
        let places = item["relatedInformation"].as_array()?;
        places
            .iter()
            .find(|place| place["location"]["uri"] != uri(&file))
    });
    assert!(
        related.is_some(),
        "no member of a loop in another file is named: {items:?}"
    );
    // Closed files have theirs, without a version.
    let other = folder.join("data/os/RedHat.yaml");
    let found = program.diagnostics(&other, |params| params["version"].is_null());
    assert_eq!(found["diagnostics"][0]["code"], "interpolation-loop");
    // If a loop is broken, both files' findings disappear.
    let edited = text.replace("%{lookup('loop::family')}", "on Red Hat");
    program.rewrite(&file, &edited);
    let gone = program.diagnostics(&other, |params| params["diagnostics"] == json!([]));
    assert!(gone["version"].is_null());
    program.end();
}

#[test]
fn a_terminal_client_gets_no_links_and_a_what_if_changes_the_hover() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().canonicalize().unwrap();
    let write = |path: &str, text: &str| {
        let file = folder.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file
    };
    write(
        "hiera.yaml",
        "version: 5\nhierarchy:\n  - {name: os, path: \"os/%{facts.os.family}.yaml\"}\n  \
         - {name: common, path: common.yaml}\n",
    );
    write("data/os/RedHat.yaml", "port: 8080\n");
    let common = write("data/common.yaml", "port: 80\n");
    write(
        "nodes.json",
        r#"{"a.x": {"facts": {"os": {"family": "RedHat"}}}, "b.x": {"facts": {"os": {"family": "Debian"}}}}"#,
    );
    let mut browser = Program::start(&folder, &json!({}), VSCODE);
    let mut terminal = Program::start(&folder, &json!({}), "Neovim");
    let text = browser.open(&common);
    terminal.open(&common);
    let wide = browser.hover(&common, &text, "port").unwrap();
    let narrow = terminal.hover(&common, &text, "port").unwrap();
    assert!(wide.contains("](command:hiera.matrix?"), "{wide}");
    assert!(!narrow.contains("]("), "{narrow}");
    assert!(narrow.contains("8080") && narrow.contains("80"), "{narrow}");
    assert!(wide.contains("RedHat.yaml#L1)"), "{wide}");
    browser.end();

    let hover = |program: &mut Program| {
        let hover = program.hover(&common, &text, "port").unwrap();
        shown(&hover).unwrap_or_else(|| panic!("{hover}"))
    };
    terminal.command("hiera.selectNode", &json!({ "certname": "b.x" }));
    assert_eq!(hover(&mut terminal), Value::Int(80));
    let what_if = json!({ "path": "os.family", "value": "RedHat" });
    terminal.command("hiera.setFact", &what_if);
    assert_eq!(hover(&mut terminal), Value::Int(8080));
    let nodes = terminal.command("hiera.nodes", &json!({ "uri": uri(&common) }));
    let expected =
        json!({ "nodes": ["a.x", "b.x"], "selected": "b.x", "facts": { "os.family": "RedHat" } });
    for (member, value) in expected.as_object().unwrap() {
        assert_eq!(nodes[member], *value);
    }
    terminal.command(
        "hiera.setFact",
        &json!({ "path": "os.family", "value": null }),
    );
    assert_eq!(hover(&mut terminal), Value::Int(80));
    terminal.command("hiera.selectNode", &json!({ "certname": null }));
    assert_eq!(
        terminal.command("hiera.nodes", &json!({}))["selected"],
        json!(null)
    );
    terminal.end();
}

#[test]
fn only_files_that_a_hierarchy_reads_are_claimed() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().canonicalize().unwrap();
    let write = |path: &str, text: &str| {
        let file = folder.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file
    };
    write(
        "hiera.yaml",
        "version: 5\nhierarchy:\n  - {name: common, path: common.yaml}\n",
    );
    let ours = write("data/common.yaml", "a: \"%{lokup('b')}\"\n");
    // Keys, loops and broken syntax of unrelated files, inside the repository and in `data`.
    let text = "a: \"%{lookup('a')}\"\na: \"%{lokup('b')}\"\nb: [\n";
    let others = [
        ".github/workflows/ci.yaml",
        "docker-compose.yaml",
        "data/not-in-the-hierarchy.yaml",
        "spec/fixtures/x.yaml",
    ]
    .map(|path| write(path, text));
    let mut program = Program::start(&folder, &json!({}), VSCODE);
    for file in &others {
        program.open(file);
    }
    let text = program.open(&ours);
    let found = program.diagnostics(&ours, |params| params["version"] == 1);
    assert_eq!(
        found["diagnostics"][0]["code"],
        "unknown-interpolation-function"
    );
    assert!(program.hover(&ours, &text, "a").is_some());
    for file in &others {
        let hover = program.hover(file, "a: 1\n", "a");
        // A hover explains why nothing else is shown, except for files that are other tools' by
        // their names.
        if file.starts_with(folder.join(".github")) {
            assert_eq!(hover, None, "{}", file.display());
        } else {
            let why = if file.starts_with(folder.join("data")) {
                "no level of the hierarchy reads this file"
            } else {
                "no hierarchy reads this file"
            };
            let hover = hover.unwrap();
            assert!(hover.contains(why), "{hover}");
        }
        let document = json!({ "textDocument": { "uri": uri(file) } });
        let outline = program.ask("textDocument/documentSymbol", &document);
        assert_eq!(outline, json!([]), "{}", file.display());
        let pulled = program.ask("textDocument/diagnostic", &document);
        let items = pulled["items"].as_array().unwrap();
        if file.starts_with(folder.join("data")) {
            // A custom backend could read it: its text is checked, and it has no error.
            assert!(
                items.iter().any(|item| item["code"] == "yaml-syntax"),
                "{pulled}"
            );
            assert!(items.iter().all(|item| item["severity"] != 1), "{pulled}");
        } else {
            assert!(items.is_empty(), "{}: {pulled}", file.display());
        }
    }
    let search = program.ask("workspace/symbol", &json!({ "query": "" }));
    let all = search.as_array().unwrap();
    assert!(
        all.iter()
            .all(|found| found["location"]["uri"] == uri(&ours)),
        "{search}"
    );
    // Their check ended with ours: later diagnostics are not about them either.
    let fixed = text.replace("lokup", "lookup");
    program.rewrite(&ours, &fixed);
    program.diagnostics(&ours, |params| params["version"] == 2);
    let outside = others.iter();
    for file in outside.filter(|file| !file.starts_with(folder.join("data"))) {
        assert!(
            !program.has_received(|message| {
                message["method"] == "textDocument/publishDiagnostics"
                    && message["params"]["uri"] == uri(file)
            }),
            "{} was spoken of",
            file.display()
        );
    }
    program.end();
}

#[test]
fn environments_side_by_side_have_their_own_values_and_modules() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().canonicalize().unwrap();
    let write = |path: &str, text: &str| {
        let file = folder.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file
    };
    let hierarchy = "version: 5\nhierarchy:\n  - {name: node, path: node.yaml}\n  \
                     - {name: common, path: common.yaml}\n";
    let module = "version: 5\nhierarchy:\n  - {name: common, path: common.yaml}\n";
    let mut files = Vec::new();
    for (name, modules, port) in [
        ("production", "modules", 80),
        ("staging", "site-modules", 8080),
        ("test", "site", 9090),
    ] {
        let at = |path: &str| format!("environments/{name}/{path}");
        write(&at("hiera.yaml"), hierarchy);
        let path = "modulepath = site:site-modules:modules:$basemodulepath\n";
        write(&at("environment.conf"), path);
        write(&at("data/common.yaml"), &format!("port: {port}\n"));
        write(&at(&format!("{modules}/web/hiera.yaml")), module);
        write(
            &at(&format!("{modules}/web/data/common.yaml")),
            &format!("web::limit: {port}1\n"),
        );
        let text = "shown: \"%{lookup('port')}\"\nlimit: \"%{lookup('web::limit')}\"\n";
        files.push((write(&at("data/node.yaml"), text), port));
    }
    let mut program = Program::start(&folder, &json!({}), VSCODE);
    for (file, port) in &files {
        let text = program.open(file);
        let hover = program.hover(file, &text, "shown").unwrap();
        assert!(hover.contains(&port.to_string()), "{hover}");
        let hover = program.hover(file, &text, "limit").unwrap();
        assert!(hover.contains(&format!("{port}1")), "{hover}");
    }
    program.end();
}
