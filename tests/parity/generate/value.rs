//! Values of data keys.

use super::dice::Dice;
use super::doc::{Doc, plain, quoted};
use super::token::{Targets, token_string};

/// The usual kind of a key's values, so that merges across levels find compatible values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Scalar,
    Text,
    List,
    Hash,
    Any,
}

/// Anchors of the file being written.
#[derive(Default)]
pub struct Anchors {
    hashes: Vec<String>,
    others: Vec<String>,
}

/// A value of a kind; one in eight is of another kind.
pub fn value(dice: &mut Dice, kind: Kind, targets: Targets<'_>, anchors: &mut Anchors) -> Doc {
    let kind = if dice.chance(12) { Kind::Any } else { kind };
    let doc = match kind {
        Kind::Scalar => scalar(dice, targets),
        Kind::Text => text(dice, targets),
        Kind::List => list(dice, targets, anchors, 3),
        Kind::Hash => hash(dice, targets, anchors, 3),
        Kind::Any => any(dice, targets, anchors, 3),
    };
    anchored(dice, doc, anchors)
}

fn anchored(dice: &mut Dice, doc: Doc, anchors: &mut Anchors) -> Doc {
    if dice.chance(6) && !matches!(doc, Doc::Alias(_) | Doc::Anchored(..) | Doc::Tagged(..)) {
        dice.mark("yaml: anchor");
        let name = format!("n{}", anchors.hashes.len() + anchors.others.len());
        match doc {
            Doc::Map(_) => anchors.hashes.push(name.clone()),
            _ => anchors.others.push(name.clone()),
        }
        return Doc::Anchored(name, Box::new(doc));
    }
    doc
}

fn any(dice: &mut Dice, targets: Targets<'_>, anchors: &mut Anchors, depth: usize) -> Doc {
    match dice.weighted(&[
        30,
        25,
        if depth > 0 { 20 } else { 0 },
        if depth > 0 { 20 } else { 0 },
        5,
    ]) {
        0 => scalar(dice, targets),
        1 => text(dice, targets),
        2 => list(dice, targets, anchors, depth - 1),
        3 => hash(dice, targets, anchors, depth - 1),
        _ => alias(dice, anchors),
    }
}

fn alias(dice: &mut Dice, anchors: &Anchors) -> Doc {
    let all: Vec<&String> = anchors.hashes.iter().chain(&anchors.others).collect();
    if all.is_empty() {
        return plain("lone");
    }
    if dice.risk(20) {
        dice.mark("yaml: unknown alias");
        return Doc::Alias("nowhere".into());
    }
    dice.mark("yaml: alias");
    Doc::Alias(all[dice.below(all.len())].clone())
}

fn scalar(dice: &mut Dice, targets: Targets<'_>) -> Doc {
    match dice.weighted(&[30, 20, 8, 8, 6, 14, 10, 4]) {
        0 => plain(dice.pick(&[
            "one", "two", "three", "web", "db", "x", "y", "deb", "low", "high",
        ])),
        1 => plain(dice.pick(&["1", "2", "3", "42", "0", "-7", "80", "443"])),
        2 => plain(dice.pick(&[
            "1.5", "0.0", "-2.25", "1e3", "1.0", "1.50", ".5", "5.", "1.5e+3", "1.0e+20", "1.0e-7",
        ])),
        3 => plain(dice.pick(&["true", "false", "yes", "off", "True", "NO"])),
        4 => {
            dice.mark("value: nil");
            plain(dice.pick(&["~", "null", "", "Null"]))
        }
        5 => text(dice, targets),
        6 => odd_scalar(dice),
        _ => quoted(dice.pick(&[
            "", "1", "true", "~", " padded ", "it's", "a.b", "--one", "/abs", "é", "nul",
        ])),
    }
}

