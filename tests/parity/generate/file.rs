//! Data files: YAML, JSON and HOCON, mostly valid, sometimes broken.

use std::sync::LazyLock;

use serde_json::Value;

use super::config::Format;
use super::dice::Dice;
use super::doc::{Doc, json, map, plain, quoted, text_of, yaml};
use super::options::lookup_options;
use super::token::Targets;
use super::value::{Anchors, Kind, value};

/// The keys of a repository: their names and the usual kinds of their values.
pub struct Keys {
    pub names: Vec<String>,
    pub kinds: Vec<Kind>,
}

impl Keys {
    /// The usual kind of a key's values.
    pub fn kind(&self, name: &str) -> Option<Kind> {
        let at = self.names.iter().position(|n| n == name)?;
        Some(self.kinds[at])
    }
}

/// The text of a data file. `module` names the module that it belongs to.
pub fn data_file(dice: &mut Dice, format: Format, keys: &Keys, module: Option<&str>) -> String {
    if dice.risk(45) {
        return broken(dice, format);
    }
    if format == Format::Yaml && dice.rarely(12) {
        dice.mark("data: yaml that is no hash");
        return dice
            .pick(&[
                "- a\n",
                "",
                "text\n",
                "# only a comment\n",
                "~\n",
                "false\n",
                "5\n",
                "---\n",
                "[a, b]\n",
            ])
            .to_string();
    }
    let doc = entries(dice, keys, module, format);
    match format {
        Format::Yaml => yaml_text(dice, doc),
        Format::Json | Format::JsonAsYaml => json_text(dice, &doc),
        Format::Hocon => hocon_text(dice, &doc),
    }
}

fn entries(dice: &mut Dice, keys: &Keys, module: Option<&str>, format: Format) -> Doc {
    let mut anchors = Anchors::default();
    let mut top: Vec<(Doc, Doc)> = Vec::new();
    for at in 0..keys.names.len() {
        let name = &keys.names[at];
        let own = module.is_none_or(|m| name.starts_with(&format!("{m}::")));
        if !(own && dice.chance(62) || !own && dice.rarely(6)) {
            continue;
        }
        if !own {
            dice.mark("module: key outside its namespace");
        }
        let targets = Targets {
            keys: &keys.names,
            at,
        };
        let value = if format == Format::Yaml && dice.chance(4) {
            dice.mark("yaml: a scalar of the scalar cases");
            plain(scalar_case(dice))
        } else {
            value(dice, keys.kinds[at], targets, &mut anchors)
        };
        top.push((data_key(dice, name), value));
    }
    if dice.chance(30) {
        dice.mark("lookup_options");
        let options = lookup_options(dice, keys, module);
        let at = dice.below(top.len() + 1);
        top.insert(at, (plain("lookup_options"), options));
    }
    if module.is_none() && dice.chance(12) {
        dice.mark("data: odd top-level key");
        let key = dice.pick(&[
            "a.b",
            "with space",
            "'q'",
            "%{role}",
            "::m::a",
            "é",
            "a'b",
            "x\"y",
            "",
        ]);
        top.push((quoted(key), plain("odd")));
    }
    if module.is_none() && format == Format::Yaml && dice.chance(5) {
        dice.mark("data: top-level key that is no string");
        top.push((
            plain(dice.pick(&["1", "true", "~", ":sym", "1.5"])),
            plain("number"),
        ));
    }
    if module.is_some() && format == Format::Yaml && dice.risk(10) {
        dice.mark("module: key that is no string");
        top.push((plain(dice.pick(&["1", "~"])), plain("x")));
    }
    if format == Format::Yaml && !top.is_empty() && dice.chance(4) {
        dice.mark("yaml: duplicate key");
        let at = dice.below(top.len());
        top.push((top[at].0.clone(), plain("duplicate")));
    }
    if format == Format::Yaml && dice.chance(2) {
        dice.mark("yaml: merge key at the top");
        let merged = Doc::Flow(Box::new(map([
            ("alpha", plain("merged")),
            ("merged_key", plain("1")),
        ])));
        let at = dice.below(top.len() + 1);
        top.insert(at, (plain("<<"), merged));
    }
    Doc::Map(top)
}

/// A plain scalar from the case file of Psych's scalars: one line, no error.
fn scalar_case(dice: &mut Dice) -> &'static str {
    static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/cases/psych-scalars.jsonl"
        );
        let text = std::fs::read_to_string(path).expect("the case file");
        let cases = text
            .lines()
            .map(|l| serde_json::from_str::<Value>(l).expect("JSON"));
        let scalars = cases.filter(|case| {
            let kind = case["value"]["t"].as_str().unwrap_or_default();
            case["ok"] == true && matches!(kind, "string" | "int" | "float" | "bool" | "nil")
        });
        let texts = scalars.map(|case| case["yaml"].as_str().expect("text").to_string());
        texts
            .filter(|text| text.chars().all(|c| !c.is_control()) && !text.contains("---"))
            .collect()
    });
    &TEXTS[dice.below(TEXTS.len())]
}

