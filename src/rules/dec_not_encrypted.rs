//! `dec-not-encrypted`: data contains a mark of `eyaml edit`, with plain text in it.

use super::{FileContext, Findings, ScalarAt};
use crate::eyaml::edit_marks;

rule!("dec-not-encrypted", Warning, [Scalar(check)], finds_secrets);

fn check(file: &FileContext<'_>, at: &ScalarAt<'_>, findings: &mut Findings<'_>) {
    for mark in edit_marks(&at.scalar.text) {
        let range = file.places(at.node).source_range(mark.range);
        let message = format!(
            "'DEC::{}[…]!' is not encrypted: only 'eyaml edit' understands this marker, for Puppet it is plain text; encrypt it",
            mark.method
        );
        findings.report(range, message);
    }
}
