//! `bad-strategy`: a merge strategy does not exist.

use super::{FileContext, Findings, OptionAt, Safety, entry};
use crate::lookup::{Cause, STRATEGIES};
use crate::text::{TextRange, typing_error};

rule!("bad-strategy", Error, [Option(check)]);

fn check(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    let Some(refused) = at.refused_merge(file.tree()) else {
        return;
    };
    if matches!(refused.cause, Cause::MergeOptions(_)) {
        return;
    }
    let finding = findings.report(refused.range, refused.message);
    if let Cause::UnknownStrategy(name) = &refused.cause
        && let Some(suggestion) = suggestion(name)
    {
        finding.suggest(Safety::Unsafe, named(file, at), suggestion);
    }
}

/// The strategy to suggest for an unknown name.
fn suggestion(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    match &*name {
        // Names in Hiera 3.
        "array" => Some("unique"),
        "deeper" => Some("deep"),
        name if STRATEGIES.contains(&name) => STRATEGIES.into_iter().find(|known| *known == name),
        name => match STRATEGIES.into_iter().find(|known| known.starts_with(name)) {
            Some(known) if name.len() > 2 => Some(known),
            _ => typing_error(name, STRATEGIES.into_iter()),
        },
    }
}

/// The range of the strategy's name.
fn named(file: &FileContext<'_>, at: &OptionAt<'_>) -> Option<TextRange> {
    let tree = file.tree();
    let (_, merge) = entry(tree, at.options.as_ref()?.node, "merge")?;
    let name = match entry(tree, merge, "strategy") {
        Some((_, strategy)) => strategy,
        None => merge,
    };
    let node = tree.node(name);
    file.name_in(node.range, &node.as_scalar()?.text)
}

#[cfg(test)]
mod tests {
    use super::suggestion;

    #[test]
    fn names_that_are_nearly_a_strategy() {
        for (name, expected) in [
            ("array", Some("unique")),
            ("deeper", Some("deep")),
            ("Deep", Some("deep")),
            ("uniq", Some("unique")),
            ("unqiue", Some("unique")),
            ("native", None),
            ("h", None),
        ] {
            assert_eq!(suggestion(name), expected, "{name}");
        }
    }
}
