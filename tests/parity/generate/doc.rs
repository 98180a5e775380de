//! The generator's YAML: a tree with a style for each node.

/// A node and its style.
#[derive(Clone, Debug)]
pub enum Doc {
    /// Written unquoted.
    Plain(String),
    Single(String),
    Double(String),
    /// A block scalar: its header (`|`, `>-` …) and its lines.
    Block(&'static str, String),
    Seq(Vec<Doc>),
    Map(Vec<(Doc, Doc)>),
    /// In flow style in any context.
    Flow(Box<Doc>),
    Anchored(String, Box<Doc>),
    Alias(String),
    Tagged(&'static str, Box<Doc>),
}

/// A plain scalar.
pub fn plain(text: impl Into<String>) -> Doc {
    Doc::Plain(text.into())
}

/// A string that stays a string in any context.
pub fn quoted(text: impl Into<String>) -> Doc {
    let text = text.into();
    if text.contains('\n') {
        Doc::Double(text)
    } else {
        Doc::Single(text)
    }
}

/// A mapping with plain keys.
pub fn map<const N: usize>(entries: [(&str, Doc); N]) -> Doc {
    Doc::Map(entries.into_iter().map(|(k, v)| (plain(k), v)).collect())
}

/// The whole document in block style (as far as its nodes allow).
pub fn yaml(doc: &Doc) -> String {
    let mut out = String::new();
    match doc {
        Doc::Map(entries) if !entries.is_empty() => block_map(entries, 0, &mut out),
        Doc::Seq(items) if !items.is_empty() => block_seq(items, 0, &mut out),
        other => {
            flow(other, &mut out);
            out.push('\n');
        }
    }
    out
}

fn block_map(entries: &[(Doc, Doc)], indent: usize, out: &mut String) {
    for (key, value) in entries {
        pad(indent, out);
        flow(key, out);
        // An alias includes an adjacent colon in its name.
        out.push_str(if matches!(key, Doc::Alias(_)) {
            " :"
        } else {
            ":"
        });
        block_value(value, indent, out);
    }
}

fn block_seq(items: &[Doc], indent: usize, out: &mut String) {
    for item in items {
        pad(indent, out);
        out.push('-');
        block_value(item, indent, out);
    }
}

fn block_value(value: &Doc, indent: usize, out: &mut String) {
    match value {
        Doc::Anchored(name, inner) => {
            out.push_str(&format!(" &{name}"));
            block_value(inner, indent, out);
        }
        Doc::Tagged(tag, inner) => {
            out.push_str(&format!(" {tag}"));
            block_value(inner, indent, out);
        }
        Doc::Map(entries) if !entries.is_empty() => {
            out.push('\n');
            block_map(entries, indent + 2, out);
        }
        Doc::Seq(items) if !items.is_empty() => {
            out.push('\n');
            block_seq(items, indent + 2, out);
        }
        Doc::Block(header, text) => {
            out.push(' ');
            out.push_str(header);
            out.push('\n');
            for line in text.split('\n') {
                if !line.is_empty() {
                    pad(indent + 2, out);
                }
                out.push_str(line);
                out.push('\n');
            }
        }
        other => {
            out.push(' ');
            flow(other, out);
            out.push('\n');
        }
    }
}

fn pad(indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
}

fn flow(doc: &Doc, out: &mut String) {
    match doc {
        Doc::Plain(text) => out.push_str(text),
        Doc::Single(text) => out.push_str(&format!("'{}'", text.replace('\'', "''"))),
        Doc::Double(text) | Doc::Block(_, text) => out.push_str(&double(text)),
        Doc::Seq(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                flow(&flow_safe(item), out);
            }
            out.push(']');
        }
        Doc::Map(entries) => {
            out.push('{');
            for (i, (key, value)) in entries.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                flow(&flow_safe(key), out);
                out.push_str(if matches!(key, Doc::Alias(_)) {
                    " : "
                } else {
                    ": "
                });
                flow(&flow_safe(value), out);
            }
            out.push('}');
        }
        Doc::Flow(inner) => flow(inner, out),
        Doc::Anchored(name, inner) => {
            out.push_str(&format!("&{name} "));
            flow(inner, out);
        }
        Doc::Alias(name) => out.push_str(&format!("*{name}")),
        Doc::Tagged(tag, inner) => {
            out.push_str(&format!("{tag} "));
            flow(inner, out);
        }
    }
}

/// Plain text that a flow collection would end is quoted.
fn flow_safe(doc: &Doc) -> Doc {
    match doc {
        Doc::Plain(text) if text.is_empty() => plain("~"),
        Doc::Plain(text)
            if text.contains([',', '[', ']', '{', '}', '#', '\n'])
                || text.contains(": ")
                || text.starts_with(':') =>
        {
            Doc::Single(text.clone())
        }
        other => other.clone(),
    }
}

fn double(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\0' => out.push_str("\\0"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The same tree as JSON; YAML-only features become the nearest equivalent.
pub fn json(doc: &Doc) -> String {
    match doc {
        Doc::Plain(text) => match serde_json::from_str::<serde_json::Value>(text) {
            Ok(value) if !value.is_object() && !value.is_array() => text.clone(),
            _ if text == "~" => "null".into(),
            _ => json_string(text),
        },
        Doc::Single(text) | Doc::Double(text) | Doc::Block(_, text) => json_string(text),
        Doc::Seq(items) => format!(
            "[{}]",
            items.iter().map(json).collect::<Vec<_>>().join(", ")
        ),
        Doc::Map(entries) => {
            let entries: Vec<_> = entries
                .iter()
                .map(|(k, v)| format!("{}: {}", json_string(&text_of(k)), json(v)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        Doc::Flow(inner) | Doc::Anchored(_, inner) | Doc::Tagged(_, inner) => json(inner),
        Doc::Alias(name) => json_string(name),
    }
}

fn json_string(text: &str) -> String {
    serde_json::to_string(text).expect("a string")
}

/// The text of a scalar, without its quotes.
pub fn text_of(doc: &Doc) -> String {
    match doc {
        Doc::Plain(text) | Doc::Single(text) | Doc::Double(text) | Doc::Block(_, text) => {
            text.clone()
        }
        Doc::Flow(inner) | Doc::Anchored(_, inner) | Doc::Tagged(_, inner) => text_of(inner),
        Doc::Alias(name) => name.clone(),
        Doc::Seq(_) | Doc::Map(_) => "collection".into(),
    }
}
