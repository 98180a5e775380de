//! `lookup_options` of every form.

use super::dice::Dice;
use super::doc::{Doc, plain, quoted};
use super::file::Keys;
use super::value::Kind;

/// The value of a `lookup_options` key. `module` is the module that it belongs to.
pub fn lookup_options(dice: &mut Dice, keys: &Keys, module: Option<&str>) -> Doc {
    if dice.risk(25) {
        dice.mark("lookup_options: not a hash");
        return match dice.below(4) {
            0 => plain("~"),
            1 => plain("text"),
            2 => Doc::Flow(Box::new(Doc::Seq(vec![plain("a")]))),
            _ => plain("5"),
        };
    }
    let mut entries: Vec<(Doc, Doc)> = Vec::new();
    for _ in 0..dice.between(1, 4) {
        let (key, name) = option_key(dice, keys, module);
        if entries.iter().any(|(k, _)| super::doc::text_of(k) == name) {
            continue;
        }
        let kind = keys.kind(&name).unwrap_or(Kind::Any);
        let value = option_value(dice, kind);
        entries.push((key, value));
    }
    Doc::Map(entries)
}

fn option_key(dice: &mut Dice, keys: &Keys, module: Option<&str>) -> (Doc, String) {
    let name = match dice.weighted(&[
        55,
        35,
        if module.is_some() {
            dice.if_risky(4)
        } else {
            4
        },
        if module.is_some() {
            dice.if_risky(3)
        } else {
            3
        },
        dice.if_risky(2),
        if module.is_some() {
            dice.if_risky(20)
        } else {
            1
        },
    ]) {
        0 => {
            dice.mark("lookup_options: literal key");
            literal(dice, keys, module)
        }
        1 => {
            dice.mark("lookup_options: regex");
            pattern(dice, module)
        }
        2 => {
            dice.mark("lookup_options: looks like a regex but is not anchored");
            dice.pick(&[".*alpha", "alph.*", "(alpha|beta)", "m::.*"])
                .to_string()
        }
        3 => {
            dice.mark("lookup_options: token in a key");
            if dice.risk(150) {
                "%{lookup('alpha')}".into()
            } else {
                dice.pick(&["%{literal('alpha')}", "%{facts.role}_x", "%{facts.keyname}"])
                    .to_string()
            }
        }
        4 => {
            dice.mark("lookup_options: invalid regex");
            dice.pick(&["^(", "^[a", "^*", "^a(?<b", "^a{2,1}"])
                .to_string()
        }
        _ => {
            if module.is_some() {
                dice.mark("lookup_options: outside the module's namespace");
            }
            dice.pick(&["m::a", "n::a", "^n::", "alpha", "^(m::a)", "^m::"])
                .to_string()
        }
    };
    (quoted(name.clone()), name)
}

fn literal(dice: &mut Dice, keys: &Keys, module: Option<&str>) -> String {
    if let Some(module) = module {
        let own: Vec<&String> = keys
            .names
            .iter()
            .filter(|k| k.starts_with(&format!("{module}::")))
            .collect();
        return if own.is_empty() {
            format!("{module}::a")
        } else {
            own[dice.below(own.len())].clone()
        };
    }
    if keys.names.is_empty() {
        "alpha".into()
    } else {
        keys.names[dice.below(keys.names.len())].clone()
    }
}

fn pattern(dice: &mut Dice, module: Option<&str>) -> String {
    if let Some(module) = module {
        let rest = dice.pick(&["", ".*", "a$", "(list|hash)", "[a-z]+$", "l(?=ist)"]);
        return format!("^{module}::{rest}");
    }
    dice.pick(&[
        "^al",
        "^.*",
        "^.*$",
        "^(alpha|beta)$",
        "^m::",
        "^m::.*$",
        "^m::(list|hash)",
        "^list\\z",
        "^(?i)ALPHA",
        "^(?=hash)",
        "^hash(?!x)",
        "^\\Ahash",
        "^[[:alpha:]]+$",
        "^users",
        "^n::",
        "^(?:list|hash|users)$",
        "^[^:]*$",
        "^\\w+::\\w+$",
        "^lis?t",
        "^(?<x>l)ist",
        "^h\\h*",
        "^.{4}$",
        "^(?>al)pha",
        "^port|^motd",
        "^$",
    ])
    .to_string()
}

