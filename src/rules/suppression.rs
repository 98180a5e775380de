//! Comments that turn findings off: `# hiera-ls: ignore[CODE]` for its line, or for the next key if it
//! stands alone in its line, and `# hiera-ls: ignore-file[CODE]` for the file. Without brackets all
//! codes are meant. It knows no rule; what turns nothing off is reported as `unused-suppression`.

use super::context::{FileContext, Role};
use super::finding::{Finding, Findings};
use super::unused_suppression::RULE;
use super::{Fix, RULES, Safety, Tag, rule};
use crate::syntax::{NodeId, NodeKind, ScalarStyle, Tree, puppet};
use crate::text::{TextEdit, TextRange, nearest};

/// What such a comment begins with; `ignore` follows, with blanks between or without.
const MARK: &str = "hiera-ls:";

/// The words that can follow it.
const WORDS: [&str; 2] = ["ignore", "ignore-file"];

/// One comment.
struct Suppression {
    /// The comment.
    comment: TextRange,
    /// Where findings are turned off.
    covers: TextRange,
    /// The codes, with their places, and whether each turned something off.
    codes: Vec<Code>,
}

struct Code {
    /// The code; none for all.
    name: Option<String>,
    range: TextRange,
    is_used: bool,
}

impl Code {
    /// The rule that a name which is none most likely means.
    fn meant(&self) -> Option<&'static str> {
        let name = self.name.as_deref().filter(|name| rule(name).is_none())?;
        nearest(name, RULES.iter().map(|rule| rule.code))
    }
}

/// The findings that no comment turns off. Comments that turn nothing off are added, if all rules
/// were run.
pub(super) fn apply(
    at: &FileContext<'_>,
    findings: Vec<Finding>,
    reports_unused: bool,
) -> Vec<Finding> {
    if !at.file.text().contains(MARK) {
        return findings;
    }
    let mut suppressions = read(at);
    let mut kept = findings;
    kept.retain(|finding| !is_suppressed(&mut suppressions, finding));
    if !reports_unused {
        return kept;
    }
    for suppression in &suppressions {
        // Its finding waits for the name to be corrected: it is meant to stay as it is.
        let meant: Vec<&str> = suppression.codes.iter().filter_map(Code::meant).collect();
        let is_meant = |finding: &&mut Finding| {
            meant.contains(&finding.code)
                && suppression.covers.touches(finding.range.start as usize)
        };
        let meant = kept.iter_mut().filter(is_meant);
        meant.for_each(|finding| finding.fixes.clear());
    }
    let mut unused = Findings::new(RULE, at.file);
    for suppression in &suppressions {
        report_unused(at, suppression, &mut unused);
    }
    for comment in comments(at) {
        report_unread(at.file.text(), comment, &mut unused);
    }
    let mut unused = unused.list;
    unused.retain(|finding| !is_suppressed(&mut suppressions, finding));
    kept.append(&mut unused);
    kept
}

fn is_suppressed(suppressions: &mut [Suppression], finding: &Finding) -> bool {
    let start = finding.range.start;
    let mut is_off = false;
    for suppression in suppressions {
        if start < suppression.covers.start || start > suppression.covers.end {
            continue;
        }
        for code in &mut suppression.codes {
            if code.name.as_deref().is_none_or(|name| name == finding.code) {
                code.is_used = true;
                is_off = true;
            }
        }
    }
    is_off
}

