//! `textDocument/hover`.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::{View, Wants};
use crate::ide::hover::HoverForm;
use crate::server::convert;
use crate::server::jobs::Lane;
use crate::server::session::{Index, Session};

pub(crate) async fn handle(
    session: &Session,
    params: lsp::HoverParams,
) -> Result<Option<lsp::Hover>> {
    let at = params.text_document_position_params;
    let Some(path) = convert::path(at.text_document.uri.as_str()) else {
        return Ok(None);
    };
    let work = move |view: View| hover(&view, &path, at.position);
    let (lane, wants) = (Lane::Immediate, Wants::Soon);
    super::answer(session, "textDocument/hover", lane, wants, work).await
}

fn hover(view: &View, path: &str, at: lsp::Position) -> Option<lsp::Hover> {
    let file = view.snapshot.file(path)?;
    let offset = match view.documents.get(path) {
        Some(document) => document.offset(convert::place(at), view.encoding),
        None => file.lines().offset(convert::place(at), view.encoding),
    };
    let found = view
        .features
        .hover(&view.snapshot, path, offset, &view.context, &view.stop);
    let still_reading = match view.index {
        // What is not read yet may say otherwise, so the answer must not pass for the whole one.
        Index::Reading { read, of } => Some(format!(
            "still reading the workspace ({read} of {of} files)"
        )),
        Index::Complete => None,
    };
    let found = match (found, &still_reading) {
        (Some(found), _) => found,
        // Nothing is known of what is asked about, and that may be wrong.
        (None, Some(reading)) => return Some(plain(reading)),
        (None, None) => return None,
    };
    let (kind, mut value) = match view.context.hover_form {
        HoverForm::Markdown => (lsp::MarkupKind::Markdown, found.markdown),
        HoverForm::Aligned => (lsp::MarkupKind::Markdown, found.aligned),
        HoverForm::Plain => (lsp::MarkupKind::PlainText, found.plain),
    };
    if let Some(reading) = still_reading {
        value = format!("{reading}\n\n{value}");
    }
    Some(lsp::Hover {
        contents: lsp::HoverContents::Markup(lsp::MarkupContent { kind, value }),
        range: Some(convert::range(file.lines(), found.range, view.encoding)),
    })
}

fn plain(text: &str) -> lsp::Hover {
    lsp::Hover {
        contents: lsp::HoverContents::Markup(lsp::MarkupContent {
            kind: lsp::MarkupKind::PlainText,
            value: text.to_owned(),
        }),
        range: None,
    }
}