fn option_value(dice: &mut Dice, kind: Kind) -> Doc {
    if dice.chance(4) {
        dice.mark("lookup_options: odd value");
        return match dice.below(if dice.if_risky(1) == 1 { 10 } else { 9 }) {
            0 => plain("~"),
            1 => plain("merge"),
            2 => plain("deep"),
            3 => Doc::Flow(Box::new(Doc::Seq(vec![plain("1")]))),
            4 => plain("5"),
            5 => plain("true"),
            6 | 7 => Doc::Flow(Box::new(Doc::Map(vec![]))),
            8 => Doc::Flow(Box::new(super::doc::map([("merg", plain("deep"))]))),
            _ => quoted("%{lookup('alpha')}"),
        };
    }
    let mut entries = Vec::new();
    if dice.chance(75) {
        entries.push((plain("merge"), merge(dice, kind)));
    }
    if entries.is_empty() || dice.chance(25) {
        entries.push((plain("convert_to"), convert_to(dice)));
    }
    if dice.chance(3) {
        entries.push((plain("other"), plain("x")));
    }
    if dice.chance(60) {
        Doc::Flow(Box::new(Doc::Map(entries)))
    } else {
        Doc::Map(entries)
    }
}

fn merge(dice: &mut Dice, kind: Kind) -> Doc {
    match dice.weighted(&[50, 40, 4, 6]) {
        0 => {
            let name = strategy(dice, kind);
            plain(name)
        }
        1 => {
            dice.mark("merge: hash with options");
            merge_hash(dice, kind)
        }
        2 => {
            dice.mark("lookup_options: token in a merge");
            quoted("%{facts.strat}")
        }
        _ => {
            dice.mark("lookup_options: odd merge");
            match dice.below(8) {
                0 => plain("~"),
                1 => plain("false"),
                2 => plain("bogus"),
                3 => plain("3"),
                4 => Doc::Flow(Box::new(Doc::Seq(vec![plain("deep")]))),
                5 => Doc::Flow(Box::new(super::doc::map([(
                    "knockout_prefix",
                    quoted("--"),
                )]))),
                6 => Doc::Flow(Box::new(super::doc::map([("strategy", plain("bogus"))]))),
                _ => Doc::Flow(Box::new(Doc::Map(vec![]))),
            }
        }
    }
}

/// The name of a strategy, mostly one that suits values of a kind.
pub fn strategy(dice: &mut Dice, kind: Kind) -> &'static str {
    let weights = match kind {
        _ if dice.chance(10) => [25, 25, 30, 10, 2, 4, 4],
        Kind::Hash => [2, 40, 40, 8, 2, 4, 4],
        Kind::List | Kind::Scalar | Kind::Text | Kind::Any => [40, 2, 40, 8, 2, 4, 4],
    };
    match dice.weighted(&weights) {
        0 => {
            dice.mark("merge: unique");
            "unique"
        }
        1 => {
            dice.mark("merge: hash");
            "hash"
        }
        2 => {
            dice.mark("merge: deep");
            "deep"
        }
        3 => {
            dice.mark("merge: first");
            "first"
        }
        4 => {
            dice.mark("merge: default");
            "default"
        }
        5 => {
            dice.mark("merge: reverse_deep");
            "reverse_deep"
        }
        _ => {
            dice.mark("merge: unconstrained_deep");
            "unconstrained_deep"
        }
    }
}

