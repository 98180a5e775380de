//! `unknown-alias`: an alias has no anchor, which makes Puppet refuse the whole file.

use super::{FileContext, Findings, Fix, Safety};
use crate::syntax::NodeKind;
use crate::text::{TextEdit, nearest, typing_error};
use crate::value::LoadErrorKind;

rule!("unknown-alias", Error, [File(check)]);

fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    let Some(error) = at.refusal() else { return };
    if error.kind != LoadErrorKind::YamlUnknownAlias {
        return;
    }
    let mut any = false;
    for (_, node) in at.tree().nodes() {
        if let NodeKind::Alias { name, target: None } = &node.kind {
            any = true;
            let anchors = at
                .tree()
                .nodes()
                .filter_map(|(_, node)| node.anchor.as_deref());
            let before = anchors.filter(|anchor| anchor.range.start < node.range.start);
            let before: Vec<&str> = before.map(|anchor| &*anchor.text).collect();
            let known = || before.iter().copied();
            let meant = typing_error(name, known()).or_else(|| nearest(name, known()));
            let hint = meant.map(|meant| format!("; did you mean '*{meant}'?"));
            let finding = findings.report(
                node.range,
                format!(
                    "there is no anchor '&{name}' before this alias: Puppet refuses the whole file \
                     ({}){}",
                    error.message,
                    hint.unwrap_or_default()
                ),
            );
            finding.fixes.extend(meant.map(|meant| {
                let edit = TextEdit::replace(node.range, format!("*{meant}"));
                Fix::new(Safety::Unsafe, format!("Write '*{meant}'"), edit)
            }));
        }
    }
    if !any {
        let message = format!("Puppet refuses the whole file: {}", error.message);
        findings.report(at.place_of(error), message);
    }
}
