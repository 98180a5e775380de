//! Keys and values by kind.

use std::fmt::Write as _;

use super::dice::Dice;

/// Kinds of parameters, by the last part of their names.
pub(super) const KINDS: [&str; 12] = [
    "ensure", "port", "enabled", "packages", "settings", "weight", "listen", "url", "users",
    "motd", "backup", "limits",
];

const WORDS: [&str; 24] = [
    "alpha", "basic", "cache", "delta", "edge", "front", "gateway", "host", "index", "journal",
    "kernel", "local", "mirror", "node", "origin", "proxy", "queue", "relay", "store", "trace",
    "upper", "vault", "worker", "zone",
];

/// How much a collection holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    /// A default.
    Small,
    /// What somebody wrote for a purpose.
    Full,
}

/// The kind of a parameter.
pub(super) fn kind(parameter: usize) -> &'static str {
    KINDS[parameter % KINDS.len()]
}

/// A parameter's key.
pub(super) fn key(profile: usize, parameter: usize) -> String {
    let name = kind(parameter);
    match parameter / KINDS.len() {
        0 => format!("profile::p{profile:02}::{name}"),
        more => format!("profile::p{profile:02}::{name}_{more}"),
    }
}

/// Writes one entry of a data file.
pub(super) fn entry(
    text: &mut String,
    dice: &mut Dice,
    profile: usize,
    parameter: usize,
    size: Size,
) {
    let key = key(profile, parameter);
    let many = match size {
        Size::Small => 2,
        Size::Full => 4,
    };
    let number = dice.below(9000);
    let word = *dice.one(&WORDS);
    let _ = match kind(parameter) {
        "ensure" => writeln!(text, "{key}: present"),
        "port" => writeln!(text, "{key}: {}", 1024 + number),
        "enabled" => writeln!(text, "{key}: {}", number.is_multiple_of(2)),
        "weight" => writeln!(text, "{key}: {}.5", number % 100),
        "listen" => writeln!(text, "{key}: \"%{{facts.networking.fqdn}}:{number}\""),
        "url" => writeln!(
            text,
            "{key}: \"https://%{{lookup('profile::p{profile:02}::listen')}}/{word}\""
        ),
        "backup" => writeln!(
            text,
            "{key}: \"%{{alias('profile::p{profile:02}::packages')}}\""
        ),
        "motd" => {
            let _ = writeln!(text, "{key}: |");
            for _ in 0..many / 2 {
                let _ = writeln!(
                    text,
                    "  This machine is the {word} of %{{facts.site}}, since {number}."
                );
            }
            Ok(())
        }
        "packages" => {
            let _ = writeln!(text, "{key}:");
            for _ in 0..many {
                let _ = writeln!(text, "  - {}-{}", dice.one(&WORDS), dice.one(&WORDS));
            }
            Ok(())
        }
        "users" => {
            let _ = writeln!(text, "{key}:");
            for at in 0..many / 2 {
                let name = dice.one(&WORDS);
                let _ = writeln!(
                    text,
                    "  {name}{at}: {{uid: {}, shell: /bin/bash}}",
                    number + at
                );
            }
            Ok(())
        }
        "limits" => {
            let (soft, hard) = (number, number * 2);
            writeln!(
                text,
                "{key}:\n  nofile: {{soft: {soft}, hard: {hard}}}\n  {word}: {number}"
            )
        }
        "settings" => {
            let _ = writeln!(text, "{key}:");
            let first = dice.below(WORDS.len());
            for section in 0..many {
                let section = WORDS[(first + section) % 6];
                let _ = writeln!(text, "  {section}:");
                let start = dice.below(WORDS.len());
                for at in 0..many {
                    let name = WORDS[(start + at) % WORDS.len()];
                    let _ = writeln!(text, "    {name}: {}", dice.below(500));
                }
                if size == Size::Full {
                    let _ = writeln!(text, "    paths: [/srv/{}, /opt/{word}]", dice.one(&WORDS));
                }
            }
            Ok(())
        }
        other => unreachable!("no such kind: {other}"),
    };
}
