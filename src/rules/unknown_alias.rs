//! `unknown-alias`: an alias has no anchor, which makes Puppet refuse the whole file.

use super::{FileContext, Findings, Safety};
use crate::syntax::NodeKind;
use crate::text::{nearest, typing_error};
use crate::value::LoadErrorKind;

rule!("unknown-alias", Error, [File(check)]);

/// Maximum number of aliases that get a suggestion, which takes a comparison with each anchor.
const MAX_SUGGESTED: usize = 20;

fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    let kind = LoadErrorKind::YamlUnknownAlias;
    let Some(error) = at.refusal_of(kind) else {
        return;
    };
    let mut anchors: Vec<&str> = Vec::new();
    let mut count = 0;
    for (_, node) in at.tree().nodes() {
        anchors.extend(node.anchor.as_deref().map(|anchor| &*anchor.text));
        let NodeKind::Alias { name, target: None } = &node.kind else {
            continue;
        };
        let known = || anchors.iter().copied();
        let suggestion = || typing_error(name, known()).or_else(|| nearest(name, known()));
        count += 1;
        let suggestion = (count <= MAX_SUGGESTED).then(suggestion).flatten();
        let finding = findings.report(
            node.range,
            format!(
                "there is no anchor '&{name}' before this alias: Puppet refuses the whole file ({})",
                error.message
            ),
        );
        if let Some(suggestion) = suggestion {
            finding.suggest(Safety::Unsafe, node.range, &format!("*{suggestion}"));
        }
    }
    // The alias may not be in the tree.
    at.report_refusal(kind, findings);
}
