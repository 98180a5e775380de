//! Values as YAML for people: short lists on one line, remarks as comments, secrets masked. Without
//! secrets and unknown parts the YAML loads as the same value.

use std::borrow::Cow;
use std::collections::HashMap;

use super::WIDTH;
use crate::eyaml;
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::text::{cut, folded};
use crate::value::{Opaque, Value, dump_for_hover};

/// Remarks by position: the indexes that lead to a part of a value, outermost first.
pub(crate) type Notes = HashMap<Vec<usize>, String>;

/// Maximum width of a list on one line, in characters.
const SHORT_LIST: usize = 60;

/// Comments are aligned, at most at this column.
const MAX_INDENT: usize = 48;

/// Maximum number of lines of one value before it is cut; values can be huge.
const MAX_LINES: usize = 20_000;

/// The same for a whole value: nested aliases can expand without end.
const MAX_WHOLE: usize = 500_000;

struct YamlLine {
    text: String,
    note: Option<String>,
}

pub(crate) struct Shown {
    pub(crate) lines: Vec<String>,
    /// Whether some lines are shortened.
    pub(crate) is_shortened: bool,
}

/// A value as lines. A remark is a comment behind its line, or above it if the line would be wider
/// than [`WIDTH`]. The end of longer lines is cut unless `is_whole`.
pub(crate) fn lines(value: &Value, notes: &Notes, is_whole: bool) -> Shown {
    let mut writer = YamlLines {
        notes,
        most: if is_whole { MAX_WHOLE } else { MAX_LINES },
        out: Vec::new(),
    };
    writer.value(String::new(), 0, value, &mut Vec::new());
    let mut written = writer.out;
    if is_whole && written.len() >= MAX_WHOLE {
        written.push(YamlLine {
            text: "# … and more: too long to show".to_owned(),
            note: None,
        });
    }
    let noted = written.iter().filter(|line| line.note.is_some());
    let column = noted
        .map(|line| line.text.chars().count())
        .filter(|&width| width <= MAX_INDENT)
        .max()
        .unwrap_or(0);
    let widest = if is_whole { usize::MAX } else { WIDTH };
    let mut shown = Shown {
        lines: Vec::with_capacity(written.len()),
        is_shortened: false,
    };
    for line in written {
        let width = line.text.chars().count();
        shown.is_shortened |= width > widest;
        let text = cut(&line.text, widest);
        let Some(note) = line.note else {
            shown.lines.push(text);
            continue;
        };
        let behind = format!("{text:column$}  # {note}");
        if behind.chars().count() <= widest {
            shown.lines.push(behind);
            continue;
        }
        let indent = line.text.chars().take_while(|c| *c == ' ').count();
        for part in note_lines(&note, widest.saturating_sub(indent + 2)) {
            shown.lines.push(format!("{:indent$}# {part}", ""));
        }
        shown.lines.push(text);
    }
    shown
}

/// A remark as lines of at most `width` characters, broken between words.
pub(crate) fn note_lines(note: &str, width: usize) -> Vec<String> {
    folded(note.split(' ').map(|word| cut(word, width)), " ", width)
}

/// A value on one line of at most `max` characters; a cut one keeps its brackets and quotes.
pub(crate) fn inline(value: &Value, max: usize) -> String {
    whole_inline(value, max).unwrap_or_else(|| cut_inline(value, max))
}

/// A value on one line; `None` if it is longer than `max` characters.
pub(crate) fn whole_inline(value: &Value, max: usize) -> Option<String> {
    let mut room = max;
    let mut text = String::new();
    write_inline(value, &mut text, &mut room).then_some(text)
}

