//! Real control repositories next to the project, and real Puppet's answers about them. Tests that
//! compare anything else with Puppet (hovers, matrices) use these answers too.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::program::Program;

/// A control repository, copied to a folder in which relative datadirs lead to its data.
pub struct Corpus {
    /// The folder's name.
    pub name: &'static str,
    /// The copy's environment folder; it lives as long as this value.
    pub environment_dir: PathBuf,
    /// The nodes: the scope fields of a request.
    pub nodes: Vec<Node>,
    /// The keys to look up.
    pub keys: Vec<String>,
    _folder: tempfile::TempDir,
}

/// A node of a corpus.
pub struct Node {
    /// Its certname, or a name for its scope.
    pub name: String,
    /// `node`, `environment`, `facts`, `trusted`, `variables` of a request.
    pub scope: Map<String, Value>,
}

impl Node {
    /// The node's entry in a nodes file.
    pub fn described(&self) -> Value {
        let mut entry = self.scope.clone();
        entry.remove("node");
        Value::Object(entry)
    }
}

impl Corpus {
    /// The repository of the Rubin observatory with its 161 nodes, whose absolute datadirs are made
    /// relative, and the 409 keys of its own data. `None` without the corpora.
    pub fn lsst_control() -> Option<Corpus> {
        let corpora = corpora()?;
        let source = corpora.join("lsst-control");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let environment_dir = folder.path().join("production");
        copy_tree(&source.join("workspace"), &environment_dir);
        let config = environment_dir.join("hiera.yaml");
        let text = fs::read_to_string(&config).expect("a configuration");
        let deployed = "/etc/puppetlabs/code/environments/%{environment}/";
        assert!(text.contains(deployed), "the datadir is no longer absolute");
        fs::write(&config, text.replace(deployed, "")).expect("a writable copy");

        let common = read_json(&corpora.join("facts/facterdb/4.4_almalinux-9-x86_64.json"));
        let nodes = read_json(&source.join("nodes.json"));
        let nodes = nodes
            .as_object()
            .expect("certname to node")
            .iter()
            .map(|(certname, own)| {
                let mut scope = Map::new();
                scope.insert("node".into(), certname.clone().into());
                scope.insert("environment".into(), "production".into());
                scope.insert(
                    "facts".into(),
                    with_names(over(&common, &own["facts"]), certname),
                );
                scope.insert("trusted".into(), own["trusted"].clone());
                scope.insert("variables".into(), own["variables"].clone());
                Node {
                    name: certname.clone(),
                    scope,
                }
            });
        let nodes: Vec<Node> = nodes.collect();
        let keys = top_level_keys(&environment_dir.join("hieradata/**/*.yaml"));
        Some(Corpus {
            name: "lsst-control",
            environment_dir,
            nodes,
            keys,
            _folder: folder,
        })
    }

    /// The repository of Magic Castle with made-up nodes that reach every data file in it. `None`
    /// without the corpora.
    pub fn magic_castle() -> Option<Corpus> {
        let corpora = corpora()?;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let environment_dir = folder.path().join("production");
        copy_tree(&corpora.join("magic_castle/workspace"), &environment_dir);
        let regions = [
            "identity.arbutus.alliancecan.ca",
            "cloud.jsc.fz-juelich.de",
            "arbutus.cloud.computecanada.ca",
            "elsewhere",
        ];
        let mut nodes = Vec::new();
        for environment in ["production", "image"] {
            for major in ["9", "10", "8"] {
                for stack in ["computecanada", "eessi", "alliance", ""] {
                    for (provider, region) in [("azure", "west"), ("aws", "east")]
                        .into_iter()
                        .chain(regions.map(|r| ("openstack", r)))
                    {
                        let name = format!("mgmt{}.int.example.org", nodes.len());
                        let facts = json!({
                            "os": {"family": "RedHat", "name": "AlmaLinux", "release": {"major": major, "full": format!("{major}.4")}},
                            "networking": {"hostname": format!("mgmt{}", nodes.len()), "ip": "10.0.0.1"},
                            "prefix": "mgmt", "software_stack": stack,
                            "cloud": {"provider": provider, "region": region},
                        });
                        let mut scope = Map::new();
                        scope.insert("node".into(), name.clone().into());
                        scope.insert("environment".into(), environment.into());
                        scope.insert("facts".into(), facts);
                        nodes.push(Node { name, scope });
                    }
                }
            }
        }
        let keys = top_level_keys(&environment_dir.join("data/**/*.yaml"));
        Some(Corpus {
            name: "magic_castle",
            environment_dir,
            nodes,
            keys,
            _folder: folder,
        })
    }

