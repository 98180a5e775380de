//! The top-level entries of a YAML file, and edits that preserve the rest of the file: comments,
//! order, quotes, line ends.

use std::sync::Arc;

use super::flow;
use super::mapping::{entry_range, own_lines};
use super::part::with_part;
use super::style::{Style, column};
use crate::syntax::{NodeId, NodeKind, Parse, ScalarStyle, Tree};
use crate::text::{TextEdit, TextRange, line_end, line_start};
use crate::value::Value;
use crate::workspace::{File, Format, LOOKUP_OPTIONS, Snapshot, path};

/// A YAML file for edits of its entries.
pub struct Sheet<'a> {
    /// The file.
    pub file: &'a Arc<File>,
    parse: Arc<Parse>,
    /// The style of new text.
    pub style: Style,
}

/// An entry of the top-level mapping.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TopEntry {
    /// The key.
    pub key: NodeId,
    /// The value.
    pub value: NodeId,
}

impl<'a> Sheet<'a> {
    /// Opens a file of a snapshot.
    ///
    /// # Errors
    /// Why its entries cannot be edited, for people.
    pub fn of(snapshot: &'a Snapshot, at: &str) -> Result<Sheet<'a>, String> {
        let name = path::name(at);
        let file = snapshot.file(at);
        let file = file.ok_or_else(|| format!("{name}: no such file"))?;
        if file.format() != Some(Format::Yaml) {
            return Err(format!(
                "{name} is not a YAML file: only YAML files can be edited"
            ));
        }
        let parse = snapshot.parse_of(file, Format::Yaml);
        if parse.error().is_some() || file.facts().error.is_some() {
            return Err(format!("{name} has a syntax error: fix it first"));
        }
        let tree = &parse.tree;
        if let Some(root) = tree.root() {
            let node = tree.node(root);
            let pairs = node.as_mapping();
            let is_empty = node.range.is_empty() || pairs.is_some_and(|pairs| pairs.is_empty());
            let is_block = pairs.is_some()
                && !node.range.slice(file.text()).starts_with('{')
                && node.anchor.is_none()
                && node.tag.is_none();
            if !is_empty && !is_block {
                return Err(format!(
                    "{name} does not have one entry per line: edit it by hand"
                ));
            }
        }
        let style = Style::of(file.text(), tree);
        Ok(Sheet { file, parse, style })
    }

    /// The file's tree.
    #[must_use]
    pub fn tree(&self) -> &Tree {
        &self.parse.tree
    }

    /// The file's text.
    #[must_use]
    pub fn text(&self) -> &'a str {
        self.file.text()
    }

    /// The names and entries, in order.
    pub fn names(&self) -> impl Iterator<Item = (&Arc<str>, TopEntry)> {
        let tree = self.tree();
        tree.entries()
            .filter_map(|(key, value)| Some((tree.scalar_text(key)?, TopEntry { key, value })))
    }

    /// Every entry of a name; the last one is effective.
    #[must_use]
    pub fn all(&self, key: &str) -> Vec<TopEntry> {
        let named = self.names().filter(|(name, _)| ***name == *key);
        named.map(|(_, entry)| entry).collect()
    }

