//! No bytes make a parser or a loader panic, loop or recurse endlessly, and all reported ranges lie
//! in the text.
use hiera_ls::syntax::{Parse, ScalarMap, parse_json, parse_yaml};
use hiera_ls::value::{
    Value, json_load, load_node, load_parse, load_recovered, load_yaml, symbol_keys_to_strings,
};
use proptest::prelude::*;

fn check_places(text: &str, parse: &Parse) {
    let tree = &parse.tree;
    for (id, node) in tree.nodes() {
        assert!(
            text.get(node.full_range().as_usize()).is_some(),
            "{node:?} in {text:?}"
        );
        if let Some(parent) = tree.parent(id) {
            let around = tree.node(parent).range;
            assert!(
                around.contains(node.full_range()),
                "{node:?} {around:?} {text:?}"
            );
        }
        let map = ScalarMap::new(text, node);
        if let Some(scalar) = node.as_scalar() {
            assert!(
                text.get(map.source_range(0..scalar.text.len()).as_usize())
                    .is_some()
            );
        }
        assert!(tree.path_at(node.range.start as usize).len() <= tree.len());
    }
    let others = tree.comments().iter().copied();
    for range in others
        .chain(parse.problems.iter().map(|problem| problem.range))
        .chain(tree.broken().iter().map(|entry| entry.range))
        .chain(tree.ignored())
    {
        assert!(
            text.get(range.as_usize()).is_some(),
            "{range:?} in {text:?} {parse:?}"
        );
    }
    for (_, value) in tree.entries() {
        let _ = load_node(tree, value);
    }
    let _ = symbol_keys_to_strings(load_recovered(tree));
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("a"),
        Just("k: "),
        Just("\n"),
        Just("\nb:"),
        Just("  "),
        Just("- "),
        Just("\""),
        Just("'"),
        Just("["),
        Just("]"),
        Just("{"),
        Just("}"),
        Just(", "),
        Just("&a "),
        Just("*a"),
        Just("!!str "),
        Just("!x"),
        Just("!!omap "),
        Just("! "),
        Just("|"),
        Just(">-"),
        Just("#c"),
        Just(" # d"),
        Just("---\n"),
        Just("...\n"),
        Just("%YAML 1.1\n"),
        Just("? "),
        Just(": "),
        Just("<<: "),
        Just("\t"),
        Just("\r\n"),
        Just("\r"),
        Just("é"),
        Just("\u{85}"),
        Just("\u{2028}"),
        Just("\u{FEFF}"),
        Just("\0"),
        Just("\\"),
        Just("%{x}"),
        Just("2001-01-01"),
        Just(":s"),
        Just("1:30"),
        Just("// c\n"),
        Just("/* */"),
        Just("\\ud83d"),
        Just("null"),
        Just("\n  x: 1"),
        Just("\n]"),
        Just("%TAG ! tag:x,2000:\n"),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let _ = load_yaml(&bytes);
        let _ = json_load(&bytes);
        let text = String::from_utf8_lossy(&bytes);
        check_places(&text, &parse_yaml(&text));
        check_places(&text, &parse_json(&text));
    }

    #[test]
    fn any_pieces_of_yaml(text in pieces()) {
        let parse = parse_yaml(&text);
        check_places(&text, &parse);
        let strict = load_yaml(text.as_bytes());
        let from_parse = load_parse(&parse);
        match (strict, from_parse) {
            (Ok(strict), Ok(parsed)) => prop_assert_eq!(strict, parsed),
            (Err(strict), Err(parsed)) => prop_assert_eq!(strict.message, parsed.message),
            (strict, parsed) => prop_assert!(false, "{strict:?} {parsed:?} {text:?}"),
        }
    }

    #[test]
    fn any_pieces_of_json(text in pieces()) {
        check_places(&text, &parse_json(&text));
    }
}

#[test]
fn bombs_and_towers_are_refused_by_name() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..30 {
        let alias = format!("*a{}", level - 1);
        bomb.push_str(&format!(
            "a{level}: &a{level} [{}]\n",
            [alias.as_str(); 9].join(", ")
        ));
    }
    let error = load_yaml(bomb.as_bytes()).unwrap_err();
    assert!(
        error.message.contains("limit of 1000000 nodes"),
        "{error:?}"
    );
    let Value::Hash(rest) = load_recovered(&parse_yaml(&bomb).tree) else {
        panic!("not a mapping");
    };
    assert_eq!(rest.len(), 6);

    let mut chain = String::from("a0: &a0 [x]\n");
    for level in 1..20_000 {
        chain.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1));
    }
    let error = load_yaml(chain.as_bytes()).unwrap_err();
    assert!(error.message.contains("limit of 500"), "{error:?}");
    let tree = parse_yaml(&chain).tree;
    let last = tree.entries().last().unwrap().1;
    assert!(load_node(&tree, last).is_err());

    for (open, close) in [("[", "]"), ("{a: ", "}"), ("[{", "}]")] {
        for levels in [400, 100_000] {
            let tower = open.repeat(levels) + &close.repeat(levels);
            let text = format!("a: {tower}\nb: 1\n");
            let parse = parse_yaml(&text);
            check_places(&text, &parse);
            assert!(parse.tree.entries().count() >= 1, "{levels} of {open}");
        }
    }
    let indented: String = (0..3000).map(|level| " ".repeat(level) + "- \n").collect();
    assert!(load_yaml(indented.as_bytes()).is_err());
}

#[test]
fn an_error_on_every_line_costs_little() {
    // Each of these makes every block run to the end of the text, unless something stops it.
    for line in [
        "k: \"\n", "k: [\n", "k: {\n", "k: 'x\n", "\"k\n", "k: [\"\n", "k: ]\n", "- [\n",
    ] {
        let text = line.repeat(20_000) + "z: 1\n";
        let parse = parse_yaml(&text);
        assert!(parse.problems.len() <= 101);
        check_last(&text, &parse);
    }
    let text = format!("{{\n{}\n}}", "  \"k\": {\n".repeat(20_000));
    assert_eq!(parse_json(&text).problems.len(), 1);
}

fn check_last(text: &str, parse: &Parse) {
    let last = parse
        .tree
        .entries()
        .last()
        .map(|(key, _)| parse.tree.node(key).range.slice(text));
    assert_eq!(last, Some("z"), "{:?}", &text[..20]);
}
