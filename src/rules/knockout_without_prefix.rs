//! `knockout-without-prefix`: an element looks like a knock-out, but no prefix is set.

use super::knockout::{Knockout, USUAL_PREFIX, has_text_at, knocking};
use super::{FileContext, Findings, Fix, Safety, entry};
use crate::edit::Mapping;
use crate::text::TextEdit;
use crate::workspace::{Format, KeyFact};

rule!("knockout-without-prefix", Warning, [Key(check)], WORKSPACE);

fn check(file: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    let Some(knocking) = knocking(file, key) else {
        return;
    };
    // The options of a call replace those in the data.
    if knocking.prefix.is_some() || file.snapshot().may_be_knocked_out_by_call(&key.name) {
        return;
    }
    let removed_from = |knockout: &Knockout| {
        let path = knockout.path.as_deref()?;
        let mut lower = knocking.lower.iter().map(|(lower, _)| *lower);
        lower.find(|lower| has_text_at(file, lower, &key.name, path, &knockout.target))
    };
    // Strings that start with dashes are usually options of programs, and a list that is not merged
    // has no knock-outs: they are only reported if lower levels have each of these elements.
    let strategy = knocking.strategy.as_deref();
    let strategy = strategy.filter(|strategy| *strategy != "first");
    let is_merged = |one: &&Knockout| one.is_topmost() || strategy == Some("deep");
    let merged = || knocking.knockouts.iter().filter(is_merged);
    if strategy.is_none() && !merged().all(|one| removed_from(one).is_some()) {
        return;
    }
    for knockout in merged() {
        let Some(lower) = removed_from(knockout) else {
            continue;
        };
        let how = match strategy {
            Some(strategy) => format!("is merged by '{strategy}' without a 'knockout_prefix'"),
            None => "is not merged and has no 'knockout_prefix'".to_owned(),
        };
        let finding = findings.report(
            knockout.range,
            format!(
                "'{}' {how}: '{}' of '{}' is not removed, and the knock-out itself is in the value",
                key.name,
                knockout.target,
                file.snapshot().short_name(lower.path())
            ),
        );
        if let Some(edit) = with_prefix(file, &key.name) {
            let title = format!("Set the 'knockout_prefix' of '{}'", key.name);
            finding.fixes.push(Fix::new(Safety::Unsafe, title, edit));
        }
    }
}

/// Sets the prefix in the file's own entry of `lookup_options` for a key, if that is merged deeply.
fn with_prefix(file: &FileContext<'_>, key: &str) -> Option<TextEdit> {
    let quote = match file.format() {
        Format::Yaml => "",
        Format::Json => "\"",
        Format::Hocon => return None,
    };
    let entries = file.lookup_options();
    let entry_of_key = entries.iter().find(|entry| entry.name == key)?;
    let options = entry_of_key.options.as_ref()?;
    let (_, merge) = entry(file.tree(), options.node, "merge")?;
    let id = merge;
    let merge = file.tree().node(merge);
    if merge.as_mapping().is_some() {
        let (_, strategy) = entry(file.tree(), id, "strategy")?;
        let is_deep = file.tree().scalar_text(strategy)?.as_ref() == "deep";
        let new = format!("{quote}knockout_prefix{quote}: \"{USUAL_PREFIX}\"");
        return Mapping::of(file.tree(), file.file.text(), id)
            .filter(|_| is_deep)?
            .with(&new);
    }
    let is_deep = merge
        .as_scalar()
        .is_some_and(|scalar| &*scalar.text == "deep");
    let written = merge.range.slice(file.file.text());
    let new = format!(
        "{{{quote}strategy{quote}: {written}, {quote}knockout_prefix{quote}: \"{USUAL_PREFIX}\"}}"
    );
    is_deep.then(|| TextEdit::replace(merge.range, new))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::marked::check_levels;

    #[test]
    fn a_prefix_is_put_where_merge_has_its_options() {
        let found = check_levels(
            RULE,
            "a: {l: [x], m: [y]}\nb: [x]\nc: [x]\n\
             #- data/high.yaml\nlookup_options:\n  a: {merge: {strategy: deep}}\n\
             \x20 b:\n    merge:\n      strategy: deep\n  c: {merge: {strategy: unique}}\n\
             a: {m: [--x], l: [--x]} #~ knockout-without-prefix\nb: [--x] #~ knockout-without-prefix\n\
             c: [--x] #~ knockout-without-prefix\n",
        );
        let fixes = found.iter().map(|finding| finding.fixes.first());
        let edits = fixes.map(|fix| fix.map_or("", |fix| &*fix.edits[0].new_text));
        assert_eq!(
            edits.collect::<Vec<_>>(),
            [
                ", knockout_prefix: \"--\"",
                "\n      knockout_prefix: \"--\"",
                ""
            ]
        );
    }

    #[test]
    fn a_call_may_give_the_prefix() {
        let silent = [
            "lookup('a', {merge => {strategy => deep, knockout_prefix => '--'}})",
            "lookup('a', {merge => $m})",
            "lookup('a.b', Array, {'strategy' => 'deep', 'knockout_prefix' => '--'})",
            "lookup('a', Array, $m)",
            "lookup('a', $options)",
            "lookup(['b', 'a'], undef, {strategy => deep, knockout_prefix => '--'})",
            "lookup({name => 'a', merge => {strategy => deep, knockout_prefix => '--'}})",
            "lookup($x, {merge => {strategy => deep, knockout_prefix => '--'}})",
            "lookup(\"${x}\", Array, {strategy => deep, knockout_prefix => '--'})",
            "$k = 'a'\nlookup($k, Array, {strategy => deep, knockout_prefix => '--'})",
            "lookup($x)",
        ];
        let reported = [
            "lookup('a', {merge => deep})",
            "lookup('a', Array, 'deep')",
            "lookup('a', Array[String], {strategy => deep, sort_merged_arrays => true})",
            "lookup('b', {merge => {strategy => deep, knockout_prefix => '--'}})",
            "$k = 'b'\nlookup($k, Array, {strategy => deep, knockout_prefix => '--'})",
            "lookup(\"b${x}\", Array, {strategy => deep, knockout_prefix => '--'})",
        ];
        for (call, mark) in silent
            .map(|it| (it, ""))
            .into_iter()
            .chain(reported.map(|it| (it, " #~ knockout-without-prefix")))
        {
            check_levels(
                RULE,
                &format!(
                    "a: [x]\n#- data/high.yaml\nlookup_options: {{a: {{merge: unique}}}}\n\
                     a: [--x]{mark}\n#- manifests/site.pp\n{call}\n"
                ),
            );
        }
    }

    #[test]
    fn options_of_programs_take_nothing_out_of_a_list_that_is_not_merged() {
        let found = check_levels(
            RULE,
            "a: [verbose]\nb: [x, y]\nc: [verbose]\n\
             #- data/high.yaml\nlookup_options: {c: {merge: unique}}\n\
             a: [--verbose, --quiet]\nb: [--x, z] #~ knockout-without-prefix\n\
             c: [--verbose, --quiet] #~ knockout-without-prefix\n",
        );
        assert!(
            found[0]
                .message
                .starts_with("'b' is not merged and has no 'knockout_prefix': 'x' of ")
        );
    }
}