fn report_unused(at: &FileContext<'_>, suppression: &Suppression, unused: &mut Findings<'_>) {
    let is_broken = at.facts().error.is_some();
    let is_kept = |code: &Code| code.is_used || code.meant().is_some();
    let is_whole = !suppression.codes.iter().any(is_kept);
    for code in suppression.codes.iter().filter(|code| !code.is_used) {
        let message = match &code.name {
            Some(name) if name.is_empty() => {
                "the brackets are empty, so nothing is suppressed; leave them out to suppress every rule"
                    .to_owned()
            }
            // Most rules say nothing of a file that Puppet does not load.
            None if is_broken => continue,
            None => "no rule reports anything here: remove the comment".to_owned(),
            Some(name) if rule(name).is_none() => {
                let meant = code.meant();
                let meant = meant.map(|meant| format!("; did you mean '{meant}'?"));
                format!("there is no rule '{name}'{}", meant.unwrap_or_default())
            }
            Some(_) if is_broken => continue,
            Some(name) if is_whole => format!("'{name}' reports nothing here: remove the comment"),
            Some(name) => format!("'{name}' reports nothing here: remove it from the comment"),
        };
        let finding = unused.report(code.range, message);
        finding.tags.push(Tag::Unnecessary);
        if let Some(meant) = code.meant() {
            let edit = TextEdit::replace(code.range, meant);
            let title = format!("Write '{meant}'");
            finding.fixes.push(Fix::new(Safety::Safe, title, edit));
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

/// Reports a comment that is meant for this program and that it does not understand.
fn report_unread(text: &str, comment: TextRange, unused: &mut Findings<'_>) {
    let Some(rest) = after_mark(comment.slice(text)) else {
        return;
    };
    let end = rest.find(|next: char| !next.is_ascii_alphabetic() && next != '-');
    let word = &rest[..end.unwrap_or(rest.len())];
    if !WORDS.contains(&word) {
        let meant = nearest(word, WORDS.into_iter());
        let meant = meant.map_or(String::new(), |meant| format!("; did you mean '{meant}'?"));
        let message = format!("'{word}' suppresses nothing: use 'ignore' or 'ignore-file'{meant}");
        unused.report(comment, message);
    }
}

/// What follows the mark of a comment for this program. The mark stands at the start of a comment, or of
/// another one behind it.
fn after_mark(comment: &str) -> Option<&str> {
    let mark = comment.find(MARK)?;
    let before = &comment[..mark];
    let is_sign = before.trim_matches(['#', '/', '*', ' ', '\t']).is_empty();
    let rest = &comment[mark + MARK.len()..];
    (is_sign || before.trim_end().ends_with(" #")).then(|| rest.trim_start_matches([' ', '\t']))
}

/// One of several codes with the comma before it, or behind it.
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

/// A comment with the blanks before it; with its line, if it stands alone there.
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

/// The comments of a file.
fn comments(at: &FileContext<'_>) -> Vec<TextRange> {
    match at.role {
        Role::Code => puppet::parse(at.file.text(), puppet::Dialect::Manifest).comments,
        Role::Data(_) | Role::Config { .. } | Role::Project | Role::Unread => {
            at.tree().comments().to_vec()
        }
    }
}

/// The comments of a file that turn findings off, in the order of the text.
fn read(at: &FileContext<'_>) -> Vec<Suppression> {
    let comments = comments(at).into_iter();
    comments
        .filter_map(|comment| of_comment(at, comment))
        .collect()
}

fn of_comment(at: &FileContext<'_>, comment: TextRange) -> Option<Suppression> {
    let text: &str = at.file.text();
    let written = comment.slice(text);
    let rest = after_mark(written)?.strip_prefix("ignore")?;
    let (is_file, rest) = match rest.strip_prefix("-file") {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let start = comment.start as usize + written.len() - rest.len();
    let codes = codes(rest, start, comment)?;
    let line = text[..comment.start as usize]
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let is_alone = text[line..comment.start as usize].trim().is_empty();
    let covers = if is_file {
        TextRange::new(0, text.len())
    } else if !is_alone {
        TextRange::new(line, end_of_value(at.tree(), comment))
    } else if matches!(at.role, Role::Code) {
        next_line(text, comment)
    } else {
        next_key(at.tree(), comment)?
    };
    Some(Suppression {
        comment,
        covers,
        codes,
    })
}

/// Where what a comment behind it covers ends: with the comment, or with the block scalar whose first line it
/// stands in.
fn end_of_value(tree: &Tree, comment: TextRange) -> usize {
    let path = tree.path_at(comment.start as usize);
    let scalars = path.into_iter().map(|id| tree.node(id));
    let mut blocks = scalars.filter(|node| {
        let style = node.as_scalar().map(|scalar| scalar.style);
        matches!(style, Some(ScalarStyle::Literal | ScalarStyle::Folded))
    });
    let end = blocks.next().map_or(0, |node| node.range.end);
    end.max(comment.end) as usize
}

/// The line behind a comment.
fn next_line(text: &str, comment: TextRange) -> TextRange {
    let end = comment.end as usize;
    let start = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    TextRange::new(start, end)
}

/// The codes in brackets; all of them without any. Nothing for brackets that are not closed.
fn codes(rest: &str, start: usize, comment: TextRange) -> Option<Vec<Code>> {
    let Some(inside) = rest.strip_prefix('[') else {
        let is_end = rest.is_empty() || rest.starts_with([' ', '\t', ':', ',', '\r']);
        let all = Code {
            name: None,
            range: comment,
            is_used: false,
        };
        return is_end.then(|| vec![all]);
    };
    let inside = &inside[..inside.find(']')?];
    let mut at = start + 1;
    let mut codes = Vec::new();
    for part in inside.split(',') {
        let name = part.trim();
        let from = at + part.len() - part.trim_start().len();
        if !name.is_empty() {
            codes.push(Code {
                name: Some(name.to_owned()),
                range: TextRange::new(from, from + name.len()),
                is_used: false,
            });
        }
        at += part.len() + 1;
    }
    if codes.is_empty() {
        codes.push(Code {
            name: Some(String::new()),
            range: comment,
            is_used: false,
        });
    }
    Some(codes)
}

/// The element of a list whose first key a node is.
fn element_of(tree: &Tree, id: NodeId) -> Option<TextRange> {
    let hash = tree.parent(id)?;
    let (first, _) = tree.node(hash).as_mapping()?.first()?;
    tree.node(tree.parent(hash)?).as_sequence()?;
    (*first == id).then(|| tree.node(hash).full_range())
}

/// The entry of a mapping, or the element, that begins next behind a comment.
fn next_key(tree: &Tree, comment: TextRange) -> Option<TextRange> {
    let is_leaf = |kind: &NodeKind| match kind {
        NodeKind::Scalar(_) | NodeKind::Alias { .. } => true,
        NodeKind::Mapping(pairs) => pairs.is_empty(),
        NodeKind::Sequence(elements) => elements.is_empty(),
    };
    let leaf = tree.nodes().find(|(_, node)| {
        node.range.start >= comment.end && !node.range.is_empty() && is_leaf(&node.kind)
    });
    let (id, node) = leaf?;
    let parent = tree.parent(id).map(|parent| &tree.node(parent).kind);
    let value = match parent {
        Some(NodeKind::Mapping(pairs)) => pairs
            .iter()
            .find(|(key, _)| *key == id)
            .map(|(_, value)| tree.node(*value).full_range()),
        Some(NodeKind::Scalar(_) | NodeKind::Sequence(_) | NodeKind::Alias { .. }) | None => None,
    };
    if let Some(element) = element_of(tree, id) {
        return Some(element);
    }
    let covers = match value.filter(|value| !value.is_empty()) {
        Some(value) => node.range.cover(value),
        None => node.range,
    };
    Some(covers)
}

#[cfg(test)]
mod tests {
    use crate::fixture::{FOLDER, Fixture};
    use crate::rules::{Safety, marked};

    #[test]
    fn what_suppresses_nothing_is_removed_and_the_rest_stays() {
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
            // A misspelt name is corrected, and the value stays as it is.
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
                let text = format!(
                    "#- hiera.yaml\nversion: 5\nhierarchy: [{{name: c, path: common.yaml}}]\n\
                     #- data/common.yaml\na: {data}\n"
                );
                let snapshot = Fixture::new("hiera.yaml", &text).on_disk();
                let path = format!("{FOLDER}/data/common.yaml");
                marked::fixed(&snapshot, &path, Safety::Safe, |_| true)
            };
            assert_eq!(fixed(before), format!("a: {after}\n"));
        }
    }
}
