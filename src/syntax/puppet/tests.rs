//! Every text has a tree with valid ranges.

use super::*;

/// Parses a text and checks all ranges.
fn check(text: &str) -> PuppetParse {
    let mut last = None;
    for dialect in [Dialect::Manifest, Dialect::Plan, Dialect::Template] {
        let parse = parse(text, dialect);
        let end = text.len() as u32;
        parse.root.walk(&mut |node| {
            assert!(
                node.own.end <= end.max(node.own.start),
                "{text:?}: {node:?}"
            );
            assert!(node.range.start <= node.own.start, "{text:?}: {node:?}");
            assert!(node.range.end >= node.own.end, "{text:?}: {node:?}");
        });
        assert!(parse.comments.is_sorted_by_key(|comment| comment.start));
        last = last.or(Some(parse));
    }
    last.expect("three readings")
}

const MANIFEST: &str = "\
# Web servers.
class role::web(Array[String, 1] $names = ['a'], $rest) inherits role {
  include profile::base, 'profile::b'
  if $facts['os']['family'] =~ /(?i)debian/ and !$x { contain a } elsif $y { } else { fail(\"no ${y[0]}\") }
  file { \"/etc/${name}\": ensure => file, * => $more; '/b': mode => '0644' } -> Service['x'] ~> Exec <| tag == 'a' |>
  case $z { 'a', default: { $v = $w ? { /b/ => 1.5, default => -0x1F } } }
  $t = @(\"END\"/L)
    text ${x.map |Integer $i| { $i + 1 }}
    | END
  @@user { 'u': } File { owner => root } File['c'] { mode +> 1 }
}
node 'a.b', /c/, default { hiera_include('classes') }
define d($p) { } function f(Integer $a) >> String { \"${a}\" }
type T::A = Struct[{a => Integer}]
";

#[test]
fn every_beginning_of_a_manifest_is_read() {
    for (at, _) in MANIFEST.char_indices() {
        check(&MANIFEST[..at]);
        check(&MANIFEST[at..]);
    }
    let whole = check(MANIFEST);
    assert_eq!(whole.problems, []);
    assert_eq!(whole.comments.len(), 1);
}

#[test]
fn hostile_texts_end() {
    let pieces = [
        "Array[",
        "-",
        "\"${",
        "\"${[",
        "{a=>",
        "a(",
        "a[",
        "@",
        "a{b=>",
        "a{b:",
        "a=",
        "a ? ",
        "a ? {",
        "a<|",
        "if ",
        "if a {",
        "if a {} elsif ",
        "case a {b:{",
        "a.b|$x|{",
        "a.b|$x=",
        "class a($x=",
        "function a(A[",
        "type A={a=>",
        "}",
        ")",
        ",",
        "'",
        "\"",
        "@(a)\n",
        "[@(a)\n",
        "class a\n",
        "class a {\n",
        "node a\n",
        "/*",
        "<%=",
        "<%= {",
        "%>",
        "<%#",
        "$",
        "::",
        "A::",
        "\u{feff}",
        "é\u{301}",
        "/\\",
        "a{'b': c =>",
        "a{'b': c => }\n",
        "($a, ",
        "class a($b = ,\n",
        "a [1]",
        "1 + ",
        "a -> ",
    ];
    for piece in pieces {
        let parse = check(&piece.repeat(500));
        assert!(parse.problems.len() <= 101, "{piece}");
    }
    check(&format!("$a{}", "[1]".repeat(20_000)));
    check(&format!("1{}", "+1".repeat(20_000)));
}

#[test]
fn code_after_a_mistake_is_parsed() {
    let text = "class a { if { include b }\n  include c\n}\nclass d($x = ) { include e }\n";
    let mut names = Vec::new();
    check(text).root.walk(&mut |node| match &node.kind {
        ExpressionKind::Class(class) => names.push(class.name.to_string()),
        ExpressionKind::Call(call) => names.extend(call.arguments[0].literal().map(str::to_owned)),
        _ => {}
    });
    assert_eq!(names, ["a", "c", "d", "e"]);
}