    /// A request about a node, without its key.
    pub fn request(&self, node: &Node) -> Map<String, Value> {
        let mut request = node.scope.clone();
        request.insert("id".into(), node.name.clone().into());
        let place = self.environment_dir.to_str().expect("UTF-8");
        request.insert("environment_dir".into(), place.into());
        request.insert("global_hiera_yaml".into(), Value::Null);
        request.insert("puppet_version".into(), 7.into());
        request
    }

    /// Real Puppet's answers: per node in order, per key in order.
    pub fn puppet_answers(&self, keys: &[String]) -> Vec<Vec<Value>> {
        let mut puppet = Program::puppet().start();
        let mut table = Vec::new();
        for node in &self.nodes {
            let mut request = self.request(node);
            request.insert("keys".into(), keys.into());
            let answer = puppet.ask(&[Value::Object(request)]).remove(0);
            let Some(answers) = answer["answers"].as_array() else {
                panic!("no answers: {answer}")
            };
            table.push(answers.clone());
        }
        table
    }
}

/// The folder of the corpora. Without it CI fails, and elsewhere a message says that something was
/// skipped.
pub fn corpora() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpora");
    if folder.is_dir() {
        return Some(folder);
    }
    let message = format!(
        "{} is absent: nothing was compared on real repositories",
        folder.display()
    );
    assert!(std::env::var_os("CI").is_none(), "{message}");
    eprintln!("SKIPPED: {message}");
    None
}

/// Merges `own` over `common`, hash by hash.
fn over(common: &Value, own: &Value) -> Value {
    match (common, own) {
        (Value::Object(common), Value::Object(own)) => {
            let mut merged = common.clone();
            for (name, value) in own {
                let below = merged.get(name).cloned().unwrap_or(Value::Null);
                merged.insert(name.clone(), over(&below, value));
            }
            Value::Object(merged)
        }
        (_, own) => own.clone(),
    }
}

/// The name facts derived from a certname, if they are missing.
fn with_names(facts: Value, certname: &str) -> Value {
    let (host, domain) = certname.split_once('.').unwrap_or((certname, ""));
    let names = json!({"fqdn": certname, "hostname": host, "domain": domain});
    over(&names, &facts)
}

fn top_level_keys(glob: &Path) -> Vec<String> {
    let request = json!({"id": "keys", "top_level_keys": glob.to_str().expect("UTF-8")});
    let answer = Program::puppet().start().ask(&[request]).remove(0);
    let keys = answer["keys"].as_array().expect("keys").iter();
    keys.map(|k| k.as_str().expect("a string key").to_string())
        .collect()
}

fn read_json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Copies a folder, symbolic links as links.
pub fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a writable folder");
    for entry in fs::read_dir(from).unwrap_or_else(|e| panic!("{}: {e}", from.display())) {
        let entry = entry.expect("a readable folder");
        let (kind, target) = (
            entry.file_type().expect("a kind"),
            to.join(entry.file_name()),
        );
        if kind.is_symlink() {
            let link = fs::read_link(entry.path()).expect("a link");
            std::os::unix::fs::symlink(link, &target).expect("a writable folder");
        } else if kind.is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::write(&target, fs::read(entry.path()).expect("a readable file"))
                .expect("a writable folder");
        }
    }
}
