//! Classes of catalogs on the command line: variables, functions of the standard library, titles of resources.

use super::reach_cli::{output_of, workspace};

/// What `lookup x --compile` prints, or its error, for a node whose catalog has a class `m` with this body.
fn compiled(body: &str, more: &[(&str, &str)]) -> String {
    let class = format!("class m($none = undef) {{ {body} }}\n");
    let files = [
        ("environment.conf", "modulepath = modules\n"),
        (
            "hiera.yaml",
            "version: 5\nhierarchy: [{name: common, path: common.yaml}]\n",
        ),
        ("manifests/site.pp", "include m\n"),
        ("modules/m/manifests/init.pp", &class),
        ("data/common.yaml", "x: \"%{m::c}\"\n"),
        (
            "nodes.json",
            r#"{"a.example.com": {"facts": {"os": {"family": "Debian"}}, "variables": {}}}"#,
        ),
    ];
    let folder = workspace(&[&files[..], more].concat());
    let arguments = ["lookup", "x", "--compile", "--node", "a.example.com"];
    let (_, shown, error) = output_of(folder.path(), &arguments);
    let last = error.lines().find(|line| line.contains("no catalog"));
    last.map_or(shown, str::to_owned)
}

#[test]
fn classes_may_have_a_variable_with_the_name_of_the_environment() {
    assert_eq!(
        compiled("$environment = 'dev' $c = $environment", &[]),
        "--- dev\n"
    );
    let found = compiled("$facts = 1", &[]);
    assert!(
        found.contains("Attempt to assign to a reserved variable name: '$facts'"),
        "{found}"
    );
    let site = ("manifests/site.pp", "$environment = 'x'\ninclude m\n");
    let found = compiled("$c = 1", &[site]);
    assert!(
        found.contains("Cannot reassign variable '$environment'"),
        "{found}"
    );
}

#[test]
fn functions_of_the_standard_library_get_empty_texts_for_undef() {
    for (expression, expected) in [
        ("pick('undef', 'b')", "undef"),
        ("pick($none, '', 'b')", "b"),
        ("pick_default($none, 'undef')", "undef"),
        ("String(concat(['a'], $none).length)", "2"),
        ("String(concat(['a'], $none)[1] == '')", "true"),
        ("String(any2array($none).length)", "0"),
        ("String(any2array($none, 'a')[0] == '')", "true"),
        ("String(empty(any2array($none)))", "true"),
    ] {
        let found = compiled(&format!("$c = {expression}"), &[]);
        assert_eq!(
            found.trim().trim_start_matches("--- ").trim_matches('\''),
            expected,
            "{expression}"
        );
    }
}

#[test]
fn a_function_that_the_visible_standard_library_lacks_is_unknown() {
    let body = "$c = has_key({'a' => 1}, 'a')";
    assert_eq!(compiled(body, &[]), "--- 'true'\n");
    let old = "modules/stdlib/lib/puppet/parser/functions/has_key.rb";
    assert_eq!(compiled(body, &[(old, "")]), "--- 'true'\n");
    let other = "modules/stdlib/lib/puppet/parser/functions/pick.rb";
    assert_ne!(compiled(body, &[(other, "")]), "--- 'true'\n");
    // Puppet's own functions are in no module.
    let site = (
        "manifests/site.pp",
        "$motd = sha256('hello')\nif $facts['os']['family'] == 'RedHat' { $role = 'web' }\ninclude m\n",
    );
    let body = "$c = $nope ? { undef => 'none', default => 'some' }";
    let version = (".hiera-ls.yaml", "puppetVersion: 7\n");
    assert_eq!(compiled(body, &[site, (other, ""), version]), "--- none\n");
    let hierarchy = (
        "hiera.yaml",
        "version: 5\nhierarchy: [{name: role, path: '%{role}.yaml'}, {name: common, path: common.yaml}]\n",
    );
    let role = ("data/web.yaml", "x: web\n");
    assert_eq!(
        compiled("$c = 1", &[site, (other, ""), hierarchy, role]),
        "--- '1'\n"
    );
}

#[test]
fn titles_of_resources_are_texts() {
    for (title, error) in [
        (
            "$none",
            "Missing title. The title expression resulted in undef",
        ),
        (
            "['/a', $none]",
            "Missing title at index 1. The title expression resulted in an undef title",
        ),
        (
            "5",
            "Illegal title type at index 0. Expected String, got Integer",
        ),
        (
            "undef: content => fail('boom'); '/a'",
            "Missing title. The title expression resulted in undef",
        ),
        (
            "['/a', '']",
            "Empty string title at 1. Title strings must have a length greater than zero.",
        ),
    ] {
        let found = compiled(&format!("file {{ {title}: ensure => file }} $c = 1"), &[]);
        assert!(found.contains(error), "{title}: {found}");
    }
    assert_eq!(
        compiled("file { ['/a', ['/b']]: ensure => file } $c = 1", &[]),
        "--- '1'\n"
    );
}
