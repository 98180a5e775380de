//! `lookup-options-unknown-option`: an entry of 'lookup_options' has an option that does not exist.

use super::context::KeyOptions;
use super::{FileContext, Findings, Fix, OptionAt, Safety, entry};
use crate::edit::{Mapping, entry_range};
use crate::lookup::{MERGE_OPTIONS, Strategy};
use crate::syntax::NodeId;
use crate::text::{TextEdit, typing_error};
use crate::value::{StrKey, Value, load_yaml};
use crate::workspace::Format;

rule!("lookup-options-unknown-option", Warning, [Option(check)]);

fn check(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    let Some(options) = &at.options else { return };
    let Some(hash) = options.value.as_hash() else {
        return;
    };
    for key in hash.keys() {
        let Some(name) = key.as_str() else { continue };
        if matches!(name, "merge" | "convert_to") || name.contains("%{") {
            continue;
        }
        let range = entry(file.tree(), options.node, name)
            .map_or(options.range, |(key, _)| file.tree().node(key).range);
        if MERGE_OPTIONS.contains(&name) {
            let message =
                format!("option '{name}' is next to 'merge' and is ignored: move it under 'merge'");
            let finding = findings.report(range, message);
            let edits = match moved(file, options) {
                Some(edit) => Some(vec![edit]),
                None => moved_into(file, options, name),
            };
            let title = "Move it under 'merge'";
            let fix = edits.map(|edits| Fix::with_edits(Safety::Unsafe, title, edits));
            finding.fixes.extend(fix);
            continue;
        }
        let finding = findings.report(
            range,
            format!(
                "there is no option '{name}', it is ignored: there are 'merge' and 'convert_to'"
            ),
        );
        let suggestion = typing_error(name, ["merge", "convert_to"].into_iter());
        if let Some(suggestion) = suggestion {
            let title = format!("Write '{suggestion}'");
            let fix = file.renamed(range, (name, suggestion), title);
            finding.fixes.extend(fix);
        }
    }
}

/// Moves one option of a merge strategy into the hash of `merge`. `None` if there is no hash, or if
/// Puppet would refuse the result.
fn moved_into(
    file: &FileContext<'_>,
    options: &KeyOptions<'_>,
    name: &str,
) -> Option<Vec<TextEdit>> {
    let (tree, text) = (file.tree(), file.file.text());
    let (_, merge) = entry(tree, options.node, "merge")?;
    let pairs = tree.node(options.node).as_mapping()?;
    let is_named = |id: NodeId| tree.scalar_text(id).is_some_and(|text| **text == *name);
    let at = pairs.iter().position(|(key, _)| is_named(*key))?;
    let mut hash = options.value.get("merge")?.as_hash()?.clone();
    if hash.contains_key(&StrKey(name)) {
        return None;
    }
    hash.insert(Value::from(name), options.value.get(name)?.clone());
    let written = entry_range(tree, pairs[at]).slice(text);
    if Strategy::refusal(&Value::from(hash)).is_some() || written.contains('\n') {
        return None;
    }
    let added = Mapping::of(tree, text, merge)?.with(written)?;
    let removed = Mapping::of(tree, text, options.node)?.without(at)?;
    Some(vec![added, removed])
}

/// Moves the options of a merge strategy under `merge`. `None` if there are comments between them,
/// if `merge` is already a hash, or if Puppet would refuse the result.
fn moved(file: &FileContext<'_>, options: &KeyOptions<'_>) -> Option<TextEdit> {
    let (tree, text) = (file.tree(), file.file.text());
    let node = tree.node(options.node);
    let pairs = node.as_mapping()?;
    let quote = match file.format() {
        Format::Yaml => "",
        Format::Json => "\"",
        Format::Hocon => return None,
    };
    let name = |at: usize| tree.scalar_text(pairs[at].0).map_or("", |name| &**name);
    let value = |at: usize| tree.node(pairs[at].1).full_range().slice(text);
    let range = |at: usize| {
        let (key, value) = pairs[at];
        tree.node(key).range.cover(tree.node(value).full_range())
    };
    let all = 0..pairs.len();
    let merge = all.clone().find(|&at| name(at) == "merge");
    if merge.is_some_and(|at| tree.node(pairs[at].1).as_scalar().is_none()) {
        return None;
    }
    let strategy = all.clone().find(|&at| name(at) == "strategy").or(merge)?;
    let mut under = vec![format!("{quote}strategy{quote}: {}", value(strategy))];
    let is_moved = |at: usize| MERGE_OPTIONS.contains(&name(at));
    let others = all.clone().filter(|&at| is_moved(at) && at != strategy);
    under.extend(others.map(|at| range(at).slice(text).to_owned()));
    let under = format!("{{{}}}", under.join(", "));
    let refusal = load_yaml(under.as_bytes())
        .ok()
        .as_ref()
        .map(Strategy::refusal);
    if under.contains('\n') || refusal.is_none_or(|refusal| refusal.is_some()) {
        return None;
    }
    let mut gaps = all.clone().skip(1).map(|at| {
        let (before, behind) = (range(at - 1).end as usize, range(at).start as usize);
        &text[before..behind]
    });
    let gap = gaps.next().unwrap_or_default();
    if gap.contains('#') || gaps.any(|other| other != gap) {
        return None;
    }
    let place = merge.or_else(|| all.clone().find(|&at| is_moved(at)))?;
    let kept = all.clone().filter(|&at| at == place || !is_moved(at));
    let kept = kept.map(|at| {
        if at == place {
            format!("{quote}merge{quote}: {under}")
        } else {
            range(at).slice(text).to_owned()
        }
    });
    let new = kept.collect::<Vec<String>>().join(gap);
    let first = range(0);
    Some(TextEdit::replace(first.cover(range(pairs.len() - 1)), new))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::marked::{ONE_LEVEL, found};
    use crate::text::TextEdit;

    /// The options of `k` after the first fix.
    fn moved(options: &str) -> Option<String> {
        let data = format!("k: [a]\nlookup_options:\n{options}");
        let text = format!("{data}{ONE_LEVEL}");
        let found = found(RULE, "data/common.yaml", &text);
        let fix = found.iter().find_map(|finding| finding.fixes.first())?;
        let after = TextEdit::apply(&fix.edits, &data)?;
        Some(after.strip_prefix("k: [a]\nlookup_options:\n")?.to_owned())
    }

    #[test]
    fn an_option_moves_into_the_hash_of_merge() {
        for (before, after) in [
            (
                "  k: {merge: {strategy: deep}, knockout_prefix: '--'}\n",
                Some("  k: {merge: {strategy: deep, knockout_prefix: '--'}}\n"),
            ),
            (
                "  k: {knockout_prefix: '--', merge: {strategy: deep}}\n",
                Some("  k: {merge: {strategy: deep, knockout_prefix: '--'}}\n"),
            ),
            (
                "  k:\n    merge:\n      strategy: deep # x\n    knockout_prefix: '--'\n",
                Some("  k:\n    merge:\n      strategy: deep # x\n      knockout_prefix: '--'\n"),
            ),
            (
                "  k: {merge: {strategy: unique}, knockout_prefix: '--'}\n",
                None,
            ),
            (
                "  k: {merge: {strategy: deep, knockout_prefix: x}, knockout_prefix: '--'}\n",
                None,
            ),
        ] {
            assert_eq!(moved(before).as_deref(), after);
        }
    }
}
