//! `unknown-alias`: an alias has no anchor, which makes Puppet refuse the whole file.

use super::{FileContext, Findings};
use crate::syntax::{NodeKind, TreeNode};
use crate::text::{nearest, typing_error};
use crate::value::{LoadError, LoadErrorKind};

rule!("unknown-alias", Error, [Node(check), File(check_rest)]);

fn check(at: &FileContext<'_>, node: &TreeNode, findings: &mut Findings<'_>) {
    let NodeKind::Alias { name, target: None } = &node.kind else {
        return;
    };
    let Some(error) = refusal(at) else { return };
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
        finding.suggest(node.range, &format!("*{suggestion}"));
    }
}

/// Reports the error if its alias is not in the tree.
fn check_rest(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    if let Some(error) = refusal(at).filter(|_| findings.list.is_empty()) {
        let message = format!("Puppet refuses the whole file: {}", error.message);
        findings.report(at.place_of(error), message);
    }
}

fn refusal<'a>(at: &'a FileContext<'_>) -> Option<&'a LoadError> {
    let error = at.refusal()?;
    (error.kind == LoadErrorKind::YamlUnknownAlias).then_some(error)
}
