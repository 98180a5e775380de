//! `multi-document`: Puppet reads only the start of a file.

use super::{FileContext, Findings};
use crate::syntax::ProblemKind;
use crate::text::TextRange;

rule!("multi-document", Warning, [File(check)]);

fn check(file: &FileContext<'_>, findings: &mut Findings<'_>) {
    let problems = file.parse().problems.iter();
    for problem in problems.filter(|problem| problem.kind == ProblemKind::Ignored) {
        let text = problem.range.slice(file.file.text());
        let line = text.lines().next().map_or(0, str::len);
        let start = problem.range.start as usize;
        findings.report(TextRange::new(start, start + line), &*problem.message);
    }
}
