//! Replaces secrets in texts, keeping their lines: a report holds none, encrypted or not.
//!
//! The same secret has the same number everywhere, so that a page can still say where it changes. The rules about
//! secrets decide what is one ([`secret`]); values that are converted to `Sensitive` are secrets too.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use indexmap::IndexMap;
use regex::{Captures, Regex, RegexBuilder, escape};

use crate::eyaml::{edit_marks, scan_source};
use crate::rules::secret;
use crate::syntax::{NodeId, NodeKind, Scalar, ScalarStyle, Tree};
use crate::text::{TextEdit, TextRange};

/// Minimum length of a secret that is also replaced where no rule finds it, in bytes.
const SHORTEST_ELSEWHERE: usize = 8;

/// Maximum size of the pattern of all secrets, in bytes.
const MAX_PATTERN: usize = 256 << 20;

/// The secrets of all texts of a report.
#[derive(Debug, Default)]
pub struct SecretMask {
    numbers: HashMap<Arc<str>, usize>,
    /// Payloads of encrypted values, without blanks.
    encrypted: HashMap<String, usize>,
}

impl SecretMask {
    /// The text of a file with its secrets replaced. `tree` is its structure if it is data, `is_sensitive` whether
    /// all values of a top-level key are secrets. O(bytes).
    pub fn masked(
        &mut self,
        text: &str,
        tree: Option<&Tree>,
        is_sensitive: &dyn Fn(&str) -> bool,
    ) -> String {
        let edits = match tree {
            Some(tree) => self.of_scalars(text, tree, is_sensitive),
            None => Vec::new(),
        };
        let text = edited(text, edits);
        let edits = self.of_marks(&text);
        let text = edited(&text, edits);
        let edits = self.of_lines(&text);
        let text = edited(&text, edits);
        let edits = self.of_blobs(&text);
        edited(&text, edits)
    }

    /// What replaces the secrets wherever they are. O(bytes of the secrets).
    #[must_use]
    pub fn everywhere(&self) -> SecretsEverywhere {
        let mut secrets: Vec<(&Arc<str>, &usize)> = self.numbers.iter().collect();
        secrets.retain(|(secret, _)| secret.len() >= SHORTEST_ELSEWHERE && !secret.contains('\n'));
        // A secret may be a part of another.
        secrets.sort_by_key(|(secret, number)| (std::cmp::Reverse(secret.len()), **number));
        let texts: Vec<String> = secrets.iter().map(|(secret, _)| escape(secret)).collect();
        let pattern = RegexBuilder::new(&texts.join("|"))
            .size_limit(MAX_PATTERN)
            .build();
        SecretsEverywhere {
            pattern: pattern.ok().filter(|_| !secrets.is_empty()),
            numbers: secrets
                .into_iter()
                .map(|(secret, number)| (secret.clone(), *number))
                .collect(),
        }
    }

