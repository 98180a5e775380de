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
