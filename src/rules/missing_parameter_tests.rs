//! Classes that need values.

use super::super::Finding;
use super::super::marked::check_rule;
use super::*;

const WORKSPACE: &str = "\
#- hiera.yaml
version: 5
hierarchy: [{name: common, path: common.yaml}]
#- modules/ntp/manifests/init.pp
class ntp($servers) { }
";

#[test]
fn a_class_that_a_function_declares_may_be_given_its_values() {
    let silent = [
        "create_resources('class', {'ntp' => {'servers' => 'q'}})",
        "create_resources('class', {ntp => {servers => q}})",
        "create_resources(Class, {'::ntp' => {'servers' => 'q'}})",
        "create_resources('class', $all)",
        "create_resources($type, {'other' => {}})",
        "create_resources(\"@${type}\", {'other' => {}})",
        "ensure_resource('class', 'ntp', {'servers' => 'q'})",
        "ensure_resource('class', ['x', 'ntp'], {'servers' => 'q'})",
        "ensure_resources('class', {'ntp' => {}}, {'servers' => 'q'})",
        "'class'.create_resources({'ntp' => {}}, {'servers' => 'q'})",
    ];
    let reported = [
        "$x = 1",
        "create_resources('class', {'other' => {'servers' => 'q'}})",
        "create_resources('file', {'ntp' => {'mode' => 'q'}})",
        "ensure_resource('class', 'other', {'servers' => 'q'})",
    ];
    for (site, mark) in silent
        .map(|it| (it, ""))
        .into_iter()
        .chain(reported.map(|it| (it, " #~ missing-parameter")))
    {
        let text = format!(
            "{WORKSPACE}#- manifests/site.pp\nhiera_include('classes')\n{site}\n\
             #- data/common.yaml\nclasses:\n  - ntp{mark}\n"
        );
        check_rule(RULE, &text);
    }
}

