//! `%{…}` tokens of every kind, and strings around them.

use super::dice::Dice;

/// The possible targets of a token: the keys of the repository, in an order in which references
/// mostly point forward, so that loops stay rare.
#[derive(Clone, Copy)]
pub struct Targets<'a> {
    pub keys: &'a [String],
    /// The position of the key whose value is being built.
    pub at: usize,
}

/// A string with one to three tokens in it.
pub fn token_string(dice: &mut Dice, targets: Targets<'_>) -> String {
    if dice.chance(15) {
        return alias(dice, targets);
    }
    let mut text = String::new();
    for _ in 0..dice.weighted(&[0, 70, 22, 8]) {
        text.push_str(dice.pick(&["", "", "a ", "x-", "é:", "100% ", "%", "{", "line\n"]));
        text.push_str(&token(dice, targets));
    }
    text.push_str(dice.pick(&["", "", "!", "}", " end", "%", "%{"]));
    text
}

fn alias(dice: &mut Dice, targets: Targets<'_>) -> String {
    let key = target(dice, targets);
    match dice.weighted(&[85, 8, 7]) {
        0 => {
            dice.mark("token: alias");
            format!("%{{alias('{key}')}}")
        }
        1 => {
            dice.mark("token: alias, double quotes and blanks inside");
            format!("%{{ alias(\"{key}\") }}")
        }
        _ => {
            dice.mark("token: alias inside a longer string");
            format!(
                "{}%{{alias('{key}')}}{}",
                dice.pick(&["", "a "]),
                dice.pick(&[" ", "b"])
            )
        }
    }
}

/// One token.
pub fn token(dice: &mut Dice, targets: Targets<'_>) -> String {
    let key = target(dice, targets);
    match dice.weighted(&[30, 6, 10, 6, 30, 8, 2, 3, 2, 4]) {
        0 => {
            dice.mark("token: lookup");
            match dice.below(3) {
                0 => format!("%{{lookup(\"{key}\")}}"),
                1 => format!("%{{ lookup('{key}') }}"),
                _ => format!("%{{lookup('{key}')}}"),
            }
        }
        1 => {
            dice.mark("token: hiera");
            format!("%{{hiera('{key}')}}")
        }
        2 => {
            dice.mark("token: scope");
            format!("%{{scope('{}')}}", variable(dice))
        }
        3 => {
            dice.mark("token: literal");
            dice.pick(&[
                "%{literal('%')}",
                "%{literal('%')}{role}",
                "%{literal(\"%\")}{facts.os.family}",
                "%{literal('x y')}",
                "%%{}{ENV:X}",
                "%{literal('%')}{lookup('alpha')}",
            ])
            .to_string()
        }
        4 => {
            dice.mark("token: variable");
            let blank = dice.pick(&["", "", "", " ", "\n"]);
            format!("%{{{blank}{}{blank}}}", variable(dice))
        }
        5 => {
            dice.mark("token: undefined or absent");
            let name = dice.pick(&[
                "nope",
                "::nope",
                "facts.nope",
                "nope.x",
                "facts.os.nope.x",
                "m::nope",
                "nosuch::var",
                "nilf",
                "facts.nilf",
                "module_name",
                "caller_module_name",
                "1",
                "trusted.nope",
                "facts.list.9",
                "facts.list.-1",
                "calling_module",
                "empty",
                "server_facts.serverversion",
                "::facts.os.nope",
                "title",
            ]);
            format!("%{{{name}}}")
        }
        6 => {
            dice.mark("token: dig that cannot work");
            let name = dice.pick(&[
                "facts.role.x",
                "role.x",
                "facts.num.x",
                "facts.flt.x",
                "facts.yes.x",
                "facts.list.x",
                "facts.os.'family'.y",
                "facts.list.'0'",
            ]);
            format!("%{{{name}}}")
        }
        7 => {
            dice.mark("token: empty");
            dice.pick(&[
                "%{}",
                "%{::}",
                "%{''}",
                "%{\"\"}",
                "%{ }",
                "%{'::'}",
                "%{\"::\"}",
                "%{\n}",
            ])
            .to_string()
        }
        8 => {
            dice.mark("token: unknown function");
            dice.pick(&[
                "%{Lookup('k')}",
                "%{LITERAL('x')}",
                "%{environment('x')}",
                "%{hiera_hash(\"x\")}",
                "%{lookup2('a')}",
            ])
            .to_string()
        }
        _ => {
            dice.mark("token: malformed");
            malformed(dice, &key)
        }
    }
}

