//! Declared functions of levels give the same as real Puppet when it runs them: paths made of a
//! key's segments, a level's own path, a reader that keeps its first file.

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::case::write_files;
use super::program::{Program, puppet_version};

const FILES: [(&str, &str); 14] = [
    (
        "env/hiera.yaml",
        "version: 5\nhierarchy:\n  - {name: Expand, lookup_key: 'lib::expand', paths: \
         ['role/%{role}', common]}\n  - {name: Kept, lookup_key: 'lib::kept', path: kept}\n  - {name: \
         Hash, data_hash: 'lib::hash', path: hash.json}\n  - {name: Dig, data_dig: 'lib::dig', path: \
         dig.yaml}\n  - {name: Plain, path: plain.yaml}\n",
    ),
    (
        "env/modules/lib/lib/puppet/functions/lib/expand.rb",
        "Puppet::Functions.create_function(:'lib::expand') do\n  dispatch :expand do\n    param \
         'String[1]', :key\n    param 'Hash', :options\n    param 'Puppet::LookupContext', :context\n  \
         end\n\n  def expand(key, options, context)\n    return context.cached_value(key) if \
         context.cache_has_key(key)\n\n    segments = key.split('::')\n    segments.pop\n    file = \
         ([options['path']] + segments).join('/') + '.yaml'\n    data = File.file?(file) ? \
         Puppet::Util::Yaml.safe_load_file(file) : {}\n    context.not_found unless \
         data.is_a?(Hash) && data.key?(key)\n    context.cache(key, context.interpolate(data[key]))\n  \
         end\nend\n",
    ),
    (
        "env/modules/lib/lib/puppet/functions/lib/kept.rb",
        "Puppet::Functions.create_function(:'lib::kept') do\n  dispatch :kept do\n    param \
         'String[1]', :key\n    param 'Hash', :options\n    param 'Puppet::LookupContext', :context\n  \
         end\n\n  def kept(key, options, context)\n    segments = key.split('::')\n    segments.pop\n    \
         file = ([options['path']] + segments).join('/') + '.yaml'\n    data = \
         context.cached_value(nil)\n    if data.nil?\n      data = File.file?(file) ? \
         Puppet::Util::Yaml.safe_load_file(file) : {}\n      context.cache(nil, data)\n    end\n    \
         context.not_found unless data.key?(key)\n    context.interpolate(data[key])\n  end\nend\n",
    ),
    (
        "env/modules/lib/lib/puppet/functions/lib/hash.rb",
        "require 'json'\n\nPuppet::Functions.create_function(:'lib::hash') do\n  dispatch :hash do\n    \
         param 'Hash', :options\n    param 'Puppet::LookupContext', :context\n  end\n\n  def \
         hash(options, context)\n    JSON.parse(File.read(options['path']))\n  end\nend\n",
    ),
    (
        "env/modules/lib/lib/puppet/functions/lib/dig.rb",
        "Puppet::Functions.create_function(:'lib::dig') do\n  dispatch :dig do\n    param \
         'Array[Variant[String, Numeric]]', :segments\n    param 'Hash', :options\n    param \
         'Puppet::LookupContext', :context\n  end\n\n  def dig(segments, options, context)\n    found = \
         Puppet::Util::Yaml.safe_load_file(options['path'])\n    segments.each do |segment|\n      \
         present = found.is_a?(Hash) ? found.key?(segment) : found.is_a?(Array) && \
         segment.is_a?(Integer) && segment < found.size\n      context.not_found unless present\n      \
         found = found[segment]\n    end\n    context.interpolate(found)\n  end\nend\n",
    ),
    (
        "env/data/role/web/profile/web.yaml",
        "profile::web::port: 443\nprofile::web::name: \"%{role}-%{lookup('top')}\"\nprofile::misplaced: \
         1\nprofile::web::list: [a]\n",
    ),
    ("env/data/role/web/profile.yaml", "profile::one: one\n"),
    (
        "env/data/common/profile/web.yaml",
        "profile::web::port: 80\nprofile::web::list: [b]\nprofile::web::hash: {x: {y: 1}}\n",
    ),
    (
        "env/data/common.yaml",
        "top: from common\nlookup_options: {profile::web::list: {merge: unique}, \
         profile::web::hash: {merge: deep}}\n",
    ),
    ("env/data/kept.yaml", "kept::a: 1\nkept: own\n"),
    ("env/data/kept/kept.yaml", "kept::b: 2\n"),
    (
        "env/data/hash.json",
        "{\"profile::web::hash\": {\"x\": {\"z\": [1, \"%{role}\"]}}, \"j\": {\"k\": null}}\n",
    ),
    ("env/data/dig.yaml", "d: {e: [{f: \"%{role}\"}]}\n"),
    (
        "env/data/plain.yaml",
        "profile::web::list: [c]\nplain: 1\nkept::b: plain\n",
    ),
];

/// The declarations of the functions: for `lib::kept`, the effect of the order of lookups.
const BACKENDS: &str = r#"{
    "lib::expand": {"like": "yaml_data", "path": "{path}/{key_path}.yaml"},
    "lib::kept": {"like": "yaml_data", "path": "{path}.yaml"},
    "lib::hash": {"like": "json_data"},
    "lib::dig": {"like": "yaml_data"}
}"#;

const KEYS: [&str; 16] = [
    "profile::web::port",
    "profile::web::name",
    "profile::web::list",
    "profile::web::hash",
    "profile::web::hash.x.z.1",
    "profile::misplaced",
    "profile::one",
    "top",
    "kept",
    "kept::a",
    "kept::b",
    "j.k",
    "d.e.0.f",
    "d.e.1",
    "plain",
    "nowhere::to::be",
];

#[test]
fn declared_functions_give_what_puppet_gets_from_them() {
    if puppet_version().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("case");
    let files: IndexMap<String, String> = FILES
        .iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect();
    write_files(&files, &root);
    // A location without its folder is not searched, although files of its name exist.
    std::fs::create_dir_all(root.join("env/data/role/db")).unwrap();
    let backends: Value = serde_json::from_str(BACKENDS).unwrap();
    let mut requests = Vec::new();
    for role in ["web", "db", "none"] {
        for key in KEYS {
            requests.push(json!({
                "id": format!("{role} {key}"),
                "environment_dir": root.join("env"),
                "modulepath": [root.join("env/modules")],
                "node": "n1",
                "key": key,
                "variables": { "role": role },
                "puppet_version": 7,
                "backends": backends,
            }));
        }
    }
    let theirs = Program::puppet().answer_all(&requests);
    let ours = Program::ours().answer_all(&requests);
    let part = |answer: &Value| {
        json!([
            answer["id"],
            answer["found"],
            answer["value"],
            answer["error"]
        ])
    };
    let mut found = 0;
    for (theirs, ours) in theirs.iter().zip(&ours) {
        assert_eq!(part(ours), part(theirs), "{theirs}\n{ours}");
        assert!(ours["assumed"].is_array(), "{ours}");
        found += usize::from(ours["found"] == true);
    }
    assert!(found > 30, "{found}");
}
