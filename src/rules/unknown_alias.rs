//! `unknown-alias`: an alias has no anchor, which makes Puppet refuse the whole file.

use super::{FileContext, Findings, Safety};
use crate::syntax::{NodeKind, TreeNode};
use crate::text::{nearest, typing_error};
use crate::value::LoadErrorKind;

rule!("unknown-alias", Error, [Node(check), File(check_rest)]);

fn check(at: &FileContext<'_>, node: &TreeNode, findings: &mut Findings<'_>) {
    let NodeKind::Alias { name, target: None } = &node.kind else {
        return;
    };
    let Some(error) = at.refusal_of(LoadErrorKind::YamlUnknownAlias) else {
        return;
    };
    let nodes = at.tree().nodes();
    let anchors = nodes.filter_map(|(_, node)| node.anchor.as_deref());
    let before = anchors.filter(|anchor| anchor.range.start < node.range.start);
    let before: Vec<&str> = before.map(|anchor| &*anchor.text).collect();
    let known = || before.iter().copied();
    let suggestion = typing_error(name, known()).or_else(|| nearest(name, known()));
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

/// Reports the error if its alias is not in the tree.
fn check_rest(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    at.report_refusal(LoadErrorKind::YamlUnknownAlias, findings);
}
