//! `unused-suppression`: a comment suppresses no finding. See the module `suppression`.

use super::suppression::{Code, Suppression, WORDS, after_mark, comments};
use super::{FileContext, Findings, Fix, Safety, Tag, rule};
use crate::text::{TextEdit, TextRange, nearest};

rule!("unused-suppression", Hint, [Suppressions(check)]);

fn check(at: &FileContext<'_>, suppressions: &[Suppression], findings: &mut Findings<'_>) {
    for suppression in suppressions {
        report_unused(at, suppression, findings);
    }
    for comment in comments(at) {
        report_unread(at.file.text(), comment, findings);
    }
}

fn report_unused(at: &FileContext<'_>, suppression: &Suppression, findings: &mut Findings<'_>) {
    let is_broken = at.facts().error.is_some();
    let is_kept = |code: &Code| code.is_used || code.suggestion().is_some();
    let is_whole = !suppression.codes.iter().any(is_kept);
    for code in suppression.codes.iter().filter(|code| !code.is_used) {
        let message = match &code.name {
            Some(name) if name.is_empty() => {
                "the brackets are empty, so nothing is suppressed; leave them out to suppress every rule"
                    .to_owned()
            }
            // Most rules report nothing in a file that Puppet does not load.
            None if is_broken => continue,
            None => "no rule reports anything here: remove the comment".to_owned(),
            Some(name) if rule(name).is_none() => {
                format!("there is no rule '{name}'")
            }
            Some(_) if is_broken => continue,
            Some(name) if is_whole => format!("'{name}' reports nothing here: remove the comment"),
            Some(name) => format!("'{name}' reports nothing here: remove it from the comment"),
        };
        let finding = findings.report(code.range, message);
        finding.tags.push(Tag::Unnecessary);
        if let Some(suggestion) = code.suggestion() {
            finding.suggest(Safety::Safe, code.range, suggestion);
        } else if is_whole {
            let edit = TextEdit::delete(with_blanks(at.file.text(), suppression.comment));
            let title = "Remove the comment";
            finding.fixes.push(Fix::new(Safety::Safe, title, edit));
        } else if let Some(name) = &code.name {
            let edit = TextEdit::delete(with_comma(&suppression.codes, code));
            let title = format!("Remove '{name}' from the comment");
            finding.fixes.push(Fix::new(Safety::Safe, title, edit));
        }
    }
}

/// Reports an invalid comment for this program.
fn report_unread(text: &str, comment: TextRange, findings: &mut Findings<'_>) {
    let Some(rest) = after_mark(comment.slice(text)) else {
        return;
    };
    let end = rest.find(|next: char| !next.is_ascii_alphabetic() && next != '-');
    let word = &rest[..end.unwrap_or(rest.len())];
    if !WORDS.contains(&word) {
        let suggestion = nearest(word, WORDS.into_iter());
        let message = format!("'{word}' suppresses nothing: use 'ignore' or 'ignore-file'");
        let finding = findings.report(comment, message);
        if let Some(suggestion) = suggestion {
            finding.did_you_mean(suggestion);
        }
    }
}

/// The range of one of several codes, with the comma before or after it.
fn with_comma(codes: &[Code], code: &Code) -> TextRange {
    let (start, end) = (code.range.start, code.range.end);
    let mut before = codes.iter().filter(|other| other.range.end <= start);
    let behind = codes.iter().find(|other| other.range.start >= end);
    match (before.next_back(), behind) {
        (Some(before), _) => TextRange::new(before.range.end as usize, end as usize),
        (None, Some(behind)) => TextRange::new(start as usize, behind.range.start as usize),
        (None, None) => code.range,
    }
}

/// The range of a comment with the blanks before it; with its line, if it is alone there.
fn with_blanks(text: &str, comment: TextRange) -> TextRange {
    let (start, end) = (comment.start as usize, comment.end as usize);
    let before = text[..start].trim_end_matches([' ', '\t']).len();
    let is_alone = before == 0 || text[..before].ends_with('\n');
    let behind = text[end..].find('\n').map(|at| end + at + 1);
    match behind {
        Some(next) if is_alone && text[end..next].trim().is_empty() => TextRange::new(before, next),
        Some(_) | None => TextRange::new(before, end),
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::Safety;
    use crate::rules::marked::{self, ONE_LEVEL};

    #[test]
    fn unused_codes_are_removed_and_used_ones_kept() {
        for (before, after) in [
            (
                "0644 # hiera-ls: ignore[yaml11-octal, dup-key]",
                "0644 # hiera-ls: ignore[yaml11-octal]",
            ),
            (
                "0644 # hiera-ls: ignore[dup-key, yaml11-octal]",
                "0644 # hiera-ls: ignore[yaml11-octal]",
            ),
            (
                "0644 # hiera-ls: ignore[dup-key, yaml11-octal, null-masks] why",
                "0644 # hiera-ls: ignore[yaml11-octal] why",
            ),
            ("1 # hiera-ls: ignore[dup-key, null-masks]", "1"),
            // A misspelt code is corrected, and the value is not changed.
            (
                "0644 # hiera-ls: ignore[yaml11-octl]",
                "0644 # hiera-ls: ignore[yaml11-octal]",
            ),
            (
                "0644 # hiera-ls: ignore[yaml11-octl, dup-key]",
                "0644 # hiera-ls: ignore[yaml11-octal, dup-key]",
            ),
        ] {
            let fixed = |data: &str| {
                let text = format!("a: {data}\n{ONE_LEVEL}");
                marked::fixed("data/common.yaml", &text, Safety::Safe, |_| true)
            };
            assert_eq!(fixed(before), format!("a: {after}\n"));
        }
    }
}
