//! Values that do not fit the parameter.

use super::super::Severity;
use super::super::marked::check_rule;
use super::*;

const START: &str = "\
#- hiera.yaml
version: 5
hierarchy:
  - {name: node, path: \"node/%{trusted.certname}.yaml\"}
  - {name: role, path: \"role/%{role}.yaml\"}
  - {name: common, path: common.yaml}
#- modules/m/manifests/init.pp
class m(
  Struct[{a => Integer, b => Integer}] $s = {a => 1, b => 1},
  Array[Integer, 2, 3] $l = [1, 1],
  Integer $i = 0,
  Hash[String, Struct[{a => Integer}]] $h = {},
) { }
";

/// Asserts that the findings are the marked ones, and returns their messages.
fn check_types(data: &str) -> Vec<String> {
    let found = check_rule(RULE, &format!("{START}{data}"));
    found.into_iter().map(|finding| finding.message).collect()
}

#[test]
fn values_that_the_class_does_not_get_are_not_checked() {
    check_types("#- data/common.yaml\nm::i: x #~ type-mismatch\n#- manifests/site.pp\ninclude m\n");
    for declared in [
        "class { 'm': i => 5 }",
        "class { 'm': * => $all }",
        "create_resources('class', {'m' => {'i' => 5}})",
    ] {
        check_types(&format!(
            "#- data/common.yaml\nm::i: x\n#- manifests/site.pp\n{declared}\n"
        ));
    }
}

#[test]
fn a_class_of_the_top_scope_does_not_get_what_the_role_of_a_node_block_sets() {
    let classes = "#- modules/p/manifests/init.pp\nclass p { include m }\n";
    let data = |mark: &str| {
        format!("#- data/role/web.yaml\nm::i: x{mark}\n#- data/common.yaml\nm::i: 1\n")
    };
    let block = "node default { $role = 'web' }";
    for site in [
        format!("include m\n{block}"),
        format!("class {{ 'm': }}\n{block}"),
        format!("include p\n{block}"),
        format!("if $facts['a'] {{ include p }}\n{block}"),
        format!("$facts['a'].include\n{block}"),
        format!("lookup('classes', Array, 'unique').include\n{block}"),
        "include m\n$role = 'web'".to_owned(),
    ] {
        let common = data("") + "classes: [p]\n";
        check_types(&format!("{classes}{common}#- manifests/site.pp\n{site}\n"));
    }
    for site in [
        "node default { $role = 'web'\n include m }",
        "include a\nnode default { $role = 'web'\n include m }",
        "$role = 'web'\ninclude m",
        "include m",
        "node default { $other = 1 }\ninclude m",
    ] {
        let data = data(" #~ type-mismatch");
        check_types(&format!("{classes}{data}#- manifests/site.pp\n{site}\n"));
    }
    // Also for merged values.
    let site = format!("#- manifests/site.pp\ninclude m\n{block}\n");
    check_types(&format!(
        "{site}#- data/role/web.yaml\nm::s: {{b: x}}\n\
         #- data/common.yaml\nlookup_options: {{m::s: {{merge: deep}}}}\nm::s: {{a: 1}}\n"
    ));
}

#[test]
fn aliases_of_keys_that_a_missing_file_may_set_are_not_checked() {
    let alias = |key: &str| format!("m::l: \"%{{alias('{key}')}}\"");
    let start = START.replace(
        "common.yaml}",
        "common.yaml}\n  - {name: written, path: written.yaml}",
    );
    let [gone, here] = ["gone.x", "here"].map(alias);
    check_rule(RULE, &format!("{start}#- data/common.yaml\n{gone}\n"));
    check_rule(
        RULE,
        &format!("{start}#- data/common.yaml\n{here} #~ type-mismatch\nhere: x\n"),
    );
    check_types(&format!("#- data/common.yaml\n{gone} #~ type-mismatch\n"));
}

#[test]
fn mismatches_of_merged_values_are_reported_at_the_wrong_part() {
    for options in ["deep", "hash", "{strategy: deep}"] {
        let data = format!(
            "#- data/role/web.yaml\nm::s: {{b: x}} #~ type-mismatch\n\
             #- data/common.yaml\nlookup_options: {{m::s: {{merge: {options}}}}}\nm::s: {{a: 1}}\n"
        );
        let found = check_types(&data);
        assert_eq!(
            found,
            ["Class[M]: parameter 's' entry 'b' expects an Integer value, got String"]
        );
    }
    let lacks = check_types(
        "#- data/role/web.yaml\nm::s: {a: 2} #~ type-mismatch\n\
         #- data/role/db.yaml\nm::s: {b: 2}\n\
         #- data/common.yaml\nlookup_options: {m::s: {merge: deep}}\nm::s: {a: 1}\n",
    );
    assert_eq!(
        lacks,
        ["Class[M]: parameter 's' expects a value for key 'b'"]
    );
    let long = check_types(
        "#- data/role/web.yaml\nm::l: [1, 2] #~ type-mismatch\n\
         #- data/common.yaml\nlookup_options: {m::l: {merge: unique}}\nm::l: [2, 3, 4]\n",
    );
    assert_eq!(long.len(), 1, "{long:?}");
    check_types(
        "#- data/role/web.yaml\nm::l: [1, 2]\n#- data/common.yaml\n\
         lookup_options: {m::l: {merge: unique}}\nm::l:\n  - 2\n  - x #~ type-mismatch\n",
    );
    check_types(
        "#- data/role/web.yaml\nm::h: {x: {a: 1}}\n#- data/common.yaml\n\
         lookup_options: {m::h: {merge: deep}}\nm::h:\n  x: {a: z}\n  y: {a: z} #~ type-mismatch\n",
    );
}

#[test]
fn interpolated_values_are_checked_where_they_are_known() {
    check_types(
        "#- data/common.yaml\nport: 5\nname: x\nm::i: \"%{alias('port')}\"\n\
         m::l: [\"%{alias('port')}\", \"%{alias('name')}\"] #~ type-mismatch\n",
    );
    let text = "#- data/common.yaml\nname: x\nm::i: \"%{alias('name')}\" #~ type-mismatch\n";
    assert_eq!(
        check_types(text),
        ["Class[M]: parameter 'i' expects an Integer value, got String"]
    );
    // A lookup without a result gives an empty string.
    check_types("#- data/common.yaml\nm::i: \"%{alias('gone')}\" #~ type-mismatch\n");
    // A string with a token stays a string.
    for text in ["\"%{facts.x}\"", "\"1%{facts.x}\"", "\"%{x}%{facts.y}\""] {
        let data = format!("#- data/common.yaml\nm::i: {text} #~ type-mismatch\n");
        assert_eq!(
            check_types(&data),
            ["Class[M]: parameter 'i' expects an Integer value, got String"]
        );
    }
    check_types("#- data/common.yaml\nm::l: [\"%{facts.x}\", 1] #~ type-mismatch\n");
    for silent in [
        "m::i: \"%{alias('n')}\"\nn: \"%{alias('o')}\"\n#- data/role/web.yaml\no: 1\n#- data/role/db.yaml\no: 2",
        "m::i: \"%{facts.x}\"\nlookup_options: {m::i: {convert_to: Integer}}",
        "m::i: \"%{facts.x}\"\n#- data/role/web.yaml\nm::i: 1",
        "t::e: \"%{facts.x}\"\nt::o: \"%{facts.x}\"\nt::v: \"%{facts.x}\"",
    ] {
        check_types(&format!(
            "#- modules/t/manifests/init.pp\nclass t(Enum['a'] $e, Optional[String[3]] $o, \
             Variant[Integer, Pattern[/x/]] $v) {{ }}\n#- data/common.yaml\n{silent}\n"
        ));
    }
    check_types(
        "#- data/common.yaml\nname: x\nm::i: \"%{alias('name')}\"\n\
         lookup_options: {m::i: {convert_to: Integer}}\n",
    );
    check_types(
        "#- data/role/web.yaml\nname: 1\n\
         #- data/common.yaml\nname: x\nm::i: \"%{alias('name')}\"\n",
    );
}

#[test]
fn a_null_is_checked_where_there_is_no_default() {
    let class = |parameter: &str, data: &str| {
        let text =
            format!("{START}#- modules/n/manifests/init.pp\nclass n({parameter}) {{ }}\n{data}");
        let found = check_rule(RULE, &text);
        found.into_iter().map(|it| it.message).collect::<Vec<_>>()
    };
    let sentence = ["Class[N]: parameter 'a' expects a String value, got Undef"];
    for data in [
        "#- data/common.yaml\nn::a: ~ #~ type-mismatch\n",
        "#- data/common.yaml\nn::a: #~ type-mismatch\n",
        "#- data/common.yaml\nn::a: x\n#- data/role/web.yaml\nn::a: null #~ type-mismatch\n",
        "#- data/common.yaml\nn::a: \"%{alias('z')}\" #~ type-mismatch\nz: ~\n",
    ] {
        assert_eq!(class("String $a", data), sentence, "{data}");
    }
    for parameter in [
        "$a",
        "Any $a",
        "Optional[String] $a",
        "Undef $a",
        "String $a = 'd'",
    ] {
        class(parameter, "#- data/common.yaml\nn::a: ~\n");
    }
}

#[test]
fn values_that_other_levels_may_complete_are_not_checked() {
    check_types(
        "#- data/node/a.yaml\nm::s: {b: 1}\n#- data/role/web.yaml\nm::s: {a: 2}\n\
         #- data/common.yaml\nlookup_options: {m::s: {merge: deep}}\n",
    );
    check_types(
        "#- data/role/web.yaml\nm::s: {a: 'ENC[PKCS7,x]'}\n\
         #- data/common.yaml\nlookup_options: {m::s: {merge: deep}}\nm::s: {b: 1}\n",
    );
}

const SITE: &str = "\
#- modules/e/manifests/init.pp
class e(Enum['Debian', 'RedHat'] $family, Integer $n = 0, Hash[String, Integer] $h = {}) { }
#- nodes.yaml
a1: {facts: {os: {family: Debian}}}
b1: {facts: {os: {family: windows}}}
c1: {facts: {kernel: Linux}}
";

/// As [`check_types`], with known nodes and their families, and with severities.
fn check_nodes(data: &str) -> Vec<(Severity, String)> {
    let found = check_rule(RULE, &format!("{START}{SITE}{data}"));
    let found = found.into_iter().map(|it| (it.severity, it.message));
    found.collect()
}

#[test]
fn mismatches_of_nodes_without_the_class_are_not_reported() {
    let value = "#- data/common.yaml\ne::family: \"%{facts.os.family}\"";
    let others = "#- modules/o/manifests/init.pp\nclass o { if $x { include e } }\n\
                  #- modules/o/manifests/t.pp\ndefine o::t() { include e }\n\
                  #- modules/p/manifests/init.pp\nclass p { }\n\
                  #- modules/p/functions/f.pp\nfunction p::f() { include e }\n";
    let silent = [
        "node 'a1' { include e }\nnode default { include p }",
        "node 'a1' { include o }\nnode default { include p }",
        "node 'a1' { p::f() }\nnode default { }",
        "node 'b1' { }\nnode default { class { 'e': n => 1 } }",
        "node 'a1' { include \"${facts['os']['family']}\" include e }\nnode default { }",
        "lookup('classes', Array[String], 'unique').include",
    ];
    let reported = [
        "include e",
        "if $x { include o }",
        "node 'b1' { include o }\nnode default { }",
        "node 'b1' { p::f() }\nnode default { include e }",
        "node 'b1' { include $x }\nnode 'a1' { include e }\nnode default { }",
        "node 'b1' { unheard::of() }\nnode 'a1' { include e }\nnode default { }",
        "node 'a1', 'b1' { lookup('classes', Array[String], 'unique').include }",
        // Nothing here includes the class.
        "node default { }",
        "",
        // The manifest cannot be parsed.
        "node 'a1' { include e }\nnode default { include",
    ];
    for (site, mark) in silent
        .map(|it| (it, ""))
        .into_iter()
        .chain(reported.map(|it| (it, " #~ type-mismatch")))
    {
        // Only a1 reads a list with the class, unless all may.
        let list = if site.contains("'a1', 'b1'") {
            "#- data/node/b1.yaml\nclasses: [o]\n"
        } else {
            "#- data/node/a1.yaml\nclasses: [e]\n"
        };
        let others = match site {
            "node default { }" | "" => others.replace("include e", "include u"),
            _ => others.replace("define o::t() { include e }", "define o::t() { }"),
        };
        let data = format!("{others}{value}{mark}\n{list}#- manifests/site.pp\n{site}\n");
        check_nodes(&data);
    }
    // The defined type is unknown.
    let site = "node 'a1' { o::t { 'x': } }\nnode default { }";
    check_nodes(&format!(
        "{others}{value} #~ type-mismatch\n#- manifests/site.pp\n{site}\n"
    ));
    // A mismatch for all nodes that read the file is reported, whichever of them have the class. It is
    // an error if one of them may have it.
    for (site, severity) in [
        (
            "node 'a1' { include e }\nnode default { }",
            Severity::Warning,
        ),
        ("node 'b1' { include e }\nnode default { }", Severity::Error),
        (
            "node 'b1' { include $x }\nnode 'a1' { include e }",
            Severity::Error,
        ),
        ("", Severity::Error),
    ] {
        for value in ["\"%{facts.os.family}\"", "windows"] {
            let found = check_nodes(&format!(
                "#- data/node/b1.yaml\ne::family: {value} #~ type-mismatch\n#- manifests/site.pp\n{site}\n"
            ));
            assert_eq!(found[0].0, severity, "{value} {site}");
            let no_class = "none of the known nodes that read this file includes the class";
            let is_told = found[0].1.ends_with(no_class);
            assert_eq!(is_told, severity == Severity::Warning, "{found:?}");
        }
    }
}

/// The severity of a finding about the value of b1, for code that includes the class under a condition.
fn check_condition(code: &str) -> Severity {
    let found = check_nodes(&format!(
        "#- data/node/b1.yaml\ne::n: x #~ type-mismatch\n{code}\n"
    ));
    found[0].0
}

#[test]
fn a_class_behind_a_condition_that_is_false_is_not_included() {
    let site = |text: &str| format!("#- manifests/site.pp\n{text}");
    let of_class = |parameters: &str, body: &str| {
        format!(
            "#- modules/p/manifests/init.pp\nclass p({parameters}) {{\n{body}\n}}\n\
             #- manifests/site.pp\ninclude p"
        )
    };
    for is_false in [
        site("if false { include e }"),
        site("if $facts['os']['family'] == 'Debian' { include e }"),
        site("unless $facts['os']['family'] =~ /^win/ { contain e }"),
        site("if $facts['os']['family'] == 'windows' { } else { class { 'e': } }"),
        site("if true { } elsif $x { include e }"),
        site("case $facts['os']['family'] { 'Debian', 'RedHat': { include e } default: { } }"),
        site("case $facts['os']['family'] { 'windows': { } default: { include e } }"),
        site("if $trusted['certname'] == 'a1' and $x { include e }"),
        site("$on = $facts['os']['family'] != 'windows'\nif $on { include e }"),
        site(
            "$wins = ['windows']\nnode 'b1' { if !($facts['os']['family'] in $wins) { include e } }",
        ),
        of_class("", "if $facts['os']['family'] == 'Debian' { include e }"),
        of_class("", "$on = false\nif $on { include e }"),
        of_class(
            "",
            "if $facts['os']['family'] == 'windows' { return() }\ninclude e",
        ),
        of_class("Boolean $on = false", "if $on { include e }"),
        of_class("Boolean $on = true", "if $on { include e }")
            + "\n#- data/common.yaml\np::on: false",
        of_class("", "if lookup('wanted') { include e }") + "\n#- data/common.yaml\nwanted: false",
        of_class("", "if $facts['os']['family'] == 'Debian' { include q }")
            + "\n#- modules/q/manifests/init.pp\nclass q { include e }",
        site("if false { lookup('classes', Array[String], 'unique').include }")
            + "\n#- data/common.yaml\nclasses: [e]",
    ] {
        assert_eq!(check_condition(&is_false), Severity::Warning, "{is_false}");
    }
    for may_be_true in [
        site("if true { include e }"),
        site("if $facts['os']['family'] == 'windows' { include e }"),
        site("if $facts['no_such_fact'] { include e }"),
        site("if $x { include e }"),
        site("if unknown() { include e }"),
        site("if false { include e }\ninclude e"),
        site("case $facts['os']['family'] { $x: { } default: { include e } }"),
        site("[1].each |$x| { if $x == 2 { include e } }"),
        of_class("Boolean $on = true", "if $on { include e }"),
        of_class("Boolean $on", "if $on { include e }"),
        of_class("Boolean $on = false", "if $on { include e }")
            + "\n#- data/common.yaml\np::on: true",
        of_class("$os = 'x'", "if $os == 'windows' { include e }")
            + "\n#- data/common.yaml\np::os: \"%{facts.os.family}\"",
        of_class("Boolean $on = false", "if $on { include e }")
            + "\nclass { 'p': on => true }",
        of_class("", "if $facts['os']['family'] == 'Debian' { return() }\ninclude e"),
        "#- modules/p/manifests/init.pp\nclass p inherits q {\nif $on { include e } }\n\
         #- modules/q/manifests/init.pp\nclass q { $on = true }\n#- manifests/site.pp\n$on = false\ninclude p"
            .to_owned(),
        // The block sets the variable after the class is evaluated.
        of_class("", "if $on { include e }") + "\nnode default { $on = false }",
    ] {
        assert_eq!(
            check_condition(&may_be_true),
            Severity::Error,
            "{may_be_true}"
        );
    }
}

#[test]
fn an_empty_default_of_a_list_includes_nothing() {
    for default in ["[]", "undef", "{ 'default_value' => [ ] }"] {
        let arguments = if default.starts_with('{') {
            default.to_owned()
        } else {
            format!("Array[String], 'unique', {default}")
        };
        check_nodes(&format!(
            "#- data/node/a1.yaml\nclasses: [e]\n\
             #- data/common.yaml\ne::family: \"%{{facts.os.family}}\"\n\
             #- manifests/site.pp\nlookup('classes', {arguments}).include\n"
        ));
    }
}

#[test]
fn a_wrong_value_for_some_nodes_is_an_error_if_one_of_them_certainly_has_the_class() {
    let value = "#- data/common.yaml\ne::family: \"%{facts.os.family}\" #~ type-mismatch\n";
    for (site, severity) in [
        ("include e", Severity::Error),
        ("node 'b1' { include e }\nnode default { }", Severity::Error),
        (
            "node default { lookup('classes', Array, 'unique').include }",
            Severity::Error,
        ),
        (
            "node 'b1' { include $x }\nnode 'a1' { include e }",
            Severity::Warning,
        ),
        ("if $x { include e }", Severity::Warning),
        ("", Severity::Warning),
    ] {
        let found = check_nodes(&format!(
            "{value}lookup_options: {{classes: {{merge: unique}}, e::n: {{convert_to: Integer}}}}\n#- data/node/b1.yaml\nclasses: [e]\n\
             #- manifests/site.pp\n{site}\n"
        ));
        assert_eq!(found[0].0, severity, "{site}");
    }
}

#[test]
fn a_class_that_declares_what_its_empty_parameter_holds_declares_nothing() {
    // As in `stdlib::manage`.
    let manage = |default: &str, body: &str| {
        format!(
            "#- modules/s/manifests/init.pp\nclass s(Hash $all = {default}, Hash $more = {{}}) {{\n{body}\n}}\n\
             #- manifests/site.pp\ninclude s\n"
        )
    };
    let each = "$all.each |$type, $of| {\n  $of.each |$title, $own| {\n    \
                create_resources($type, { $title => $own })\n  }\n}";
    let made = |title: &str| format!("create_resources('class', {{ \"{title}\" => {{}} }})");
    let wrong = "#- data/common.yaml\nm::i: x";
    for (site, data) in [
        (manage("{}", each), "s::more: {m: {}}\n"),
        (manage("{ }", "create_resources($all, {})"), ""),
        (manage("{}", each) + "class { 's': more => {} }\n", ""),
        (manage("{}", each), "s::all: {file: {/a: {mode: '1'}}}\n"),
        // As in `mysql::server::backup`.
        (manage("{}", &made("s::with_${x}")), ""),
    ] {
        check_types(&format!("{site}{wrong} #~ type-mismatch\n{data}"));
    }
    for (site, data) in [
        (manage("{}", each), "s::all: {class: {m: {i: 1}}}\n"),
        (manage("{}", each), "s::all: {'::Class': {m: {i: 1}}}\n"),
        (manage("{}", &made("::M${x}")), ""),
        (manage("{}", each), "s::all: {'%{facts.t}': {m: {i: 1}}}\n"),
        (
            manage("{}", each),
            "s::all: \"%{alias('x')}\"\nx: {class: {}}\n",
        ),
        (manage("{class => {m => {i => 1}}}", each), ""),
        (manage("{}", each) + "class { 's': all => $x }\n", ""),
        (
            manage(
                "{}",
                "$x.each |$type, $of| { create_resources($type, $of) }",
            ),
            "",
        ),
        (
            manage("{}", "$all = 'class'\ncreate_resources($all, $of)"),
            "",
        ),
    ] {
        check_types(&format!("{site}{wrong}\n{data}"));
    }
}

#[test]
fn values_with_facts_are_checked_for_known_nodes() {
    // The fact of c1 is unknown.
    let found = check_nodes(
        "#- data/common.yaml\ne::family: \"%{facts.os.family}\" #~ type-mismatch\n\
         e::n: \"%{facts.os.family}\" #~ type-mismatch\n",
    );
    let family = "Class[E]: parameter 'family' expects a match for Enum['Debian', 'RedHat'], got \
                  'windows' for 1 of 3 nodes, such as b1";
    // No fact makes an integer of a string.
    let number = "Class[E]: parameter 'n' expects an Integer value, got String";
    assert_eq!(
        found,
        [
            (Severity::Warning, family.to_owned()),
            (Severity::Error, number.to_owned())
        ]
    );
    check_nodes("#- data/common.yaml\ne::family: \"%{facts.kernel}\" #~ type-mismatch\n");
    let found =
        check_nodes("#- data/common.yaml\ne::family: \"x-%{facts.os.family}\" #~ type-mismatch\n");
    let rest = "got 'x-Debian' for 1 of 3 nodes, such as a1, and another wrong value for 1 more";
    assert!(found[0].1.ends_with(rest), "{found:?}");
    check_nodes("#- data/common.yaml\ne::family: \"%{facts.other}\"\n");
    check_nodes("#- data/node/a1.yaml\ne::family: \"%{facts.os.family}\"\n");
    let found =
        check_nodes("#- data/node/b1.yaml\ne::family: \"%{facts.os.family}\" #~ type-mismatch\n");
    assert!(
        found[0].0 == Severity::Error && found[0].1.ends_with(" for b1"),
        "{found:?}"
    );
    // The lookup gives another value for some nodes.
    check_nodes(
        "#- data/node/a1.yaml\nnumber: 1\n\
         #- data/common.yaml\nnumber: x\ne::n: \"%{alias('number')}\" #~ type-mismatch\n",
    );
    check_nodes(
        "#- data/common.yaml\ne::n: \"%{facts.os.family}\"\n\
         lookup_options: {e::n: {convert_to: Integer}}\n",
    );
}

#[test]
fn values_overridden_for_some_nodes_are_checked_for_the_others() {
    let found = check_nodes(
        "#- data/node/a1.yaml\ne::n: 1\n#- data/common.yaml\ne::n: x #~ type-mismatch\n",
    );
    assert!(
        found[0].1.ends_with(" for 2 of 3 nodes, such as b1"),
        "{found:?}"
    );
    // No node has a known role.
    check_nodes("#- data/role/web.yaml\ne::n: 1\n#- data/common.yaml\ne::n: x\n");
    // A value that is still to be set.
    check_nodes("#- data/node/a1.yaml\ne::family: Debian\n#- data/common.yaml\ne::family: ~\n");
    check_nodes(
        "#- data/node/a1.yaml\ne::h: {a: 1}\n#- data/node/b1.yaml\ne::h: {b: z} #~ type-mismatch\n\
         #- data/common.yaml\ne::h: {c: 1}\nlookup_options: {e::h: {merge: deep}}\n",
    );
}

#[test]
fn variables_of_the_site_manifest_are_used_where_visible() {
    let check = |site: &str, mark: &str| {
        check_nodes(&format!(
            "#- manifests/site.pp\n{site}\n#- data/common.yaml\ne::family: \"%{{family}}\"{mark}\n"
        ))
    };
    check(
        "node default { $family = 'x'\n include e }",
        " #~ type-mismatch",
    );
    check("node default { $family = 'Debian'\n include e }", "");
    check("include e\nnode default { $family = 'x' }", "");
    check("node default { $family = unknown()\n include e }", "");
}

#[test]
fn converted_values_are_checked() {
    let class = "#- modules/c/manifests/init.pp\n\
                 class c(Optional[Variant[String, Sensitive[String]]] $p = undef, Array[Integer] $l = [], \
                 Optional[String] $s = undef) { }\n";
    let options = "lookup_options: {c::p: {convert_to: Sensitive}, c::l: {convert_to: Array}, \
                   c::s: {convert_to: String}}\n";
    let check = |data: &str| check_types(&format!("{class}#- data/common.yaml\n{data}\n{options}"));
    let message = "Class[C]: parameter 'p' expects a value of type Undef, String, or Sensitive[String], got \
                   Sensitive[Undef]";
    assert_eq!(check("c::p: ~ #~ type-mismatch"), [message]);
    assert_eq!(check("c::p: abc"), [""; 0]);
    let list = "Class[C]: parameter 'l' index 0 expects an Integer value, got String";
    assert_eq!(check("c::l: x #~ type-mismatch"), [list]);
    assert_eq!(check("c::l: 1"), [""; 0]);
    assert_eq!(check("c::s: 1"), [""; 0]);
    assert_eq!(check("c::l: \"%{facts.x}\""), [""; 0]);
}

/// More nodes with different values than a person would look at.
#[test]
fn all_nodes_that_read_a_file_are_asked() {
    let names = |range: std::ops::Range<usize>| range.map(|at| format!("n{at}"));
    let nodes: String = names(0..300)
        .map(|name| format!("{name}: {{}}\n"))
        .collect();
    let data = |(at, name): (usize, String)| {
        let value = if at % 2 == 0 {
            at.to_string()
        } else {
            name.clone()
        };
        format!("#- data/node/{name}.yaml\nport: {value}\n")
    };
    let data: String = names(0..300).enumerate().map(data).collect();
    let found = check_types(&format!(
        "#- nodes.yaml\n{nodes}{data}#- data/common.yaml\nm::i: \"%{{alias('port')}}\" #~ type-mismatch\n\
         #- manifests/site.pp\ninclude m\n"
    ));
    assert!(
        found[0].ends_with("got String for 150 of 300 nodes, such as n1"),
        "{found:?}"
    );
}
