//! `lookup-options-regex-no-match`: a pattern of 'lookup_options' matches no key of the workspace.

use super::option_list::literal_start;
use super::{FileContext, Findings, OptionAt};
use crate::workspace::LOOKUP_OPTIONS;

rule!(
    "lookup-options-regex-no-match",
    Hint,
    [Option(check)],
    WORKSPACE
);

fn check(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    // Another rule reports a module's patterns for keys of others.
    let foreign = file.readers().iter().all(|reader| {
        let prefix = reader
            .layer()
            .module_name()
            .map(|module| format!("^{module}::"));
        prefix.is_some_and(|prefix| !at.name.starts_with(&prefix))
    });
    if !at.name.starts_with('^') || foreign {
        return;
    }
    let Ok(pattern) = file.checker.pattern(at.name) else {
        return;
    };
    let Some(reader) = file.readers().first() else {
        return;
    };
    // A pattern that exceeds the limit of steps may match.
    let matches = |key: &str| key != LOOKUP_OPTIONS && pattern.is_match(key).unwrap_or(true);
    let find = || {
        let mut names = file.snapshot().key_names(literal_start(at.name));
        let name = names.find(|key| matches(key) && file.checker.has_data(key));
        name.cloned()
    };
    let checker = file.checker;
    let nodes = checker.known_nodes(reader.root.root);
    let nodes = nodes.map_or(0, |nodes| nodes.known.id());
    let kept = &checker.kept;
    let matched = kept.matched(file.snapshot(), nodes, (at.name, &pattern), find);
    if matched.is_some() {
        return;
    }
    if file.checker.has_all_data(file.readers()) {
        findings.report(
            at.key,
            format!("no key in the data of this workspace matches '{}'", at.name),
        );
    }
}
