//! `--format junit`: a test suite for each file, with errors and warnings as failures. Information
//! and hints pass, with their text as output.

use std::borrow::Cow;
use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::BytesText;

use super::record::Record;
use crate::cli::xml;
use crate::rules::Severity;

/// Prints all records, grouped by file. A report without findings has one test, which passes.
pub(super) fn write(records: &[Record], out: &mut dyn Write) -> io::Result<()> {
    let mut document = Writer::new_with_indent(Vec::new(), b' ', 2);
    document
        .create_element("testsuites")
        .with_attribute(("name", "hiera-ls"))
        .with_attributes(counts(records))
        .write_inner_content(|xml| {
            let files = records.chunk_by(|one, other| one.place.path == other.place.path);
            for file in files {
                suite(&file[0].place.path, file, xml)?;
            }
            if records.is_empty() {
                suite("hiera-ls", &[], xml)
            } else {
                Ok(())
            }
        })?;
    xml::print(document, out)
}

/// The attributes with test counts.
fn counts(records: &[Record]) -> [(&'static str, Cow<'static, str>); 3] {
    let failures = records.iter().filter(|record| fails(record)).count();
    [
        ("tests", Cow::from(records.len().max(1).to_string())),
        ("failures", Cow::from(failures.to_string())),
        ("errors", Cow::from("0")),
    ]
}

fn fails(record: &Record) -> bool {
    matches!(record.level, Severity::Error | Severity::Warning)
}

fn suite(name: &str, records: &[Record], xml: &mut Writer<Vec<u8>>) -> io::Result<()> {
    xml.create_element("testsuite")
        .with_attribute(("name", name))
        .with_attribute(("package", "hiera-ls"))
        .with_attributes(counts(records))
        .write_inner_content(|xml| {
            if records.is_empty() {
                xml.create_element("testcase")
                    .with_attribute(("name", "no findings"))
                    .with_attribute(("classname", name))
                    .write_empty()?;
            }
            records.iter().try_for_each(|record| case(record, xml))
        })?;
    Ok(())
}

fn case(record: &Record, xml: &mut Writer<Vec<u8>>) -> io::Result<()> {
    let region = record.place.region;
    let (line, column) = region.map_or((1, 1), |region| (region.line, region.column));
    let text = format!("{}: {}", record.position(), record.message);
    xml.create_element("testcase")
        .with_attribute(("name", format!("{} line {line}", record.code).as_str()))
        .with_attribute(("classname", record.place.path.as_str()))
        .with_attribute(("line", line.to_string().as_str()))
        .with_attribute(("column", column.to_string().as_str()))
        .write_inner_content(|xml| {
            let element = if fails(record) {
                xml.create_element("failure")
                    .with_attribute(("message", record.message.as_str()))
                    .with_attribute(("type", record.severity))
            } else {
                xml.create_element("system-out")
            };
            element.write_text_content(BytesText::new(&text))?;
            Ok(())
        })?;
    Ok(())
}
