//! XML documents as commands print them.

use std::io::{self, Write};

use quick_xml::Writer;

/// Prints a document.
pub(super) fn print(xml: Writer<Vec<u8>>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    out.write_all(&xml.into_inner())?;
    writeln!(out)
}
