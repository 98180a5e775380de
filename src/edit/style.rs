//! Values as YAML in the style of a file: quotes, indentation of lists, line ends.

use crate::syntax::{NodeKind, ScalarStyle, Tree};
use crate::text::line_start;
use crate::value::{Value, dump_data};

/// The style of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// Whether strings are in double quotes rather than single quotes.
    pub double_quotes: bool,
    /// Whether lists are indented below their key.
    pub indented_lists: bool,
    /// Whether lines end with CR and LF.
    pub crlf: bool,
}

impl Style {
    /// The style of most entries in a file. O(nodes).
    #[must_use]
    pub fn of(text: &str, tree: &Tree) -> Style {
        let count = |style| {
            let scalars = tree.nodes().filter_map(|(_, node)| node.as_scalar());
            scalars.filter(|scalar| scalar.style == style).count()
        };
        let lists = tree.entries().filter_map(|(_, value)| {
            let node = tree.node(value);
            let is_block = node.range.slice(text).starts_with('-');
            let is_list = matches!(node.kind, NodeKind::Sequence(_));
            (is_list && is_block).then(|| column(text, node.range.start as usize) > 0)
        });
        let lists: Vec<bool> = lists.collect();
        Style {
            double_quotes: count(ScalarStyle::DoubleQuoted) > count(ScalarStyle::SingleQuoted),
            indented_lists: lists.iter().filter(|indented| **indented).count() * 2 > lists.len(),
            crlf: text.contains("\r\n"),
        }
    }

    /// An entry as whole lines without indentation.
    #[must_use]
    pub fn entry(self, key: &str, value: &Value) -> String {
        let lines = dump_data(&Value::hash([(key, value.clone())]));
        if value.is_undef() {
            // A key without a value would look unfinished.
            return lines.trim_end().to_owned() + " null\n";
        }
        let mut lines = self.quoted(&lines, value);
        let is_list = value.as_array().is_some_and(|list| !list.is_empty());
        if self.indented_lists
            && is_list
            && let Some((first, rest)) = lines.split_once('\n')
        {
            let rest = rest.lines().map(|line| {
                if line.is_empty() {
                    "\n".to_owned()
                } else {
                    format!("  {line}\n")
                }
            });
            lines = format!("{first}\n{}", rest.collect::<String>());
        }
        lines
    }

    /// A scalar in one line, as after `KEY:`; `None` for collections and for texts of several lines.
    #[must_use]
    pub fn scalar(self, value: &Value) -> Option<String> {
        if matches!(value, Value::Array(_) | Value::Hash(_)) {
            return None;
        }
        let lines = self.entry("k", value);
        let rest = lines.strip_prefix("k:")?.trim_end();
        (!rest.contains('\n')).then(|| rest.trim_start().to_owned())
    }

    /// Turns single quotes into double quotes if that is the file's style and the value stays the same.
    fn quoted(self, lines: &str, value: &Value) -> String {
        let is_text = matches!(value, Value::String(_));
        if !self.double_quotes || !is_text || lines.contains(['"', '\\']) {
            return lines.to_owned();
        }
        let split = lines.trim_end().split_once(": '");
        match split.and_then(|(key, rest)| Some((key, rest.strip_suffix('\'')?))) {
            Some((key, inner)) if !inner.contains(['\'', '\n']) => {
                format!("{key}: \"{inner}\"\n")
            }
            Some(_) | None => lines.to_owned(),
        }
    }

    /// Lines with the line ends of the file.
    #[must_use]
    pub fn with_ends(self, lines: &str) -> String {
        if self.crlf {
            lines.replace("\r\n", "\n").replace('\n', "\r\n")
        } else {
            lines.to_owned()
        }
    }
}

/// The number of bytes before an offset on its line.
#[must_use]
pub fn column(text: &str, offset: usize) -> usize {
    offset - line_start(text, offset)
}
