//! The parts of a HOCON file, and how they merge and join before and after references are resolved.
//!
//! Follows the gem's `abstract_config_value.rb`, `simple_config_object.rb`,
//! `config_delayed_merge*.rb` and `config_concatenation.rb`, defects included.

use std::rc::Rc;

use indexmap::IndexMap;

use super::super::{Value, float_to_s};
use crate::syntax::hocon::{render_path, render_string};

/// Maximum length of a joined string or list: a few lines can double a text many times.
const MAX_JOINED: usize = 16 << 20;

/// The gem's message for an object with open references.
pub(super) const NOT_RESOLVED: &str = "need to Config#resolve() before using this object, see \
                                       the API docs for Config#resolve()";

pub(super) type UnresolvedRef = Rc<Unresolved>;

/// A value that may still contain references.
#[derive(Debug)]
pub(super) struct Unresolved {
    pub(super) kind: UnresolvedKind,
    pub(super) lines: LineSpan,
    pub(super) resolved: bool,
}

#[derive(Debug)]
pub(super) enum UnresolvedKind {
    Null,
    Bool(bool),
    /// A number and its source text, which is used when it joins with other text.
    Number {
        value: Value,
        text: Rc<str>,
    },
    Text {
        text: Rc<str>,
        quoted: bool,
    },
    List(Vec<UnresolvedRef>),
    Object {
        entries: IndexMap<String, UnresolvedRef>,
        /// Whether a value that is no object replaced everything before.
        ignores_fallbacks: bool,
    },
    Reference {
        path: Vec<String>,
        optional: bool,
    },
    /// Values to join once their references are resolved.
    Concatenation(Vec<UnresolvedRef>),
    /// Values to merge once their references are resolved, the latest first.
    Delayed(Vec<UnresolvedRef>),
    /// The same, if the latest is an object.
    DelayedObject(Vec<UnresolvedRef>),
}

/// The source lines of a value, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineSpan {
    first: usize,
    last: usize,
}

impl LineSpan {
    pub(super) fn at(line: usize) -> LineSpan {
        LineSpan {
            first: line,
            last: line,
        }
    }

    fn cover(self, other: LineSpan) -> LineSpan {
        LineSpan {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
        }
    }
}

impl std::fmt::Display for LineSpan {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.first == self.last {
            write!(formatter, "String: {}", self.first)
        } else {
            write!(formatter, "String: {}-{}", self.first, self.last)
        }
    }
}

impl Unresolved {
    pub(super) fn new(kind: UnresolvedKind, lines: LineSpan) -> UnresolvedRef {
        let resolved = match &kind {
            UnresolvedKind::Null
            | UnresolvedKind::Bool(_)
            | UnresolvedKind::Number { .. }
            | UnresolvedKind::Text { .. } => true,
            UnresolvedKind::List(elements) => elements.iter().all(|element| element.resolved),
            UnresolvedKind::Object { entries, .. } => entries.values().all(|value| value.resolved),
            _ => false,
        };
        Rc::new(Unresolved {
            kind,
            lines,
            resolved,
        })
    }

    pub(super) fn null(line: usize) -> UnresolvedRef {
        Unresolved::new(UnresolvedKind::Null, LineSpan::at(line))
    }

    pub(super) fn object(
        entries: IndexMap<String, UnresolvedRef>,
        lines: LineSpan,
    ) -> UnresolvedRef {
        Unresolved::object_with(entries, false, lines)
    }

    pub(super) fn object_with(
        entries: IndexMap<String, UnresolvedRef>,
        ignores_fallbacks: bool,
        lines: LineSpan,
    ) -> UnresolvedRef {
        let kind = UnresolvedKind::Object {
            entries,
            ignores_fallbacks,
        };
        Unresolved::new(kind, lines)
    }

    pub(super) fn is_object(&self) -> bool {
        matches!(
            self.kind,
            UnresolvedKind::Object { .. } | UnresolvedKind::DelayedObject(_)
        )
    }

