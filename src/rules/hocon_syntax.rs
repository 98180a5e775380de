//! `hocon-syntax`: a HOCON file has an error, so Puppet refuses all of it.

use super::{FileContext, Findings};
use crate::value::LoadErrorKind;

rule!("hocon-syntax", Error, [File(check)]);

fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    at.report_refusal(LoadErrorKind::Hocon, findings);
}
