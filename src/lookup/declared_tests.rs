//! Declared functions: their results, the notes in answers, and that a lookup for many nodes equals
//! the lookup for each.

use std::sync::Arc;

use super::{
    Answer, ConfigCache, Environment, PuppetVersion, Request, Session, Settings, groups_of_nodes,
};
use crate::fixture::Fixture;
use crate::hierarchy::Backends;
use crate::scope::{DEFAULT_ENVIRONMENT, KnownNodes, Nodes, Scope};
use crate::value::load_yaml;
use crate::workspace::Snapshot;

const EXPANDING: &str = "\
#- hiera.yaml
version: 5
hierarchy:
  - {name: Vault, lookup_key: vault_lookup, uri: \"https://vault\"}
  - {name: Expand, lookup_key: lib::expand, paths: [\"role/%{role}\", common]}
  - {name: Plain, path: plain.yaml}
#- data/role/web/profile/web.yaml
profile::web::port: 443
profile::other::port: misplaced
#- data/role/web/profile.yaml
profile::name: \"%{role} %{lookup('top')}\"
#- data/role/db/x.yaml
x::y: 1
#- data/common/profile/web.yaml
profile::web::port: 80
profile::web::list: [a]
#- data/common.yaml
top: common
lookup_options: {profile::web::list: {merge: unique}}
#- data/common/x.yaml
x::y: 2
#- data/plain.yaml
profile::web::list: [b]
secret::one: plain
";

const EXPAND: &str = r#"{"lib::expand": {"like": "yaml_data", "path": "{path}/{key_path}.yaml"}"#;

struct DeclaredPlaces {
    snapshot: Arc<Snapshot>,
    environment: Environment,
    settings: Settings,
    configs: ConfigCache,
}

impl DeclaredPlaces {
    fn new(files: &str, backends: &str) -> DeclaredPlaces {
        let snapshot = Fixture::new("hiera.yaml", files).on_disk();
        let root = snapshot.roots().iter().next().expect("a root").clone();
        let backends: Backends = serde_json::from_str(backends).expect("declarations");
        let settings = Settings {
            backends: Arc::new(backends),
            ..Settings::for_version(PuppetVersion::V7).for_editor()
        };
        DeclaredPlaces {
            environment: Environment::of_root(&snapshot, &root, DEFAULT_ENVIRONMENT),
            snapshot,
            settings,
            configs: ConfigCache::default(),
        }
    }

    fn session(&self) -> Session<'_> {
        Session {
            files: &*self.snapshot,
            environment: &self.environment,
            settings: &self.settings,
            configs: &self.configs,
        }
    }

    fn answer(&self, key: &str, role: &str) -> Answer {
        let nodes = nodes(&format!("n: {{variables: {{role: {role}}}}}"));
        self.session().lookup(&nodes.scope(0), &Request::key(key))
    }

    /// The answer in a line: the value, the conditions that would change it, and its assumptions.
    fn answer_line(&self, key: &str, role: &str) -> String {
        let answer = self.answer(key, role);
        let mut line = match &answer.result {
            Ok(value) => value.inspect(),
            Err(error) if error.is_not_found() => "not found".to_owned(),
            Err(error) => error.to_string(),
        };
        if let Some(unless) = answer.unless(&[Arc::from(key)]) {
            line.push_str(&format!(", unless {unless}"));
        }
        for assumed in &answer.assumed {
            line.push_str(&format!("; {assumed}"));
        }
        line
    }
}

fn nodes(text: &str) -> KnownNodes {
    let value = load_yaml(text.as_bytes()).expect("YAML");
    KnownNodes::new(&Nodes::read(&value, &Default::default()).expect("nodes"))
}

#[test]
fn a_function_reads_the_file_that_the_key_names() {
    let place = DeclaredPlaces::new(
        EXPANDING,
        &format!("{EXPAND}, \"vault_lookup\": {{\"like\": \"nothing\"}}}}"),
    );
    let value = |key: &str, role: &str| {
        let answer = place.answer(key, role);
        assert_eq!(answer.unknown, [], "{key}");
        let like: Vec<String> = answer.assumed.iter().map(ToString::to_string).collect();
        assert_eq!(
            like,
            [
                "the function 'vault_lookup' is declared to give nothing",
                "the function 'lib::expand' is declared to read like yaml_data"
            ]
        );
        answer.result.map(|value| value.inspect()).ok()
    };
    assert_eq!(value("profile::web::port", "web").as_deref(), Some("443"));
    assert_eq!(value("profile::web::port", "db").as_deref(), Some("80"));
    assert_eq!(value("profile::other::port", "web"), None);
    assert_eq!(
        value("profile::name", "web").as_deref(),
        Some("\"web common\"")
    );
    // The options come from the file for keys without segments.
    assert_eq!(
        value("profile::web::list", "web").as_deref(),
        Some("[\"a\", \"b\"]")
    );
    assert_eq!(value("x::y", "db").as_deref(), Some("1"));
    // A key that is no path is left to the function.
    let unless = place.answer("x::y/z", "db").unless(&["x::y/z".into()]);
    assert_eq!(unless.as_deref(), Some("lib::expand has the key"));
}

#[test]
fn a_level_that_is_not_declared_leaves_a_condition() {
    let place = DeclaredPlaces::new(EXPANDING, &format!("{EXPAND}}}"));
    let rests = "; the function 'lib::expand' is declared to read like yaml_data";
    assert_eq!(
        place.answer_line("top", "web"),
        format!("\"common\", unless vault_lookup has the key{rests}")
    );
    assert_eq!(
        place.answer_line("nowhere", "web"),
        format!("not found, unless vault_lookup has the key{rests}")
    );
    assert_eq!(
        place.answer_line("profile::name", "web"),
        format!(
            "\"web common\", unless vault_lookup has the key, or vault_lookup has 'top'{rests}"
        )
    );
    let place = DeclaredPlaces::new(EXPANDING, "{}");
    assert_eq!(
        place.answer_line("secret::one", "web"),
        "\"plain\", unless vault_lookup has the key, or lib::expand has the key"
    );
}

#[test]
fn a_secret_is_of_the_keys_that_are_declared() {
    let with = |keys: &str| {
        let secret = format!("{{\"like\": \"secret\"{keys}}}");
        DeclaredPlaces::new(
            EXPANDING,
            &format!("{EXPAND}, \"vault_lookup\": {secret}}}"),
        )
    };
    let some = with(", \"keys\": [\"^secret::\", \"x$\"]");
    let answer = some.answer("secret::one", "web");
    assert!(answer.possible().is_none());
    let why = answer.why_uncertain();
    assert_eq!(
        why.as_deref(),
        Some("the value is a secret of the function 'vault_lookup'")
    );
    assert_eq!(some.answer("top", "web").why_uncertain(), None);
    // Without a list of keys any key may exist; options do not.
    let any = with("");
    let answer = any.answer("top", "web");
    assert_eq!(
        answer.possible().map(|value| value.inspect()).as_deref(),
        Some("\"common\"")
    );
    assert!(answer.unknown.iter().all(|unknown| !unknown.for_options));
}

#[test]
fn other_readers_and_paths_are_declared_too() {
    let files = "\
#- hiera.yaml
version: 5
defaults: {datadir: hieradata}
hierarchy:
  - {name: Hash, data_hash: lib::hash, path: h.json}
  - {name: Dig, data_dig: lib::dig, path: common}
  - {name: Free, lookup_key: lib::free}
#- hieradata/h.json
{\"j\": {\"deep\": [1]}}
#- hieradata/common
#- hieradata/dig/a.yaml
a::b: {c: 1}
#- hieradata/free/first.yaml
f::one: 1
#- hieradata/free/f.yaml
f::one: 2
f::two: 2
";
    let place = DeclaredPlaces::new(
        files,
        r#"{"lib::hash": {"like": "json_data"},
            "lib::dig": {"like": "yaml_data", "path": "dig/{key_module}.yaml"},
            "lib::free": {"like": "eyaml_lookup_key",
                "path": ["{datadir}/free/first.yaml", "{datadir}/free/{key_module}.yaml"]}}"#,
    );
    let value = |key: &str| {
        let answer = place.answer(key, "web");
        assert_eq!(answer.unknown, [], "{key}");
        answer.result.map(|value| value.inspect()).ok()
    };
    assert_eq!(value("j.deep.0").as_deref(), Some("1"));
    assert_eq!(value("a::b.c").as_deref(), Some("1"));
    assert_eq!(value("f::one").as_deref(), Some("1"));
    assert_eq!(value("f::two").as_deref(), Some("2"));
    assert_eq!(value("f::three"), None);
    // A level without a path, and a function that needs one.
    let needs = r#"{"lib::free": {"like": "yaml_data"}, "lib::dig": {"like": "nothing"},
        "lib::hash": {"like": "nothing"}}"#;
    let place = DeclaredPlaces::new(files, needs);
    let unless = place.answer("f::one", "web").unless(&["f::one".into()]);
    assert_eq!(unless.as_deref(), Some("lib::free has the key"));
}

#[test]
fn many_nodes_get_what_each_gets_alone() {
    let place = DeclaredPlaces::new(
        EXPANDING,
        &format!("{EXPAND}, \"vault_lookup\": {{\"like\": \"nothing\"}}}}"),
    );
    let known = nodes(
        "a: {variables: {role: web}}\nb: {variables: {role: db}}\nc: {variables: {role: none}}\n\
         d: {variables: {role: web}}\n",
    );
    for key in [
        "profile::web::port",
        "x::y",
        "profile::name",
        "top",
        "profile::web::list",
    ] {
        let request = Request::key(key);
        let groups = groups_of_nodes(&place.session(), &known, &request, &|| false);
        for member in 0..known.len() {
            let alone = place.session().lookup(&known.scope(member), &request);
            let name = known.certname(member);
            let group = groups
                .iter()
                .find(|group| group.nodes.iter().any(|node| **node == *name));
            let group = group.expect("a group");
            assert_eq!(group.result, alone.result, "{key} {name}");
        }
    }
    let readers = super::readers(
        &place.session(),
        &known,
        &crate::hierarchy::Layer::Environment,
        "/repo/data/role/web/profile/web.yaml",
    );
    assert_eq!(readers, [0, 3]);
}

#[test]
fn a_path_with_an_unknown_variable_is_possible_for_the_files_of_the_key() {
    let place = DeclaredPlaces::new(EXPANDING, &format!("{EXPAND}}}"));
    let answer = place
        .session()
        .lookup(&Scope::open(), &Request::key("profile::web::port"));
    let files = answer
        .unknown
        .iter()
        .find_map(|unknown| match &unknown.cause {
            super::UnknownCause::Path(possible) => Some(possible.files.clone()),
            super::UnknownCause::Function { .. } | super::UnknownCause::Absent { .. } => None,
        });
    let files: Vec<String> = files
        .iter()
        .flat_map(|files| files.iter())
        .map(ToString::to_string)
        .collect();
    assert_eq!(files, ["/repo/data/role/web/profile/web.yaml"]);
}

#[test]
fn an_address_with_an_unknown_part_is_no_error() {
    let files = "#- hiera.yaml\n\
         version: 5\n\
         hierarchy:\n  \
           - {name: Web, lookup_key: lib::web, uri: \"https://x/%{where}\"}\n  \
           - {name: Plain, path: plain.yaml}\n\
         #- data/plain.yaml\n\
         a: 1\n";
    let place = DeclaredPlaces::new(files, r#"{"lib::web": {"like": "nothing"}}"#);
    let unknown = place.session().lookup(&Scope::open(), &Request::key("a"));
    assert_eq!(
        unknown.result.map(|value| value.inspect()),
        Ok("1".to_owned())
    );
    // A space in the variable's value prevents it.
    let nodes = nodes("n: {variables: {where: 'a b'}}");
    let known = place.session().lookup(&nodes.scope(0), &Request::key("a"));
    let error = known.result.expect_err("Ruby refuses the address");
    assert!(error.to_string().contains("bad URI"), "{error}");
}

#[test]
fn a_function_behind_an_unknown_path_leaves_a_condition() {
    let files = "#- hiera.yaml\n\
         version: 5\n\
         hierarchy:\n  \
           - {name: Role, lookup_key: lib::role, path: \"v/%{role}.yaml\"}\n  \
           - {name: Gone, lookup_key: lib::gone, path: \"gone/%{role}.yaml\"}\n  \
           - {name: Plain, path: plain.yaml}\n\
         #- data/v/web.yaml\n\
         b: 1\n\
         #- data/plain.yaml\n\
         a: 1\n";
    let unless = |backends: &str| {
        let place = DeclaredPlaces::new(files, backends);
        let answer = place.session().lookup(&Scope::open(), &Request::key("a"));
        answer.unless(&[Arc::from("a")])
    };
    let condition = unless("{}").expect("a condition");
    assert!(
        condition.contains("lib::role") && !condition.contains("lib::gone"),
        "{condition}"
    );
    let condition = unless(r#"{"lib::role": {"like": "secret"}}"#).expect("a condition");
    assert!(condition.contains("lib::role"), "{condition}");
    assert_eq!(unless(r#"{"lib::role": {"like": "nothing"}}"#), None);
}
