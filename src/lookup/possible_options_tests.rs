//! Files that a node may read make an answer uncertain by their `lookup_options` only if these may
//! apply to the keys that were read.

use std::sync::Arc;

use super::{ConfigCache, Environment, PuppetVersion, Request, Session, Settings};
use crate::scope::Scope;
use crate::workspace::{Change, Workspace};

const HIERA: &str =
    "version: 5\nhierarchy: [{name: s, path: 's/%{site}.yaml'}, {path: c.yaml, name: c}]\n";
const COMMON: &str = "m::a: 1\nm::b: \"%{lookup('m::a')}\"\n";

/// Whether a key's value is certain while a file with some options may be read.
fn is_certain(data: &str, options: &str, key: &str) -> bool {
    let workspace = Workspace::new();
    workspace.apply(Change::Folders(vec!["/env".into()]));
    let open = |path: &str, text: &str| workspace.apply(Change::open(format!("/env/{path}"), text));
    open(
        "hiera.yaml",
        "version: 5\nhierarchy: [{name: g, path: g.yaml}]\n",
    );
    open("modules/m/hiera.yaml", HIERA);
    open("modules/m/data/c.yaml", COMMON);
    if data == "data" {
        open("hiera.yaml", HIERA);
        open("data/c.yaml", COMMON);
    }
    let snapshot = open(
        &format!("{data}/s/one.yaml"),
        &format!("lookup_options: {options}\n"),
    );
    let environment = Environment {
        dir: Some("/env".into()),
        modulepath: vec!["/env/modules".into()],
        ..Environment::default()
    };
    let session = Session {
        files: &*snapshot,
        environment: &environment,
        settings: &Settings::for_version(PuppetVersion::V8),
        configs: &ConfigCache::default(),
    };
    let answer = session.lookup(&Scope::open(), &Request::key(key));
    answer.is_certain() && answer.unless(&[Arc::from(key)]).is_none()
}

#[test]
fn options_of_other_keys_decide_nothing() {
    assert!(is_certain("data", "{m::c: {merge: deep}}", "m::a"));
    assert!(is_certain("data", "{'^m::c': {merge: deep}}", "m::a"));
    assert!(is_certain(
        "modules/m/data",
        "{m::c: {merge: deep}}",
        "m::a"
    ));
}

#[test]
fn options_that_may_be_of_a_key_leave_it_unknown() {
    for options in [
        "{m::a: {convert_to: String}}",
        "{'^m::.$': {convert_to: String}}",
        "{'^m::(': {merge: deep}}",
        "{'m::%{name}': {convert_to: String}}",
        "{<<: {m::a: {convert_to: String}}}",
        "\"%{alias('m::own')}\"",
    ] {
        assert!(!is_certain("data", options, "m::a"), "{options}");
        // A key that is read on the way.
        assert!(!is_certain("data", options, "m::b"), "{options}");
    }
    // Puppet refuses a module's options for other modules' keys.
    assert!(is_certain("data", "{other::c: {merge: deep}}", "m::a"));
    assert!(!is_certain(
        "modules/m/data",
        "{other::c: {merge: deep}}",
        "m::a"
    ));
}
