//! `--format checkstyle`: the XML of Checkstyle, which Jenkins and others read.

use std::io::{self, Write};

use quick_xml::Writer;

use super::record::{Record, by_severity};
use crate::cli::xml;

/// Prints all records, grouped by file.
pub(super) fn write(records: &[Record], out: &mut dyn Write) -> io::Result<()> {
    let mut document = Writer::new_with_indent(Vec::new(), b' ', 2);
    let report = document.create_element("checkstyle");
    report
        .with_attribute(("version", "4.3"))
        .write_inner_content(|xml| {
            let files = records.chunk_by(|one, other| one.place.path == other.place.path);
            for file in files {
                let element = xml.create_element("file");
                element
                    .with_attribute(("name", file[0].place.path.as_str()))
                    .write_inner_content(|xml| {
                        file.iter().try_for_each(|record| error(record, xml))
                    })?;
            }
            Ok(())
        })?;
    xml::print(document, out)
}

fn error(record: &Record, xml: &mut Writer<Vec<u8>>) -> io::Result<()> {
    let severity = by_severity(record.level, ["error", "warning", "info"]);
    let place = record.place.region;
    let place = place.map(|region| (region.line.to_string(), region.column.to_string()));
    let source = format!("hiera-ls.{}", record.code);
    let mut element = xml.create_element("error");
    if let Some((line, column)) = &place {
        element = element
            .with_attribute(("line", line.as_str()))
            .with_attribute(("column", column.as_str()));
    }
    element
        .with_attribute(("severity", severity))
        .with_attribute(("message", record.message.as_str()))
        .with_attribute(("source", source.as_str()))
        .write_empty()?;
    Ok(())
}
