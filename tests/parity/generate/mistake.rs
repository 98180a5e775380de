//! Mistakes in `hiera.yaml`, each in a form that Puppet refuses or ignores.

use super::dice::Dice;
use super::doc::{Doc, map, plain, quoted};

/// Gives an entry the name of another in the same hierarchy, if it has two named entries.
fn name_twice(dice: &mut Dice, top: &mut [(Doc, Doc)]) -> bool {
    let is_hierarchy = |(key, _): &&mut (Doc, Doc)| {
        ["hierarchy", "default_hierarchy"].contains(&super::doc::text_of(key).as_str())
    };
    for (_, hierarchy) in top.iter_mut().rev().filter(is_hierarchy) {
        let Doc::Seq(entries) = hierarchy else {
            continue;
        };
        let mut names: Vec<&mut Doc> = entries
            .iter_mut()
            .filter_map(entry_of)
            .flat_map(|entry| entry.iter_mut())
            .filter(|(key, _)| super::doc::text_of(key) == "name")
            .map(|(_, name)| name)
            .collect();
        if names.len() < 2 || dice.chance(30) {
            continue;
        }
        let from = dice.below(names.len());
        let to = (from + dice.between(1, names.len() - 1)) % names.len();
        *names[to] = names[from].clone();
        dice.mark("hiera.yaml: duplicate level");
        return true;
    }
    false
}

/// Adds one of the mistakes that Puppet reports to a configuration.
pub fn mistake(dice: &mut Dice, doc: &mut Doc) {
    let Doc::Map(top) = doc else { return };
    if dice.chance(15) && name_twice(dice, top) {
        return;
    }
    let entries = top
        .iter_mut()
        .find(|(k, _)| super::doc::text_of(k) == "hierarchy")
        .map(|(_, v)| v);
    let entry = match entries {
        Some(Doc::Seq(list)) if !list.is_empty() => {
            let at = dice.below(list.len());
            entry_of(&mut list[at])
        }
        _ => None,
    };
    let flow = |items: &[&str]| {
        Doc::Flow(Box::new(Doc::Seq(
            items.iter().map(|t| plain(*t)).collect(),
        )))
    };
    if let Some(entry) = entry
        && dice.chance(70)
    {
        let mut set = |key: &str, value: Doc| {
            let token = super::doc::text_of(&value).contains("%{");
            entry.retain(|(k, _)| {
                let name = super::doc::text_of(k);
                // Two locations would be the reported mistake.
                name != key && !(token && LOCATIONS.contains(&name.as_str()))
            });
            entry.push((plain(key), value));
        };
        if dice.chance(50) {
            dice.mark("hiera.yaml: structure error in an entry");
            match dice.below(15) {
                0 => set("bogus", plain("1")),
                1 => entry.retain(|(k, _)| super::doc::text_of(k) != "name"),
                2 => set("name", plain("5")),
                3 => set("path", flow(&["a", "b"])),
                4 => set("path", plain("~")),
                5 => set("path", quoted("")),
                6 => set("paths", plain("x")),
                7 => set("paths", flow(&[])),
                8 => set("mapped_paths", flow(&["a", "b"])),
                9 => set("options", flow(&["1"])),
                10 => set("options", map([("1a", plain("x"))])),
                11 => set("datadir", plain("5")),
                12 => set("globs", flow(&["1"])),
                13 => set("data_hash", plain("~")),
                _ => set("uri", plain("true")),
            }
        } else {
            dice.mark("hiera.yaml: semantic error in an entry");
            match dice.below(12) {
                0 => {
                    set("data_hash", plain("yaml_data"));
                    set("lookup_key", plain("eyaml_lookup_key"));
                }
                1 => {
                    set("path", plain("a.yaml"));
                    set("glob", quoted("*.yaml"));
                }
                2 => set("options", map([("path", plain("x"))])),
                3 => set("options", map([("uri", plain("x"))])),
                4 => set("hiera3_backend", plain("nosuch")),
                5 => set("hiera3_backend", plain("yaml")),
                6 => set("path", quoted("%{lookup('role')}.yaml")),
                7 => set("data_hash", plain("nofn")),
                8 => set("data_hash", plain("nomod::fn")),
                9 => set("options", map([("anything", plain("1"))])),
                10 => set("path", quoted("%{literal('x')}.yaml")),
                _ => set("lookup_key", plain("yaml_data")),
            }
        }
        return;
    }
    dice.mark("hiera.yaml: error at the top");
    let mut set = |key: &str, value: Doc| {
        top.retain(|(k, _)| super::doc::text_of(k) != key);
        top.push((plain(key), value));
    };
    match dice.below(14) {
        0 => set("foo", plain("1")),
        1 => set("version", quoted("5")),
        2 => set("version", plain("5.0")),
        3 => set("version", plain("6")),
        4 => set("version", plain("~")),
        5 => set("hierarchy", Doc::Flow(Box::new(Doc::Map(vec![])))),
        6 => set("hierarchy", flow(&["x"])),
        7 => set("hierarchy", plain("x")),
        8 => set("defaults", plain("x")),
        9 => set(
            "defaults",
            map([("path", plain("x")), ("data_hash", plain("yaml_data"))]),
        ),
        10 => set(
            "defaults",
            map([
                ("lookup_key", plain("x")),
                ("data_hash", plain("yaml_data")),
            ]),
        ),
        11 => set("default_hierarchy", Doc::Flow(Box::new(Doc::Seq(vec![])))),
        12 => set("plan_hierarchy", flow(&["x"])),
        _ => set("defaults", map([("options", map([("path", plain("x"))]))])),
    }
}

const LOCATIONS: [&str; 7] = [
    "path",
    "paths",
    "glob",
    "globs",
    "mapped_paths",
    "uri",
    "uris",
];

/// The pairs of a hierarchy's entry, in block or in flow style.
fn entry_of(doc: &mut Doc) -> Option<&mut Vec<(Doc, Doc)>> {
    match doc {
        Doc::Map(entry) => Some(entry),
        Doc::Flow(inner) => match &mut **inner {
            Doc::Map(entry) => Some(entry),
            _ => None,
        },
        _ => None,
    }
}