    /// Whether its kind depends on references.
    pub(super) fn is_unmergeable(&self) -> bool {
        matches!(
            self.kind,
            UnresolvedKind::Reference { .. }
                | UnresolvedKind::Concatenation(_)
                | UnresolvedKind::Delayed(_)
                | UnresolvedKind::DelayedObject(_)
        )
    }

    pub(super) fn is_container(&self) -> bool {
        !matches!(
            self.kind,
            UnresolvedKind::Null
                | UnresolvedKind::Bool(_)
                | UnresolvedKind::Number { .. }
                | UnresolvedKind::Text { .. }
                | UnresolvedKind::Reference { .. }
        )
    }

    /// Whether earlier values cannot change it.
    pub(super) fn ignores_fallbacks(&self) -> bool {
        match &self.kind {
            UnresolvedKind::Object {
                ignores_fallbacks, ..
            } => *ignores_fallbacks,
            UnresolvedKind::Delayed(stack) | UnresolvedKind::DelayedObject(stack) => {
                stack.last().is_some_and(|last| last.ignores_fallbacks())
            }
            UnresolvedKind::Reference { .. } | UnresolvedKind::Concatenation(_) => false,
            _ => self.resolved,
        }
    }

    fn joining_text(&self) -> Option<&str> {
        match &self.kind {
            UnresolvedKind::Null => Some("null"),
            UnresolvedKind::Bool(true) => Some("true"),
            UnresolvedKind::Bool(false) => Some("false"),
            UnresolvedKind::Number { text, .. } | UnresolvedKind::Text { text, .. } => Some(text),
            _ => None,
        }
    }
}

/// The value of a key with `part` written after `before`.
pub(super) fn with_fallback(
    part: &UnresolvedRef,
    before: &UnresolvedRef,
) -> Result<UnresolvedRef, String> {
    if part.ignores_fallbacks() {
        return Ok(part.clone());
    }
    if before.is_unmergeable() {
        let mut stack = stack_of(part);
        stack.extend(stack_of(before));
        return Ok(delayed(part, stack));
    }
    match (&part.kind, &before.kind) {
        (
            UnresolvedKind::Object { entries, .. },
            UnresolvedKind::Object {
                entries: older,
                ignores_fallbacks,
            },
        ) => {
            let merged = merge_entries(entries, older)?;
            let lines = merged_lines(&[part.clone(), before.clone()]);
            Ok(Unresolved::object_with(merged, *ignores_fallbacks, lines))
        }
        (UnresolvedKind::Object { entries, .. }, _) if part.resolved => {
            Ok(Unresolved::object_with(entries.clone(), true, part.lines))
        }
        _ => {
            let mut stack = stack_of(part);
            stack.push(before.clone());
            Ok(delayed(part, stack))
        }
    }
}

/// The newer keys come first, then those that only the older has.
fn merge_entries(
    newer: &IndexMap<String, UnresolvedRef>,
    older: &IndexMap<String, UnresolvedRef>,
) -> Result<IndexMap<String, UnresolvedRef>, String> {
    let mut merged = IndexMap::with_capacity(newer.len());
    for (key, value) in newer {
        let kept = match older.get(key) {
            Some(before) => with_fallback(value, before)?,
            None => value.clone(),
        };
        // The gem compares the two and fails on the open references.
        let was_object = matches!(value.kind, UnresolvedKind::Object { .. });
        if was_object && matches!(kept.kind, UnresolvedKind::DelayedObject(_)) {
            return Err(NOT_RESOLVED.to_owned());
        }
        merged.insert(key.clone(), kept);
    }
    for (key, value) in older {
        if !merged.contains_key(key) {
            merged.insert(key.clone(), value.clone());
        }
    }
    Ok(merged)
}

fn stack_of(part: &UnresolvedRef) -> Vec<UnresolvedRef> {
    match &part.kind {
        UnresolvedKind::Delayed(stack) | UnresolvedKind::DelayedObject(stack) => stack.clone(),
        _ => vec![part.clone()],
    }
}

