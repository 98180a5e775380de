//! `lookup-options-no-effect`: an entry of 'lookup_options' has no effect: no key has its name, or
//! another pattern takes precedence for all of its keys.

use super::knockout::lower_files;
use super::option_list::ListedOption;
use super::option_list::literal_start;
use super::{FileContext, Findings, Fix, OptionAt, Related, Safety};
use crate::analysis::split_key;
use crate::syntax::NodeId;
use crate::text::typing_error;
use crate::workspace::{KeyFact, LOOKUP_OPTIONS};

/// Maximum number of files with entries that are compared with a pattern.
const MAX_FILES: usize = 64;

rule!(
    "lookup-options-no-effect",
    Warning,
    [Option(check), Key(check_key)],
    WORKSPACE
);

/// Reports a key that is similar to `lookup_options` and has options in it.
fn check_key(file: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    if typing_error(&key.name, [LOOKUP_OPTIONS].into_iter()).is_none() {
        return;
    }
    let Some((_, value)) = file.top_level(&key.name) else {
        return;
    };
    let tree = file.tree();
    let pairs = |id| tree.node(tree.resolve(id)).as_mapping();
    let is_option = |&(name, _): &(NodeId, NodeId)| {
        let name = tree.scalar_text(name).map(|name| &**name);
        matches!(name, Some("merge" | "convert_to"))
    };
    let has_options = |&(_, options): &(NodeId, NodeId)| {
        let options = pairs(options);
        options.is_some_and(|options| options.iter().any(is_option))
    };
    if !pairs(value).unwrap_or_default().iter().any(has_options) {
        return;
    }
    let finding = findings.report(
        key.key,
        format!(
            "'{}' is a key like any other: these options do nothing",
            key.name
        ),
    );
    finding.did_you_mean(LOOKUP_OPTIONS);
    if let Some(range) = file.name_in(key.key, &key.name) {
        let fix = Fix::write(Safety::Unsafe, range, LOOKUP_OPTIONS);
        finding.fixes.push(fix.renaming(key.key, LOOKUP_OPTIONS));
    }
}

fn check(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    if at.name.starts_with('^') {
        check_pattern(file, at, findings)
    } else {
        check_name(file, at, findings)
    }
}

/// Reports a name that no data has, if a similar key exists and has no options.
fn check_name(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'-');
    if !at.name.bytes().all(is_name)
        || file.snapshot().count_with(at.name) > 0
        || !file.checker.has_all_data_for(file.readers(), at.name)
        || is_known_otherwise(file, at.name)
    {
        return;
    }
    let checker = file.checker;
    let names = file.snapshot().key_names("").map(|name| &**name);
    // Another rule reports a module's entries for keys of others.
    let suggestion = typing_error(at.name, names).filter(|_| !file.is_foreign(at.name));
    let Some(suggestion) = suggestion else {
        return;
    };
    let has_data = checker.has_data(suggestion);
    if suggestion == LOOKUP_OPTIONS || !has_data || checker.options_for(suggestion).next().is_some()
    {
        return;
    }
    let finding = findings.report(
        at.key,
        format!(
            "no data of this workspace has the key '{}': these options do nothing",
            at.name
        ),
    );
    finding.suggest(Safety::Unsafe, file.name_in(at.key, at.name), suggestion);
}

/// Whether manifests look a key up by its name, or have such a parameter.
fn is_known_otherwise(file: &FileContext<'_>, name: &str) -> bool {
    if file.snapshot().files_looking_up(name).next().is_some() {
        return true;
    }
    let Some((class, parameter)) = split_key(name) else {
        return false;
    };
    let analysis = file.checker.analysis();
    let mut roots = file.readers().iter().map(|reader| reader.root.root);
    roots.any(|root| {
        let class = analysis.autoloaded(root, class);
        class.is_some_and(|class| class.parameter(parameter).is_some())
    })
}

