//! `interp-missing-subkey`: a token digs for a part that a fact or a value does not have.

use super::looked_up::{Held, held, segments};
use super::variables::{
    files_of_custom_facts, files_with_variables, missing_part, report_missing, variable,
};
use super::{FileContext, Findings, Safety, Severity, TokenAt};
use crate::interpolation::Segment;
use crate::text::typing_error;

rule!(
    "interp-missing-subkey",
    Hint,
    [Token(check)],
    WORKSPACE,
    files: files_of_custom_facts,
    files_of_nodes: files_with_variables,
);

fn check(file: &FileContext<'_>, at: &TokenAt<'_>, findings: &mut Findings<'_>) {
    if let Some((path, place)) = variable(at) {
        let missing = missing_part(file.snapshot(), path);
        if let Some(missing) = missing.filter(|it| !file.some_node_has(it, path)) {
            let place = file.places(at.node).source_range(place);
            report_missing(&missing, path, (at.range, place), "there", findings);
        }
        return;
    }
    let Some((looked_up, Held::NoPart { segment, names })) = held(file, at) else {
        return;
    };
    // Another rule reports numbers that do not match a string key.
    if matches!(segment, Segment::Index(_)) && names.contains(&*segment.to_string()) {
        return;
    }
    let suggestion = segment
        .as_name()
        .and_then(|name| typing_error(name, names.iter().map(|name| &**name)));
    let message = format!(
        "no value of '{}' has '{segment}': Puppet puts an empty string there",
        looked_up.root
    );
    let finding = findings.report(at.range, message);
    if let Some(suggestion) = suggestion {
        finding.severity = Severity::Warning;
        let mut segments = segments(at).into_iter().skip(1);
        let place = segments.find(|(known, _)| known == segment);
        // Quotes of the key are kept.
        let place = place.filter(|(_, range)| segment.as_name() == Some(range.slice(at.text)));
        let place = place.map(|(_, range)| file.places(at.node).source_range(range));
        finding.suggest(Safety::Unsafe, place, suggestion);
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::marked::check_rule;

    #[test]
    fn a_fact_with_a_dot_in_its_name_is_missed_unless_a_node_has_the_part() {
        for (facts, mark) in [
            ("{os: {family: Debian}}", "#~ interp-missing-subkey"),
            ("{app: {tier: web}}", ""),
        ] {
            check_rule(
                RULE,
                &format!(
                    "#- hiera.yaml\nversion: 5\nhierarchy: [{{name: c, path: common.yaml}}]\n#- nodes.yaml\nn: {{facts: {facts}}}\n\
                     #- modules/m/facts.d/a.txt\napp.tier=web\n#- data/common.yaml\nport: \"%{{facts.app.tier}}\" {mark}\n"
                ),
            );
        }
    }
}
