//! The document of the lines whose values look a key up.

use std::fmt::Write as _;

use super::{Answer, Document};
use crate::ide::call_hierarchy::incoming;
use crate::ide::cell::json_text;
use crate::workspace::Snapshot;

/// The lines whose values look a key up; a sentence where there are none.
pub(super) fn answer(snapshot: &Snapshot, key: &str) -> Answer {
    let mut lines: Vec<(String, String)> = Vec::new();
    let mut data: Vec<String> = Vec::new();
    for call in incoming(snapshot, key) {
        let Some(file) = snapshot.file(&call.item.path) else {
            continue;
        };
        for token in &call.tokens {
            let line = file.lines().line(token.start as usize) + 1;
            let place = format!("{}:{line}", snapshot.short_name(&call.item.path));
            lines.push((place, call.item.key.to_string()));
            data.push(format!(
                "{{\"key\":{},\"file\":{},\"line\":{line}}}",
                json_text(&call.item.key),
                json_text(&call.item.path)
            ));
        }
    }
    let mut content = match lines.len() {
        0 => return Answer::Message(format!("no value of this workspace looks '{key}' up")),
        1 => format!("{key} — 1 use\n"),
        count => format!("{key} — {count} uses\n"),
    };
    let width = lines.iter().map(|(place, _)| place.chars().count()).max();
    for (place, by) in &lines {
        let pad = width.unwrap_or_default() - place.chars().count();
        let _ = writeln!(content, "  {place}{}  {by}", " ".repeat(pad));
    }
    Answer::Document(Document {
        title: format!("Uses of {key}"),
        language: "text",
        content,
        data: Some(format!(
            "{{\"key\":{},\"uses\":[{}]}}",
            json_text(key),
            data.join(",")
        )),
        ..Document::default()
    })
}
