//! `not-a-hash`: a data file does not contain a hash.

use super::{FileContext, Findings, Fix, Safety, Severity};
use crate::lookup::Strict;
use crate::syntax::ScalarStyle;
use crate::text::TextEdit;
use crate::workspace::{Format, path};

rule!("not-a-hash", Error, [File(check)]);

fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    if at.is_surely_hash() {
        return;
    }
    let Ok(value) = at.loaded() else { return };
    if at.readers().is_empty() || value.as_hash().is_some() {
        return;
    }
    let range = at.first_line();
    if let Some(target) = link(at) {
        let message = format!(
            "the file holds only the name '{target}': a symbolic link that was checked out as text, \
             which Puppet refuses as data"
        );
        findings.report_as(Severity::Information, range, message);
        return;
    }
    match at.format() {
        // An empty file is an empty hash.
        Format::Yaml if value.is_falsey() => {}
        Format::Yaml if at.settings().strict != Strict::Error => {
            let message = "the file does not contain a hash: Puppet ignores it";
            let range = root(at).unwrap_or(range);
            let finding = findings.report_as(Severity::Warning, range, message);
            finding.matters_later();
        }
        Format::Yaml | Format::Json | Format::Hocon => {
            let message = "the file does not contain a hash: every lookup that reads it fails";
            let finding = findings.report(root(at).unwrap_or(range), message);
            if at.format() == Format::Yaml {
                finding.matters_later();
            }
            finding.fixes.extend(with_blank(at));
        }
    }
}

/// Adds a blank after the colon of a text that is probably one entry.
fn with_blank(at: &FileContext<'_>) -> Option<Fix> {
    let tree = at.tree();
    let node = tree.node(tree.root()?);
    let scalar = node.as_scalar()?;
    let text = &*scalar.text;
    let colons = text.match_indices(':').map(|(place, _)| place);
    let is_alone = |place: &usize| {
        let is_colon = |at: Option<usize>| at.and_then(|at| text.as_bytes().get(at)) == Some(&b':');
        !is_colon(place.checked_sub(1)) && !is_colon(Some(place + 1))
    };
    let mut alone = colons.filter(is_alone);
    let colon = alone.next().filter(|_| alone.next().is_none())?;
    let (key, value) = (&text[..colon], &text[colon + 1..]);
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':');
    let is_entry = at.format() == Format::Yaml
        && scalar.style == ScalarStyle::Plain
        && text.len() == node.range.len()
        && key.starts_with(|first: char| first.is_ascii_lowercase())
        && key.bytes().all(fits)
        && !value.is_empty()
        && !value.starts_with("//");
    let edit = TextEdit::insert(node.range.start as usize + colon + 1, " ");
    is_entry.then(|| Fix::new(Safety::Unsafe, "Add a space after the colon", edit))
}

/// The range of the value's first line.
fn root(at: &FileContext<'_>) -> Option<crate::text::TextRange> {
    let range = at.tree().node(at.tree().root()?).range;
    let text = range.slice(at.file.text());
    let end = text.find(['\n', '\r']).unwrap_or(text.len());
    let start = range.start as usize;
    Some(crate::text::TextRange::new(start, start + end))
}

/// The target of a symbolic link, which Git writes as text on systems without links.
fn link<'a>(at: &'a FileContext<'_>) -> Option<&'a str> {
    let text: &str = at.file.text();
    if text.contains(['\n', ':', ' ']) || !text.contains('.') {
        return None;
    }
    let folder = path::parent(at.file.path())?;
    let target = path::normalise(&path::join(folder, text));
    at.snapshot().file(&target).map(|_| text)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::marked::check_levels;

    #[test]
    fn one_entry_without_its_blank_is_mended() {
        for (text, is_mended) in [
            ("k:value\n", true),
            ("ntp::x:value y\n", true),
            ("http://x\n", false),
            ("a:b:c\n", false),
            ("ntp::x\n", false),
            ("'k:value'\n", false),
        ] {
            let marked = text.replace('\n', " #~ not-a-hash\n");
            let found = check_levels(RULE, &marked);
            assert_eq!(!found[0].fixes.is_empty(), is_mended, "{text}");
        }
    }
}
