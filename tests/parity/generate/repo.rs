//! A whole repository: configuration of three layers, data files, modules, and the scopes of nodes.

use indexmap::IndexMap;

use super::config::{Config, Layer, version_5};
use super::dice::Dice;
use super::file::{Keys, data_file};
use super::function::{data, functions};
use super::legacy::{no_configuration, version_3, version_4};
use super::scope::{Scope, scope};
use super::site::{function, site};
use super::value::Kind;

/// The data shared by the requests of one repository.
pub struct Repo {
    pub files: IndexMap<String, String>,
    pub keys: Keys,
    pub scopes: Vec<Scope>,
    /// Some data come from functions.
    pub custom: bool,
    /// Some of these are in Ruby: an unknown answer is acceptable.
    pub ruby: bool,
    /// Where modules are.
    pub modules: &'static str,
    /// It has site manifests.
    pub site: bool,
    /// It may have mistakes that break every lookup: a few requests are enough.
    pub risky: bool,
}

/// Builds a repository.
pub fn repo(dice: &mut Dice) -> Repo {
    let (risky, has_site) = (dice.chance(62), dice.chance(30));
    let mut repo = data_of(dice, risky, has_site);
    if has_site {
        let keys = repo.keys.names.clone();
        add_site(dice, &mut repo, &keys, "");
    }
    repo
}

/// Adds site manifests that look up some of `keys`. `inner` is added at the end of every node
/// block, or of the manifest.
pub fn add_site(dice: &mut Dice, repo: &mut Repo, keys: &[String], inner: &str) {
    let text = site(dice, keys, &repo.scopes, inner);
    let conf = repo.files.entry("env/environment.conf".into()).or_default();
    let path = match conf.contains("manifest = site.pp") {
        true => "env/site.pp",
        false if dice.chance(15) && !conf.contains("[main]") => {
            conf.push_str("manifest = site.pp\n");
            "env/site.pp"
        }
        false => "env/manifests/site.pp",
    };
    repo.files.insert(path.into(), text);
    let text = function(dice, keys);
    repo.files
        .insert("env/functions/environment/kind.pp".into(), text);
}

/// Builds a repository without manifests.
pub fn data_of(dice: &mut Dice, risky: bool, has_site: bool) -> Repo {
    dice.set_risky(risky);
    dice.set_site(has_site);
    let keys = keys(dice);
    let scopes: Vec<Scope> = (0..dice.between(1, 3)).map(|i| scope(dice, i)).collect();
    let mut repo = Repo {
        files: IndexMap::new(),
        keys,
        scopes,
        custom: false,
        ruby: false,
        modules: "env/modules",
        site: has_site,
        risky,
    };
    environment(dice, &mut repo);
    global(dice, &mut repo);
    let folder = modulepath(dice, &mut repo);
    repo.modules = folder;
    for (name, chance) in [("m", 85), ("n", 40)] {
        if dice.chance(chance) {
            module(dice, &mut repo, &format!("{folder}/{name}"), name);
        }
    }
    if dice.chance(30) {
        dice.mark("module: without hiera.yaml");
        repo.files.insert(
            format!("{folder}/o/data/common.yaml"),
            "o::x: unseen\n".into(),
        );
    }
    repo
}

fn keys(dice: &mut Dice) -> Keys {
    const POOL: [(&str, &[Kind]); 22] = [
        ("alpha", &[Kind::Scalar, Kind::Text]),
        ("beta", &[Kind::Text, Kind::Scalar]),
        ("list", &[Kind::List]),
        ("hash", &[Kind::Hash]),
        ("users", &[Kind::Hash, Kind::List]),
        ("port", &[Kind::Scalar]),
        ("motd", &[Kind::Text]),
        ("gamma", &[Kind::Any]),
        ("it", &[Kind::Any, Kind::Text]),
        ("m::a", &[Kind::Scalar, Kind::Text]),
        ("m::list", &[Kind::List]),
        ("m::hash", &[Kind::Hash]),
        ("m::deep::k", &[Kind::Any]),
        ("n::a", &[Kind::Text]),
        ("n::list", &[Kind::List]),
        ("o::x", &[Kind::Scalar]),
        ("p::y", &[Kind::Any]),
        ("web_x", &[Kind::Hash]),
        ("hash2", &[Kind::Hash]),
        ("list2", &[Kind::List]),
        ("Bad::k", &[Kind::Text]),
        ("zeta", &[Kind::Text, Kind::Hash]),
    ];
    let mut keys = Keys {
        names: Vec::new(),
        kinds: Vec::new(),
    };
    for (name, kinds) in POOL {
        if dice.chance(70) {
            keys.names.push(name.into());
            keys.kinds.push(kinds[dice.below(kinds.len())]);
        }
    }
    keys
}

