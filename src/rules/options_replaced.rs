//! `options-replaced`: the options of a level replace all of those of 'defaults'.

use super::config_level::levels;
use super::context::entry;
use super::{FileContext, Findings, RootContext};

rule!("options-replaced", Information, [Configuration(check)]);

fn check(file: &FileContext<'_>, _: &RootContext<'_>, findings: &mut Findings<'_>) {
    let tree = file.tree();
    let defaults = tree
        .root()
        .and_then(|root| entry(tree, root, "defaults"))
        .and_then(|(_, defaults)| entry(tree, defaults, "options"));
    let Some((_, defaults)) = defaults else {
        return;
    };
    let Some(set) = tree.node(tree.resolve(defaults)).as_mapping() else {
        return;
    };
    for level in levels(file) {
        // A function of the level's own needs other options.
        let is_own = level.function.is_some_and(|function| function.is_own);
        let own = entry(tree, level.node, "options");
        let Some((key, options)) = own.filter(|_| !is_own) else {
            continue;
        };
        let names = set.iter().filter_map(|(key, _)| tree.scalar_text(*key));
        let lost: Vec<String> = names
            .filter(|name| entry(tree, options, name).is_none())
            .map(|name| format!("'{name}'"))
            .collect();
        if !lost.is_empty() {
            findings.report(
                tree.node(key).range,
                format!(
                    "options of a level replace those of 'defaults', they are not merged: this level has no {}",
                    lost.join(", ")
                ),
            );
        }
    }
}
