//! `textDocument/hover`.

use std::sync::Arc;

use serde_json::{Value, json};
use tower_lsp::ls_types as lsp;

use super::View;
use super::locations::offset;
use crate::disk::file_uri;
use crate::ide::hover::{self, Hover, HoverForm, HoverOptions, Reveal};
use crate::ide::upgrade::preview;
use crate::server::capabilities::{EXPLAIN, MATRIX, REVEAL, VALUE};
use crate::server::connection::Index;
use crate::server::convert;

/// The link to the command of a client's extension that lets the user choose a hierarchy.
const CHOOSE: &str = "command:hiera-ls.chooseHierarchy";

pub(crate) fn handle(view: &View, path: &str, params: lsp::HoverParams) -> Option<lsp::Hover> {
    let file = view.snapshot.file(path)?;
    let offset = offset(view, path, params.text_document_position_params.position)?;
    let found = (view.answers.hover)(view, path, offset);
    let still_reading = match view.index {
        // Files that are not read yet may change the answer, so it must be marked as incomplete.
        Index::Reading { read, total } => Some(format!(
            "still reading the workspace ({read} of {total} files)"
        )),
        Index::Complete => None,
    };
    let found = match (found, &still_reading) {
        (Some(found), _) => found,
        // Without a result, the reason may be that files are not read yet.
        (None, Some(reading)) => {
            return Some(shown_as(lsp::MarkupKind::PlainText, reading.clone(), None));
        }
        (None, None) => return None,
    };
    let (kind, mut value) = match view.context.hover_form {
        HoverForm::Markdown => (lsp::MarkupKind::Markdown, found.markdown),
        HoverForm::Aligned => (lsp::MarkupKind::Markdown, found.aligned),
        HoverForm::Plain => (lsp::MarkupKind::PlainText, found.plain),
    };
    if let Some(line) = previewed(view, path, offset) {
        value = format!("{}\n\n{line}", value.trim_end());
    }
    if let Some(reading) = still_reading {
        value = format!("{reading}\n\n{value}");
    }
    let range = convert::range(file.lines(), found.range, view.encoding);
    Some(shown_as(kind, value, Some(range)))
}

/// What the upgrade that is previewed makes of the key there.
fn previewed(view: &View, path: &str, offset: usize) -> Option<Arc<str>> {
    let (from, to) = view.context.choices.preview(path)?;
    let preview = view.context.upgrade(from, to);
    let (from, to) = preview.versions;
    if from >= to {
        return None;
    }
    view.analyse(path, |analysis| {
        preview::line(analysis, path, offset, (&preview, &view.caches.previews))
    })
}

/// The hover at a byte of a file.
pub(crate) fn shown(view: &View, path: &str, offset: usize) -> Option<Hover> {
    let context = &view.context;
    let has_links = context.command_links;
    let lines = view.snapshot.file(path)?.lines();
    let value_link = |key: &str| command_link(VALUE, path, "key", json!(key));
    let explain_link = |key: &str| command_link(EXPLAIN, path, "key", json!(key));
    let matrix_link = |key: &str| command_link(MATRIX, path, "key", json!(key));
    let reveal_link = |offset| {
        let at = lines.position(offset, context.encoding);
        let position = json!({ "line": at.line, "character": at.character });
        command_link(REVEAL, path, "position", position)
    };
    let reveal = Reveal {
        command: REVEAL,
        link: has_links.then_some(&reveal_link),
    };
    view.analyse(path, |analysis| {
        let options = HoverOptions {
            max_lines: context.settings.hover_max_lines,
            whole: has_links.then_some(&value_link),
            explain: has_links.then_some(&explain_link),
            all_nodes: has_links.then_some(&matrix_link),
            reveal: context.keys().is_some().then_some(reveal),
            choose: has_links.then_some(CHOOSE),
            name: None,
            link: Some(&|path, line| format!("{}#L{line}", file_uri(path))),
            form: Some(context.hover_form),
            ..HoverOptions::default()
        };
        hover::hover(analysis, path, offset, &options)
    })
}

/// A link that runs a command for a file, with one more argument.
fn command_link(command: &str, path: &str, name: &str, argument: Value) -> String {
    let uri = file_uri(path);
    let arguments = json!([{ "uri": uri, name: argument }]);
    format!(
        "command:{command}?{}",
        convert::escaped(&arguments.to_string())
    )
}

fn shown_as(kind: lsp::MarkupKind, value: String, range: Option<lsp::Range>) -> lsp::Hover {
    let contents = lsp::HoverContents::Markup(lsp::MarkupContent { kind, value });
    lsp::Hover { contents, range }
}
