//! Lookup functions in the Puppet language: what follows an unknown step is unknown.

use super::{ConfigCache, Environment, PuppetVersion, Request, Session, Settings};
use crate::scope::{Authenticated, Facts, Scope, default_trusted};
use crate::value::hash_with_capacity;
use crate::workspace::{Change, Workspace};

/// The answers for some keys in one compilation, with this body of the `lookup_key` function of the
/// first level: `unknown`, or the value.
fn answers(body: &str, keys: &[&str]) -> Vec<String> {
    let workspace = Workspace::new();
    workspace.apply(Change::Folders(vec!["/env".into()]));
    let open = |path: &str, text: &str| {
        workspace.apply(Change::open(format!("/env/{path}"), text));
    };
    let function = |name: &str, body: &str| {
        let text = format!("function m::{name}($key, $options, $context) {{\n{body}\n}}\n");
        open(&format!("modules/m/functions/{name}.pp"), &text);
    };
    open(
        "hiera.yaml",
        "version: 5\nhierarchy:\n- {name: f, lookup_key: 'm::lk', path: raw.yaml}\n\
         - {name: c, path: common.yaml}\n",
    );
    open("data/raw.yaml", "a: raw\n");
    open("data/common.yaml", "a: common\nb: common\n");
    open(
        "modules/m/lib/puppet/functions/m/same.rb",
        "Puppet::Functions.create_function(:'m::same') { def same(*x) x[0] end }\n",
    );
    function("give_up", "$context.not_found");
    function("keep", "$context.cache($key, 'kept')");
    let options = "if $key == 'lookup_options' { $context.not_found }";
    function("lk", &format!("{options}\n{body}"));
    let environment = Environment {
        dir: Some("/env".into()),
        modulepath: vec!["/env/modules".into()],
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
    let scope = Scope::closed(
        &Facts::from(none.clone()),
        &trusted,
        &none,
        &none,
        "production",
    );
    let mut compilation = session.compilation(&scope);
    let mut all = Vec::new();
    for key in keys {
        let request = Request::key(key);
        let answer = compilation.lookup(&request);
        // Unknowns of earlier requests are repeated.
        let is_own = |cause: &super::UnknownCause| match cause {
            super::UnknownCause::Function { key: of, .. } => **of == **key,
            super::UnknownCause::Absent { .. } | super::UnknownCause::Path(_) => true,
        };
        let is_unknown = answer.unknown.iter().any(|one| is_own(&one.cause));
        all.push(match answer.result {
            _ if is_unknown => "unknown".to_owned(),
            Ok(value) => value.to_s(),
            Err(error) => error.to_string(),
        });
    }
    all
}

fn a(body: &str) -> String {
    answers(body, &["a"]).remove(0)
}

#[test]
fn a_cache_that_gets_unknown_values_is_unknown() {
    for filled in [
        "$context.cache_all(yaml_data($options, $context))",
        "$context.cache($key, m::same('x'))",
        "m::same(['x']).each |$x| { $context.cache($key, $x) }",
        "if m::same(false) { $context.cache($key, 'x') }",
        "m::same($context)",
        "if m::same(false) { m::keep($key, $options, $context) }",
    ] {
        let body = format!(
            "{filled}\nif $context.cache_has_key($key) {{ $context.cached_value($key) }} \
             else {{ $context.not_found }}"
        );
        assert_eq!(a(&body), "unknown", "{filled}");
        let body = format!("{filled}\n$context.cached_value($key)");
        assert_eq!(a(&body), "unknown", "{filled}");
    }
    let known = "m::keep($key, $options, $context)\nm::same(1)\n$context.cached_value($key)";
    assert_eq!(a(known), "kept");
}

#[test]
fn an_unknown_cache_stays_unknown_for_later_keys() {
    let body = "if !$context.cache_has_key('loaded') {\n\
                  $context.cache_all(yaml_data($options, $context))\n\
                  $context.cache('loaded', true)\n}\n\
                if $key == 'b' { 'of b' } else { $context.cached_value($key) }";
    assert_eq!(answers(body, &["b", "a"]), ["of b", "unknown"]);
    // The first call ends at an unknown step, before it caches.
    let body = "if $key == 'b' { m::same(1).each |$x| { return($x) } }\n\
                if $context.cache_has_key('c') { 'cached' } else { 'not' }";
    assert_eq!(answers(body, &["a", "b"]), ["not", "unknown"]);
}

#[test]
fn what_may_end_the_function_at_an_unknown_step_makes_its_result_unknown() {
    for step in [
        "if m::same(false) { $context.not_found }",
        "if m::same(false) { $context.not_found() }",
        "if m::same(false) { not_found($context) }",
        "m::same(['a']).each |$x| { if $x == $key { return('early') } }",
        "m::same([]).each |$x| { $context.not_found }",
        "m::same('a').then |$x| { return($x) }",
        "$x = m::same(1) ? { 1 => $context.not_found, default => 2 }",
        "m::same(false) and return('early')",
        "case m::same(1) { 1: { return('early') } }",
        "unless m::same(true) { fail('no') }",
        "m::give_up($key, $options, m::same($context))",
        "if m::same(false) { m::give_up($key, $options, $context) }",
        "m::same($context)",
        "[1].each |$x| { m::same(1).then |$y| { break() }\n return('in each') }",
    ] {
        assert_eq!(a(&format!("{step}\n'late'")), "unknown", "{step}");
    }
    for step in [
        "m::same(['a']).each |$x| { next($x) }",
        "m::same(['a']).each |$x| { break() }",
        "$x = m::same(1)",
        "$context.explain || { m::same('why') }",
        "$y = yaml_data($options, $context)",
        "if false { $context.not_found }",
    ] {
        assert_eq!(a(&format!("{step}\n'late'")), "late", "{step}");
    }
    assert_eq!(a("m::give_up($key, $options, $context)\n'late'"), "common");
}
