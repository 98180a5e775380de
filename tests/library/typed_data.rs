//! Random classes with typed parameters, and data for them: the rules report exactly the values for
//! which real Puppet refuses a catalog (`tests/parity/evaluate_cases.rb --requests`).

use hiera_ls::lookup::PuppetVersion;
use hiera_ls::rules::Checker;
use hiera_ls::value::from_json;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::manifests::ask_puppet;

/// Number of classes, unless `TYPED_COUNT` sets another; `TYPED_SEED` sets the seed.
const COUNT: usize = 250;

/// Types without parts.
const SIMPLE: [&str; 22] = [
    "Any",
    "Undef",
    "NotUndef",
    "Boolean",
    "Integer",
    "Integer[1, 9]",
    "Float",
    "Numeric",
    "String",
    "String[1]",
    "String[2, 3]",
    "Enum[a, b]",
    "Enum['on', 'off']",
    "Pattern[/^a/]",
    "Regexp",
    "Scalar",
    "ScalarData",
    "Data",
    "Collection",
    "Array",
    "Hash",
    "M::Port",
];

/// Values as data files write them.
const VALUES: [&str; 30] = [
    "1",
    "9",
    "10",
    "-1",
    "1.5",
    "true",
    "false",
    "yes",
    "~",
    "a",
    "ab",
    "abcd",
    "'1'",
    "''",
    "0644",
    "[]",
    "[a]",
    "[a, b]",
    "[1, x]",
    "{}",
    "{a: 1}",
    "{a: x, b: 2}",
    "[[a]]",
    "{a: {b: [1]}}",
    "\"%{alias('one')}\"",
    "\"%{lookup('one')}\"",
    "\"%{alias('gone')}\"",
    "[\"%{alias('word')}\", b]",
    "{a: \"%{alias('one')}\"}",
    "\"%{trusted.certname}\"",
];

fn typed() -> impl Strategy<Value = String> {
    let simple = select(&SIMPLE[..]).prop_map(str::to_owned);
    simple.prop_recursive(3, 12, 3, |inner| {
        let inner = inner.boxed();
        let one = |form: &'static str| inner.clone().prop_map(move |of| form.replace('@', &of));
        prop_oneof![
            one("Optional[@]"),
            one("Array[@]"),
            one("Array[@, 1]"),
            one("Array[@, 0, 1]"),
            one("Hash[String, @]"),
            one("Hash[Enum[a, b], @]"),
            one("Tuple[@, Integer]"),
            one("Struct[{a => @}]"),
            one("Struct[{a => @, Optional[b] => Any}]"),
            one("Variant[@, Boolean]"),
            one("Variant[Array[@], @]"),
            one("NotUndef[@]"),
        ]
    })
}

/// A request: a class with one parameter, the data for it, and where the class is included.
fn request() -> impl Strategy<Value = Value> {
    let default = select(&["", "", " = undef", " = 'a'", " = 1"][..]);
    let value = || prop::option::weighted(0.8, select(&VALUES[..]));
    let options = select(
        &[
            "",
            "",
            "",
            "",
            "{merge: unique}",
            "{merge: deep}",
            "{convert_to: Integer}",
            "{convert_to: String}",
        ][..],
    );
    (typed(), default, value(), value(), options, prop::bool::weighted(0.1)).prop_map(
        |(expected, default, common, node, options, other)| {
            let line = |value: Option<&str>| {
                value.map_or(String::new(), |value| format!("c::p: {value}\n"))
            };
            let mut data = format!("classes: [c]\none: 1\nword: ab\n{}", line(common));
            if !options.is_empty() {
                data.push_str(&format!("lookup_options: {{c::p: {options}}}\n"));
            }
            if other {
                data.push_str("c::q: 1\n");
            }
            json!({
                "certname": "web01.lon.example.com", "strict_variables": true, "whole": true, "facts": {},
                "files": {
                    "hiera.yaml": "version: 5\nhierarchy:\n  - {name: nodes, path: \"nodes/%{trusted.certname}.yaml\"}\n  \
                        - {name: common, path: common.yaml}\n",
                    "data/common.yaml": data,
                    "data/nodes/web01.lon.example.com.yaml": format!("x: 1\n{}", line(node)),
                    "manifests/site.pp": "lookup('classes', Array, 'unique').include\n",
                    "modules/c/manifests/init.pp": format!("class c({expected} $p{default}) {{ }}\n"),
                    "modules/m/types/port.pp": "type M::Port = Variant[Integer[1, 9], Enum[auto]]\n",
                },
            })
        },
    )
}

