//! `interp-missing-key`: a token looks up a key that no data has.

use super::looked_up::{LookedUp, segments};
use super::{FileContext, Findings, Fix, Safety, Severity, TokenAt};
use crate::text::{TextEdit, typing_error};
use crate::workspace::LOOKUP_OPTIONS;

rule!("interp-missing-key", Hint, [Token(check)], WORKSPACE);

fn check(file: &FileContext<'_>, at: &TokenAt<'_>, findings: &mut Findings<'_>) {
    let Some(looked_up) = LookedUp::of(at) else {
        return;
    };
    let (root, checker) = (&*looked_up.root, file.checker);
    if root == LOOKUP_OPTIONS || checker.has_data(root) {
        return;
    }
    let dotted = &*looked_up.key.text;
    if checker.has_data(dotted) {
        findings.report_as(
            Severity::Warning,
            at.range,
            format!(
                "'{dotted}' is read as a part of the key '{root}', which no data has: Puppet puts an empty string there; quote the name where it is looked up"
            ),
        );
        return;
    }
    let is_whole = checker.has_all_data_for(file.readers(), root);
    let known = file.snapshot().key_names("").map(|name| &**name);
    let is_data = |name: &&str| checker.has_data(name);
    let suggestion = typing_error(root, known).filter(is_data);
    let Some(suggestion) = suggestion else {
        if is_whole {
            findings.report(
                at.range,
                format!(
                    "no data in this workspace has the key '{root}': unless data elsewhere sets it, Puppet \
                     puts an empty string there"
                ),
            );
        }
        return;
    };
    let severity = match is_whole {
        true => Severity::Warning,
        // Data outside the workspace may have it.
        false => Severity::Hint,
    };
    let finding = findings.report_as(
        severity,
        at.range,
        format!(
            "no data in this workspace has the key '{root}': Puppet puts an empty string there; did \
             you mean '{suggestion}'?"
        ),
    );
    let start = segments(at).into_iter().next().map(|(_, range)| range);
    if let Some(range) = start.filter(|range| range.slice(at.text) == root) {
        let edit = TextEdit::replace(file.places(at.node).source_range(range), suggestion);
        let title = format!("Look up '{suggestion}'");
        finding.fixes.push(Fix::new(Safety::Unsafe, title, edit));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::marked::check_rule;

    #[test]
    fn a_function_of_a_module_gives_data_only_for_keys_of_that_module() {
        let found = check_rule(
            RULE,
            "#- hiera.yaml\nversion: 5\nhierarchy: [{name: c, path: common.yaml}]\n#- data/common.yaml\n\
             site::name: x\na: \"%{lookup('site::nam')}\" #~ interp-missing-key\n\
             b: \"%{lookup('stock::rack')}\"\n#- modules/stock/hiera.yaml\nversion: 5\n\
             hierarchy: [{name: f, data_hash: stock::ask}]\n#- modules/stock/metadata.json\n{}\n\
             #- manifests/site.pp\n",
        );
        assert_eq!(found[0].severity, crate::rules::Severity::Warning);
    }
}
