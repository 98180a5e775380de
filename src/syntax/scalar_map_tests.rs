//! Every character of every scalar maps to its source bytes.

use proptest::prelude::*;

use super::super::libyaml::{self, CollectionStyle, Emit, EventKind, Parser};
use super::super::{NodeKind, ScalarStyle, Tree, parse_hocon, parse_json, parse_yaml};
use super::*;

/// The text that libyaml reads for `source` between double quotes.
fn unescape(source: &str) -> String {
    let quoted = format!("\"{source}\"");
    let mut parser = Parser::new(quoted.as_bytes());
    while let Ok(Some(event)) = parser.next_event() {
        if let EventKind::Scalar { value, .. } = event.kind {
            return value.into_owned();
        }
    }
    panic!("{source:?} is no escape");
}

fn check_tree(source: &str, tree: &Tree) -> usize {
    let mut scalars = 0;
    for (_, node) in tree.nodes() {
        let NodeKind::Scalar(scalar) = &node.kind else {
            continue;
        };
        let text = &*scalar.text;
        let map = ScalarMap::new(source, node);
        let mut decoded = 0;
        let mut behind = node.range.start;
        for piece in &map.pieces {
            assert_eq!(piece.decoded, decoded, "{source:?} {map:?}");
            assert!(piece.source >= behind, "{source:?} {map:?}");
            decoded += piece.length;
            behind = piece.source + piece.width;
        }
        assert_eq!(decoded as usize, text.len(), "{source:?} {node:?} {map:?}");
        for (at, character) in text.char_indices() {
            let range = at..at + character.len_utf8();
            let spelled = map.source_range(range).slice(source);
            let is_blank = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{85}');
            let fits = match scalar.style {
                _ if spelled.chars().eq([character]) => true,
                ScalarStyle::DoubleQuoted if spelled.starts_with('\\') => {
                    unescape(spelled).chars().eq([character])
                }
                ScalarStyle::SingleQuoted if character == '\'' => spelled == "''",
                ScalarStyle::JsonString => {
                    serde_json::from_str(&format!("\"{spelled}\"")).ok()
                        == Some(character.to_string())
                }
                ScalarStyle::Plain
                | ScalarStyle::SingleQuoted
                | ScalarStyle::DoubleQuoted
                | ScalarStyle::Literal
                | ScalarStyle::Folded
                | ScalarStyle::JsonLiteral => {
                    matches!(character, ' ' | '\n')
                        && !spelled.is_empty()
                        && spelled.chars().all(is_blank)
                }
            };
            assert!(fits, "{character:?} is not {spelled:?} in {source:?}");
            let back = map.decoded_offset(map.source_range(at..at + 1).start as usize);
            assert_eq!(back, at, "{source:?}");
        }
        scalars += 1;
    }
    scalars
}

fn scalar_styles() -> impl Strategy<Value = ScalarStyle> {
    use ScalarStyle::{DoubleQuoted, Folded, Literal, Plain, SingleQuoted};
    prop_oneof![
        Just(Plain),
        Just(SingleQuoted),
        Just(DoubleQuoted),
        Just(Literal),
        Just(Folded)
    ]
}