fn delayed(part: &UnresolvedRef, stack: Vec<UnresolvedRef>) -> UnresolvedRef {
    let lines = merged_lines(&stack);
    let kind = if part.is_object() {
        UnresolvedKind::DelayedObject(stack)
    } else {
        UnresolvedKind::Delayed(stack)
    };
    Unresolved::new(kind, lines)
}

/// The lines of a merge; empty objects don't count unless there is nothing else.
fn merged_lines(parts: &[UnresolvedRef]) -> LineSpan {
    let counts = |part: &&UnresolvedRef| match &part.kind {
        UnresolvedKind::Object { entries, .. } => !entries.is_empty(),
        _ => true,
    };
    let lines = parts.iter().filter(counts).map(|part| part.lines);
    let lines = lines.reduce(LineSpan::cover);
    lines.unwrap_or_else(|| parts.first().map_or(LineSpan::at(1), |part| part.lines))
}

/// Joins values; `None` if there are none.
pub(super) fn concatenate(pieces: &[UnresolvedRef]) -> Result<Option<UnresolvedRef>, String> {
    let mut joined = consolidate(pieces)?;
    if joined.len() < 2 {
        return Ok(joined.pop());
    }
    let lines = joined.iter().map(|part| part.lines).reduce(LineSpan::cover);
    let lines = lines.unwrap_or(LineSpan::at(1));
    let kind = UnresolvedKind::Concatenation(joined);
    Ok(Some(Unresolved::new(kind, lines)))
}

/// Joins all neighbours that can already be joined.
pub(super) fn consolidate(pieces: &[UnresolvedRef]) -> Result<Vec<UnresolvedRef>, String> {
    if pieces.len() < 2 {
        return Ok(pieces.to_vec());
    }
    let mut joined: Vec<UnresolvedRef> = Vec::new();
    for piece in pieces {
        let inner = match &piece.kind {
            UnresolvedKind::Concatenation(inner) => inner.as_slice(),
            _ => std::slice::from_ref(piece),
        };
        for right in inner {
            match joined.pop() {
                Some(left) => match join(&left, right)? {
                    Some(both) => joined.push(both),
                    None => joined.extend([left, right.clone()]),
                },
                None => joined.push(right.clone()),
            }
        }
    }
    Ok(joined)
}

fn join(left: &UnresolvedRef, right: &UnresolvedRef) -> Result<Option<UnresolvedRef>, String> {
    let (left_is_list, right_is_list) = (
        matches!(left.kind, UnresolvedKind::List(_)),
        matches!(right.kind, UnresolvedKind::List(_)),
    );
    if left.is_object() && right_is_list {
        as_list(left)?;
    } else if left_is_list && right.is_object() {
        as_list(right)?;
    }
    if left.is_object() && right.is_object() {
        return with_fallback(right, left).map(Some);
    }
    if let (UnresolvedKind::List(first), UnresolvedKind::List(second)) = (&left.kind, &right.kind) {
        check_size(first.len() + second.len())?;
        let kind = UnresolvedKind::List(first.iter().chain(second).cloned().collect());
        let lines = left.lines.cover(right.lines);
        return Ok(Some(Unresolved::new(kind, lines)));
    }
    // Intended for the blank between two lists; the gem drops any text without quotes.
    let is_unquoted = matches!(right.kind, UnresolvedKind::Text { quoted: false, .. });
    if (left_is_list || left.is_object()) && is_unquoted {
        return Ok(Some(left.clone()));
    }
    if left.is_unmergeable() || right.is_unmergeable() {
        return Ok(None);
    }
    let (Some(first), Some(second)) = (left.joining_text(), right.joining_text()) else {
        return Err(format!(
            "{}: Cannot concatenate object or list with a non-object-or-list, {} and {} are not \
             compatible",
            left.lines,
            describe(left),
            describe(right)
        ));
    };
    check_size(first.len() + second.len())?;
    let text = Rc::from(format!("{first}{second}"));
    let kind = UnresolvedKind::Text { text, quoted: true };
    Ok(Some(Unresolved::new(kind, left.lines.cover(right.lines))))
}

