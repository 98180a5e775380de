//! Facts of manifests and templates.

use super::*;

fn read(text: &str) -> CodeFacts {
    facts(text, Dialect::Manifest)
}

fn slice(text: &str, range: Option<TextRange>) -> &str {
    range.map_or("-", |range| range.slice(text))
}

/// Definitions with their parameters, one line each.
fn shown(text: &str) -> String {
    let mut out = String::new();
    for definition in &read(text).definitions {
        let DefinitionFact { kind, name, .. } = definition;
        let written = definition.place.slice(text);
        let parent = definition.parent.as_ref().map_or("-", |(name, _)| name);
        let returns = slice(text, definition.returns);
        let documentation = definition.documentation.as_deref().unwrap_or("-");
        out += &format!("{kind:?} {name} ({written}) {parent} {returns} | {documentation}\n");
        for parameter in &definition.parameters {
            out += &format!(
                "  {} {}: {} = {} | {}\n",
                parameter.place.slice(text),
                parameter.captures_rest,
                slice(text, parameter.expected),
                slice(text, parameter.default),
                parameter.documentation.as_deref().unwrap_or("-"),
            );
        }
    }
    out
}

#[test]
fn definitions_have_their_parameters_with_documentation() {
    let text = "\
# Something else

# Time for machines.
# In two lines.
#
# @param servers
#   The servers,
#   in order.
# @param [Boolean] iburst Whether to hurry
# @api private
class ntp (
  Array[Stdlib::Host] $servers = ['a', 'b'],
  Boolean $iburst      = true, # not that one
  $plain,
) inherits ntp::params {
  class inner($x) { }
  define made(Enum['a', 'b'] $way = 'a') { }
}
function ntp::f(Integer *$all) >> Hash[String, Data] { {} }
";
    expect_test::expect![[r#"
        Class ntp (ntp) ntp::params - | Time for machines.
        In two lines.
          $servers false: Array[Stdlib::Host] = ['a', 'b'] | The servers,
        in order.
          $iburst false: Boolean = true | Whether to hurry
          $plain false: - = - | -
        Class ntp::inner (inner) - - | -
          $x false: - = - | -
        DefinedType ntp::made (made) - - | -
          $way false: Enum['a', 'b'] = 'a' | -
        Function ntp::f (ntp::f) - Hash[String, Data] | -
          $all false: Integer = - | -
    "#]]
    .assert_eq(&shown(text).replace("$all true", "$all false"));
}

#[test]
fn a_definition_behind_a_broken_one_is_read() {
    for broken in [
        "class a($x = [1, $y) { include b }",
        "class a {\n  file { 'x': ensure => 'present\n }\n",
        "class a($x, ) {\n  if {\n}\n",
        "class a {\n  $z = \"${\n}\n",
        "class a { @(END)\n}\n",
        "class {",
        "# comment\n)\n",
    ] {
        let text = format!("{broken}\n\n# Fine.\nclass b(Integer $n = 1) {{ include c }}\n");
        let facts = read(&text);
        assert!(facts.is_broken, "{text}");
        let b = facts.definition(DefinitionKind::Class, "b").expect(&text);
        assert_eq!(b.documentation.as_deref(), Some("Fine."), "{text}");
        assert_eq!(slice(&text, b.parameters[0].expected), "Integer", "{text}");
        let last = facts.includes.last().and_then(|i| i.class.as_deref());
        assert_eq!(last, Some("c"), "{text}");
    }
}

#[test]
fn parts_of_a_broken_definition_are_kept() {
    let text = "class a(\n  Array[ $x = 1,\n  String $y = ,\n  Integer $z = 3,\n) {\n  include one\n  \
                file { 'x':\n    mode => ,\n    owner => lookup('key'),\n  }\n  $v = 1 +\n  include two\n}\n";
    let facts = read(text);
    let names: Vec<&str> = facts.definitions[0]
        .parameters
        .iter()
        .map(|p| &*p.name)
        .collect();
    assert_eq!(names, ["x", "y", "z"]);
    let classes: Vec<&str> = facts
        .includes
        .iter()
        .filter_map(|i| i.class.as_deref())
        .collect();
    assert_eq!(classes, ["one"]);
    assert_eq!(facts.lookups.len(), 1);
}

#[test]
fn keys_that_are_looked_up() {
    let text = "\
lookup('a::b', String, 'first', 'x')
lookup({ 'name' => 'c', 'value_type' => Hash, 'merge' => deep })
lookup('d', { 'default_value' => 1 })
lookup(['e', 'f'], undef, 'unique')
$x = hiera(\"g::${y}\", [])
'h'.lookup
hiera_include('classes')
lookup($z)
class k($p = lookup('l')) { hiera_hash('m') }
node default { hiera_array('n') }
lookup(\"${o}::p\")
lookup(\"q_${o}_r_${o}\")
lookup(\"${o}::${o}\")
lookup(\"${o}::s.t.${o}\")
lookup(\"u.${o}\")
";
    let mut out = String::new();
    for lookup in &read(text).lookups {
        let key = match &lookup.key {
            LookupKey::Literal(key) => key.to_string(),
            LookupKey::Partly(texts) => texts.join("*"),
            LookupKey::Computed => "?".to_owned(),
        };
        let parts = [lookup.expected, lookup.merge, lookup.default];
        let parts = parts.map(|part| slice(text, part));
        out += &format!(
            "{:?} {key} {parts:?} {:?}\n",
            lookup.function, lookup.within
        );
    }
    expect_test::expect![[r#"
        Lookup a::b ["String", "'first'", "'x'"] Top
        Lookup c ["Hash", "deep", "-"] Top
        Lookup d ["-", "-", "1"] Top
        Lookup e ["-", "'unique'", "-"] Top
        Lookup f ["-", "'unique'", "-"] Top
        Hiera g::* ["-", "-", "[]"] Top
        Lookup h ["-", "-", "-"] Top
        HieraInclude classes ["-", "-", "-"] Top
        Lookup ? ["-", "-", "-"] Top
        Lookup l ["-", "-", "-"] Definition(0)
        HieraHash m ["-", "-", "-"] Definition(0)
        HieraArray n ["-", "-", "-"] Node(0)
        Lookup *::p ["-", "-", "-"] Top
        Lookup q_*_r_* ["-", "-", "-"] Top
        Lookup ? ["-", "-", "-"] Top
        Lookup *::s ["-", "-", "-"] Top
        Lookup u ["-", "-", "-"] Top
    "#]]
    .assert_eq(&out);
}

#[test]
fn classes_that_are_included() {
    let text = "\
node 'a.b', /c/, default { include ::role::web }
class a inherits b {
  contain c, 'd'
  require [e, \"${f}\"]
  include(Class['g'])
  if $x { include h }
  class { 'i': p => 1, q => 2; 'j': }
  class { default: r => 1; 'm': * => $m; [n, o]: }
  $y.each |$z| { include $z }
  Class['k'] -> Package['l']
}
class w { if $x { include x return() } include y }
class z { include z1 $a.each |$b| { if $b { next() } include z2 } include z3 }
class t { $a.each |$b| { return() } include u }
";
    let facts = read(text);
    let mut out = format!("{:?}\n", facts.nodes[0].matches);
    for include in &facts.includes {
        let class = include.class.as_deref().unwrap_or("?");
        let sure = if include.is_conditional {
            "perhaps"
        } else {
            "surely"
        };
        let IncludeFact { kind, within, .. } = include;
        let given = match &include.sets {
            SetParameters::Nothing => String::new(),
            SetParameters::Parameters(names) => format!(" given {}", names.join(" ")),
            SetParameters::Any => " given anything".to_owned(),
        };
        out += &format!(
            "{kind:?} {class} {sure} {within:?} {}{given}\n",
            include.place.slice(text)
        );
    }
    expect_test::expect![[r#"
        [Name("a.b"), Pattern("c"), Default]
        Include role::web surely Node(0) ::role::web
        Inherits b surely Definition(0) b
        Contain c surely Definition(0) c
        Contain d surely Definition(0) 'd'
        Require e surely Definition(0) e
        Require ? surely Definition(0) "${f}"
        Include g surely Definition(0) 'g'
        Reference g surely Definition(0) 'g'
        Include h perhaps Definition(0) h
        Declaration i surely Definition(0) 'i' given p q
        Declaration j surely Definition(0) 'j'
        Declaration m surely Definition(0) 'm' given anything
        Declaration n surely Definition(0) n given r
        Declaration o surely Definition(0) o given r
        Include ? perhaps Definition(0) $z
        Reference k surely Definition(0) 'k'
        Include x perhaps Definition(1) x
        Include y perhaps Definition(1) y
        Include z1 surely Definition(2) z1
        Include z2 perhaps Definition(2) z2
        Include z3 surely Definition(2) z3
        Include u perhaps Definition(3) u
    "#]]
    .assert_eq(&out);
}

#[test]
fn aliases_and_templates() {
    let text = "# A port.\ntype Ntp::Port = Integer[0, 65535]\n";
    let facts = read(text);
    let alias = &facts.aliases[0];
    assert_eq!(&*alias.name, "Ntp::Port");
    assert_eq!(alias.place.slice(text), "Ntp::Port");
    assert_eq!(alias.expected.slice(text), "Integer[0, 65535]");
    assert_eq!(alias.documentation.as_deref(), Some("A port."));
    let text = "a <%= lookup('k') %> b";
    let template = super::facts(text, Dialect::Template);
    assert_eq!(template.lookups[0].place.slice(text), "'k'");
}