fn malformed(dice: &mut Dice, key: &str) -> String {
    match dice.below(16) {
        0 => format!("%{{lookup( '{key}' )}}"),
        1 => "%{lookup('')}".into(),
        2 => format!("%{{lookup({key})}}"),
        3 => format!("%{{lookup('{key}').x}}"),
        4 => format!("%{{lookup('{key}','x')}}"),
        5 => format!("%{{lookup('{key}\")}}"),
        6 => "%{role".into(),
        7 => "%{role.}".into(),
        8 => "%{.role}".into(),
        9 => "%{facts..role}".into(),
        10 => "%{facts['os']}".into(),
        11 => "%{%{role}}".into(),
        12 => "%{'role'}".into(),
        13 => "%{a'b'}".into(),
        14 => "%{lookup()}".into(),
        _ => format!("%{{lookup ('{key}')}}"),
    }
}

/// A reference to a variable that exists in most scopes.
fn variable(dice: &mut Dice) -> String {
    if dice.has_site() && dice.chance(30) {
        dice.mark("token: variable of a site manifest");
        return dice
            .pick(&[
                "kind",
                "::kind",
                "place",
                "spot.a",
                "spot.n.x.0",
                "::role",
                "a",
                "role",
                "spot",
            ])
            .to_string();
    }
    dice.pick(&[
        "role",
        "::role",
        "facts.role",
        "facts.os.family",
        "::facts.os.release.major",
        "facts.num",
        "facts.flt",
        "facts.yes",
        "facts.list",
        "facts.list.0",
        "facts.list.2.k",
        "facts.hash",
        "facts.hash.a",
        "facts.dots.'a.b'",
        "facts.dots.\"a.b\"",
        "dots.c.d",
        "facts. role",
        "trusted.certname",
        "trusted.hostname",
        "trusted.domain",
        "trusted.extensions.pp_role",
        "trusted.authenticated",
        "environment",
        "server_facts",
        "tier",
        "enc.site",
        "facts.inj",
        "facts.inj2",
        "facts.self",
        "facts.cyc",
        "facts.big",
        "facts.uni",
        "facts.'role'",
        "os.family",
        "num",
        "facts.empty",
    ])
    .to_string()
}

/// The key of a nested lookup: mostly one further down the list, sometimes with segments after it,
/// sometimes missing.
pub fn target(dice: &mut Dice, targets: Targets<'_>) -> String {
    if dice.chance(6) {
        return dice
            .pick(&[
                "missing",
                "absent.sub",
                "m::missing",
                "p::y",
                "lookup_options",
                "role",
                "a..b",
                "alpha.",
                "::m::a",
                "x y",
                "1.x",
            ])
            .to_string();
    }
    let key = if targets.at + 1 < targets.keys.len() && !dice.chance(10) {
        let rest = &targets.keys[targets.at + 1..];
        rest[dice.below(rest.len())].clone()
    } else {
        if targets.keys.is_empty() {
            return "missing".into();
        }
        dice.mark("token: possible loop");
        targets.keys[dice.below(targets.keys.len())].clone()
    };
    if dice.chance(
        if key.contains("hash") || key.contains("list") || key == "users" {
            40
        } else {
            4
        },
    ) {
        dice.mark("token: lookup of a dotted key");
        let segment = match key.contains("list") {
            _ if dice.chance(6) => dice.pick(&["a", "0", "'b'", "n.x", "-1"]),
            true => dice.pick(&["0", "1", "2", "9", "0.a"]),
            false => dice.pick(&["a", "b", "c", "x", "n", "list", "port", "'a.b'"]),
        };
        return format!("{key}.{segment}");
    }
    key
}
