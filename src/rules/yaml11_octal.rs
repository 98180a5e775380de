//! `yaml11-octal`: a number with a leading zero is read as octal.

use super::fitting;
use super::parameters::files_of_parameters;
use super::{FileContext, Findings, Fix, Safety, ScalarAt};
use crate::syntax::psych::Resolved;

rule!(
    "yaml11-octal",
    Warning,
    [Scalar(check)],
    WORKSPACE,
    files: files_of_parameters,
);

fn check(file: &FileContext<'_>, at: &ScalarAt<'_>, findings: &mut Findings<'_>) {
    let text = &*at.scalar.text;
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_octal =
        digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
    let Some(Resolved::Int(value)) = file.resolved(at).filter(|_| is_octal) else {
        return;
    };
    // `05` is five in both readings.
    if text.parse().as_ref() == Ok(value) {
        return;
    }
    let finding = findings.report(
        at.node.range,
        format!("'{text}' is read as an octal number: the value is {value}; quote it"),
    );
    // File modes are not meant as numbers.
    let is_mode = matches!(text.len(), 4 | 5) && digits.len() == text.len();
    let safety = if is_mode {
        Safety::Safe
    } else {
        Safety::Unsafe
    };
    finding.fixes.extend(Fix::quote(safety, at.node));
    fitting::keep_fitting(file, finding);
}