const CHAIN: &str = "\
#- hiera.yaml
version: 5
hierarchy:
  - {name: node, path: \"node/%{trusted.certname}.yaml\"}
  - {name: role, path: \"role/%{role}.yaml\"}
  - {name: common, path: common.yaml}
#- modules/ntp/manifests/init.pp
class ntp($servers) { }
";

/// The messages of the findings, with a site manifest, the class `role` and data.
fn of_chain(site: &str, role: &str, more: &str) -> Vec<String> {
    let found = found_in_chain(site, role, more).into_iter();
    found.map(|it| it.message).collect()
}

fn found_in_chain(site: &str, role: &str, more: &str) -> Vec<Finding> {
    let common = if more.contains("data/common.yaml") {
        ""
    } else {
        "#- data/common.yaml\n"
    };
    let text = format!(
        "{CHAIN}#- manifests/site.pp\n{site}\n#- modules/role/manifests/init.pp\n{role}\n{more}{common}"
    );
    check_rule(RULE, &text)
}

#[test]
fn classes_that_manifests_surely_include_are_followed() {
    let sure = [
        "class role { include ntp }",
        "class role { contain ntp }",
        "class role { require ntp }",
        "class role { 'ntp'.include }",
        "class role { include stdlib, ::ntp }",
        "class role { class { 'ntp': } }",
        "class role inherits ntp { }",
    ];
    for role in sure {
        let marked = format!("{role} #~ missing-parameter");
        for site in [
            "include role",
            "node default { include role }",
            "$x = 1 include role",
        ] {
            let found = of_chain(site, &marked, "");
            assert_eq!(found.len(), 1, "{role}");
        }
        let site = "if $facts['x'] { include role }";
        assert_eq!(of_chain(site, role, ""), [""; 0]);
    }
    let unsure = [
        "class role { if $facts['x'] { include ntp } }",
        "class role { unless $facts['x'] { include ntp } }",
        "class role { case $facts['x'] { 1: { include ntp } } }",
        "class role { $facts['x'].each |$it| { include ntp } }",
        "class role { if $facts['x'] { return() } include ntp }",
        "class role { $facts['x'] and include(ntp) }",
        "define role::d { include ntp }\nclass role { }",
        "function role::f() { include ntp }\nclass role { }",
        "class role { class { 'ntp': servers => 'a' } }",
        "class role { class { 'ntp': * => $all } }",
        "class role { include ntp class { default: servers => 1; 'x': } Class['ntp'] -> Class['x'] \
         class { \"n${x}\": servers => 2 } }",
        "class role { Class['ntp'] -> File['x'] }",
        "class role { include gone }",
        "class role { include \"${x}\" }",
        "class role {",
    ];
    for role in unsure {
        assert_eq!(of_chain("include role", role, ""), [""; 0], "{role}");
    }
}

#[test]
fn a_function_that_is_called_before_may_declare_the_class() {
    let check = |site: &str, more: &str| {
        let site = format!("#- manifests/site.pp\n{site}\n{more}");
        check_rule(
            RULE,
            &format!("{WORKSPACE}#- data/common.yaml\na: 1\n{site}"),
        );
    };
    let ruby =
        "#- modules/x/lib/puppet/functions/x/f.rb\nPuppet::Functions.create_function(:'x::f') do\n";
    let declares = format!("{ruby}  call_function('create_resources', 'class', {{}})\nend\n");
    let gives = format!("{ruby}  def f(it)\n    it\n  end\nend\n");
    let puppet = "#- modules/x/functions/f.pp\nfunction x::f() { notice(1) }\n";
    let calling = "#- modules/x/functions/f.pp\nfunction x::f() { y::f() }\n";
    let profile = "#- modules/p/manifests/init.pp\nclass p { x::f() }\n";
    let silent = [
        ("x::f()\ninclude ntp", ""),
        ("x::f()\ninclude ntp", &declares),
        ("x::f()\ninclude ntp", calling),
        ("x::f()\nnode default { include ntp }", ""),
        ("if $a { $b.x::f }\ninclude ntp", ""),
        ("$b.each |$c| { x::f($c) }\ninclude ntp", ""),
        ("call('x::f')\ninclude ntp", ""),
        ("include p\ninclude ntp", profile),
        ("if $a { include p }\ninclude ntp", profile),
    ];
    for (site, more) in silent {
        check(site, more);
    }
    let pure = "$a = join(unique(stdlib::a($b)), ',') + size(base64('decode', 'a'))";
    let reported = [
        ("x::f(1)\ninclude ntp #~ missing-parameter", &*gives),
        ("x::f()\ninclude ntp #~ missing-parameter", puppet),
        (&*format!("{pure}\ninclude ntp #~ missing-parameter"), ""),
        ("\ninclude ntp #~ missing-parameter\nx::f()", ""),
        (
            "define d() { x::f() }\ninclude ntp #~ missing-parameter",
            "",
        ),
        (
            "node a { x::f() }\nnode b { include ntp } #~ missing-parameter",
            "",
        ),
    ];
    for (site, more) in reported {
        check(site, more);
    }
}

#[test]
fn classes_that_are_named_in_other_ways_are_included() {
    let text = |site: &str, data: &str| {
        let start = WORKSPACE.replace("[{name", "[{name: role, path: 'role/%{role}.yaml'}, {name");
        check_rule(
            RULE,
            &format!("{start}#- manifests/site.pp\n{site}\n{data}"),
        );
    };
    let own = "#- data/common.yaml\nclasses: [a, ntp] #~ missing-parameter\n";
    for site in [
        "include lookup('classes')",
        "contain lookup('classes', Array[String])",
        "lookup('classes').include",
        "include(lookup('classes', undef, 'first'))",
        "include lookup('classes', Array, 'deep')",
        "lookup({'name' => 'classes', 'merge' => 'unique'}).include",
        "lookup('classes').each |$c| { include $c }",
        "lookup('classes').each |String $c| { notice($c) contain $c }",
        "$c = lookup('classes', Array, 'unique', [])\n$c.include",
        "$c = lookup('classes')\ninclude $c",
        "$l = hiera('classes')\n$l.each |$c| { include $c }",
        "include lookup('classes', undef, undef, ['other'])",
    ] {
        text(site, own);
    }
    text(
        "include lookup('class')",
        "#- data/common.yaml\nclass: ntp #~ missing-parameter\n",
    );
    let silent = "#- data/common.yaml\nclasses: [a, ntp]\n";
    for site in [
        "lookup('classes').each |$c| { if $c == 'x' { include $c } }",
        "lookup('classes').each |$c| { if $c == 'x' { next() }\n include $c }",
        "lookup('classes').each |$i, $c| { include $i }",
        "lookup('classes').filter |$c| { $c != 'ntp' }.include",
        "if $x { $c = lookup('classes')\n include $c }",
        "$c = lookup('classes')\nnode /x/ { include $c }",
        "include lookup('classes', Array, {strategy => deep, knockout_prefix => '--'})",
        "include lookup(['other', 'classes'])",
        "include lookup('classes.x')",
        "(lookup('classes') - $e).include",
        "$c = lookup('classes')\n[1].each |$c| { include $c }",
    ] {
        text(site, silent);
    }
    // The highest level overrides the others, unless they are merged.
    let higher = format!("{silent}#- data/role/web.yaml\nclasses: [a]\n");
    text("include lookup('classes')", &higher);
    let role = "#- data/role/web.yaml\nclasses: [ntp] #~ missing-parameter\n#- data/common.yaml\nclasses: [a]\n";
    text("include lookup('classes')", role);
    let reported = higher.replace("[a, ntp]", "[a, ntp] #~ missing-parameter");
    text("hiera_include('classes')", &reported);
}

#[test]
fn computed_names_and_defaults_that_are_known_are_included() {
    let text = |site: &str, data: &str| {
        let data = format!("#- data/common.yaml\n{data}\n");
        check_rule(
            RULE,
            &format!("{WORKSPACE}#- manifests/site.pp\n{site}\n{data}"),
        );
    };
    for site in [
        "$role = 'ntp'\ninclude $role #~ missing-parameter",
        "$a = 'nt'\ninclude \"::${a}p\" #~ missing-parameter",
        "$a = 'NTP'\nnode default { include $a } #~ missing-parameter",
        "hiera_include('classes', ['ntp']) #~ missing-parameter",
        "hiera_include('classes', 'ntp') #~ missing-parameter",
        "include lookup('classes', Array, 'unique', ['ntp']) #~ missing-parameter",
        "include lookup('classes', {default_value => ['ntp']}) #~ missing-parameter",
        "$c = lookup('classes', undef, undef, ['ntp']) #~ missing-parameter\ninclude $c",
    ] {
        text(site, "a: 1");
    }
    for site in [
        "if $x { $role = 'ntp' } else { $role = 'a' }\ninclude $role",
        "include \"${b}ntp\"",
        "$c = lookup('classes', undef, undef, ['ntp'])",
        "if $x { hiera_include('classes', ['ntp']) }",
    ] {
        text(site, "a: 1");
    }
    text("hiera_include('classes', ['ntp'])", "classes: [a]");
    text("hiera_include('classes', ['ntp'])", "classes: []");
}

#[test]
fn names_of_classes_are_computed_for_each_node() {
    let nodes = "#- nodes.yaml\na: {facts: {role: role, os: {family: x}}, variables: {kind: role}}\n\
                 b: {facts: {role: other}}\nc: {}\n#- data/common.yaml\n";
    let role = "class role { include ntp }";
    let marked = format!("{role} #~ missing-parameter");
    for site in [
        "include $facts['role']",
        "include \"${facts['role']}\"",
        "include \"::${::role}\"",
        "node default { include $role }",
        "include \"${kind}\"",
        "class x { include $::role }\ninclude x",
        "class x { include $role }\ninclude x",
        "node 'a' { $r = $facts['role']\n include \"${x::y}\" }\nnode default { include \"ro${more}le\" }\n\
         include $role",
    ] {
        let found = of_chain(site, &marked, nodes);
        assert!(found[0].contains(" for a:"), "{site}: {found:?}");
    }
    for site in [
        "include $facts['os']",
        "include $facts['gone']",
        "include \"${role}${gone}\"",
        "class x($role = 'y') { include $role }\ninclude x",
        "class x { $role = $facts['y'] include $role }\ninclude x",
        "class x inherits y { include $role }\ninclude x",
        "$facts['all'].each |$role| { include $role }",
        "if $facts['x'] { include $role }",
        "include $role\nnode default { $role = 'role' }",
    ] {
        assert_eq!(of_chain(site, role, nodes), [""; 0], "{site}");
    }
    let site = "node default { $kind = $facts['role'] ? { 'other' => 'role', default => 'x' }\n include p }\n\
                class p { include $kind }";
    let found = of_chain(site, &marked, nodes);
    assert!(found[0].contains(" for b:"), "{found:?}");
}

#[test]
fn a_class_of_the_top_scope_does_not_see_what_the_node_block_sets() {
    let data = "#- data/role/web.yaml\nntp::servers: 1\n#- data/common.yaml\n";
    let role = "class role { include ntp }";
    for site in [
        "include role\nnode default { $role = 'db' }",
        "include role\n$role = $facts['x']",
    ] {
        assert_eq!(of_chain(site, role, data), [""; 0], "{site}");
    }
    let lists = "#- data/role/web.yaml\nclasses: [role]\n#- data/node/a.yaml\nx: 1\n";
    for list in ["hiera_include('classes')", "include lookup('classes')"] {
        let site = format!("{list}\nnode default {{ $role = 'web' }}");
        assert_eq!(of_chain(&site, role, lists), [""; 0], "{list}");
        let site = format!("node default {{ $role = 'web'\n {list} }}");
        let marked = format!("{role} #~ missing-parameter");
        assert_eq!(of_chain(&site, &marked, lists).len(), 1, "{list}");
    }
}

#[test]
fn a_variable_of_a_path_may_be_empty() {
    let text = |path: &str, key: &str, mark: &str| {
        format!(
            "#- hiera.yaml\nversion: 5\nhierarchy:\n  - {{name: a, path: '{path}'}}\n  \
             - {{name: b, path: other.yaml}}\n#- modules/ntp/manifests/init.pp\nclass ntp($servers) {{ }}\n\
             #- manifests/site.pp\nnode 'a.example.com' {{\n  include ntp{mark}\n}}\n#- data/other.yaml\nx: 1\n\
             #- data/s/common.yaml\n{key}: 1\n"
        )
    };
    for path in ["s/common%{facts.suffix}.yaml", "s/%{site}/common.yaml"] {
        check_rule(RULE, &text(path, "ntp::servers", ""));
        check_rule(RULE, &text(path, "ntp::server", " #~ missing-parameter"));
    }
    let path = "s/%{environment}/common.yaml";
    check_rule(RULE, &text(path, "ntp::servers", " #~ missing-parameter"));
}

#[test]
fn an_unreadable_site_manifest_hides_only_what_it_may_set() {
    let text = |site: &str, broken: &str| {
        format!(
            "{WORKSPACE}#- data/common.yaml\na: 1\n#- manifests/site.pp\n{site}\n\
             #- manifests/broken.pp\n{broken}\n"
        )
    };
    let includes = "include ntp #~ missing-parameter";
    for broken in [
        "node 'x' {",
        "include other,, \n$x = join($y, ','",
        "if ($x) { $y.map |$z| { $z.upcase }",
    ] {
        check_rule(RULE, &text(includes, broken));
        let named = "node 'a' { include ntp } #~ missing-parameter\nnode default { include ntp }";
        check_rule(RULE, &text(named, broken));
    }
    for broken in [
        "class { 'ntp': servers => 1",
        "class { $x: servers => 1",
        "create_resources('class', $all",
        "x::f( {",
        "$x.x::f {",
        "class ntp($servers = 1) {",
    ] {
        check_rule(RULE, &text("include ntp", broken));
    }
    check_rule(RULE, &text("node default { include ntp }", "node 'x' {"));
}

#[test]
fn a_file_that_is_not_here_may_have_the_value() {
    let text = |data: &str, mark: &str| {
        format!("{WORKSPACE}#- manifests/site.pp\ninclude ntp{mark}\n{data}")
    };
    check_rule(
        RULE,
        &text("#- data/common.yaml\n", " #~ missing-parameter"),
    );
    check_rule(RULE, &text("", ""));
}

#[test]
fn values_for_other_classes_or_in_tests_are_ignored() {
    let role = "class role { include ntp } #~ missing-parameter";
    for other in [
        "modules/x/manifests/init.pp\nclass x { class { \"a${y}\": mode => 1 } }",
        "modules/x/manifests/init.pp\nclass x { class { \"a${y}\": } }",
        "modules/x/manifests/init.pp\nclass x { class { \"a${y}\": servers => 1 } }\n\
         #- modules/x/manifests/y.pp\nclass x::y { include x }",
        "modules/x/manifests/init.pp\nclass x($t) { create_resources($t, {}) }",
        "modules/x/spec/fixtures/t.pp\ncreate_resources($t, {})",
    ] {
        assert_eq!(
            of_chain("include role", role, &format!("#- {other}\n")).len(),
            1
        );
    }
    let role = "class role { include ntp }";
    for other in [
        "modules/x/manifests/init.pp\nclass x { class { \"N${y}\": servers => 1 } }\n\
         #- modules/x/manifests/y.pp\nclass x::y { include x }",
        "modules/x/manifests/d.pp\ndefine x::d($t) { create_resources($t, {}) }",
        "modules/x/manifests/init.pp\nclass x($t) { create_resources($t, {}) }\n\
         #- data/common.yaml\nx::t: class",
    ] {
        assert_eq!(
            of_chain("include role", role, &format!("#- {other}\n")),
            [""; 0]
        );
    }
}

#[test]
fn a_node_uses_its_own_block() {
    let role = "class role { include ntp }";
    let marked = format!("{role} #~ missing-parameter");
    let set = "#- data/node/web1.x.yaml\nntp::servers: 1\n#- data/node/web2.x.yaml\na: 1\n\
               #- data/node/db1.x.yaml\na: 1\n";
    let cases = [
        (
            "node /^web/ { include role } node default { }",
            " for 1 of 2 nodes, such as web2.x",
        ),
        (
            "node 'web1.x' { } node /^(web|db)/ { include role } node default { }",
            " for 2 of 2 nodes, such as db1.x",
        ),
        (
            "node default { include role }",
            " for 2 of 3 nodes, such as db1.x",
        ),
        ("include role", " for 2 of 3 nodes, such as db1.x"),
        (
            "node 'new.x' { include role } node default { }",
            " for new.x",
        ),
        ("node /^app/ { include role } node default { }", ""),
        ("node 'web1.x' { include role } node default { }", ""),
        ("node /^web1/ { } node /^web/ { } node default { }", ""),
        (
            "node /^web1/ { } node /^web/ { include role } node default { }",
            " for web2.x",
        ),
    ];
    for (site, audience) in cases {
        if audience.is_empty() {
            assert_eq!(of_chain(site, role, set), [""; 0], "{site}");
            continue;
        }
        let found = of_chain(site, &marked, set);
        assert_eq!(found.len(), 1, "{site}: {found:?}");
        let expected = format!("'ntp::servers'{audience}: Puppet");
        assert!(found[0].contains(&expected), "{site}: {found:?}");
    }
}

#[test]
fn lists_in_data_lead_to_classes_that_are_followed() {
    let role = "class role { include ntp }";
    let marked = format!("{role} #~ missing-parameter");
    let site = "lookup('classes', Array, 'unique').include";
    let list = "#- data/role/web.yaml\nclasses: [role]\n";
    let found = of_chain(site, &marked, list);
    assert!(
        found[0].contains(" for the nodes that read web.yaml:"),
        "{found:?}"
    );
    let other = format!("{list}#- data/role/db.yaml\nntp::servers: 1\n");
    assert_eq!(of_chain(site, &marked, &other).len(), 1);
    for silent in [
        "#- data/role/web.yaml\nclasses: [role]\nntp::servers: 1\n",
        "#- data/role/web.yaml\nclasses: [role]\n#- data/common.yaml\nntp::servers: 1\n",
        "#- data/role/web.yaml\nclasses: [role]\n#- data/node/a.yaml\nntp::servers: 1\n",
        "#- data/role/web.yaml\nclasses: ['%{x}role', other]\n",
        "#- data/role/web.yaml\nclasses: [role]\nlookup_options: {classes: {convert_to: Hash}}\n",
    ] {
        assert_eq!(of_chain(site, role, silent), [""; 0], "{silent}");
    }
    let common = "#- data/common.yaml\nclasses: [role]\n#- data/node/a.yaml\na: 1\n";
    assert!(of_chain(site, &marked, common)[0].contains("'ntp::servers': Puppet"));
    let of_nodes = "#- data/node/a.yaml\na: 1\n#- data/node/b.yaml\nntp::servers: 1\n\
                    #- data/common.yaml\nclasses:\n  - x\n  - ntp #~ missing-parameter\n";
    let found = of_chain(site, "class role { }", of_nodes);
    assert!(
        found[0].contains("'ntp::servers' for 1 of 2 nodes, such as a:"),
        "{found:?}"
    );
    let role = "class role { lookup('more', Array, 'unique').include }";
    let more = "#- data/common.yaml\nclasses: [role]\nmore: [x]\n#- modules/x/manifests/init.pp\n\
                class x { include ntp } #~ missing-parameter\n";
    let found = found_in_chain(site, role, more);
    let ways: Vec<&str> = found[0].related.iter().map(|it| &*it.message).collect();
    assert_eq!(ways, ["parameter 'servers' is declared here"]);
}

#[test]
fn a_comment_in_a_manifest_turns_it_off() {
    for role in [
        "class role { include ntp } # hiera-ls: ignore[missing-parameter]",
        "class role {\n  # hiera-ls: ignore\n  include ntp\n}",
        "# hiera-ls: ignore-file[missing-parameter]\nclass role {\n  include ntp\n}",
    ] {
        assert_eq!(of_chain("include role", role, ""), [""; 0], "{role}");
    }
}

#[test]
fn classes_that_include_each_other_terminate() {
    let role = "class role { include role::a }\nclass role::a { include role include ntp } #~ missing-parameter";
    let found = found_in_chain("include role", role, "");
    let ways: Vec<&str> = found[0].related.iter().map(|it| &*it.message).collect();
    let expected = [
        "parameter 'servers' is declared here",
        "class 'role::a' is included here",
        "class 'role' is included here",
    ];
    assert_eq!(ways, expected);
}

#[test]
fn a_class_of_a_site_manifest_takes_precedence() {
    let site = "#- manifests/site.pp\nhiera_include('classes')\n";
    let data = "#- data/common.yaml\nclasses:\n  - ntp";
    check_rule(
        RULE,
        &format!("{WORKSPACE}{site}class ntp($servers = 1) {{ }}\n{data}\n"),
    );
    check_rule(
        RULE,
        &format!("{WORKSPACE}{site}class ntp($x) {{ }}\n{data} #~ missing-parameter\n"),
    );
}