/// A merge as a hash: mostly deep with effective options.
pub fn merge_hash(dice: &mut Dice, kind: Kind) -> Doc {
    let name = if dice.chance(80) {
        dice.mark("merge: deep");
        "deep"
    } else {
        strategy(dice, kind)
    };
    let mut entries = vec![(plain("strategy"), plain(name))];
    if dice.chance(50) {
        dice.mark("merge: knockout_prefix");
        entries.push((
            plain("knockout_prefix"),
            quoted(dice.pick(&["--", "--", "--", "-", "x", "-.", "+", "", "on", "^"])),
        ));
    }
    if dice.chance(30) {
        dice.mark("merge: sort_merged_arrays");
        entries.push((
            plain("sort_merged_arrays"),
            plain(dice.pick(&["true", "true", "false"])),
        ));
    }
    if dice.chance(35) {
        dice.mark("merge: merge_hash_arrays");
        entries.push((
            plain("merge_hash_arrays"),
            plain(dice.pick(&["true", "true", "false"])),
        ));
    }
    if dice.chance(4) {
        dice.mark("merge: wrong option");
        entries.push(match dice.below(5) {
            0 => (plain("bogus"), plain("1")),
            1 => (plain("unpack_arrays"), quoted(",")),
            2 => (plain("knockout_prefix"), plain("5")),
            3 => (plain("sort_merged_arrays"), plain("text")),
            _ => (plain("merge_hash_arrays"), plain("1")),
        });
    }
    if matches!(name, "unconstrained_deep" | "reverse_deep") && dice.chance(40) {
        dice.mark("merge: unconstrained options");
        entries.push(match dice.below(4) {
            0 => (plain("unpack_arrays"), quoted(",")),
            1 => (plain("overwrite_arrays"), plain("true")),
            2 => (plain("extend_existing_arrays"), plain("true")),
            _ => (plain("preserve_unmergeables"), plain("true")),
        });
    }
    Doc::Flow(Box::new(Doc::Map(entries)))
}

fn convert_to(dice: &mut Dice) -> Doc {
    match dice.weighted(&[62, 28, 10]) {
        0 => {
            dice.mark("convert_to: type");
            quoted(dice.pick(&[
                "String",
                "Integer",
                "Array",
                "Sensitive",
                "Float",
                "Numeric",
                "Boolean",
                "Hash",
                "String",
                "Array",
                "Sensitive",
                "Array[Integer]",
                "Array[String]",
                "Optional[Integer]",
                "Regexp",
                "Timespan",
                "Timestamp",
                "SemVer",
                "URI",
                "Binary",
                "Type",
                "Tuple",
                "Struct",
                "Hash[String,Integer]",
                "Integer[0,10]",
                "Sensitive[String]",
                "Any",
                "Data",
                "Scalar",
                "Variant[Integer,String]",
                "Enum['one','two']",
                "NotUndef[String]",
                "Undef",
                "Collection",
                "String[1]",
                "Init[Integer]",
                "Default",
                "M::Port",
                "M::List",
            ]))
        }
        1 => {
            dice.mark("convert_to: with arguments");
            let forms: [&[&str]; 15] = [
                &["Integer", "16"],
                &["Integer", "10"],
                &["Array", "true"],
                &["String", "'%x'"],
                &["String", "'%#p'"],
                &["Integer", "2", "true"],
                &["Boolean"],
                &["Array"],
                &["String", "'%s'"],
                &["Integer", "37"],
                &["Hash", "tree"],
                &["Hash", "hash_tree"],
                &["String", "'%d'"],
                &["Timestamp", "'%Y-%m-%d'"],
                &["Binary", "'%s'"],
            ];
            let form = forms[dice.below(forms.len())];
            Doc::Flow(Box::new(Doc::Seq(form.iter().map(|t| plain(*t)).collect())))
        }
        _ => {
            dice.mark("convert_to: odd");
            match dice.below(8) {
                0 => plain("~"),
                1 => quoted("Bad["),
                2 => plain("5"),
                3 => Doc::Flow(Box::new(Doc::Seq(vec![plain("~")]))),
                4 => plain("Bogus"),
                5 => Doc::Flow(Box::new(Doc::Seq(vec![]))),
                6 => plain("integer"),
                _ => Doc::Flow(Box::new(super::doc::map([("a", plain("1"))]))),
            }
        }
    }
}
