//! Comments that suppress findings: `# hiera-ls: ignore[CODE]` for its line, or for the next key if
//! it is alone in its line, and `# hiera-ls: ignore-file[CODE]` for the file. Without brackets they
//! suppress all codes. Rules about such comments have a hook of their own.

use super::context::{FileContext, FileRole};
use super::finding::{Finding, Findings};
use super::{Hook, RULES, Rule, rule};
use crate::syntax::{NodeId, NodeKind, ScalarStyle, Tree, puppet};
use crate::text::{TextRange, line_start, nearest};

/// The start of such a comment; `ignore` follows, with or without blanks.
const MARK: &str = "hiera-ls:";

/// The words that can follow it.
pub(super) const WORDS: [&str; 2] = ["ignore", "ignore-file"];

/// A comment that suppresses findings.
pub(super) struct Suppression {
    pub(super) comment: TextRange,
    /// The range in which findings are suppressed.
    covers: TextRange,
    pub(super) codes: Vec<Code>,
}

pub(super) struct Code {
    /// The code; `None` for all.
    pub(super) name: Option<String>,
    pub(super) range: TextRange,
    pub(super) is_used: bool,
}

impl Code {
    /// The rule to suggest for an unknown name.
    pub(super) fn suggestion(&self) -> Option<&'static str> {
        let name = self.name.as_deref().filter(|name| rule(name).is_none())?;
        nearest(name, RULES.iter().map(|rule| rule.code))
    }
}

/// The findings that no comment suppresses, and those of rules about such comments.
pub(super) fn apply(
    at: &FileContext<'_>,
    findings: Vec<Finding>,
    rules: &[&'static Rule],
) -> Vec<Finding> {
    if !at.file.text().contains(MARK) {
        return findings;
    }
    let comments = comments(at).into_iter();
    let read = comments.filter_map(|comment| of_comment(at, comment));
    let mut suppressions: Vec<Suppression> = read.collect();
    let mut kept = findings;
    kept.retain(|finding| !is_suppressed(&mut suppressions, finding));
    let hooks = rules.iter().flat_map(|&rule| {
        let hooks = rule.hooks.iter();
        hooks.filter_map(move |hook| {
            let Hook::Suppressions(check) = *hook else {
                return None;
            };
            Some((rule, check))
        })
    });
    let mut hooks = hooks.peekable();
    if hooks.peek().is_none() {
        return kept;
    }
    for suppression in &suppressions {
        // These findings should be suppressed by the corrected code, not fixed.
        let misspelt: Vec<&str> = suppression
            .codes
            .iter()
            .filter_map(Code::suggestion)
            .collect();
        let is_of_misspelt = |finding: &&mut Finding| {
            misspelt.contains(&finding.code)
                && suppression.covers.touches(finding.range.start as usize)
        };
        let misspelt = kept.iter_mut().filter(is_of_misspelt);
        misspelt.for_each(|finding| finding.fixes.clear());
    }
    let mut about_them = Vec::new();
    for (rule, check) in hooks {
        let mut findings = Findings::new(rule, at.file);
        check(at, &suppressions, &mut findings);
        about_them.append(&mut findings.list);
    }
    about_them.retain(|finding| !is_suppressed(&mut suppressions, finding));
    kept.append(&mut about_them);
    kept
}

fn is_suppressed(suppressions: &mut [Suppression], finding: &Finding) -> bool {
    let start = finding.range.start as usize;
    let here = suppressions
        .iter_mut()
        .filter(|it| it.covers.touches(start));
    let mut is_off = false;
    for code in here.flat_map(|it| &mut it.codes) {
        if code.name.as_deref().is_none_or(|name| name == finding.code) {
            code.is_used = true;
            is_off = true;
        }
    }
    is_off
}

/// The text after the mark of a comment for this program. The mark is at the start of a comment, or
/// of a second one in it.
pub(super) fn after_mark(comment: &str) -> Option<&str> {
    let mark = comment.find(MARK)?;
    let before = &comment[..mark];
    let is_sign = before.trim_matches(['#', '/', '*', ' ', '\t']).is_empty();
    let rest = &comment[mark + MARK.len()..];
    (is_sign || before.trim_end().ends_with(" #")).then(|| rest.trim_start_matches([' ', '\t']))
}

pub(super) fn comments(at: &FileContext<'_>) -> Vec<TextRange> {
    match at.role {
        FileRole::Code => puppet::parse(at.file.text(), puppet::Dialect::Manifest).comments,
        FileRole::Data(_) | FileRole::Config(_) | FileRole::Project | FileRole::Unread => {
            at.tree().comments().to_vec()
        }
    }
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
    let line = line_start(text, comment.start as usize);
    let is_alone = text[line..comment.start as usize].trim().is_empty();
    let covers = if is_file {
        TextRange::new(0, text.len())
    } else if !is_alone {
        TextRange::new(line, end_of_value(at.tree(), comment))
    } else if matches!(at.role, FileRole::Code) {
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

/// The end of the range of a comment after a value: its own end, or that of the block scalar that
/// starts in its line.
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

fn next_line(text: &str, comment: TextRange) -> TextRange {
    let end = comment.end as usize;
    let start = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    TextRange::new(start, end)
}

/// The codes in brackets; one entry for all codes if there are no brackets. `None` if the text is malformed.
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

/// The list element, a hash, that has a node as its first key.
fn element_of(tree: &Tree, id: NodeId) -> Option<TextRange> {
    let hash = tree.parent(id)?;
    let (first, _) = tree.node(hash).as_mapping()?.first()?;
    tree.node(tree.parent(hash)?).as_sequence()?;
    (*first == id).then(|| tree.node(hash).full_range())
}

/// The entry of a mapping, or the list element, that follows a comment.
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
    if let Some(element) = element_of(tree, id) {
        return Some(element);
    }
    let entries = tree.parent(id).and_then(|it| tree.node(it).as_mapping());
    let entry = entries.and_then(|entries| entries.iter().find(|(key, _)| *key == id));
    let value = entry.map(|(_, value)| tree.node(*value).full_range());
    Some(match value.filter(|value| !value.is_empty()) {
        Some(value) => node.range.cover(value),
        None => node.range,
    })
}