/// `CODE MESSAGE` for each finding of the rules on types.
fn reported(files: &Value) -> Vec<String> {
    let conf = (
        "environment.conf".to_owned(),
        "modulepath = modules\n".to_owned(),
    );
    let files = files.as_object().unwrap().iter();
    let files = files.map(|(path, text)| (path.clone(), text.as_str().unwrap().to_owned()));
    let fixture = Fixture {
        files: files.chain([conf]).collect(),
        cursor: None,
    };
    let found = Checker::new(&fixture.on_disk(), PuppetVersion::V8).all();
    let about_types = ["type-mismatch", "missing-parameter", "unknown-parameter"];
    let found = found
        .into_iter()
        .filter(|one| about_types.contains(&one.code));
    found
        .map(|one| format!("{} {}", one.code, one.message))
        .collect()
}

/// The ways from a site manifest and classes to class `c`, which needs a value, with their names.
const SITES: [&str; 14] = [
    "include d",
    "include c",
    "class { 'd': }",
    "class { 'c': p => 1 }",
    "node /^web/ { include d } node default { }",
    "node 'web01.lon.example.com' { include d } node /^web/ { }",
    "node /^db/ { include d } node default { }",
    "node default { include d }",
    "node /^w/ { } node /^web/ { include d } node default { }",
    "lookup('classes', Array, 'unique').include",
    "hiera_include('classes')",
    "if $trusted['certname'] == 'x' { include d }",
    "include e include d",
    "node default { lookup('classes', Array, 'unique').include include d }",
];

const CLASSES: [&str; 14] = [
    "class d { include c }",
    "class d { contain c }",
    "class d { require c }",
    "class d inherits c { }",
    "class d { class { 'c': } }",
    "class d { class { 'c': p => 1 } }",
    "class d { class { 'c': * => { p => 1 } } }",
    "class d { include e include c }",
    "class d { if true { include c } }",
    "class d { if $trusted['certname'] != 'x' { return() } include c }",
    "class d { [1].each |$x| { include c } }",
    "class d { 'c'.include Class['c'] -> Class['e'] include e }",
    "class d { lookup('more', Array, 'unique').include }",
    "class d { class { default: p => 1; ['c']: } }",
];

fn inclusion() -> impl Strategy<Value = Value> {
    let param = select(&["$p", "Integer $p", "Optional[String] $p", "$p = 1"][..]);
    let e = select(
        &[
            "class e { }",
            "class e { }",
            "class e { include c }",
            "class e { class { 'c': p => 1 } }",
        ][..],
    );
    let value = || prop::bool::weighted(0.2);
    let other = select(&["db01.lon.example.com", "web01.lon.example.com"][..]);
    let ways = (select(&SITES[..]), select(&CLASSES[..]), e);
    (ways, param, value(), value(), other).prop_map(
        |((site, class, e), param, common, node, other)| {
            let line = |is_set: bool| if is_set { "c::p: 1\n" } else { "" };
            json!({
                "certname": "web01.lon.example.com", "strict_variables": true, "whole": true, "facts": {},
                "files": {
                    "hiera.yaml": "version: 5\nhierarchy:\n  - {name: nodes, path: \"nodes/%{trusted.certname}.yaml\"}\n  \
                        - {name: common, path: common.yaml}\n",
                    "data/common.yaml": format!("classes: [d]\nmore: [c]\n{}", line(common)),
                    format!("data/nodes/{other}.yaml"): format!("x: 1\n{}", line(node)),
                    "manifests/site.pp": format!("{site}\n"),
                    "modules/c/manifests/init.pp": format!("class c({param}) {{ }}\n"),
                    "modules/d/manifests/init.pp": format!("{class}\n"),
                    "modules/e/manifests/init.pp": format!("{e}\n"),
                },
            })
        },
    )
}

