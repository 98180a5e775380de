//! Comments that turn findings off: `# hiera-ls: ignore[CODE]` for its line, or for the next key if it
//! stands alone in its line, and `# hiera-ls: ignore-file[CODE]` for the file. Without brackets all
//! codes are meant. It knows no rule: those about such comments have a hook.

use super::context::{FileContext, Role};
use super::finding::{Finding, Findings};
use super::{Hook, RULES, rule};
use crate::syntax::{NodeId, NodeKind, ScalarStyle, Tree, puppet};
use crate::text::{TextRange, nearest};

/// What such a comment begins with; `ignore` follows, with blanks between or without.
const MARK: &str = "hiera-ls:";

/// The words that can follow it.
pub(super) const WORDS: [&str; 2] = ["ignore", "ignore-file"];

/// One comment.
pub(super) struct Suppression {
    /// The comment.
    pub(super) comment: TextRange,
    /// Where findings are turned off.
    covers: TextRange,
    /// The codes, with their places, and whether each turned something off.
    pub(super) codes: Vec<Code>,
}

pub(super) struct Code {
    /// The code; none for all.
    pub(super) name: Option<String>,
    pub(super) range: TextRange,
    pub(super) is_used: bool,
}

impl Code {
    /// The rule that a name which is none most likely means.
    pub(super) fn meant(&self) -> Option<&'static str> {
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
    let mut about_them = findings_about(at, &suppressions);
    about_them.retain(|finding| !is_suppressed(&mut suppressions, finding));
    kept.append(&mut about_them);
    kept
}

/// What rules report about the comments.
fn findings_about(at: &FileContext<'_>, suppressions: &[Suppression]) -> Vec<Finding> {
    let mut found = Vec::new();
    for rule in RULES {
        for hook in rule.hooks {
            if let Hook::Suppressions(check) = hook {
                let mut findings = Findings::new(rule, at.file);
                check(at, suppressions, &mut findings);
                found.append(&mut findings.list);
            }
        }
    }
    found
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

/// What follows the mark of a comment for this program. The mark stands at the start of a comment, or of
/// another one behind it.
pub(super) fn after_mark(comment: &str) -> Option<&str> {
    let mark = comment.find(MARK)?;
    let before = &comment[..mark];
    let is_sign = before.trim_matches(['#', '/', '*', ' ', '\t']).is_empty();
    let rest = &comment[mark + MARK.len()..];
    (is_sign || before.trim_end().ends_with(" #")).then(|| rest.trim_start_matches([' ', '\t']))
}

/// The comments of a file.
pub(super) fn comments(at: &FileContext<'_>) -> Vec<TextRange> {
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