    /// How many secrets were found.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len() + self.encrypted.len()
    }

    /// Whether none was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn number(&mut self, secret: &str) -> usize {
        let next = self.numbers.len() + 1;
        *self.numbers.entry(Arc::from(secret)).or_insert(next)
    }

    /// The scalars of data that are secrets.
    fn of_scalars(
        &mut self,
        text: &str,
        tree: &Tree,
        is_sensitive: &dyn Fn(&str) -> bool,
    ) -> Vec<TextEdit> {
        let mut sensitive: Vec<TextRange> = Vec::new();
        for (key, value) in tree.entries() {
            if tree.scalar_text(key).is_some_and(|key| is_sensitive(key)) {
                sensitive.push(tree.node(value).range);
            }
        }
        let keys = keys_of(tree);
        let mut edits = Vec::new();
        for (id, node) in tree.nodes() {
            let NodeKind::Scalar(scalar) = &node.kind else {
                continue;
            };
            if scalar.text.is_empty() {
                continue;
            }
            let key = tree.key_around(id);
            let is_key = keys.contains(&id);
            let is_plain = !scalar.text.contains("%{");
            let found = if is_key {
                secret(None, &scalar.text)
            } else {
                secret(key.map(|key| &**key), &scalar.text).filter(|_| is_plain)
            };
            let is_within =
                |range: &TextRange| range.start <= node.range.start && node.range.end <= range.end;
            let is_sensitive = !is_key && is_plain && sensitive.iter().any(is_within);
            if (found.is_some() || is_sensitive) && !scalar.text.contains("ENC[") {
                let number = self.number(&scalar.text);
                edits.push(TextEdit {
                    range: node.range,
                    new_text: scalar_of(scalar, node.range.slice(text), &stand_in(number)),
                });
            }
        }
        edits
    }

    /// Plain texts between the marks of `eyaml edit`.
    fn of_marks(&mut self, text: &str) -> Vec<TextEdit> {
        let marks = edit_marks(text).into_iter();
        let edits = marks.map(|mark| TextEdit {
            range: mark.plain,
            new_text: {
                let plain = mark.plain.slice(text);
                with_lines_of(plain, &stand_in(self.number(plain)))
            },
        });
        edits.collect()
    }

    /// Private keys in any text, and lines such as `password = …` in code and in comments.
    fn of_lines(&mut self, text: &str) -> Vec<TextEdit> {
        let mut edits = Vec::new();
        let (mut at, mut is_key) = (0, false);
        for line in text.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let body = line.trim();
            let begins = body.contains("-----BEGIN") && body.contains("PRIVATE KEY");
            is_key |= begins;
            if is_key {
                let ends = body.contains("-----END");
                if !begins && !ends && !body.is_empty() {
                    let indent = line.len() - line.trim_start().len();
                    let range = TextRange::new(start + indent, start + indent + body.len());
                    edits.push(TextEdit {
                        range,
                        new_text: "hidden".to_owned(),
                    });
                }
                is_key &= !ends;
                // A key on one line, with `\n` in it.
                if begins && ends {
                    let from = body.find("-----BEGIN").unwrap_or_default();
                    let from = line.find(body).unwrap_or_default() + from;
                    let end = line.rfind("-----END").unwrap_or(from);
                    edits.push(TextEdit {
                        range: TextRange::new(start + from, start + end),
                        new_text: "hidden".to_owned(),
                    });
                }
                continue;
            }
            for (key, value) in assignments(line) {
                let written = value.slice(line);
                if written.contains("%{") || written.contains("(a secret") {
                    continue;
                }
                if secret(Some(key), written).is_some() {
                    let number = self.number(written);
                    edits.push(TextEdit {
                        range: TextRange::new(
                            start + value.start as usize,
                            start + value.end as usize,
                        ),
                        new_text: stand_in(number),
                    });
                }
            }
        }
        edits
    }

    /// Encrypted values, which stay encrypted values: their payload is a number.
    fn of_blobs(&mut self, text: &str) -> Vec<TextEdit> {
        let found = scan_source(text);
        let whole = found.blobs.iter().map(|blob| blob.payload_range);
        let broken = found.broken.iter().map(|blob| {
            // Without `ENC[`.
            TextRange::new(
                (blob.range.start as usize + 4).min(blob.range.end as usize),
                blob.range.end as usize,
            )
        });
        let mut ranges: Vec<TextRange> = whole.chain(broken).collect();
        ranges.sort_by_key(|range| range.start);
        let edits = ranges.into_iter().filter_map(|range| {
            let written = range.slice(text);
            let payload: String = written.split_whitespace().collect();
            // Broken ones end with the first byte that cannot be in one.
            let tail = written.chars().next_back().filter(|last| {
                !last.is_ascii_alphanumeric() && !last.is_whitespace() && !"+/=".contains(*last)
            });
            if payload.len() <= 1 {
                return None;
            }
            let next = self.encrypted.len() + 1;
            let number = *self.encrypted.entry(payload).or_insert(next);
            let tail = tail.map(String::from).unwrap_or_default();
            Some(TextEdit {
                range,
                new_text: blob_of(written, number) + &tail,
            })
        });
        edits.collect()
    }
}

/// The secrets of all texts, to be replaced in any text.
#[derive(Debug, Default)]
pub struct SecretsEverywhere {
    /// One of them; `None` if there are none, or too many for a pattern.
    pattern: Option<Regex>,
    /// Those that are parts of others after these.
    numbers: IndexMap<Arc<str>, usize>,
}

