//! The line about a rule with many findings: what they have in common, and how to change all at once.

use std::collections::BTreeSet;

use super::record::Record;
use crate::analysis::PROJECT_FILE;
use crate::rules::Severity;
use crate::text::number_of;

/// The line about the findings of a rule.
pub(super) fn line(code: &str, records: &[&Record]) -> String {
    let count = records.len();
    let paths: BTreeSet<&str> = records.iter().map(|it| it.place.path.as_str()).collect();
    let paths: Vec<&str> = paths.into_iter().collect();
    let place = match paths.as_slice() {
        [] => String::new(),
        [only] => format!(" in {only}"),
        [first, .., last] => {
            let files = number_of(paths.len(), "file");
            match common_folder(first, last) {
                Some(folder) => format!(" in {files} below {folder}"),
                None => format!(" in {files}"),
            }
        }
    };
    let mut messages = records.iter().map(|it| &it.message);
    let first = messages.next();
    let alike = match first {
        Some(message) if messages.all(|it| it == message) => format!(", all with '{message}'"),
        Some(_) | None => String::new(),
    };
    let fix = if records.iter().all(|it| !it.replacements.is_empty()) {
        format!("to fix all, run 'hiera-ls check --fix --select {code}'; ")
    } else {
        String::new()
    };
    let severity = if records.iter().all(|it| it.level == Severity::Hint) {
        "off"
    } else {
        "hint"
    };
    format!(
        "{count} findings of '{code}'{place}{alike}: {fix}to change the severity of all, write \
         'diagnostics: {{severity: {{{code}: {severity}}}}}' in {PROJECT_FILE}"
    )
}

/// The innermost folder around all of some paths, of which these are the first and the last in order.
fn common_folder<'p>(first: &'p str, last: &str) -> Option<&'p str> {
    let same = first.bytes().zip(last.bytes()).take_while(|(a, b)| a == b);
    let same = same.count();
    let end = first.as_bytes()[..same]
        .iter()
        .rposition(|byte| *byte == b'/')?;
    (end > 0).then(|| &first[..end])
}

#[cfg(test)]
mod tests {
    use super::common_folder;

    #[test]
    fn the_innermost_folder_is_found() {
        assert_eq!(common_folder("data/a/x", "data/b/x"), Some("data"));
        assert_eq!(common_folder("data/a/x", "data/a/y"), Some("data/a"));
        assert_eq!(common_folder("data/é/x", "data/è/y"), Some("data"));
        assert_eq!(common_folder("data/a", "other/a"), None);
        assert_eq!(common_folder("/a", "/b"), None);
    }
}