/// Writes a value on one line; returns whether it fits into `room` characters.
fn write_inline(value: &Value, out: &mut String, room: &mut usize) -> bool {
    fn put(words: &str, out: &mut String, room: &mut usize) -> bool {
        let Some(left) = room.checked_sub(words.chars().count()) else {
            return false;
        };
        *room = left;
        out.push_str(words);
        true
    }
    if let Some(elements) = value.as_array() {
        let mut elements = elements.iter().enumerate();
        return put("[", out, room)
            && elements.all(|(at, element)| {
                (at == 0 || put(", ", out, room)) && write_inline(element, out, room)
            })
            && put("]", out, room);
    }
    if let Some(hash) = value.as_hash() {
        let mut pairs = hash.iter().enumerate();
        return put("{", out, room)
            && pairs.all(|(at, (key, value))| {
                (at == 0 || put(", ", out, room))
                    && put(&format!("{}: ", scalar(key)), out, room)
                    && write_inline(value, out, room)
            })
            && put("}", out, room);
    }
    match value.as_str() {
        Some(text) if text.contains('\n') => put(&double_quoted(&masked(text)), out, room),
        Some(_) | None => put(&scalar(value), out, room),
    }
}

/// The start of a value that does not fit into `max` characters.
fn cut_inline(value: &Value, max: usize) -> String {
    /// Narrower lines have no room for a value in brackets.
    const LEAST: usize = 12;
    /// The width of the mark of omitted elements with the bracket, in characters.
    const REST: usize = ", …]".len() - 2;
    let narrow = || cut(&whole_inline(value, usize::MAX).unwrap_or_default(), max);
    if max < LEAST {
        return narrow();
    }
    let listed = |open: char, close: char, parts: &mut dyn Iterator<Item = (String, &Value)>| {
        let mut text = String::from(open);
        for (at, (lead, part)) in parts.enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            let taken = text.chars().count() + separator.len() + lead.chars().count() + REST;
            let room = max.saturating_sub(taken);
            let shown = match (whole_inline(part, room), at) {
                (Some(whole), _) => whole,
                (None, 0) if room >= LEAST => cut_inline(part, room),
                (None, _) => {
                    text.push_str(separator);
                    break;
                }
            };
            text.push_str(&format!("{separator}{lead}{shown}"));
        }
        if !text.ends_with(", ") && text.chars().count() > 1 {
            text.push_str(", ");
        }
        format!("{text}…{close}")
    };
    if let Some(elements) = value.as_array() {
        let mut parts = elements.iter().map(|element| (String::new(), element));
        return listed('[', ']', &mut parts);
    }
    if let Some(hash) = value.as_hash() {
        let pairs = hash.iter();
        let mut parts = pairs.map(|(key, value)| (format!("{}: ", scalar(key)), value));
        return listed('{', '}', &mut parts);
    }
    let Some(text) = value.as_str() else {
        return narrow();
    };
    // Quotes and escapes take room too.
    let text = masked(text);
    let kept = (1..max).rev().find_map(|most| {
        let cut = Value::string(cut_at_word(&text, most));
        whole_inline(&cut, max)
    });
    kept.unwrap_or_else(narrow)
}

/// Cuts a text to `max` characters, between words or segments of names if that keeps at least half of it.
fn cut_at_word(text: &str, max: usize) -> String {
    let cut = cut(text, max);
    let Some(kept) = cut.strip_suffix('…').filter(|_| cut != text) else {
        return cut;
    };
    let is_inside = |c: char| c.is_alphanumeric() || c == '_';
    let cuts_word = text[kept.len()..].starts_with(is_inside) && kept.ends_with(is_inside);
    match kept.rfind(|c: char| !is_inside(c)).filter(|_| cuts_word) {
        Some(at) if at >= kept.len() / 2 => {
            let end = at + kept[at..].chars().next().map_or(0, char::len_utf8);
            format!("{}…", kept[..end].trim_end())
        }
        Some(_) | None => cut,
    }
}

struct YamlLines<'a> {
    notes: &'a Notes,
    /// The maximum number of lines.
    most: usize,
    out: Vec<YamlLine>,
}

