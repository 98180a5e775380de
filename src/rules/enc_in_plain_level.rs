//! `enc-in-plain-level`: an encrypted value stands in a file that no level decrypts.

use super::checker::Found;
use super::{Checked, Reads, Rule, Severity};
use crate::eyaml::is_encrypted;
use crate::syntax::ScalarMap;

pub(super) const RULE: &Rule = &Rule {
    code: "enc-in-plain-level",
    severity: Severity::Warning,
    summary: "an encrypted value stands in a file that no level decrypts",
    page: include_str!("../../docs/rules/enc-in-plain-level.md"),
    reads: Reads::File,
    check,
};

fn check(at: &Checked<'_>, found: &mut Found<'_>) {
    if at.readers().is_empty() || !at.readers().iter().all(|reader| reader.is_plain) {
        return;
    }
    for (_, node) in at.tree().nodes() {
        let Some(scalar) = node.as_scalar() else {
            continue;
        };
        let text = &scalar.text;
        if !text.trim_start().starts_with("ENC[") || !is_encrypted(text) {
            continue;
        }
        let map = ScalarMap::new(at.file.text(), node);
        let end = text.find(['\n', '\r']).unwrap_or(text.len());
        found.report(
            map.source_range(0..end),
            "no level that reads this file decrypts it: the cipher text itself is the value; use \
             'lookup_key: eyaml_lookup_key' for the level",
        );
    }
}
