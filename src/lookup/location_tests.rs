//! Variables in the paths of levels, whose texts are kept while the levels are built.

use super::{ConfigCache, Environment, PuppetVersion, Request, Session, Settings};
use crate::scope::{Authenticated, Facts, Scope, default_trusted};
use crate::value::{Value, from_json, hash_with_capacity};
use crate::workspace::{Change, Workspace};

/// The values of keys for a node with these facts, or Puppet's errors.
fn answers(hierarchy: &str, facts: &str, files: &[(&str, &str)], keys: &[&str]) -> Vec<String> {
    let workspace = Workspace::new();
    workspace.apply(Change::Folders(vec!["/env".into()]));
    let config = format!("version: 5\nhierarchy:\n{hierarchy}");
    for (path, text) in files.iter().chain([&("hiera.yaml", config.as_str())]) {
        workspace.apply(Change::open(format!("/env/{path}"), *text));
    }
    let environment = Environment {
        dir: Some("/env".into()),
        ..Environment::default()
    };
    let snapshot = workspace.snapshot();
    let settings = Settings::for_version(PuppetVersion::V8);
    let session = Session {
        files: &*snapshot,
        environment: &environment,
        settings: &settings,
        configs: &ConfigCache::default(),
    };
    let none = hash_with_capacity(0);
    let trusted = default_trusted("n", Authenticated::Local, &none);
    let Ok(Value::Hash(facts)) = from_json(facts) else {
        panic!("facts are a hash: {facts}");
    };
    let facts = Facts::from((*facts).clone());
    let scope = Scope::closed(&facts, &trusted, &none, &none, "production");
    let mut compilation = session.compilation(&scope);
    let answer = |key: &&str| match compilation.lookup(&Request::key(key)).result {
        Ok(value) => value.to_s(),
        Err(error) => error.to_string(),
    };
    keys.iter().map(answer).collect()
}

#[test]
fn a_variable_of_mapped_paths_hides_one_of_that_name() {
    let hierarchy = r#"
- {name: a, path: "%{role}.yaml"}
- {name: b, mapped_paths: [roles, role, "x/%{role}.yaml"]}
- {name: c, path: "y/%{role}.yaml"}
"#;
    let files = [
        ("data/web.yaml", "a: a\n"),
        ("data/x/db.yaml", "b: b\n"),
        ("data/x/mail.yaml", "c: c\n"),
        ("data/x/web.yaml", "d: wrong\n"),
        ("data/y/web.yaml", "d: d\n"),
        ("data/y/mail.yaml", "d: wrong\n"),
    ];
    let facts = r#"{"role": "web", "roles": ["db", "mail"]}"#;
    let found = answers(hierarchy, facts, &files, &["a", "b", "c", "d"]);
    assert_eq!(found, ["a", "b", "c", "d"]);
}

#[test]
fn an_undefined_variable_fails_in_a_data_directory_also_after_a_path() {
    let files = [("data/.yaml", "a: a\n"), ("d/c.yaml", "a: wrong\n")];
    let path = "- {name: a, path: \"%{nope}.yaml\"}\n";
    assert_eq!(answers(path, "{}", &files, &["a"]), ["a"]);
    let both = format!("{path}- {{name: b, datadir: \"d%{{nope}}\", path: c.yaml}}\n");
    let found = answers(&both, "{}", &files, &["a"]);
    assert!(found[0].contains("nope"), "{found:?}");
}

#[test]
fn a_data_directory_of_version_3_may_be_any_folder_that_a_variable_names() {
    let workspace = Workspace::new();
    workspace.apply(Change::Folders(vec!["/puppet".into()]));
    let levels = ":backends: [yaml]\n:hierarchy: ['nodes/%{::hostname}', common]\n\
         :yaml:\n  :datadir: '%{::dc}'\n";
    for (path, text) in [
        ("hiera.yaml", levels),
        ("data/common.yaml", "k: here\n"),
        ("data/nodes/web.yaml", "l: web\n"),
    ] {
        workspace.apply(Change::open(format!("/puppet/{path}"), text));
    }
    let environment = Environment {
        global_config: Some("/puppet/hiera.yaml".into()),
        global_dir: Some("/puppet".into()),
        ..Environment::default()
    };
    let snapshot = workspace.snapshot();
    let settings = Settings::for_version(PuppetVersion::V7);
    let root = snapshot.roots().iter().next().expect("a root");
    let files = snapshot.files_for(root);
    let session = Session {
        files: &files,
        environment: &environment,
        settings: &settings,
        configs: &ConfigCache::default(),
    };
    let ask = |scope: &Scope, key: &str| {
        let answer = session.lookup(scope, &Request::key(key));
        match (&answer.result, answer.is_certain()) {
            (Ok(value), true) => value.to_s(),
            (Err(error), true) => error.to_string(),
            (_, false) => "unknown".to_owned(),
        }
    };
    let none = hash_with_capacity(0);
    let trusted = default_trusted("n", Authenticated::Local, &none);
    let scope = |dc: &str| {
        let facts = from_json(&format!(r#"{{"hostname": "web", "dc": "{dc}"}}"#)).expect("facts");
        let facts = Facts::from(facts.as_hash().expect("a hash").clone());
        Scope::closed(&facts, &trusted, &none, &none, "production")
    };
    // A relative one starts where Puppet runs: taken to be beside the file.
    for dc in ["data", "/puppet/data"] {
        assert_eq!(ask(&scope(dc), "k"), "here", "{dc}");
        assert_eq!(ask(&scope(dc), "l"), "web", "{dc}");
    }
    assert!(ask(&scope("/other"), "k").contains("did not find a value"));
    assert_eq!(ask(&Scope::open(), "k"), "unknown");
    assert_eq!(ask(&Scope::open(), "l"), "unknown");
    assert!(ask(&Scope::open(), "other").contains("did not find a value"));
}
