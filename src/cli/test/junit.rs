//! `--format junit`: a test suite for each file, a test for each expectation; unknown results are
//! skipped.

use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::BytesText;

use super::text::explanation;
use super::{Outcome, Report};
use crate::cli::xml;
use crate::ide::expectation::Verdict;

/// Prints all expectations, grouped by file.
pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut document = Writer::new_with_indent(Vec::new(), b' ', 2);
    let counts = Counts::of(&report.outcomes);
    document
        .create_element("testsuites")
        .with_attribute(("name", "hiera-ls test"))
        .with_attributes(counts.attributes())
        .write_inner_content(|xml| {
            let mut files = report
                .outcomes
                .chunk_by(|one, other| one.file == other.file);
            files.try_for_each(|file| suite(file, xml))
        })?;
    xml::print(document, out)
}

/// The attributes with test counts.
struct Counts {
    tests: String,
    failures: String,
    skipped: String,
}

impl Counts {
    fn of(outcomes: &[Outcome]) -> Counts {
        let count_of = |verdict: Verdict| {
            let outcomes = outcomes.iter();
            let outcomes = outcomes.filter(|outcome| outcome.judged.verdict == verdict);
            outcomes.count().to_string()
        };
        Counts {
            tests: outcomes.len().to_string(),
            failures: count_of(Verdict::Failed),
            skipped: count_of(Verdict::Unknown),
        }
    }

    fn attributes(&self) -> [(&str, &str); 4] {
        [
            ("tests", &self.tests),
            ("failures", &self.failures),
            ("errors", "0"),
            ("skipped", &self.skipped),
        ]
    }
}

fn suite(outcomes: &[Outcome], xml: &mut Writer<Vec<u8>>) -> io::Result<()> {
    xml.create_element("testsuite")
        .with_attribute(("name", outcomes[0].file.as_str()))
        .with_attributes(Counts::of(outcomes).attributes())
        .write_inner_content(|xml| {
            let mut outcomes = outcomes.iter();
            outcomes.try_for_each(|outcome| case(outcome, xml))
        })?;
    Ok(())
}

fn case(outcome: &Outcome, xml: &mut Writer<Vec<u8>>) -> io::Result<()> {
    let line = outcome.expectation.line.to_string();
    let name = format!("{} line {line}", outcome.title());
    let element = xml
        .create_element("testcase")
        .with_attribute(("name", name.as_str()))
        .with_attribute(("classname", outcome.file.as_str()))
        .with_attribute(("file", outcome.file.as_str()))
        .with_attribute(("line", line.as_str()));
    let (kind, message) = match outcome.judged.verdict {
        Verdict::Passed => {
            element.write_empty()?;
            return Ok(());
        }
        Verdict::Failed => ("failure", "the data is not as expected"),
        Verdict::Unknown => ("skipped", "only a running Puppet knows"),
    };
    let text = explanation(outcome);
    element.write_inner_content(|xml| {
        xml.create_element(kind)
            .with_attribute(("message", message))
            .write_text_content(BytesText::new(&text))?;
        Ok(())
    })?;
    Ok(())
}
