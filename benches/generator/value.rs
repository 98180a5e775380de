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

/// The names of a profile's three keys of the kind `settings`: sections of service options,
/// firewall rules, accounts.
const SETTINGS: [&str; 3] = ["settings", "rules", "accounts"];

/// Number of distinct names of sections, rules and accounts in one profile.
const NAMES: usize = 32;

/// The file of a value, which decides the size of collections.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Common,
    Shared,
    System,
    Site,
    Role,
    RoleAtSite,
    Node,
}

impl Place {
    /// Number of sections, rules or accounts in one value: four leaves each.
    fn groups(self) -> usize {
        match self {
            Place::Common | Place::Node => 3,
            Place::RoleAtSite => 4,
            Place::Shared | Place::Site => 8,
            Place::System => 10,
            Place::Role => 14,
        }
    }
}

/// Number of kinds; the first parameters are one of each.
pub(super) fn kinds() -> usize {
    KINDS.len()
}

/// The kind of a parameter.
pub(super) fn kind(parameter: usize) -> &'static str {
    KINDS[parameter % KINDS.len()]
}

/// A parameter's key.
pub(super) fn key(profile: usize, parameter: usize) -> String {
    let name = kind(parameter);
    match parameter / KINDS.len() {
        more if name == "settings" => format!("profile::p{profile:02}::{}", SETTINGS[more]),
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
    place: Place,
) {
    let key = key(profile, parameter);
    let many = match place {
        Place::Common => 2,
        Place::Shared
        | Place::System
        | Place::Site
        | Place::Role
        | Place::RoleAtSite
        | Place::Node => 4,
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
            let first = dice.below(NAMES);
            for group in 0..place.groups() {
                // Neighbours in a file, and sometimes the same name in several files.
                let name = (first + group * 3) % NAMES;
                group_of(text, dice, parameter / KINDS.len(), name);
            }
            Ok(())
        }
        other => unreachable!("no such kind: {other}"),
    };
}

/// One section, rule or account.
fn group_of(text: &mut String, dice: &mut Dice, kind: usize, name: usize) {
    let word = WORDS[name % WORDS.len()];
    let number = dice.below(900);
    let _ = match kind {
        0 => {
            let _ = writeln!(text, "  {word}{name}:");
            let start = dice.below(WORDS.len());
            for at in 0..4 {
                let option = WORDS[(start + at) % WORDS.len()];
                let _ = writeln!(text, "    {option}: {}", dice.below(500));
            }
            Ok(())
        }
        1 => writeln!(
            text,
            "  '{name:03} {word}':\n    port: {}\n    proto: tcp\n    source: {}\n    action: accept",
            8000 + number,
            if number.is_multiple_of(9) {
                "\"%{facts.networking.ip}\"".to_string()
            } else {
                format!("10.{}.0.0/16", number % 250)
            }
        ),
        _ => writeln!(
            text,
            "  {word}{name}:\n    uid: {}\n    shell: /bin/bash\n    home: /home/{word}\n    groups: [adm, {}]",
            2000 + name,
            dice.one(&WORDS)
        ),
    };
}

/// Numbers of the parameters of the kind `settings`.
pub(super) fn settings() -> impl Iterator<Item = usize> {
    (0..KINDS.len() * SETTINGS.len()).filter(|parameter| kind(*parameter) == "settings")
}