fn check_size(size: usize) -> Result<(), String> {
    if size > MAX_JOINED {
        return Err(format!("joined values are larger than {MAX_JOINED}"));
    }
    Ok(())
}

/// The gem tries to make a list of an object with numbers for keys, and crashes.
fn as_list(object: &UnresolvedRef) -> Result<(), String> {
    let UnresolvedKind::Object { entries, .. } = &object.kind else {
        return Err(NOT_RESOLVED.to_owned());
    };
    let is_index = |key: &String| {
        let digits = key.strip_prefix('+').unwrap_or(key);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    if entries.keys().any(is_index) {
        let message = "uninitialized constant Hocon::Impl::DefaultTransformer::SimpleConfigList";
        return Err(message.to_owned());
    }
    Ok(())
}

/// Ruby's `to_s` of a part, for messages.
pub(super) fn describe(part: &Unresolved) -> String {
    let class = match &part.kind {
        UnresolvedKind::Null => "ConfigNull",
        UnresolvedKind::Bool(_) => "ConfigBoolean",
        UnresolvedKind::Number {
            value: Value::Float(_),
            ..
        } => "ConfigDouble",
        UnresolvedKind::Number { .. } => "ConfigInt",
        UnresolvedKind::Text { quoted: true, .. } => "Quoted",
        UnresolvedKind::Text { quoted: false, .. } => "Unquoted",
        UnresolvedKind::List(_) => "SimpleConfigList",
        UnresolvedKind::Object { .. } => "SimpleConfigObject",
        UnresolvedKind::Reference { .. } => "ConfigReference",
        UnresolvedKind::Concatenation(_) => "ConfigConcatenation",
        UnresolvedKind::Delayed(_) => "ConfigDelayedMerge",
        UnresolvedKind::DelayedObject(_) => "ConfigDelayedMergeObject",
    };
    format!("{class}({})", render(part))
}

/// A reference as written.
pub(super) fn expression(path: &[String], optional: bool) -> String {
    let mark = if optional { "?" } else { "" };
    format!("${{{mark}{}}}", render_path(path))
}

fn render(part: &Unresolved) -> String {
    let all = |parts: &[UnresolvedRef], between: &str| {
        let texts: Vec<String> = parts.iter().map(|part| render(part)).collect();
        texts.join(between)
    };
    match &part.kind {
        UnresolvedKind::Null => "null".to_owned(),
        UnresolvedKind::Bool(truth) => truth.to_string(),
        UnresolvedKind::Number {
            value: Value::Float(float),
            ..
        } => float_to_s(*float),
        UnresolvedKind::Number { value, .. } => value.inspect(),
        UnresolvedKind::Text { text, .. } => render_string(text),
        UnresolvedKind::List(elements) => format!("[{}]", all(elements, ",")),
        UnresolvedKind::Object { entries, .. } => {
            let mut sorted: Vec<(&String, &UnresolvedRef)> = entries.iter().collect();
            sorted.sort_by_key(|(key, _)| {
                let number: Option<u64> = key.parse().ok();
                (number.is_none(), number, (*key).clone())
            });
            let entry = |(key, value): (&String, &UnresolvedRef)| {
                format!("{}:{}", render_string(key), render(value))
            };
            let entries: Vec<String> = sorted.into_iter().map(entry).collect();
            format!("{{{}}}", entries.join(","))
        }
        UnresolvedKind::Reference { path, optional } => expression(path, *optional),
        UnresolvedKind::Concatenation(pieces) => all(pieces, ""),
        UnresolvedKind::Delayed(stack) | UnresolvedKind::DelayedObject(stack) => all(stack, ","),
    }
}
