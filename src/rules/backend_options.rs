//! `backend-options`: a level has options that its function does not take.

use super::config_level::{levels, options};
use super::{FileContext, Findings, Fix, RootContext, Safety};
use crate::edit::Mapping;
use crate::hierarchy::FunctionKind;

rule!("backend-options", Error, [Configuration(check)]);

fn check(file: &FileContext<'_>, _: &RootContext<'_>, findings: &mut Findings<'_>) {
    let tree = file.tree();
    for level in levels(file) {
        let Some(function) = &level.function else {
            continue;
        };
        // A level without files fails for another reason.
        let reads_files = function.built_in() == Some(FunctionKind::DataHash)
            && function.kind == FunctionKind::DataHash
            && !level.spans.locations.is_empty();
        let Some((key, value)) = options(file, &level).filter(|_| reads_files) else {
            continue;
        };
        let is_hash = tree.node(tree.resolve(value)).as_mapping();
        if is_hash.is_some_and(|pairs| !pairs.is_empty()) && !findings.has(tree.node(key).range) {
            let finding = findings.report(
                tree.node(key).range,
                format!(
                    "'{}' takes no options: every lookup that reaches this level fails",
                    function.name
                ),
            );
            let pairs = tree.node(level.node).as_mapping().unwrap_or_default();
            // Options of `defaults` also apply to other levels: no fix.
            let own = pairs.iter().position(|(own, _)| *own == key);
            finding.fixes.extend(own.and_then(|at| {
                let edit = Mapping::of(tree, file.file.text(), level.node)?.without(at)?;
                Some(Fix::new(Safety::Unsafe, "Remove the options", edit))
            }));
        }
    }
}
