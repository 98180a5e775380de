//! `bad-merge-option`: a merge strategy has an option that it does not take.

use super::{FileContext, Findings, Fix, OptionAt, Safety, entry};
use crate::lookup::{Cause, MERGE_OPTIONS};
use crate::text::{TextRange, typing_error};

rule!("bad-merge-option", Error, [Option(check)]);

fn check(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    let Some(refused) = at.refused_merge(file.tree()) else {
        return;
    };
    if !matches!(refused.cause, Cause::MergeOptions(_)) {
        return;
    }
    let finding = findings.report(refused.range, refused.message);
    for (key, suggestion) in misspelt(file, at) {
        finding.did_you_mean(suggestion);
        let fix = Fix::write(Safety::Unsafe, key, suggestion);
        finding.fixes.push(fix.renaming(key, suggestion));
    }
}

/// Misspelt options of a deep merge, each with the suggested option.
fn misspelt(file: &FileContext<'_>, at: &OptionAt<'_>) -> Vec<(TextRange, &'static str)> {
    let [_, of_deep @ ..] = MERGE_OPTIONS;
    let tree = file.tree();
    let merge = at.options.as_ref().and_then(|options| {
        let (_, merge) = entry(tree, options.node, "merge")?;
        let (_, strategy) = entry(tree, merge, "strategy")?;
        let is_deep = **tree.scalar_text(strategy)? == *"deep";
        tree.node(merge).as_mapping().filter(|_| is_deep)
    });
    let names = merge.unwrap_or_default().iter().filter_map(|(key, _)| {
        let node = tree.node(*key);
        let name = &*node.as_scalar()?.text;
        if MERGE_OPTIONS.contains(&name) {
            return None;
        }
        let begins = of_deep.into_iter().find(|known| known.starts_with(name));
        let begins = begins.filter(|_| name.len() > 3);
        let suggestion = begins.or_else(|| typing_error(name, of_deep.into_iter()))?;
        let is_plain = node.range.len() == name.len();
        is_plain.then_some((node.range, suggestion))
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::marked::check_levels;

    #[test]
    fn an_option_that_is_nearly_one_is_corrected() {
        let found = check_levels(
            RULE,
            "a: [1]\nlookup_options:\n\
             \x20 a: {merge: {strategy: deep, knockout: x}} #~ bad-merge-option\n\
             \x20 b: {merge: {strategy: deep, sort_merge_arrays: true}} #~ bad-merge-option\n\
             \x20 c: {merge: {strategy: deep, other: true}} #~ bad-merge-option\n\
             \x20 d: {merge: {strategy: unique, knockout: x}} #~ bad-merge-option\n",
        );
        let titles = found.iter().flat_map(|finding| &finding.fixes);
        let titles: Vec<&str> = titles.map(|fix| &*fix.title).collect();
        assert_eq!(
            titles,
            ["Write 'knockout_prefix'", "Write 'sort_merged_arrays'"]
        );
    }
}