impl SecretsEverywhere {
    /// A text without them. O(bytes), O(bytes × secrets) if the secrets are too many for a pattern.
    #[must_use]
    pub fn masked(&self, text: &str) -> String {
        if let Some(pattern) = &self.pattern {
            let shown = |found: &Captures<'_>| {
                let number = self.numbers.get(&found[0]);
                stand_in(number.copied().unwrap_or_default())
            };
            return pattern.replace_all(text, shown).into_owned();
        }
        let mut text = text.to_owned();
        for (secret, number) in &self.numbers {
            if text.contains(&**secret) {
                text = text.replace(&**secret, &stand_in(*number));
            }
        }
        text
    }
}

/// What stands for a secret.
pub(super) fn stand_in(number: usize) -> String {
    format!("(a secret {number})")
}

/// A scalar with another text, on as many lines. No style but quotes can hold every text.
pub(super) fn scalar_of(scalar: &Scalar, written: &str, text: &str) -> String {
    let quoted = match scalar.style {
        ScalarStyle::JsonString | ScalarStyle::JsonLiteral | ScalarStyle::DoubleQuoted => {
            format!("\"{text}\"")
        }
        ScalarStyle::Plain
        | ScalarStyle::SingleQuoted
        | ScalarStyle::Literal
        | ScalarStyle::Folded => format!("'{text}'"),
    };
    with_lines_of(written, &quoted)
}

/// A text followed by the line breaks of another.
fn with_lines_of(written: &str, text: &str) -> String {
    let lines = written.bytes().filter(|byte| *byte == b'\n').count();
    text.to_owned() + &"\n".repeat(lines)
}

/// A payload on the lines of another, none of them empty.
fn blob_of(written: &str, number: usize) -> String {
    let mut lines = written.split('\n').enumerate().map(|(at, line)| {
        let indent = &line[..line.len() - line.trim_start().len()];
        let body = match (at, line.trim().is_empty()) {
            (0, _) => format!("hidden{number:06}"),
            (_, true) => String::new(),
            (_, false) => "0000".to_owned(),
        };
        format!("{indent}{body}")
    });
    let first = lines.next().unwrap_or_default();
    lines.fold(first, |text, line| text + "\n" + &line)
}

/// The nodes that are keys.
pub(super) fn keys_of(tree: &Tree) -> HashSet<NodeId> {
    let pairs = tree.nodes().filter_map(|(_, node)| node.as_mapping());
    pairs.flatten().map(|(key, _)| *key).collect()
}

/// The names and values on a line: `name: value`, `name = value`, `name => 'value'`.
fn assignments(line: &str) -> Vec<(&str, TextRange)> {
    let mut found = Vec::new();
    for (at, sign) in line.match_indices(['=', ':']) {
        let before = line[..at].trim_end();
        let name = before.trim_end_matches(['"', '\'']);
        let from = name
            .rfind(|letter: char| !letter.is_alphanumeric() && !"_-:".contains(letter))
            .map_or(0, |at| at + 1);
        // A separator may be longer than a byte.
        let Some(name) = name.get(from..) else {
            continue;
        };
        let after = at + sign.len();
        let rest = line[after..].trim_start_matches(['>', ' ', '\t']);
        let start = line.len() - rest.len();
        let rest = rest.trim_end();
        let (start, length) = match rest.chars().next() {
            Some(quote @ ('"' | '\'')) => match rest[1..].find(quote) {
                Some(end) => (start + 1, end),
                None => continue,
            },
            _ => {
                let end = rest.find([' ', ',', ';', ')']).unwrap_or(rest.len());
                (start, end)
            }
        };
        if !name.is_empty() && length > 0 {
            found.push((name, TextRange::new(start, start + length)));
        }
    }
    // The parts of `a::password: x` begin at each colon; the outermost name is the whole one.
    found.dedup_by_key(|(_, range)| *range);
    found
}

/// A text after edits that do not overlap; of those that do, the first counts.
pub(super) fn edited(text: &str, mut edits: Vec<TextEdit>) -> String {
    edits.sort_by_key(|edit| (edit.range.start, std::cmp::Reverse(edit.range.end)));
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for edit in &edits {
        let range = edit.range.as_usize();
        if range.start < done {
            continue;
        }
        out += &text[done..range.start];
        out += &edit.new_text;
        done = range.end;
    }
    out + &text[done..]
}
