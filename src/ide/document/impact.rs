//! The document about the effect of unsaved edits.

use std::sync::Arc;

use serde::Serialize;

use super::differences::change;
use super::{Document, DocumentAnswer, OnProgress, answering, cancelled};
use crate::analysis::{Analysis, RefusedFile, RootView, layers_of};
use crate::hierarchy::Layer;
use crate::ide::cell::counted;
use crate::ide::compare::Difference;
use crate::ide::impact::{Detail, Impact, MAX_KEYS, impact_on_readers, impact_with, is_by_path};
use crate::ide::json::json;
use crate::text::number_of;
use crate::workspace::{Change, File, Snapshot};

/// The effect of the unsaved edit of a file, or of all unsaved edits.
pub(super) fn answer(
    analysis: Analysis<'_>,
    path: &str,
    file: Option<&Arc<str>>,
    progress: OnProgress<'_>,
) -> Result<DocumentAnswer, String> {
    let snapshot = analysis.snapshot;
    let is_open = |file: &str| snapshot.open_files().any(|open| &**open.path() == file);
    let (saved, what) = match file {
        Some(file) if !is_open(file) => {
            let name = snapshot.short_name(file);
            let message = format!("{name} is not open, so it has no unsaved changes");
            return Ok(DocumentAnswer::Message(message));
        }
        Some(file) => {
            let name = snapshot.short_name(file);
            let saved = snapshot.with(Change::Close { path: file.clone() });
            let text = |snapshot: &Snapshot| snapshot.file(file).map(|file| file.hash());
            if text(snapshot) == text(&saved) {
                return Ok(DocumentAnswer::Message(format!(
                    "{name} has no unsaved changes"
                )));
            }
            (saved, format!("the edit of {name}"))
        }
        None => {
            let saved = snapshot.saved();
            let is_saved = |open: &Arc<File>| {
                let file = saved.file(open.path());
                file.is_some_and(|file| file.hash() == open.hash())
            };
            if snapshot.open_files().all(is_saved) {
                return Ok(DocumentAnswer::Message(
                    "there are no unsaved edits".to_owned(),
                ));
            }
            (saved, "the unsaved edit".to_owned())
        }
    };
    let saved = Analysis {
        snapshot: &saved,
        ..analysis
    };
    let (before, after) = (answering(saved, path)?, answering(analysis, path)?);
    if let Some(message) = refusal(&before, &after) {
        return Ok(DocumentAnswer::Message(message));
    }
    let (impact, total) = match file.filter(|file| is_by_path(&after, file)) {
        Some(file) => (impact_on_readers(&before, &after, file, progress), 0),
        None => {
            let impact = impact_with(&before, &after, Detail::Sources, progress);
            (impact, analysis.nodes.len())
        }
    };
    let impact = impact.ok_or_else(cancelled)?;
    let document = text(&impact, total, &what, snapshot);
    Ok(match document {
        Some(mut document) => {
            document.note_what_if(analysis);
            DocumentAnswer::Document(document)
        }
        None => DocumentAnswer::Message(format!("{what} changes no effective value")),
    })
}

/// The message if an edit makes Puppet refuse a file: there are no values left to compare.
fn refusal(before: &RootView<'_>, after: &RootView<'_>) -> Option<String> {
    let key = match &after.layer {
        Layer::Module(name) => format!("{name}::key"),
        Layer::Global | Layer::Environment => "key".to_owned(),
    };
    let error_of = |view: &RootView<'_>| {
        let mut layers = layers_of(&key).into_iter();
        layers.find(|layer| view.session().outline(layer).is_err())
    };
    if let (Some(layer), None) = (error_of(after), error_of(before)) {
        let effect = match layer {
            Layer::Module(name) => format!("every lookup of a key of module '{name}' fails"),
            Layer::Global | Layer::Environment => "every lookup fails".to_owned(),
        };
        return Some(format!(
            "Puppet refuses this hiera.yaml: once it is saved, {effect}"
        ));
    }
    let was = before.refused_files(&key);
    let is_new = |file: &&RefusedFile| was.iter().all(|old| old.path != file.path);
    let now = after.refused_files(&key);
    let file = now.iter().find(is_new)?;
    let Analysis {
        snapshot, nodes, ..
    } = after.analysis;
    let name = snapshot.short_name(&file.path);
    let place = match file.line {
        Some(line) => format!("{name}:{line}"),
        None => name.to_owned(),
    };
    let nodes_text = match (nodes.is_empty(), file.is_for_all) {
        (true, true) => String::new(),
        (true, false) => " for the nodes that read the file".to_owned(),
        (false, _) => format!(" on {} of {}", file.readers.len(), counted(nodes.len())),
    };
    let failure = if file.is_syntax {
        "does not parse"
    } else {
        "does not load"
    };
    Some(format!(
        "{place} {failure}: once it is saved, every lookup fails{nodes_text}"
    ))
}

#[derive(Serialize)]
struct ImpactFields<'a> {
    complete: bool,
    nodes: &'a [Arc<str>],
    of: usize,
    changes: &'a [Difference],
}

/// The effect of an unsaved edit on nodes, of `total` known ones; `what` describes the edit. `None` if
/// it changes nothing.
fn text(impact: &Impact, total: usize, what: &str, snapshot: &Snapshot) -> Option<Document> {
    if impact.changes.is_empty() && impact.is_complete {
        return None;
    }
    let mut keys: Vec<_> = impact.changes.iter().map(|change| &change.key).collect();
    keys.dedup();
    let keys = number_of(keys.len(), "key");
    let mut content = match total {
        0 => format!("{what} changes {keys}\n"),
        total => format!(
            "{what} changes {keys} for {} of {}\n",
            impact.nodes.len(),
            counted(total)
        ),
    };
    if !impact.is_complete {
        content.push_str(&format!("only the first {MAX_KEYS} keys were checked\n"));
    }
    for difference in &impact.changes {
        content.push('\n');
        change(&mut content, difference, snapshot, false);
    }
    Some(Document {
        title: format!("What {what} changes"),
        language: "text",
        content,
        data: Some(json(&ImpactFields {
            complete: impact.is_complete,
            nodes: &impact.nodes,
            of: total,
            changes: &impact.changes,
        })),
        ..Document::default()
    })
}
