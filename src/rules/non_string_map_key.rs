//! `non-string-map-key`: a key of a nested hash is neither a string nor a number.

use super::{FileContext, Findings, Fix, MappingAt, Safety, shown};
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::syntax::{NodeKind, ScalarStyle};
use crate::workspace::Format;

rule!("non-string-map-key", Error, [Mapping(check)]);

fn check(file: &FileContext<'_>, at: &MappingAt<'_>, findings: &mut Findings<'_>) {
    if at.is_topmost || file.format() != Format::Yaml {
        return;
    }
    for &(key, _) in at.pairs {
        let node = file.tree().node(key);
        let kind = &file.tree().node(file.tree().resolve(key)).kind;
        if let Some(what) = collection(kind) {
            findings.report(
                node.range,
                format!(
                    "the key '{}' is a {what}, which cannot be a key: Puppet fails on the whole hash; quote it if a string is meant",
                    shown(node.range.slice(file.file.text()))
                ),
            );
            continue;
        }
        let Some(scalar) = node.as_scalar() else {
            continue;
        };
        if scalar.style != ScalarStyle::Plain || node.tag.is_some() {
            continue;
        }
        let what = match resolve_plain(&scalar.text) {
            Resolved::Bool(true) => "true",
            Resolved::Bool(false) => "false",
            Resolved::Null => "null",
            Resolved::String
            | Resolved::Symbol(_)
            | Resolved::Int(_)
            | Resolved::BigInt(_)
            | Resolved::Float(_)
            | Resolved::Date
            | Resolved::Time
            | Resolved::Invalid { .. } => continue,
        };
        let finding = findings.report(
            node.range,
            format!(
                "the key '{}' is read as {what}, which cannot be a key: Puppet fails on the whole \
                 hash; quote it",
                scalar.text
            ),
        );
        let fix = Fix::quote(Safety::Safe, node).map(|fix| fix.renaming(node.range, &*scalar.text));
        finding.fixes.extend(fix);
    }
}

/// The kind of a key that is a list or a hash.
fn collection(kind: &NodeKind) -> Option<&'static str> {
    match kind {
        NodeKind::Sequence(_) => Some("list"),
        NodeKind::Mapping(_) => Some("hash"),
        NodeKind::Scalar(_) | NodeKind::Alias { .. } => None,
    }
}