    /// The effective entry of a name; `None` for keys that a merge key adds.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<TopEntry> {
        self.all(key).pop()
    }

    /// Whether an entry loads the same in another file: it contains no anchor, alias, tag or merge key.
    #[must_use]
    pub fn is_plain(&self, entry: TopEntry) -> bool {
        self.tree().stands_alone(self.range(entry))
    }

    /// The range of an entry, from its key to the end of its value.
    #[must_use]
    pub fn range(&self, entry: TopEntry) -> TextRange {
        let key = self.tree().node(entry.key).full_range();
        let value = self.tree().node(entry.value).full_range();
        if value.is_empty() {
            key
        } else {
            key.cover(value)
        }
    }

    /// The whole lines of an entry; `None` if the lines contain anything else.
    #[must_use]
    pub fn lines(&self, entry: TopEntry) -> Option<TextRange> {
        let range = entry_range(self.tree(), (entry.key, entry.value));
        let start = own_lines(self.text(), range)?.start;
        let end = self.line_end(entry, range.end as usize);
        (start == range.start).then(|| TextRange::new(start as usize, end))
    }

    /// The end of an entry's last line; blank lines belong to a block scalar that keeps them.
    fn line_end(&self, entry: TopEntry, end: usize) -> usize {
        let text = self.text();
        let mut at = line_end(text, end);
        if self.keeps_blank_lines(entry.value) {
            while at < text.len() && text[at..line_end(text, at)].trim().is_empty() {
                at = line_end(text, at);
            }
        }
        at
    }

    fn keeps_blank_lines(&self, id: NodeId) -> bool {
        let node = self.tree().node(id);
        let last = match &node.kind {
            NodeKind::Scalar(scalar) => {
                let head = node.range.slice(self.text()).lines().next();
                return matches!(scalar.style, ScalarStyle::Literal | ScalarStyle::Folded)
                    && head.is_some_and(|head| head.contains('+'));
            }
            NodeKind::Mapping(pairs) => pairs.last().map(|(_, value)| *value),
            NodeKind::Sequence(elements) => elements.last().copied(),
            NodeKind::Alias { .. } => None,
        };
        last.is_some_and(|last| self.keeps_blank_lines(last))
    }

    /// The lines of an entry with the comments right above it, except for comments at the start of the file.
    #[must_use]
    pub fn with_comments(&self, entry: TopEntry) -> Option<TextRange> {
        let own = self.lines(entry)?;
        Some(with_comments(self.text(), own).unwrap_or(own))
    }

    /// The comments above, beside and inside of an entry. O(comments).
    pub fn comments_of(&self, entry: TopEntry) -> Vec<&'a str> {
        let whole = self.with_comments(entry);
        whole.map_or_else(Vec::new, |whole| self.comments_in(whole))
    }

    /// The comments in a range. O(comments).
    pub fn comments_in(&self, part: TextRange) -> Vec<&'a str> {
        let comments = self.tree().comments().iter();
        let inside = comments.filter(|comment| part.contains(**comment));
        let text = self.text();
        inside
            .map(|comment| comment.slice(text).trim_end())
            .collect()
    }

    /// Removes lines of entries; a file without any entries left becomes an empty hash.
    #[must_use]
    pub fn removal(&self, lines: TextRange) -> TextEdit {
        let root = self.tree().root().map(|root| self.tree().node(root).range);
        let is_all = root.is_some_and(|root| lines.contains(root));
        if is_all {
            TextEdit::replace(lines, self.style.with_ends("{}\n"))
        } else {
            TextEdit::delete(lines)
        }
    }

    /// Adds an entry at its place: in order if the file is sorted, else behind keys of the same
    /// class or module, else at the end.
    #[must_use]
    pub fn addition(&self, key: &str, value: &Value) -> TextEdit {
        self.insertion(key, &self.style.entry(key, value))
    }

    /// The same, with the lines of the entry already written.
    #[must_use]
    pub fn insertion(&self, key: &str, lines: &str) -> TextEdit {
        let text = self.text();
        let lines = self.style.with_ends(lines);
        let root = self.tree().root().map(|root| self.tree().node(root).range);
        let root = root.filter(|root| !root.is_empty());
        if let Some(root) = root.filter(|_| self.tree().entries().next().is_none()) {
            return TextEdit::replace(root, lines.trim_end());
        }
        let at = match self.neighbour(key) {
            Some(Neighbour::Before(entry)) => {
                let start = self.with_comments(entry).or_else(|| self.lines(entry));
                start.map_or(text.len(), |range| range.start as usize)
            }
            Some(Neighbour::Behind(entry)) => {
                let end = self.line_end(entry, self.range(entry).end as usize);
                // Indented comments belong to the entry above them.
                let own = text[end..].split_inclusive('\n').take_while(|line| {
                    let comment = line.trim_start_matches(' ');
                    comment.len() < line.len() && comment.starts_with('#')
                });
                end + own.map(str::len).sum::<usize>()
            }
            None => {
                let ignored = self.tree().ignored();
                ignored.map_or(text.len(), |range| range.start as usize)
            }
        };
        self.inserted(at, &lines)
    }

    /// Inserts lines behind a line; the last one may lack a line break.
    fn inserted(&self, at: usize, lines: &str) -> TextEdit {
        if line_start(self.text(), at) == at {
            return TextEdit::insert(at, lines);
        }
        let end = self.style.with_ends("\n");
        TextEdit::insert(at, format!("{end}{}", lines.trim_end_matches(['\r', '\n'])))
    }

    fn neighbour(&self, key: &str) -> Option<Neighbour> {
        let all: Vec<(&Arc<str>, TopEntry)> = self.names().collect();
        let is_data = |name: &str| name != LOOKUP_OPTIONS;
        let data: Vec<_> = all.iter().filter(|(name, _)| is_data(name)).collect();
        let is_ordered = data.len() > 1 && data.is_sorted_by_key(|(name, _)| name);
        if is_ordered && is_data(key) {
            let next = data.iter().position(|(name, _)| ***name > *key);
            return Some(match next.unwrap_or(data.len()) {
                0 => Neighbour::Before(data[0].1),
                at => Neighbour::Behind(data[at - 1].1),
            });
        }
        let shared = |name: &str| {
            let parts = name.split("::").zip(key.split("::"));
            parts.take_while(|(one, other)| one == other).count()
        };
        let near = data.into_iter().filter(|(name, _)| shared(name) > 0);
        let near = near.max_by_key(|(name, _)| shared(name));
        let found = near.or(all.last());
        found.map(|(_, entry)| Neighbour::Behind(*entry))
    }

    /// Replaces an entry's value. Unchanged parts of a list or a hash keep their text.
    ///
    /// # Errors
    /// Why it cannot be replaced, for people.
    pub fn set(&self, entry: TopEntry, value: &Value) -> Result<TextEdit, String> {
        let text = self.text();
        let tree = self.tree();
        let old = tree.node(entry.value);
        let name = tree.scalar_text(entry.key).cloned().unwrap_or_default();
        if !self.is_plain(entry) {
            return Err(format!("'{name}' has an anchor, an alias or a tag"));
        }
        let lines = self.lines(entry);
        let lines = lines.ok_or_else(|| format!("'{name}' shares a line with other entries"))?;
        if let Some(edit) = self.part_edit(entry.value, &[], (value, false)) {
            return Ok(edit);
        }
        let rendered = self.style.entry("k", value);
        let rest = rendered.strip_prefix("k:").unwrap_or_default();
        // A comment after a value on one line stays; comments inside of the old value are removed with it.
        let is_short = !old.range.slice(text).contains('\n') && !old.range.is_empty();
        let comment = if is_short {
            text[old.range.end as usize..lines.end as usize].trim_end()
        } else {
            ""
        };
        let rest = match rest.split_once('\n') {
            Some((first, more)) if !comment.is_empty() => format!("{first}{comment}\n{more}"),
            Some(_) | None => rest.to_owned(),
        };
        let key_end = tree.node(entry.key).full_range().end as usize;
        let colon = text[key_end..].find(':');
        let colon = colon.ok_or_else(|| format!("'{name}' has no colon"))?;
        let rest = if text[..lines.end as usize].ends_with('\n') {
            rest.as_str()
        } else {
            rest.trim_end_matches('\n')
        };
        let range = TextRange::new(key_end + colon + 1, lines.end as usize);
        Ok(TextEdit::replace(range, self.style.with_ends(rest)))
    }

    /// Replaces a part of an entry's value. In block style, everything else keeps its text.
    ///
    /// # Errors
    /// Why it cannot be replaced, for people.
    pub fn set_part(
        &self,
        entry: TopEntry,
        steps: &[Value],
        value: &Value,
    ) -> Result<TextEdit, String> {
        let edit = self.part_edit(entry.value, steps, (value, false));
        if let Some(edit) = edit.filter(|_| self.is_plain(entry)) {
            return Ok(edit);
        }
        let name = self.tree().scalar_text(entry.key).cloned();
        let whole = crate::value::load_node(self.tree(), entry.value);
        let whole = whole.map_err(|error| error.message("the value"))?;
        let new = with_part(Some(&whole), steps, value);
        let new = new.ok_or_else(|| {
            let name = name.unwrap_or_default();
            format!("the value of '{name}' has no hash or list element there")
        })?;
        self.set(entry, &new)
    }

    /// The edit of the innermost value only; it may be inside of a flow collection (`in_flow`).
    fn part_edit(
        &self,
        id: NodeId,
        steps: &[Value],
        (value, in_flow): (&Value, bool),
    ) -> Option<TextEdit> {
        let (tree, text) = (self.tree(), self.text());
        let node = tree.node(id);
        let own = node.range.slice(text);
        let Some((step, rest)) = steps.split_first() else {
            let scalar = if in_flow {
                flow::scalar(self.style, value)
            } else {
                self.style.scalar(value)
            };
            let is_short = !own.is_empty() && !own.contains('\n');
            let scalar = scalar.filter(|_| is_short);
            let new = scalar.map(|new| requoted(own, &new));
            // A list or a hash may stay on one line.
            let new = new.or_else(|| flow::rewritten(tree, text, self.style, (id, value)));
            return match new {
                Some(new) => Some(TextEdit::replace(node.range, new)),
                None => self.grown(id, value),
            };
        };
        let in_flow = in_flow || own.starts_with(['[', '{']);
        match (&node.kind, step) {
            (NodeKind::Mapping(pairs), _) => {
                let is_it =
                    |key: NodeId| crate::value::load_node(tree, key).is_ok_and(|key| key == *step);
                let found = pairs.iter().rev().find(|(key, _)| is_it(*key));
                if let Some(&(_, inner)) = found {
                    return self.part_edit(inner, rest, (value, in_flow));
                }
                let whole = crate::value::load_node(tree, id).ok()?;
                let whole = with_part(Some(&whole), steps, value)?;
                self.part_edit(id, &[], (&whole, in_flow))
            }
            (NodeKind::Sequence(elements), Value::Int(number)) => {
                let at = usize::try_from(*number).ok()?;
                self.part_edit(*elements.get(at)?, rest, (value, in_flow))
            }
            (_, _) => None,
        }
    }

    /// The edit that only appends elements to a block list, or entries to a block hash; `None` for
    /// other changes.
    fn grown(&self, id: NodeId, value: &Value) -> Option<TextEdit> {
        let text = self.text();
        let node = self.tree().node(id);
        let old = crate::value::load_node(self.tree(), id).ok()?;
        let more = match (&old, value) {
            (Value::Array(old), Value::Array(new)) if new.starts_with(old) => {
                Value::array(new[old.len()..].iter().cloned())
            }
            (Value::Hash(old), Value::Hash(new)) => {
                let begins = old.iter().zip(new.iter()).all(|(one, other)| one == other);
                let more = new.iter().skip(old.len());
                let more = more.map(|(key, value)| (key.clone(), value.clone()));
                let is_more = begins && old.len() < new.len();
                is_more.then(|| Value::from(more.collect::<crate::value::HashMap>()))?
            }
            (_, _) => return None,
        };
        let is_flow = node.range.slice(text).starts_with(['[', '{']);
        let is_empty = more.as_array().is_some_and(<[Value]>::is_empty) || node.range.is_empty();
        if is_flow || is_empty || self.keeps_blank_lines(id) {
            return None;
        }
        let start = node.range.start as usize;
        let indent = " ".repeat(column(text, start));
        let starts_line = text[..start].ends_with(&indent);
        let lines = starts_line.then(|| crate::value::dump_data(&more))?;
        let lines = lines.lines().map(|line| format!("{indent}{line}\n"));
        let lines = self.style.with_ends(&lines.collect::<String>());
        Some(self.inserted(line_end(text, node.range.end as usize), &lines))
    }

    /// Sets the merge of a key in this file's `lookup_options`; other options are kept or copied
    /// from the effective ones (`known`).
    ///
    /// # Errors
    /// Why it cannot be done, for people.
    pub fn with_merge(
        &self,
        key: &str,
        merge: &Value,
        known: Option<&Value>,
    ) -> Result<TextEdit, String> {
        let name = Value::from(key);
        let Some(entry) = self.entry(LOOKUP_OPTIONS) else {
            let own = Value::hash([(key, with_merge(known, merge))]);
            return Ok(self.addition(LOOKUP_OPTIONS, &own));
        };
        let old = crate::value::load_node(self.tree(), entry.value);
        let old = old.map_err(|error| error.message(LOOKUP_OPTIONS))?;
        match old.as_hash().and_then(|all| all.get(&name)) {
            Some(own) if own.as_hash().is_some() => {
                self.set_part(entry, &[name, Value::from("merge")], merge)
            }
            Some(_) | None => self.set_part(entry, &[name], &with_merge(known, merge)),
        }
    }
}

