//! `--format junit`: a test suite for each file, a test for each expectation; unknown results are
//! skipped.

use std::borrow::Cow;
use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::BytesText;

use super::text::explanation;
use super::{TestOutcome, count_of};
use crate::cli::xml;
use crate::ide::expectation::Verdict;

/// Prints all expectations, grouped by file.
pub(super) fn write(outcomes: &[TestOutcome], out: &mut dyn Write) -> io::Result<()> {
    let mut document = Writer::new_with_indent(Vec::new(), b' ', 2);
    document
        .create_element("testsuites")
        .with_attribute(("name", "hiera-ls test"))
        .with_attributes(counts(outcomes))
        .write_inner_content(|xml| {
            let mut files = outcomes.chunk_by(|one, other| one.file == other.file);
            files.try_for_each(|file| suite(file, xml))
        })?;
    xml::print(document, out)
}

/// The attributes with test counts.
fn counts(outcomes: &[TestOutcome]) -> [(&'static str, Cow<'static, str>); 4] {
    let of = |verdict| Cow::from(count_of(outcomes, verdict).to_string());
    [
        ("tests", Cow::from(outcomes.len().to_string())),
        ("failures", of(Verdict::Failed)),
        ("errors", Cow::from("0")),
        ("skipped", of(Verdict::Unknown)),
    ]
}

fn suite(outcomes: &[TestOutcome], xml: &mut Writer<Vec<u8>>) -> io::Result<()> {
    xml.create_element("testsuite")
        .with_attribute(("name", outcomes[0].file.as_str()))
        .with_attributes(counts(outcomes))
        .write_inner_content(|xml| {
            let mut outcomes = outcomes.iter();
            outcomes.try_for_each(|outcome| case(outcome, xml))
        })?;
    Ok(())
}

fn case(outcome: &TestOutcome, xml: &mut Writer<Vec<u8>>) -> io::Result<()> {
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
        Verdict::Unknown => {
            let puppet = "only a running Puppet knows";
            ("skipped", outcome.judged.missing.unwrap_or(puppet))
        }
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
