//! The document of what unsaved edits change.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::differences::change;
use super::{Answer, Document, Progress, answering, cancelled};
use crate::analysis::Analysis;
use crate::ide::cell::{counted, difference_json, nodes_json};
use crate::ide::impact::{Detail, Impact, impact_on_readers, impact_with, is_by_path};
use crate::workspace::{Change, Snapshot};

/// What the unsaved edit of a file changes, or all unsaved edits.
pub(super) fn answer(
    analysis: Analysis<'_>,
    path: &str,
    file: Option<&Arc<str>>,
    progress: Progress<'_>,
) -> Result<Answer, String> {
    let snapshot = analysis.snapshot;
    let is_open = |file: &str| snapshot.open_files().any(|open| &**open.path() == file);
    let (saved, what) = match file {
        Some(file) if !is_open(file) => {
            let name = snapshot.short_name(file);
            let message = format!("{name} is not open: nothing in it is unsaved");
            return Ok(Answer::Message(message));
        }
        Some(file) => {
            let name = snapshot.short_name(file);
            let saved = snapshot.with(Change::Close { path: file.clone() });
            let text = |snapshot: &Snapshot| snapshot.file(file).map(|file| file.hash());
            if text(snapshot) == text(&saved) {
                return Ok(Answer::Message(format!("nothing in {name} is unsaved")));
            }
            (saved, format!("the edit of {name}"))
        }
        None => (snapshot.saved(), "what is unsaved".to_owned()),
    };
    let saved = Analysis {
        snapshot: &saved,
        ..analysis
    };
    let (before, after) = (answering(saved, path)?, answering(analysis, path)?);
    let step = |done, of| {
        progress(done, of);
        match (analysis.is_cancelled)() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let impact = match file {
        Some(file) if is_by_path(&after, file) => impact_on_readers(&before, &after, file, &step),
        Some(_) | None => impact_with(&before, &after, Detail::Sources, &step),
    };
    let impact = impact.ok_or_else(cancelled)?;
    let of = match file.is_some_and(|file| is_by_path(&after, file)) {
        true => 0,
        false => analysis.nodes.len(),
    };
    let document = text(&impact, of, &what, snapshot);
    Ok(match document {
        Some(mut document) if !analysis.what_if.is_empty() => {
            let note = format!("hypothetical: {}\n", super::one_line(analysis.what_if));
            document.content.insert_str(0, &note);
            Answer::Document(document)
        }
        Some(document) => Answer::Document(document),
        None => Answer::Message(format!("{what} changes no effective value")),
    })
}

/// What an unsaved edit changes, of `of` known nodes; `what` is what is unsaved, for people.
/// Nothing where it changes nothing.
fn text(impact: &Impact, of: usize, what: &str, snapshot: &Snapshot) -> Option<Document> {
    if impact.changes.is_empty() && impact.is_complete {
        return None;
    }
    let mut keys: Vec<_> = impact.changes.iter().map(|change| &change.key).collect();
    keys.dedup();
    let keys = match keys.len() {
        1 => "1 key".to_owned(),
        count => format!("{count} keys"),
    };
    let mut content = match of {
        0 => format!("{what} changes {keys}\n"),
        of => format!(
            "{what} changes {keys} for {} of {}\n",
            impact.nodes.len(),
            counted(of)
        ),
    };
    if !impact.is_complete {
        content.push_str(
            "the edit touches more keys than are looked at: only the first of them were checked\n",
        );
    }
    for difference in &impact.changes {
        content.push('\n');
        change(&mut content, difference, snapshot, false);
    }
    let changes: Vec<String> = impact.changes.iter().map(difference_json).collect();
    Some(Document {
        title: format!("What {what} changes"),
        language: "text",
        content,
        data: Some(format!(
            "{{\"complete\":{},\"nodes\":{},\"of\":{of},\"changes\":[{}]}}",
            impact.is_complete,
            nodes_json(&impact.nodes),
            changes.join(",")
        )),
        ..Document::default()
    })
}