#[test]
fn included_classes_lack_the_values_that_puppet_reports() {
    let mut runner = TestRunner::new_with_rng(
        Config::default(),
        TestRng::deterministic_rng(RngAlgorithm::ChaCha),
    );
    let strategy = inclusion();
    let requests = (0..COUNT).map(|at| {
        let mut request = strategy.new_tree(&mut runner).unwrap().current();
        request["id"] = json!(at.to_string());
        request
    });
    let requests: Vec<Value> = requests.collect();
    let Some(lines) = ask_puppet(&requests) else {
        return;
    };
    let (mut problems, mut refused, mut found) = (Vec::new(), 0, 0);
    for (request, line) in requests.iter().zip(&lines) {
        let case = from_json(line).unwrap();
        let error = case.get("error").and_then(|error| error.as_str());
        let is_refused =
            error.is_some_and(|error| error.contains("expects a value for parameter 'p'"));
        let ours = reported(&request["files"]);
        let is_of_node = |one: &&String| {
            one.starts_with("missing-parameter") && !one.contains(" for db01.lon.example.com")
        };
        let ours: Vec<&String> = ours.iter().filter(is_of_node).collect();
        refused += usize::from(is_refused);
        found += usize::from(is_refused && !ours.is_empty());
        if !is_refused && !ours.is_empty() || ours.len() > 1 {
            problems.push(format!(
                "{ours:?}\n  but {error:?}\n  for {}",
                request["files"]
            ));
        }
    }
    println!("{COUNT} sites, {refused} that Puppet refuses, {found} of these reported");
    assert!(
        problems.is_empty(),
        "{} differ:\n{}",
        problems.len(),
        problems[..problems.len().min(6)].join("\n")
    );
    assert!(found * 2 > refused, "{found} of {refused}");
}

#[test]
fn random_typed_data_is_checked_as_by_puppet() {
    let number = |name: &str, otherwise: usize| {
        let set = std::env::var(name).ok();
        set.map_or(otherwise, |set| set.parse().unwrap())
    };
    let (count, seed) = (number("TYPED_COUNT", COUNT), number("TYPED_SEED", 1));
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&(seed as u64).to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = request();
    let requests = (0..count).map(|at| {
        let mut request = strategy.new_tree(&mut runner).unwrap().current();
        request["id"] = json!(at.to_string());
        request
    });
    let requests: Vec<Value> = requests.collect();
    let Some(lines) = ask_puppet(&requests) else {
        return;
    };
    assert_eq!(lines.len(), count);
    let (mut problems, mut refused, mut found) = (Vec::new(), 0, 0);
    for (request, line) in requests.iter().zip(&lines) {
        let case = from_json(line).unwrap();
        let error = case.get("error").and_then(|error| error.as_str());
        let is_of_types = error.is_some_and(|error| error.contains("Class[C]"));
        refused += usize::from(is_of_types);
        let ours = reported(&request["files"]);
        let errors = ours
            .iter()
            .filter(|one| !one.starts_with("unknown-parameter"));
        let errors: Vec<&String> = errors.collect();
        found += usize::from(is_of_types && !errors.is_empty());
        for one in errors {
            let message = one.strip_prefix("type-mismatch Class[C]: ");
            // If not all readers certainly get the same, the message names the node.
            let message = message.and_then(|it| it.split(" for web01.lon.example.com").next());
            // What is ours comes behind Puppet's words.
            let message = message.and_then(|it| it.split(": this default is used").next());
            let message = message.and_then(|it| it.split("; none of the known nodes").next());
            let is_puppets = match message {
                Some(message) => error.is_some_and(|error| error.contains(message)),
                None => {
                    error.is_some_and(|error| error.contains("expects a value for parameter 'p'"))
                }
            };
            if !is_puppets {
                problems.push(format!(
                    "{one}\n  but {error:?}\n  for {}",
                    request["files"]
                ));
            }
        }
    }
    println!("{count} classes with data, {refused} that Puppet refuses, {found} of these reported");
    assert!(
        problems.is_empty(),
        "{} differ:\n{}",
        problems.len(),
        problems[..problems.len().min(6)].join("\n")
    );
    assert!(found * 2 > refused, "{found} of {refused}");
}
