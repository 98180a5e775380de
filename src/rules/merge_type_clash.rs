//! `merge-type-clash`: values cannot be merged by the strategy in 'lookup_options'.

use super::option_list::strategy;
use super::{FileContext, Findings, OptionAt};
use crate::analysis::quoted;
use crate::lookup::{Cause, LookupError, Reach, Request, Subject};
use crate::workspace::ValueKind;

/// Maximum number of files with the key; keys in more files are not looked up.
const MAX_FILES: usize = 64;

rule!("merge-type-clash", Error, [Option(check)], WORKSPACE);

fn check(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    let options = at.options.as_ref();
    let is_unfit: fn(ValueKind) -> bool = match options.and_then(|it| strategy(it.value)) {
        Some("hash") => |kind| kind != ValueKind::Hash,
        Some("unique") => {
            |kind| matches!(kind, ValueKind::Hash | ValueKind::Open | ValueKind::Other)
        }
        Some(_) | None => return,
    };
    let snapshot = file.snapshot();
    if !(2..=MAX_FILES).contains(&snapshot.count_with(at.name)) {
        return;
    }
    let mut facts = snapshot.iter_files_with(at.name).map(|file| file.facts());
    if !facts.any(|facts| facts.key(at.name).is_none_or(|fact| is_unfit(fact.kind))) {
        return;
    }
    let request = Request::key(&quoted(at.name));
    for reader in file.readers() {
        let view = file.checker.analysis().at(reader.root.root);
        let Some(own) = reader.reached().first() else {
            continue;
        };
        let fails = |reach: &Reach| {
            let answer = view.session().lookup(&reach.scope(), &request);
            clash(&answer.result.err()?)
        };
        if let Some(message) = fails(own) {
            findings.report(at.key, format!("{message}: Puppet fails on '{}'", at.name));
            return;
        }
        // Nodes that read another file with the key also read this one, if its path binds all
        // variables of this one's path.
        let failing = snapshot.iter_files_with(at.name).find_map(|other| {
            let mut reached = view.reach(other.path()).into_iter();
            let message = reached.find_map(|reach| {
                let mut bound = own.bindings.iter();
                let is_for_all = bound.all(|known| reach.bindings.contains(known));
                fails(&reach).filter(|_| is_for_all)
            })?;
            Some((other, message))
        });
        if let Some((other, message)) = failing {
            let name = snapshot.short_name(other.path());
            findings.report(
                at.key,
                format!(
                    "{message}: Puppet fails on '{}' for every node that reads '{name}'",
                    at.name
                ),
            );
            return;
        }
    }
}

/// Puppet's message, if values do not fit the strategy.
fn clash(error: &LookupError) -> Option<String> {
    let cause = &error.innermost().cause;
    let Cause::WrongType { subject, .. } = cause else {
        return None;
    };
    match subject {
        Subject::FirstOfMerge | Subject::SecondOfMerge => Some(cause.words()),
        Subject::Other(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::marked::check_rule;

    #[test]
    fn values_that_only_some_nodes_read_may_not_fit() {
        check_rule(
            RULE,
            "#- hiera.yaml\nversion: 5\nhierarchy:\n\
             \x20 - {name: role, path: 'role/%{facts.role}.yaml'}\n  - {name: c, path: common.yaml}\n\
             #- data/role/web.yaml\nl: {a: 1}\nm: [1]\n\
             #- data/common.yaml\nl: [1]\nm: [2]\n\
             lookup_options:\n  l: {merge: hash} #~ merge-type-clash\n  m: {merge: unique}\n",
        );
    }
}
