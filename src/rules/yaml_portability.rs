//! `yaml-portability`: Puppet reads a file that a strict YAML 1.2 reader rejects.

use yaml_rust2::Event;
use yaml_rust2::parser::Parser;
use yaml_rust2::scanner::ScanError;

use super::context::shown;
use super::finding::Findings;
use super::rule::Hook;
use super::{Depends, FileContext, Rule, Severity};
use crate::text::TextRange;
use crate::workspace::Format;

pub(super) const RULE: &Rule = &Rule {
    code: "yaml-portability",
    severity: Severity::Information,
    summary: "Puppet reads a file that a strict YAML 1.2 reader rejects",
    page: include_str!("../../docs/rules/yaml-portability.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::File(check)],
};

/// Bytes of a file up to which it is read a second time.
const LARGEST: usize = 4 << 20;

fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    let text = at.file.text();
    if at.format() != Format::Yaml || text.len() > LARGEST || at.loaded().is_err() {
        return;
    }
    let Some(error) = rejection(text) else { return };
    let line = error.marker().line();
    let message = format!(
        "Puppet reads this file, but a strict YAML 1.2 reader stops in line {line}: {}; other tools may \
         reject it or read it differently",
        shown(error.info())
    );
    findings.report(range_of_line(text, line), message);
}

/// Why a strict reader rejects a text.
fn rejection(text: &str) -> Option<ScanError> {
    let mut parser = Parser::new_from_str(text);
    loop {
        match parser.next_token() {
            Ok((Event::StreamEnd, _)) => return None,
            Ok(_) => {}
            Err(error) => return Some(error),
        }
    }
}

/// The text of a line, from 1; the last one's where there are not so many.
fn range_of_line(text: &str, line: usize) -> TextRange {
    let mut start = 0;
    let mut range = TextRange::new(0, 0);
    for row in text.split_inclusive('\n').take(line.max(1)) {
        let indent = row.len() - row.trim_start_matches([' ', '\t']).len();
        let end = start + row.trim_end().len().max(indent);
        range = TextRange::new(start + indent, end);
        start += row.len();
    }
    range
}