/// Plain scalars with surprising values, and values that Puppet refuses.
fn odd_scalar(dice: &mut Dice) -> Doc {
    match dice.weighted(&[80, 6, dice.if_risky(2), 6, dice.if_risky(2)]) {
        0 => {
            dice.mark("value: odd plain scalar");
            plain(dice.pick(&[
                "1:30",
                "12:30:45",
                "1:60",
                "0755",
                "08",
                "0x1F",
                "0b101",
                "1_000",
                "1,000",
                "1__0",
                "+1",
                "-0",
                "0o17",
                "1e5",
                ".inf",
                "-.inf",
                ".nan",
                "y",
                "n",
                "on",
                "12345678901234567890",
                "190:20:30",
                "1.2.3",
                "=",
                "<<",
                "nil",
                "2001-13-01",
                "2001-12-14 21:59",
                "1.5_0",
                "0_7",
                "+.inf",
                "0x",
                "1a",
                "a:b",
                "a#b",
                "::a",
                "00",
                "0.",
                "1:30.5",
                "1e-5",
                "9223372036854775808",
            ]))
        }
        1 => {
            dice.mark("value: symbol");
            plain(dice.pick(&[":sym", ":\"a b\"", ":true"]))
        }
        2 => {
            dice.mark("value: date");
            plain(dice.pick(&["2001-02-03", "2001-12-14 21:59:43", "2001-12-14T21:59:43Z"]))
        }
        3 => {
            dice.mark("yaml: tag");
            let tags = [
                Doc::Tagged("!!str", Box::new(plain("12"))),
                Doc::Tagged("!!int", Box::new(quoted("5"))),
                Doc::Tagged("!!float", Box::new(plain("5"))),
                Doc::Tagged("!foo", Box::new(plain("5"))),
                Doc::Tagged("!!binary", Box::new(plain("aGVsbG8="))),
                Doc::Tagged("!", Box::new(plain("12"))),
                Doc::Tagged("!ruby/sym", Box::new(plain("x"))),
                Doc::Tagged("!!bool", Box::new(quoted("yes"))),
            ];
            tags[dice.below(tags.len())].clone()
        }
        _ => {
            dice.mark("yaml: forbidden tag");
            let tags = [
                Doc::Tagged(
                    "!ruby/object:Foo",
                    Box::new(Doc::Flow(Box::new(Doc::Map(vec![])))),
                ),
                Doc::Tagged(
                    "!!set",
                    Box::new(Doc::Flow(Box::new(Doc::Map(vec![(
                        plain("a"),
                        plain("~"),
                    )])))),
                ),
                Doc::Tagged("!!float", Box::new(plain("abc"))),
                Doc::Tagged("!ruby/regexp", Box::new(plain("/a/"))),
            ];
            tags[dice.below(tags.len())].clone()
        }
    }
}

/// A string, mostly with tokens, in one of YAML's styles.
pub fn text(dice: &mut Dice, targets: Targets<'_>) -> Doc {
    let text = if dice.chance(60) {
        token_string(dice, targets)
    } else {
        dice.pick(&[
            "plain words",
            "one",
            "ENC",
            "a: b",
            "tab\there",
            "two\nlines",
            "--gone",
            "x # y",
            "DEC::PKCS7[x]!",
            "trail ",
            "100%",
        ])
        .to_string()
    };
    match dice.weighted(&[40, 40, 8, 8, 4]) {
        0 => quoted(text),
        1 => Doc::Double(text),
        2 if block_fits(&text) => {
            dice.mark("yaml: literal block");
            Doc::Block(dice.pick(&["|", "|-", "|+"]), text)
        }
        3 if block_fits(&text) => {
            dice.mark("yaml: folded block");
            Doc::Block(dice.pick(&[">", ">-", ">+"]), text)
        }
        4 if text.starts_with(|c: char| c.is_ascii_alphabetic())
            && !text.contains([':', '#', '\n', '\t', ',']) =>
        {
            plain(text.trim())
        }
        _ => Doc::Double(text),
    }
}

fn block_fits(text: &str) -> bool {
    !text.is_empty() && !text.starts_with([' ', '\n', '\t'])
}