impl YamlLines<'_> {
    fn push(&mut self, text: String, note: Option<String>) {
        if self.out.len() < self.most {
            self.out.push(YamlLine { text, note });
        }
    }

    fn note(&self, at: &[usize]) -> Option<String> {
        self.notes.get(at).cloned()
    }

    /// Writes a value after `lead`, the start of its first line; further lines are indented by `indent`.
    fn value(&mut self, lead: String, indent: usize, value: &Value, at: &mut Vec<usize>) {
        if self.out.len() >= self.most {
            return;
        }
        let behind = |words: &str| match lead.as_str() {
            "" => words.to_string(),
            lead if lead.ends_with(' ') => format!("{lead}{words}"),
            lead => format!("{lead} {words}"),
        };
        let note = self.note(at);
        if let Some(hash) = value.as_hash() {
            if hash.is_empty() {
                return self.push(behind("{}"), note);
            }
            let parts = hash.iter();
            let parts = parts.map(|(key, part)| (format!("{}:", key_text(key)), part));
            self.parts(&lead, indent, parts, at);
        } else if let Some(elements) = value.as_array() {
            let list = match (elements, lead.is_empty()) {
                ([], _) => Some("[]".to_owned()),
                (_, true) => None,
                (_, false) => self.short_list(elements, at),
            };
            match list {
                Some(list) => self.push(behind(&list), note),
                None => {
                    let parts = elements.iter().map(|part| ("- ".to_owned(), part));
                    self.parts(&lead, indent, parts, at);
                }
            }
        } else if let Some(text) = value.as_str() {
            let shown = mask(text);
            let Some(header) = block(&shown.text) else {
                return self.push(behind(&string(shown)), note);
            };
            let text = shown.text;
            self.push(behind(header), note);
            let body = text.strip_suffix('\n').unwrap_or(&text);
            for line in body.split('\n') {
                let line = match line {
                    "" => String::new(),
                    line => format!("{}{line}", " ".repeat(indent.max(2))),
                };
                self.push(line, None);
            }
        } else {
            let mut note = note;
            if let Value::Opaque(opaque) = value
                && let Opaque::Unknown { because, .. } = &**opaque
            {
                let own = note.map_or_else(String::new, |own| format!("{own}; "));
                note = Some(format!("{own}{because}"));
            }
            self.push(behind(&scalar(value)), note);
        }
    }

    /// Writes the parts of a hash or list, each after its own start: the key or the dash.
    fn parts<'v>(
        &mut self,
        lead: &str,
        indent: usize,
        parts: impl Iterator<Item = (String, &'v Value)>,
        at: &mut Vec<usize>,
    ) {
        // The first entry of a collection in a list follows the dash.
        let mut dash = self.open(lead, at);
        for (position, (own, part)) in parts.enumerate() {
            let start = dash.take().unwrap_or_else(|| " ".repeat(indent));
            at.push(position);
            self.value(start + &own, indent + 2, part, at);
            at.pop();
        }
    }

    /// Ends the line before a collection; a dash waits for the first entry instead and is returned.
    fn open(&mut self, lead: &str, at: &[usize]) -> Option<String> {
        if lead.is_empty() {
            return None;
        }
        if lead.ends_with("- ") && !self.notes.contains_key(at) {
            return Some(lead.to_string());
        }
        let note = self.note(at);
        self.push(lead.trim_end().to_string(), note);
        None
    }

    fn short_list(&self, elements: &[Value], at: &[usize]) -> Option<String> {
        let mut list = String::from("[");
        for (position, element) in elements.iter().enumerate() {
            let mut place = at.to_vec();
            place.push(position);
            let is_plain = match element.as_str() {
                Some(text) => !text.contains('\n'),
                None => matches!(
                    element,
                    Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Undef
                ),
            };
            if !is_plain || self.notes.contains_key(&place) || list.len() > SHORT_LIST {
                return None;
            }
            if position > 0 {
                list.push_str(", ");
            }
            list.push_str(&scalar(element));
        }
        list.push(']');
        (list.chars().count() <= SHORT_LIST).then_some(list)
    }
}

fn key_text(key: &Value) -> String {
    if let Some(text) = key.as_str()
        && text.contains('\n')
    {
        return double_quoted(&masked(text));
    }
    if key.is_collection() {
        return single_quoted(&key.inspect());
    }
    scalar(key)
}

/// A scalar on one line.
fn scalar(value: &Value) -> String {
    if let Some(text) = value.as_str() {
        return string(mask(text));
    }
    if let Value::Opaque(opaque) = value {
        return match &**opaque {
            Opaque::Secret { method, .. } => format!("(encrypted, {method})"),
            Opaque::Unknown { text, .. } if text.is_empty() => "(unknown)".to_string(),
            Opaque::Unknown { text, .. } => string(mask(text)),
        };
    }
    dump_for_hover(value).replace('\n', " ")
}