fn data_key(dice: &mut Dice, name: &str) -> Doc {
    match dice.weighted(&[80, 10, 10]) {
        0 if !name.contains(' ') => plain(name),
        1 => Doc::Double(name.into()),
        _ => quoted(name),
    }
}

fn yaml_text(dice: &mut Dice, doc: Doc) -> String {
    let doc = if dice.chance(3) {
        Doc::Flow(Box::new(doc))
    } else {
        doc
    };
    let text = yaml(&doc);
    match dice.weighted(&[70, 10, 4, 3, 3, 4, 3, 3]) {
        0 => text,
        1 => format!("---\n{text}"),
        2 => {
            dice.mark("yaml: CRLF");
            text.replace('\n', "\r\n")
        }
        3 => {
            dice.mark("yaml: byte order mark");
            format!("\u{feff}{text}")
        }
        4 => {
            dice.mark("yaml: second document");
            format!("---\n{text}---\nalpha: second\nx: [\n")
        }
        5 => {
            dice.mark("yaml: comments");
            format!("# first\n{}# last", text.replacen('\n', " # inline\n", 1))
        }
        6 => {
            dice.mark("yaml: directive");
            format!("%YAML 1.1\n---\n{text}...\ngarbage: [")
        }
        _ => format!("{text}\n\n"),
    }
}

fn json_text(dice: &mut Dice, doc: &Doc) -> String {
    let text = json(doc);
    match dice.weighted(&[80, 8, 6, 6]) {
        0 => text,
        1 => {
            dice.mark("json: comment");
            format!("/* c */ {text} // end\n")
        }
        2 => {
            dice.mark("json: duplicate key");
            format!("{{\"alpha\": 0, \"alpha\": \"again\", \"list\": [1.0, 1e2, -0, 12345678901234567890], {}", &text[1..])
                .replace(", }", "}")
        }
        _ => format!("\n{text}\n"),
    }
}

fn hocon_text(dice: &mut Dice, doc: &Doc) -> String {
    let Doc::Map(entries) = doc else {
        return json(doc);
    };
    let mut out = String::new();
    for (key, value) in entries {
        out.push_str(&serde_json::to_string(&text_of(key)).expect("a string"));
        out.push_str(dice.pick(&[" = ", ": ", " : "]));
        out.push_str(&json(value));
        out.push_str(dice.pick(&["\n", ",\n"]));
    }
    if dice.chance(30) {
        dice.mark("hocon: nesting, substitution, comments");
        out.push_str(dice.pick(&[
            "# comment\nhash.a.b = 1\nhash.c = yes\n",
            "port = 1.0\nmotd = ${port}\n",
            "list = [1]\nlist += 2\n",
            "users { a = 1, b : two }\n// c\n",
            "alpha = some unquoted text\n",
            "hash = {a: 1}\nhash = {b: 2}\n",
            "motd = \"\"\"multi\nline\"\"\"\n",
            "beta = ${?nosuch}\n",
        ]));
    }
    out
}

fn broken(dice: &mut Dice, format: Format) -> String {
    match format {
        Format::Yaml => {
            dice.mark("data: broken yaml");
            dice.pick(&[
                "alpha: [1\nbeta: 2\n",
                "alpha: 'open\n",
                "alpha: 1\n\tbeta: 2\n",
                "a: b: c\n",
                "alpha: {a: 1\n",
                "alpha: @x\n",
                "alpha: %{role}\n",
                "alpha: 1\n beta: 2\n",
                "alpha: \"\\q\"\n",
                "%YAML 2.0\n---\na: 1\n",
                "alpha: *nowhere\n",
                "alpha: 2001-02-03\n",
                "alpha: &x\nbeta: *x\n",
                "? a\n: b\n",
            ])
            .to_string()
        }
        Format::Json | Format::JsonAsYaml => {
            dice.mark("data: broken json");
            dice.pick(&[
                "[1]",
                "{",
                "",
                "{\"a\": 1,}",
                "{'a': 1}",
                "null",
                "{\"a\": NaN}",
                "\u{feff}{}",
                "{\"a\": 01}",
                "{\"a\": 1} x",
                "5",
            ])
            .to_string()
        }
        Format::Hocon => {
            dice.mark("data: broken hocon");
            dice.pick(&["[1]", "a = {", "", "a = ${nosuch}", "a = ]"])
                .to_string()
        }
    }
}
