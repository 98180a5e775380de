//! `yaml11-sexagesimal`: digits with colons are read as one base-60 number.

use super::fitting;
use super::parameters::files_of_parameters;
use super::{FileContext, Findings, Fix, Safety, ScalarAt};
use crate::syntax::psych::Resolved;
use crate::value::float_to_s;

rule!(
    "yaml11-sexagesimal",
    Warning,
    [Scalar(check)],
    WORKSPACE,
    files: files_of_parameters,
);

fn check(file: &FileContext<'_>, at: &ScalarAt<'_>, findings: &mut Findings<'_>) {
    let text = &*at.scalar.text;
    if !text.contains(':') {
        return;
    }
    let value = match file.resolved(at) {
        Some(Resolved::Int(value)) => value.to_string(),
        Some(Resolved::Float(value)) => float_to_s(*value),
        Some(_) | None => return,
    };
    let finding = findings.report(
        at.node.range,
        format!("'{text}' is read as a base-60 number: the value is {value}; quote it"),
    );
    finding.fixes.extend(Fix::quote(Safety::Safe, at.node));
    fitting::keep_fitting(file, finding);
}
