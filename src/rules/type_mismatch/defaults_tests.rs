//! Defaults of parameters that Puppet refuses.

use crate::rules::marked::check_rule;
use crate::rules::type_mismatch::RULE;

const START: &str = "\
#- hiera.yaml
version: 5
hierarchy:
  - {name: node, path: \"node/%{trusted.certname}.yaml\"}
  - {name: common, path: common.yaml}
#- nodes.yaml
a1: {facts: {os: {family: Debian}}}
b1: {facts: {os: {family: windows}}}
#- modules/m/functions/text.pp
function m::text() { 'text' }
#- modules/m/manifests/params.pp
class m::params($given = 'x') {
  $wrong = 'x'
  case $facts['os']['family'] {
    'windows': { $some = 'x' }
    default: { $some = 1 }
  }
  $computed = unknown()
}
";

/// The messages for a class `m` with these parameters, whose marked lines have findings.
fn check_defaults(parameters: &str, rest: &str) -> Vec<String> {
    let site = if rest.contains("#- manifests/site.pp") {
        ""
    } else {
        "#- manifests/site.pp\ninclude m\n"
    };
    let data = if rest.contains("#- data/common.yaml") {
        ""
    } else {
        "#- data/common.yaml\nother: 1\n"
    };
    let text = format!(
        "{START}#- modules/m/manifests/init.pp\nclass m(\n{parameters}\n) inherits m::params {{ }}\n{data}{site}{rest}"
    );
    let found = check_rule(RULE, &text);
    found.into_iter().map(|it| it.message).collect()
}

#[test]
fn wrong_defaults_that_nodes_get_are_reported() {
    let wrong = "Class[M]: parameter 'a' expects an Integer value, got String";
    let used = "this default is used, as no level sets 'm::a'";
    for default in ["'x'", "m::text()", "lookup('text')", "$m::params::wrong"] {
        let found = check_defaults(
            &format!("Integer $a = {default}, #~ type-mismatch"),
            "#- data/common.yaml\ntext: x\n",
        );
        assert_eq!(found, [format!("{wrong}: {used}")], "{default}");
    }
    let found = check_defaults("String $b = 'x',\nInteger $a = $b, #~ type-mismatch", "");
    assert_eq!(found, [format!("{wrong}: {used}")]);
    let selector = "$facts['os']['family'] ? { 'windows' => 'x', default => 1 }";
    for default in [selector, "$m::params::some"] {
        let found = check_defaults(&format!("Integer $a = {default}, #~ type-mismatch"), "");
        let some = " for 1 of 2 nodes, such as b1";
        assert_eq!(found, [format!("{wrong}{some}: {used}")], "{default}");
    }
    for (expected, default) in [
        ("NotUndef[Array[String, 1]]", "[]"),
        ("Enum[a, b]", "'c'"),
        ("Tuple[String, 1, 1]", "[]"),
        ("String", "undef"),
    ] {
        check_defaults(&format!("{expected} $a = {default}, #~ type-mismatch"), "");
    }
}

#[test]
fn defaults_that_fail_are_reported() {
    let fails = "class 'm' cannot be included: no level sets 'm::a', and this default fails: ";
    let found = check_defaults("$a = lookup('nope'), #~ type-mismatch", "");
    let why = "Function lookup() did not find a value for the name 'nope'";
    assert_eq!(found, [format!("{fails}{why}")]);
    let text = "#- data/common.yaml\ntext: x\n";
    let found = check_defaults("$a = lookup('text', Integer), #~ type-mismatch", text);
    assert!(found[0].starts_with(fails), "{found:?}");
    let selector = "$facts['os']['family'] ? { 'Debian' => 1 }";
    let found = check_defaults(&format!("$a = {selector}, #~ type-mismatch"), "");
    assert!(
        found[0].starts_with("class 'm' cannot be included for 1 of 2 nodes, such as b1: "),
        "{found:?}"
    );
}

#[test]
fn defaults_that_may_be_fine_are_not_reported() {
    let wrong = "Integer $a = 'x',";
    for rest in [
        "#- data/common.yaml\nm::a: 1\n",
        "#- manifests/site.pp\nclass { 'm': a => 1 }\n",
        "#- manifests/site.pp\nif $x { include m }\n",
        "#- manifests/site.pp\nnotice('x')\n",
    ] {
        check_defaults(wrong, rest);
    }
    for default in [
        "1",
        "unknown()",
        "$m::params::computed",
        "$m::params::given",
        "$m::other::x",
        "$facts['no_such_fact']",
        "$facts['no_such_fact'] ? { 'x' => 1 }",
        "lookup('m::a', {default_value => 1})",
    ] {
        check_defaults(&format!("Integer $a = {default},"), "");
    }
    check_defaults("Unknown::Type $a = 'x',", "");
    check_defaults(
        "$b = 'x',\nInteger $a = $b,",
        "#- data/common.yaml\nm::b: 1\n",
    );
    check_defaults("Optional[Integer] $a = undef,", "");
}