fn list(dice: &mut Dice, targets: Targets<'_>, anchors: &mut Anchors, depth: usize) -> Doc {
    let mut items = Vec::new();
    for _ in 0..dice.weighted(&[4, 15, 30, 30, 15]) {
        items.push(match dice.weighted(&[55, 10, 12, 8, 10, 5]) {
            0 => plain(dice.pick(&["one", "two", "three", "four", "1", "2", "1.0", "true"])),
            1 => {
                dice.mark("value: knockout marker in a list");
                quoted(dice.pick(&["--one", "--two", "--1", "--", "-one", "--three", "x--one"]))
            }
            2 if depth > 0 => hash(dice, targets, anchors, depth - 1),
            3 if depth > 0 => list(dice, targets, anchors, depth - 1),
            4 => text(dice, targets),
            _ => scalar(dice, targets),
        });
    }
    in_some_style(dice, Doc::Seq(items))
}

fn hash(dice: &mut Dice, targets: Targets<'_>, anchors: &mut Anchors, depth: usize) -> Doc {
    let mut entries: Vec<(Doc, Doc)> = Vec::new();
    for _ in 0..dice.weighted(&[4, 10, 25, 30, 20, 11]) {
        let key = nested_key(dice, targets, anchors);
        if !dice.chance(4)
            && entries
                .iter()
                .any(|(k, _)| super::doc::text_of(k) == super::doc::text_of(&key))
        {
            continue;
        }
        let value = match dice.weighted(&[50, 15, 15, 15, 5]) {
            0 => scalar(dice, targets),
            1 => text(dice, targets),
            2 if depth > 0 => list(dice, targets, anchors, depth - 1),
            3 if depth > 0 => hash(dice, targets, anchors, depth - 1),
            _ => alias(dice, anchors),
        };
        entries.push((key, value));
    }
    if dice.chance(8) {
        merge_key(dice, anchors, &mut entries);
    }
    in_some_style(dice, Doc::Map(entries))
}

fn nested_key(dice: &mut Dice, targets: Targets<'_>, anchors: &Anchors) -> Doc {
    match dice.weighted(&[88, 3, 3, 3, 1, 2, 1]) {
        0 => plain(dice.pick(&["a", "b", "c", "n", "x", "list", "port", "--a"])),
        1 => {
            dice.mark("value: number as a nested key");
            plain(dice.pick(&["1", "0", "2", "1.5"]))
        }
        2 => quoted(dice.pick(&["a.b", "1", "with space", "", "it's"])),
        3 => {
            dice.mark("value: token in a nested key");
            quoted(super::token::token(dice, targets))
        }
        4 => {
            dice.mark("value: nested key that Puppet refuses");
            plain(dice.pick(&["true", "~", "no"]))
        }
        5 => plain(dice.pick(&[":sym", "é", "0x10", "1:30"])),
        _ if !anchors.others.is_empty() => {
            dice.mark("yaml: alias as a key");
            Doc::Alias(anchors.others[dice.below(anchors.others.len())].clone())
        }
        _ => plain("z"),
    }
}

fn merge_key(dice: &mut Dice, anchors: &Anchors, entries: &mut Vec<(Doc, Doc)>) {
    dice.mark("yaml: merge key");
    let source = |dice: &mut Dice| {
        if anchors.hashes.is_empty() {
            Doc::Flow(Box::new(super::doc::map([
                ("a", plain("merged")),
                ("m", plain("1")),
            ])))
        } else {
            Doc::Alias(anchors.hashes[dice.below(anchors.hashes.len())].clone())
        }
    };
    let value = match dice.weighted(&[70, 15, 5, 10]) {
        0 => source(dice),
        1 => Doc::Flow(Box::new(Doc::Seq(vec![source(dice), source(dice)]))),
        2 => {
            dice.mark("yaml: merge key without a mapping");
            plain(dice.pick(&["5", "[1]", "~", "text"]))
        }
        _ => Doc::Flow(Box::new(super::doc::map([
            ("b", plain("inline")),
            ("c", plain("2")),
        ]))),
    };
    let key = if dice.chance(10) {
        quoted("<<")
    } else {
        plain("<<")
    };
    let at = dice.below(entries.len() + 1);
    entries.insert(at, (key, value));
}

fn in_some_style(dice: &mut Dice, doc: Doc) -> Doc {
    if dice.chance(45) {
        Doc::Flow(Box::new(doc))
    } else {
        doc
    }
}