/// Reports a pattern if an earlier one matches all of its keys. The first pattern that matches is
/// used, in the order of the merged options: those of lower levels come first
/// (`pops/lookup/lookup_adapter.rb`, `pops/merge_strategy.rb`).
fn check_pattern(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    let [reader] = file.readers() else {
        return;
    };
    let options = at.options.as_ref();
    let Some(options) = options.filter(|it| it.value.as_hash().is_some()) else {
        return;
    };
    let checker = file.checker;
    let entries = || checker.all_options().iter();
    // The same pattern in another file may change its position.
    if entries().any(|entry| *entry.name == *at.name && entry.path != *file.file.path())
        || file.snapshot().count_with(LOOKUP_OPTIONS) > MAX_FILES
    {
        return;
    }
    let (lower, _) = lower_files(file, reader, LOOKUP_OPTIONS);
    let is_before = |entry: &&ListedOption| {
        let is_above = entry.path == *file.file.path() && entry.range.start < at.key.start;
        let is_always_lower = lower
            .iter()
            .any(|(lower, is_always)| *is_always && *lower.path() == entry.path);
        entry.is_pattern()
            && *entry.name != *at.name
            && entry.value != *options.value
            && (is_above || is_always_lower)
    };
    let mut before = entries().filter(is_before).peekable();
    let Ok(pattern) = checker.pattern(at.name) else {
        return;
    };
    if before.peek().is_none() {
        return;
    }
    // A pattern that exceeds the limit of steps may match.
    let names = file.snapshot().key_names(literal_start(at.name));
    let matched = names.filter(|key| pattern.is_match(key).unwrap_or(true));
    let matched: Vec<&str> = matched
        .map(|key| &**key)
        .filter(|key| *key != LOOKUP_OPTIONS && checker.has_data(key))
        .collect();
    let is_complete = checker.has_all_data(file.readers());
    // If both match the same keys, the later one may be for future keys.
    let has_more = |entry: &ListedOption| {
        let mut others = file.snapshot().key_names(literal_start(&entry.name));
        others.any(|key| {
            **key != *LOOKUP_OPTIONS
                && entry.is_certainly_for(key)
                && !pattern.is_match(key).unwrap_or(true)
                && checker.has_data(key)
        })
    };
    let takes_all = |entry: &&ListedOption| {
        let has_all = || matched.iter().all(|key| entry.is_certainly_for(key));
        let takes = begins_as(&entry.name, at.name) || is_complete && has_all() && has_more(entry);
        !matched.is_empty() && takes
    };
    let Some(first) = before.find(takes_all) else {
        return;
    };
    let finding = findings.report(
        at.key,
        format!(
            "'{}' comes first and is for every key that this pattern matches, so these options are never used",
            first.name
        ),
    );
    finding.related = vec![Related {
        path: first.path.clone(),
        range: first.range,
        message: "used instead".to_owned(),
    }];
}

/// Whether every match of a pattern starts with the literal text that another pattern consists of.
fn begins_as(before: &str, pattern: &str) -> bool {
    let letters = literal_start(before);
    before.strip_prefix('^') == Some(letters) && literal_start(pattern).starts_with(letters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::marked::found;
    use crate::text::TextRange;

    const TWO: &str = "#- hiera.yaml\nversion: 5\nhierarchy:\n  - {name: High, path: high.yaml}\n  - {name: \
                       Low, path: low.yaml}\n";

    /// The lines of `data/high.yaml` with a finding.
    fn check(high: &str, rest: &str) -> Vec<usize> {
        let text = format!("{high}{TWO}#- data/low.yaml\nz: 1\n{rest}");
        let found = found(RULE, "data/high.yaml", &text).into_iter();
        let line = |at: TextRange| 1 + high[..at.start as usize].matches('\n').count();
        found.map(|finding| line(finding.range)).collect()
    }

    #[test]
    fn names_that_nearly_are_keys() {
        let high =
            |keys: &str| format!("lookup_options:\n  web::prots: {{merge: deep}}\n{keys}a: 1\n");
        assert_eq!(check(&high("web::ports: [1]\n"), ""), [2]);
        assert!(check(&high("web::hosts: [1]\n"), "").is_empty());
        assert!(check(&high("web::ports: [1]\n"), "web::prots: [2]\n").is_empty());
        // The other key has its own options.
        let both = high("  web::ports: {merge: unique}\nweb::ports: [1]\n");
        assert!(check(&both, "").is_empty());
        let class = "#- modules/web/manifests/init.pp\nclass web(Array $prots) { }\n";
        assert!(check(&high("web::ports: [1]\n"), class).is_empty());
    }

    #[test]
    fn the_first_pattern_of_the_merged_options_applies() {
        let high = |options: &str| format!("lookup_options:\n{options}a::b: [1]\na::c: [1]\n");
        let deep = "  '^a::': {merge: deep}\n";
        let unique = "  '^a::b': {merge: unique}\n";
        assert_eq!(check(&high(&format!("{deep}{unique}")), ""), [3]);
        assert!(check(&high(&format!("{unique}{deep}")), "").is_empty());
        // Options of a lower level come first.
        let low = format!("lookup_options:\n{deep}");
        assert_eq!(check(&high(unique), &low), [2]);
        let low = format!("lookup_options:\n{unique}");
        assert!(check(&high(&format!("{deep}{unique}")), &low).is_empty());
        let same = "  '^a::b': {merge: deep}\n";
        assert!(check(&high(&format!("{deep}{same}")), "").is_empty());
        let part = "  '^a::(b|x)$': {merge: hash}\n  '^a::.*': {merge: deep}\n";
        assert!(check(&high(part), "").is_empty());
        let whole = "  '^a::(b|c)$': {merge: hash}\n  '^a::.$': {merge: deep}\n";
        assert!(check(&high(whole), "").is_empty());
        let special = "  '^a::.$': {merge: deep}\n  '^a::(b|x)$': {merge: hash}\n";
        assert_eq!(check(&high(special), ""), [3]);
    }
}
