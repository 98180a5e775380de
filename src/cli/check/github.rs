//! `--format github`: workflow commands, which GitHub shows as annotations of a pull request.

use std::io::{self, Write};

use super::concise::visible;
use super::record::{Record, by_severity};

/// Prints one command per record. A step shows ten errors and ten warnings, so the most severe come
/// first.
pub(super) fn write(records: &[Record], out: &mut dyn Write) -> io::Result<()> {
    let mut ordered: Vec<&Record> = records.iter().collect();
    ordered.sort_by_key(|record| record.level as usize);
    ordered.into_iter().try_for_each(|record| {
        let command = by_severity(record.level, ["error", "warning", "notice"]);
        let mut properties = format!(
            "title={},file={}",
            property(&format!("hiera-ls ({})", record.code)),
            property(&record.place.path)
        );
        if let Some(region) = &record.place.region {
            properties.push_str(&format!(
                ",line={},col={},endLine={},endColumn={}",
                region.line, region.column, region.end_line, region.end_column
            ));
        }
        let message = format!("{}: {} {}", record.position(), record.code, record.message);
        writeln!(out, "::{command} {properties}::{}", data(&message))
    })
}

/// The text after the command.
fn data(text: &str) -> String {
    visible(text)
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The value of a property, which also ends at colons and commas.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_of_commands_and_properties_are_escaped() {
        assert_eq!(data("50%\r\n\u{1b}"), "50%25%0D%0A\\u{1b}");
        assert_eq!(property("a:b,c%"), "a%3Ab%2Cc%25");
    }
}
