//! Writes the XML documents of commands.

use std::io::{self, Write};

use quick_xml::Writer;

pub(super) fn print(xml: Writer<Vec<u8>>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    let text = String::from_utf8_lossy(&xml.into_inner()).replace(is_no_xml, "\u{fffd}");
    out.write_all(text.as_bytes())?;
    writeln!(out)
}

/// Whether XML 1.0 cannot represent a character: most control characters.
fn is_no_xml(character: char) -> bool {
    matches!(character, '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_xml_forbids_are_replaced() {
        let mut document = Writer::new(Vec::new());
        let element = document.create_element("a");
        element
            .with_attribute(("b", "\u{1b}[1m\u{7}é\t"))
            .write_empty()
            .unwrap();
        let mut printed = Vec::new();
        print(document, &mut printed).unwrap();
        let printed = String::from_utf8(printed).unwrap();
        assert!(printed.contains("\u{fffd}[1m\u{fffd}é"), "{printed}");
        assert!(!printed.contains('\u{1b}'));
    }
}