/// Text with difficult input for scanners.
fn texts() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-z]{1,8}",
        Just("%{facts.x}".to_owned()),
        Just("é😀".to_owned()),
        Just("'".to_owned()),
        Just("\"".to_owned()),
        Just("\\".to_owned()),
        Just("\u{85}\u{2028}".to_owned()),
        Just("\t".to_owned()),
        Just("\u{7}\u{a0}".to_owned()),
        Just(": #".to_owned()),
    ];
    let gap = prop_oneof![
        4 => Just(" "), 1 => Just("  "), 2 => Just("\n"), 1 => Just("\n\n"), 1 => Just("\n  "),
        1 => Just(""), 1 => Just(" \n"), 1 => Just("\n\n\n"),
    ];
    proptest::collection::vec((gap, word), 0..20).prop_map(|parts| {
        parts
            .into_iter()
            .flat_map(|(gap, word)| [gap.to_owned(), word])
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn offsets_of_texts_from_libyaml_map_back(text in texts(), style in scalar_styles(), nested: bool) {
        let scalar = |value, style| Emit::Scalar {
            anchor: None, tag: None, value, plain_implicit: true, quoted_implicit: true,
            style: Some(style),
        };
        let open = || Emit::MappingStart {
            anchor: None, tag: None, implicit: true, style: CollectionStyle::Block,
        };
        let mut events = vec![Emit::StreamStart, Emit::DocumentStart { implicit: true }, open()];
        events.push(scalar("key", ScalarStyle::Plain));
        if nested {
            events.extend([open(), scalar("inner", ScalarStyle::Plain)]);
        }
        events.push(scalar(&text, style));
        if nested {
            events.push(Emit::MappingEnd);
        }
        events.extend([Emit::MappingEnd, Emit::DocumentEnd { implicit: true }, Emit::StreamEnd]);
        let source = libyaml::emit_yaml(events).expect("events are in order");
        for source in [source.clone(), source.replace('\n', "\r\n")] {
            let parse = parse_yaml(&source);
            prop_assert!(parse.problems.is_empty(), "{source:?} {:?}", parse.problems);
            prop_assert_eq!(check_tree(&source, &parse.tree), if nested { 3 } else { 2 });
        }
    }

    #[test]
    fn offsets_of_handwritten_texts_map_back(
        header in prop_oneof![
            Just("\""), Just("'"), Just(""), Just("|"), Just("|-"), Just("|+"), Just(">"),
            Just(">-"), Just(">+"), Just("|2"), Just(">1-"), Just("| # note"), Just("&a !t >"),
        ],
        lines in proptest::collection::vec(
            ("[ ]{0,4}", "([a-z%{}'é#:-]|\\\\n|\\\\x41|\\\\\"|''| |\t|\\\\ ){0,8}[\\\\ ]?"), 1..7),
        line_break in prop_oneof![Just("\n"), Just("\r\n"), Just("\r"), Just("\u{85}")],
    ) {
        let is_block = header.contains(['|', '>']);
        let quote = if matches!(header, "\"" | "'") { header } else { "" };
        let mut source = format!("k:{line_break} x: {header}");
        if is_block {
            source.push_str(line_break);
        }
        for (indent, text) in &lines {
            if is_block {
                source.push_str("  ");
            }
            source.push_str(indent);
            source.push_str(text);
            source.push_str(line_break);
        }
        source.push_str(quote);
        source.push_str(line_break);
        let parse = parse_yaml(&source);
        check_tree(&source, &parse.tree);
    }

    #[test]
    fn json_strings_map_back(
        parts in proptest::collection::vec(prop_oneof![
            Just("a"), Just("é"), Just("😀"), Just("\\n"), Just("\\\""), Just("\\\\"), Just("\\/"),
            Just("\\u0025"), Just("\\ud83d\\ude00"), Just("\\u00e9"), Just("%{x}"),
        ], 0..12),
    ) {
        let source = format!("{{\"{0}\": [\"{0}\", 1]}}", parts.concat());
        let parse = parse_json(&source);
        prop_assert!(parse.problems.is_empty(), "{source:?} {:?}", parse.problems);
        prop_assert_eq!(check_tree(&source, &parse.tree), 3);
    }
}

#[test]
fn parts_that_hocon_joins_are_not_separated() {
    for (source, text, spelled) in [
        (r#"{ k: "aé" }"#, "aé", "é"),
        (r#"{ k: "é"name"é" }"#, "énameé", r#""é"name"é""#),
        (r#"{ k: "a" "é" }"#, "a é", r#""a" "é""#),
        (r#"{ k: """a"é""" }"#, "a\"é", r#""""a"é""""#),
    ] {
        let tree = parse_hocon(source).tree;
        let value = tree.node(tree.entries().next().expect("one key").1);
        let scalar = value.as_scalar().expect("a string");
        assert_eq!(&*scalar.text, text, "{source}");
        let last = text.rfind('é').expect("there is one");
        let range = ScalarMap::new(source, value).source_range(last..last + 2);
        assert_eq!(range.slice(source), spelled, "{source}");
    }
}

#[test]
fn tokens_in_every_style_have_their_bytes() {
    for (source, wanted) in [
        ("k: a %{x} b\n", "%{x}"),
        ("k: 'it''s %{x}'\n", "%{x}"),
        ("k: \"\\ta\\u00e9%{x}\"\n", "%{x}"),
        ("k: |\n    one\n    two %{x}\n", "%{x}"),
        ("k: >2-\n   one\n  two\n\n  %{x}\n", "%{x}"),
        ("k: >\r\n  one\r\n  %{x}\r\n", "%{x}"),
        ("k: \"one \\\n   %{x}\"\n", "%{x}"),
        ("k: %{x\n  }\n", "%{x\n  }"),
    ] {
        let parse = parse_yaml(source);
        if !parse.problems.is_empty() {
            continue;
        }
        let value = parse.tree.entries().next().expect("an entry").1;
        let node = parse.tree.node(value);
        let text = &node.as_scalar().expect("a scalar").text;
        let at = text.find("%{").expect("a token");
        let end = text[at..].find('}').expect("its end") + at + 1;
        let range = ScalarMap::new(source, node).source_range(at..end);
        assert_eq!(range.slice(source), wanted, "{source:?}");
    }
}

#[test]
fn unquoted_hocon_texts_map_to_themselves() {
    let range_of = |text: &str, part: &str| {
        let parse = crate::syntax::parse_hocon(text);
        let (_, value) = parse.tree.entries().next().unwrap();
        let node = parse.tree.node(value);
        let scalar = node.as_scalar().unwrap();
        let at = scalar.text.find(part).unwrap();
        let range = ScalarMap::new(text, node).source_range(at..at + part.len());
        text.get(range.as_usize()).map(str::to_owned)
    };
    assert_eq!(range_of("a = é b", "b"), Some("b".to_owned()));
    assert_eq!(range_of("a = \"x b\"", "b"), Some("b".to_owned()));
    // For a joined text only the whole has a range.
    assert_eq!(range_of("a = é \"b\"", "b"), Some("é \"b\"".to_owned()));
}