/// Whether a part of a value is encrypted or `Sensitive`, so that it is masked.
pub(crate) fn has_secret(value: &Value) -> bool {
    let is_masked = |text: &str| masked(text) != *text;
    value.any(&|part| match (part.as_str(), part) {
        (_, Value::Sensitive(_)) => true,
        (Some(text), _) => is_masked(text),
        (None, Value::Opaque(opaque)) => match &**opaque {
            Opaque::Secret { .. } => true,
            Opaque::Unknown { text, .. } => is_masked(text),
        },
        (None, _) => false,
    })
}

/// A text whose encrypted parts are masked.
struct MaskedText<'a> {
    text: Cow<'a, str>,
    /// Whether it begins and ends with a mask: it is never quoted, since it need not be read back.
    is_mask: bool,
}

/// Masks the encrypted parts of a text.
pub(crate) fn masked(text: &str) -> Cow<'_, str> {
    mask(text).text
}

fn mask(text: &str) -> MaskedText<'_> {
    if !text.contains("ENC[") {
        return MaskedText {
            text: Cow::Borrowed(text),
            is_mask: false,
        };
    }
    let scan = eyaml::scan(text);
    let broken = scan.broken.iter().map(|broken| (broken.range, None));
    let blobs = scan
        .blobs
        .iter()
        .map(|blob| (blob.range, Some(&blob.method)));
    let mut ranges: Vec<_> = blobs.chain(broken).collect();
    ranges.sort_by_key(|(range, _)| *range);
    let begins = ranges.first().is_some_and(|(range, _)| range.start == 0);
    let mut out = String::new();
    let mut at = 0;
    for (range, method) in ranges {
        let range = range.as_usize();
        if range.start < at {
            continue;
        }
        out.push_str(&text[at..range.start]);
        out.push_str(&match method {
            Some(method) => format!("(encrypted, {method})"),
            None => "(encrypted, broken)".to_string(),
        });
        at = range.end;
    }
    out.push_str(&text[at..]);
    MaskedText {
        text: Cow::Owned(out),
        is_mask: begins && at == text.len(),
    }
}

/// The header of a literal block, if the text can be written as one.
fn block(text: &str) -> Option<&'static str> {
    let lines = text.strip_suffix('\n').unwrap_or(text);
    if !lines.contains('\n') || lines.ends_with('\n') || lines.starts_with([' ', '\n']) {
        return None;
    }
    let fits = |line: &str| {
        !line.ends_with([' ', '\t'])
            && !line.starts_with('\t')
            && line.chars().all(|c| !c.is_control() && is_printable(c))
    };
    let fits = lines.split('\n').all(fits);
    fits.then_some(if text.ends_with('\n') { "|" } else { "|-" })
}

/// Writes a text without line breaks, quoted if needed.
fn string(MaskedText { text, is_mask }: MaskedText<'_>) -> String {
    if is_mask || is_plain(&text) {
        return text.into_owned();
    }
    if text.chars().all(|c| !c.is_control() && is_printable(c)) {
        return single_quoted(&text);
    }
    double_quoted(&text)
}

/// Whether YAML reads the unquoted text as this same string, also in a flow sequence.
fn is_plain(text: &str) -> bool {
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/' || c == '_');
    let mut before = ' ';
    let all_safe = text.chars().all(|c| {
        let safe = c.is_alphanumeric()
            || "_./@+-~=()".contains(c)
            || (c == ':' && !before.is_whitespace())
            || (c == ' ' && before != ':' && before != ' ');
        before = c;
        safe && is_printable(c)
    });
    starts_well
        && all_safe
        && !text.ends_with([' ', ':'])
        && matches!(resolve_plain(text), Resolved::String)
}

fn is_printable(c: char) -> bool {
    !matches!(c, '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn double_quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_printable(c) => out.push(c),
            c if (c as u32) < 0x100 => out.push_str(&format!("\\x{:02x}", c as u32)),
            c if (c as u32) < 0x1_0000 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push_str(&format!("\\U{:08x}", c as u32)),
        }
    }
    out.push('"');
    out
}