fn environment(dice: &mut Dice, repo: &mut Repo) {
    let config = match dice.weighted(&[900, 50, dice.if_risky(60), 10]) {
        0 => Some(version_5(dice, Layer::Environment, "/env", &repo.scopes)),
        1 => Some(version_4(dice, "/env", &repo.scopes)),
        2 => Some(no_configuration(dice, Layer::Environment)),
        _ => {
            dice.mark("environment: without hiera.yaml");
            None
        }
    };
    if let Some(config) = config {
        add(dice, repo, "env/hiera.yaml", config, None);
    }
    if repo.custom {
        functions(dice, repo, "env", "environment");
    }
    if !repo.files.contains_key("env/hiera.yaml") && dice.chance(50) {
        data(dice, repo, "env", "environment");
        repo.files.insert(
            "env/environment.conf".into(),
            "environment_data_provider = function\n".into(),
        );
    } else if dice.chance(3) {
        dice.mark("environment.conf: environment_data_provider");
        let provider = dice.pick(&["hiera", "none", "bogus"]);
        let text = format!("environment_data_provider = {provider}\n");
        repo.files.insert("env/environment.conf".into(), text);
    }
    if dice.chance(20) {
        repo.files
            .entry("env/data/common.yaml".into())
            .or_insert_with(|| "unread: 1\n".into());
    }
}

fn global(dice: &mut Dice, repo: &mut Repo) {
    let config = match dice.weighted(&[52, 30, 14, dice.if_risky(4)]) {
        0 => return,
        1 => {
            dice.mark("global: version 5");
            let risky = dice.if_risky(1) == 1;
            let mut config = version_5(dice, Layer::Global, "/global", &repo.scopes);
            if dice.chance(7) {
                dice.mark("global: hiera3_backend");
                config.text = format!(
                    "version: 5\nhierarchy:\n  - name: Old\n    hiera3_backend: {}\n    path: common.yaml\n    options: {{x: 1}}\n",
                    dice.pick(if risky {
                        &["nosuch", "yaml", "Other"]
                    } else {
                        &["nosuch", "Other"]
                    })
                );
            }
            config
        }
        2 => version_3(dice, &repo.scopes),
        _ => no_configuration(dice, Layer::Global),
    };
    add(dice, repo, "global/hiera.yaml", config, None);
}

fn modulepath(dice: &mut Dice, repo: &mut Repo) -> &'static str {
    if repo.files.contains_key("env/environment.conf") || !dice.chance(20) {
        return "env/modules";
    }
    dice.mark("environment.conf: modulepath");
    let (text, folder) = *dice.pick(&[
        &("modulepath = site:modules\n", "env/site"),
        &("modulepath = site:modules:$basemodulepath\n", "env/modules"),
        &("modulepath=../shared_modules\n", "shared_modules"),
        &("# c\nmodulepath = 'site'\n", "env/site"),
        &("manifest = site.pp\n", "env/modules"),
        &("[main]\nmodulepath = site\n", "env/site"),
    ]);
    repo.files
        .insert("env/environment.conf".into(), text.into());
    folder
}

fn module(dice: &mut Dice, repo: &mut Repo, root: &str, name: &str) {
    if name == "m" && dice.chance(70) {
        dice.mark("module: type aliases");
        for (file, text) in [
            ("port", "type M::Port = Integer[1, 1000]\n"),
            (
                "word",
                "# A word.\ntype M::Word = Pattern[/\\A[a-z]+\\z/]\n",
            ),
            (
                "tree",
                "type M::Tree = Variant[String, Hash[String, M::Tree]]\n",
            ),
            ("list", "type M::List = Array[Variant[M::Port, M::Word]]\n"),
        ] {
            repo.files
                .insert(format!("{root}/types/{file}.pp"), text.into());
        }
    }
    let config = match dice.weighted(&[86, 8, dice.if_risky(6), 2, 5]) {
        0 => version_5(dice, Layer::Module, &format!("/{root}"), &repo.scopes),
        4 => {
            repo.files
                .insert(format!("{root}/metadata.json"), metadata(name, "function"));
            data(dice, repo, root, name);
            return;
        }
        1 => version_4(dice, &format!("/{root}"), &repo.scopes),
        2 => no_configuration(dice, Layer::Module),
        _ => {
            dice.mark("module: metadata.json");
            let data_provider = dice.pick(&["hiera", "none", "bogus"]);
            repo.files.insert(
                format!("{root}/metadata.json"),
                metadata(name, data_provider),
            );
            version_5(dice, Layer::Module, &format!("/{root}"), &repo.scopes)
        }
    };
    if config.custom {
        functions(dice, repo, root, name);
    }
    add(
        dice,
        repo,
        &format!("{root}/hiera.yaml"),
        config,
        Some(name),
    );
}

fn metadata(name: &str, data_provider: &str) -> String {
    format!(
        "{{\"name\": \"x-{name}\", \"version\": \"1.0.0\", \"author\": \"x\", \"license\": \"MIT\", \"summary\": \"s\", \"source\": \"s\", \"dependencies\": [], \"data_provider\": \"{data_provider}\"}}"
    )
}

fn add(dice: &mut Dice, repo: &mut Repo, path: &str, config: Config, module: Option<&str>) {
    repo.files.insert(path.into(), config.text);
    repo.custom |= config.custom;
    for (path, format) in config.files {
        if dice.chance(80) && !repo.files.contains_key(&path) && !in_the_way(&repo.files, &path) {
            let text = data_file(dice, format, &repo.keys, module);
            repo.files.insert(path, text);
        }
    }
}

/// Whether a file is where another path needs a folder, or vice versa.
fn in_the_way(files: &IndexMap<String, String>, path: &str) -> bool {
    files.keys().any(|other| {
        other.starts_with(&format!("{path}/")) || path.starts_with(&format!("{other}/"))
    })
}