/// The options of a key with another merge.
#[must_use]
pub fn with_merge(known: Option<&Value>, merge: &Value) -> Value {
    let mut options = known.and_then(Value::as_hash).cloned().unwrap_or_default();
    options.insert(Value::from("merge"), merge.clone());
    options.into()
}

/// Lines with the comments right above them in the same column; `None` if the file starts with
/// those.
#[must_use]
pub fn with_comments(text: &str, lines: TextRange) -> Option<TextRange> {
    let blanks = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let own = blanks(lines.slice(text));
    let mut start = lines.start as usize;
    loop {
        let above = text[..start].strip_suffix('\n')?;
        let line = line_start(text, above.len());
        let comment = &above[line..];
        if blanks(comment) != own || !comment[own..].starts_with('#') {
            return Some(TextRange::new(start, lines.end as usize));
        }
        start = line;
    }
}

enum Neighbour {
    Before(TopEntry),
    Behind(TopEntry),
}

/// A new scalar in the quotes of the old one, if they do not change its value.
fn requoted(old: &str, new: &str) -> String {
    let quote = old.chars().next().filter(|c| matches!(c, '"' | '\''));
    let inner = new.strip_prefix('\'');
    let inner = inner.and_then(|rest| rest.strip_suffix('\''));
    match (quote, inner) {
        (Some(quote), Some(inner)) if !inner.contains(['\'', '"', '\\']) => {
            format!("{quote}{inner}{quote}")
        }
        (_, _) => new.to_owned(),
    }
}
